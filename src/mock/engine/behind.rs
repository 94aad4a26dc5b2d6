//! The engine as the server calls it.

use std::sync::mpsc::{self, Sender};
use std::thread::JoinHandle;

use crate::plan::SimulationJob;
use crate::replay::Wall;

use super::Reader;
use super::pace::{Call, run};

/// Calls an engine.
#[derive(Debug)]
pub(crate) struct Engine {
    calls: Sender<Call>,
    reader: Reader,
}

/// The thread of an engine; it ends when the engine is gone, and this waits for it.
#[derive(Debug)]
pub(crate) struct EngineThread(Option<JoinHandle<()>>);

impl Engine {
    /// Starts an engine: the deployment of a job, whose virtual time is that of a clock.
    ///
    /// # Errors
    /// Where the system has no thread left.
    pub(crate) fn start(job: SimulationJob, wall: Wall) -> std::io::Result<(Self, EngineThread)> {
        let (calls, called) = mpsc::channel();
        let thread = std::thread::Builder::new()
            .name("mock-engine".to_owned())
            .spawn(move || run(&job, wall, &called))?;
        Ok((Self { calls, reader: Reader::new() }, EngineThread(Some(thread))))
    }

    /// Returns what reads prompts.
    pub(crate) fn reader(&self) -> &Reader {
        &self.reader
    }

    /// Calls the engine; the caller is told what comes of it.
    pub(crate) fn call(&self, call: Call) {
        // Where the thread is gone the caller's line is closed, which tells it as much.
        let _sent = self.calls.send(call);
    }
}

impl Drop for EngineThread {
    fn drop(&mut self) {
        if let Some(thread) = self.0.take() {
            // A panic of the engine was told on stderr when it happened.
            let _ended = thread.join();
        }
    }
}
