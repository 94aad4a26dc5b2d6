//! The key of the API reaches the server and nothing else.

use std::sync::{Mutex, mpsc};

use super::server::*;
use crate::record::{Exchange, ExchangeError};
use crate::replay::Wall;
use crate::replay::http::Client;

const KEY: &str = "sk-sesame/0123456789+abcdef";

/// Has a server answer one request with this text, asserts that the server was sent the key, and returns what the client keeps.
fn kept(text: String) -> Exchange {
    let (told, heard) = mpsc::channel();
    let told = Mutex::new(told);
    let server = Server::start(move |mut socket, _| {
        let request = read_request(&mut socket).expect("a request");
        told.lock().expect("one connection").send(request).expect("the test hears");
        write(&mut socket, &text);
    });
    let mut settings = server.settings();
    settings.api_key_env = Some("MODEL_KEY".to_owned());
    let client = Client::new(&settings, &with_key(KEY), Wall::start()).expect("a client");
    assert_gone(&format!("{client:?}"));
    let exchange = send(&client);
    let request = heard.recv().expect("it was sent");
    assert!(request.contains(&format!("authorization: Bearer {KEY}\r\n")), "{request}");
    exchange
}

/// Asserts that no eight bytes of the key in a row are in a text.
fn assert_gone(text: &str) {
    for piece in KEY.as_bytes().windows(8) {
        let piece = std::str::from_utf8(piece).expect("ASCII");
        assert!(!text.contains(piece), "`{piece}` is in {text}");
    }
}

/// Asserts that an answer with this status and body fails, and that what is kept of it has nothing of the key.
fn assert_refused(status: &str, body: &str) {
    let exchange = kept(answer(status, body));
    assert!(exchange.outcome.is_err(), "{body}");
    assert_gone(&format!("{exchange:?}"));
}

/// Returns the key with each byte as JSON may escape it.
fn escaped() -> String {
    KEY.bytes().map(|byte| format!("\\u{byte:04x}")).collect::<Vec<_>>().concat()
}

#[test]
fn the_key_goes_to_the_server_and_never_into_what_is_kept_even_where_the_server_repeats_it() {
    for key in [KEY.to_owned(), KEY.replace('/', "\\/"), escaped()] {
        for (status, body) in [
            ("401 Unauthorized", format!("{{\"error\":{{\"message\":\"Incorrect key: {key}\"}}}}")),
            ("401 Unauthorized", format!("{{\"error\":{{\"given\":\"{key}\"}}}}")),
            ("401 Unauthorized", format!("{{\"detail\":[{{\"input\":{{\"{key}\":1}}}}]}}")),
            ("401 Unauthorized", format!("<p>Bearer {key}</p>")),
            ("401 Unauthorized", format!("{{\"error\":{{\"message\":\"{key}\"")),
            (
                "200 OK",
                format!("data: {{\"error\":{{\"message\":\"{key}\",\"code\":\"{key}\"}}}}\n\n"),
            ),
            ("200 OK", format!("data: {{\"error\":{{\"token\":\"{key}\"}}}}\n\n")),
            ("200 OK", format!("event: error\ndata: no key: {key}\n\n")),
            ("200 OK", format!("{{\"error\":\"{key}\"}}")),
            ("200 OK", format!("data: {{\"choices\":[{{\"index\":\"{key}\"}}]}}\n\n")),
            ("200 OK", format!("data: \"{key}\"\n\n")),
            ("200 OK", format!("{{\"choices\":\"{key}\"}}")),
        ] {
            assert_refused(status, &body);
        }
    }
}

#[test]
fn a_key_that_a_shortened_text_would_cut_is_gone_wherever_it_stands() {
    for before in (466..=506).step_by(3) {
        let before = "x".repeat(before);
        assert_refused("401 Unauthorized", &format!("{before}{KEY}yyy"));
        assert_refused("200 OK", &format!("data: {{\"error\":\"{before}{KEY}yyy\"}}\n\n"));
    }
    // Only the beginning of a refusal is read.
    let blank = " ".repeat((64 << 10) - 15);
    assert_refused("401 Unauthorized", &format!("{blank}{KEY}"));
}

#[test]
fn the_key_is_taken_out_of_headers_and_of_the_reason_to_finish_too() {
    let retry = answer("503 Busy", "").replacen("\r\n", &format!("\r\nretry-after: {KEY}\r\n"), 1);
    let exchange = kept(retry);
    assert!(
        matches!(&exchange.outcome, Err(ExchangeError::Status { retry_after: Some(text), .. }) if text == "[redacted]")
    );
    assert_gone(&format!("{exchange:?}"));
    for reason in [KEY.to_owned(), escaped(), format!("stop {}", KEY.replace('/', "\\/"))] {
        let choice = format!("{{\"delta\":{{\"content\":\"x\"}},\"finish_reason\":\"{reason}\"}}");
        let exchange = kept(answer("200 OK", &format!("data: {{\"choices\":[{choice}]}}\n\n")));
        assert_eq!(exchange.outcome, Ok(()));
        assert!(exchange.finish_reason.as_ref().is_some_and(|it| it.contains("[redacted]")));
        assert_gone(&format!("{exchange:?}"));
    }
}

#[test]
fn an_answer_is_kept_as_the_model_said_it_since_a_later_prompt_returns_it_to_the_same_server() {
    let said = answer("200 OK", &ONE.replacen('x', KEY, 1));
    assert_eq!(kept(said).reply.text, KEY);
}

#[test]
fn a_variable_without_a_key_is_an_error_and_a_key_that_nobody_asked_for_stays_at_home() {
    let server = Server::start(|mut socket, _| {
        let request = read_request(&mut socket).expect("a request");
        let status = if request.contains("authorization") { "400 Bad Request" } else { "200 OK" };
        write(&mut socket, &answer(status, ONE));
    });
    let mut settings = server.settings();
    let client = Client::new(&settings, &with_key(KEY), Wall::start()).expect("a client");
    assert_eq!(send(&client).outcome, Ok(()));
    settings.api_key_env = Some("MODEL_KEY".to_owned());
    let error = refused(&settings, &nothing()).to_string();
    assert_eq!(error, "the environment variable `MODEL_KEY` holds no key");
}
