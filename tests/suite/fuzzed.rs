//! The checks of the fuzz targets (`tests/fuzz`) on stable: seeds that are right, then the same mutations of them in every run.
//!
//! Beside each check: no input makes the process hold a gigabyte, and long inputs of the worst shapes end. What takes quadratic time would
//! not within the limit of a test.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use touchstone::trace::{Shard, pack_gzip};

use crate::program::repository_root;

#[path = "../fuzz/checks/answer.rs"]
mod answer;
#[path = "../fuzz/checks/graph.rs"]
mod graph;
#[path = "../fuzz/checks/scenario.rs"]
mod scenario;
#[path = "../fuzz/checks/sse.rs"]
mod sse;
#[path = "../fuzz/checks/trace.rs"]
mod trace;

/// What the process may hold at the most.
const MEMORY_MAX: u64 = 1 << 30;
/// The longest input that mutations make.
const LENGTH_MAX: usize = 1 << 16;

/// What parsers trip over: ends of lines, brackets, numbers at the edges of their types, text that is none.
const WORDS: [&[u8]; 40] = [
    b"\n",
    b"\r",
    b"\r\n",
    b"\n\n",
    b"\0",
    b"\"",
    b"\\",
    b"\\u0000",
    b"\\ud800",
    b"{",
    b"}",
    b"[",
    b"]",
    b":",
    b",",
    b";",
    b"=",
    b"0",
    b"-0",
    b"-1",
    b"1e999",
    b"1e-999",
    b"0.1",
    b"9007199254740993",
    b"18446744073709551615",
    b"18446744073709551616",
    b"null",
    b"true",
    b"\"\"",
    b"[]",
    b"{}",
    b"data: ",
    b"event: ",
    b"[DONE]",
    b"//",
    b"/*",
    b"\xef\xbb\xbf",
    b"\xff",
    b"\xe4\xbd",
    b"#true",
];

/// Numbers without a pattern, the same in every run. Source: `SplitMix64`, Steele, Lea and Flood 2014.
struct Draws(u64);

impl Draws {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number below `end`; 0 where there is none.
    fn below(&mut self, end: usize) -> usize {
        let drawn = usize::try_from(self.next() >> 32).expect("32 bits fit");
        drawn.checked_rem(end).unwrap_or(0)
    }

    /// Returns one of several.
    fn one<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.below(of.len())]
    }
}

/// Changes bytes in one place.
fn mutate(bytes: &mut Vec<u8>, seeds: &[Vec<u8>], draws: &mut Draws) {
    let at = draws.below(bytes.len() + 1);
    let span = [1, 1, 2, 4, 16, 64, 256][draws.below(7)];
    let end = (at + draws.below(span + 1)).min(bytes.len());
    match draws.below(8) {
        0 if at < bytes.len() => bytes[at] ^= 1 << draws.below(8),
        1 => drop(bytes.drain(at..end)),
        2 => {
            let copy = bytes[at..end].to_vec();
            let to = draws.below(bytes.len() + 1);
            drop(bytes.splice(to..to, copy));
        }
        3 => bytes.truncate(at),
        4 => {
            let other = draws.one(seeds);
            let from = draws.below(other.len());
            let to = (from + draws.below(512)).min(other.len());
            drop(bytes.splice(at..end, other[from..to].iter().copied()));
        }
        5 => {
            // A number, whatever it was, becomes another.
            let digit = |byte: &u8| byte.is_ascii_digit();
            if let Some(from) = bytes[at..].iter().position(digit).map(|from| at + from) {
                let length = bytes[from..].iter().take_while(|byte| digit(byte)).count();
                drop(bytes.splice(from..from + length, draws.one(&WORDS[17..27]).iter().copied()));
            }
        }
        _ => drop(bytes.splice(at..end, draws.one(&WORDS).iter().copied())),
    }
    bytes.truncate(LENGTH_MAX);
}

/// Checks each seed, then so many mutations of them.
fn drive((target, check): (&str, fn(&[u8])), seeds: &[Vec<u8>], count: u64) {
    keep(target, seeds);
    for seed in seeds {
        checked(seed, check);
    }
    let mut draws = Draws(count);
    for _ in 0..count {
        let mut input = draws.one(seeds).clone();
        for _ in 0..=draws.below(4) {
            mutate(&mut input, seeds, &mut draws);
        }
        checked(&input, check);
    }
    holds_little();
}

/// Writes seeds into a folder for the fuzzer, where `ci/fuzz.sh` asks for them.
#[expect(clippy::disallowed_methods, reason = "a test has no command line to be asked on")]
fn keep(target: &str, seeds: &[Vec<u8>]) {
    let Some(folder) = std::env::var_os("TOUCHSTONE_FUZZ_SEEDS") else { return };
    let folder = Path::new(&folder).join(target);
    fs::create_dir_all(&folder).expect("a folder for seeds");
    for (number, seed) in seeds.iter().enumerate() {
        fs::write(folder.join(number.to_string()), seed).expect("a seed is written");
    }
}

/// Checks an input; one that fails is told as bytes.
fn checked(input: &[u8], check: fn(&[u8])) {
    let ran = catch_unwind(AssertUnwindSafe(|| check(input)));
    assert!(ran.is_ok(), "fails: b\"{}\"", input.escape_ascii());
}

/// Asserts that the process never held more than a gigabyte, where the system tells.
fn holds_little() {
    let Ok(status) = fs::read_to_string("/proc/self/status") else { return };
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes: Option<u64> =
        line.and_then(|line| line.trim().strip_suffix("kB")?.trim().parse().ok());
    assert!(kilobytes.is_none_or(|kilobytes| kilobytes * 1024 < MEMORY_MAX), "{kilobytes:?} kB");
}

/// Checks long inputs of shapes that are bad for parsers, behind a head.
fn long(head: &[u8], length: usize, check: fn(&[u8])) {
    let of = |part: &[u8]| [head, &part.repeat(length / part.len())].concat();
    let parts: [&[u8]; 9] =
        [b"x", b"\r", b"\n\r", b"{", b"[", b"a {", b"{\"a\":", b"data: x\n", b"/* "];
    for part in parts {
        checked(&of(part), check);
    }
    holds_little();
}

/// Returns what a fixture holds, unpacked.
fn fixture(path: &str) -> Vec<u8> {
    let file = Shard::load(&repository_root().join(path), path).expect("a fixture");
    file.unpack().expect("a whole file").into_owned()
}

/// Returns texts behind a head each.
fn headed(head: &[u8], texts: &[&str]) -> Vec<Vec<u8>> {
    texts.iter().map(|text| [head, text.as_bytes()].concat()).collect()
}

/// Streams of the three APIs, with what servers put into them.
const STREAMS: [&str; 7] = [
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"\"}}]}\n\ndata: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\" 你\"}}],\"usage\":{\"prompt_tokens\":3,\"completion_tokens\":1}}\n\ndata: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n",
    ": keep-alive\r\n\r\ndata:{\"choices\":[{\"delta\":{\"reasoning_content\":\"hm\"}}]}\r\n\r\ndata:{\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"c\",\"function\":{\"name\":\"look\",\"arguments\":\"{\"}}]}}]}\r\n\r\ndata:[DONE]\r\n\r\n",
    "event: response.output_text.delta\ndata: {\"type\":\"response.output_text.delta\",\"delta\":\"a\"}\n\nevent: response.completed\ndata: {\"type\":\"response.completed\",\"response\":{\"status\":\"completed\",\"output\":[],\"usage\":{\"input_tokens\":1,\"output_tokens\":1}}}\n\n",
    "data: {\"id\":\"x\",\"choices\":[{\"index\":0,\"text\":\" a\",\"finish_reason\":\"length\"}]}\n\ndata: [DONE]\n\n",
    "event: error\ndata: {\"error\":{\"message\":\"full\",\"type\":\"server_error\",\"code\":500}}\n\n",
    "{\"choices\":[{\"index\":0,\"message\":{\"role\":\"assistant\",\"content\":\"a b\"},\"finish_reason\":\"stop\"}],\"usage\":{\"prompt_tokens\":3,\"completion_tokens\":2,\"total_tokens\":5}}",
    "\u{feff}data\rdata: a\rid: 1\r\rretry: 5\n\n",
];

#[test]
fn streams_are_read_as_the_naive_parser_reads_them() {
    let mut seeds = headed(b"\x01\x02\x03\x05\x08\x0d\x15\x22", &STREAMS);
    seeds.extend(headed(b"\x01\x01\x01\x01\x01\x01\x01\x01", &STREAMS));
    drive(("sse", sse::check), &seeds, 6000);
    long(&[255; 8], 1 << 20, sse::check);
}

#[test]
fn answers_are_the_same_wherever_reads_fall() {
    let seeds: Vec<Vec<u8>> =
        (0..3).flat_map(|api| headed(&[api, 1, 2, 3, 5, 8, 13, 21], &STREAMS)).collect();
    drive(("answer", answer::check), &seeds, 4000);
    for api in 0..3 {
        long(&[api, 255, 255, 255, 255, 255, 255, 255], 1 << 20, answer::check);
    }
}

/// Rows of each format, in the order of the check.
const ROWS: [&str; 10] = [
    "{\"timestamp\":0,\"input_length\":100,\"output_length\":2,\"hash_ids\":[1,2]}\n{\"timestamp\":10.5,\"input_length\":64,\"output_length\":1,\"hash_ids\":[1],\"session_id\":\"s\"}\n",
    "{\"timestamp\":0,\"input_length\":64,\"output_length\":2,\"hash_ids\":[1],\"session_id\":\"s\"}\n{\"delay\":5,\"input_length\":64,\"output_length\":1,\"hash_ids\":[2],\"session_id\":\"s\"}\n",
    "{\"schema\":\"dynamo.agentic_mooncake\",\"version\":2,\"block_size\":64,\"hash_id_scope\":\"local\",\"source\":{\"format\":\"f\",\"digest\":\"d\"}}\n{\"request_id\":\"a\",\"play_id\":\"p\",\"session_id\":\"s\",\"model\":\"m\",\"input_length\":64,\"output_length\":1,\"hash_ids\":[1],\"not_before_ms\":0,\"dependencies\":[]}\n{\"request_id\":\"b\",\"play_id\":\"p\",\"session_id\":\"s\",\"model\":\"m\",\"input_length\":64,\"output_length\":1,\"hash_ids\":[1],\"not_before_ms\":0,\"dependencies\":[{\"request_id\":\"a\",\"trigger\":\"completion\",\"delay_ms\":1,\"relation\":\"sequence\"}]}\n",
    "{\"id\":\"r\",\"models\":[\"m\"],\"block_size\":64,\"hash_id_scope\":\"local\",\"requests\":[{\"t\":0,\"type\":\"n\",\"model\":\"m\",\"in\":64,\"out\":8,\"hash_ids\":[1],\"api_time\":1.5},{\"t\":2,\"type\":\"subagent\",\"agent_id\":\"a\",\"subagent_type\":\"x\",\"status\":\"completed\",\"requests\":[{\"t\":2,\"type\":\"n\",\"model\":\"m\",\"in\":64,\"out\":8,\"hash_ids\":[2],\"api_time\":1}]}]}\n",
    "{\"num_turns\":1,\"input_prompt_length\":100,\"assistant_response_length\":[20],\"tool_call_output_length\":[30],\"tool_call_latency\":[0.5],\"final_assistant_response_length\":7}\n",
    "{\"schema\":\"dynamo.request.trace.v1\",\"event_type\":\"request_end\",\"event_time_unix_ms\":1760000001500,\"agent_context\":{\"session_id\":\"s\"},\"request\":{\"request_id\":\"r\",\"input_tokens\":64,\"output_tokens\":2,\"request_received_ms\":1760000000000,\"total_time_ms\":1500.0,\"replay\":{\"trace_block_size\":64,\"input_length\":64,\"input_sequence_hashes\":[1]}}}\n",
    "TIMESTAMP,ContextTokens,GeneratedTokens\r\n2023-11-16 18:17:03.9799600,4808,10\r\n2023-11-16 18:17:04.0319600,3180,8\r\n",
    "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\r\n5,ChatGPT,472,18,490,Conversation log\r\n45,GPT-4,1087,0,1087,API log\r\n",
    "{\"timestamp\":\"0.5\",\"input_length\":100,\"output_length\":2,\"hash_ids\":[1,2],\"session_id\":\"s\"}\n",
    "t,in,out\n0.5,\"100\",2\n1.5,3,4\n",
];

#[test]
fn traces_of_every_format_are_read_or_refused() {
    let mut seeds = Vec::new();
    for (format, rows) in (0..).zip(ROWS) {
        seeds.extend(headed(&[format], &[rows]));
        seeds.push([&[60 + format], pack_gzip(rows.as_bytes()).as_slice()].concat());
    }
    seeds.push([b"\x03", fixture("tests/fixtures/graph/weka.jsonl.gz").as_slice()].concat());
    seeds.push([b"\x05", fixture("tests/fixtures/graph/capture.jsonl.gz").as_slice()].concat());
    drive(("trace", trace::check), &seeds, 2500);
    for format in 0..10 {
        long(&[format], 1 << 16, trace::check);
    }
}

/// Two calls, the second with the answer of the first, in two traces.
const NATIVE: &str = r#"graph:
  version: "2.0"
  state:
    text: {type: text}
    chat: {type: messages, reducer: add_messages}
  nodes:
    one: {prompt: [{role: user, content: ["Find ", "@text"]}], output: chat}
    two: {prompt: ["@chat", {role: user, content: and?}], max_tokens: 8}
  edges:
    - {source: one, target: two, delay_after_predecessor_us: 5}
traces:
  - {id: a, initial_state: {text: x}}
  - {id: b, initial_state: {text: y}}
"#;

/// One document: a graph of one call.
const NATIVE_JSON: &str = concat!(
    r#"{"graph":{"version":"2.0","nodes":{"one":{"prompt":[{"role":"user","content":"hi"}]}}},"traces":[{"id":"t"}]}"#,
    "\n"
);

/// The same as two records.
const NATIVE_LINES: &str = concat!(
    r#"{"kind":"graph","version":"2.0","nodes":{"one":{"prompt":[{"role":"user","content":"hi"}]}}}"#,
    "\n",
    r#"{"kind":"trace","id":"t"}"#,
    "\n"
);

#[test]
fn recordings_that_are_read_lower_to_graphs_that_are_valid() {
    let seeds = [
        [b"\x00", fixture("tests/fixtures/graph/weka.jsonl.gz").as_slice()].concat(),
        [b"\x01", fixture("tests/fixtures/graph/capture.jsonl.gz").as_slice()].concat(),
        [b"\x02", fixture("tests/fixtures/graph/dag.jsonl.gz").as_slice()].concat(),
        [b"\x00", ROWS[3].as_bytes()].concat(),
        [b"\x01", ROWS[5].as_bytes()].concat(),
        [b"\x03", NATIVE.as_bytes()].concat(),
        [b"\x07", NATIVE_JSON.as_bytes()].concat(),
        [b"\x0b", NATIVE_LINES.as_bytes()].concat(),
    ];
    for (name, text) in [("g.yaml", NATIVE), ("g.json", NATIVE_JSON), ("g.jsonl", NATIVE_LINES)] {
        let read = touchstone::graph::read_native(name, text);
        assert!(read.is_ok(), "{name}: {:?}", read.err().map(touchstone::diag::Bag::into_sorted));
    }
    drive(("graph", graph::check), &seeds, 2000);
    for format in [0, 1, 2, 3, 7, 11] {
        long(&[format], 1 << 16, graph::check);
    }
}

#[test]
fn scenarios_and_scripts_are_read_or_refused_and_laid_out_once() {
    let mut seeds = vec![
        b"handshake delay=\"50ms\"\nanswer from=1 { first-token \"5ms\"; gap \"1ms\"; fault \"cut\" after=2; }\n".to_vec(),
        "// no scenario: é".as_bytes().to_vec(),
    ];
    for folder in
        ["scenarios", "tests/fixtures/scenarios/valid", "tests/fixtures/scenarios/invalid"]
    {
        let entries = fs::read_dir(repository_root().join(folder)).expect("a folder");
        let mut paths: Vec<_> =
            entries.map(|entry| entry.expect("the repository is readable").path()).collect();
        paths.sort();
        let is_kdl = |path: &&std::path::PathBuf| path.extension().is_some_and(|end| end == "kdl");
        seeds.extend(paths.iter().filter(is_kdl).map(|path| fs::read(path).expect("a file")));
    }
    drive(("scenario", scenario::check), &seeds, 300);
    long(b"", 1 << 10, scenario::check);
}
