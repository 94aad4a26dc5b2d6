//! Stamps, and bytes as given.

use std::sync::Mutex;
use std::sync::mpsc;

use super::server::*;
use crate::record::{Channel, Delivery};
use crate::replay::Wall;
use crate::replay::http::Client;
use crate::units::Nanos;

#[test]
fn a_message_has_the_stamp_of_the_read_that_completed_it() {
    let (told, heard) = mpsc::channel::<()>();
    let heard = Mutex::new(heard);
    let server = Server::start(move |mut socket, _| {
        read_request(&mut socket);
        let delta = ONE.split_inclusive("\n\n").next().expect("a message");
        let (begin, rest) = delta.split_at(20);
        let chunk = |text: &str| format!("{:x}\r\n{text}\r\n", text.len());
        let opening = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
        // The second message begins with the first and is completed when the client has seen the first.
        write(&mut socket, &format!("{opening}{}", chunk(&format!("{delta}{begin}"))));
        heard.lock().expect("one connection").recv().expect("the client tells");
        write(&mut socket, &format!("{}{}0\r\n\r\n", chunk(rest), chunk("data: [DONE]\n\n")));
    });
    let wall = Wall::start();
    let client = Client::new(&server.settings(), &nothing(), wall).expect("a client");
    let mut seen = None;
    let exchange = block_on(client.send(request("{}"), |at| {
        seen = Some((at, wall.now()));
        told.send(()).expect("the server hears");
    }));
    let (first, told_at) = seen.expect("output came");
    let stamps: Vec<_> = exchange.outputs().map(|event| event.at).collect();
    assert_eq!((exchange.outcome, stamps.len(), stamps[0]), (Ok(()), 2, first));
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
