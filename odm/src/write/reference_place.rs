//! Where documents store a reference, and the statements that change it.

use bson::{Bson, DateTime, Document, RawDocumentBuf, doc};

use crate::error::{DeclarationError, Error, Result};
use crate::exec::Channel;
use crate::model::{InverseMeta, ModelMeta, Segment, name};
use crate::store::Operation;
use crate::store::options::{Chosen, Collation, Options};
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

/// The copies that a statement writes.
#[derive(Debug, Clone, Copy)]
pub(super) enum Outdated<'a> {
    /// Those with another value in one of these fields.
    Differing(&'a [(&'a str, Option<&'a Bson>)]),
    /// Those without a time in this field, or with one before this.
    Before { at: &'a str, time: DateTime },
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

    /// The statement that makes the references to these keys null, and gives the copies beside them the values that they have
    /// then.
    pub(super) fn set_null(&self, keys: &[Bson], copies: &[(&str, Option<Bson>)]) -> Document {
        let reference = self.names.last().map_or("", String::as_str);
        let none = (!self.is_skipped).then_some(Bson::Null);
        let mut values = vec![(reference, none.as_ref())];
        values.extend(copies.iter().map(|(name, value)| (*name, value.as_ref())));
        self.statement(keys, self.change(&values), &self.arrays)
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

    /// The statement that gives the copies beside references to these keys these values; those without a value are removed.
    /// It writes documents that are outdated, and that match the condition, if there is one.
    pub(super) fn assign(
        &self,
        keys: &[Bson],
        values: &[(&str, Option<&Bson>)],
        outdated: Outdated<'_>,
        condition: Option<Document>,
    ) -> Document {
        let mut change = self.change(values);
        maintain::change(&maintain::fields(self.model), &mut change);
        let keys = doc! {"$in": keys};
        let is_outdated = self.is_outdated(&keys, outdated, None, "");
        let filter = match condition {
            Some(condition) => doc! {"$and": [condition, is_outdated]},
            None => is_outdated,
        };
        let mut statement = doc! {"q": filter, "u": change, "multi": true};
        let elements = 0..self.arrays.len();
        let elements = elements
            .map(|array| self.is_outdated(&keys, outdated, Some(array), &format!("e{array}.")));
        let filters: Vec<Document> = elements.collect();
        if !filters.is_empty() {
            statement.insert("arrayFilters", filters);
        }
        statement
    }

    /// The documents with a reference beside which copies are outdated.
    pub(super) fn all_outdated(&self, outdated: Outdated<'_>) -> Document {
        self.is_outdated(&doc! {"$ne": null}, outdated, None, "")
    }

    /// The condition, for a document or an element of this array, that it has such a reference, beside which copies are
    /// outdated.
    fn is_outdated(
        &self,
        reference: &Document,
        outdated: Outdated<'_>,
        array: Option<usize>,
        prefix: &str,
    ) -> Document {
        let start = array.and_then(|array| self.arrays.get(array));
        let start = start.copied().unwrap_or(0);
        let inner = array.map_or(0, |array| array + 1);
        if let Some(&next) = self.arrays.get(inner) {
            let path = self.names.get(start..next).unwrap_or_default().join(".");
            let element = self.is_outdated(reference, outdated, Some(inner), "");
            return doc! {format!("{prefix}{path}"): {"$elemMatch": element}};
        }
        let mut filter = doc! {format!("{prefix}{}", self.below(start)): reference};
        let beside = |name: &str| format!("{prefix}{}", self.beside(start, name));
        filter.extend(match outdated {
            Outdated::Differing(values) => any_differs(values, beside),
            Outdated::Before { at, time } => doc! {beside(at): {"$not": {"$gte": time}}},
        });
        filter
    }

    /// The operators that give fields beside the reference these values; those without a value are removed.
    fn change(&self, values: &[(&str, Option<&Bson>)]) -> Document {
        let parent = self.path_through(self.names.len().saturating_sub(1), &self.arrays);
        let (mut set, mut unset) = (Document::new(), Document::new());
        for (name, value) in values {
            let path = if parent.is_empty() {
                (*name).to_owned()
            } else {
                format!("{parent}.{name}")
            };
            match value {
                Some(value) => set.insert(path, (*value).clone()),
                None => unset.insert(path, ""),
            };
        }
        let operators = [("$set", set), ("$unset", unset)].into_iter();
        let operators = operators.filter(|(_, operands)| !operands.is_empty());
        operators
            .map(|(operator, operands)| (operator.to_owned(), operands.into()))
            .collect()
    }

    /// The stored names down to the reference.
    pub(super) fn names(&self) -> &[String] {
        &self.names
    }

    /// The path, below the first names, of a field beside the reference.
    fn beside(&self, names: usize, field: &str) -> String {
        let last = self.names.len().saturating_sub(1);
        let mut path = self.names.get(names..last).unwrap_or_default().to_vec();
        path.push(field.to_owned());
        path.join(".")
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

/// The condition that one of these fields does not have its value.
pub(super) fn any_differs(
    values: &[(&str, Option<&Bson>)],
    path: impl Fn(&str) -> String,
) -> Document {
    let mut conditions = Vec::new();
    for (name, value) in values {
        let path = path(name);
        let Some(value) = *value else {
            conditions.push(doc! {path: {"$exists": true}});
            continue;
        };
        // Unlike `$ne`, this takes a regular expression as a value.
        conditions.push(doc! {&path: {"$not": {"$eq": value}}});
        // A list with the value as an element is equal to it for MongoDB.
        conditions.push(doc! {path: {"$elemMatch": {"$eq": value}}});
    }
    match conditions.len() {
        0 | 1 => conditions.pop().unwrap_or_default(),
        _ => doc! {"$or": conditions},
    }
}

/// A statement that compares strings exactly, as joins do, also where the collection has a collation.
pub(crate) fn exactly(model: &ModelMeta, mut statement: Document) -> Document {
    if model.collation.is_some() {
        statement.insert("collation", doc! {"locale": "simple"});
    }
    statement
}

/// Options of a read that compares strings exactly, and decides what is written.
pub(super) fn exact_read(
    channel: &Channel<'_>,
    model: &ModelMeta,
    projection: Option<Document>,
) -> Chosen {
    Chosen::from(Options {
        projection,
        collation: model.collation.map(|_| Collation::new("simple")),
        ..channel.current()
    })
}

/// Reads the first document with one of these `_id`s.
pub(super) async fn read_by_id(
    channel: &mut Channel<'_>,
    model: &'static ModelMeta,
    ids: &[Bson],
    projection: Option<Document>,
) -> Result<Option<RawDocumentBuf>> {
    let find = Operation::Find {
        filter: doc! {"_id": {"$in": ids}}.into(),
        one: true,
    };
    let options = exact_read(channel, model, projection);
    let found = channel.of(model).documents(find, options).await?;
    Ok(found.into_iter().next())
}
