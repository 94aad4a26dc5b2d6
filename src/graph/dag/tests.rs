//! Files written by hand.

use crate::graph::tests::support::{edges, fixture};
use crate::graph::{Graph, NodeIndex, Piece, Prompt, validate};

use super::read_dag;

fn read(text: &str) -> Vec<Graph> {
    read_dag("x.jsonl", text).unwrap_or_else(|bag| panic!("{bag:?}"))
}

/// Returns a node's prompt: roles of messages, and the nodes whose answers stand between them.
fn prompt(graph: &Graph, id: &str) -> String {
    let node = graph.nodes.iter().find(|node| node.id == id).expect("a node");
    let Prompt::Authored(pieces) = &node.prompt else { panic!("{id}") };
    let piece = |piece: &Piece| match piece {
        Piece::Raw { role, .. } => role.clone(),
        Piece::Answer(of) => format!("<{}>", graph.node(*of).id),
        Piece::Composed { .. } => panic!("a session composes nothing"),
    };
    pieces.iter().map(piece).collect::<Vec<_>>().join(" ")
}

#[test]
fn forks_go_on_from_what_was_said_and_spawns_are_joined_at_the_next_turn() {
    let text = String::from_utf8(fixture("dag.jsonl.gz")).expect("UTF-8");
    let graphs = read(&text);
    let [graph] = graphs.as_slice() else { panic!("one root") };
    assert!(validate(graph).is_empty());
    assert_eq!(
        edges(graph),
        [
            "root:2 -> f1:0 +0",
            "root:2 -> f2:0 +0",
            "root:0 -> kid-a:0 +0",
            "kid-a:0 -> kid-a:1 +50",
            "root:0 -> kid-b:0 +0",
            "START -> root:0 @0",
            "kid-a:1 -> root:1 +0",
            "kid-b:0 -> root:1 +0",
            "root:0 -> root:1 +0",
            "root:1 -> root:2 +0",
            "f1:0 -> END ",
            "f2:0 -> END ",
        ]
    );
    assert_eq!(prompt(graph, "root:1"), "system user <root:0> user");
    assert_eq!(prompt(graph, "kid-a:1"), "user <kid-a:0> user");
    assert_eq!(prompt(graph, "f1:0"), "system user <root:0> user <root:1> user <root:2> user");
    let index = graph.nodes.iter().position(|node| node.id == "root:1").expect("a node");
    let inputs: Vec<&str> = graph
        .node(NodeIndex(index))
        .inputs
        .iter()
        .map(|input| graph.channels[input.channel.0].name.as_str())
        .collect();
    assert_eq!(inputs, ["kid-a:1_out", "kid-b:0_out", "root:0_out"]);
    assert_eq!(graph.nodes[index].overrides.body, [("temperature".to_owned(), "0.5".to_owned())]);
}

fn session(id: &str, turns: &[&str]) -> String {
    let turn = |more: &&str| format!(r#"{{"messages":[{{"role":"user","content":"x"}}]{more}}}"#);
    let turns: Vec<String> = turns.iter().map(turn).collect();
    format!(r#"{{"session_id":"{id}","turns":[{}]}}"#, turns.join(","))
}

#[test]
fn a_session_that_is_spawned_twice_is_two_and_a_join_may_come_later() {
    let text = [
        session("r", &[r#","spawns":[{"children":["k"],"join_at":2}]"#, r#","spawns":["k"]"#, ""]),
        session("k", &[r#","tools":[{"x":1}]"#, ""]),
    ]
    .join("\n");
    let graphs = read(&text);
    assert!(validate(&graphs[0]).is_empty());
    let ids: Vec<&str> = graphs[0].nodes.iter().map(|node| node.id.as_str()).collect();
    assert_eq!(ids, ["k#1:0", "k#1:1", "k:0", "k:1", "r:0", "r:1", "r:2"]);
    let joined =
        edges(&graphs[0]).into_iter().filter(|edge| edge.contains("-> r:2")).collect::<Vec<_>>();
    assert_eq!(joined, ["k#1:1 -> r:2 +0", "k:1 -> r:2 +0", "r:1 -> r:2 +0"]);
    assert_eq!(graphs[0].nodes[3].overrides.tools.as_deref(), Some(r#"[{"x":1}]"#), "tools stay");
}

#[test]
fn what_starts_with_a_session_is_waited_for_by_nobody() {
    let root =
        session("r", &["", ""]).replace(r#""turns""#, r#""pre_session_spawns":["k"],"turns""#);
    let graphs =
        read(&[root, session("k", &[r#","delay":5"#]), session("other", &[""])].join("\n"));
    assert_eq!(graphs.iter().map(|graph| graph.id.as_str()).collect::<Vec<_>>(), ["r", "other"]);
    assert_eq!(
        edges(&graphs[0]),
        ["START -> k:0 @5", "START -> r:0 @0", "r:0 -> r:1 +0", "k:0 -> END ", "r:1 -> END ",]
    );
}

#[test]
fn a_file_that_is_wrong_is_refused_with_its_line() {
    let refused = |lines: &[String]| {
        let bag = read_dag("x.jsonl", &lines.join("\n")).expect_err("refused");
        let problems = bag.into_sorted();
        assert!(problems.iter().all(|problem| problem.code() == crate::diag::Code::GraphInput));
        let first = &problems[0];
        format!("{} {}", first.place().unwrap_or_default(), first.message())
    };
    let is = |lines: &[String], place: &str, part: &str| {
        let found = refused(lines);
        assert!(found.starts_with(place) && found.contains(part), "{found}");
    };
    is(&["{".to_owned()], "x.jsonl:1:", "no session");
    is(&[session("a", &[r#","more":1"#])], "x.jsonl:1:", "unknown field `more`");
    is(&[session("a", &[""]), String::new(), session("a", &[""])], "x.jsonl:3:1", "line 1");
    is(&[session("a", &[r#","forks":["b"]"#])], "x.jsonl:1:1", "`b`, which no line holds");
    is(&[session("a", &[r#","forks":["b"]"#, ""]), session("b", &[""])], "x.jsonl:1:1", "turn 0");
    is(
        &[session("a", &[r#","spawns":[{"children":["b"],"join_at":1}]"#]), session("b", &[""])],
        "x.jsonl:1:1",
        "`join_at`",
    );
    is(&[session("a", &[r#","delay":-1"#])], "x.jsonl:1:1", "`delay`");
    is(&[session("a:b", &[""])], "x.jsonl:1:1", "no `:`");
    is(
        &[session("a", &[r#","spawns":["b"]"#, ""]), session("b", &[r#","spawns":["a"]"#, ""])],
        "x.jsonl:1:1",
        "below itself",
    );
    is(
        &[session("a", &[r#","forks":["b"],"spawns":["b"]"#]), session("b", &[""])],
        "x.jsonl:2:1",
        "forked and spawned",
    );
    is(
        &[session("a", &["", ""]).replacen("user", "system", 2).replacen("system", "user", 1)],
        "x.jsonl:1:1",
        "system",
    );
    is(&[session("a", &[r#","max_tokens":0"#])], "x.jsonl:1:1", "`max_tokens`");
    is(&[], "", "no sessions");
}
