//! The limits of the documents that MongoDB stores, checked before anything is sent.

use std::sync::{LazyLock, RwLock};

use bson::raw::{RawBsonRef, RawDocument};
use bson::{Bson, Document};
use odm_language::value::raw::{self, Element, Elements};

use super::field::VariantContent;
use super::once::{Found, once};
use super::place::{self, Content, Place, places};
use super::{BsonType, EmbeddedMeta, FieldMeta, ModelMeta, Shape, TypeMeta};
use crate::error::{Error, Result};

/// The most bytes of a document.
const MAX_BYTES: usize = 16 * 1024 * 1024;
/// The most levels of documents and arrays; the document itself is level 1.
const MAX_LEVELS: usize = 180;

/// What the documents of a type can contain.
#[derive(Debug, Default)]
struct Contents {
    /// A map, whose keys the program chooses.
    has_maps: bool,
    /// Documents or arrays on any number of levels.
    is_recursive: bool,
}

static CONTENTS: Found<Contents> = LazyLock::new(RwLock::default);

/// A key of a map that no path can name.
#[derive(Debug, PartialEq)]
pub(crate) struct UnaddressableKey {
    /// The path of the map.
    path: String,
    key: String,
}

/// Checks a document that is inserted, or that replaces another one.
///
/// # Errors
///
/// MongoDB does not store the document, or one of its maps has a key that no path can name.
pub(crate) fn check(model: &'static ModelMeta, document: &RawDocument) -> Result<()> {
    check_except(model, document, None)
}

/// [`check`] for a document that is saved over the one that was loaded, whose keys stay as they are.
pub(crate) fn check_saved(
    model: &'static ModelMeta,
    document: &RawDocument,
    loaded: &RawDocument,
) -> Result<()> {
    check_except(model, document, Some(loaded))
}

fn check_except(
    model: &'static ModelMeta,
    document: &RawDocument,
    loaded: Option<&RawDocument>,
) -> Result<()> {
    check_bytes(model, document)?;
    check_id(document)?;
    let meta = (model.embedded)();
    let contents = once(&CONTENTS, meta, || Ok(Contents::of(meta)))?;
    if contents.is_recursive {
        check_levels(document)?;
    }
    let is_new = |name: &str| {
        let is_loaded = |document| any_name(raw::walk(document), &|other| other == name);
        !is_addressable(name) && !loaded.is_some_and(is_loaded)
    };
    if contents.has_maps && any_name(raw::walk(document), &is_new) {
        let document = Document::try_from(document).map_err(Error::encode)?;
        return match place::find(meta, &document, &key_of_map(&is_new)) {
            Some(key) => Err(Error::usage(key.message()).with_path(key.path)),
            None => Ok(()),
        };
    }
    Ok(())
}

/// The first key of a map in `value` that no path can name, for a value that is stored at `path`, or that is added to the list
/// there if `is_element`.
pub(crate) fn unaddressable_key(
    meta: &'static EmbeddedMeta,
    path: &str,
    value: &Bson,
    is_element: bool,
) -> Option<UnaddressableKey> {
    if !has_unaddressable_name(value) {
        return None;
    }
    let look = key_of_map(&|name| !is_addressable(name));
    // One place that allows the value is enough.
    let mut found = None;
    for place in places(meta, path) {
        let place = if is_element {
            Place::of(place.element()?)
        } else {
            place
        };
        found = Some(place.find(path, value, &look)?);
    }
    found
}

/// Finds the first key of a map that meets a condition.
fn key_of_map(
    condition: &dyn Fn(&str) -> bool,
) -> impl Fn(&Place, &str, &Bson) -> Option<UnaddressableKey> {
    move |place, path, value| {
        let Content::Type(TypeMeta {
            shape: Shape::Map(of),
            ..
        }) = place.content
        else {
            return None;
        };
        // A map of any values, such as a `Document`, has what other programs store.
        let is_open = matches!(of.shape, Shape::Any);
        let entries = value.as_document().filter(|_| !is_open)?;
        let key = entries.keys().find(|key| condition(key))?;
        Some(UnaddressableKey {
            path: path.to_owned(),
            key: key.clone(),
        })
    }
}

impl UnaddressableKey {
    /// The path of the map.
    pub(crate) fn path(&self) -> &str {
        &self.path
    }

    pub(crate) fn message(&self) -> String {
        format!(
            "the key {:?} has a dot or starts with `$`, so filters and updates can't address what is stored under it: use another \
             key, or a list of keys and values; a field of the type `Document` takes any names",
            self.key
        )
    }
}

/// Whether a path can name a field of this name.
fn is_addressable(name: &str) -> bool {
    !name.starts_with('$') && !name.contains('.')
}

fn check_bytes(model: &ModelMeta, document: &RawDocument) -> Result<()> {
    let bytes = document.as_bytes().len() + bytes_of_tag(model, document);
    if bytes <= MAX_BYTES {
        return Ok(());
    }
    let (path, heaviest) = heaviest(document);
    Err(Error::usage(format!(
        "the document has {bytes} bytes, of which {heaviest} are in this field, and MongoDB stores at most {MAX_BYTES}: store files in \
         GridFS, and a list that grows as documents of their own or in buckets"
    ))
    .with_path(path))
}

/// The bytes of the tag that a document of a variant gets on its way to the store.
fn bytes_of_tag(model: &ModelMeta, document: &RawDocument) -> usize {
    let of = model.variant_of.as_ref();
    // The type, the length of the string, and the ends of both texts.
    of.filter(|of| matches!(document.get(of.tag), Ok(None)))
        .map_or(0, |of| of.tag.len() + of.name.len() + 7)
}

/// The path of the field with most of the bytes, down to the last one with more than half of the document, and the bytes of its
/// value.
fn heaviest(document: &RawDocument) -> (String, usize) {
    let half = document.as_bytes().len() / 2;
    let (mut path, mut bytes) = (String::new(), 0);
    let mut elements = Some(raw::walk(document));
    while let Some(heaviest) = elements.and_then(|it| it.max_by_key(|it| it.value_bytes().len())) {
        let of_value = heaviest.value_bytes().len();
        let is_most = of_value > half;
        if !is_most && !path.is_empty() {
            break;
        }
        join(&mut path, heaviest.key().unwrap_or_default());
        bytes = of_value;
        elements = is_most.then(|| heaviest.children()).flatten();
    }
    (path, bytes)
}

fn check_levels(document: &RawDocument) -> Result<()> {
    if !raw::walk(document).is_deeper(MAX_LEVELS) {
        return Ok(());
    }
    let is_deep = |element: &Element<'_>| {
        let below = element.children();
        below.is_some_and(|below| below.is_deeper(MAX_LEVELS - 1))
    };
    let field = raw::walk(document).find(is_deep);
    let field = field.and_then(|it| it.key()).unwrap_or_default();
    Err(Error::too_deep().with_path(field))
}

fn check_id(document: &RawDocument) -> Result<()> {
    let of_type = |ty: &str| {
        Err(Error::usage(format!(
            "MongoDB stores no `_id` that is {ty}: use a string, a number, an ObjectId, or a document of them"
        ))
        .with_path("_id"))
    };
    match raw::get(document, "_id") {
        Some(RawBsonRef::Array(_)) => of_type("an array"),
        Some(RawBsonRef::RegularExpression(_)) => of_type("a regular expression"),
        Some(RawBsonRef::Undefined) => of_type("undefined"),
        Some(RawBsonRef::Document(id)) => {
            let keys = &mut raw::walk(id).filter_map(|it| it.key());
            match keys.find(|name| name.starts_with('$')) {
                Some(name) => Err(Error::usage(format!(
                    "MongoDB stores no `_id` with the field `{name}`: its name starts with `$`"
                ))
                .with_path("_id")),
                None => Ok(()),
            }
        }
        _ => Ok(()),
    }
}

/// Whether a document or an array has a name, on any level, that meets a condition.
fn any_name(mut elements: Elements<'_>, condition: &dyn Fn(&str) -> bool) -> bool {
    elements.any(|element| {
        element.key().is_some_and(condition)
            || (element.children()).is_some_and(|below| any_name(below, condition))
    })
}

fn has_unaddressable_name(value: &Bson) -> bool {
    match value {
        Bson::Document(document) => (document.iter())
            .any(|(name, value)| !is_addressable(name) || has_unaddressable_name(value)),
        Bson::Array(values) => values.iter().any(has_unaddressable_name),
        _ => false,
    }
}

impl Contents {
    fn of(meta: &'static EmbeddedMeta) -> Self {
        let mut contents = Self::default();
        contents.add_struct(meta, &mut Vec::new());
        contents
    }

    fn add_struct(&mut self, meta: &'static EmbeddedMeta, around: &mut Vec<*const EmbeddedMeta>) {
        if around.contains(&std::ptr::from_ref(meta)) {
            self.is_recursive = true;
            return;
        }
        around.push(meta);
        self.add_fields(meta.fields, around);
        for variant in meta.variants.iter().flat_map(|it| it.variants) {
            match &variant.content {
                VariantContent::Struct(list) => self.add_fields(list, around),
                VariantContent::Newtype(ty) => self.add_type(ty, around),
                VariantContent::Tuple(types) => {
                    types.iter().for_each(|ty| self.add_type(ty, around));
                }
                VariantContent::Unit => {}
            }
        }
        around.pop();
    }

    fn add_fields(&mut self, list: &'static [FieldMeta], around: &mut Vec<*const EmbeddedMeta>) {
        for field in list {
            self.add_type(&field.ty, around);
        }
    }

    fn add_type(&mut self, ty: &TypeMeta, around: &mut Vec<*const EmbeddedMeta>) {
        match ty.shape {
            Shape::Any => self.is_recursive = true,
            Shape::Embedded(meta) => self.add_struct(meta(), around),
            Shape::Array { element, .. } => self.add_type(element, around),
            Shape::Tuple(types) => types.iter().for_each(|ty| self.add_type(ty, around)),
            Shape::Map(value) => {
                self.has_maps = true;
                self.add_type(value, around);
            }
            Shape::Scalar(types) => {
                let is_open = |ty| matches!(ty, &BsonType::Object | &BsonType::Array);
                self.is_recursive |= types.iter().any(is_open);
            }
            Shape::Reference { id, .. } => self.add_type(id, around),
            Shape::OneOf(_) => {}
        }
    }
}

fn join(path: &mut String, name: &str) {
    if !path.is_empty() {
        path.push('.');
    }
    path.push_str(name);
}
