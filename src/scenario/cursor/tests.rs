//! Every way in which a node can differ from its shape.

use super::*;
use crate::diag::{Bag, Code, Problem, SourceFile};
use crate::scenario::shape::{Field, Kind, Shape};
use crate::scenario::syntax;

static SPEED: &[Field] = &[Field::positive("speedup", "How much faster.").or_real(1.0)];
static RATE: &[Field] = &[Field::positive("rate", "Arrivals a second.")];
static LOAD: Shape = Shape::new("load", "When requests arrive.").once().kinds(&[
    Kind::new("trace", "Recorded.").props(SPEED),
    Kind::new("poisson", "Random.").props(RATE),
]);
static SEED: Shape = Shape::new("seed", "The seed.").args(&[Field::seed("SEED", "The seed.")]);
static ABOUT: Shape =
    Shape::new("about", "The question.").args(&[Field::text("TEXT", "The question.")]);
static PIN: Shape =
    Shape::new("pin", "A pin.").repeated().args(&[Field::name("NAME", "Its name.")]).props(&[
        Field::digest("sha256", "Its digest.").optional(),
        Field::version("version", "Its version.").optional(),
        Field::duration("wait", "A duration.").optional(),
        Field::flag("on", "A switch.").or_off(),
        Field::count("count", "A count.").at_least(1).or_count(3),
        Field::share("share", "A share.").optional(),
    ]);
static VALUES: Field = Field::new("VALUE", crate::scenario::shape::Type::Any, "A value.");
static VARY: Shape = Shape::new("vary", "An axis.")
    .repeated()
    .args(&[Field::text("PATH", "What varies.")])
    .rest(&VALUES);
static WORKLOAD: Shape = Shape::new("workload", "A workload.")
    .keyed_once()
    .args(&[Field::name("NAME", "Its name.")])
    .block(&[&LOAD, &PIN, &VARY]);
static ROOT: Shape = Shape::root(&[&SEED, &WORKLOAD, &ABOUT]);

fn problems(text: &str) -> Vec<Problem> {
    let document = syntax::parse(&SourceFile::new("t.kdl", text)).expect("KDL");
    let mut bag = Bag::new();
    check(&document, &ROOT, &mut bag);
    bag.into_sorted()
}

/// Codes, places without the file name, and helps.
fn said(text: &str) -> Vec<(&'static str, String, String)> {
    problems(text)
        .iter()
        .map(|problem| {
            let place = problem.place().expect("a place").replace("t.kdl:", "");
            (problem.code().as_str(), place, problem.help_text().unwrap_or_default().to_owned())
        })
        .collect()
}

/// What a pin's line provokes.
fn pin(rest: &str) -> (Code, String) {
    let found = problems(&format!("workload \"w\" {{\n load \"trace\"\n pin \"p\" {rest}\n}}"));
    assert_eq!(found.len(), 1, "{rest}: {found:?}");
    (found[0].code(), found[0].message().to_owned())
}

#[test]
fn names_that_do_not_fit_get_the_likeliest_advice() {
    let found = said(
        "sede 1\nload \"trace\"\nfoo 1\nworkload \"w\" {\n load \"trace\" rate=1.0\n speedup 2\n}",
    );
    let texts: Vec<(&str, &str, &str)> =
        found.iter().map(|(code, place, help)| (*code, place.as_str(), help.as_str())).collect();
    assert_eq!(texts[0], ("kdl::unknown_node", "1:1", "did you mean `seed`?"));
    assert_eq!(texts[1], ("kdl::misplaced_node", "2:1", "it belongs into `workload`"));
    assert!(texts[2].2.contains(env!("CARGO_PKG_VERSION")), "{texts:?}");
    assert_eq!(texts[3], ("kdl::unknown_property", "5:15", "`rate` belongs to `load \"poisson\"`"));
    assert_eq!((texts[4].0, texts[4].1), ("kdl::unknown_node", "6:2"));
}

#[test]
fn what_stands_once_and_what_has_a_name_stand_once() {
    let text = "seed 1\nseed 2\nworkload \"w\" {\n load \"trace\"\n}\nworkload \"w\" {\n load \"trace\" speedup=1.0 speedup=2.0\n}";
    let codes: Vec<&str> = said(text).iter().map(|(code, _, _)| *code).collect();
    assert_eq!(codes, ["kdl::duplicate_node", "kdl::duplicate_name", "kdl::duplicate_property"]);
    assert!(problems(text).iter().all(|problem| problem.labels().len() == 2));
}

#[test]
fn missing_and_surplus_things_are_named_with_the_form() {
    let found = said(
        "seed\nworkload \"w\" 1 {\n load\n pin\n vary \"x\"\n}\nworkload \"v\" {\n load \"poisson\"\n}\nworkload \"u\"",
    );
    let codes: Vec<(&str, &str)> =
        found.iter().map(|(code, place, _)| (*code, place.as_str())).collect();
    assert_eq!(
        codes,
        [
            ("kdl::missing_argument", "1:1"),
            ("kdl::surplus_argument", "2:14"),
            ("kdl::missing_argument", "3:2"),
            ("kdl::missing_argument", "4:2"),
            ("kdl::missing_argument", "5:7"),
            ("kdl::missing_property", "8:2"),
            ("kdl::missing_node", "10:1"),
        ]
    );
    assert_eq!(found[0].2, "the form is `seed SEED`");
    assert_eq!(said("seed 1")[0].0, "kdl::missing_node");
}

#[test]
fn an_unknown_kind_does_not_condemn_its_properties() {
    let found = said("workload \"w\" {\n load \"poison\" rate=1.0\n}");
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].0, "kdl::unknown_value");
    assert_eq!(found[0].2, "did you mean `\"poisson\"`? allowed are `\"trace\"`, `\"poisson\"`");
}

#[test]
fn scalars_say_what_they_are_and_what_was_found() {
    let cases = [
        ("version=1.10", Code::KdlBareVersion, "versions are strings; `1.10` would be read as 1.1"),
        ("version=2", Code::KdlBareVersion, "versions are strings; `2` would be read as 2"),
        ("count=1.5", Code::KdlNotWhole, "`count` is a whole number, found `1.5`"),
        ("count=0", Code::KdlOutOfRange, "`count` is at least 1, found `0`"),
        ("count=-3", Code::KdlOutOfRange, "`count` is at least 1, found `-3`"),
        ("count=\"4\"", Code::KdlWrongType, "`count` is a whole number, found a string `\"4\"`"),
        (
            "share=1e400",
            Code::KdlNotFinite,
            "`share` is a finite number, but `1e400` would be read as infinity",
        ),
        ("share=#nan", Code::KdlNotFinite, "`share` is a finite number, found `#nan`"),
        ("share=#-inf", Code::KdlNotFinite, "`share` is a finite number, found `#-inf`"),
        ("share=1e-400", Code::KdlUnderflow, "`share` would be read as 0, found `1e-400`"),
        ("share=1.5", Code::KdlOutOfRange, "`share` is at most 1, found `1.5`"),
        ("share=-0.5", Code::KdlOutOfRange, "`share` is at least 0, found `-0.5`"),
        ("wait=60", Code::KdlDuration, "`wait` is a duration with a unit, found the number `60`"),
        (
            "wait=\"60\"",
            Code::KdlDuration,
            "`wait` is a duration such as `\"250ms\"`, found `\"60\"`",
        ),
        (
            "wait=\"60 s\"",
            Code::KdlDuration,
            "`wait` is a duration such as `\"250ms\"`, found `\"60 s\"`",
        ),
        ("on=yes", Code::KdlWrongType, "`on` is `#true` or `#false`, found a string `yes`"),
        ("on=1", Code::KdlWrongType, "`on` is `#true` or `#false`, found a number `1`"),
        ("sha256=1234", Code::KdlDigest, "`sha256` is a digest, found a number `1234`"),
        ("sha256=12e5", Code::KdlDigest, "`sha256` is a digest, found a number `12e5`"),
        ("sha256=deadbeef", Code::KdlDigest, "a SHA-256 digest has 64 hexadecimal digits, found 8"),
        (
            "sha256=sha256:12ab",
            Code::KdlDigest,
            "a SHA-256 digest has 64 hexadecimal digits, found 4",
        ),
    ];
    for (text, code, message) in cases {
        assert_eq!(pin(text), (code, message.to_owned()), "{text}");
    }
}

#[test]
fn scalars_that_fit_are_read_exactly() {
    let digest = "ab".repeat(32);
    let text = format!(
        "seed 18446744073709551615\nworkload \"w\" {{\n load \"trace\"\n pin \"p\" sha256=sha256:{digest} wait=\"250ms\" share=1\n pin \"q\" sha256=\"{digest}\" wait=\"1h\" version=\"1.10\"\n vary \"x\" 1 2.5 \"z\"\n}}"
    );
    let document = syntax::parse(&SourceFile::new("t.kdl", &text)).expect("KDL");
    let mut bag = Bag::new();
    let root = check(&document, &ROOT, &mut bag);
    assert!(bag.is_empty(), "{bag:?}");
    assert_eq!(root.child("seed").and_then(|seed| seed.count("SEED")), Some(u64::MAX));
    let workload = root.child("workload").expect("a workload");
    let pins: Vec<_> = workload.all("pin").collect();
    assert_eq!(pins[0].digest("sha256"), pins[1].digest("sha256"));
    assert_eq!((pins[0].real("wait"), pins[1].real("wait")), (Some(250.0), Some(3_600_000.0)));
    assert_eq!((pins[0].real("share"), pins[0].count("count")), (Some(1.0), Some(3)));
    assert_eq!(pins[1].text("version"), Some("1.10"));
    assert_eq!(workload.child("vary").map(|vary| vary.rest().len()), Some(3));
}

#[test]
fn a_name_says_which_of_its_rules_is_broken() {
    for (name, rule) in [
        ("", "a name has at least one letter or digit, found an empty text"),
        (".x", "a name begins with a letter or digit, found `.`"),
        ("x y", "a name consists of letters, digits, `.`, `_` and `-`, found ` `"),
    ] {
        let found = problems(&format!("seed 1\nworkload \"{name}\" {{\n load \"trace\"\n}}"));
        assert_eq!(found[0].message(), rule);
    }
}

#[test]
fn seeds_beyond_64_bits_are_refused() {
    let found = problems("seed 18446744073709551616\nworkload \"w\" {\n load \"trace\"\n}");
    assert_eq!(
        found[0].message(),
        "`SEED` is at most 18446744073709551615, found `18446744073709551616`"
    );
}
