//! Conditions on arrays and their elements.

use std::borrow::Cow;

use bson::{Bson, Document, doc};

use super::compare::{array_path, filter_path, is_element, stored_path};
use super::deferred::Deferred;
use super::encode::{BySerde, ElementOf, Encode, With, encode_element};
use super::field::Field;
use super::filter::Filter;
use super::joined;
use super::kind::Sequence;
use super::node::Node;
use super::operators::{Operators, stands_for_itself};
use super::value::IntoValue;
use crate::error::Result;
use crate::model::{FieldType, Path, Segment};

/// How to reach the elements of an array `S` that this encoder encodes.
pub trait ElementEncoder<S: Sequence> {
    /// The typed handle of an element, in a model `M`.
    type Handle<M>;

    /// The handle for the element at `path`.
    #[doc(hidden)]
    fn handle<M>(path: Path) -> Self::Handle<M>;
}

impl<S: Sequence<Element: FieldType>> ElementEncoder<S> for BySerde {
    type Handle<M> = <S::Element as FieldType>::Handle<M, S::Element>;

    fn handle<M>(path: Path) -> Self::Handle<M> {
        S::Element::handle(path)
    }
}

impl<S: Sequence, W: Encode<S>> ElementEncoder<S> for With<W> {
    type Handle<M> = Field<M, S::Element, With<ElementOf<W, S>>>;

    fn handle<M>(path: Path) -> Self::Handle<M> {
        Field::at_path(path)
    }
}

impl<M, S, E> Field<M, S, E> {
    /// The fields of any element: a condition on them matches if some element meets it.
    ///
    /// Two conditions may be met by two different elements; use [`elem_match`](Self::elem_match) to require
    /// one element that meets both. An update must say which elements it changes: [`at`](Self::at),
    /// [`positional`](Self::positional), [`all_elements`](Self::all_elements), [`filtered`](Self::filtered).
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
    /// assert_eq!(
    ///     book.tags.any().starts_with("sci").to_document()?,
    ///     doc! {"tags": {"$regex": "^sci"}},
    /// );
    /// # Ok::<(), odm::Error>(())
    /// ```
    pub fn any(&self) -> E::Handle<M>
    where
        S: Sequence,
        E: ElementEncoder<S>,
    {
        E::handle(self.path().then(Segment::Any))
    }

    /// The element at a position, counted from 0: `field.0`.
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
    /// assert_eq!(book.tags.at(0).eq("new").to_document()?, doc! {"tags.0": "new"});
    /// assert_eq!(book.tags.at(0).set("old").to_document()?, doc! {"$set": {"tags.0": "old"}});
    /// # Ok::<(), odm::Error>(())
    /// ```
    pub fn at(&self, position: u32) -> E::Handle<M>
    where
        S: Sequence,
        E: ElementEncoder<S>,
    {
        E::handle(self.path().then(Segment::Index(position)))
    }

    /// In an update, the first element that the filter matched: `field.$`.
    ///
    /// [`update_where`](Self::update_where) changes elements by a condition of its own.
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
    /// assert_eq!(student.grades.has(80).to_document()?, doc! {"grades": 80});
    /// assert_eq!(student.grades.positional().set(82).to_document()?, doc! {"$set": {"grades.$": 82}});
    /// # Ok::<(), odm::Error>(())
    /// ```
    pub fn positional(&self) -> E::Handle<M>
    where
        S: Sequence,
        E: ElementEncoder<S>,
    {
        E::handle(self.path().then(Segment::Positional))
    }

    /// In an update, every element: `field.$[]`.
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
    ///     student.grades.all_elements().inc(10).to_document()?,
    ///     doc! {"$inc": {"grades.$[]": 10}},
    /// );
    /// # Ok::<(), odm::Error>(())
    /// ```
    pub fn all_elements(&self) -> E::Handle<M>
    where
        S: Sequence,
        E: ElementEncoder<S>,
    {
        E::handle(self.path().then(Segment::All))
    }

    /// In an update, the elements that the array filter of this name chooses: `field.$[name]`.
    ///
    /// Join the update with [`array_filter`](Self::array_filter), which has an example of both;
    /// [`update_where`](Self::update_where) does it and makes the name.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::query::fields;
    /// # #[derive(Serialize, Deserialize, Embedded)]
    /// # struct Book { scores: Vec<i32> }
    /// let book = fields::<Book>();
    /// let update = book.scores.filtered("low").inc(5);
    /// assert_eq!(update.to_document()?, doc! {"$inc": {"scores.$[low]": 5}});
    /// # Ok::<(), odm::Error>(())
    /// ```
    pub fn filtered(&self, name: &str) -> E::Handle<M>
    where
        S: Sequence,
        E: ElementEncoder<S>,
    {
        E::handle(self.path().then(Segment::Filtered(name.to_owned().into())))
    }

    /// Matches where one element meets the whole condition: `{field: {$elemMatch: {…}}}`.
    ///
    /// The closure gets the handle of one element.
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
    ///     student.grades.elem_match(|grade| grade.gte(80) & grade.lt(85)).to_document()?,
    ///     doc! {"grades": {"$elemMatch": {"$gte": 80, "$lt": 85}}},
    /// );
    /// # Ok::<(), odm::Error>(())
    /// ```
    pub fn elem_match<F>(&self, condition: F) -> Filter<M>
    where
        S: Sequence,
        E: ElementEncoder<S>,
        F: FnOnce(E::Handle<S::Element>) -> Filter<S::Element>,
    {
        let element = condition(E::handle(Path::root()));
        Filter::from_node(elem_match(self.path(), element.into_node()))
    }

    /// Matches where an element is `value`: `{field: value}`.
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
    /// assert_eq!(book.tags.has("new").to_document()?, doc! {"tags": "new"});
    /// # Ok::<(), odm::Error>(())
    /// ```
    pub fn has(&self, value: impl IntoValue<S::Element>) -> Filter<M>
    where
        S: Sequence,
        E: Encode<S>,
    {
        let value = encode_element::<S, E>(value.into_value());
        Filter::from_node(has(self.path(), value))
    }

    /// Matches where every one of `values` is an element: `{field: {$all: [values]}}`. An empty list matches
    /// nothing.
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
    /// assert_eq!(
    ///     book.tags.all(["new", "sold"]).to_document()?,
    ///     doc! {"tags": {"$all": ["new", "sold"]}},
    /// );
    /// # Ok::<(), odm::Error>(())
    /// ```
    pub fn all<V>(&self, values: impl IntoIterator<Item = V>) -> Filter<M>
    where
        S: Sequence,
        E: Encode<S>,
        V: IntoValue<S::Element>,
    {
        let values: Result<Vec<_>> = values
            .into_iter()
            .map(|value| encode_element::<S, E>(value.into_value()))
            .collect();
        Filter::from_node(all(self.path(), values))
    }

    /// Matches where the array has this many elements: `{field: {$size: n}}`.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::query::fields;
    /// # #[derive(Serialize, Deserialize, Embedded)]
    /// # struct Book { tags: Vec<String> }
    /// let book = fields::<Book>();
    /// assert_eq!(book.tags.size(3).to_document()?, doc! {"tags": {"$size": 3}});
    /// # Ok::<(), odm::Error>(())
    /// ```
    pub fn size(&self, elements: u32) -> Filter<M>
    where
        S: Sequence,
    {
        let size = i32::try_from(elements).map_or(Bson::Int64(elements.into()), Bson::Int32);
        let path = array_path(self.path());
        Filter::from_node(path.map(|path| Node::operator(path, "$size", size)))
    }
}

fn elem_match(path: &Path, element: Result<Node, Deferred>) -> Result<Node, Deferred> {
    let path = array_path(path)?;
    let condition = element
        .and_then(Node::into_element_condition)
        .and_then(joined::bounded_document)
        .map_err(|error| error.under(&path))?;
    Ok(Node::operator(
        path,
        "$elemMatch",
        Bson::Document(condition),
    ))
}

/// Requires one value at `path` to meet all operators. Of several elements, one could meet the first operator and another one
/// the second, so a path through elements becomes an `$elemMatch`.
pub(crate) fn on_one_value<const N: usize>(
    path: &Path,
    operators: [(&'static str, Result<Bson>); N],
) -> Result<Node, Deferred> {
    let stored = filter_path(path)?;
    let mut all = Document::new();
    for (operator, value) in operators {
        let value = value.map_err(|error| Deferred::encode(&*stored, &error))?;
        all.insert(operator, value);
    }
    let operators = Operators::from(all);
    let segments: Vec<_> = path.segments().collect();
    let Some(any) = segments.iter().rposition(|it| *it == Segment::Any) else {
        return Ok(Node::Field(stored, operators));
    };
    let joined = |segments: &mut dyn Iterator<Item = Segment>| {
        segments.fold(Path::root(), |path, segment| path.then(segment))
    };
    let list = joined(&mut segments.iter().take(any).cloned());
    let inside = joined(&mut segments.iter().skip(any + 1).cloned());
    let name = if inside.is_root() {
        Cow::default()
    } else {
        Cow::Owned(stored_path(&inside)?)
    };
    elem_match(&list, Ok(Node::Field(name, operators)))
}

/// Whether a condition on any element would also compare the whole list with the value, which MongoDB does for arrays.
pub(super) fn needs_elem_match(path: &Path, value: &Bson) -> bool {
    matches!(value, Bson::Array(_)) && path.segments().last() == Some(Segment::Any)
}

/// Builds the condition of `Field::has`. For an array that is itself an element it needs `$elemMatch`,
/// because `$eq` does not look into such an array; for a value that is an array, because `$eq` would compare the whole
/// list with it.
fn has(path: &Path, value: Result<Bson>) -> Result<Node, Deferred> {
    let stored = array_path(path)?;
    let value = value.map_err(|error| Deferred::encode(&*stored, &error))?;
    let in_element = is_element(path.segments().last().as_ref());
    let operators = if in_element || matches!(value, Bson::Array(_)) {
        in_array(value).into()
    } else {
        Operators::one("$eq", value)
    };
    Ok(Node::Field(stored, operators))
}

fn in_array(value: Bson) -> Document {
    doc! {"$elemMatch": {"$eq": value}}
}

/// Builds the condition of `Field::all`. Values that `$all` would read as patterns or operators become
/// separate `$eq` conditions.
fn all(path: &Path, values: Result<Vec<Bson>>) -> Result<Node, Deferred> {
    let in_element = is_element(path.segments().last().as_ref());
    let path = array_path(path)?;
    let values = values.map_err(|error| Deferred::encode(&*path, &error))?;
    let some_array = values.iter().any(|value| matches!(value, Bson::Array(_)));
    if in_element || some_array {
        let each = values
            .into_iter()
            .map(|value| Bson::Document(in_array(value)));
        return Ok(Node::operator(path, "$all", Bson::Array(each.collect())));
    }
    all_of(path, values)
}

/// The condition of `Field::all` on an array that is the value of a field.
pub(crate) fn all_of(path: Cow<'static, str>, values: Vec<Bson>) -> Result<Node, Deferred> {
    let (literal, special): (Vec<_>, Vec<_>) = values.into_iter().partition(stands_for_itself);
    let node = move |operator, value| Node::operator(path.clone(), operator, value);
    let mut nodes = Vec::with_capacity(special.len() + 1);
    if !literal.is_empty() || special.is_empty() {
        nodes.push(node("$all", Bson::Array(literal)));
    }
    nodes.extend(special.into_iter().map(|value| node("$eq", value)));
    Node::and(nodes)
}
