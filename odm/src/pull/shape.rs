//! The merged shape of many values: how many there are of each BSON type, and what documents and arrays hold.

mod fields;
mod fold;
mod kind;
mod values;

use std::collections::BTreeMap;

use bson::raw::{RawArray, RawBsonRef, RawDocument};
use bson::spec::BinarySubtype;

pub(super) use self::fields::Fields;
pub(super) use self::kind::Kind;
pub(super) use self::values::{Value, Values};
use crate::types::geo::Geometry;

/// Documents nest at most this deep, in MongoDB and here.
const DEEPEST: usize = 256;

/// The values at one path.
#[derive(Debug, Default, Clone)]
pub(super) struct Shape {
    /// The number of values of each type.
    pub(super) kinds: BTreeMap<Kind, u64>,
    /// The fields of the documents.
    pub(super) fields: Fields,
    /// The number of documents that `fields` are those of: with the documents of the same type below.
    pub(super) documents: u64,
    /// The values of documents whose keys are data.
    pub(super) entries: Option<Box<Self>>,
    /// The elements of the arrays.
    pub(super) elements: Option<Box<Self>>,
    /// The length of the longest array, or the number of fields of the largest document.
    pub(super) most: usize,
    /// Different scalars.
    pub(super) values: Values,
    /// Whether a `double` can't hold one of the integers.
    pub(super) exceeds_double: bool,
    /// The number of DBRefs to each collection.
    pub(super) references: BTreeMap<String, u64>,
    /// The number of geometries of each type.
    pub(super) places: BTreeMap<&'static str, u64>,
    /// Whether the documents are of the type of the nearest document around them that the same key leads to.
    pub(super) is_recursive: bool,
}

impl Shape {
    /// The number of values.
    pub(super) fn count(&self) -> u64 {
        self.kinds.values().sum()
    }

    /// The number of values of one type.
    pub(super) fn of(&self, kind: Kind) -> u64 {
        self.kinds.get(&kind).copied().unwrap_or(0)
    }

    /// The types of the values that are not null.
    pub(super) fn types(&self) -> impl Iterator<Item = Kind> + Clone {
        let kinds = self.kinds.keys().copied();
        kinds.filter(|kind| *kind != Kind::Null)
    }

    /// The only type of the values that are not null.
    pub(super) fn only(&self) -> Option<Kind> {
        let mut types = self.types();
        types.next().filter(|_| types.next().is_none())
    }

    /// Adds a document, with the fields that it holds.
    pub(super) fn add_document(&mut self, document: &RawDocument) -> Result<(), String> {
        self.document(document, 1)
    }

    fn add(&mut self, value: RawBsonRef<'_>, depth: usize) -> Result<(), String> {
        match value {
            RawBsonRef::Document(document) => return self.document(document, depth + 1),
            RawBsonRef::Array(array) => return self.array(array, depth + 1),
            _ => {}
        }
        self.found(Kind::of(value));
        match value {
            RawBsonRef::Int32(number) => self.values.add(Value::Int(number.into())),
            RawBsonRef::Int64(number) => {
                self.exceeds_double |= number.unsigned_abs() > 1 << 53;
                self.values.add(Value::Int(number));
            }
            RawBsonRef::String(text) => match Value::text(text) {
                Some(value) => self.values.add(value),
                None => self.values.leave_out(),
            },
            RawBsonRef::ObjectId(id) => self.values.add(Value::ObjectId(id)),
            RawBsonRef::Binary(binary) if binary.subtype == BinarySubtype::Uuid => {
                if let Ok(bytes) = <[u8; 16]>::try_from(binary.bytes) {
                    self.values.add(Value::Uuid(bytes));
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn found(&mut self, kind: Kind) {
        *self.kinds.entry(kind).or_default() += 1;
    }

    fn array(&mut self, array: &RawArray, depth: usize) -> Result<(), String> {
        check_depth(depth)?;
        self.found(Kind::Array);
        let elements = self.elements.get_or_insert_default();
        let mut count = 0;
        for element in array {
            elements.add(element.map_err(|error| error.to_string())?, depth)?;
            count += 1;
        }
        self.most = self.most.max(count);
        Ok(())
    }

    fn document(&mut self, document: &RawDocument, depth: usize) -> Result<(), String> {
        check_depth(depth)?;
        if let Some(collection) = db_ref(document) {
            self.found(Kind::DbRef);
            *self.references.entry(collection.to_owned()).or_default() += 1;
            let id = document.get("$id").ok().flatten();
            // The type and the values of the id are those of a list's only element.
            if let Some(id) = id {
                self.elements.get_or_insert_default().add(id, depth)?;
            }
            return Ok(());
        }
        self.found(Kind::Document);
        self.documents += 1;
        if let Some(kind) = place(document) {
            *self.places.entry(kind).or_default() += 1;
        }
        let fields: Result<Vec<_>, _> = document.iter().collect();
        let fields = fields.map_err(|error| error.to_string())?;
        for (place, (name, value)) in fields.iter().enumerate() {
            let name = name.as_str();
            let following = fields.iter().skip(place + 1).map(|(name, _)| name.as_str());
            let shape = self.fields.entry(name, following);
            shape
                .add(*value, depth)
                .map_err(|error| format!("{name}: {error}"))?;
        }
        self.most = self.most.max(fields.len());
        Ok(())
    }

    /// Adds the values of another shape.
    pub(super) fn merge(&mut self, other: Self) {
        for (kind, count) in other.kinds {
            *self.kinds.entry(kind).or_default() += count;
        }
        for (collection, count) in other.references {
            *self.references.entry(collection).or_default() += count;
        }
        for (kind, count) in other.places {
            *self.places.entry(kind).or_default() += count;
        }
        merge_boxed(&mut self.entries, other.entries);
        merge_boxed(&mut self.elements, other.elements);
        self.most = self.most.max(other.most);
        self.documents += other.documents;
        self.exceeds_double |= other.exceeds_double;
        self.is_recursive |= other.is_recursive;
        self.values.merge(other.values);
        let mut fields = other.fields.into_list().into_iter();
        while let Some((name, shape)) = fields.next() {
            let following = fields.as_slice().iter().map(|(name, _)| name.as_str());
            self.fields.entry(&name, following).merge(shape);
        }
    }
}

fn merge_boxed(own: &mut Option<Box<Shape>>, other: Option<Box<Shape>>) {
    match (own, other) {
        (Some(own), Some(other)) => own.merge(*other),
        (own @ None, other) => *own = other,
        (Some(_), None) => {}
    }
}

fn check_depth(depth: usize) -> Result<(), String> {
    if depth > DEEPEST {
        return Err(format!("it nests more than {DEEPEST} levels deep"));
    }
    Ok(())
}

/// The collection of a DBRef: a document that starts with a string `$ref`, followed by `$id`.
fn db_ref(document: &RawDocument) -> Option<&str> {
    let mut fields = document.iter().map_while(Result::ok);
    match (fields.next()?, fields.next()?) {
        ((first, RawBsonRef::String(collection)), (second, _))
            if first.as_str() == "$ref" && second.as_str() == "$id" =>
        {
            Some(collection)
        }
        _ => None,
    }
}

/// The type of a geometry that `odm::geo` reads and writes unchanged.
fn place(document: &RawDocument) -> Option<&'static str> {
    let mut fields = document.iter().map_while(Result::ok);
    let ((first, kind), (second, _), None) = (fields.next()?, fields.next()?, fields.next()) else {
        return None;
    };
    if first.as_str() != "type" || second.as_str() != "coordinates" {
        return None;
    }
    let kinds = [
        "LineString",
        "MultiLineString",
        "MultiPoint",
        "MultiPolygon",
        "Point",
        "Polygon",
    ];
    let kind = kinds.into_iter().find(|one| kind.as_str() == Some(one))?;
    let geometry: Geometry = bson::deserialize_from_slice(document.as_bytes()).ok()?;
    let written = bson::serialize_to_vec(&geometry).ok()?;
    (written == document.as_bytes()).then_some(kind)
}

#[cfg(test)]
mod tests;
