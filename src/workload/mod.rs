//! What is asked of a deployment: source, load and stop, as data.
//!
//! Owns the description of a workload and the corpus of recorded requests; the scheduling of arrivals in virtual time is `sim`.

mod arrival;
mod corpus;
pub mod live;
mod load;
mod model;
mod plays;
mod prompt;
mod requests;
mod select;
mod session_name;
mod sla;
mod source;
mod stop;
mod tape;
mod vocabulary;

pub use arrival::Arrivals;
pub use corpus::{Corpus, CorpusReader, CorpusRow, Prompts, RecordedRow};
pub use load::{Load, Profile, Rate, RecordedLoad};
pub use model::Workload;
pub use plays::{EdgeRelation, EdgeTrigger, Play, PlayEdge, PlayNode, Plays};
pub use prompt::{BlockCursor, BlockIdentity, Content, Origin, Run, RunCursor, Symbol, hash_of};
pub use requests::{RankPins, RawRequest, RequestList, StatedRequest};
pub use select::{CacheBust, Sampling, Select};
pub use session_name::{PlayIdentity, PlayedName, SessionName};
pub use sla::Sla;
pub use source::{SessionShape, Source, SyntheticShape};
pub use stop::{Stop, StopCount};
pub(crate) use tape::{Tape, TapeReader};
pub use vocabulary::Vocabulary;
