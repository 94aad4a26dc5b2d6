//! Requests that are stated one by one: the reference crate's own input.

use std::ops::Range;

use crate::digest::canonical::{Value, object};
use crate::units::Tokens;

use super::prompt::{Content, Run, Symbol};

/// A list of stated requests, each with the tokens of its prompt.
///
/// Tokens are kept as runs. A simulation only compares tokens at equal places of two sequences, so each token is named by what
/// is left of it when its place, times the list's step, is taken away: a prompt that counts up is one run at step 1, one that
/// repeats a token is one at step 0. One step serves a whole list, whichever makes fewer runs; equal tokens have equal names
/// either way, and other tokens other ones.
#[derive(Debug, Clone, PartialEq)]
pub struct RequestList {
    requests: Vec<StatedRequest>,
    runs: Vec<Run>,
    step: Step,
    /// How many prompts state only their length.
    unstated: usize,
}

/// One stated request.
#[derive(Debug, Clone, PartialEq)]
pub struct StatedRequest {
    /// Its name; no other has it.
    pub id: String,
    /// When it arrives, in milliseconds; not counted from the first.
    pub arrival_ms: f64,
    /// Prompt tokens.
    pub input: Tokens,
    /// Requested output tokens.
    pub output: Tokens,
    /// Which rank of its worker serves it.
    pub ranks: RankPins,
    /// The session it says it belongs to. It is not waited for.
    pub session: Option<String>,
    /// The turn of the session that it says it is.
    pub turn: Option<u32>,
    /// The runs of the prompt, then of the output where its tokens are stated.
    runs: Range<usize>,
    /// How many of them are the prompt's.
    prompt_runs: usize,
}

/// The ranks that a request asks for, counted within a worker.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RankPins {
    /// Of the workers that produce its output.
    pub serving: Option<u32>,
    /// Of the workers that compute its prompt, where those are others; [`Self::serving`] where absent.
    pub prefill: Option<u32>,
}

/// One request as it is read, its tokens in full.
#[derive(Debug, Clone, PartialEq)]
pub struct RawRequest {
    /// All but the tokens.
    pub stated: StatedRequest,
    /// The tokens of the prompt; counted up from index · 1000003 where absent.
    pub prompt: Option<Vec<u32>>,
    /// The tokens of the output; tokens of its own where absent.
    pub planned: Option<Vec<u32>>,
}

/// Tokens of one sequence: stated, or counting up.
enum Sequence<'a> {
    Stated(&'a [u32]),
    Counting { first: u32, length: u32 },
}

/// What is taken from a token for each place before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    Zero,
    One,
}

/// The distance between the first tokens of neighbouring prompts that state only their length.
///
/// Source: spec/SIMULATION.md §3.5.
const UNSTATED_STRIDE: u32 = 1_000_003;

impl RequestList {
    /// Returns a list.
    pub fn new(raw: Vec<RawRequest>) -> Self {
        let counted = |step| raw.iter().enumerate().map(|(at, one)| one.runs(at, step)).sum();
        let (zero, one): (usize, usize) = (counted(Step::Zero), counted(Step::One));
        let step = if zero < one { Step::Zero } else { Step::One };
        let mut list = Self {
            requests: Vec::with_capacity(raw.len()),
            runs: Vec::with_capacity(zero.min(one)),
            step,
            unstated: raw.iter().filter(|one| one.prompt.is_none()).count(),
        };
        for (at, one) in raw.into_iter().enumerate() {
            let start = list.runs.len();
            one.prompt(at).append(0, step, &mut list.runs);
            let prompt_runs = list.runs.len() - start;
            if let Some(planned) = &one.planned {
                let first = narrow(one.stated.input.get());
                Sequence::Stated(planned).append(first, step, &mut list.runs);
            }
            let runs = start..list.runs.len();
            list.requests.push(StatedRequest { runs, prompt_runs, ..one.stated });
        }
        list
    }

    /// Returns the requests as they are listed.
    pub fn requests(&self) -> &[StatedRequest] {
        &self.requests
    }

    /// Returns whether every prompt is stated token by token.
    pub(crate) fn states_every_prompt(&self) -> bool {
        self.unstated == 0
    }

    /// Returns what a token is more than its name for each place before it.
    pub(super) fn step(&self) -> u32 {
        match self.step {
            Step::Zero => 0,
            Step::One => 1,
        }
    }

    /// Returns the tokens of a request's prompt, and those of its output where they are stated.
    pub fn tokens(&self, index: usize) -> (Vec<u32>, Option<Vec<u32>>) {
        let request = &self.requests[index];
        let (prompt, planned) = self.runs[request.runs.clone()].split_at(request.prompt_runs);
        let mut place = 0_u32;
        let mut spell = |runs: &[Run]| {
            let mut tokens = Vec::new();
            for run in runs {
                let Symbol::Repeated(name) = run.symbol else {
                    unreachable!("stated tokens are named by their value")
                };
                let name = u32::try_from(name).expect("a token's name has 32 bits");
                let places = place..place + run.length;
                tokens.extend(places.map(|at| name.wrapping_add(at.wrapping_mul(self.step()))));
                place += run.length;
            }
            tokens
        };
        let prompt = spell(prompt);
        (prompt, (!planned.is_empty()).then(|| spell(planned)))
    }

    /// Returns the content of a request, whose own tokens are those of `index`.
    pub fn content(&self, index: usize) -> Content {
        let request = &self.requests[index];
        let (prompt, planned) = self.runs[request.runs.clone()].split_at(request.prompt_runs);
        Content::new(prompt.iter().copied(), index as u64).planned(planned.iter().copied())
    }

    /// Returns the canonical description.
    pub(crate) fn canonical(&self) -> Value {
        let optional =
            |count: Option<u32>| count.map_or(Value::Null, |count| Value::count(u64::from(count)));
        let run = |run: &Run| {
            let name = match run.symbol {
                Symbol::Repeated(name) => name,
                Symbol::Unique(_) => unreachable!("stated tokens are named by their value"),
            };
            Value::List(vec![Value::wide(name), Value::count(u64::from(run.length))])
        };
        let request = |request: &StatedRequest| {
            object([
                ("arrival_ms", Value::real(request.arrival_ms)),
                ("id", Value::text(&request.id)),
                ("input_tokens", request.input.into()),
                ("output_tokens", request.output.into()),
                ("prefill_rank", optional(request.ranks.prefill)),
                ("runs", Value::List(self.runs[request.runs.clone()].iter().map(run).collect())),
                ("serving_rank", optional(request.ranks.serving)),
            ])
        };
        object([
            ("kind", Value::text("requests")),
            ("requests", Value::List(self.requests.iter().map(request).collect())),
        ])
    }
}

impl StatedRequest {
    /// Returns a request without tokens, which a list gives it.
    pub fn new(id: String, arrival_ms: f64, input: Tokens, output: Tokens) -> Self {
        Self {
            id,
            arrival_ms,
            input,
            output,
            ranks: RankPins::default(),
            session: None,
            turn: None,
            runs: 0..0,
            prompt_runs: 0,
        }
    }
}

impl RawRequest {
    /// Returns the prompt of the request at `place` of its list.
    fn prompt(&self, place: usize) -> Sequence<'_> {
        match &self.prompt {
            Some(tokens) => Sequence::Stated(tokens),
            None => Sequence::Counting {
                first: u32::try_from(place).unwrap_or(u32::MAX).wrapping_mul(UNSTATED_STRIDE),
                length: narrow(self.stated.input.get()),
            },
        }
    }

    /// Returns how many runs a step makes of the tokens.
    fn runs(&self, place: usize, step: Step) -> usize {
        let planned = self.planned.as_deref().unwrap_or_default();
        self.prompt(place).runs(step) + Sequence::Stated(planned).runs(step)
    }
}

impl Sequence<'_> {
    /// Returns how many runs a step makes of the tokens.
    fn runs(&self, step: Step) -> usize {
        match self {
            Self::Stated(tokens) => {
                let breaks = tokens.windows(2).filter(|pair| pair[1] != step.after(pair[0]));
                usize::from(!tokens.is_empty()) + breaks.count()
            }
            Self::Counting { length, .. } => match step {
                Step::Zero => *length as usize,
                Step::One => usize::from(*length > 0),
            },
        }
    }

    /// Appends the runs of the tokens, the first of which stands at `place` of its sequence.
    fn append(&self, place: u32, step: Step, runs: &mut Vec<Run>) {
        let run =
            |symbol, length| Run { symbol: Symbol::Repeated(u64::from(symbol)), start: 0, length };
        match self {
            Self::Stated(tokens) => {
                let mut at = place;
                for equal in tokens.chunk_by(|one, next| *next == step.after(*one)) {
                    let length = narrow(equal.len() as u64);
                    runs.push(run(step.name(equal[0], at), length));
                    at += length;
                }
            }
            Self::Counting { length: 0, .. } => {}
            Self::Counting { first, length } => match step {
                Step::One => runs.push(run(step.name(*first, place), *length)),
                Step::Zero => {
                    runs.extend((0..*length).map(|offset| run(first.wrapping_add(offset), 1)));
                }
            },
        }
    }
}

impl Step {
    /// Returns the token that continues a run.
    const fn after(self, token: u32) -> u32 {
        match self {
            Self::Zero => token,
            Self::One => token.wrapping_add(1),
        }
    }

    /// Returns the name of a token at a place.
    const fn name(self, token: u32, place: u32) -> u32 {
        match self {
            Self::Zero => token,
            Self::One => token.wrapping_sub(place),
        }
    }
}

/// Returns a length as 32 bits; decoders refuse larger ones.
fn narrow(count: u64) -> u32 {
    u32::try_from(count).expect("decoders refuse prompts of 2^32 tokens and more")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::{BlockCursor, BlockIdentity};

    fn raw(prompt: &[u32], planned: Option<&[u32]>) -> RawRequest {
        let count = |tokens: &[u32]| Tokens::new(tokens.len() as u64);
        let (input, output) = (count(prompt), planned.map_or(Tokens::new(1), count));
        let stated = StatedRequest::new("r".to_owned(), 0.0, input, output);
        RawRequest { stated, prompt: Some(prompt.to_vec()), planned: planned.map(<[u32]>::to_vec) }
    }

    fn blocks(list: &RequestList, index: usize, size: u32, count: usize) -> Vec<BlockIdentity> {
        let (content, mut cursor) = (list.content(index), BlockCursor::default());
        (0..count).map(|_| content.next_block(&mut cursor, size)).collect()
    }

    #[test]
    fn a_long_prompt_that_counts_up_or_repeats_is_one_run() {
        let up: Vec<u32> = (5..100_005).collect();
        assert_eq!(RequestList::new(vec![raw(&up, None)]).runs.len(), 1);
        assert_eq!(RequestList::new(vec![raw(&[7; 100_000], None)]).runs.len(), 1);
    }

    #[test]
    fn two_prompts_share_the_blocks_up_to_their_first_different_token_and_none_after() {
        for tokens in
            [[9, 4, 4, 4, 5, 6, 7, 8], [1, 2, 3, 4, 5, 6, 7, 8], [u32::MAX, 0, 1, 2, 3, 3, 3, 3]]
        {
            for place in 0..8 {
                let mut other = tokens;
                other[place] ^= 1;
                let list = RequestList::new(vec![raw(&tokens, None), raw(&other, None)]);
                for (index, (one, two)) in
                    blocks(&list, 0, 2, 4).into_iter().zip(blocks(&list, 1, 2, 4)).enumerate()
                {
                    assert_eq!(one == two, index < place / 2, "{tokens:?} {place} {index}");
                }
            }
        }
    }

    #[test]
    fn the_tokens_of_a_request_can_be_had_back() {
        let cases: [(&[u32], Option<&[u32]>); 3] = [
            (&[5, 6, 7, 9, 9], Some(&[1, 2, 2])),
            (&[7, 7, 7], None),
            (&[u32::MAX, 0], Some(&[0])),
        ];
        let list = RequestList::new(cases.iter().map(|(a, b)| raw(a, *b)).collect());
        for (index, (prompt, planned)) in cases.into_iter().enumerate() {
            assert_eq!(list.tokens(index), (prompt.to_vec(), planned.map(<[u32]>::to_vec)));
        }
    }

    #[test]
    fn a_prompt_that_repeats_a_stated_output_finds_its_blocks_however_the_runs_lie() {
        let list = RequestList::new(vec![
            raw(&[1, 2, 3], Some(&[4, 5, 9, 9, 9])),
            raw(&[1, 2, 3, 4, 5, 9, 9, 9], None),
        ]);
        assert_eq!(blocks(&list, 0, 4, 2), blocks(&list, 1, 4, 2));
        assert_eq!(blocks(&list, 0, 2, 4), blocks(&list, 1, 2, 4));
    }

    #[test]
    fn prompts_of_a_length_alone_begin_a_stride_apart() {
        let bare = |tokens| {
            let stated =
                StatedRequest::new("r".to_owned(), 0.0, Tokens::new(tokens), Tokens::new(1));
            RawRequest { stated, prompt: None, planned: None }
        };
        let second: Vec<u32> = (UNSTATED_STRIDE..UNSTATED_STRIDE + 8).collect();
        let list = RequestList::new(vec![bare(8), bare(8), raw(&second, None)]);
        assert_ne!(blocks(&list, 0, 4, 2), blocks(&list, 1, 4, 2));
        assert_eq!(blocks(&list, 1, 4, 2), blocks(&list, 2, 4, 2));
    }
}
