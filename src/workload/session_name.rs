//! What sessions are called.

/// How a session is called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SessionName {
    /// The file names it.
    Named(String),
    /// The row of this line stands alone.
    Row(u64),
    /// The n-th synthetic session, from 0.
    Synthetic(u64),
    /// The n-th stated request, from 0, stands alone, whatever it says of itself.
    Stated {
        /// Its place in the list.
        index: u64,
        /// The session that it says it belongs to.
        name: Option<String>,
        /// The turn that it says it is.
        turn: Option<u32>,
    },
    /// A request of a recorded play: its conversation with all that places it.
    Played(Box<PlayedName>),
}

/// What places a request of a recorded play.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlayedName {
    /// Its conversation, where the recording names that.
    pub session: Option<String>,
    /// Its play.
    pub play: String,
    /// The lane that the play runs in, where there are lanes.
    pub lane: Option<u32>,
    /// The one request that the play begins with, where there is one.
    pub root: Option<String>,
    /// The request that started its conversation, where one did.
    pub parent: Option<String>,
    /// Whether it is the recorded play itself, or an instance of it.
    pub identity: PlayIdentity,
}

/// What a request's play is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlayIdentity {
    /// As it was recorded, once.
    Recorded,
    /// An instance with requests and blocks of its own.
    Instance,
}

impl std::fmt::Display for SessionName {
    /// Writes the name as DynoSim does: `request_<line>` for a row that stands alone, `session_<n>` for a synthetic one.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Named(name) | Self::Stated { name: Some(name), .. } => f.write_str(name),
            Self::Row(number) | Self::Stated { index: number, name: None, .. } => {
                write!(f, "request_{number}")
            }
            Self::Played(name) => f.write_str(name.session.as_deref().unwrap_or(&name.play)),
            Self::Synthetic(index) => write!(f, "session_{index}"),
        }
    }
}
