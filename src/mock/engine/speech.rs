//! An answer that an engine gives: its tokens as they come.

use std::task::{Context, Poll};

use tokio::sync::mpsc::UnboundedReceiver;

use crate::mock::answer::{Spoken, Write};
use crate::mock::api::{ErrorForm, Said, Voice, words};

use super::Told;

/// An answer that an engine gives.
#[derive(Debug)]
pub(crate) struct Speech {
    told: UnboundedReceiver<Told>,
    voice: Voice,
    spoken: Spoken,
    /// Tokens so far.
    tokens: u64,
    /// What was told before the stream began.
    first: Option<Told>,
    is_over: bool,
}

impl Speech {
    /// Returns an answer of which `first` was told already.
    pub(crate) fn new(
        (first, told): (Told, UnboundedReceiver<Told>),
        voice: Voice,
        spoken: Spoken,
    ) -> Self {
        Self { told, voice, spoken, tokens: 0, first: Some(first), is_over: false }
    }

    /// Returns what is to be written next; `None` at the end.
    pub(crate) fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<Write>> {
        if self.is_over {
            return Poll::Ready(None);
        }
        let told = match self.first.take() {
            Some(first) => Some(first),
            None => std::task::ready!(self.told.poll_recv(context)),
        };
        let mut bytes = Vec::new();
        if self.tokens == 0 {
            self.voice.opening(&mut bytes);
        }
        let outputs = match told {
            Some(Told::Tokens(count)) => {
                for token in self.tokens..self.tokens + count {
                    self.voice.output(&mut bytes, Said::Content(&words(token, 1)), None);
                }
                self.tokens += count;
                count
            }
            Some(Told::Ended { output, cached }) => {
                self.spoken.served(output, cached);
                self.voice.closing(&mut bytes, &self.spoken.finish, self.spoken.counts_at_end());
                self.is_over = true;
                0
            }
            Some(Told::Refused(why) | Told::Stopped(why)) => {
                self.fail(&mut bytes, &why);
                0
            }
            None => {
                self.fail(&mut bytes, "the engine has stopped");
                0
            }
        };
        Poll::Ready(Some(Write::Bytes { bytes, outputs }))
    }

    /// Ends the stream with an error.
    fn fail(&mut self, bytes: &mut Vec<u8>, why: &str) {
        self.voice.error(bytes, ErrorForm::Object, why);
        self.voice.done(bytes);
        self.is_over = true;
    }
}
