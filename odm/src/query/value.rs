//! Values that fit a field.

use std::borrow::Cow;

use bson::{Bson, Document};

use super::field::Field;

/// A value that can be compared with, or stored in, a field declared as `T`.
///
/// That is a `T` itself or a reference to one, `&str` for a `String`, a `T` for an `Option<T>` or a `Box<T>`,
/// an array or a slice for a `Vec`, and text, numbers and documents for a `Bson`. Nothing else compiles, so a filter never compares a field with a
/// value that it can't hold.
///
/// ```
/// use odm::prelude::*;
/// use odm::query::fields;
///
/// #[derive(Serialize, Deserialize, Embedded)]
/// struct Book {
///     title: Option<String>,
/// }
///
/// let book = fields::<Book>();
/// let title = String::from("Ulysses");
/// let _ = book.title.eq("Ulysses") | book.title.eq(&title) | book.title.eq(title) | book.title.eq(None);
/// ```
///
/// ```compile_fail,E0277
/// use odm::prelude::*;
/// use odm::query::fields;
///
/// #[derive(Serialize, Deserialize, Embedded)]
/// struct Book {
///     year: i32,
/// }
///
/// let _ = fields::<Book>().year.eq("1922");
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a value of a field declared as `{T}`",
    label = "expected `{T}`",
    note = "a filter or an update takes what the field stores: write a value of the field's own type",
    note = "an `Id` is made by `Id::parse(text)?` or `Id::from(oid)`, the id in a `Ref` is `reference.id()`, and a `DateTime` is made by `DateTime::parse_rfc3339_str(text)?` or `DateTime::from_system_time(time.into())`",
    note = "of a list, `has(value)` finds the documents with that element, and `any()` has the other conditions on elements"
)]
pub trait IntoValue<T> {
    /// The value as the field declares it.
    fn into_value(self) -> T;
}

impl<T> IntoValue<T> for T {
    fn into_value(self) -> T {
        self
    }
}

impl<T: Clone> IntoValue<T> for &T {
    fn into_value(self) -> T {
        self.clone()
    }
}

impl<T: Clone> IntoValue<T> for &&T {
    fn into_value(self) -> T {
        T::clone(self)
    }
}

impl<T> IntoValue<Option<T>> for T {
    fn into_value(self) -> Option<T> {
        Some(self)
    }
}

impl<T: Clone> IntoValue<Option<T>> for &T {
    fn into_value(self) -> Option<T> {
        Some(self.clone())
    }
}

impl<T> IntoValue<Box<T>> for T {
    fn into_value(self) -> Box<T> {
        Box::new(self)
    }
}

impl<T> IntoValue<Option<Box<T>>> for T {
    fn into_value(self) -> Option<Box<T>> {
        Some(Box::new(self))
    }
}

impl<T, V: IntoValue<T>, const N: usize> IntoValue<Vec<T>> for [V; N] {
    fn into_value(self) -> Vec<T> {
        self.into_iter().map(IntoValue::into_value).collect()
    }
}

impl<T, V: IntoValue<T>, const N: usize> IntoValue<Option<Vec<T>>> for [V; N] {
    fn into_value(self) -> Option<Vec<T>> {
        Some(self.into_value())
    }
}

impl<T: Clone> IntoValue<Vec<T>> for &[T] {
    fn into_value(self) -> Vec<T> {
        self.to_vec()
    }
}

macro_rules! slices {
    ($([$($generics:tt)*] $slice:ty;)*) => {$(
        #[diagnostic::do_not_recommend]
        impl<$($generics)*, V: IntoValue<T>, const N: usize> IntoValue<$slice> for [V; N] {
            fn into_value(self) -> $slice {
                self.into_iter().map(IntoValue::into_value).collect()
            }
        }

        #[diagnostic::do_not_recommend]
        impl<$($generics)*> IntoValue<$slice> for Vec<T> {
            fn into_value(self) -> $slice {
                self.into()
            }
        }
    )*};
}

slices! {
    [T] Box<[T]>;
    [T] std::sync::Arc<[T]>;
    [T] std::rc::Rc<[T]>;
    [T: Clone] Cow<'static, [T]>;
}

#[diagnostic::do_not_recommend]
impl<T: Clone> IntoValue<Box<[T]>> for &[T] {
    fn into_value(self) -> Box<[T]> {
        self.into()
    }
}

impl IntoValue<Cow<'static, str>> for &'static str {
    fn into_value(self) -> Cow<'static, str> {
        Cow::Borrowed(self)
    }
}

/// The items of a `&[&str]`.
#[diagnostic::do_not_recommend]
impl IntoValue<String> for &&str {
    fn into_value(self) -> String {
        (*self).to_owned()
    }
}

macro_rules! text {
    ($($owned:ty),*) => {$(
        impl IntoValue<$owned> for &str {
            fn into_value(self) -> $owned {
                self.into()
            }
        }

        impl IntoValue<Option<$owned>> for &str {
            fn into_value(self) -> Option<$owned> {
                Some(self.into())
            }
        }
    )*};
}

text!(String, Box<str>, std::sync::Arc<str>, std::rc::Rc<str>);

// Not for types that are given for another field by mistake (`String`, `ObjectId`): rustc would point to these.
macro_rules! any_value {
    ($($literal:ty),*) => {$(
        #[diagnostic::do_not_recommend]
        impl IntoValue<Bson> for $literal {
            fn into_value(self) -> Bson {
                self.into()
            }
        }
    )*};
}

any_value!(&str, i32, i64, f64, bool, Document);

/// No type implements this trait. A field would be a value if its type did, so that rustc prints this message.
// The bounds are on the type of the field: of a bound on the field itself, rustc prints the message of `IntoValue`.
#[diagnostic::on_unimplemented(
    message = "a field is given where a value belongs",
    label = "not a value of one document, but the handle of a field",
    note = "a filter compares two fields by an expression: `raw(doc! {{\"$expr\": {{\"$eq\": [\"$a\", \"$b\"]}}}})`",
    note = "an update copies a field by a pipeline: `|_| Update::pipeline([doc! {{\"$set\": {{\"a\": \"$b\"}}}}])`"
)]
pub trait FieldAsValue: Sized {
    /// Is never called.
    fn never() -> Self;
}

impl<M, T, E> IntoValue<T> for Field<M, T, E>
where
    T: FieldAsValue,
{
    fn into_value(self) -> T {
        T::never()
    }
}

impl<M, T, E> IntoValue<T> for &Field<M, T, E>
where
    T: FieldAsValue,
{
    fn into_value(self) -> T {
        T::never()
    }
}
