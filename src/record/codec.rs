//! A request's record as bytes, for a temporary file of this process: no format that outlives it.
//!
//! Both directions name every field, so that one which is added cannot be forgotten.

use crate::deployment::WorkerRole;
use crate::units::{Blocks, SimTime, Tokens};
use crate::workload::{PlayIdentity, PlayedName, SessionName};

use super::{Admission, Handoff, LinkUse, Outcome, Refusal, RequestRecord, Rule};

/// Writes values behind each other.
struct Encoder<'a>(&'a mut Vec<u8>);

/// Reads them in the same order.
struct Decoder<'a>(&'a [u8]);

/// Outcomes by their number in the bytes; 0 is none.
const OUTCOMES: [Outcome; 4] =
    [Outcome::Completed, Outcome::Rejected, Outcome::Canceled, Outcome::Failed];

/// Roles by their number in the bytes.
const ROLES: [WorkerRole; 3] = [WorkerRole::Aggregated, WorkerRole::Prefill, WorkerRole::Decode];

/// Appends a record.
pub(super) fn encode(record: &RequestRecord, out: &mut Vec<u8>) {
    let RequestRecord {
        index,
        session,
        turn,
        line,
        request_id,
        arrival,
        input,
        requested_output,
        output,
        rank,
        admissions,
        handoff,
        first_token,
        second_token,
        last_token,
        terminal,
        outcome,
        refusal,
    } = record;
    let mut to = Encoder(out);
    to.count(*index);
    to.session(session);
    to.count(u64::from(*turn));
    to.maybe(*line);
    to.text(request_id.as_deref());
    to.time(*arrival);
    for tokens in [input, requested_output, output] {
        to.count(tokens.get());
    }
    to.maybe(rank.map(u64::from));
    to.count(admissions.len() as u64);
    for Admission { at, reused, from_host } in admissions {
        to.time(*at);
        to.count(reused.get());
        to.maybe(from_host.map(Tokens::get));
    }
    to.count(u64::from(handoff.is_some()));
    if let Some(handoff) = handoff {
        to.handoff(handoff);
    }
    for time in [first_token, second_token, last_token, terminal] {
        to.instant(*time);
    }
    let place = |outcome: Outcome| OUTCOMES.iter().position(|known| *known == outcome);
    to.count(outcome.and_then(place).map_or(0, |place| place as u64 + 1));
    to.refusal(refusal.as_deref());
}

/// Returns the record that [`encode`] wrote as `bytes`.
pub(super) fn decode(bytes: &[u8]) -> RequestRecord {
    let mut from = Decoder(bytes);
    RequestRecord {
        index: from.count(),
        session: from.session(),
        turn: from.short(),
        line: from.maybe(),
        request_id: from.text(),
        arrival: from.time(),
        input: from.tokens(),
        requested_output: from.tokens(),
        output: from.tokens(),
        rank: from.maybe().map(narrow),
        admissions: (0..from.count())
            .map(|_| Admission {
                at: from.time(),
                reused: from.tokens(),
                from_host: from.maybe().map(Tokens::new),
            })
            .collect(),
        handoff: (from.count() == 1).then(|| Box::new(from.handoff())),
        first_token: from.instant(),
        second_token: from.instant(),
        last_token: from.instant(),
        terminal: from.instant(),
        outcome: from.count().checked_sub(1).map(|place| OUTCOMES[narrow(place) as usize]),
        refusal: from.refusal().map(Box::new),
    }
}

impl Encoder<'_> {
    /// Seven bits a byte, lowest first; the top bit says that more follow.
    fn count(&mut self, mut count: u64) {
        while count >= 0x80 {
            self.0.push(low_bits(count) | 0x80);
            count >>= 7;
        }
        self.0.push(low_bits(count));
    }

    fn maybe(&mut self, count: Option<u64>) {
        self.count(u64::from(count.is_some()));
        if let Some(count) = count {
            self.count(count);
        }
    }

    fn text(&mut self, text: Option<&str>) {
        self.maybe(text.map(|text| text.len() as u64));
        self.0.extend_from_slice(text.unwrap_or_default().as_bytes());
    }

    fn real(&mut self, number: f64) {
        self.0.extend_from_slice(&number.to_bits().to_le_bytes());
    }

    fn time(&mut self, time: SimTime) {
        self.real(time.as_ms());
    }

    fn instant(&mut self, time: Option<SimTime>) {
        self.count(u64::from(time.is_some()));
        if let Some(time) = time {
            self.time(time);
        }
    }

    fn session(&mut self, session: &SessionName) {
        match session {
            SessionName::Named(name) => {
                self.count(0);
                self.text(Some(name));
            }
            SessionName::Row(line) => self.counts([1, *line]),
            SessionName::Synthetic(number) => self.counts([2, *number]),
            SessionName::Stated { index, name, turn } => {
                self.counts([3, *index]);
                self.text(name.as_deref());
                self.maybe(turn.map(u64::from));
            }
            SessionName::Played(name) => {
                let PlayedName { session, play, lane, root, parent, identity } = &**name;
                self.count(match identity {
                    PlayIdentity::Recorded => 4,
                    PlayIdentity::Instance => 5,
                });
                self.text(session.as_deref());
                self.text(Some(play));
                self.maybe(lane.map(u64::from));
                self.text(root.as_deref());
                self.text(parent.as_deref());
            }
        }
    }

    fn counts(&mut self, parts: [u64; 2]) {
        for part in parts {
            self.count(part);
        }
    }

    /// The number of the rule, 0 for none; then the role and the sizes.
    fn refusal(&mut self, refusal: Option<&Refusal>) {
        let Some(Refusal { role, rule }) = refusal else { return self.count(0) };
        self.count(match rule {
            Rule::ContextLimit { .. } => 1,
            Rule::KvBlocks { .. } => 2,
            Rule::KvBytes { .. } => 3,
        });
        let place = ROLES.iter().position(|known| known == role);
        self.count(place.expect("every role has a number") as u64);
        let (needed, most) = rule.sizes();
        self.counts([needed, most]);
    }

    fn handoff(&mut self, handoff: &Handoff) {
        let Handoff {
            prefill_rank,
            prefill_admissions,
            held,
            reserved,
            missing,
            charged,
            link,
            transfer_began,
            transfer_ended,
            activated,
            released,
        } = handoff;
        self.maybe(prefill_rank.map(u64::from));
        self.count(*prefill_admissions as u64);
        for time in [held, reserved] {
            self.instant(*time);
        }
        self.maybe(missing.map(Tokens::get));
        self.count(charged.get());
        self.count(u64::from(link.is_some()));
        if let Some(LinkUse { sending_ms, receiving_ms }) = link {
            self.real(*sending_ms);
            self.real(*receiving_ms);
        }
        for time in [transfer_began, transfer_ended, activated, released] {
            self.instant(*time);
        }
    }
}

impl Decoder<'_> {
    fn count(&mut self) -> u64 {
        let (mut count, mut shift) = (0, 0);
        loop {
            let [byte] = self.take();
            count |= u64::from(byte & 0x7f) << shift;
            shift += 7;
            if byte < 0x80 {
                return count;
            }
        }
    }

    fn take<const N: usize>(&mut self) -> [u8; N] {
        let (head, rest) = self.0.split_first_chunk().expect("a record ends where its length says");
        self.0 = rest;
        *head
    }

    fn short(&mut self) -> u32 {
        narrow(self.count())
    }

    fn tokens(&mut self) -> Tokens {
        Tokens::new(self.count())
    }

    fn maybe(&mut self) -> Option<u64> {
        (self.count() == 1).then(|| self.count())
    }

    fn text(&mut self) -> Option<String> {
        let length = usize::try_from(self.maybe()?).expect("a text in memory has a length");
        let (text, rest) = self.0.split_at(length);
        self.0 = rest;
        Some(String::from_utf8(text.to_vec()).expect("it was a string"))
    }

    fn real(&mut self) -> f64 {
        f64::from_bits(u64::from_le_bytes(self.take()))
    }

    fn time(&mut self) -> SimTime {
        SimTime::from_ms(self.real()).expect("it was a time")
    }

    fn instant(&mut self) -> Option<SimTime> {
        (self.count() == 1).then(|| self.time())
    }

    fn session(&mut self) -> SessionName {
        match self.count() {
            0 => SessionName::Named(self.text().unwrap_or_default()),
            1 => SessionName::Row(self.count()),
            2 => SessionName::Synthetic(self.count()),
            3 => SessionName::Stated {
                index: self.count(),
                name: self.text(),
                turn: self.maybe().map(narrow),
            },
            kind => SessionName::Played(Box::new(PlayedName {
                identity: if kind == 4 { PlayIdentity::Recorded } else { PlayIdentity::Instance },
                session: self.text(),
                play: self.text().unwrap_or_default(),
                lane: self.maybe().map(narrow),
                root: self.text(),
                parent: self.text(),
            })),
        }
    }

    fn refusal(&mut self) -> Option<Refusal> {
        let number = self.count().checked_sub(1)?;
        let refused_by = ROLES[narrow(self.count()) as usize];
        let (needed, most) = (self.count(), self.count());
        let rule = match number {
            0 => Rule::ContextLimit { prompt: Tokens::new(needed), limit: Tokens::new(most) },
            1 => Rule::KvBlocks { needed: Blocks::new(needed), capacity: Blocks::new(most) },
            _ => Rule::KvBytes { needed, capacity: most },
        };
        Some(Refusal { role: refused_by, rule })
    }

    fn handoff(&mut self) -> Handoff {
        Handoff {
            prefill_rank: self.maybe().map(narrow),
            prefill_admissions: self.short() as usize,
            held: self.instant(),
            reserved: self.instant(),
            missing: self.maybe().map(Tokens::new),
            charged: self.tokens(),
            link: (self.count() == 1)
                .then(|| LinkUse { sending_ms: self.real(), receiving_ms: self.real() }),
            transfer_began: self.instant(),
            transfer_ended: self.instant(),
            activated: self.instant(),
            released: self.instant(),
        }
    }
}

/// Returns the lowest seven bits.
fn low_bits(count: u64) -> u8 {
    u8::try_from(count & 0x7f).expect("seven bits")
}

/// Returns what was a `u32` when it was written.
fn narrow(count: u64) -> u32 {
    u32::try_from(count).expect("it was 32 bits wide")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::sample::{request, time};

    #[test]
    fn a_record_comes_back_as_it_went() {
        let handoff = Handoff {
            prefill_rank: Some(3),
            prefill_admissions: 1,
            held: Some(time(1.5)),
            missing: Some(Tokens::new(1 << 40)),
            link: Some(LinkUse { sending_ms: 0.1, receiving_ms: 3.5 }),
            activated: Some(time(0.1 + 0.2)),
            ..Handoff::default()
        };
        let sessions = [
            SessionName::Named("s".to_owned()),
            SessionName::Row(u64::MAX),
            SessionName::Synthetic(127),
            SessionName::Stated { index: 128, name: None, turn: Some(u32::MAX) },
        ];
        for (index, session) in (0..).zip(sessions) {
            let mut record = RequestRecord { session, ..request(index, 7.3) };
            if index % 2 == 0 {
                record.request_id = Some("ä name".to_owned());
                record.handoff = Some(Box::new(handoff));
                (record.outcome, record.terminal, record.rank) = (None, None, None);
            } else {
                let rules = [
                    Rule::ContextLimit { prompt: Tokens::new(9), limit: Tokens::new(8) },
                    Rule::KvBlocks { needed: Blocks::new(1 << 40), capacity: Blocks::new(6) },
                ];
                let rule = rules[usize::from(index == 3)];
                record.refusal = Some(Box::new(Refusal { role: WorkerRole::Decode, rule }));
            }
            let mut bytes = Vec::new();
            encode(&record, &mut bytes);
            assert_eq!(format!("{:?}", decode(&bytes)), format!("{record:?}"));
        }
    }
}
