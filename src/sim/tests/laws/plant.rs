//! What is drawn for a job: small numbers that shrink.

use proptest::prelude::*;
use proptest::sample::select;

use crate::deployment::Backend;
use crate::plan::Compat;

/// A request of a trace.
#[derive(Debug, Clone)]
pub(super) struct Asked {
    /// Tenths of a millisecond after the request before it.
    pub(super) gap: u16,
    /// Blocks of 4 tokens that its prompt shares with others, and of which family.
    pub(super) shared: u8,
    pub(super) family: u8,
    /// Blocks of its own.
    pub(super) own: u8,
    /// Tokens that its last block lacks.
    pub(super) short: u8,
    /// Output tokens.
    pub(super) output: u8,
    /// Whether it is the next turn of the request before it, and after how many milliseconds of thinking.
    pub(super) follows: bool,
    pub(super) think: u8,
}

/// A pool of workers.
#[derive(Debug, Clone)]
pub(super) struct Fleet {
    pub(super) replicas: u32,
    pub(super) ranks: u32,
    /// Blocks beyond those of the largest request.
    pub(super) spare_blocks: u8,
    /// Whether it has fewer blocks than the largest request needs, where that says how many tenths of them.
    pub(super) tenths: Option<u8>,
    pub(super) block_size: u8,
    pub(super) budget: u64,
    pub(super) sequences: u64,
    /// vLLM: passes from one that computes prompts to the next. SGLang: decode rounds between prefill passes.
    pub(super) interval: u32,
    pub(super) caching: bool,
    pub(super) prefill_ms: f64,
    pub(super) decode_ms: f64,
}

/// SGLang's own settings.
#[derive(Debug, Clone)]
pub(super) struct Knobs {
    pub(super) chunk_pages: u8,
    pub(super) conservativeness_tenths: u8,
    pub(super) clip: u8,
    pub(super) prefill_tokens: u16,
    pub(super) longest_prefix: bool,
    pub(super) host_loop: bool,
}

/// What is beyond plain serving, where engine and mode have it.
#[derive(Debug, Clone)]
pub(super) enum Feature {
    /// Nothing.
    Plain,
    /// Drafts with these acceptance rates in tenths.
    Drafts { tenths: Vec<u8>, seed: u64 },
    /// A host tier of so many blocks, and a storage tier behind it where there are blocks.
    Tiers { host: u8, storage: u8, shared: (bool, bool), tenths: [u8; 4], latency: u8 },
    /// States of so many blocks, with a match unit or without.
    States { blocks: u8, unit: bool },
    /// Groups of layers of this window, in so many bytes.
    Groups { window: u8, bytes: u16 },
    /// Eviction by the order of the input.
    Foresight,
}

/// Prefill and decode apart.
#[derive(Debug, Clone)]
pub(super) struct Apart {
    pub(super) decode: Fleet,
    /// Tenths of GB/s at 1 MB a token: 0 is a constant time.
    pub(super) sending: u8,
    pub(super) receiving: Option<u8>,
    pub(super) missing_only: bool,
    /// Tenths of a millisecond.
    pub(super) constant: u8,
}

/// When requests come.
#[derive(Debug, Clone)]
pub(super) enum Arrivals {
    /// As the rows say.
    Recorded,
    /// So many at a time.
    Closed(u32),
    /// At a constant rate, in requests a second.
    Constant(u16),
    /// At random, in requests a second.
    Poisson(u16),
    /// Sessions instead of rows: so many, of so many turns, so many at a time.
    Sessions { count: u8, turns: u8, at_a_time: u32, shared_tenths: u8, groups: u8, think: u8 },
}

/// A job.
#[derive(Debug, Clone)]
pub(super) struct Plant {
    pub(super) backend: Backend,
    pub(super) compat: Compat,
    pub(super) rows: Vec<Asked>,
    pub(super) fleet: Fleet,
    pub(super) apart: Option<Apart>,
    pub(super) feature: Feature,
    pub(super) knobs: Knobs,
    pub(super) arrivals: Arrivals,
    pub(super) chunked: bool,
    pub(super) fifo: bool,
    pub(super) context: Option<u8>,
    /// The time limit in milliseconds.
    pub(super) cut: Option<u16>,
}

fn asked() -> impl Strategy<Value = Asked> {
    let gap = prop_oneof![Just(0), 0_u16..40, 0_u16..400];
    let prompt = (0_u8..5, 0_u8..3, 0_u8..5, 0_u8..4);
    let output = prop_oneof![Just(0_u8), Just(1), 1_u8..28];
    (gap, prompt, output, proptest::bool::weighted(0.25), 0_u8..20).prop_map(
        |(gap, (shared, family, own, short), output, follows, think)| {
            let own = own.max(u8::from(shared == 0));
            Asked { gap, shared, family, own, short, output, follows, think }
        },
    )
}

fn fleet() -> impl Strategy<Value = Fleet> {
    let count = (select(vec![1_u32, 1, 2, 3]), select(vec![1_u32, 1, 2, 3]));
    let memory =
        (0_u8..24, proptest::option::weighted(0.08, 3_u8..10), select(vec![1_u8, 2, 3, 4, 8]));
    let limits = (select(vec![3_u64, 7, 16, 33, 64, 512]), select(vec![1_u64, 2, 3, 5, 64]));
    let times = select(vec![(7.3, 1.1), (10.0, 2.0), (2.0, 1.0), (0.0, 1.0), (5.0, 0.5)]);
    (count, memory, limits, select(vec![1_u32, 1, 2, 3]), proptest::bool::weighted(0.75), times)
        .prop_map(
            |(
                count,
                (spare_blocks, tenths, block_size),
                (budget, sequences),
                interval,
                caching,
                times,
            )| Fleet {
                replicas: count.0,
                ranks: count.1,
                spare_blocks,
                tenths,
                block_size,
                budget,
                sequences,
                interval,
                caching,
                prefill_ms: times.0,
                decode_ms: times.1,
            },
        )
}

fn knobs() -> impl Strategy<Value = Knobs> {
    let limits = (1_u8..9, 0_u8..20, select(vec![0_u8, 3, 200]), select(vec![9_u16, 40, 4000]));
    (limits, any::<bool>(), proptest::bool::weighted(0.2)).prop_map(
        |(
            (chunk_pages, conservativeness_tenths, clip, prefill_tokens),
            longest_prefix,
            host_loop,
        )| Knobs {
            chunk_pages,
            conservativeness_tenths,
            clip,
            prefill_tokens,
            longest_prefix,
            host_loop,
        },
    )
}

fn feature() -> impl Strategy<Value = Feature> {
    let drafts = (proptest::collection::vec(0_u8..11, 1..6), 0_u64..50)
        .prop_map(|(tenths, seed)| Feature::Drafts { tenths, seed });
    let tiers = (
        1_u8..24,
        prop_oneof![Just(0_u8), 1_u8..24],
        any::<(bool, bool)>(),
        any::<[u8; 4]>(),
        0_u8..20,
    )
        .prop_map(|(host, storage, shared, tenths, latency)| {
            let tenths = tenths.map(|tenth| tenth % 24);
            Feature::Tiers { host, storage, shared, tenths, latency }
        });
    let states =
        (1_u8..4, any::<bool>()).prop_map(|(blocks, unit)| Feature::States { blocks, unit });
    let groups =
        (1_u8..20, 0_u16..60).prop_map(|(window, bytes)| Feature::Groups { window, bytes });
    prop_oneof![
        4 => Just(Feature::Plain),
        4 => drafts,
        4 => tiers,
        2 => states,
        1 => groups,
        1 => Just(Feature::Foresight),
    ]
}

fn apart() -> impl Strategy<Value = Apart> {
    let links = (0_u8..24, proptest::option::of(1_u8..24), any::<bool>(), 0_u8..50);
    (fleet(), links).prop_map(|(decode, (sending, receiving, missing_only, constant))| Apart {
        decode,
        sending,
        receiving,
        missing_only,
        constant,
    })
}

fn arrivals() -> impl Strategy<Value = Arrivals> {
    let sessions = (1_u8..6, 1_u8..4, 1_u32..4, 0_u8..11, 0_u8..3, 0_u8..9).prop_map(
        |(count, turns, at_a_time, shared_tenths, groups, think)| Arrivals::Sessions {
            count,
            turns,
            at_a_time,
            shared_tenths,
            groups,
            think,
        },
    );
    prop_oneof![
        6 => Just(Arrivals::Recorded),
        2 => (1_u32..6).prop_map(Arrivals::Closed),
        1 => (20_u16..400).prop_map(Arrivals::Constant),
        1 => (20_u16..400).prop_map(Arrivals::Poisson),
        1 => sessions,
    ]
}

/// Returns jobs that hand many prompts over at once, between several ranks on both sides with links of their own.
pub(super) fn crowds() -> impl Strategy<Value = Plant> {
    let plants = plants(vec![Backend::Vllm, Backend::Sglang, Backend::Trtllm]);
    let links = (1_u8..24, 1_u8..24, 2_u32..4, 2_u32..4);
    (plants, apart(), links).prop_map(|(mut plant, mut apart, (sending, receiving, from, to))| {
        (apart.sending, apart.receiving, apart.decode.replicas) = (sending, Some(receiving), to);
        (plant.apart, plant.fleet.replicas, plant.compat) = (Some(apart), from, Compat::Dev87);
        plant.rows.iter_mut().for_each(|row| row.gap /= 20);
        plant
    })
}

/// Returns jobs whose prompts come back from small tiers over slow links.
pub(super) fn restores() -> impl Strategy<Value = Plant> {
    let tiers = (1_u8..8, 2_u8..10, any::<(bool, bool)>(), proptest::array::uniform4(1_u8..6));
    let rows = proptest::collection::vec(asked(), 8..20);
    (plants(vec![Backend::Vllm]), tiers, rows).prop_map(
        |(mut plant, (host, storage, shared, tenths), rows)| {
            plant.feature = Feature::Tiers { host, storage, shared, tenths, latency: 3 };
            (plant.apart, plant.rows, plant.fleet.ranks) = (None, rows, 1);
            plant.fleet.spare_blocks %= 4;
            for row in &mut plant.rows {
                (row.own, row.output, row.shared) =
                    (row.own.min(1), row.output % 6, row.shared.max(1));
            }
            plant
        },
    )
}

/// Returns jobs of these engines.
pub(super) fn plants(backends: Vec<Backend>) -> impl Strategy<Value = Plant> {
    let engine =
        (select(backends), select(vec![Compat::V0_13_0, Compat::Dev87]), feature(), knobs());
    let fleets = (fleet(), proptest::option::weighted(0.4, apart()));
    let traffic = (proptest::collection::vec(asked(), 1..14), arrivals());
    let limits = (
        proptest::bool::weighted(0.85),
        any::<bool>(),
        proptest::option::weighted(0.15, 4_u8..50),
        proptest::option::weighted(0.15, 0_u16..200),
    );
    (engine, fleets, traffic, limits).prop_map(
        |(
            (backend, compat, feature, knobs),
            (fleet, apart),
            (rows, arrivals),
            (chunked, fifo, context, cut),
        )| {
            Plant {
                backend,
                compat,
                rows,
                fleet,
                apart,
                feature,
                knobs,
                arrivals,
                chunked,
                fifo,
                context,
                cut,
            }
        },
    )
}
