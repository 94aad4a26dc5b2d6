//! The scenario language: KDL in, checked data out.
//!
//! Three steps, each usable by whoever reads a KDL file (pins and goldens do):
//!
//! 1. [`syntax`] turns text into an AST of our own in which every name and value knows its place;
//! 2. [`shape`] declares what a file may hold: nodes, arguments, properties, types, defaults, a sentence each;
//! 3. [`cursor`] checks an AST against a shape, collects every mistake in a [`crate::diag::Bag`], and gives typed access.
//!
//! DynoSim's YAML is a language of its own: [`dynosim`].
//!
//! The table in `decode` is all of the language; `docs/scenario.md` is generated from it.
//!
//! ```
//! use touchstone::diag::{Bag, SourceFile};
//! use touchstone::scenario::{cursor, shape::{Field, Shape}, syntax};
//!
//! static LIMB: Shape = Shape::new("limb", "A limb.").keyed().args(&[Field::name("NAME", "Its name.")])
//!     .props(&[Field::count("joints", "Joints.").at_least(1).or_count(2)]);
//! static BODY: Shape = Shape::root(&[&LIMB]);
//!
//! let source = SourceFile::new("body.kdl", "limb \"arm\" joints=3\nlimb \"leg\"\n");
//! let document = syntax::parse(&source).expect("KDL");
//! let mut bag = Bag::new();
//! let body = cursor::check(&document, &BODY, &mut bag);
//! assert!(bag.is_empty());
//! let joints: Vec<_> = body.all("limb").map(|limb| (limb.text("NAME"), limb.count("joints"))).collect();
//! assert_eq!(joints, [(Some("arm"), Some(3)), (Some("leg"), Some(2))]);
//! ```

pub(crate) mod bounds;
pub mod cursor;
pub(crate) mod decimal;
pub mod decode;
pub(crate) mod dynosim;
pub mod edit;
pub(crate) mod export;
pub mod format;
mod load;
pub mod model;
pub(crate) mod print;
pub mod reference;
mod resolve;
pub mod scalar;
pub mod shape;
pub mod syntax;
pub mod table;
mod version;
pub(crate) mod written;

pub use load::{Loaded, load, load_text, project_root};
pub(crate) use print::quoted;
pub(crate) use resolve::pins_named;
