//! `bench explain-code`: explain a diagnostic code.

use crate::cli::args::ExplainCodeArgs;
use crate::cli::{Context, Exit, Failure, print};
use crate::diag::{Code, Problem};
use crate::scenario::scalar::nearest;

/// Runs the command.
pub(super) fn run(args: &ExplainCodeArgs, _context: &Context) -> Result<Exit, Failure> {
    let code: Code = args.code.parse().map_err(|()| unknown(&args.code))?;
    print(format!("{}: {}\n\n{}\n", code.as_str(), code.title(), code.explanation()))?;
    Ok(Exit::Success)
}

/// Returns the finding for a text that is no code.
fn unknown(text: &str) -> Problem {
    let codes = Code::ALL.iter().map(|code| code.as_str());
    let area = text.split("::").next().unwrap_or_default();
    let same: Vec<String> = codes
        .clone()
        .filter(|code| code.starts_with(&format!("{area}::")))
        .map(|code| format!("`{code}`"))
        .collect();
    let help = if let Some(near) = nearest(text, codes) {
        format!("did you mean `{near}`?")
    } else if same.is_empty() {
        "all codes are in docs/diagnostics.md".to_owned()
    } else {
        format!("codes of `{area}` are {}", same.join(", "))
    };
    Problem::new(Code::UnknownCode, format!("`{text}` is no diagnostic code")).help(help)
}
