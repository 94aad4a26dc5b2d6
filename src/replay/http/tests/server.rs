//! Servers of raw bytes, each connection in a thread of its own.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use hyper::body::Bytes;

use crate::record::Exchange;
use crate::replay::http::{ApiKey, Client, ClientError, Surroundings};
use crate::replay::{OutgoingRequest, Wall};
use crate::units::Nanos;
use crate::workload::live::{Api, EndpointSettings, RequestSettings, Target, Timeouts};

/// A stream of one token.
pub(super) const ONE: &str =
    "data: {\"choices\":[{\"delta\":{\"content\":\"x\"}}]}\n\ndata: [DONE]\n\n";

/// A running server: where, and how many connections it has seen.
pub(super) struct Server {
    pub(super) address: SocketAddr,
    connections: Arc<AtomicUsize>,
}

impl Server {
    /// Serves each connection by a function of the socket and the connection's index.
    pub(super) fn start(serve: impl Fn(TcpStream, usize) + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("the loopback has a free port");
        let address = listener.local_addr().expect("it is bound");
        let connections = Arc::new(AtomicUsize::new(0));
        let (seen, serve) = (Arc::clone(&connections), Arc::new(serve));
        std::thread::spawn(move || {
            for socket in listener.incoming().take(1000) {
                let (index, serve) = (seen.fetch_add(1, Ordering::SeqCst), Arc::clone(&serve));
                let Ok(socket) = socket else { return };
                std::thread::spawn(move || serve(socket, index));
            }
        });
        Self { address, connections }
    }

    /// Returns how many connections it has seen.
    pub(super) fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }

    /// Returns settings that go there.
    pub(super) fn settings(&self) -> EndpointSettings {
        settings(Target::Url(format!("http://{}", self.address)))
    }
}

/// Returns settings of `chat` without limits.
pub(super) fn settings(target: Target) -> EndpointSettings {
    EndpointSettings {
        target,
        request: RequestSettings::of(Api::Chat),
        api_key_env: None,
        ca: None,
        client: None,
        proxy: None,
        headers: Vec::new(),
        timeouts: Timeouts { connect: None, first_byte: None, idle: None, total: None },
    }
}

/// Returns surroundings in which nothing is set.
pub(super) fn nothing() -> Surroundings {
    Surroundings { root: "/".into(), ssl_cert_file: None, api_key: None }
}

/// Returns surroundings with a key.
pub(super) fn with_key(key: &str) -> Surroundings {
    Surroundings { api_key: ApiKey::new(key), ..nothing() }
}

/// Returns a client where nothing is set.
pub(super) fn client(settings: &EndpointSettings) -> Client {
    Client::new(settings, &nothing(), Wall::start()).expect("the settings are right")
}

/// Returns why there is no client.
pub(super) fn refused(settings: &EndpointSettings, surroundings: &Surroundings) -> ClientError {
    Client::new(settings, surroundings, Wall::start()).expect_err("the settings are wrong")
}

/// Returns a request with a body.
pub(super) fn request(body: &'static str) -> OutgoingRequest {
    OutgoingRequest {
        method: "POST",
        path: "/v1/chat/completions".to_owned(),
        headers: vec![("content-type".to_owned(), "application/json".to_owned())],
        body: Bytes::from_static(body.as_bytes()),
        is_streaming: true,
    }
}

/// Runs a future on a runtime of one thread, as live traffic does.
pub(super) fn block_on<F: Future>(future: F) -> F::Output {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    builder.enable_all().build().expect("the system has a poller").block_on(future)
}

/// Sends requests one after the other.
pub(super) fn send_all(client: &Client, count: usize) -> Vec<Exchange> {
    block_on(async {
        let mut all = Vec::new();
        for _ in 0..count {
            all.push(client.send(request("{}"), |_: Nanos| ()).await);
        }
        all
    })
}

/// Sends one request.
pub(super) fn send(client: &Client) -> Exchange {
    send_all(client, 1).remove(0)
}

/// Reads a request, its head and its body; `None` where the client has closed.
pub(super) fn read_request(socket: &mut impl Read) -> Option<String> {
    let mut bytes = Vec::new();
    let mut one = [0];
    while !bytes.ends_with(b"\r\n\r\n") {
        if socket.read(&mut one).ok()? == 0 {
            return None;
        }
        bytes.push(one[0]);
    }
    let head = String::from_utf8(bytes).expect("a head is text");
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
    let mut body = vec![0; length.map_or(0, |length| length.parse().expect("a number"))];
    socket.read_exact(&mut body).ok()?;
    Some(head + &String::from_utf8(body).expect("the body of a test is text"))
}

/// Returns an answer with this status line and body.
pub(super) fn answer(status: &str, body: &str) -> String {
    format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\n\r\n{body}", body.len())
}

/// Writes text; a client that has gone away misses it.
pub(super) fn write(socket: &mut impl Write, text: &str) {
    let _ = socket.write_all(text.as_bytes()).and_then(|()| socket.flush());
}

/// Answers every request of a connection with one token.
pub(super) fn answer_all(socket: &mut (impl Read + Write)) {
    while read_request(socket).is_some() {
        write(socket, &answer("200 OK", ONE));
    }
}

/// Waits until the client has closed.
pub(super) fn until_closed(socket: &mut impl Read) {
    while matches!(socket.read(&mut [0; 64]), Ok(read) if read > 0) {}
}
