//! How the list of codes becomes a type.

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

pub(super) use codes;
