//! Limits of time, each broken alone, and the end of a run.

use super::server::*;
use crate::record::{ConnectStage, ExchangeError, Limit, Truncation};
use crate::units::Nanos;
use crate::workload::live::{EndpointSettings, Target, Timeouts};

const SHORT: Option<Nanos> = Some(Nanos::new(20_000_000));

/// Returns settings with limits.
fn limited(server: &Server, set: impl FnOnce(&mut Timeouts)) -> EndpointSettings {
    let mut settings = server.settings();
    set(&mut settings.timeouts);
    settings
}

/// A server that writes this after the request, and nothing more.
fn stalls_after(text: &'static str) -> Server {
    Server::start(move |mut socket, _| {
        read_request(&mut socket);
        write(&mut socket, text);
        until_closed(&mut socket);
    })
}

const HEAD: &str = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";

#[test]
fn a_server_that_says_nothing_breaks_the_limit_of_the_first_byte_and_no_other() {
    let server = stalls_after("");
    let exchange = send(&client(&limited(&server, |limits| limits.first_byte = SHORT)));
    assert_eq!(exchange.outcome, Err(ExchangeError::Timeout(Limit::FirstByte)));
    assert!(exchange.end.since(exchange.begun) >= SHORT && exchange.first_byte.is_none());
}

#[test]
fn a_silence_within_the_answer_breaks_the_limit_of_silence() {
    for text in ["HTTP/1.1 200", HEAD, "HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\ndata:"] {
        let server = stalls_after(text);
        let exchange = send(&client(&limited(&server, |limits| limits.idle = SHORT)));
        assert_eq!(exchange.outcome, Err(ExchangeError::Timeout(Limit::Idle)), "{text}");
        assert!(exchange.first_byte.is_some());
    }
}

#[test]
fn a_silence_shorter_than_another_limit_breaks_none() {
    let server = Server::start(|mut socket, _| answer_all(&mut socket));
    let long = Some(Nanos::new(3_600_000_000_000));
    let all = |limits: &mut Timeouts| {
        *limits = Timeouts { connect: long, first_byte: long, idle: long, total: long };
    };
    assert_eq!(send(&client(&limited(&server, all))).outcome, Ok(()));
}

#[test]
fn an_answer_without_end_breaks_the_limit_of_the_whole() {
    let server = Server::start(|mut socket, _| {
        read_request(&mut socket);
        write(&mut socket, HEAD);
        // Comments come until the client has had enough.
        while std::io::Write::write_all(&mut socket, b"3\r\n:\n\n\r\n").is_ok() {}
    });
    let exchange = send(&client(&limited(&server, |limits| limits.total = SHORT)));
    assert_eq!(exchange.outcome, Err(ExchangeError::Timeout(Limit::Total)));
    assert!(exchange.keepalives > 0 && exchange.events.is_empty());
}

#[test]
fn a_handshake_without_end_breaks_the_limit_of_connecting() {
    let server = Server::start(|mut socket, _| until_closed(&mut socket));
    let folder = tempfile::tempdir().expect("a folder");
    let authority = super::secured::Authority::new(folder.path());
    let mut settings = settings(Target::Url(format!("https://{}", server.address)));
    settings.ca = Some(authority.ca.clone());
    settings.timeouts.connect = SHORT;
    let exchange = send(&client(&settings));
    assert_eq!(exchange.outcome, Err(ExchangeError::Timeout(Limit::Connect)));
    assert_eq!((exchange.sent, exchange.connection), (None, None));
}

#[test]
fn a_port_without_a_server_is_an_error_of_the_transport() {
    let free = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}", free.local_addr().expect("it is bound"));
    drop(free);
    let exchange = send(&client(&settings(Target::Url(url))));
    let stage = ConnectStage::Connect;
    assert!(
        matches!(exchange.outcome, Err(ExchangeError::Connect { stage: found, .. }) if found == stage)
    );
}

#[test]
fn the_end_of_a_run_ends_what_is_in_flight_and_keeps_what_came() {
    let server = Server::start(|mut socket, _| {
        read_request(&mut socket);
        let delta = ONE.split_inclusive("\n\n").next().expect("a message");
        write(&mut socket, &format!("{HEAD}{:x}\r\n{delta}\r\n", delta.len()));
        until_closed(&mut socket);
    });
    let client = client(&server.settings());
    let exchange = block_on(client.send(request("{}"), |_| client.cancel()));
    assert_eq!((exchange.outcome, exchange.events.len()), (Err(ExchangeError::Cancelled), 1));
    assert_eq!(exchange.reply.text, "x");
    assert_eq!(send(&client).outcome, Err(ExchangeError::Cancelled));
}

#[test]
fn an_answer_that_ends_early_is_truncated_and_says_where() {
    let delta = ONE.split_inclusive("\n\n").next().expect("a message");
    let chunk = format!("{:x}\r\n{delta}\r\n", delta.len());
    let cases = [
        (format!("{HEAD}{chunk}0\r\n\r\n"), Truncation::NoTerminalEvent),
        (format!("{HEAD}6\r\ndata: \r\n0\r\n\r\n"), Truncation::PartialEvent),
        (format!("{HEAD}{chunk}"), Truncation::PartialBody),
        (format!("HTTP/1.1 200 OK\r\ncontent-length: 999\r\n\r\n{delta}"), Truncation::PartialBody),
        (format!("HTTP/1.1 200 OK\r\n\r\n{delta}"), Truncation::NoTerminalEvent),
    ];
    for (text, expected) in cases {
        let server = Server::start({
            let text = text.clone();
            move |mut socket, _| {
                read_request(&mut socket);
                write(&mut socket, &text);
            }
        });
        let exchange = send(&client(&server.settings()));
        assert_eq!(exchange.outcome, Err(ExchangeError::Truncated(expected)), "{text}");
    }
}
