//! The two ends of a relation, to filter and to sort by the documents on the other side.

use bson::{Bson, Document as BsonDocument, doc};

use super::backward::Inverse;
use super::reference::{Held, KeyOf, Reference, RefersBy, StoresKey};
use crate::error::{Error, Result};
use crate::model::{Document, Expected, ModelMeta, Path, Segment, name};
use crate::query::Field;

/// The two ends of a relation of documents `M`, as they are stored.
#[derive(Debug)]
pub struct Link {
    /// The model on the other side.
    pub(super) target: &'static ModelMeta,
    /// In the rows: the reference, or the field that the other documents store.
    pub(super) local: Path,
    /// In the documents on the other side.
    pub(super) foreign: String,
    pub(super) side: Side,
}

/// Which side stores the reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    /// The rows do.
    Rows {
        /// Whether the field is a list of references.
        is_list: bool,
    },
    /// The documents on the other side do.
    Others {
        /// Whether the field, or a parent of it, is a list.
        is_list: bool,
        /// How many of them refer to one row.
        expected: Expected,
    },
}

/// What names a relation of `M` in `.where_any(|m| …)`: a field that refers to other documents, or a relation that the
/// struct declares in the other direction.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a relation of `{M}`",
    label = "leads to no other document",
    note = "a reference is declared as `Ref<T>`, `Option<Ref<T>>` or `Vec<Ref<T>>`; a relation in the other direction on the struct, as `has_many(name: Model, by = field)`"
)]
pub trait IntoLink<M> {
    /// The documents on the other side.
    type Target: Document;

    /// The two ends.
    #[doc(hidden)]
    fn into_link(self) -> Result<Link>;
}

impl<M, V, E: RefersBy<V, Reference: StoresKey>> IntoLink<M> for Field<M, V, E> {
    type Target = <E::Reference as Reference>::Target;

    fn into_link(self) -> Result<Link> {
        Ok(Link {
            target: Self::Target::model(),
            local: self.path().clone(),
            foreign: <E::Reference as Reference>::By::path()?.to_string(),
            side: Side::Rows {
                is_list: <E::Reference as Reference>::Held::IS_LIST,
            },
        })
    }
}

impl<M: Document, N, T: Document, K> IntoLink<M> for Inverse<M, N, T, K> {
    type Target = T;

    fn into_link(self) -> Result<Link> {
        let meta = self.meta();
        let by = name::resolve(T::meta(), meta.by)?;
        Ok(Link {
            target: T::model(),
            local: name::resolve(M::meta(), meta.key)?.path,
            foreign: by.path.to_string(),
            side: Side::Others {
                is_list: by.through_array,
                expected: meta.expected,
            },
        })
    }
}

impl Link {
    /// The key of the rows, if it may be missing. For a row without it, `$lookup` returns the documents without a reference.
    pub(super) fn optional_key(&self) -> Option<String> {
        let key = self.local.to_string();
        let is_key = matches!(self.side, Side::Others { .. });
        (is_key && key != "_id").then_some(key)
    }

    /// How many lists the path of the rows goes through.
    fn lists(&self) -> usize {
        let inside = self.local.segments();
        let inside = inside.filter(|segment| *segment == Segment::Any).count();
        inside + usize::from(self.side == Side::Rows { is_list: true })
    }

    /// Matches rows one of whose values is in the list, or none.
    pub(super) fn any(&self, operator: &str, values: Vec<Bson>) -> BsonDocument {
        doc! {self.local.to_string(): {operator: values}}
    }

    /// Matches rows all of whose references are in the list. A row without references matches.
    pub(super) fn all(&self, mut values: Vec<Bson>) -> BsonDocument {
        values.push(Bson::Null);
        if self.lists() == 0 {
            return self.any("$in", values);
        }
        let mut names: Vec<Vec<String>> = vec![Vec::new()];
        for segment in self.local.segments() {
            match segment {
                Segment::Any => names.push(Vec::new()),
                segment => {
                    if let Some(last) = names.last_mut() {
                        last.push(Path::root().then(segment).to_string());
                    }
                }
            }
        }
        let mut other = doc! {"$nin": values};
        if self.side == (Side::Rows { is_list: true }) {
            other = doc! {"$elemMatch": other};
        }
        // Nests `$elemMatch` from the reference outwards.
        while let Some(inner) = names.pop() {
            let is_outermost = names.is_empty();
            if is_outermost {
                return doc! {inner.join("."): {"$not": other}};
            }
            if !inner.is_empty() {
                other = doc! {inner.join("."): other};
            }
            other = doc! {"$elemMatch": other};
        }
        other
    }

    /// An expression for all references of a row, as a set.
    pub(super) fn references(&self) -> Result<Bson> {
        let path = format!("${}", self.local);
        Ok(match self.lists() {
            0 => doc! {"$setDifference": [[path], [null]]}.into(),
            1 => doc! {"$setDifference": [{"$ifNull": [path, []]}, [null]]}.into(),
            _ => {
                let message = "too many documents match to compare the references of lists within lists; add a condition that fewer of them match";
                return Err(Error::usage(message).with_path(self.local.to_string()));
            }
        })
    }
}
