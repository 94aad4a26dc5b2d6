//! The socket, with a stamp of each read: nothing lies between the kernel and this clock.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::replay::Wall;
use crate::units::Nanos;

/// The instants of the last read and the last write of a socket. Both are of one thread: their order is the program's.
#[derive(Debug, Default)]
pub(super) struct Stamps {
    read: AtomicU64,
    write: AtomicU64,
}

/// A socket that stamps what it reads and writes.
#[derive(Debug)]
pub(super) struct Stamped {
    socket: Socket,
    wall: Wall,
    stamps: Arc<Stamps>,
}

/// A connected socket.
#[derive(Debug)]
pub(super) enum Socket {
    /// TCP.
    Tcp(tokio::net::TcpStream),
    /// A socket of the file system.
    Unix(tokio::net::UnixStream),
}

impl Stamps {
    /// Returns when bytes were last read.
    pub(super) fn last_read(&self) -> Nanos {
        Nanos::new(self.read.load(Ordering::Relaxed))
    }

    /// Returns when bytes were last written.
    pub(super) fn last_write(&self) -> Nanos {
        Nanos::new(self.write.load(Ordering::Relaxed))
    }
}

impl Stamped {
    /// Stamps a socket by this clock.
    pub(super) fn new(socket: Socket, wall: Wall) -> Self {
        Self { socket, wall, stamps: Arc::default() }
    }

    /// Returns the stamps, which others may look at.
    pub(super) fn stamps(&self) -> Arc<Stamps> {
        Arc::clone(&self.stamps)
    }
}

impl Socket {
    /// Returns the socket as a reader.
    fn reader(&mut self) -> &mut (dyn AsyncRead + Unpin) {
        match self {
            Self::Tcp(socket) => socket,
            Self::Unix(socket) => socket,
        }
    }

    /// Returns the socket as a writer.
    fn writer(&mut self) -> &mut (dyn AsyncWrite + Unpin) {
        match self {
            Self::Tcp(socket) => socket,
            Self::Unix(socket) => socket,
        }
    }
}

impl AsyncRead for Stamped {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        let this = self.get_mut();
        let read = Pin::new(this.socket.reader()).poll_read(cx, buffer);
        if read.is_ready() {
            this.stamps.read.store(this.wall.now().get(), Ordering::Relaxed);
        }
        read
    }
}

impl AsyncWrite for Stamped {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<std::io::Result<usize>> {
        let this = self.get_mut();
        let written = Pin::new(this.socket.writer()).poll_write(cx, bytes);
        this.stamps.write.store(this.wall.now().get(), Ordering::Relaxed);
        written
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Pin::new(self.get_mut().socket.writer()).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Pin::new(self.get_mut().socket.writer()).poll_shutdown(cx)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[std::io::IoSlice<'_>],
    ) -> Poll<std::io::Result<usize>> {
        let this = self.get_mut();
        let written = Pin::new(this.socket.writer()).poll_write_vectored(cx, slices);
        this.stamps.write.store(this.wall.now().get(), Ordering::Relaxed);
        written
    }

    fn is_write_vectored(&self) -> bool {
        true
    }
}
