//! Numbers and texts as bytes, behind each other.

/// Appends values.
#[derive(Debug, Default)]
pub(super) struct Writer(pub(super) Vec<u8>);

/// Reads them in the same order. The bytes are those that a [`Writer`] made: digests were checked before.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reader<'b>(pub(super) &'b [u8]);

impl Writer {
    /// Appends a number: seven bits a byte, the low ones first.
    pub(super) fn count(&mut self, mut count: u64) {
        while count >= 0x80 {
            self.0.push(low_bits(count) | 0x80);
            count >>= 7;
        }
        self.0.push(low_bits(count));
    }

    /// Appends an index or a length.
    pub(super) fn size(&mut self, size: usize) {
        self.count(wide(size));
    }

    /// Appends a number that may be absent: 0 then, else one more.
    pub(super) fn maybe(&mut self, count: Option<u64>) {
        match count {
            None => self.count(0),
            Some(count) if count < u64::MAX => self.count(count + 1),
            Some(_) => panic!("bug: 2^64-1 as a number that may be absent"),
        }
    }

    /// Appends an index that may be absent.
    pub(super) fn maybe_size(&mut self, size: Option<usize>) {
        self.maybe(size.map(wide));
    }

    /// Appends a flag.
    pub(super) fn flag(&mut self, flag: bool) {
        self.0.push(u8::from(flag));
    }

    /// Appends a text with its length.
    pub(super) fn text(&mut self, text: &str) {
        self.size(text.len());
        self.0.extend_from_slice(text.as_bytes());
    }
}

impl<'b> Reader<'b> {
    /// Returns the next number.
    pub(super) fn count(&mut self) -> u64 {
        let (mut count, mut shift) = (0, 0);
        loop {
            let byte = self.byte();
            count |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return count;
            }
            shift += 7;
        }
    }

    /// Returns the next byte.
    pub(super) fn byte(&mut self) -> u8 {
        let (first, rest) = self.0.split_first().expect("bug: a store ends inside of a value");
        self.0 = rest;
        *first
    }

    /// Returns the next index or length.
    pub(super) fn size(&mut self) -> usize {
        usize::try_from(self.count()).expect("written from a usize")
    }

    /// Returns the next number that may be absent.
    pub(super) fn maybe(&mut self) -> Option<u64> {
        self.count().checked_sub(1)
    }

    /// Returns the next index that may be absent.
    pub(super) fn maybe_size(&mut self) -> Option<usize> {
        self.size().checked_sub(1)
    }

    /// Returns the next flag.
    pub(super) fn flag(&mut self) -> bool {
        self.byte() != 0
    }

    /// Returns the next text.
    pub(super) fn text(&mut self) -> &'b str {
        let size = self.size();
        let (text, rest) = self.0.split_at(size);
        self.0 = rest;
        std::str::from_utf8(text).expect("written from a text")
    }

    /// Returns as many values as the next number says.
    pub(super) fn list<T>(&mut self, mut next: impl FnMut(&mut Self) -> T) -> Vec<T> {
        (0..self.size()).map(|_| next(self)).collect()
    }
}

fn low_bits(count: u64) -> u8 {
    u8::try_from(count & 0x7f).expect("seven bits")
}

/// Returns an index or a length as the number that is written.
pub(super) fn wide(size: usize) -> u64 {
    u64::try_from(size).expect("at most 64 bits")
}
