//! The relations of a model, read from the shapes of its fields.

use super::field::{EmbeddedMeta, FieldMeta, OnDelete, VariantContent, VariantMeta};
use super::index::IndexMeta;
use super::path::{Path, Segment};
use super::rule::Rule;
use super::types::{Shape, TypeMeta};
use super::{ModelMeta, ProjectedField, Tagging};

/// A relation of a model: a reference that its documents store, at the top level or inside.
///
/// [`ModelMeta::relations`] lists them.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Relation {
    /// The Rust names from the model down to the field, joined by dots, such as `lines.product`.
    pub name: String,
    /// The model that the reference leads to.
    pub target: &'static ModelMeta,
    /// The Rust name of the field of the target whose value is stored: its id, or the unique field that `refers_to` names.
    pub key: &'static str,
    /// How many documents one document refers to.
    pub cardinality: Cardinality,
    /// The stored path of the field. Of references in a map, the path of the map, whose keys are not declared.
    pub path: Path,
    /// The declared index that finds the documents that refer to a given one: its first key is the field.
    pub index: Option<&'static IndexMeta>,
    /// The relation of the target that this reference is the other side of, if both models declare it.
    pub counterpart: Option<&'static CounterpartMeta>,
    /// What becomes of the document if its target is deleted, if that is declared.
    pub on_delete: Option<OnDelete>,
}

/// A relation that a struct declares in the other direction: its documents store nothing, and those of `target` refer to
/// them.
#[derive(Debug)]
pub struct RelationMeta {
    /// The name of the relation.
    pub name: &'static str,
    /// The model whose documents refer to this one; behind a function, so that models can refer to each other.
    pub target: fn() -> &'static ModelMeta,
    /// How many documents of `target` are expected to refer to one document.
    pub expected: Expected,
    /// The Rust names, in `target`, from the struct down to the reference.
    pub by: &'static [&'static str],
    /// The Rust names of the field of this model whose value is stored there.
    pub key: &'static [&'static str],
    /// Why no index of `target` needs to start with the reference, if none does.
    pub allow_scan: Option<&'static str>,
}

/// How many documents are expected to refer to one document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expected {
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
#[derive(Debug)]
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
    /// The Rust name of the reference.
    pub field: &'static str,
    /// The model that the reference leads to.
    pub target: fn() -> &'static ModelMeta,
    /// The name of the relation in that model.
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
pub enum Cardinality {
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

impl Cardinality {
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
    /// The references that documents of this model store, in declaration order, inside embedded structs and enums
    /// too.
    ///
    /// A struct that contains itself is entered once.
    ///
    /// ```
    /// use odm::model::{Cardinality, Document as _};
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
    /// assert_eq!(relations[0].name, "lines.product");
    /// assert_eq!(relations[0].target.collection, "products");
    /// assert_eq!(relations[0].cardinality, Cardinality::Many { max: Some(50) });
    /// assert!(relations[0].index.is_none());
    /// ```
    pub fn relations(&'static self) -> Vec<Relation> {
        let mut walk = Walk {
            model: self,
            open: Vec::new(),
            on_delete: None,
            names: Vec::new(),
            found: Vec::new(),
        };
        walk.embedded((self.embedded)(), &Path::root(), Cardinality::One);
        walk.found
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

    /// What the reference with this Rust name says about a relation of the other model.
    ///
    /// ```
    /// # use odm::model::CounterpartKind;
    /// # use odm::prelude::*;
    /// # #[derive(Serialize, Deserialize, Document)]
    /// # #[odm(collection = "people")]
    /// # struct Person {
    /// #     #[serde(rename = "_id")]
    /// #     id: String,
    /// #     #[odm(references(many, max = 1_000), two_way = owner)]
    /// #     tasks: Vec<Ref<Task>>,
    /// # }
    /// # #[derive(Serialize, Deserialize, Document)]
    /// # #[odm(collection = "tasks")]
    /// # struct Task {
    /// #     #[serde(rename = "_id")]
    /// #     id: i32,
    /// #     #[odm(index, two_way = tasks)]
    /// #     owner: Ref<Person>,
    /// # }
    /// // `#[odm(index, two_way = tasks)] owner: Ref<Person>`
    /// let owner = Task::model().counterpart("owner").ok_or("no counterpart")?;
    /// assert_eq!((owner.kind, owner.name), (CounterpartKind::TwoWay, "tasks"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn counterpart(&'static self, field: &str) -> Option<&'static CounterpartMeta> {
        self.counterparts.iter().find(|one| one.field == field)
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

struct Walk {
    model: &'static ModelMeta,
    /// The structs and enums around the current field.
    open: Vec<&'static EmbeddedMeta>,
    /// What the current field declares.
    on_delete: Option<OnDelete>,
    /// The Rust names of the current field.
    names: Vec<&'static str>,
    found: Vec<Relation>,
}

impl Walk {
    fn embedded(&mut self, meta: &'static EmbeddedMeta, at: &Path, around: Cardinality) {
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

    fn fields(&mut self, fields: &'static [FieldMeta], at: &Path, around: Cardinality) {
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
            self.on_delete = field.on_delete;
            match &field.refers_to {
                Some(reference) => {
                    let (target, by) = ((reference.target)(), reference.by);
                    let cardinality = match field.ty.shape {
                        Shape::Array { .. } => around.times(max.map(u64::from)),
                        _ => around.optional(field.ty.nullable),
                    };
                    self.found(target, by, cardinality, &path);
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
        around: Cardinality,
    ) {
        let path = match tagging {
            Tagging::External => at.child(variant.name),
            Tagging::Adjacent { content, .. } => at.child(content),
            Tagging::Internal { .. } | Tagging::Untagged => at.clone(),
        };
        self.names.push(variant.rust);
        self.on_delete = None;
        match &variant.content {
            VariantContent::Unit => {}
            VariantContent::Newtype(ty) => self.value(ty, &path, around, None),
            VariantContent::Tuple(types) => self.tuple(types, &path, around),
            VariantContent::Struct(fields) => self.fields(fields, &path, around),
        }
        self.names.pop();
    }

    fn found(
        &mut self,
        target: &'static ModelMeta,
        key: &'static str,
        cardinality: Cardinality,
        path: &Path,
    ) {
        self.found.push(Relation {
            name: self.names.join("."),
            target,
            key,
            cardinality,
            path: path.clone(),
            index: self.model.index_for(&self.names),
            counterpart: match self.names.as_slice() {
                [field] => self.model.counterpart(field),
                _ => None,
            },
            on_delete: self.on_delete,
        });
    }

    fn value(&mut self, ty: &'static TypeMeta, path: &Path, around: Cardinality, max: Option<u64>) {
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
            Shape::Map(values) => self.value(values, path, around.times(max), None),
        }
    }

    fn tuple(&mut self, types: &'static [TypeMeta], path: &Path, around: Cardinality) {
        for (position, ty) in (0..).zip(types) {
            let path = path.then(Segment::Index(position));
            self.value(ty, &path, around, None);
        }
    }
}

#[cfg(test)]
mod tests;
