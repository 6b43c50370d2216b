//! Stored names: the paths of a derive are the paths that serde writes.
//!
//! Values of differently attributed types are serialized and walked beside their metadata: every
//! path that is offered is found (unless it may be missing), with the type that is declared, and every
//! path that is found is offered. Their typed fields lead to the same paths, and encode the same value.

#![expect(
    clippy::unwrap_used,
    reason = "a property that panics is a test that fails"
)]

use std::collections::{BTreeMap, BTreeSet};

use bson::Document;
use odm::bson::Bson;
use odm::model::field::VariantContent;
use odm::model::{
    Embedded as _, EmbeddedMeta, EnumMeta, FieldMeta, FieldType, Path, Presence, Shape, Tagging,
    TypeMeta, VariantMeta,
};
use odm::prelude::*;
use proptest::prelude::*;

/// Where values come from: bytes that proptest makes, and shrinks.
struct Source<'a>(&'a [u8]);

impl Source<'_> {
    fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.0.split_first() else {
            return 0;
        };
        self.0 = rest;
        *first
    }

    fn number(&mut self) -> i32 {
        i32::from(self.byte()) * 7 - 300
    }

    fn text(&mut self) -> String {
        let len = self.byte() % 4;
        (0..len)
            .map(|_| char::from(b'a' + self.byte() % 26))
            .collect()
    }

    fn option<T>(&mut self, make: impl FnOnce(&mut Self) -> T) -> Option<T> {
        (self.byte() % 2 == 1).then(|| make(self))
    }

    fn list<T>(&mut self, mut make: impl FnMut(&mut Self) -> T) -> Vec<T> {
        let len = self.byte() % 3;
        (0..len).map(|_| make(self)).collect()
    }
}

mod shout {
    use serde::Serializer;

    pub(super) fn serialize<S: Serializer>(text: &str, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&text.to_uppercase())
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
fn as_date<S: serde::Serializer>(millis: &i64, serializer: S) -> Result<S::Ok, S::Error> {
    DateTime::from_millis(*millis).serialize(serializer)
}

#[derive(Debug, Clone, Serialize, Embedded)]
#[serde(rename_all = "camelCase")]
struct Whole {
    #[serde(rename = "_id")]
    id: Isbn,
    plain_field: i32,
    #[serde(rename = "other-name")]
    renamed: String,
    r#type: bool,
    nothing_or: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    may_be_missing: Option<String>,
    #[serde(skip)]
    #[expect(dead_code, reason = "it is skipped")]
    never: String,
    #[serde(skip_serializing)]
    #[expect(dead_code, reason = "it is not written")]
    only_read: i32,
    #[serde(skip_deserializing)]
    only_written: f64,
    #[serde(default)]
    defaulted: u32,
    #[serde(with = "shout")]
    #[odm(bson_type = "string")]
    loud: String,
    #[serde(serialize_with = "as_date")]
    #[odm(bson_type = "date")]
    date: i64,
    #[serde(flatten)]
    flat: Flat,
    #[serde(flatten)]
    maybe_flat: Option<Flatter>,
    nested: Nested,
    #[odm(embed(few, max = 10))]
    many: Vec<Nested>,
    boxed: Option<Box<Nested>>,
    #[odm(embed(few, max = 10))]
    map: BTreeMap<String, Nested>,
    set: BTreeSet<i32>,
    pair: (i32, String),
    fixed: [i32; 2],
    wrapped: Wrapped,
    point: Point,
    colour: Colour,
    #[odm(embed(few, max = 10))]
    external: Vec<External>,
    #[odm(embed(few, max = 10))]
    internal: Vec<Internal>,
    #[odm(embed(few, max = 10))]
    adjacent: Vec<Adjacent>,
    #[odm(embed(few, max = 10))]
    untagged: Vec<Untagged>,
    #[serde(flatten)]
    flat_enum: Internal,
    into: Stored,
    kind: Kinded,
}

#[derive(Debug, Clone, PartialEq, Serialize, Embedded)]
struct Isbn(String);

#[derive(Debug, Clone, Serialize, Embedded)]
#[serde(rename_all = "SCREAMING-KEBAB-CASE")]
struct Flat {
    at_this_level: i32,
    #[serde(flatten)]
    deeper: Deeper,
}

#[derive(Debug, Clone, Serialize, Embedded)]
struct Deeper {
    deep: i32,
}

#[derive(Debug, Clone, Serialize, Embedded)]
#[serde(rename_all = "UPPERCASE")]
struct Flatter {
    maybe_here: String,
}

#[derive(Debug, Clone, Serialize, Embedded)]
#[serde(rename_all = "PascalCase")]
struct Nested {
    inner_text: String,
    inner_list: Vec<i32>,
}

#[derive(Debug, Clone, Serialize, Embedded)]
#[serde(transparent)]
struct Wrapped {
    nested: Nested,
    #[serde(skip)]
    #[expect(dead_code, reason = "it is skipped")]
    unit: (),
}

#[derive(Debug, Clone, Serialize, Embedded)]
struct Point(i32, i32);

#[derive(Debug, Clone, Copy, Serialize, Embedded)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
enum Colour {
    DarkRed,
    #[serde(rename = "vert")]
    Green,
}

#[derive(Debug, Clone, Serialize, Embedded)]
#[serde(rename_all = "snake_case", rename_all_fields = "camelCase")]
enum External {
    UnitLike,
    NewType(i32),
    TupleLike(i32, String),
    StructLike {
        long_name: i32,
        other_name: Nested,
    },
    #[serde(rename_all = "kebab-case")]
    Nested {
        long_name: Option<i32>,
    },
}

#[derive(Debug, Clone, Serialize, Embedded)]
#[serde(tag = "internalTag", rename_all = "lowercase")]
enum Internal {
    Empty,
    Holding(Nested),
    Fields {
        own_field: i32,
        #[serde(skip_serializing_if = "Option::is_none")]
        missing: Option<i32>,
    },
}

#[derive(Debug, Clone, Serialize, Embedded)]
#[serde(tag = "t", content = "c")]
enum Adjacent {
    Empty,
    One(String),
    Pair(i32, i32),
    Fields { own: i32 },
}

#[derive(Debug, Clone, Serialize, Embedded)]
#[serde(untagged)]
enum Untagged {
    Number(i32),
    Text(String),
    Fields { this: i32 },
    Struct(Nested),
}

#[derive(Debug, Clone, Serialize, Embedded)]
#[serde(into = "String")]
struct Stored(i32);

impl From<Stored> for String {
    fn from(stored: Stored) -> Self {
        stored.0.to_string()
    }
}

#[derive(Debug, Clone, Serialize, Embedded)]
#[serde(tag = "kind", rename = "sort")]
struct Kinded {
    value: i32,
}

fn nested(source: &mut Source<'_>) -> Nested {
    Nested {
        inner_text: source.text(),
        inner_list: source.list(Source::number),
    }
}

fn internal(source: &mut Source<'_>) -> Internal {
    match source.byte() % 3 {
        0 => Internal::Empty,
        1 => Internal::Holding(nested(source)),
        _ => Internal::Fields {
            own_field: source.number(),
            missing: source.option(Source::number),
        },
    }
}

fn whole(source: &mut Source<'_>) -> Whole {
    Whole {
        id: Isbn(source.text()),
        plain_field: source.number(),
        renamed: source.text(),
        r#type: source.byte().is_multiple_of(2),
        nothing_or: source.option(|source| source.number().into()),
        may_be_missing: source.option(Source::text),
        never: source.text(),
        only_read: source.number(),
        only_written: source.number().into(),
        defaulted: source.byte().into(),
        loud: source.text(),
        date: source.number().into(),
        flat: Flat {
            at_this_level: source.number(),
            deeper: Deeper {
                deep: source.number(),
            },
        },
        maybe_flat: source.option(|source| Flatter {
            maybe_here: source.text(),
        }),
        nested: nested(source),
        many: source.list(nested),
        boxed: source.option(|source| Box::new(nested(source))),
        map: source
            .list(|source| (source.text(), nested(source)))
            .into_iter()
            .collect(),
        set: source.list(Source::number).into_iter().collect(),
        pair: (source.number(), source.text()),
        fixed: [source.number(), source.number()],
        wrapped: Wrapped {
            nested: nested(source),
            unit: (),
        },
        point: Point(source.number(), source.number()),
        colour: if source.byte().is_multiple_of(2) {
            Colour::DarkRed
        } else {
            Colour::Green
        },
        external: source.list(|source| match source.byte() % 5 {
            0 => External::UnitLike,
            1 => External::NewType(source.number()),
            2 => External::TupleLike(source.number(), source.text()),
            3 => External::StructLike {
                long_name: source.number(),
                other_name: nested(source),
            },
            _ => External::Nested {
                long_name: source.option(Source::number),
            },
        }),
        internal: source.list(internal),
        adjacent: source.list(|source| match source.byte() % 4 {
            0 => Adjacent::Empty,
            1 => Adjacent::One(source.text()),
            2 => Adjacent::Pair(source.number(), source.number()),
            _ => Adjacent::Fields {
                own: source.number(),
            },
        }),
        untagged: source.list(|source| match source.byte() % 4 {
            0 => Untagged::Number(source.number()),
            1 => Untagged::Text(source.text()),
            2 => Untagged::Fields {
                this: source.number(),
            },
            _ => Untagged::Struct(nested(source)),
        }),
        flat_enum: internal(source),
        into: Stored(source.number()),
        kind: Kinded {
            value: source.number(),
        },
    }
}

/// The fault in `value` as a `ty`, if any.
fn fits(ty: &TypeMeta, value: &Bson) -> Result<(), String> {
    if *value == Bson::Null && ty.nullable {
        return Ok(());
    }
    match (ty.shape, value) {
        (Shape::Any, _) => Ok(()),
        (Shape::Scalar(types), value) => {
            let alias = alias(value);
            types
                .iter()
                .any(|one| one.alias() == alias)
                .then_some(())
                .ok_or_else(|| format!("{value} is a {alias}, not one of {types:?}"))
        }
        (Shape::OneOf(names), Bson::String(name)) => names
            .contains(&name.as_str())
            .then_some(())
            .ok_or_else(|| format!("{name} is none of {names:?}")),
        (Shape::Array { element, len, .. }, Bson::Array(array)) => {
            if len.is_some_and(|len| len != array.len()) {
                return Err(format!("{} elements, not {len:?}", array.len()));
            }
            array.iter().try_for_each(|value| fits(element, value))
        }
        (Shape::Tuple(types), Bson::Array(array)) => {
            if types.len() != array.len() {
                return Err(format!("{} values, not {}", array.len(), types.len()));
            }
            let mut values = types.iter().zip(array);
            values.try_for_each(|(ty, value)| fits(ty, value))
        }
        (Shape::Map(of), Bson::Document(map)) => map.values().try_for_each(|value| fits(of, value)),
        (Shape::Embedded(meta), value) => shaped(meta(), value),
        (shape, value) => Err(format!("{value} is no {shape:?}")),
    }
}

fn alias(value: &Bson) -> &'static str {
    match value {
        Bson::Double(_) => "double",
        Bson::String(_) => "string",
        Bson::Boolean(_) => "bool",
        Bson::DateTime(_) => "date",
        Bson::Int32(_) => "int",
        Bson::Int64(_) => "long",
        Bson::Null => "null",
        _ => "another",
    }
}

fn shaped(meta: &EmbeddedMeta, value: &Bson) -> Result<(), String> {
    if let (Some(variants), false) = (&meta.variants, matches!(value, Bson::Document(_))) {
        return variants
            .variants
            .iter()
            .any(|one| undocumented(variants.tagging, one, value))
            .then_some(())
            .ok_or_else(|| format!("{value} is no variant of {}", meta.name));
    }
    let Bson::Document(document) = value else {
        return Err(format!("{value} is no {}", meta.name));
    };
    let mut unseen: BTreeSet<&str> = document.keys().map(String::as_str).collect();
    level(meta, document, true, &mut unseen)?;
    if unseen.is_empty() {
        Ok(())
    } else {
        Err(format!(
            "{unseen:?} are stored, but {} does not offer them",
            meta.name
        ))
    }
}

/// Whether a value that is no document is a variant.
fn undocumented(tagging: Tagging, variant: &VariantMeta, value: &Bson) -> bool {
    match (tagging, &variant.content) {
        (Tagging::External, VariantContent::Unit) => {
            *value == Bson::String(variant.name.to_owned())
        }
        (Tagging::Untagged, VariantContent::Newtype(ty)) => fits(ty, value).is_ok(),
        _ => false,
    }
}

/// Takes from `unseen` what `meta` offers at this level; unless `there`, all of it may be missing.
fn level<'a>(
    meta: &EmbeddedMeta,
    document: &'a Document,
    there: bool,
    unseen: &mut BTreeSet<&'a str>,
) -> Result<(), String> {
    fields(meta.fields, document, there, unseen)?;
    if let Some(variants) = &meta.variants {
        let candidates: Vec<_> = variants
            .variants
            .iter()
            .filter_map(|variant| {
                let mut left = unseen.clone();
                of_variant(variants, variant, document, &mut left)
                    .ok()
                    .map(|()| left)
            })
            .collect();
        let best = candidates.into_iter().min_by_key(BTreeSet::len);
        *unseen = best.ok_or_else(|| format!("{document} is no variant of {}", meta.name))?;
    }
    Ok(())
}

fn of_variant<'a>(
    all: &EnumMeta,
    variant: &VariantMeta,
    document: &'a Document,
    unseen: &mut BTreeSet<&'a str>,
) -> Result<(), String> {
    let told = |tag: &str| match document.get_str(tag) {
        Ok(name) if name == variant.name => Ok(()),
        other => Err(format!("the tag is {other:?}")),
    };
    let content = match all.tagging {
        Tagging::Internal { tag } => {
            told(tag)?;
            None
        }
        Tagging::Untagged => None,
        Tagging::Adjacent { tag, content } => {
            told(tag)?;
            unseen.remove(content);
            Some(document.get(content))
        }
        Tagging::External => {
            unseen.remove(variant.name);
            Some(document.get(variant.name))
        }
    };
    match (&variant.content, content) {
        (VariantContent::Unit, None | Some(None)) => Ok(()),
        (VariantContent::Newtype(ty), Some(Some(value))) => fits(ty, value),
        (VariantContent::Tuple(types), Some(Some(Bson::Array(array))))
            if array.len() == types.len() =>
        {
            types
                .iter()
                .zip(array)
                .try_for_each(|(ty, value)| fits(ty, value))
        }
        (VariantContent::Struct(list), Some(Some(Bson::Document(inner)))) => {
            let mut inside = inner.keys().map(String::as_str).collect();
            fields(list, inner, true, &mut inside)?;
            if inside.is_empty() {
                Ok(())
            } else {
                Err(format!("{inside:?} are not offered"))
            }
        }
        (VariantContent::Struct(list), None) => fields(list, document, true, unseen),
        (VariantContent::Newtype(ty), None) => match ty.shape {
            Shape::Embedded(meta) => level(meta(), document, true, unseen),
            _ => Err("no document".to_owned()),
        },
        (_, content) => Err(format!(
            "{content:?} is not the content of {}",
            variant.name
        )),
    }
}

fn fields<'a>(
    list: &[FieldMeta],
    document: &'a Document,
    there: bool,
    unseen: &mut BTreeSet<&'a str>,
) -> Result<(), String> {
    for field in list {
        if field.flatten {
            match field.ty.shape {
                Shape::Embedded(meta) => {
                    level(meta(), document, there && !field.ty.nullable, unseen)?;
                }
                shape => return Err(format!("`{}` is flattened, but a {shape:?}", field.rust)),
            }
        } else if let Some(value) = document.get(field.name) {
            fits(&field.ty, value).map_err(|wrong| format!("`{}`: {wrong}", field.name))?;
            unseen.remove(field.name);
        } else if there && field.presence != Presence::Sometimes {
            return Err(format!("`{}` is offered, but not stored", field.name));
        }
    }
    Ok(())
}

fn stored(value: &Whole) -> Bson {
    Bson::Document(bson::serialize_to_document(value).unwrap())
}

/// The value at a path, found as `Path` prints it.
fn at(document: &Bson, path: &Path) -> Bson {
    path.to_string()
        .split('.')
        .fold(document.clone(), |value, key| {
            value
                .as_document()
                .and_then(|inner| inner.get(key))
                .cloned()
                .unwrap_or(Bson::Null)
        })
}

proptest! {
    #[test]
    fn field_handles_match_stored_names(bytes in proptest::collection::vec(any::<u8>(), 0..160)) {
        let value = whole(&mut Source(&bytes));
        let stored = stored(&value);
        if let Err(wrong) = fits(&<Whole as FieldType>::TYPE, &stored) {
            prop_assert!(false, "{wrong}\nin {stored}");
        }
    }

    #[test]
    fn field_handles_find_and_encode_stored_values(bytes in proptest::collection::vec(any::<u8>(), 0..160)) {
        let value = whole(&mut Source(&bytes));
        let stored = stored(&value);
        let fields = Whole::fields::<Whole>(Path::root());
        macro_rules! same {
            ($($($field:ident).+),* $(,)?) => {$(
                let path = fields.$($field).+.path();
                let filter = fields.$($field).+.eq(value.$($field).+.clone()).to_document().unwrap();
                let sent = filter.get(path.to_string()).cloned();
                let sent = match sent {
                    // `eq` spells out what could be read as an operator
                    Some(Bson::Document(inner)) if inner.contains_key("$eq") => inner.get("$eq").cloned(),
                    other => other,
                };
                prop_assert_eq!(sent, Some(at(&stored, path)), "{}", path);
            )*};
        }
        same!(
            id, plain_field, renamed, r#type, nothing_or, only_written, defaulted, loud, date,
            flat.at_this_level, flat.deeper.deep, nested, nested.inner_text, nested.inner_list, many, map,
            pair, fixed, wrapped, point, colour, external, internal, adjacent,
            untagged, into, kind.value,
        );
    }
}

#[test]
fn the_walk_finds_wrong_paths() {
    let sound = stored(&whole(&mut Source(&[])));
    let ty = <Whole as FieldType>::TYPE;
    assert_eq!(fits(&ty, &sound), Ok(()));
    let changed = |change: fn(&mut Document)| {
        let mut document = sound.as_document().unwrap().clone();
        change(&mut document);
        fits(&ty, &Bson::Document(document)).unwrap_err()
    };
    assert!(changed(|document| drop(document.remove("plainField"))).contains("not stored"));
    assert!(changed(|document| drop(document.insert("plainField", "x"))).contains("is a string"));
    assert!(changed(|document| drop(document.insert("plain_field", 1))).contains("does not offer"));
    assert!(changed(|document| drop(document.insert("colour", "blue"))).contains("is none of"));
}

/// Optional fields are sometimes missing, otherwise the property would test nothing.
#[test]
fn generated_values_vary() {
    let of = |byte: u8| stored(&whole(&mut Source(&[byte; 160])));
    let (all, none) = (of(255), of(0));
    assert!(all.as_document().unwrap().contains_key("mayBeMissing"));
    assert!(!none.as_document().unwrap().contains_key("mayBeMissing"));
    assert!(
        !of(1)
            .as_document()
            .unwrap()
            .get_array("external")
            .unwrap()
            .is_empty()
    );
}
