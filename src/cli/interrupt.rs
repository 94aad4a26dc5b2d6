//! SIGINT and SIGTERM: the first asks running jobs to stop, the second ends the process.

use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

use super::Exit;

static STOP: AtomicBool = AtomicBool::new(false);
static INSTALLED: Once = Once::new();

/// Installs the signal handler and returns the flag that it sets.
///
/// The first signal sets the flag: jobs stop, finished ones are kept. The second exits at once with 130. Where a handler
/// cannot be installed (one is there already), signals keep their default effect.
pub(crate) fn stop_on_signal() -> &'static AtomicBool {
    INSTALLED.call_once(|| {
        let _default_stays = ctrlc::set_handler(|| {
            if STOP.swap(true, Ordering::SeqCst) {
                std::process::exit(i32::from(Exit::Interrupted.code()));
            }
        });
    });
    &STOP
}
