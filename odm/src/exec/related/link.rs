//! The two ends of a relation, as they are stored.

use bson::{Bson, Document, doc};

use crate::error::{Error, Result};
use crate::model::{InverseKind, ModelMeta, Path, Segment};

/// The two ends of a relation of rows, as they are stored.
#[derive(Debug)]
pub struct Link {
    /// The name of the relation, or of the field that refers.
    pub(crate) name: String,
    /// The model on the other side.
    pub(crate) target: &'static ModelMeta,
    /// In the rows: the reference, or the field that the other documents store.
    pub(crate) local: Path,
    /// In the documents on the other side.
    pub(crate) foreign: String,
    pub(crate) side: Side,
}

/// The side that stores the reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    /// The rows do.
    Reference {
        /// Whether the field is a list of references.
        is_list: bool,
    },
    /// The documents on the other side do.
    Inverse {
        /// Whether the field, or a parent of it, is a list.
        is_list: bool,
        /// How many of them refer to one row.
        kind: InverseKind,
    },
}

impl Link {
    /// The field of the rows, if the other documents may lack the one that it is compared with: all but an `_id`. For a row
    /// without it, `$lookup` returns those.
    pub(crate) fn optional_key(&self) -> Option<String> {
        let key = self.local.to_string();
        let is_id = match self.side {
            Side::Inverse { .. } => key == "_id",
            Side::Reference { .. } => self.foreign == "_id",
        };
        (!is_id).then_some(key)
    }

    /// How many lists the path of the rows goes through.
    fn lists(&self) -> usize {
        let inside = self.local.segments();
        let inside = inside.filter(|segment| *segment == Segment::Any).count();
        inside + usize::from(self.side == Side::Reference { is_list: true })
    }

    /// Matches rows one of whose values is in the list, or none.
    pub(super) fn any(&self, operator: &str, values: Vec<Bson>) -> Document {
        doc! {self.local.to_string(): {operator: values}}
    }

    /// Matches rows all of whose references are in the list. A row without references matches.
    pub(super) fn all(&self, mut values: Vec<Bson>) -> Document {
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
        if self.side == (Side::Reference { is_list: true }) {
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
