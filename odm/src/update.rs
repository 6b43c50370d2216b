//! Typed updates, which become the documents that a shell user would type.
//!
//! The methods are on [`Field`](crate::query::Field), beside those that make filters, and return an
//! [`Update`].

mod array;
mod elements;
mod field;
mod guard;
pub(crate) mod maintain;
mod money;
mod operators;
mod pipeline;
mod time;
mod unreached;

use std::marker::PhantomData;
use std::ops::{BitAnd, BitAndAssign};
use std::{fmt, mem};

use bson::{Bson, Document};

pub use self::array::Push;
pub(crate) use self::guard::Guard;
pub(crate) use self::operators::Changes;
use crate::error::Result;
use crate::model::{Embedded, FieldType, Path, Segment};
use crate::query::deferred::Deferred;
use crate::query::{Filter, FromRaw};
use crate::store::Update as Operands;

/// A change of documents of the model `M`.
///
/// The methods of [`Field`](crate::query::Field) make updates; `&` joins them.
/// [`to_document`](Self::to_document) shows the document that is sent. An update can't change a field twice,
/// except that `push`es of one array are joined, and so are `add_to_set`s.
///
/// ```
/// use odm::prelude::*;
/// use odm::query::fields;
///
/// #[derive(Serialize, Deserialize, Embedded)]
/// struct Book {
///     available: i32,
///     out: bool,
/// }
///
/// let book = fields::<Book>();
/// let update = book.available.inc(-1) & book.out.set(true);
/// assert_eq!(
///     update.to_document()?,
///     doc! {"$inc": {"available": -1}, "$set": {"out": true}},
/// );
/// # Ok::<(), odm::Error>(())
/// ```
#[must_use = "an update does nothing until it is given to `update_one` or another verb"]
pub struct Update<M> {
    changes: Result<Changes, Deferred>,
    of: PhantomData<fn() -> M>,
}

/// A closure that makes an [`Update`] of the typed fields of `M`: `|book| book.available.inc(-1)`.
///
/// Every closure and function of that signature is one.
///
/// ```
/// use odm::prelude::*;
/// use odm::query::fields;
/// use odm::update::UpdateFn;
///
/// #[derive(Serialize, Deserialize, Embedded)]
/// struct Book {
///     available: i32,
///     out: bool,
/// }
///
/// fn lend(change: impl UpdateFn<Book>) -> Update<Book> {
///     change(fields::<Book>()) & fields::<Book>().out.set(true)
/// }
///
/// let update = lend(|book| book.available.inc(-1));
/// assert_eq!(
///     update.to_document()?,
///     doc! {"$inc": {"available": -1}, "$set": {"out": true}},
/// );
/// # Ok::<(), odm::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a change of `{M}`",
    label = "write a closure, such as `|b| b.title.set(\"…\")`",
    note = "an update that exists already is given as `|_| update`, one written by hand as `|_| raw(doc! {{\"$set\": {{…}}}})`, and a pipeline as `|_| Update::pipeline([…])`"
)]
pub trait UpdateFn<M: Embedded>: FnOnce(<M as Embedded>::Fields<M>) -> Update<M> {}

#[diagnostic::do_not_recommend]
impl<M: Embedded, F: FnOnce(<M as Embedded>::Fields<M>) -> Update<M>> UpdateFn<M> for F {}

impl<M> Update<M> {
    pub(crate) fn from_changes(changes: Result<Changes, Deferred>) -> Self {
        Self {
            changes,
            of: PhantomData,
        }
    }

    /// One operator on one field.
    pub(crate) fn operator(path: &Path, operator: &'static str, value: Result<Bson>) -> Self {
        Self::from_changes(Changes::one(path, operator, value))
    }

    /// Like [`raw`](crate::query::raw), with a known type, so that it can stand on the left of `&`.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::query::fields;
    /// # #[derive(Serialize, Deserialize, Embedded)]
    /// # struct Book { title: String, out: i32 }
    /// let update = Update::<Book>::raw(doc! {"$inc": {"lent": 1}}) & fields::<Book>().out.inc(1);
    /// assert_eq!(update.to_document()?, doc! {"$inc": {"lent": 1, "out": 1}});
    /// # Ok::<(), odm::Error>(())
    /// ```
    pub fn raw(document: Document) -> Self {
        Self::from_raw(document)
    }

    /// Makes the changes of this update and those of `other`; the same as `self & other`.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::query::fields;
    /// # #[derive(Serialize, Deserialize, Embedded)]
    /// # struct Book { title: String, out: i32 }
    /// let book = fields::<Book>();
    /// let update = book.title.set("Emma").and(book.out.inc(1));
    /// assert_eq!(update.to_document()?, doc! {"$set": {"title": "Emma"}, "$inc": {"out": 1}});
    /// # Ok::<(), odm::Error>(())
    /// ```
    pub fn and(self, other: Self) -> Self {
        self & other
    }

    /// An update by the raw stages of an aggregation pipeline, which can compute values from the document.
    ///
    /// ```
    /// use bson::doc;
    /// use odm::update::Update;
    ///
    /// struct Book;
    /// let update = Update::<Book>::pipeline([doc! {"$set": {"total": {"$add": ["$out", "$in"]}}}]);
    /// assert_eq!(
    ///     update.to_bson()?,
    ///     bson::bson!([{"$set": {"total": {"$add": ["$out", "$in"]}}}]),
    /// );
    /// # Ok::<(), odm::Error>(())
    /// ```
    pub fn pipeline(stages: impl IntoIterator<Item = Document>) -> Self {
        Self::from_changes(Ok(Changes::raw_pipeline(stages)))
    }

    /// Defines the elements of `$[name]`: those that match the condition.
    ///
    /// `T` is the type of the elements; [`Field::array_filter`](crate::query::Field::array_filter) infers it
    /// from the field.
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
    /// let update = student
    ///     .grades
    ///     .filtered("low")
    ///     .set(60)
    ///     .array_filter::<i32>("low", |grade| grade.lt(60));
    /// assert_eq!(update.to_document()?, doc! {"$set": {"grades.$[low]": 60}});
    /// assert_eq!(update.array_filters()?, [doc! {"low": {"$lt": 60}}]);
    /// # Ok::<(), odm::Error>(())
    /// ```
    pub fn array_filter<T: FieldType>(
        self,
        name: &str,
        condition: impl FnOnce(T::Handle<T, T>) -> Filter<T>,
    ) -> Self {
        let element = Path::root().then(Segment::Name(name.to_owned().into()));
        let filter = condition(T::handle(element));
        self & Self::from_changes(Changes::array_filter(name, filter.into_node()))
    }

    /// Defines the elements of `$[name]` by a document that is sent as it is written.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::query::fields;
    /// # #[derive(Serialize, Deserialize, Embedded)]
    /// # struct Book { scores: Vec<i32> }
    /// let book = fields::<Book>();
    /// let update = book.scores.filtered("low").set(60).raw_array_filter(doc! {"low": {"$lt": 60}});
    /// assert_eq!(update.array_filters()?, [doc! {"low": {"$lt": 60}}]);
    /// # Ok::<(), odm::Error>(())
    /// ```
    pub fn raw_array_filter(self, filter: Document) -> Self {
        self & Self::from_changes(Ok(Changes::filtered(filter)))
    }

    /// Joins all of `updates`, as `&` does. A `None` among them changes nothing, for what a caller may leave out. If all are
    /// `None`, sending the update is a usage error.
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
    /// let update = Update::all_of([0, 2].map(|place| student.grades.at(place).set(60)));
    /// assert_eq!(update.to_document()?, doc! {"$set": {"grades.0": 60, "grades.2": 60}});
    ///
    /// let (first, second) = (Some(80), None);
    /// let update = Update::all_of([
    ///     first.map(|grade| student.grades.at(0).set(grade)),
    ///     second.map(|grade: i32| student.grades.at(1).set(grade)),
    /// ]);
    /// assert_eq!(update.to_document()?, doc! {"$set": {"grades.0": 80}});
    /// # Ok::<(), odm::Error>(())
    /// ```
    pub fn all_of<U: Into<Option<Self>>>(updates: impl IntoIterator<Item = U>) -> Self {
        let mut updates = updates.into_iter().filter_map(Into::into);
        match updates.next() {
            Some(first) => updates.fold(first, BitAnd::bitand),
            None => Self::from_changes(Ok(Changes::nothing())),
        }
    }

    /// Returns the update that is sent: a document of operators, or an array of pipeline stages.
    ///
    /// ```
    /// # use bson::bson;
    /// # use odm::prelude::*;
    /// # use odm::query::fields;
    /// # #[derive(Serialize, Deserialize, Embedded)]
    /// # struct Book { title: String, out: i32 }
    /// let book = fields::<Book>();
    /// let operators = book.out.set(0).to_bson()?;
    /// assert_eq!(operators, bson!({"$set": {"out": 0}}));
    /// let stages = book.out.set_literal(0).to_bson()?;
    /// assert_eq!(stages, bson!([{"$set": {"out": {"$literal": 0}}}]));
    /// # Ok::<(), odm::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// A value can't be encoded, or a field is changed twice; the error names the field.
    pub fn to_bson(&self) -> Result<Bson> {
        let mut sent = Operands::new(Document::new().into());
        let changes = self.changes.clone();
        changes
            .and_then(|changes| changes.write(&mut sent))
            .map_err(|error| error.to_error())?;
        Ok(sent.modification.into_bson())
    }

    /// The same changes of another model's documents, which store the changed fields by the same names.
    pub(crate) fn of_other<T>(self) -> Update<T> {
        Update::from_changes(self.changes)
    }

    /// Refuses changes of anything but the elements of the list with this stored name, and such as add some.
    pub(crate) fn expect_elements_of(&self, list: &str) -> Result<()> {
        let checked = match &self.changes {
            Ok(changes) => changes.expect_elements_of(list),
            Err(error) => Err(error.clone()),
        };
        checked.map_err(|error| error.to_error())
    }

    pub(crate) fn into_changes(self) -> Result<Changes, Deferred> {
        self.changes
    }

    /// Returns the document of operators that is sent.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::query::fields;
    /// # #[derive(Serialize, Deserialize, Embedded)]
    /// # struct Book { title: String, out: i32 }
    /// let book = fields::<Book>();
    /// let update = book.out.inc(1) & book.title.set("Emma");
    /// assert_eq!(update.to_document()?, doc! {"$inc": {"out": 1}, "$set": {"title": "Emma"}});
    /// assert!(book.out.set_literal(0).to_document().is_err(), "a pipeline");
    /// # Ok::<(), odm::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The errors of [`to_bson`](Self::to_bson), or the update is a pipeline.
    pub fn to_document(&self) -> Result<Document> {
        match self.to_bson()? {
            Bson::Document(document) => Ok(document),
            _ => Err(Deferred::usage(
                "",
                "the update is a pipeline, not a document: ask for `to_bson`",
            )
            .to_error()),
        }
    }

    /// Returns the `arrayFilters` that are sent.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::query::fields;
    /// # #[derive(Serialize, Deserialize, Embedded)]
    /// # struct Student { grades: Vec<i32> }
    /// let student = fields::<Student>();
    /// let update = student.grades.filtered("low").set(60)
    ///     & student.grades.array_filter("low", |grade| grade.lt(60));
    /// assert_eq!(update.array_filters()?, [doc! {"low": {"$lt": 60}}]);
    /// # Ok::<(), odm::Error>(())
    /// ```
    pub fn array_filters(&self) -> Result<Vec<Document>> {
        let filters = match &self.changes {
            Ok(changes) => changes.array_filters(),
            Err(error) => Err(error.clone()),
        };
        filters.map_err(|error| error.to_error())
    }
}

impl<M> BitAnd for Update<M> {
    type Output = Self;

    fn bitand(self, other: Self) -> Self {
        Self::from_changes(match (self.changes, other.changes) {
            (Ok(first), Ok(second)) => first.join(second),
            (Err(error), _) | (_, Err(error)) => Err(error),
        })
    }
}

/// Adds a change, for updates that grow step by step.
///
/// ```
/// use odm::prelude::*;
/// use odm::query::fields;
///
/// #[derive(Serialize, Deserialize, Embedded)]
/// struct Book {
///     title: String,
///     year: i32,
/// }
///
/// let (book, year) = (fields::<Book>(), Some(1816));
/// let mut update = book.title.set("Emma");
/// if let Some(year) = year {
///     update &= book.year.set(year);
/// }
/// assert_eq!(update.to_document()?, doc! {"$set": {"title": "Emma", "year": 1816}});
/// # Ok::<(), odm::Error>(())
/// ```
impl<M> BitAndAssign for Update<M> {
    fn bitand_assign(&mut self, other: Self) {
        let before = mem::replace(self, Self::from_changes(Ok(Changes::nothing())));
        *self = before & other;
    }
}

impl<M> FromRaw for Update<M> {
    fn from_raw(document: Document) -> Self {
        Self::from_changes(Changes::from_raw(document))
    }
}

impl<M> Clone for Update<M> {
    fn clone(&self) -> Self {
        Self::from_changes(self.changes.clone())
    }
}

impl<M> fmt::Debug for Update<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.to_bson() {
            Ok(update) => write!(f, "Update({update})"),
            Err(error) => write!(f, "Update({error})"),
        }
    }
}

#[cfg(test)]
mod tests;
