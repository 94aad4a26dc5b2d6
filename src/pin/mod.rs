//! Pins: every input of a scenario by name and digest, one KDL file each under `pins/`.
//!
//! Owns what a pin file may hold, its digest, and the verification of the files it names: size, then digest, before a byte is
//! unpacked or parsed. Reads KDL through `scenario::{syntax, cursor}`, traces through `trace`. Knows nothing of plans.

mod describe;
mod engine;
mod error;
mod file;
mod hardware;
mod kind;
mod model;
mod registry;
#[cfg(test)]
mod tests;
mod timing;
mod trace;
mod verify;

pub use describe::{Description, Scope};
pub use engine::EnginePin;
pub use error::PinError;
pub use hardware::{HardwarePin, Interconnect};
pub use kind::{Dtype, PinKind};
pub use model::{Attention, Experts, ModelPin};
pub use registry::{Pin, Registry};
pub use timing::TimingPin;
pub use trace::TracePin;
pub use verify::PinnedFile;
