//! Headers of requests.

use crate::diag::{Bag, Code, is_secret_header};
use crate::scenario::cursor::View;
use crate::workload::live::SessionRouting;

/// Headers that belong to the connection or to the body, and are written by the client alone.
const OWN: [&str; 7] = [
    "accept",
    "connection",
    "content-length",
    "content-type",
    "host",
    "transfer-encoding",
    "x-request-id",
];

/// Decodes the `header` nodes of an endpoint; `None` where the bag says why.
pub(super) fn headers(
    view: &View<'_>,
    routing: Option<&SessionRouting>,
    bag: &mut Bag,
) -> Option<Vec<(String, String)>> {
    let mut found: Vec<(String, String)> = Vec::new();
    let mut sound = true;
    for node in view.all("header") {
        let (Some(name), Some(value)) = (node.text("NAME"), node.text("VALUE")) else {
            sound = false;
            continue;
        };
        sound &= check_name(node, "NAME", name, bag);
        sound &= check_value(node, value, bag);
        sound &= is_free(node, name, routing, bag);
        if found.iter().any(|(other, _)| other.eq_ignore_ascii_case(name)) {
            let message = format!("the header `{name}` is stated twice; names do not heed case");
            bag.push(node.problem(Code::KdlDuplicateName, "NAME", message, "given again"));
            sound = false;
        }
        found.push((name.to_owned(), value.to_owned()));
    }
    sound.then_some(found)
}

/// Refuses what is no name of a header (a token of RFC 9110), and names that the client writes.
pub(super) fn check_name(view: &View<'_>, field: &str, name: &str, bag: &mut Bag) -> bool {
    let token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    if name.is_empty() || !name.bytes().all(token) {
        let message = format!("`{name}` is no name of a header");
        bag.push(view.problem(Code::ReplayHeader, field, message, "no such name"));
        return false;
    }
    let lower = name.to_ascii_lowercase();
    if is_secret_header(name) {
        let message = "a key never stands in a file";
        let problem = view.problem(Code::ReplayHeader, field, message, "a secret");
        bag.push(
            problem.help(
                "name the variable that holds it: `endpoint … api-key-env=\"OPENAI_API_KEY\"`",
            ),
        );
        return false;
    }
    if OWN.contains(&lower.as_str()) {
        let message = format!("`{name}` is written by the client itself");
        bag.push(view.problem(Code::ReplayHeader, field, message, "not yours to state"));
        return false;
    }
    true
}

/// Refuses values that a header cannot hold.
fn check_value(view: &View<'_>, value: &str, bag: &mut Bag) -> bool {
    let visible = value.bytes().all(|byte| byte == b' ' || byte.is_ascii_graphic());
    if !visible || value.trim() != value {
        let message = "a header's value is printable ASCII without spaces at its ends";
        bag.push(view.problem(Code::ReplayHeader, "VALUE", message, "no such value"));
    }
    visible && value.trim() == value
}

/// Refuses a header that the session routing writes.
fn is_free(view: &View<'_>, name: &str, routing: Option<&SessionRouting>, bag: &mut Bag) -> bool {
    let Some(routing) = routing else { return true };
    let taken = routing.headers().iter().any(|owned| owned.eq_ignore_ascii_case(name));
    if taken {
        let message =
            format!("`session-routing \"{}\"` writes the header `{name}`", routing.name());
        let problem = view.problem(Code::ScenarioConflict, "NAME", message, "written twice");
        bag.push(problem.help("remove one of the two"));
    }
    !taken
}
