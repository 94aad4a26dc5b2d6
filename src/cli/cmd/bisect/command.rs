//! The command: ask the versions, one after the other or by halves, and tell where the answers change.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;

use crate::cli::args::{BisectArgs, Format};
use crate::cli::cmd::jobs::{Manner, Sending};
use crate::cli::cmd::upgrade::{PinRun, simulation};
use crate::cli::{Context, Exit, Failure, print, stop_on_signal};
use crate::diag::{Code, Problem};
use crate::digest::Sha256;
use crate::digest::canonical::Value;
use crate::gate::bisect::{
    Bisection, Bound, Probe, Search, bisection_json, bisection_table, search,
};
use crate::gate::upgrade::{Again, Answer, Class, Judged, PinSide, Question, judge};
use crate::plan::{EngineIdentity, JobId, Plan, load_plan, retarget};
use crate::report::EventLines;

use super::candidates::{Candidates, told};

/// What a version says, by question.
type Answers = BTreeMap<JobId, Answer>;

/// Runs the command.
pub(in crate::cli::cmd) fn run(args: &BisectArgs, context: &Context) -> Result<Exit, Failure> {
    let (mut plan, warnings) = load_plan(&args.file, context.root())?;
    context.report(warnings);
    let candidates = Candidates::new(&plan.root, &args.engine, (&args.good, &args.bad))?;
    candidates.root().clone_into(&mut plan.root);
    let stop = stop_on_signal();
    let manner = Manner {
        threads: args.jobs,
        cache: None,
        events: EventLines::Digest,
        sending: Sending::Planned,
        stop,
        scratch: None,
    };
    let mut asking = Asking { args, plan, manner, context, candidates, said: BTreeMap::new() };
    asking.refuse_unknown_jobs()?;
    let names = asking.candidates.names();
    let how = if args.halve { Search::Halve } else { Search::Walk };
    let found = search((names.len(), how), |place| asking.ask(place))?;
    let differing = asking.differing(found.bound);
    match args.format {
        Format::Table => print(bisection_table(&names, &found, &differing))?,
        Format::Json => print(bisection_json(&names, &found, &differing))?,
    }
    context.report(unavailable(&names, &found));
    Ok(match found.bound {
        Bound::Changed { .. } => Exit::Success,
        Bound::Unchanged | Bound::NoGood | Bound::NoBad { .. } => Exit::NoVerdict,
    })
}

/// Asks versions and keeps what they say.
struct Asking<'a> {
    args: &'a BisectArgs,
    plan: Plan,
    manner: Manner<'a>,
    context: &'a Context,
    candidates: Candidates,
    said: BTreeMap<usize, Answers>,
}

impl Asking<'_> {
    /// Refuses ids that no job has.
    fn refuse_unknown_jobs(&self) -> Result<(), Failure> {
        let engine = EngineIdentity::native(crate::plan::Compat::NEWEST);
        let jobs = retarget(&self.plan, &engine).jobs;
        let is_known = |id: &&String| jobs.iter().any(|job| job.id.as_str() == id.as_str());
        match self.args.job.iter().find(|id| !is_known(id)) {
            None => Ok(()),
            Some(id) => {
                let message = format!("scenario `{}` asks no job `{id}`", self.plan.scenario);
                let first = jobs.first().map(|job| job.id.to_string()).unwrap_or_default();
                let help = format!("ids are without the engine, such as `{first}`");
                Err(Problem::new(Code::JobUnknown, message).help(help).into())
            }
        }
    }

    /// Asks a version.
    fn ask(&mut self, place: usize) -> Result<Probe<Sha256>, Failure> {
        let name = self.candidates.names().swap_remove(place);
        self.context.note(&format!("asking {} {name}", self.args.engine));
        let stop = self.manner.stop;
        let asked = self.candidates.ready(place, stop).and_then(|engine| {
            let asked = PinRun::new(&self.plan, &engine, self.context);
            asked.map_err(|failure| told(failure.into_bag()))
        });
        // What was being fetched or built when someone asked to stop says nothing of the version.
        if stop.load(Ordering::SeqCst) {
            return Err(interrupted());
        }
        let mut asked = match asked {
            Ok(asked) => asked,
            Err(why) => return Ok(Probe::Unavailable(why)),
        };
        let only = &self.args.job;
        let is_wanted = |id: &JobId| only.is_empty() || only.iter().any(|job| job == id.as_str());
        asked.retain(|job| is_wanted(&job.id));
        let mut answers = asked.ask(&self.manner, self.context);
        answers.retain(|id, _| is_wanted(id));
        if stop.load(Ordering::SeqCst) {
            return Err(interrupted());
        }
        Ok(self.probe(place, answers))
    }

    /// Returns what a version's answers come to. What the first version cannot be asked is asked of none.
    fn probe(&mut self, place: usize, mut answers: Answers) -> Probe<Sha256> {
        let refusal = |answer: &Answer| match answer {
            Answer::Refused(why) => Some(why.clone()),
            Answer::Reported(_) | Answer::Failed(_) | Answer::Broken(_) | Answer::Interrupted => {
                None
            }
        };
        let broken = answers.iter().find_map(|(id, answer)| match answer {
            Answer::Broken(why) => Some(format!("its runner has no answer to `{id}`: {why}")),
            Answer::Reported(_) | Answer::Failed(_) | Answer::Refused(_) | Answer::Interrupted => {
                None
            }
        });
        if let Some(why) = broken {
            return Probe::Unavailable(why);
        }
        match self.said.values().next() {
            None => answers.retain(|_, answer| refusal(answer).is_none()),
            Some(good) => answers.retain(|id, _| good.contains_key(id)),
        }
        if answers.is_empty() {
            return Probe::Unavailable("it cannot be asked any of the jobs".to_owned());
        }
        let refused = answers.iter().find_map(|(id, answer)| Some((id, refusal(answer)?)));
        if let Some((id, why)) = refused {
            return Probe::Unavailable(format!("it cannot be asked `{id}`: {why}"));
        }
        let digest = digest(&answers);
        self.said.insert(place, answers);
        Probe::Digest(digest)
    }

    /// Returns the jobs that differ where the answers change.
    fn differing(&self, bound: Bound) -> Vec<Judged> {
        let Bound::Changed { same, other } = bound else { return Vec::new() };
        let (Some(before), Some(after)) = (self.said.get(&same), self.said.get(&other)) else {
            return Vec::new();
        };
        let engine = EngineIdentity::native(crate::plan::Compat::NEWEST);
        let jobs = retarget(&self.plan, &engine).jobs;
        let judged = jobs.iter().filter_map(|job| {
            let question = Question::of(&self.plan.scenario, &job.id, simulation(job)?);
            let pair = (once(before.get(&job.id)?), once(after.get(&job.id)?));
            Some(judge(&question, (&pair.0, &pair.1), None))
        });
        judged.filter(|judged| judged.class != Class::Identical).collect()
    }
}

/// Returns the failure of an interrupted search.
fn interrupted() -> Failure {
    let problem = Problem::new(Code::BisectInterrupted, "interrupted: nothing was found")
        .help("run the command again: runners that were built are kept");
    Failure::new(Exit::Interrupted, problem)
}

/// Returns the side of a version that was asked once and is taken at its word.
fn once(answer: &Answer) -> PinSide {
    let again = match answer {
        Answer::Reported(answered) => Again::Digest(answered.digest),
        Answer::Failed(_) | Answer::Broken(_) | Answer::Refused(_) | Answer::Interrupted => {
            Again::Unasked
        }
    };
    PinSide { answer: answer.clone(), again }
}

/// Returns the digest of all answers: a failure counts as what the engine says. What a runner says on stderr is none of them: it would name
/// files and versions.
fn digest(answers: &Answers) -> Sha256 {
    let value = |answer: &Answer| match answer {
        Answer::Reported(answered) => Value::from(answered.digest),
        Answer::Failed(why) | Answer::Refused(why) => Value::text(why),
        Answer::Broken(_) | Answer::Interrupted => Value::Null,
    };
    let values = answers.iter().map(|(id, answer)| (id.to_string(), value(answer)));
    Value::Object(values.collect()).digest()
}

/// Returns a warning for each version that could not be asked, with all that was said.
fn unavailable(names: &[String], found: &Bisection<Sha256>) -> crate::diag::Bag {
    let mut bag = crate::diag::Bag::new();
    for step in &found.steps {
        if let Probe::Unavailable(why) = &step.probe {
            let message = format!("version {} cannot be asked: {why}", names[step.place]);
            bag.push(Problem::new(Code::BisectUnavailable, message));
        }
    }
    bag
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gate::bisect::Step;

    #[test]
    fn a_version_that_cannot_be_asked_is_a_warning_with_all_that_was_said() {
        let steps = vec![
            Step { place: 0, probe: Probe::Digest(Sha256::of(b"a")) },
            Step { place: 1, probe: Probe::Unavailable("no\nmore".to_owned()) },
        ];
        let found = Bisection { steps, bound: Bound::NoBad { same: 0 } };
        let names = ["1.0.0".to_owned(), "2.0.0".to_owned()];
        let told = unavailable(&names, &found).into_sorted();
        assert_eq!((told.len(), told[0].code()), (1, Code::BisectUnavailable));
        assert_eq!(told[0].message(), "version 2.0.0 cannot be asked: no\nmore");
    }

    #[test]
    fn an_interrupted_search_finds_nothing() {
        let failure = interrupted();
        assert_eq!(failure.exit(), Exit::Interrupted);
        assert_eq!(failure.into_bag().into_sorted()[0].code(), Code::BisectInterrupted);
    }
}
