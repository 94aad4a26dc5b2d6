//! The files of one trace, as every command on traces opens them: files, folders and starts of names of segments, in one format.

use std::path::{Path, PathBuf};

use std::sync::Arc;

use crate::cli::args::{TraceFileArgs, TraceTableArgs};
use crate::diag::{Bag, Code, Problem};
use crate::trace::{
    ArrivalRule, ColumnTime, Columns, ReadOptions, Shard, Strictness, TraceFormat, TraceInput,
    detect_format, trace_files,
};
use crate::units::BlockSize;

/// Where a file is, and what messages call it.
pub(super) type Named = (PathBuf, String);

/// The files of one trace, and their format.
pub(super) struct Opened {
    /// Where each file is, and what messages call it.
    pub(super) paths: Vec<Named>,
    /// The same, to be read.
    pub(super) files: Vec<TraceInput>,
    pub(super) format: TraceFormat,
    /// Which columns of a table say what.
    pub(super) columns: Option<Arc<Columns>>,
    block_size: BlockSize,
}

/// Opens the files of one trace, in order; their format is what is stated, else what all of them hold.
pub(super) fn open(paths: &[PathBuf], args: &TraceFileArgs) -> Result<Opened, Bag> {
    let block_size = BlockSize::new(args.block_size).expect("the command line refuses 0");
    Ok(Opened { block_size, ..open_table(paths, &args.table)? })
}

/// The same where blocks of prompts do not matter.
pub(super) fn open_table(paths: &[PathBuf], args: &TraceTableArgs) -> Result<Opened, Bag> {
    let (paths, files) = inputs(paths)?;
    let format = match args.trace_format {
        Some(stated) => stated.format(),
        None => detect_format(&files)?,
    };
    let columns = columns(format, args)?;
    let block_size = BlockSize::new(1).expect("1 is no zero");
    Ok(Opened { paths, files, format, columns, block_size })
}

/// Returns which columns of a table say what.
fn columns(format: TraceFormat, args: &TraceTableArgs) -> Result<Option<Arc<Columns>>, Problem> {
    let wrong = |message: String| {
        let problem = Problem::new(Code::TraceFormat, message);
        Err(problem.help("name the columns of a table: `--trace-format csv --column input=NAME --column output=NAME --column timestamp=NAME --column-times s`"))
    };
    if format != TraceFormat::Csv {
        return match args.column.first() {
            Some(column) => {
                wrong(format!("`--column {column}` goes with `csv`; this is `{}`", format.name()))
            }
            None => Ok(None),
        };
    }
    let (mut timestamp, mut input, mut output) = (None, None, None);
    for column in &args.column {
        let (role, name) = column.split_once('=').unwrap_or((column, ""));
        let place = match role {
            "timestamp" => &mut timestamp,
            "input" => &mut input,
            "output" => &mut output,
            _ => {
                return wrong(format!(
                    "`--column {column}`: `{role}` is no `timestamp`, `input` or `output`"
                ));
            }
        };
        if name.is_empty() || place.replace(name.to_owned()).is_some() {
            return wrong(format!("`--column {column}`: `{role}` is one column of the header"));
        }
    }
    let (Some(input), Some(output)) = (input, output) else {
        return wrong("a `csv` is read by its columns of `input` and `output`".to_owned());
    };
    let time = ColumnTime::of(args.column_times.as_deref().unwrap_or("s"));
    let time = time.expect("the command line refuses other words");
    Ok(Some(Arc::new(Columns { timestamp: timestamp.map(|name| (name, time)), input, output })))
}

/// Returns the files that paths stand for, in order.
pub(super) fn inputs(paths: &[PathBuf]) -> Result<(Vec<Named>, Vec<TraceInput>), Problem> {
    let mut found = Vec::new();
    for path in paths {
        found.extend(trace_files(path, &shown(path))?);
    }
    let files = found.iter().map(|(path, name)| TraceInput::file(path, name)).collect();
    Ok((found, files))
}

/// Returns what messages call a path.
pub(super) fn shown(path: &Path) -> String {
    path.to_string_lossy().replace('\\', "/")
}

impl Opened {
    /// Returns how its rows are read where loads make their own times.
    pub(super) fn options(&self, strictness: Strictness) -> ReadOptions {
        ReadOptions {
            strictness,
            arrivals: ArrivalRule::Ignored,
            columns: self.columns.clone(),
            ..ReadOptions::strict(self.format, self.block_size)
        }
    }

    /// Returns the files as shards.
    pub(super) fn shards(&self) -> Result<Vec<Shard>, Bag> {
        let shard = |(path, name): &Named| Shard::on_disk(path, name).map_err(Bag::from);
        self.paths.iter().map(shard).collect()
    }

    /// Returns what messages call the first file.
    pub(super) fn name(&self) -> &str {
        self.files.first().map_or("", |file| file.name())
    }
}
