//! `bench graph`: draw the workflow graphs of a recording.

use std::io::{self, Write};

use crate::cli::args::{GraphArgs, GraphInput};
use crate::cli::{Context, Exit, Failure, print_as_written};
use crate::diag::{Bag, Code, Problem};
use crate::graph::{
    Drawer, Graph, LowerCounts, LowerOptions, draw_one, lower, read_dag, read_native,
    validate_recorded,
};
use crate::scenario::scalar::nearest;
use crate::trace::{
    RecordedOptions, RecordedSource, RecordedTree, TraceInput, detect_recording, read_dynamo,
    read_weka_as,
};

use super::graph_table::{Row, Table};
use super::trace_open;

/// Runs the command.
///
/// Graphs are drawn as they are read: nothing is kept of one when the next is drawn.
pub(super) fn run(args: &GraphArgs, context: &Context) -> Result<Exit, Failure> {
    let (_, files) = trace_open::inputs(&args.files)?;
    let mut outcome = Ok(());
    print_as_written(|out| {
        let mut sink = Sink::new(args, out);
        outcome = read(&files, args, context, &mut sink).and_then(|()| sink.judge(args, context));
        sink.end(outcome.is_ok())
    })?;
    outcome.map(|()| Exit::Success)
}

/// A graph that was drawn, or what is wrong with it.
struct Drawn {
    id: String,
    /// What lowering gave a meaning.
    given: LowerCounts,
    wrong: Bag,
    /// Absent where it is wrong or nobody asked for it.
    shown: Option<Shown>,
}

/// What is shown of a graph.
enum Shown {
    Drawing(Vec<u8>),
    Row(Box<Row>),
}

impl Drawn {
    /// Draws a graph, where it is right.
    fn of(graph: Graph, given: LowerCounts, wrong: Bag, args: &GraphArgs) -> Self {
        let is_drawn = args.is_wanted(&graph) && !wrong.has_errors();
        let id = graph.id.clone();
        let shown = is_drawn.then(|| match args.format.drawing() {
            Some(drawing) => Shown::Drawing(draw_one(&graph, drawing)),
            None => Shown::Row(Box::new(Row::of(graph))),
        });
        Self { id, given, wrong, shown }
    }
}

/// Where drawings go.
struct Sink<'o> {
    out: &'o mut dyn Write,
    drawer: Option<Drawer>,
    table: Table,
    given: LowerCounts,
    wrong: Bag,
    /// Names of the graphs that nobody asked for.
    others: Vec<String>,
    /// How many were drawn.
    drawn: u64,
    written: io::Result<()>,
}

impl<'o> Sink<'o> {
    fn new(args: &GraphArgs, out: &'o mut dyn Write) -> Self {
        let drawer = args.format.drawing().map(Drawer::new);
        let (given, wrong, others) = (LowerCounts::default(), Bag::new(), Vec::new());
        let table = Table::default();
        Self { out, drawer, table, given, wrong, others, drawn: 0, written: Ok(()) }
    }

    /// Writes a drawing, where all is well so far.
    fn take(&mut self, drawn: Drawn) {
        self.given.add(drawn.given);
        self.wrong.extend(drawn.wrong);
        let Some(shown) = drawn.shown else {
            self.others.push(drawn.id);
            return;
        };
        self.drawn += 1;
        match (shown, &mut self.drawer) {
            (Shown::Row(row), _) => self.table.add(*row),
            (Shown::Drawing(drawing), Some(drawer)) => {
                if self.written.is_ok() && !self.wrong.has_errors() {
                    self.written = (self.out.write_all(drawer.before().as_bytes()))
                        .and_then(|()| self.out.write_all(&drawing));
                }
            }
            (Shown::Drawing(_), None) => {} // a table draws nothing
        }
    }

    /// Says what is wrong with graphs, or that the one which was asked for is not there.
    fn judge(&mut self, args: &GraphArgs, context: &Context) -> Result<(), Failure> {
        let wrong = std::mem::take(&mut self.wrong);
        if wrong.has_errors() {
            return Err(wrong.into());
        }
        context.report(wrong);
        match &args.tree {
            Some(tree) if self.drawn == 0 => Err(absent(tree, &self.others).into()),
            Some(_) | None => Ok(()),
        }
    }

    /// Ends the document where it is whole.
    fn end(self, is_whole: bool) -> io::Result<()> {
        self.written?;
        if !is_whole {
            return Ok(());
        }
        match self.drawer {
            Some(drawer) => self.out.write_all(drawer.end().as_bytes()),
            None => self.out.write_all(self.table.text().as_bytes()),
        }
    }
}

/// Reads the files and draws their graphs.
fn read(
    files: &[TraceInput],
    args: &GraphArgs,
    context: &Context,
    sink: &mut Sink<'_>,
) -> Result<(), Failure> {
    let source = match args.input {
        Some(GraphInput::DagJsonl) => return authored(files, read_sessions, args, sink),
        Some(GraphInput::Native) => return authored(files, read_native, args, sink),
        Some(GraphInput::Weka) => RecordedSource::Weka,
        Some(GraphInput::Dynamo) => RecordedSource::Dynamo,
        None => detect_recording(files)?,
    };
    let options = LowerOptions { idle_gap_cap: args.idle_gap_cap };
    let make = |tree: RecordedTree| {
        let (graph, given) = lower(&tree, options);
        let wrong =
            if args.is_wanted(&graph) { validate_recorded(&tree, &graph) } else { Bag::new() };
        Drawn::of(graph, given, wrong, args)
    };
    let strict = RecordedOptions::strict();
    let counts = match source {
        RecordedSource::Weka => read_weka_as(files, strict, &make, &mut |drawn| sink.take(drawn))?,
        RecordedSource::Dynamo => {
            read_dynamo(files, strict, &mut |tree| sink.take(make(tree)))?.counts
        }
    };
    let mut warnings = Bag::new();
    for warning in counts.warnings(files[0].name()) {
        warnings.push(warning);
    }
    context.report(warnings);
    for note in sink.given.notes() {
        context.note(&note);
    }
    Ok(())
}

/// Graphs that somebody wrote and warnings about them, or everything that is wrong.
pub(super) type Authored = Result<(Vec<Graph>, Bag), Bag>;

/// Reads sessions with forks and spawns, about which nothing is warned of.
pub(super) fn read_sessions(name: &str, text: &str) -> Authored {
    Ok((read_dag(name, text)?, Bag::new()))
}

/// Reads graphs that somebody wrote: whoever reads them has checked them.
fn authored(
    files: &[TraceInput],
    reader: fn(&str, &str) -> Authored,
    args: &GraphArgs,
    sink: &mut Sink<'_>,
) -> Result<(), Failure> {
    for file in files {
        let (graphs, warnings) = reader(file.name(), &file.text()?)?;
        sink.wrong.extend(warnings);
        for graph in graphs {
            sink.take(Drawn::of(graph, LowerCounts::default(), Bag::new(), args));
        }
    }
    Ok(())
}

/// How many names of graphs are listed at the most.
const SHOWN: usize = 20;

/// Says that no graph has a name.
fn absent(tree: &str, others: &[String]) -> Problem {
    let near = nearest(tree, others.iter().map(String::as_str));
    let near = near.map_or(String::new(), |near| format!("did you mean `{near}`? "));
    let shown: Vec<&str> = others.iter().map(String::as_str).take(SHOWN).collect();
    let more = match others.len().saturating_sub(SHOWN) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    Problem::new(Code::GraphTree, format!("no graph is called `{tree}`")).help(format!(
        "{near}there are `{}`{more}; without `--tree` all are drawn",
        shown.join("`, `")
    ))
}
