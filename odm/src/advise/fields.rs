//! The places of a model's metadata that are measured in stored documents.

use bson::raw::{RawBsonRef, RawDocument};

use crate::model::field::VariantContent;
use crate::model::{
    BsonType, EmbeddedMeta, EnumMeta, FieldMeta, ModelMeta, Presence, RelationMeta, Rule, Shape,
    Tagging, TypeMeta,
};

/// The largest number of places that are measured. Types that contain each other many times have more.
const MOST: usize = 2_000;

/// How a place is reached from the place above it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// The field of this name.
    Name(&'static str),
    /// Each element of an array, or each value of a map.
    Each,
}

/// A place in stored documents.
#[derive(Debug, Clone, Default)]
pub(super) struct At {
    /// The stored path, as queries write it; `*` stands for the keys of a map.
    pub(super) path: String,
    steps: Vec<Step>,
    /// Whether only some variants of an enum have the place.
    is_conditional: bool,
}

/// An array or a map.
#[derive(Debug)]
pub(super) struct List {
    pub(super) at: At,
    /// The largest number of elements, if it is declared.
    pub(super) max: Option<u32>,
    pub(super) is_map: bool,
}

/// What a model declares about the number of elements.
#[derive(Debug, Clone, Copy, Default)]
struct Bound {
    max: Option<u32>,
    /// Whether the declaration has a reason for no bound.
    is_allowed: bool,
}

/// A field that may be missing or null.
#[derive(Debug)]
pub(super) struct Optional {
    /// The place of the document around it.
    pub(super) parent: At,
    pub(super) path: String,
    pub(super) name: &'static str,
    pub(super) rust: &'static str,
    pub(super) is_nullable: bool,
}

/// The places of a model that `advise` measures.
#[derive(Debug, Default)]
pub(super) struct Places {
    pub(super) lists: Vec<List>,
    pub(super) optionals: Vec<Optional>,
    /// The paths of plain strings.
    pub(super) strings: Vec<String>,
}

impl Places {
    pub(super) fn of(model: &'static ModelMeta) -> Self {
        let mut walk = Walk {
            places: Self::default(),
            kept: kept_fields(model),
            open: Vec::new(),
        };
        walk.embedded((model.embedded)(), &At::default());
        walk.places
    }
}

/// The stored names of the top-level fields that are not examined, because odm keeps them or a delete sets them to null.
fn kept_fields(model: &'static ModelMeta) -> Vec<&'static str> {
    let mut names = vec!["_id"];
    for tree in model.trees {
        let parent = tree.parent.map(|(name, _)| name);
        let path = tree.path.map(|(name, _)| name);
        let (left, right) = tree.bounds.unzip();
        let fields = [
            parent,
            tree.children,
            tree.ancestors,
            path,
            left,
            right,
            tree.depth,
            tree.order,
            tree.child_count,
            tree.descendant_count,
        ];
        names.extend(fields.into_iter().flatten());
    }
    // Buckets and overflow documents are filled on purpose.
    names.extend(model.bucket.map(|bucket| bucket.items));
    names.extend(model.overflow.map(|overflow| overflow.list));
    let stored = |rust: &str| {
        let mut fields = (model.embedded)().fields.iter();
        fields.find(|field| field.rust == rust).map(|it| it.name)
    };
    for relation in model.relations() {
        match relation {
            RelationMeta::Recent(recent) => names.extend(stored(recent.field)),
            RelationMeta::Reference(reference) => {
                let mut dependents = reference.target.dependents();
                let is_set_null = dependents.any(|inverse| {
                    (inverse.target)().collection == model.collection
                        && inverse.by.join(".") == reference.name
                });
                if is_set_null {
                    names.extend(stored(&reference.name));
                }
            }
            RelationMeta::Inverse(_) => {}
        }
    }
    names
}

struct Walk {
    places: Places,
    kept: Vec<&'static str>,
    /// The structs and enums around the current place; one that contains itself is entered once.
    open: Vec<&'static EmbeddedMeta>,
}

impl Walk {
    fn embedded(&mut self, meta: &'static EmbeddedMeta, at: &At) {
        if self.open.iter().any(|open| std::ptr::eq(*open, meta)) {
            return;
        }
        self.open.push(meta);
        self.fields(meta.fields, at);
        if let Some(variants) = &meta.variants {
            self.variants(variants, at);
        }
        self.open.pop();
    }

    fn fields(&mut self, fields: &'static [FieldMeta], at: &At) {
        for field in fields {
            if self.is_full() {
                return;
            }
            if field.flatten {
                // A flattened `Option` or enum has its fields in some documents only.
                let is_conditional = at.is_conditional || field.presence != Presence::Always;
                let around = At {
                    is_conditional,
                    ..at.clone()
                };
                if let Shape::Embedded(meta) = field.ty.shape {
                    self.embedded(meta(), &around);
                }
                continue;
            }
            if at.steps.is_empty() && self.kept.contains(&field.name) {
                continue;
            }
            let inside = at.child(field.name);
            if is_optional(field) && !at.is_conditional && !at.steps.contains(&Step::Each) {
                self.places.optionals.push(Optional {
                    parent: at.clone(),
                    path: inside.path.clone(),
                    name: field.name,
                    rust: field.rust,
                    is_nullable: field.ty.nullable,
                });
            }
            let known = self.places.strings.len();
            let bound = Bound {
                max: maximum(field),
                is_allowed: field.unbounded.is_some(),
            };
            self.value(&field.ty, &inside, bound);
            if field.refers_to.is_some() {
                self.places.strings.truncate(known);
            }
        }
    }

    fn variants(&mut self, meta: &'static EnumMeta, at: &At) {
        for variant in meta.variants {
            let mut around = match meta.tagging {
                Tagging::External => at.child(variant.name),
                Tagging::Adjacent { content, .. } => at.child(content),
                Tagging::Internal { .. } | Tagging::Untagged => at.clone(),
            };
            around.is_conditional = true;
            match &variant.content {
                VariantContent::Newtype(ty) => self.value(ty, &around, Bound::default()),
                VariantContent::Struct(fields) => self.fields(fields, &around),
                VariantContent::Unit | VariantContent::Tuple(_) => {}
            }
        }
    }

    fn value(&mut self, ty: &'static TypeMeta, at: &At, bound: Bound) {
        match ty.shape {
            Shape::Embedded(meta) => self.embedded(meta(), at),
            Shape::Array { element, len, .. } => {
                if len.is_none() {
                    self.list(at, bound, false);
                }
                self.value(element, &at.each(false), Bound::default());
            }
            Shape::Map(value) => {
                self.list(at, bound, true);
                self.value(value, &at.each(true), Bound::default());
            }
            Shape::Scalar(types) => {
                if types.contains(&BsonType::String) {
                    self.places.strings.push(at.path.clone());
                }
            }
            Shape::Any | Shape::OneOf(_) | Shape::Tuple(_) | Shape::Reference { .. } => {}
        }
    }

    fn list(&mut self, at: &At, bound: Bound, is_map: bool) {
        if bound.is_allowed {
            return;
        }
        // Variants of an enum can share a place.
        let is_known = |list: &List| list.at.path == at.path && list.at.steps == at.steps;
        if !self.is_full() && !self.places.lists.iter().any(is_known) {
            self.places.lists.push(List {
                at: at.clone(),
                max: bound.max,
                is_map,
            });
        }
    }

    fn is_full(&self) -> bool {
        self.places.lists.len() + self.places.optionals.len() >= MOST
    }
}

fn is_optional(field: &FieldMeta) -> bool {
    let may_lack = field.presence != Presence::Always || field.ty.nullable;
    let is_derived = field.copy_of.is_some() || field.summary.is_some();
    may_lack && !is_derived && !matches!(field.ty.shape, Shape::Any)
}

/// The bound that the rules of a field declare.
fn maximum(field: &FieldMeta) -> Option<u32> {
    let rules = field.rules.iter().chain(field.ty.all_rules());
    let maxima = rules.filter_map(|rule| match rule {
        Rule::Items { max, .. } => *max,
        _ => None,
    });
    maxima.min()
}

impl At {
    fn child(&self, name: &'static str) -> Self {
        let mut path = self.path.clone();
        if !path.is_empty() {
            path.push('.');
        }
        path.push_str(name);
        let mut steps = self.steps.clone();
        steps.push(Step::Name(name));
        Self {
            path,
            steps,
            is_conditional: self.is_conditional,
        }
    }

    fn each(&self, of_map: bool) -> Self {
        let mut inside = self.clone();
        inside.steps.push(Step::Each);
        if of_map {
            inside.path.push_str(".*");
        }
        inside
    }

    /// Calls `visit` with each value at the place. Values of other types than the declared ones lead nowhere.
    pub(super) fn each_value<'a>(
        &self,
        document: &'a RawDocument,
        visit: &mut dyn FnMut(RawBsonRef<'a>),
    ) {
        each_value(RawBsonRef::Document(document), &self.steps, visit);
    }
}

fn each_value<'a>(value: RawBsonRef<'a>, steps: &[Step], visit: &mut dyn FnMut(RawBsonRef<'a>)) {
    let Some((first, rest)) = steps.split_first() else {
        return visit(value);
    };
    match (first, value) {
        (Step::Name(name), RawBsonRef::Document(document)) => {
            if let Ok(Some(value)) = document.get(name) {
                each_value(value, rest, visit);
            }
        }
        (Step::Each, RawBsonRef::Array(elements)) => {
            for element in elements.into_iter().filter_map(Result::ok) {
                each_value(element, rest, visit);
            }
        }
        (Step::Each, RawBsonRef::Document(entries)) => {
            for (_, value) in entries.into_iter().filter_map(Result::ok) {
                each_value(value, rest, visit);
            }
        }
        _ => {}
    }
}
