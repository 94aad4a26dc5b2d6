//! The requests of recorded plays, each a session of its own.

use crate::sim::traffic::Turn;
use crate::workload::{
    Corpus, CorpusReader, PlayIdentity, PlayedName, Plays, RecordedRow, SessionName,
};

/// The requests of recorded plays: session n is node n.
#[derive(Debug)]
pub(crate) struct Played<'a> {
    pub(super) corpus: &'a Corpus,
    pub(super) reader: CorpusReader<'a>,
    pub(super) plays: &'a Plays,
}

impl<'a> Played<'a> {
    /// Returns what the requests wait for.
    pub(crate) const fn plays(&self) -> &'a Plays {
        self.plays
    }

    /// Returns the row of a request.
    pub(super) fn row(&self, turn: Turn) -> RecordedRow {
        self.reader.row(usize::try_from(turn.session).unwrap_or(usize::MAX))
    }

    /// Returns what places a request; its lane is not known here.
    pub(super) fn name(&self, turn: Turn) -> SessionName {
        let node = usize::try_from(turn.session).unwrap_or(usize::MAX);
        let request = |node: usize| self.reader.request_id(&self.reader.row(node));
        let session = match self.reader.session(&self.row(turn)) {
            SessionName::Named(name) => Some(name),
            SessionName::Row(_)
            | SessionName::Synthetic(_)
            | SessionName::Stated { .. }
            | SessionName::Played(_) => None,
        };
        let play = &self.plays.plays()[self.plays.nodes()[node].play];
        SessionName::Played(Box::new(PlayedName {
            session,
            play: play.id.clone(),
            lane: None,
            root: self.plays.root(node).and_then(request),
            parent: self.plays.parent(node).and_then(request),
            identity: PlayIdentity::Recorded,
        }))
    }
}
