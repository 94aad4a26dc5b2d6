//! How long a pass takes.

mod fixed;
mod pass;
mod polynomial;
mod work;

pub(crate) use fixed::FixedTiming;
pub use pass::PassTiming;
pub(crate) use pass::{built_in, pass_times};
pub(crate) use polynomial::PolynomialTiming;
pub use work::{DecodeWork, PrefillWork};
