//! Who sends: the loop knows calls, a sender knows requests.

use std::collections::{BTreeMap, BTreeSet};
use std::pin::Pin;
use std::rc::Rc;

use crate::graph::NodeIndex;
use crate::record::{Exchange, Reply};
use crate::units::Nanos;

use super::core::CallId;

/// A request that is on its way, up to the end of its answer.
pub(super) type Sending = Pin<Box<dyn Future<Output = Exchange>>>;

/// Who sends. It belongs to the thread of the loop.
pub(super) trait Sender {
    /// Makes the request of a call and returns its sending; `first_output` is told when the first output came. `replies` holds what
    /// calls of the same instance answered.
    fn send(
        &self,
        call: CallId,
        replies: &Replies,
        first_output: impl FnOnce(Nanos) + 'static,
    ) -> Sending;

    /// Ends every exchange in flight, with what was seen of it.
    fn cancel(&self);
}

/// What the calls of one instance answered, as far as later prompts hold it.
pub(super) type Replies = BTreeMap<NodeIndex, Rc<Reply>>;

/// What calls answered, by instance.
#[derive(Debug, Default)]
pub(super) struct Kept {
    /// Of each trace, the calls whose answers are held by others.
    held: Vec<BTreeSet<NodeIndex>>,
    /// Of each trace, the answers that a call holds.
    slots: Vec<Vec<Vec<NodeIndex>>>,
    replies: BTreeMap<u64, Replies>,
}

impl Kept {
    /// Returns nothing, of traces whose calls hold these answers.
    pub(super) fn new(slots: Vec<Vec<Vec<NodeIndex>>>) -> Self {
        let held = slots.iter().map(|calls| calls.iter().flatten().copied().collect()).collect();
        Self { held, slots, replies: BTreeMap::new() }
    }

    /// Keeps what a call answered, if a later prompt holds it.
    pub(super) fn keep(&mut self, tree: usize, call: CallId, reply: &Reply) {
        if self.held[tree].contains(&call.node) {
            let replies = self.replies.entry(call.instance).or_default();
            replies.insert(call.node, Rc::new(reply.clone()));
        }
    }

    /// Returns the answers that a call holds; those that failed are not there.
    pub(super) fn of(&self, tree: usize, call: CallId) -> Replies {
        let Some(replies) = self.replies.get(&call.instance) else { return Replies::new() };
        let slots = self.slots[tree][call.node.0].iter();
        let reply = |node: &NodeIndex| Some((*node, Rc::clone(replies.get(node)?)));
        slots.filter_map(reply).collect()
    }

    /// Forgets an instance.
    pub(super) fn forget(&mut self, instance: u64) {
        self.replies.remove(&instance);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Phase;

    #[test]
    fn answers_are_kept_while_their_instance_lasts_and_only_where_a_prompt_holds_them() {
        let call = |node| CallId { instance: 7, node: NodeIndex(node), phase: Phase::Profile };
        let mut kept = Kept::new(vec![vec![vec![], vec![], vec![NodeIndex(0)]]]);
        let reply = Reply { text: "x".to_owned(), ..Reply::default() };
        kept.keep(0, call(0), &reply);
        kept.keep(0, call(1), &reply);
        assert_eq!(kept.of(0, call(2)).keys().copied().collect::<Vec<_>>(), [NodeIndex(0)]);
        assert!(kept.of(0, call(1)).is_empty());
        kept.forget(7);
        assert!(kept.of(0, call(2)).is_empty());
    }
}
