//! Models from shapes.

mod describe;
mod enums;
mod lists;
mod presence;
mod scalars;

use std::collections::{BTreeMap, HashSet};

use self::presence::Presence;
use super::item::{ANY, ANY_DB_REF, Body, DOCUMENT, Field, Item, Type};
use super::literal::code;
use super::names::{self, Names};
use super::number;
use super::references::{Guess, Guesses};
use super::shape::{Kind, Shape};

pub(super) use self::scalars::scalar;

/// Structs nest at most this deep, because rustc computes their layouts within its recursion limit. Deeper documents are untyped.
const DEEPEST: usize = 32;

/// The options of a pull.
#[derive(Debug, Clone)]
pub(super) struct Choices {
    pub(super) max_variants: usize,
    pub(super) max_fields: usize,
    pub(super) merge_nulls: bool,
}

/// A sampled collection.
#[derive(Debug)]
pub(super) struct Sampled {
    pub(super) collection: String,
    /// The number of all documents.
    pub(super) documents: u64,
    /// The values of the sampled ones, by path.
    pub(super) shape: Shape,
    /// The stored paths that a unique index has as its only key.
    pub(super) unique: HashSet<String>,
    /// The stored paths that are left out.
    pub(super) except: HashSet<String>,
}

/// Makes the items of all collections; the first are the models, in their order.
pub(super) fn items(sampled: &[Sampled], guesses: &Guesses, choices: &Choices) -> Vec<Item> {
    let models = sampled.iter().enumerate();
    let models: BTreeMap<&str, usize> = models
        .map(|(place, one)| (one.collection.as_str(), place))
        .collect();
    let mut inference = Inference {
        items: sampled.iter().map(model).collect(),
        models,
        ids: sampled.iter().map(id_of).collect(),
        guesses,
        choices,
        sampled: None,
        open: Vec::new(),
    };
    for (place, one) in sampled.iter().enumerate() {
        inference.sampled = Some(one);
        inference.open.clear();
        let fields = inference.fields(&one.shape, place, &mut Vec::new());
        if let Some(item) = inference.items.get_mut(place) {
            item.body = Body::Struct(fields);
        }
    }
    inference.items
}

/// A model without its fields.
fn model(sampled: &Sampled) -> Item {
    let name = names::element_type_name(&sampled.collection);
    let read = sampled.shape.of(Kind::Document);
    let collection = code(&sampled.collection);
    let docs = if read == 0 {
        format!("A document of {collection}, which is empty.")
    } else {
        format!(
            "A document of {collection}: {} of {} were read.",
            number::count(read),
            number::count(sampled.documents.max(read))
        )
    };
    Item {
        long_name: format!("{name}Document"),
        name,
        collection: Some(sampled.collection.clone()),
        left_out: Vec::new(),
        is_empty: read == 0,
        docs: vec![docs],
        comments: Vec::new(),
        attributes: Vec::new(),
        body: Body::Struct(Vec::new()),
    }
}

/// The type of a collection's ids, if references to them can be recognized.
fn id_of(sampled: &Sampled) -> Option<Type> {
    let Some(id) = sampled.shape.fields.get("_id") else {
        return Some(Type::Plain("ObjectId"));
    };
    let ty = scalar(id);
    matches!(
        ty,
        Type::Plain("ObjectId" | "i32" | "i64" | "String" | "bson::Uuid")
    )
    .then_some(ty)
}

struct Inference<'a> {
    items: Vec<Item>,
    /// The place of each collection's model.
    models: BTreeMap<&'a str, usize>,
    ids: Vec<Option<Type>>,
    guesses: &'a Guesses,
    choices: &'a Choices,
    sampled: Option<&'a Sampled>,
    /// The items around, each with the key that leads to it.
    open: Vec<(String, usize)>,
}

/// The type of a value, and what is to be said about it.
struct Inferred {
    ty: Type,
    docs: Vec<String>,
}

impl From<Type> for Inferred {
    fn from(ty: Type) -> Self {
        Self {
            ty,
            docs: Vec::new(),
        }
    }
}

impl Inference<'_> {
    /// The fields of documents.
    fn fields(&mut self, shape: &Shape, item: usize, path: &mut Vec<String>) -> Vec<Field> {
        let documents = shape.documents;
        let is_model = path.is_empty();
        let mut idents = Names::default();
        // `_id` is `id`, whatever other field would have the name.
        let id = is_model.then(|| idents.take("id"));
        let mut fields = Vec::new();
        if let Some(ident) = &id
            && shape.fields.get("_id").is_none()
        {
            fields.push(id_field(ident, Type::Id(item), documents));
        }
        let kept = self.kept(shape);
        let (mut left_out, mut excepted) = (Vec::new(), Vec::new());
        for (name, inner) in shape.fields.iter() {
            path.push(name.to_owned());
            if self.is_excepted(path) {
                excepted.push(name.to_owned());
                path.pop();
                continue;
            }
            if !is_declarable(name) || kept.as_ref().is_some_and(|kept| !kept.contains(name)) {
                left_out.push(name.to_owned());
            } else if let (Some(ident), "_id") = (&id, name) {
                fields.push(self.id(inner, item, ident, documents, path));
            } else {
                let ident = idents.take(&names::field(name));
                fields.push(self.field(name, ident, inner, documents, item, path));
            }
            path.pop();
        }
        if !left_out.is_empty() {
            fields.push(rest(&mut idents, &left_out));
        }
        if let Some(item) = self.items.get_mut(item) {
            item.left_out = left_out;
            item.left_out.extend(excepted);
        }
        fields
    }

    /// The most frequent fields, if there are too many to declare them all.
    fn kept<'f>(&self, shape: &'f Shape) -> Option<HashSet<&'f str>> {
        let most = self.choices.max_fields.max(1);
        if shape.fields.len() <= most {
            return None;
        }
        let counts = shape.fields.iter().map(|(name, one)| (one.count(), name));
        let mut counts: Vec<(u64, &str)> = counts.collect();
        counts.sort_by_key(|(count, _)| std::cmp::Reverse(*count));
        Some(
            counts
                .into_iter()
                .take(most)
                .map(|(_, name)| name)
                .collect(),
        )
    }

    fn is_excepted(&self, path: &[String]) -> bool {
        let except = self.sampled.map(|sampled| &sampled.except);
        except.is_some_and(|except| !except.is_empty() && except.contains(&path.join(".")))
    }

    fn id(
        &mut self,
        shape: &Shape,
        model: usize,
        ident: &str,
        documents: u64,
        path: &mut Vec<String>,
    ) -> Field {
        let absent = documents.saturating_sub(shape.count());
        let ty = match shape.only() {
            Some(Kind::ObjectId) if shape.of(Kind::Null) == 0 => Type::Id(model),
            Some(Kind::Document) if shape.of(Kind::Null) == 0 => {
                self.value(shape, "_id", model, path).ty
            }
            _ if shape.of(Kind::Null) == 0 => scalar(shape),
            _ => ANY,
        };
        Field {
            docs: vec![describe::field(shape, absent)],
            ..id_field(ident, ty, documents)
        }
    }

    fn field(
        &mut self,
        name: &str,
        ident: String,
        shape: &Shape,
        documents: u64,
        item: usize,
        path: &mut Vec<String>,
    ) -> Field {
        let absent = documents.saturating_sub(shape.count());
        let Inferred { ty, docs: more } = self.value(shape, name, item, path);
        let ty = lists::degraded(ty, &self.items);
        let ty = self.boxed(ty);
        let odm = lists::bound(&ty, shape, &self.items);
        let presence = Presence {
            is_absent: absent > 0,
            is_null: shape.of(Kind::Null) > 0,
            are_merged: self.choices.merge_nulls,
        };
        let (ty, serde) = presence.declare(ty);
        let mut docs = vec![describe::field(shape, absent)];
        docs.extend(more);
        Field {
            stored: name.to_owned(),
            ident,
            docs,
            comments: Vec::new(),
            serde,
            odm,
            ty,
            is_rest: false,
        }
    }

    /// The type in a `Box`, if it is that of a document around it.
    fn boxed(&self, ty: Type) -> Type {
        let is_around = |item| self.open.iter().any(|(_, open)| *open == item);
        match ty {
            Type::Named(item) if is_around(item) => Type::Boxed(Box::new(ty)),
            other => other,
        }
    }

    /// The type of a value that is not null.
    fn value(&mut self, shape: &Shape, key: &str, item: usize, path: &mut Vec<String>) -> Inferred {
        let guess = self.guesses.get(self.collection(), path);
        if let Some(guess) = guess
            && let Some(target) = self.models.get(guess.target.as_str()).copied()
            && self.ids.get(target).cloned().flatten() == Some(scalar(shape))
        {
            return Inferred {
                ty: Type::Ref(target),
                docs: vec![guess.describe()],
            };
        }
        match shape.only() {
            Some(Kind::Document) => self.document(shape, key, item, path),
            Some(Kind::DbRef) => Inferred {
                ty: self.db_ref(shape),
                docs: guess.map(Guess::describe).into_iter().collect(),
            },
            Some(Kind::Array) => {
                let Some(elements) = shape.elements.as_deref().filter(|one| one.count() > 0) else {
                    return ANY.vec().into();
                };
                self.several(elements, key, item, path, Type::vec)
            }
            Some(Kind::String) => match self.enumeration(shape, key, item, path) {
                Some(item) => Type::Named(item).into(),
                None => scalar(shape).into(),
            },
            _ => scalar(shape).into(),
        }
    }

    /// A list or a map.
    fn several(
        &mut self,
        values: &Shape,
        key: &str,
        item: usize,
        path: &mut Vec<String>,
        around: impl Fn(Type) -> Type,
    ) -> Inferred {
        let Inferred { ty, docs } = self.value(values, key, item, path);
        let is_null = values.of(Kind::Null) > 0 && ty != ANY;
        let ty = if is_null { ty.option() } else { ty };
        Inferred {
            ty: around(ty),
            docs,
        }
    }

    fn document(
        &mut self,
        shape: &Shape,
        key: &str,
        item: usize,
        path: &mut Vec<String>,
    ) -> Inferred {
        if shape.is_recursive {
            let mut open = self.open.iter().rev();
            let around = open.find(|(one, _)| one == key).map(|(_, item)| *item);
            // Documents of two types are at this place.
            let around = around.filter(|_| shape.fields.is_empty());
            return around.map_or(DOCUMENT, Type::Named).into();
        }
        if let Some(entries) = shape.entries.as_deref() {
            path.push("*".to_owned());
            let map = self.several(entries, key, item, path, Type::map);
            path.pop();
            return map;
        }
        if let Some(place) = place(shape) {
            return place.into();
        }
        let has_fields = shape.fields.iter().any(|(name, _)| is_declarable(name));
        if !has_fields || path.len() > DEEPEST {
            return DOCUMENT.into();
        }
        let new = self.add("document", key, item, path, Body::Struct(Vec::new()));
        self.open.push((key.to_owned(), new));
        let fields = self.fields(shape, new, path);
        self.open.pop();
        if let Some(item) = self.items.get_mut(new) {
            item.body = Body::Struct(fields);
        }
        Type::Named(new).into()
    }

    /// Adds an item for the values at a path, and returns its place; `around` is the item that has the path's last field.
    fn add(&mut self, what: &str, key: &str, around: usize, path: &[String], body: Body) -> usize {
        let name = names::element_type_name(key);
        let around = self.items.get(around).map_or("", |item| item.name.as_str());
        let whole = describe::whole(self.collection(), path);
        self.items.push(Item {
            long_name: format!("{around}{name}"),
            name,
            collection: None,
            left_out: Vec::new(),
            is_empty: false,
            docs: vec![format!("A {what} in {}.", code(&whole))],
            comments: Vec::new(),
            attributes: Vec::new(),
            body,
        });
        self.items.len() - 1
    }

    fn db_ref(&self, shape: &Shape) -> Type {
        let mut references = shape.references.keys();
        let (Some(collection), None) = (references.next(), references.next()) else {
            return ANY_DB_REF;
        };
        let Some(target) = self.models.get(collection.as_str()).copied() else {
            return ANY_DB_REF;
        };
        let id = shape
            .elements
            .as_deref()
            .filter(|id| id.of(Kind::Null) == 0);
        let is_same = self.ids.get(target).cloned().flatten() == id.map(scalar);
        if is_same {
            return Type::DbRef(target);
        }
        ANY_DB_REF
    }

    fn collection(&self) -> &str {
        self.sampled
            .map_or("", |sampled| sampled.collection.as_str())
    }
}

/// Whether a field of this name can be declared: MongoDB's paths can't name others.
fn is_declarable(name: &str) -> bool {
    !name.is_empty() && !name.starts_with('$') && !name.contains(['.', '\0'])
}

fn id_field(ident: &str, ty: Type, documents: u64) -> Field {
    let docs = if documents == 0 {
        "The id."
    } else {
        "In none of the documents that were read."
    };
    Field {
        stored: "_id".to_owned(),
        ident: ident.to_owned(),
        docs: vec![docs.to_owned()],
        comments: Vec::new(),
        serde: Vec::new(),
        odm: Vec::new(),
        ty,
        is_rest: false,
    }
}

/// The field that holds what is not declared.
fn rest(idents: &mut Names, left_out: &[String]) -> Field {
    const SHOWN: usize = 5;
    let shown: Vec<String> = left_out.iter().take(SHOWN).map(|name| code(name)).collect();
    let others = left_out.len().saturating_sub(SHOWN);
    let others = if others == 0 {
        String::new()
    } else {
        format!(" and {} others", number::count(others as u64))
    };
    Field {
        stored: String::new(),
        ident: idents.take("rest"),
        docs: vec![format!(
            "The fields that are not declared: {}{others}.",
            shown.join(", ")
        )],
        comments: Vec::new(),
        serde: vec!["flatten".to_owned()],
        odm: Vec::new(),
        ty: DOCUMENT,
        is_rest: true,
    }
}

/// The type of geometries.
fn place(shape: &Shape) -> Option<Type> {
    let places: u64 = shape.places.values().sum();
    if places == 0 || places != shape.of(Kind::Document) {
        return None;
    }
    let mut kinds = shape.places.keys();
    let (Some(kind), None) = (kinds.next(), kinds.next()) else {
        return Some(Type::Plain("geo::Geometry"));
    };
    Some(Type::Plain(match *kind {
        "Point" => "geo::Point",
        "LineString" => "geo::LineString",
        "Polygon" => "geo::Polygon",
        "MultiPoint" => "geo::MultiPoint",
        "MultiLineString" => "geo::MultiLineString",
        "MultiPolygon" => "geo::MultiPolygon",
        _ => "geo::Geometry",
    }))
}

#[cfg(test)]
mod tests;
