//! How a request says which session it belongs to.

use crate::digest::canonical::{Value, object};
use crate::units::Nanos;

/// How a request says which session it belongs to.
///
/// Source: REPLAY.md §9.3. With any mode but `None` the identity headers of the recording are left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SessionRouting {
    /// As the recording did: its identity headers, each id made unique for the instance.
    None,
    /// `X-Dynamo-Session-ID`, `X-Dynamo-Parent-Session-ID`, and `X-Dynamo-Session-Final` on the last turn.
    DynamoHeaders,
    /// The object `nvext.session_control` of the body.
    DynamoNvext {
        /// Which actions it names.
        contract: NvextContract,
        /// How long the server keeps an idle session.
        timeout: Nanos,
    },
    /// `X-SMG-Routing-Key`.
    SmgRoutingKey,
    /// A header of this name.
    SessionIdHeader {
        /// The name, as it is written.
        header: String,
    },
}

/// Which actions `nvext.session_control` names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NvextContract {
    /// `bind` on every turn but the last, `close` on the last.
    Bind,
    /// `open` on the first turn, the bare id on those between, `close` on the last.
    Open,
}

impl SessionRouting {
    /// Returns the word of the scenario language.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::None => "none",
            Self::DynamoHeaders => "dynamo-headers",
            Self::DynamoNvext { .. } => "dynamo-nvext",
            Self::SmgRoutingKey => "smg-routing-key",
            Self::SessionIdHeader { .. } => "session-id-header",
        }
    }

    /// Returns the names of the headers that the mode writes, as they are written.
    pub fn headers(&self) -> Vec<&str> {
        match self {
            Self::None | Self::DynamoNvext { .. } => Vec::new(),
            Self::DynamoHeaders => {
                vec!["X-Dynamo-Session-ID", "X-Dynamo-Parent-Session-ID", "X-Dynamo-Session-Final"]
            }
            Self::SmgRoutingKey => vec!["X-SMG-Routing-Key"],
            Self::SessionIdHeader { header } => vec![header],
        }
    }

    /// Returns the canonical description.
    pub(super) fn canonical(&self) -> Value {
        let mode = object([("mode", Value::text(self.name()))]);
        match self {
            Self::None | Self::DynamoHeaders | Self::SmgRoutingKey => mode,
            Self::DynamoNvext { contract, timeout } => mode
                .with("contract", Some(Value::text(contract.name())))
                .with("timeout_ns", Some((*timeout).into())),
            Self::SessionIdHeader { header } => mode.with("header", Some(Value::text(header))),
        }
    }
}

impl NvextContract {
    /// Returns the word of the scenario language.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Bind => "bind",
            Self::Open => "open",
        }
    }
}
