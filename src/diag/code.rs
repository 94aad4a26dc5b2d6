//! Every diagnostic code once, with its severity and its explanation. Codes are API: never renamed.

use super::Severity;

/// Declares the codes: variant, text, severity, one-line title, explanation.
macro_rules! codes {
    ($($variant:ident $text:literal $severity:ident $title:literal $explanation:literal;)+) => {
        /// A diagnostic code. Its text (`area::name`) is stable; `bench explain-code` prints its explanation.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Code {
            $(#[doc = $title] $variant,)+
        }

        impl Code {
            /// Every code, in the order of `docs/diagnostics.md`.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// Returns the stable text.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text,)+ }
            }

            /// Returns how bad it is.
            pub const fn severity(self) -> Severity {
                match self { $(Self::$variant => Severity::$severity,)+ }
            }

            /// Returns what it is, in one line.
            pub const fn title(self) -> &'static str {
                match self { $(Self::$variant => $title,)+ }
            }

            /// Returns why it is refused and what to do, in Markdown.
            pub const fn explanation(self) -> &'static str {
                match self { $(Self::$variant => $explanation,)+ }
            }
        }
    };
}

codes! {
    // Command line.
    Output "cli::output" Error "The results cannot be written."
        "Results go to stdout. The stream it leads to refused them: a full disk, a closed file, a missing permission. A reader that goes away early is no error.";
    UnknownCommand "cli::unknown_command" Error "No command has this name."
        "`bench --help` lists the commands, `bench man NAME` describes one of them.";
    UnwrittenCommand "cli::unwritten" Error "The command is not written yet."
        "This build lacks the command.";

    // Files in KDL.
    KdlSyntax "kdl::syntax" Error "The file is not KDL 2."
        "The text does not parse as KDL 2.0. The label points at the first place that does not fit; mend it and run again.";
}

impl std::str::FromStr for Code {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL.iter().copied().find(|code| code.as_str() == text).ok_or(())
    }
}
