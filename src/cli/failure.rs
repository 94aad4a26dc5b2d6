//! Why a command could not do what it was asked.

use crate::diag::{Bag, Problem};

use super::Exit;

/// Findings with the exit code they lead to.
#[derive(Debug)]
pub struct Failure {
    exit: Exit,
    bag: Bag,
}

impl Failure {
    /// Returns a failure with its exit code.
    pub(crate) fn new(exit: Exit, findings: impl Into<Bag>) -> Self {
        Self { exit, bag: findings.into() }
    }

    /// Returns the exit code.
    pub(crate) fn exit(&self) -> Exit {
        self.exit
    }

    /// Returns the findings.
    pub(crate) fn into_bag(self) -> Bag {
        self.bag
    }
}

impl From<Problem> for Failure {
    /// A finding about the input is exit 2.
    fn from(problem: Problem) -> Self {
        Self::new(Exit::Refused, problem)
    }
}

impl From<Bag> for Failure {
    /// Findings about the input are exit 2.
    fn from(bag: Bag) -> Self {
        Self::new(Exit::Refused, bag)
    }
}
