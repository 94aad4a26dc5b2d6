//! What requests say beside the recorded calls.

use crate::diag::{Bag, Code};
use crate::scenario::cursor::View;
use crate::workload::live::{Api, OutputCap, RequestSettings, SessionRouting};

/// Fields that carry what is replayed, or that a property of `endpoint` states.
const OWN: [(&str, &str); 6] = [
    ("messages", "it is what is replayed"),
    ("prompt", "it is what is replayed"),
    ("input", "it is what is replayed"),
    ("stream", "write `streaming=` at the `endpoint`"),
    ("stream_options", "write `usage=#true` at the `endpoint`"),
    ("model", "write `model=` at the `endpoint`"),
];

/// Decodes what requests say; `None` where the bag says why.
pub(super) fn request(
    view: &View<'_>,
    routing: Option<&SessionRouting>,
    bag: &mut Bag,
) -> Option<RequestSettings> {
    let extra = extra(view, routing, bag);
    let word = view.text("api")?;
    let api = Api::ALL.into_iter().find(|api| api.name() == word)?;
    let output_cap = output_cap(view, api, bag)?;
    Some(RequestSettings {
        api,
        model: view.text("model").map(str::to_owned),
        streaming: view.flag("streaming"),
        output_cap,
        usage: view.flag("usage")?,
        ignore_eos: view.flag("ignore-eos")?,
        min_tokens: view.flag("min-tokens")?,
        extra: extra?,
    })
}

/// Decodes the field that bounds answers, which the API knows.
fn output_cap(view: &View<'_>, api: Api, bag: &mut Bag) -> Option<OutputCap> {
    let Some(word) = view.text("output-cap") else { return Some(api.output_cap()) };
    let cap = OutputCap::ALL.into_iter().find(|cap| cap.name() == word)?;
    if !api.knows(cap) {
        let message = format!("the API `{}` has no `{word}`", api.name());
        let problem = view.problem(Code::ScenarioConflict, "output-cap", message, "of another API");
        bag.push(problem.help(format!("write `output-cap=\"{}\"`", api.output_cap().name())));
    }
    Some(cap)
}

/// Decodes the further fields of bodies.
fn extra(
    view: &View<'_>,
    routing: Option<&SessionRouting>,
    bag: &mut Bag,
) -> Option<Vec<(String, String)>> {
    let mut sound = true;
    let mut found = Vec::new();
    for node in view.all("extra") {
        let (Some(name), Some(json)) = (node.text("NAME"), node.text("JSON")) else {
            sound = false;
            continue;
        };
        sound &= is_free(node, name, bag)
            && is_json(node, json, bag)
            && takes_routing(node, (name, json), routing, bag);
        found.push((name.to_owned(), json.trim().to_owned()));
    }
    sound.then_some(found)
}

/// Refuses fields that are stated elsewhere.
fn is_free(view: &View<'_>, name: &str, bag: &mut Bag) -> bool {
    let Some((_, why)) = OWN.iter().find(|(own, _)| *own == name) else { return true };
    let message = format!("`extra` cannot state `{name}`");
    let problem = view.problem(Code::ScenarioConflict, "NAME", message, "stated elsewhere");
    bag.push(problem.help(*why));
    false
}

/// Refuses an `nvext` that the session routing cannot add its part to.
fn takes_routing(
    view: &View<'_>,
    (name, json): (&str, &str),
    routing: Option<&SessionRouting>,
    bag: &mut Bag,
) -> bool {
    let owned = matches!(routing, Some(SessionRouting::DynamoNvext { .. })) && name == "nvext";
    if !owned || json.trim_start().starts_with('{') {
        return true;
    }
    let message = "`nvext` is no object, so `session-routing` cannot add `session_control` to it";
    bag.push(view.problem(Code::ScenarioConflict, "JSON", message, "no object"));
    false
}

/// Refuses what is no JSON.
fn is_json(view: &View<'_>, text: &str, bag: &mut Bag) -> bool {
    let Err(why) = serde_json::from_str::<serde::de::IgnoredAny>(text) else { return true };
    let message = format!("`{text}` is no JSON: {why}");
    let problem = view.problem(Code::ReplayExtra, "JSON", message, "no JSON");
    bag.push(problem.help("a number is written `\"0.7\"`, a text `#\"\"END\"\"#`"));
    false
}
