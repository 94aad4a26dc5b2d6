//! Words, blocks and fillers under the tokenizers themselves.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::sync::{Arc, LazyLock};

use proptest::prelude::*;

use crate::diag::Code;
use crate::graph::ir::NodeIndex;
use crate::units::{BlockSize, Tokens};

use super::{Scope, Synthesis, Tokenizer, Vocabulary};

/// Returns the synthesis of a seed under the tokenizer in the binary, whose words are chosen once.
pub(in crate::graph) fn builtin(seed: u64) -> Synthesis {
    static WORDS: LazyLock<Synthesis> = LazyLock::new(|| {
        Synthesis::new(0, Arc::new(Tokenizer::builtin())).expect("o200k has words")
    });
    WORDS.with_seed(seed)
}

fn size(tokens: u32) -> BlockSize {
    BlockSize::new(tokens).expect("no zero")
}

/// Returns the text of recorded blocks.
fn blocks(synthesis: &Synthesis, scope: Scope<'_>, names: &[u64], tokens: u32) -> String {
    let texts = synthesis.texts(scope, "tree");
    let mut text = Vec::new();
    for name in names {
        texts.recorded(*name, size(tokens), &mut text);
    }
    String::from_utf8(text).expect("ASCII")
}

fn filler(synthesis: &Synthesis, tree: &str, node: usize, tokens: u64) -> String {
    let mut text = Vec::new();
    synthesis.fillers(tree).append(NodeIndex(node), Tokens::new(tokens), &mut text);
    String::from_utf8(text).expect("ASCII")
}

/// A `tokenizer.json` whose tokens are words behind a space.
pub(in crate::graph) fn word_file(words: &[String]) -> Vec<u8> {
    let mut vocabulary = String::from("{\"?\":0");
    for (index, word) in words.iter().enumerate() {
        write!(vocabulary, ",\"{word}\":{}", index + 1).expect("a String takes every write");
    }
    format!(
        r#"{{"version":"1.0","truncation":{{"direction":"Right","max_length":4,"strategy":"LongestFirst","stride":0}},"padding":null,"added_tokens":[],"normalizer":null,"pre_tokenizer":{{"type":"Whitespace"}},"post_processor":null,"decoder":null,"model":{{"type":"WordLevel","vocab":{vocabulary}}},"unk_token":"?"}}}}"#
    )
    .into_bytes()
}

/// Returns as many different words of four letters.
pub(in crate::graph) fn four_letters(count: usize) -> Vec<String> {
    let letter = |at: usize| char::from(b'a' + u8::try_from(at % 26).expect("below 26"));
    (0..count).map(|at| [at / 676, at / 26, at, 3].map(letter).iter().collect()).collect()
}

#[test]
fn the_digest_of_the_builtin_tokenizer_is_that_of_its_published_file() {
    let mut file = String::new();
    let tiktoken = tiktoken_rs::o200k_base_singleton();
    for rank in 0..super::tokenizer::O200K_RANKS {
        let bytes = tiktoken.decode_bytes(&[rank]).expect("no gap");
        writeln!(file, "{} {rank}", base64(&bytes)).expect("a String takes every write");
    }
    assert_eq!(crate::digest::Sha256::of(file.as_bytes()), Tokenizer::builtin().digest());
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for group in bytes.chunks(3) {
        let bits = [0, 1, 2].map(|at| u32::from(*group.get(at).unwrap_or(&0)));
        let bits = bits[0] << 16 | bits[1] << 8 | bits[2];
        for at in 0..4_u32 {
            let digit = usize::try_from(bits >> (18 - 6 * at) & 63).expect("six bits");
            let is_there = usize::try_from(at).expect("below 4") <= group.len();
            text.push(if is_there { char::from(DIGITS[digit]) } else { '=' });
        }
    }
    text
}

#[test]
fn words_of_o200k_are_one_token_each_alone_in_a_row_and_at_the_start_of_a_text() {
    let synthesis = builtin(1);
    let (tokenizer, vocabulary) = (synthesis.tokenizer(), synthesis.vocabulary());
    assert_eq!(
        (vocabulary.width(), vocabulary.block_words(), vocabulary.filler_words()),
        (5, 2048, 512)
    );
    let text = blocks(&synthesis, Scope::Corpus, &[1, 2, 3], 64);
    assert_eq!(text.len(), 3 * 64 * 5);
    assert_eq!(tokenizer.count(&text), Tokens::new(192));
    // A chat template may trim a message: it is as many tokens then.
    assert_eq!(tokenizer.count(text.trim_start()), Tokens::new(192));
    assert_eq!(vocabulary.count(text.as_bytes()), Some(Tokens::new(192)));
    for foreign in ["word", " words", " wor", " Word", " xqzj"] {
        assert_eq!(vocabulary.count(foreign.as_bytes()), None, "{foreign}");
    }
}

#[test]
fn the_text_of_a_block_is_pinned() {
    // Whoever moves these moves the digest of every store: say so in the changelog.
    let text = blocks(&builtin(42), Scope::Corpus, &[14_879_255_164_371_896_291], 8);
    assert_eq!(text, " rech nich find adem iced done idee fico");
}

#[test]
fn case_3_another_seed_or_another_tokenizer_is_another_text() {
    let text = |synthesis: &Synthesis| blocks(synthesis, Scope::Corpus, &[7, 8], 16);
    assert_eq!(text(&builtin(7)), text(&builtin(7)));
    assert_ne!(text(&builtin(7)), text(&builtin(8)));
    let file = Tokenizer::from_json("t.json", &word_file(&four_letters(700))).expect("a tokenizer");
    assert_ne!(text(&Synthesis::new(7, Arc::new(file)).expect("words")), text(&builtin(7)));
}

#[test]
fn case_4_equal_names_are_equal_text_as_far_as_the_scope_goes() {
    let synthesis = builtin(7);
    let text = |scope| blocks(&synthesis, scope, &[5], 16);
    assert_eq!(text(Scope::Corpus), text(Scope::Corpus));
    assert_eq!(text(Scope::Tree("a")), text(Scope::Tree("a")));
    let all = [Scope::Corpus, Scope::Tree("a"), Scope::Tree("b")].map(text);
    assert_eq!(BTreeSet::from(all).len(), 3);
    let mut made_up = Vec::new();
    synthesis.texts(Scope::Corpus, "tree").made_up(5, size(16), &mut made_up);
    assert_ne!(made_up, text(Scope::Corpus).into_bytes(), "a made-up name is no recorded one");
}

#[test]
fn a_filler_has_no_word_of_a_block_and_is_its_nodes_own() {
    let synthesis = builtin(7);
    let names: Vec<u64> = (0..2000).collect();
    let text = blocks(&synthesis, Scope::Corpus, &names, 16);
    let words: BTreeSet<&str> = text.split_whitespace().collect();
    assert!(words.len() > 2000, "blocks use {} words", words.len());
    let one: BTreeSet<String> = (0..512).map(|node| filler(&synthesis, "t", node, 1)).collect();
    assert_eq!(one.len(), 512, "one token tells 512 nodes apart");
    let two: BTreeSet<String> = (0..4096).map(|node| filler(&synthesis, "t", node, 2)).collect();
    assert_eq!(two.len(), 4096, "two tokens tell more nodes apart than there are");
    assert!(one.iter().all(|text| !words.contains(text.trim())));
    let long = filler(&synthesis, "t", 1, 600);
    assert_eq!(synthesis.tokenizer().count(&long), Tokens::new(600));
    assert!(long.split_whitespace().all(|word| !words.contains(word)));
    assert_ne!(filler(&synthesis, "u", 1, 600), long, "another tree is another text");
}

#[test]
fn six_words_tell_any_two_names_apart() {
    let synthesis = builtin(7);
    // Names that differ in one bit, and their neighbours.
    let mut names: Vec<u64> = (0..64).map(|bit| 1 << bit).collect();
    names.extend(0..20_000);
    names.extend((0..20_000).map(|below| u64::MAX - below));
    names.sort_unstable();
    names.dedup();
    let texts = synthesis.texts(Scope::Corpus, "tree");
    let text = |name: &u64| {
        let mut text = Vec::new();
        texts.recorded(*name, size(6), &mut text);
        text
    };
    let all: BTreeSet<Vec<u8>> = names.iter().map(text).collect();
    assert_eq!(all.len(), names.len());
}

#[test]
fn a_tokenizer_file_is_taken_by_its_bytes_and_one_without_words_is_refused() {
    let bytes = word_file(&four_letters(700));
    let tokenizer = Tokenizer::from_json("t.json", &bytes).expect("a tokenizer");
    assert_eq!((tokenizer.name(), tokenizer.digest()), ("file", crate::digest::Sha256::of(&bytes)));
    let synthesis = Synthesis::new(7, Arc::new(tokenizer)).expect("words");
    let words = synthesis.vocabulary();
    assert_eq!((words.block_words(), words.filler_words()), (512, 128));
    // What the file says of truncation is for training.
    let text = blocks(&synthesis, Scope::Corpus, &[1, 2, 3], 33);
    assert_eq!(synthesis.tokenizer().count(&text), Tokens::new(99));
    let code = |bytes: &[u8]| {
        let tokenizer = Tokenizer::from_json("t.json", bytes)?;
        Vocabulary::of(&tokenizer).map(|_| ())
    };
    let few = code(&word_file(&four_letters(300))).expect_err("too few words");
    assert_eq!(few.code(), Code::GraphVocabulary);
    assert_eq!(code(b"{}").expect_err("no tokenizer").code(), Code::GraphTokenizer);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Blocks of any size in any order, cut into messages anywhere, are exactly as many tokens as they stand for.
    #[test]
    fn any_blocks_cut_anywhere_are_exactly_as_many_tokens(
        names in proptest::collection::vec(any::<u64>(), 1..12),
        tokens in 1_u32..=512,
        cuts in proptest::collection::vec(any::<proptest::sample::Index>(), 0..4),
        rest in 0_u64..40,
    ) {
        let synthesis = builtin(11);
        let mut text = blocks(&synthesis, Scope::Corpus, &names, tokens);
        text.push_str(&filler(&synthesis, "tree", 3, rest));
        let words = text.len() / 5;
        let mut at: Vec<usize> = cuts.iter().map(|cut| cut.index(words + 1) * 5).collect();
        at.extend([0, text.len()]);
        at.sort_unstable();
        for pair in at.windows(2) {
            let message = &text[pair[0]..pair[1]];
            let expected = u64::try_from(message.len() / 5).expect("few");
            prop_assert_eq!(synthesis.tokenizer().count(message), Tokens::new(expected));
            prop_assert_eq!(synthesis.count(message.as_bytes()), Tokens::new(expected));
        }
    }

    /// Equal names have equal text wherever they stand, and different names have different text.
    #[test]
    fn text_follows_the_name_and_nothing_else(
        names in proptest::collection::vec(0_u64..6, 2..20),
        tokens in 6_u32..=64,
    ) {
        let synthesis = builtin(12);
        let text = blocks(&synthesis, Scope::Corpus, &names, tokens);
        let width = 5 * usize::try_from(tokens).expect("32 bits");
        for (left, a) in names.iter().enumerate() {
            for (right, b) in names.iter().enumerate() {
                let block = |at: usize| &text[at * width..(at + 1) * width];
                prop_assert_eq!(block(left) == block(right), a == b);
            }
        }
    }
}
