//! The requests of instances of recorded plays, each a session of its own, with blocks that no other instance has.

use std::hash::BuildHasherDefault;
use std::rc::Rc;

use hashbrown::HashMap;

use crate::digest::Spread;
use crate::sim::instances::{Cuts, conversation};
use crate::sim::traffic::Turn;
use crate::workload::{
    Content, Origin, PlayIdentity, PlayedName, RecordedRow, Run, SessionName, Symbol,
};

use super::narrow::narrow;
use super::played::Played;

/// The place of each block among those that its play names, in the order in which its requests do.
type Places = HashMap<u64, u32, BuildHasherDefault<Spread>>;

/// The requests of instances: session n is the request of that number. Turn 0 is the request itself; a later one prepares for it.
#[derive(Debug)]
pub(crate) struct Instanced<'a> {
    pub(super) played: Played<'a>,
    cuts: Rc<Cuts<'a>>,
    /// The blocks of the plays that were asked for last.
    places: Vec<(usize, Places)>,
}

impl<'a> Instanced<'a> {
    /// Returns the requests of instances that are cut from plays.
    pub(super) const fn new(played: Played<'a>, cuts: Rc<Cuts<'a>>) -> Self {
        Self { played, cuts, places: Vec::new() }
    }

    /// Returns what instances are cut from.
    pub(crate) const fn cuts(&self) -> &Rc<Cuts<'a>> {
        &self.cuts
    }

    /// Returns the row of a request.
    pub(super) fn row(&self, turn: Turn) -> RecordedRow {
        self.played.reader.row(self.cuts.request(turn.session).1)
    }

    /// Returns the number of a request in the job.
    pub(super) fn index(turn: Turn) -> u64 {
        turn.number.checked_sub(1).map_or(turn.session, Cuts::preparation_number)
    }

    /// Returns the tokens of the answer that are asked for: one where a request prepares.
    pub(super) fn output(&self, turn: Turn) -> u64 {
        if turn.number > 0 { 1 } else { self.row(turn).output.get() }
    }

    /// Returns what places a request.
    pub(super) fn name(&self, turn: Turn) -> SessionName {
        let (slot, node) = self.cuts.request(turn.session);
        let plays = self.played.plays;
        let play = self.cuts.name(slot);
        let reader = &self.played.reader;
        let request = |node: usize| {
            let id = reader.request_id(&reader.row(node)).unwrap_or_default();
            format!("{play}:request:{id}")
        };
        let session = conversation(reader.session(&reader.row(node)));
        SessionName::Played(Box::new(PlayedName {
            session: Some(format!("{play}:conversation:{session}")),
            lane: u32::try_from(slot % u64::from(self.cuts.lanes())).ok(),
            root: plays.root(node).map(request),
            parent: plays.parent(node).map(request),
            identity: PlayIdentity::Instance,
            play: play.clone(),
        }))
    }

    /// Returns the prompt of a request; its answer is the same for what prepares for it.
    pub(super) fn content(&mut self, turn: Turn) -> Content {
        let (slot, node) = self.cuts.request(turn.session);
        let row = self.row(turn);
        let mut left = narrow(row.input.get());
        if !row.has_hash_ids() {
            let symbol = Symbol::Unique(Origin::Prompt(turn.session));
            return Content::new([Run { symbol, start: 0, length: left }], turn.session);
        }
        let block = self.played.corpus.block_size().get();
        let cuts = Rc::clone(&self.cuts);
        let play = self.played.plays.nodes()[node].play;
        let at = self.places_of(play);
        let places = &self.places[at].1;
        let mut runs = Vec::with_capacity(row.hash_id_count());
        self.played.reader.each_hash_id(&row, |name| {
            let length = left.min(block);
            left -= length;
            let symbol = Symbol::Repeated(cuts.block(slot, places[&name]));
            runs.push(Run { symbol, start: 0, length });
        });
        Content::new(runs, turn.session)
    }

    /// Returns where the blocks of a play are kept; those that were not asked for longest make room.
    fn places_of(&mut self, play: usize) -> usize {
        let last = |places: &[(usize, Places)]| places.len() - 1;
        if let Some(at) = self.places.iter().position(|(known, _)| *known == play) {
            self.places[at..].rotate_left(1);
            return last(&self.places);
        }
        let most = usize::try_from(self.cuts.lanes()).unwrap_or(usize::MAX);
        if self.places.len() >= most.max(1) {
            self.places.remove(0);
        }
        let mut places = Places::default();
        let reader = &self.played.reader;
        for node in &self.played.plays.plays()[play].nodes {
            reader.each_hash_id(&reader.row(*node), |name| {
                let next = u32::try_from(places.len()).expect("names of all instances fit 32 bits");
                places.entry(name).or_insert(next);
            });
        }
        self.places.push((play, places));
        last(&self.places)
    }
}
