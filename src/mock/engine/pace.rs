//! The engine's own thread: virtual time goes as the clock does.

use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use tokio::sync::mpsc::UnboundedSender;

use crate::plan::SimulationJob;
use crate::record::{Outcome, RequestRecord};
use crate::replay::Wall;
use crate::sim::{Arriving, Live, SimError, live};
use crate::units::{Nanos, SimTime};

use super::{ReadRequest, refused};

/// A call of the engine.
#[derive(Debug)]
pub(crate) struct Call {
    /// What is asked, as the engine takes it.
    pub(crate) request: ReadRequest,
    /// Output tokens asked for.
    pub(crate) tokens: u64,
    /// What keeps it on one rank with others of the same.
    pub(crate) affinity: Option<u64>,
    /// Who is told what comes of it.
    pub(crate) told: UnboundedSender<Told>,
}

/// What comes of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Told {
    /// So many further tokens are there.
    Tokens(u64),
    /// All tokens are there.
    Ended {
        /// How many they were.
        output: u64,
        /// Prompt tokens that came from a cache.
        cached: u64,
    },
    /// The engine refuses the request.
    Refused(String),
    /// The engine has stopped.
    Stopped(String),
}

/// Runs the engine until nobody can call it any more: the thread's whole work.
pub(super) fn run(job: &SimulationJob, wall: Wall, calls: &Receiver<Call>) {
    let ended = live(job, |engine| Pace { engine, wall, callers: BTreeMap::new() }.run(calls));
    let reason = match ended {
        Ok(Ok(())) => return,
        Ok(Err(error)) | Err(error) => error.to_string(),
    };
    // Those who call from here on are told why nothing comes.
    for call in calls {
        tell(&call.told, Told::Stopped(reason.clone()));
    }
}

/// An engine that keeps pace with a clock.
struct Pace<'l, 'e> {
    engine: &'l mut Live<'e>,
    wall: Wall,
    callers: BTreeMap<u64, UnboundedSender<Told>>,
}

impl Pace<'_, '_> {
    /// Lets calls arrive and time pass, until nobody can call any more; an engine that can never go on says so to all who wait for it.
    fn run(mut self, calls: &Receiver<Call>) -> Result<(), SimError> {
        let ended = self.serve(calls);
        if let Err(error) = &ended {
            for caller in self.callers.values() {
                tell(caller, Told::Stopped(error.to_string()));
            }
        }
        ended
    }

    /// Lets calls arrive and time pass.
    ///
    /// # Errors
    /// Why the engine can never go on: a dead end too, in which requests wait and nothing will ever happen.
    fn serve(&mut self, calls: &Receiver<Call>) -> Result<(), SimError> {
        loop {
            self.catch_up()?;
            let call = match self.engine.next_at() {
                None if !self.callers.is_empty() => {
                    self.go_on()?;
                    continue;
                }
                None => calls.recv().map_err(|_| RecvTimeoutError::Disconnected),
                Some(at) => {
                    let left = Nanos::from(at).get().saturating_sub(self.wall.now().get());
                    calls.recv_timeout(Duration::from_nanos(left))
                }
            };
            match call {
                Ok(call) => self.arrive(call)?,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
            }
        }
    }

    /// Does all that is due by the clock.
    fn catch_up(&mut self) -> Result<(), SimError> {
        while self.engine.next_at().is_some_and(|at| Nanos::from(at) <= self.wall.now()) {
            self.go_on()?;
        }
        Ok(())
    }

    /// Lets a call arrive at this instant, which is after all that was due before.
    fn arrive(&mut self, call: Call) -> Result<(), SimError> {
        self.catch_up()?;
        let now = SimTime::from(self.wall.now());
        let Call { request: ReadRequest { prompt, output }, tokens, affinity, told } = call;
        let number = self.engine.arrive(now, Arriving { prompt, output, tokens, affinity });
        self.callers.insert(number, told);
        Ok(())
    }

    /// Goes to the next instant and tells callers what happened there.
    fn go_on(&mut self) -> Result<(), SimError> {
        let happened = self.engine.go_on()?;
        for tokens in happened.tokens {
            if let Some(caller) = self.callers.get(&tokens.request) {
                tell(caller, Told::Tokens(tokens.tokens));
            }
        }
        for record in happened.ended {
            if let Some(caller) = self.callers.remove(&record.index) {
                tell(&caller, end_of(&record));
            }
        }
        Ok(())
    }
}

/// Returns how a request ended.
fn end_of(record: &RequestRecord) -> Told {
    match record.outcome {
        Some(Outcome::Completed) => {
            Told::Ended { output: record.output.get(), cached: record.reused_first().get() }
        }
        Some(Outcome::Rejected | Outcome::Failed | Outcome::Canceled) | None => {
            Told::Refused(refused(record))
        }
    }
}

/// Tells a caller; one that has gone does not hear it.
fn tell(caller: &UnboundedSender<Told>, told: Told) {
    let _heard = caller.send(told);
}
