//! Single homes: which part of the tree may name a foreign crate, or what of the standard library owns time, processes and the environment.

use crate::rust::{code, identifiers, is_test_line};
use crate::tree::{File, Violation, assert_none, repository};

/// A foreign crate (as code spells it) and the paths that may name it. Nothing else in `src` does, tests excepted.
const HOMES: &[(&str, &[&str])] = &[
    ("blake3", &["src/digest/"]),
    ("clap", &["src/cli/"]),
    ("clap_complete", &["src/cli/"]),
    ("clap_mangen", &["src/cli/"]),
    ("comfy_table", &["src/report/table", "src/cli/render/"]),
    ("ctrlc", &["src/cli/interrupt.rs"]),
    ("flate2", &["src/trace/read"]),
    ("hashbrown", &["src/graph/ceiling.rs", "src/sim/", "src/trace/"]),
    ("http_body_util", &["src/replay/", "src/mock/"]),
    ("hyper", &["src/replay/", "src/mock/"]),
    ("hyper_util", &["src/replay/", "src/mock/"]),
    ("memmap2", &["src/graph/store/"]),
    ("rcgen", &["src/mock/"]),
    ("rustix", &["src/replay/wall.rs"]),
    ("rustls", &["src/replay/", "src/mock/"]),
    ("rustls_native_certs", &["src/replay/"]),
    ("tiktoken_rs", &["src/graph/content/"]),
    ("tokenizers", &["src/graph/content/"]),
    ("tokio", &["src/replay/", "src/mock/"]),
    ("tokio_rustls", &["src/replay/", "src/mock/"]),
    ("indicatif", &["src/cli/progress.rs"]),
    ("jiff", &["src/trace/", "src/cli/wall.rs"]),
    ("kdl", &["src/scenario/syntax"]),
    ("memchr", &["src/trace/read/"]),
    ("libm", &["src/digest/", "src/sim/timing/"]),
    ("miette", &["src/diag/", "src/cli/render/", "src/scenario/syntax"]),
    ("percent_encoding", &["src/report/"]),
    ("rand_chacha", &["src/digest/"]),
    ("xxhash_rust", &["src/digest/"]),
    ("rayon", &["src/exec/", "src/trace/", "src/graph/store/verify.rs"]),
    ("ruzstd", &["src/trace/read"]),
    ("saphyr_parser", &["src/scenario/written/"]),
    ("sha2", &["src/digest/"]),
    ("toml", &["src/pin/audit/toml_file.rs"]),
    (
        "tempfile",
        &[
            "src/pin/audit/write.rs",
            "src/record/requests.rs",
            "src/workload/tape.rs",
            "src/record/spool.rs",
            "src/report/",
            "src/exec/",
            "src/cli/cmd/minimise/written",
            "src/cli/cmd/plan_wire_folder",
            "src/cli/cmd/trace_",
            "src/gate/write",
            "src/graph/store/folder",
            "src/replay/wire/recording",
            "src/cli/cmd/perf_",
            "src/scenario/edit",
        ],
    ),
];

/// Foreign crates that any part may name: they stand for part of the language.
const EVERYWHERE: &[&str] = &["itoa", "serde", "serde_json", "strsim", "thiserror"];

/// Names of the standard library with one owner.
const OWNED: &[(&str, &[&str])] = &[
    ("Instant", &["src/cli/wall.rs"]),
    ("SystemTime", &["src/cli/", "src/report/provenance"]),
    ("TcpStream", &["src/mock/", "src/replay/http/"]),
    ("TcpListener", &["src/mock/"]),
    ("UdpSocket", &[]),
    ("HashMap", &["src/graph/ceiling.rs", "src/sim/", "src/trace/"]),
    ("HashSet", &["src/sim/", "src/trace/"]),
    ("DefaultHasher", &[]),
    ("RandomState", &[]),
];

/// Finds names outside their home.
fn strays(files: &[File], homes: &[(&str, &[&str])]) -> Vec<Violation> {
    let mut found = Vec::new();
    for file in files.iter().filter(|file| file.path.starts_with("src/") && file.is_rust()) {
        for (line, text) in code(&file.text).lines().enumerate() {
            for (at, name) in identifiers(text) {
                let Some((_, paths)) = homes.iter().find(|(known, _)| *known == name) else {
                    continue;
                };
                let is_home = paths.iter().any(|home| file.path.starts_with(home));
                let is_crate =
                    is_path_head(text, at, name) || !name.starts_with(char::is_lowercase);
                if is_crate && !is_home && !is_test_line(file, line) {
                    found.push(
                        file.violation(line, format!("`{name}` is at home in {paths:?} only")),
                    );
                }
            }
        }
    }
    found
}

/// Returns whether the name at `at` opens a path: `name::…`, not `a::name::…` and not a variable.
fn is_path_head(text: &str, at: usize, name: &str) -> bool {
    text[at + name.len()..].starts_with("::") && !text[..at].ends_with("::")
}

/// Returns the dependencies that `Cargo.toml` lists under a heading, as code spells them, with their lines.
fn dependencies(manifest: &File, heading: &str) -> Vec<(usize, String)> {
    let lines = manifest.text.lines().enumerate();
    let section = lines.skip_while(|(_, line)| *line != heading).skip(1);
    section
        .take_while(|(_, line)| !line.starts_with('['))
        .filter(|(_, line)| !line.starts_with('#'))
        .filter_map(|(line, text)| Some((line, text.split_once(" = ")?.0.replace('-', "_"))))
        .collect()
}

/// Finds dependencies without a home, and homes without a dependency.
fn homeless(manifest: &File) -> Vec<Violation> {
    let listed = dependencies(manifest, "[dependencies]");
    let known =
        |name: &str| EVERYWHERE.contains(&name) || HOMES.iter().any(|(home, _)| *home == name);
    let unknown = listed.iter().filter(|(_, name)| !known(name)).map(|(line, name)| {
        manifest.violation(*line, format!("`{name}` has no home in tests/tidy/homes.rs"))
    });
    let all = EVERYWHERE.iter().chain(HOMES.iter().map(|(name, _)| name));
    let gone = all
        .filter(|name| !listed.iter().any(|(_, listed)| listed == *name))
        .map(|name| manifest.violation(0, format!("`{name}` has a home and is no dependency")));
    unknown.chain(gone).collect()
}

/// Finds dependencies that no code names.
fn unused(files: &[File], manifest: &File) -> Vec<Violation> {
    let mut found = Vec::new();
    for (heading, below) in [("[dependencies]", "src/"), ("[dev-dependencies]", "")] {
        for (line, name) in dependencies(manifest, heading) {
            let sources =
                files.iter().filter(|file| file.is_rust() && file.path.starts_with(below));
            let mut lines = sources
                .flat_map(|file| code(&file.text).lines().map(str::to_owned).collect::<Vec<_>>());
            let is_named = lines.any(|text| {
                identifiers(&text)
                    .any(|(at, found)| found == name && is_path_head(&text, at, found))
            });
            if !is_named {
                found.push(manifest.violation(line, format!("no code names `{name}`")));
            }
        }
    }
    found
}

/// Returns `Cargo.toml`.
fn manifest(files: &[File]) -> &File {
    files.iter().find(|file| file.path == "Cargo.toml").expect("there is a manifest")
}

#[test]
fn foreign_crates_are_named_at_home_only() {
    assert_none(&strays(&repository(), HOMES));
}

#[test]
fn time_sockets_and_hash_containers_are_named_by_their_owners_only() {
    assert_none(&strays(&repository(), OWNED));
}

#[test]
fn every_dependency_has_a_home_and_every_home_a_dependency() {
    assert_none(&homeless(manifest(&repository())));
}

#[test]
fn every_dependency_is_used() {
    let files = repository();
    assert_none(&unused(&files, manifest(&files)));
}

#[test]
fn planted_violations_are_seen() {
    let stray = |path: &str, text: &str| strays(&[File::planted(path, text)], HOMES).len();
    assert_eq!(stray("src/report/write.rs", "use kdl::KdlDocument;\n"), 1);
    assert_eq!(stray("src/scenario/syntax.rs", "use kdl::KdlDocument;\n"), 0);
    assert_eq!(stray("src/sim/a.rs", "fn f(csv: u8) { crate::trace::csv::g(csv); }\n"), 0);
    assert_eq!(stray("src/sim/a.rs", "#[cfg(test)]\nmod tests { use tempfile::TempDir; }\n"), 0);
    let owned = |path: &str| {
        strays(&[File::planted(path, "fn f(at: std::time::Instant) {}\n")], OWNED).len()
    };
    assert_eq!((owned("src/sim/a.rs"), owned("src/cli/wall.rs")), (1, 0));

    let manifest = File::planted(
        "Cargo.toml",
        "[dependencies]\n# Why.\nleft-pad = \"1\"\n\n[profile]\nx = 1\n",
    );
    assert!(
        homeless(&manifest)
            .iter()
            .any(|found| found.to_string().contains("`left_pad` has no home"))
    );
    assert!(
        homeless(&manifest).iter().any(|found| found.to_string().contains("`sha2` has a home"))
    );
    let used = [File::planted("src/a.rs", "use left_pad::pad;\n")];
    let spoken = [File::planted("src/a.rs", "// left_pad::pad\nfn left_pad() {}\n")];
    assert_eq!((unused(&used, &manifest).len(), unused(&spoken, &manifest).len()), (0, 1));
}
