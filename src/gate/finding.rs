//! What a gate has against a run, and how to tell it.

use crate::diag::{Code, Problem, Span, counted};
use crate::digest::Sha256;
use crate::plan::{JobId, Plan};
use crate::replay::wire::WireDifference;
use crate::report::Section;
use crate::scenario::syntax::Place;

use super::RequestDifference;

/// What a gate has against a run.
#[derive(Debug, Clone)]
pub enum Finding {
    /// The golden that the scenario names does not exist.
    GoldenMissing,
    /// The golden belongs to another scenario.
    OtherScenario {
        /// The name in the golden.
        found: String,
    },
    /// The golden's figures are defined otherwise: no verdict.
    OtherDefinition {
        /// The golden's definitions.
        golden: String,
        /// This program's.
        ours: &'static str,
    },
    /// The plan has a job that the golden lacks.
    Unaccepted {
        /// The job.
        id: JobId,
    },
    /// The golden has a job that the plan lacks.
    Gone {
        /// The job.
        id: JobId,
        /// Where the golden has it.
        place: Option<Place>,
    },
    /// The golden has a job that has no report.
    NotRun {
        /// The job.
        id: JobId,
        /// Why not.
        why: String,
        /// Where the golden has it.
        place: Option<Place>,
    },
    /// The golden contradicts its own report digest.
    Edited {
        /// The job.
        id: JobId,
        /// What it says wrongly.
        what: String,
        /// Where the golden has it.
        place: Option<Place>,
    },
    /// The report is another one.
    Drift(Box<Drift>),
    /// What was measured exceeds a bound of the scenario.
    OverBound {
        /// The job.
        id: JobId,
        /// Which bound, and by what.
        text: String,
        /// Where the scenario states it.
        place: Span,
    },
    /// What was measured cannot be held to a bound of the scenario: no verdict.
    Unjudged {
        /// The job.
        id: JobId,
        /// Which bound, and why not.
        text: String,
        /// What would make it judgeable.
        help: String,
        /// Where the scenario states it.
        place: Span,
    },
}

/// What is left of the live runs that a finding is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kept {
    /// A run folder, with a record of each request.
    Run,
    /// Nothing.
    Nothing,
}

impl Kept {
    /// Returns where each request of a live run can be looked at.
    pub fn requests(self, plan: &Plan) -> String {
        let what = "each request, its instants and its error";
        match self {
            Self::Run => format!("live.jsonl of the run holds {what}"),
            Self::Nothing => format!(
                "nothing is kept here: `bench run {}` leaves live.jsonl with {what}",
                plan.source.name()
            ),
        }
    }
}

/// A report that is not the accepted one.
#[derive(Debug, Clone)]
pub struct Drift {
    /// The job.
    pub id: JobId,
    /// The accepted report digest.
    pub expected: Sha256,
    /// The report digest found.
    pub found: Sha256,
    /// Where the change comes from.
    pub cause: Cause,
    /// Sections that differ, causes before effects; empty where only what stands beside them does.
    pub sections: Vec<Section>,
    /// Headline figures that differ: name, expected, found; `-` where one side lacks it.
    pub headline: Vec<(String, String, String)>,
    /// The planned requests of a replay that differ, in the order of the accepted plan.
    pub wire: Vec<WireDifference>,
    /// The first request that differs, where an earlier run with the accepted report is at hand.
    pub request: Option<RequestDifference>,
    /// Where the golden has the job.
    pub place: Option<Place>,
}

/// Where a drift comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// The job's key changed: the scenario or a pin asks something else.
    Question,
    /// The key is the accepted one: this program answers otherwise.
    Program,
}

/// How many planned requests a message names.
const REQUESTS: usize = 5;
/// How many figures a message names; `bench diff` shows all.
const FIGURES: usize = 3;

impl Finding {
    /// Returns the job that the finding is about; `None` where it is about all of them.
    pub const fn job(&self) -> Option<&JobId> {
        match self {
            Self::GoldenMissing | Self::OtherScenario { .. } | Self::OtherDefinition { .. } => None,
            Self::Unaccepted { id }
            | Self::Gone { id, .. }
            | Self::NotRun { id, .. }
            | Self::Edited { id, .. }
            | Self::OverBound { id, .. }
            | Self::Unjudged { id, .. } => Some(id),
            Self::Drift(drift) => Some(&drift.id),
        }
    }

    /// Returns whether the finding says that no verdict is possible.
    pub const fn prevents_verdict(&self) -> bool {
        matches!(self, Self::OtherDefinition { .. } | Self::Unjudged { .. })
    }

    /// Returns the finding as people read it, with the commands that go on from it.
    pub fn problem(&self, plan: &Plan, kept: Kept) -> Problem {
        let accept = accept_command(plan);
        match self {
            Self::GoldenMissing => golden_missing(plan, &accept),
            Self::OtherScenario { found } => Problem::new(
                Code::GoldenWrong,
                format!("the golden is of scenario `{found}`, expected `{}`", plan.scenario),
            )
            .help(
                "give each scenario a golden of its own; where it was renamed, delete the golden and accept anew",
            ),
            Self::OtherDefinition { golden, ours } => Problem::new(
                Code::GoldenDefinition,
                format!("the golden uses the definitions `{golden}`, this program `{ours}`"),
            )
            .help(format!("accept anew: {accept}")),
            Self::Unaccepted { id } => Problem::new(
                Code::GateJobNew,
                format!("the golden lacks job `{id}`, which the plan has"),
            )
            .help(format!("where it is wanted: {accept}")),
            Self::Gone { id, place } => at(
                place.as_ref(),
                Code::GateJobGone,
                format!("the plan lacks job `{id}`, which the golden has"),
                "accepted here",
            )
            .help(format!("where it is no longer wanted: {accept}")),
            Self::NotRun { id, why, place } => at(
                place.as_ref(),
                Code::GateJobNotRun,
                format!("job `{id}` has no report: {why}"),
                "accepted here",
            )
            .help(format!("run it again: bench run {}", plan.source.name())),
            Self::Edited { id, what, place } => at(
                place.as_ref(),
                Code::GoldenEdited,
                format!("the golden of job `{id}` contradicts itself: {what}"),
                "the report digest here is the accepted one",
            )
            .help(format!("write the golden anew: {accept}")),
            Self::Drift(drift) => drift.problem(plan, &accept),
            Self::OverBound { id, text, place } => {
                let message = format!("what job `{id}` measured is out of bounds: {text}");
                Problem::new(Code::GateLive, message)
                    .label(&plan.source, *place, "held to this")
                    .help(kept.requests(plan))
            }
            Self::Unjudged { id, text, help, place } => {
                let message = format!("what job `{id}` measured cannot be judged: {text}");
                Problem::new(Code::GateLive, message)
                    .label(&plan.source, *place, "held to this")
                    .help(help)
            }
        }
    }
}

impl Drift {
    /// Returns the drift as people read it.
    fn problem(&self, plan: &Plan, accept: &str) -> Problem {
        let sections = if self.sections.is_empty() {
            "beside its sections (validity or invariants)".to_owned()
        } else {
            let names: Vec<&str> = self.sections.iter().map(|section| section.name()).collect();
            format!("in {}", names.join(", "))
        };
        let cause = match self.cause {
            Cause::Question => "its key is another one: the scenario or a pin has changed",
            Cause::Program => "its key is the accepted one: this program answers otherwise",
        };
        let whole = [
            format!("job `{}` drifts {sections}", self.id),
            format!("report   {}", self.found),
            format!("expected {}", self.expected),
            cause.to_owned(),
        ];
        let request = self.request.iter().map(ToString::to_string);
        let message: Vec<String> =
            whole.into_iter().chain(self.requests()).chain(request).chain(self.figures()).collect();
        let message = message.join("\n");
        let scenario = plan.source.name();
        let golden = plan.golden.as_ref().map(|(path, _)| path.display().to_string());
        let help = format!(
            "reproduce: bench run {scenario} --no-cache\n\
             compare: bench diff {} runs/{}/latest\n\
             explain: bench explain {scenario} --job {}\n\
             accept: {accept}",
            golden.unwrap_or_default(),
            crate::report::file_name(&plan.scenario),
            self.id,
        );
        at(self.place.as_ref(), Code::GateDrift, message, "accepted here").help(help)
    }
}

impl Drift {
    /// Returns the first planned requests that differ, and how many more do.
    fn requests(&self) -> Vec<String> {
        let mut texts: Vec<String> = self.wire.iter().take(REQUESTS).map(changed_request).collect();
        let more = self.wire.len().saturating_sub(REQUESTS);
        if more > 0 {
            texts.push(format!("{more} more of the wire plan"));
        }
        texts
    }

    /// Returns the first headline figures that differ, and how many more do.
    fn figures(&self) -> Vec<String> {
        let shown = self.headline.iter().take(FIGURES);
        let mut texts: Vec<String> = shown
            .map(|(name, expected, found)| format!("{name} {found}, expected {expected}"))
            .collect();
        let more = self.headline.len().saturating_sub(FIGURES);
        if more > 0 {
            texts.push(counted(more, "more figure"));
        }
        texts
    }
}

/// Returns what a plan of live traffic differs in.
pub(super) fn changed_request(difference: &WireDifference) -> String {
    match difference {
        WireDifference::Run => {
            "what holds for all requests is another: pacing, path, lanes or selection".to_owned()
        }
        WireDifference::Instances => {
            "the instances are others: seed, order, snapshots or arrivals".to_owned()
        }
        WireDifference::Changed(name) => {
            format!("request `{name}` changes on the wire: what it sends, or when it starts")
        }
        WireDifference::Gone(name) => format!("request `{name}` is no longer planned"),
        WireDifference::New(name) => format!("request `{name}` is new"),
    }
}

/// Returns the finding of a golden that is named and missing, where the scenario names it.
fn golden_missing(plan: &Plan, accept: &str) -> Problem {
    let name = plan.golden.as_ref().map(|(path, _)| path.display().to_string());
    let message = format!("the golden `{}` does not exist", name.unwrap_or_default());
    let problem = Problem::new(Code::GoldenMissing, message)
        .help(format!("look at the results; where they are right: {accept}"));
    match &plan.golden {
        Some((_, span)) => problem.label(&plan.source, *span, "named here"),
        None => problem,
    }
}

/// Returns the command that accepts the results of a plan.
fn accept_command(plan: &Plan) -> String {
    format!("bench accept {} --reason \"...\"", plan.source.name())
}

/// Returns a problem at a place of the golden, where there is one.
fn at(place: Option<&Place>, code: Code, message: String, label: &str) -> Problem {
    match place {
        Some(place) => place.problem(code, message, label),
        None => Problem::new(code, message),
    }
}
