//! `replay`.

use super::gate::fields;
use super::names;
use crate::digest::canonical::Value;
use crate::scenario::cursor::View;
use crate::scenario::model::Replay;

/// Decodes live traffic; `None` where the checker has complained.
pub(super) fn replay(view: &View<'_>) -> Option<Replay> {
    Some(Replay {
        name: view.text("NAME")?.to_owned(),
        place: view.head(),
        workloads: names(view.child("workload")),
        settings: settings(view),
    })
}

/// Returns everything but name and workloads, canonical; headers are a list in file order.
fn settings(view: &View<'_>) -> Value {
    let mut all = std::collections::BTreeMap::new();
    for child in view.children().iter().filter(|child| child.name() != "workload") {
        all.insert(child.name().replace('-', "_"), fields(child));
    }
    let headers = view.child("endpoint").into_iter().flat_map(|endpoint| endpoint.all("header"));
    all.insert("headers".to_owned(), Value::List(headers.map(fields).collect()));
    Value::Object(all)
}
