//! The memory limit of a configuration.

use crate::cli::{Exit, Failure};
use crate::diag::{Code, Problem};

/// Refuses to go on where the process has taken more memory than the configuration allows.
///
/// # Errors
/// Exit 3 with both figures.
pub(super) fn check(limit_gb: Option<f64>) -> Result<(), Failure> {
    let (Some(limit), Some(peak)) = (limit_gb, peak_gb()) else { return Ok(()) };
    if peak <= limit {
        return Ok(());
    }
    let message = format!("the process has taken {peak:.3} GB, and the limit is {limit} GB");
    let problem = Problem::new(Code::PredictMemory, message)
        .help("raise `execution.resources.memory_limit_gb`, or run fewer requests");
    // 3 is DynoSim's code for resources; `bench` calls the same number drift.
    Err(Failure::new(Exit::Drift, problem))
}

/// Returns the most memory that the process has held, in GB (10^9 bytes), where the system tells.
pub(in crate::cli::cmd) fn peak_gb() -> Option<f64> {
    let kilobytes = u32::try_from(peak_kib()?).ok()?;
    Some(f64::from(kilobytes) * 1024.0 / 1e9)
}

/// Returns the most memory that the process has held, in KiB, where the system tells.
pub(in crate::cli::cmd) fn peak_kib() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix("kB")?.trim().parse().ok()
}
