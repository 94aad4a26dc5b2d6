//! What is odd about the jobs of a block, once for each declaration.

use std::collections::BTreeMap;

use crate::diag::Problem;
use crate::scenario::syntax::Place;

use super::case::Kind;
use super::{Case, Doubt, doubts};

/// What is odd about the jobs of a block.
#[derive(Debug, Default)]
pub(in crate::plan) struct Ledger {
    /// Jobs of each declaration.
    jobs: BTreeMap<Declaration, u64>,
    /// Jobs about which something is odd, and where.
    found: BTreeMap<(Declaration, Doubt), (u64, Place)>,
}

/// A workload or a deployment by its name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Declaration {
    Workload(String),
    Deployment(String),
}

impl Ledger {
    /// Notes what is odd about a job of a workload and a deployment of these names.
    pub(in crate::plan) fn note(&mut self, (workload, deployment): (&str, &str), case: &Case<'_>) {
        let workload = Declaration::Workload(workload.to_owned());
        let deployment = Declaration::Deployment(deployment.to_owned());
        for declaration in [&workload, &deployment] {
            *self.jobs.entry(declaration.clone()).or_default() += 1;
        }
        for doubt in doubts(case) {
            let of_workload = doubt.setting.starts_with("workload.");
            let stated_by = if of_workload { &workload } else { &deployment };
            let place = case.origin.place(&doubt.setting);
            let known = self.found.entry((stated_by.clone(), doubt)).or_insert((0, place));
            known.0 += 1;
        }
    }

    /// Returns the warnings: a setting that only some jobs of a declaration leave unread is none, for the others read it.
    pub(in crate::plan) fn into_problems(self) -> Vec<Problem> {
        let jobs = self.jobs;
        let is_told = |declaration: &Declaration, kind: Kind, count: u64| match kind {
            Kind::Idle => jobs.get(declaration) == Some(&count),
            Kind::Unservable | Kind::Foreign => true,
        };
        let found = self.found.into_iter();
        let told =
            found.filter(|((stated_by, doubt), (count, _))| is_told(stated_by, doubt.kind, *count));
        told.map(|((_, doubt), (_, place))| {
            let (code, label) = (doubt.kind.code(), doubt.kind.label());
            place.problem(code, doubt.message, label).help(doubt.help)
        })
        .collect()
    }
}
