//! Laws over generated inputs: reading never panics, and a plain row is read as the format's plain meaning.

use proptest::prelude::*;

use std::sync::Arc;

use crate::trace::{
    ArrivalRule, ColumnTime, Columns, HashIds, ReadOptions, RowOrder, Shard, Strictness, TimeUnit,
    TimestampBasis, TraceFormat, read_corpus,
};

use super::{all_ids, block, ids_of, read, row, scenario};

fn any_options() -> impl Strategy<Value = ReadOptions> {
    let format = prop::sample::select(TraceFormat::ALL);
    let strictness =
        prop::sample::select(vec![Strictness::DynoSim, Strictness::Scenario, Strictness::Lenient]);
    let unit = prop::sample::select(TimeUnit::ALL);
    let rest = (any::<[bool; 3]>(), prop::option::of(0_u64..4), 1_u32..2000);
    (format, strictness, unit, rest).prop_map(|(format, strictness, unit, rest)| {
        let ([ids, required, sorted], first_rows, size) = rest;
        ReadOptions {
            format,
            block_size: block(size),
            strictness,
            hashes: if ids { HashIds::Expected } else { HashIds::Absent },
            arrivals: if required { ArrivalRule::Required } else { ArrivalRule::Ignored },
            order: if sorted { RowOrder::Sorted } else { RowOrder::AsWritten },
            unit,
            first_rows,
            basis: TimestampBasis::Auto,
            is_block_size_stated: ids,
            columns: required.then(|| {
                let timestamp = Some(("TIMESTAMP".to_owned(), ColumnTime::Calendar));
                let (input, output) = ("ContextTokens".to_owned(), "GeneratedTokens".to_owned());
                Arc::new(Columns { timestamp: timestamp.filter(|_| ids), input, output })
            }),
            faulty_rows_max: 10,
        }
    })
}

/// Bytes that are nearly a trace: valid rows with some bytes replaced.
fn nearly_a_trace() -> impl Strategy<Value = Vec<u8>> {
    let texts = [
        row("0", "1") + &row("1", "18446744073709551615"),
        "{\"session_id\":\"s\",\"timestamp\":1.5e3,\"output_tokens\":0,\"hash_ids\":[1,2]}\n"
            .repeat(2),
        "{\"id\":\"a\",\"block_size\":4,\"hash_id_scope\":\"local\",\"requests\":[{\"type\":\"n\",\"t\":0.5,\"model\":\"m\",\"in\":9,\"out\":1,\"hash_ids\":[1,2]},{\"type\":\"subagent\",\"t\":1,\"agent_id\":\"b\",\"status\":\"completed\",\"requests\":[{\"type\":\"s\",\"t\":2e0,\"model\":\"m\",\"in\":4,\"out\":1,\"hash_ids\":[1]}]}]}\n".to_owned(),
        "{\"schema\":\"dynamo.request.trace.v1\",\"event_type\":\"request_end\",\"event_time_unix_ms\":9,\"agent_context\":{\"session_id\":\"s\"},\"request\":{\"request_id\":\"a\",\"output_tokens\":1,\"total_time_ms\":3.5,\"replay\":{\"trace_block_size\":4,\"input_length\":4,\"input_sequence_hashes\":[7]}}}\n".to_owned(),
        "{\"schema\":\"dynamo.agentic_mooncake\",\"version\":2,\"block_size\":4,\"hash_id_scope\":\"local\",\"source\":{\"format\":\"f\",\"digest\":\"d\"}}\n{\"request_id\":\"a\",\"play_id\":\"p\",\"session_id\":\"s\",\"model\":\"m\",\"input_length\":4,\"output_length\":1,\"hash_ids\":[1],\"not_before_ms\":0,\"dependencies\":[]}\n".to_owned(),
        "{\"num_turns\":1,\"input_prompt_length\":9,\"assistant_response_length\":[2],\"tool_call_output_length\":[3],\"tool_call_latency\":[0.5],\"final_assistant_response_length\":7}\n".to_owned(),
        "TIMESTAMP,ContextTokens,GeneratedTokens\r\n2023-11-16 18:17:03.9799600,4808,10\r\n"
            .to_owned(),
    ];
    let edits = prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4);
    (prop::sample::select(texts.to_vec()), edits).prop_map(|(text, edits)| {
        let mut bytes = text.into_bytes();
        for (at, byte) in edits {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        bytes
    })
}

proptest! {
    #[test]
    fn reading_never_panics(
        bytes in prop_oneof![prop::collection::vec(any::<u8>(), 0..200), nearly_a_trace()],
        name in prop::sample::select(vec!["t.jsonl", "t.csv.gz", "t"]),
        options in any_options(),
    ) {
        let read = read_corpus(&[Shard::new(name, bytes)], &options);
        if let Err(bag) = read {
            prop_assert!(bag.has_errors());
        }
    }

    #[test]
    fn a_plain_row_is_read_as_it_is_written(
        time in 0.0_f64..1e15,
        output in any::<u32>(),
        ids in prop::collection::vec(any::<u64>(), 1..20),
    ) {
        let input = ids.len() * 512 - 3;
        let value = serde_json::json!({
            "timestamp": time, "input_length": input, "output_length": output, "hash_ids": ids,
        });
        let (corpus, counts) = read(&value.to_string(), &scenario()).expect("a right row");
        let row = corpus.reader().row(0);
        prop_assert_eq!(row.arrival_ms.map(f64::to_bits), Some(time.to_bits()));
        prop_assert_eq!((row.input.get(), row.output.get()), (input as u64, u64::from(output)));
        prop_assert_eq!(ids_of(&corpus, 0), ids);
        prop_assert_eq!(counts.rows, 1);
    }

    #[test]
    fn sorting_keeps_every_row_and_the_order_of_equal_times(times in prop::collection::vec(0_u32..5, 1..40)) {
        let text: String = (0_u64..).zip(&times).map(|(id, time)| row(&time.to_string(), &id.to_string())).collect();
        let sorted = ReadOptions { order: RowOrder::Sorted, ..scenario() };
        let (corpus, _) = read(&text, &sorted).expect("right rows");
        let mut expected: Vec<(u32, u64)> = times.iter().copied().zip(0_u64..).collect();
        expected.sort_by_key(|(time, _)| *time);
        let found: Vec<u64> = all_ids(&corpus);
        prop_assert_eq!(found, expected.into_iter().map(|(_, id)| id).collect::<Vec<_>>());
    }
}
