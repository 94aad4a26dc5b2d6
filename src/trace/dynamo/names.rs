//! The names of the requests of a capture: which one stands twice.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::digest::Hasher;
use crate::trace::recorded::Place;

/// Half of a SHA-256: two of 2^32 names have the same with a chance of 2^-65.
type Known = [u8; 16];

/// Names of requests and where each was first, in some dozens of bytes each.
#[derive(Debug, Default)]
pub(super) struct RequestNames {
    first: BTreeMap<Known, (u32, u64, u64)>,
    files: Vec<Arc<str>>,
}

impl RequestNames {
    /// Returns where a name stood first, or notes that it does here; in one session where that is named.
    pub(super) fn first(&mut self, session: Option<&str>, id: &str, here: &Place) -> Option<Place> {
        let known = known(session, id);
        if let Some((file, line, column)) = self.first.get(&known) {
            let file = Arc::clone(&self.files[usize::try_from(*file).expect("32 bits")]);
            return Some(Place { file, line: *line, column: *column });
        }
        if self.files.last().is_none_or(|last| !Arc::ptr_eq(last, &here.file)) {
            self.files.push(Arc::clone(&here.file));
        }
        let file = u32::try_from(self.files.len() - 1).expect("a capture has less than 2^32 files");
        self.first.insert(known, (file, here.line, here.column));
        None
    }
}

/// Returns what a name is known by. The length before the session keeps it apart from the name.
fn known(session: Option<&str>, id: &str) -> Known {
    let mut hasher = Hasher::new();
    hasher.update(&session.map_or(u64::MAX, |session| session.len() as u64).to_le_bytes());
    hasher.update(session.unwrap_or_default().as_bytes());
    hasher.update(id.as_bytes());
    let digest = hasher.finish();
    let (half, _) = digest.bytes().split_first_chunk().expect("32 bytes are more than 16");
    *half
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_known_from_its_first_place_on_and_within_its_session() {
        let mut names = RequestNames::default();
        let place = |line| Place { file: "a".into(), line, column: 2 };
        assert_eq!(names.first(None, "r", &place(1)), None);
        assert_eq!(names.first(None, "r", &place(2)), Some(place(1)));
        for (session, id) in [(Some("s"), "r"), (Some("sr"), ""), (Some(""), "sr"), (None, "sr")] {
            assert_eq!(names.first(session, id, &place(3)), None, "{session:?} {id}");
        }
        let again = Place { file: "b".into(), ..place(9) };
        assert_eq!(names.first(Some("s"), "r", &again), Some(place(3)));
    }
}
