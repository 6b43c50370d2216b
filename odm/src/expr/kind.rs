//! Kinds of the values of expressions: what an operator takes, and what it returns.
//!
//! The types are those that are stored ([`Encode::Stored`](crate::query::Encode::Stored)): for a
//! `chrono::DateTime<Utc>` that is a [`bson::DateTime`].

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};
use std::rc::Rc;
use std::sync::Arc;

use bson::oid::ObjectId;
use bson::{DateTime, Decimal128, Document, Timestamp};

use crate::types::money::Money;

/// Whether a value can be null or missing.
pub trait Nullness {
    /// The type of the value.
    type Of<T>;
    /// The nullness of a result that is null if this or another operand is.
    type Or<N: Nullness>: Nullness;
}

/// The value is always there.
#[derive(Debug, Clone, Copy)]
pub enum Never {}

/// The value can be null or missing: an `Option`.
#[derive(Debug, Clone, Copy)]
pub enum Maybe {}

impl Nullness for Never {
    type Of<T> = T;
    type Or<N: Nullness> = N;
}

impl Nullness for Maybe {
    type Of<T> = Option<T>;
    type Or<N: Nullness> = Self;
}

/// A number: it has arithmetic.
#[diagnostic::on_unimplemented(
    message = "an expression of `{Self}` is not a number",
    label = "arithmetic is for numbers",
    note = "text becomes a number by `to_int()`, `to_long()`, `to_double()` or `to_decimal()`; of a list, `sum()` and `avg()` are numbers"
)]
pub trait Numeric {
    /// The type as which MongoDB computes: `i32`, `i64`, `f64` or `Decimal128`, and for money the count of its smallest unit.
    type Kind: NumericKind;
    /// Whether it can be null.
    type Null: Nullness;
}

/// The numbers of BSON. An operator on two of them returns the wider one; MongoDB turns an `i32` that gets too large
/// into an `i64`, and an `i64` into an `f64`.
pub trait NumericKind {
    /// The type of a sum of many: an `i64` for integers.
    type Sum;
    /// The type of an average, a quotient or a root: `f64`, or `Decimal128` for decimals.
    type Real;
}

impl NumericKind for i32 {
    type Sum = i64;
    type Real = f64;
}

impl NumericKind for i64 {
    type Sum = Self;
    type Real = f64;
}

impl NumericKind for f64 {
    type Sum = Self;
    type Real = Self;
}

impl NumericKind for Decimal128 {
    type Sum = Self;
    type Real = Self;
}

/// The wider of two kinds of numbers: that of their sum. [`Money`] is added to money of the same currency.
#[diagnostic::on_unimplemented(
    message = "a number of the kind `{Self}` has no sum, difference or quotient with one of the kind `{K}`",
    label = "money is computed with money of the same currency"
)]
pub trait Wider<K> {
    /// That kind.
    type Kind: NumericKind;
}

/// The kind of the product of two kinds of numbers: the wider one. [`Money`] is multiplied by whole numbers.
#[diagnostic::on_unimplemented(
    message = "a number of the kind `{Self}` has no product with one of the kind `{K}`",
    label = "money is multiplied by whole numbers"
)]
pub trait Times<K> {
    /// That kind.
    type Kind: NumericKind;
}

macro_rules! wider {
    ($($one:ty, $other:ty => $kind:ty;)*) => {$(
        impl Wider<$other> for $one {
            type Kind = $kind;
        }

        impl Times<$other> for $one {
            type Kind = $kind;
        }
    )*};
}

wider! {
    i32, i32 => i32;
    i32, i64 => i64;
    i32, f64 => f64;
    i32, Decimal128 => Decimal128;
    i64, i32 => i64;
    i64, i64 => i64;
    i64, f64 => f64;
    i64, Decimal128 => Decimal128;
    f64, i32 => f64;
    f64, i64 => f64;
    f64, f64 => f64;
    f64, Decimal128 => Decimal128;
    Decimal128, i32 => Decimal128;
    Decimal128, i64 => Decimal128;
    Decimal128, f64 => Decimal128;
    Decimal128, Decimal128 => Decimal128;
}

// MongoDB computes with the smallest unit: an average is one of those, as a double.
impl<C> NumericKind for Money<C> {
    type Sum = Self;
    type Real = f64;
}

impl<C> Wider<Self> for Money<C> {
    type Kind = Self;
}

macro_rules! multiples {
    ($($number:ty),*) => {$(
        impl<C> Times<$number> for Money<C> {
            type Kind = Self;
        }

        impl<C> Times<Money<C>> for $number {
            type Kind = Money<C>;
        }
    )*};
}

multiples!(i32, i64);

impl<C> Numeric for Money<C> {
    type Kind = Self;
    type Null = Never;
}

macro_rules! numbers {
    ($($kind:ty: $($of:ty),*;)*) => {$($(
        impl Numeric for $of {
            type Kind = $kind;
            type Null = Never;
        }
    )*)*};
}

numbers! {
    i32: i8, i16, i32, u8, u16;
    i64: i64, isize, u32, u64, usize;
    f64: f32, f64;
    Decimal128: Decimal128;
}

#[diagnostic::do_not_recommend]
impl<T: Numeric> Numeric for Option<T> {
    type Kind = T::Kind;
    type Null = Maybe;
}

/// Text: it has `to_lower`, `concat`, ….
#[diagnostic::on_unimplemented(
    message = "an expression of `{Self}` is not text",
    label = "this operator is for text",
    note = "other values become text by `to_text()`, a date by `format(…)`"
)]
pub trait Textual {
    /// Whether it can be null.
    type Null: Nullness;
}

/// A date: it has `year`, `trunc`, ….
#[diagnostic::on_unimplemented(
    message = "an expression of `{Self}` is not a date",
    label = "this operator is for dates",
    note = "text becomes a date by `to_date()`"
)]
pub trait DateLike {
    /// Whether it can be null.
    type Null: Nullness;
}

/// A condition: it has `&`, `|` and `!`.
#[diagnostic::on_unimplemented(
    message = "an expression of `{Self}` is not a condition",
    label = "expected a `bool`",
    note = "a comparison makes one: `.gt(0)`, `.is_null()`"
)]
pub trait Condition {}

macro_rules! kinds {
    ($($kind:ident: $($of:ty),*;)*) => {$(
        $(impl $kind for $of {
            type Null = Never;
        })*
        #[diagnostic::do_not_recommend]
        impl<T: $kind> $kind for Option<T> {
            type Null = Maybe;
        }
    )*};
}

kinds! {
    Textual: String, &str, Cow<'_, str>, Box<str>, Arc<str>, Rc<str>, char;
    // An `ObjectId` and a timestamp are dates, too.
    DateLike: DateTime, ObjectId, Timestamp;
}

impl Condition for bool {}
#[diagnostic::do_not_recommend]
impl Condition for Option<bool> {}

/// A list: it has `size`, `map`, `filter`, ….
#[diagnostic::on_unimplemented(
    message = "an expression of `{Self}` is not a list",
    label = "this operator is for `Vec`, `VecDeque`, `[T; N]` and sets"
)]
pub trait Listed {
    /// The type of an element.
    type Item;
    /// Whether the list can be null.
    type Null: Nullness;
}

macro_rules! lists {
    ($([$($generics:tt)*] $list:ty;)*) => {$(
        impl<$($generics)*> Listed for $list {
            type Item = T;
            type Null = Never;
        }
    )*};
}

lists! {
    [T] Vec<T>;
    [T] VecDeque<T>;
    [T] Box<[T]>;
    [T] Arc<[T]>;
    [T] Rc<[T]>;
    [T, const N: usize] [T; N];
    [T, S] HashSet<T, S>;
    [T] BTreeSet<T>;
}

#[diagnostic::do_not_recommend]
impl<T: Listed> Listed for Option<T> {
    type Item = T::Item;
    type Null = Maybe;
}

/// A map: it has `get`.
#[diagnostic::on_unimplemented(
    message = "an expression of `{Self}` is not a map",
    label = "this operator is for `HashMap`, `BTreeMap` and `bson::Document`"
)]
pub trait Mapped {
    /// The type of a value.
    type Item;
}

impl<K, T, S> Mapped for HashMap<K, T, S> {
    type Item = T;
}

impl<K, T> Mapped for BTreeMap<K, T> {
    type Item = T;
}

impl Mapped for Document {
    type Item = bson::Bson;
}

/// A value that a field declared as `F` can hold when it is read.
#[diagnostic::on_unimplemented(
    message = "an expression of `{Self}` does not fit a field declared as `{F}`",
    label = "expected an expression of `{F}`",
    note = "a value that can be null fits an `Option`, or gets a default: `.or(0)`; numbers are converted by `to_int()`, `to_long()`, `to_double()` and `to_decimal()`"
)]
pub trait Fits<F> {}

impl<T> Fits<T> for T {}
impl<T> Fits<Option<T>> for T {}
#[diagnostic::do_not_recommend]
impl<T> Fits<Option<T>> for Option<Option<T>> {}

macro_rules! fitting_lists {
    ($([$($generics:tt)*] $list:ty;)*) => {$(
        #[diagnostic::do_not_recommend]
        impl<$($generics)*> Fits<$list> for Vec<T> {}
        #[diagnostic::do_not_recommend]
        impl<$($generics)*> Fits<Option<$list>> for Vec<T> {}
        #[diagnostic::do_not_recommend]
        impl<$($generics)*> Fits<Option<$list>> for Option<Vec<T>> {}
    )*};
}

// MongoDB computes arrays, which Rust reads as any of these.
fitting_lists! {
    [T] VecDeque<T>;
    [T] Box<[T]>;
    [T] Arc<[T]>;
    [T] Rc<[T]>;
    [T, S] HashSet<T, S>;
    [T] BTreeSet<T>;
}

/// Values of two types that can be compared with each other.
#[diagnostic::on_unimplemented(
    message = "expressions of `{Self}` and `{B}` can't be compared",
    label = "MongoDB orders values of different types by their types, so this comparison always has the same result"
)]
pub trait Comparable<B> {}

impl<T> Comparable<T> for T {}
impl<T> Comparable<Option<T>> for T {}
impl<T> Comparable<T> for Option<T> {}

macro_rules! pairs {
    ($($one:ty => $($other:ty),*;)*) => {$($(
        #[diagnostic::do_not_recommend]
        impl Fits<$other> for $one {}
        #[diagnostic::do_not_recommend]
        impl Fits<Option<$other>> for $one {}
        #[diagnostic::do_not_recommend]
        impl Fits<Option<$other>> for Option<$one> {}
    )*)*};
}

// A number is read as each type that can hold it; one that turns out too large is refused then.
pairs! {
    i8 => i16, i32, i64, isize, f64;
    i16 => i8, i32, i64, isize, f64;
    i32 => i8, i16, u8, u16, i64, isize, u32, u64, usize, f32, f64;
    u8 => i16, i32, u16, i64, u32, u64, usize, f64;
    u16 => i32, i64, u32, u64, usize, f64;
    u32 => i64, u64, usize, f64;
    i64 => isize, u32, u64, usize, f64;
    u64 => usize, i64;
    usize => u64, i64;
    f32 => f64;
    f64 => f32;
    &'static str => String, Box<str>, Arc<str>, Rc<str>;
    String => Box<str>, Arc<str>, Rc<str>;
}

macro_rules! comparable {
    ($($one:ty => $($other:ty),*;)*) => {$($(
        #[diagnostic::do_not_recommend]
        impl Comparable<$other> for $one {}
        #[diagnostic::do_not_recommend]
        impl Comparable<Option<$other>> for $one {}
        #[diagnostic::do_not_recommend]
        impl Comparable<$other> for Option<$one> {}
        #[diagnostic::do_not_recommend]
        impl Comparable<Option<$other>> for Option<$one> {}
    )*)*};
}

comparable! {
    i8 => i32, i64, f64;
    i16 => i32, i64, f64;
    u8 => i32, i64, f64;
    u16 => i32, i64, f64;
    u32 => i32, i64, f64;
    u64 => i32, i64, f64;
    usize => i32, i64, f64;
    i32 => i8, i16, u8, u16, u32, u64, usize, i64, f32, f64, Decimal128;
    i64 => i8, i16, u8, u16, u32, u64, usize, i32, f32, f64, Decimal128;
    f32 => i32, i64, f64;
    f64 => i8, i16, u8, u16, u32, u64, usize, i32, i64, f32, Decimal128;
    Decimal128 => i32, i64, f64;
    String => &'static str, Box<str>, Arc<str>, Rc<str>;
    &'static str => String, Box<str>, Arc<str>, Rc<str>;
    Box<str> => &'static str, String;
    Arc<str> => &'static str, String;
    Rc<str> => &'static str, String;
}

/// A value that a field declared as `F` can store: one of the same BSON type, or null in an `Option`.
#[diagnostic::on_unimplemented(
    message = "an expression of `{Self}` can't be stored in a field declared as `{F}`",
    label = "expected an expression of `{F}`",
    note = "a value that can be null gets a default by `.or(0)`; numbers are converted by `to_int()`, `to_long()`, `to_double()` and `to_decimal()`"
)]
pub trait Stores<F> {}

impl<T> Stores<T> for T {}
impl<T> Stores<Option<T>> for T {}

macro_rules! stores {
    ($($one:ty => $($other:ty),*;)*) => {$($(
        #[diagnostic::do_not_recommend]
        impl Stores<$other> for $one {}
        #[diagnostic::do_not_recommend]
        impl Stores<Option<$other>> for $one {}
        #[diagnostic::do_not_recommend]
        impl Stores<Option<$other>> for Option<$one> {}
    )*)*};
}

// MongoDB computes as `i32` what these types store, and as `i64` what those store.
stores! {
    i32 => i8, i16, u8, u16;
    i64 => isize, u32, u64, usize;
    f64 => f32;
    String => Box<str>, Arc<str>, Rc<str>;
}
