use crate::diag::{Bag, SourceFile, Span};
use crate::pin::{Aspect, Dtype, PinKind, Registry};

use super::{project, with_files};

#[test]
fn every_pin_of_the_project_verifies() {
    let registry = Registry::open(&project()).expect("the project");
    let mut found = Vec::new();
    for kind in PinKind::ALL {
        for name in registry.names(*kind).expect("listed") {
            let pin = registry.pin(*kind, &name).expect(&name);
            pin.verify(registry.root()).expect(&name);
            found.push(format!("{} {name}", kind.name()));
        }
    }
    let expected = [
        "trace agents",
        "trace azure-code",
        "trace azure-conv",
        "trace conversation",
        "trace mooncake-synthetic",
        "trace mooncake-tiny",
        "trace uneven-loads",
        "engine aisimulate-0.12.1",
        "engine aisimulate-0.13.0",
        "engine aisimulate-0.13.0-dev.202610280000000086",
        "engine aisimulate-0.13.0-dev.202610290000000087",
        "engine aisimulate-0.13.0-dev.202611020000000092",
        "engine native",
        "hardware a100_sxm",
        "hardware b200_sxm",
        "hardware h100_sxm",
        "hardware h200_sxm",
        "hardware l40s",
        "hardware rtx_4090",
        "model deepseek-v3",
        "model llama-3.1-70b",
        "model llama-3.1-8b",
        "model qwen3-30b-a3b",
        "model qwen3-32b",
        "timing deepseek-v3.h200_sxm.sglang.tp8.moe_ep8",
        "timing deepseek-v3.h200_sxm.sglang.tp8.moe_tp8",
        "timing llama-3.1-70b.h200_sxm.vllm.tp4",
        "timing llama-3.1-70b.h200_sxm.vllm.tp8",
        "timing llama-3.1-8b.h200_sxm.sglang.tp1",
        "timing llama-3.1-8b.h200_sxm.sglang.tp2",
        "timing llama-3.1-8b.h200_sxm.trtllm.tp1",
        "timing llama-3.1-8b.h200_sxm.trtllm.tp2",
        "timing llama-3.1-8b.h200_sxm.vllm.tp1",
        "timing llama-3.1-8b.h200_sxm.vllm.tp2",
        "timing qwen3-30b-a3b.h200_sxm.vllm.tp1",
        "timing qwen3-30b-a3b.h200_sxm.vllm.tp4.moe_tp4",
        "timing qwen3-32b.h100_sxm.vllm.tp2",
        "timing qwen3-32b.h200_sxm.vllm.tp2",
    ];
    assert_eq!(found, expected);
}

#[test]
fn a_folder_without_pins_is_no_root() {
    let folder = tempfile::tempdir().expect("a folder");
    let problem = Registry::open(folder.path()).expect_err("refused");
    assert_eq!(problem.code().as_str(), "pin::root");
}

#[test]
fn an_unknown_name_lists_the_known_ones_where_it_is_named() {
    let registry = Registry::open(&project()).expect("the project");
    let source = SourceFile::new("s.kdl", "trace \"conversatoin\"");
    let error = registry.trace("conversatoin").expect_err("unknown");
    let problem = error.at(&source, Span::new(6, 14)).into_sorted().remove(0);
    assert_eq!(problem.place().as_deref(), Some("s.kdl:1:7"));
    assert_eq!(problem.code().as_str(), "pin::unknown");
    assert_eq!(
        problem.message(),
        "no trace pin is called `conversatoin`: there is no `pins/traces/conversatoin.kdl`"
    );
    let help = problem.help_text().expect("help");
    assert!(
        help.starts_with("did you mean `conversation`? trace pins are `agents`, `azure-code`, "),
        "{help}"
    );
    let empty = tempfile::tempdir().expect("a folder");
    std::fs::create_dir(empty.path().join("pins")).expect("writable");
    let registry = Registry::open(empty.path()).expect("a root");
    let none = Bag::from(registry.timing("x").expect_err("unknown")).into_sorted().remove(0);
    assert_eq!(none.help_text(), Some("no timing pins exist; see `bench pins list`"));
    assert!(registry.trace("../traces/conversation").is_err(), "a name leads nowhere else");
}

#[test]
fn a_pin_is_named_after_its_file_and_holds_known_nodes() {
    let text = b"hardware \"other\" {\n    memory bytes=1.5 gb-per-second=1\n    compute \"bf17\" dense-tflops=1\n}\n";
    let (_folder, registry) = with_files(&[("hardware/gpu.kdl", text)]);
    let bag = Bag::from(registry.hardware("gpu").expect_err("refused"));
    let found: Vec<String> = bag
        .into_sorted()
        .iter()
        .map(|problem| {
            format!("{} {}", problem.place().unwrap_or_default(), problem.code().as_str())
        })
        .collect();
    let file = "pins/hardware/gpu.kdl";
    assert_eq!(
        found,
        [
            format!("{file}:1:1 kdl::missing_node"),
            format!("{file}:1:10 pin::name"),
            format!("{file}:2:18 kdl::not_whole"),
            format!("{file}:3:13 kdl::unknown_value"),
        ]
    );
}

#[test]
fn a_pin_that_is_no_text_is_refused() {
    let (_folder, registry) = with_files(&[("models/m.kdl", b"model \xff")]);
    let found = Bag::from(registry.model("m").expect_err("refused")).into_sorted().remove(0);
    assert_eq!(found.code().as_str(), "pin::read");
    assert_eq!(found.place().as_deref(), Some("pins/models/m.kdl:1:7"));
}

#[test]
fn hardware_rates_are_dense() {
    let registry = Registry::open(&project()).expect("the project");
    let bf16 = |name: &str| registry.hardware(name).expect(name).dense_tflops[&Dtype::Bf16];
    let rates = ["a100_sxm", "b200_sxm", "h100_sxm", "h200_sxm", "l40s", "rtx_4090"].map(bf16);
    let stated = [312.0, 2250.0, 989.4, 989.5, 362.05, 165.2];
    assert_eq!(rates.map(f64::to_bits), stated.map(f64::to_bits));
    let h200 = registry.hardware("h200_sxm").expect("pinned");
    assert_eq!(h200.memory_bytes, 141 << 30);
    assert_eq!(h200.interconnect.kind, "nvlink");
}

#[test]
fn the_native_engine_is_pinned_by_its_behaviour_version() {
    let registry = Registry::open(&project()).expect("the project");
    let native = registry.engine("native").expect("pinned");
    assert_eq!((native.version.as_str(), native.checksum), ("1", None));
    assert_eq!(native.reference.as_deref(), Some("0.13.0-dev.87"));
}

#[test]
fn an_engine_is_pinned_at_several_versions_and_a_nightly_is_found_by_its_number() {
    let registry = Registry::open(&project()).expect("the project");
    let found = |version: &str| registry.engine_at("aisimulate", version).map(|pin| pin.version);
    let nightly = "0.13.0-dev.202610290000000087";
    assert_eq!(found(nightly).expect("pinned"), nightly);
    assert_eq!(found("0.13.0-dev.87").expect("pinned"), nightly);
    assert_eq!(found("0.13.0").expect("pinned"), "0.13.0");
    let versions = registry.engine_versions("aisimulate").expect("right");
    let versions: Vec<&str> = versions.iter().map(|pin| pin.version.as_str()).collect();
    assert_eq!((versions[0], versions[versions.len() - 1]), ("0.12.1", "0.13.0"));
    let problem = |name: &str, version: &str| {
        let error = registry.engine_at(name, version).expect_err("not pinned");
        Bag::from(error).into_sorted().remove(0)
    };
    let other = problem("aisimulate", "0.13.0-dev.88");
    assert_eq!(other.message(), "engine `aisimulate` is not pinned at version `0.13.0-dev.88`");
    assert!(other.help_text().expect("help").contains("it is pinned at `0.12.1`, "), "{other:?}");
    let unknown = problem("aisimulat", "0.13.0");
    assert_eq!(unknown.code().as_str(), "pin::unknown");
}

#[test]
fn an_engine_pin_lies_in_a_folder_called_after_it_and_its_version() {
    let pin = |version: &str| format!("engine \"e\" {{\n    version \"{version}\"\n}}\n");
    let (_folder, registry) = with_files(&[
        ("engines/e-1.2.3/pin.kdl", pin("1.2.3").as_bytes()),
        ("engines/e-1.2.4/pin.kdl", pin("1.2.5").as_bytes()),
        ("engines/other/pin.kdl", pin("1.2.6").as_bytes()),
    ]);
    assert_eq!(registry.engine("e-1.2.3").expect("right").name, "e");
    let code = |folder: &str| {
        let bag = Bag::from(registry.engine(folder).expect_err("refused"));
        bag.into_sorted().iter().map(|problem| problem.code().as_str()).collect::<Vec<_>>()
    };
    assert_eq!(code("e-1.2.4"), ["pin::name"]);
    assert_eq!(code("other"), ["pin::name", "pin::name"]);
}

#[test]
fn an_engine_pin_lists_what_its_runner_can_run() {
    let registry = Registry::open(&project()).expect("the project");
    let pin = registry.engine_at("aisimulate", "0.13.0-dev.87").expect("pinned");
    assert!(pin.capabilities.can(Aspect::Backend, "sglang"));
    assert!(!pin.capabilities.can(Aspect::Router, "kv-router"));
    let native = registry.engine("native").expect("pinned");
    assert!(Aspect::ALL.iter().all(|aspect| native.capabilities.words(*aspect).is_empty()));
}
