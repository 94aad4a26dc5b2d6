//! `docs/diagnostics.md`, generated from the codes themselves.

use super::{Code, Severity};

/// The beginning of the page.
const HEAD: &str = "# Diagnostics

<!-- Generated from the codes themselves by `bench docs --write`; edit src/diag/code. -->

Every finding has a code that never changes its meaning, the place it is about, what was found and what to do. All findings of a file are reported
at once, in the order of the file. Errors end a command with exit code 2 unless its own page says otherwise; warnings change no exit code.
`bench explain-code CODE` prints an entry of this page.
";

/// Returns the page: a section an area, an entry a code.
pub fn page() -> String {
    let mut page = HEAD.to_owned();
    let mut area = "";
    for code in Code::ALL {
        let (own, _) = code.as_str().split_once("::").expect("a code is `area::name`");
        if own != area {
            area = own;
            page.push_str(&["\n## ", area, "\n"].concat());
        }
        let severity = match code.severity() {
            Severity::Error => "Error",
            Severity::Warning => "Warning",
        };
        let entry = [
            "\n### `",
            code.as_str(),
            "`\n\n",
            severity,
            ": ",
            code.title(),
            "\n\n",
            code.explanation(),
            "\n",
        ];
        page.push_str(&entry.concat());
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_of_one_area_stand_together() {
        let page = page();
        let headings: Vec<&str> = page.lines().filter(|line| line.starts_with("## ")).collect();
        let mut unique = headings.clone();
        unique.sort_unstable();
        unique.dedup();
        assert_eq!(headings.len(), unique.len(), "{headings:?}");
    }
}
