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
use crate::replay::Wall;

/// How long a signal may wait until it is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Runs the command.
pub(super) fn run(args: &MockArgs, _context: &Context) -> Result<Exit, Failure> {
    let script = match (&args.script, args.fast) {
        (Some(file), _) => read(file)?,
        (None, true) => Script::fast(),
        (None, false) => {
            let message = "`bench mock` needs to know how to answer";
            let problem = Problem::new(Code::MockScript, message);
            return Err(problem.help("give `--script FILE` or `--fast`").into());
        }
    };
    let bind = args.unix.clone().map_or(Bind::Loopback(args.port), Bind::Unix);
    let security = match args.tls {
        None => Security::Plain,
        Some(TlsKind::Server) => Security::Tls,
        Some(TlsKind::Mutual) => Security::MutualTls,
    };
    let stop = stop_on_signal();
    let behaviour = Behaviour::Scripted(script);
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
