//! Proxies and sockets of the file system.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixListener;

use super::secured::Authority;
use super::server::*;
use crate::record::{ConnectStage, ExchangeError};
use crate::workload::live::Target;

#[test]
fn a_proxy_of_plain_http_is_asked_for_the_whole_url() {
    let proxy = Server::start(|mut socket, _| {
        let request = read_request(&mut socket).expect("a request");
        let is_right = request
            .starts_with("POST http://example.com:8000/v1/chat/completions HTTP/1.1\r\n")
            && request.contains("host: example.com:8000\r\n");
        let status = if is_right { "200 OK" } else { "400 Bad Request" };
        write(&mut socket, &answer(status, ONE));
    });
    let mut settings = settings(Target::Url("http://example.com:8000".to_owned()));
    settings.proxy = Some(format!("http://{}", proxy.address));
    assert_eq!(send(&client(&settings)).outcome, Ok(()));
}

#[test]
fn a_server_of_tls_is_reached_through_a_tunnel_which_has_its_own_part_of_the_handshake() {
    let folder = tempfile::tempdir().expect("a folder");
    let authority = Authority::new(folder.path());
    let server = authority.serve(&[b"http/1.1"], None);
    let address = server.address;
    let proxy = Server::start(move |mut socket, _| {
        let asked = read_request(&mut socket).expect("a request");
        assert_eq!(asked.lines().next(), Some("CONNECT localhost:9 HTTP/1.1"));
        write(&mut socket, "HTTP/1.1 200 Connection established\r\n\r\n");
        let server = TcpStream::connect(address).expect("it runs");
        let copies = [(socket.try_clone(), server.try_clone()), (Ok(server), Ok(socket))];
        for (from, to) in copies {
            let (mut from, mut to) = (from.expect("a socket"), to.expect("a socket"));
            std::thread::spawn(move || copy(&mut from, &mut to));
        }
    });
    let mut settings = settings(Target::Url("https://localhost:9".to_owned()));
    settings.ca = Some(authority.ca.clone());
    settings.proxy = Some(format!("http://{}", proxy.address));
    let exchange = send(&client(&settings));
    let handshake = exchange.connection.and_then(|connection| connection.handshake);
    let handshake = handshake.expect("it is cold");
    assert_eq!(exchange.outcome, Ok(()));
    assert!(handshake.tunnel.is_some() && handshake.tls.is_some());
}

#[test]
fn a_proxy_that_opens_no_tunnel_is_named_with_its_answer() {
    let folder = tempfile::tempdir().expect("a folder");
    let authority = Authority::new(folder.path());
    for (answer, told) in [
        ("HTTP/1.1 403 Forbidden\r\n\r\n", "the proxy answered `HTTP/1.1 403 Forbidden`"),
        // The rest of the body never comes, and the connection stays.
        (
            "HTTP/1.1 403 Forbidden\r\ncontent-length: 999\r\n\r\n<html>",
            "the proxy answered `HTTP/1.1 403 Forbidden`",
        ),
        (
            "HTTP/1.1 200 OK\r\n\r\nhello",
            "the proxy answered `HTTP/1.1 200 OK` and went on by itself",
        ),
        ("HTTP/1.1 200", "the proxy gave no whole answer"),
    ] {
        let proxy = Server::start(move |mut socket, _| {
            read_request(&mut socket);
            write(&mut socket, answer);
            if answer.contains("\r\n") {
                until_closed(&mut socket);
            }
        });
        let mut settings = settings(Target::Url("https://localhost:9".to_owned()));
        settings.ca = Some(authority.ca.clone());
        settings.proxy = Some(format!("http://{}", proxy.address));
        let stage = ConnectStage::Tunnel;
        let expected = ExchangeError::Connect { stage, reason: told.to_owned() };
        assert_eq!(send(&client(&settings)).outcome, Err(expected));
    }
}

#[test]
fn a_socket_of_the_file_system_carries_requests() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("engine.sock");
    let listener = UnixListener::bind(&path).expect("a socket");
    std::thread::spawn(move || {
        if let Ok((mut socket, _)) = listener.accept() {
            answer_all(&mut socket);
        }
    });
    let settings = settings(Target::Unix(path.to_str().expect("it is text").to_owned()));
    let all = send_all(&client(&settings), 2);
    assert!(all.iter().all(|exchange| exchange.outcome == Ok(())));
    assert!(!all[1].is_cold());
}

/// Copies bytes until either side closes.
fn copy(from: &mut impl Read, to: &mut impl Write) {
    let _ = std::io::copy(from, to);
}
