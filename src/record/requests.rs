//! The records of a run, in order: in memory while they are few, else in sorted runs of a temporary file.
//!
//! A run of any length takes the memory of [`IN_MEMORY`] records. Requests end in another order than they are named in; each full
//! buffer is sorted and written, and reading merges what was written.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io;
use std::ops::{Index, IndexMut};
use std::os::unix::fs::FileExt;
use std::sync::Arc;

use crate::units::SimTime;

use super::RequestRecord;
use super::codec;

/// How many records are kept in memory at the most: about 80 MB.
const IN_MEMORY: usize = 1 << 18;
/// How many bytes of a run are read at once.
const READ_AT_ONCE: usize = 1 << 16;
/// The width of a record's length before its bytes.
const LENGTH: usize = 4;

/// In which order records are sorted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Order {
    /// By [`RequestRecord::index`].
    Index,
    /// By arrival, then by index.
    Arrival,
}

/// The records of a run, in order.
#[derive(Debug, Clone, Default)]
pub struct Requests {
    kept: Vec<RequestRecord>,
    spilled: Option<Spilled>,
}

/// Records in sorted runs of a temporary file.
#[derive(Debug, Clone)]
struct Spilled {
    file: Arc<File>,
    runs: Vec<Run>,
    order: Order,
    count: usize,
}

/// A sorted run: where it begins in the file, and where it ends.
#[derive(Debug, Clone, Copy)]
struct Run {
    from: u64,
    to: u64,
}

/// Takes records in any order.
#[derive(Debug)]
pub struct RequestSorter {
    order: Order,
    at_most: usize,
    kept: Vec<RequestRecord>,
    spilled: Option<Spilled>,
}

impl Order {
    /// Returns what records are compared by.
    fn key(self, record: &RequestRecord) -> (SimTime, u64) {
        match self {
            Self::Index => (SimTime::ZERO, record.index),
            Self::Arrival => (record.arrival, record.index),
        }
    }
}

impl Default for RequestSorter {
    fn default() -> Self {
        Self::new(Order::Index, IN_MEMORY)
    }
}

impl RequestSorter {
    /// Returns a sorter that keeps at most `at_most` records in memory.
    fn new(order: Order, at_most: usize) -> Self {
        Self { order, at_most, kept: Vec::new(), spilled: None }
    }

    /// Returns how many records it has taken.
    pub fn len(&self) -> usize {
        self.kept.len() + self.spilled.as_ref().map_or(0, |spilled| spilled.count)
    }

    /// Returns whether it has taken none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Takes a record.
    ///
    /// # Errors
    /// The answer of the system where a temporary file cannot be made or written.
    pub fn push(&mut self, record: RequestRecord) -> io::Result<()> {
        self.kept.push(record);
        if self.kept.len() > self.at_most { self.spill() } else { Ok(()) }
    }

    /// Returns the records in order.
    ///
    /// # Errors
    /// As [`RequestSorter::push`].
    pub fn finish(mut self) -> io::Result<Requests> {
        if self.spilled.is_some() {
            if !self.kept.is_empty() {
                self.spill()?;
            }
            self.kept = Vec::new(); // an empty buffer keeps the memory of a full one
        }
        let order = self.order;
        self.kept.sort_by_key(|record| order.key(record));
        Ok(Requests { kept: self.kept, spilled: self.spilled })
    }

    /// Writes what is in memory as one sorted run.
    fn spill(&mut self) -> io::Result<()> {
        let order = self.order;
        self.kept.sort_by_key(|record| order.key(record));
        let spilled = match &mut self.spilled {
            Some(spilled) => spilled,
            none => none.insert(Spilled {
                file: Arc::new(tempfile::tempfile()?),
                runs: Vec::new(),
                order,
                count: 0,
            }),
        };
        let from = spilled.runs.last().map_or(0, |run| run.to);
        let (mut to, mut bytes) = (from, Vec::with_capacity(2 * READ_AT_ONCE));
        for record in self.kept.drain(..) {
            let at = bytes.len();
            bytes.extend_from_slice(&[0; LENGTH]);
            codec::encode(&record, &mut bytes);
            let length = u32::try_from(bytes.len() - at - LENGTH).map_err(io::Error::other)?;
            bytes[at..at + LENGTH].copy_from_slice(&length.to_le_bytes());
            spilled.count += 1;
            if bytes.len() >= READ_AT_ONCE {
                spilled.file.write_all_at(&bytes, to)?;
                to += bytes.len() as u64;
                bytes.clear();
            }
        }
        spilled.file.write_all_at(&bytes, to)?;
        spilled.runs.push(Run { from, to: to + bytes.len() as u64 });
        Ok(())
    }
}

impl Requests {
    /// Returns how many records there are.
    pub fn len(&self) -> usize {
        self.kept.len() + self.spilled.as_ref().map_or(0, |spilled| spilled.count)
    }

    /// Returns whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the records in order.
    ///
    /// # Panics
    /// Where the temporary file cannot be read back.
    pub fn iter(&self) -> Iter<'_> {
        match &self.spilled {
            None => Iter::Kept(self.kept.iter()),
            Some(spilled) => Iter::Merged(Box::new(Merge::new(spilled))),
        }
    }

    /// Returns the records that `take` accepts by arrival, those of one instant by index.
    ///
    /// # Errors
    /// As [`RequestSorter::push`].
    pub fn by_arrival(&self, take: impl Fn(&RequestRecord) -> bool) -> io::Result<Self> {
        let mut sorter = RequestSorter::new(Order::Arrival, IN_MEMORY);
        for record in self.iter().filter(|record| take(record)) {
            sorter.push(record.into_owned())?;
        }
        sorter.finish()
    }

    /// Returns the records to change, where all are in memory.
    ///
    /// # Panics
    /// Where some are not.
    pub fn in_memory(&mut self) -> &mut Vec<RequestRecord> {
        assert!(self.spilled.is_none(), "records of a temporary file are read only");
        &mut self.kept
    }
}

impl From<Vec<RequestRecord>> for Requests {
    /// Takes records as they stand.
    fn from(kept: Vec<RequestRecord>) -> Self {
        Self { kept, spilled: None }
    }
}

impl Index<usize> for Requests {
    type Output = RequestRecord;

    /// Returns a record, where all are in memory.
    fn index(&self, place: usize) -> &RequestRecord {
        &self.kept[place]
    }
}

impl IndexMut<usize> for Requests {
    /// Returns a record to change, where all are in memory.
    fn index_mut(&mut self, place: usize) -> &mut RequestRecord {
        &mut self.in_memory()[place]
    }
}

impl<'a> IntoIterator for &'a Requests {
    type Item = Cow<'a, RequestRecord>;
    type IntoIter = Iter<'a>;

    fn into_iter(self) -> Iter<'a> {
        self.iter()
    }
}

/// Records in order.
#[derive(Debug)]
pub enum Iter<'a> {
    /// From memory.
    Kept(std::slice::Iter<'a, RequestRecord>),
    /// From a file.
    Merged(Box<Merge>),
}

impl<'a> Iterator for Iter<'a> {
    type Item = Cow<'a, RequestRecord>;

    fn next(&mut self) -> Option<Self::Item> {
        match self {
            Self::Kept(kept) => kept.next().map(Cow::Borrowed),
            Self::Merged(merge) => merge.next().map(Cow::Owned),
        }
    }
}

/// The sorted runs of a file as one.
///
/// Runs overlap little, so one run is read on as long as its records come first, and records are moved twice and not through a heap.
#[derive(Debug)]
pub struct Merge {
    order: Order,
    runs: Vec<Head>,
    /// The run whose record comes next; none after the last.
    first: Option<usize>,
    /// The others that have a record, by it: a heap gives the smallest first.
    others: BinaryHeap<Reverse<Place>>,
}

/// Where a run's next record stands in the order; of two equal ones that of the earlier run comes first.
type Place = (SimTime, u64, usize);

/// A run, and its next record.
#[derive(Debug)]
struct Head {
    reader: Reader,
    record: Option<RequestRecord>,
}

impl Merge {
    fn new(spilled: &Spilled) -> Self {
        let head = |run: &Run| Head {
            reader: Reader {
                file: Arc::clone(&spilled.file),
                rest: *run,
                buffer: Vec::new(),
                at: 0,
            },
            record: None,
        };
        let runs: Vec<Head> = spilled.runs.iter().map(head).collect();
        let mut merge = Self { order: spilled.order, runs, first: None, others: BinaryHeap::new() };
        let places = (0..merge.runs.len()).filter_map(|run| merge.advance(run));
        let places: Vec<Reverse<Place>> = places.map(Reverse).collect();
        merge.others.extend(places);
        merge.first = merge.smallest_other();
        merge
    }

    /// Reads the next record of a run, and returns where it stands; `None` at the run's end.
    fn advance(&mut self, run: usize) -> Option<Place> {
        let head = &mut self.runs[run];
        head.record = head.reader.next();
        let (at, index) = self.order.key(head.record.as_ref()?);
        Some((at, index, run))
    }

    /// Takes the run whose record comes first from the others.
    fn smallest_other(&mut self) -> Option<usize> {
        self.others.pop().map(|Reverse((_, _, run))| run)
    }

    fn next(&mut self) -> Option<RequestRecord> {
        let run = self.first?;
        let record = self.runs[run].record.take();
        match (self.advance(run), self.others.peek()) {
            (None, _) => self.first = self.smallest_other(),
            (Some(place), Some(Reverse(other))) if *other < place => {
                self.first = self.smallest_other();
                self.others.push(Reverse(place));
            }
            (Some(_), _) => {}
        }
        record
    }
}

/// Reads a run.
#[derive(Debug)]
struct Reader {
    file: Arc<File>,
    /// What is not in the buffer yet.
    rest: Run,
    buffer: Vec<u8>,
    /// Where the next record begins in the buffer.
    at: usize,
}

impl Reader {
    fn next(&mut self) -> Option<RequestRecord> {
        if self.at == self.buffer.len() && self.rest.from == self.rest.to {
            return None;
        }
        let mut length = [0; LENGTH];
        length.copy_from_slice(self.bytes(LENGTH));
        let length = usize::try_from(u32::from_le_bytes(length)).expect("32 bits are a length");
        Some(codec::decode(self.bytes(length)))
    }

    /// Returns the next `wanted` bytes.
    fn bytes(&mut self, wanted: usize) -> &[u8] {
        if self.buffer.len() - self.at < wanted {
            self.buffer.drain(..self.at);
            self.at = 0;
            let left = usize::try_from(self.rest.to - self.rest.from).unwrap_or(usize::MAX);
            let known = self.buffer.len();
            self.buffer.resize(known + left.min(READ_AT_ONCE.max(wanted)), 0);
            self.file
                .read_exact_at(&mut self.buffer[known..], self.rest.from)
                .expect("what was written to a temporary file can be read back");
            self.rest.from += (self.buffer.len() - known) as u64;
        }
        self.at += wanted;
        &self.buffer[self.at - wanted..self.at]
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::record::sample::request;

    fn sorted(order: Order, at_most: usize, records: &[(u64, u8)]) -> Requests {
        let mut sorter = RequestSorter::new(order, at_most);
        for (index, arrival) in records {
            sorter.push(request(*index, f64::from(*arrival))).expect("a temporary file");
        }
        assert_eq!(sorter.len(), records.len());
        sorter.finish().expect("a temporary file")
    }

    fn text(requests: &Requests) -> Vec<String> {
        requests.iter().map(|record| format!("{record:?}")).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn a_temporary_file_gives_what_memory_gives(
            arrivals in prop::collection::vec(any::<u8>(), 0..200),
            at_most in 1_usize..40,
            by_arrival in any::<bool>(),
        ) {
            // Places in the workload are spread so that they come in no order.
            let records: Vec<(u64, u8)> =
                (0..).zip(arrivals).map(|(place, arrival)| (place * 7919 % 211, arrival)).collect();
            let order = if by_arrival { Order::Arrival } else { Order::Index };
            let (kept, spilled) = (sorted(order, 1000, &records), sorted(order, at_most, &records));
            prop_assert!(kept.spilled.is_none());
            prop_assert_eq!(spilled.spilled.is_some(), records.len() > at_most);
            prop_assert_eq!(spilled.len(), records.len());
            prop_assert_eq!(text(&kept), text(&spilled));
        }
    }

    #[test]
    fn two_readers_of_one_file_do_not_disturb_each_other() {
        let records: Vec<(u64, u8)> = (0..100).rev().map(|index| (index, 0)).collect();
        let requests = sorted(Order::Index, 9, &records);
        let pairs = requests.iter().zip(requests.iter().skip(1));
        assert!(pairs.into_iter().all(|(a, b)| a.index + 1 == b.index));
        assert_eq!(requests.by_arrival(|record| record.index > 89).expect("memory").len(), 10);
    }
}
