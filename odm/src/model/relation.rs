//! The relations of a model: those that the shapes of its fields say, and those that it declares besides.

use std::collections::HashMap;
use std::sync::{LazyLock, PoisonError, RwLock};

use super::field::{EmbeddedMeta, FieldMeta, VariantContent, VariantMeta};
use super::index::IndexMeta;
use super::path::{Path, Segment};
use super::rule::Rule;
use super::types::{Shape, TypeMeta};
use super::{ModelMeta, ProjectedField, Tagging, ValidationLevel};

/// A relation of a model: [`ModelMeta::relations`] lists them.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum RelationMeta {
    /// The documents store a reference.
    Reference(ReferenceMeta),
    /// The documents store nothing, and those of another model refer to them: `has_one`, `has_many`, `has_squillions`,
    /// `subset`.
    Inverse(InverseMeta),
    /// The documents have a list that copies the newest documents of another model: `recent`.
    Recent(RecentMeta),
}

impl RelationMeta {
    /// The reference, if the relation is one.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/authors.rs"));
    /// use odm::model::{Arity, RelationMeta};
    ///
    /// # fn main() {
    /// let mut references = Book::model().relations().iter().filter_map(RelationMeta::as_reference);
    /// assert!(references.any(|one| one.name == "author" && one.arity == Arity::One));
    /// # }
    /// ```
    pub fn as_reference(&self) -> Option<&ReferenceMeta> {
        match self {
            Self::Reference(meta) => Some(meta),
            _ => None,
        }
    }

    /// The inverse relation, if it is one.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/authors.rs"));
    /// use odm::model::{InverseKind, RelationMeta};
    ///
    /// # fn main() {
    /// let mut inverse = Author::model().relations().iter().filter_map(RelationMeta::as_inverse);
    /// assert!(inverse.any(|one| one.name == "books" && one.kind == InverseKind::Many));
    /// # }
    /// ```
    pub fn as_inverse(&self) -> Option<&InverseMeta> {
        match self {
            Self::Inverse(meta) => Some(meta),
            _ => None,
        }
    }

    /// The list of the newest documents, if the relation is one.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/authors.rs"));
    /// # fn main() {
    /// assert!(Author::model().relations().iter().all(|one| one.as_recent().is_none()));
    /// # }
    /// ```
    pub fn as_recent(&self) -> Option<&RecentMeta> {
        match self {
            Self::Recent(meta) => Some(meta),
            _ => None,
        }
    }
}

/// A reference that documents store, at the top level or inside.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ReferenceMeta {
    /// The Rust names from the model down to the field, joined by dots, such as `lines.product`.
    pub name: String,
    /// The model that the reference leads to.
    pub target: &'static ModelMeta,
    /// The Rust name of the field of the target whose value is stored: its id, or the unique field that `refers_to` names.
    pub key: &'static str,
    /// How many documents one document refers to.
    pub arity: Arity,
    /// The stored path of the field. Of references in a map, the path of the map, whose keys are not declared.
    pub path: Path,
    /// Whether the reference is in a map, so that `path` does not lead to it.
    pub(crate) is_in_map: bool,
    /// The declared index that finds the documents that refer to a given one: its first key is the field.
    pub index: Option<&'static IndexMeta>,
    /// What the reference says about the relation of the target whose other side it is, if both models declare it.
    pub counterpart: Option<&'static CounterpartMeta>,
}

/// An inverse relation, which a struct declares: its documents store nothing, and those of `target` refer to them.
#[derive(Debug, Clone)]
pub struct InverseMeta {
    /// The name of the relation.
    pub name: &'static str,
    /// The model whose documents refer to this one; behind a function, so that models can refer to each other.
    pub target: fn() -> &'static ModelMeta,
    /// How many documents of `target` are expected to refer to one document.
    pub kind: InverseKind,
    /// The Rust names, in `target`, from the struct down to the reference.
    pub by: &'static [&'static str],
    /// The Rust names of the field of this model whose value is stored there.
    pub key: &'static [&'static str],
    /// Why no index of `target` needs to start with the reference, if none does.
    pub allow_scan: Option<&'static str>,
    /// What becomes of the documents of `target` when the one that they refer to is deleted, if that is declared.
    pub on_delete: Option<OnDelete>,
    /// How copies of this model's fields in the documents of `target` are kept in step, if that is declared; see
    /// [`guarantee`](Self::guarantee).
    pub guarantee: Option<Guarantee>,
}

/// How copies, summaries and lists of the newest are kept in step while several clients write; the variants describe copies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Guarantee {
    /// Writes that depend on each other conflict: a change of the field and an insert with a copy of it both write a fence
    /// of the document, in their transactions. While each change propagates, no committed document holds another value. Inserts
    /// that refer to one document at the same time run again. The default of `has_one`, `has_many` and `subset`.
    Strict,
    /// Both sides look again after they have written: a change of the field sweeps over the copies until none differs, and an
    /// insert reads the field once more. Writers do not wait for each other, and a document can hold the previous value until
    /// the calls have ended. The default of `has_squillions`.
    Settled,
}

/// What becomes of documents when the one that they refer to is deleted: `has_many(books: Book, by = author, on_delete =
/// cascade)`.
///
/// A delete of a document with such a relation says
/// [`with_dependents`](crate::collection::Delete::with_dependents), which acts on it, or
/// [`leave_dangling`](crate::collection::Delete::leave_dangling).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum OnDelete {
    /// The document is not deleted as long as others refer to it, unless the same call deletes those, too.
    Restrict,
    /// The documents that refer to it are deleted, too.
    Cascade,
    /// The references become null. A field with `skip_serializing_if` is removed.
    SetNull,
    /// The references are removed from the lists that they are in; a subdocument in a list is removed with its reference.
    Pull,
    /// The references dangle, and a delete needs to say nothing.
    Leave,
}

/// The collection of the fences of references. It is no model: its documents have no fields of their own that a user reads.
pub(crate) static REFERENCE_FENCES: ModelMeta = ModelMeta {
    name: "the fences of references",
    collection: "odm_reference_fences",
    embedded: || const { &EmbeddedMeta::of("the fences of references") },
    validation_level: ValidationLevel::Off,
    ..ModelMeta::EMPTY
};

/// The collection of the records of propagations. It is no model, either.
pub(crate) static PROPAGATIONS: ModelMeta = ModelMeta {
    name: "the records of propagations",
    collection: "odm_propagations",
    embedded: || const { &EmbeddedMeta::of("the records of propagations") },
    validation_level: ValidationLevel::Off,
    ..ModelMeta::EMPTY
};

/// The collection of the documents that repairs have changed. It is no model, either.
pub(crate) static REPAIRS: ModelMeta = ModelMeta {
    name: "the images of repairs",
    collection: "odm_repairs",
    embedded: || const { &EmbeddedMeta::of("the images of repairs") },
    validation_level: ValidationLevel::Off,
    ..ModelMeta::EMPTY
};

/// The collection of the ranges of scrubs. It is no model, either.
pub(crate) static SCRUBS: ModelMeta = ModelMeta {
    name: "the ranges of scrubs",
    collection: "odm_scrubs",
    embedded: || const { &EmbeddedMeta::of("the ranges of scrubs") },
    validation_level: ValidationLevel::Off,
    ..ModelMeta::EMPTY
};

/// The collection of the positions of followers. It is no model, either.
pub(crate) static FOLLOWERS: ModelMeta = ModelMeta {
    name: "the positions of followers",
    collection: "odm_followers",
    embedded: || const { &EmbeddedMeta::of("the positions of followers") },
    validation_level: ValidationLevel::Off,
    ..ModelMeta::EMPTY
};

impl InverseMeta {
    /// What a delete has to do with the documents that refer to the deleted one, if it has to do anything.
    pub(crate) fn acts_on_delete(&self) -> Option<OnDelete> {
        self.on_delete.filter(|one| *one != OnDelete::Leave)
    }

    /// How copies in the documents of `target` are kept in step: as declared, or as the kind of the relation suggests.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/authors.rs"));
    /// use odm::model::{Guarantee, RelationMeta};
    ///
    /// # fn main() {
    /// let mut inverse = Author::model().relations().iter().filter_map(RelationMeta::as_inverse);
    /// assert!(inverse.any(|one| one.name == "books" && one.guarantee() == Guarantee::Strict));
    /// # }
    /// ```
    pub fn guarantee(&self) -> Guarantee {
        self.guarantee.unwrap_or(match self.kind {
            InverseKind::Squillions => Guarantee::Settled,
            InverseKind::One | InverseKind::Many | InverseKind::Rest => Guarantee::Strict,
        })
    }
}

/// How many documents are expected to refer to one document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InverseKind {
    /// At most one: `has_one`.
    One,
    /// Many: `has_many`.
    Many,
    /// Any number: `has_squillions`.
    Squillions,
    /// One, which holds the rarely used fields of the document: `subset`.
    Rest,
}

/// A list that copies the newest documents of another model: `recent(LogMessage, max = 1_000, sort = -time)`.
#[derive(Debug, Clone)]
pub struct RecentMeta {
    /// The Rust name of the list.
    pub field: &'static str,
    /// The model whose documents are copied.
    pub source: fn() -> &'static ModelMeta,
    /// The copied fields.
    pub copied: &'static [ProjectedField],
    /// The largest number of elements.
    pub max: u32,
    /// The Rust name, in the source, of the field that decides which documents are the newest: those with the largest
    /// values.
    pub sort: &'static str,
    /// Whether the newest come first; otherwise they come last.
    pub descending: bool,
}

/// What a reference says about a relation that the other model declares, too.
#[derive(Debug)]
pub struct CounterpartMeta {
    /// The kind of the relation.
    pub kind: CounterpartKind,
    /// The name of the relation in the model that the reference leads to.
    pub name: &'static str,
}

/// The kind of a relation that both models declare.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CounterpartKind {
    /// `rest_of`: the document holds the rarely used fields of the other one.
    Rest,
    /// `recent_in`: the document is copied into a list of the newest.
    Recent,
    /// `two_way`: the other document refers back.
    TwoWay,
}

/// How many documents one document refers to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arity {
    /// One: `Ref<T>`.
    One,
    /// One or none: `Option<Ref<T>>`, or a reference inside an `Option` or a variant of an enum.
    AtMostOne,
    /// A list: of references, or of subdocuments that have one each.
    Many {
        /// The largest number of elements; `None` where a list on the way declares no bound.
        max: Option<u64>,
    },
}

impl Arity {
    const fn optional(self, optional: bool) -> Self {
        match self {
            Self::One if optional => Self::AtMostOne,
            other => other,
        }
    }

    const fn times(self, max: Option<u64>) -> Self {
        let inside = match self {
            Self::One | Self::AtMostOne => Some(1),
            Self::Many { max } => max,
        };
        let max = match (inside, max) {
            (Some(inside), Some(max)) => Some(inside.saturating_mul(max)),
            _ => None,
        };
        Self::Many { max }
    }
}

impl ModelMeta {
    /// The relations of this model: first the references that its documents store, inside embedded structs and enums too,
    /// then those that the struct declares about other models; each in the order of their declaration.
    ///
    /// A struct that contains itself is entered once. The list is made once for each process.
    ///
    /// ```
    /// use odm::model::{Arity, Document as _};
    /// use odm::prelude::*;
    ///
    /// #[derive(Serialize, Deserialize, Document)]
    /// #[odm(collection = "products")]
    /// struct Product {
    ///     #[serde(rename = "_id")]
    ///     id: String,
    /// }
    ///
    /// #[derive(Serialize, Deserialize, Embedded)]
    /// struct Line {
    ///     product: Ref<Product>,
    ///     count: i32,
    /// }
    ///
    /// #[derive(Serialize, Deserialize, Document)]
    /// #[odm(collection = "orders")]
    /// struct Order {
    ///     #[serde(rename = "_id")]
    ///     id: i32,
    ///     #[odm(embed(few, max = 50))]
    ///     lines: Vec<Line>,
    /// }
    ///
    /// let relations = Order::model().relations();
    /// assert_eq!(relations.len(), 1);
    /// let product = relations[0].as_reference().expect("a reference");
    /// assert_eq!(product.name, "lines.product");
    /// assert_eq!(product.target.collection, "products");
    /// assert_eq!(product.arity, Arity::Many { max: Some(50) });
    /// assert!(product.index.is_none());
    /// ```
    pub fn relations(&'static self) -> &'static [RelationMeta] {
        let model = std::ptr::from_ref(self).addr();
        let known = RESOLVED.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(relations) = known.get(&model) {
            return relations;
        }
        drop(known);
        let mut walk = Walk {
            model: self,
            open: Vec::new(),
            field: None,
            names: Vec::new(),
            maps: 0,
            found: Vec::new(),
        };
        walk.embedded((self.embedded)(), &Path::root(), Arity::One);
        let mut relations = walk.found;
        relations.extend_from_slice(self.declared_relations);
        let mut known = RESOLVED.write().unwrap_or_else(PoisonError::into_inner);
        // Never freed: a process has few models, and metadata is as constant as they are.
        known
            .entry(model)
            .or_insert_with(|| Box::leak(relations.into_boxed_slice()))
    }

    /// The inverse relations on whose documents a delete acts.
    pub(crate) fn dependents(&self) -> impl Iterator<Item = &'static InverseMeta> {
        let inverses = self
            .declared_relations
            .iter()
            .filter_map(RelationMeta::as_inverse);
        inverses.filter(|one| one.acts_on_delete().is_some())
    }

    /// The Rust name of the field that is stored as `_id`.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/authors.rs"));
    /// # fn main() {
    /// assert_eq!(Book::model().id(), "id");
    /// # }
    /// ```
    pub fn id(&'static self) -> &'static str {
        let mut fields = (self.embedded)().fields.iter();
        fields
            .find(|field| field.name == "_id")
            .map_or("_id", |field| field.rust)
    }

    /// The first declared index that finds documents by equality of the field with these Rust names:
    /// [`IndexMeta::serves_equality`].
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/authors.rs"));
    /// # fn main() {
    /// assert!(Book::model().index_for(&["author"]).is_some());
    /// assert!(Book::model().index_for(&["title"]).is_none());
    /// # }
    /// ```
    pub fn index_for(&'static self, path: &[&str]) -> Option<&'static IndexMeta> {
        self.indexes
            .iter()
            .find(|index| index.serves_equality(path))
    }
}

/// The relations of the models that were asked for them, by the address of the model.
static RESOLVED: LazyLock<RwLock<HashMap<usize, &'static [RelationMeta]>>> =
    LazyLock::new(RwLock::default);

struct Walk {
    model: &'static ModelMeta,
    /// The structs and enums around the current field.
    open: Vec<&'static EmbeddedMeta>,
    /// The current field; none in a variant without names.
    field: Option<&'static FieldMeta>,
    /// The Rust names of the current field.
    names: Vec<&'static str>,
    /// The number of maps around the current value.
    maps: usize,
    found: Vec<RelationMeta>,
}

impl Walk {
    fn embedded(&mut self, meta: &'static EmbeddedMeta, at: &Path, around: Arity) {
        if self.open.iter().any(|open| std::ptr::eq(*open, meta)) {
            return;
        }
        self.open.push(meta);
        self.fields(meta.fields, at, around);
        if let Some(variants) = &meta.variants {
            for variant in variants.variants {
                self.variant(variants.tagging, variant, at, around.optional(true));
            }
        }
        self.open.pop();
    }

    fn fields(&mut self, fields: &'static [FieldMeta], at: &Path, around: Arity) {
        for field in fields {
            let path = if field.flatten {
                at.clone()
            } else {
                at.child(field.name)
            };
            let max = field.rules.iter().find_map(|rule| match rule {
                Rule::Items { max, .. } => *max,
                _ => None,
            });
            self.names.push(field.rust);
            self.field = Some(field);
            match &field.refers_to {
                Some(reference) => {
                    let (target, by) = ((reference.target)(), reference.by);
                    let arity = if reference.is_list {
                        around.times(max.map(u64::from))
                    } else {
                        around.optional(field.ty.nullable)
                    };
                    self.found(target, by, arity, &path);
                }
                None => self.value(&field.ty, &path, around, max.map(u64::from)),
            }
            self.names.pop();
        }
    }

    fn variant(
        &mut self,
        tagging: Tagging,
        variant: &'static VariantMeta,
        at: &Path,
        around: Arity,
    ) {
        let path = match tagging {
            Tagging::External => at.child(variant.name),
            Tagging::Adjacent { content, .. } => at.child(content),
            Tagging::Internal { .. } | Tagging::Untagged => at.clone(),
        };
        self.names.push(variant.rust);
        self.field = None;
        match &variant.content {
            VariantContent::Unit => {}
            VariantContent::Newtype(ty) => self.value(ty, &path, around, None),
            VariantContent::Tuple(types) => self.tuple(types, &path, around),
            VariantContent::Struct(fields) => self.fields(fields, &path, around),
        }
        self.names.pop();
    }

    fn found(&mut self, target: &'static ModelMeta, key: &'static str, arity: Arity, path: &Path) {
        let is_top_level = self.names.len() == 1;
        let counterpart = self.field.and_then(|field| field.counterpart.as_ref());
        self.found.push(RelationMeta::Reference(ReferenceMeta {
            name: self.names.join("."),
            target,
            key,
            arity,
            path: path.clone(),
            is_in_map: self.maps > 0,
            index: self.model.index_for(&self.names),
            counterpart: counterpart.filter(|_| is_top_level),
        }));
    }

    fn value(&mut self, ty: &'static TypeMeta, path: &Path, around: Arity, max: Option<u64>) {
        let around = around.optional(ty.nullable);
        match ty.shape {
            Shape::Any | Shape::Scalar(_) | Shape::OneOf(_) => {}
            Shape::Reference { to, .. } => {
                let target = to();
                self.found(target, target.id(), around, path);
            }
            Shape::Embedded(meta) => self.embedded(meta(), path, around),
            Shape::Array { element, len, .. } => {
                let len = len.and_then(|len| u64::try_from(len).ok());
                self.value(element, path, around.times(max.or(len)), None);
            }
            Shape::Tuple(types) => self.tuple(types, path, around),
            Shape::Map(values) => {
                self.maps += 1;
                self.value(values, path, around.times(max), None);
                self.maps -= 1;
            }
        }
    }

    fn tuple(&mut self, types: &'static [TypeMeta], path: &Path, around: Arity) {
        for (position, ty) in (0..).zip(types) {
            let path = path.then(Segment::Index(position));
            self.value(ty, &path, around, None);
        }
    }
}

#[cfg(test)]
mod tests;
