//! What the storage tier did.

use crate::record::{StorageIo, StorageUse};
use crate::sim::link::Direction;

/// Returns the figures of a direction.
pub(super) fn of_direction(usage: &mut StorageUse, direction: Direction) -> &mut StorageIo {
    match direction {
        Direction::Read => &mut usage.read,
        Direction::Write => &mut usage.write,
    }
}
