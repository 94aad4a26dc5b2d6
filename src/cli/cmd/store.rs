//! `bench store`: build segment stores, and hold them against their digests.

use std::path::Path;
use std::sync::Arc;

use crate::cli::args::{
    Format, GraphInput, StoreAction, StoreArgs, StoreBuildArgs, StoreVerifyArgs,
};
use crate::cli::{Align, Context, Exit, Failure, columns, print};
use crate::diag::{Bag, Code, Problem, agreed, counted};
use crate::digest::Sha256;
use crate::digest::canonical::{Value, object};
use crate::graph::content::{Synthesis, Tokenizer};
use crate::graph::store::{Recording, Store, StoreCounts, StoreFolder, StoreInfo};
use crate::graph::{LowerOptions, read_native};
use crate::trace::{RecordedOptions, RecordedSource, TraceInput, detect_recording};

use super::graph::{Authored, read_sessions};
use super::trace_open;

/// A reader of graphs that somebody wrote, by the name of the file and its text.
type Reader = fn(&str, &str) -> Authored;

/// Runs the command.
pub(super) fn run(args: &StoreArgs, context: &Context) -> Result<Exit, Failure> {
    match &args.action {
        StoreAction::Build(build) => self::build(build, context),
        StoreAction::Verify(verify) => self::verify(verify, context),
    }
}

/// Builds a store.
fn build(args: &StoreBuildArgs, context: &Context) -> Result<Exit, Failure> {
    let (_, files) = trace_open::inputs(&args.files)?;
    let synthesis = Synthesis::new(args.seed, Arc::new(tokenizer(args.tokenizer.as_deref())?))?;
    let source = match args.input {
        Some(GraphInput::DagJsonl) => Err(read_sessions as Reader),
        Some(GraphInput::Native) => Err(read_native as Reader),
        Some(GraphInput::Weka) => Ok(RecordedSource::Weka),
        Some(GraphInput::Dynamo) => Ok(RecordedSource::Dynamo),
        None => Ok(detect_recording(&files)?),
    };
    let mut folder = StoreFolder::create(&args.out, &synthesis)?;
    match source {
        Err(reader) => authored(&files, reader, (&synthesis, &mut folder), context)?,
        Ok(source) => {
            let lower = LowerOptions { idle_gap_cap: args.idle_gap_cap };
            let recording = Recording { source, options: RecordedOptions::strict(), lower };
            let added = folder.add_recording(&files, recording, &synthesis)?;
            let mut warnings = Bag::new();
            for warning in added.read.warnings(files[0].name()) {
                warnings.push(warning);
            }
            context.report(warnings);
            for note in added.lowered.notes() {
                context.note(&note);
            }
        }
    }
    let (info, digest) = folder.finish()?;
    tell_residue(&info.counts, context);
    show(digest, &info, &info.counts, args.format)?;
    Ok(Exit::Success)
}

/// Adds graphs that somebody wrote: whoever reads them has checked them.
fn authored(
    files: &[TraceInput],
    reader: Reader,
    (synthesis, folder): (&Synthesis, &mut StoreFolder),
    context: &Context,
) -> Result<(), Failure> {
    for file in files {
        let (graphs, warnings) = reader(file.name(), &file.text()?)?;
        context.report(warnings);
        for graph in &graphs {
            folder.add(graph, synthesis)?;
        }
    }
    Ok(())
}

/// Holds a store against its digests.
fn verify(args: &StoreVerifyArgs, context: &Context) -> Result<Exit, Failure> {
    let store = Store::open(&args.store)?;
    let info = store.info();
    let tokenizer = tokenizer(args.tokenizer.as_deref())?;
    let is_known = args.tokenizer.is_some() || tokenizer.digest() == info.tokenizer_digest;
    let synthesis = is_known.then(|| Synthesis::new(info.seed, Arc::new(tokenizer))).transpose()?;
    let verified = store.verify(&args.store, synthesis.as_ref())?;
    if verified.encoded.is_none() {
        context.note("the tokenizer is a file: name it with `--tokenizer` to encode every message");
    }
    let counts = verified.encoded.unwrap_or(info.counts);
    tell_residue(&counts, context);
    show(store.digest(), info, &counts, args.format)?;
    Ok(Exit::Success)
}

/// Returns the tokenizer of a file, or the one in the program.
fn tokenizer(file: Option<&Path>) -> Result<Tokenizer, Problem> {
    let Some(path) = file else { return Ok(Tokenizer::builtin()) };
    let name = trace_open::shown(path);
    let bytes = std::fs::read(path).map_err(|error| {
        Problem::new(Code::GraphTokenizer, format!("cannot read `{name}`: {error}"))
    })?;
    Tokenizer::from_json(&name, &bytes)
}

/// Says that messages are more or fewer tokens than recorded.
fn tell_residue(counts: &StoreCounts, context: &Context) {
    if counts.residue_messages > 0 {
        let (messages, tokens) = (counts.residue_messages, counts.residue_tokens);
        context.note(&format!(
            "{} {} {} off in all",
            counted(messages, "message"),
            agreed(messages, "is", "are"),
            counted(tokens, "token")
        ));
    }
}

/// Prints what a store is.
fn show(
    digest: Sha256,
    info: &StoreInfo,
    counts: &StoreCounts,
    format: Format,
) -> Result<(), Failure> {
    let figures = [
        ("messages", counts.messages),
        ("nodes", counts.nodes),
        ("residue_messages", counts.residue_messages),
        ("residue_tokens", counts.residue_tokens.get()),
        ("segments", info.segments),
        ("synthesised_tokens", counts.tokens.get()),
        ("trees", info.trees),
    ];
    let texts = [
        ("digest", digest.to_string()),
        ("seed", info.seed.to_string()),
        ("tokenizer", info.tokenizer.clone()),
        ("tokenizer_digest", info.tokenizer_digest.to_string()),
    ];
    let bytes = match format {
        Format::Table => {
            let text = texts.iter().map(|(name, text)| vec![(*name).to_owned(), text.clone()]);
            let figure =
                figures.iter().map(|(name, count)| vec![(*name).to_owned(), count.to_string()]);
            columns(&text.chain(figure).collect::<Vec<_>>(), &[Align::Left, Align::Left])
                .into_bytes()
        }
        Format::Json => {
            let mut value = object([]);
            for (name, text) in texts {
                value = value.with(name, Some(Value::text(text)));
            }
            for (name, count) in figures {
                value = value.with(name, Some(Value::count(count)));
            }
            value.to_document()
        }
    };
    print(bytes)?;
    Ok(())
}
