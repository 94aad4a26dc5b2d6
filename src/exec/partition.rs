//! Shares of a plan for machines that know nothing of each other: nextest's words and meaning.

use std::fmt;
use std::num::NonZeroU64;

use crate::plan::{Job, JobKey, Plan};

/// One of several shares of a plan: each job is in exactly one share of a rule and total.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Partition {
    rule: PartitionRule,
    /// From 1 to `total`.
    index: NonZeroU64,
    total: NonZeroU64,
}

/// By what jobs are dealt out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum PartitionRule {
    /// By their key: a job stays where it is when others come or go.
    Hash,
    /// By their place in the plan, one after the other: shares are equally large.
    Count,
}

/// A text that is no partition.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PartitionError {
    /// It has another form.
    #[error("a partition is `hash:M/N` or `count:M/N`, the M-th of N shares; found `{found}`")]
    Form {
        /// What was found.
        found: String,
    },
    /// A number is none.
    #[error("`{found}` is no whole number; a partition is `{rule}:M/N`, the M-th of N shares")]
    Number {
        /// The word of the rule.
        rule: &'static str,
        /// What was found.
        found: String,
    },
    /// There is no such share.
    #[error("there is no share {index} of {total}: shares are counted from 1 to {total}")]
    Share {
        /// Which was asked for.
        index: u64,
        /// How many there are.
        total: u64,
    },
    /// There are no shares.
    #[error("a plan is dealt into 1 share or more, found 0")]
    NoShares,
}

impl PartitionRule {
    /// Returns the word of the command line.
    const fn name(self) -> &'static str {
        match self {
            Self::Hash => "hash",
            Self::Count => "count",
        }
    }
}

impl Partition {
    /// Returns every share of this rule and total, in order.
    pub fn all(self) -> impl Iterator<Item = Self> {
        (1..=self.total.get()).filter_map(NonZeroU64::new).map(move |index| Self { index, ..self })
    }

    /// Returns whether both deal a plan out in the same way.
    pub fn is_of_same_deal(self, other: Self) -> bool {
        (self.rule, self.total) == (other.rule, other.total)
    }

    /// Returns whether a job belongs to this share.
    pub fn takes(self, job: &Job) -> bool {
        let number = match self.rule {
            PartitionRule::Hash => leading(&job.key()),
            PartitionRule::Count => job.index as u64,
        };
        number % self.total == self.index.get() - 1
    }

    /// Returns the plan of this share alone: its jobs, and no gate, which judges whole runs.
    pub fn select(self, plan: &Plan) -> Plan {
        let mut jobs: Vec<Job> = plan.jobs.iter().filter(|job| self.takes(job)).cloned().collect();
        for (index, job) in jobs.iter_mut().enumerate() {
            job.index = index;
        }
        Plan { jobs, golden: None, blocks: Vec::new(), ..plan.clone() }
    }

    /// Returns its text as a file name.
    pub fn file_name(self) -> String {
        format!("{}-{}-of-{}", self.rule.name(), self.index, self.total)
    }
}

/// Returns the first eight bytes of a key.
fn leading(key: &JobKey) -> u64 {
    let hex = key.digest().hex();
    u64::from_str_radix(&hex[..16], 16).expect("a digest is hexadecimal")
}

impl fmt::Display for Partition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}/{}", self.rule.name(), self.index, self.total)
    }
}

impl std::str::FromStr for Partition {
    type Err = PartitionError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let form = || PartitionError::Form { found: text.to_owned() };
        let (rule, share) = text.split_once(':').ok_or_else(form)?;
        let rule = [PartitionRule::Hash, PartitionRule::Count]
            .into_iter()
            .find(|known| known.name() == rule)
            .ok_or_else(form)?;
        let (index, total) = share.split_once('/').ok_or_else(form)?;
        let number = |found: &str| {
            let is_plain = found.bytes().all(|byte| byte.is_ascii_digit());
            found.parse::<u64>().ok().filter(|_| is_plain).ok_or_else(|| PartitionError::Number {
                rule: rule.name(),
                found: found.to_owned(),
            })
        };
        let (index, total) = (number(index)?, number(total)?);
        let shares = NonZeroU64::new(total).ok_or(PartitionError::NoShares)?;
        match NonZeroU64::new(index).filter(|index| *index <= shares) {
            Some(index) => Ok(Self { rule, index, total: shares }),
            None => Err(PartitionError::Share { index, total }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_partition_is_said_plainly() {
        let said = |text: &str| text.parse::<Partition>().expect_err(text).to_string();
        let form = "a partition is `hash:M/N` or `count:M/N`, the M-th of N shares; found ";
        for text in ["", "hash", "2/5", "hash:2", "slice:1/2", "HASH:1/2"] {
            assert_eq!(said(text), format!("{form}`{text}`"));
        }
        assert!(said("hash:x/y").starts_with("`x` is no whole number"));
        assert!(said("hash:+1/2").starts_with("`+1` is no whole number"));
        assert!(said("count:1/").starts_with("`` is no whole number"));
        assert!(said("hash:1/99999999999999999999").contains("is no whole number"));
        assert_eq!(said("hash:0/5"), "there is no share 0 of 5: shares are counted from 1 to 5");
        assert_eq!(said("hash:6/5"), "there is no share 6 of 5: shares are counted from 1 to 5");
        assert_eq!(said("count:0/0"), "a plan is dealt into 1 share or more, found 0");
        assert_eq!("hash:2/5".parse::<Partition>().expect("one").to_string(), "hash:2/5");
    }
}
