//! Audits and updates of a repository that pins an engine in nine places.

use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::diag::{Code, SourceFile};

use super::expected::Expected;
use super::inspect::{Audit, judge_all};
use super::judge::Verdict;
use super::rules::Rules;
use super::statement::unquoted;
use super::tree::Tree;
use super::update::{Plan, UpdateError, plan};
use super::version::StatedVersion;

const RULES: &str = include_str!("../../../pins/audits/dynamo-aisimulate.kdl");
const CHECKSUM: &str = "eb823782e806dd74cba719906a6b828b86f415aad54c6d5016c29ff278e89319";
const PINNED: &str = "0.13.0-dev.202610290000000087";
const QUICKSTART: &str = "docs/fern/pages/developer-guide/knowledge-base/modular-components/ai-simulate-experimental/sweeper-experimental/quickstart.md";

/// A copy of the repository, with rules.
struct Repository {
    folder: TempDir,
    rules: Rules,
}

impl Repository {
    fn new() -> Self {
        let folder = TempDir::new().expect("a folder");
        let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/audit/dynamo");
        copy(&fixture, folder.path());
        let path = folder.path().join("rules.kdl");
        fs::write(&path, RULES).expect("writable");
        let rules = Rules::load(&path).expect("rules");
        Self { folder, rules }
    }

    fn path(&self, file: &str) -> PathBuf {
        self.folder.path().join(file)
    }

    fn read(&self, file: &str) -> String {
        fs::read_to_string(self.path(file)).expect("there")
    }

    fn edit(&self, file: &str, from: &str, to: &str) {
        let text = self.read(file);
        assert!(text.contains(from), "{file} has no `{from}`");
        fs::write(self.path(file), text.replacen(from, to, 1)).expect("writable");
    }

    fn audit(&self) -> Audit {
        let rules = Rules::load(&self.path("rules.kdl")).expect("rules");
        let checksum = if rules.version == version(PINNED) { CHECKSUM } else { OTHER_CHECKSUM };
        judge_all(&Tree::new(self.folder.path()), &rules, &expected(rules.version, checksum))
    }

    fn plan(&self, to: &str) -> Result<Plan, UpdateError> {
        plan(self.folder.path(), &self.rules, &expected(version(to), OTHER_CHECKSUM))
    }

    /// Returns every file with its text.
    fn snapshot(&self) -> Vec<(PathBuf, String)> {
        let mut files = Vec::new();
        walk(self.folder.path(), &mut files);
        files.sort();
        files
    }
}

const OTHER_CHECKSUM: &str = "1d2deb095416b9ff555cbf1053f1eb7832c610b9cae06be37944cd939a6ae2b5";

fn version(text: &str) -> StatedVersion {
    StatedVersion::parse(text).expect("a version")
}

fn expected(version: StatedVersion, checksum: &str) -> Expected {
    Expected { version, checksum: Some(checksum.to_owned()) }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("writable");
    for entry in fs::read_dir(from).expect("readable") {
        let entry = entry.expect("readable");
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).expect("writable");
        }
    }
}

fn walk(folder: &Path, files: &mut Vec<(PathBuf, String)>) {
    for entry in fs::read_dir(folder).expect("readable") {
        let path = entry.expect("readable").path();
        if path.is_dir() {
            walk(&path, files);
        } else {
            files.push((path.clone(), fs::read_to_string(path).expect("readable")));
        }
    }
}

/// Returns code and place of every finding.
fn findings(audit: Audit) -> Vec<(Code, String)> {
    let sorted = audit.findings.into_sorted();
    sorted.iter().map(|found| (found.code(), found.place().unwrap_or_default())).collect()
}

#[test]
fn a_repository_whose_nine_places_agree_is_clean() {
    let audit = Repository::new().audit();
    let places: Vec<String> = audit
        .rows
        .iter()
        .map(|row| {
            format!(
                "{} {} {}",
                row.rule,
                row.place.rsplit('/').next().unwrap_or_default(),
                row.verdict.name()
            )
        })
        .collect();
    assert_eq!(
        places,
        [
            "cargo-manifest Cargo.toml:8:31 agrees",
            "cargo-manifest Cargo.toml:15:13 agrees",
            "cargo-lock Cargo.lock:15:11 agrees",
            "cargo-lock Cargo.lock:15:11 agrees",
            "cargo-lock Cargo.lock:15:11 agrees",
            "pyproject pyproject.toml:7:5 agrees",
            "pyproject pyproject.toml:4:26 agrees",
            "requirements requirements.aisimulate.txt:2:1 agrees",
            "text quickstart.md:6:36 agrees",
            "text quickstart.md:10:2 agrees",
        ]
    );
    assert!(!audit.is_partial);
    assert_eq!(findings(audit), []);
}

#[test]
fn one_stale_place_is_named_whichever_it_is() {
    for (file, from, to, place) in [
        (
            "Cargo.toml",
            "\"=0.13.0-dev.202610290000000087",
            "\"=0.13.0-dev.202610280000000086",
            "Cargo.toml:8:31",
        ),
        (
            "lib/bindings/kvbm/Cargo.lock",
            "\"0.13.0-dev.202610290000000087",
            "\"0.12.1",
            "lib/bindings/kvbm/Cargo.lock:15:11",
        ),
        ("pyproject.toml", "0.13.0.dev202610290000000087", "0.13.0", "pyproject.toml:7:5"),
        (
            "benchmarks/pyproject.toml",
            "== 0.13.0.dev202610290000000087",
            "== 0.13.0.post1",
            "benchmarks/pyproject.toml:4:26",
        ),
        (
            "container/deps/requirements.aisimulate.txt",
            "dev202610290000000087",
            "dev87",
            "container/deps/requirements.aisimulate.txt:2:1",
        ),
    ] {
        let repository = Repository::new();
        repository.edit(file, from, to);
        let audit = repository.audit();
        assert_eq!(audit.rows.iter().filter(|row| row.verdict == Verdict::OtherVersion).count(), 1);
        assert_eq!(findings(audit), [(Code::PinAuditVersion, place.to_owned())], "{file}");
    }
}

#[test]
fn each_place_is_read_in_its_own_spelling() {
    let repository = Repository::new();
    repository.edit(
        "Cargo.toml",
        "\"=0.13.0-dev.202610290000000087",
        "\"=0.13.0.dev202610290000000087",
    );
    repository.edit(
        "pyproject.toml",
        "0.13.0.dev202610290000000087",
        "0.13.0-dev.202610290000000087",
    );
    let at = |place: &str| (Code::PinAuditVersion, place.to_owned());
    assert_eq!(findings(repository.audit()), [at("Cargo.toml:8:31"), at("pyproject.toml:7:5")]);
}

#[test]
fn a_folder_of_the_rules_is_the_same_with_a_slash_behind_it() {
    let repository = Repository::new();
    fs::write(repository.path("docs/old.md"), "aisimulate 0.12.1\n").expect("writable");
    let rules = "    scan \"docs/\"\n    scan \"docs//\"\n";
    repository.edit("rules.kdl", "    scan \"docs\"\n", rules);
    let stray = (Code::PinAuditStray, "docs/old.md:1:12".to_owned());
    assert_eq!(findings(repository.audit()), [stray], "once, though two rules cover it");
    let allow = "    allow \"0.12.1\" file=\"docs/old.md\" reason=\"history\"\n";
    repository.edit("rules.kdl", rules, &format!("{rules}{allow}"));
    assert_eq!(findings(repository.audit()), []);
}

#[test]
fn what_a_place_states_is_shown_without_its_own_quotes_only() {
    assert_eq!(
        unquoted("\"aisimulate==1.0.0 ; python_version >= '3.11'\""),
        "aisimulate==1.0.0 ; python_version >= '3.11'"
    );
    assert_eq!(unquoted("'1.0.0'"), "1.0.0");
    assert_eq!(unquoted("a >= '3.11'"), "a >= '3.11'");
}

#[test]
fn a_requirement_that_allows_other_versions_is_no_pin() {
    let repository = Repository::new();
    repository.edit("Cargo.toml", "\"=0.13.0", "\"0.13.0");
    repository.edit(
        "lib/bindings/python/Cargo.toml",
        "version   = '=0.13.0-dev.202610290000000087'",
        "git = \"https://host/aisimulate\"",
    );
    repository.edit("pyproject.toml", "aisimulate==", "aisimulate>=");
    let found = findings(repository.audit());
    let codes: Vec<Code> = found.iter().map(|(code, _)| *code).collect();
    assert_eq!(
        codes,
        [Code::PinAuditLoose, Code::PinAuditUnstated, Code::PinAuditLoose],
        "{found:?}"
    );
}

#[test]
fn a_checksum_that_is_not_the_engine_pins_is_found_and_so_is_none() {
    let repository = Repository::new();
    repository.edit("Cargo.lock", CHECKSUM, OTHER_CHECKSUM);
    repository.edit("lib/bindings/python/Cargo.lock", &format!("checksum = \"{CHECKSUM}\"\n"), "");
    let audit = repository.audit();
    let text = format!("{:?}", audit.findings);
    assert!(
        text.contains(&format!("pinned {CHECKSUM}"))
            && text.contains(&format!("found  {OTHER_CHECKSUM}"))
    );
    assert_eq!(
        findings(audit),
        [
            (Code::PinAuditChecksum, "Cargo.lock:17:12".to_owned()),
            (Code::PinAuditChecksum, "lib/bindings/python/Cargo.lock:15:11".to_owned()),
        ]
    );
}

#[test]
fn a_lock_file_that_is_missing_names_its_rule_and_the_rest_is_still_audited() {
    let repository = Repository::new();
    fs::remove_file(repository.path("lib/bindings/kvbm/Cargo.lock")).expect("there");
    repository.edit("pyproject.toml", "0.13.0.dev202610290000000087", "0.12.1");
    let audit = repository.audit();
    assert!(audit.is_partial);
    let found = findings(audit);
    let [(Code::PinAuditFile, rule), (Code::PinAuditVersion, stale)] = found.as_slice() else {
        panic!("{found:?}")
    };
    assert!(rule.ends_with("rules.kdl:11:5"), "{rule}");
    assert_eq!(stale, "pyproject.toml:7:5");
}

#[test]
fn a_file_that_is_no_toml_or_states_nothing_is_found() {
    let repository = Repository::new();
    fs::write(repository.path("Cargo.lock"), "version = 4\n[[package]\n").expect("writable");
    repository.edit(
        "container/deps/requirements.aisimulate.txt",
        "aisimulate==0.13.0.dev202610290000000087\n",
        "",
    );
    repository.edit(QUICKSTART, "aisimulate==0.13.0.dev202610290000000087", "aisimulate");
    repository.edit(QUICKSTART, "`0.13.0-dev.202610290000000087`", "the same");
    let audit = repository.audit();
    assert!(audit.is_partial);
    let mut codes: Vec<Code> = findings(audit).iter().map(|(code, _)| *code).collect();
    codes.sort_unstable();
    assert_eq!(codes, [Code::PinAuditSyntax, Code::PinAuditUnstated, Code::PinAuditUnstated]);
}

#[test]
fn a_stray_old_version_is_found_in_every_file_that_the_rules_cover() {
    let repository = Repository::new();
    let page = "docs/migration/notes.md";
    fs::create_dir_all(repository.path("docs/migration")).expect("writable");
    fs::write(repository.path(page), "# Notes\n\nSince AISimulate\n0.12.0 of October; 0.13.0-dev.202610280000000086 first shared links.\n").expect("writable");
    repository.edit(
        "Cargo.toml",
        "# The nightly",
        "# aisimulate 0.12.1 did not build.\n# The nightly",
    );
    fs::write(repository.path("container/Dockerfile.planner"), "ARG AISIMULATE_VERSION=0.12.0\n")
        .expect("writable");
    fs::write(repository.path("container/build.sh"), "pip install aisimulate==0.12.0.dev2\n")
        .expect("writable");
    let at = |place: &str| (Code::PinAuditStray, place.to_owned());
    assert_eq!(
        findings(repository.audit()),
        [
            at("Cargo.toml:7:14"),
            at("docs/migration/notes.md:4:1"),
            at("docs/migration/notes.md:4:20"),
            at("container/Dockerfile.planner:1:24"),
            at("container/build.sh:1:25"),
        ]
    );
    let allow = "    allow \"0.12.1\" file=\"Cargo.toml\" reason=\"why the next was taken\"\n";
    repository.edit("rules.kdl", "    scan \"docs\"\n", &format!("    scan \"docs\"\n{allow}"));
    assert!(!findings(repository.audit()).contains(&at("Cargo.toml:7:14")));
}

#[test]
fn a_second_package_of_the_crate_in_a_lock_file_is_found() {
    let repository = Repository::new();
    let lock = repository.read("Cargo.lock");
    let second =
        "[[package]]\nname = \"aisimulate-core\"\nversion = \"0.12.1\"\nchecksum = \"00\"\n\n";
    let lock = lock.replacen("[[package]]", &format!("{second}[[package]]"), 1);
    fs::write(repository.path("Cargo.lock"), lock).expect("writable");
    assert_eq!(
        findings(repository.audit()),
        [(Code::PinAuditVersion, "Cargo.lock:7:11".to_owned())]
    );
}

#[test]
fn an_update_moves_every_place_and_nothing_else() {
    for to in ["0.13.0", "0.13.0-dev.202611020000000092"] {
        let repository = Repository::new();
        let before = repository.snapshot();
        let plan = repository.plan(to).expect("clean");
        assert_eq!(repository.snapshot(), before, "a plan writes nothing");
        assert_eq!(
            plan.moves.len(),
            15,
            "eleven versions, three checksums, the rules: {:#?}",
            plan.moves
        );
        plan.write().expect("written");
        assert_eq!(findings(repository.audit()), [], "{to}");
        let new = version(to);
        let [semver, pep440] = [new.to_string(), new.spell(super::Spelling::Pep440)];
        for ((path, old), (_, new)) in before.iter().zip(repository.snapshot()) {
            let moved = old
                .replace("0.13.0-dev.202610290000000087", &semver)
                .replace("0.13.0.dev202610290000000087", &pep440)
                .replace(CHECKSUM, OTHER_CHECKSUM);
            assert_eq!(new, moved, "{}", path.display());
        }
    }
}

#[test]
fn an_update_there_and_back_leaves_every_byte_as_it_was() {
    let repository = Repository::new();
    let before = repository.snapshot();
    repository.plan("0.12.1").expect("clean").write().expect("written");
    let rules = Rules::load(&repository.path("rules.kdl")).expect("rules");
    let back = plan(repository.folder.path(), &rules, &expected(version(PINNED), CHECKSUM));
    back.expect("clean").write().expect("written");
    assert_eq!(repository.snapshot(), before);
}

#[test]
fn an_update_takes_a_stale_place_along() {
    let repository = Repository::new();
    repository.edit("pyproject.toml", "0.13.0.dev202610290000000087", "0.12.0");
    repository.plan("0.13.0").expect("clean").write().expect("written");
    assert_eq!(findings(repository.audit()), []);
}

#[test]
fn an_update_that_would_not_be_clean_changes_nothing() {
    let repository = Repository::new();
    fs::write(repository.path("docs/old.md"), "AISimulate 0.12.0\n").expect("writable");
    let before = repository.snapshot();
    let Err(UpdateError::NotClean(audit)) = repository.plan("0.13.0") else { panic!("refused") };
    assert_eq!(repository.snapshot(), before);
    let found = findings(audit);
    assert_eq!(found[0], (Code::PinAuditStray, "docs/old.md:1:12".to_owned()));
    assert_eq!(found[1].0, Code::PinAuditWrite);
}

#[cfg(unix)]
#[test]
fn an_update_follows_no_link_out_of_the_repository() {
    let repository = Repository::new();
    let outside = TempDir::new().expect("a folder");
    let target = outside.path().join("pyproject.toml");
    fs::rename(repository.path("pyproject.toml"), &target).expect("moved");
    std::os::unix::fs::symlink(&target, repository.path("pyproject.toml")).expect("linked");
    let Err(UpdateError::Input(bag)) = repository.plan("0.13.0") else { panic!("refused") };
    assert!(format!("{bag:?}").contains("out of the repository"));
}

#[test]
fn a_python_lock_with_archives_is_audited_and_left_to_its_own_tool() {
    let repository = Repository::new();
    let lock = "version = 1\n\n[[package]]\nname = \"aisimulate\"\nversion = \"0.13.0.dev202610290000000087\"\nsource = { registry = \"https://host/simple\" }\n\
                wheels = [\n    { url = \"https://host/aisimulate-0.13.0.dev202610290000000087-cp311.whl\", hash = \"sha256:00\" },\n]\n";
    fs::write(repository.path("uv.lock"), lock).expect("writable");
    repository.edit(
        "rules.kdl",
        "    scan \"docs\"\n",
        "    python-lock \"uv.lock\"\n    scan \"docs\"\n",
    );
    assert_eq!(findings(repository.audit()), []);
    let rules = Rules::load(&repository.path("rules.kdl")).expect("rules");
    let plan = plan(repository.folder.path(), &rules, &expected(version("0.13.0"), OTHER_CHECKSUM));
    let plan = plan.expect("clean but for the lock");
    assert_eq!(plan.left, ["uv.lock"]);
    plan.write().expect("written");
    assert_eq!(repository.read("uv.lock"), lock);
    let stale = findings(repository.audit());
    assert!(
        stale.iter().all(|(_, place)| place.starts_with("uv.lock:")) && !stale.is_empty(),
        "{stale:?}"
    );
}

#[test]
fn hashed_requirements_and_poetry_are_read() {
    let statements = super::python::requirements(
        "a==1 \\\n    --hash=sha256:00\n# aisimulate==0.1.0\naisimulate==0.13.0 \\\n    --hash=sha256:01 \\\n    --hash=sha256:02\naisimulate-x==1\n",
        "aisimulate",
    );
    assert_eq!(statements.len(), 1);
    assert_eq!(statements[0].check, super::statement::Check::Archives);
    let source = SourceFile::new(
        "p.toml",
        "[tool.poetry.dependencies]\nAISimulate = \"0.13.0\"\n[tool.poetry.group.dev.dependencies]\naisimulate = {version = \"^0.13.0\"}\n",
    );
    let binds: Vec<_> =
        super::python::project(&super::toml_file::parse(&source).expect("TOML"), "aisimulate")
            .into_iter()
            .map(|statement| statement.binds)
            .collect();
    assert_eq!(
        binds,
        [super::statement::Binds::Exactly, super::statement::Binds::Loosely("`==VERSION`")]
    );
}

#[test]
fn rules_that_do_not_fit_are_refused_where_they_stand() {
    let refused = |text: &str| {
        let bag = Rules::parse(&SourceFile::new("r.kdl", text)).expect_err("refused");
        let problems = bag.into_sorted();
        problems.iter().map(|p| (p.code(), p.place().unwrap_or_default())).collect::<Vec<_>>()
    };
    let rules = |body: &str| {
        refused(&format!("audit \"a\" {{\n    engine \"e\" version=\"1.0.0\"\n    {body}\n}}\n"))
    };
    let at = |place: &str| vec![(Code::PinAuditRules, place.to_owned())];
    assert_eq!(rules("cargo-lock \"Cargo.lock\""), at("r.kdl:3:5"));
    assert_eq!(rules("text \"../x\""), at("r.kdl:3:10"));
    assert_eq!(rules("about \"nothing\""), at("r.kdl:1:1"));
    let version = "audit \"a\" {\n    engine \"e\" version=\"1.0.0.dev3\"\n    text \"x\"\n}\n";
    assert_eq!(refused(version), at("r.kdl:2:24"));
}
