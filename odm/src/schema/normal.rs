//! MongoDB's normal form of indexes and collection options, in which a declaration can be compared with what
//! `listIndexes` and `listCollections` return.
//!
//! MongoDB fills in collations, folds the text keys of an index into `_fts` and `_ftsx` with weights in the
//! order of their names, drops options that are off, and keeps the types of numbers. This module compares
//! numbers by value.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use bson::{Bson, Document, doc};

use odm_language::value::collation::{Customs, customs};
use odm_language::value::order;

/// One index, as the server would list it.
#[derive(Debug, Clone)]
pub(crate) struct NormalIndex {
    pub(crate) name: String,
    pub(crate) key: Document,
    pub(crate) unique: bool,
    pub(crate) sparse: bool,
    pub(crate) hidden: bool,
    pub(crate) expire_after_seconds: Option<i64>,
    partial: Option<Document>,
    collation: Option<Document>,
    text: Option<Text>,
    wildcard_projection: Option<BTreeMap<String, bool>>,
}

#[derive(Debug, Clone, PartialEq)]
struct Text {
    weights: BTreeMap<String, i64>,
    default_language: String,
    language_override: String,
}

impl NormalIndex {
    /// Reads a specification, declared or listed; `default` is the collection's collation, which
    /// an index without one of its own inherits.
    pub(crate) fn read(spec: &Document, default: Option<&Document>) -> Self {
        let key = spec.get_document("key").cloned().unwrap_or_default();
        let (key, text_fields) = fold_text(key);
        let is_text = key.contains_key("_fts");
        let flag = |name: &str| spec.get(name).is_some_and(is_truthy);
        Self {
            name: spec.get_str("name").unwrap_or_default().to_owned(),
            unique: flag("unique"),
            sparse: flag("sparse"),
            hidden: flag("hidden"),
            expire_after_seconds: spec.get("expireAfterSeconds").and_then(integer),
            partial: spec.get_document("partialFilterExpression").ok().cloned(),
            collation: match spec.get_document("collation") {
                Ok(given) => collation(given, customs),
                Err(_) => default.and_then(|inherited| collation(inherited, general)),
            },
            text: is_text.then(|| Text::read(spec, text_fields)),
            wildcard_projection: spec
                .get_document("wildcardProjection")
                .ok()
                .map(|projection| {
                    let mut paths = BTreeMap::new();
                    flatten("", projection, &mut paths);
                    paths
                }),
            key,
        }
    }

    pub(crate) fn is_text(&self) -> bool {
        self.text.is_some()
    }

    /// Whether MongoDB considers the two the same index. A collection can have it only once, whatever the
    /// names and the other options.
    pub(crate) fn is_equivalent(&self, other: &Self) -> bool {
        if self.is_text() || other.is_text() {
            return self.is_text() == other.is_text();
        }
        same(&self.key, &other.key)
            && self.unique == other.unique
            && self.sparse == other.sparse
            && same_option(self.partial.as_ref(), other.partial.as_ref())
            && self.collation == other.collation
            && self.wildcard_projection == other.wildcard_projection
    }

    /// Whether this index serves the queries that `other` serves: the keys of `other` are its first keys, in the same
    /// directions or all in the opposite ones, and both index the same documents by the same collation.
    pub(crate) fn covers(&self, other: &Self) -> bool {
        let directions = |index: &Self| -> Option<Vec<bool>> {
            let kinds = index.key.iter();
            kinds.map(|(_, kind)| Some(integer(kind)? > 0)).collect()
        };
        let (Some(own), Some(others)) = (directions(self), directions(other)) else {
            return false;
        };
        let is_longer = own.len() > others.len();
        let is_wildcard = self.key.keys().any(|path| path.contains("$**"));
        let same_paths = self.key.keys().zip(other.key.keys()).all(|(a, b)| a == b);
        let mut turned = own.iter().zip(&others).map(|(a, b)| a != b);
        let first = turned.next();
        let same_order = turned.all(|one| Some(one) == first);
        let same_documents = self.sparse == other.sparse
            && same_option(self.partial.as_ref(), other.partial.as_ref());
        is_longer
            && !is_wildcard
            && same_paths
            && same_order
            && same_documents
            && !self.hidden
            && self.collation == other.collation
    }

    /// Whether the collation makes no difference between upper and lower case.
    pub(crate) fn ignores_case(&self) -> bool {
        self.collation.as_ref().is_some_and(|collation| {
            let strength = collation.get("strength").and_then(integer);
            let compares_case = collation.get_bool("caseLevel").unwrap_or(false);
            strength.is_some_and(|strength| strength <= 2) && !compares_case
        })
    }

    /// Whether `collMod` can turn this index into `declared` just by making it unique.
    pub(crate) fn only_becomes_unique(&self, declared: &Self) -> bool {
        let unique = Self {
            unique: true,
            ..self.clone()
        };
        self.unique != declared.unique && unique.fixed_differences(declared).is_empty()
    }

    /// The differences that can't be changed in place, in words: `sparse is false, declared true`.
    pub(crate) fn fixed_differences(&self, declared: &Self) -> Vec<String> {
        let mut differences = Vec::new();
        let mut compare = |what: &str, is: String, wanted: String, differ: bool| {
            if differ {
                differences.push(format!("{what} is {is}, declared {wanted}"));
            }
        };
        let keys_differ = !same(&self.key, &declared.key);
        compare(
            "key",
            show(Some(&self.key)),
            show(Some(&declared.key)),
            keys_differ,
        );
        for (what, is, wanted) in [
            ("unique", self.unique, declared.unique),
            ("sparse", self.sparse, declared.sparse),
        ] {
            compare(what, is.to_string(), wanted.to_string(), is != wanted);
        }
        compare(
            "partialFilterExpression",
            show(self.partial.as_ref()),
            show(declared.partial.as_ref()),
            !same_option(self.partial.as_ref(), declared.partial.as_ref()),
        );
        compare(
            "collation",
            show(self.collation.as_ref()),
            show(declared.collation.as_ref()),
            self.collation != declared.collation,
        );
        if !keys_differ && let (Some(is), Some(wanted)) = (&self.text, &declared.text) {
            compare(
                "weights",
                format!("{:?}", is.weights),
                format!("{:?}", wanted.weights),
                is.weights != wanted.weights,
            );
            for (what, is, wanted) in [
                (
                    "default_language",
                    &is.default_language,
                    &wanted.default_language,
                ),
                (
                    "language_override",
                    &is.language_override,
                    &wanted.language_override,
                ),
            ] {
                compare(what, is.clone(), wanted.clone(), is != wanted);
            }
        }
        let projection = |of: &Self| {
            of.wildcard_projection
                .as_ref()
                .map_or("none".to_owned(), |paths| format!("{paths:?}"))
        };
        compare(
            "wildcardProjection",
            projection(self),
            projection(declared),
            self.wildcard_projection != declared.wildcard_projection,
        );
        // `collMod` can give an index an expiry and change it, but not remove it.
        if let (Some(is), None) = (self.expire_after_seconds, declared.expire_after_seconds) {
            compare(
                "expireAfterSeconds",
                is.to_string(),
                "none".to_owned(),
                true,
            );
        }
        differences
    }
}

impl Text {
    fn read(spec: &Document, fields: Vec<String>) -> Self {
        let mut weights: BTreeMap<_, _> = fields.into_iter().map(|field| (field, 1)).collect();
        if let Ok(declared) = spec.get_document("weights") {
            weights.extend(
                declared
                    .iter()
                    .filter_map(|(field, weight)| Some((field.clone(), integer(weight)?))),
            );
        }
        let word = |key: &str, default: &str| spec.get_str(key).unwrap_or(default).to_owned();
        Self {
            weights,
            default_language: word("default_language", "english"),
            language_override: word("language_override", "language"),
        }
    }
}

/// The key as MongoDB keeps it, and the text fields that were folded.
fn fold_text(key: Document) -> (Document, Vec<String>) {
    let mut folded = Document::new();
    let mut fields = Vec::new();
    for (path, kind) in key {
        if kind.as_str() != Some("text") {
            folded.insert(path, kind);
            continue;
        }
        if path != "_fts" {
            fields.push(path);
        }
        folded.insert("_fts", "text");
        folded.insert("_ftsx", 1);
    }
    (folded, fields)
}

/// The defaults that `create` fills in for a locale: only `backwards` depends on it.
fn general(locale: &str) -> Customs {
    Customs {
        backwards: customs(locale).backwards,
        ..Customs::default()
    }
}

/// The collation with MongoDB's defaults, which `defaults` returns for the locale; `None` for the simple one.
///
/// An invalid collation is left for the server to refuse.
fn collation(document: &Document, defaults: fn(&str) -> Customs) -> Option<Document> {
    let locale = document.get_str("locale").unwrap_or_default();
    if locale == "simple" {
        return None;
    }
    let customs = defaults(locale);
    let mut full = doc! {
        "locale": locale,
        "caseLevel": false,
        "caseFirst": if customs.upper_first { "upper" } else { "off" },
        "strength": 3_i64,
        "numericOrdering": false,
        "alternate": if customs.shifted { "shifted" } else { "non-ignorable" },
        "maxVariable": "punct",
        "normalization": customs.normalization,
        "backwards": customs.backwards,
    };
    for (option, value) in document {
        // Skips `version`, which the server adds and no declaration has.
        if full.contains_key(option) {
            full.insert(option, integer(value).map_or(value.clone(), Bson::Int64));
        }
    }
    Some(full)
}

/// Whether two documents are equal, numbers by value.
pub(crate) fn same(a: &Document, b: &Document) -> bool {
    order::compare_decoded(a, b) == Ordering::Equal
}

fn same_option(a: Option<&Document>, b: Option<&Document>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => same(a, b),
        (a, b) => a.is_none() && b.is_none(),
    }
}

fn show(document: Option<&Document>) -> String {
    document.map_or("none".to_owned(), |document| {
        crate::plan::shell::document(document)
    })
}

pub(crate) fn is_truthy(value: &Bson) -> bool {
    match value {
        Bson::Boolean(flag) => *flag,
        other => integer(other).is_some_and(|number| number != 0),
    }
}

/// A number, truncated as MongoDB does.
pub(crate) fn integer(value: &Bson) -> Option<i64> {
    match value {
        Bson::Int32(number) => Some(i64::from(*number)),
        Bson::Int64(number) => Some(*number),
        #[expect(
            clippy::cast_possible_truncation,
            reason = "the server truncates, and saturates"
        )]
        Bson::Double(number) => Some(*number as i64),
        _ => None,
    }
}

/// `{b: {c: 0}}` as `b.c: false`.
fn flatten(prefix: &str, projection: &Document, paths: &mut BTreeMap<String, bool>) {
    for (name, value) in projection {
        let path = if prefix.is_empty() {
            name.clone()
        } else {
            format!("{prefix}.{name}")
        };
        match value {
            Bson::Document(inner) => flatten(&path, inner, paths),
            other => {
                paths.insert(path, is_truthy(other));
            }
        }
    }
}

/// The collection option that keeps pre- and post-images for change streams.
pub(crate) const IMAGES: &str = "changeStreamPreAndPostImages";

/// The options of a collection that a model declares, as the server would list them.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct NormalOptions {
    /// The size in bytes, and the number of documents if bounded.
    pub(crate) capped: Option<(i64, Option<i64>)>,
    pub(crate) collation: Option<Document>,
    pub(crate) validator: Document,
    pub(crate) level: String,
    pub(crate) action: String,
    /// Whether change streams can return pre- and post-images of documents.
    pub(crate) keeps_images: bool,
    /// The fields and the granularity of a time series.
    pub(crate) time_series: Option<TimeSeries>,
    /// After how many seconds MongoDB removes documents of a time series.
    pub(crate) expire_after: Option<i64>,
}

/// The options of a time series.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct TimeSeries {
    pub(crate) time: String,
    pub(crate) meta: Option<String>,
    pub(crate) granularity: String,
}

impl NormalOptions {
    /// Reads the options of `create`, declared or listed.
    pub(crate) fn read(options: &Document) -> Self {
        let word = |key: &str, default: &str| options.get_str(key).unwrap_or(default).to_owned();
        let capped = options.get("capped").is_some_and(is_truthy).then(|| {
            let size = options.get("size").and_then(integer).unwrap_or_default();
            let max = options.get("max").and_then(integer);
            // MongoDB rounds the size up to a multiple of 256, and lists a missing bound as the largest
            // number.
            let size = size.checked_add(255).map_or(size, |size| size / 256 * 256);
            (
                size,
                max.filter(|max| (1..i64::from(i32::MAX)).contains(max)),
            )
        });
        Self {
            capped,
            collation: options
                .get_document("collation")
                .ok()
                .and_then(|given| collation(given, general)),
            validator: options
                .get_document("validator")
                .cloned()
                .unwrap_or_default(),
            level: word("validationLevel", "strict"),
            action: word("validationAction", "error"),
            keeps_images: options
                .get_document(IMAGES)
                .is_ok_and(|images| images.get("enabled").is_some_and(is_truthy)),
            time_series: options.get_document("timeseries").ok().map(|series| {
                let word = |key: &str| series.get_str(key).map(str::to_owned);
                TimeSeries {
                    time: word("timeField").unwrap_or_default(),
                    meta: word("metaField").ok(),
                    granularity: word("granularity").unwrap_or_else(|_| "seconds".to_owned()),
                }
            }),
            expire_after: options.get("expireAfterSeconds").and_then(integer),
        }
    }
}

/// The options of `create` for a collection with this validator.
pub(crate) fn options(meta: &crate::model::ModelMeta, validator: Document) -> Document {
    use crate::model::{ValidationAction, ValidationLevel};
    use crate::schema::indexes::{collation, i64_to_bson};

    let mut options = Document::new();
    if let Some(capped) = meta.capped {
        let number = |number: u64| i64_to_bson(i64::try_from(number).unwrap_or(i64::MAX));
        options.insert("capped", true);
        options.insert("size", number(capped.size));
        if let Some(max) = capped.max {
            options.insert("max", number(max));
        }
    }
    if meta.change_stream_images {
        options.insert(IMAGES, doc! { "enabled": true });
    }
    if let Some(collation) = &meta.collation {
        options.insert("collation", collation::document(collation));
    }
    if let Some(series) = &meta.time_series {
        // MongoDB refuses a validator for them, and its level and action.
        let mut timeseries = doc! {"timeField": series.time};
        for (option, value) in [
            ("metaField", series.meta),
            ("granularity", series.granularity),
        ] {
            timeseries.extend(value.map(|value| (option.to_owned(), value.into())));
        }
        options.insert("timeseries", timeseries);
        if let Some(seconds) = series.expire_after_seconds {
            options.insert("expireAfterSeconds", i64_to_bson(seconds.into()));
        }
        return options;
    }
    options.extend(doc! {
        "validator": validator,
        "validationLevel": match meta.validation_level {
            ValidationLevel::Strict => "strict",
            ValidationLevel::Moderate => "moderate",
            ValidationLevel::Off => "off",
        },
        "validationAction": match meta.validation_action {
            ValidationAction::Error => "error",
            ValidationAction::Warn => "warn",
        },
    });
    options
}

#[cfg(test)]
mod tests;
