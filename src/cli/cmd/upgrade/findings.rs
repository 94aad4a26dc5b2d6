//! What speaks against an upgrade, for stderr, and how the command ends.

use crate::cli::Exit;
use crate::diag::{Bag, Code, Problem, counted};
use crate::gate::upgrade::{Changes, Class, ControlVerdict, Judged, Verdict};

/// Returns the finding about changes that are declared against another version.
pub(super) fn other_from(changes: &Changes, from: &str) -> Problem {
    let (file, known) = (&changes.file, changes.from.join(", "));
    let message = format!("`{file}` declares changes against {known}, not against {from}");
    Problem::new(Code::UpgradeOtherFrom, message).help(format!(
        "nothing is declared then; where they hold against {from} too, add it to `from`"
    ))
}

/// Returns everything that speaks against an upgrade.
pub(super) fn findings(verdict: &Verdict) -> Bag {
    let mut bag = Bag::new();
    for class in Class::ALL {
        for problem in of_class(class, verdict) {
            bag.push(problem);
        }
    }
    for problem in idle(verdict) {
        bag.push(problem);
    }
    for control in verdict.controls.iter().filter(|control| control.is_blind()) {
        let (scenario, name) = (&control.scenario, control.perturbation.name());
        let message = format!(
            "scenario `{scenario}` is blind to control `{name}`: {}",
            control.perturbation.about()
        );
        let help = format!(
            "it was planted into {}, and each answers as before",
            counted(control.planted, "job")
        );
        bag.push(Problem::new(Code::UpgradeBlind, message).help(help));
    }
    if !verdict.is_about_anything() && !verdict.is_interrupted {
        let message = "no job of these scenarios could be compared".to_owned();
        bag.push(
            Problem::new(Code::UpgradeEmpty, message).help("the verdict says why, job by job"),
        );
    }
    bag
}

/// Returns the findings about changes that speak of no job: each that is owed to a scenario, and the others as one.
fn idle(verdict: &Verdict) -> Vec<Problem> {
    let of = |name: &str, code: Code, message: String| {
        let place = verdict.change(name).map(|change| &change.place);
        match place {
            Some(place) => place.problem(code, message, "declared here"),
            None => Problem::new(code, message),
        }
    };
    let owed = verdict.idle.iter().filter_map(|idle| {
        let (name, scenario) = (&idle.change, idle.owed_to.as_ref()?);
        let message =
            format!("change `{name}` speaks of no job of scenario `{scenario}`, which it names");
        Some(of(name, Code::UpgradeIdle, message))
    });
    let mut found: Vec<Problem> = owed.collect();
    let others = verdict.idle.iter().filter(|idle| idle.owed_to.is_none());
    let others: Vec<&str> = others.map(|idle| idle.change.as_str()).collect();
    match others[..] {
        [] => {}
        [name] => {
            let message = format!("change `{name}` speaks of no job of these scenarios");
            found.push(of(name, Code::UpgradeUnmatched, message));
        }
        [..] => {
            let declared = verdict.changes.as_ref().map_or(0, |changes| changes.changes.len());
            let (many, names) = (others.len(), others.join(", "));
            let message = format!(
                "{many} of {declared} declared changes speak of no job of these scenarios: {names}"
            );
            found.push(Problem::new(Code::UpgradeUnmatched, message));
        }
    }
    found
}

/// How many jobs of a class are told one by one; the verdict has all.
const TOLD: usize = 5;

/// Returns what speaks against an upgrade in the jobs of a class.
fn of_class(class: Class, verdict: &Verdict) -> Vec<Problem> {
    let jobs = verdict
        .scenarios
        .iter()
        .flat_map(|scenario| scenario.jobs.iter().map(|job| (job, scenario.file.as_str())));
    let of_class = jobs.filter(|(job, _)| job.class == class);
    let mut told: Vec<Problem> =
        of_class.filter_map(|(job, file)| of_job(job, (file, verdict))).collect();
    let more = told.len().saturating_sub(TOLD);
    told.truncate(TOLD);
    match told.last() {
        Some(last) if more > 0 => {
            let message = format!("{} of class `{}`", counted(more, "more job"), class.word());
            told.push(
                Problem::new(last.code(), message).help("the verdict on stdout has all of them"),
            );
        }
        Some(_) | None => {}
    }
    told
}

/// Returns what speaks against an upgrade in one job.
fn of_job(job: &Judged, (file, verdict): (&str, &Verdict)) -> Option<Problem> {
    let (code, what) = match job.class {
        Class::Identical | Class::Declared | Class::Interrupted => return None,
        Class::Undeclared => (Code::UpgradeUndeclared, "drifts"),
        Class::Absent => (Code::UpgradeAbsent, "does not drift as declared"),
        Class::Incomparable => (Code::UpgradeIncomparable, "cannot be compared"),
        Class::Failed => (Code::UpgradeFailed, "failed"),
    };
    let request = job.drift.iter().filter_map(|drift| drift.request.as_ref());
    let lines = std::iter::once(format!("job `{}` {what}", job.id))
        .chain(job.reasons.iter().cloned())
        .chain(request.map(ToString::to_string));
    let message: Vec<String> = lines.collect();
    let problem = Problem::new(code, message.join("\n"));
    let (engine, from, to) = (&verdict.engine, &verdict.from, &verdict.to);
    Some(match job.class {
        Class::Undeclared => problem.help(format!(
            "why: bench explain {file} --engine {engine} --from {from} --to {to}\nwhere it is wanted, declare it in `changes.kdl` beside the pin of {engine} {to}"
        )),
        Class::Absent => problem.help("mend the declaration, or the upgrade"),
        Class::Identical
        | Class::Declared
        | Class::Interrupted
        | Class::Incomparable
        | Class::Failed => problem,
    })
}

/// Returns the exit code of a verdict: the first that applies of 130, 1, 3 and 4.
pub(super) fn exit(verdict: &Verdict) -> Exit {
    let of_class = |class: Class| match class {
        Class::Identical | Class::Declared | Class::Interrupted => Exit::Success,
        Class::Undeclared | Class::Absent => Exit::Drift,
        Class::Incomparable => Exit::NoVerdict,
        Class::Failed => Exit::JobFailed,
    };
    let is_idle = verdict.idle.iter().any(|idle| idle.owed_to.is_some());
    let is_blind = verdict.controls.iter().any(ControlVerdict::is_blind);
    let beside = if is_idle || is_blind { Exit::Drift } else { Exit::Success };
    let nothing = if verdict.is_about_anything() { Exit::Success } else { Exit::NoVerdict };
    let beside = if verdict.is_interrupted { beside.and(Exit::Interrupted) } else { beside };
    verdict.jobs().map(|job| of_class(job.class)).fold(beside.and(nothing), Exit::and)
}
