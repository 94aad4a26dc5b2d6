//! Bytes that are appended once and read in any order: in memory while they are few, else in a temporary file that is read page by page.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// How many bytes are kept in memory at the most before there is a file.
const IN_MEMORY: usize = 16 << 20;
/// How many bytes are kept behind the file before they are written to it.
const WRITE_AT_ONCE: usize = 1 << 20;
/// How many bytes a reader reads at once.
const PAGE: usize = 1 << 16;
/// How many pages a reader keeps.
const PAGES: usize = 16;

/// Bytes in the order in which they were appended.
#[derive(Debug)]
pub(crate) struct Tape {
    at_most: usize,
    file: Option<File>,
    /// How many bytes are in the file.
    written: u64,
    /// Those behind them.
    tail: Vec<u8>,
    failed: Option<io::Error>,
}

/// Reads a tape, any place as often as asked; neighbours of what was read lately are at hand.
#[derive(Debug)]
pub(crate) struct TapeReader<'a> {
    tape: &'a Tape,
    pages: Vec<Page>,
    /// What was read across the end of a page.
    joined: Vec<u8>,
}

/// A part of the file: the bytes from `number` pages on.
#[derive(Debug, Default)]
struct Page {
    number: Option<u64>,
    bytes: Vec<u8>,
}

impl Default for Tape {
    fn default() -> Self {
        Self::keeping(IN_MEMORY)
    }
}

impl Tape {
    /// Returns an empty tape that keeps at most `at_most` bytes in memory.
    pub(crate) fn keeping(at_most: usize) -> Self {
        Self { at_most, file: None, written: 0, tail: Vec::new(), failed: None }
    }

    /// Returns how many bytes there are.
    pub(crate) fn len(&self) -> u64 {
        self.written + self.tail.len() as u64
    }

    /// Appends bytes.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.tail.extend_from_slice(bytes);
        self.settle();
    }

    /// Appends numbers of 8 bytes, little-endian.
    pub(crate) fn push_numbers(&mut self, numbers: &[u64]) {
        let start = self.tail.len();
        self.tail.resize(start + size_of_val(numbers), 0);
        let (places, _) = self.tail[start..].as_chunks_mut();
        for (place, number) in places.iter_mut().zip(numbers) {
            *place = number.to_le_bytes();
        }
        self.settle();
    }

    /// Writes the tail out where it is too long.
    fn settle(&mut self) {
        let at_most =
            if self.file.is_some() { WRITE_AT_ONCE.min(self.at_most) } else { self.at_most };
        if self.tail.len() > at_most {
            if self.failed.is_none() {
                self.failed = self.write_out().err();
            }
            // What grew for the memory is given back once there is a file; from then on the room is used again.
            self.tail.clear();
            self.tail.shrink_to(2 * WRITE_AT_ONCE);
        }
    }

    /// Returns the first error of writing, once.
    pub(crate) fn failure(&mut self) -> Option<io::Error> {
        self.failed.take()
    }

    /// Writes the tail behind the file, which is made where there is none.
    fn write_out(&mut self) -> io::Result<()> {
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(tempfile::tempfile()?),
        };
        file.write_all_at(&self.tail, self.written)?;
        self.written += self.tail.len() as u64;
        Ok(())
    }

    /// Returns a reader.
    pub(crate) fn reader(&self) -> TapeReader<'_> {
        let pages = if self.file.is_some() { PAGES } else { 0 };
        let pages = (0..pages).map(|_| Page::default()).collect();
        TapeReader { tape: self, pages, joined: Vec::new() }
    }
}

impl TapeReader<'_> {
    /// Returns `length` bytes from `at` on.
    ///
    /// # Panics
    /// Where there are none, and where the temporary file cannot be read back.
    pub(crate) fn read(&mut self, at: u64, length: usize) -> &[u8] {
        if let Some(from) = at.checked_sub(self.tape.written) {
            let from = narrow(from);
            return &self.tape.tail[from..from + length];
        }
        let (number, from) = (at / PAGE as u64, narrow(at % PAGE as u64));
        if from + length <= PAGE && at + length as u64 <= self.tape.written {
            return &self.page(number)[from..from + length];
        }
        self.join(at, length);
        &self.joined
    }

    /// Returns as many numbers of 8 bytes, little-endian, from `at` on.
    ///
    /// # Panics
    /// As [`TapeReader::read`].
    pub(crate) fn numbers(&mut self, at: u64, count: usize) -> Vec<u64> {
        let (numbers, _) = self.read(at, count * size_of::<u64>()).as_chunks();
        numbers.iter().map(|number| u64::from_le_bytes(*number)).collect()
    }

    /// Puts together what reaches across pages, or from the file into the tail.
    fn join(&mut self, mut at: u64, length: usize) {
        let mut joined = std::mem::take(&mut self.joined);
        joined.clear();
        while joined.len() < length {
            let missing = length - joined.len();
            let in_page = PAGE - narrow(at % PAGE as u64);
            let in_file = self.tape.written.saturating_sub(at);
            let one = match in_file {
                0 => missing,
                in_file => missing.min(in_page).min(usize::try_from(in_file).unwrap_or(missing)),
            };
            joined.extend_from_slice(self.read(at, one));
            at += one as u64;
        }
        self.joined = joined;
    }

    /// Returns a page of the file, as far as it goes.
    fn page(&mut self, number: u64) -> &[u8] {
        let page = &mut self.pages[narrow(number % PAGES as u64)];
        if page.number != Some(number) {
            let start = number * PAGE as u64;
            let length = (self.tape.written - start).min(PAGE as u64);
            page.bytes.resize(narrow(length), 0);
            let file = self.tape.file.as_ref().expect("what is written is in a file");
            file.read_exact_at(&mut page.bytes, start)
                .expect("what was written to a temporary file can be read back");
            page.number = Some(number);
        }
        &page.bytes
    }
}

/// Returns a place as the machine counts.
fn narrow(place: u64) -> usize {
    usize::try_from(place).expect("what is in memory can be counted")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Appends `count` numbers of 8 bytes.
    fn tape(count: u64, at_most: usize) -> Tape {
        let mut tape = Tape::keeping(at_most);
        for number in 0..count {
            match number % 3 {
                0 => tape.push(&number.to_le_bytes()),
                _ => tape.push_numbers(&[number]),
            }
            assert!(tape.tail.len() <= at_most, "no more in memory than was asked for");
        }
        assert!(tape.failure().is_none() && tape.len() == count * 8);
        tape
    }

    #[test]
    fn every_place_reads_the_same_from_a_file_as_from_memory() {
        let count = 40_000;
        let (kept, spilled) = (tape(count, 1 << 20), tape(count, 1001));
        assert!(kept.file.is_none() && spilled.written > 0 && !spilled.tail.is_empty());
        let (mut of_memory, mut of_file) = (kept.reader(), spilled.reader());
        for place in 0..count {
            // Far jumps, and lengths that reach across pages and into the tail.
            let at = place * 7919 % (count - 40) * 8 + place % 8;
            let length = narrow(place % 300);
            assert_eq!(of_memory.read(at, length), of_file.read(at, length), "{at} {length}");
        }
        let numbers: Vec<u64> = (77..count - 9).collect();
        assert_eq!(of_file.numbers(77 * 8, numbers.len()), numbers);
        let all = narrow(count * 8);
        assert_eq!(of_memory.read(0, all), of_file.read(0, all));
        assert!(of_file.pages.len() == PAGES && of_memory.pages.is_empty());
    }
}
