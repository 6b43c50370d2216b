//! What the joins of one find resolve: one reference, or a tuple of them.

use std::borrow::Cow;

use bson::raw::{RawBsonRef, RawDocument};
use bson::{Bson, Document};
use futures_core::future::BoxFuture;

use super::fetch::Ids;
use super::reference::Reference;
use crate::error::{DecodeError, Error, Result};
use crate::model::{Path, Segment};
use crate::store::options::Chosen;
use crate::store::{Session, Store};

/// The references that one find joins: one [`Reference`], or a tuple of them in the order of the
/// joins.
pub trait References: Resolve<Row = Self::Resolved> {
    /// What the joins put into a row: [`Reference::Resolved`], or a tuple of those.
    type Resolved: Send;
}

/// References to which one more can be joined.
#[diagnostic::on_unimplemented(
    message = "a find joins six references at most",
    label = "one join too many",
    note = "join the rest in a find of its own"
)]
pub trait OneMore: References {
    /// These references and one more.
    type And<R: Reference>: References;
}

mod sealed {
    use futures_core::future::BoxFuture;

    use super::{Gathered, Source};
    use crate::error::Result;

    pub trait Resolve {
        type Row: Send;

        /// Resolves the references of all rows, row by row, with one query per reference, one after the
        /// other.
        fn resolve(
            gathered: Vec<Gathered>,
            source: Source<'_>,
        ) -> BoxFuture<'_, Result<Vec<Self::Row>>>;
    }
}

pub(super) use self::sealed::Resolve;

/// The store, the options and the session of a join's queries.
#[derive(Debug)]
pub struct Source<'a> {
    pub(super) store: &'a Store,
    pub(super) options: &'a Chosen,
    pub(super) session: Option<&'a mut Session>,
}

/// A reference to join: its path in the rows, and the ids found there.
#[derive(Debug)]
pub struct Gathered {
    path: Path,
    read: for<'a> fn(Option<RawBsonRef<'a>>) -> Option<Vec<RawBsonRef<'a>>>,
    ids: Ids,
    /// For each row, the positions of its ids in `ids`.
    rows: Vec<Vec<usize>>,
}

impl Gathered {
    /// Starts without ids, for the reference at `path`.
    pub(super) fn new<R: Reference>(path: Path) -> Self {
        Self {
            path,
            read: R::ids,
            ids: Ids::default(),
            rows: Vec::new(),
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The stored names down to the reference.
    pub(super) fn names(&self) -> Result<Vec<Cow<'static, str>>> {
        self.path
            .segments()
            .map(|segment| match segment {
                Segment::Name(name) => Ok(name),
                _ => Err(Error::usage(
                    "a join reads one reference of each row: name the field itself, not elements \
                     of an array",
                )
                .with_path(self.path.to_string())),
            })
            .collect()
    }

    /// Refuses a projection that leaves the reference out: its rows would look as if they had no reference.
    pub(super) fn check_projection(&self, projection: Option<&Document>) -> Result<()> {
        let path = self.path.to_string();
        if projection.is_none_or(|projection| sends(projection, &path)) {
            return Ok(());
        }
        Err(Error::usage("a projection that is joined must include the reference").with_path(path))
    }

    /// Adds the ids of the next row.
    pub(super) fn add(&mut self, row: &RawDocument, names: &[Cow<'static, str>]) -> Result<()> {
        let stored = (self.read)(at(row, names)).ok_or_else(|| no_reference(row, names))?;
        let positions: Result<_> = stored.into_iter().map(|id| self.ids.add(id)).collect();
        self.rows.push(positions?);
        Ok(())
    }

    /// Runs one query for all rows and returns its results row by row.
    async fn column<R: Reference>(self, source: &mut Source<'_>) -> Result<Vec<R::Resolved>> {
        let session = source.session.as_deref_mut();
        let fetched = self
            .ids
            .fetch::<R::Target>(source.store, source.options, session);
        let fetched = fetched.await?;
        self.rows
            .into_iter()
            .map(|positions| {
                let targets: Result<Vec<_>> = positions
                    .into_iter()
                    .map(|position| fetched.get(position))
                    .collect();
                targets.map(R::resolved)
            })
            .collect()
    }
}

/// The stored reference, if the row has it and all its parents.
fn at<'a>(row: &'a RawDocument, names: &[Cow<'static, str>]) -> Option<RawBsonRef<'a>> {
    let (last, parents) = names.split_last()?;
    let parent = parents.iter().try_fold(row, |document, name| {
        document.get(name).ok().flatten()?.as_document()
    })?;
    parent.get(last).ok().flatten()
}

fn no_reference(row: &RawDocument, names: &[Cow<'static, str>]) -> Error {
    let id = row.get("_id").ok().flatten();
    let id = id.and_then(|id| Bson::try_from(id).ok());
    let message = "the value stored here is not a reference";
    Error::new(DecodeError::new(id, message, None)).with_path(names.join("."))
}

/// Whether a projection of a `find` keeps the field at `path`.
fn sends(projection: &Document, path: &str) -> bool {
    path == "_id" && !projection.contains_key("_id") || keeps(projection, path)
}

/// Whether a projection keeps the field at `path`, without the special case of `_id`.
fn keeps(projection: &Document, path: &str) -> bool {
    let below = |key: &str| match path.strip_prefix(key)? {
        "" => Some(""),
        rest => rest.strip_prefix('.'),
    };
    let mut named = projection.iter();
    match named.find_map(|(key, value)| Some((below(key)?, value))) {
        Some((rest, Bson::Document(inside))) if !rest.is_empty() && is_nested(inside) => {
            keeps(inside, rest)
        }
        Some((_, value)) => !excludes(value),
        None => !projection.iter().any(|(_, value)| includes(value)),
    }
}

/// Whether the document lists nested fields instead of being an expression.
fn is_nested(value: &Document) -> bool {
    value.keys().all(|name| !name.starts_with('$'))
}

fn excludes(value: &Bson) -> bool {
    match value {
        Bson::Boolean(value) => !value,
        Bson::Int32(0) | Bson::Int64(0) => true,
        Bson::Double(value) => *value == 0.0,
        _ => false,
    }
}

/// Whether the value makes the projection send only the fields it names. `$slice` and `$meta` do not.
fn includes(value: &Bson) -> bool {
    match value {
        Bson::Document(inside) if is_nested(inside) => inside.values().any(includes),
        Bson::Document(inside) => {
            let operator = inside.keys().next();
            !operator.is_some_and(|name| name == "$slice" || name == "$meta")
        }
        _ => !excludes(value),
    }
}

impl<R: Reference> References for R {
    type Resolved = R::Resolved;
}

impl<R: Reference> OneMore for R {
    type And<S: Reference> = (R, S);
}

impl<R: Reference> Resolve for R {
    type Row = R::Resolved;

    fn resolve(
        gathered: Vec<Gathered>,
        mut source: Source<'_>,
    ) -> BoxFuture<'_, Result<Vec<R::Resolved>>> {
        Box::pin(async move {
            match gathered.into_iter().next() {
                Some(one) => one.column::<R>(&mut source).await,
                None => Ok(Vec::new()),
            }
        })
    }
}

/// Implements the traits of a join for a tuple of references.
macro_rules! tuple {
    ($($reference:ident $column:ident),+) => {
        impl<$($reference: Reference),+> References for ($($reference,)+) {
            type Resolved = ($($reference::Resolved,)+);
        }

        impl<$($reference: Reference),+> Resolve for ($($reference,)+) {
            type Row = ($($reference::Resolved,)+);

            fn resolve(
                gathered: Vec<Gathered>,
                mut source: Source<'_>,
            ) -> BoxFuture<'_, Result<Vec<Self::Row>>> {
                Box::pin(async move {
                    let mut gathered = gathered.into_iter();
                    $(
                        let mut $column = match gathered.next() {
                            Some(one) => one.column::<$reference>(&mut source).await?.into_iter(),
                            None => Vec::new().into_iter(),
                        };
                    )+
                    Ok(std::iter::from_fn(|| Some(($($column.next()?,)+))).collect())
                })
            }
        }
    };
}

/// Implements `OneMore` for a tuple: appends a reference.
macro_rules! one_more {
    ($($reference:ident),+) => {
        impl<$($reference: Reference),+> OneMore for ($($reference,)+) {
            type And<More: Reference> = ($($reference,)+ More);
        }
    };
}

tuple!(A a, B b);
tuple!(A a, B b, C c);
tuple!(A a, B b, C c, D d);
tuple!(A a, B b, C c, D d, E e);
tuple!(A a, B b, C c, D d, E e, F f);
one_more!(A, B);
one_more!(A, B, C);
one_more!(A, B, C, D);
one_more!(A, B, C, D, E);

#[cfg(test)]
mod tests {
    use super::*;
    use bson::doc;

    #[test]
    fn a_projection_keeps_or_drops_a_field() {
        for (projection, kept) in [
            (doc! {}, true),
            (doc! { "a": 1, "_id": 0 }, false),
            (doc! { "s.q": 1 }, true),
            (doc! { "s": true }, true),
            (doc! { "sq": 1 }, false),
            (doc! { "_id": 1 }, false),
            (doc! { "_id": 0 }, true),
            (doc! { "s": 0 }, false),
            (doc! { "s.q": 0.0 }, false),
            (doc! { "a": false }, true),
            (doc! { "a": { "$slice": 1 } }, true),
            (doc! { "a": { "$meta": "textScore" }, "b": 1 }, false),
            (doc! { "a": "$b" }, false),
            (doc! { "s": { "q": 1 } }, true),
            (doc! { "s": { "x": 1 } }, false),
            (doc! { "s": { "q": 0 } }, false),
            (doc! { "s": { "x": 0 } }, true),
            (doc! { "a": { "x": 0 } }, true),
            (doc! { "a": { "x": 1 } }, false),
        ] {
            assert_eq!(sends(&projection, "s.q"), kept, "{projection}");
        }
        assert!(sends(&doc! { "a": 1 }, "_id") && !sends(&doc! { "_id": 0 }, "_id"));
    }
}
