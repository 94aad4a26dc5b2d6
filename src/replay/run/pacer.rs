//! The timer of a run: it wakes a loop at an instant, to some tens of microseconds.
//!
//! The timer wheel of the runtime counts whole milliseconds. Here a thread of its own waits for the instant, spins for the last
//! stretch of it, and wakes the loop; it never does so early.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use tokio::sync::Notify;

use crate::replay::Wall;
use crate::units::Nanos;

/// What is spun through: about what the system takes to wake a thread whose time has come.
const SPIN: Nanos = Nanos::new(80_000);

/// The timer of a run.
#[derive(Debug)]
pub(crate) struct Pacer {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

/// What the thread and the loop share.
#[derive(Debug)]
struct Shared {
    wall: Wall,
    state: Mutex<State>,
    changed: Condvar,
    woken: Notify,
    /// When the loop was last woken.
    fired: AtomicU64,
}

/// What the thread waits for.
#[derive(Debug, Clone, Copy, Default)]
struct State {
    at: Option<Nanos>,
    is_over: bool,
}

impl Pacer {
    /// Starts the timer; it waits for nothing.
    ///
    /// # Errors
    /// The answer of the system where it has no thread to give.
    pub(crate) fn start(wall: Wall) -> std::io::Result<Self> {
        let shared = Arc::new(Shared {
            wall,
            state: Mutex::new(State::default()),
            changed: Condvar::new(),
            woken: Notify::new(),
            fired: AtomicU64::new(0),
        });
        let own = Arc::clone(&shared);
        let thread = std::thread::Builder::new().name("pacer".to_owned());
        let thread = Some(thread.spawn(move || own.keep_time())?);
        Ok(Self { shared, thread })
    }

    /// Sets the instant of the next waking, whatever it was.
    pub(crate) fn set(&self, at: Nanos) {
        let mut state = self.shared.lock();
        // A thread that waits for an earlier instant finds the later one when it wakes.
        let is_earlier = state.at.is_none_or(|before| at < before);
        state.at = Some(at);
        drop(state);
        if is_earlier {
            self.shared.changed.notify_one();
        }
    }

    /// Waits for the next waking and returns when it was sent.
    pub(crate) async fn woken(&self) -> Nanos {
        self.shared.woken.notified().await;
        Nanos::new(self.shared.fired.load(Ordering::Acquire))
    }
}

impl Drop for Pacer {
    fn drop(&mut self) {
        self.shared.lock().is_over = true;
        self.shared.changed.notify_one();
        if let Some(thread) = self.thread.take() {
            // A panic of the thread was told of when it happened, and the run is over.
            let _ = thread.join();
        }
    }
}

impl Shared {
    /// Returns what is waited for. A thread that panicked has left it whole: it is two words.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for one instant after the other, until all is over.
    fn keep_time(&self) {
        let mut state = self.lock();
        while !state.is_over {
            let Some(at) = state.at else {
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            let left = at.since(self.wall.now()).unwrap_or_default();
            if left > SPIN {
                let span = Duration::from_nanos(left.get() - SPIN.get());
                let waited = self.changed.wait_timeout(state, span);
                state = waited.unwrap_or_else(PoisonError::into_inner).0;
                continue;
            }
            state.at = None;
            drop(state);
            while self.wall.now() < at {
                std::hint::spin_loop();
            }
            self.fired.store(self.wall.now().get(), Ordering::Release);
            self.woken.notify_one();
            state = self.lock();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_wakes_at_the_last_instant_that_was_set_and_never_before() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        let wall = Wall::start();
        let pacer = Pacer::start(wall).expect("a thread");
        for round in 0..20_u64 {
            let at = Nanos::new(wall.now().get() + round * 50_000);
            pacer.set(Nanos::new(at.get() + 3_600_000_000_000));
            pacer.set(at);
            let fired = runtime.block_on(pacer.woken());
            assert!(fired >= at && wall.now() >= fired);
        }
    }

    #[test]
    fn it_goes_away_while_it_waits() {
        let wall = Wall::start();
        let pacer = Pacer::start(wall).expect("a thread");
        pacer.set(Nanos::new(wall.now().get() + 3_600_000_000_000));
        drop(pacer);
    }
}
