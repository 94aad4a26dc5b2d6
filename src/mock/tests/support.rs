//! A client of a few lines, which interprets as little as it can.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use crate::diag::SourceFile;
use crate::mock::{Address, Behaviour, Bind, MockServer, Script, Security, Settings, start};
use crate::replay::Wall;

/// What a server wrote on a connection until it was closed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Answer {
    /// The status line and the headers.
    pub(super) head: String,
    /// The body, without its chunks' sizes.
    pub(super) body: Vec<u8>,
    /// Whether the body was complete.
    pub(super) is_whole: bool,
}

impl Answer {
    /// Returns the body as text.
    pub(super) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// Returns the status.
    pub(super) fn status(&self) -> &str {
        self.head.split(' ').nth(1).unwrap_or_default()
    }

    /// Returns how many messages hold content.
    pub(super) fn contents(&self) -> usize {
        self.text().matches("\"delta\":{\"content\":\" ").count()
    }
}

/// Starts a server with a script in KDL.
pub(super) fn server(script: &str) -> MockServer {
    let source = SourceFile::new("script.kdl", script);
    let script = Script::read(&source).expect("a script");
    server_of(script, Security::Plain)
}

/// Starts a server.
pub(super) fn server_of(script: Script, security: Security) -> MockServer {
    server_with(Behaviour::Scripted(script), security)
}

/// Starts a server.
pub(super) fn server_with(behaviour: Behaviour, security: Security) -> MockServer {
    start(Settings { bind: Bind::Loopback(0), security, behaviour, wall: Wall::start() })
        .expect("a server on loopback")
}

/// Returns the address of a server.
pub(super) fn address(server: &MockServer) -> SocketAddr {
    match server.address() {
        Address::Tcp(address) => *address,
        Address::Unix(path) => panic!("no port: {}", path.display()),
    }
}

/// Connects; a server that is silent for long fails the test.
pub(super) fn connect(server: &MockServer) -> TcpStream {
    let stream = TcpStream::connect(address(server)).expect("connected");
    stream.set_read_timeout(Some(Duration::from_secs(20))).expect("a timeout");
    stream
}

/// Returns a request as bytes.
pub(super) fn request(path: &str, headers: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!("POST {path} HTTP/1.1\r\nhost: mock\r\ncontent-length: {length}\r\n{headers}\r\n{body}")
        .into_bytes()
}

/// Asks on a connection of its own and reads to its end.
pub(super) fn ask(server: &MockServer, path: &str, headers: &str, body: &str) -> Answer {
    let mut stream = connect(server);
    let headers = format!("connection: close\r\n{headers}");
    stream.write_all(&request(path, &headers, body)).expect("written");
    read(&mut stream)
}

/// Asks for a chat of so many tokens, streamed.
pub(super) fn chat(server: &MockServer, tokens: u64) -> Answer {
    ask(server, "/v1/chat/completions", "", &chat_body(tokens))
}

/// Returns the body of a request for a chat of so many tokens, streamed.
pub(super) fn chat_body(tokens: u64) -> String {
    format!(
        r#"{{"model":"m","messages":[{{"role":"user","content":"hello world"}}],"stream":true,"max_completion_tokens":{tokens}}}"#
    )
}

/// Reads an answer until the connection is closed, or reset.
fn read(stream: &mut impl Read) -> Answer {
    let mut all = Vec::new();
    // A reset ends the stream as well; what came before it is kept.
    let _reset = stream.read_to_end(&mut all);
    parse(&all)
}

/// Takes an answer apart.
pub(super) fn parse(all: &[u8]) -> Answer {
    let end = all.windows(4).position(|four| four == b"\r\n\r\n").map_or(all.len(), |at| at + 4);
    let head = String::from_utf8_lossy(&all[..end]).into_owned();
    if !head.contains("transfer-encoding: chunked") {
        let body = all[end..].to_vec();
        return Answer { head, body, is_whole: true };
    }
    let (mut rest, mut body) = (&all[end..], Vec::new());
    loop {
        let Some(line) = rest.windows(2).position(|two| two == b"\r\n") else {
            return Answer { head, body, is_whole: false };
        };
        let size = std::str::from_utf8(&rest[..line]).expect("ASCII");
        let size = usize::from_str_radix(size, 16).expect("the size of a chunk");
        if size == 0 {
            return Answer { head, body, is_whole: true };
        }
        body.extend_from_slice(&rest[line + 2..line + 2 + size]);
        rest = &rest[line + 4 + size..];
    }
}
