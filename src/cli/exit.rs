//! Exit codes and which one wins.

use std::process::ExitCode;

/// How a command ended. Source: design of reports, "Exit codes"; the table is in README.md.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// 0: done, nothing to complain about.
    Success,
    /// 1: a job failed.
    JobFailed,
    /// 2: the command line, the scenario, a pin or a trace is wrong.
    Refused,
    /// 3: something differs, or a gate says no.
    Drift,
    /// 4: no verdict is possible.
    NoVerdict,
    /// 130: interrupted; finished jobs are kept.
    Interrupted,
}

impl Exit {
    /// Every code that is not success, the strongest first.
    const PRECEDENCE: [Self; 5] =
        [Self::Interrupted, Self::Refused, Self::JobFailed, Self::Drift, Self::NoVerdict];

    /// Returns the process exit code.
    pub const fn code(self) -> u8 {
        match self {
            Self::Success => 0,
            Self::JobFailed => 1,
            Self::Refused => 2,
            Self::Drift => 3,
            Self::NoVerdict => 4,
            Self::Interrupted => 130,
        }
    }

    /// Returns the exit of doing both: the first of 130, 2, 1, 3, 4 that either has, else success.
    pub(crate) fn and(self, other: Self) -> Self {
        Self::PRECEDENCE
            .into_iter()
            .find(|exit| *exit == self || *exit == other)
            .unwrap_or(Self::Success)
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

#[cfg(test)]
mod tests {
    use super::Exit;

    #[test]
    fn where_several_apply_the_first_of_130_2_1_3_4_wins() {
        let all = [
            Exit::Interrupted,
            Exit::Refused,
            Exit::JobFailed,
            Exit::Drift,
            Exit::NoVerdict,
            Exit::Success,
        ];
        for (strong, exit) in all.iter().enumerate() {
            for weaker in &all[strong..] {
                assert_eq!(exit.and(*weaker), *exit);
                assert_eq!(weaker.and(*exit), *exit);
            }
        }
        assert_eq!(all.map(Exit::code), [130, 2, 1, 3, 4, 0]);
    }
}
