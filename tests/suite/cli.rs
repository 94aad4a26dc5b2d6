//! The command line as a user meets it: help, usage errors, streams, completions, manual pages.

use std::io::Read;
use std::process::Stdio;

use crate::program::{Place, Ran};

/// Every command that a user sees, as words.
const COMMANDS: &[&str] = &[
    "run",
    "merge",
    "check",
    "accept",
    "diff",
    "upgrade",
    "bisect",
    "explain",
    "minimise",
    "plan",
    "lint",
    "fmt",
    "pin",
    "pins",
    "pins list",
    "pins verify",
    "pins timing export",
    "engines",
    "engines list",
    "engines build",
    "engines verify",
    "engines remove",
    "trace",
    "trace stats",
    "trace validate",
    "trace convert",
    "trace head",
    "trace split",
    "trace sample",
    "graph",
    "store",
    "predict",
    "import",
    "parity",
    "doctor",
    "mock",
    "perf",
    "prune",
    "explain-code",
    "completions",
    "man",
];

/// Commands that print a table, or figures that could be one.
const TABLES: &[&str] = &[
    "run",
    "merge",
    "check",
    "accept",
    "diff",
    "plan",
    "pins list",
    "pins verify",
    "engines list",
    "trace stats",
    "trace validate",
    "trace head",
    "trace split",
    "trace sample",
    "predict",
    "parity",
    "perf",
];

fn help_of(command: &str) -> String {
    let words = command.split(' ').chain(["--help"]);
    Place::empty().bench(words).exits(0).stdout
}

#[test]
fn help_of_every_command_shows_an_example_of_that_command() {
    for command in COMMANDS {
        let help = help_of(command);
        let example = help.split_once("Example").map(|(_, examples)| examples);
        assert!(
            example.is_some_and(|text| text.contains(&format!("bench {command} "))
                || text.contains(&format!("bench {command}\n"))),
            "{command}: {help}"
        );
    }
}

/// Returns the words of a help text that are paths of this repository: below its folders of data, without a part in capitals.
fn paths_in(help: &str) -> Vec<&str> {
    let folders = ["scenarios/", "pins/", "docs/", "ci/", "tests/", "src/"];
    let is_path = |word: &&str| {
        let names_a_file = word.rsplit('/').next().is_some_and(|name| name.contains('.'));
        let is_placeholder = word.chars().any(|c| c.is_ascii_uppercase());
        names_a_file && !is_placeholder && folders.iter().any(|folder| word.starts_with(folder))
    };
    let ends: &[char] = &['`', '\'', '"', '(', ')', ',', ';', ':', '.'];
    let mut made = false; // what an example writes need not be there
    let mut found = Vec::new();
    for word in help.split_whitespace() {
        let word = word.trim_matches(ends);
        if is_path(&word) && !made {
            found.push(word);
        }
        made = matches!(word, "--output" | "--out" | "-o");
    }
    found
}

#[test]
fn every_path_that_a_help_text_names_is_there() {
    let root = crate::program::repository_root();
    let (mut named, mut missing) = (0, Vec::new());
    let mut told: Vec<(String, String)> =
        COMMANDS.iter().map(|command| ((*command).to_owned(), help_of(command))).collect();
    told.push(("bench".to_owned(), Place::empty().bench(["--help"]).exits(0).stdout));
    for (command, help) in &told {
        for path in paths_in(help) {
            let folder = path.rsplit_once('/').map_or(path, |(folder, _)| folder);
            let there = if path.contains('*') { root.join(folder) } else { root.join(path) };
            named += 1;
            if !there.exists() {
                missing.push(format!("{command}: {path}"));
            }
        }
    }
    assert!(named > 20, "the helps name paths: {named}");
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn the_list_of_commands_in_help_is_the_list_tested_here() {
    let help = Place::empty().bench(["--help"]).exits(0).stdout;
    let listed: Vec<&str> = help
        .lines()
        .skip_while(|line| *line != "Commands:")
        .skip(1)
        .take_while(|line| !line.is_empty())
        .filter(|line| line.starts_with("  ") && !line.starts_with("    "))
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    let listed: Vec<&str> = listed.into_iter().filter(|command| *command != "help").collect();
    let tested: Vec<&str> =
        COMMANDS.iter().copied().filter(|command| !command.contains(' ')).collect();
    assert_eq!(listed, tested);
}

#[test]
fn the_readme_lists_every_command_and_every_exit_code() {
    let path = crate::program::repository_root().join("README.md");
    let readme = std::fs::read_to_string(path).expect("there is a README.md");
    let rows: Vec<&str> = readme.lines().filter(|line| line.starts_with("| ")).collect();
    for command in COMMANDS.iter().filter(|command| !["pins", "trace"].contains(command)) {
        let cell = format!("`bench {command}");
        assert!(rows.iter().any(|row| row.contains(&cell)), "{command} is in no table");
    }
    for code in ["0", "1", "2", "3", "4", "130"] {
        assert!(rows.iter().any(|row| row.starts_with(&format!("| {code} |"))), "exit {code}");
    }
}

#[test]
fn every_command_that_prints_a_table_can_print_json() {
    for command in TABLES {
        assert!(help_of(command).contains("--format <FORMAT>"), "{command}");
    }
}

#[test]
fn help_and_version_are_results_and_exit_0() {
    let version = Place::empty().bench(["--version"]).exits(0);
    assert_eq!(version.stdout, concat!("bench ", env!("CARGO_PKG_VERSION"), "\n"));
    assert_eq!(version.stderr, "");
}

#[test]
fn the_version_names_the_revision_that_the_package_tells_and_a_report_never_does() {
    let place = Place::repository();
    let told = |arguments: &[&str], revision: &str| {
        Ran::of(place.command(arguments).env("TOUCHSTONE_REVISION", revision)).exits(0).stdout
    };
    assert_eq!(told(&["--version"], ""), concat!("bench ", env!("CARGO_PKG_VERSION"), "\n"));
    let named = concat!("bench ", env!("CARGO_PKG_VERSION"), " (0123abc)\n");
    assert_eq!(told(&["--version"], "0123abc"), named);
    let report = |revision| {
        told(&["exec-job", "scenarios/smoke.kdl", "--job", "smoke/loop/one/native"], revision)
    };
    assert_eq!(report("0123abc"), report(""));
    assert!(!report("0123abc").contains("0123abc"));
}

#[test]
fn a_usage_error_exits_2_with_nothing_on_stdout() {
    for words in [&["run"][..], &["--frobnicate"], &["plan", "a.kdl", "--format", "xml"], &[]] {
        let ran = Place::empty().bench(words).exits(2);
        assert_eq!(ran.stdout, "", "{words:?}");
        assert_ne!(ran.stderr, "", "{words:?}");
    }
}

#[test]
fn an_unknown_command_is_answered_with_the_one_that_was_meant() {
    let ran = Place::empty().bench(["chekc"]).exits(2);
    assert!(ran.stderr.contains("'check'"), "{ran}");
}

#[test]
fn quiet_and_verbose_exclude_each_other() {
    let ran = Place::empty().bench(["-q", "-v", "man"]).exits(2);
    assert!(ran.stderr.contains("cannot be used with"), "{ran}");
}

#[test]
fn completions_of_every_shell_know_every_command() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let ran = Place::empty().bench(["completions", shell]).exits(0);
        assert_eq!(ran.stderr, "");
        for command in COMMANDS.iter().flat_map(|command| command.split(' ')) {
            assert!(ran.stdout.contains(command), "{shell} lacks {command}");
        }
    }
}

#[test]
fn the_manual_has_a_page_for_the_program_and_one_for_each_command() {
    let program = Place::empty().bench(["man"]).exits(0).stdout;
    assert!(program.contains(".TH bench 1"), "{program}");
    for command in COMMANDS.iter().filter(|command| !command.contains(' ')) {
        let page = Place::empty().bench(["man", command]).exits(0).stdout;
        assert!(page.contains(&format!(".TH bench-{command} 1")), "{page}");
    }
    let action = Place::empty().bench(["man", "trace", "stats"]).exits(0).stdout;
    assert!(action.contains(".TH bench-trace-stats 1"), "{action}");
    let unknown = Place::empty().bench(["man", "nothing"]).exits(2);
    assert!(unknown.stderr.contains("error[cli::unknown_command]"), "{unknown}");
}

#[test]
fn a_code_is_explained_on_stdout_and_an_unknown_one_is_answered_with_a_near_one() {
    let known = Place::empty().bench(["explain-code", "kdl::syntax"]).exits(0);
    assert!(known.stdout.contains("kdl::syntax"), "{known}");
    let unknown = Place::empty().bench(["explain-code", "kdl::sintax"]).exits(2);
    assert!(unknown.stderr.contains("error[cli::unknown_code]"), "{unknown}");
    assert!(unknown.stderr.contains("`kdl::syntax`"), "{unknown}");
}

#[test]
fn colour_reaches_stderr_only_where_it_is_wanted() {
    let coloured = |words: &[&str], no_color: Option<&str>| {
        let place = Place::empty();
        let mut command = place.command(words);
        if let Some(value) = no_color {
            command.env("NO_COLOR", value);
        }
        let ran = Ran::of(&mut command).exits(2);
        ran.stderr.contains('\u{1b}')
    };
    assert!(!coloured(&["man", "nothing"], None));
    assert!(coloured(&["man", "nothing", "--color", "always"], None));
    assert!(!coloured(&["man", "nothing", "--color", "never"], None));
    assert!(!coloured(&["man", "nothing"], Some("1")));
    assert!(coloured(&["chekc", "--color=always"], None));
    assert!(!coloured(&["chekc", "--color=never"], None));
}

#[cfg(target_os = "linux")]
#[test]
fn results_that_cannot_be_written_are_a_failure() {
    let place = Place::empty();
    let full = std::fs::File::options().write(true).open("/dev/full").expect("Linux has it");
    let ran = Ran::of(place.command(["man"]).stdout(full)).exits(1);
    assert!(ran.stderr.contains("error[cli::output]"), "{ran}");
}

#[test]
fn a_reader_that_goes_away_is_no_failure() {
    let place = Place::empty();
    let mut command = place.command(["completions", "bash"]);
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary was built with this test");
    drop(child.stdout.take());
    let mut said = String::new();
    child
        .stderr
        .take()
        .expect("stderr is piped")
        .read_to_string(&mut said)
        .expect("stderr is UTF-8");
    let status = child.wait().expect("the child is ours");
    assert_eq!((status.code(), said.as_str()), (Some(0), ""));
}
