use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;

use crate::trace::{Shard, read_corpus};

use super::{refusal, row, scenario};

fn gzip(text: &str) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(text.as_bytes()).expect("to memory");
    encoder.finish().expect("to memory")
}

fn refused(name: &str, bytes: Vec<u8>) -> String {
    refusal(read_corpus(&[Shard::new(name, bytes)], &scenario()))
}

#[test]
fn every_member_of_a_stream_is_read() {
    let mut bytes = gzip(&row("0", "1"));
    bytes.extend(gzip(&row("1", "2")));
    let (corpus, _) = read_corpus(&[Shard::new("ab.jsonl.gz", bytes)], &scenario()).expect("right");
    assert_eq!(corpus.len(), 2);
}

#[test]
fn a_damaged_tail_is_refused_with_its_reason_and_the_row_reached() {
    let whole = gzip(&(row("0", "1") + &row("1", "2")));
    let cut = whole[..whole.len() - 6].to_vec();
    let mut flipped = whole.clone();
    let crc = flipped.len() - 8;
    flipped[crc] ^= 1;
    let with = |tail: &[u8]| whole.iter().copied().chain(tail.iter().copied()).collect::<Vec<u8>>();
    let size = whole.len();
    let cases = [
        (cut, format!("the gzip stream is cut: it ends inside member 1, after {} bytes", size - 6)),
        (
            flipped,
            "the gzip stream is damaged: the checksum of member 1 does not fit its contents"
                .to_owned(),
        ),
        (
            with(b"garbage"),
            format!("7 bytes that are no gzip member follow the end of the stream at byte {size}"),
        ),
        (with(&[0; 4]), format!("4 zero bytes follow the end of the gzip stream at byte {size}")),
        (
            with(&[0x1f, 0x8b]),
            format!("the gzip stream is cut: it ends inside member 2, after {} bytes", size + 2),
        ),
    ];
    for (bytes, reason) in cases {
        assert_eq!(
            refused("a.jsonl.gz", bytes),
            format!("a.jsonl.gz:2:1 trace::gzip: {reason}; 2 rows were readable")
        );
    }
}

#[test]
fn damage_inside_a_member_is_refused() {
    let mut bytes = gzip(&row("0", "1").repeat(50));
    let middle = bytes.len() / 2;
    for byte in &mut bytes[middle..middle + 4] {
        *byte = !*byte;
    }
    let found = refused("a.jsonl.gz", bytes);
    assert!(found.contains("trace::gzip: the gzip stream is"), "{found}");
}

#[test]
fn an_empty_file_and_a_wrong_name_either_way_are_called_so() {
    assert_eq!(
        refused("a.jsonl.gz", Vec::new()),
        "a.jsonl.gz:1:1 trace::gzip: the file is empty, and an empty file is no gzip stream; 0 rows were readable"
    );
    let found = refused("a.jsonl.gz", row("0", "1").into());
    assert!(
        found.contains("trace::extension: the file is no gzip stream: it starts with [7b, 22]"),
        "{found}"
    );
    assert_eq!(
        refused("a.jsonl", gzip(&row("0", "1"))),
        "a.jsonl:1:1 trace::extension: `a.jsonl` holds gzip and its name does not end in `.gz`"
    );
}

#[test]
fn problems_of_all_shards_come_at_once() {
    let shards = [Shard::new("a.gz", Vec::new()), Shard::new("b.gz", b"x".to_vec())];
    let found = read_corpus(&shards, &scenario()).expect_err("refused").into_sorted();
    assert_eq!(found.len(), 2);
}
