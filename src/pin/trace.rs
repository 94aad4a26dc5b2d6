//! Trace pins: `pins/traces/NAME.kdl`.

use std::path::Path;
use std::sync::Arc;

use crate::diag::{Bag, Code, Problem, counted};
use crate::digest::Sha256;
use crate::digest::canonical::{Value, object};
use crate::scenario::bounds;
use crate::scenario::cursor::View;
use crate::scenario::shape::{Field, Shape};
use crate::scenario::syntax::Place;
use crate::trace::{
    ArrivalRule, ColumnTime, Columns, CorpusView, HashIds, ReadOptions, RowOrder, Seen, Shard,
    Strictness, TimeUnit, TimestampBasis, TraceFormat, WatchedRead, count_rows, read_views,
    read_watched,
};
use crate::units::BlockSize;

use super::file::{ABOUT, Files, NAME, ORIGIN, PinFile, digest};
use super::verify::{SHARD, incomplete};
use super::{PinKind, PinnedFile};

/// What a trace without hash ids is said to be blocked in: no prompt has a block that means anything.
const UNUSED_BLOCK_SIZE: u32 = 512;

static FORMAT: Shape = Shape::new("format", "The file format.").once().args(&[Field::word(
    "FORMAT",
    &[
        "mooncake",
        "mooncake-delta",
        "agentic-mooncake",
        "weka",
        "applied-compute-agentic",
        "dynamo",
        "azure",
        "burstgpt",
        "ragpulse",
        "csv",
    ],
    "The file format.",
)]);

static BLOCK_SIZE: Shape =
    Shape::new("block-size", "Tokens that one hash id stands for; needed where rows have ids.")
        .args(&[Field::count("TOKENS", "Tokens.").at_least(1).at_most(bounds::BLOCK_SIZE)]);

static TIMESTAMPS: Shape = Shape::new(
    "timestamps",
    "How numeric timestamps are read; calendar times have no unit.",
)
.props(&[Field::word(
    "unit",
    &["s", "ms", "us", "ns", "calendar"],
    "Their unit; `calendar` (of `csv` alone) is `YYYY-MM-DD HH:MM:SS`, perhaps with a fraction.",
)]);

static COLUMNS: Shape =
    Shape::new("columns", "Which columns of a table say what, by its header; of `csv` alone.").props(&[
        Field::text("timestamp", "When a request arrives; without it only loads that make their own times can use the trace.")
            .optional(),
        Field::text("input", "Tokens of the prompt."),
        Field::text("output", "Tokens of the answer."),
    ]);

static BASIS: Shape = Shape::new(
    "nested-timestamp-basis",
    "What times below the marker of a sub-agent are counted from; of `weka` alone.",
)
.args(&[Field::word(
    "BASIS",
    &["auto", "absolute", "relative"],
    "`auto`: the marker where any time of the corpus would else lie before it; `absolute`: the trace's zero; `relative`: the marker.",
)]);

static HASHES: Shape =
    Shape::new("hashes", "Whether rows name the blocks of their prompts.").args(&[Field::word(
        "WHICH",
        &["ids", "none"],
        "`ids`: each row names its blocks; `none`: every prompt is unique.",
    )]);

static REQUESTS: Shape =
    Shape::new("requests", "How many requests all shards hold; `bench pin PINFILE` fills it in.")
        .args(&[Field::count("COUNT", "How many.").at_least(1)]);

static TRACE: Shape = Shape::new("trace", "A recorded workload.")
    .keyed_once()
    .args(&NAME)
    .props(&[
        Field::flag("sort", "Whether rows are sorted stably by arrival.").or_off(),
        Field::flag(
            "lenient",
            "Whether rows that a scenario refuses are given a meaning and counted.",
        )
        .or_off(),
    ])
    .block(&[
        &ABOUT,
        &FORMAT,
        &BLOCK_SIZE,
        &BASIS,
        &TIMESTAMPS,
        &COLUMNS,
        &HASHES,
        &SHARD,
        &REQUESTS,
        &ORIGIN,
    ]);

/// What the file of a trace pin may hold.
pub(super) static FILE: Shape = Shape::root(&[&TRACE]);

/// A pinned trace.
#[derive(Debug, Clone)]
pub struct TracePin {
    name: String,
    options: ReadOptions,
    requests: u64,
    requests_at: Place,
    shards: Vec<PinnedFile>,
}

impl TracePin {
    /// Reads the pin's file.
    pub(super) fn load(root: &Path, name: &str) -> Result<Self, Bag> {
        PinFile { files: Files::Folder(root), kind: PinKind::Trace, name }
            .load(&FILE, |node, bag| decode(name, node, bag))
    }

    /// Returns its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns how many requests its files hold together.
    pub fn requests(&self) -> u64 {
        self.requests
    }

    /// Returns its files, in order.
    pub fn shards(&self) -> &[PinnedFile] {
        &self.shards
    }

    /// Returns how it is read: the first rows of it, or all, for a load that needs recorded arrivals, or one that does not.
    pub fn options(&self, arrivals: ArrivalRule, first_rows: Option<u64>) -> ReadOptions {
        ReadOptions { arrivals, first_rows, ..self.options.clone() }
    }

    /// Returns the pin's digest: everything that can change a number; names, `about` and `origin` stay out.
    pub fn digest(&self) -> Sha256 {
        let shards = self.shards.iter().map(|shard| {
            object([
                ("bytes", Value::count(shard.bytes)),
                ("content_sha256", shard.content_sha256.into()),
                ("sha256", shard.sha256.into()),
            ])
        });
        let has_ids = self.options.hashes == HashIds::Expected;
        let block_size = Value::count(u64::from(self.options.block_size.get()));
        let calendar = !states_unit(self.options.format) || self.options.format == TraceFormat::Csv;
        let unit = Value::text(self.options.unit.name());
        let fields = object([
            ("block_size", if has_ids { block_size } else { Value::Null }),
            ("format", Value::text(self.options.format.name())),
            ("hashes", Value::text(if has_ids { "ids" } else { "none" })),
            ("lenient", Value::Bool(self.options.strictness == Strictness::Lenient)),
            ("requests", Value::count(self.requests)),
            ("shards", Value::List(shards.collect())),
            ("sort", Value::Bool(self.options.order == RowOrder::Sorted)),
            ("timestamps_unit", if calendar { Value::Null } else { unit }),
        ]);
        // A field of `weka` alone leaves the digests of other pins as they are.
        let basis = (self.options.format == TraceFormat::Weka)
            .then(|| Value::text(self.options.basis.name()));
        let fields = fields.with("nested_timestamp_basis", basis);
        let columns = self.options.columns.as_deref().map(|columns| {
            let time = columns.timestamp.as_ref();
            object([
                ("input", Value::text(&columns.input)),
                ("output", Value::text(&columns.output)),
                ("time", time.map_or(Value::Null, |(_, time)| Value::text(time.name()))),
                ("timestamp", time.map_or(Value::Null, |(name, _)| Value::text(name))),
            ])
        });
        digest(PinKind::Trace, fields.with("columns", columns))
    }

    /// Reads and verifies every file: size, then digest, then the digest of the contents and the number of requests.
    ///
    /// The shards hold the unpacked text, so that what is parsed is what was verified.
    ///
    /// # Errors
    /// Everything that is not as pinned.
    pub fn open(&self, root: &Path) -> Result<Vec<Shard>, Bag> {
        let mut bag = Bag::new();
        let mut rows = 0;
        let mut shards = Vec::with_capacity(self.shards.len());
        for file in &self.shards {
            match self.open_shard(file, root) {
                Ok((shard, count)) => {
                    rows += count;
                    shards.push(shard);
                }
                Err(problem) => bag.push(problem),
            }
        }
        if bag.is_empty() && rows != self.requests {
            let message = format!(
                "`{}` holds {}, pinned are {}",
                self.name,
                counted(rows, "request"),
                self.requests
            );
            bag.push(self.requests_at.problem(Code::PinRequests, message, "pinned here"));
        }
        if bag.is_empty() { Ok(shards) } else { Err(bag) }
    }

    /// Verifies one file and returns its text and rows.
    fn open_shard(&self, file: &PinnedFile, root: &Path) -> Result<(Shard, u64), Problem> {
        let packed = Shard::new(&file.path, file.read(root)?);
        let text = packed.unpack()?.into_owned();
        file.verify_contents(&text)?;
        let rows = count_rows(&text, self.options.format);
        Ok((Shard::unpacked(&file.path, text), rows))
    }

    /// Reads and verifies every file, and the rows in it, once for several numbers of first rows.
    ///
    /// Files are read line by line where their format allows that, and nothing is returned before all of them are what is pinned.
    ///
    /// # Errors
    /// As [`TracePin::open`] and [`read_views`].
    pub fn read_views(
        &self,
        root: &Path,
        arrivals: ArrivalRule,
        firsts: &[Option<u64>],
    ) -> Result<Vec<CorpusView>, Bag> {
        let options = self.options(arrivals, None);
        if let Some(read) = self.read_line_by_line(root, &options, firsts) {
            return read;
        }
        read_views(&self.open(root)?, &options, firsts)
    }

    /// As [`TracePin::read_views`]; `None` where anything is not as pinned, without saying what.
    fn read_line_by_line(
        &self,
        root: &Path,
        options: &ReadOptions,
        firsts: &[Option<u64>],
    ) -> Option<Result<Vec<CorpusView>, Bag>> {
        let on_disk = |file: &PinnedFile| Shard::on_disk(&root.join(&file.path), &file.path).ok();
        let shards: Vec<Shard> = self.shards.iter().map(on_disk).collect::<Option<_>>()?;
        let WatchedRead { seen, views } = read_watched(&shards, options, firsts)?;
        let is_pinned = |(file, seen): (&PinnedFile, &Seen)| {
            (file.bytes, file.sha256, file.content_sha256)
                == (seen.bytes, seen.sha256, seen.content_sha256)
        };
        let rows: u64 = seen.iter().map(|seen| seen.rows).sum();
        let is_right = rows == self.requests && self.shards.iter().zip(&seen).all(is_pinned);
        is_right.then_some(views)
    }

    /// Opens the pin and reads it.
    ///
    /// # Errors
    /// As [`TracePin::read_views`].
    pub fn read(
        &self,
        root: &Path,
        arrivals: ArrivalRule,
        first_rows: Option<u64>,
    ) -> Result<CorpusView, Bag> {
        Ok(self.read_views(root, arrivals, &[first_rows])?.remove(0))
    }
}

/// Decodes a `trace` node.
fn decode(name: &str, node: &View<'_>, bag: &mut Bag) -> Option<TracePin> {
    let word = |node_name: &str, field: &str| node.child(node_name)?.text(field).map(str::to_owned);
    let format = word("format", "FORMAT")?;
    let format = TraceFormat::ALL.iter().copied().find(|known| known.name() == format)?;
    let unit = word("timestamps", "unit").and_then(|word| ColumnTime::of(&word));
    let columns = columns(format, unit, node, bag);
    let hashes = hashes(format, word("hashes", "WHICH").as_deref(), node, bag);
    check_unit(format, unit, node, bag);
    let basis = word("nested-timestamp-basis", "BASIS");
    if let (Some(stated), true) =
        (node.child("nested-timestamp-basis"), format != TraceFormat::Weka)
    {
        let message = "only `weka` has times below markers";
        bag.push(stated.head().problem(Code::PinField, message, "remove this"));
    }
    let basis =
        TimestampBasis::ALL.into_iter().find(|known| Some(known.name()) == basis.as_deref());
    let strictness = if node.flag("lenient")? { Strictness::Lenient } else { Strictness::Scenario };
    let order = if node.flag("sort")? { RowOrder::Sorted } else { RowOrder::AsWritten };
    let options = ReadOptions {
        strictness,
        hashes,
        order,
        unit: match unit {
            Some(ColumnTime::Number(unit)) => unit,
            Some(ColumnTime::Calendar) | None => TimeUnit::Milliseconds,
        },
        columns,
        basis: basis.unwrap_or_default(),
        is_block_size_stated: node.child("block-size").is_some(),
        ..ReadOptions::strict(format, block_size((format, hashes), node, bag)?)
    };
    let folder = PinKind::Trace.folder();
    let shards: Vec<PinnedFile> = node
        .all("shard")
        .filter_map(|shard| PinnedFile::decode(shard, folder, name, bag))
        .collect();
    let Some(requests) = node.child("requests") else {
        let message = "the pin does not state how many requests it holds";
        bag.push(incomplete(&node.head(), message, "no `requests`"));
        return None;
    };
    let (count, requests_at) = (requests.count("COUNT")?, requests.place("COUNT"));
    Some(TracePin { name: name.to_owned(), options, requests: count, requests_at, shards })
}

/// Checks that the unit of times is stated where a format has one.
fn check_unit(format: TraceFormat, unit: Option<ColumnTime>, node: &View<'_>, bag: &mut Bag) {
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
const fn states_unit(format: TraceFormat) -> bool {
    matches!(format, TraceFormat::Mooncake | TraceFormat::MooncakeDelta | TraceFormat::Csv)
}

/// Decodes which columns of a table say what.
fn columns(
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
fn hashes(format: TraceFormat, stated: Option<&str>, node: &View<'_>, bag: &mut Bag) -> HashIds {
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
fn block_size(
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
