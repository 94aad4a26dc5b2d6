//! A connection, part by part.

use std::net::SocketAddr;
use std::sync::Arc;

use rustls::pki_types::ServerName;
use tokio_rustls::TlsConnector;

use super::destination::{Destination, Security, Transport};
use super::link::Link;
use super::stamped::{Socket, Stamped};
use super::tunnel;
use super::turns::Bytes;
use crate::record::{ConnectStage, ExchangeError, Handshake, Protocol};
use crate::replay::Wall;
use crate::units::Nanos;

/// How to open connections.
#[derive(Debug)]
pub(super) struct Connector {
    /// Where requests go.
    pub(super) destination: Destination,
    /// The proxy on the way.
    pub(super) proxy: Option<Destination>,
    /// TLS, where the destination speaks it.
    pub(super) tls: Option<Arc<rustls::ClientConfig>>,
    /// The clock.
    pub(super) wall: Wall,
}

impl Connector {
    /// Opens a connection.
    ///
    /// # Errors
    /// [`ExchangeError::Connect`], with the part that failed.
    pub(super) async fn open(&self) -> Result<(Link, Handshake), ExchangeError> {
        let first = self.proxy.as_ref().unwrap_or(&self.destination);
        let mut handshake = Handshake::default();
        let socket = self.socket(&first.transport, &mut handshake).await?;
        let mut stamped = Stamped::new(socket, self.wall);
        let stamps = stamped.stamps();
        let (bytes, protocol) = match &self.tls {
            None => (Bytes::Plain(stamped), Protocol::Http1),
            Some(config) => {
                if self.proxy.is_some() {
                    handshake.tunnel = Some(self.tunnel(&mut stamped).await?);
                }
                self.secure(stamped, Arc::clone(config), &mut handshake).await?
            }
        };
        let link = Link::open(bytes, protocol, stamps).await;
        let link = link.map_err(|error| failed(ConnectStage::Http, &error))?;
        Ok((link, handshake))
    }

    /// Opens the transport; of several addresses the first that answers.
    async fn socket(
        &self,
        transport: &Transport,
        handshake: &mut Handshake,
    ) -> Result<Socket, ExchangeError> {
        let begun = self.wall.now();
        let (host, port) = match transport {
            Transport::Tcp { host, port } => (host, *port),
            Transport::Unix(path) => {
                let socket = tokio::net::UnixStream::connect(path).await;
                handshake.connect = self.since(begun);
                return socket
                    .map(Socket::Unix)
                    .map_err(|error| failed(ConnectStage::Connect, &error));
            }
        };
        let addresses = resolved(host, port).await?;
        handshake.resolve = self.since(begun);
        let begun = self.wall.now();
        let socket = first_of(&addresses).await;
        handshake.connect = self.since(begun);
        let socket = socket.map_err(|error| failed(ConnectStage::Connect, &error))?;
        // Small writes wait for nobody.
        socket.set_nodelay(true).map_err(|error| failed(ConnectStage::Connect, &error))?;
        Ok(Socket::Tcp(socket))
    }

    /// Asks the proxy for a tunnel; returns how long it took.
    async fn tunnel(&self, proxy: &mut Stamped) -> Result<Nanos, ExchangeError> {
        let begun = self.wall.now();
        let opened = tunnel::open(proxy, &self.destination.host_and_port()).await;
        opened.map_err(|reason| ExchangeError::Connect { stage: ConnectStage::Tunnel, reason })?;
        Ok(self.since(begun))
    }

    /// Speaks TLS over a transport; returns what both sides agreed on.
    async fn secure(
        &self,
        stamped: Stamped,
        config: Arc<rustls::ClientConfig>,
        handshake: &mut Handshake,
    ) -> Result<(Bytes, Protocol), ExchangeError> {
        let begun = self.wall.now();
        let name = match &self.destination.transport {
            Transport::Tcp { host, .. } => ServerName::try_from(host.clone()),
            Transport::Unix(_) => ServerName::try_from(self.destination.authority.clone()),
        };
        let name = name.map_err(|error| failed(ConnectStage::Tls, &error))?;
        let stream = TlsConnector::from(config).connect(name, stamped).await;
        let stream = stream.map_err(|error| failed(ConnectStage::Tls, &error))?;
        handshake.tls = Some(self.since(begun));
        let is_http2 = stream.get_ref().1.alpn_protocol() == Some(b"h2");
        let protocol = if is_http2 { Protocol::Http2 } else { Protocol::Http1 };
        Ok((Bytes::Tls(Box::new(stream)), protocol))
    }

    /// Returns whether requests name the whole URL: a proxy that is asked for no tunnel needs it.
    pub(super) fn is_absolute(&self) -> bool {
        self.proxy.is_some() && self.destination.security == Security::Plain
    }

    /// Returns the time since an instant.
    fn since(&self, begun: Nanos) -> Nanos {
        self.wall.now().since(begun).unwrap_or_default()
    }
}

/// Looks a name up; an address is its own.
async fn resolved(host: &str, port: u16) -> Result<Vec<SocketAddr>, ExchangeError> {
    if let Ok(address) = host.parse() {
        return Ok(vec![SocketAddr::new(address, port)]);
    }
    let found = tokio::net::lookup_host((host, port)).await;
    let found = found.map_err(|error| failed(ConnectStage::Resolve, &error))?;
    Ok(found.collect())
}

/// Connects to the first address that answers; the last refusal otherwise.
async fn first_of(addresses: &[SocketAddr]) -> std::io::Result<tokio::net::TcpStream> {
    let mut refused = std::io::Error::other("the name has no address");
    for address in addresses {
        match tokio::net::TcpStream::connect(address).await {
            Ok(socket) => return Ok(socket),
            Err(error) => refused = error,
        }
    }
    Err(refused)
}

/// Returns the error of a part of connecting.
fn failed(stage: ConnectStage, error: &dyn std::error::Error) -> ExchangeError {
    ExchangeError::Connect { stage, reason: super::link::worded(error) }
}
