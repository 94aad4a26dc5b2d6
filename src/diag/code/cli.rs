//! Command line.

use crate::diag::declare::area;

area! {
    ($) cli;

    Output "cli::output" Error "The results cannot be written."
        "Results go to stdout. The stream it leads to refused them: a full disk, a closed file, a missing permission. A reader that goes away early is no error.";
    UnknownCommand "cli::unknown_command" Error "No command has this name."
        "`bench --help` lists the commands, `bench man NAME` describes one of them.";
    UnknownCode "cli::unknown_code" Error "No diagnostic has this code."
        "Codes are printed with every finding, as `area::name`. All of them are in docs/diagnostics.md.";
}

pub(super) use cli;
