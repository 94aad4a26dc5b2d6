//! Where the pools of a scenario look things up: in what it pins.

use super::inputs::Inputs;
use super::{PoolSource, Shortfall, TableInput, TableWanted, WorkerPart};
use crate::deployment::WorkerRole;
use crate::diag::{Code, Problem};
use crate::pin::{HardwarePin, ModelPin, TimingPin};
use crate::scenario::syntax::Node;

/// The pins of a scenario, for one deployment.
pub(super) struct ScenarioPins<'a> {
    /// The deployment's model.
    pub(super) model: &'a ModelPin,
    /// Everything that the scenario pins.
    pub(super) inputs: &'a Inputs,
    /// The scenario's file, for the command that pins more.
    pub(super) file: &'a str,
}

impl PoolSource for ScenarioPins<'_> {
    fn model(&self) -> Option<&ModelPin> {
        Some(self.model)
    }

    fn hardware(&self, name: &str) -> Option<HardwarePin> {
        self.inputs.hardware(name).cloned()
    }

    fn table(&self, wanted: TableWanted<'_>) -> Result<TableInput, Shortfall> {
        let answers = |pin: &TimingPin| match wanted {
            TableWanted::Named(name) => pin.name == name,
            TableWanted::For(sought) => sought.is_answered_by(pin),
        };
        let found = self.inputs.timings().iter().find(|(pin, _)| answers(pin));
        if let Some((_, table)) = found {
            return Ok(table.clone());
        }
        Err(match wanted {
            TableWanted::Named(name) => Shortfall {
                part: WorkerPart::Timing,
                message: format!("the timing table `{name}` cannot be had"),
                help: "its pin is wrong or missing, which is complained of elsewhere".to_owned(),
            },
            TableWanted::For(sought) => {
                let project = self.inputs.project_timings();
                let lack = sought.unanswered(&project);
                match project.iter().find(|pin| sought.is_answered_by(pin)) {
                    Some(pin) => Shortfall {
                        message: format!(
                            "timing `default` means the table `{}`, and the scenario does not pin it",
                            pin.name
                        ),
                        help: format!(
                            "add `timing \"{}\"` to `pins`, then run `bench pin {}`",
                            pin.name, self.file
                        ),
                        ..lack
                    },
                    None => lack,
                }
            }
        })
    }
}

/// Returns the problem of a worker that asks for what no pin says, at the part of it that asks.
pub(super) fn unresolved(deployment: &Node, role: WorkerRole, lack: &Shortfall) -> Problem {
    let is_role =
        |node: &&Node| node.name.text == "worker" && node.first_text() == Some(role.name());
    let worker = deployment.children.iter().find(is_role);
    let child = |node: &'_ Node, name: &str| {
        node.children.iter().find(|child| child.name.text == name).cloned()
    };
    let part = worker.and_then(|worker| match lack.part {
        WorkerPart::Timing => child(worker, "timing"),
        WorkerPart::Capacity => {
            let cache = child(worker, "kv-cache")?;
            Some(child(&cache, "capacity").unwrap_or(cache))
        }
    });
    let place = part.as_ref().or(worker).map_or_else(|| deployment.head(), Node::head);
    let problem = place.problem(Code::ScenarioUnresolved, &lack.message, "asks for it");
    problem.help(&lack.help)
}
