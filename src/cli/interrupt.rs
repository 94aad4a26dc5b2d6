//! SIGINT and SIGTERM: while jobs run the first asks them to stop; any other ends the process.

use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

use super::Exit;

static STOP: AtomicBool = AtomicBool::new(false);
static LISTENING: AtomicBool = AtomicBool::new(false);
static INSTALLED: Once = Once::new();

/// Makes a signal end the process at once with 130: nobody looks at a flag while files are read.
///
/// Where a handler cannot be installed (one is there already), signals keep their default effect.
pub(crate) fn end_on_signal() {
    LISTENING.store(false, Ordering::SeqCst);
    INSTALLED.call_once(|| {
        let _default_stays = ctrlc::set_handler(|| {
            let is_heard = LISTENING.load(Ordering::SeqCst);
            if STOP.swap(true, Ordering::SeqCst) || !is_heard {
                std::process::exit(i32::from(Exit::Interrupted.code()));
            }
        });
    });
}

/// Returns the flag that [`stop_on_signal`] returns, and leaves what signals do as it is.
pub(crate) fn stop_flag() -> &'static AtomicBool {
    &STOP
}

/// Makes the first signal set the flag that is returned: jobs stop, finished ones are kept. The second exits at once with 130.
pub(crate) fn stop_on_signal() -> &'static AtomicBool {
    end_on_signal();
    LISTENING.store(true, Ordering::SeqCst);
    &STOP
}
