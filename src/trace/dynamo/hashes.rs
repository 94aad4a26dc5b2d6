//! The hashes of a capture while its trees are put together: on a tape, which takes a bounded amount of memory.

use std::io;

use crate::trace::recorded::RecordedRequest;
use crate::workload::{Tape, TapeReader};

/// Bytes of a hash on the tape.
const HASH_BYTES: usize = 8;

/// A request whose hashes are on the tape.
#[derive(Debug)]
pub(super) struct Kept {
    /// The request, without hashes.
    pub(super) request: RecordedRequest,
    /// Where on the tape its hashes are, where it has any: first byte and number of hashes.
    pub(super) hashes: Option<(u64, usize)>,
}

/// Hashes of all requests of a capture.
#[derive(Debug, Default)]
pub(super) struct HashStore {
    tape: Tape,
    bytes: Vec<u8>,
}

/// Gives requests their hashes back.
#[derive(Debug)]
pub(super) struct HashReader<'a>(TapeReader<'a>);

impl HashStore {
    /// Takes a request's hashes away and keeps them.
    pub(super) fn keep(&mut self, mut request: RecordedRequest) -> Kept {
        let hashes = request.hashes.take().map(|hashes| {
            let at = self.tape.len();
            self.bytes.clear();
            self.bytes.extend(hashes.iter().flat_map(|hash| hash.to_le_bytes()));
            self.tape.push(&self.bytes);
            (at, hashes.len())
        });
        Kept { request, hashes }
    }

    /// Returns the first error of writing to a temporary file, once.
    pub(super) fn failure(&mut self) -> Option<io::Error> {
        self.tape.failure()
    }

    /// Returns what gives hashes back.
    pub(super) fn reader(&self) -> HashReader<'_> {
        HashReader(self.tape.reader())
    }
}

impl HashReader<'_> {
    /// Returns a request with its hashes.
    pub(super) fn whole(&mut self, kept: Kept) -> RecordedRequest {
        let hashes = kept.hashes.map(|(at, count)| {
            let bytes = self.0.read(at, count * HASH_BYTES);
            let hash = |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().expect("eight bytes"));
            bytes.chunks_exact(HASH_BYTES).map(hash).collect()
        });
        RecordedRequest { hashes, ..kept.request }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use crate::trace::recorded::Place;
    use crate::units::Nanos;

    use super::*;

    fn request(hashes: Option<Vec<u64>>) -> RecordedRequest {
        RecordedRequest {
            id: None,
            entry: 0,
            start: Nanos::new(0),
            duration: None,
            ended: None,
            ttft: None,
            streamed: None,
            model: None,
            input: None,
            output: None,
            cached: None,
            hashes,
            think_time: None,
            stop: None,
            input_types: Vec::new(),
            output_types: Vec::new(),
            edges: Vec::new(),
            place: Place { file: Arc::from("a"), line: 1, column: 1 },
        }
    }

    #[test]
    fn hashes_come_back_whole_in_any_order_also_from_a_file() {
        let mut store = HashStore { tape: Tape::keeping(100), bytes: Vec::new() };
        let lists: Vec<Option<Vec<u64>>> = (0..300_u64)
            .map(|number| match number % 3 {
                0 => None,
                1 => Some(Vec::new()),
                _ => Some((0..number).map(|hash| u64::MAX - hash * number).collect()),
            })
            .collect();
        let mut kept: Vec<Kept> =
            lists.iter().map(|hashes| store.keep(request(hashes.clone()))).collect();
        assert!(store.failure().is_none());
        assert!(kept.iter().all(|kept| kept.request.hashes.is_none()), "they are on the tape");
        let mut reader = store.reader();
        for expected in lists.iter().rev() {
            let found = reader.whole(kept.pop().expect("as many"));
            assert_eq!(found.hashes, *expected);
        }
    }
}
