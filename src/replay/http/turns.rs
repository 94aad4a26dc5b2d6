//! One read a turn: what a read brought is taken before the next read, so that no message gets the stamp of a later one.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_rustls::client::TlsStream;

use super::stamped::Stamped;

/// Whose turn it is: HTTP reads once, then whoever drives it takes what came.
#[derive(Debug, Default)]
pub(super) struct Turn {
    /// Whether HTTP may read.
    is_open: AtomicBool,
    /// Whether HTTP asked for a read when it was not its turn: it waits for the next one and for nothing else.
    is_starved: AtomicBool,
    /// Reads that brought bytes.
    reads: AtomicU64,
}

impl Turn {
    /// Lets HTTP read once.
    pub(super) fn open(&self) {
        self.is_open.store(true, Ordering::Relaxed);
        self.is_starved.store(false, Ordering::Relaxed);
    }

    /// Returns whether HTTP wants another turn.
    pub(super) fn is_starved(&self) -> bool {
        self.is_starved.load(Ordering::Relaxed)
    }

    /// Returns how many reads brought bytes.
    pub(super) fn reads(&self) -> u64 {
        self.reads.load(Ordering::Relaxed)
    }
}

/// The bytes that HTTP reads and writes: those of the socket, or what TLS makes of them.
#[derive(Debug)]
pub(super) enum Bytes {
    /// As they are.
    Plain(Stamped),
    /// Within TLS.
    Tls(Box<TlsStream<Stamped>>),
}

/// Bytes that are read turn by turn.
#[derive(Debug)]
pub(super) struct Turns {
    bytes: Bytes,
    turn: Arc<Turn>,
}

impl Turns {
    /// Reads bytes turn by turn.
    pub(super) fn new(bytes: Bytes, turn: Arc<Turn>) -> Self {
        Self { bytes, turn }
    }

    /// Returns the bytes as a writer.
    fn writer(&mut self) -> &mut (dyn AsyncWrite + Unpin) {
        match &mut self.bytes {
            Bytes::Plain(bytes) => bytes,
            Bytes::Tls(bytes) => bytes.as_mut(),
        }
    }
}

impl AsyncRead for Turns {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        let this = self.get_mut();
        if !this.turn.is_open.load(Ordering::Relaxed) {
            this.turn.is_starved.store(true, Ordering::Relaxed);
            return Poll::Pending;
        }
        let before = buffer.filled().len();
        let read = match &mut this.bytes {
            Bytes::Plain(bytes) => Pin::new(bytes).poll_read(cx, buffer),
            Bytes::Tls(bytes) => Pin::new(bytes.as_mut()).poll_read(cx, buffer),
        };
        if read.is_ready() {
            this.turn.is_open.store(false, Ordering::Relaxed);
            let brought = u64::from(buffer.filled().len() > before);
            this.turn.reads.fetch_add(brought, Ordering::Relaxed);
        }
        read
    }
}

impl AsyncWrite for Turns {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<std::io::Result<usize>> {
        Pin::new(self.get_mut().writer()).poll_write(cx, bytes)
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Pin::new(self.get_mut().writer()).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Pin::new(self.get_mut().writer()).poll_shutdown(cx)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[std::io::IoSlice<'_>],
    ) -> Poll<std::io::Result<usize>> {
        Pin::new(self.get_mut().writer()).poll_write_vectored(cx, slices)
    }

    fn is_write_vectored(&self) -> bool {
        true
    }
}
