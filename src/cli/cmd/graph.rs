//! `bench graph`: draw the workflow graphs of a recording.

use crate::cli::args::{GraphArgs, GraphInput};
use crate::cli::{Context, Exit, Failure, print};
use crate::diag::{Bag, Code, Problem};
use crate::graph::{Graph, LowerCounts, LowerOptions, draw, lower, read_dag, validate};
use crate::scenario::scalar::nearest;
use crate::trace::{
    RecordedOptions, RecordedSource, RecordedTree, TraceInput, detect_recording, read_dynamo,
    read_weka,
};

/// Runs the command.
pub(super) fn run(args: &GraphArgs, context: &Context) -> Result<Exit, Failure> {
    let graphs = wanted(recorded(args, context)?, args.tree.as_deref())?;
    let mut wrong = Bag::new();
    for graph in &graphs {
        wrong.extend(validate(graph));
    }
    if wrong.has_errors() {
        return Err(wrong.into());
    }
    print(draw(&graphs, args.format.into()))?;
    Ok(Exit::Success)
}

/// Reads a recording and lowers its trees.
fn recorded(args: &GraphArgs, context: &Context) -> Result<Vec<Graph>, Failure> {
    let name = |path: &std::path::Path| path.to_string_lossy().replace('\\', "/");
    let files: Vec<TraceInput> =
        args.files.iter().map(|path| TraceInput::file(path, &name(path))).collect();
    let source = match args.input {
        Some(GraphInput::DagJsonl) => return authored(&files),
        Some(GraphInput::Weka) => RecordedSource::Weka,
        Some(GraphInput::Dynamo) => RecordedSource::Dynamo,
        None => detect_recording(&files[0])?,
    };
    let options = LowerOptions { idle_gap_cap: args.idle_gap_cap };
    let mut graphs = Vec::new();
    let mut given = LowerCounts::default();
    let mut take = |tree: RecordedTree| {
        let (graph, counts) = lower(&tree, options);
        given.add(counts);
        graphs.push(graph);
    };
    let counts = match source {
        RecordedSource::Weka => read_weka(&files, RecordedOptions::strict(), &mut take)?,
        RecordedSource::Dynamo => read_dynamo(&files, RecordedOptions::strict(), &mut take)?.counts,
    };
    let mut warnings = Bag::new();
    for warning in counts.warnings(files[0].name()) {
        warnings.push(warning);
    }
    context.report(warnings);
    for note in given.notes() {
        context.note(&note);
    }
    Ok(graphs)
}

/// Reads sessions with forks and spawns.
fn authored(files: &[TraceInput]) -> Result<Vec<Graph>, Failure> {
    let mut graphs = Vec::new();
    for file in files {
        graphs.extend(read_dag(file.name(), &file.text()?)?);
    }
    Ok(graphs)
}

/// Returns the graph of a name, or all.
fn wanted(mut graphs: Vec<Graph>, tree: Option<&str>) -> Result<Vec<Graph>, Problem> {
    let Some(tree) = tree else { return Ok(graphs) };
    if graphs.iter().any(|graph| graph.id == tree) {
        graphs.retain(|graph| graph.id == tree);
        return Ok(graphs);
    }
    let count = graphs.len();
    let near = nearest(tree, graphs.iter().map(|graph| graph.id.as_str()));
    let near = near.map_or(String::new(), |near| format!("did you mean `{near}`? "));
    let problem = Problem::new(Code::GraphTree, format!("no graph is called `{tree}`"));
    Err(problem.help(format!("{near}{count} graphs are there; without `--tree` all are drawn")))
}
