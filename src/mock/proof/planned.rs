//! The paced load as a job sends it: planned, driven by the loop of live runs, and told by its record.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::graph::content::{Synthesis, Tokenizer};
use crate::graph::read_dag;
use crate::graph::store::Store;
use crate::replay::LiveInputs;
use crate::replay::http::Client;
use crate::replay::wire::{Selection, WireInputs, WirePlan};
use crate::units::Nanos;
use crate::workload::live::{
    EndpointSettings, LiveStop, ReplaySettings, SessionRouting, TokenCounter, Warmup,
};
use crate::workload::{Load as WorkloadLoad, RecordedLoad, Source, Stop, Workload};

use super::fetch;
use super::load::{Answered, Ran, endpoint, surroundings};

/// A load of sessions of one call, which start by the clock.
#[derive(Debug, Clone, Copy)]
pub struct Planned {
    /// Where the server listens.
    pub address: SocketAddr,
    /// How long after one session the next starts.
    pub gap: Nanos,
    /// How many.
    pub requests: u64,
    /// Tokens that each asks for.
    pub tokens: u64,
}

/// Sends a load as a job in an open loop does, and asks the server what it wrote.
///
/// # Errors
/// Where the system gives no thread, or the server cannot be asked. A request that breaks is no error: it is not whole.
pub fn run_planned(load: &Planned) -> io::Result<Ran> {
    let endpoint = endpoint(load.address);
    let plan = plan(load, &endpoint)?;
    let wall = crate::replay::Wall::start();
    let client = Client::new(&endpoint, &surroundings(), wall).map_err(io::Error::other)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
    // What the server has told of is forgotten there.
    runtime.block_on(fetch::stamps(load.address))?;
    let run = LiveInputs { plan: &plan, client, counter: None }
        .run(&AtomicBool::new(false), &mut |_| ())?;
    let mut stamps = runtime.block_on(fetch::stamps(load.address))?;
    let mut numbers = BTreeMap::new();
    let mut answers = Vec::new();
    for request in &run.requests {
        let number = request.instance + 1;
        let name = &plan.graphs()[request.trace].nodes[request.call].id;
        numbers.insert(format!("{name}::{}", plan.identity(request.instance).nonce()), number);
        answers.push(Answered::new(number, Some(request.intended), &request.exchange));
    }
    for answer in &mut stamps.answers {
        let number = answer.request_id.as_ref().and_then(|name| numbers.get(name));
        answer.request_id = number.map(u64::to_string);
    }
    answers.sort_unstable_by_key(|answer| answer.number);
    Ok(Ran { wall, answers, stamps })
}

/// Plans a load.
fn plan(load: &Planned, endpoint: &EndpointSettings) -> io::Result<WirePlan> {
    let mut lines = String::new();
    for number in 0..load.requests {
        let turn = format!(
            r#"{{"messages":[{{"role":"user","content":"hello"}}],"max_tokens":{}}}"#,
            load.tokens
        );
        let written = writeln!(lines, r#"{{"session_id":"{number}","turns":[{turn}]}}"#);
        written.expect("a text takes what is written");
    }
    let refused = |bag: crate::diag::Bag| {
        let problems = bag.into_sorted();
        io::Error::other(problems.first().map_or("", |problem| problem.message()).to_owned())
    };
    let graphs = read_dag("load", &lines).map_err(refused)?;
    let place = |id: &str| id.parse::<u64>().expect("sessions are named by their numbers");
    let began =
        graphs.iter().map(|graph| Nanos::new(load.gap.get().saturating_mul(place(&graph.id))));
    let began = Some(began.collect());
    let synthesis = Synthesis::new(0, Arc::new(Tokenizer::builtin())).map_err(io::Error::other)?;
    let workload = Workload {
        source: Source::Trace { pin: "load".to_owned() },
        load: WorkloadLoad::Recorded(RecordedLoad { open_loop: true, ..RecordedLoad::at(1.0) }),
        select: None,
        stop: Stop::default(),
        stream: "load".to_owned(),
    };
    let settings = ReplaySettings {
        endpoint: endpoint.clone(),
        lanes: None,
        snapshot: None,
        stop: LiveStop { duration: None, requests: None, sessions: None, grace: Nanos::ZERO },
        routing: SessionRouting::None,
        warmup: Warmup::None,
        tokens: TokenCounter::Server,
        sla: None,
    };
    let prompts = Box::new(Store::of(&graphs, &synthesis));
    let selection = Selection::new(None);
    let (workload, settings) = (&workload, &settings);
    let inputs = WireInputs { graphs, began, prompts, selection, seed: 0, workload, settings };
    WirePlan::new(inputs).map_err(refused)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mock::proof::truth;
    use crate::mock::{Address, Behaviour, Bind, Script, Security, Settings, start};
    use crate::replay::Wall;

    #[test]
    fn a_planned_load_is_sent_by_the_clock_and_each_answer_is_matched_with_its_writes() {
        let (first, between) = (Nanos::new(1_000_000), Nanos::new(100_000));
        let server = start(Settings {
            bind: Bind::Loopback(0),
            security: Security::Plain,
            behaviour: Behaviour::Scripted(Script::fixed(first, between)),
            wall: Wall::start(),
        })
        .expect("a server");
        let Address::Tcp(address) = *server.address() else { panic!("no port") };
        let gap = Nanos::new(500_000);
        let load = Planned { address, gap, requests: 12, tokens: 5 };
        let ran = run_planned(&load).expect("it runs");
        let found = truth(&ran, first, between);
        assert_eq!((found.matched, found.lost, found.outputs), (12, 0, 60));
        let intended: Vec<Nanos> =
            ran.answers.iter().filter_map(|answer| answer.intended).collect();
        assert!(intended.windows(2).all(|two| two[1].since(two[0]) == Some(gap)));
        assert!(ran.answers.iter().all(|answer| Some(answer.begun) >= answer.intended), "early");
    }
}
