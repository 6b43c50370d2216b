//! Turns JSON values into what a model stores, by the declared types of its fields.

use std::fmt;

use bson::oid::ObjectId;
use bson::spec::BinarySubtype;
use bson::{Binary, Bson, DateTime, Document, Regex, Timestamp, Uuid};
use odm_language::value::decimal::Decimal;

use super::extended::{instant, marked, spelled};
use crate::model::field::VariantContent;
use crate::model::{
    BsonType, EmbeddedMeta, EnumMeta, FieldMeta, Presence, Shape, Tagging, TypeMeta,
};

/// A value that has no form of its declared type.
#[derive(Debug)]
pub(super) struct Mismatch {
    /// From the innermost name to the outermost.
    path: Vec<String>,
    message: String,
}

impl Mismatch {
    fn inside(mut self, name: impl fmt::Display) -> Self {
        self.path.push(name.to_string());
        self
    }
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.path.iter().rev().map(String::as_str).collect();
        if !names.is_empty() {
            write!(f, "{}: ", names.join("."))?;
        }
        f.write_str(&self.message)
    }
}

impl From<String> for Mismatch {
    fn from(message: String) -> Self {
        Self {
            path: Vec::new(),
            message,
        }
    }
}

type Conformed = Result<Bson, Mismatch>;

/// A value whose type does not say what is inside.
fn undeclared(json: Bson) -> Conformed {
    spelled(json).map_err(Mismatch::from)
}

/// Whether objects of this type are only objects, whatever their keys are.
fn is_verbatim(ty: &TypeMeta) -> bool {
    match ty.shape {
        Shape::Any => ty.contents.is_verbatim,
        Shape::Map(element) => is_verbatim(element),
        _ => false,
    }
}

/// Converts what JSON has no type for. A value of another shape than the declared one stays as it is: the type's own
/// `Deserialize` reports it, or reads it (`with`, `default`, `alias`).
pub(super) fn conform(json: Bson, ty: &TypeMeta) -> Conformed {
    if is_verbatim(ty) {
        return Ok(json);
    }
    let json = match json {
        Bson::Document(fields) if marked(&fields).is_some() => undeclared(fields.into())?,
        other => other,
    };
    match (&ty.shape, json) {
        (Shape::Scalar(types), json) => scalar(undeclared(json)?, types),
        (Shape::Reference { id, .. }, json) => conform(json, id),
        (Shape::Array { element, .. }, Bson::Array(elements)) => {
            let conformed = elements
                .into_iter()
                .enumerate()
                .map(|(index, value)| conform(value, element).map_err(|error| error.inside(index)));
            conformed.collect::<Result<_, _>>().map(Bson::Array)
        }
        (Shape::Tuple(types), Bson::Array(values)) => {
            let mut types = types.iter();
            let conformed = values.into_iter().enumerate().map(|(index, value)| {
                // The type's `Deserialize` reports a value too many.
                let ty = types.next().unwrap_or(&TypeMeta::ANY);
                conform(value, ty).map_err(|error| error.inside(index))
            });
            conformed.collect::<Result<_, _>>().map(Bson::Array)
        }
        (Shape::Map(element), Bson::Document(fields)) => {
            each(fields, |_, _| Some(Declared::Type(**element))).map(Bson::Document)
        }
        (Shape::Embedded(meta), json) => embedded(json, meta()),
        (
            Shape::Any | Shape::OneOf(_) | Shape::Array { .. } | Shape::Tuple(_) | Shape::Map(_),
            json,
        ) => undeclared(json),
    }
}

/// The declaration of a field.
enum Declared {
    Type(TypeMeta),
    /// The content of a variant of a flattened enum.
    Content(&'static VariantContent),
}

/// Converts the fields of a document, each to what `declared` gives for its name in this document.
fn each(
    fields: Document,
    declared: impl Fn(&str, &Document) -> Option<Declared>,
) -> Result<Document, Mismatch> {
    let declarations: Vec<_> = fields.keys().map(|name| declared(name, &fields)).collect();
    let conformed = fields
        .into_iter()
        .zip(declarations)
        .map(|((name, value), declared)| {
            let value = match declared {
                Some(Declared::Type(ty)) => conform(value, &ty),
                Some(Declared::Content(content)) => contents(value, content),
                None => undeclared(value),
            };
            match value {
                Ok(value) => Ok((name, value)),
                Err(error) => Err(error.inside(name)),
            }
        });
    conformed.collect()
}

fn embedded(json: Bson, meta: &'static EmbeddedMeta) -> Conformed {
    let Some(variants) = &meta.variants else {
        return match json {
            Bson::Document(fields) => {
                each(fields, |name, whole| declared(meta.fields, name, whole)).map(Bson::Document)
            }
            other => undeclared(other),
        };
    };
    match variants.tagging {
        Tagging::External => match json {
            Bson::Document(fields) => {
                let content = |name: &str, _: &_| variant(variants, name).map(Declared::Content);
                each(fields, content).map(Bson::Document)
            }
            other => undeclared(other),
        },
        Tagging::Internal { tag } => match json
            .as_document()
            .and_then(|whole| tagged(whole, tag, variants))
        {
            Some(content) => contents(json, content),
            None => undeclared(json),
        },
        Tagging::Adjacent { tag, content } => {
            let declared = json
                .as_document()
                .and_then(|whole| tagged(whole, tag, variants));
            match (declared, json) {
                (Some(declared), Bson::Document(mut fields)) => {
                    if let Some(value) = fields.get_mut(content) {
                        let json = std::mem::replace(value, Bson::Null);
                        *value = contents(json, declared).map_err(|error| error.inside(content))?;
                    }
                    Ok(Bson::Document(fields))
                }
                (_, json) => undeclared(json),
            }
        }
        Tagging::Untagged => untagged(json, variants),
    }
}

/// The content of the variant that the tag of a document names.
fn tagged(
    whole: &Document,
    tag: &str,
    variants: &'static EnumMeta,
) -> Option<&'static VariantContent> {
    variant(variants, whole.get_str(tag).ok()?)
}

fn variant(variants: &'static EnumMeta, name: &str) -> Option<&'static VariantContent> {
    let mut all = variants.variants.iter();
    all.find(|one| one.name == name).map(|one| &one.content)
}

fn contents(json: Bson, content: &'static VariantContent) -> Conformed {
    match (content, json) {
        (VariantContent::Newtype(ty), json) => conform(json, ty),
        (VariantContent::Tuple(types), Bson::Array(elements)) => {
            let conformed =
                elements
                    .into_iter()
                    .enumerate()
                    .map(|(index, value)| match types.get(index) {
                        Some(ty) => conform(value, ty).map_err(|error| error.inside(index)),
                        None => undeclared(value),
                    });
            conformed.collect::<Result<_, _>>().map(Bson::Array)
        }
        (VariantContent::Struct(declarations), Bson::Document(fields)) => {
            each(fields, |name, whole| declared(declarations, name, whole)).map(Bson::Document)
        }
        (_, json) => undeclared(json),
    }
}

/// Converts by the first variant whose shape the value has, as serde chooses one. If no variant has it, because a `with` writes
/// a field in another form, the first variant that can be converted is taken.
fn untagged(json: Bson, variants: &'static EnumMeta) -> Conformed {
    let all = || variants.variants.iter().map(|one| &one.content);
    let converted = |content| contents(json.clone(), content).ok();
    let mut fitting = all().filter(|content| fits(&json, content));
    let fitting = fitting.find_map(converted);
    match fitting.or_else(|| all().find_map(converted)) {
        Some(value) => Ok(value),
        None => undeclared(json),
    }
}

/// Whether JSON has the shape of a variant.
fn fits(json: &Bson, content: &VariantContent) -> bool {
    match content {
        VariantContent::Unit => json.as_null().is_some(),
        VariantContent::Newtype(ty) => has_shape(json, ty),
        VariantContent::Tuple(types) => json
            .as_array()
            .is_some_and(|elements| elements.len() == types.len()),
        VariantContent::Struct(fields) => has_fields(json, fields),
    }
}

fn has_shape(json: &Bson, ty: &TypeMeta) -> bool {
    if ty.nullable && json.as_null().is_some() {
        return true;
    }
    match ty.shape {
        Shape::Any => true,
        Shape::Scalar(types) => {
            let read = undeclared(json.clone()).and_then(|json| scalar(json, types));
            read.is_ok_and(|value| types.iter().any(|ty| is(&value, *ty)))
        }
        Shape::OneOf(names) => json.as_str().is_some_and(|text| names.contains(&text)),
        Shape::Array { element, .. } => json
            .as_array()
            .is_some_and(|all| all.iter().all(|one| has_shape(one, element))),
        Shape::Tuple(types) => json.as_array().is_some_and(|values| {
            let mut pairs = values.iter().zip(types);
            values.len() == types.len() && pairs.all(|(value, ty)| has_shape(value, ty))
        }),
        Shape::Map(_) => json.as_document().is_some(),
        Shape::Embedded(meta) => match &meta().variants {
            None => has_fields(json, meta().fields),
            Some(_) => true,
        },
        Shape::Reference { id, .. } => has_shape(json, id),
    }
}

/// Whether a document has the fields that reading needs, each of its shape.
fn has_fields(json: &Bson, fields: &[FieldMeta]) -> bool {
    let Some(document) = json.as_document() else {
        return false;
    };
    fields.iter().all(|field| {
        if field.flatten {
            return field.ty.nullable || has_shape(json, &field.ty);
        }
        match document.get(field.name) {
            Some(value) => has_shape(value, &field.ty),
            None => field.presence != Presence::Always,
        }
    })
}

/// Whether a value has the type, as far as JSON and [`scalar`] make a difference.
fn is(value: &Bson, ty: BsonType) -> bool {
    match ty {
        BsonType::Double => matches!(value, Bson::Double(_) | Bson::Int32(_) | Bson::Int64(_)),
        BsonType::String | BsonType::JavaScript => matches!(value, Bson::String(_)),
        BsonType::Object => matches!(value, Bson::Document(_)),
        BsonType::Array => matches!(value, Bson::Array(_)),
        BsonType::Binary => matches!(value, Bson::Binary(_)),
        BsonType::ObjectId => matches!(value, Bson::ObjectId(_)),
        BsonType::Bool => matches!(value, Bson::Boolean(_)),
        BsonType::Date => matches!(value, Bson::DateTime(_)),
        BsonType::Null => matches!(value, Bson::Null),
        BsonType::Regex => matches!(value, Bson::RegularExpression(_)),
        BsonType::Int | BsonType::Long => matches!(value, Bson::Int32(_) | Bson::Int64(_)),
        BsonType::Timestamp => matches!(value, Bson::Timestamp(_)),
        BsonType::Decimal => matches!(value, Bson::Decimal128(_)),
        BsonType::JavaScriptWithScope => matches!(value, Bson::JavaScriptCodeWithScope(_)),
        BsonType::MinKey => matches!(value, Bson::MinKey),
        BsonType::MaxKey => matches!(value, Bson::MaxKey),
    }
}

/// The declaration of the field of this name, which may come from a flattened struct, enum or map.
fn declared(fields: &'static [FieldMeta], name: &str, whole: &Document) -> Option<Declared> {
    let mut own = fields.iter().filter(|field| !field.flatten);
    if let Some(field) = own.find(|field| field.name == name) {
        return Some(Declared::Type(field.ty));
    }
    let flattened = || fields.iter().filter(|field| field.flatten);
    let of_struct = flattened().find_map(|field| match field.ty.shape {
        Shape::Embedded(meta) => flat(meta(), name, whole),
        _ => None,
    });
    // A map takes what nothing else has declared.
    of_struct.or_else(|| {
        flattened().find_map(|field| match field.ty.shape {
            Shape::Map(element) => Some(Declared::Type(*element)),
            _ => None,
        })
    })
}

/// The same in a flattened struct, or in the variant of a flattened enum that the document has.
fn flat(meta: &'static EmbeddedMeta, name: &str, whole: &Document) -> Option<Declared> {
    if let Some(own) = declared(meta.fields, name, whole) {
        return Some(own);
    }
    let variants = meta.variants.as_ref()?;
    let content = match variants.tagging {
        Tagging::External => return variant(variants, name).map(Declared::Content),
        Tagging::Adjacent { tag, content } => {
            let content = (name == content).then_some(());
            return content.and_then(|()| tagged(whole, tag, variants).map(Declared::Content));
        }
        Tagging::Internal { tag } => tagged(whole, tag, variants)?,
        Tagging::Untagged => {
            let json = Bson::Document(whole.clone());
            let mut all = variants.variants.iter().map(|one| &one.content);
            all.find(|content| fits(&json, content))?
        }
    };
    match content {
        VariantContent::Struct(fields) => declared(fields, name, whole),
        VariantContent::Newtype(TypeMeta {
            shape: Shape::Embedded(meta),
            ..
        }) => flat(meta(), name, whole),
        _ => None,
    }
}

/// Converts a value that is of none of these types. Of several types, the first that can be read counts.
fn scalar(json: Bson, types: &[BsonType]) -> Conformed {
    if matches!(json, Bson::Null) || types.iter().any(|ty| is(&json, *ty)) {
        return Ok(json);
    }
    let mut expected = None;
    for ty in types {
        match convert(&json, *ty) {
            Ok(Some(value)) => return Ok(value),
            Ok(None) => {}
            Err(what) => expected = expected.or(Some(what)),
        }
    }
    match expected {
        // Types that JSON has may read it: `with`.
        Some(what) if types.len() == 1 => Err(Mismatch {
            path: Vec::new(),
            message: format!("expected {what}, found {}", Shown(&json)),
        }),
        _ => Ok(json),
    }
}

/// A value in a message: long texts are cut, and objects and arrays are only named.
struct Shown<'a>(&'a Bson);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Bson::String(text) if text.chars().count() > 60 => {
                let start: String = text.chars().take(60).collect();
                write!(f, "{:?}", start + "…")
            }
            Bson::Document(_) => f.write_str("an object"),
            Bson::Array(_) => f.write_str("an array"),
            other => write!(f, "{other}"),
        }
    }
}

/// The value as a type that JSON does not have. The error says what was expected.
fn convert(json: &Bson, ty: BsonType) -> Result<Option<Bson>, &'static str> {
    let text = json.as_str();
    let (read, expected) = match ty {
        BsonType::ObjectId => (
            text.and_then(|text| ObjectId::parse_str(text).ok())
                .map(Bson::ObjectId),
            "an id of 24 hexadecimal digits",
        ),
        BsonType::Date => (
            match json {
                Bson::Int32(millis) => Some(i64::from(*millis)),
                Bson::Int64(millis) => Some(*millis),
                _ => None,
            }
            .map(DateTime::from_millis)
            .or_else(|| instant(text?).ok())
            .map(Bson::DateTime),
            "a date as text in the form of RFC 3339, with at most milliseconds, such as \"2026-04-02T10:30:00.123Z\"",
        ),
        BsonType::Decimal => (
            text.and_then(Decimal::read_exact).map(Bson::Decimal128),
            "a decimal number as text, such as \"9.99\"",
        ),
        BsonType::Binary => (
            binary(json).map(Bson::Binary),
            "binary data as base64 text, or a hyphenated UUID",
        ),
        BsonType::Timestamp => (
            timestamp(json).map(Bson::Timestamp),
            "a timestamp, such as {\"t\": 1, \"i\": 2}",
        ),
        BsonType::Regex => (
            regex(json).map(Bson::RegularExpression),
            "a regular expression, such as {\"pattern\": \"^a\", \"options\": \"i\"}",
        ),
        _ => return Ok(None),
    };
    read.map(Some).ok_or(expected)
}

fn binary(json: &Bson) -> Option<Binary> {
    match json {
        // Base64 has no hyphens.
        Bson::String(text) if text.len() == 36 && text.contains('-') => {
            Uuid::parse_str(text).ok().map(Binary::from)
        }
        Bson::String(text) => Binary::from_base64(text, None).ok(),
        Bson::Document(fields) if fields.len() == 2 => {
            let subtype = fields.get_str("subType").ok()?;
            let subtype = BinarySubtype::from(u8::from_str_radix(subtype, 16).ok()?);
            Binary::from_base64(fields.get_str("base64").ok()?, subtype).ok()
        }
        // A list of numbers is what serde makes of bytes.
        Bson::Array(elements) => {
            let byte = |value: &Bson| match value {
                Bson::Int32(number) => u8::try_from(*number).ok(),
                _ => None,
            };
            Some(Binary {
                subtype: BinarySubtype::Generic,
                bytes: elements.iter().map(byte).collect::<Option<_>>()?,
            })
        }
        _ => None,
    }
}

fn timestamp(json: &Bson) -> Option<Timestamp> {
    let fields = json.as_document().filter(|fields| fields.len() == 2)?;
    let part = |name| match fields.get(name)? {
        Bson::Int32(number) => u32::try_from(*number).ok(),
        Bson::Int64(number) => u32::try_from(*number).ok(),
        _ => None,
    };
    Some(Timestamp {
        time: part("t")?,
        increment: part("i")?,
    })
}

fn regex(json: &Bson) -> Option<Regex> {
    let fields = json.as_document()?;
    let options = match fields.get("options") {
        None => "",
        Some(options) => options.as_str()?,
    };
    // Sorted, as MongoDB stores them.
    let mut options: Vec<char> = options.chars().collect();
    options.sort_unstable();
    Some(Regex {
        pattern: fields.get_str("pattern").ok()?.to_owned().try_into().ok()?,
        options: options.into_iter().collect::<String>().try_into().ok()?,
    })
}
