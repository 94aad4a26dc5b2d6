//! Bodies of answers: however reads fall, an answer is the same but for its stamps, and no later read changes what came before.

use touchstone::record::{Channel, ExchangeError, Reply, Usage};
use touchstone::replay::answer::AnswerReader;
use touchstone::units::Nanos;
use touchstone::workload::live::Api;

/// What an answer is, apart from when it came.
#[derive(Debug, PartialEq)]
struct Said {
    channels: Vec<(Channel, u32)>,
    reply: Reply,
    usage: Option<Usage>,
    finish: Option<String>,
    outcome: Result<(), ExchangeError>,
}

/// Checks a body; its first byte says which API it is of, the next seven how long reads are, in turn.
pub(crate) fn check(bytes: &[u8]) {
    let (head, body) = bytes.split_at(bytes.len().min(8));
    let Some((api, sizes)) = head.split_first() else { return };
    let api = Api::ALL[usize::from(*api) % Api::ALL.len()];
    let mut reads = Vec::new();
    let mut rest = body;
    for size in sizes.iter().cycle() {
        let size = usize::from(*size).max(1).min(rest.len());
        reads.push(&rest[..size]);
        rest = &rest[size..];
        if rest.is_empty() {
            break;
        }
    }
    assert_eq!(said(api, &reads), said(api, &[body]));
}

/// Reads a body.
fn said(api: Api, reads: &[&[u8]]) -> Said {
    let mut reader = AnswerReader::new(api);
    let mut at = 0;
    let mut broken = None;
    for read in reads {
        at += 1;
        if let Err(error) = reader.read(read, Nanos::new(at)) {
            broken = Some(error);
            break;
        }
    }
    let (answer, outcome) = match broken {
        Some(error) => reader.broken(error),
        None => reader.end(Nanos::new(at)),
    };
    let stamps: Vec<Nanos> = answer.events.iter().map(|event| event.at).collect();
    assert!(stamps.is_sorted() && stamps.iter().all(|stamp| stamp.get() <= at), "{stamps:?}");
    Said {
        channels: answer.events.iter().map(|event| (event.channel, event.bytes)).collect(),
        reply: answer.reply,
        usage: answer.usage,
        finish: answer.finish_reason,
        outcome,
    }
}
