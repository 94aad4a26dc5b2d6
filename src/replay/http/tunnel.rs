//! A tunnel through a proxy.

use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::stamped::Stamped;

/// The most bytes of a proxy's answer.
const ANSWER_CAP: usize = 16 << 10;

/// Asks a proxy for a tunnel to `host:port`.
///
/// # Errors
/// What the proxy said instead, or how the connection to it broke.
pub(super) async fn open(proxy: &mut Stamped, pair: &str) -> Result<(), String> {
    let asked = format!("CONNECT {pair} HTTP/1.1\r\nhost: {pair}\r\n\r\n");
    proxy.write_all(asked.as_bytes()).await.map_err(|error| error.to_string())?;
    let mut answer = Vec::new();
    let end = |answer: &[u8]| answer.windows(4).position(|four| four == b"\r\n\r\n");
    // A refusal may have a body: what it says stands in its first line.
    while end(&answer).is_none() {
        let read = proxy.read_buf(&mut answer).await.map_err(|error| error.to_string())?;
        if read == 0 || answer.len() > ANSWER_CAP {
            return Err("the proxy gave no whole answer".to_owned());
        }
    }
    let text = String::from_utf8_lossy(&answer);
    let line = text.lines().next().unwrap_or_default();
    let is_open = line.starts_with("HTTP/1.")
        && line.split(' ').nth(1).is_some_and(|status| status.starts_with('2'));
    if !is_open {
        return Err(format!("the proxy answered `{line}`"));
    }
    // Whoever speaks first behind the tunnel is this side.
    if end(&answer).is_some_and(|at| at + 4 == answer.len()) {
        Ok(())
    } else {
        Err(format!("the proxy answered `{line}` and went on by itself"))
    }
}
