//! Pins that the program carries: models, hardware and timing tables, for `predict`, which needs no project.

use crate::diag::{Bag, Problem};

use super::file::Files;
use super::table::PassTable;
use super::{HardwarePin, ModelPin, PinKind, TimingPin};

/// Declares the files by their path below the root of this repository.
macro_rules! files {
    ($($path:literal)+) => {
        /// Every bundled file: path, contents. Sorted.
        static FILES: &[(&str, &[u8])] =
            &[$(($path, include_bytes!(concat!("../../", $path)).as_slice())),+];
    };
}

files! {
    "pins/hardware/a100_sxm.kdl"
    "pins/hardware/b200_sxm.kdl"
    "pins/hardware/h100_sxm.kdl"
    "pins/hardware/h200_sxm.kdl"
    "pins/hardware/l40s.kdl"
    "pins/hardware/rtx_4090.kdl"
    "pins/models/deepseek-v3.kdl"
    "pins/models/llama-3.1-70b.kdl"
    "pins/models/llama-3.1-8b.kdl"
    "pins/models/qwen3-30b-a3b.kdl"
    "pins/models/qwen3-32b.kdl"
    "pins/timing/deepseek-v3.h200_sxm.sglang.tp8.moe_ep8.json.gz"
    "pins/timing/deepseek-v3.h200_sxm.sglang.tp8.moe_ep8.kdl"
    "pins/timing/deepseek-v3.h200_sxm.sglang.tp8.moe_tp8.json.gz"
    "pins/timing/deepseek-v3.h200_sxm.sglang.tp8.moe_tp8.kdl"
    "pins/timing/llama-3.1-70b.h200_sxm.vllm.tp4.json.gz"
    "pins/timing/llama-3.1-70b.h200_sxm.vllm.tp4.kdl"
    "pins/timing/llama-3.1-70b.h200_sxm.vllm.tp8.json.gz"
    "pins/timing/llama-3.1-70b.h200_sxm.vllm.tp8.kdl"
    "pins/timing/llama-3.1-8b.h200_sxm.sglang.tp1.json.gz"
    "pins/timing/llama-3.1-8b.h200_sxm.sglang.tp1.kdl"
    "pins/timing/llama-3.1-8b.h200_sxm.sglang.tp2.json.gz"
    "pins/timing/llama-3.1-8b.h200_sxm.sglang.tp2.kdl"
    "pins/timing/llama-3.1-8b.h200_sxm.trtllm.tp1.json.gz"
    "pins/timing/llama-3.1-8b.h200_sxm.trtllm.tp1.kdl"
    "pins/timing/llama-3.1-8b.h200_sxm.trtllm.tp2.json.gz"
    "pins/timing/llama-3.1-8b.h200_sxm.trtllm.tp2.kdl"
    "pins/timing/llama-3.1-8b.h200_sxm.vllm.tp1.json.gz"
    "pins/timing/llama-3.1-8b.h200_sxm.vllm.tp1.kdl"
    "pins/timing/llama-3.1-8b.h200_sxm.vllm.tp2.json.gz"
    "pins/timing/llama-3.1-8b.h200_sxm.vllm.tp2.kdl"
    "pins/timing/qwen3-30b-a3b.h200_sxm.vllm.tp1.json.gz"
    "pins/timing/qwen3-30b-a3b.h200_sxm.vllm.tp1.kdl"
    "pins/timing/qwen3-30b-a3b.h200_sxm.vllm.tp4.moe_tp4.json.gz"
    "pins/timing/qwen3-30b-a3b.h200_sxm.vllm.tp4.moe_tp4.kdl"
    "pins/timing/qwen3-32b.h100_sxm.vllm.tp2.json.gz"
    "pins/timing/qwen3-32b.h100_sxm.vllm.tp2.kdl"
    "pins/timing/qwen3-32b.h200_sxm.vllm.tp2.json.gz"
    "pins/timing/qwen3-32b.h200_sxm.vllm.tp2.kdl"
}

/// The pins that the program carries. They are the project's own at the time it was built.
#[derive(Debug, Clone, Copy)]
pub struct Bundle;

impl Bundle {
    /// Returns the names of a kind's pins, sorted.
    pub fn names(self, kind: PinKind) -> Vec<String> {
        let files = FILES.iter().filter_map(|(path, _)| {
            let (folder, file) = path.rsplit_once('/')?;
            if folder == kind.folder() { kind.name_of(file) } else { None }
        });
        files.collect()
    }

    /// Returns a model by its pin's name, its Hugging Face name or another name that engines know it by.
    ///
    /// # Errors
    /// A bundled pin is wrong, which a test rules out.
    pub fn model(self, name: &str) -> Result<Option<ModelPin>, Bag> {
        for pin in self.models()? {
            if pin.is_called(name) {
                return Ok(Some(pin));
            }
        }
        Ok(None)
    }

    /// Returns every model.
    ///
    /// # Errors
    /// As [`Bundle::model`].
    pub fn models(self) -> Result<Vec<ModelPin>, Bag> {
        let names = self.names(PinKind::Model);
        names.iter().map(|name| ModelPin::load(Files::Bundled, name)).collect()
    }

    /// Returns a GPU.
    ///
    /// # Errors
    /// As [`Bundle::model`].
    pub fn hardware(self, name: &str) -> Result<Option<HardwarePin>, Bag> {
        if !self.names(PinKind::Hardware).iter().any(|known| known == name) {
            return Ok(None);
        }
        HardwarePin::load(Files::Bundled, name).map(Some)
    }

    /// Returns every timing pin.
    ///
    /// # Errors
    /// As [`Bundle::model`].
    pub fn timings(self) -> Result<Vec<TimingPin>, Bag> {
        let names = self.names(PinKind::Timing);
        names.iter().map(|name| TimingPin::load(Files::Bundled, name)).collect()
    }

    /// Returns the table of a pin of [`Bundle::timings`].
    ///
    /// # Errors
    /// As [`TimingPin::open`].
    pub fn table(self, pin: &TimingPin) -> Result<PassTable, Problem> {
        pin.open_from(Files::Bundled)
    }
}

/// Returns the contents of a bundled file.
pub(super) fn file(path: &str) -> Option<&'static [u8]> {
    let at = FILES.binary_search_by(|(known, _)| (*known).cmp(path)).ok()?;
    Some(FILES[at].1)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn every_model_hardware_and_timing_pin_is_bundled_and_can_be_read() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let mut there = Vec::new();
        for kind in [PinKind::Hardware, PinKind::Model, PinKind::Timing] {
            for entry in std::fs::read_dir(root.join(kind.folder())).expect("a folder") {
                let name = entry.expect("readable").file_name();
                let name = name.to_str().expect("ASCII");
                if name != "PROVENANCE.md" {
                    there.push(format!("{}/{name}", kind.folder()));
                }
            }
        }
        there.sort();
        let bundled: Vec<&str> = FILES.iter().map(|(path, _)| *path).collect();
        assert_eq!(bundled, there, "`src/pin/bundle.rs` lists them");
        assert_eq!(Bundle.models().expect("right").len(), Bundle.names(PinKind::Model).len());
        for name in Bundle.names(PinKind::Hardware) {
            assert!(Bundle.hardware(&name).expect("right").is_some());
        }
        for pin in Bundle.timings().expect("right") {
            let subject = &pin.subject;
            assert!(Bundle.table(&pin).is_ok(), "{}", pin.name);
            assert!(Bundle.model(&subject.model).expect("right").is_some(), "{}", pin.name);
            assert!(Bundle.hardware(&subject.hardware).expect("right").is_some(), "{}", pin.name);
        }
    }

    #[test]
    fn a_model_is_found_by_every_name_it_has_and_by_no_other() {
        let called = |name: &str| Bundle.model(name).expect("right").map(|pin| pin.name);
        for name in ["llama-3.1-8b", "meta-llama/Llama-3.1-8B", "meta-llama/Meta-Llama-3.1-8B"] {
            assert_eq!(called(name).as_deref(), Some("llama-3.1-8b"));
        }
        assert_eq!(called("meta-llama/Meta-Llama-3.1-8B-Instruct"), None);
    }
}
