//! A request, ready to be sent.

use hyper::body::Bytes;

/// A request, ready to be sent: everything but what belongs to the connection and what is secret.
///
/// The client adds `host`, `content-length`, `user-agent` and the key of the API.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutgoingRequest {
    /// The method.
    pub method: &'static str,
    /// The path, from the first `/` on.
    pub path: String,
    /// The headers: names in lower case, in order of their names, each once.
    pub headers: Vec<(String, String)>,
    /// The body, JSON.
    pub body: Bytes,
    /// Whether it asks for a stream.
    pub is_streaming: bool,
}
