//! The client of one endpoint.

use std::path::{Path, PathBuf};
use std::pin::pin;
use std::task::Poll;

use http_body_util::Full;
use hyper::Request;
use hyper::body::Bytes;

use super::cancel::Cancel;
use super::connect::Connector;
use super::deadline::{Deadline, Stage};
use super::destination::{Destination, Security};
use super::error::ClientError;
use super::exchange::{Seen, Watch, run};
use super::key::ApiKey;
use super::link::Link;
use super::pool::Pool;
use super::tls::TlsFiles;
use super::words::Words;
use crate::record::{Connection, Exchange, ExchangeError, Handshake, Protocol, Reply};
use crate::replay::answer::AnswerReader;
use crate::replay::{OutgoingRequest, Wall};
use crate::units::Nanos;
use crate::workload::live::{Api, EndpointSettings, Timeouts};

/// How the client names itself.
const AGENT: &str = concat!("touchstone/", env!("CARGO_PKG_VERSION"));

/// What the settings of an endpoint name and do not hold.
#[derive(Debug, Clone)]
pub struct Surroundings {
    /// The folder that paths of the scenario start from.
    pub root: PathBuf,
    /// The variable `SSL_CERT_FILE` of the environment.
    pub ssl_cert_file: Option<PathBuf>,
    /// What the variable of [`EndpointSettings::api_key_env`] holds.
    pub api_key: Option<ApiKey>,
}

/// The client of one endpoint. It belongs into one runtime of one thread.
#[derive(Debug)]
pub struct Client {
    connector: Connector,
    pool: Pool,
    api: Api,
    key: Option<ApiKey>,
    words: Words,
    timeouts: Timeouts,
    cancel: Cancel,
    wall: Wall,
}

impl Client {
    /// Returns a client; it opens no connection.
    ///
    /// # Errors
    /// [`ClientError`]: an address, a key, or a file that is not what the scenario says. Files of TLS are read only where the endpoint
    /// speaks it.
    pub fn new(
        settings: &EndpointSettings,
        surroundings: &Surroundings,
        wall: Wall,
    ) -> Result<Self, ClientError> {
        let destination = Destination::of(&settings.target)?;
        let proxy = settings.proxy.as_deref().map(Destination::parse).transpose()?;
        let key = key(settings, surroundings)?;
        let tls = match destination.security {
            Security::Plain => None,
            Security::Tls => Some(files(settings, surroundings).config()?),
        };
        Ok(Self {
            connector: Connector { destination, proxy, tls, wall },
            pool: Pool::default(),
            api: settings.request.api,
            words: Words::new(key.as_ref()),
            key,
            timeouts: settings.timeouts,
            cancel: Cancel::new(),
            wall,
        })
    }

    /// Returns the clock that its stamps are on.
    pub const fn wall(&self) -> Wall {
        self.wall
    }

    /// Ends every exchange in flight, and each that is begun from here on, as [`ExchangeError::Cancelled`].
    pub fn cancel(&self) {
        self.cancel.cancel();
    }

    /// Sends a request and reads its answer to the end; `first_output` is told the stamp of the first output as soon as it is there.
    ///
    /// A pooled connection that breaks before a byte of the answer came was closed by the server while it lay idle: the request goes
    /// once more, over a fresh connection, and the exchange says so.
    pub async fn send(
        &self,
        request: OutgoingRequest,
        first_output: impl FnOnce(Nanos),
    ) -> Exchange {
        self.words.of_exchange(self.exchange(request, first_output).await)
    }

    /// Sends a request and returns what came, in the words of whoever said it.
    async fn exchange(
        &self,
        request: OutgoingRequest,
        first_output: impl FnOnce(Nanos),
    ) -> Exchange {
        let begun = self.wall.now();
        let mut deadline = Deadline::new(self.timeouts, begun, self.wall);
        let over = pin!(self.cancel.over());
        let mut watch = Watch { deadline: &mut deadline, over };
        let mut exchange = blank(begun);
        let mut first_output = Some(first_output);
        loop {
            let (link, handshake) = match self.link(exchange.is_retried, &mut watch).await {
                Ok(found) => found,
                Err(error) => return self.failed(exchange, error),
            };
            let tell = |at| {
                if let Some(tell) = first_output.take() {
                    tell(at);
                }
            };
            let request = match self.request(&request, link.protocol()) {
                Ok(request) => request,
                Err(error) => return self.failed(exchange, error),
            };
            exchange.connection = Some(Connection { protocol: link.protocol(), handshake });
            let seen = self.over(link, request, &mut watch, tell).await;
            if handshake.is_none() && is_stale(&seen) {
                exchange.is_retried = true;
                continue;
            }
            return self.whole(exchange, seen);
        }
    }

    /// Sends a request over a connection, which goes back to the pool where it stands.
    async fn over(
        &self,
        mut link: Link,
        request: Request<Full<Bytes>>,
        watch: &mut Watch<'_>,
        first_output: impl FnOnce(Nanos),
    ) -> Seen {
        let seen = Seen {
            sent: self.wall.now(),
            first_byte: None,
            headers: None,
            status: None,
            reader: AnswerReader::new(self.api),
            end: Err(ExchangeError::Cancelled),
        };
        let seen = run(&mut link, request, seen, watch, first_output).await;
        if matches!(seen.end, Ok(_) | Err(ExchangeError::Status { .. })) {
            self.pool.keep(self.wall.now(), link);
        }
        seen
    }

    /// Returns a connection: one of the pool, or a fresh one with what it cost.
    async fn link(
        &self,
        is_retry: bool,
        watch: &mut Watch<'_>,
    ) -> Result<(Link, Option<Handshake>), ExchangeError> {
        let pooled = if is_retry { None } else { self.pool.take(self.wall.now()) };
        if let Some(link) = pooled {
            return Ok((link, None));
        }
        let begun = self.wall.now();
        let mut opened = pin!(self.connector.open());
        std::future::poll_fn(|cx| {
            if let Poll::Ready(opened) = opened.as_mut().poll(cx) {
                return Poll::Ready(opened.map(|(link, cost)| (link, Some(cost))));
            }
            watch.poll(cx, Stage::Connecting(begun)).map(Err)
        })
        .await
    }

    /// Returns the request as HTTP sends it: its headers and its body as given, and what belongs to the connection.
    fn request(
        &self,
        request: &OutgoingRequest,
        protocol: Protocol,
    ) -> Result<Request<Full<Bytes>>, ExchangeError> {
        let authority = &self.connector.destination.authority;
        let uri = match protocol {
            Protocol::Http2 => format!("https://{authority}{}", request.path),
            Protocol::Http1 if self.connector.is_absolute() => {
                format!("http://{authority}{}", request.path)
            }
            Protocol::Http1 => request.path.clone(),
        };
        let mut builder = Request::builder().method(request.method).uri(uri);
        if protocol == Protocol::Http1 {
            builder = builder.header(hyper::header::HOST, authority);
        }
        builder = builder.header(hyper::header::USER_AGENT, AGENT);
        if let Some(key) = &self.key {
            let mut value = hyper::header::HeaderValue::from_str(&key.authorization())
                .expect("a key has graphic characters only");
            value.set_sensitive(true);
            builder = builder.header(hyper::header::AUTHORIZATION, value);
        }
        for (name, value) in &request.headers {
            builder = builder.header(name, value);
        }
        let built = builder.body(Full::new(request.body.clone()));
        built.map_err(|error| ExchangeError::Unsendable(error.to_string()))
    }

    /// Returns an exchange that no connection carried to an end.
    fn failed(&self, mut exchange: Exchange, error: ExchangeError) -> Exchange {
        exchange.end = self.wall.now();
        exchange.outcome = Err(error);
        exchange
    }

    /// Returns an exchange with what its connection saw.
    fn whole(&self, mut exchange: Exchange, seen: Seen) -> Exchange {
        exchange.sent = Some(seen.sent);
        exchange.first_byte = seen.first_byte;
        exchange.headers = seen.headers;
        exchange.status = seen.status;
        exchange.keepalives = seen.reader.keepalives();
        exchange.delivery = seen.reader.delivery();
        // A stamp of a read that was there before the failure is no later than the clock.
        let (end, (answer, outcome)) = match seen.end {
            Ok(end) => (end, seen.reader.end(end)),
            Err(error) => (self.wall.now(), seen.reader.broken(error)),
        };
        exchange.end = end;
        exchange.events = answer.events;
        exchange.usage = answer.usage;
        exchange.finish_reason = answer.finish_reason;
        exchange.reply = answer.reply;
        exchange.outcome = outcome;
        exchange
    }
}

/// Returns whether a pooled connection had been closed before the request came.
fn is_stale(seen: &Seen) -> bool {
    let is_broken = matches!(seen.end, Err(ExchangeError::Lost(_) | ExchangeError::Truncated(_)));
    is_broken && seen.first_byte.is_none()
}

/// Returns the key, where the scenario asks for one.
fn key(
    settings: &EndpointSettings,
    surroundings: &Surroundings,
) -> Result<Option<ApiKey>, ClientError> {
    match (&settings.api_key_env, &surroundings.api_key) {
        (None, _) => Ok(None),
        (Some(_), Some(key)) => Ok(Some(key.clone())),
        (Some(variable), None) => Err(ClientError::Key { variable: variable.clone() }),
    }
}

/// Returns the files of TLS.
fn files<'a>(settings: &EndpointSettings, surroundings: &'a Surroundings) -> TlsFiles<'a> {
    let below = |path: &String| surroundings.root.join(Path::new(path));
    TlsFiles {
        system: surroundings.ssl_cert_file.as_deref(),
        ca: settings.ca.as_ref().map(below),
        client: settings
            .client
            .as_ref()
            .map(|client| (below(&client.certificate), below(&client.key))),
    }
}

/// Returns an exchange of which nothing is known but its beginning.
fn blank(begun: Nanos) -> Exchange {
    Exchange {
        begun,
        connection: None,
        sent: None,
        first_byte: None,
        headers: None,
        delivery: crate::record::Delivery::default(),
        events: Vec::new(),
        end: begun,
        status: None,
        usage: None,
        finish_reason: None,
        reply: Reply::default(),
        outcome: Ok(()),
        is_retried: false,
        keepalives: 0,
    }
}
