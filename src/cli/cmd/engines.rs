//! `bench engines`: pinned engines and their runners.

use std::path::{Path, PathBuf};

use crate::cli::args::{EnginesAction, EnginesArgs, Format, Rebuild, WantedEngines};
use crate::cli::render::{Align, columns};
use crate::cli::{Context, Exit, Failure, print, stop_flag};
use crate::diag::{Bag, Code, Problem, counted};
use crate::digest::canonical::{Value, object};
use crate::exec::Engines;
use crate::exec::runner::{Limits, RunnerState, RunnerStore};
use crate::pin::{Aspect, EnginePin, PinKind, Registry};
use crate::plan::{Compat, Plan};

/// Runs the command.
pub(super) fn run(args: &EnginesArgs, context: &Context) -> Result<Exit, Failure> {
    let root = context.root().map_or_else(|| PathBuf::from("."), Path::to_owned);
    let registry = Registry::open(&root)?;
    let store = store(&registry, context)?;
    match &args.action {
        EnginesAction::List { format } => list(&registry, &store, *format),
        EnginesAction::Build { engines, rebuild } => {
            let tell = |line: &str| context.note(line);
            each(&wanted(&registry, engines)?, |pin| {
                let is_there = store.state(pin)?.0 != RunnerState::Absent;
                if *rebuild == Rebuild::Missing && is_there {
                    let digest = store.verify(pin)?;
                    return Ok(format!("{} {} is there {digest}", pin.name, pin.version));
                }
                let digest = store.build(pin, &tell)?;
                Ok(format!("{} {} built {digest}", pin.name, pin.version))
            })
        }
        EnginesAction::Verify { engines, conformance } => {
            let check: Check = if *conformance { conforming } else { |_, _| Ok(String::new()) };
            verify((&registry, &store), engines, check, context)
        }
        EnginesAction::Remove { engines } => each(&wanted(&registry, engines)?, |pin| {
            let removed = store.remove(pin).map_err(|error| {
                let message = format!("cannot remove the runner of `{}`: {error}", pin.folder);
                Problem::new(Code::EngineDamaged, message)
            })?;
            Ok(format!("{} {} removed {removed}", pin.name, pin.version))
        }),
    }
}

/// What else is checked of a runner that is there: what is said of it behind its digest.
type Check = fn(&RunnerStore, &EnginePin) -> Result<String, Bag>;

/// Puts the cases of the protocol to a runner that is there.
fn conforming(store: &RunnerStore, pin: &EnginePin) -> Result<String, Bag> {
    let cases = store.upstream(pin, &|_| {})?.conforms()?;
    Ok(format!(", {} of the protocol", counted(cases, "case")))
}

/// Checks runners and prints what came of it. One that is not built is a state and no mistake, unless it was named by its version.
fn verify(
    (registry, store): (&Registry, &RunnerStore),
    engines: &WantedEngines,
    check: Check,
    context: &Context,
) -> Result<Exit, Failure> {
    let mut absent = 0;
    let exit = each(&wanted(registry, engines)?, |pin| {
        let (state, _) = store.state(pin)?;
        if state == RunnerState::Absent && engines.versions.is_empty() {
            absent += 1;
            return Ok(format!("{} {} {}", pin.name, pin.version, state.name()));
        }
        let digest = store.verify(pin)?;
        let more = check(store, pin)?;
        Ok(format!("{} {} as built {digest}{more}", pin.name, pin.version))
    })?;
    if absent > 0 {
        context.note(&format!(
            "{absent} not built: `bench run` builds what its jobs need, `bench engines build` all"
        ));
    }
    Ok(exit)
}

/// Returns the engines of a plan with their runners, which are built where they are not there.
pub(super) fn with_runners(plan: &Plan, context: &Context) -> Result<Engines, Failure> {
    let registry = Registry::open(&plan.root)?;
    let engines = Engines::of_plan(plan, &registry)?;
    runnable(engines, &registry, context)
}

/// Returns engines with their runners, which are built where they are not there.
///
/// Where all are this program no folder for runners is asked for: a container may have none.
pub(super) fn runnable(
    engines: Engines,
    registry: &Registry,
    context: &Context,
) -> Result<Engines, Failure> {
    if engines.are_native() {
        return Ok(engines);
    }
    Ok(engines.with_runners(&store(registry, context)?, &|line| context.note(line))?)
}

/// Returns where the runners of a project are.
pub(in crate::cli) fn store(registry: &Registry, context: &Context) -> Result<RunnerStore, Bag> {
    let environment = context.runners();
    let cache = environment.cache.ok_or_else(|| {
        Problem::new(Code::EngineBuild, "there is no folder for built runners")
            .help("name one in `TOUCHSTONE_CACHE`, or set `HOME`")
    })?;
    Ok(RunnerStore {
        root: registry.root().to_owned(),
        cache: cache.join("runners"),
        prebuilt: environment.prebuilt,
        limits: Limits::default(),
        stop: Some(stop_flag()),
    })
}

/// Returns the pins that are meant: every one of the engines that have a package to build.
fn wanted(registry: &Registry, engines: &WantedEngines) -> Result<Vec<EnginePin>, Bag> {
    let Some(name) = &engines.engine else {
        let mut pins = every(registry)?;
        pins.retain(|pin| pin.package.is_some());
        return Ok(pins);
    };
    let mut pins = Vec::new();
    for version in &engines.versions {
        pins.push(registry.engine_at(name, version)?);
    }
    if engines.versions.is_empty() {
        pins = registry.engine_versions(name)?;
    }
    match pins.iter().find(|pin| pin.package.is_none()) {
        Some(pin) => {
            let message = format!("engine `{}` has no runner: it is part of `bench`", pin.name);
            let help = "`bench engines list` says which engines have one";
            Err(Problem::new(Code::EngineSource, message).help(help).into())
        }
        None if pins.is_empty() => {
            let known = registry.names(PinKind::Engine)?;
            let unknown =
                crate::pin::PinError::Unknown { kind: PinKind::Engine, name: name.clone(), known };
            Err(unknown.into())
        }
        None => Ok(pins),
    }
}

/// Returns every pinned engine, by folder.
fn every(registry: &Registry) -> Result<Vec<EnginePin>, Bag> {
    let mut pins = Vec::new();
    for folder in registry.names(PinKind::Engine)? {
        pins.push(registry.engine(&folder)?);
    }
    pins.sort_by_key(|pin| (pin.name.clone(), crate::pin::EngineVersion::parse(&pin.version)));
    Ok(pins)
}

/// Does something with each pin and prints what came of it; one that fails keeps no other from its turn.
fn each(
    pins: &[EnginePin],
    mut act: impl FnMut(&EnginePin) -> Result<String, Bag>,
) -> Result<Exit, Failure> {
    let mut wrong = Bag::new();
    for pin in pins {
        match act(pin) {
            Ok(line) => print(format!("{line}\n"))?,
            Err(findings) => wrong.extend(findings),
        }
    }
    if wrong.has_errors() { Err(wrong.into()) } else { Ok(Exit::Success) }
}

/// Prints every pinned engine.
fn list(registry: &Registry, store: &RunnerStore, format: Format) -> Result<Exit, Failure> {
    let mut rows = Vec::new();
    let mut wrong = Bag::new();
    for pin in every(registry)? {
        let state = match (&pin.package, store.state(&pin)) {
            (None, _) => "in this program",
            (Some(_), Ok((state, _))) => state.name(),
            (Some(_), Err(findings)) => {
                wrong.extend(findings);
                "wrong"
            }
        };
        rows.push((pin, state));
    }
    print(match format {
        Format::Table => {
            let row = |(pin, state): &(EnginePin, &str)| {
                vec![pin.name.clone(), pin.version.clone(), (*state).to_owned(), able(pin)]
            };
            let header = ["engine", "version", "runner", "runs"].map(str::to_owned).to_vec();
            let cells: Vec<_> = std::iter::once(header).chain(rows.iter().map(row)).collect();
            columns(&cells, &[Align::Left, Align::Left, Align::Left]).into_bytes()
        }
        Format::Json => {
            let engines = rows.iter().map(|(pin, state)| listed(pin, state)).collect();
            object([("engines", Value::List(engines))]).to_document()
        }
    })?;
    if wrong.has_errors() { Err(wrong.into()) } else { Ok(Exit::Success) }
}

/// Returns what an engine can run, in a few words.
fn able(pin: &EnginePin) -> String {
    let words = |aspect: Aspect| pin.capabilities.words(aspect).join(" ");
    let aspects = [Aspect::Mode, Aspect::Backend, Aspect::Timing].map(words);
    let compat = behaviours(pin).join(" ");
    let compat = if compat.is_empty() { compat } else { format!("compat {compat}") };
    aspects
        .into_iter()
        .chain([compat])
        .filter(|words| !words.is_empty())
        .collect::<Vec<_>>()
        .join("; ")
}

/// Returns the behaviours between which `compat` chooses; none of an upstream engine, whose versions are its behaviours.
fn behaviours(pin: &EnginePin) -> Vec<&'static str> {
    let all = if pin.package.is_none() { Compat::ALL } else { &[] };
    all.iter().map(|compat| compat.name()).collect()
}

/// Returns an engine of a list as one value.
fn listed(pin: &EnginePin, state: &str) -> Value {
    let optional = |text: Option<&str>| text.map_or(Value::Null, Value::text);
    let words = |aspect: &Aspect| {
        let words = pin.capabilities.words(*aspect).iter().map(Value::text).collect();
        (aspect.name().to_owned(), Value::List(words))
    };
    let unpromised = pin.cannot_promise.iter().map(Value::text).collect();
    object([
        ("cannot_promise", Value::List(unpromised)),
        ("capabilities", Value::Object(Aspect::ALL.iter().map(words).collect())),
        ("compat", Value::List(behaviours(pin).into_iter().map(Value::text).collect())),
        ("checksum", optional(pin.checksum.as_deref())),
        ("name", Value::text(&pin.name)),
        ("package", optional(pin.package.as_deref())),
        ("runner", Value::text(state)),
        ("version", Value::text(&pin.version)),
    ])
}
