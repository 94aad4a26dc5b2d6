//! Live traffic from end to end: recorded captures against the server in `bench`, what is planned, what is measured, and what a gate
//! says of either. Orders and counts are judged, never how long something took.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use crate::program::{Place, Ran, repository_root};

/// A capture of three session trees with 28 calls, as text.
pub(crate) fn three_trees() -> String {
    let packed = fs::read(repository_root().join("tests/fixtures/graph/capture.jsonl.gz"));
    let mut text = String::new();
    flate2::read::MultiGzDecoder::new(packed.expect("a fixture").as_slice())
        .read_to_string(&mut text)
        .expect("gzip");
    text
}

/// The capture of Dynamo's own tests: a session that starts another.
const DYNAMO: &str = include_str!("../../src/trace/plays/tests/dynamo-agentic.jsonl");

/// Returns a project with these captures, pinned as `agents` and `dynamo`.
pub(crate) fn place() -> Place {
    let place = Place::project();
    for (name, text) in [("agents", three_trees()), ("dynamo", DYNAMO.to_owned())] {
        place.write(&format!("pins/traces/{name}.jsonl"), text);
        pin(&place, name);
    }
    place
}

/// Pins a capture as it is.
pub(crate) fn pin(place: &Place, name: &str) {
    let file = format!("pins/traces/{name}.kdl");
    let text = format!(
        "trace \"{name}\" {{\n    about \"A capture.\"\n    format \"dynamo\"\n    shard \"{name}.jsonl\"\n    origin \"written for a test\" license=\"Apache-2.0\"\n}}\n"
    );
    place.write(&file, text);
    place.bench(["pin", &file]).exits(0);
}

/// What a scenario of these tests differs in.
#[derive(Clone, Copy)]
pub(crate) struct Asked<'a> {
    pub(crate) endpoint: &'a str,
    pub(crate) replay: &'a str,
    pub(crate) gate: &'a str,
}

pub(crate) const ASKED: Asked<'static> = Asked {
    endpoint: "\"mock\" model=\"m\" streaming=#true usage=#true",
    replay: "lanes 3",
    gate: "golden \"pins/goldens/x.kdl\"",
};

/// Writes the scenario `x.kdl`, which replays a capture much faster than it was recorded.
pub(crate) fn ask(place: &Place, asked: Asked<'_>) {
    let Asked { endpoint, replay, gate } = asked;
    let text = format!(
        "scenario \"x\" {{
    seed 7
    pins {{
        trace \"agents\"
    }}
    workload \"w\" {{
        trace \"agents\"
        load \"recorded\" idle-gap-cap=\"1s\" speedup=1000.0
    }}
    replay \"wire\" {{
        workload \"w\"
        endpoint {endpoint}
        {replay}
    }}
    gate {{
        {gate}
    }}
}}
"
    );
    place.write("x.kdl", text);
    place.bench(["pin", "x.kdl"]).exits(0);
}

/// Returns the folder of the last run that was whole.
pub(crate) fn latest(place: &Place) -> PathBuf {
    place.path("runs/x").join(fs::read_link(place.path("runs/x/latest")).expect("a whole run"))
}

/// The only job of the scenario that [`ask`] writes.
pub(crate) const JOB: &str = "wire/w";

/// Returns a JSON file of a job.
pub(crate) fn left(run: &Path, job: &str, file: &str) -> Value {
    let path = run.join("jobs").join(job).join(file);
    let text =
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_str(&text).expect("JSON")
}

/// Returns the records of the requests of a job that were sent.
pub(crate) fn sent(run: &Path, job: &str) -> Vec<Value> {
    let path = run.join("jobs").join(job).join("live.jsonl");
    let text = fs::read_to_string(path).expect("they are there");
    text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

/// A server in another process; it ends with this.
pub(crate) struct Server {
    child: Child,
    address: String,
}

impl Server {
    /// Starts a server that answers by a script.
    pub(crate) fn start(place: &Place, script: &str) -> Self {
        place.write("script.kdl", script);
        let mut command = place.command(["mock", "--while-stdin", "--script", "script.kdl"]);
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("the binary was built with this test");
        let mut line = String::new();
        let out = child.stdout.take().expect("piped");
        BufReader::new(out).read_line(&mut line).expect("a line");
        let json: Value = serde_json::from_str(&line).expect("JSON");
        let url = json["url"].as_str().expect("a URL");
        let address = url.trim_start_matches("http://").trim_end_matches("/v1").to_owned();
        Self { child, address }
    }

    /// Returns the endpoint node that names it.
    pub(crate) fn endpoint(&self, more: &str) -> String {
        format!("\"http://{}\" model=\"m\" streaming=#true {more}", self.address)
    }

    /// Returns how many requests have reached it.
    fn requests(&self) -> u64 {
        let mut stream = TcpStream::connect(&self.address).expect("it listens");
        write!(stream, "GET /v1/stamps HTTP/1.1\r\nhost: m\r\nconnection: close\r\n\r\n")
            .expect("sent");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("read");
        let (_, body) = answer.split_once("\r\n\r\n").expect("a body");
        let json: Value = serde_json::from_str(body).expect("JSON");
        json["requests"].as_u64().expect("a count")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let _ended = self.child.wait();
    }
}

/// Accepts the golden of the scenario.
pub(crate) fn accept(place: &Place) -> Ran {
    place.bench(["accept", "x.kdl", "--reason", "a test", "--by", "ada"])
}

/// Every way in which a request says which session it belongs to.
const ROUTINGS: [&str; 6] = [
    "\"none\"",
    "\"dynamo-headers\"",
    "\"dynamo-nvext\"",
    "\"dynamo-nvext\" contract=\"open\"",
    "\"smg-routing-key\"",
    "\"session-id-header\" header=\"X-Mine\"",
];

#[test]
fn captures_are_replayed_in_every_routing_mode_and_each_call_arrives_once() {
    let place = place();
    let workload = |trace: &str| {
        format!(
            "workload \"{trace}\" {{\n trace \"{trace}\"\n load \"recorded\" idle-gap-cap=\"1s\" speedup=1000.0\n }}\n"
        )
    };
    let replay = |(at, routing): (usize, &&str)| {
        format!(
            "replay \"r{at}\" {{\n workload \"agents\" \"dynamo\"\n endpoint \"mock\" model=\"m\"\n session-routing {routing}\n }}\n"
        )
    };
    let replays: String = ROUTINGS.iter().enumerate().map(replay).collect();
    let (agents, dynamo) = (workload("agents"), workload("dynamo"));
    place.write(
        "x.kdl",
        format!("scenario \"x\" {{\n pins {{\n trace \"agents\"\n trace \"dynamo\"\n }}\n{agents}{dynamo}{replays}}}\n"),
    );
    place.bench(["pin", "x.kdl"]).exits(0);
    place.bench(["run", "x.kdl"]).exits(0);
    let run = latest(&place);
    for at in 0..ROUTINGS.len() {
        for (trace, calls) in [("agents", 28), ("dynamo", 4)] {
            let job = format!("r{at}/{trace}");
            let (live, report) = (left(&run, &job, "live.json"), left(&run, &job, "report.json"));
            assert_eq!(live["summary"]["requests_completed"], calls, "{job}");
            assert_eq!(live["summary"]["requests_failed"], 0, "{job}");
            assert_eq!(report["summary"]["requests_planned"], calls, "{job}");
            let sent = sent(&run, &job);
            let names: std::collections::BTreeSet<String> =
                sent.iter().map(|one| one["call"].to_string()).collect();
            assert_eq!(names.len(), calls, "{job}: each call once");
        }
    }
}

#[test]
fn what_is_planned_is_the_same_in_each_run_and_what_is_measured_is_apart_from_it() {
    let place = place();
    ask(&place, ASKED);
    accept(&place).exits(0);
    let run = || {
        let ran = place.bench(["run", "x.kdl"]).exits(0);
        assert!(ran.stderr.contains("measured live"), "{ran}");
        (ran.stdout, latest(&place))
    };
    let ((first, a), (second, b)) = (run(), run());
    assert_eq!(first, second, "stdout holds nothing that is measured");
    assert_ne!(a, b, "what was measured is kept side by side");
    let file =
        |run: &Path, name: &str| fs::read(run.join("jobs/wire/w").join(name)).expect("there");
    for name in ["report.json", "requests.jsonl"] {
        assert_eq!(file(&a, name), file(&b, name), "{name}");
    }
    assert_ne!(file(&a, "live.json"), file(&b, "live.json"));
    let (a, b) = (a.to_string_lossy().into_owned(), b.to_string_lossy().into_owned());
    let diff = place.bench(["diff", &a, &b]).exits(0);
    assert!(diff.stdout.starts_with("1 job, equal\n"), "{diff}");
    assert!(diff.stdout.contains("ttft_ns_mean"), "{diff}");
    place.bench(["diff", "pins/goldens/x.kdl", &b]).exits(0);
    place.bench(["check", "x.kdl"]).exits(0);
}

#[test]
fn one_changed_byte_of_a_capture_turns_the_gate_red_and_names_the_request() {
    let place = place();
    ask(&place, ASKED);
    accept(&place).exits(0);
    let golden = place.read("pins/goldens/x.kdl");
    assert_eq!(golden.matches("        request \"").count(), 28, "{golden}");
    let text = three_trees();
    let asked = "\"request_id\":\"req-root-c-0\",\"model\":\"recorded-model\",\"input_tokens\":7,\"output_tokens\":4";
    assert!(text.contains(asked), "the capture has the call");
    let altered = text.replace(asked, &asked.replace("\"output_tokens\":4", "\"output_tokens\":5"));
    place.write("pins/traces/agents.jsonl", altered);
    pin(&place, "agents");
    place.bench(["pin", "x.kdl", "--update", "agents"]).exits(0);
    let ran = place.bench(["run", "x.kdl"]).exits(3);
    assert!(ran.stderr.contains("request `root-c/root-c:0` changes on the wire"), "{ran}");
    assert!(!ran.stderr.contains("request `root-a/"), "{ran}");
    assert!(ran.stdout.contains("DRIFT"), "{ran}");
    let shown = accept(&place).exits(0);
    assert!(shown.stdout.contains("root-c/root-c:0"), "{shown}");
}

#[test]
fn a_golden_whose_request_was_edited_contradicts_itself() {
    let place = place();
    ask(&place, ASKED);
    accept(&place).exits(0);
    let golden = place.read("pins/goldens/x.kdl");
    let line = golden.lines().find(|line| line.contains("request \"root-b/")).expect("a request");
    place.write("pins/goldens/x.kdl", golden.replace(&format!("{line}\n"), ""));
    let ran = place.bench(["check", "x.kdl"]).exits(3);
    assert!(ran.stderr.contains("gate::golden_edited"), "{ran}");
}

#[test]
fn accepting_sends_nothing() {
    let place = place();
    let server = Server::start(&place, "answer { tokens 1; }\n");
    ask(&place, Asked { endpoint: &server.endpoint("api-key-env=\"NO_SUCH_KEY\""), ..ASKED });
    accept(&place).exits(0);
    assert_eq!(server.requests(), 0);
    let ran = place.bench(["run", "x.kdl"]).exits(2);
    assert!(ran.stderr.contains("replay::client") && ran.stderr.contains("NO_SUCH_KEY"), "{ran}");
    assert_eq!(server.requests(), 0, "a missing key is told before anything is sent");
}

#[test]
fn a_job_in_which_nothing_succeeds_has_failed_and_every_failure_is_counted() {
    let place = place();
    let server = Server::start(&place, "answer { status 503 retry-after=2 body=\"no room\"; }\n");
    ask(
        &place,
        Asked { endpoint: &server.endpoint(""), gate: "live \"wire\" { errors max=0; }", ..ASKED },
    );
    let ran = place.bench(["run", "x.kdl"]).exits(1);
    assert!(ran.stderr.contains("none of") && ran.stderr.contains("status-503"), "{ran}");
    assert!(ran.stderr.contains("x.kdl:10:"), "the replay is shown: {ran}");
    assert!(ran.stderr.contains("live.jsonl of the run holds each request"), "{ran}");
    let live = left(&latest(&place), JOB, "live.json");
    let failed = live["summary"]["requests_failed"].as_u64().expect("a count");
    assert_eq!(live["summary"]["requests_sent"].as_u64(), Some(failed));
    assert_eq!(live["errors"][0]["count"].as_u64(), Some(failed));
    assert_eq!(live["summary"].get("ttft_ns_mean"), None, "failures are in no latency");
    let first = &sent(&latest(&place), JOB)[0];
    assert_eq!(
        (&first["error"]["kind"], &first["error"]["retry_after"]),
        (&"status".into(), &"2".into())
    );
    drop(server);
    ask(&place, Asked { endpoint: "\"http://127.0.0.1:1\" model=\"m\"", ..ASKED });
    place.bench(["run", "x.kdl"]).exits(1);
    assert_eq!(left(&latest(&place), JOB, "live.json")["errors"][0]["kind"], "connect");
}

#[test]
fn bounds_hold_what_is_measured_and_no_verdict_is_given_on_too_few_samples() {
    let place = place();
    let server =
        Server::start(&place, "answer from=2 to=2 { status 500; }\nanswer { tokens 2; }\n");
    let endpoint = server.endpoint("");
    ask(
        &place,
        Asked { endpoint: &endpoint, replay: "lanes 1", gate: "live \"wire\" { errors max=1; }" },
    );
    place.bench(["run", "x.kdl"]).exits(0);
    drop(server);
    let server =
        Server::start(&place, "answer from=2 to=2 { status 500; }\nanswer { tokens 2; }\n");
    let endpoint = server.endpoint("");
    let gate = "live \"wire\" { errors max=0; }";
    ask(&place, Asked { endpoint: &endpoint, replay: "lanes 1", gate });
    let ran = place.bench(["run", "x.kdl"]).exits(3);
    assert!(ran.stderr.contains("gate::live") && ran.stderr.contains("1 request failed"), "{ran}");
    assert!(ran.stdout.contains("OUT OF BOUNDS"), "{ran}");
    assert!(ran.stderr.contains("x.kdl:16:34"), "the bound is shown: {ran}");
    assert!(ran.stderr.contains("live.jsonl of the run holds each request"), "{ran}");
    let gate = "live \"wire\" { ttft-ms p99=1000; }";
    ask(&place, Asked { gate, ..ASKED });
    let ran = place.bench(["run", "x.kdl"]).exits(4);
    assert!(ran.stderr.contains("sample-floor") && ran.stdout.contains("UNJUDGED"), "{ran}");
}

#[test]
fn a_check_keeps_nothing_and_says_which_command_keeps_the_requests() {
    let place = place();
    let server =
        Server::start(&place, "answer from=2 to=2 { status 500; }\nanswer { tokens 2; }\n");
    let gate = "golden \"pins/goldens/x.kdl\"\n        live \"wire\" { errors max=0; }";
    ask(&place, Asked { endpoint: &server.endpoint(""), replay: "lanes 1", gate });
    accept(&place).exits(0);
    let ran = place.bench(["check", "x.kdl"]).exits(3);
    assert!(ran.stderr.contains("nothing is kept here: `bench run x.kdl` leaves"), "{ran}");
    assert!(ran.stderr.contains("x.kdl:17:34"), "the bound is shown: {ran}");
    assert!(!place.path("runs").exists());
}

#[cfg(unix)]
#[test]
fn a_signal_keeps_what_was_measured_and_the_job_is_partial() {
    let place = place();
    let server =
        Server::start(&place, "answer to=3 { tokens 2; }\nanswer { first-token \"3600s\"; }\n");
    ask(&place, Asked { endpoint: &server.endpoint(""), replay: "lanes 1", ..ASKED });
    accept(&place).exits(0);
    let mut command = place.command(["run", "x.kdl"]);
    let command = command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the binary was built with this test");
    // One lane sends a call when the one before has ended: the fourth means that three did.
    while server.requests() < 4 {
        assert!(child.try_wait().expect("a child").is_none(), "the run ended by itself");
        std::thread::yield_now();
    }
    let mut kill = Command::new("kill");
    assert!(kill.args(["-INT", &child.id().to_string()]).status().expect("kill").success());
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(130));
    let stderr = String::from_utf8_lossy(&output.stderr);
    let folder = stderr.lines().find_map(|line| line.strip_prefix("run folder: "));
    let run = place.path(folder.unwrap_or_else(|| panic!("{stderr}")));
    let live = left(&run, JOB, "live.json");
    assert_eq!(live["is_partial"], true);
    assert_eq!(live["summary"]["requests_completed"], 3);
    assert!(live["summary"]["requests_canceled"].as_u64().is_some_and(|count| count >= 1));
    let run_json: Value =
        serde_json::from_slice(&fs::read(run.join("run.json")).expect("there")).expect("JSON");
    assert_eq!(run_json["jobs"][0]["outcome"], "partial");
    assert!(fs::read_link(place.path("runs/x/latest")).is_err(), "it was not whole");
    assert!(!run.join("golden.pending.kdl").exists());
}

/// A deployment whose engine answers behind the API.
pub(crate) const SIMULATED: &str = "scenario \"x\" {
    pins {
        trace \"agents\"
        hardware \"h200_sxm\"
        model \"llama-3.1-8b\"
    }
    workload \"w\" {
        trace \"agents\"
        load \"recorded\" idle-gap-cap=\"1s\" speedup=100.0
    }
    deployment \"agg\" {
        mode \"aggregated\"
        model \"llama-3.1-8b\"
        hardware \"h200_sxm\"
        backend \"vllm\"
        worker \"aggregated\" {
            kv-cache block-size=16 {
                capacity \"fixed\" blocks=4096
            }
            timing \"fixed\" prefill-ms=4.0 decode-ms=1.0
        }
    }
    replay \"wire\" {
        workload \"w\"
        endpoint \"mock\" model=\"m\" streaming=#true usage=#true {
            mock deployment=\"agg\"
        }
        lanes 3
        session-routing \"dynamo-headers\"
    }
}
";

#[test]
fn a_live_run_against_the_simulated_mock_is_held_against_the_simulation_of_the_same_traffic() {
    let place = Place::with_pins();
    place.write("x.kdl", SIMULATED);
    place.bench(["pin", "x.kdl"]).exits(0);
    let simulated = || {
        let ran = place.bench(["run", "x.kdl"]).exits(0);
        assert!(ran.stderr.contains("against simulation"), "{ran}");
        let live = left(&latest(&place), JOB, "live.json");
        assert_eq!(live["summary"]["requests_completed"], 28, "{ran}");
        assert!(live["summary"]["prefix_hit_ppm_server"].as_u64().is_some_and(|hit| hit > 0));
        let rows = live["calibration"].as_array().expect("an engine of ours answered").clone();
        let told = |row: &Value| {
            assert!(row["live_ns"].as_u64().is_some(), "{row}");
            (row["metric"].clone(), row["statistic"].clone(), row["simulated_ns"].clone())
        };
        rows.iter().map(told).collect::<Vec<_>>()
    };
    let (first, second) = (simulated(), simulated());
    assert_eq!(first, second, "virtual time is the same each time");
    let names: Vec<String> =
        first.iter().map(|(metric, statistic, _)| format!("{metric} {statistic}")).collect();
    assert_eq!(names.len(), 9, "{names:?}");
    for row in &first {
        assert!(
            row.2.as_u64().is_some_and(|time| time >= 1_000_000),
            "a pass at the least: {row:?}"
        );
    }
}
