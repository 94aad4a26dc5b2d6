//! The verdict as `JUnit`: a test case a job, one a control.

use std::fmt::Write as _;

use crate::gate::upgrade::{Class, ControlVerdict, Judged, Verdict};
use crate::report::escape_xml as escape;

use super::line;

/// Returns the document. Drift is a failure, what could not be judged an error; nothing is `skipped`, which viewers show as green.
pub fn verdict_junit(verdict: &Verdict) -> String {
    let mut xml = String::new();
    write_suites(&mut xml, verdict).expect("a String takes every write");
    xml
}

/// A test case: its name, and why it is red.
struct Case {
    suite: String,
    name: String,
    red: Option<Red>,
}

/// Why a case is red.
struct Red {
    element: &'static str,
    message: String,
    body: String,
}

/// Writes one suite.
fn write_suites(xml: &mut String, verdict: &Verdict) -> std::fmt::Result {
    let jobs = verdict
        .scenarios
        .iter()
        .flat_map(|scenario| scenario.jobs.iter().map(|job| of_job(&scenario.scenario, job)));
    let idle = verdict.idle.iter().filter_map(|idle| {
        let suite = idle.owed_to.clone()?;
        let (message, body) = (line::idle(idle), String::new());
        let name = format!("change {}", idle.change);
        Some(Case { suite, name, red: Some(Red { element: "failure", message, body }) })
    });
    let cases: Vec<Case> =
        jobs.chain(verdict.controls.iter().map(of_control)).chain(idle).collect();
    let count = |element: &str| {
        cases
            .iter()
            .filter(|case| case.red.as_ref().is_some_and(|red| red.element == element))
            .count()
    };
    let name = escape(&format!("{} {} to {}", verdict.engine, verdict.from, verdict.to));
    writeln!(xml, r#"<?xml version="1.0" encoding="UTF-8"?>"#)?;
    writeln!(
        xml,
        r#"<testsuites><testsuite name="{name}" tests="{}" failures="{}" errors="{}" skipped="0">"#,
        cases.len(),
        count("failure"),
        count("error"),
    )?;
    cases.iter().try_for_each(|case| write_case(xml, case))?;
    writeln!(xml, "</testsuite></testsuites>")
}

/// Writes one test case.
fn write_case(xml: &mut String, case: &Case) -> std::fmt::Result {
    write!(xml, r#"<testcase classname="{}" name="{}""#, escape(&case.suite), escape(&case.name))?;
    let Some(Red { element, message, body }) = &case.red else { return writeln!(xml, "/>") };
    let (message, body) = (escape(message), escape(body).replace("&#10;", "\n"));
    writeln!(xml, r#"><{element} message="{message}">{body}</{element}></testcase>"#)
}

/// Returns the case of a job.
fn of_job(scenario: &str, job: &Judged) -> Case {
    let element = match job.class {
        Class::Identical | Class::Declared => None,
        Class::Undeclared | Class::Absent => Some("failure"),
        Class::Incomparable | Class::Failed | Class::Interrupted => Some("error"),
    };
    let red = element.map(|element| {
        let drift = job.drift.iter();
        let differs = drift.clone().map(line::first_difference);
        let figures = drift.flat_map(line::figures);
        let lines: Vec<String> =
            job.reasons.iter().cloned().chain(differs).chain(figures).collect();
        Red { element, message: job.class.name().to_owned(), body: lines.join("\n") }
    });
    Case { suite: scenario.to_owned(), name: job.id.to_string(), red }
}

/// Returns the case of a control.
fn of_control(control: &ControlVerdict) -> Case {
    let red = control.is_blind().then(|| Red {
        element: "failure",
        message: line::control(control),
        body: String::new(),
    });
    let name = format!("control {}", control.perturbation.name());
    Case { suite: control.scenario.clone(), name, red }
}
