//! Trace pins: `pins/traces/NAME.kdl`.

use std::path::Path;

use crate::diag::{Bag, Code, Problem, counted};
use crate::digest::Sha256;
use crate::digest::canonical::{Value, object};
use crate::scenario::bounds;
use crate::scenario::cursor::View;
use crate::scenario::shape::{Field, Shape};
use crate::scenario::syntax::Place;
use crate::trace::{
    ArrivalRule, ColumnTime, CorpusView, HashIds, ReadOptions, RowOrder, Seen, Shard, Strictness,
    TimeUnit, TimestampBasis, TraceFormat, WatchedRead, count_rows, read_views, read_watched,
};

use super::file::{ABOUT, Files, NAME, ORIGIN, PinFile, digest};
use super::graphs::{self, GraphFormat};
use super::rows::{block_size, check_unit, columns, hashes, states_unit};
use super::verify::{SHARD, incomplete};
use super::{PinKind, PinnedFile};

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
        "native",
        "dag-jsonl",
    ],
    "The file format; `native` and `dag-jsonl` are graphs, which a workload names as `graph`.",
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

static REQUESTS: Shape = Shape::new(
    "requests",
    "How many requests all shards hold, but for graphs; `bench pin PINFILE` fills it in.",
)
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
    content: Content,
    shards: Vec<PinnedFile>,
}

/// What the files of a trace hold.
#[derive(Debug, Clone)]
enum Content {
    /// Recorded requests.
    Rows(Box<Rows>),
    /// Graphs that somebody wrote.
    Graphs(GraphFormat),
}

/// Recorded requests, as a pin states them.
#[derive(Debug, Clone)]
struct Rows {
    options: ReadOptions,
    requests: u64,
    requests_at: Place,
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

    /// Returns how many requests its files hold together; `None` for graphs, which say that themselves.
    pub fn requests(&self) -> Option<u64> {
        match &self.content {
            Content::Rows(rows) => Some(rows.requests),
            Content::Graphs(_) => None,
        }
    }

    /// Returns the format of its graphs; `None` where it holds recorded requests.
    pub const fn graphs(&self) -> Option<GraphFormat> {
        match &self.content {
            Content::Rows(_) => None,
            Content::Graphs(format) => Some(*format),
        }
    }

    /// Returns the word of its format.
    pub const fn format_name(&self) -> &'static str {
        match &self.content {
            Content::Rows(rows) => rows.options.format.name(),
            Content::Graphs(format) => format.name(),
        }
    }

    /// Returns its files, in order.
    pub fn shards(&self) -> &[PinnedFile] {
        &self.shards
    }

    /// Returns how it is read: the first rows of it, or all, for a load that needs recorded arrivals, or one that does not.
    ///
    /// # Errors
    /// [`Code::PinField`] where it holds graphs.
    pub fn options(
        &self,
        arrivals: ArrivalRule,
        first_rows: Option<u64>,
    ) -> Result<ReadOptions, Problem> {
        match &self.content {
            Content::Rows(rows) => Ok(ReadOptions { arrivals, first_rows, ..rows.options.clone() }),
            Content::Graphs(format) => Err(graphs::without_rows(&self.name, *format)),
        }
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
        let shards = Value::List(shards.collect());
        let Rows { options, requests, .. } = match &self.content {
            Content::Rows(rows) => &**rows,
            Content::Graphs(format) => {
                let format = ("format", Value::text(format.name()));
                return digest(PinKind::Trace, object([format, ("shards", shards)]));
            }
        };
        let has_ids = options.hashes == HashIds::Expected;
        let block_size = Value::count(u64::from(options.block_size.get()));
        let calendar = !states_unit(options.format) || options.format == TraceFormat::Csv;
        let unit = Value::text(options.unit.name());
        let fields = object([
            ("block_size", if has_ids { block_size } else { Value::Null }),
            ("format", Value::text(options.format.name())),
            ("hashes", Value::text(if has_ids { "ids" } else { "none" })),
            ("lenient", Value::Bool(options.strictness == Strictness::Lenient)),
            ("requests", Value::count(*requests)),
            ("shards", shards),
            ("sort", Value::Bool(options.order == RowOrder::Sorted)),
            ("timestamps_unit", if calendar { Value::Null } else { unit }),
        ]);
        // A field of `weka` alone leaves the digests of other pins as they are.
        let basis =
            (options.format == TraceFormat::Weka).then(|| Value::text(options.basis.name()));
        let fields = fields.with("nested_timestamp_basis", basis);
        let columns = options.columns.as_deref().map(|columns| {
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
        let mut found = 0;
        let mut shards = Vec::with_capacity(self.shards.len());
        for file in &self.shards {
            match self.open_shard(file, root) {
                Ok((shard, count)) => {
                    found += count;
                    shards.push(shard);
                }
                Err(problem) => bag.push(problem),
            }
        }
        if let Content::Rows(rows) = &self.content
            && bag.is_empty()
            && found != rows.requests
        {
            let (found, pinned) = (counted(found, "request"), rows.requests);
            let message = format!("`{}` holds {found}, pinned are {pinned}", self.name);
            bag.push(rows.requests_at.problem(Code::PinRequests, message, "pinned here"));
        }
        if bag.is_empty() { Ok(shards) } else { Err(bag) }
    }

    /// Verifies one file and returns its text and how many rows it has; graphs have none.
    fn open_shard(&self, file: &PinnedFile, root: &Path) -> Result<(Shard, u64), Problem> {
        let packed = Shard::new(&file.path, file.read(root)?);
        let text = packed.unpack()?.into_owned();
        file.verify_contents(&text)?;
        let rows = match &self.content {
            Content::Rows(rows) => count_rows(&text, rows.options.format),
            Content::Graphs(_) => 0,
        };
        Ok((Shard::unpacked(&file.path, text), rows))
    }

    /// Reads and verifies every file, and the rows in it, once for several numbers of first rows.
    ///
    /// Files are read line by line where their format allows that, and nothing is returned before all of them are what is pinned.
    ///
    /// # Errors
    /// As [`TracePin::open`], [`TracePin::options`] and [`read_views`].
    pub fn read_views(
        &self,
        root: &Path,
        arrivals: ArrivalRule,
        firsts: &[Option<u64>],
    ) -> Result<Vec<CorpusView>, Bag> {
        let options = self.options(arrivals, None)?;
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
        let is_right =
            Some(rows) == self.requests() && self.shards.iter().zip(&seen).all(is_pinned);
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
    let shards = |bag: &mut Bag| {
        let decoded = |shard| PinnedFile::decode(shard, PinKind::Trace.folder(), name, bag);
        node.all("shard").filter_map(decoded).collect::<Vec<PinnedFile>>()
    };
    if let Some(format) = GraphFormat::of(&format) {
        graphs::check(format, node, bag);
        let (name, content) = (name.to_owned(), Content::Graphs(format));
        return Some(TracePin { name, content, shards: shards(bag) });
    }
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
    let shards = shards(bag);
    let Some(requests) = node.child("requests") else {
        let message = "the pin does not state how many requests it holds";
        bag.push(incomplete(&node.head(), message, "no `requests`"));
        return None;
    };
    let (requests, requests_at) = (requests.count("COUNT")?, requests.place("COUNT"));
    let content = Content::Rows(Box::new(Rows { options, requests, requests_at }));
    Some(TracePin { name: name.to_owned(), content, shards })
}
