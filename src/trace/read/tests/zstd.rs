use crate::trace::{ReadOptions, Shard, TraceFormat, read_corpus, read_watched};

use super::{arrivals, block, refusal, row, scenario};

/// Returns a Zstandard frame that holds a text as it is.
fn frame(text: &str) -> Vec<u8> {
    let length = u32::try_from(text.len()).expect("short");
    let mut bytes = vec![0x28, 0xb5, 0x2f, 0xfd, 0xa0];
    bytes.extend(length.to_le_bytes());
    bytes.extend(&(1 | length << 3).to_le_bytes()[..3]);
    bytes.extend(text.as_bytes());
    bytes
}

#[test]
fn rows_in_zstandard_frames_are_those_of_the_plain_file() {
    let rows = [row("0", "1"), row("1", "2")];
    let bytes = rows.iter().flat_map(|row| frame(row)).collect::<Vec<u8>>();
    let shards = [Shard::new("a.jsonl.zst", bytes.clone())];
    let (corpus, _) = read_corpus(&shards, &scenario()).expect("right");
    assert_eq!(arrivals(&corpus), [Some(0.0), Some(1.0)]);
    let seen = read_watched(&shards, &scenario(), &[None]).expect("read line by line").seen;
    assert_eq!((seen[0].bytes, seen[0].rows), (bytes.len() as u64, 2));
    assert_eq!(seen[0].sha256, crate::digest::Sha256::of(&bytes));
    assert_eq!(seen[0].content_sha256, crate::digest::Sha256::of(rows.concat().as_bytes()));
    let csv = "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:17:03,1,1\n";
    let options = ReadOptions::strict(TraceFormat::Azure, block(512));
    let (corpus, _) = read_corpus(&[Shard::new("a.csv.zst", frame(csv))], &options).expect("right");
    assert_eq!(corpus.len(), 1);
}

#[test]
fn a_damaged_frame_and_a_wrong_name_are_called_so() {
    let refused = |name: &str, bytes: &[u8]| {
        refusal(read_corpus(&[Shard::new(name, bytes.to_vec())], &scenario()))
    };
    let whole = frame(&row("0", "1"));
    let cut = refused("a.jsonl.zst", &whole[..whole.len() - 6]);
    assert!(cut.contains("trace::zstd: truncated or corrupt Zstandard stream"), "{cut}");
    assert_eq!(
        refused("a.jsonl", &whole),
        "a.jsonl:1:1 trace::extension: `a.jsonl` holds Zstandard and its name does not end in `.zst`"
    );
    assert_eq!(
        refused("a.jsonl.zst", b"{}"),
        "a.jsonl.zst:1:1 trace::extension: `a.jsonl.zst` ends in `.zst` and is no Zstandard stream"
    );
}
