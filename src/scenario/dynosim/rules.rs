//! How texts are read.

use crate::diag::Code;
use crate::scenario::written::Rules;

/// How configurations are read.
pub(super) const YAML: Rules =
    Rules { syntax: Code::DynosimYaml, duplicate: Code::DynosimDuplicateKey, values_max: 100_000 };

/// How specifications are read; their size is that of their prompts.
pub(super) const JSON: Rules = Rules {
    syntax: Code::DynosimJson,
    duplicate: Code::DynosimDuplicateKey,
    values_max: usize::MAX,
};
