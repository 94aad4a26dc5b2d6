//! The sessions of a file, checked: every reference leads somewhere, and no session leads back to itself.

use std::collections::{BTreeMap, BTreeSet};

use crate::diag::{Bag, Code, Problem, SourceFile, Span};
use crate::units::Nanos;

use super::record::{MessageRecord, SessionRecord, TurnRecord};

/// The sessions of a file.
#[derive(Debug)]
pub(super) struct Sessions {
    /// The sessions, in the order of the file.
    pub(super) records: Vec<SessionRecord>,
    /// Their lines.
    lines: Vec<SourceFile>,
    /// The index of each name.
    pub(super) index: BTreeMap<String, usize>,
    /// Everything that is wrong.
    problems: Bag,
}

impl Sessions {
    /// Reads and checks a file.
    ///
    /// # Errors
    /// Everything that is wrong with it, with its line.
    pub(super) fn read(name: &str, text: &str) -> Result<Self, Bag> {
        let (records, lines, index) = (Vec::new(), Vec::new(), BTreeMap::new());
        let mut sessions = Self { records, lines, index, problems: Bag::new() };
        for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            sessions.add(SourceFile::excerpt(name, line, number + 1));
        }
        if sessions.records.is_empty() && sessions.problems.is_empty() {
            let message = format!("`{name}` holds no sessions");
            sessions.problems.push(Problem::new(Code::GraphInput, message));
        }
        for at in 0..sessions.records.len() {
            sessions.check_session(at);
        }
        if !sessions.problems.has_errors() {
            sessions.check_forks();
            sessions.check_cycles();
        }
        if sessions.problems.has_errors() { Err(sessions.problems) } else { Ok(sessions) }
    }

    /// Returns the indices of the sessions that nobody refers to, in the order of the file.
    pub(super) fn roots(&self) -> Vec<usize> {
        let referred: BTreeSet<usize> =
            (0..self.records.len()).flat_map(|at| self.references(at)).collect();
        (0..self.records.len()).filter(|at| !referred.contains(at)).collect()
    }

    /// Adds the session of a line.
    fn add(&mut self, line: SourceFile) {
        let record: SessionRecord = match serde_json::from_str(line.text()) {
            Ok(record) => record,
            Err(error) => {
                let at = error.column().saturating_sub(1).min(line.text().len());
                let message = format!("the line is no session: {error}");
                let problem = Problem::new(Code::GraphInput, message);
                self.problems.push(problem.label(&line, Span::new(at, 0), "here"));
                return;
            }
        };
        if let Some(first) = self.index.insert(record.session_id.clone(), self.records.len()) {
            let before = self.lines[first].first_line();
            let message =
                format!("line {before} holds the session `{}` as well", record.session_id);
            self.problems.push(Problem::new(Code::GraphInput, message).label(
                &line,
                Span::default(),
                "again here",
            ));
        }
        self.records.push(record);
        self.lines.push(line);
    }

    /// Returns a problem with the session of a name.
    pub(super) fn problem(&self, name: &str, code: Code, message: String) -> Problem {
        let line = self.index.get(name).map(|at| &self.lines[*at]);
        let problem = Problem::new(code, message);
        match line {
            Some(line) => problem.label(line, Span::default(), "this session"),
            None => problem,
        }
    }

    /// Keeps a problem with a session.
    fn refuse(&mut self, at: usize, message: &str) {
        let message = format!("session `{}`: {message}", self.records[at].session_id);
        let problem = Problem::new(Code::GraphInput, message);
        self.problems.push(problem.label(&self.lines[at], Span::default(), "this session"));
    }

    /// Checks a session by itself, and that what it refers to is there.
    fn check_session(&mut self, at: usize) {
        let record = &self.records[at];
        let mut wrong: Vec<String> = Vec::new();
        if record.session_id.is_empty() || record.session_id.contains([':', '#']) {
            wrong.push("a name is not empty and holds no `:` and no `#`".to_owned());
        }
        if record.turns.is_empty() {
            wrong.push("it has no turns".to_owned());
        }
        let count = record.turns.len();
        for (turn, what) in record.turns.iter().enumerate() {
            wrong.extend(
                turn_faults(what, turn, count)
                    .into_iter()
                    .map(|fault| format!("turn {turn}: {fault}")),
            );
        }
        let names = names(record);
        let unknown = names.iter().filter(|name| !self.index.contains_key(**name));
        wrong.extend(unknown.map(|name| format!("it refers to `{name}`, which no line holds")));
        for message in wrong {
            self.refuse(at, &message);
        }
    }

    /// Every session is forked once at most, and then nobody spawns it: what it goes on from would be two things, or nothing.
    fn check_forks(&mut self) {
        let mut forked: BTreeMap<&str, u64> = BTreeMap::new();
        let mut spawned: BTreeSet<&str> = BTreeSet::new();
        for record in &self.records {
            spawned.extend(record.pre_session_spawns.iter().map(String::as_str));
            for turn in &record.turns {
                for fork in &turn.forks {
                    *forked.entry(&fork.child).or_default() += 1;
                }
                spawned.extend(
                    turn.spawns.iter().flat_map(|spawn| &spawn.children).map(String::as_str),
                );
            }
        }
        let wrong: Vec<usize> = forked
            .iter()
            .filter(|(child, count)| **count > 1 || spawned.contains(*child))
            .filter_map(|(child, _)| self.index.get(*child).copied())
            .collect();
        for at in wrong {
            self.refuse(at, "it is forked more than once, or forked and spawned");
        }
        let forked: BTreeSet<usize> = self.forked();
        for at in 0..self.records.len() {
            let turns = &self.records[at].turns;
            let late = turns.iter().enumerate().any(|(turn, what)| {
                (turn > 0 || forked.contains(&at))
                    && roles(what).iter().any(|role| role == "system")
            });
            if late {
                self.refuse(at, "a system message stands at the start of a conversation only");
            }
        }
    }

    /// Returns the sessions that are forked.
    fn forked(&self) -> BTreeSet<usize> {
        let turns = self.records.iter().flat_map(|record| &record.turns);
        turns
            .flat_map(|turn| &turn.forks)
            .filter_map(|fork| self.index.get(&fork.child).copied())
            .collect()
    }

    /// No session refers to itself, over any number of others.
    fn check_cycles(&mut self) {
        let mut waiting = vec![0_usize; self.records.len()];
        let next: Vec<Vec<usize>> = (0..self.records.len()).map(|at| self.references(at)).collect();
        for target in next.iter().flatten() {
            waiting[*target] += 1;
        }
        let mut open: Vec<usize> = (0..waiting.len()).filter(|at| waiting[*at] == 0).collect();
        while let Some(at) = open.pop() {
            for target in &next[at] {
                waiting[*target] -= 1;
                if waiting[*target] == 0 {
                    open.push(*target);
                }
            }
        }
        if let Some(at) = waiting.iter().position(|count| *count > 0) {
            self.refuse(
                at,
                "it is below itself: forks and spawns lead back to it, or to what leads to it",
            );
        }
    }

    /// Returns the sessions that a session refers to.
    fn references(&self, at: usize) -> Vec<usize> {
        names(&self.records[at]).iter().filter_map(|name| self.index.get(*name).copied()).collect()
    }
}

/// Returns the names that a session refers to.
fn names(record: &SessionRecord) -> Vec<&str> {
    let forks = record.turns.iter().flat_map(|turn| turn.forks.iter().map(|fork| &fork.child));
    let spawns =
        record.turns.iter().flat_map(|turn| turn.spawns.iter().flat_map(|spawn| &spawn.children));
    record.pre_session_spawns.iter().chain(forks).chain(spawns).map(String::as_str).collect()
}

/// Returns whose words the messages of a turn are; those without a role are left out.
fn roles(turn: &TurnRecord) -> Vec<String> {
    let role =
        |raw: &str| serde_json::from_str::<MessageRecord>(raw).ok().map(|message| message.role);
    turn.messages.iter().filter_map(|raw| role(raw.get())).collect()
}

/// Returns what is wrong with a turn by itself.
fn turn_faults(turn: &TurnRecord, index: usize, count: usize) -> Vec<String> {
    let mut faults = Vec::new();
    if turn.messages.is_empty() {
        faults.push("it adds no messages".to_owned());
    }
    if roles(turn).len() < turn.messages.len() {
        faults.push("a message is an object with a `role`".to_owned());
    }
    if turn.max_tokens == Some(0) {
        faults.push("`max_tokens` is at least 1".to_owned());
    }
    if Nanos::from_ms(turn.delay).is_err() {
        faults.push(format!("`delay` is a number of milliseconds from 0, found {:?}", turn.delay));
    }
    if index + 1 < count && turn.forks.iter().any(|fork| !fork.background) {
        faults.push(
            "a fork that ends its session stands at the last turn; others are `background`"
                .to_owned(),
        );
    }
    for join in turn.spawns.iter().filter_map(|spawn| spawn.join_at) {
        if join <= index || join >= count {
            faults.push(format!("`join_at` is a later turn of the session, found {join}"));
        }
    }
    faults
}
