//! What a trace pin says of rows: units of times, columns, hash ids and blocks.

use std::sync::Arc;

use crate::diag::{Bag, Code};
use crate::scenario::cursor::View;
use crate::trace::{ColumnTime, Columns, HashIds, TraceFormat};
use crate::units::BlockSize;

/// What a trace without hash ids is said to be blocked in: no prompt has a block that means anything.
const UNUSED_BLOCK_SIZE: u32 = 512;

/// Checks that the unit of times is stated where a format has one.
pub(super) fn check_unit(
    format: TraceFormat,
    unit: Option<ColumnTime>,
    node: &View<'_>,
    bag: &mut Bag,
) {
    match (states_unit(format), node.child("timestamps")) {
        (true, Some(timestamps))
            if unit == Some(ColumnTime::Calendar) && format != TraceFormat::Csv =>
        {
            let message = "times of JSON rows are numbers";
            bag.push(timestamps.problem(Code::PinField, "unit", message, "of `csv` alone"));
        }
        // A table without times has no unit.
        (true, None) if format == TraceFormat::Csv => {}
        (false, Some(timestamps)) => {
            let message = format!("the format `{}` fixes what its times mean", format.name());
            bag.push(timestamps.head().problem(Code::PinField, message, "remove this"));
        }
        (true, None) => {
            let message = "the unit of `timestamp` is not stated: files are in `ms` and in `s`";
            let problem = node.head().problem(Code::PinField, message, "no `timestamps`");
            bag.push(problem.help("add `timestamps unit=\"ms\"`"));
        }
        (false, None) | (true, Some(_)) => {}
    }
}

/// Returns whether a pin states the unit of a format's times.
pub(super) const fn states_unit(format: TraceFormat) -> bool {
    matches!(format, TraceFormat::Mooncake | TraceFormat::MooncakeDelta | TraceFormat::Csv)
}

/// Decodes which columns of a table say what.
pub(super) fn columns(
    format: TraceFormat,
    time: Option<ColumnTime>,
    node: &View<'_>,
    bag: &mut Bag,
) -> Option<Arc<Columns>> {
    let stated = node.child("columns");
    let Some(stated) = stated.filter(|_| format == TraceFormat::Csv) else {
        let (at, message, label) = match stated {
            Some(stated) => (stated.head(), "the columns of this format are known", "remove this"),
            None if format == TraceFormat::Csv => {
                (node.head(), "which columns say what is not stated", "no `columns`")
            }
            None => return None,
        };
        let problem = at.problem(Code::PinField, message, label);
        bag.push(problem.help(
            "`columns timestamp=\"..\" input=\"..\" output=\"..\"` goes with `format \"csv\"`",
        ));
        return None;
    };
    let name = |field: &str| stated.text(field).map(str::to_owned);
    let timestamp = name("timestamp");
    if timestamp.is_some() != time.is_some() {
        let message = "a column of times and their unit are stated together";
        let problem = stated.head().problem(Code::PinField, message, "one of them is here");
        bag.push(problem.help("add `timestamps unit=` (`s`, `ms`, `us`, `ns` or `calendar`) beside `columns timestamp=`, or leave out both"));
    }
    let columns =
        Columns { timestamp: timestamp.zip(time), input: name("input")?, output: name("output")? };
    Some(Arc::new(columns))
}

/// Decodes whether rows have hash ids.
pub(super) fn hashes(
    format: TraceFormat,
    stated: Option<&str>,
    node: &View<'_>,
    bag: &mut Bag,
) -> HashIds {
    match (format, stated) {
        (
            TraceFormat::Azure | TraceFormat::BurstGpt | TraceFormat::RagPulse | TraceFormat::Csv,
            Some("ids"),
        ) => {
            let message = format!("a trace of the format `{}` has no hash ids", format.name());
            let place = node.child("hashes").map_or(node.head(), |hashes| hashes.place("WHICH"));
            bag.push(place.problem(Code::PinField, message, "write `hashes \"none\"`"));
            HashIds::Absent
        }
        (
            TraceFormat::Azure | TraceFormat::BurstGpt | TraceFormat::RagPulse | TraceFormat::Csv,
            _,
        )
        | (TraceFormat::Mooncake | TraceFormat::MooncakeDelta, Some("none")) => HashIds::Absent,
        (TraceFormat::Mooncake | TraceFormat::MooncakeDelta, _) => HashIds::Expected,
        (
            TraceFormat::AgenticMooncake
            | TraceFormat::Weka
            | TraceFormat::AppliedComputeAgentic
            | TraceFormat::Dynamo,
            stated,
        ) => {
            if let (Some("none"), Some(hashes)) = (stated, node.child("hashes")) {
                let message = format!("a `{}` trace names blocks by its format", format.name());
                let place = hashes.place("WHICH");
                bag.push(place.problem(Code::PinField, message, "remove this"));
            }
            HashIds::Expected
        }
    }
}

/// Decodes the block size: needed where there are ids, meaningless where there are none.
pub(super) fn block_size(
    (format, hashes): (TraceFormat, HashIds),
    node: &View<'_>,
    bag: &mut Bag,
) -> Option<BlockSize> {
    let embeds =
        matches!(format, TraceFormat::Weka | TraceFormat::Dynamo | TraceFormat::AgenticMooncake);
    match (hashes, node.child("block-size")) {
        // The files say it themselves; rows of version 1 are blocked as Mooncake's are.
        (HashIds::Expected, None) if embeds => BlockSize::new(UNUSED_BLOCK_SIZE),
        (HashIds::Expected, Some(stated)) => stated.count32("TOKENS").and_then(BlockSize::new),
        (HashIds::Absent, None) => BlockSize::new(UNUSED_BLOCK_SIZE),
        (HashIds::Expected, None) => {
            let message = "the tokens that one hash id stands for are not in the file";
            let problem = node.head().problem(Code::PinField, message, "no `block-size`");
            bag.push(problem.help("add `block-size 512`, or whatever the trace was made with"));
            None
        }
        (HashIds::Absent, Some(stated)) => {
            let message = "a trace without hash ids has no block size";
            bag.push(stated.head().problem(Code::PinField, message, "remove this"));
            None
        }
    }
}
