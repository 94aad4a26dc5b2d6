//! How long a pass takes.

mod fixed;
mod pass;
mod polynomial;
mod roofline;
mod speedup;
mod table;
mod work;

pub(crate) use fixed::FixedTiming;
pub use pass::PassTiming;
pub(crate) use pass::{built_in, pass_times};
pub(crate) use polynomial::PolynomialTiming;
pub(crate) use roofline::RooflineTiming;
pub(crate) use speedup::SpedUp;
pub use table::TableTiming;
pub use work::{DecodeWork, PrefillWork};
