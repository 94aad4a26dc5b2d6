//! Pins: every input of a scenario by name and digest, one KDL file each under `pins/`.
//!
//! Owns what a pin file may hold, its digest, and the verification of the files it names: size, then digest, before a byte is
//! unpacked or parsed. Reads KDL through `scenario::{syntax, cursor}`, traces through `trace`. Knows nothing of plans.

mod accepted;
pub mod audit;
mod beside;
mod bundle;
mod capability;
mod capacity;
mod describe;
mod engine;
mod error;
mod file;
mod graphs;
mod hardware;
mod hub_config;
mod kind;
mod model;
mod registry;
mod rows;
mod table;
#[cfg(test)]
mod tests;
mod timing;
mod trace;
mod verify;
mod version;
mod versions;

pub use accepted::{AcceptedParting, Parting, accepted_partings};
pub use bundle::Bundle;
pub use capability::{Aspect, Capabilities};
pub use capacity::{CapacityError, Footprint, KvRequest};
pub use describe::{Description, Scope};
pub use engine::EnginePin;
pub use error::PinError;
pub use graphs::GraphFormat;
pub use hardware::{HardwarePin, Interconnect};
pub use hub_config::HubConfig;
pub use kind::{Dtype, PinKind};
pub use model::{Attention, Experts, ModelPin};
pub use registry::{Pin, Registry};
pub use table::{
    Axis, Curve, DecodeTable, Measured, NearMeasured, PassTable, PrefillTable, Segment, Surface,
    average_lengths,
};
pub use timing::{Quantization, TimingPin, TimingSubject};
pub use trace::TracePin;
pub use verify::PinnedFile;
pub use version::EngineVersion;
pub use versions::{ListedVersion, listed_versions};
