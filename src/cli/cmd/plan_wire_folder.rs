//! `bench plan --wire-dir`: the bodies of a wire plan as files.

use std::fs;
use std::io;
use std::path::Path;

use crate::diag::{Code, Problem};
use crate::graph::NodeIndex;
use crate::replay::wire::WirePlan;
use crate::report::job_folder;

use super::plan_wire::JobWire;

/// How many characters of a name stand in a file's.
const SHOWN: usize = 60;

/// Writes the bodies to a new folder, which has its name only when all of them are there: for each job its folder as in a
/// run, with `wire.json`, the plan, for each call `TRACE/CALL.json`, and for each sending that differs `TRACE/CALL.SENDING.json`, whose
/// SHA-256 is the one that the plan states. Slots stand in it by their names.
///
/// # Errors
/// [`Code::ReplayWire`] where something is there already, or it cannot be written.
pub(super) fn write(folder: &Path, wires: &[JobWire]) -> Result<(), Problem> {
    let refused = |message: String, help: &str| Problem::new(Code::ReplayWire, message).help(help);
    if fs::symlink_metadata(folder).is_ok() {
        let message = format!("`{}` is there already", folder.display());
        return Err(refused(message, "name a folder that is not there yet"));
    }
    whole(folder, wires).map_err(|error| {
        let message = format!("cannot write `{}`: {error}", folder.display());
        refused(message, "the folder around it has to be there, with room")
    })
}

/// Writes beside the place, then moves there.
fn whole(folder: &Path, wires: &[JobWire]) -> io::Result<()> {
    let parent = folder.parent().filter(|parent| !parent.as_os_str().is_empty());
    let beside =
        tempfile::Builder::new().prefix(".wire-").tempdir_in(parent.unwrap_or(Path::new(".")))?;
    let inside = beside.path().join("wire");
    fs::create_dir(&inside)?;
    for JobWire { job, wire } in wires {
        let of_job = inside.join(job_folder(job));
        fs::create_dir_all(&of_job)?;
        fs::write(of_job.join("wire.json"), wire.describe().to_document())?;
        for trace in 0..wire.graphs().len() {
            bodies(wire, trace, &of_job)?;
        }
    }
    fs::rename(inside, folder)
}

/// Writes the bodies of a trace.
fn bodies(wire: &WirePlan, trace: usize, of_job: &Path) -> io::Result<()> {
    let graph = &wire.graphs()[trace];
    let folder = of_job.join(format!("{trace:04}-{}", shown(&graph.id)));
    fs::create_dir(&folder)?;
    for node in wire.nodes(trace) {
        let NodeIndex(ordinal) = node;
        let name = format!("{ordinal:05}-{}.json", shown(&graph.node(node).id));
        fs::write(folder.join(name), wire.planned_bytes(trace, node))?;
    }
    for variant in wire.variants_of(trace) {
        let NodeIndex(ordinal) = variant.node;
        let (call, sending) = (shown(&graph.node(variant.node).id), wire.sending(variant));
        let name = format!("{ordinal:05}-{call}.{sending}.json");
        fs::write(folder.join(name), wire.variant_bytes(variant))?;
    }
    Ok(())
}

/// Returns the start of a name as a file can have it anywhere.
fn shown(name: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '_' };
    name.chars().take(SHOWN).map(plain).collect()
}
