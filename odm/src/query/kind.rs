//! Kinds of field types: the trait bounds of methods that not every field has.
//!
//! `Option` and `Box` have the kinds of their inner type. So do `#[serde(transparent)]` newtypes, for which a
//! derive forwards them.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};
use std::hash::{BuildHasher, Hash};
use std::rc::Rc;
use std::sync::Arc;

use bson::{Binary, Bson, DateTime, Decimal128, Document, Timestamp};

use crate::model::{FieldType, MapKey};

/// A type stored as a string: it has `starts_with`, `contains`, `regex`, ….
#[diagnostic::on_unimplemented(
    message = "a field declared as `{Self}` is not text",
    label = "`starts_with`, `ends_with`, `contains` and `regex` are for strings",
    note = "in an array of strings, reach the elements first: `.any().starts_with(…)`"
)]
pub trait Text {}

/// A type stored as a number: it has `mul`, and as [`Additive`] `inc` and `dec`.
#[diagnostic::on_unimplemented(
    message = "a field declared as `{Self}` is not a number",
    label = "`inc`, `dec` and `mul` are for numbers",
    note = "in an array of numbers, say which elements: `.at(0)`, `.positional()`, `.all_elements()`"
)]
pub trait Number: Additive {}

/// A type whose values can be added: it has `inc` and `dec`.
#[diagnostic::on_unimplemented(
    message = "a field declared as `{Self}` is not a number",
    label = "`inc`, `dec` and `mul` are for numbers",
    note = "in an array of numbers, say which elements: `.at(0)`, `.positional()`, `.all_elements()`"
)]
pub trait Additive {}

/// A type whose values can be multiplied by an integer, and not by each other: it has `times`.
#[diagnostic::on_unimplemented(
    message = "a field declared as `{Self}` is not an amount of money",
    label = "`times` is for `Money`",
    note = "a number has `mul`"
)]
pub trait Multiple {}

/// A type stored as an integer: it has `mod_`, `bit_and`, `bit_or` and `bit_xor`.
#[diagnostic::on_unimplemented(
    message = "a field declared as `{Self}` is not an integer",
    label = "`mod_` and `bit_…` are for integers"
)]
pub trait Integer {}

/// A type whose bits can be tested: an integer, or binary data.
#[diagnostic::on_unimplemented(
    message = "a field declared as `{Self}` has no bits to test",
    label = "`bits_all_set` and its kin are for integers and binary data"
)]
pub trait Bits {}

/// A type stored as a date or a timestamp: it has `current_date`.
#[diagnostic::on_unimplemented(
    message = "a field declared as `{Self}` is neither a date nor a timestamp",
    label = "`current_date` is for `bson::DateTime` and `bson::Timestamp`"
)]
pub trait Temporal {
    /// `date` or `timestamp`, as `$currentDate` spells it.
    const KIND: &'static str;
}

/// A type whose field may be left out of a document: it has `unset`.
#[diagnostic::on_unimplemented(
    message = "a field declared as `{Self}` must be there: a document without it can't be read",
    label = "`unset` is for `Option`",
    note = "declare the field as an `Option`; or, where it has `#[serde(default)]`, write `unset_to_default()`"
)]
pub trait Optional {}

/// A type stored as an array: it has `any`, `at`, `elem_match`, `push`, `pull`, ….
#[diagnostic::on_unimplemented(
    message = "a field declared as `{Self}` is not an array",
    label = "this method is for arrays: `Vec`, `VecDeque`, `[T; N]` and sets"
)]
pub trait Sequence: Sized {
    /// The declared type of the elements.
    type Element;

    /// How many times [`of_one`](Self::of_one) repeats the element.
    #[doc(hidden)]
    const COPIES: usize = 1;

    /// An array of this one element, so that the serializer of the whole field can encode a single element;
    /// `None` if there is no such array.
    #[doc(hidden)]
    fn of_one(element: Self::Element) -> Option<Self>;
}

/// An array of any length: it has `push`, `add_to_set`, `pull`, `pop_first`, ….
#[diagnostic::on_unimplemented(
    message = "a field declared as `{Self}` is not an array of any length",
    label = "this method changes how many elements there are",
    note = "a document whose `[T; N]` has another length can't be read: change its elements by `.at(0)`, `.all_elements()`, or declare a `Vec`"
)]
pub trait Growable: Sequence {}

/// A type stored as a document with any keys: it has `key` and `remove_key`.
#[diagnostic::on_unimplemented(
    message = "a field declared as `{Self}` is not a map",
    label = "`key` is for `HashMap`, `BTreeMap` and `bson::Document`"
)]
pub trait Keyed {
    /// The declared type of the values.
    type Value: FieldType;
}

macro_rules! mark {
    ($($kind:ident: $($of:ty),*;)*) => {$(
        $(impl $kind for $of {})*
        impl<T: $kind> $kind for Option<T> {}
        impl<T: $kind> $kind for Box<T> {}
    )*};
}

mark! {
    Text: String, &str, Cow<'_, str>, Box<str>, Arc<str>, Rc<str>, char, Bson;
    Number: i8, i16, i32, i64, isize, u8, u16, u32, u64, usize, f32, f64, Decimal128, Bson;
    Additive: i8, i16, i32, i64, isize, u8, u16, u32, u64, usize, f32, f64, Decimal128, Bson;
    Integer: i8, i16, i32, i64, isize, u8, u16, u32, u64, usize, Bson;
    Bits: i8, i16, i32, i64, isize, u8, u16, u32, u64, usize, Binary, Bson;
}

#[diagnostic::do_not_recommend]
impl Text for std::path::PathBuf {}

#[diagnostic::do_not_recommend]
impl<T: Multiple> Multiple for Option<T> {}
#[diagnostic::do_not_recommend]
impl<T: Multiple> Multiple for Box<T> {}

impl<T> Optional for Option<T> {}

impl Temporal for DateTime {
    const KIND: &'static str = "date";
}

impl Temporal for Timestamp {
    const KIND: &'static str = "timestamp";
}

impl<T: Temporal> Temporal for Option<T> {
    const KIND: &'static str = T::KIND;
}

impl<T: Temporal> Temporal for Box<T> {
    const KIND: &'static str = T::KIND;
}

impl<T> Sequence for Vec<T> {
    type Element = T;

    fn of_one(element: T) -> Option<Self> {
        Some(vec![element])
    }
}

macro_rules! slices {
    ($([$($generics:tt)*] $slice:ty;)*) => {$(
        #[diagnostic::do_not_recommend]
        impl<$($generics)*> Sequence for $slice {
            type Element = T;

            fn of_one(element: T) -> Option<Self> {
                Some(vec![element].into())
            }
        }

        #[diagnostic::do_not_recommend]
        impl<$($generics)*> Growable for $slice {}
    )*};
}

slices! {
    [T] Box<[T]>;
    [T] Arc<[T]>;
    [T] Rc<[T]>;
    [T: Clone] Cow<'_, [T]>;
}

impl<T> Sequence for VecDeque<T> {
    type Element = T;

    fn of_one(element: T) -> Option<Self> {
        Some(Self::from([element]))
    }
}

impl<T: Clone, const N: usize> Sequence for [T; N] {
    type Element = T;
    const COPIES: usize = N;

    fn of_one(element: T) -> Option<Self> {
        (N > 0).then(|| std::array::from_fn(|_| element.clone()))
    }
}

impl<T: Hash + Eq, S: BuildHasher + Default> Sequence for HashSet<T, S> {
    type Element = T;

    fn of_one(element: T) -> Option<Self> {
        Some(std::iter::once(element).collect())
    }
}

impl<T: Ord> Sequence for BTreeSet<T> {
    type Element = T;

    fn of_one(element: T) -> Option<Self> {
        Some(Self::from([element]))
    }
}

impl<S: Sequence> Sequence for Option<S> {
    type Element = S::Element;
    const COPIES: usize = S::COPIES;

    fn of_one(element: S::Element) -> Option<Self> {
        S::of_one(element).map(Some)
    }
}

impl<S: Sequence> Sequence for Box<S> {
    type Element = S::Element;
    const COPIES: usize = S::COPIES;

    fn of_one(element: S::Element) -> Option<Self> {
        S::of_one(element).map(Self::new)
    }
}

impl<T> Growable for Vec<T> {}
impl<T> Growable for VecDeque<T> {}
impl<T: Hash + Eq, S: BuildHasher + Default> Growable for HashSet<T, S> {}
impl<T: Ord> Growable for BTreeSet<T> {}
impl<S: Growable> Growable for Option<S> {}
impl<S: Growable> Growable for Box<S> {}

impl<K: MapKey, V: FieldType, S> Keyed for HashMap<K, V, S> {
    type Value = V;
}

impl<K: MapKey, V: FieldType> Keyed for BTreeMap<K, V> {
    type Value = V;
}

impl Keyed for Document {
    type Value = Bson;
}

impl<T: Keyed> Keyed for Option<T> {
    type Value = T::Value;
}

impl<T: Keyed> Keyed for Box<T> {
    type Value = T::Value;
}
