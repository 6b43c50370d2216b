//! Changes of arrays.

use std::fmt;
use std::marker::PhantomData;

use bson::{Bson, Document};

use super::Update;
use super::operators::Changes;
use crate::error::Result;
use crate::model::{Path, Segment};
use crate::query::deferred::Deferred;
use crate::query::encode::encode_element;
use crate::query::kind::{Growable, Sequence};
use crate::query::node::Node;
use crate::query::typing::ElementEncoder;
use crate::query::{Encode, Field, Filter, IntoValue, Sort};

impl<M, S: Sequence, E: Encode<S>> Field<M, S, E> {
    fn encode_each<V>(values: impl IntoIterator<Item = V>) -> Result<Vec<Bson>>
    where
        V: IntoValue<S::Element>,
    {
        values
            .into_iter()
            .map(|value| encode_element::<S, E>(value.into_value()))
            .collect()
    }
}

impl<M, S, E> Field<M, S, E> {
    /// Adds `value` at the end: `{$push: {field: value}}`.
    ///
    /// If the field declares a maximum (`embed(few, max = …)`, `references(many, max = …)`, `items(max = …)`), the update
    /// gets a guard: `{"field.<max - 1>": {$exists: false}}` goes into its filter, so a full list stays as it is and the
    /// result says so ([`UpdateResult::is_full`](crate::collection::UpdateResult::is_full)). Check and change are one
    /// atomic write. A list inside elements is guarded in the elements that the update names; if one of them is full, the
    /// document stays as it is. Lists whose elements are maps or untyped have no guard, because MongoDB could read the
    /// position as the name of a field; there, and in raw updates and pipelines, the validator alone keeps the bound.
    ///
    /// ```
    /// use odm::prelude::*;
    /// use odm::query::fields;
    ///
    /// #[derive(Serialize, Deserialize, Embedded)]
    /// struct Book {
    ///     tags: Vec<String>,
    /// }
    ///
    /// let book = fields::<Book>();
    /// assert_eq!(book.tags.push("new").to_document()?, doc! {"$push": {"tags": "new"}});
    /// # Ok::<(), odm::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Sending fails if the value contains a list beyond its declared maximum, or if the path has
    /// [`positional`](Self::positional), which no guard can follow.
    pub fn push(&self, value: impl IntoValue<S::Element>) -> Update<M>
    where
        S: Growable,
        E: Encode<S>,
    {
        let value = encode_element::<S, E>(value.into_value());
        Update::operator(self.path(), "$push", value.map(added))
    }

    /// Adds all `values` at the end: `{$push: {field: {$each: [values]}}}`.
    ///
    /// To keep the array short or sorted, use [`push_with`](Self::push_with). Where the field declares a maximum, there must
    /// be room for all values, as for [`push`](Self::push); sending more values than the maximum is an error.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::query::fields;
    /// # #[derive(Serialize, Deserialize, Embedded)]
    /// # struct Book { tags: Vec<String> }
    /// let book = fields::<Book>();
    /// let update = book.tags.push_each(["new", "red"]);
    /// assert_eq!(update.to_document()?, doc! {"$push": {"tags": {"$each": ["new", "red"]}}});
    /// # Ok::<(), odm::Error>(())
    /// ```
    pub fn push_each<V>(&self, values: impl IntoIterator<Item = V>) -> Update<M>
    where
        S: Growable,
        E: Encode<S>,
        V: IntoValue<S::Element>,
    {
        let values = Self::encode_each(values);
        Update::operator(self.path(), "$push", values.map(each))
    }

    /// Adds all `values`, then sorts and cuts the array:
    /// `{$push: {field: {$each: [values], $position: …, $sort: …, $slice: …}}}`.
    ///
    /// With a `slice` within the declared maximum of the field, the update needs no room and has no guard (see
    /// [`push`](Self::push)).
    ///
    /// ```
    /// use odm::prelude::*;
    /// use odm::query::fields;
    ///
    /// #[derive(Serialize, Deserialize, Embedded)]
    /// struct Student {
    ///     grades: Vec<i32>,
    /// }
    ///
    /// let student = fields::<Student>();
    /// let update = student.grades.push_with([80, 95], |push| push.sort(|grade| grade.desc()).slice(3));
    /// assert_eq!(
    ///     update.to_document()?,
    ///     doc! {"$push": {"grades": {"$each": [80, 95], "$sort": -1, "$slice": 3}}},
    /// );
    /// # Ok::<(), odm::Error>(())
    /// ```
    pub fn push_with<V>(
        &self,
        values: impl IntoIterator<Item = V>,
        options: impl FnOnce(Push<S, E>) -> Push<S, E>,
    ) -> Update<M>
    where
        S: Growable,
        E: Encode<S>,
        V: IntoValue<S::Element>,
    {
        let values = Self::encode_each(values);
        let options = options(Push::new());
        Update::from_changes(push(self.path(), values, options.modifiers))
    }

    /// Adds `value` unless the array has it: `{$addToSet: {field: value}}`.
    ///
    /// Where the field declares a maximum, the update has a guard as [`push`](Self::push) does. A full list that has the
    /// value already still matches: nothing has to be added to it.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::query::fields;
    /// # #[derive(Serialize, Deserialize, Embedded)]
    /// # struct Book { tags: Vec<String> }
    /// let book = fields::<Book>();
    /// assert_eq!(book.tags.add_to_set("new").to_document()?, doc! {"$addToSet": {"tags": "new"}});
    /// # Ok::<(), odm::Error>(())
    /// ```
    pub fn add_to_set(&self, value: impl IntoValue<S::Element>) -> Update<M>
    where
        S: Growable,
        E: Encode<S>,
    {
        let value = encode_element::<S, E>(value.into_value());
        Update::operator(self.path(), "$addToSet", value.map(added))
    }

    /// Adds those of `values` that the array does not have: `{$addToSet: {field: {$each: [values]}}}`.
    ///
    /// Where the field declares a maximum, several `values` need room for all of them, unless the array has all: a filter
    /// can't count how many are new.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::query::fields;
    /// # #[derive(Serialize, Deserialize, Embedded)]
    /// # struct Book { tags: Vec<String> }
    /// let book = fields::<Book>();
    /// let update = book.tags.add_to_set_each(["new", "red"]);
    /// assert_eq!(update.to_document()?, doc! {"$addToSet": {"tags": {"$each": ["new", "red"]}}});
    /// # Ok::<(), odm::Error>(())
    /// ```
    pub fn add_to_set_each<V>(&self, values: impl IntoIterator<Item = V>) -> Update<M>
    where
        S: Growable,
        E: Encode<S>,
        V: IntoValue<S::Element>,
    {
        let values = Self::encode_each(values);
        Update::operator(self.path(), "$addToSet", values.map(each))
    }

    /// Removes every element that is `value`: `{$pull: {field: value}}`; a document is compared whole.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::query::fields;
    /// # #[derive(Serialize, Deserialize, Embedded)]
    /// # struct Book { tags: Vec<String> }
    /// let book = fields::<Book>();
    /// assert_eq!(book.tags.pull("new").to_document()?, doc! {"$pull": {"tags": "new"}});
    /// # Ok::<(), odm::Error>(())
    /// ```
    pub fn pull(&self, value: impl IntoValue<S::Element>) -> Update<M>
    where
        S: Growable,
        E: Encode<S>,
    {
        let value = encode_element::<S, E>(value.into_value());
        Update::operator(self.path(), "$pull", value.map(pulled))
    }

    /// Removes every element that meets the condition: `{$pull: {field: {…}}}`.
    ///
    /// ```
    /// use odm::prelude::*;
    /// use odm::query::fields;
    ///
    /// #[derive(Serialize, Deserialize, Embedded)]
    /// struct Student {
    ///     grades: Vec<i32>,
    /// }
    ///
    /// let student = fields::<Student>();
    /// assert_eq!(
    ///     student.grades.pull_where(|grade| grade.lt(60)).to_document()?,
    ///     doc! {"$pull": {"grades": {"$lt": 60}}},
    /// );
    /// # Ok::<(), odm::Error>(())
    /// ```
    pub fn pull_where<F>(&self, condition: F) -> Update<M>
    where
        S: Growable,
        E: ElementEncoder<S>,
        F: FnOnce(E::Handle<S::Element>) -> Filter<S::Element>,
    {
        let element = condition(E::handle(Path::root()));
        Update::from_changes(pull_where(self.path(), element.into_node()))
    }

    /// Removes every element that is one of `values`: `{$pullAll: {field: [values]}}`.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::query::fields;
    /// # #[derive(Serialize, Deserialize, Embedded)]
    /// # struct Book { tags: Vec<String> }
    /// let book = fields::<Book>();
    /// let update = book.tags.pull_all(["new", "red"]);
    /// assert_eq!(update.to_document()?, doc! {"$pullAll": {"tags": ["new", "red"]}});
    /// # Ok::<(), odm::Error>(())
    /// ```
    pub fn pull_all<V>(&self, values: impl IntoIterator<Item = V>) -> Update<M>
    where
        S: Growable,
        E: Encode<S>,
        V: IntoValue<S::Element>,
    {
        let values = Self::encode_each(values);
        Update::operator(self.path(), "$pullAll", values.map(Bson::Array))
    }

    /// Removes the first element: `{$pop: {field: -1}}`.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::query::fields;
    /// # #[derive(Serialize, Deserialize, Embedded)]
    /// # struct Book { tags: Vec<String> }
    /// let book = fields::<Book>();
    /// assert_eq!(book.tags.pop_first().to_document()?, doc! {"$pop": {"tags": -1}});
    /// # Ok::<(), odm::Error>(())
    /// ```
    pub fn pop_first(&self) -> Update<M>
    where
        S: Growable,
    {
        Update::operator(self.path(), "$pop", Ok(Bson::Int32(-1)))
    }

    /// Removes the last element: `{$pop: {field: 1}}`.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::query::fields;
    /// # #[derive(Serialize, Deserialize, Embedded)]
    /// # struct Book { tags: Vec<String> }
    /// let book = fields::<Book>();
    /// assert_eq!(book.tags.pop_last().to_document()?, doc! {"$pop": {"tags": 1}});
    /// # Ok::<(), odm::Error>(())
    /// ```
    pub fn pop_last(&self) -> Update<M>
    where
        S: Growable,
    {
        Update::operator(self.path(), "$pop", Ok(Bson::Int32(1)))
    }

    /// Defines which elements [`filtered`](Self::filtered) changes: those that meet the condition.
    ///
    /// ```
    /// use odm::prelude::*;
    /// use odm::query::fields;
    ///
    /// #[derive(Serialize, Deserialize, Embedded)]
    /// struct Student {
    ///     grades: Vec<i32>,
    /// }
    ///
    /// let student = fields::<Student>();
    /// let update = student.grades.filtered("low").set(60)
    ///     & student.grades.array_filter("low", |grade| grade.lt(60));
    /// assert_eq!(update.to_document()?, doc! {"$set": {"grades.$[low]": 60}});
    /// assert_eq!(update.array_filters()?, [doc! {"low": {"$lt": 60}}]);
    /// # Ok::<(), odm::Error>(())
    /// ```
    pub fn array_filter<F>(&self, name: &str, condition: F) -> Update<M>
    where
        S: Sequence,
        E: ElementEncoder<S>,
        F: FnOnce(E::Handle<S::Element>) -> Filter<S::Element>,
    {
        let element = E::handle(Path::root().then(Segment::Name(name.to_owned().into())));
        let condition = condition(element);
        Update::from_changes(Changes::array_filter(name, condition.into_node()))
    }
}

/// The modifiers of [`Field::push_with`]: where to insert the values, and how to sort and cut the array.
#[must_use = "return it from the closure"]
pub struct Push<S, E> {
    modifiers: Result<Document, Deferred>,
    of: PhantomData<fn() -> (S, E)>,
}

impl<S: Sequence, E> Push<S, E> {
    fn new() -> Self {
        Self {
            modifiers: Ok(Document::new()),
            of: PhantomData,
        }
    }

    /// Puts the values before the element at this position, counted from 0, or from the end if
    /// negative: `$position`.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::query::fields;
    /// # #[derive(Serialize, Deserialize, Embedded)]
    /// # struct Book { tags: Vec<String> }
    /// let update = fields::<Book>().tags.push_with(["new"], |push| push.position(0));
    /// let expected = doc! {"$push": {"tags": {"$each": ["new"], "$position": 0}}};
    /// assert_eq!(update.to_document()?, expected);
    /// # Ok::<(), odm::Error>(())
    /// ```
    pub fn position(self, position: i32) -> Self {
        self.with("$position", Ok(Bson::Int32(position)))
    }

    /// Sorts the whole array: `$sort`. The closure gets the handle of one element.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::query::fields;
    /// # #[derive(Serialize, Deserialize, Embedded)]
    /// # struct Book { tags: Vec<String> }
    /// let update = fields::<Book>().tags.push_with(["new"], |push| push.sort(|tag| tag.asc()));
    /// let expected = doc! {"$push": {"tags": {"$each": ["new"], "$sort": 1}}};
    /// assert_eq!(update.to_document()?, expected);
    /// # Ok::<(), odm::Error>(())
    /// ```
    pub fn sort<F>(self, order: F) -> Self
    where
        E: ElementEncoder<S>,
        F: FnOnce(E::Handle<S::Element>) -> Sort<S::Element>,
    {
        let order = order(E::handle(Path::root()));
        self.with("$sort", order.to_element_order())
    }

    /// Keeps at most this many elements from the start, or from the end if negative: `$slice`.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::query::fields;
    /// # #[derive(Serialize, Deserialize, Embedded)]
    /// # struct Book { tags: Vec<String> }
    /// let update = fields::<Book>().tags.push_with(["new", "red"], |push| push.slice(-3));
    /// let expected = doc! {"$push": {"tags": {"$each": ["new", "red"], "$slice": -3}}};
    /// assert_eq!(update.to_document()?, expected);
    /// # Ok::<(), odm::Error>(())
    /// ```
    pub fn slice(self, elements: i32) -> Self {
        self.with("$slice", Ok(Bson::Int32(elements)))
    }

    fn with(mut self, name: &str, value: Result<Bson, Deferred>) -> Self {
        self.modifiers = with_modifier(self.modifiers, name, value);
        self
    }
}

impl<S, E> fmt::Debug for Push<S, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Push").field(&self.modifiers).finish()
    }
}

fn with_modifier(
    modifiers: Result<Document, Deferred>,
    name: &str,
    value: Result<Bson, Deferred>,
) -> Result<Document, Deferred> {
    let mut modifiers = modifiers?;
    if modifiers.insert(name, value?).is_some() {
        return Err(Deferred::usage("", format!("`{name}` is given twice")));
    }
    Ok(modifiers)
}

fn push(
    path: &Path,
    values: Result<Vec<Bson>>,
    modifiers: Result<Document, Deferred>,
) -> Result<Changes, Deferred> {
    let modifiers = modifiers.map_err(|error| error.under(&path.to_string()))?;
    let value = values.map(|values| {
        let mut push = Document::new();
        push.insert("$each", values);
        push.extend(modifiers);
        Bson::Document(push)
    });
    Changes::one(path, "$push", value)
}

fn pull_where(path: &Path, element: Result<Node, Deferred>) -> Result<Changes, Deferred> {
    let condition = element
        .and_then(Node::into_element_condition)
        .map_err(|error| error.under(&path.to_string()))?;
    Changes::one(path, "$pull", Ok(Bson::Document(not_first(condition))))
}

/// Puts `$exists: true` before a leading `$not`: MongoDB reads operators that start with `$not` as a
/// condition on fields.
fn not_first(condition: Document) -> Document {
    if condition.keys().next().is_none_or(|key| key != "$not") {
        return condition;
    }
    let mut moved = Document::new();
    moved.insert("$exists", true);
    moved.extend(condition);
    moved
}

fn each(values: Vec<Bson>) -> Bson {
    let mut each = Document::new();
    each.insert("$each", values);
    Bson::Document(each)
}

/// A value to add. A document that could be read as modifiers goes into `$each`, whose values are literal.
pub(super) fn added(value: Bson) -> Bson {
    match &value {
        Bson::Document(document) if document.keys().any(|key| key.starts_with('$')) => {
            each(vec![value])
        }
        _ => value,
    }
}

/// A value to remove. Documents and regular expressions go into `$eq`, because `$pull` would read them as
/// conditions.
fn pulled(value: Bson) -> Bson {
    match value {
        value @ (Bson::Document(_) | Bson::RegularExpression(_)) => {
            let mut equal = Document::new();
            equal.insert("$eq", value);
            Bson::Document(equal)
        }
        value => value,
    }
}
