//! `bench mock`: it says where it is, answers, and ends when it is told to. `bench doctor`: what it asks of it.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Stdio};

use crate::program::Place;

/// Starts a server that ends with its input; returns it with its address.
fn serve(place: &Place, arguments: &[&str]) -> (Child, String) {
    let mut command = place.command([&["mock", "--while-stdin"], arguments].concat());
    let command = command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().expect("the binary was built with this test");
    let mut line = String::new();
    BufReader::new(child.stdout.take().expect("piped")).read_line(&mut line).expect("a line");
    let json: serde_json::Value = serde_json::from_str(&line).expect("JSON");
    let url = json["url"].as_str().expect("a URL").to_owned();
    (child, url.trim_start_matches("http://").trim_end_matches("/v1").to_owned())
}

/// Asks for a streamed answer and returns all that comes.
fn ask(address: &str) -> String {
    let mut stream = TcpStream::connect(address).expect("it listens");
    let body = r#"{"model":"m","prompt":"x","stream":true}"#;
    write!(
        stream,
        "POST /v1/completions HTTP/1.1\r\nhost: m\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
    .expect("sent");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("read");
    answer
}

#[test]
fn a_script_is_served_until_the_input_ends() {
    let place = Place::empty();
    place.write("script.kdl", "answer { tokens 3; }\n");
    let (mut child, address) = serve(&place, &["--script", "script.kdl"]);
    assert_eq!(ask(&address).matches("\"text\":\" ").count(), 3);
    drop(child.stdin.take());
    assert_eq!(child.wait().expect("it ends").code(), Some(0));
    assert!(TcpStream::connect(&address).is_err());
}

#[test]
fn a_signal_ends_the_server() {
    let place = Place::empty();
    let (mut child, address) = serve(&place, &["--fast"]);
    assert!(ask(&address).contains("[DONE]"));
    let mut kill = std::process::Command::new("kill");
    assert!(kill.args(["-TERM", &child.id().to_string()]).status().expect("kill").success());
    assert_eq!(child.wait().expect("it ends").code(), Some(0));
}

#[test]
fn a_wrong_script_and_an_address_in_use_are_told_with_their_codes() {
    let place = Place::empty();
    place.write("wrong.kdl", "answer { raw-hex \"f\"; }\n");
    let ran = place.bench(["mock", "--script", "wrong.kdl"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("mock::script"), "{}", ran.stderr);
    let ran = place.bench(["mock", "--script", "absent.kdl"]);
    assert!(ran.code == Some(2) && ran.stderr.contains("mock::read"), "{}", ran.stderr);
    assert_eq!(place.bench(["mock"]).code, Some(2));
    let (mut child, address) = serve(&place, &["--fast"]);
    let port = address.rsplit(':').next().expect("a port");
    let ran = place.bench(["mock", "--fast", "--port", port]);
    assert!(ran.code == Some(2) && ran.stderr.contains("mock::start"), "{}", ran.stderr);
    drop(child.stdin.take());
    child.wait().expect("it ends");
}

#[test]
fn the_doctor_finds_every_message_of_a_server_in_another_process() {
    let place = Place::empty();
    let ran =
        place.bench(["doctor", "--in-flight", "2", "--per-second", "100", "--format", "json"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let json: serde_json::Value = serde_json::from_str(&ran.stdout).expect("JSON");
    let (level, rate) = (&json["in_flight"][0]["truth"], &json["per_second"][0]["truth"]);
    for (truth, matched) in [(level, 8), (rate, 200)] {
        assert_eq!((&truth["lost"], &truth["matched"]), (&0.into(), &matched.into()));
        assert_eq!(truth["ttft_off"]["count"], matched);
    }
    assert_eq!(json["in_flight"][0]["reached_in_flight"], 2);
    assert_eq!((&level["gap_off"]["count"], &level["lateness"]), (&(8 * 49).into(), &().into()));
    assert_eq!((&rate["lateness"]["count"], &rate["gap_off"]), (&200.into(), &().into()));
}
