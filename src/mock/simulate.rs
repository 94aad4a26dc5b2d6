//! The server in virtual time: what a live run against the simulated mock is held against.

use std::collections::BTreeMap;

use crate::mock::api::{Api, Asked, words};
use crate::mock::engine::{ReadRequest, Reader, refused};
use crate::plan::SimulationJob;
use crate::record::{LiveRun, Outcome, RequestRecord, Usage};
use crate::replay::wire::WirePlan;
use crate::replay::{Happened, OutgoingRequest, VirtualEnd, VirtualServer, play};
use crate::sim::{Arriving, Live, live};
use crate::units::{Nanos, SimTime, Tokens};

/// Plays the wire plan of a replay in virtual time against the engine of its deployment: lanes, waits, answers in later prompts and
/// tokenised prompts are those of a live run against the mock, and nothing takes time but the engine.
///
/// # Errors
/// What the engine cannot do.
pub fn simulate(job: &SimulationJob, plan: &WirePlan) -> Result<LiveRun, String> {
    let played = live(job, |engine| {
        let reader = Reader::new();
        let mut server =
            Server { engine, reader, calls: BTreeMap::new(), refused: Vec::new(), gone: None };
        play(plan, &mut server)
    });
    played.map_err(|error| error.to_string())?
}

/// The engine as a server.
struct Server<'l, 'e> {
    engine: &'l mut Live<'e>,
    reader: Reader,
    /// By the engine's number: the request's own, its prompt tokens, and those asked for.
    calls: BTreeMap<u64, (usize, u64, u64)>,
    /// Requests that no engine sees, and why.
    refused: Vec<(Nanos, usize, String)>,
    /// The last instant of the engine: nothing arrives before it, to the bit.
    gone: Option<SimTime>,
}

impl VirtualServer for Server<'_, '_> {
    fn take(&mut self, at: Nanos, number: usize, request: &OutgoingRequest) {
        let api = Api::of_path(&request.path).expect("a plan names the path of an API");
        let asked = match Asked::read(api, &request.body) {
            Ok(asked) => asked,
            Err(error) => return self.refused.push((at, number, error.to_string())),
        };
        let tokens = asked.output();
        let read = match self.reader.read(&asked.prompt, tokens) {
            Ok(read) => read,
            Err(why) => return self.refused.push((at, number, why.to_owned())),
        };
        let count = read.tokens();
        let header = |wanted: &str| {
            let header = request.headers.iter().find(|(name, _)| name.eq_ignore_ascii_case(wanted));
            header.map(|(_, value)| value.as_bytes())
        };
        let affinity = asked.affinity(header);
        let ReadRequest { prompt, output } = read;
        let arriving = Arriving { prompt, output, tokens, affinity };
        let at = self.gone.map_or(at.into(), |gone| gone.max(at.into()));
        let engine = self.engine.arrive(at, arriving);
        self.calls.insert(engine, (number, count, tokens));
    }

    fn next_at(&mut self) -> Option<Nanos> {
        let refused = self.refused.first().map(|(at, ..)| *at);
        refused.into_iter().chain(self.engine.next_at().map(Nanos::from)).min()
    }

    fn go_on(&mut self) -> Result<Vec<Happened>, String> {
        if !self.refused.is_empty() {
            let refused = std::mem::take(&mut self.refused).into_iter();
            let end = |(_, number, why)| Happened::Ended(number, VirtualEnd::Refused(why));
            return Ok(refused.map(end).collect());
        }
        let happened = self.engine.go_on().map_err(|error| error.to_string())?;
        self.gone = Some(happened.at);
        let number = |request: u64| self.calls.get(&request).map(|(number, ..)| *number);
        let tokens = happened.tokens.iter();
        let mut all: Vec<Happened> = tokens
            .filter_map(|it| Some(Happened::Tokens(number(it.request)?, it.tokens)))
            .collect();
        for record in happened.ended {
            if let Some((number, prompt, _)) = self.calls.remove(&record.index) {
                all.push(Happened::Ended(number, end_of(&record, prompt)));
            }
        }
        Ok(all)
    }
}

/// Returns how a request ended.
fn end_of(record: &RequestRecord, prompt: u64) -> VirtualEnd {
    match record.outcome {
        Some(Outcome::Completed) => VirtualEnd::Answered {
            text: words(0, record.output.get()),
            usage: Usage {
                prompt: Some(Tokens::new(prompt)),
                output: Some(record.output),
                cached: Some(record.reused_first()),
                reasoning: None,
            },
        },
        Some(Outcome::Rejected | Outcome::Failed | Outcome::Canceled) | None => {
            VirtualEnd::Refused(refused(record))
        }
    }
}
