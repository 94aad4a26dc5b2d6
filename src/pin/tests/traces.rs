use crate::diag::{Bag, Problem};
use crate::digest::Sha256;
use crate::pin::{PinKind, PinnedFile, Registry, Scope};
use crate::trace::{ArrivalRule, HashIds};

use super::{project, with_files, write};

const ROW: &str = "{\"timestamp\":0,\"input_length\":5,\"output_length\":1,\"hash_ids\":[1]}\n";

/// Returns a pin of one plain file with a line for its `requests`.
fn pin(file: &[u8], requests: u64) -> String {
    let (digest, bytes) = (Sha256::of(file).hex(), file.len());
    format!(
        "trace \"t\" {{\n    format \"mooncake\"\n    block-size 512\n    timestamps unit=\"ms\"\n    shard \"t.jsonl\" sha256=\"{digest}\" bytes={bytes}\n    requests {requests}\n}}\n"
    )
}

fn refused(registry: &Registry) -> Vec<Problem> {
    let pin = registry.trace("t").expect("a pin");
    pin.open(registry.root()).expect_err("refused").into_sorted()
}

fn messages(text: &str) -> Vec<String> {
    let (_folder, registry) = with_files(&[("traces/t.kdl", text.as_bytes())]);
    let bag = Bag::from(registry.trace("t").expect_err("refused"));
    let found = bag.into_sorted();
    assert!(found.iter().all(|problem| problem.code().as_str() == "pin::field"), "{found:?}");
    found.iter().map(|problem| problem.message().to_owned()).collect()
}

#[test]
fn a_pinned_trace_is_read_from_the_bytes_that_were_verified() {
    let file = ROW.repeat(3);
    let (_folder, registry) = with_files(&[
        ("traces/t.kdl", pin(file.as_bytes(), 3).as_bytes()),
        ("traces/t.jsonl", file.as_bytes()),
    ]);
    let pin = registry.trace("t").expect("a pin");
    let (corpus, counts) =
        pin.read(registry.root(), ArrivalRule::Required, Some(2)).expect("verified");
    assert_eq!((corpus.len(), counts.rows, pin.requests()), (2, 2, Some(3)));
    let paths: Vec<&str> =
        pin.shards().iter().map(|PinnedFile { path, .. }| path.as_str()).collect();
    assert_eq!(paths, ["pins/traces/t.jsonl"]);
}

#[test]
fn another_size_or_digest_is_refused_before_anything_is_parsed() {
    let file = ROW.as_bytes();
    let (folder, registry) = with_files(&[("traces/t.kdl", pin(file, 1).as_bytes())]);
    let found = refused(&registry);
    assert_eq!(found[0].code().as_str(), "pin::file");

    write(folder.path(), &[("traces/t.jsonl", b"{")]);
    let found = refused(&registry).remove(0);
    assert_eq!(found.code().as_str(), "pin::size");
    let (pinned, other) = (Sha256::of(file), Sha256::of(b"{"));
    assert_eq!(
        found.message(),
        format!(
            "`pins/traces/t.jsonl` is not the pinned file\npinned {pinned} (66 bytes)\nfound  {other} (1 bytes)"
        )
    );
    assert_eq!(found.place().as_deref(), Some("pins/traces/t.kdl:5:28"));
    let help = found.help_text().expect("help");
    assert!(help.contains("`bench pin pins/traces/t.kdl --update t`"), "{help}");

    let same_size = ROW.replace('5', "6");
    write(folder.path(), &[("traces/t.jsonl", same_size.as_bytes())]);
    assert_eq!(refused(&registry)[0].code().as_str(), "pin::digest");
}

#[test]
fn the_same_rows_packed_otherwise_are_another_file_with_the_same_contents() {
    use crate::trace::pack_gzip;
    let rows = ROW.repeat(4);
    let whole = pack_gzip(rows.as_bytes());
    let halves =
        [pack_gzip(ROW.repeat(2).as_bytes()), pack_gzip(ROW.repeat(2).as_bytes())].concat();
    assert_ne!(whole, halves);
    let content = Sha256::of(rows.as_bytes()).hex();
    let pin = |packed: &[u8]| {
        pin(packed, 4)
            .replace("t.jsonl", "t.jsonl.gz")
            .replace(" bytes=", &format!(" content-sha256=\"{content}\" bytes="))
    };
    for (pinned, found) in [(&whole, &whole), (&halves, &halves)] {
        let files =
            [("traces/t.kdl", pin(pinned).into_bytes()), ("traces/t.jsonl.gz", found.clone())];
        let files = files.each_ref().map(|(name, bytes)| (*name, bytes.as_slice()));
        let (_folder, registry) = with_files(&files);
        let pin = registry.trace("t").expect("a pin");
        let read = pin.read(registry.root(), ArrivalRule::Required, None).expect("verified");
        assert_eq!(read.0.len(), 4);
    }
    let text = pin(&whole);
    let (_folder, registry) =
        with_files(&[("traces/t.kdl", text.as_bytes()), ("traces/t.jsonl.gz", &halves)]);
    let found = refused(&registry).remove(0);
    let (pinned, other) = (Sha256::of(&whole), Sha256::of(&halves));
    for digest in [pinned, other] {
        assert!(found.message().contains(&digest.to_string()), "{}", found.message());
    }
}

#[test]
fn other_contents_in_a_packed_file_and_another_count_are_refused() {
    let packed =
        std::fs::read(project().join("pins/traces/mooncake-tiny.jsonl.gz")).expect("pinned");
    let text =
        std::fs::read_to_string(project().join("pins/traces/mooncake-tiny.kdl")).expect("pinned");
    let text = text.replace("mooncake-tiny", "t");
    let content = text.find("content-sha256=\"").expect("stated") + 16;
    let mut other = text.clone();
    other.replace_range(content..content + 8, "00000000");
    let files = [("traces/t.jsonl.gz", packed.as_slice())];
    let (_folder, registry) = with_files(&[files[0], ("traces/t.kdl", other.as_bytes())]);
    let found = refused(&registry).remove(0);
    assert_eq!(found.code().as_str(), "pin::contents");
    assert!(found.message().ends_with("(2594 bytes in 16 lines)"), "{}", found.message());

    let wrong = text.replace("requests 16", "requests 17");
    let (_folder, registry) = with_files(&[files[0], ("traces/t.kdl", wrong.as_bytes())]);
    let found = refused(&registry).remove(0);
    assert_eq!(found.code().as_str(), "pin::requests");
    assert_eq!(found.message(), "`t` holds 16 requests, pinned are 17");
}

#[test]
fn fields_that_do_not_fit_the_format_are_refused() {
    let text = pin(ROW.as_bytes(), 1);
    assert_eq!(
        messages(&text.replace("    block-size 512\n", "")),
        ["the tokens that one hash id stands for are not in the file"]
    );
    assert_eq!(
        messages(&text.replace("    timestamps unit=\"ms\"\n", "")),
        ["the unit of `timestamp` is not stated: files are in `ms` and in `s`"]
    );
    assert_eq!(
        messages(&text.replace("mooncake", "azure")),
        [
            "a trace without hash ids has no block size",
            "the format `azure` fixes what its times mean",
        ]
    );
    assert_eq!(
        messages(&text.replace("t.jsonl", "../t.jsonl")),
        ["a pinned file lies beside its pin, found `../t.jsonl`"]
    );
}

#[test]
fn a_pin_that_does_not_describe_its_files_is_refused_with_the_command_that_fills_it_in() {
    let text = "trace \"t\" {\n    format \"mooncake\"\n    block-size 512\n    timestamps unit=\"ms\"\n    shard \"t.jsonl.gz\"\n}\n";
    let packed =
        std::fs::read(project().join("pins/traces/mooncake-tiny.jsonl.gz")).expect("pinned");
    let (_folder, registry) =
        with_files(&[("traces/t.kdl", text.as_bytes()), ("traces/t.jsonl.gz", &packed)]);
    let found = Bag::from(registry.trace("t").expect_err("refused")).into_sorted();
    let messages: Vec<&str> = found.iter().map(Problem::message).collect();
    assert_eq!(
        messages,
        [
            "the pin does not state how many requests it holds",
            "the pin does not state `sha256` of `t.jsonl.gz`",
            "the pin does not state `bytes` of `t.jsonl.gz`",
            "the pin does not state `content-sha256` of `t.jsonl.gz`",
        ]
    );
    assert!(found.iter().all(|problem| problem.code().as_str() == "pin::incomplete"));
    assert_eq!(found[1].help_text(), Some("`bench pin pins/traces/t.kdl` fills it in"));

    let described = registry.describe(PinKind::Trace, "t", Scope::Missing).expect("described");
    let expected =
        std::fs::read_to_string(project().join("pins/traces/mooncake-tiny.kdl")).expect("pinned");
    for part in expected.lines().filter(|line| line.contains("requests") || line.contains("shard"))
    {
        let part = part.replace("mooncake-tiny", "t");
        assert!(described.text.lines().any(|line| line == part), "{part}\n{}", described.text);
    }
    assert!(described.is_changed);
}

#[test]
fn azure_traces_have_no_hash_ids_and_exact_arrivals() {
    let registry = Registry::open(&project()).expect("the project");
    let pin = registry.trace("azure-code").expect("pinned");
    assert_eq!(pin.options(ArrivalRule::Required, None).expect("rows").hashes, HashIds::Absent);
    let (corpus, counts) =
        pin.read(registry.root(), ArrivalRule::Required, Some(4)).expect("verified");
    let arrivals: Vec<f64> = corpus.reader().rows().filter_map(|row| row.arrival_ms).collect();
    assert_eq!(arrivals, [0.0, 52.0, 98.189, 140.684]);
    assert_eq!(counts.span.map(|span| span.origin).as_deref(), Some("2023-11-16 18:17:03.9799600"));
}

#[test]
fn a_packed_shard_is_known_by_its_extension_in_any_case() {
    let text = pin(ROW.as_bytes(), 1).replace("t.jsonl", "T.JSONL.GZ");
    let (_folder, registry) = with_files(&[("traces/t.kdl", text.as_bytes())]);
    let found = Bag::from(registry.trace("t").expect_err("refused")).into_sorted().remove(0);
    assert_eq!(found.code().as_str(), "pin::incomplete");
    assert_eq!(found.message(), "the pin does not state `content-sha256` of `T.JSONL.GZ`");
}

#[test]
fn a_pinned_file_may_be_packed_with_zstandard() {
    let length = u32::try_from(ROW.len()).expect("short");
    let mut packed = vec![0x28, 0xb5, 0x2f, 0xfd, 0xa0];
    packed.extend(length.to_le_bytes());
    packed.extend(&(1 | length << 3).to_le_bytes()[..3]);
    packed.extend(ROW.as_bytes());
    let content = format!(" content-sha256=\"{}\"\n    requests", Sha256::of(ROW.as_bytes()).hex());
    let text =
        pin(&packed, 1).replace("t.jsonl", "t.jsonl.zst").replace("\n    requests", &content);
    let (_folder, registry) =
        with_files(&[("traces/t.kdl", text.as_bytes()), ("traces/t.jsonl.zst", &packed)]);
    let pin = registry.trace("t").expect("a pin");
    let (corpus, _) = pin.read(registry.root(), ArrivalRule::Required, None).expect("verified");
    assert_eq!((corpus.len(), pin.open(registry.root()).expect("verified").len()), (1, 1));
    let other = text.replace(&Sha256::of(ROW.as_bytes()).hex()[..8], "00000000");
    let (_folder, registry) =
        with_files(&[("traces/t.kdl", other.as_bytes()), ("traces/t.jsonl.zst", &packed)]);
    assert_eq!(refused(&registry)[0].code().as_str(), "pin::contents");
}

#[test]
fn a_table_is_pinned_with_what_its_columns_say() {
    let file = b"when,in,out,why\n2.5,8,4,a\n";
    let text = pin(file, 1)
        .replace("mooncake", "csv")
        .replace(
            "    block-size 512\n",
            "    columns timestamp=\"when\" input=\"in\" output=\"out\"\n",
        )
        .replace("\"ms\"", "\"s\"");
    let (_folder, registry) =
        with_files(&[("traces/t.kdl", text.as_bytes()), ("traces/t.jsonl", file)]);
    let pin = registry.trace("t").expect("a pin");
    let (corpus, counts) =
        pin.read(registry.root(), ArrivalRule::Required, None).expect("verified");
    assert_eq!(corpus.reader().row(0).arrival_ms, Some(2500.0));
    assert_eq!(counts.unknown_keys.get("why"), Some(&1));
    // Whatever changes the rows moves the digest.
    let other = text.replace("unit=\"s\"", "unit=\"calendar\"");
    let (_folder, registry) = with_files(&[("traces/t.kdl", other.as_bytes())]);
    assert_ne!(registry.trace("t").expect("a pin").digest(), pin.digest());
    assert_eq!(
        messages(&text.replace("    columns timestamp=\"when\" input=\"in\" output=\"out\"\n", "")),
        ["which columns say what is not stated"]
    );
    assert_eq!(
        messages(&text.replace("timestamp=\"when\" ", "")),
        ["a column of times and their unit are stated together"]
    );
    assert_eq!(
        messages(&text.replace("csv", "burstgpt")),
        ["the columns of this format are known", "the format `burstgpt` fixes what its times mean"]
    );
    assert_eq!(
        messages(&pin_of(ROW).replace("\"ms\"", "\"calendar\"")),
        ["times of JSON rows are numbers"]
    );
}

fn pin_of(rows: &str) -> String {
    pin(rows.as_bytes(), 1)
}
