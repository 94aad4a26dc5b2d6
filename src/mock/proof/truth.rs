//! The client's stamps against the server's, and both against the script.

use std::collections::BTreeMap;

use crate::units::Nanos;

use super::{Answered, Ran, Spread};

/// How far what a client saw is from what was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Truth {
    /// How long after its write the first output was read.
    pub first: Option<Spread>,
    /// How far each gap between two reads is from the gap between the two writes.
    pub gaps: Option<Spread>,
    /// How far the time from sending to the first read is from the script's.
    pub first_of_script: Option<Spread>,
    /// How far each gap between two reads is from the script's.
    pub gaps_of_script: Option<Spread>,
    /// How late the client took up requests that had an instant of their own.
    pub lateness: Option<Spread>,
    /// Answers that were whole, and whose messages the server wrote as many of.
    pub matched: u64,
    /// All others.
    pub lost: u64,
    /// Messages of output that were read.
    pub outputs: u64,
}

/// Returns how far what a client saw is from what was written; the script's first output comes after `first`, others `gap` apart.
pub fn truth(ran: &Ran, first: Nanos, gap: Nanos) -> Truth {
    let written: BTreeMap<u64, &[Nanos]> = ran
        .stamps
        .answers
        .iter()
        .filter_map(|answer| {
            let id = answer.request_id.as_ref()?.parse().ok()?;
            Some((id, answer.outputs.as_slice()))
        })
        .collect();
    let mut seen = Seen::default();
    for answer in &ran.answers {
        let written = written.get(&answer.number).copied().unwrap_or_default();
        if answer.is_whole && written.len() == answer.outputs.len() {
            seen.take(ran, answer, written, (first, gap));
        } else {
            seen.lost += 1;
        }
    }
    Truth {
        first: Spread::of(seen.first),
        gaps: Spread::of(seen.gaps),
        first_of_script: Spread::of(seen.first_of_script),
        gaps_of_script: Spread::of(seen.gaps_of_script),
        lateness: Spread::of(seen.lateness),
        matched: seen.matched,
        lost: seen.lost,
        outputs: seen.outputs,
    }
}

/// Errors so far.
#[derive(Default)]
struct Seen {
    first: Vec<Nanos>,
    gaps: Vec<Nanos>,
    first_of_script: Vec<Nanos>,
    gaps_of_script: Vec<Nanos>,
    lateness: Vec<Nanos>,
    matched: u64,
    lost: u64,
    outputs: u64,
}

impl Seen {
    /// Takes an answer whose messages were written at `written`.
    fn take(&mut self, ran: &Ran, answer: &Answered, written: &[Nanos], script: (Nanos, Nanos)) {
        self.matched += 1;
        self.outputs += written.len() as u64;
        if let Some(intended) = answer.intended {
            self.lateness.push(answer.begun.since(intended).unwrap_or_default());
        }
        let (here, there) = (ran.wall.epoch().get(), ran.stamps.wall.epoch().get());
        if let (Some(read), Some(write)) = (answer.outputs.first(), written.first()) {
            self.first.push(apart(here + read.get(), there + write.get()));
            let waited = read.since(answer.sent).unwrap_or_default();
            self.first_of_script.push(apart(waited.get(), script.0.get()));
        }
        for (read, write) in answer.outputs.windows(2).zip(written.windows(2)) {
            let (read, write) = (read[1].get() - read[0].get(), write[1].get() - write[0].get());
            self.gaps.push(apart(read, write));
            self.gaps_of_script.push(apart(read, script.1.get()));
        }
    }
}

/// Returns how far two times are apart.
fn apart(one: u64, other: u64) -> Nanos {
    Nanos::new(one.abs_diff(other))
}

#[cfg(test)]
mod tests {
    use super::super::{Load, Pace, run};
    use super::*;
    use crate::mock::{Address, Behaviour, Bind, Script, Security, Settings, start};
    use crate::replay::Wall;

    #[test]
    fn every_message_is_matched_with_its_write_and_read_after_it() {
        let server = start(Settings {
            bind: Bind::Loopback(0),
            security: Security::Plain,
            behaviour: Behaviour::Scripted(Script::fixed(
                Nanos::new(1_000_000),
                Nanos::new(100_000),
            )),
            wall: Wall::start(),
        })
        .expect("a server");
        let Address::Tcp(address) = *server.address() else { panic!("no port") };
        for pace in [Pace::InFlight(4), Pace::Every(Nanos::new(500_000))] {
            let ran = run(&Load { address, pace, requests: 12, tokens: 5 }).expect("it runs");
            let truth = truth(&ran, Nanos::new(1_000_000), Nanos::new(100_000));
            assert_eq!((truth.matched, truth.lost, truth.outputs), (12, 0, 60));
            assert_eq!(truth.first.map(|spread| spread.count), Some(12));
            assert_eq!(truth.gaps.map(|spread| spread.count), Some(48));
            assert_eq!(truth.lateness.is_some(), matches!(pace, Pace::Every(_)));
            for answer in &ran.answers {
                assert!(answer.intended.is_none_or(|intended| answer.begun >= intended), "early");
            }
        }
    }
}
