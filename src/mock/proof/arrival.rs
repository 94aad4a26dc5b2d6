//! When the first request reached a server.

use std::io;
use std::net::SocketAddr;

use crate::units::Nanos;

use super::fetch;

/// Returns when the first request whose answer has ended was there as a whole, on the machine's own monotonic clock
/// ([`crate::replay::Wall::epoch`]); nothing where none was. The server forgets what it tells.
///
/// # Errors
/// Where the server cannot be asked.
pub fn first_arrival(server: SocketAddr) -> io::Result<Option<Nanos>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
    let stamps = runtime.block_on(fetch::stamps(server))?;
    let epoch = stamps.wall.epoch();
    let first = stamps.answers.iter().map(|answer| answer.taken).min();
    Ok(first.map(|taken| Nanos::new(epoch.get() + taken.get())))
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::TcpStream;

    use super::*;
    use crate::mock::{Address, Behaviour, Bind, Script, Security, Settings, start};
    use crate::replay::Wall;

    #[test]
    fn the_first_arrival_lies_between_sending_and_the_end_of_the_answer() {
        let server = start(Settings {
            bind: Bind::Loopback(0),
            security: Security::Plain,
            behaviour: Behaviour::Scripted(Script::fixed(Nanos::ZERO, Nanos::ZERO)),
            wall: Wall::start(),
        })
        .expect("a server");
        let Address::Tcp(address) = *server.address() else { panic!("no port") };
        assert_eq!(first_arrival(address).expect("it answers"), None);
        let before = Wall::start().epoch();
        let body = r#"{"model":"m","messages":[{"role":"user","content":"x"}],"max_tokens":1}"#;
        let mut stream = TcpStream::connect(address).expect("it listens");
        let length = body.len();
        write!(
            stream,
            "POST /v1/chat/completions HTTP/1.1\r\nhost: m\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
        )
        .expect("it reads");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("it answers");
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        let arrived = first_arrival(address).expect("it answers").expect("a request came");
        assert!(before < arrived && arrived < Wall::start().epoch());
    }
}
