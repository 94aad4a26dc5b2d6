//! Keys and passwords: whatever a server repeats and whatever stands in a scenario, no file and no line holds them.

use std::fs;
use std::path::{Path, PathBuf};

use crate::program::{Place, Ran};
use crate::replay::{ASKED, Asked, JOB, Server, ask, latest, left, place, sent};

/// Returns every file below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut all = Vec::new();
    for entry in fs::read_dir(folder).expect("readable") {
        let path = entry.expect("readable").path();
        if path.is_dir() { all.extend(files(&path)) } else { all.push(path) }
    }
    all
}

/// Asserts that no eight bytes of a secret in a row are in a text.
fn assert_gone(text: &str, secret: &str, where_: &str) {
    for piece in secret.as_bytes().windows(8) {
        let piece = std::str::from_utf8(piece).expect("ASCII");
        assert!(!text.contains(piece), "`{piece}` is in {where_}: {text}");
    }
}

/// Asserts that no eight bytes of a secret in a row are in what was printed or in any file of the runs.
fn assert_gone_everywhere(place: &Place, ran: &Ran, secret: &str) {
    for text in [&ran.stdout, &ran.stderr] {
        assert_gone(text, secret, "what was printed");
    }
    let runs = place.path("runs");
    for file in if runs.exists() { files(&runs) } else { Vec::new() } {
        let bytes = fs::read(&file).expect("readable");
        assert_gone(&String::from_utf8_lossy(&bytes), secret, &file.display().to_string());
    }
}

/// Returns a script of a server that repeats the key of the first requests in so many ways, and of others asks it.
fn repeating(key: &str) -> String {
    let header = format!("answer header=\"Authorization: Bearer {key}\"");
    let escaped: Vec<_> = key.bytes().map(|byte| format!("\\u{byte:04x}")).collect();
    let escaped = escaped.concat();
    let slashed = key.replace('/', "\\/");
    let long = "x".repeat(500 - key.len() + 3);
    let message = |data: String| format!("raw #\"data: {data}\"#; raw \"\\n\\n\"");
    let ways = [
        format!("status 401 body=\"Bearer {key} is no key of ours\""),
        format!("status 401 body=\"{long}{key} and more\""),
        format!("status 403 body=#\"{{\"error\":{{\"given\":\"{slashed}\"}}}}\"#"),
        message(format!("{{\"error\":{{\"message\":\"{escaped}\",\"code\":\"{key}\"}}}}")),
        message(format!("{{\"choices\":[{{\"index\":\"{slashed}\"}}]}}")),
        message(escaped),
        format!("tokens 2 finish=\"{key}\""),
    ];
    let way = |(at, way): (usize, &String)| {
        format!("{header} from={at} to={at} {{ {way}; }}\n", at = at + 1)
    };
    let ways: String = ways.iter().enumerate().map(way).collect();
    format!("{ways}{header} {{ tokens 2; }}\nanswer {{ status 418; }}\n")
}

#[test]
fn the_key_goes_to_the_server_and_nowhere_else_and_proxies_of_the_environment_count_for_nothing() {
    let place = place();
    let key = "sk-a/secret-of+somebody-0123456789";
    let server = Server::start(&place, &repeating(key));
    let endpoint = server.endpoint("api-key-env=\"MY_KEY\"");
    ask(&place, Asked { endpoint: &endpoint, gate: "live \"wire\" { errors max=0; }", ..ASKED });
    let with_key = |arguments: &[&str]| {
        let mut command = place.command(arguments);
        command.env("MY_KEY", key);
        for name in ["HTTP_PROXY", "http_proxy", "ALL_PROXY"] {
            command.env(name, "http://user:a-password@127.0.0.1:1");
        }
        Ran::of(&mut command)
    };
    let ran = with_key(&["run", "x.kdl", "--verbose"]).exits(3);
    let live = left(&latest(&place), JOB, "live.json");
    let errors = live["errors"].as_array().expect("a list");
    let kinds: Vec<_> = errors.iter().filter_map(|error| error["kind"].as_str()).collect();
    assert_eq!(kinds, ["in-band", "malformed", "status-401", "status-403"], "{ran}");
    let finished = sent(&latest(&place), JOB);
    assert!(finished.iter().any(|request| request["finish_reason"] == "[redacted]"), "{ran}");
    assert_eq!(
        live["environment"]["proxy_variables_ignored"],
        serde_json::json!(["ALL_PROXY", "HTTP_PROXY", "http_proxy"])
    );
    assert!(ran.stderr.contains("set and ignored"), "{ran}");
    for secret in [key, "a-password"] {
        assert_gone_everywhere(&place, &ran, secret);
        for arguments in [&["plan", "x.kdl", "--wire"][..], &["plan", "x.kdl"]] {
            let ran = with_key(arguments).exits(0);
            assert_gone_everywhere(&place, &ran, secret);
        }
    }
}

#[test]
fn a_password_or_a_key_that_stands_in_a_scenario_is_refused_and_repeated_by_nobody() {
    for (endpoint, secret) in [
        ("\"http://me:sesame-street@127.0.0.1:1\" model=\"m\"", "sesame-street"),
        ("\"ftp://me:sesame-street@127.0.0.1:1\" model=\"m\"", "sesame-street"),
        ("\"http://h:1\" model=\"m\" proxy=\"http://me:sesame-street@p:1\"", "sesame-street"),
        ("\"http://h:1\" model=\"m\" proxy=\"me:sesame-street@p:1\" oops=1", "sesame-street"),
        ("\"http://h:1\" model=\"m\" api-key-env=\"sk-0123456789\"", "sk-0123456789"),
        (
            "\"http://h:1\" model=\"m\" { header \"Authorization\" \"Bearer sk-0123456789\"; }",
            "sk-0123456789",
        ),
        ("\"http://h:1\" model=\"m\" { header \"x-api-key\" \"sk-0123456789\"; }", "sk-0123456789"),
    ] {
        let place = place();
        place.write(
            "x.kdl",
            format!(
                "scenario \"x\" {{\n pins {{\n trace \"agents\"\n }}\n workload \"w\" {{\n trace \"agents\"\n load \"recorded\"\n }}\n replay \"wire\" {{\n workload \"w\"\n endpoint {endpoint}\n }}\n}}\n"
            ),
        );
        for arguments in [&["run", "x.kdl"][..], &["check", "x.kdl"], &["plan", "x.kdl", "--wire"]]
        {
            let ran = place.bench(arguments).exits(2);
            assert!(ran.stderr.contains("replay::") && ran.stderr.contains("***"), "{ran}");
            assert_gone_everywhere(&place, &ran, secret);
        }
    }
}
