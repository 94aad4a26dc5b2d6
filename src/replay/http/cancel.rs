//! The end of a run, told to all that is in flight.

use tokio::sync::watch;

/// Whether the run is over.
#[derive(Debug)]
pub(super) struct Cancel {
    over: watch::Sender<bool>,
}

impl Cancel {
    /// Returns a run that is not over.
    pub(super) fn new() -> Self {
        Self { over: watch::Sender::new(false) }
    }

    /// Ends everything that is in flight, and everything that is sent from here on.
    pub(super) fn cancel(&self) {
        self.over.send_replace(true);
    }

    /// Returns once the run is over.
    pub(super) fn over(&self) -> impl Future<Output = ()> + Send + 'static {
        let mut over = self.over.subscribe();
        async move {
            // A sender that is gone has no run left to wait for.
            let _ = over.wait_for(|is_over| *is_over).await;
        }
    }
}
