//! The specification of an index: mongod's normal form, and its errors.

mod equivalence;
mod id;
pub(crate) mod parse;
pub(in crate::index) mod projection;
pub(in crate::index) mod stored_options;
pub(in crate::index) mod value;

use bson::{Bson, Document};
use odm_language::error::ServerError;
use odm_language::expression::Globals;
use odm_language::matcher::Matcher;
use odm_language::value::collation::Collator;
use odm_language::value::key::Direction;
use odm_language::value::path::Path;

use crate::index::geo::Grid;
use crate::index::usage::Uses;
use crate::index::wildcard::Wildcard;
use crate::index::{key_pattern, partial, text};

pub(crate) use self::value::{number, refused, show, whole};

/// How the values of a document become index entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Values in order.
    Ordered,
    /// The hash of one field, perhaps with ordered fields.
    Hashed,
    /// A key for each path.
    Wildcard,
    /// The terms of a document's strings, perhaps with ordered fields; only `$text` uses it.
    Text,
    /// The cells of a geometry, perhaps with ordered fields: 2dsphere and 2d.
    Geo,
}

/// One field of an index.
#[derive(Debug, Clone)]
pub(crate) struct Part {
    pub(crate) direction: Direction,
    pub(crate) hashed: bool,
    pub(crate) geo: Option<Grid>,
}

/// The part of a collection that a partial index covers.
#[derive(Debug)]
pub(crate) struct Partial {
    pub(crate) document: Document,
    pub(crate) matcher: Matcher,
}

/// A checked specification.
#[derive(Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is an option of its own, as in the server's specification"
)]
pub(crate) struct Spec {
    pub(crate) name: String,
    pub(crate) key: Document,
    pub(crate) kind: Kind,
    /// The paths of the fields, parallel to `parts`.
    pub(crate) paths: Vec<Path>,
    pub(crate) parts: Vec<Part>,
    pub(crate) unique: bool,
    /// Whether new duplicates are rejected although the index is not unique: a step of `collMod` towards unique.
    pub(crate) prepare_unique: bool,
    pub(crate) sparse: bool,
    pub(crate) hidden: bool,
    pub(crate) partial: Option<Partial>,
    /// The parts of a document that a text index reads.
    pub(crate) text: Option<text::TextIndex>,
    /// `expireAfterSeconds` of a TTL index.
    pub(crate) ttl: Option<i64>,
    pub(crate) collation: Option<Collator>,
    /// The paths that a wildcard index covers.
    pub(crate) wildcard: Option<Wildcard>,
    /// Whether the index has version 1, which does not support decimals.
    pub(crate) is_first_version: bool,
    /// The document that `listIndexes` shows.
    pub(crate) document: Document,
    /// The document that messages and events show: the options as they were given, in their order.
    pub(crate) kept: Document,
    pub(crate) uses: Uses,
}

/// The options in the order in which mongod lists them.
const LISTED: &[&str] = &[
    "background",
    "unique",
    "hidden",
    "partialFilterExpression",
    "sparse",
    "expireAfterSeconds",
    "storageEngine",
    "weights",
    "default_language",
    "language_override",
    "textIndexVersion",
    "2dsphereIndexVersion",
    "bits",
    "min",
    "max",
    "collation",
    "coarsestIndexedLevel",
    "finestIndexedLevel",
    "wildcardProjection",
    "prepareUnique",
];

/// Options that mongod accepts and does not store.
const IGNORED: &[&str] = &["ns", "dropDups", "key", "name", "v"];

/// The names of all options.
pub(crate) fn known_options() -> impl Iterator<Item = &'static str> {
    LISTED.iter().chain(IGNORED).copied()
}

const BOOLEANS: &[&str] = &["background", "unique", "sparse", "hidden", "prepareUnique"];

impl Spec {
    /// The index on `_id` that every collection has.
    pub(crate) fn id(collation: Option<&Collator>) -> Self {
        Self {
            unique: true,
            ..Self::ascending("_id_", "_id", collation)
        }
    }

    /// An ascending index on one field, without options.
    pub(crate) fn ascending(name: &str, path: &str, collation: Option<&Collator>) -> Self {
        let key = bson::doc! { path: 1 };
        let mut document = bson::doc! { "v": 2, "key": key.clone(), "name": name };
        if let Some(collation) = collation {
            document.insert("collation", collation.document());
        }
        Self {
            name: name.to_owned(),
            key,
            kind: Kind::Ordered,
            paths: vec![Path::new(path)],
            parts: vec![Part {
                direction: Direction::Ascending,
                hashed: false,
                geo: None,
            }],
            unique: false,
            prepare_unique: false,
            sparse: false,
            hidden: false,
            partial: None,
            text: None,
            ttl: None,
            collation: collation.cloned(),
            wildcard: None,
            is_first_version: false,
            kept: document.clone(),
            document,
            uses: Uses::default(),
        }
    }

    /// Whether writes that would duplicate a key are rejected.
    pub(crate) fn refuses_duplicates(&self) -> bool {
        self.unique || self.prepare_unique
    }

    pub(crate) fn is_id(&self) -> bool {
        self.name == "_id_"
    }

    /// Builds it from the given `key`, the options to list, and the `kept` document.
    fn assemble(
        key: &Document,
        collation: Option<Collator>,
        mut options: Document,
        kept: Document,
    ) -> Result<Self, ServerError> {
        let special = key_pattern::kind(key);
        let mut document = Document::new();
        for always in ["v", "key", "name"] {
            document.insert(always, kept.get(always));
        }
        if let Some(collation) = &collation {
            options.insert("collation", collation.document());
        }
        for option in LISTED {
            if let Some(value) = options.remove(*option) {
                document.insert(*option, value);
            }
        }
        let flag = |option: &str| document.get_bool(option).unwrap_or(false);
        let partial = match document.get_document("partialFilterExpression") {
            Ok(filter) => Some(partial::compile(filter, collation.as_ref())?),
            Err(_) => None,
        };
        Ok(Self {
            kind: match special {
                None => Kind::Ordered,
                Some("hashed") => Kind::Hashed,
                Some("text") => Kind::Text,
                Some("wildcard") => Kind::Wildcard,
                Some(_) => Kind::Geo,
            },
            wildcard: key
                .keys()
                .next()
                .filter(|_| special == Some("wildcard"))
                .map(|field| {
                    Wildcard::new(field, document.get_document("wildcardProjection").ok())
                }),
            paths: key.keys().map(|path| Path::new(path)).collect(),
            parts: key
                .values()
                .map(|value| Part {
                    direction: if number(value).is_some_and(|value| value < 0.0) {
                        Direction::Descending
                    } else {
                        Direction::Ascending
                    },
                    hashed: matches!(value, Bson::String(word) if word == "hashed"),
                    geo: Grid::of(value, &document),
                })
                .collect(),
            unique: flag("unique"),
            prepare_unique: flag("prepareUnique"),
            sparse: flag("sparse"),
            hidden: flag("hidden"),
            partial,
            text: (special == Some("text")).then(|| text::TextIndex::new(&document)),
            ttl: document
                .get("expireAfterSeconds")
                .and_then(number)
                .map(whole),
            collation,
            key: document.get_document("key").cloned().unwrap_or_default(),
            name: document.get_str("name").unwrap_or_default().to_owned(),
            is_first_version: document.get_i32("v").is_ok_and(|version| version == 1),
            document,
            kept,
            uses: Uses::default(),
        })
    }

    /// The specification with an option changed, as `collMod` does.
    pub(crate) fn with_option(&self, option: &str, value: Bson) -> Result<Self, ServerError> {
        let mut options = self.document.clone();
        for known in ["v", "key", "name"] {
            options.remove(known);
        }
        if value == Bson::Boolean(false) {
            options.remove(option);
        } else {
            options.insert(option, value);
        }
        options.remove("collation");
        let mut kept = self.kept.clone();
        // A changed option moves to the end.
        kept.remove(option);
        if let Some(value) = options.get(option) {
            kept.insert(option, value);
        }
        Self::assemble(&self.key, self.collation.clone(), options, kept)
    }

    /// The specification as messages show it.
    pub(crate) fn printed(&self) -> String {
        show(&self.kept)
    }
}

/// Whether two key patterns have the same fields in the same order, with equal directions.
pub(crate) fn same_key(one: &Document, other: &Document) -> bool {
    one.len() == other.len()
        && one
            .iter()
            .zip(other)
            .all(|((key, value), (other_key, other_value))| {
                key == other_key
                    && match (number(value), number(other_value)) {
                        (Some(one), Some(other)) => (one - other).abs() < f64::EPSILON,
                        _ => value == other_value,
                    }
            })
}

/// The options in their stored form.
fn options(
    given: &Document,
    key: &Document,
    name: &str,
    collation: Option<&Collator>,
) -> Result<Document, ServerError> {
    if name.is_empty() {
        return Err(refused("index name cannot be empty"));
    }
    if name.contains('\0') {
        return Err(refused("index name cannot contain NUL bytes"));
    }
    let mut options = Document::new();
    for (field, value) in given {
        let field = field.as_str();
        if IGNORED.contains(&field) || !LISTED.contains(&field) || field == "collation" {
            continue;
        }
        let value = match field {
            "unique" | "hidden" | "prepareUnique" | "background" | "sparse" => {
                let value = match value {
                    Bson::Boolean(value) => *value,
                    other => number(other).is_some_and(|value| value != 0.0),
                };
                if !value && !matches!(field, "background" | "sparse") {
                    continue;
                }
                Bson::Boolean(value)
            }
            _ => stored_options::stored(field, value),
        };
        options.insert(field, value);
    }
    key_pattern::check(key, &options, collation)?;
    let sparse = options.get_bool("sparse").unwrap_or(false);
    if sparse && options.contains_key("partialFilterExpression") {
        return Err(refused(
            "cannot mix \"partialFilterExpression\" and \"sparse\" options",
        ));
    }
    if let Ok(filter) = options.get_document("partialFilterExpression") {
        partial::check(filter)?;
    }
    if let Some(engines) = options.get("storageEngine") {
        stored_options::check_engines(engines)?;
    }
    key_pattern::complete(given, key, &mut options)?;
    Ok(options)
}

/// The globals of a stored filter, which has no variables.
pub(crate) fn stored_globals() -> Globals {
    Globals::stored()
}
