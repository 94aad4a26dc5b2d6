//! How live traffic is sent: the typed form of a `replay` node.
//!
//! Owns data and canonical descriptions. What is asked, in which order and at which times is the workload's ([`super::Workload`]).

mod bounds;
mod endpoint;
mod request;
mod routing;
mod settings;

pub use bounds::{BoundStatistic, ErrorsBound, LiveBounds, LiveQuantity, TimeBound};
pub use endpoint::{ClientIdentity, EndpointSettings, MockSettings, Target, Timeouts};
pub use request::{Api, OutputCap, RequestSettings};
pub use routing::{NvextContract, SessionRouting};
pub use settings::{Burst, Lanes, LiveStop, ReplaySettings, Snapshot, TokenCounter, Warmup};
