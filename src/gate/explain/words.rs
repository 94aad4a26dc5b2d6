//! The sentences and rows that every view of an explanation shares.

use std::fmt::Write as _;

use crate::diag::counted;
use crate::report::HEADLINE;
use crate::units::Nanos;

use super::blast::{Blast, Largest, MovedFigure, MovedMetric};
use super::difference::{Change, Difference, is_time};
use super::explanation::{Divergence, Explanation, JobCase, JobVerdict, Level, Sides, Transcript};
use super::phrase::{event, ms, signed_ms};

/// A heading with its rows: the first is that of the columns.
pub(super) type Grid = Vec<Vec<String>>;

/// Returns what is said of a job, in a word or two.
pub(super) fn verdict(verdict: &JobVerdict) -> &'static str {
    match verdict {
        JobVerdict::Equal(_) => "equal",
        JobVerdict::Differs(_) => "differs",
        JobVerdict::Unexplained { .. } => "differs, unexplained",
        JobVerdict::NotComparable { .. } => "not comparable",
    }
}

/// Returns the grid of jobs.
pub(super) fn jobs(cases: &[JobCase]) -> Grid {
    let header = ["job", "verdict", "first divergence", "requests moved"].map(str::to_owned);
    let row = |case: &JobCase| {
        let (first, moved) = match &case.verdict {
            JobVerdict::Differs(explanation) => {
                let first = explanation.first.as_ref();
                let first = first.map_or_else(|| "-".to_owned(), headline);
                let Blast { moved, requests: (left, right), .. } = explanation.blast;
                (first, format!("{moved} of {}", left.max(right)))
            }
            JobVerdict::Equal(_)
            | JobVerdict::Unexplained { .. }
            | JobVerdict::NotComparable { .. } => ("-".to_owned(), "-".to_owned()),
        };
        vec![case.id.to_string(), verdict(&case.verdict).to_owned(), first, moved]
    };
    std::iter::once(header.to_vec()).chain(cases.iter().map(row)).collect()
}

/// Returns the event and the instant of a divergence.
pub(super) fn headline(divergence: &Divergence) -> String {
    let difference = &divergence.difference;
    format!("{} at {} ms", event(difference.identity), ms(difference.at))
}

/// Returns how far down an explanation goes, in a sentence.
pub(super) fn level(level: Level, sides: &Sides) -> String {
    let Level::Requests { left, right } = level else {
        return "compared event by event".to_owned();
    };
    let of = [(&sides.left, left), (&sides.right, right)];
    let named = |wanted: Transcript| {
        let having = of.iter().filter(|(_, transcript)| *transcript == wanted);
        having.map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(" and of ")
    };
    let (lost, silent) = (named(Transcript::NotKept), named(Transcript::NotExposed));
    let mut text = "compared request by request".to_owned();
    if !silent.is_empty() {
        let both = left == right;
        let (engine, expose) = if both { ("engines", "expose") } else { ("engine", "exposes") };
        write!(text, ": the {engine} of {silent} {expose} no passes").expect(WRITES);
    }
    if !lost.is_empty() {
        write!(
            text,
            "{} no events are kept of {lost}; to compare them: bench run FILE --events of the scenario and pins as they were, and explain that run folder, or give the scenario in its place",
            if silent.is_empty() { ":" } else { ";" },
        )
        .expect(WRITES);
    }
    text
}

/// Why writing to a text cannot fail.
const WRITES: &str = "a String takes every write";

/// Returns the grid of a divergence's state; the rows that differ are marked.
pub(super) fn state(divergence: &Divergence, sides: &Sides) -> Grid {
    if divergence.state.is_empty() {
        return Grid::new();
    }
    let at = divergence.state_at.unwrap_or(divergence.difference.at);
    let header = vec![
        format!("state at {} ms", ms(at)),
        sides.left.clone(),
        sides.right.clone(),
        String::new(),
    ];
    let rows = divergence.state.iter().map(|row| {
        let mark = if row.differs() { "differs" } else { "" };
        vec![row.name.clone(), row.left.clone(), row.right.clone(), mark.to_owned()]
    });
    std::iter::once(header).chain(rows).collect()
}

/// Returns the grid of what follows.
pub(super) fn next(explanation: &Explanation, sides: &Sides) -> Grid {
    if explanation.next.is_empty() {
        return Grid::new();
    }
    let header = ["seen at ms", "event", &sides.left, &sides.right].map(str::to_owned).to_vec();
    let rows = explanation.next.iter().map(|difference| {
        let (left, right) = both(difference);
        vec![ms(difference.at), event(difference.identity), left, right]
    });
    std::iter::once(header).chain(rows).collect()
}

/// Returns what both sides say of a difference, in short: times where those differ, else the first field that does.
fn both(difference: &Difference) -> (String, String) {
    let at =
        |time: Option<Nanos>| time.map_or_else(|| "-".to_owned(), |at| format!("{} ms", ms(at)));
    let (left, right) = (difference.left.as_ref(), difference.right.as_ref());
    let begins = (left.map(|facts| facts.begins), right.map(|facts| facts.begins));
    let ends = (left.and_then(|facts| facts.ends), right.and_then(|facts| facts.ends));
    if begins.0 != begins.1 {
        return (at(begins.0), at(begins.1));
    }
    if difference.ends_otherwise() {
        return (format!("until {}", at(ends.0)), format!("until {}", at(ends.1)));
    }
    match &difference.change {
        Change::Fields(changes) => {
            let first = changes.iter().find(|change| !is_time(&change.name)).or(changes.first());
            first.map_or_else(Default::default, |change| {
                let of = |value: &str| format!("{} {value}", change.name);
                (of(&change.left), of(&change.right))
            })
        }
        Change::OnlyLeft | Change::OnlyRight | Change::Order => (at(begins.0), at(begins.1)),
    }
}

/// Returns how many requests moved, in a sentence.
pub(super) fn moved(blast: &Blast) -> String {
    let (left, right) = blast.requests;
    let of = if left == right {
        counted(left, "request")
    } else {
        format!("{left} and {}", counted(right, "request"))
    };
    let mut text = format!("{} of {of} moved", blast.moved);
    for (side, alone) in [("first", blast.only_left), ("second", blast.only_right)] {
        if alone > 0 {
            write!(text, ", {alone} only on the {side} side").expect(WRITES);
        }
    }
    text
}

/// Returns the grid of metrics that moved.
pub(super) fn metrics(blast: &Blast) -> Grid {
    if blast.metrics.is_empty() {
        return Grid::new();
    }
    let header =
        ["metric", "requests", "up", "down", "median change", "largest change", "of", "from", "to"];
    let rows = blast.metrics.iter().map(|metric| {
        let text =
            |value: Option<i128>| value.map_or_else(|| "-".to_owned(), |v| amount(metric, v));
        let plus = |value: Option<i128>| match value {
            Some(value) if value > 0 => format!("+{}", text(Some(value))),
            other => text(other),
        };
        let largest = metric.largest;
        let change = |largest: Largest| i128::from(largest.right) - i128::from(largest.left);
        vec![
            metric.name.to_owned(),
            (metric.up + metric.down + metric.one_sided).to_string(),
            metric.up.to_string(),
            metric.down.to_string(),
            plus(metric.median),
            plus(largest.map(change)),
            largest.map_or_else(|| "-".to_owned(), |largest| largest.who.to_string()),
            text(largest.map(|largest| i128::from(largest.left))),
            text(largest.map(|largest| i128::from(largest.right))),
        ]
    });
    std::iter::once(header.map(str::to_owned).to_vec()).chain(rows).collect()
}

/// Returns an amount of a metric with its unit.
fn amount(metric: &MovedMetric, value: i128) -> String {
    if metric.name.ends_with("_ns") {
        format!("{} ms", signed_ms(value))
    } else {
        value.to_string()
    }
}

/// Returns the grid of figures that moved, those of goldens only: a report holds many statistics of each metric.
pub(super) fn figures(blast: &Blast, sides: &Sides) -> Grid {
    let header = ["figure", &sides.left, &sides.right, "change", ""].map(str::to_owned).to_vec();
    let rows = headline_figures(blast).map(|row| {
        let change = row.change.clone().unwrap_or_default();
        vec![
            row.metric.clone(),
            row.left.clone(),
            row.right.clone(),
            change,
            row.judgement.name().to_owned(),
        ]
    });
    let rows: Vec<Vec<String>> = rows.collect();
    if rows.is_empty() { Grid::new() } else { std::iter::once(header).chain(rows).collect() }
}

/// Returns how many figures moved beside those of the grid, in a sentence.
pub(super) fn more_figures(blast: &Blast) -> Option<String> {
    let more = blast.figures.len() - headline_figures(blast).count();
    (more > 0)
        .then(|| format!("{} moved; --format json tells them", counted(more as u64, "more figure")))
}

/// Returns the figures that goldens repeat.
fn headline_figures(blast: &Blast) -> impl Iterator<Item = &MovedFigure> {
    let is_headline =
        |row: &&MovedFigure| HEADLINE.iter().any(|name| name.to_string() == row.metric);
    blast.figures.iter().filter(is_headline)
}

/// Returns the grid of what the sides were asked, where that differs.
pub(super) fn inputs(changes: &[super::InputChange], sides: &Sides) -> Grid {
    if changes.is_empty() {
        return Grid::new();
    }
    let header = ["asked", &sides.left, &sides.right].map(str::to_owned).to_vec();
    let row = |change: &super::InputChange| {
        vec![change.path.clone(), change.left.clone(), change.right.clone()]
    };
    std::iter::once(header).chain(changes.iter().map(row)).collect()
}

/// Returns how many jobs have which verdict, in a sentence.
pub(super) fn tally(cases: &[JobCase]) -> String {
    let count_of = |is_one: fn(&JobVerdict) -> bool| {
        cases.iter().filter(|case| is_one(&case.verdict)).count() as u64
    };
    let differing = count_of(|verdict| {
        matches!(verdict, JobVerdict::Differs(_) | JobVerdict::Unexplained { .. })
    });
    let equal = count_of(|verdict| matches!(verdict, JobVerdict::Equal(_)));
    let incomparable = count_of(|verdict| matches!(verdict, JobVerdict::NotComparable { .. }));
    let mut text =
        format!("{}: {differing} different, {equal} equal", counted(cases.len() as u64, "job"));
    if incomparable > 0 {
        write!(text, ", {incomparable} not comparable").expect(WRITES);
    }
    text
}
