//! One connection, from its handshake to its end.

use std::sync::Arc;

use hyper::body::Incoming;
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::Notify;
use tokio_rustls::TlsAcceptor;

use crate::mock::answer::plus;
use crate::units::Nanos;

use super::listener::Socket;
use super::service::{Service, Unanswered};

/// Serves a connection to its end.
///
/// What ends it is the client's or the script's doing, and the client's own to report.
pub(super) async fn serve(socket: Socket, tls: Option<TlsAcceptor>, service: Arc<Service>) {
    service.log().connect();
    let Some(tls) = tls else {
        return speak_http1(socket, service).await;
    };
    let wait = service.handshake();
    if wait > Nanos::ZERO {
        let timer = service.timer();
        timer.sleep_until(plus(timer.wall().now(), wait)).await;
    }
    let Ok(stream) = tls.accept(socket).await else { return };
    if stream.get_ref().1.alpn_protocol() == Some(b"h2") {
        speak_http2(stream, service).await;
    } else {
        speak_http1(stream, service).await;
    }
}

/// Serves HTTP/1.1.
async fn speak_http1<S>(stream: S, service: Arc<Service>)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let close = Arc::new(Notify::new());
    let inner = Arc::clone(&close);
    let answer = service_fn(move |request: hyper::Request<Incoming>| {
        let (service, close) = (Arc::clone(&service), Arc::clone(&inner));
        async move { service.answer(request, close).await }
    });
    let connection = http1::Builder::new().serve_connection(TokioIo::new(stream), answer);
    tokio::select! {
        _ended = connection => {}
        () = close.notified() => {}
    }
}

/// Serves HTTP/2. A request that is to get no answer is reset there, since others share the connection.
async fn speak_http2<S>(stream: S, service: Arc<Service>)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let close = Arc::new(Notify::new());
    let inner = Arc::clone(&close);
    let answer = service_fn(move |request: hyper::Request<Incoming>| {
        let (service, close) = (Arc::clone(&service), Arc::clone(&inner));
        async move {
            let answered: Result<_, Unanswered> = service.answer(request, close).await;
            answered
        }
    });
    let connection =
        http2::Builder::new(TokioExecutor::new()).serve_connection(TokioIo::new(stream), answer);
    tokio::select! {
        _ended = connection => {}
        () = close.notified() => {}
    }
}
