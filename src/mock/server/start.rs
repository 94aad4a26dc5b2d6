//! The server's thread: started, asked and stopped from outside.

use std::sync::Arc;
use std::sync::mpsc::{self, Sender};
use std::thread::JoinHandle;

use tokio::sync::Notify;
use tokio_rustls::TlsAcceptor;

use crate::mock::engine::Engine;
use crate::mock::script::Script;
use crate::mock::stamps::{StampLog, Stamps};
use crate::mock::timer::Timer;
use crate::plan::SimulationJob;
use crate::replay::Wall;

use super::MockError;
use super::connection;
use super::listener::{Address, Bind, Listener};
use super::service::Service;
use super::tls::{self, Credentials, Security};

/// How the server is to behave.
#[derive(Debug, Clone)]
pub enum Behaviour {
    /// By a script.
    Scripted(Script),
    /// As the native engine does with the deployment of a job, in real time.
    Simulated(Box<SimulationJob>),
}

/// What a server is started with.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Where it listens.
    pub bind: Bind,
    /// How connections are secured.
    pub security: Security,
    /// How it behaves.
    pub behaviour: Behaviour,
    /// The clock of its stamps.
    pub wall: Wall,
}

/// A running server. It stops when this is dropped: connections are closed, and nothing of it is left.
#[derive(Debug)]
pub struct MockServer {
    address: Address,
    security: Security,
    credentials: Option<Credentials>,
    log: Arc<StampLog>,
    stop: Arc<Notify>,
    thread: Option<JoinHandle<()>>,
}

/// What the thread is started with.
struct Inside {
    settings: Settings,
    tls: Option<TlsAcceptor>,
    log: Arc<StampLog>,
    stop: Arc<Notify>,
}

/// Starts a server on a thread of its own, and returns when it listens.
///
/// # Errors
/// [`MockError`] where it cannot listen, or has no thread or certificate.
pub fn start(settings: Settings) -> Result<MockServer, MockError> {
    let security = settings.security;
    let (tls, credentials) = tls::make(security)?.unzip();
    let log = Arc::new(StampLog::new(settings.wall));
    let stop = Arc::new(Notify::new());
    let inside = Inside { settings, tls, log: Arc::clone(&log), stop: Arc::clone(&stop) };
    let (listening, listens) = mpsc::channel();
    let thread = std::thread::Builder::new()
        .name("mock".to_owned())
        .spawn(move || run(inside, &listening))
        .map_err(MockError::Thread)?;
    let address = listens.recv().map_err(|_| MockError::Gone)??;
    Ok(MockServer { address, security, credentials, log, stop, thread: Some(thread) })
}

/// Runs the server: the thread's whole work.
fn run(inside: Inside, listening: &Sender<Result<Address, MockError>>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build();
    let started = runtime.and_then(|runtime| {
        let (timer, thread) = Timer::start(inside.log.wall())?;
        let (script, engine) = match &inside.settings.behaviour {
            Behaviour::Scripted(script) => (script.clone(), None),
            Behaviour::Simulated(job) => {
                (Script::fast(), Some(Engine::start((**job).clone(), inside.log.wall())?))
            }
        };
        Ok((runtime, (timer, thread), script, engine.unzip()))
    });
    match started {
        Err(error) => {
            // Whoever started the server has gone where nobody hears it.
            let _heard = listening.send(Err(MockError::Thread(error)));
        }
        Ok((runtime, (timer, timer_thread), script, (engine, engine_thread))) => {
            runtime.block_on(listen(inside, (script, engine), timer, listening));
            // Connections go first: they call the engine, whose thread ends when nobody does.
            drop(runtime);
            drop(engine_thread);
            drop(timer_thread);
        }
    }
}

/// Listens, says so, and serves until the server is to stop.
async fn listen(
    inside: Inside,
    behaviour: (Script, Option<Engine>),
    timer: Timer,
    listening: &Sender<Result<Address, MockError>>,
) {
    tokio::spawn(timer.clone().drive());
    match Listener::bind(&inside.settings.bind).await {
        Err(error) => {
            let _heard = listening.send(Err(error));
        }
        Ok((listener, address)) => {
            let path = address.path().map(std::path::Path::to_owned);
            let _heard = listening.send(Ok(address));
            accept(inside, behaviour, listener, timer).await;
            if let Some(path) = path {
                // A socket that somebody has removed already is gone as well.
                let _removed = std::fs::remove_file(path);
            }
        }
    }
}

/// Accepts connections until the server is to stop.
async fn accept(
    inside: Inside,
    (script, engine): (Script, Option<Engine>),
    listener: Listener,
    timer: Timer,
) {
    let service = Service::new(script, timer, inside.log).with(engine);
    let service = Arc::new(service);
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = inside.stop.notified() => return,
        };
        match accepted {
            Ok(socket) => {
                let (tls, service) = (inside.tls.clone(), Arc::clone(&service));
                tokio::spawn(connection::serve(socket, tls, service));
            }
            // A connection that was gone before it was accepted, or no descriptor left: others must run to free one.
            Err(_) => tokio::task::yield_now().await,
        }
    }
}

impl MockServer {
    /// Returns where it listens.
    pub fn address(&self) -> &Address {
        &self.address
    }

    /// Returns the base URL, with `/v1`; of a socket of the file system it has the host `localhost`.
    pub fn url(&self) -> String {
        let scheme = if self.security == Security::Plain { "http" } else { "https" };
        match &self.address {
            Address::Tcp(address) => format!("{scheme}://{address}/v1"),
            Address::Unix(_) => format!("{scheme}://localhost/v1"),
        }
    }

    /// Returns what a client needs for TLS, where it is spoken.
    pub fn credentials(&self) -> Option<&Credentials> {
        self.credentials.as_ref()
    }

    /// Takes the stamps of the answers that have ended since the last call.
    pub fn take_stamps(&self) -> Stamps {
        self.log.take()
    }
}

impl Drop for MockServer {
    fn drop(&mut self) {
        self.stop.notify_one();
        if let Some(thread) = self.thread.take() {
            // Where the thread has panicked, its message is on stderr and every connection is closed.
            let _ended = thread.join();
        }
    }
}
