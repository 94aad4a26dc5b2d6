//! What a cache that forgets nothing serves of many trees.

use proptest::prelude::*;

use crate::graph::{Ceiling, CorpusCeiling, Graph, IdleGapCap};
use crate::units::Ppm;

use super::support::{call, dynamo, graphs, trace, weka};

/// Returns Weka traces of prompts, a second apart.
fn corpus(scope: &str, trees: &[Vec<Vec<u64>>]) -> Vec<Graph> {
    let lines: Vec<String> = trees
        .iter()
        .enumerate()
        .map(|(at, prompts)| {
            let calls = prompts
                .iter()
                .zip(0_u8..)
                .map(|(blocks, start)| call(f64::from(start), 0.5, blocks));
            trace(&calls.collect::<Vec<_>>())
                .replace(r#""id":"r""#, &format!(r#""id":"r{at}""#))
                .replace("\"local\"", &format!("\"{scope}\""))
        })
        .collect();
    graphs(&weka(lines.join("\n").as_bytes()), IdleGapCap::None)
}

/// Returns `served/full` with a cache for each tree and with one for all.
fn ceilings(graphs: &[Graph]) -> [String; 2] {
    let mut corpus = CorpusCeiling::default();
    for graph in graphs {
        corpus.add(graph);
    }
    [corpus.alone(), corpus.shared()]
        .map(|ceiling| format!("{}/{}", ceiling.reusable_blocks, ceiling.full_blocks))
}

#[test]
fn trees_serve_one_another_where_equal_names_mean_equal_text() {
    let trees = [vec![vec![1, 2], vec![1, 2, 3]], vec![vec![1, 2, 9], vec![7]]];
    assert_eq!(ceilings(&corpus("global", &trees)), ["2/9", "4/9"]);
    assert_eq!(ceilings(&corpus("local", &trees)), ["2/9", "2/9"]);
    // The same block behind another one is another text.
    let apart = [vec![vec![1, 2]], vec![vec![2, 1]]];
    assert_eq!(ceilings(&corpus("global", &apart)), ["0/4", "0/4"]);
    assert_eq!(Ceiling::of(&corpus("local", &trees)[0]).share().map(Ppm::get), Some(400_000));
    assert_eq!(ceilings(&[]), ["0/0", "0/0"]);
}

#[test]
fn blocks_that_nobody_recorded_are_served_within_their_tree_alone() {
    let record = |session: &str, at: u64| {
        format!(
            r#"{{"schema":"dynamo.request.trace.v1","event_type":"request_end","event_time_unix_ms":{at},"agent_context":{{"session_id":"{session}"}},"request":{{"request_id":"{session}-{at}","model":"m","input_tokens":32,"output_tokens":1,"request_received_ms":{at}}}}}"#
        )
    };
    let capture = [record("a", 1), record("a", 2), record("b", 3)].join("\n");
    assert_eq!(ceilings(&graphs(&dynamo(capture.as_bytes()), IdleGapCap::None)), ["2/6", "2/6"]);
}

proptest! {
    /// Each row of blocks is computed by the first prompt that begins with it, and served to all others, in any order of the trees.
    #[test]
    fn all_but_the_different_beginnings_are_served(
        trees in prop::collection::vec(prop::collection::vec(prop::collection::vec(0_u64..3, 0..6), 1..5), 1..5),
        turn in 0_usize..5,
    ) {
        let mut beginnings = std::collections::BTreeSet::new();
        let prompts = trees.iter().flatten();
        let full: usize = prompts.clone().map(Vec::len).sum();
        for prompt in prompts {
            beginnings.extend((1..=prompt.len()).map(|end| prompt[..end].to_vec()));
        }
        let mut graphs = corpus("global", &trees);
        let expected = format!("{}/{full}", full - beginnings.len());
        prop_assert_eq!(&ceilings(&graphs)[1], &expected);
        let by = turn % graphs.len();
        graphs.rotate_left(by);
        prop_assert_eq!(&ceilings(&graphs)[1], &expected);
        let alone: u64 = graphs.iter().map(|graph| Ceiling::of(graph).reusable_blocks).sum();
        prop_assert_eq!(&ceilings(&graphs)[0], &format!("{alone}/{full}"));
    }
}
