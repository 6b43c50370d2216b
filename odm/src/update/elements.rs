//! Changes of the elements of embedded lists, chosen by a condition or by a key.
//!
//! Both become array filters. Their names are made when the update is complete, so that updates can be joined.

use bson::{Bson, doc};

use super::Update;
use super::operators::{Changes, Elements, OnField, Part, State, Unless};
use crate::error::Result;
use crate::model::{Path, Segment};
use crate::query::compare::{filter_path, stored_path};
use crate::query::deferred::Deferred;
use crate::query::encode::encode_element;
use crate::query::kind::{Growable, Sequence};
use crate::query::node::Node;
use crate::query::typing::ElementEncoder;
use crate::query::{Encode, Field, Filter, IntoValue};

impl<M, S, E> Field<M, S, E> {
    /// Changes every element that meets the condition, in place:
    /// `{$set: {"field.$[a].name": …}}` with `arrayFilters: [{"a.kind": …}]`.
    ///
    /// The first closure gets the handle of one element, as in [`elem_match`](Self::elem_match), the second one the same
    /// element as a part of the document. Lists inside the element can be changed in the same way, at any depth, and `&`
    /// joins such changes: all of them are one atomic update. The names of the array filters are made from `a` on.
    ///
    /// An update matches documents without such an element, too, and leaves them as they are:
    /// [`UpdateResult::modified`](crate::collection::UpdateResult::modified) does not count them.
    ///
    /// ```
    /// use odm::prelude::*;
    /// use odm::query::fields;
    ///
    /// #[derive(Serialize, Deserialize, Embedded)]
    /// struct Student {
    ///     #[odm(embed(few, max = 5))]
    ///     emails: Vec<Email>,
    /// }
    ///
    /// #[derive(Serialize, Deserialize, Embedded)]
    /// struct Email {
    ///     kind: String,
    ///     email: String,
    /// }
    ///
    /// let student = fields::<Student>();
    /// let update = student.emails.update_where(|e| e.kind.eq("work"), |e| e.email.set("ada@example.com"));
    /// assert_eq!(update.to_document()?, doc! {"$set": {"emails.$[a].email": "ada@example.com"}});
    /// assert_eq!(update.array_filters()?, [doc! {"a.kind": "work"}]);
    /// # Ok::<(), odm::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The change names no field of the element.
    pub fn update_where<C, U>(&self, condition: C, change: U) -> Update<M>
    where
        S: Sequence,
        E: ElementEncoder<S>,
        C: FnOnce(E::Handle<S::Element>) -> Filter<S::Element>,
        U: FnOnce(E::Handle<M>) -> Update<M>,
    {
        let condition = condition(E::handle(Path::root())).into_node();
        let placeholder = placeholder(self.path());
        let element = Segment::Filtered(placeholder.clone().into());
        let change = change(E::handle(self.path().then(element)));
        Update::from_changes(elements(
            self.path(),
            placeholder,
            condition,
            change.into_changes(),
        ))
    }

    /// Adds `value` at the end, unless an element has the same key: `{$push: {field: value}}`, with
    /// `{field: {$not: {$elemMatch: {key: …}}}}` in the filter.
    ///
    /// If the key is there, the document stays as it is, and
    /// [`UpdateResult::withheld`](crate::collection::UpdateResult::withheld) has a
    /// [`Duplicate`](crate::collection::WithheldReason::Duplicate). With [`set_by`](Self::set_by), the element with the
    /// key is replaced.
    ///
    /// ```
    /// use odm::prelude::*;
    ///
    /// #[derive(Serialize, Deserialize, Document)]
    /// #[odm(collection = "students")]
    /// struct Student {
    ///     #[serde(rename = "_id")]
    ///     id: i32,
    ///     #[odm(embed(few, max = 5))]
    ///     emails: Vec<Email>,
    /// }
    ///
    /// #[derive(Clone, Serialize, Deserialize, Embedded)]
    /// struct Email {
    ///     kind: String,
    ///     email: String,
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> odm::Result<()> {
    /// let students = Db::memory().collection::<Student>();
    /// students.insert_one(&Student { id: 1, emails: Vec::new() }).await?;
    /// let work = Email { kind: "work".to_owned(), email: "ada@example.com".to_owned() };
    /// let added = students.update_one(|s| s.id.eq(1), |s| s.emails.push_new(|e| e.kind, &work)).await?;
    /// assert_eq!(added.modified, 1);
    /// let again = students.update_one(|s| s.id.eq(1), |s| s.emails.push_new(|e| e.kind, &work)).await?;
    /// assert!(again.modified == 0 && again.is_duplicate());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The value has no field of that name.
    pub fn push_new<T, K>(
        &self,
        key: impl FnOnce(E::Handle<S::Element>) -> Field<S::Element, T, K>,
        value: impl IntoValue<S::Element>,
    ) -> Update<M>
    where
        S: Growable,
        E: ElementEncoder<S> + Encode<S>,
    {
        let key = key(E::handle(Path::root()));
        let value = encode_element::<S, E>(value.into_value());
        Update::from_changes(push_new(self.path(), key.path(), value))
    }

    /// Replaces every element that has the same key as `value`:
    /// `{$set: {"field.$[a]": value}}` with `arrayFilters: [{"a.key": …}]`.
    ///
    /// It adds nothing where no element has the key: see [`push_new`](Self::push_new).
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::query::fields;
    /// # #[derive(Serialize, Deserialize, Embedded)]
    /// # struct Student { #[odm(embed(few, max = 5))] emails: Vec<Email> }
    /// # #[derive(Serialize, Deserialize, Embedded)]
    /// # struct Email { kind: String, email: String }
    /// let student = fields::<Student>();
    /// let work = Email { kind: "work".to_owned(), email: "ada@example.com".to_owned() };
    /// let update = student.emails.set_by(|e| e.kind, work);
    /// assert_eq!(
    ///     update.to_document()?,
    ///     doc! {"$set": {"emails.$[a]": {"kind": "work", "email": "ada@example.com"}}},
    /// );
    /// assert_eq!(update.array_filters()?, [doc! {"a.kind": "work"}]);
    /// # Ok::<(), odm::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The value has no field of that name.
    pub fn set_by<T, K>(
        &self,
        key: impl FnOnce(E::Handle<S::Element>) -> Field<S::Element, T, K>,
        value: impl IntoValue<S::Element>,
    ) -> Update<M>
    where
        S: Sequence,
        E: ElementEncoder<S> + Encode<S>,
    {
        let key = key(E::handle(Path::root()));
        let value = encode_element::<S, E>(value.into_value());
        Update::from_changes(set_by(self.path(), key.path(), value))
    }

    /// Removes every element whose key is one of `keys`: `{$pull: {field: {key: {$in: [keys]}}}}`.
    ///
    /// Elements are found by their key and not by their position, so concurrent removals remove what they name.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::query::fields;
    /// # #[derive(Serialize, Deserialize, Embedded)]
    /// # struct Student { #[odm(embed(few, max = 5))] emails: Vec<Email> }
    /// # #[derive(Serialize, Deserialize, Embedded)]
    /// # struct Email { kind: String, email: String }
    /// let student = fields::<Student>();
    /// assert_eq!(
    ///     student.emails.pull_by(|e| e.kind, ["work", "home"]).to_document()?,
    ///     doc! {"$pull": {"emails": {"kind": {"$in": ["work", "home"]}}}},
    /// );
    /// # Ok::<(), odm::Error>(())
    /// ```
    pub fn pull_by<T, K, V>(
        &self,
        key: impl FnOnce(E::Handle<S::Element>) -> Field<S::Element, T, K>,
        keys: impl IntoIterator<Item = V>,
    ) -> Update<M>
    where
        S: Growable,
        E: ElementEncoder<S>,
        K: Encode<T>,
        V: IntoValue<T>,
    {
        self.pull_where(|element| key(element).in_(keys))
    }
}

/// The name that stands for that of an array filter until the update is complete. MongoDB takes no such name.
fn placeholder(array: &Path) -> String {
    let is_one = |part: &Segment| matches!(part, Segment::Filtered(name) if is_placeholder(name));
    format!("#{}", array.segments().filter(is_one).count())
}

pub(super) fn is_placeholder(name: &str) -> bool {
    name.starts_with('#')
}

fn elements(
    array: &Path,
    placeholder: String,
    condition: Result<Node, Deferred>,
    change: Result<Changes, Deferred>,
) -> Result<Changes, Deferred> {
    let array = stored_path(array)?;
    let condition = condition.map_err(|error| error.under(&array))?;
    let Changes::Operators(parts) = change? else {
        return Err(Deferred::usage(
            array,
            "a pipeline has no array filters: change the elements by operators, or write `$map` in the pipeline",
        ));
    };
    let named = format!("$[{placeholder}]");
    if !parts.iter().any(|part| part.mentions(&named)) {
        return Err(Deferred::usage(
            array,
            "the change in `update_where` names no field of the element that its closure gets",
        ));
    }
    Ok(Changes::Operators(vec![Part::Elements(Box::new(
        Elements {
            array,
            condition,
            placeholder,
            parts,
        },
    ))]))
}

fn push_new(array: &Path, key: &Path, value: Result<Bson>) -> Result<Changes, Deferred> {
    let path = stored_path(array)?;
    let value = value.map_err(|error| Deferred::encode(&*path, &error))?;
    let element = same_key(key, &value).map_err(|error| error.under(&path))?;
    let pushed = Changes::one(array, "$push", Ok(super::array::added(value)))?;
    let state = State::Has(element);
    let unless = Part::Unless(Box::new(Unless { path, state }));
    pushed.join(Changes::Operators(vec![unless]))
}

fn set_by(array: &Path, key: &Path, value: Result<Bson>) -> Result<Changes, Deferred> {
    let placeholder = placeholder(array);
    let element = array.then(Segment::Filtered(placeholder.clone().into()));
    let path = stored_path(array)?;
    let value = value.map_err(|error| Deferred::encode(&*path, &error))?;
    let condition = same_key(key, &value);
    let change = Changes::one(&element, "$set", Ok(value));
    elements(array, placeholder, condition, change)
}

/// The condition on an element to have the same key as `value`.
fn same_key(key: &Path, value: &Bson) -> Result<Node, Deferred> {
    let path = filter_path(key)?;
    let mut found = Some(value);
    for segment in key.segments() {
        found = match (segment, found) {
            (Segment::Name(name), Some(Bson::Document(document))) => document.get(&*name),
            _ => None,
        };
    }
    match found {
        Some(key) => Ok(Node::operator(path, "$eq", key.clone())),
        None => Err(Deferred::usage(
            path,
            "the new element has no such field, so it has no key to compare",
        )),
    }
}

impl Part {
    /// Whether a path of the part has `segment`.
    fn mentions(&self, segment: &str) -> bool {
        let has = |path: &str| path.split('.').any(|part| part == segment);
        match self {
            Self::Field(change) => has(&change.path),
            Self::Raw(_) | Self::ArrayFilter(_) | Self::Unless(_) => false,
            Self::Elements(elements) => {
                has(&elements.array) || elements.parts.iter().any(|part| part.mentions(segment))
            }
        }
    }
}

impl Changes {
    /// These changes, with names for the array filters of [`Part::Elements`].
    pub(crate) fn named(self) -> Result<Self, Deferred> {
        let parts = match self {
            Self::Operators(parts) => parts,
            pipeline @ Self::Pipeline(_) => return Ok(pipeline),
        };
        if !parts.iter().any(|part| matches!(part, Part::Elements(_))) {
            return Ok(Self::Operators(parts));
        }
        let mut naming = Naming::default();
        naming.take(&parts);
        naming.flatten(parts)?;
        Ok(Self::Operators(naming.flat))
    }
}

/// The state of [`Changes::named`].
#[derive(Default)]
struct Naming {
    flat: Vec<Part>,
    /// The names that the caller gave.
    taken: Vec<String>,
    /// The arrays and conditions that have a name.
    given: Vec<(String, Node, String)>,
    /// The placeholders in scope, with the names that replace them.
    scope: Vec<(String, String)>,
    /// How many names were tried.
    tried: usize,
}

impl Naming {
    /// Notes the names in paths that the caller wrote.
    fn take(&mut self, parts: &[Part]) {
        for part in parts {
            match part {
                Part::Field(change) => self.take_path(&change.path),
                Part::Raw(operators) => {
                    let fields = operators.values().filter_map(Bson::as_document);
                    fields
                        .flat_map(bson::Document::keys)
                        .for_each(|path| self.take_path(path));
                }
                Part::ArrayFilter(filter) => {
                    let names = filter.keys().filter_map(|key| key.split('.').next());
                    self.taken.extend(names.map(str::to_owned));
                }
                Part::Elements(elements) => self.take(&elements.parts),
                Part::Unless(_) => {}
            }
        }
    }

    fn take_path(&mut self, path: &str) {
        let named = |part: &str| Some(part.strip_prefix("$[")?.strip_suffix(']')?.to_owned());
        self.taken.extend(path.split('.').filter_map(named));
    }

    fn flatten(&mut self, parts: Vec<Part>) -> Result<(), Deferred> {
        for part in parts {
            match part {
                Part::Field(change) => {
                    let path = self.renamed(change.path);
                    self.flat.push(Part::Field(OnField { path, ..change }));
                }
                Part::Unless(unless) => {
                    let path = self.renamed(unless.path);
                    let state = unless.state;
                    self.flat
                        .push(Part::Unless(Box::new(Unless { path, state })));
                }
                part @ (Part::Raw(_) | Part::ArrayFilter(_)) => self.flat.push(part),
                Part::Elements(elements) => {
                    let Elements {
                        array,
                        condition,
                        placeholder,
                        parts,
                    } = *elements;
                    let array = self.renamed(array);
                    let name = self.name(array, condition)?;
                    self.scope.push((placeholder, name));
                    self.flatten(parts)?;
                    self.scope.pop();
                }
            }
        }
        Ok(())
    }

    fn renamed(&self, path: String) -> String {
        if self.scope.is_empty() || !path.contains("$[#") {
            return path;
        }
        let rename = |(placeholder, name): &(String, String), path: String| {
            path.replace(&format!("$[{placeholder}]"), &format!("$[{name}]"))
        };
        self.scope
            .iter()
            .fold(path, |path, each| rename(each, path))
    }

    /// The name of the array filter with this condition; one array and condition has one name.
    fn name(&mut self, array: String, condition: Node) -> Result<String, Deferred> {
        let same =
            |(other, equal, _): &&(String, Node, String)| *other == array && *equal == condition;
        if let Some((_, _, name)) = self.given.iter().find(same) {
            return Ok(name.clone());
        }
        let name = loop {
            let name = letters(self.tried);
            self.tried += 1;
            if !self.taken.contains(&name) {
                break name;
            }
        };
        let filter = match condition.clone() {
            // MongoDB requires the name in the filter.
            Node::All => doc! {&*name: {"$exists": true}},
            node => node.under(&name).into_document()?,
        };
        self.flat.push(Part::ArrayFilter(filter));
        self.given.push((array, condition, name.clone()));
        Ok(name)
    }
}

/// `a` to `z`, then `a1`, `b1`, ….
fn letters(number: usize) -> String {
    let letter = ('a'..='z').nth(number % 26).unwrap_or('a');
    match number / 26 {
        0 => letter.to_string(),
        round => format!("{letter}{round}"),
    }
}

#[cfg(test)]
mod tests;
