//! A stream that is read ahead on a thread of its own: unpacking and reading rows take about as long as one another.

use std::io::{self, BufRead, ErrorKind, Read};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

/// How many pieces lie between the two threads at the most.
const PIECES: usize = 4;

/// What was read ahead, in order.
pub(super) struct Ahead {
    pieces: Receiver<io::Result<Vec<u8>>>,
    used: SyncSender<Vec<u8>>,
    piece: Vec<u8>,
    at: usize,
}

/// Hands a stream to `take`, which reads it while it is read ahead in pieces of `size` bytes; returns the stream, as far as it was read, and
/// what `take` says.
pub(super) fn read_ahead<R: Read + Send, T>(
    mut from: R,
    size: usize,
    take: impl FnOnce(&mut Ahead) -> T,
) -> (R, T) {
    let (into, pieces) = sync_channel(PIECES);
    let (used, free) = sync_channel(PIECES + 1);
    std::thread::scope(|scope| {
        let ahead = scope.spawn(move || {
            loop {
                let mut piece: Vec<u8> = free.try_recv().unwrap_or_default();
                piece.resize(size, 0);
                let read = fill(&mut from, &mut piece);
                let is_last = !matches!(read, Ok(count) if count == size);
                let sent = read.map(|count| {
                    piece.truncate(count);
                    piece
                });
                // Whoever reads may have had enough.
                if into.send(sent).is_err() || is_last {
                    return from;
                }
            }
        });
        let mut reader = Ahead { pieces, used, piece: Vec::new(), at: 0 };
        let taken = take(&mut reader);
        drop(reader);
        let from = ahead.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        (from, taken)
    })
}

/// Reads until a piece is full or the stream ends; returns how much was read.
fn fill(from: &mut impl Read, piece: &mut [u8]) -> io::Result<usize> {
    let mut count = 0;
    while count < piece.len() {
        match from.read(&mut piece[count..]) {
            Ok(0) => break,
            Ok(read) => count += read,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(count)
}

impl Read for Ahead {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let mut left = self.fill_buf()?;
        let count = left.read(into)?;
        self.consume(count);
        Ok(count)
    }
}

impl BufRead for Ahead {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.at == self.piece.len()
            && let Ok(next) = self.pieces.recv()
        {
            let used = std::mem::replace(&mut self.piece, next?);
            self.at = 0;
            // Where nobody takes it, it is of no use.
            drop(self.used.try_send(used));
        }
        Ok(&self.piece[self.at..])
    }

    fn consume(&mut self, count: usize) {
        self.at += count;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes in portions of seven; fails behind them where it is to.
    struct Portions<'a>(&'a [u8], Option<ErrorKind>);

    impl Read for Portions<'_> {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            let count = into.len().min(7).min(self.0.len());
            match self.1 {
                Some(kind) if count == 0 => Err(kind.into()),
                _ => (&mut self.0).read(&mut into[..count]),
            }
        }
    }

    #[test]
    fn what_is_read_ahead_is_the_stream_whole_and_in_order() {
        let bytes: Vec<u8> = (0..2000_u32).flat_map(u32::to_le_bytes).collect();
        for size in [1, 7, 8, 1000, 8000, 100_000] {
            let (from, read) = read_ahead(Portions(&bytes, None), size, |stream| {
                let mut read = Vec::new();
                stream.read_to_end(&mut read).map(|_| read)
            });
            assert_eq!(read.expect("no error"), bytes, "in pieces of {size}");
            assert!(from.0.is_empty());
        }
    }

    #[test]
    fn an_error_comes_where_the_stream_has_it_and_one_who_stops_early_is_not_waited_for() {
        let bytes = [1; 100];
        let failing = Portions(&bytes, Some(ErrorKind::InvalidData));
        let (_, read) = read_ahead(failing, 30, |stream| {
            let mut read = Vec::new();
            stream.read_to_end(&mut read).map_err(|error| (error.kind(), read.len()))
        });
        assert_eq!(read, Err((ErrorKind::InvalidData, 90)), "the piece that was not full is lost");
        let (_, first) = read_ahead(io::repeat(3), 10, |stream| {
            let mut first = [0; 4];
            stream.read_exact(&mut first).map(|()| first)
        });
        assert_eq!(first.expect("four bytes"), [3; 4]);
    }
}
