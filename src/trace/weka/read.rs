//! A corpus of Weka traces, tree by tree.

use std::collections::BTreeMap;
use std::sync::Arc;

use rayon::prelude::*;

use crate::diag::{Bag, Code, Problem, Severity};
use crate::trace::json::{Reading, whole};
use crate::trace::read::{Lines, TraceInput};
use crate::trace::recorded::{
    Place, RecordedCounts, RecordedOptions, RecordedTree, TimestampBasis,
};
use crate::units::BlockSize;

use super::basis::shows_relative;
use super::draft::TraceDraft;
use super::tree::TreeBuilder;

/// How many bytes of traces are read before they are parsed side by side. A bound on memory: what is in work is at most two
/// batches and one more trace.
const BATCH_BYTES: usize = 16 << 20;

/// A text that holds one trace.
struct Document {
    file: Arc<str>,
    first_line: u64,
    text: String,
}

/// A trace that was read and made into something, or what is wrong with it.
struct Parsed<T> {
    tree: Option<(Summary, Option<T>)>,
    problems: Vec<Problem>,
    counts: RecordedCounts,
}

/// What traces of a corpus are compared by.
struct Summary {
    id: String,
    place: Place,
    block_size: Option<BlockSize>,
}

/// What holds across the traces of a corpus.
#[derive(Default)]
struct Across {
    names: BTreeMap<String, Place>,
    block_size: Option<(BlockSize, Place)>,
    problems: Bag,
    counts: RecordedCounts,
}

/// Hands over the trees of a corpus, in order of files and lines, and returns what was let through.
///
/// As [`read_weka_as`].
///
/// # Errors
/// As [`read_weka_as`].
pub fn read_weka(
    files: &[TraceInput],
    options: RecordedOptions,
    take: &mut dyn FnMut(RecordedTree),
) -> Result<RecordedCounts, Bag> {
    read_weka_as(files, options, &|tree| tree, take)
}

/// Hands over what `make` makes of the trees of a corpus, in order of files and lines, and returns what was let through. Trees are
/// parsed and made into something side by side.
///
/// Memory is bounded by a few traces. After the first problem no more trees are handed over, and reading goes on, so that every
/// problem is shown: what was handed over counts only where all is well.
///
/// # Errors
/// Everything that is wrong, each with `file:line:column` where a trace is: codes `trace::*`.
pub fn read_weka_as<T: Send>(
    files: &[TraceInput],
    options: RecordedOptions,
    make: &(dyn Fn(RecordedTree) -> T + Sync),
    take: &mut dyn FnMut(T),
) -> Result<RecordedCounts, Bag> {
    let basis = match options.basis {
        TimestampBasis::Auto => basis(files)?,
        TimestampBasis::Absolute | TimestampBasis::Relative => options.basis,
    };
    let options = RecordedOptions { basis, ..options };
    let mut across = Across::default();
    for file in files {
        across.counts.files += 1;
        let mut read = |parsed: Parsed<T>| across.add(parsed, options, take);
        match for_each_batch(
            file,
            |batch| batch.par_iter().map(|one| one.parse(options, make)).collect(),
            &mut read,
        ) {
            Ok(blank) => across.counts.blank_lines += blank,
            Err(problem) => across.problems.push(problem),
        }
    }
    if across.counts.trees == 0 && across.problems.is_empty() {
        let names: Vec<&str> = files.iter().map(|file| &**file.name()).collect();
        let message = format!("`{}` holds no traces", names.join(", "));
        across.problems.push(Problem::new(Code::TraceEmpty, message));
    }
    if across.problems.has_errors() { Err(across.problems) } else { Ok(across.counts) }
}

/// Returns what the corpus shows its nested times to be counted from. Faulty texts show nothing: reading them says why.
fn basis(files: &[TraceInput]) -> Result<TimestampBasis, Bag> {
    let mut is_relative = false;
    for file in files {
        let shows = |document: &Document| shows_relative(&mut document.reading());
        for_each_batch(file, |batch| vec![batch.par_iter().any(shows)], &mut |found: bool| {
            is_relative |= found;
        })?;
        if is_relative {
            return Ok(TimestampBasis::Relative);
        }
    }
    Ok(TimestampBasis::Absolute)
}

/// Reads a file batch by batch: while one is parsed the next is unpacked. Returns how many lines were blank.
fn for_each_batch<T: Send>(
    file: &TraceInput,
    parse: impl Fn(&[Document]) -> Vec<T> + Sync,
    take: &mut dyn FnMut(T),
) -> Result<u64, Problem> {
    if file.is_document() {
        let text = file.text()?;
        let document = Document { file: Arc::clone(file.name()), first_line: 1, text };
        parse(&[document]).into_iter().for_each(take);
        return Ok(0);
    }
    let mut lines = file.lines()?;
    let mut blank = 0;
    let mut batch = next_batch(&mut lines, file.name(), &mut blank);
    loop {
        let documents = batch?;
        if documents.is_empty() {
            return Ok(blank);
        }
        let (parsed, next) =
            rayon::join(|| parse(&documents), || next_batch(&mut lines, file.name(), &mut blank));
        parsed.into_iter().for_each(&mut *take);
        batch = next;
    }
}

/// Reads lines until they make a batch.
fn next_batch(
    lines: &mut Lines,
    file: &Arc<str>,
    blank: &mut u64,
) -> Result<Vec<Document>, Problem> {
    let (mut batch, mut bytes) = (Vec::new(), 0);
    while bytes < BATCH_BYTES {
        let first_line = lines.next_number();
        let Some(text) = lines.next()? else { break };
        if text.trim().is_empty() {
            *blank += 1;
            continue;
        }
        bytes += text.len();
        batch.push(Document { file: Arc::clone(file), first_line, text });
    }
    Ok(batch)
}

impl Document {
    fn reading(&self) -> Reading<'_> {
        Reading::new(&self.file, self.first_line, &self.text)
    }

    fn parse<T>(
        &self,
        options: RecordedOptions,
        make: &(dyn Fn(RecordedTree) -> T + Sync),
    ) -> Parsed<T> {
        let mut reading = self.reading();
        let mut counts = RecordedCounts::default();
        let tree = match whole::<TraceDraft<'_>>(&mut reading) {
            Ok(draft) => {
                let builder =
                    TreeBuilder::new(&mut reading, &mut counts, options.strictness, options.basis);
                Some(builder.build(draft))
            }
            Err(error) => {
                reading.problems.push(reading.syntax(&error));
                None
            }
        };
        counts.add_keys(std::mem::take(&mut reading.unknown));
        counts.add_unused(std::mem::take(&mut reading.unused));
        let problems = reading.problems;
        // A trace with problems is of use to nobody but the comparison with others.
        let tree = tree.map(|tree| {
            counts.add_tree(&tree);
            let is_right = problems.iter().all(|found| found.severity() == Severity::Warning);
            (Summary::of(&tree), is_right.then(|| make(tree)))
        });
        Parsed { tree, problems, counts }
    }
}

impl Summary {
    fn of(tree: &RecordedTree) -> Self {
        let (id, place) = (tree.id().to_owned(), tree.place.clone());
        Self { id, place, block_size: tree.block_size }
    }
}

impl Across {
    /// Adds a trace, and hands over what was made of it where all is well so far.
    fn add<T>(&mut self, parsed: Parsed<T>, options: RecordedOptions, take: &mut dyn FnMut(T)) {
        self.counts.add(parsed.counts);
        for problem in parsed.problems {
            self.problems.push(problem);
        }
        let Some((summary, made)) = parsed.tree else { return };
        self.check_name(&summary);
        self.check_block_size(&summary, options);
        if let Some(made) = made.filter(|_| !self.problems.has_errors()) {
            take(made);
        }
    }

    fn check_name(&mut self, found: &Summary) {
        if let Some(first) = self.names.insert(found.id.clone(), found.place.clone()) {
            let message = format!("the trace `{}` stands at {first} as well", found.id);
            self.problems.push(found.place.problem(Code::TraceSession, message, "again here"));
        }
    }

    fn check_block_size(&mut self, of: &Summary, options: RecordedOptions) {
        let Some(found) = of.block_size else { return };
        let expected = match (&self.block_size, options.block_size) {
            (_, Some(stated)) => (stated, "the block size that was asked for".to_owned()),
            (Some((first, place)), None) => (*first, format!("that of {place}")),
            (None, None) => {
                self.block_size = Some((found, of.place.clone()));
                return;
            }
        };
        if found != expected.0 {
            let message = format!("block size {found}, but {} is {}", expected.1, expected.0);
            self.problems.push(of.place.problem(Code::TraceBlockSize, message, "this trace"));
        }
    }
}
