//! The declared indexes as `createIndexes` takes them, checked for mistakes that a derive can't see.

mod check;
pub(crate) mod collation;
mod partial;
mod path;
mod shard_key;

use bson::{Bson, Document, doc};

pub(crate) use self::check::MAX_INDEXES;
use self::path::{KeyPath, pattern, resolve};
pub(crate) use self::shard_key::shard_key;
use crate::error::{Error, Result};
use crate::model::{IndexMeta, KeyKind, ModelMeta, Tagging};
use crate::schema::validator::declaration;

/// Returns the specifications of a model's indexes, in declaration order. Each has a name: the declared one,
/// or the default name that every driver would generate (`title_1_year_-1`).
///
/// ```
/// # use odm::prelude::*;
/// #[derive(Debug, Serialize, Deserialize, Document)]
/// #[odm(collection = "books", index(title, year = desc))]
/// struct Book { #[serde(rename = "_id")] id: i32, title: String, year: i32 }
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let indexes = odm::schema::indexes(Book::model())?;
/// assert_eq!(indexes, [doc! {"key": {"title": 1, "year": -1}, "name": "title_1_year_-1"}]);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// A declaration that MongoDB would refuse, now or at the first insert, or that could have no effect: two
/// arrays in one compound index, a TTL on a field that is not a date, the same index twice.
pub fn indexes(meta: &ModelMeta) -> Result<Vec<Document>> {
    Ok(declared(meta)?
        .into_iter()
        .map(|declared| declared.spec)
        .collect())
}

/// A declared index.
#[derive(Debug)]
pub(crate) struct Declared {
    pub(crate) spec: Document,
    /// Whether the declaration names the index, so that an index of another name does not count as this one.
    pub(crate) is_named: bool,
}

/// The declared indexes, checked one by one and against each other.
pub(crate) fn declared(meta: &ModelMeta) -> Result<Vec<Declared>> {
    let with_model = |error: Error| error.with_model(meta.name);
    let mut declared = meta
        .indexes
        .iter()
        .map(|index| {
            let context = |error: Error| error.context(format!("index {}", title(index)));
            one(meta, index).map_err(context)
        })
        .collect::<Result<Vec<_>>>()
        .map_err(with_model)?;
    for variant in meta.variants() {
        declared.extend(self::declared(variant)?);
    }
    if let Some(spec) = meta.index_of_gridfs() {
        let is_other = |index: &Declared| index.spec.get("key") != spec.get("key");
        if declared.iter().all(is_other) {
            let is_named = false;
            declared.push(Declared { spec, is_named });
        }
    }
    shard_key::check(meta, declared.iter_mut().map(|one| &mut one.spec)).map_err(with_model)?;
    check::together(meta, &declared).map_err(with_model)?;
    Ok(declared)
}

/// The index in error messages, as it is declared.
fn title(index: &IndexMeta) -> String {
    if let Some(name) = index.name {
        format!("\"{name}\"")
    } else {
        let keys = index.keys.iter().map(|key| key.path.join("."));
        format!("({})", keys.collect::<Vec<_>>().join(", "))
    }
}

fn one(meta: &ModelMeta, index: &IndexMeta) -> Result<Declared> {
    let keys = index
        .keys
        .iter()
        .map(|key| Ok((resolve((meta.embedded)(), key.path)?, key.kind)))
        .collect::<Result<Vec<_>>>()?;
    check::alone(meta, index, &keys)?;
    let pattern = pattern(&keys);
    let mut spec = doc! {"key": &pattern};
    let variant = variant(meta, index)?;
    let default_name = || match variant {
        None => name(&pattern),
        // Other variants may have an index with the same keys.
        Some((_, variant)) => format!("{}_{variant}", name(&pattern)),
    };
    spec.insert("name", index.name.map_or_else(default_name, str::to_owned));
    for (option, set) in [
        ("unique", index.unique),
        ("sparse", index.sparse),
        ("hidden", index.hidden),
    ] {
        if set {
            spec.insert(option, true);
        }
    }
    let mut filter = index.partial.map(|filter| filter()).transpose()?;
    if let Some(filter) = &filter {
        partial::check(filter)?;
    }
    if let Some((tag, variant)) = variant {
        filter = Some(match filter {
            None => doc! {tag: variant},
            Some(filter) if filter.contains_key(tag) => doc! {"$and": [{tag: variant}, filter]},
            Some(filter) => {
                let mut both = doc! {tag: variant};
                both.extend(filter);
                both
            }
        });
    }
    if let Some(filter) = filter {
        spec.insert("partialFilterExpression", filter);
    }
    if let Some(seconds) = index.expire_after_seconds {
        let seconds = i32::try_from(seconds).map_or(Bson::Int64(seconds.into()), Bson::Int32);
        spec.insert("expireAfterSeconds", seconds);
    }
    add_text_options(meta, index, &keys, &mut spec);
    if let Some(collation) = &index.collation {
        spec.insert("collation", collation::document(collation));
    }
    if !index.wildcard_projection.is_empty() {
        let mut projection = Document::new();
        for (path, included) in index.wildcard_projection {
            let path = resolve((meta.embedded)(), path)?.path;
            projection.insert(path, i32::from(*included));
        }
        spec.insert("wildcardProjection", projection);
    }
    Ok(Declared {
        spec,
        is_named: index.name.is_some(),
    })
}

/// The tag and its value in the documents of the one variant that the index has.
fn variant(meta: &ModelMeta, index: &IndexMeta) -> Result<Option<(&'static str, &'static str)>> {
    if let Some(of) = meta.variant_of {
        return Ok(Some((of.tag, of.name)));
    }
    let Some(variant) = index.variant else {
        return Ok(None);
    };
    let variants = (meta.embedded)().variants.as_ref();
    match variants.map(|variants| variants.tagging) {
        Some(Tagging::Internal { tag }) => Ok(Some((tag, variant))),
        _ => Err(declaration(format!("`{}` has no tag", meta.name))),
    }
}

/// The name that drivers and the shell give an index.
fn name(pattern: &Document) -> String {
    let parts = pattern.iter().map(|(path, kind)| match kind {
        Bson::String(kind) => format!("{path}_{kind}"),
        other => format!("{path}_{other}"),
    });
    parts.collect::<Vec<_>>().join("_")
}

fn add_text_options(
    meta: &ModelMeta,
    index: &IndexMeta,
    keys: &[(KeyPath, KeyKind)],
    spec: &mut Document,
) {
    let mut weights = Document::new();
    let mut is_text = false;
    for (key, kind) in keys {
        if let KeyKind::Text { weight } = *kind {
            is_text = true;
            let path = if key.path.is_empty() {
                "$**"
            } else {
                &key.path
            };
            if weight != 1 {
                weights.insert(path, i64_to_bson(weight.into()));
            }
        }
    }
    if !weights.is_empty() {
        spec.insert("weights", weights);
    }
    if let Some(language) = index.default_language {
        spec.insert("default_language", language);
    }
    if let Some(field) = index.language_override {
        spec.insert("language_override", field);
    }
    // A text index supports only the simple collation, but would inherit the collection's.
    if is_text && index.collation.is_none() && meta.whole().collation.is_some() {
        spec.insert("collation", doc! {"locale": "simple"});
    }
}

/// An int32 where it fits, as a shell user's number would be stored.
pub(crate) fn i64_to_bson(number: i64) -> Bson {
    i32::try_from(number).map_or(Bson::Int64(number), Bson::Int32)
}

#[cfg(test)]
mod tests;
