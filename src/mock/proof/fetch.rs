//! What a server says that it wrote.

use std::net::SocketAddr;

use serde::Deserialize;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::mock::{AnswerStamps, Stamps};
use crate::replay::Wall;
use crate::units::Nanos;

/// The answer of `stamps`.
#[derive(Deserialize)]
struct Told {
    epoch_ns: u64,
    answers: Vec<ToldAnswer>,
    dropped: u64,
    connections: u64,
    requests: u64,
    most_in_flight: u64,
}

/// One of its answers.
#[derive(Deserialize)]
struct ToldAnswer {
    number: u64,
    request_id: Option<String>,
    taken_ns: u64,
    outputs_ns: Vec<u64>,
    end_ns: u64,
}

/// Takes the stamps of a server.
///
/// # Errors
/// Where it cannot be asked, or answers something else.
pub(super) async fn stamps(address: SocketAddr) -> std::io::Result<Stamps> {
    let mut stream = TcpStream::connect(address).await?;
    stream.write_all(b"GET /stamps HTTP/1.1\r\nhost: mock\r\nconnection: close\r\n\r\n").await?;
    let mut all = Vec::new();
    stream.read_to_end(&mut all).await?;
    let body = all.windows(4).position(|four| four == b"\r\n\r\n").map_or(0, |at| at + 4);
    let told: Told = serde_json::from_slice(&all[body..]).map_err(std::io::Error::other)?;
    let answer = |told: ToldAnswer| AnswerStamps {
        number: told.number,
        request_id: told.request_id,
        taken: Nanos::new(told.taken_ns),
        outputs: told.outputs_ns.into_iter().map(Nanos::new).collect(),
        end: Nanos::new(told.end_ns),
    };
    Ok(Stamps {
        wall: Wall::from_epoch(Nanos::new(told.epoch_ns)),
        answers: told.answers.into_iter().map(answer).collect(),
        dropped: told.dropped,
        connections: told.connections,
        requests: told.requests,
        most_in_flight: told.most_in_flight,
    })
}
