//! Stamps, and bytes as given.

use std::convert::Infallible;
use std::io::{Read, Write};
use std::pin::Pin;
use std::sync::mpsc;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};

use hyper::body::{Body, Bytes, Frame};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::secured::Authority;
use super::server::*;
use crate::record::{Channel, Delivery, ExchangeError};
use crate::replay::Wall;
use crate::replay::http::Client;
use crate::units::Nanos;
use crate::workload::live::EndpointSettings;

/// Returns an answer in two parts: a message with the beginning of a second one, and the rest.
fn parts() -> (String, String) {
    let delta = ONE.split_inclusive("\n\n").next().expect("a message");
    let (begin, rest) = delta.split_at(20);
    (format!("{delta}{begin}"), format!("{rest}data: [DONE]\n\n"))
}

/// Answers in two parts: the second is written when the client tells that it has seen the first.
fn answer_in_parts(socket: &mut (impl Read + Write), heard: &Mutex<UnboundedReceiver<()>>) {
    read_request(socket);
    let (first, second) = parts();
    let chunk = |text: &str| format!("{:x}\r\n{text}\r\n", text.len());
    let opening = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
    write(socket, &format!("{opening}{}", chunk(&first)));
    heard.lock().expect("one connection").blocking_recv().expect("the client tells");
    write(socket, &format!("{}0\r\n\r\n", chunk(&second)));
}

/// The same over HTTP/2.
struct Parts {
    left: Vec<String>,
    heard: UnboundedReceiver<()>,
}

impl Body for Parts {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let this = self.get_mut();
        if this.left.len() == 1 {
            std::task::ready!(this.heard.poll_recv(cx)).expect("the client tells");
        }
        Poll::Ready(this.left.pop().map(|part| Ok(Frame::data(Bytes::from(part)))))
    }
}

/// Asserts that both messages of an answer in parts have stamps of their own, in the order of all stamps.
fn assert_stamped(settings: &EndpointSettings, told: &UnboundedSender<()>) {
    let wall = Wall::start();
    let client = Client::new(settings, &nothing(), wall).expect("a client");
    let mut seen = None;
    let exchange = block_on(client.send(request("{}"), |at| {
        seen = Some((at, wall.now()));
        told.send(()).expect("the server hears");
    }));
    let (first, told_at) = seen.expect("output came");
    let stamps: Vec<_> = exchange.outputs().map(|event| event.at).collect();
    assert_eq!((exchange.outcome, stamps.len(), stamps[0]), (Ok(()), 2, first));
    // The second was not sent before the first had been told of.
    assert!(stamps[0] <= told_at && told_at <= stamps[1]);
    let order = [
        exchange.begun,
        exchange.sent.expect("it was sent"),
        exchange.first_byte.expect("a byte came"),
        exchange.headers.expect("headers came"),
        stamps[0],
        stamps[1],
        exchange.end,
    ];
    assert!(order.is_sorted(), "{order:?}");
    assert_eq!(exchange.events.last().map(|event| event.channel), Some(Channel::Done));
}

#[test]
fn a_message_has_the_stamp_of_the_read_that_completed_it() {
    let (told, heard) = unbounded_channel();
    let heard = Mutex::new(heard);
    let server = Server::start(move |mut socket, _| answer_in_parts(&mut socket, &heard));
    assert_stamped(&server.settings(), &told);
}

#[test]
fn a_message_has_the_stamp_of_its_read_within_tls_and_http_2_too() {
    let folder = tempfile::tempdir().expect("a folder");
    let authority = Authority::new(folder.path());
    let (told, heard) = unbounded_channel();
    let heard = Mutex::new(heard);
    let server = authority.serve_http1(move |socket| answer_in_parts(socket, &heard));
    assert_stamped(&authority.settings(&server), &told);
    let (told, heard) = unbounded_channel();
    let heard = Arc::new(Mutex::new(Some(heard)));
    let server = authority.serve_http2(move |_| {
        let heard = heard.lock().expect("one request").take().expect("one request");
        let (first, second) = parts();
        let body = Parts { left: vec![second, first], heard };
        std::future::ready(Ok(hyper::Response::new(body)))
    });
    assert_stamped(&authority.settings(&server), &told);
}

#[test]
fn bytes_that_are_no_text_are_named_by_their_offset_in_the_body_however_it_comes() {
    let begin = "data: {\"choices\":[{\"delta\":{\"content\":\"";
    let body = [begin.as_bytes(), b"\xff\xfe\"}}]}\n\n"].concat();
    let server = Server::start(move |mut socket, _| {
        read_request(&mut socket);
        write(&mut socket, "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n");
        for byte in &body {
            let _ = socket.write_all(&[b"1\r\n", &[*byte][..], b"\r\n"].concat());
        }
        until_closed(&mut socket);
    });
    let offset = u64::try_from(begin.len()).expect("short");
    let expected = ExchangeError::Malformed { offset, reason: "invalid UTF-8".to_owned() };
    assert_eq!(send(&client(&server.settings())).outcome, Err(expected));
}

#[test]
fn a_line_of_64_mebibytes_comes_whole_and_one_byte_more_is_refused_as_such() {
    let (begin, end) = ("data: {\"choices\":[{\"delta\":{\"content\":\"", "\"}}]}");
    let room = (64 << 20) - begin.len() - end.len();
    for (length, expected) in
        [(room, Ok(())), (room + 1, Err(ExchangeError::TooLong { what: "line", cap: 64 << 20 }))]
    {
        let server = Server::start(move |mut socket, _| {
            read_request(&mut socket);
            let line = format!("{begin}{}{end}\n\ndata: [DONE]\n\n", "x".repeat(length));
            write(&mut socket, &answer("200 OK", &line));
        });
        assert_eq!(send(&client(&server.settings())).outcome, expected);
    }
}

#[test]
fn messages_of_one_read_share_its_stamp() {
    let server = Server::start(|mut socket, _| {
        read_request(&mut socket);
        write(&mut socket, &answer("200 OK", &format!("{}{ONE}", &ONE[..ONE.len() - 14])));
    });
    let exchange = send(&client(&server.settings()));
    let stamps: Vec<_> = exchange.events.iter().map(|event| event.at).collect();
    assert_eq!((exchange.outcome, stamps.len()), (Ok(()), 3));
    assert_eq!(stamps, [stamps[0]; 3]);
}

#[test]
fn method_path_headers_and_body_go_as_given() {
    let (told, heard) = mpsc::channel();
    let told = Mutex::new(told);
    let server = Server::start(move |mut socket, _| {
        let request = read_request(&mut socket).expect("a request");
        told.lock().expect("one connection").send(request).expect("the test hears");
        write(&mut socket, &answer("200 OK", ONE));
    });
    let client = client(&server.settings());
    let mut sent = request("{\"a\" : 1.0e0,  \"ü\":\"\\u00fc\"}");
    sent.headers.push(("x-dynamo-session-id".to_owned(), "s::1".to_owned()));
    assert_eq!(block_on(client.send(sent, |_: Nanos| ())).outcome, Ok(()));
    let seen = heard.recv().expect("it was sent");
    assert!(seen.starts_with("POST /v1/chat/completions HTTP/1.1\r\n"), "{seen}");
    assert!(seen.ends_with("\r\n\r\n{\"a\" : 1.0e0,  \"ü\":\"\\u00fc\"}"), "{seen}");
    let mut lines: Vec<_> = seen.split("\r\n").skip(1).take(5).map(str::to_owned).collect();
    lines.sort();
    let expected = [
        "content-length: 29".to_owned(),
        "content-type: application/json".to_owned(),
        format!("host: {}", server.address),
        format!("user-agent: touchstone/{}", env!("CARGO_PKG_VERSION")),
        "x-dynamo-session-id: s::1".to_owned(),
    ];
    assert_eq!(lines, expected);
}

#[test]
fn an_answer_that_comes_whole_is_told_from_a_stream() {
    let body = "{\"choices\":[{\"message\":{\"content\":\"hi\"},\"finish_reason\":\"stop\"}],\"usage\":{\"completion_tokens\":2}}";
    let server = Server::start(move |mut socket, _| {
        read_request(&mut socket);
        write(&mut socket, &answer("200 OK", body));
    });
    let exchange = send(&client(&server.settings()));
    assert_eq!((exchange.outcome, exchange.delivery), (Ok(()), Delivery::Whole));
    assert_eq!((exchange.reply.text.as_str(), exchange.events.len()), ("hi", 1));
}

#[test]
fn bodies_larger_than_every_buffer_go_and_come() {
    let server = Server::start(|mut socket, _| {
        let length = read_request(&mut socket).expect("a request").len();
        write(&mut socket, &answer("200 OK", &ONE.replacen('x', &"x".repeat(length), 1)));
    });
    let client = client(&server.settings());
    let mut large = request("");
    large.body = vec![b' '; 8 << 20].into();
    let exchange = block_on(client.send(large, |_: Nanos| ()));
    assert_eq!(exchange.outcome, Ok(()));
    assert!(exchange.reply.text.len() > 8 << 20);
}
