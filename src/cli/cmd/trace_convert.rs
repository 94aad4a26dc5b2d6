//! `bench trace convert`: a recording in another format.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use crate::cli::args::{TraceConvertArgs, TraceTarget};
use crate::cli::{Context, Exit, Failure, print};
use crate::diag::{Bag, Code, Problem};
use crate::digest::Hasher;
use crate::trace::{
    ConvertedSource, RecordedOptions, Strictness, agentic_mooncake, beyond_agentic_mooncake,
    read_corpus,
};

use super::trace_open::open;

/// How many bytes are read at once.
const AT_ONCE: usize = 1 << 18;

/// Writes a trace in another format.
pub(super) fn convert(args: &TraceConvertArgs, context: &Context) -> Result<Exit, Failure> {
    let opened = open(&args.traces, &args.files)?;
    let TraceTarget::AgenticMooncake = args.to;
    if let Some(output) = &args.output {
        check_output(output, &opened.paths)?;
    }
    let options = opened.options(Strictness::Scenario);
    let before = digest(&opened.paths)?;
    let read = read_corpus(&opened.shards()?, &options)?;
    let strict = RecordedOptions::strict();
    let lost = beyond_agentic_mooncake(&opened.files, opened.format, strict, &read)?;
    if digest(&opened.paths)? != before {
        let message = "the files changed while they were read";
        return Err(Bag::from(Problem::new(Code::TraceConvert, message)).into());
    }
    let format = opened.format.name().to_owned();
    let source = ConvertedSource { format, digest: format!("sha256:{before}") };
    let Some(text) = agentic_mooncake(&read.0, &source) else {
        let message = format!(
            "requests of a `{}` trace wait for nothing by name: `agentic-mooncake` does not say what it says",
            opened.format.name()
        );
        return Err(Bag::from(Problem::new(Code::TraceConvert, message)).into());
    };
    check_lost(&lost, args)?;
    for (field, count) in &lost {
        context.detail(&format!("dropped `{field}` of {count} requests"));
    }
    match &args.output {
        None => print(text)?,
        Some(path) => write(path, &text)?,
    }
    Ok(Exit::Success)
}

/// Refuses to lose what nobody said may be dropped.
fn check_lost(lost: &BTreeMap<&'static str, u64>, args: &TraceConvertArgs) -> Result<(), Bag> {
    let mut problems = Bag::new();
    for (field, count) in lost {
        if !args.drop.iter().any(|dropped| dropped == field) {
            let message = format!(
                "`agentic-mooncake` has no word for `{field}`, which {count} requests state"
            );
            let problem = Problem::new(Code::TraceConvert, message);
            problems.push(problem.help(format!("leave it out with `--drop {field}`")));
        }
    }
    if problems.is_empty() { Ok(()) } else { Err(problems) }
}

/// Refuses an output that is one of the files that are read.
fn check_output(output: &Path, inputs: &[(PathBuf, String)]) -> Result<(), Bag> {
    let Ok(target) = output.canonicalize() else { return Ok(()) }; // nothing is there
    let is_target = |path: &Path| path.canonicalize().is_ok_and(|path| path == target);
    if let Some((_, name)) = inputs.iter().find(|(path, _)| is_target(path)) {
        let message = format!("`{}` is the input `{name}`, which is kept", output.display());
        let problem = Problem::new(Code::TraceConvert, message);
        return Err(problem.help("write to another file").into());
    }
    Ok(())
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

/// Writes a file: beside its place and then into it, so that it is never there in part. What is no file (a pipe) is written to.
fn write(path: &Path, text: &[u8]) -> Result<(), Bag> {
    let written = match std::fs::metadata(path) {
        Ok(found) if !found.is_file() => std::fs::write(path, text),
        Ok(found) => replace(path, text, Some(found.permissions())),
        Err(_) => replace(path, text, None),
    };
    written.map_err(|error| {
        let message = format!("cannot write `{}`: {error}", path.display());
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let help = match folder.filter(|folder| !folder.is_dir()) {
            Some(folder) => format!("there is no folder `{}`: make it first", folder.display()),
            None => {
                "name a file that can be written; without `--output` it goes to stdout".to_owned()
            }
        };
        Problem::new(Code::TraceConvert, message).help(help).into()
    })
}

fn replace(path: &Path, text: &[u8], kept: Option<std::fs::Permissions>) -> std::io::Result<()> {
    // A symbolic link keeps leading where it led.
    let target = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty());
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        builder.permissions(std::fs::Permissions::from_mode(0o666)); // without what the umask takes
    }
    let mut file = builder.tempfile_in(folder.unwrap_or(Path::new(".")))?;
    file.write_all(text)?;
    if let Some(permissions) = kept {
        file.as_file().set_permissions(permissions)?;
    }
    file.as_file().sync_all()?;
    file.persist(&target)?;
    Ok(())
}
