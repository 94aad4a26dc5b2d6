//! What a line may hold.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::value::RawValue;

/// A session.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SessionRecord {
    /// Its name.
    pub(super) session_id: String,
    /// Its turns, at least one.
    pub(super) turns: Vec<TurnRecord>,
    /// Sessions that start with it and that nobody waits for.
    #[serde(default)]
    pub(super) pre_session_spawns: Vec<String>,
}

/// A turn.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TurnRecord {
    /// What it adds to the conversation, as it is written.
    pub(super) messages: Vec<Box<RawValue>>,
    /// The model.
    #[serde(default)]
    pub(super) model: Option<String>,
    /// The most tokens to ask for.
    #[serde(default)]
    pub(super) max_tokens: Option<u64>,
    /// Tools, as they are written; those of the turns before where absent.
    #[serde(default)]
    pub(super) tools: Option<Box<RawValue>>,
    /// Further fields of the request, as they are written.
    #[serde(default)]
    pub(super) extra: BTreeMap<String, Box<RawValue>>,
    /// Sessions that go on from here.
    #[serde(default)]
    pub(super) forks: Vec<ForkRecord>,
    /// Sessions that start afresh after it.
    #[serde(default)]
    pub(super) spawns: Vec<SpawnRecord>,
    /// Milliseconds from the end of what it waits for to its start.
    #[serde(default)]
    pub(super) delay: f64,
}

/// A session that goes on from a turn.
#[derive(Debug)]
pub(super) struct ForkRecord {
    /// Its name.
    pub(super) child: String,
    /// Whether the turn's own session goes on as well.
    pub(super) background: bool,
}

/// Sessions that start afresh after a turn.
#[derive(Debug)]
pub(super) struct SpawnRecord {
    /// Their names.
    pub(super) children: Vec<String>,
    /// The turn that waits for them; the next one where absent.
    pub(super) join_at: Option<usize>,
}

/// A message, as far as it is looked at.
#[derive(Debug, Deserialize)]
pub(super) struct MessageRecord {
    /// Whose words.
    pub(super) role: String,
}

/// The long form of a fork.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct LongFork {
    child: String,
    #[serde(default)]
    background: bool,
}

/// The long form of a spawn.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct LongSpawn {
    children: Vec<String>,
    #[serde(default)]
    join_at: Option<usize>,
}

impl<'de> Deserialize<'de> for ForkRecord {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Box::<RawValue>::deserialize(deserializer)?;
        if raw.get().starts_with('"') {
            let child = serde_json::from_str(raw.get()).map_err(serde::de::Error::custom)?;
            return Ok(Self { child, background: false });
        }
        let long: LongFork = serde_json::from_str(raw.get()).map_err(serde::de::Error::custom)?;
        Ok(Self { child: long.child, background: long.background })
    }
}

impl<'de> Deserialize<'de> for SpawnRecord {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Box::<RawValue>::deserialize(deserializer)?;
        if raw.get().starts_with('"') {
            let child = serde_json::from_str(raw.get()).map_err(serde::de::Error::custom)?;
            return Ok(Self { children: vec![child], join_at: None });
        }
        let long: LongSpawn = serde_json::from_str(raw.get()).map_err(serde::de::Error::custom)?;
        Ok(Self { children: long.children, join_at: long.join_at })
    }
}
