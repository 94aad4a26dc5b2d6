//! A live run from its plan to what was seen.

use std::io;
use std::rc::Rc;
use std::sync::atomic::AtomicBool;

use crate::graph::content::Tokenizer;
use crate::record::LiveRun;
use crate::replay::http::Client;
use crate::replay::wire::WirePlan;

use super::core::{Core, Rules, Topology};
use super::count::count;
use super::drive::{Loop, Texts};
use super::planned::{topologies, traces};
use super::progress::LiveEvent;
use super::sender::Kept;
use super::wired::Wired;

/// What a live run is made of.
#[derive(Debug)]
pub struct LiveInputs<'a> {
    /// Every request.
    pub plan: &'a WirePlan,
    /// The client of the endpoint. Every instant of the run is on its clock.
    pub client: Client,
    /// Who counts the tokens of answers beside the server; absent where the server alone does.
    pub counter: Option<&'a Tokenizer>,
}

impl LiveInputs<'_> {
    /// Sends what is planned and returns what was seen, on a runtime of one thread, which is the one that asks.
    ///
    /// Once `stop` is true no request starts, those in flight are given up, and what was measured is returned
    /// ([`LiveRun::is_interrupted`]). `listener` is told what goes on, on the same thread: it must be quick.
    ///
    /// Requests that fail are no error: they are in the run. Whether the job has failed is [`crate::measure::live::LiveFailure`]'s to say.
    ///
    /// # Errors
    /// The answer of the system where it has no thread for the timer or no file descriptor for the runtime.
    pub fn run(
        self,
        stop: &AtomicBool,
        listener: &mut dyn FnMut(LiveEvent),
    ) -> io::Result<LiveRun> {
        let topologies = topologies(self.plan);
        let wall = self.client.wall();
        let driver = Loop {
            kept: Kept::new(topologies.iter().map(Topology::slots).collect()),
            core: Core::new(Rules::of(self.plan), topologies, wall.now()),
            sender: Wired { plan: self.plan, client: Rc::new(self.client) },
            texts: if self.counter.is_some() { Texts::Counted } else { Texts::Forgotten },
            wall,
            stop,
            listener,
        };
        let mut run = driver.block_on()?;
        run.traces = traces(self.plan);
        if let Some(tokenizer) = self.counter {
            count(&mut run, tokenizer);
        }
        Ok(run)
    }
}
