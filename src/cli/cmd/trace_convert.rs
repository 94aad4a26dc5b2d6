//! `bench trace convert`: a recording in another format.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use crate::cli::args::TraceConvertArgs;
use crate::cli::{Context, Exit, Failure};
use crate::diag::{Bag, Code, Problem};
use crate::digest::Hasher;
use crate::trace::{ConvertError, ConvertedSource, LOSSES, Strictness};

use super::trace_open::open;
use super::trace_write::{NewFile, Spool, check_lines, check_output, unwritable};

/// How many bytes are read at once.
const AT_ONCE: usize = 1 << 18;

/// Writes a trace in another format.
pub(super) fn convert(args: &TraceConvertArgs, context: &Context) -> Result<Exit, Failure> {
    let opened = open(&args.traces, &args.files)?;
    let target = args.to.target();
    if let Some(output) = &args.output {
        check_output(output, &opened.paths)?;
        check_lines(output)?;
    }
    let options = opened.options(Strictness::Scenario);
    let before = digest(&opened.paths)?;
    let format = opened.format.name().to_owned();
    let source = ConvertedSource { format, digest: format!("sha256:{before}") };
    let mut output = match &args.output {
        None => Output::Spool(Spool::new()?),
        Some(path) => Output::File(Box::new(NewFile::create(path)?)),
    };
    let to = (target, &source);
    let lost = crate::trace::convert(&opened.shards()?, &options, to, output.writer());
    let lost = lost.map_err(|error| match error {
        ConvertError::Trace(bag) => bag,
        ConvertError::Output(error) => {
            unwritable(args.output.as_deref().unwrap_or(Path::new("-")), &error).into()
        }
    })?;
    if digest(&opened.paths)? != before {
        let message = "the files changed while they were read";
        return Err(Problem::new(Code::TraceConvert, message).into());
    }
    check_lost(&lost, args)?;
    for (field, count) in &lost {
        context.note(&format!("dropped `{field}`: {count}"));
    }
    match output {
        Output::Spool(spool) => spool.print()?,
        Output::File(file) => drop(file.finish()?.place()?),
    }
    Ok(Exit::Success)
}

/// Where lines go until all are there: whatever is wrong further on, nobody sees half a trace.
enum Output {
    Spool(Spool),
    File(Box<NewFile>),
}

impl Output {
    fn writer(&mut self) -> &mut dyn Write {
        match self {
            Self::Spool(spool) => spool,
            Self::File(file) => &mut **file,
        }
    }
}

/// Refuses to lose what nobody said may be dropped.
fn check_lost(lost: &BTreeMap<&'static str, u64>, args: &TraceConvertArgs) -> Result<(), Bag> {
    let target = args.to.target().format().name();
    let mut problems = Bag::new();
    for (field, count) in lost {
        if !args.drop.iter().any(|dropped| dropped == field) {
            let meaning = LOSSES.iter().find(|(name, _)| name == field);
            let meaning = meaning.map_or("", |(_, meaning)| meaning);
            let message = format!("`{target}` has no word for `{field}`, {meaning}: {count}");
            let problem = Problem::new(Code::TraceConvert, message);
            problems.push(problem.help(format!("leave it out with `--drop {field}`")));
        }
    }
    if problems.is_empty() { Ok(()) } else { Err(problems) }
}

/// Returns the digest of the files' bytes, one after the other.
fn digest(paths: &[(PathBuf, String)]) -> Result<String, Bag> {
    let mut hasher = Hasher::new();
    let mut bytes = vec![0; AT_ONCE];
    for (path, name) in paths {
        let unreadable =
            |error| Problem::new(Code::TraceRead, format!("cannot read `{name}`: {error}"));
        let mut file = std::fs::File::open(path).map_err(unreadable)?;
        loop {
            match file.read(&mut bytes).map_err(unreadable)? {
                0 => break,
                count => hasher.update(&bytes[..count]),
            }
        }
    }
    Ok(hasher.finish().hex())
}
