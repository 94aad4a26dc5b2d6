//! `bench trace head`, `split` and `sample`: parts of a trace, record by record as its files write them.

use std::io;
use std::path::{Path, PathBuf};

use crate::cli::args::{
    Format, TraceHeadArgs, TracePartArgs, TraceSampleArgs, TraceSplitArgs, TraceTableArgs,
};
use crate::cli::{Align, Context, Exit, Failure, columns, print, print_as_written};
use crate::diag::{Bag, Code, Problem, agreed, counted};
use crate::digest::canonical::{Value, object};
use crate::trace::{Copied, CopyError, Head, Picked, Scan, found_trace_files, segment_name};

use super::trace_open::{Named, open_table, shown};
use super::trace_write::{NewFile, Ready, Written, check_lines, check_output, unwritable};

/// How many files are written at once: processes may not have many more open.
const FILES: usize = 200;

/// The files of a trace, and what they hold.
struct Source {
    scan: Scan,
    paths: Vec<Named>,
}

/// Copies the start of a trace.
pub(super) fn head(args: &TraceHeadArgs, context: &Context) -> Result<Exit, Failure> {
    let source = Source::open(&args.traces, &args.table)?;
    let head = match (args.rows, args.trees) {
        (Some(rows), _) => Head::Rows(rows),
        (None, Some(trees)) => Head::Trees(trees),
        (None, None) => Head::Ms(args.within.unwrap_or_default()),
    };
    let picked = source.scan.head(head)?;
    copy_one(&source, &picked, &args.output, context)
}

/// Copies a sample of the trees of a trace.
pub(super) fn sample(args: &TraceSampleArgs, context: &Context) -> Result<Exit, Failure> {
    let source = Source::open(&args.traces, &args.table)?;
    let picked = source.scan.sample(args.trees, args.seed)?;
    copy_one(&source, &picked, &args.output, context)
}

/// Copies a trace in parts: all of them appear, or none.
pub(super) fn split(args: &TraceSplitArgs, context: &Context) -> Result<Exit, Failure> {
    let source = Source::open(&args.traces, &args.table)?;
    let picked = match args.parts {
        Some(parts) => source.scan.split(parts)?,
        None => source.scan.split_by(args.trees.unwrap_or_default())?,
    };
    let paths = segments(&args.output, &source, picked.outputs())?;
    let (mut ready, mut copied): (Vec<Ready>, Vec<Copied>) = Default::default();
    for from in (0..paths.len()).step_by(FILES) {
        let to = paths.len().min(from + FILES);
        let files = paths[from..to].iter().map(|path| NewFile::create(path));
        let mut files = files.collect::<Result<Vec<_>, _>>()?;
        let counts = source.scan.copy(&picked.only(from, to), &mut files);
        copied.extend(counts.map_err(|error| told(error, &paths[from]))?);
        for file in files {
            ready.push(file.finish()?);
        }
    }
    let written = ready.into_iter().map(Ready::place).collect::<Result<Vec<_>, _>>()?;
    source.note(context);
    source.warn(&picked, context, |part| shown(&paths[part]));
    tell(&written, &copied, args.format)
}

impl Source {
    fn open(paths: &[PathBuf], table: &TraceTableArgs) -> Result<Self, Bag> {
        let opened = open_table(paths, table)?;
        let scan = Scan::of(opened.files, opened.format, opened.columns.as_deref())?;
        Ok(Self { scan, paths: opened.paths })
    }

    fn note(&self, context: &Context) {
        if self.scan.markers > 0 {
            let markers = self.scan.markers;
            let what = agreed(markers, "is no record and was", "are no records and were");
            context.note(&format!("{} {what} not copied", counted(markers, "line")));
        }
        if self.scan.without_request > 0 {
            let records = self.scan.without_request;
            let one = "is of a session that asked nothing and was";
            let what = agreed(records, one, "are of sessions that asked nothing and were");
            context.note(&format!("{} {what} not copied", counted(records, "record")));
        }
    }

    /// Warns of parts that are read otherwise than the whole.
    fn warn(&self, picked: &Picked, context: &Context, name: impl FnOnce(usize) -> String) {
        if let Some(warning) = self.scan.basis_warning(picked, name) {
            context.report(warning.into());
        }
    }
}

/// Returns the files of parts, none of which is there, not even as a link.
fn segments(output: &Path, source: &Source, count: usize) -> Result<Vec<PathBuf>, Bag> {
    let start = shown(output);
    let elsewhere = "write to another place, or remove it";
    let found = found_trace_files(output, &start).map_err(|problem| problem.help(elsewhere))?;
    if let Some((_, first)) = found.first() {
        let message = format!("`{first}` is there already and would be read as one of the parts");
        return Err(Problem::new(Code::TraceConvert, message).help(elsewhere).into());
    }
    let format = source.scan.format();
    let end = if format.is_table() { ".csv" } else { ".jsonl" };
    let name = |part: usize| segment_name(&start, end, part as u64).map(PathBuf::from);
    let paths = (0..count).map(name).collect::<Option<Vec<PathBuf>>>().ok_or_else(|| {
        let message =
            format!("parts of a `{}` trace end in `{end}`, not as `{start}`", format.name());
        Problem::new(Code::TraceConvert, message).help("give the start of their names")
    })?;
    for path in &paths {
        check_output(path, &source.paths)?;
    }
    Ok(paths)
}

/// Copies to one file, or to standard output.
fn copy_one(
    source: &Source,
    picked: &Picked,
    args: &TracePartArgs,
    context: &Context,
) -> Result<Exit, Failure> {
    source.note(context);
    source.warn(picked, context, |_| args.output.as_deref().map_or("-".to_owned(), shown));
    let Some(output) = args.output.as_deref() else {
        return copy_to_stdout(source, picked, context);
    };
    check_output(output, &source.paths)?;
    check_lines(output)?;
    let mut files = [NewFile::create(output)?];
    let copied = source.scan.copy(picked, &mut files).map_err(|error| told(error, output))?;
    let [file] = files;
    tell(&[file.finish()?.place()?], &copied, args.format)
}

fn copy_to_stdout(source: &Source, picked: &Picked, context: &Context) -> Result<Exit, Failure> {
    let mut outcome = Ok(Vec::new());
    print_as_written(|out| match source.scan.copy(picked, &mut [out]) {
        Err(CopyError::Output(error)) => Err(error),
        copied => {
            outcome = copied;
            io::Result::Ok(())
        }
    })?;
    let copied = outcome.map_err(|error| told(error, Path::new("-")))?;
    for Copied { records, requests, trees } in copied {
        context.note(&format!(
            "{}, {}, {}",
            counted(records, "record"),
            counted(requests, "request"),
            counted(trees, "tree")
        ));
    }
    Ok(Exit::Success)
}

fn told(error: CopyError, output: &Path) -> Problem {
    match error {
        CopyError::Trace(problem) => problem,
        CopyError::Output(error) => unwritable(output, &error),
    }
}

/// Prints what was written.
fn tell(written: &[Written], copied: &[Copied], format: Format) -> Result<Exit, Failure> {
    print(match format {
        Format::Table => table(written, copied).into_bytes(),
        Format::Json => json(written, copied),
    })?;
    Ok(Exit::Success)
}

fn table(written: &[Written], copied: &[Copied]) -> String {
    let head = ["file", "trees", "requests", "records", "bytes", "sha256"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    for (file, copied) in written.iter().zip(copied) {
        let counts = [copied.trees, copied.requests, copied.records, file.bytes];
        let counts = counts.iter().map(u64::to_string);
        let ends = [shown(&file.path)].into_iter().chain(counts).chain([file.sha256.hex()]);
        rows.push(ends.collect());
    }
    let [left, right] = [Align::Left, Align::Right];
    columns(&rows, &[left, right, right, right, right, left])
}

fn json(written: &[Written], copied: &[Copied]) -> Vec<u8> {
    let file = |(file, copied): (&Written, &Copied)| {
        object([
            ("bytes", Value::count(file.bytes)),
            ("file", Value::text(shown(&file.path))),
            ("records", Value::count(copied.records)),
            ("requests", Value::count(copied.requests)),
            ("sha256", Value::text(file.sha256.hex())),
            ("trees", Value::count(copied.trees)),
        ])
    };
    let files = written.iter().zip(copied).map(file).collect();
    object([("files", Value::List(files))]).to_document()
}
