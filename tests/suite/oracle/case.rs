//! One recorded case, and running it.

use std::fs;
use std::io::Read;

use serde_json::Value;

use crate::program::{Place, Ran, repository_root};

/// A recorded case: its configuration, what was asked, what was answered.
pub(super) struct Case(Value);

impl Case {
    /// Reads a case of a folder of `tests/fixtures/oracle`.
    pub(super) fn read(folder: &str, name: &str) -> Self {
        let path = repository_root().join(format!("tests/fixtures/oracle/{folder}/{name}.json.gz"));
        let file = fs::File::open(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let mut text = String::new();
        flate2::read::GzDecoder::new(file).read_to_string(&mut text).expect("the fixture is gzip");
        Self(serde_json::from_str(&text).expect("the fixture is JSON"))
    }

    /// Returns the names of a folder, sorted.
    pub(super) fn names(folder: &str) -> Vec<String> {
        let folder = repository_root().join("tests/fixtures/oracle").join(folder);
        let entries = fs::read_dir(&folder).expect("the fixtures are there");
        let mut names: Vec<String> = entries
            .map(|entry| entry.expect("the fixtures are readable").file_name())
            .map(|name| name.into_string().expect("file names are ASCII"))
            .map(|name| name.trim_end_matches(".json.gz").to_owned())
            .collect();
        names.sort();
        names
    }

    /// Returns the recorded exit status.
    pub(super) fn exit(&self) -> i32 {
        self.0["exit"].as_i64().and_then(|exit| i32::try_from(exit).ok()).expect("a status")
    }

    /// Returns the recorded summary and rows, where the reference wrote them.
    pub(super) fn answer(&self) -> Option<(&Value, &[Value])> {
        Some((self.0.get("prediction")?, self.0.get("requests")?.as_array()?.as_slice()))
    }

    /// Returns all that is recorded.
    pub(super) fn value(&self) -> &Value {
        &self.0
    }

    /// Returns whether any worker of the case has `default` timing.
    pub(super) fn is_priced_by_a_table(&self) -> bool {
        let config = self.text("config").expect("each case has a configuration");
        let mut lines = config.lines().skip_while(|line| line.trim() != "timing:");
        lines.nth(1).is_some_and(|line| line.trim() == "type: default")
    }

    /// Writes the case's files to a folder.
    pub(super) fn lay_out(&self) -> Place {
        let place = Place::empty();
        place.write("config.yaml", self.text("config").expect("each case has a configuration"));
        if let Some(trace) = self.text("trace") {
            place.write("trace.jsonl", trace);
        }
        if let Some(model) = self.text("model") {
            fs::create_dir(place.path("model")).expect("the place is writable");
            place.write("model/config.json", model);
        }
        place
    }

    /// Runs `bench` with the recorded arguments and these.
    pub(super) fn run(&self, place: &Place, also: &[&'static str]) -> Ran {
        let words = self.0["argv"].as_array().expect("a list of words");
        let words = words.iter().map(|word| word.as_str().expect("a word"));
        place.bench(words.chain(also.iter().copied()))
    }

    fn text(&self, field: &str) -> Option<&str> {
        self.0.get(field).and_then(Value::as_str)
    }
}
