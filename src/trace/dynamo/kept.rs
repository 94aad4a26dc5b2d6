//! The requests of a capture while its trees are put together: on a tape, which takes a bounded amount of memory.
//!
//! A tree may have records in any place of any file, so all are kept until the last one is read; of each only its place on the tape is in memory.

use std::io;
use std::sync::Arc;

use crate::trace::recorded::{Place, RecordedEdge, RecordedRequest};
use crate::units::{Nanos, Tokens};
use crate::workload::{EdgeRelation, EdgeTrigger, Tape, TapeReader};

/// Bytes of a hash on the tape.
const HASH_BYTES: usize = 8;

/// A request that is on the tape.
#[derive(Debug, Clone, Copy)]
pub(super) struct Kept {
    at: u64,
    length: u32,
}

/// All requests of a capture.
#[derive(Debug, Default)]
pub(super) struct KeptRequests {
    tape: Tape,
    files: Vec<Arc<str>>,
    bytes: Vec<u8>,
}

/// Gives requests back.
#[derive(Debug)]
pub(super) struct KeptReader<'a> {
    tape: TapeReader<'a>,
    files: &'a [Arc<str>],
}

/// Requests whose records name no session, in order of the files; times are Unix times.
#[derive(Debug, Default)]
pub struct Alone {
    pub(super) kept: Vec<Kept>,
    pub(super) requests: KeptRequests,
}

/// What is read of the bytes of a request.
struct Fields<'b>(&'b [u8]);

impl KeptRequests {
    /// Keeps a request.
    pub(super) fn keep(&mut self, request: &RecordedRequest) -> Kept {
        let mut bytes = std::mem::take(&mut self.bytes);
        bytes.clear();
        let file = self.file(&request.place.file);
        write(request, file, &mut bytes);
        let at = self.tape.len();
        self.tape.push(&bytes);
        let length = u32::try_from(bytes.len()).expect("a line is below 2^28 bytes");
        self.bytes = bytes;
        Kept { at, length }
    }

    /// Returns the number of a file, in which most requests before lie as well.
    fn file(&mut self, file: &Arc<str>) -> usize {
        let known = self.files.iter().rposition(|known| Arc::ptr_eq(known, file));
        known.unwrap_or_else(|| {
            self.files.push(Arc::clone(file));
            self.files.len() - 1
        })
    }

    /// Returns the first error of writing to a temporary file, once.
    pub(super) fn failure(&mut self) -> Option<io::Error> {
        self.tape.failure()
    }

    /// Returns what gives requests back.
    pub(super) fn reader(&self) -> KeptReader<'_> {
        KeptReader { tape: self.tape.reader(), files: &self.files }
    }
}

impl KeptReader<'_> {
    /// Returns a request.
    pub(super) fn whole(&mut self, kept: Kept) -> RecordedRequest {
        let length = usize::try_from(kept.length).expect("32 bits");
        Fields(self.tape.read(kept.at, length)).request(self.files)
    }
}

impl Alone {
    /// Returns how many there are.
    pub fn len(&self) -> usize {
        self.kept.len()
    }

    /// Returns whether there are none.
    pub fn is_empty(&self) -> bool {
        self.kept.is_empty()
    }

    /// Hands them over in order, one at a time.
    pub fn each(&self, mut take: impl FnMut(RecordedRequest)) {
        self.each_of(0..self.len(), &mut take);
    }

    /// Hands over those at these places, in their order, one at a time.
    pub(in super::super) fn each_of(
        &self,
        places: impl IntoIterator<Item = usize>,
        mut take: impl FnMut(RecordedRequest),
    ) {
        let mut reader = self.requests.reader();
        for place in places {
            take(reader.whole(self.kept[place]));
        }
    }
}

/// Appends a request. What a capture never states is not written.
fn write(request: &RecordedRequest, file: usize, out: &mut Vec<u8>) {
    let RecordedRequest {
        id,
        entry: _,
        start,
        duration,
        ended,
        ttft,
        streamed,
        model,
        input,
        output,
        cached,
        hashes,
        think_time: _,
        stop: _,
        input_types: _,
        output_types: _,
        edges,
        place,
    } = request;
    number(out, start.get());
    for time in [duration, ended, ttft] {
        maybe(out, time.map(Nanos::get));
    }
    maybe(out, streamed.map(u64::from));
    for tokens in [input, output, cached] {
        maybe(out, tokens.map(Tokens::get));
    }
    for text in [id, model] {
        maybe(out, text.as_ref().map(|text| text.len() as u64));
        out.extend_from_slice(text.as_deref().unwrap_or_default().as_bytes());
    }
    for count in [file as u64, place.line, place.column, edges.len() as u64] {
        number(out, count);
    }
    for RecordedEdge { request_id, relation, trigger } in edges {
        number(out, request_id.len() as u64);
        out.extend_from_slice(request_id.as_bytes());
        number(out, index(EdgeRelation::ALL, relation));
        number(out, index(EdgeTrigger::ALL, trigger));
    }
    maybe(out, hashes.as_ref().map(|hashes| hashes.len() as u64));
    let start = out.len();
    let hashes = hashes.as_deref().unwrap_or_default();
    out.resize(start + size_of_val(hashes), 0);
    let (places, _) = out[start..].as_chunks_mut();
    for (place, hash) in places.iter_mut().zip(hashes) {
        *place = hash.to_le_bytes();
    }
}

/// Appends a number: seven bits a byte, the low ones first.
fn number(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(0x80 | u8::try_from(number & 0x7f).expect("seven bits"));
        number >>= 7;
    }
    out.push(u8::try_from(number).expect("seven bits"));
}

/// Appends a number that may be absent.
fn maybe(out: &mut Vec<u8>, value: Option<u64>) {
    out.push(u8::from(value.is_some()));
    if let Some(value) = value {
        number(out, value);
    }
}

/// Returns the place of a word in its fixed set.
fn index<T: PartialEq>(all: &[T], one: &T) -> u64 {
    all.iter().position(|known| known == one).expect("a set holds all its words") as u64
}

impl<'b> Fields<'b> {
    fn request(mut self, files: &[Arc<str>]) -> RecordedRequest {
        let start = Nanos::new(self.number());
        let [duration, ended, ttft] = [(); 3].map(|()| self.maybe().map(Nanos::new));
        let streamed = self.maybe().map(|flag| flag > 0);
        let [input, output, cached] = [(); 3].map(|()| self.maybe().map(Tokens::new));
        let [id, model] = [(); 2].map(|()| {
            let length = self.maybe()?;
            Some(self.text(length))
        });
        let file = Arc::clone(&files[self.size()]);
        let place = Place { file, line: self.number(), column: self.number() };
        let edges = (0..self.size()).map(|_| self.edge()).collect();
        let hashes = self.maybe().map(|count| self.hashes(count));
        RecordedRequest {
            id,
            entry: 0,
            start,
            duration,
            ended,
            ttft,
            streamed,
            model,
            input,
            output,
            cached,
            hashes,
            think_time: None,
            stop: None,
            input_types: Vec::new(),
            output_types: Vec::new(),
            edges,
            place,
        }
    }

    fn edge(&mut self) -> RecordedEdge {
        let length = self.number();
        let request_id = self.text(length);
        let relation = EdgeRelation::ALL[self.size()];
        RecordedEdge { request_id, relation, trigger: EdgeTrigger::ALL[self.size()] }
    }

    fn hashes(&mut self, count: u64) -> Vec<u64> {
        let bytes = self.take(narrow(count) * HASH_BYTES);
        let (hashes, _) = bytes.as_chunks();
        hashes.iter().map(|hash| u64::from_le_bytes(*hash)).collect()
    }

    fn take(&mut self, length: usize) -> &'b [u8] {
        let (taken, rest) = self.0.split_at(length);
        self.0 = rest;
        taken
    }

    fn number(&mut self) -> u64 {
        let (mut number, mut shift) = (0, 0);
        loop {
            let byte = self.take(1)[0];
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return number;
            }
            shift += 7;
        }
    }

    fn size(&mut self) -> usize {
        narrow(self.number())
    }

    fn maybe(&mut self) -> Option<u64> {
        (self.take(1)[0] > 0).then(|| self.number())
    }

    fn text(&mut self, length: u64) -> String {
        String::from_utf8(self.take(narrow(length)).to_vec()).expect("written from a text")
    }
}

/// Returns a count as the machine counts.
fn narrow(count: u64) -> usize {
    usize::try_from(count).expect("what was in memory can be counted")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(number: u64, file: &Arc<str>) -> RecordedRequest {
        let at = |share: u64| {
            (!number.is_multiple_of(share)).then_some(Nanos::new(u64::MAX / (number + 1)))
        };
        let tokens =
            |share: u64| (!number.is_multiple_of(share)).then_some(Tokens::new(number * 1000));
        let edge = |index: usize| RecordedEdge {
            request_id: format!("vor-{index} é"),
            relation: EdgeRelation::ALL[index % EdgeRelation::ALL.len()],
            trigger: EdgeTrigger::ALL[index % EdgeTrigger::ALL.len()],
        };
        let hashes = match number % 3 {
            0 => None,
            1 => Some(Vec::new()),
            _ => Some((0..number).map(|hash| u64::MAX - hash * number).collect()),
        };
        RecordedRequest {
            id: (!number.is_multiple_of(5)).then(|| format!("r-{number}")),
            entry: 0,
            start: Nanos::new(number << 40),
            duration: at(2),
            ended: at(3),
            ttft: at(4),
            streamed: [None, Some(false), Some(true)][narrow(number % 3)],
            model: (!number.is_multiple_of(2)).then(|| "modèle".repeat(narrow(number))),
            input: tokens(3),
            output: tokens(5),
            cached: tokens(7),
            hashes,
            think_time: None,
            stop: None,
            input_types: Vec::new(),
            output_types: Vec::new(),
            edges: (0..narrow(number % 4)).map(edge).collect(),
            place: Place { file: Arc::clone(file), line: number * 1000, column: number + 1 },
        }
    }

    #[test]
    fn requests_come_back_whole_in_any_order_also_from_a_file() {
        let mut store = KeptRequests { tape: Tape::keeping(100), ..KeptRequests::default() };
        let files: [Arc<str>; 2] = ["a.jsonl".into(), "b.jsonl".into()];
        let requests: Vec<RecordedRequest> =
            (0..300).map(|number| request(number, &files[usize::from(number > 150)])).collect();
        let kept: Vec<Kept> = requests.iter().map(|request| store.keep(request)).collect();
        assert!(store.failure().is_none());
        assert_eq!(store.files.len(), 2);
        let mut reader = store.reader();
        for (kept, expected) in kept.iter().zip(&requests).rev() {
            assert_eq!(reader.whole(*kept), *expected);
        }
        let alone = Alone { kept, requests: store };
        let mut found = Vec::new();
        alone.each_of([7, 3, 299], |request| found.push(request));
        assert_eq!(found, [&requests[7], &requests[3], &requests[299]].map(Clone::clone));
    }
}
