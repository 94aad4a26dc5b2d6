//! Graphs that somebody wrote, sent live: what a later call holds is what really came before it.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use serde_json::Value;

use crate::program::{Place, Ran};

/// A request as it came: headers in lower case, and the body to the byte.
type Received = (Vec<String>, String);

/// A server that keeps what it is sent, and answers each request by the last text of its prompt.
struct Recorder {
    address: String,
    kept: Arc<Mutex<Vec<Received>>>,
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Recorder {
    /// Starts one on loopback. `answer` returns status, media type and body of the answer to a request.
    fn start(answer: fn(&Value) -> (u16, &'static str, String)) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("loopback");
        let address = listener.local_addr().expect("an address").to_string();
        let (kept, is_over) = (Arc::new(Mutex::new(Vec::new())), Arc::new(AtomicBool::new(false)));
        let (keeps, ends) = (Arc::clone(&kept), Arc::clone(&is_over));
        let thread = std::thread::spawn(move || {
            for stream in listener.incoming() {
                if ends.load(Ordering::SeqCst) {
                    return;
                }
                if let Ok(received) = stream.and_then(|stream| serve(stream, answer)) {
                    keeps.lock().expect("nothing panics here").push(received);
                }
            }
        });
        Self { address, kept, is_over, thread: Some(thread) }
    }

    /// Returns what it was sent, in the order in which it was answered.
    fn received(&self) -> Vec<Received> {
        self.kept.lock().expect("nothing panics here").clone()
    }

    /// Returns the body that holds a text, and its headers.
    fn holding(&self, text: &str) -> Received {
        let all = self.received();
        let found = all.iter().find(|(_, body)| body.contains(text));
        found.unwrap_or_else(|| panic!("{text} is in none of {all:#?}")).clone()
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::SeqCst);
        drop(TcpStream::connect(&self.address));
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}

/// Answers the one request of a connection, and returns it.
fn serve(
    mut stream: TcpStream,
    answer: fn(&Value) -> (u16, &'static str, String),
) -> std::io::Result<Received> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 || line.trim().is_empty() {
            break;
        }
        headers.push(line.trim_end().to_ascii_lowercase());
    }
    let length = headers.iter().find_map(|line| line.strip_prefix("content-length: "));
    let mut body = vec![0; length.and_then(|text| text.parse().ok()).unwrap_or(0)];
    reader.read_exact(&mut body)?;
    let body = String::from_utf8(body).expect("UTF-8");
    let (status, media, text) = answer(&serde_json::from_str(&body).unwrap_or_default());
    write!(
        stream,
        "HTTP/1.1 {status} Said\r\ncontent-type: {media}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{text}",
        text.len()
    )?;
    Ok((headers, body))
}

/// Answers: a call of a tool in a stream, then a text as a whole; a question about rain fails.
fn answer(body: &Value) -> (u16, &'static str, String) {
    let last = body["messages"].as_array().and_then(|all| all.last()).expect("a message");
    if last["content"].as_str().is_some_and(|text| text.contains("rain")) {
        return (500, "application/json", "{\"error\":{\"message\":\"no\"}}".to_owned());
    }
    if body["stream"] == true {
        let chunk = |delta: &str, finish: &str| {
            format!(
                "data: {{\"choices\":[{{\"index\":0,\"delta\":{delta},\"finish_reason\":{finish}}}]}}\n\n"
            )
        };
        let call = |rest: &str| format!("{{\"tool_calls\":[{{\"index\":0,{rest}}}]}}");
        let stream = [
            chunk("{\"role\":\"assistant\",\"content\":\"Let me \"}", "null"),
            chunk("{\"content\":\"look.\"}", "null"),
            chunk(
                &call(
                    "\"id\":\"call_7\",\"type\":\"function\",\"function\":{\"name\":\"look\",\"arguments\":\"{\\\"q\\\"\"}",
                ),
                "null",
            ),
            chunk(&call("\"function\":{\"arguments\":\":1}\"}"), "null"),
            chunk("{}", "\"tool_calls\""),
            "data: [DONE]\n\n".to_owned(),
        ];
        return (200, "text/event-stream", stream.concat());
    }
    let message = "{\"role\":\"assistant\",\"content\":\"It is \\\"Ada\\\".\"}";
    let whole = format!(
        "{{\"choices\":[{{\"index\":0,\"message\":{message},\"finish_reason\":\"stop\"}}],\"usage\":{{\"prompt_tokens\":9,\"completion_tokens\":4,\"total_tokens\":13}}}}"
    );
    (200, "application/json", whole)
}

/// A chat of two turns, a question beside it that fails, and a call that holds what all of them answered.
const FLOW: &str = r#"graph:
  version: "2.0"
  system: Be brief.
  state:
    who: {type: text}
    rain: {type: text}
    wet: {type: messages, reducer: overwrite}
    chat: {type: messages, reducer: add_messages}
    told: {type: text}
  nodes:
    ask:
      prompt: ["@chat", {role: user, content: ["Look up ", "@who"]}]
      output: chat
      max_tokens: 8
      extra_headers: {X-Dynamo-Session-ID: mine, X-Team: blue}
    tell:
      prompt: ["@chat", {role: tool, tool_call_id: call_7, content: found}]
      output: chat
      streaming: false
    say:
      prompt: [{role: user, content: "Say it."}]
      output: told
      streaming: false
    storm:
      prompt: [{role: user, content: "Will it rain?"}]
      output: rain
      streaming: false
    flood:
      prompt: [{role: user, content: "How much rain?"}]
      output: wet
      streaming: false
    end:
      prompt: ["@wet", {role: user, content: ["Told: ", "@told", " Rain: ", "@rain", "!"]}]
      streaming: false
  edges:
    - {source: ask, target: tell}
    - {source: tell, target: end}
    - {source: say, target: end}
    - {source: storm, target: end}
    - {source: flood, target: end}
traces:
  - {id: first, initial_state: {who: Ada, chat: []}}
"#;

/// Pins a file of graphs as `flow`.
fn pin(place: &Place, format: &str, file: &str, text: &str) {
    place.write(&format!("pins/traces/{file}"), text);
    place.write(
        "pins/traces/flow.kdl",
        format!("trace \"flow\" {{\n    about \"Written for a test.\"\n    format \"{format}\"\n    shard \"{file}\"\n    origin \"written for a test\" license=\"Apache-2.0\"\n}}\n"),
    );
    place.bench(["pin", "pins/traces/flow.kdl"]).exits(0);
}

/// Writes the scenario `x.kdl`, which sends the graphs of `flow`.
fn scenario(place: &Place, source: &str, endpoint: &str, replay: &str) {
    place.write(
        "x.kdl",
        format!(
            "scenario \"x\" {{
    seed 7
    pins {{
        trace \"flow\"
    }}
    workload \"w\" {{
        {source}
    }}
    replay \"wire\" {{
        workload \"w\"
        endpoint {endpoint} model=\"m\"
        {replay}
    }}
}}
"
        ),
    );
    place.bench(["pin", "x.kdl"]).exits(0);
}

const NATIVE: &str = "graph \"flow\"\n        load \"recorded\"";

/// Returns the messages of a body, to the byte.
fn messages(body: &str) -> &str {
    let (messages, _) = body.split_once("],\"model\":\"m\"").expect("messages, then the model");
    messages.strip_prefix("{\"messages\":[").expect("messages first")
}

/// What the first call of the chat really answered, as a message.
const CALLED: &str = r#"{"role":"assistant","content":"Let me look.","tool_calls":[{"id":"call_7","type":"function","function":{"name":"look","arguments":"{\"q\":1}"}}]}"#;

/// What the system says.
const SYSTEM: &str = r#"{"role":"system","content":"Be brief."}"#;

#[test]
fn a_later_call_holds_what_really_came_before_it_and_nothing_of_calls_that_failed() {
    let place = Place::project();
    pin(&place, "native", "flow.yaml", FLOW);
    let server = Recorder::start(answer);
    scenario(&place, NATIVE, &format!("\"http://{}\"", server.address), "");
    place.bench(["run", "x.kdl"]).exits(0);
    assert_eq!(server.received().len(), 6, "each call once");
    let (headers, body) = server.holding("Look up");
    let asked = r#"{"role":"user","content":"Look up Ada"}"#;
    assert_eq!(messages(&body), format!("{SYSTEM},{asked}"));
    assert!(body.contains("\"max_completion_tokens\":8"), "{body}");
    let of = |name: &str| headers.iter().find_map(|line| line.strip_prefix(&format!("{name}: ")));
    assert!(of("x-dynamo-session-id").is_some_and(|id| id.starts_with("mine::")), "{headers:?}");
    assert_eq!(of("x-team"), Some("blue"));
    let (_, body) = server.holding("\"role\":\"tool\"");
    let tool = r#"{"role":"tool","tool_call_id":"call_7","content":"found"}"#;
    assert_eq!(messages(&body), format!("{SYSTEM},{asked},{CALLED},{tool}"));
    let (_, body) = server.holding("Told: ");
    let told = r#"{"role":"user","content":"Told: It is \"Ada\". Rain: !"}"#;
    assert_eq!(messages(&body), format!("{SYSTEM},{told}"), "failed calls are left out");
    let live = place.read(place.path("runs/x/latest/jobs/wire/w/live.json"));
    let live: Value = serde_json::from_str(&live).expect("JSON");
    assert_eq!(live["summary"]["requests_completed"], 4);
    assert_eq!(live["summary"]["requests_failed"], 2);
}

#[test]
fn a_routing_mode_owns_who_a_call_says_that_it_is() {
    let place = Place::project();
    pin(&place, "native", "flow.yaml", FLOW);
    let server = Recorder::start(answer);
    let endpoint = format!("\"http://{}\"", server.address);
    scenario(&place, NATIVE, &endpoint, "session-routing \"smg-routing-key\"");
    let plan = place.bench(["plan", "x.kdl", "--wire"]).exits(0);
    assert!(plan.stderr.contains("`x-dynamo-session-id`, which is left out"), "{plan}");
    place.bench(["run", "x.kdl"]).exits(0);
    let (headers, _) = server.holding("Look up");
    let holds = |name: &str| headers.iter().any(|line| line.starts_with(name));
    assert!(holds("x-smg-routing-key: first::") && holds("x-team: blue"), "{headers:?}");
    assert!(!holds("x-dynamo-session-id"), "{headers:?}");
}

/// A session of two turns from whose first another goes on, and one that is spawned.
const SESSIONS: &str = r#"{"session_id":"root","turns":[{"messages":[{"role":"user","content":"One"}],"forks":[{"child":"side","background":true}],"spawns":["fresh"]},{"messages":[{"role":"user","content":"Two"}],"extra":{"stop":["x"]}}]}
{"session_id":"side","turns":[{"messages":[{"role":"user","content":"Beside"}]}]}
{"session_id":"fresh","turns":[{"messages":[{"role":"user","content":"Afresh"}]}]}
"#;

#[test]
fn turns_and_forks_of_sessions_hold_what_really_came_before_them() {
    let place = Place::project();
    pin(&place, "dag-jsonl", "flow.jsonl", SESSIONS);
    let server = Recorder::start(answer);
    let source = "graph \"flow\" format=\"dag-jsonl\"\n        load \"recorded\"";
    scenario(&place, source, &format!("\"http://{}\"", server.address), "");
    place.bench(["run", "x.kdl"]).exits(0);
    assert_eq!(server.received().len(), 4);
    let one = r#"{"role":"user","content":"One"}"#;
    for said in ["Two", "Beside"] {
        let (_, body) = server.holding(said);
        let next = format!("{{\"role\":\"user\",\"content\":\"{said}\"}}");
        // The order of the fields: what a turn states stands before the model.
        let (messages, _) = body.split_once("],\"").expect("messages first");
        assert_eq!(messages, format!("{{\"messages\":[{one},{CALLED},{next}"));
    }
    let (_, body) = server.holding("Afresh");
    assert_eq!(messages(&body), r#"{"role":"user","content":"Afresh"}"#);
}

/// Accepts the golden of the scenario.
fn accept(place: &Place) -> Ran {
    place.bench(["accept", "x.kdl", "--reason", "a test", "--by", "ada"])
}

#[test]
fn a_graph_is_planned_gated_and_told_with_what_is_filled_while_running() {
    let place = Place::project();
    pin(&place, "native", "flow.yaml", FLOW);
    scenario(&place, NATIVE, "\"mock\"", "");
    let text = place.read("x.kdl");
    let gate = "    gate {\n        golden \"pins/goldens/x.kdl\"\n    }\n}\n";
    place.write("x.kdl", format!("{}{gate}", text.trim_end().trim_end_matches('}')));
    let plan = place.bench(["plan", "x.kdl", "--wire"]).exits(0);
    for line in [
        "    filled while running: <answer 0> by call 0 ask: what it answers, as a message; left out where it fails",
        "    filled while running: <text 3> by call 3 say: the text that it answers; nothing where it fails",
        "    starts 0 ms after the end of call 0",
    ] {
        assert!(plan.stdout.lines().any(|found| found == line), "{line}\n{plan}");
    }
    accept(&place).exits(0);
    place.bench(["run", "x.kdl"]).exits(0);
    let written = ["plan", "x.kdl", "--wire-dir", "bodies", "--format", "json"];
    place.bench(written).exits(0);
    let tell = place.read(place.path("bodies/jobs/wire/w/0000-first/00005-tell.json"));
    assert!(tell.contains(",<answer 0>,"), "{tell}");
    pin(&place, "native", "flow.yaml", &FLOW.replace("Say it.", "Say it!"));
    place.bench(["pin", "x.kdl", "--update", "flow"]).exits(0);
    let ran = place.bench(["run", "x.kdl"]).exits(3);
    assert!(ran.stderr.contains("request `first/say` changes on the wire"), "{ran}");
    assert!(!ran.stderr.contains("request `first/end`"), "its template is what it was: {ran}");
}

#[test]
fn what_a_replay_cannot_do_with_a_graph_is_told_at_its_place_before_anything_is_sent() {
    let place = Place::project();
    pin(&place, "native", "flow.yaml", FLOW);
    let refused = |source: &str, replay: &str, told: &[&str]| {
        scenario(&place, source, "\"mock\"", replay);
        let ran = place.bench(["plan", "x.kdl", "--wire"]).exits(2);
        for text in told {
            assert!(ran.stderr.contains(text), "{text}\n{ran}");
        }
    };
    let load = |more: &str| format!("graph \"flow\"\n        load \"recorded\" {more}");
    let dag = "graph \"flow\" format=\"dag-jsonl\"\n        load \"recorded\"";
    refused(dag, "", &["x.kdl:7", "has the format `native`", "format=\"native\""]);
    refused(
        "trace \"flow\"\n        load \"recorded\"",
        "",
        &["x.kdl:7", "holds graphs", "write `graph \"flow\""],
    );
    refused("graph \"flow\"\n        load \"concurrency\"", "", &["has `load \"concurrency\"`"]);
    refused(&load("idle-gap-cap=\"1s\""), "", &["x.kdl:8", "are authored"]);
    refused(&load("open-loop=#true"), "", &["x.kdl:8", "does not say when its traces begin"]);
    let lengths = format!("{NATIVE}\n        select max-context-tokens=100");
    refused(&lengths, "", &["replay::selection", "call `ask` of trace `first`"]);
    refused(NATIVE, "snapshot to=0.5", &["replay::graph", "holds the answer of an earlier one"]);
    let open = "session-routing \"dynamo-nvext\" contract=\"open\"";
    refused(NATIVE, open, &["replay::graph", "calls `ask` and `flood`"]);
    pin(
        &place,
        "native",
        "flow.yaml",
        &FLOW.replace("max_tokens: 8", "extra_body: {messages: []}"),
    );
    refused(NATIVE, "", &["replay::body", "states `messages`"]);
    pin(&place, "native", "flow.yaml", &FLOW.replace("output: told", "output: tolt"));
    refused(NATIVE, "", &["pins/traces/flow.yaml:22:15", "did you mean `told`?"]);
}
