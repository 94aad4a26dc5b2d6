//! `agentic_mooncake`: requests that wait for one another, as far as plain requests go.
//!
//! The graph of a file is checked whole; one whose requests all stand alone is read like a Mooncake file. Running graphs is not
//! this module's. Source: spec/SIMULATION.md §9.4.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::diag::{Bag, Code, Problem};

use super::read::Shard;
use super::row::Line;

/// The only version of the header.
const VERSION: u64 = 2;

/// What the requests of a file do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AgenticShape {
    /// Each stands alone, and the lines are in the order of their names: a Mooncake file says the same.
    Independent,
    /// They wait for one another, or play by play.
    Graph,
}

/// The first line of a file with a header.
#[derive(Debug, Deserialize)]
struct Header {
    schema: Option<String>,
    version: Option<u64>,
}

/// What of a row the graph needs; the rest is read where rows are run.
#[derive(Debug, Deserialize)]
struct Node {
    request_id: Option<String>,
    session_id: Option<String>,
    #[serde(default)]
    dependencies: Vec<Edge>,
    #[serde(default)]
    wait_for: Vec<String>,
}

/// A dependency of a row of version 2.
#[derive(Debug, Deserialize)]
struct Edge {
    request_id: String,
}

/// Reads the graph of a file and returns what its requests do.
///
/// # Errors
/// Lines that are no JSON, names that are missing, twice or unknown, a request that waits for itself, a cycle.
pub fn agentic_shape(shard: &Shard) -> Result<AgenticShape, Bag> {
    let text = shard.text()?;
    let mut lines = Line::all(shard.name(), &text, 0).filter(|line| !line.is_blank()).peekable();
    let header = lines.peek().and_then(|line| serde_json::from_str::<Header>(line.text).ok());
    let is_headed = header.as_ref().is_some_and(|header| header.schema.is_some());
    if let Some(version) = header.filter(|_| is_headed).and_then(|header| header.version)
        && version != VERSION
    {
        let line = lines.next().expect("the header was seen");
        let message = format!("unsupported agentic Mooncake version {version}; expected {VERSION}");
        return Err(line.problem(Code::TraceHeader, line.whole(), message, "this header").into());
    }
    let rows: Vec<(Line<'_>, Node)> = lines
        .skip(usize::from(is_headed))
        .map(|line| node(line).map(|node| (line, node)))
        .collect::<Result<_, _>>()?;
    let names = names(&rows)?;
    if !is_headed && rows.iter().all(|(_, node)| node.wait_for.is_empty()) {
        return Ok(alone(&rows));
    }
    let edges = edges(&rows, &names, is_headed)?;
    acyclic(&rows, &edges).map(|()| AgenticShape::Graph)
}

fn node(line: Line<'_>) -> Result<Node, Problem> {
    serde_json::from_str(line.text).map_err(|error| {
        let at = error.column().saturating_sub(1);
        let message = format!("failed to parse line {} as JSON: {error}", line.number);
        line.problem(Code::TraceSyntax, at..at + 1, message, "no row")
    })
}

/// Returns the place of each name.
fn names<'r>(rows: &'r [(Line<'_>, Node)]) -> Result<BTreeMap<&'r str, usize>, Problem> {
    let mut names = BTreeMap::new();
    for (at, (line, node)) in rows.iter().enumerate() {
        let problem =
            |message: String| line.problem(Code::TraceField, line.whole(), message, "this request");
        let name = node.request_id.as_deref().filter(|name| !name.is_empty());
        let name = name
            .ok_or_else(|| problem(format!("trace line {} is missing request_id", line.number)))?;
        if names.insert(name, at).is_some() {
            return Err(problem(format!("duplicate request_id `{name}`")));
        }
    }
    Ok(names)
}

/// Returns whether rows without edges say what a Mooncake file says: a session with two rows, or another order, does not.
fn alone(rows: &[(Line<'_>, Node)]) -> AgenticShape {
    let sessions: Vec<&str> =
        rows.iter().filter_map(|(_, node)| node.session_id.as_deref()).collect();
    let distinct: std::collections::BTreeSet<&str> = sessions.iter().copied().collect();
    let in_order = rows.is_sorted_by(|(_, a), (_, b)| a.request_id <= b.request_id);
    if in_order && distinct.len() == sessions.len() {
        AgenticShape::Independent
    } else {
        AgenticShape::Graph
    }
}

/// Returns for each row the rows it waits for.
fn edges(
    rows: &[(Line<'_>, Node)],
    names: &BTreeMap<&str, usize>,
    is_headed: bool,
) -> Result<Vec<Vec<usize>>, Problem> {
    let mut edges = Vec::with_capacity(rows.len());
    for (at, (line, node)) in rows.iter().enumerate() {
        let waits: Vec<&str> = if is_headed {
            node.dependencies.iter().map(|edge| edge.request_id.as_str()).collect()
        } else {
            node.wait_for.iter().map(String::as_str).collect()
        };
        let mut before = Vec::with_capacity(waits.len());
        for name in waits {
            let problem = |what: &str| {
                let message = format!("trace line {} {what} `{name}`", line.number);
                line.problem(Code::TraceSession, line.whole(), message, "this request")
            };
            match names.get(name) {
                None => return Err(problem("waits for the unknown request")),
                Some(other) if *other == at => return Err(problem("waits for itself,")),
                Some(other) => before.push(*other),
            }
        }
        edges.push(before);
    }
    Ok(edges)
}

/// Takes away requests that wait for nothing until none is left.
fn acyclic(rows: &[(Line<'_>, Node)], edges: &[Vec<usize>]) -> Result<(), Bag> {
    let mut after: Vec<Vec<usize>> = vec![Vec::new(); rows.len()];
    let mut missing: Vec<usize> = edges.iter().map(Vec::len).collect();
    for (at, before) in edges.iter().enumerate() {
        for other in before {
            after[*other].push(at);
        }
    }
    let mut ready: Vec<usize> = (0..rows.len()).filter(|at| missing[*at] == 0).collect();
    let mut done = 0;
    while let Some(at) = ready.pop() {
        done += 1;
        for next in &after[at] {
            missing[*next] -= 1;
            if missing[*next] == 0 {
                ready.push(*next);
            }
        }
    }
    if done == rows.len() {
        return Ok(());
    }
    let left =
        || rows.iter().zip(&missing).filter(|(_, missing)| **missing > 0).map(|(row, _)| row);
    let name = |(_, node): &'_ (Line<'_>, Node)| node.request_id.clone().unwrap_or_default();
    let mut blocked: Vec<String> = left().map(name).collect();
    blocked.sort_unstable();
    let (line, _) = left().next().expect("fewer are done than there are");
    let message = format!(
        "cycle detected among {} agentic requests; blocked request IDs: {}",
        blocked.len(),
        blocked.join(", ")
    );
    Err(line.problem(Code::TraceSession, line.whole(), message, "the first of them").into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(text: &str) -> Result<AgenticShape, String> {
        let shard = Shard::unpacked("a.jsonl", text.as_bytes().to_vec());
        agentic_shape(&shard).map_err(|bag| {
            let problem = &bag.into_sorted()[0];
            format!("{} {problem}", problem.place().unwrap_or_default())
        })
    }

    const HEADER: &str = "{\"schema\":\"dynamo.agentic_mooncake\",\"version\":2}\n";

    fn row(name: &str, waits: &[&str]) -> String {
        let edges: Vec<String> =
            waits.iter().map(|name| format!("{{\"request_id\":\"{name}\"}}")).collect();
        format!("{{\"request_id\":\"{name}\",\"dependencies\":[{}]}}\n", edges.join(","))
    }

    #[test]
    fn rows_without_a_header_ignore_dependencies_and_stand_alone() {
        assert_eq!(
            shape(&[row("a", &[]), row("b", &["a"])].concat()),
            Ok(AgenticShape::Independent)
        );
        assert_eq!(shape(&[row("b", &[]), row("a", &[])].concat()), Ok(AgenticShape::Graph));
        let waits = "{\"request_id\":\"b\",\"wait_for\":[\"a\"]}\n";
        assert_eq!(shape(&[&row("a", &[]), waits].concat()), Ok(AgenticShape::Graph));
    }

    #[test]
    fn a_graph_is_one_without_cycles_and_unknown_names() {
        let graph = |rows: &[String]| shape(&[HEADER, &rows.concat()].concat());
        assert_eq!(graph(&[row("b", &["a"]), row("a", &[])]), Ok(AgenticShape::Graph));
        let cycle = graph(&[row("a", &["b"]), row("b", &["a"]), row("c", &["b"])]);
        let expected =
            "a.jsonl:2:1 cycle detected among 3 agentic requests; blocked request IDs: a, b, c";
        assert_eq!(cycle, Err(expected.to_owned()));
        assert_eq!(
            graph(&[row("a", &["x"])]),
            Err("a.jsonl:2:1 trace line 2 waits for the unknown request `x`".to_owned())
        );
        assert_eq!(
            graph(&[row("a", &[]), row("a", &[])]),
            Err("a.jsonl:3:1 duplicate request_id `a`".to_owned())
        );
        let old = shape("{\"schema\":\"dynamo.agentic_mooncake\",\"version\":1}\n");
        let expected = "a.jsonl:1:1 unsupported agentic Mooncake version 1; expected 2";
        assert_eq!(old, Err(expected.to_owned()));
    }
}
