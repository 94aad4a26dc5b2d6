//! The key of the API reaches the server and nothing else.

use std::sync::{Mutex, mpsc};

use super::server::*;
use crate::replay::Wall;
use crate::replay::http::Client;

const KEY: &str = "sk-sesame";

#[test]
fn the_key_goes_to_the_server_and_never_into_what_is_kept_even_where_the_server_repeats_it() {
    let answers = [
        answer(
            "401 Unauthorized",
            &format!("{{\"error\":{{\"message\":\"Incorrect API key: {KEY}\"}}}}"),
        ),
        answer(
            "200 OK",
            &format!("data: {{\"error\":{{\"message\":\"{KEY}\",\"code\":\"{KEY}\"}}}}\n\n"),
        ),
        answer("200 OK", &format!("data: {{\"choices\":[{{\"index\":\"{KEY}\"}}]}}\n\n")),
        answer("503 Busy", KEY).replacen("\r\n", &format!("\r\nretry-after: {KEY}\r\n"), 1),
    ];
    for text in answers {
        let (told, heard) = mpsc::channel();
        let told = Mutex::new(told);
        let server = Server::start({
            let text = text.clone();
            move |mut socket, _| {
                let request = read_request(&mut socket).expect("a request");
                told.lock().expect("one connection").send(request).expect("the test hears");
                write(&mut socket, &text);
            }
        });
        let mut settings = server.settings();
        settings.api_key_env = Some("MODEL_KEY".to_owned());
        let client = Client::new(&settings, &with_key(KEY), Wall::start()).expect("a client");
        let exchange = send(&client);
        let request = heard.recv().expect("it was sent");
        assert!(request.contains(&format!("authorization: Bearer {KEY}\r\n")), "{request}");
        let kept = format!("{exchange:?}{client:?}");
        assert!(exchange.outcome.is_err() && !kept.contains(KEY), "{kept}");
    }
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
