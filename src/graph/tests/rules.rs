//! Every rule about graphs on a file that breaks it alone, told at its line and column.

use std::collections::BTreeSet;

use crate::diag::{Bag, Code};
use crate::graph::{read_dag, read_native};

/// A right file: each case changes one line of it.
const RIGHT: &str = "graph:
  version: '2.0'
  state:
    text: {type: text}
  nodes:
    one: {output: text}
    two: {}
  edges:
    - {source: START, target: one}
    - {source: one, target: two}
traces:
  - {id: t}
";

const NODE: &str = "    two: {}\n";
const EDGE: &str = "    - {source: one, target: two}\n";

/// What is written instead of what, the rule that it breaks, and where.
const BROKEN: &[(&str, &str, Code, &str)] = &[
    (NODE, "    two: {modle: x}\n", Code::GraphField, "7:11"),
    (NODE, "    two: {prompt: [], messages: []}\n", Code::GraphField, "7:33"),
    ("'2.0'", "'3.0'", Code::GraphVersion, "2:12"),
    (NODE, "    two: {node_type: tool}\n", Code::GraphNodeType, "7:22"),
    (EDGE, "    - {source: one, target: two, min_start_delay_us: -1}\n", Code::GraphDelay, "10:54"),
    (NODE, "    two: {arrival_offset_us: .inf}\n", Code::GraphDelay, "7:30"),
    (NODE, "    two: {prompt: [hello]}\n", Code::GraphPrompt, "7:20"),
    (
        NODE,
        "    two: {expected: {input_tokens: 1, cache_read_tokens: 2}}\n",
        Code::GraphCache,
        "7:5",
    ),
    (NODE, "    two: {}\n    _aiperf: {}\n", Code::GraphName, "8:5"),
    (EDGE, "    - {source: one, target: twp}\n", Code::GraphEdge, "10:29"),
    (
        EDGE,
        "    - {source: one, target: two, delay_after_predecessor_first_token_us: 1}\n",
        Code::GraphWait,
        "10:7",
    ),
    (
        EDGE,
        "    - {source: one, target: two, delay_after_predecessor_start_us: 1}\n    - {source: START, target: two}\n",
        Code::GraphWait,
        "7:5",
    ),
    (NODE, "    two: {output: text}\n", Code::GraphChannel, "4:5"),
    (NODE, "    two: {inputs: [{channel: text, count: 2}]}\n", Code::GraphChannel, "7:5"),
    (
        EDGE,
        "    - {source: one, target: two}\n    - {source: two, target: one}\n",
        Code::GraphCycle,
        "6:5",
    ),
    (EDGE, "", Code::GraphUnreachable, "7:5"),
    ("  - {id: t}\n", "  - {id: t}\n  - {id: t}\n", Code::GraphName, "13:5"),
    ("  - {id: t}\n", "  - {id: t, messages: []}\n", Code::GraphRecords, "12:23"),
    ("    text: {type: text}\n", "    text: {type: texts}\n", Code::GraphField, "4:18"),
    ("graph:\n", "graph: }\n", Code::GraphInput, "1:"),
];

/// Rules of files that are no graphs, and of texts: their tests stand beside them.
const ELSEWHERE: [Code; 3] = [Code::GraphTree, Code::GraphTokenizer, Code::GraphVocabulary];

/// Returns code and place of all that is said of a file.
fn said(result: Result<Bag, Bag>) -> Vec<(Code, String)> {
    let (Ok(bag) | Err(bag)) = result;
    let place = |problem: &crate::diag::Problem| problem.place().unwrap_or_default();
    bag.into_sorted().iter().map(|problem| (problem.code(), place(problem))).collect()
}

fn native(text: &str) -> Vec<(Code, String)> {
    said(read_native("g.yaml", text).map(|(_, warnings)| warnings))
}

#[test]
fn every_rule_has_a_file_that_breaks_it_alone_and_tells_where() {
    assert_eq!(native(RIGHT), []);
    let mut seen: BTreeSet<Code> = ELSEWHERE.into();
    for (from, to, code, place) in BROKEN {
        assert_eq!(RIGHT.matches(from).count(), 1, "{from}");
        let found = native(&RIGHT.replace(from, to));
        let [(is, at)] = found.as_slice() else { panic!("{to}: {found:?}") };
        assert_eq!(is, code, "{to}");
        assert!(at.starts_with(&format!("g.yaml:{place}")), "{to}: {at}");
        seen.insert(*code);
    }
    let rules = Code::ALL.iter().filter(|code| code.as_str().starts_with("graph::"));
    assert_eq!(seen, rules.copied().collect());
}

#[test]
fn what_is_wrong_with_the_graph_of_sessions_stands_at_the_line_of_its_session() {
    let line = |id: &str, more: &str| {
        let message = r#"{"messages":[{"role":"user","content":"x"}]"#;
        format!(r#"{{"session_id":"{id}","turns":[{message}{more}}}]}}"#)
    };
    let text = [line("a", r#","spawns":["_aiperf"]"#), line("_aiperf", "")].join("\n");
    let found = said(read_dag("s.jsonl", &text).map(|_| Bag::new()));
    assert_eq!(found, [(Code::GraphName, "s.jsonl:2:1".to_owned())]);
}

#[test]
fn what_is_wrong_with_a_lowered_graph_stands_at_the_record_that_it_is_about() {
    use crate::graph::{LowerOptions, lower, validate_recorded};
    let record = |session: &str, at: u64, cached: u64| {
        format!(
            r#"{{"schema":"dynamo.request.trace.v1","event_type":"request_end","event_time_unix_ms":{at},"agent_context":{{"session_id":"{session}"}},"request":{{"request_id":"{at}","model":"m","input_tokens":32,"cached_tokens":{cached},"output_tokens":1,"request_received_ms":{at}}}}}"#
        )
    };
    let text = [record("a", 1, 0), record("a", 2, 33), record("x:y", 3, 0)].join("\n");
    let found: Vec<(Code, String)> = super::support::dynamo(text.as_bytes())
        .iter()
        .flat_map(|tree| {
            let options = LowerOptions { idle_gap_cap: crate::graph::IdleGapCap::DEFAULT };
            said(Err(validate_recorded(tree, &lower(tree, options).0)))
        })
        .collect();
    let line = |code: Code, line: u64| (code, format!("capture.jsonl:{line}:11"));
    assert_eq!(found, [line(Code::GraphCache, 2), line(Code::GraphName, 3)]);
}
