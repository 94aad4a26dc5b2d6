//! Equal requests, so many in flight or so many a second.

use std::cell::{Cell, RefCell};
use std::net::SocketAddr;
use std::rc::Rc;

use hyper::body::Bytes;
use tokio::task::LocalSet;

use crate::mock::Stamps;
use crate::mock::answer::plus;
use crate::record::Exchange;
use crate::replay::http::{Client, Surroundings};
use crate::replay::{OutgoingRequest, Pacer, Wall};
use crate::units::{Micros6, Nanos};
use crate::workload::live::{Api, EndpointSettings, RequestSettings, Target, Timeouts};

use super::{Spread, fetch};

/// How long before the first request of a paced load all is set up.
const AHEAD: Nanos = Nanos::new(20_000_000);

/// A load of equal requests.
#[derive(Debug, Clone)]
pub struct Load {
    /// Where the server listens.
    pub address: SocketAddr,
    /// When requests are sent.
    pub pace: Pace,
    /// How many.
    pub requests: u64,
    /// Tokens that each asks for.
    pub tokens: u64,
}

/// When requests are sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pace {
    /// So many are in flight: each follows another at once.
    InFlight(u64),
    /// One each so often, whatever comes of those before.
    Every(Nanos),
}

/// A request that was sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answered {
    /// Its number, from 1: its `X-Request-ID`.
    pub number: u64,
    /// When it was to be sent, where that is by the clock.
    pub intended: Option<Nanos>,
    /// When the client took it up.
    pub begun: Nanos,
    /// When a connection had it: that it was opened lies before.
    pub sent: Nanos,
    /// The reads that brought its output.
    pub outputs: Vec<Nanos>,
    /// When it was over.
    pub end: Nanos,
    /// Whether it came to its end.
    pub is_whole: bool,
}

/// What came of a load.
#[derive(Debug)]
pub struct Ran {
    /// The client's clock.
    pub wall: Wall,
    /// The requests, by number.
    pub answers: Vec<Answered>,
    /// What the server says of them.
    pub stamps: Stamps,
}

impl Answered {
    /// Returns what an exchange says of a request.
    pub(super) fn new(number: u64, intended: Option<Nanos>, exchange: &Exchange) -> Self {
        Self {
            number,
            intended,
            begun: exchange.begun,
            sent: exchange.sent.unwrap_or(exchange.begun),
            outputs: exchange.outputs().map(|event| event.at).collect(),
            end: exchange.end,
            is_whole: exchange.outcome.is_ok(),
        }
    }
}

impl Ran {
    /// Returns the most requests that were under way at one time, from their beginning to their end.
    pub fn most_in_flight(&self) -> u64 {
        let spans = self.answers.iter().map(|answer| [(answer.begun, 1_i64), (answer.end, -1)]);
        let mut changes: Vec<(Nanos, i64)> = spans.flatten().collect();
        // At one instant ends count before begins.
        changes.sort_unstable();
        let (mut open, mut most) = (0, 0);
        for (_, change) in changes {
            open += change;
            most = most.max(open);
        }
        u64::try_from(most).unwrap_or(0)
    }

    /// Returns how many requests were begun a second, from the first to the last; nothing of fewer than two.
    pub fn begun_per_second(&self) -> Option<Micros6> {
        let begun = || self.answers.iter().map(|answer| answer.begun);
        let took = begun().max()?.since(begun().min()?)?;
        let gaps = u128::try_from(self.answers.len().checked_sub(1)?).ok()?;
        Micros6::per_second(gaps, took.get())
    }

    /// Returns how many of something came a second, from the first beginning to the last end; nothing of no time at all.
    pub fn per_second(&self, count: u64) -> Option<Micros6> {
        let first = self.answers.iter().map(|answer| answer.begun).min()?;
        let last = self.answers.iter().map(|answer| answer.end).max()?;
        Micros6::per_second(u128::from(count), last.since(first)?.get())
    }
}

/// Returns the settings of a client of this server.
pub(super) fn endpoint(address: SocketAddr) -> EndpointSettings {
    EndpointSettings {
        target: Target::Url(format!("http://{address}")),
        request: RequestSettings {
            model: Some("mock".to_owned()),
            ..RequestSettings::of(Api::Chat)
        },
        api_key_env: None,
        ca: None,
        client: None,
        proxy: None,
        headers: Vec::new(),
        timeouts: Timeouts { connect: None, first_byte: None, idle: None, total: None },
    }
}

/// Returns what such a client is given: no file and no key.
pub(super) fn surroundings() -> Surroundings {
    Surroundings { root: "/".into(), ssl_cert_file: None, api_key: None }
}

/// What the requests of a load share.
struct Shared {
    load: Load,
    wall: Wall,
    client: Client,
    body: Bytes,
    next: Cell<u64>,
    answers: RefCell<Vec<Answered>>,
}

/// Runs a load, and asks the server what it wrote.
///
/// # Errors
/// Where the system gives no thread, or the server cannot be asked. A request that breaks is no error: it is not whole.
pub fn run(load: &Load) -> std::io::Result<Ran> {
    let wall = Wall::start();
    let pacer = Pacer::start(wall)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let shared = Rc::new(Shared::new(load, wall)?);
    let stamps = LocalSet::new().block_on(&runtime, async {
        // What the server has told of is forgotten there.
        fetch::stamps(load.address).await?;
        match load.pace {
            Pace::InFlight(count) => in_flight(&shared, count).await,
            Pace::Every(gap) => by_clock(&shared, &pacer, plus(wall.now(), AHEAD), gap).await,
        }
        fetch::stamps(load.address).await
    })?;
    let mut answers = shared.answers.take();
    answers.sort_unstable_by_key(|answer| answer.number);
    Ok(Ran { wall, answers, stamps })
}

/// Keeps so many requests in flight until all are sent.
async fn in_flight(shared: &Rc<Shared>, count: u64) {
    let lanes: Vec<_> = (0..count)
        .map(|_| {
            let shared = Rc::clone(shared);
            tokio::task::spawn_local(async move {
                while shared.next.get() < shared.load.requests {
                    shared.send(None).await;
                }
            })
        })
        .collect();
    for lane in lanes {
        // A lane that panicked has told so; what it did not send is missing from the answers.
        let _ended = lane.await;
    }
}

/// Sends a request each `gap` from `start` on.
async fn by_clock(shared: &Rc<Shared>, pacer: &Pacer, start: Nanos, gap: Nanos) {
    let mut sent = Vec::new();
    for place in 0..shared.load.requests {
        let at = plus(start, Nanos::new(gap.get().saturating_mul(place)));
        until(shared.wall, pacer, at).await;
        let shared = Rc::clone(shared);
        sent.push(tokio::task::spawn_local(async move { shared.send(Some(at)).await }));
    }
    for sending in sent {
        let _ended = sending.await;
    }
}

/// Waits for an instant; one that has passed is waited for no longer.
async fn until(wall: Wall, pacer: &Pacer, at: Nanos) {
    while wall.now() < at {
        pacer.set(at);
        pacer.woken().await;
    }
}

impl Shared {
    /// Returns what the requests of a load share.
    fn new(load: &Load, wall: Wall) -> std::io::Result<Self> {
        let settings = endpoint(load.address);
        let client =
            Client::new(&settings, &surroundings(), wall).map_err(std::io::Error::other)?;
        let body = format!(
            r#"{{"model":"mock","messages":[{{"role":"user","content":"hello"}}],"stream":true,"max_completion_tokens":{}}}"#,
            load.tokens
        );
        Ok(Self {
            load: load.clone(),
            wall,
            client,
            body: Bytes::from(body),
            next: Cell::new(0),
            answers: RefCell::default(),
        })
    }

    /// Sends the next request and notes what came of it.
    async fn send(&self, intended: Option<Nanos>) {
        let number = self.next.get() + 1;
        self.next.set(number);
        let header = |name: &str, value: String| (name.to_owned(), value);
        let request = OutgoingRequest {
            method: "POST",
            path: "/v1/chat/completions".to_owned(),
            headers: vec![
                header("content-type", "application/json".to_owned()),
                header("x-request-id", number.to_string()),
            ],
            body: self.body.clone(),
            is_streaming: true,
        };
        let exchange = self.client.send(request, |_| ()).await;
        self.answers.borrow_mut().push(Answered::new(number, intended, &exchange));
    }
}

/// Returns how late the timer of live runs wakes the loop of one, over so many instants `span` apart.
///
/// # Errors
/// Where the system gives no thread or no event queue.
pub fn wakeups(count: u64, span: Nanos) -> std::io::Result<Option<Spread>> {
    let wall = Wall::start();
    let pacer = Pacer::start(wall)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
    let late = runtime.block_on(async {
        let mut late = Vec::new();
        for _ in 0..count {
            let at = plus(wall.now(), span);
            until(wall, &pacer, at).await;
            late.push(wall.now().since(at).unwrap_or_default());
        }
        late
    });
    Ok(Spread::of(late))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a request of a number that was under way from one instant to another.
    fn answered(number: u64, begun: u64, end: u64) -> Answered {
        let [begun, end] = [begun, end].map(Nanos::new);
        let sent = begun;
        Answered { number, intended: None, begun, sent, outputs: Vec::new(), end, is_whole: true }
    }

    fn ran(answers: Vec<Answered>) -> Ran {
        let wall = Wall::from_epoch(Nanos::ZERO);
        let stamps = Stamps {
            wall,
            answers: Vec::new(),
            dropped: 0,
            connections: 0,
            requests: 0,
            most_in_flight: 0,
        };
        Ran { wall, answers, stamps }
    }

    #[test]
    fn a_request_that_begins_when_another_ends_is_not_beside_it() {
        let all = ran(vec![answered(1, 0, 10), answered(2, 10, 20), answered(3, 5, 12)]);
        assert_eq!(all.most_in_flight(), 2);
        assert_eq!(ran(Vec::new()).most_in_flight(), 0);
    }

    #[test]
    fn rates_count_gaps_between_beginnings_and_all_that_came_until_the_last_end() {
        let half = 500_000_000;
        let all = ran(vec![answered(1, 0, half), answered(2, half, 4 * half)]);
        assert_eq!(all.begun_per_second(), Micros6::per_second(2, 1_000_000_000));
        assert_eq!(all.per_second(6), Micros6::per_second(3, 1_000_000_000));
        assert_eq!(ran(Vec::new()).per_second(1), None);
        assert_eq!(ran(vec![answered(1, 0, 1)]).begun_per_second(), None);
    }
}
