//! A script as data.

use crate::units::Nanos;

/// What the server answers, by request.
#[derive(Debug, Clone, Default)]
pub struct Script {
    /// How long a TLS handshake waits before it begins.
    pub handshake: Nanos,
    /// When the whole server stands still.
    pub stalls: Vec<Stall>,
    /// The answers; the first that fits a request is its answer, and where none does the default.
    pub rules: Vec<Rule>,
}

/// A time in which the whole server stands still.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stall {
    /// Its begin, from the first request.
    pub from: Nanos,
    /// Its end, from the first request.
    pub until: Nanos,
}

/// An answer and the requests that get it.
#[derive(Debug, Clone, Default)]
pub struct Rule {
    /// Which requests.
    pub when: When,
    /// What they get.
    pub answer: Answer,
}

/// Which requests a rule is for: those that fit all that is stated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct When {
    /// The number of the first, from 1, in the order in which requests reach the server.
    pub from: u64,
    /// The number of the last.
    pub to: u64,
    /// From the first on, each so-manieth.
    pub every: u64,
    /// A header that the request carries, name and value.
    pub header: Option<(String, String)>,
}

/// What a request gets.
#[derive(Debug, Clone)]
pub struct Answer {
    /// The connection is closed without a byte.
    pub closes_unanswered: bool,
    /// No answer but a refusal.
    pub refused: Option<Refused>,
    /// When the headers are written, from the request's arrival; the first output at the latest.
    pub headers: Nanos,
    /// When the first output is written, from the request's arrival.
    pub first: Nanos,
    /// Gaps between outputs, in turn and from the start again.
    pub gaps: Vec<Nanos>,
    /// When the role is written; with the first output where none is stated.
    pub role: Option<Nanos>,
    /// What the output is.
    pub output: Output,
    /// What is counted.
    pub usage: UsageScript,
    /// How bytes are written.
    pub pieces: Pieces,
    /// How lines of the stream end.
    pub line_end: LineEnd,
    /// Whether a space follows the colon.
    pub has_space: bool,
    /// How often a comment is written while nothing else is, and what it says.
    pub keep_alive: Option<(Nanos, String)>,
    /// What goes wrong.
    pub fault: Option<Fault>,
    /// How long after the answer the connection is closed.
    pub close_after: Option<Nanos>,
    /// The stream, byte for byte: one write each, at the instants of outputs. Replaces everything but the timing.
    pub raw: Vec<Vec<u8>>,
}

/// The output of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Output {
    /// Tokens; those that the request asks for where none are stated, and 16 where it asks for none.
    pub tokens: Option<u64>,
    /// Tokens of a message.
    pub per_event: u64,
    /// How many of the tokens are reasoning: the first ones.
    pub reasoning: u64,
    /// A tool that is called instead of text.
    pub tool: Option<ToolScript>,
    /// Why it ends; `length` where the request's limit is reached, else `stop`.
    pub finish: Option<String>,
}

/// A call of a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolScript {
    /// The tool.
    pub name: String,
    /// Its arguments; cut into as many pieces as there are messages.
    pub arguments: String,
}

/// What is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UsageScript {
    /// What the request asks for, at the end: `cached` tokens of the prompt come from a cache.
    Asked {
        /// Prompt tokens that were cached.
        cached: u64,
    },
    /// At the end, asked for or not.
    Always {
        /// Prompt tokens that were cached.
        cached: u64,
    },
    /// With each message, what was counted so far.
    EveryEvent {
        /// Prompt tokens that were cached.
        cached: u64,
    },
    /// Never.
    Never,
}

/// How bytes are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pieces {
    /// So many messages with each write.
    Events(u64),
    /// So many bytes with each write, so far apart.
    Bytes {
        /// Bytes of a write.
        size: usize,
        /// Between two writes.
        gap: Nanos,
    },
}

/// How lines of a stream end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LineEnd {
    /// `\n`.
    #[default]
    Lf,
    /// `\r\n`.
    CrLf,
    /// `\r`.
    Cr,
}

/// No answer but a refusal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    /// The status.
    pub status: u16,
    /// After how many seconds to try again.
    pub retry_after: Option<u64>,
    /// The body; an error object of the API where none is stated.
    pub body: Option<String>,
}

/// What goes wrong after so many messages of output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// After how many.
    pub after: u64,
    /// What.
    pub kind: FaultKind,
}

/// What goes wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FaultKind {
    /// The connection breaks.
    Cut,
    /// The stream ends as if it were complete, without what ends an answer.
    End,
    /// Nothing comes for so long; then the answer goes on.
    Stall(Nanos),
    /// An error object comes in the stream at the instant of the next output, and the end of the stream after it.
    Error(String),
    /// The same, with the error as a string.
    ErrorText(String),
    /// The same, as an event of the name `error`.
    ErrorEvent(String),
}

impl Default for When {
    fn default() -> Self {
        Self { from: 1, to: u64::MAX, every: 1, header: None }
    }
}

impl Default for Answer {
    fn default() -> Self {
        Self {
            closes_unanswered: false,
            refused: None,
            headers: Nanos::ZERO,
            first: Nanos::ZERO,
            gaps: Vec::new(),
            role: None,
            output: Output::default(),
            usage: UsageScript::Asked { cached: 0 },
            pieces: Pieces::Events(1),
            line_end: LineEnd::Lf,
            has_space: true,
            keep_alive: None,
            fault: None,
            close_after: None,
            raw: Vec::new(),
        }
    }
}

impl Default for Output {
    fn default() -> Self {
        Self { tokens: None, per_event: 1, reasoning: 0, tool: None, finish: None }
    }
}

impl Script {
    /// Returns the script of a server that answers as fast as it can.
    pub fn fast() -> Self {
        Self::default()
    }

    /// Returns the script of a server whose first output comes after `first` and each later one `gap` after the one before.
    pub fn fixed(first: Nanos, gap: Nanos) -> Self {
        let answer = Answer { first, gaps: vec![gap], ..Answer::default() };
        Self::of(answer)
    }

    /// Returns the script that gives every request one answer.
    pub fn of(answer: Answer) -> Self {
        Self { rules: vec![Rule { when: When::default(), answer }], ..Self::default() }
    }

    /// Returns the answer of the request of a number, from 1; `header` finds a header of it by its name.
    pub(crate) fn answer<'r>(
        &self,
        number: u64,
        header: impl Fn(&str) -> Option<&'r [u8]>,
    ) -> Option<&Answer> {
        let fits = |rule: &&Rule| {
            let when = &rule.when;
            let is_counted = number >= when.from
                && number <= when.to
                && (number - when.from).is_multiple_of(when.every.max(1));
            let is_marked = when
                .header
                .as_ref()
                .is_none_or(|(name, value)| header(name) == Some(value.as_bytes()));
            is_counted && is_marked
        };
        self.rules.iter().find(fits).map(|rule| &rule.answer)
    }
}

impl Answer {
    /// Returns when the output of a place is written, from the request's arrival.
    pub(crate) fn output_at(&self, place: u64) -> Nanos {
        let count = self.gaps.len() as u64;
        if count == 0 {
            return self.first;
        }
        let round: u128 = self.gaps.iter().map(|gap| u128::from(gap.get())).sum();
        let rest = self.gaps.iter().take(usize::try_from(place % count).unwrap_or(usize::MAX));
        let rest: u128 = rest.map(|gap| u128::from(gap.get())).sum();
        let all = u128::from(self.first.get()) + u128::from(place / count) * round + rest;
        Nanos::new(u64::try_from(all).unwrap_or(u64::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Nanos {
        Nanos::new(ms * 1_000_000)
    }

    #[test]
    fn gaps_come_in_turn_and_from_the_start_again() {
        let answer = Answer { first: ms(250), gaps: vec![ms(400), ms(100)], ..Answer::default() };
        let at = [0, 1, 2, 3, 4].map(|place| answer.output_at(place));
        assert_eq!(at, [250, 650, 750, 1150, 1250].map(ms));
    }

    #[test]
    fn the_first_rule_that_fits_a_request_is_its_answer() {
        let rule = |when, tokens| Rule {
            when,
            answer: Answer {
                output: Output { tokens: Some(tokens), ..Output::default() },
                ..Answer::default()
            },
        };
        let marked = Some(("x-case".to_owned(), "b".to_owned()));
        let script = Script {
            rules: vec![
                rule(When { header: marked, ..When::default() }, 1),
                rule(When { from: 2, to: 6, every: 2, ..When::default() }, 2),
                rule(When::default(), 3),
            ],
            ..Script::default()
        };
        let tokens = |number, value: Option<&'static [u8]>| {
            script.answer(number, |_| value).and_then(|answer| answer.output.tokens)
        };
        let plain = [1, 2, 3, 4, 6, 8].map(|number| tokens(number, None));
        assert_eq!(plain, [3, 2, 3, 2, 2, 3].map(Some));
        assert_eq!(tokens(2, Some(b"b")), Some(1));
        assert_eq!(tokens(2, Some(b"c")), Some(2));
    }
}
