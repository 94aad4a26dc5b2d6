//! Rows on tapes, in memory or in files, and views of them.

use proptest::prelude::*;

use super::*;

/// A row: gap to the line before, arrival, whether it opens a session, hash ids, whether it has a name.
type Shape = (u8, Option<u8>, bool, Vec<u64>, bool);

fn corpus(rows: &[Shape], at_most: usize) -> Corpus {
    let block = BlockSize::new(16).expect("not zero");
    let mut corpus = Corpus::on_tapes(block, || Tape::keeping(at_most));
    let (mut line, mut open) = (0, None);
    for (place, (gap, arrival, opens, ids, is_named)) in rows.iter().enumerate() {
        line += 1 + u64::from(gap % 3);
        let session = match open {
            Some(session) if !opens => session,
            _ => corpus.add_session(SessionName::Row(line)),
        };
        open = Some(session);
        let row = CorpusRow {
            line,
            arrival_ms: arrival.map(f64::from),
            input: Tokens::new(16 * ids.len() as u64),
            output: Tokens::new(u64::from(*gap)),
            session,
            delay_ms: f64::from(*gap) / 8.0,
            request_id: is_named.then(|| format!("r{place}")),
        };
        // Every third row has its last ids as a count, as long as they are one.
        let run = (1..=ids.len())
            .rev()
            .take_while(|at| *at == ids.len() || ids[*at].checked_sub(1) == Some(ids[at - 1]));
        let stated = ids.len() - if place % 3 == 0 { run.count() } else { 0 };
        match ids[stated..] {
            [first, ..] if first < u64::MAX - 100 => {
                let counted = first..first + (ids.len() - stated) as u64;
                corpus.add_counted_row(&row, &ids[..stated], counted);
            }
            _ => corpus.add_row(&row, ids),
        }
    }
    corpus.complete().expect("a temporary file");
    corpus
}

/// Returns all that a reader says of the rows.
fn shown(corpus: &Corpus) -> Vec<String> {
    let reader = corpus.reader();
    let row = |row: RecordedRow| {
        let (ids, id) = (reader.hash_ids(&row), reader.request_id(&row));
        format!("{row:?} {ids:?} {id:?} {}", reader.session(&row))
    };
    reader.rows().map(row).collect()
}

fn shapes() -> impl Strategy<Value = Vec<Shape>> {
    let named = prop::collection::vec(any::<u64>(), 0..20);
    let ids = (named, any::<u32>(), 0_u64..20).prop_map(|(mut ids, first, count)| {
        ids.extend(u64::from(first)..u64::from(first) + count);
        ids
    });
    let row = (any::<u8>(), prop::option::of(any::<u8>()), any::<bool>(), ids, any::<bool>());
    prop::collection::vec(row, 1..60)
}

impl Corpus {
    /// Returns how many bytes hash ids take, in memory or in a file.
    pub(crate) fn id_bytes(&self) -> u64 {
        self.store.hash_ids.len()
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_corpus_in_temporary_files_is_that_in_memory(rows in shapes(), at_most in 1_usize..4000, first in 0_usize..70) {
        let (kept, spilled) = (corpus(&rows, usize::MAX), corpus(&rows, at_most));
        prop_assert_eq!(shown(&kept), shown(&spilled));
        let (kept, spilled) = (kept.first(first), spilled.first(first));
        prop_assert_eq!((shown(&kept), kept.len()), (shown(&spilled), first.min(rows.len())));
        prop_assert_eq!(shown(&kept.sorted_by_arrival()), shown(&spilled.sorted_by_arrival()));
        // The first rows of a trace are the trace of the first rows.
        let alone = corpus(&rows[..first.min(rows.len())], usize::MAX);
        prop_assert_eq!(shown(&kept), shown(&alone));
        prop_assert_eq!(kept.is_ascending(), alone.is_ascending());
        prop_assert_eq!(kept.is_plain(), alone.is_plain());
    }

    #[test]
    fn ids_that_are_kept_as_a_count_are_read_as_they_were_given(rows in shapes(), at_most in 1_usize..4000) {
        let corpus = corpus(&rows, at_most);
        let reader = corpus.reader();
        for (row, (.., ids, _)) in reader.rows().zip(&rows) {
            prop_assert_eq!(&reader.hash_ids(&row), ids);
            prop_assert_eq!(row.hash_id_count(), ids.len());
        }
    }

    #[test]
    fn a_line_finds_its_row_or_none(rows in shapes(), at_most in 1_usize..4000) {
        let corpus = corpus(&rows, at_most);
        let reader = corpus.reader();
        let last = reader.row(corpus.len() - 1).line;
        for line in 0..last + 3 {
            let found = reader.rows().find(|row| row.line == line);
            prop_assert_eq!(reader.row_of_line(line), found, "line {}", line);
        }
    }

    #[test]
    fn rows_are_sorted_stably_with_their_sessions(rows in shapes()) {
        let corpus = corpus(&rows, usize::MAX);
        let sorted = corpus.sorted_by_arrival();
        let start = |session: usize| {
            let first = corpus.reader().rows().find(|row| row.session == session);
            first.expect("a row").arrival_ms.unwrap_or(f64::NEG_INFINITY)
        };
        let keys: Vec<(f64, u64)> =
            sorted.reader().rows().map(|row| (start(row.session), row.line)).collect();
        prop_assert!(keys.is_sorted(), "{:?}", keys);
        prop_assert_eq!(keys.len(), rows.len());
    }
}
