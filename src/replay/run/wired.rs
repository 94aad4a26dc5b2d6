//! The sender over a plan and a client.

use std::rc::Rc;

use crate::record::Phase;
use crate::replay::http::Client;
use crate::replay::wire::{WireCall, WirePlan};
use crate::units::Nanos;

use super::core::CallId;
use super::sender::{Replies, Sender, Sending};

/// Makes each request from the plan as it is due, and gives it to the client.
#[derive(Debug)]
pub(super) struct Wired<'a> {
    pub(super) plan: &'a WirePlan,
    pub(super) client: Rc<Client>,
}

impl Sender for Wired<'_> {
    fn send(
        &self,
        call: CallId,
        replies: &Replies,
        first_output: impl FnOnce(Nanos) + 'static,
    ) -> Sending {
        let warmup = match call.phase {
            Phase::Primer | Phase::Warmup => Some(call.phase.name()),
            Phase::Profile => None,
        };
        let wire = WireCall { instance: call.instance, node: call.node, warmup };
        let request = self.plan.request(&wire, &|of| replies.get(&of).map(Rc::as_ref));
        let client = Rc::clone(&self.client);
        Box::pin(async move { client.send(request, first_output).await })
    }

    fn cancel(&self) {
        self.client.cancel();
    }
}
