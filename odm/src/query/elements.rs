//! The names of the fields of a list's elements, which only make messages.
//!
//! `b.loans.by.eq("ada")` does not say which loans it means. A list therefore derefs to the names of the fields of its
//! elements, and each method of such a name has a bound that nothing meets, whose message says what to write. Nothing of
//! this runs: the `deref` itself does not compile.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};
use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;
use std::rc::Rc;
use std::sync::Arc;

use super::field::Field;
use super::filter::Filter;
use super::sort::Sort;

/// A derived struct whose fields have names.
pub trait NamesFields {
    /// A struct with a field [`Unreached<P>`] for each field of this one.
    type Names<P>;
}

/// A field of the elements in `P`, without saying of which element.
pub struct Unreached<P>(PhantomData<fn() -> P>);

impl<P> fmt::Debug for Unreached<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Unreached")
    }
}

/// The elements of the list `L`.
#[derive(Debug)]
pub struct InList<L>(PhantomData<fn() -> L>);

/// The entries of the map `L`.
#[derive(Debug)]
pub struct InMap<L>(PhantomData<fn() -> L>);

/// Implemented by no type: its message is the point.
#[diagnostic::on_unimplemented(
    message = "this field is in the elements of a `{Self}`: say which elements",
    label = "of which elements?",
    note = "in a filter, write `.any().field` between the list and the field, or `.elem_match(|e| …)` for several conditions on the same element",
    note = "in an update, write `.update_where(|e| condition, |e| change)`, or `.all_elements()` or `.at(0)` between the list and the field"
)]
pub trait NamesElement {}

/// Implemented by no type: its message is the point.
#[diagnostic::on_unimplemented(
    message = "this field is in the entries of a `{Self}`: say which entry",
    label = "of which entry?",
    note = "write `.key(\"…\")` between the map and the field"
)]
pub trait NamesEntry {}

/// Implements methods for the fields of elements and of entries, each of which only fails to compile.
// The caller writes the places and bounds: rustc shows the code where they are written.
macro_rules! unreached {
    ($([$place:ident<$of:ident>: $bound:ident])*: $methods:tt) => {
        $($crate::query::elements::unreached! { @ $place $of $bound $methods })*
    };
    (@ $place:ident $of:ident $bound:ident {$($returned:ty: $($method:ident($($argument:ident),*))*;)*}) => {
        impl<$of> Unreached<$place<$of>> {$($(
            #[doc(hidden)]
            pub fn $method<M>(&self, $($argument: impl Sized),*) -> $returned
            where
                $of: $bound,
            {
                $(drop($argument);)*
                $crate::query::elements::never_compiled::<$of, _>()
            }
        )*)*}
    };
}

pub(crate) use unreached;

/// Code that calls this compiles for no type `T`. The constant depends on `T`, because optimized builds evaluate other
/// constants where they are declared.
pub(crate) fn never_compiled<T, R>() -> R {
    const {
        assert!(
            size_of::<PhantomData<T>>() != 0,
            "the fields of elements need `any()`, `elem_match(…)`, `at(0)` or `key(…)`"
        );
    }
    unreachable!("the constant above does not compile")
}

unreached! {
    [InList<L>: NamesElement]
    [InMap<L>: NamesEntry]:
    {
        Filter<M>:
            eq(value) ne(value) gt(value) gte(value) lt(value) lte(value) in_(values) nin(values)
            exists(exists) is_missing() is_null() type_(types) raw(condition) not(condition)
            starts_with(prefix) ends_with(suffix) contains(part) regex(regex) regex_with(regex, options)
            mod_(divisor, remainder) has(value) all(values) size(elements) elem_match(condition);
        Sort<M>:
            asc() desc();
        M:
            any() at(position) positional() all_elements() filtered(name) key(key) fields();
    }
}

/// A type whose fields are those of its elements or entries.
#[doc(hidden)]
pub trait Elements {
    /// The names of these fields.
    type Names;
}

macro_rules! elements {
    ($($place:ident: $([$($generics:tt)*] $type:ty),*;)*) => {$($(
        #[diagnostic::do_not_recommend]
        impl<$($generics)*> Elements for $type {
            type Names = T::Names<$place<$type>>;
        }
    )*)*};
}

elements! {
    InList:
        [T: NamesFields] Vec<T>,
        [T: NamesFields] Box<[T]>,
        [T: NamesFields] Arc<[T]>,
        [T: NamesFields] Rc<[T]>,
        ['a, T: NamesFields + Clone] Cow<'a, [T]>,
        [T: NamesFields] VecDeque<T>,
        [T: NamesFields] BTreeSet<T>,
        [T: NamesFields, S] HashSet<T, S>,
        [T: NamesFields, const N: usize] [T; N];
    InMap:
        [K, T: NamesFields] BTreeMap<K, T>,
        [K, T: NamesFields, S] HashMap<K, T, S>;
}

impl<S: Elements> Elements for Option<S> {
    type Names = S::Names;
}

impl<S: Elements> Elements for Box<S> {
    type Names = S::Names;
}

impl<T: NamesFields> NamesFields for Box<T> {
    type Names<P> = T::Names<P>;
}

impl<M, S: Elements, E> Deref for Field<M, S, E> {
    type Target = S::Names;

    fn deref(&self) -> &S::Names {
        never_compiled::<S, _>()
    }
}
