//! Where the server listens.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream, UnixListener, UnixStream};

use super::MockError;

/// Where the server is to listen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Bind {
    /// This port of the loopback interface; 0 for any that is free.
    Loopback(u16),
    /// This address.
    Tcp(SocketAddr),
    /// A socket of the file system, which must not be there yet; it is removed in the end.
    Unix(PathBuf),
}

/// Where the server listens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Address {
    /// An address and its port.
    Tcp(SocketAddr),
    /// A socket of the file system.
    Unix(PathBuf),
}

/// A socket that accepts.
#[derive(Debug)]
pub(crate) enum Listener {
    /// Of the network.
    Tcp(TcpListener),
    /// Of the file system.
    Unix(UnixListener),
}

/// A connection that was accepted.
#[derive(Debug)]
pub(crate) enum Socket {
    /// Of the network.
    Tcp(TcpStream),
    /// Of the file system.
    Unix(UnixStream),
}

impl Listener {
    /// Listens.
    ///
    /// # Errors
    /// [`MockError::Bind`] where the address cannot be had.
    pub(crate) async fn bind(bind: &Bind) -> Result<(Self, Address), MockError> {
        match bind {
            Bind::Loopback(port) => Self::tcp(SocketAddr::from(([127, 0, 0, 1], *port))).await,
            Bind::Tcp(address) => Self::tcp(*address).await,
            Bind::Unix(path) => {
                let refused = |cause| refused(path.display().to_string(), cause);
                let listener = UnixListener::bind(path).map_err(refused)?;
                Ok((Self::Unix(listener), Address::Unix(path.clone())))
            }
        }
    }

    async fn tcp(address: SocketAddr) -> Result<(Self, Address), MockError> {
        let refused = |cause| refused(address.to_string(), cause);
        let listener = TcpListener::bind(address).await.map_err(refused)?;
        let address = listener.local_addr().map_err(refused)?;
        Ok((Self::Tcp(listener), Address::Tcp(address)))
    }

    /// Returns the next connection; what is written on it leaves at once.
    pub(crate) async fn accept(&self) -> std::io::Result<Socket> {
        match self {
            Self::Tcp(listener) => {
                let (stream, _) = listener.accept().await?;
                stream.set_nodelay(true)?;
                Ok(Socket::Tcp(stream))
            }
            Self::Unix(listener) => Ok(Socket::Unix(listener.accept().await?.0)),
        }
    }
}

impl Address {
    /// Returns the port, where there is one.
    pub fn port(&self) -> Option<u16> {
        match self {
            Self::Tcp(address) => Some(address.port()),
            Self::Unix(_) => None,
        }
    }

    /// Returns the path of the socket, where it is one of the file system.
    pub fn path(&self) -> Option<&Path> {
        match self {
            Self::Tcp(_) => None,
            Self::Unix(path) => Some(path),
        }
    }
}

fn refused(address: String, cause: std::io::Error) -> MockError {
    MockError::Bind { address, cause }
}

impl AsyncRead for Socket {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        match self.get_mut() {
            Self::Tcp(stream) => Pin::new(stream).poll_read(context, buffer),
            Self::Unix(stream) => Pin::new(stream).poll_read(context, buffer),
        }
    }
}

impl AsyncWrite for Socket {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<std::io::Result<usize>> {
        match self.get_mut() {
            Self::Tcp(stream) => Pin::new(stream).poll_write(context, bytes),
            Self::Unix(stream) => Pin::new(stream).poll_write(context, bytes),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        match self.get_mut() {
            Self::Tcp(stream) => Pin::new(stream).poll_flush(context),
            Self::Unix(stream) => Pin::new(stream).poll_flush(context),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        match self.get_mut() {
            Self::Tcp(stream) => Pin::new(stream).poll_shutdown(context),
            Self::Unix(stream) => Pin::new(stream).poll_shutdown(context),
        }
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[std::io::IoSlice<'_>],
    ) -> Poll<std::io::Result<usize>> {
        match self.get_mut() {
            Self::Tcp(stream) => Pin::new(stream).poll_write_vectored(context, bytes),
            Self::Unix(stream) => Pin::new(stream).poll_write_vectored(context, bytes),
        }
    }

    fn is_write_vectored(&self) -> bool {
        true
    }
}
