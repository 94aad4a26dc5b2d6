//! A file to its records, and records to graphs.

use crate::diag::{Bag, Code, SourceFile, Span};
use crate::graph::Graph;
use crate::scenario::written::{self, Data, Node, Place, Rules};

use super::build::graphs;
use super::reading::{Reading, get};
use super::topology::Topology;
use super::trace::Trace;

/// How a file is read. More values than this are a mistake: aliases multiply.
const RULES: Rules =
    Rules { syntax: Code::GraphInput, duplicate: Code::GraphField, values_max: 4_000_000 };

/// The records of a file, in its order.
struct Records {
    graphs: Vec<Node>,
    traces: Vec<Node>,
    /// Traces that stand before the first graph.
    early: Vec<Node>,
}

/// Reads a file in the native format and returns a graph for each trace, in the order of the file, with warnings about them.
///
/// `name` is what messages call the file. Its end tells the syntax: `.jsonl` is a JSON record a line, `.json` one JSON
/// document, anything else YAML.
///
/// # Errors
/// Everything that is wrong with the text, with `file:line:column`: codes `graph::*`.
pub fn read_native(name: &str, text: &str) -> Result<(Vec<Graph>, Bag), Bag> {
    let mut reading = Reading::default();
    let records = records(name, text, &mut reading)?;
    let whole = Place::new(&SourceFile::new(name, text), Span::default());
    for early in &records.early {
        reading.refuse(early, Code::GraphRecords, "a trace stands before the graph that it runs");
    }
    for other in records.graphs.iter().skip(1) {
        reading.refuse(other, Code::GraphRecords, "a file holds one graph, and this is another");
    }
    let Some(graph) = records.graphs.first() else {
        let problem = whole.problem(Code::GraphRecords, "the file holds no graph", "this file");
        reading.bag.push(problem);
        return Err(reading.bag);
    };
    let topology = Topology::read(graph, &mut reading);
    let traces: Vec<Trace> =
        records.traces.iter().filter_map(|node| Trace::read(node, &mut reading)).collect();
    if records.traces.is_empty() {
        let message = "the file holds no traces: a graph runs as often as there are traces";
        reading.refuse(graph, Code::GraphRecords, message);
    }
    match topology {
        Some(topology) if !reading.bag.has_errors() => graphs(&topology, &traces, reading),
        Some(_) | None => Err(reading.bag),
    }
}

/// Returns the records of a file.
fn records(name: &str, text: &str, reading: &mut Reading) -> Result<Records, Bag> {
    let mut records = Records { graphs: Vec::new(), traces: Vec::new(), early: Vec::new() };
    let name_unpacked = name.to_ascii_lowercase();
    let name_unpacked = name_unpacked.trim_end_matches(".gz").trim_end_matches(".zst");
    let ends_in = |end: &str| name_unpacked.ends_with(end);
    let documents = if ends_in(".jsonl") {
        lines(name, text)?
    } else {
        let source = SourceFile::new(name, text);
        let documents = if ends_in(".json") {
            vec![written::load_json(&source, RULES)?]
        } else {
            written::documents(&source, RULES)?
        };
        if let [document] = documents.as_slice()
            && !is_record(document)
        {
            records.add_document(document, reading);
            return Ok(records);
        }
        documents
    };
    for record in documents {
        records.add_record(record, reading);
    }
    Ok(records)
}

/// Returns whether a document is a record of its own, not a file with `graph` and `traces`.
fn is_record(document: &Node) -> bool {
    matches!(&document.data, Data::Map(map) if map.get("kind").is_some())
}

/// Returns the values of the lines of a text that are not blank.
fn lines(name: &str, text: &str) -> Result<Vec<Node>, Bag> {
    let (mut found, mut wrong) = (Vec::new(), Bag::new());
    for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        match written::load_json(&SourceFile::excerpt(name, line, number + 1), RULES) {
            Ok(node) => found.push(node),
            Err(bag) => wrong.extend(bag),
        }
    }
    if wrong.has_errors() { Err(wrong) } else { Ok(found) }
}

impl Records {
    /// Adds the parts of a file that is one document.
    fn add_document(&mut self, document: &Node, reading: &mut Reading) {
        let Some(map) = reading.object(document, "the file", &["graph", "traces"]) else { return };
        self.graphs.extend(get(map, "graph").cloned());
        self.traces.extend_from_slice(reading.list(get(map, "traces"), "`traces`"));
    }

    /// Adds a record, which says what it is.
    fn add_record(&mut self, record: Node, reading: &mut Reading) {
        let Some(map) = reading.mapping(&record, "a record") else { return };
        let kind = get(map, "kind").cloned();
        match kind.as_ref().map(|kind| &kind.data) {
            None => self.add_trace(record),
            Some(Data::Text(kind)) if kind == "trace" => self.add_trace(record),
            Some(Data::Text(kind)) if kind == "graph" => self.graphs.push(record),
            Some(_) => {
                let kind = kind.expect("a record without one is a trace");
                let message = format!("`kind` is `graph` or `trace`, found {}", kind.describe());
                reading.refuse(&kind, Code::GraphRecords, message);
            }
        }
    }

    fn add_trace(&mut self, record: Node) {
        if self.graphs.is_empty() {
            self.early.push(record.clone());
        }
        self.traces.push(record);
    }
}
