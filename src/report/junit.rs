//! `junit.xml`: one test case a job, for whatever shows test results.

use std::fmt::Write as _;

use crate::plan::JobId;

use super::{JobResult, JobVerdict, Verdicts};

/// Returns the document; `detail` tells what the gate has against a job, in lines. Times are left out: they would be those of
/// this machine. No case is `skipped`, which viewers show as green: a job that did not have its turn is an error.
pub fn junit(
    scenario: &str,
    run: (&[JobResult], &Verdicts),
    detail: &dyn Fn(&JobId) -> String,
) -> String {
    let mut xml = String::new();
    write_suite(&mut xml, scenario, run, detail).expect("a String takes every write");
    xml
}

/// Writes the suite.
fn write_suite(
    xml: &mut String,
    scenario: &str,
    (results, verdicts): (&[JobResult], &Verdicts),
    detail: &dyn Fn(&JobId) -> String,
) -> std::fmt::Result {
    let ends: Vec<End> = results
        .iter()
        .zip(&verdicts.jobs)
        .map(|(result, verdict)| end(result, *verdict))
        .chain(verdicts.gone.iter().map(|_| gone()))
        .collect();
    let count = |kind: Kind| ends.iter().filter(|end| end.kind == kind).count();
    writeln!(xml, r#"<?xml version="1.0" encoding="UTF-8"?>"#)?;
    writeln!(
        xml,
        r#"<testsuites><testsuite name="{}" tests="{}" failures="{}" errors="{}" skipped="0">"#,
        escape(scenario),
        ends.len(),
        count(Kind::Failure),
        count(Kind::Error),
    )?;
    let ids = results.iter().map(|result| &result.id).chain(&verdicts.gone);
    let notes = results.iter().map(|result| {
        let judged = verdicts.notes_of(&result.id).map(str::to_owned).collect();
        [result.notes(), result.measured_notes(), judged].concat().join("\n")
    });
    for ((id, end), notes) in ids.zip(&ends).zip(notes.chain(std::iter::repeat(String::new()))) {
        write_case(xml, scenario, (id, end, &notes), detail)?;
    }
    writeln!(xml, "</testsuite></testsuites>")
}

/// Writes one test case, with what should be known of the job as its output.
fn write_case(
    xml: &mut String,
    scenario: &str,
    (id, end, notes): (&JobId, &End, &str),
    detail: &dyn Fn(&JobId) -> String,
) -> std::fmt::Result {
    let (name, scenario, text) = (escape(id.as_str()), escape(scenario), escape(&end.text));
    write!(xml, r#"<testcase classname="{scenario}" name="{name}""#)?;
    let lines = |text: &str| escape(text).replace("&#10;", "\n");
    let body = match end.kind {
        Kind::Passed => String::new(),
        Kind::Failure => {
            format!(r#"<failure message="{text}">{}</failure>"#, lines(&detail(id)))
        }
        Kind::Error => format!(r#"<error message="{text}">{}</error>"#, lines(&detail(id))),
    };
    let output = if notes.is_empty() {
        String::new()
    } else {
        format!("<system-out>{}</system-out>", lines(notes))
    };
    match (body.as_str(), output.as_str()) {
        ("", "") => writeln!(xml, "/>"),
        (body, output) => writeln!(xml, ">{body}{output}</testcase>"),
    }
}

/// How a test case ended.
struct End {
    kind: Kind,
    text: String,
}

/// The ends that `JUnit` knows and we use.
#[derive(PartialEq, Eq)]
enum Kind {
    Passed,
    Failure,
    Error,
}

/// Returns how a job ended in `JUnit`'s words: a failed job is an error, a red gate a failure.
fn end(result: &JobResult, verdict: JobVerdict) -> End {
    let failures = result.failures();
    if !failures.is_empty() {
        return End { kind: Kind::Error, text: failures.join("; ") };
    }
    if result.is_interrupted() {
        return End { kind: Kind::Error, text: "interrupted before it ended".to_owned() };
    }
    let kind = if verdict.is_green() { Kind::Passed } else { Kind::Failure };
    End { kind, text: format!("the gate says {}", verdict.name()) }
}

/// Returns the end of a job that the golden has and the plan has not.
fn gone() -> End {
    End { kind: Kind::Failure, text: "in the golden and not in the plan".to_owned() }
}

/// Returns a text for an XML attribute; characters that XML 1.0 cannot hold become U+FFFD.
pub(crate) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\t' => escaped.push_str("&#9;"),
            '\n' => escaped.push_str("&#10;"),
            '\r' => escaped.push_str("&#13;"),
            '\u{0}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => escaped.push('\u{fffd}'),
            plain => escaped.push(plain),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::digest::Sha256;
    use crate::exec::JobError;
    use crate::plan::JobKey;
    use crate::report::JobState;

    fn result(id: &str, error: JobError) -> JobResult {
        let key = JobKey::from_digest(Sha256::of(id.as_bytes()));
        JobResult { id: JobId::new(id), key, state: JobState::Unreported(error) }
    }

    #[test]
    fn every_job_is_one_case_and_texts_are_escaped() {
        let results = [
            result("a<b>&\"", JobError::Panicked { message: "x\u{1}\n<y>".to_owned() }),
            result("b", JobError::Interrupted),
        ];
        let notes = vec![(JobId::new("b"), "not <sent>".to_owned())];
        let verdicts =
            Verdicts { jobs: vec![JobVerdict::NotRun; 2], gone: vec![JobId::new("c")], notes };
        let xml = junit("s & t", (&results, &verdicts), &|_| "found <1>\nexpected 2".to_owned());
        assert_eq!(
            xml,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
             <testsuites><testsuite name=\"s &amp; t\" tests=\"3\" failures=\"1\" errors=\"2\" skipped=\"0\">\n\
             <testcase classname=\"s &amp; t\" name=\"a&lt;b&gt;&amp;&quot;\"><error message=\"a bug: the job panicked: x\u{fffd}&#10;&lt;y&gt;\">found &lt;1&gt;\nexpected 2</error></testcase>\n\
             <testcase classname=\"s &amp; t\" name=\"b\"><error message=\"interrupted before it ended\">found &lt;1&gt;\nexpected 2</error><system-out>not &lt;sent&gt;</system-out></testcase>\n\
             <testcase classname=\"s &amp; t\" name=\"c\"><failure message=\"in the golden and not in the plan\">found &lt;1&gt;\nexpected 2</failure></testcase>\n\
             </testsuite></testsuites>\n"
        );
    }
}
