//! A golden as KDL.

use std::fmt::Write as _;

use crate::digest::Sha256;
use crate::replay::wire::WireDigests;
use crate::report::{HEADLINE, Section};

use super::{Golden, GoldenJob};

/// Returns the file's text.
pub fn golden_text(golden: &Golden) -> String {
    let mut text = String::new();
    write_golden(&mut text, golden).expect("a String takes every write");
    text
}

/// Writes the `golden` node.
fn write_golden(text: &mut String, golden: &Golden) -> std::fmt::Result {
    let accepted = &golden.accepted;
    writeln!(
        text,
        "// Written by `bench accept`. The line `accepted` is not compared; the rest is."
    )?;
    writeln!(text, "golden {} {{", quoted(&golden.scenario))?;
    writeln!(
        text,
        "    accepted reason={} by={} on={} equal-runs={} tool={}",
        quoted(&accepted.reason),
        quoted(&accepted.by),
        quoted(&accepted.on),
        accepted.equal_runs,
        quoted(&accepted.tool),
    )?;
    writeln!(text, "    definition {}", quoted(&golden.definition))?;
    for job in &golden.jobs {
        write_job(text, job)?;
    }
    writeln!(text, "}}")
}

/// Writes a `job` node, a line each, so that a review shows what changed.
fn write_job(text: &mut String, job: &GoldenJob) -> std::fmt::Result {
    writeln!(text, "    job {} {{", quoted(job.id.as_str()))?;
    writeln!(text, "        key \"{}\"", job.key.hex())?;
    writeln!(text, "        report \"{}\"", job.report.hex())?;
    for section in Section::ALL {
        if let Some(digest) = job.sections.get(&section) {
            writeln!(text, "        section \"{}\" \"{}\"", section.name(), digest.hex())?;
        }
    }
    for name in HEADLINE.map(|name| name.to_string()) {
        if let Some(figure) = job.headline.get(&name) {
            writeln!(text, "        figure {} {}", quoted(&name), quoted(figure))?;
        }
    }
    if let Some(wire) = &job.wire {
        let (run, instances) = wire_parts(wire);
        writeln!(text, "        wire run=\"{run}\" instances=\"{instances}\"")?;
        for (name, digest) in wire.calls() {
            writeln!(text, "        request {} \"{}\"", quoted(name), digest.hex())?;
        }
    }
    writeln!(text, "    }}")
}

/// Returns the digests of a plan beside those of its requests, in hexadecimal digits.
fn wire_parts(wire: &WireDigests) -> (String, String) {
    let canonical = wire.canonical();
    let part = |name: &str| {
        let text = canonical.as_object()?.get(name)?.as_text()?;
        text.parse::<Sha256>().ok().map(|digest| digest.hex())
    };
    let part = |name| part(name).expect("a plan has both digests");
    (part("run"), part("instances"))
}

/// Returns a KDL string.
fn quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for c in text.chars() {
        match c {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            // What KDL does not allow as it is: controls, line ends of Unicode, and marks of direction.
            awkward if awkward.is_control() || is_forbidden(awkward) => {
                let _infallible = write!(quoted, "\\u{{{:x}}}", u32::from(awkward));
            }
            plain => quoted.push(plain),
        }
    }
    quoted.push('"');
    quoted
}

/// Returns whether KDL forbids a character as it is, or reads it as a line end.
fn is_forbidden(c: char) -> bool {
    matches!(c, '\u{200e}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}
