//! Hardware pins: `pins/hardware/NAME.kdl`.

use crate::diag::Bag;
use crate::digest::Sha256;
use crate::digest::canonical::{Value, object};
use crate::scenario::cursor::View;
use crate::scenario::shape::{Field, Shape};
use std::collections::BTreeMap;

use super::file::{ABOUT, Files, NAME, ORIGIN, PinFile, digest};
use super::{Dtype, PinKind};

static MEMORY: Shape = Shape::new("memory", "The device's memory.").once().props(&[
    Field::count("bytes", "Its size.").at_least(1),
    Field::positive("gb-per-second", "Its bandwidth in decimal gigabytes a second."),
]);

static COMPUTE: Shape =
    Shape::new("compute", "Tensor-core rate of a number format, without sparsity.")
        .keyed_once()
        .args(&[Field::word("DTYPE", Dtype::NAMES, "The number format.")])
        .props(&[Field::positive(
            "dense-tflops",
            "Decimal teraflops a second (a multiply-add is two), or teraops for integers.",
        )]);

static INTERCONNECT: Shape = Shape::new("interconnect", "The link between devices of a node.")
    .once()
    .args(&[Field::word("KIND", &["nvlink", "pcie"], "Its kind.")])
    .props(&[Field::positive(
        "gb-per-second-each-way",
        "Decimal gigabytes a second in one direction: half of what data sheets add up.",
    )]);

static HARDWARE: Shape = Shape::new("hardware", "A GPU, as its vendor describes it.")
    .keyed_once()
    .args(&NAME)
    .block(&[&ABOUT, &MEMORY, &COMPUTE, &INTERCONNECT, &ORIGIN]);

/// What the file of a hardware pin may hold.
pub(super) static FILE: Shape = Shape::root(&[&HARDWARE]);

/// A pinned GPU.
#[derive(Debug, Clone, PartialEq)]
pub struct HardwarePin {
    /// Its name.
    pub name: String,
    /// Memory in bytes.
    pub memory_bytes: u64,
    /// Memory bandwidth in decimal gigabytes a second.
    pub memory_gb_per_second: f64,
    /// Dense tensor-core rates in decimal teraflops a second, by number format.
    pub dense_tflops: BTreeMap<Dtype, f64>,
    /// The link between devices.
    pub interconnect: Interconnect,
}

/// The link between devices of a node.
#[derive(Debug, Clone, PartialEq)]
pub struct Interconnect {
    /// `nvlink` or `pcie`.
    pub kind: String,
    /// Decimal gigabytes a second in one direction.
    pub gb_per_second_each_way: f64,
}

impl HardwarePin {
    /// Reads the pin's file.
    pub(super) fn load(files: Files<'_>, name: &str) -> Result<Self, Bag> {
        PinFile { files, kind: PinKind::Hardware, name }.load(&FILE, |node, _| decode(name, node))
    }

    /// Returns the pin's digest: everything that can change a number; names, `about` and `origin` stay out.
    pub fn digest(&self) -> Sha256 {
        let compute = self
            .dense_tflops
            .iter()
            .map(|(dtype, tflops)| (dtype.name().to_owned(), Value::real(*tflops)))
            .collect();
        let link = object([
            ("gb_per_second_each_way", Value::real(self.interconnect.gb_per_second_each_way)),
            ("kind", Value::text(&self.interconnect.kind)),
        ]);
        let fields = object([
            ("dense_tflops", Value::Object(compute)),
            ("interconnect", link),
            ("memory_bytes", Value::count(self.memory_bytes)),
            ("memory_gb_per_second", Value::real(self.memory_gb_per_second)),
        ]);
        digest(PinKind::Hardware, fields)
    }
}

/// Decodes a `hardware` node.
fn decode(name: &str, node: &View<'_>) -> Option<HardwarePin> {
    let memory = node.child("memory")?;
    let link = node.child("interconnect")?;
    let rate = |compute: &View<'_>| {
        Some((Dtype::from_name(compute.text("DTYPE")?)?, compute.real("dense-tflops")?))
    };
    Some(HardwarePin {
        name: name.to_owned(),
        memory_bytes: memory.count("bytes")?,
        memory_gb_per_second: memory.real("gb-per-second")?,
        dense_tflops: node.all("compute").map(rate).collect::<Option<_>>()?,
        interconnect: Interconnect {
            kind: link.text("KIND")?.to_owned(),
            gb_per_second_each_way: link.real("gb-per-second-each-way")?,
        },
    })
}
