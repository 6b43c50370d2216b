//! Conditions that every field has.

use std::borrow::Cow;

use bson::{Bson, Document, doc};

use super::array::{needs_elem_match, on_one_value};
use super::deferred::Deferred;
use super::encode::Encode;
use super::field::Field;
use super::filter::Filter;
use super::node::Node;
use super::operators::{Operators, is_of_db_ref, stands_for_itself};
use super::value::IntoValue;
use crate::error::Result;
use crate::model::{BsonType, Path, Segment};

/// The stored path of a field in a filter; refuses `$`, `$[]` and `$[name]`, which only updates have.
pub(crate) fn filter_path(path: &Path) -> Result<Cow<'static, str>, Deferred> {
    match one_name(path) {
        Some(name) => Ok(Cow::Borrowed(name)),
        None => long_filter_path(path).map(Cow::Owned),
    }
}

/// The field's name, if it is the whole path and MongoDB can address it. Most paths are such a name, which
/// needs no further check and no formatting.
pub(crate) fn one_name(path: &Path) -> Option<&'static str> {
    path.top_level().filter(|name| addressable(name))
}

fn long_filter_path(path: &Path) -> Result<String, Deferred> {
    let in_updates_only = path.segments().any(|segment| {
        matches!(
            segment,
            Segment::Positional | Segment::All | Segment::Filtered(_)
        )
    });
    if in_updates_only {
        return Err(Deferred::usage(
            path.to_string(),
            "`$`, `$[]` and `$[name]` are for updates; a filter reaches into arrays with `any`, `at` or `elem_match`",
        ));
    }
    if through_nested_array(path) {
        return Err(nested_array(path));
    }
    stored_path(path)
}

/// The path of an array whose elements a condition tests.
pub(super) fn array_path(path: &Path) -> Result<Cow<'static, str>, Deferred> {
    if path.segments().last() == Some(Segment::Any) {
        return Err(nested_array(path));
    }
    filter_path(path)
}

/// Whether the path reaches into an array that is itself an element of an array.
fn through_nested_array(path: &Path) -> bool {
    let inside = |(before, segment): (Option<Segment>, Segment)| match segment {
        Segment::Any => is_element(before.as_ref()),
        Segment::Index(_) => before == Some(Segment::Any),
        _ => false,
    };
    let before = std::iter::once(None).chain(path.segments().map(Some));
    before.zip(path.segments()).any(inside)
}

/// Whether the last segment is an element of an array; the root counts, because `elem_match` passes an
/// element as the root. Paths of MongoDB reach into the elements of an array, but not into arrays among them.
pub(super) fn is_element(end: Option<&Segment>) -> bool {
    matches!(end, None | Some(Segment::Index(_) | Segment::Any))
}

fn nested_array(path: &Path) -> Deferred {
    Deferred::usage(
        path.to_string(),
        "a path of MongoDB does not look into arrays that are elements of an array: write `.elem_match(|inner| …)`, and `inner.has(…)` or `inner.elem_match(…)` in it",
    )
}

/// The path as MongoDB writes it; refuses names that MongoDB would read as something else.
pub(crate) fn stored_path(path: &Path) -> Result<String, Deferred> {
    if let Some(name) = one_name(path) {
        return Ok(name.to_owned());
    }
    let unaddressable = path.segments().find_map(|segment| match segment {
        Segment::Name(name) => {
            let is_addressable = addressable(&name) || is_of_db_ref(&name);
            (!is_addressable).then_some(name)
        }
        _ => None,
    });
    match unaddressable {
        None => Ok(path.to_string()),
        Some(name) => Err(Deferred::usage(
            path.to_string(),
            format!(
                "MongoDB can't address a field named {name:?}: it is empty, has a dot, or starts with `$`"
            ),
        )),
    }
}

/// Whether MongoDB reads the name as one name.
fn addressable(name: &str) -> bool {
    !name.is_empty() && !name.starts_with('$') && !name.bytes().any(|byte| matches!(byte, b'.' | 0))
}

/// `{path: {operator: value}}`; an error of the encoder names the path.
#[inline]
pub(crate) fn operator(path: &Path, operator: &str, value: Result<Bson>) -> Result<Node, Deferred> {
    let path = filter_path(path)?;
    match value {
        Ok(value) => Ok(Node::operator(path, operator, value)),
        Err(error) => Err(Deferred::encode(path, &error)),
    }
}

/// `{path: {operator: value}}` with an operator that compares.
fn comparison(path: &Path, name: &str, value: Result<Bson>) -> Result<Node, Deferred> {
    match value {
        Ok(value) if needs_elem_match(path, &value) => {
            let path = filter_path(path)?;
            if name == "$ne" {
                let equal = doc! {"$elemMatch": {"$eq": value}};
                return Ok(Node::operator(path, "$not", equal.into()));
            }
            Ok(Node::operator(
                path,
                "$elemMatch",
                doc! {name: value}.into(),
            ))
        }
        value => operator(path, name, value),
    }
}

/// `$in` with the values that it takes literally, joined by `$or` with `$eq` for each value that it would
/// read as a pattern or as operators.
fn membership(of: &Path, values: Result<Vec<Bson>>) -> Result<Node, Deferred> {
    let path = filter_path(of)?;
    let values = values.map_err(|error| Deferred::encode(&*path, &error))?;
    let is_literal = |value: &Bson| stands_for_itself(value) && !needs_elem_match(of, value);
    let (literal, special): (Vec<_>, Vec<_>) = values.into_iter().partition(is_literal);
    let mut nodes = Vec::with_capacity(special.len() + 1);
    if !literal.is_empty() || special.is_empty() {
        nodes.push(Node::operator(path, "$in", Bson::Array(literal)));
    }
    for value in special {
        nodes.push(comparison(of, "$eq", Ok(value))?);
    }
    Node::or(nodes)
}

fn not_in(node: Node) -> Result<Node, Deferred> {
    match node {
        Node::Field(path, operators) => match operators.single() {
            Some(("$in", values)) => Ok(Node::operator(path, "$nin", values.clone())),
            _ => Node::Field(path, operators).not(),
        },
        other => other.not(),
    }
}

impl<M, T, E: Encode<T>> Field<M, T, E> {
    pub(crate) fn encode(value: impl IntoValue<T>) -> Result<Bson> {
        E::encode(&value.into_value())
    }

    fn encode_all<V: IntoValue<T>>(values: impl IntoIterator<Item = V>) -> Result<Vec<Bson>> {
        values.into_iter().map(Self::encode).collect()
    }

    fn compare(&self, name: &str, value: impl IntoValue<T>) -> Filter<M> {
        Filter::from_node(comparison(self.path(), name, Self::encode(value)))
    }

    /// Matches where the field is `value`: `{field: value}`.
    ///
    /// An array field also matches if one of its elements is `value`. `eq(None)` matches both `null` and a
    /// missing field. A document is compared as a whole, with its fields in order. MongoDB never reads the
    /// value as an operator.
    ///
    /// ```
    /// use odm::prelude::*;
    /// use odm::query::fields;
    ///
    /// #[derive(Serialize, Deserialize, Embedded)]
    /// struct Book {
    ///     year: Option<i32>,
    /// }
    ///
    /// let book = fields::<Book>();
    /// assert_eq!(book.year.eq(1922).to_document()?, doc! {"year": 1922});
    /// assert_eq!(book.year.eq(None).to_document()?, doc! {"year": null});
    /// # Ok::<(), odm::Error>(())
    /// ```
    pub fn eq(&self, value: impl IntoValue<T>) -> Filter<M> {
        self.compare("$eq", value)
    }

    /// Matches where the field is not `value` or is missing: `{field: {$ne: value}}`.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::query::fields;
    /// # #[derive(Serialize, Deserialize, Embedded)]
    /// # struct Book { year: i32 }
    /// let book = fields::<Book>();
    /// assert_eq!(book.year.ne(1922).to_document()?, doc! {"year": {"$ne": 1922}});
    /// # Ok::<(), odm::Error>(())
    /// ```
    pub fn ne(&self, value: impl IntoValue<T>) -> Filter<M> {
        !self.eq(value)
    }

    /// Matches where the field is greater than `value`: `{field: {$gt: value}}`.
    ///
    /// Only values of the same kind are compared: a number is never greater than a string.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::query::fields;
    /// # #[derive(Serialize, Deserialize, Embedded)]
    /// # struct Book { year: i32 }
    /// let book = fields::<Book>();
    /// assert_eq!(book.year.gt(1922).to_document()?, doc! {"year": {"$gt": 1922}});
    /// # Ok::<(), odm::Error>(())
    /// ```
    pub fn gt(&self, value: impl IntoValue<T>) -> Filter<M> {
        self.compare("$gt", value)
    }

    /// Matches where the field is `value` or greater: `{field: {$gte: value}}`.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::query::fields;
    /// # #[derive(Serialize, Deserialize, Embedded)]
    /// # struct Book { year: i32 }
    /// let book = fields::<Book>();
    /// assert_eq!(book.year.gte(1922).to_document()?, doc! {"year": {"$gte": 1922}});
    /// # Ok::<(), odm::Error>(())
    /// ```
    pub fn gte(&self, value: impl IntoValue<T>) -> Filter<M> {
        self.compare("$gte", value)
    }

    /// Matches where the field is less than `value`: `{field: {$lt: value}}`.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::query::fields;
    /// # #[derive(Serialize, Deserialize, Embedded)]
    /// # struct Book { year: i32 }
    /// let book = fields::<Book>();
    /// assert_eq!(book.year.lt(1922).to_document()?, doc! {"year": {"$lt": 1922}});
    /// # Ok::<(), odm::Error>(())
    /// ```
    pub fn lt(&self, value: impl IntoValue<T>) -> Filter<M> {
        self.compare("$lt", value)
    }

    /// Matches where the field is `value` or less: `{field: {$lte: value}}`.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::query::fields;
    /// # #[derive(Serialize, Deserialize, Embedded)]
    /// # struct Book { year: i32 }
    /// let book = fields::<Book>();
    /// assert_eq!(book.year.lte(1922).to_document()?, doc! {"year": {"$lte": 1922}});
    /// # Ok::<(), odm::Error>(())
    /// ```
    pub fn lte(&self, value: impl IntoValue<T>) -> Filter<M> {
        self.compare("$lte", value)
    }

    /// Matches where the field is at least `from` and at most `to`: `{field: {$gte: from, $lte: to}}`.
    ///
    /// Of a list, one element has to be between both: `{list: {$elemMatch: {$gte: from, $lte: to}}}`. For dates,
    /// [`within`](Self::within) takes a day, a month or another period without its end.
    ///
    /// ```
    /// use odm::prelude::*;
    /// use odm::query::fields;
    ///
    /// #[derive(Serialize, Deserialize, Embedded)]
    /// struct Book {
    ///     year: i32,
    ///     grades: Vec<i32>,
    /// }
    ///
    /// let book = fields::<Book>();
    /// let filter = book.year.between(1922, 1939);
    /// assert_eq!(filter.to_document()?, doc! {"year": {"$gte": 1922, "$lte": 1939}});
    ///
    /// let filter = book.grades.any().between(1, 2);
    /// assert_eq!(
    ///     filter.to_document()?,
    ///     doc! {"grades": {"$elemMatch": {"$gte": 1, "$lte": 2}}},
    /// );
    /// # Ok::<(), odm::Error>(())
    /// ```
    pub fn between(&self, from: impl IntoValue<T>, to: impl IntoValue<T>) -> Filter<M> {
        let ends = [("$gte", Self::encode(from)), ("$lte", Self::encode(to))];
        Filter::from_node(on_one_value(self.path(), ends))
    }

    /// Matches where the field is one of `values`: `{field: {$in: [values]}}`.
    ///
    /// ```
    /// use odm::prelude::*;
    /// use odm::query::fields;
    ///
    /// #[derive(Serialize, Deserialize, Embedded)]
    /// struct Book {
    ///     year: i32,
    /// }
    ///
    /// let book = fields::<Book>();
    /// assert_eq!(
    ///     book.year.in_([1922, 1939]).to_document()?,
    ///     doc! {"year": {"$in": [1922, 1939]}},
    /// );
    /// # Ok::<(), odm::Error>(())
    /// ```
    pub fn in_<V: IntoValue<T>>(&self, values: impl IntoIterator<Item = V>) -> Filter<M> {
        Filter::from_node(membership(self.path(), Self::encode_all(values)))
    }

    /// Matches if the field is missing or equals no element of `values`: `{field: {$nin: [values]}}`.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::query::fields;
    /// # #[derive(Serialize, Deserialize, Embedded)]
    /// # struct Book { year: i32 }
    /// let book = fields::<Book>();
    /// assert_eq!(book.year.nin([1922, 1939]).to_document()?, doc! {"year": {"$nin": [1922, 1939]}});
    /// # Ok::<(), odm::Error>(())
    /// ```
    pub fn nin<V: IntoValue<T>>(&self, values: impl IntoIterator<Item = V>) -> Filter<M> {
        Filter::from_node(membership(self.path(), Self::encode_all(values)).and_then(not_in))
    }
}

impl<M, T, E> Field<M, T, E> {
    /// Matches where the field exists, even as `null`; with `false`, where it is missing:
    /// `{field: {$exists: …}}`.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::query::fields;
    /// # #[derive(Serialize, Deserialize, Embedded)]
    /// # struct Book { note: Option<String> }
    /// let book = fields::<Book>();
    /// assert_eq!(book.note.exists(true).to_document()?, doc! {"note": {"$exists": true}});
    /// # Ok::<(), odm::Error>(())
    /// ```
    pub fn exists(&self, exists: bool) -> Filter<M> {
        Filter::from_node(operator(self.path(), "$exists", Ok(Bson::Boolean(exists))))
    }

    /// Matches where the field is missing: `{field: {$exists: false}}`.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::query::fields;
    /// # #[derive(Serialize, Deserialize, Embedded)]
    /// # struct Book { note: Option<String> }
    /// let book = fields::<Book>();
    /// assert_eq!(book.note.is_missing().to_document()?, doc! {"note": {"$exists": false}});
    /// # Ok::<(), odm::Error>(())
    /// ```
    pub fn is_missing(&self) -> Filter<M> {
        self.exists(false)
    }

    /// Matches where the field exists and is `null`: `{field: {$type: "null"}}`.
    ///
    /// `eq(None)` also matches where the field is missing.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::query::fields;
    /// # #[derive(Serialize, Deserialize, Embedded)]
    /// # struct Book { note: Option<String> }
    /// let book = fields::<Book>();
    /// assert_eq!(book.note.is_null().to_document()?, doc! {"note": {"$type": "null"}});
    /// # Ok::<(), odm::Error>(())
    /// ```
    pub fn is_null(&self) -> Filter<M> {
        self.type_(BsonType::Null)
    }

    /// Matches where the field has a BSON type: `{field: {$type: "string"}}`.
    ///
    /// ```
    /// use odm::model::BsonType;
    /// use odm::prelude::*;
    /// use odm::query::AnyNumber;
    /// use odm::query::fields;
    ///
    /// #[derive(Serialize, Deserialize, Embedded)]
    /// struct Book {
    ///     year: i32,
    /// }
    ///
    /// let book = fields::<Book>();
    /// assert_eq!(book.year.type_(BsonType::Long).to_document()?, doc! {"year": {"$type": "long"}});
    /// assert_eq!(book.year.type_(18).to_document()?, doc! {"year": {"$type": 18}});
    /// assert_eq!(book.year.type_(AnyNumber).to_document()?, doc! {"year": {"$type": "number"}});
    /// assert_eq!(
    ///     book.year.type_([BsonType::Int, BsonType::Long]).to_document()?,
    ///     doc! {"year": {"$type": ["int", "long"]}},
    /// );
    /// # Ok::<(), odm::Error>(())
    /// ```
    pub fn type_(&self, types: impl IntoTypes) -> Filter<M> {
        Filter::from_node(operator(self.path(), "$type", Ok(types.into_types())))
    }

    /// Matches where the field meets a condition that is written by hand: `{field: condition}`.
    ///
    /// Use it for operators without a method of their own, such as a `$geoWithin` in the plane.
    ///
    /// ```
    /// use odm::prelude::*;
    /// use odm::query::fields;
    ///
    /// #[derive(Serialize, Deserialize, Embedded)]
    /// struct Book {
    ///     year: i32,
    /// }
    ///
    /// let book = fields::<Book>();
    /// assert_eq!(
    ///     book.year.raw(doc! {"$mod": [4, 0]}).to_document()?,
    ///     doc! {"year": {"$mod": [4, 0]}},
    /// );
    /// # Ok::<(), odm::Error>(())
    /// ```
    pub fn raw(&self, condition: Document) -> Filter<M> {
        Filter::from_node(raw_condition(self.path(), condition))
    }

    /// Matches where the field does not meet the condition or is missing: `{field: {$not: {…}}}`; the same as
    /// `!condition(field)`.
    ///
    /// ```
    /// use odm::prelude::*;
    /// use odm::query::fields;
    ///
    /// #[derive(Serialize, Deserialize, Embedded)]
    /// struct Book {
    ///     year: i32,
    /// }
    ///
    /// let book = fields::<Book>();
    /// assert_eq!(
    ///     book.year.not(|year| year.gt(1922)).to_document()?,
    ///     doc! {"year": {"$not": {"$gt": 1922}}},
    /// );
    /// # Ok::<(), odm::Error>(())
    /// ```
    pub fn not(&self, condition: impl FnOnce(&Self) -> Filter<M>) -> Filter<M> {
        !condition(self)
    }
}

fn raw_condition(path: &Path, condition: Document) -> Result<Node, Deferred> {
    let path = filter_path(path)?;
    if condition.is_empty() || condition.keys().any(|key| !key.starts_with('$')) {
        return Err(Deferred::usage(
            path,
            "a raw condition is a document of operators, such as `{$gt: 1}`; equality is `eq`",
        ));
    }
    Ok(Node::Field(path, Operators::from(condition)))
}

/// Every numeric type at once, in [`Field::type_`]: the alias `number`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AnyNumber;

/// An operand of [`Field::type_`]: a [`BsonType`], its number, [`AnyNumber`], or an array of types.
pub trait IntoTypes {
    /// The value of `$type`.
    fn into_types(self) -> Bson;
}

impl IntoTypes for BsonType {
    fn into_types(self) -> Bson {
        Bson::String(self.alias().to_owned())
    }
}

impl IntoTypes for i32 {
    fn into_types(self) -> Bson {
        Bson::Int32(self)
    }
}

impl IntoTypes for AnyNumber {
    fn into_types(self) -> Bson {
        Bson::String("number".to_owned())
    }
}

impl<const N: usize> IntoTypes for [BsonType; N] {
    fn into_types(self) -> Bson {
        Bson::Array(self.into_iter().map(IntoTypes::into_types).collect())
    }
}
