//! The fields of a mapping: what is known, what is nullable, what this build lacks.

/// One field of a mapping of the schema.
#[derive(Debug, Clone, Copy)]
pub(super) struct Field {
    /// Its name.
    pub(super) name: &'static str,
    /// How it is treated before its own decoder sees it.
    pub(super) kind: FieldKind,
}

/// How a field is treated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FieldKind {
    /// A value of its type.
    Value,
    /// The same, or null for its absence.
    Nullable,
    /// DynoSim's, and not covered: any value but null is refused by name.
    NotCovered,
    /// Refused with this reason.
    Refused(&'static str),
}

/// Returns a field whose value is required to be of its type.
pub(super) const fn value(name: &'static str) -> Field {
    Field { name, kind: FieldKind::Value }
}

/// Returns a field that null leaves out.
pub(super) const fn nullable(name: &'static str) -> Field {
    Field { name, kind: FieldKind::Nullable }
}

/// Returns a field that this build does not cover.
pub(super) const fn not_covered(name: &'static str) -> Field {
    Field { name, kind: FieldKind::NotCovered }
}

/// Returns a field that is refused for a reason.
pub(super) const fn refused(name: &'static str, reason: &'static str) -> Field {
    Field { name, kind: FieldKind::Refused(reason) }
}
