//! The derived types inside a type, as constants: what const evaluation needs to compute the largest size of a document.
//!
//! [`TypeMeta`] has functions in the places where a model could contain itself, and const evaluation can't call them.
//! Here the same tree is made of constants. A [`Level`] in the type ends it, because constants that contain
//! themselves do not compile.

use super::field::EmbeddedMeta;
use super::types::TypeMeta;

/// The derived types inside a field type, down to a level.
#[doc(hidden)]
pub trait Parts {
    /// The part.
    const PART: Part;
}

/// A node of the tree.
#[doc(hidden)]
#[derive(Debug, Clone, Copy)]
pub enum Part {
    /// No derived type: the [`TypeMeta`] describes the type.
    None,
    /// A value whose stored form always has this size.
    Bytes(u64),
    /// A derived struct or enum.
    Embedded {
        /// What it contains.
        content: &'static Content,
    },
    /// The values in an array, one by one.
    Tuple {
        /// The type of each value, and its part.
        values: &'static [(TypeMeta, Self)],
    },
    /// Deeper than the tree goes.
    TooDeep,
}

/// A derived struct or enum.
#[doc(hidden)]
#[derive(Debug)]
pub struct Content {
    /// Its fields or variants.
    pub meta: &'static EmbeddedMeta,
    /// The parts of its fields, by Rust name; in an enum, behind the name of the variant and a dot. Fields
    /// without derived types are left out.
    pub parts: &'static [(&'static str, Part)],
    /// How many values of the type may be inside each other (`#[odm(depth = N)]`).
    pub depth: Option<Depth>,
}

/// A declared depth.
#[doc(hidden)]
#[derive(Debug, Clone, Copy)]
pub struct Depth {
    /// Where the type is declared: distinct for each type.
    pub key: &'static str,
    /// The number of values.
    pub max: u32,
}

/// The parts of a type without derived types inside.
#[derive(Debug)]
pub struct NoParts;

impl Parts for NoParts {
    const PART: Part = Part::None;
}

/// The parts of a type whose values are all of one size.
#[doc(hidden)]
#[derive(Debug)]
pub struct Fixed<const BYTES: u64>;

impl<const BYTES: u64> Parts for Fixed<BYTES> {
    const PART: Part = Part::Bytes(BYTES);
}

/// A type that lists its parts.
#[doc(hidden)]
pub trait Composite<L: Level> {
    /// The type itself.
    const PART: Part;
}

/// The parts of a [`Composite`] type.
#[doc(hidden)]
#[derive(Debug)]
pub struct Own<T, L>(std::marker::PhantomData<(fn() -> T, L)>);

impl<T: Composite<L>, L: Level> Parts for Own<T, L> {
    const PART: Part = T::PART;
}

/// The parts of a derived struct or enum whose fields have none.
#[doc(hidden)]
#[derive(Debug)]
pub struct Flat<T>(std::marker::PhantomData<fn() -> T>);

impl<T: super::Embedded> Parts for Flat<T> {
    const PART: Part = Part::Embedded {
        content: &Content {
            meta: T::META,
            parts: &[],
            depth: None,
        },
    };
}

/// How many levels of derived types the tree still has.
pub trait Level {
    /// One level less.
    type Down: Level;
    /// `P`, unless this is the last level.
    type Stop<P: Parts>: Parts;
}

/// The last level.
#[derive(Debug)]
pub(crate) struct Bottom;

impl Level for Bottom {
    type Down = Self;
    type Stop<P: Parts> = TooDeep;
}

/// A level above another.
#[derive(Debug)]
pub(crate) struct Above<L>(std::marker::PhantomData<L>);

impl<L: Level> Level for Above<L> {
    type Down = L;
    type Stop<P: Parts> = P;
}

/// The parts below the last level.
#[derive(Debug)]
pub(crate) struct TooDeep;

impl Parts for TooDeep {
    const PART: Part = Part::TooDeep;
}

type Four<L> = Above<Above<Above<Above<L>>>>;

/// The levels of a tree: deeper than documents are nested in practice. Const evaluation calls up to nine functions for
/// each, and has a stack of 128.
pub(crate) type Levels = Four<Four<Four<Bottom>>>;
