//! What is said of rows and records that are let through: with one of them, and with every other number.

/// The words behind the number.
pub(super) type Tolerated = [&'static str; 2];

pub(super) const CONFLICT: Tolerated = [
    "contradicts itself in two fields; the first of them counts",
    "contradict themselves in two fields; the first of them counts",
];
pub(super) const MISFIT: Tolerated =
    ["has hashes that do not fit its prompt", "have hashes that do not fit their prompt"];
pub(super) const NO_HASHES: Tolerated =
    ["has no hash_ids; its prompt is unique", "have no hash_ids; their prompts are unique"];
pub(super) const NO_OUTPUT: Tolerated = [
    "is a request that failed; it asks for no output",
    "are requests that failed; they ask for no output",
];
pub(super) const NO_TIMESTAMP: Tolerated =
    ["has no timestamp; it arrives at 0", "have no timestamp; they arrive at 0"];
pub(super) const ORPHAN: Tolerated = [
    "is a session whose parent is not there; it is a root",
    "are sessions whose parent is not there; they are roots",
];
pub(super) const REPEATED: Tolerated =
    ["repeats a record above and was left out", "repeat a record above and were left out"];
pub(super) const SURPLUS: Tolerated = [
    "has more hash_ids than blocks; the surplus is ignored",
    "have more hash_ids than blocks; the surplus is ignored",
];
pub(super) const UNSORTED: Tolerated = [
    "arrives before the row above it; times are used as written",
    "arrive before the row above them; times are used as written",
];
