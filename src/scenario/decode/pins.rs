//! `pins`.

use crate::diag::{Bag, Code};
use crate::scenario::cursor::View;
use crate::scenario::model::{EnginePin, FilePin, PinKind, Pins};
use crate::scenario::syntax::Place;

/// Decodes the pins; those the bag complains of are left out.
pub(super) fn pins(view: &View<'_>, bag: &mut Bag) -> Pins {
    let mut pins = Pins::default();
    for kind in PinKind::ALL {
        for pin in view.all(kind.name()) {
            let Some(name) = pin.text("NAME") else { continue }; // the checker has complained
            pins.files.push(FilePin {
                kind,
                name: name.to_owned(),
                digest: pin.digest("sha256"),
                place: pin.place("NAME"),
                digest_place: written(pin, "sha256"),
            });
        }
    }
    pins.engines = view.all("engine").filter_map(|pin| engine(pin, bag)).collect();
    pins
}

/// Decodes an engine; the checker or the bag says why where there is none.
fn engine(view: &View<'_>, bag: &mut Bag) -> Option<EnginePin> {
    let name = view.text("NAME")?;
    if name != "native" && view.is_given("compat") {
        let message = format!("engine `{name}` has no `compat`");
        let problem = view.problem(Code::ScenarioConflict, "compat", message, "of `native` alone");
        bag.push(problem.help("an upstream engine behaves as its version does"));
    }
    if name == "native" && view.is_given("checksum") {
        let message = "engine `native` has no `checksum`";
        let problem =
            view.problem(Code::ScenarioConflict, "checksum", message, "of upstream engines alone");
        bag.push(
            problem
                .help("`native` is part of `bench`; its `version` and `compat` say what it does"),
        );
    }
    Some(EnginePin {
        name: name.to_owned(),
        version: view.text("version").map(str::to_owned),
        checksum: view.text("checksum").map(str::to_owned),
        compat: view.text("compat").map(str::to_owned),
        place: view.place("NAME"),
        version_place: written(view, "version"),
        checksum_place: written(view, "checksum"),
        compat_place: written(view, "compat"),
    })
}

/// Returns where the value of a property stands, right or wrong.
fn written(view: &View<'_>, name: &str) -> Option<Place> {
    let node = view.node()?;
    node.props.iter().find(|prop| prop.name.text == name).map(|prop| prop.value.place.clone())
}
