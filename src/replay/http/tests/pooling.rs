//! Connections: as many as are asked for, used again, and fresh where one went stale.

use std::net::TcpStream;
use std::sync::{Arc, Barrier};

use super::server::*;
use crate::record::{ExchangeError, Protocol};
use crate::units::Nanos;

#[test]
fn requests_one_after_the_other_share_a_connection_and_only_the_first_is_cold() {
    let server = Server::start(|mut socket, _| answer_all(&mut socket));
    let all = send_all(&client(&server.settings()), 100);
    assert!(all.iter().all(|exchange| exchange.outcome == Ok(()) && !exchange.is_retried));
    assert_eq!(
        (server.connections(), all.iter().filter(|exchange| exchange.is_cold()).count()),
        (1, 1)
    );
    let connection = all[0].connection.expect("it was carried");
    let handshake = connection.handshake.expect("it is cold");
    assert_eq!(
        (connection.protocol, handshake.tls, handshake.tunnel),
        (Protocol::Http1, None, None)
    );
    assert!(handshake.connect > Nanos::ZERO && handshake.total() >= handshake.connect);
}

#[test]
fn as_many_requests_are_in_flight_as_are_asked_for() {
    const ASKED: usize = 256;
    let all_there = Arc::new(Barrier::new(ASKED));
    // No answer is given before all requests are there: a cap of the client would end in its limit of time.
    let server = Server::start(move |mut socket, _| {
        if read_request(&mut socket).is_some() {
            all_there.wait();
            write(&mut socket, &answer("200 OK", ONE));
            until_closed(&mut socket);
        }
    });
    let mut settings = server.settings();
    settings.timeouts.total = Some(Nanos::new(60_000_000_000));
    let client = Arc::new(client(&settings));
    let outcomes = block_on(async {
        let send = |client: Arc<crate::replay::http::Client>| async move {
            client.send(request("{}"), |_| ()).await.outcome
        };
        let tasks: Vec<_> = (0..ASKED).map(|_| tokio::spawn(send(Arc::clone(&client)))).collect();
        let mut outcomes = Vec::new();
        for task in tasks {
            outcomes.push(task.await.expect("it does not panic"));
        }
        outcomes
    });
    assert_eq!((outcomes, server.connections()), (vec![Ok(()); ASKED], ASKED));
}

#[test]
fn a_connection_that_closes_under_a_request_is_replaced_once_and_the_exchange_says_so() {
    let server = Server::start(|mut socket, _| {
        read_request(&mut socket);
        write(&mut socket, &answer("200 OK", ONE));
        // The second request arrives and nothing answers it.
        read_request(&mut socket);
    });
    let all = send_all(&client(&server.settings()), 3);
    let flags: Vec<_> =
        all.iter().map(|exchange| (exchange.is_retried, exchange.is_cold())).collect();
    assert_eq!(flags, [(false, true), (true, true), (true, true)]);
    assert!(all.iter().all(|exchange| exchange.outcome == Ok(())));
    assert!(all.iter().all(|exchange| exchange.sent.is_some_and(|sent| sent >= exchange.begun)));
    assert_eq!(server.connections(), 3);
}

#[test]
fn a_server_that_closes_after_each_answer_costs_no_request() {
    let server = Server::start(|mut socket: TcpStream, _| {
        read_request(&mut socket);
        write(&mut socket, &answer("200 OK", ONE));
    });
    let all = send_all(&client(&server.settings()), 100);
    assert!(all.iter().all(|exchange| exchange.outcome == Ok(())));
    assert_eq!(server.connections(), 100);
}

#[test]
fn a_fresh_connection_that_closes_is_no_stale_one_and_a_retry_is_the_last() {
    let server = Server::start(|mut socket, _| {
        read_request(&mut socket);
    });
    let lost = send(&client(&server.settings()));
    assert!(lost.outcome.is_err() && !lost.is_retried);
    let server = Server::start(|mut socket, index| {
        if read_request(&mut socket).is_some() && index == 0 {
            write(&mut socket, &answer("200 OK", ONE));
            read_request(&mut socket);
        }
    });
    let all = send_all(&client(&server.settings()), 2);
    assert!(all[0].outcome == Ok(()) && all[1].outcome.is_err() && all[1].is_retried);
    assert_eq!(server.connections(), 2);
}

#[test]
fn nothing_is_sent_again_once_a_byte_of_the_answer_came() {
    let server = Server::start(|mut socket, _| {
        read_request(&mut socket);
        write(&mut socket, &answer("200 OK", ONE));
        read_request(&mut socket);
        write(&mut socket, "HTTP/1.1 2");
    });
    let all = send_all(&client(&server.settings()), 2);
    assert!(all[1].outcome.is_err() && !all[1].is_retried && all[1].first_byte.is_some());
    assert_eq!(server.connections(), 1);
}

#[test]
fn a_refusal_keeps_its_connection_and_tells_when_to_come_back() {
    let server = Server::start(|mut socket, _| {
        while read_request(&mut socket).is_some() {
            let body = "{\"error\":{\"message\":\"slow down\"}}";
            let text = answer("429 Too Many Requests", body);
            write(&mut socket, &text.replacen("\r\n", "\r\nretry-after: 3\r\n", 1));
        }
    });
    let all = send_all(&client(&server.settings()), 2);
    let expected = ExchangeError::Status {
        status: 429,
        message: "slow down".to_owned(),
        retry_after: Some("3".to_owned()),
    };
    assert_eq!(
        (all[0].status, &all[0].outcome, all[0].events.len()),
        (Some(429), &Err(expected), 0)
    );
    assert!(all[0].end >= all[0].headers.expect("they came"));
    assert_eq!(server.connections(), 1);
}

#[test]
fn what_http_cannot_say_is_not_sent() {
    let server = Server::start(|mut socket, _| answer_all(&mut socket));
    let client = client(&server.settings());
    let mut bad = request("{}");
    bad.headers.push(("x".to_owned(), "a\nb".to_owned()));
    let exchange = block_on(client.send(bad, |_| ()));
    assert!(matches!(exchange.outcome, Err(ExchangeError::Unsendable(_))));
}
