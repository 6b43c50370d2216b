//! Questions about types: does `T` implement a trait, and what follows if it does not.
//!
//! Stable Rust has no specialization. Where a macro names a concrete type, the rules of method lookup give the same effect,
//! a technique known as *autoref specialization*: the compiler takes the first candidate whose bounds hold, an inherent item
//! before one of a trait, and a receiver as it is before a reference to it.
//!
//! ```
//! struct Probe<T>(std::marker::PhantomData<T>);
//! trait Fallback { const IS_COPY: bool = false; }
//! impl<T> Fallback for Probe<T> {}
//! // Comes first where its bound holds.
//! impl<T: Copy> Probe<T> { const IS_COPY: bool = true; }
//!
//! assert!(Probe::<i32>::IS_COPY);
//! assert!(!Probe::<String>::IS_COPY);
//! ```
//!
//! The type has to be concrete where the lookup happens: in a generic function, the fallback is always taken. So the derives
//! write these lookups into the code that they generate, and import the fallback trait beside them.
//!
//! - [`Probe`] asks about constants, by inherent items before [`Unprobed`].
//! - [`Holding`] asks about a method, by a receiver before a reference to it: [`PartFits`], [`WholeFits`].
//! - [`undeclared`](super::undeclared) asks whether a module has a type `OdmStored`: a glob import shadows one of an outer scope.
//!
//! [`Sound`] is no such question, but a way to report a type that is not a field only once.

use super::Leaf;
use crate::model::{
    Contents, Embedded, FieldMeta, FieldType, ProjectedField, Projection, TypeMeta,
};

/// The fields of a derived type and the contents of a field type; empty for other types, for which [`Unprobed`] has the
/// constants.
#[derive(Debug)]
pub struct Probe<T>(std::marker::PhantomData<T>);

impl<T: Embedded> Probe<T> {
    /// The fields.
    pub const FIELDS: &'static [FieldMeta] = T::META.fields;
}

impl<T: Projection> Probe<T> {
    /// The fields that a projection has.
    pub const PROJECTED: &'static [ProjectedField] = T::FIELDS;
}

impl<T: Projection> Probe<Option<T>> {
    /// The fields that a projection has.
    pub const PROJECTED: &'static [ProjectedField] = T::FIELDS;
}

impl<T: Projection> Probe<Vec<T>> {
    /// The fields that a projection has.
    pub const PROJECTED: &'static [ProjectedField] = T::FIELDS;
}

impl<T: Projection> Probe<Option<Vec<T>>> {
    /// The fields that a projection has.
    pub const PROJECTED: &'static [ProjectedField] = T::FIELDS;
}

impl<T: FieldType> Probe<T> {
    /// What the type contains.
    pub const CONTENTS: Contents = T::TYPE.contents;
    /// How the type is stored.
    pub const TYPE: TypeMeta = T::TYPE;
}

/// The constants of [`Probe`] for other types.
pub trait Unprobed {
    /// No fields.
    const FIELDS: &'static [FieldMeta] = &[];
    /// No contents.
    const CONTENTS: Contents = Contents::NONE;
    /// Anything.
    const TYPE: TypeMeta = TypeMeta::ANY;
    /// No fields.
    const PROJECTED: &'static [ProjectedField] = &[];
}

impl<T> Unprobed for Probe<T> {}

/// Whether a field declared as `P` can hold what a field declared as `T` stores. `holding.leaf()` calls [`PartFits`]
/// if `P` is a projection of `T`, else [`WholeFits`], which is implemented for one reference more.
#[derive(Debug)]
pub struct Holding<P, T>(pub(super) std::marker::PhantomData<(P, T)>);

/// A field of which a projection reads a part.
#[derive(Debug)]
pub struct Partial;

impl Partial {
    /// Compiles.
    pub fn fits<P>(self) {}
}

/// The declared type of the field is a projection of the struct in the model's field.
pub trait PartFits: Sized {
    /// The model's field.
    fn leaf(self) -> Partial {
        Partial
    }
}

impl<P: PartOf<T>, T> PartFits for Holding<P, T> {}

/// The declared type of the field is no projection.
pub trait WholeFits: Sized {
    /// The declared type of the model's field.
    type Whole;

    /// The model's field.
    fn leaf(self) -> Leaf<Self::Whole> {
        Leaf(std::marker::PhantomData)
    }
}

impl<P, T> WholeFits for &Holding<P, T> {
    type Whole = T;
}

/// A projection of an embedded struct, or a list or an option of it where the model has such a list or option.
pub trait PartOf<T> {}

impl<P: Projection> PartOf<P::Of> for P {}

impl<P: Projection> PartOf<Option<P::Of>> for Option<P> {}

impl<P: Projection> PartOf<Vec<P::Of>> for Vec<P> {}

impl<P: Projection> PartOf<Option<Vec<P::Of>>> for Option<Vec<P>> {}

/// `T`, by way of a constant. If the type of a field does not implement `FieldType`, the constant can't be
/// evaluated, and rustc reports only the field and not every use of this type.
pub type Sound<const FIELDS: bool, T> = <Fields<FIELDS> as Pass>::Through<T>;

/// See [`Sound`].
#[derive(Debug)]
pub struct Fields<const FIELDS: bool>;

/// See [`Sound`].
pub trait Pass {
    /// `T` itself.
    type Through<T>;
}

impl<const FIELDS: bool> Pass for Fields<FIELDS> {
    type Through<T> = T;
}
