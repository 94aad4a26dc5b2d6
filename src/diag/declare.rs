//! How the lists of codes become a type.

/// Declares the codes of one area under a name, for [`collect`] to call. It is given a `$`, which the macro that it makes needs.
macro_rules! area {
    (($d:tt) $name:ident; $($code:tt)+) => {
        macro_rules! $name {
            ([$d($d before:tt)*] $d($d next:ident)*) => {
                collect! { [$d($d before)* $($code)+] $d($d next)* }
            };
        }
    };
}

/// Puts the codes of areas together, in the order in which they are named, and declares them.
macro_rules! collect {
    ([$($code:tt)*]) => { codes! { $($code)* } };
    ([$($code:tt)*] $first:ident $($next:ident)*) => { $first! { [$($code)*] $($next)* } };
}

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

pub(super) use {area, codes, collect};
