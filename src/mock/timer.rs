//! Instants finer than the wheel of tokio's timer, which turns once a millisecond.
//!
//! A thread of its own sleeps until the next instant and then wakes the runtime once; there, all that is due is woken together.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::thread::JoinHandle;
use std::time::Duration;

use tokio::sync::Notify;

use crate::replay::Wall;
use crate::units::Nanos;

/// No instant at all.
const NEVER: Nanos = Nanos::new(u64::MAX);

/// Wakes tasks at instants of a clock.
#[derive(Debug, Clone)]
pub(crate) struct Timer {
    shared: Arc<Shared>,
}

/// The thread behind a timer; it ends when this is dropped.
#[derive(Debug)]
pub(crate) struct TimerThread {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

/// What tasks, runtime and thread share.
#[derive(Debug)]
struct Shared {
    wall: Wall,
    sleepers: Mutex<Sleepers>,
    alarm: Mutex<Alarm>,
    changed: Condvar,
    rings: Notify,
}

/// Who waits until when.
#[derive(Debug, Default)]
struct Sleepers {
    waiting: BTreeMap<(Nanos, u64), Waker>,
    next: u64,
}

/// When the thread wakes the runtime.
#[derive(Debug)]
struct Alarm {
    at: Nanos,
    is_over: bool,
}

/// Waits until an instant.
#[derive(Debug)]
pub(crate) struct Sleep {
    timer: Timer,
    at: Nanos,
    key: Option<(Nanos, u64)>,
}

impl Timer {
    /// Starts the thread of a timer over a clock.
    ///
    /// # Errors
    /// Where the system has no thread left.
    pub(crate) fn start(wall: Wall) -> std::io::Result<(Self, TimerThread)> {
        let shared = Arc::new(Shared {
            wall,
            sleepers: Mutex::default(),
            alarm: Mutex::new(Alarm { at: NEVER, is_over: false }),
            changed: Condvar::new(),
            rings: Notify::new(),
        });
        let inside = Arc::clone(&shared);
        let thread = std::thread::Builder::new()
            .name("mock-timer".to_owned())
            .spawn(move || inside.watch())?;
        Ok((Self { shared: Arc::clone(&shared) }, TimerThread { shared, thread: Some(thread) }))
    }

    /// Returns the clock.
    pub(crate) fn wall(&self) -> Wall {
        self.shared.wall
    }

    /// Waits until `at`; never ends before it.
    pub(crate) fn sleep_until(&self, at: Nanos) -> Sleep {
        Sleep { timer: self.clone(), at, key: None }
    }

    /// Wakes whoever is due, for ever: a task of the runtime that the sleepers belong to.
    pub(crate) async fn drive(self) {
        loop {
            self.shared.rings.notified().await;
            let due = self.shared.due();
            due.into_iter().for_each(Waker::wake);
        }
    }
}

impl Shared {
    /// Takes whoever is due, and sets the alarm for the next.
    fn due(&self) -> Vec<Waker> {
        let now = self.wall.now();
        let mut sleepers = lock(&self.sleepers);
        let later = sleepers.waiting.split_off(&(Nanos::new(now.get().saturating_add(1)), 0));
        let due = std::mem::replace(&mut sleepers.waiting, later);
        let next = sleepers.waiting.first_key_value().map(|((at, _), _)| *at);
        drop(sleepers);
        if let Some(at) = next {
            self.set_alarm(at);
        }
        due.into_values().collect()
    }

    /// Has the runtime woken at `at`, where nothing comes before.
    fn set_alarm(&self, at: Nanos) {
        let mut alarm = lock(&self.alarm);
        if at < alarm.at {
            alarm.at = at;
            self.changed.notify_one();
        }
    }

    /// Sleeps from instant to instant: the thread's whole work.
    fn watch(&self) {
        let mut alarm = lock(&self.alarm);
        while !alarm.is_over {
            let now = self.wall.now();
            if alarm.at <= now {
                alarm.at = NEVER;
                drop(alarm);
                self.rings.notify_one();
                alarm = lock(&self.alarm);
            } else if alarm.at == NEVER {
                alarm = self.changed.wait(alarm).unwrap_or_else(PoisonError::into_inner);
            } else {
                let left = Duration::from_nanos(alarm.at.get() - now.get());
                let woken = self.changed.wait_timeout(alarm, left);
                alarm = woken.unwrap_or_else(PoisonError::into_inner).0;
            }
        }
    }
}

impl Drop for TimerThread {
    fn drop(&mut self) {
        lock(&self.shared.alarm).is_over = true;
        self.shared.changed.notify_one();
        if let Some(thread) = self.thread.take() {
            // The thread holds no lock while it could panic, and there is nobody to tell.
            let _ended = thread.join();
        }
    }
}

impl Future for Sleep {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let shared = Arc::clone(&self.timer.shared);
        if shared.wall.now() >= self.at {
            self.forget();
            return Poll::Ready(());
        }
        let mut sleepers = lock(&shared.sleepers);
        let known = self.key.and_then(|key| sleepers.waiting.get_mut(&key));
        if let Some(waker) = known {
            waker.clone_from(context.waker());
            return Poll::Pending;
        }
        sleepers.next += 1;
        let key = (self.at, sleepers.next);
        sleepers.waiting.insert(key, context.waker().clone());
        let is_first = sleepers.waiting.first_key_value().is_some_and(|(first, _)| *first == key);
        drop(sleepers);
        self.key = Some(key);
        if is_first {
            shared.set_alarm(self.at);
        }
        Poll::Pending
    }
}

impl Sleep {
    /// Leaves the line of sleepers.
    fn forget(&mut self) {
        if let Some(key) = self.key.take() {
            lock(&self.timer.shared.sleepers).waiting.remove(&key);
        }
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        self.forget();
    }
}

/// Locks; what another thread left while it panicked is as good as before.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runtime() -> tokio::runtime::Runtime {
        tokio::runtime::Builder::new_current_thread().build().expect("a runtime")
    }

    #[test]
    fn sleepers_wake_in_the_order_of_their_instants_and_never_early() {
        let wall = Wall::start();
        let (timer, _thread) = Timer::start(wall).expect("a thread");
        let order = Arc::new(Mutex::new(Vec::new()));
        runtime().block_on(async {
            let driver = tokio::spawn(timer.clone().drive());
            let sleepers = [3, 1, 2].map(|place: u64| {
                let (timer, order) = (timer.clone(), Arc::clone(&order));
                tokio::spawn(async move {
                    let at = Nanos::new(place * 2_000_000);
                    timer.sleep_until(at).await;
                    assert!(wall.now() >= at);
                    lock(&order).push(place);
                })
            });
            for sleeper in sleepers {
                sleeper.await.expect("woken");
            }
            driver.abort();
        });
        assert_eq!(*lock(&order), [1, 2, 3]);
    }

    #[test]
    fn a_sleeper_that_is_dropped_leaves_nothing_behind() {
        let (timer, thread) = Timer::start(Wall::start()).expect("a thread");
        let far = Nanos::new(u64::MAX / 2);
        let mut sleep = Box::pin(timer.sleep_until(far));
        let mut context = Context::from_waker(Waker::noop());
        assert!(sleep.as_mut().poll(&mut context).is_pending());
        assert_eq!(lock(&timer.shared.sleepers).waiting.len(), 1);
        drop(sleep);
        assert_eq!(lock(&timer.shared.sleepers).waiting.len(), 0);
        drop(thread);
    }
}
