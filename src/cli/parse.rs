//! From the process's arguments to [`Arguments`]; a bare scenario path means `run`.

use std::ffi::{OsStr, OsString};
use std::io::ErrorKind;
use std::path::Path;

use clap::{ColorChoice, CommandFactory, FromArgMatches};

use super::{Arguments, Exit};

/// Parses the command line; `words` opens with the program's name.
///
/// # Errors
/// The exit code when there is nothing to run: 0 after help or version, 2 after a usage message.
pub fn parse(words: impl IntoIterator<Item = OsString>) -> Result<Arguments, Exit> {
    let words = with_implied_run(words.into_iter().collect());
    let command = Arguments::command().color(color_choice(&words));
    command
        .try_get_matches_from(words)
        .and_then(|matches| Arguments::from_arg_matches(&matches))
        .map_err(|error| tell(&error))
}

/// Prints help, version or a usage error where it belongs and returns the exit code.
fn tell(error: &clap::Error) -> Exit {
    let exit = if error.use_stderr() { Exit::Refused } else { Exit::Success };
    match error.print() {
        Err(broken) if broken.kind() != ErrorKind::BrokenPipe => exit.and(Exit::JobFailed),
        _ => exit,
    }
}

/// Inserts `run` where the first word that is neither an option nor an option's value is a scenario path.
fn with_implied_run(mut words: Vec<OsString>) -> Vec<OsString> {
    if first_operand(&words).is_some_and(is_scenario_path) {
        words.insert(1, "run".into());
    }
    words
}

/// Returns whether a word is a path to a scenario rather than a command: it ends in `.kdl`.
fn is_scenario_path(word: &OsStr) -> bool {
    Path::new(word).extension().is_some_and(|extension| extension == "kdl")
}

/// Returns the first word that is neither an option nor the value of one, judged by the options of `run`.
fn first_operand(words: &[OsString]) -> Option<&OsStr> {
    let with_value = options_with_value();
    let mut words = words.iter().skip(1);
    while let Some(word) = words.next() {
        let text = word.to_str().unwrap_or("");
        if text == "--" {
            return words.next().map(OsString::as_os_str);
        }
        if !text.starts_with('-') {
            return Some(word);
        }
        if with_value.iter().any(|option| option == text) {
            words.next();
        }
    }
    None
}

/// Returns the spellings of every option of `run`, and of the program, that takes its value from the next word.
fn options_with_value() -> Vec<String> {
    let command = Arguments::command();
    let run = command.find_subcommand("run").into_iter().flat_map(clap::Command::get_arguments);
    command
        .get_arguments()
        .chain(run)
        .filter(|argument| !argument.is_positional() && argument.get_action().takes_values())
        .flat_map(|argument| {
            let long = argument.get_long().map(|long| format!("--{long}"));
            long.into_iter().chain(argument.get_short().map(|short| format!("-{short}")))
        })
        .collect()
}

/// Returns when clap itself colours help and usage errors: `--color` counts before the line is parsed.
fn color_choice(words: &[OsString]) -> ColorChoice {
    let said = words.iter().enumerate().find_map(|(index, word)| match word.to_str() {
        Some("--color") => words.get(index + 1).and_then(|next| next.to_str()),
        Some(word) => word.strip_prefix("--color="),
        None => None,
    });
    match said {
        Some("always") => ColorChoice::Always,
        Some("never") => ColorChoice::Never,
        _ => ColorChoice::Auto,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn implied(line: &str) -> String {
        let words = line.split(' ').map(OsString::from).collect();
        let words: Vec<String> = with_implied_run(words)
            .into_iter()
            .map(|word| word.into_string().expect("these words are ASCII"))
            .collect();
        words.join(" ")
    }

    #[test]
    fn a_bare_scenario_path_means_run_wherever_options_stand() {
        assert_eq!(implied("bench a.kdl"), "bench run a.kdl");
        assert_eq!(implied("bench --jobs 2 a.kdl"), "bench run --jobs 2 a.kdl");
        assert_eq!(implied("bench --root x.kdl a.kdl -q"), "bench run --root x.kdl a.kdl -q");
        assert_eq!(implied("bench -- a.kdl"), "bench run -- a.kdl");
    }

    #[test]
    fn a_named_command_stays_as_it_is() {
        for line in ["bench check a.kdl", "bench --root a.kdl check b.kdl", "bench chekc", "bench"]
        {
            assert_eq!(implied(line), line);
        }
    }

    #[test]
    fn the_table_of_commands_is_sound() {
        Arguments::command().debug_assert();
    }
}
