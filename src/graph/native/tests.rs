//! Files written by hand: every rule and every refused combination of spec/REPLAY.md §7.1 and §7.2.

use crate::diag::Code;
use crate::graph::tests::support::edges;
use crate::graph::{Endpoint, Graph, Piece, Prompt, TextPart, validate};
use crate::units::Nanos;

use super::read_native;

fn read(text: &str) -> Vec<Graph> {
    let (graphs, _) =
        read_native("g.yaml", text).unwrap_or_else(|bag| panic!("{:#?}", bag.into_sorted()));
    for graph in &graphs {
        assert!(validate(graph).is_empty(), "{graph:?}");
    }
    graphs
}

/// Returns `code place message` of everything that is wrong.
fn wrong(name: &str, text: &str) -> Vec<String> {
    let bag = read_native(name, text).expect_err("refused");
    let shown = |problem: &crate::diag::Problem| {
        let place = problem.place().unwrap_or_default();
        let help = problem.help_text().unwrap_or_default();
        format!("{} {place} {problem} {help}", problem.code().as_str())
    };
    bag.into_sorted().iter().map(shown).collect()
}

/// Returns a node's prompt: messages as JSON, answers as `<node>`.
fn prompt(graph: &Graph, id: &str) -> Vec<String> {
    let node = graph.nodes.iter().find(|node| node.id == id).expect("a node");
    let Prompt::Authored(pieces) = &node.prompt else { panic!("{id}") };
    let piece = |piece: &Piece| match piece {
        Piece::Raw { json, .. } => json.clone(),
        Piece::Answer(of) => format!("<{}>", graph.node(*of).id),
        Piece::Composed { role, parts } => {
            let part = |part: &TextPart| match part {
                TextPart::Written(text) => text.clone(),
                TextPart::Answer(of) => format!("<{}>", graph.node(*of).id),
            };
            format!("{role}: {}", parts.iter().map(part).collect::<String>())
        }
    };
    pieces.iter().map(piece).collect()
}

/// A research workflow: two searches side by side, a summary of both, and a chat that goes on.
pub(in crate::graph) const WORKFLOW: &str = r#"graph:
  version: "2.0"
  provenance: {source: by hand, anything: [1]}
  system: Be brief.
  state:
    question: {type: text}
    left: {type: text}
    right: {type: text}
    chat: {type: messages, reducer: add_messages}
  nodes:
    search_a:
      prompt: [{role: user, content: ["Find ", "@question", "@@home"]}]
      output: left
      max_tokens: 32
    search_b:
      prompt: [{role: user, content: "as @question says"}]
      output: right
      streaming: false
    sum:
      prompt: ["@chat", {role: user, content: ["A: ", "@left", " B: ", "@right"]}]
      output: chat
      inputs: [{channel: left}, {channel: right, count: all}]
      extra_headers: {X-A: b}
      extra_body: {temperature: 0.5, stop: [x]}
      raw_tools: [{type: function}]
      min_start_delay_us: 1500
      expected: {input_tokens: 10, cache_read_tokens: 4}
    more:
      messages: ["@chat", {role: user, content: More., name: me}]
      output: chat
      arrival_offset_us: 2000000
  edges:
    - {source: sum, target: more, delay_after_predecessor_us: 250.5}
traces:
  - {id: one, tags: [x], initial_state: {question: "oil?", chat: [{role: user, content: Hi}]}}
  - {id: two, graph_ref: it, initial_state: {question: gas, chat: []}, replay_outputs: {sum: no}}
"#;

#[test]
fn a_topology_runs_once_a_trace_with_what_its_channels_hold() {
    let graphs = read(&WORKFLOW.replace("replay_outputs: {sum: no}", "replay_outputs: {sum: x}"));
    let [one, two] = graphs.as_slice() else { panic!("two traces") };
    assert_eq!((one.id.as_str(), two.id.as_str()), ("one", "two"));
    let system = r#"{"role":"system","content":"Be brief."}"#;
    assert_eq!(prompt(one, "search_a"), [system, r#"{"role":"user","content":"Find oil?@home"}"#]);
    assert_eq!(prompt(two, "search_a")[1], r#"{"role":"user","content":"Find gas@home"}"#);
    assert_eq!(prompt(one, "search_b")[1], r#"{"role":"user","content":"as @question says"}"#);
    let said = [system, r#"{"role":"user","content":"Hi"}"#, "user: A: <search_a> B: <search_b>"];
    assert_eq!(prompt(one, "sum"), said);
    let more = r#"{"role":"user","content":"More.","name":"me"}"#;
    assert_eq!(prompt(one, "more"), [&said[..], &["<sum>", more]].concat());
    assert_eq!(
        edges(one),
        [
            "START -> search_a @0",
            "START -> search_b @0",
            "search_a -> sum +0",
            "search_b -> sum +0",
            "sum -> more +0",
            "more -> END ",
        ]
    );
    let edge = one.edges.iter().find(|edge| edge.wait.completion == Some(Nanos::new(250_500)));
    assert!(matches!(edge.map(|edge| edge.target), Some(Endpoint::Node(node)) if node.0 == 3));
    let sum = &one.nodes[2];
    assert_eq!(sum.overrides.tools.as_deref(), Some(r#"[{"type":"function"}]"#));
    assert_eq!(sum.overrides.headers, [("X-A".to_owned(), "b".to_owned())]);
    let body = [("temperature", "0.5"), ("stop", "[\"x\"]")];
    assert_eq!(sum.overrides.body, body.map(|(key, json)| (key.to_owned(), json.to_owned())));
    assert_eq!(
        (sum.min_start, one.nodes[3].arrival.get()),
        (Some(Nanos::new(1_500_000)), 2_000_000_000)
    );
    assert!(!one.nodes[1].streaming && sum.streaming);
}

#[test]
fn turns_follow_what_leads_to_them_and_only_one_that_follows_all_others_is_the_last() {
    let turns = |edges: &str| {
        let prompt = "{prompt: [{role: user, content: x}]}";
        let text = format!(
            "graph: {{version: '2.0', nodes: {{a: {prompt}, b: {prompt}, c: {prompt}}}, edges: [{edges}]}}\ntraces: [{{id: t}}]\n"
        );
        let graph = read(&text).remove(0);
        let turn = |node: &crate::graph::Node| (node.session.turn, node.session.is_final);
        graph.nodes.iter().map(turn).collect::<Vec<_>>()
    };
    let chain = "{source: c, target: b}, {source: b, target: a}";
    assert_eq!(turns(chain), [(2, true), (1, false), (0, false)]);
    let beside = "{source: c, target: a}, {source: c, target: b}";
    assert!(turns(beside).iter().all(|(_, is_final)| !is_final), "two of them end the session");
    let early =
        "{source: c, target: b}, {source: b, target: a, delay_after_predecessor_start_us: 1}";
    assert!(turns(early).iter().all(|(_, is_final)| !is_final), "it need not have ended");
}

#[test]
fn one_file_is_the_same_as_documents_and_as_lines() {
    let documents = "kind: graph\nversion: 2.0\nnodes: {a: {prompt: [{role: user, content: x}]}}\n---\nid: t\n---\nkind: trace\nid: u\n";
    let lines = "{\"kind\":\"graph\",\"version\":\"2.0\",\"nodes\":{\"a\":{\"prompt\":[{\"role\":\"user\",\"content\":\"x\"}]}}}\n\n{\"id\":\"t\"}\n{\"kind\":\"trace\",\"id\":\"u\"}\n";
    let whole = "{\"graph\":{\"version\":\"2.0\",\"nodes\":{\"a\":{\"prompt\":[{\"role\":\"user\",\"content\":\"x\"}]}}},\"traces\":[{\"id\":\"t\"},{\"id\":\"u\"}]}";
    let found = read(documents);
    assert_eq!(found.len(), 2);
    assert_eq!(edges(&found[0]), ["START -> a @0", "a -> END "]);
    assert_eq!(read_native("g.jsonl", lines).expect("lines").0, found);
    assert_eq!(read_native("g.json", whole).expect("JSON").0, found);
}

#[test]
fn a_graph_without_nodes_is_the_prompt_of_its_trace() {
    let text =
        "graph: {version: '2.0'}\ntraces: [{id: t, messages: [{role: user, content: [a, b]}]}]\n";
    assert_eq!(prompt(&read(text)[0], "call"), [r#"{"role":"user","content":"ab"}"#]);
    assert_eq!(
        wrong("g.yaml", "graph: {version: '2.0'}\ntraces: [{id: t}]\n"),
        [
            "graph::records g.yaml:2:10 the graph has no nodes and the trace no `messages`: nothing is asked "
        ]
    );
}

/// Returns a file with these channels, nodes and edges.
fn file(state: &str, nodes: &str, edges: &str) -> String {
    let state = format!("seeded: {{type: text}}, {state}");
    format!(
        "graph:\n  version: '2.0'\n  state: {{{state}}}\n  nodes: {{{nodes}}}\n  edges: [{edges}]\ntraces: [{{id: t, initial_state: {{seeded: s}}}}]\n"
    )
}

/// Asserts that one thing is wrong, with its code, on its line, in these words.
fn only(text: &str, code: Code, line: usize, part: &str) {
    let found = wrong("g.yaml", text);
    let start = format!("{} g.yaml:{line}:", code.as_str());
    assert!(
        found.len() == 1 && found[0].starts_with(&start) && found[0].contains(part),
        "{found:#?}"
    );
}

#[test]
fn fields_are_known_and_of_their_kind() {
    let node = |fields: &str| file("", &format!("a: {{{fields}}}"), "");
    only(&node("modle: x"), Code::GraphField, 4, "did you mean `model`?");
    only(&node("dispatch_overrides: {}"), Code::GraphField, 4, "`extra_body`");
    only(&node("extra_headers: {Host: x}"), Code::GraphField, 4, "not a call's");
    only(&node("extra_headers: {'a b': x}"), Code::GraphField, 4, "HTTP has not");
    only(&node("extra_headers: {a: \"x\\ny\"}"), Code::GraphField, 4, "printable");
    only(&node("prompt: [], messages: []"), Code::GraphField, 4, "the same field");
    only(&node("max_tokens: 0"), Code::GraphField, 4, "from 1 on");
    only(&node("streaming: 1"), Code::GraphField, 4, "a truth value");
    only(&node("node_type: tool"), Code::GraphNodeType, 4, "`llm`");
    only(&node("min_start_delay_us: -1"), Code::GraphDelay, 4, "from 0 on");
    only(&node("arrival_offset_us: .inf"), Code::GraphDelay, 4, "finite");
    only(&node("output: seded"), Code::GraphChannel, 4, "did you mean `seeded`?");
    only(&node("inputs: [{channel: seeded, count: 0}]"), Code::GraphField, 4, "from 1 on");
    only(&file("x: {type: texts}", "a: {}", ""), Code::GraphField, 3, "`text` or `messages`");
    only(
        &file("x: {type: text, reducer: add_messages}", "a: {}", ""),
        Code::GraphField,
        3,
        "adds messages",
    );
    let misspelt = "grahp: {}\ngraph: {version: '2.0'}\ntraces: [{id: t, messages: []}]\n";
    only(misspelt, Code::GraphField, 1, "did you mean `graph`?");
}

#[test]
fn records_stand_in_their_order() {
    let graph = "kind: graph\nversion: '2.0'\nnodes: {a: {}}\n";
    let trace = "id: t\n";
    let of = |parts: &[&str]| parts.join("---\n");
    only(&of(&[trace, graph]), Code::GraphRecords, 1, "stands before the graph");
    only(&of(&[graph, graph, trace]), Code::GraphRecords, 5, "holds one graph");
    only(&of(&[graph, "kind: x\n", trace]), Code::GraphRecords, 5, "`graph` or `trace`");
    only(graph, Code::GraphRecords, 1, "no traces");
    only(&of(&[graph, trace, trace]), Code::GraphName, 7, "two traces are called `t`");
    only(&of(&[graph, "id: t\nreplay_outputs: {b: x}\n"]), Code::GraphEdge, 6, "no node");
    only(&of(&[graph, "id: t\nmessages: []\n"]), Code::GraphRecords, 6, "without nodes");
    only(&of(&[graph, "id: t\ninitial_state: {x: 1}\n"]), Code::GraphChannel, 6, "no channel");
    only(
        &of(&[&graph.replace("2.0", "3.0"), trace]),
        Code::GraphVersion,
        2,
        "found the text `3.0`",
    );
}

#[test]
fn a_text_that_is_no_yaml_or_json_is_refused_where_it_stops_being_some() {
    assert!(wrong("g.yaml", "graph: [unclosed\n")[0].starts_with("graph::input g.yaml:"));
    assert!(wrong("g.jsonl", "{}\n{\"a\":}\n")[0].starts_with("graph::input g.jsonl:2:6"));
    assert!(wrong("g.yaml", "a: 1\na: 2\n")[0].starts_with("graph::field g.yaml:2:1"));
    assert!(wrong("g.yaml", "")[0].contains("holds no graph"));
}

#[test]
fn edges_lead_somewhere_and_wait_for_one_thing() {
    let of = |edges: &str| file("", "a: {}, b: {}", edges);
    only(&of("{source: a, target: c}"), Code::GraphEdge, 5, "no node");
    only(&of("{source: a}"), Code::GraphField, 5, "has a `target`");
    only(
        &of("{source: a, target: b, delay_after_predecessor_us: .nan}"),
        Code::GraphDelay,
        5,
        "finite",
    );
    let both = "delay_after_predecessor_us: 1, delay_after_predecessor_start_us: 1";
    only(&of(&format!("{{source: a, target: b, {both}}}")), Code::GraphWait, 5, "for the dispatch");
    let token = "delay_after_predecessor_first_token_us: 1";
    only(&of(&format!("{{source: a, target: b, {token}}}")), Code::GraphWait, 5, "does not say");
    only(
        &of("{source: START, target: b, delay_after_predecessor_start_us: 1}"),
        Code::GraphWait,
        5,
        "of the start",
    );
    // What is wrong with the topology as a whole stands at the part that it is about.
    only(
        &of("{source: START, target: a}, {source: a, target: b}, {source: b, target: a}"),
        Code::GraphCycle,
        4,
        "`a` -> `b` -> `a`",
    );
    only(&of("{source: START, target: a}"), Code::GraphUnreachable, 4, "`b`");
    let gate = "{source: START, target: a}, {source: START, target: b}, {source: a, target: b, delay_after_predecessor_start_us: 1}";
    only(&of(gate), Code::GraphWait, 4, "may have one");
    only(&file("", "_aiperf_a: {}", ""), Code::GraphName, 4, "may not be called");
    only(
        &file("", "a: {output: seeded}, b: {output: seeded}", ""),
        Code::GraphChannel,
        3,
        "keeps its last value",
    );
}

#[test]
fn prompts_are_messages_and_channels() {
    let of = |prompt: &str| file("m: {type: messages}", &format!("a: {{prompt: [{prompt}]}}"), "");
    only(&of("hello"), Code::GraphPrompt, 4, "stands in a message");
    only(&of("'@@seeded'"), Code::GraphPrompt, 4, "stands in a message");
    only(&of("{content: x}"), Code::GraphPrompt, 4, "has a `role`");
    only(&of("{role: user, content: [{type: image_url}]}"), Code::GraphPrompt, 4, "media");
    only(&of("{role: user, content: {a: 1}}"), Code::GraphPrompt, 4, "a list of texts");
    only(&of("{role: user, name: me, content: ['@seeded']}"), Code::GraphPrompt, 4, "found `name`");
    only(&of("'@sedeed'"), Code::GraphChannel, 4, "did you mean `seeded`?");
    only(&of("'@seeded'"), Code::GraphPrompt, 4, "holds a text");
    only(&of("{role: user, content: ['@m']}"), Code::GraphPrompt, 4, "holds messages");
    only(&of("'@m'"), Code::GraphPrompt, 4, "no node writes it");
}

/// The combinations that cannot be sent alike in every run.
#[test]
fn what_need_not_be_there_is_not_read() {
    let state = "t: {type: text}, m: {type: messages, reducer: add_messages}";
    let say = "{role: user, content: x}";
    let of = |nodes: &str, edges: &str| file(state, nodes, edges);
    let text = |name: &str| format!("{{role: user, content: ['@{name}']}}");
    // A writer that runs beside the reader, and one that it follows by a dispatch alone.
    let beside = of(&format!("a: {{output: t}}, b: {{prompt: [{}]}}", text("t")), "");
    only(&beside, Code::GraphPrompt, 4, "is chance");
    let anchored = of(
        &format!("a: {{output: t}}, b: {{prompt: [{}]}}", text("t")),
        "{source: START, target: a}, {source: a, target: b, delay_after_predecessor_start_us: 5}",
    );
    only(&anchored, Code::GraphPrompt, 4, "by a dispatch");
    // Writers side by side.
    let apart = of(
        "a: {output: m}, b: {output: m}, c: {prompt: ['@m']}",
        "{source: a, target: c}, {source: b, target: c}",
    );
    only(&apart, Code::GraphPrompt, 4, "side by side");
    // A text that is seeded as well.
    let seeded = of(
        &format!("a: {{output: seeded}}, b: {{prompt: [{}]}}", text("seeded")),
        "{source: a, target: b}",
    );
    only(&seeded, Code::GraphPrompt, 4, "a trace seeds it");
    // Conversations that are not gone on with at their start.
    let chain = |prompt: &str| {
        of(
            &format!("a: {{prompt: [{say}], output: m}}, b: {{prompt: [{prompt}], output: m}}"),
            "{source: a, target: b}",
        )
    };
    only(&chain(say), Code::GraphPrompt, 4, "does not read it");
    only(&chain(&format!("{say}, '@m'")), Code::GraphPrompt, 4, "does not begin with it");
    only(&chain("'@m', '@m'"), Code::GraphPrompt, 4, "reads it twice");
    assert_eq!(prompt(&read(&chain(&format!("'@m', {say}")))[0], "b").len(), 3);
}

#[test]
fn an_answer_is_there_for_all_that_come_after_whatever_lies_between() {
    let text = file(
        "t: {type: text}, last: {type: messages}",
        "a: {output: t}, b: {output: last}, c: {prompt: ['@last', {role: user, content: ['@t', '@seeded', '!']}]}",
        "{source: START, target: a}, {source: a, target: b}, {source: b, target: c}",
    );
    assert_eq!(prompt(&read(&text)[0], "c"), ["<b>", "user: <a>s!"]);
    // Sent after the dispatch of what waited for the end.
    let text = text.replace(
        "{source: b, target: c}",
        "{source: b, target: c, delay_after_predecessor_start_us: 0}",
    );
    let text = text.replace("'@last', ", "");
    assert_eq!(prompt(&read(&text)[0], "c"), ["user: <a>s!"]);
}

#[test]
fn traces_that_make_more_than_memory_should_hold_are_refused_at_the_one_too_many() {
    use std::fmt::Write as _;

    let mut text = "graph:\n  version: \"2.0\"\n  nodes:\n".to_owned();
    for node in 0..1000 {
        writeln!(text, "    n{node}: {{prompt: [{{role: user, content: hi}}]}}").expect("a text");
    }
    text.push_str("traces:\n");
    for trace in 0..=1000 {
        writeln!(text, "  - {{id: t{trace}}}").expect("a text");
    }
    let found = wrong("g.yaml", &text);
    // Each node has an edge from the start and one to the end: 3000 parts a trace, so 333 traces at the most; the first stands in line 1005.
    assert_eq!(
        found,
        [
            "graph::input g.yaml:1338:5 1001 traces of 3000 calls and edges are more than 1000000 in one file divide the traces among several files"
        ]
    );
}
