//! Where documents store a reference, and the statements that change it.

use bson::{Bson, Document, doc};

use crate::error::{DeclarationError, Error, Result};
use crate::model::{InverseMeta, ModelMeta, Segment, name};
use crate::update::maintain;

/// Where the documents of `model` store a reference.
#[derive(Debug, Clone)]
pub(super) struct ReferencePlace {
    pub(super) model: &'static ModelMeta,
    names: Vec<String>,
    /// The numbers of names that lead to an array.
    arrays: Vec<usize>,
    /// Whether the field is left out where it has no value.
    is_skipped: bool,
}

impl ReferencePlace {
    /// The reference of an inverse relation.
    pub(super) fn of(relation: &InverseMeta) -> Result<Self> {
        Self::at((relation.target)(), relation.by)
    }

    /// The reference with these Rust names.
    pub(super) fn at(model: &'static ModelMeta, by: &[&str]) -> Result<Self> {
        let found = name::resolve((model.embedded)(), by)?;
        let name = |segment| match segment {
            Segment::Name(name) => Some(name.into_owned()),
            // Declarations name fields only.
            _ => None,
        };
        Ok(Self {
            model,
            names: found.path.segments().filter_map(name).collect(),
            arrays: found.arrays,
            is_skipped: found.is_skipped,
        })
    }

    /// The path as MongoDB writes it.
    pub(super) fn path(&self) -> String {
        self.names.join(".")
    }

    /// The documents that refer to one of these keys.
    pub(super) fn refers_to(&self, keys: &[Bson]) -> Document {
        doc! {self.path(): {"$in": keys}}
    }

    /// The number of times that a statement of [`set_null`](Self::set_null) or [`pull`](Self::pull) names the keys.
    pub(super) fn repeats(&self) -> usize {
        2 + self.arrays.len()
    }

    /// The statement that makes the references to these keys null.
    pub(super) fn set_null(&self, keys: &[Bson]) -> Document {
        let path = self.path_through(self.names.len(), &self.arrays);
        let change = if self.is_skipped {
            doc! {"$unset": {path: ""}}
        } else {
            doc! {"$set": {path: Bson::Null}}
        };
        self.statement(keys, change, &self.arrays)
    }

    /// The statement that removes these keys from lists, or the subdocuments that refer to them.
    pub(super) fn pull(&self, keys: &[Bson]) -> Result<Document> {
        let Some((&list, around)) = self.arrays.split_last() else {
            let message = format!(
                "`on_delete = pull` takes references out of lists, and `{}` is in none",
                self.path()
            );
            return Err(Error::new(DeclarationError::new(message)).with_model(self.model.name));
        };
        let keys_of = doc! {"$in": keys};
        let element = match self.below(list) {
            inside if inside.is_empty() => keys_of,
            inside => doc! {inside: keys_of},
        };
        let change = doc! {"$pull": {self.path_through(list, around): element}};
        Ok(self.statement(keys, change, around))
    }

    /// An update of all documents that refer to the keys. Of arrays, it changes only elements that do.
    fn statement(&self, keys: &[Bson], mut change: Document, arrays: &[usize]) -> Document {
        maintain::change(&maintain::fields(self.model), &mut change);
        let mut statement = doc! {"q": self.refers_to(keys), "u": change, "multi": true};
        let filter = |(position, &array): (usize, &usize)| {
            let inside = self.below(array);
            doc! {format!("e{position}.{inside}"): {"$in": keys}}
        };
        let filters: Vec<Document> = arrays.iter().enumerate().map(filter).collect();
        if !filters.is_empty() {
            statement.insert("arrayFilters", filters);
        }
        statement
    }

    /// The path below the first names.
    fn below(&self, names: usize) -> String {
        self.names.get(names..).unwrap_or_default().join(".")
    }

    /// The path of the first names, which leads through the elements of these arrays that an array filter selects.
    fn path_through(&self, length: usize, arrays: &[usize]) -> String {
        let mut path = String::new();
        for (position, name) in self.names.iter().take(length).enumerate() {
            if position > 0 {
                path.push('.');
            }
            path.push_str(name);
            if let Some(array) = arrays.iter().position(|one| *one == position + 1) {
                path.push_str(".$[e");
                path.push_str(&array.to_string());
                path.push(']');
            }
        }
        path
    }
}
