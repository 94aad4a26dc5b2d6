//! Requests that did not complete, by how they ended and why: what a count of completed ones hides.

use std::fmt;

use crate::deployment::WorkerRole;
use crate::diag::Advice;
use crate::record::{Outcome, Refusal, RequestRecord, Rule, RunRecord};

use super::validity::longer;

/// Requests of a run that ended in the same way for the same reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unserved {
    /// How many.
    pub count: u64,
    /// How they ended; `None` where the run was cut before.
    pub outcome: Option<Outcome>,
    /// The first of them, by number.
    pub first: u64,
    /// The line of the trace that it comes from, where it does.
    pub line: Option<u64>,
    /// Why the engine refused it, where that is known.
    pub refusal: Option<Refusal>,
    /// The refusal of the one that needs most, where that is more than the first needs.
    most: Option<Refusal>,
}

/// What makes two requests end in the same way.
type Kind = (Option<Outcome>, Option<(&'static str, WorkerRole)>);

impl Unserved {
    /// Returns every kind of request that did not complete, in the order of the first of each.
    pub fn of(record: &RunRecord) -> Vec<Self> {
        let mut kinds: Vec<(Kind, Self)> = Vec::new();
        for request in record.requests.iter().filter(|request| !request.is_completed()) {
            let refusal = request.refusal.as_deref().copied();
            let kind = (request.outcome, refusal.map(|why| (why.rule.name(), why.role)));
            match kinds.iter_mut().find(|(known, _)| *known == kind) {
                Some((_, unserved)) => unserved.add(refusal),
                None => kinds.push((kind, Self::first(&request, refusal))),
            }
        }
        kinds.into_iter().map(|(_, unserved)| unserved).collect()
    }

    /// Returns the kind of a request that is the first of it.
    fn first(request: &RequestRecord, refusal: Option<Refusal>) -> Self {
        let (outcome, first, line) = (request.outcome, request.index, request.line);
        Self { count: 1, outcome, first, line, refusal, most: None }
    }

    /// Adds a request of the same kind.
    fn add(&mut self, refusal: Option<Refusal>) {
        self.count += 1;
        let needs = |refusal: &Option<Refusal>| refusal.map(|why| why.rule.sizes().0);
        if needs(&refusal) > needs(&self.most.or(self.refusal)) {
            self.most = refusal;
        }
    }

    /// Returns what to change so that they are served, where their end has a known cause.
    pub fn advice(&self) -> Option<Advice> {
        let Some(Refusal { role, rule }) = self.refusal else {
            return self.is_cut().then(longer);
        };
        let needed = self.greatest_need().unwrap_or_default();
        let capacity = format!("worker.{}.kv-cache.capacity", role.name());
        Some(match rule {
            Rule::ContextLimit { .. } => Advice::new(
                "context-length",
                format!(
                    "a prompt must be shorter than the limit: raise it above {needed}, or send shorter prompts"
                ),
            ),
            Rule::KvBlocks { .. } => Advice::new(
                capacity,
                format!("give each rank at least {needed} blocks, or send shorter requests"),
            ),
            Rule::KvBytes { .. } => Advice::new(
                capacity,
                format!("give each rank at least {needed} bytes, or send shorter requests"),
            ),
        })
    }

    /// Returns the most that one of them needs, where a rule says it.
    fn greatest_need(&self) -> Option<u64> {
        self.most.or(self.refusal).map(|why| why.rule.sizes().0)
    }

    /// Returns whether the run was cut before they ended, which is what a time limit is for.
    pub fn is_cut(&self) -> bool {
        self.outcome.is_none()
    }

    /// Returns how they ended, as a clause whose subject they are.
    const fn ended(&self) -> &'static str {
        match self.outcome {
            None => "cut when the run ended",
            Some(Outcome::Completed) => "completed",
            Some(Outcome::Rejected) => "rejected",
            Some(Outcome::Canceled) => "canceled",
            Some(Outcome::Failed) => "failed",
        }
    }
}

impl fmt::Display for Unserved {
    /// How many, how they ended, and why the first did.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.count, self.ended())?;
        if self.is_cut() {
            return Ok(());
        }
        let named = if self.count > 1 { ": the first is request" } else { ": request" };
        write!(f, "{named} {}", self.first)?;
        if let Some(line) = self.line {
            write!(f, " (line {line} of the trace)")?;
        }
        match &self.refusal {
            None => write!(f, "; the engine says no reason"),
            Some(why) if self.count > 1 => write!(f, ", which {why}"),
            Some(why) => write!(f, " {why}"),
        }?;
        match self.most {
            Some(most) => write!(f, "; the largest needs {}", most.rule.sizes().0),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::sample::run;
    use crate::record::Rule;
    use crate::units::{Blocks, Tokens};

    /// A run of five requests, of which those of the listed numbers were refused by these rules.
    fn refused(rules: &[(usize, Outcome, Option<Rule>)]) -> Vec<String> {
        let mut record = run(5);
        for (index, outcome, rule) in rules {
            let request = &mut record.requests.in_memory()[*index];
            request.outcome = Some(*outcome);
            let role = WorkerRole::Decode;
            request.refusal = rule.map(|rule| Box::new(Refusal { role, rule }));
        }
        Unserved::of(&record).iter().map(ToString::to_string).collect()
    }

    fn blocks(needed: u64) -> Rule {
        Rule::KvBlocks { needed: Blocks::new(needed), capacity: Blocks::new(6) }
    }

    #[test]
    fn a_run_in_which_all_requests_complete_has_none() {
        assert_eq!(refused(&[]), Vec::<String>::new());
    }

    #[test]
    fn requests_are_told_by_outcome_and_rule_with_the_first_of_each() {
        let (prompt, limit) = (Tokens::new(100), Tokens::new(50));
        let context = Some(Rule::ContextLimit { prompt, limit });
        let told = refused(&[
            (1, Outcome::Failed, Some(blocks(13))),
            (2, Outcome::Rejected, context),
            (3, Outcome::Failed, Some(blocks(20))),
            (4, Outcome::Rejected, None),
        ]);
        assert_eq!(
            told,
            [
                "2 failed: the first is request 1, which needs 13 KV blocks at once, and a decode rank has 6; the largest needs 20",
                "1 rejected: request 2 has a prompt of 100 tokens, and the context limit is 50",
                "1 rejected: request 4; the engine says no reason",
            ]
        );
    }

    #[test]
    fn requests_that_the_end_of_the_run_cut_have_no_fault() {
        let mut record = run(2);
        let cut = &mut record.requests.in_memory()[1];
        (cut.outcome, cut.terminal) = (None, None);
        let told: Vec<String> = Unserved::of(&record).iter().map(ToString::to_string).collect();
        assert_eq!(told, ["1 cut when the run ended"]);
    }
}
