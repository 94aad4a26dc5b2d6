//! `bench mock`: serve the OpenAI API until a signal.

use std::io::Read;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::cli::args::{MockArgs, TlsKind};
use crate::cli::{Context, Exit, Failure, print, stop_on_signal};
use crate::diag::{self, Code, Problem, SourceFile};
use crate::digest::canonical::{Value, object};
use crate::mock::{
    Address, Behaviour, Bind, Credentials, MockServer, Script, Security, Settings, start,
};
use crate::plan::{JobKind, SimulationJob, load_plan};
use crate::replay::Wall;
use crate::scenario::quoted;

/// How long a signal may wait until it is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Runs the command.
pub(super) fn run(args: &MockArgs, context: &Context) -> Result<Exit, Failure> {
    let behaviour = behaviour(args, context)?;
    let bind = args.unix.clone().map_or(Bind::Loopback(args.port), Bind::Unix);
    let security = match args.tls {
        None => Security::Plain,
        Some(TlsKind::Server) => Security::Tls,
        Some(TlsKind::Mutual) => Security::MutualTls,
    };
    let stop = stop_on_signal();
    let server = start(Settings { bind, security, behaviour, wall: Wall::start() })
        .map_err(|error| Problem::new(Code::MockStart, error.to_string()))?;
    if let (Some(folder), Some(credentials)) = (&args.credentials, server.credentials()) {
        write(folder, credentials)?;
    }
    print(line(&server).to_document())?;
    let input_ended = Arc::new(AtomicBool::new(false));
    if args.while_stdin {
        watch_input(Arc::clone(&input_ended));
    }
    while !stop.load(Ordering::SeqCst) && !input_ended.load(Ordering::SeqCst) {
        std::thread::park_timeout(LOOK_EVERY);
    }
    Ok(Exit::Success)
}

/// Returns how the server is to behave.
fn behaviour(args: &MockArgs, context: &Context) -> Result<Behaviour, Failure> {
    if let Some(file) = &args.script {
        return Ok(Behaviour::Scripted(read(file)?));
    }
    if let (Some(file), Some(name)) = (&args.scenario, &args.deployment) {
        return Ok(Behaviour::Simulated(Box::new(job(file, name, context)?)));
    }
    if let Some(first) = &args.first_token {
        let gap =
            args.gap.as_ref().map_or_else(String::new, |gap| format!("; gap {}", quoted(gap)));
        let text = format!("answer {{ first-token {}{gap}; }}", quoted(first));
        return Ok(Behaviour::Scripted(Script::read(&SourceFile::new("--first-token", &text))?));
    }
    if args.fast {
        return Ok(Behaviour::Scripted(Script::fast()));
    }
    let message = "`bench mock` needs to know how to answer";
    let help = "give `--script FILE`, `--first-token DURATION`, `--scenario FILE --deployment NAME` or `--fast`";
    Err(Problem::new(Code::MockScript, message).help(help).into())
}

/// Returns the first job of a scenario that simulates a deployment on the native engine.
fn job(file: &Path, name: &str, context: &Context) -> Result<SimulationJob, Failure> {
    let (plan, warnings) = load_plan(file, context.root())?;
    context.report(warnings);
    let mut known = Vec::new();
    for job in plan.jobs {
        // An id names the block, the workload, the deployment and the engine, in this order.
        let deployment = job.id.as_str().split('/').nth(2).unwrap_or_default().to_owned();
        let JobKind::Simulation(simulation) = job.kind else { continue };
        if simulation.engine.name != "native" {
            continue;
        }
        if deployment == name {
            return Ok(*simulation);
        }
        if !known.contains(&deployment) {
            known.push(deployment);
        }
    }
    let message = format!("`{name}` is no deployment that this scenario simulates on `native`");
    let help = format!("there are: {}", known.join(", "));
    Err(Problem::new(Code::MockScript, message).help(help).into())
}

/// Reads a script.
fn read(file: &Path) -> Result<Script, Failure> {
    let name = file.to_string_lossy().replace('\\', "/");
    let bytes = std::fs::read(file).map_err(|error| {
        Problem::new(Code::MockRead, format!("cannot read the script `{name}`: {error}"))
    })?;
    let text = diag::utf8(Code::MockRead, &name, bytes)?;
    Ok(Script::read(&SourceFile::new(&name, &text))?)
}

/// Writes what clients need for TLS.
fn write(folder: &Path, credentials: &Credentials) -> Result<(), Failure> {
    let files = [
        ("ca.pem", &credentials.authority),
        ("client.pem", &credentials.client_certificate),
        ("client.key", &credentials.client_key),
    ];
    let written = std::fs::create_dir_all(folder).and_then(|()| {
        files.into_iter().try_for_each(|(name, text)| std::fs::write(folder.join(name), text))
    });
    written.map_err(|error| {
        let message = format!("cannot write certificates to `{}`: {error}", folder.display());
        Failure::new(Exit::JobFailed, Problem::new(Code::Output, message))
    })
}

/// Returns where the server is: one line of JSON.
fn line(server: &MockServer) -> Value {
    let socket = match server.address() {
        Address::Tcp(_) => Value::Null,
        Address::Unix(path) => Value::text(path.to_string_lossy()),
    };
    object([("socket", socket), ("url", Value::text(server.url()))])
}

/// Says when standard input has ended. The thread ends with the process at the latest.
fn watch_input(ended: Arc<AtomicBool>) {
    std::thread::spawn(move || {
        let mut input = std::io::stdin().lock();
        // An input that cannot be read has ended as well.
        while input.read(&mut [0; 256]).is_ok_and(|length| length > 0) {}
        ended.store(true, Ordering::SeqCst);
    });
}
