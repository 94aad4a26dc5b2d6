//! `bench exec-pin`: ask one version of an engine every question of a scenario and print the digests of its answers.

use std::sync::atomic::Ordering;

use crate::cli::args::ExecPinArgs;
use crate::cli::{Context, Exit, Failure, print, stop_on_signal};
use crate::digest::canonical::Value;
use crate::gate::upgrade::Answer;
use crate::pin::Registry;
use crate::plan::{EngineIdentity, load_plan};
use crate::report::EventLines;

use super::jobs::{Manner, Sending};
use super::upgrade::PinRun;

/// Runs the command. stdout is one JSON object: a digest, or `failed: …`, by question; what cannot be asked is left out.
pub(super) fn run(args: &ExecPinArgs, context: &Context) -> Result<Exit, Failure> {
    let (plan, _) = load_plan(&args.file, context.root())?;
    let registry = Registry::open(&plan.root)?;
    let engine = EngineIdentity::find(&registry, &args.engine, &args.version)?;
    let asked = PinRun::new(&plan, &engine, context)?;
    let stop = stop_on_signal();
    let manner = Manner {
        threads: args.jobs,
        cache: None,
        events: EventLines::Digest,
        sending: Sending::Planned,
        stop,
        scratch: None,
    };
    let answers = asked.ask(&manner, context);
    let said = answers.into_iter().filter_map(|(id, answer)| {
        let said = match answer {
            Answer::Reported(answered) => answered.digest.hex(),
            Answer::Failed(why) | Answer::Broken(why) => format!("failed: {why}"),
            Answer::Interrupted => "failed: interrupted".to_owned(),
            Answer::Refused(_) => return None,
        };
        Some((id.to_string(), Value::Text(said)))
    });
    print(Value::Object(said.collect()).to_document())?;
    Ok(if stop.load(Ordering::SeqCst) { Exit::Interrupted } else { Exit::Success })
}
