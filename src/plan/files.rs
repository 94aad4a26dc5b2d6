//! The files beside the pins of a scenario, held against what the pins say of them.

use super::inputs;
use crate::diag::Bag;
use crate::pin::Registry;
use crate::scenario::model::Scenario;

/// Verifies the size and digest of every file that a pin of the scenario names. Nothing is unpacked or parsed.
///
/// A pin that cannot be read is passed over: it was complained of.
pub(super) fn verify(scenario: &Scenario, registry: &Registry, findings: &mut Bag) {
    for pinned in &scenario.pins.files {
        let Ok(pin) = inputs::pin(pinned, registry) else { continue }; // it was complained of
        for file in pin.files() {
            if let Err(problem) = file.verify(registry.root()) {
                findings.push(problem);
            }
        }
    }
}
