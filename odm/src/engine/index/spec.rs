//! An index's specification: the server's normal form, and its refusals.

mod id;
pub(in crate::engine::index) mod kept;
pub(in crate::engine::index) mod projection;
mod same;

use bson::raw::{RawDocument, RawDocumentBuf};
use bson::spec::ElementType;
use bson::{Bson, Document};

use crate::engine::expression::Globals;
use crate::engine::index::geo::Grid;
use crate::engine::index::uses::Uses;
use crate::engine::index::wildcard::Wildcard;
use crate::engine::index::{partial, special, text};
use crate::engine::matcher::Matcher;
use crate::error::{Code, ServerError};
use crate::value::collation::Collator;
use crate::value::key::Direction;
use crate::value::path::Path;
use crate::value::{kind, print};

/// How the values of a document become the entries of an index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Values in order.
    Ordered,
    /// One field's hash, perhaps among ordered fields.
    Hashed,
    /// A key for every path.
    Wildcard,
    /// The terms of a document's strings, among ordered fields: only `$text` uses it.
    Text,
    /// The cells of a geometry, perhaps among ordered fields: 2dsphere and 2d.
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
    /// The paths of the fields, and beside them how each is kept.
    pub(crate) paths: Vec<Path>,
    pub(crate) parts: Vec<Part>,
    pub(crate) unique: bool,
    /// Not unique, but no more duplicates are let in: on the way to unique, as `collMod` makes it.
    pub(crate) prepare_unique: bool,
    pub(crate) sparse: bool,
    pub(crate) hidden: bool,
    pub(crate) partial: Option<Partial>,
    /// What a text index reads.
    pub(crate) text: Option<text::TextIndex>,
    /// `expireAfterSeconds`, of a TTL index.
    pub(crate) ttl: Option<i64>,
    pub(crate) collation: Option<Collator>,
    /// Of a wildcard index, the paths that it holds.
    pub(crate) wildcard: Option<Wildcard>,
    /// What `listIndexes` shows.
    pub(crate) document: Document,
    pub(crate) uses: Uses,
}

/// The options in the order in which the server lists them.
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

/// Options that the server takes and does not keep.
const IGNORED: &[&str] = &["ns", "dropDups", "key", "name", "v"];

/// The options of an index.
pub(crate) fn known_options() -> impl Iterator<Item = &'static str> {
    LISTED.iter().chain(IGNORED).copied()
}

const BOOLEANS: &[&str] = &["background", "unique", "sparse", "hidden", "prepareUnique"];

impl Spec {
    /// The index on `_id` that every collection has.
    pub(crate) fn id(collation: Option<&Collator>) -> Self {
        let key = bson::doc! { "_id": 1 };
        let mut document = bson::doc! { "v": 2, "key": key.clone(), "name": "_id_" };
        if let Some(collation) = collation {
            document.insert("collation", collation.document());
        }
        Self {
            name: "_id_".to_owned(),
            key,
            kind: Kind::Ordered,
            paths: vec![Path::new("_id")],
            parts: vec![Part {
                direction: Direction::Ascending,
                hashed: false,
                geo: None,
            }],
            unique: true,
            prepare_unique: false,
            sparse: false,
            hidden: false,
            partial: None,
            text: None,
            ttl: None,
            collation: collation.cloned(),
            wildcard: None,
            document,
            uses: Uses::default(),
        }
    }

    /// Whether a write that would double a key is refused.
    pub(crate) fn refuses_duplicates(&self) -> bool {
        self.unique || self.prepare_unique
    }

    pub(crate) fn is_id(&self) -> bool {
        self.name == "_id_"
    }

    /// The key of a specification of which only the form is looked at.
    pub(crate) fn key_of(raw: &RawDocument) -> Result<Document, ServerError> {
        let given = Document::try_from(raw)
            .map_err(|e| ServerError::new(Code::INVALID_BSON, e.to_string()))?;
        shape(&given, false)?;
        Ok(given.get_document("key").cloned().unwrap_or_default())
    }

    /// Reads a specification as `createIndexes` takes it. `inherited` is the collection's collation.
    pub(crate) fn parse(
        raw: &RawDocument,
        inherited: Option<&Collator>,
        ignore_unknown: bool,
    ) -> Result<Self, ServerError> {
        let given = Document::try_from(raw)
            .map_err(|e| ServerError::new(Code::INVALID_BSON, e.to_string()))?;
        shape(&given, ignore_unknown).map_err(|e| within(&given, &e))?;
        let key = given.get_document("key").cloned().unwrap_or_default();
        let name = given.get_str("name").unwrap_or_default().to_owned();
        if let Some(refusal) = id::refusal(&given, &key, &name) {
            return Err(refusal);
        }
        let is_id = key.len() == 1 && key.get("_id").and_then(number) == Some(1.0);
        // The one on _id has a name of its own, whatever it is called.
        if name == "*" && !is_id {
            return Err(ServerError::new(
                Code::BAD_VALUE,
                "The index name '*' is not valid.",
            ));
        }
        kept::check_expiry(&given, &key)?;
        let collation = collation(&given, inherited)?;
        if is_id && collation.as_ref() != inherited {
            return Err(id::other_collation(collation.as_ref(), inherited));
        }
        let mut versioned = given.clone();
        versioned.remove("collation");
        versioned.entry("v".to_owned()).or_insert(Bson::Int32(2));
        if let Some(collation) = &collation {
            versioned.insert("collation", collation.document());
        }
        special::check_plane(&given, &key)?;
        let rest =
            options(&given, &key, &name, collation.as_ref()).map_err(|e| within(&versioned, &e))?;
        if is_id {
            return Ok(Self::id(inherited));
        }
        special::check_sphere_version(&given, &key)?;
        Self::assemble(&given, &key, name, collation, rest)
    }

    fn assemble(
        given: &Document,
        key: &Document,
        name: String,
        collation: Option<Collator>,
        mut options: Document,
    ) -> Result<Self, ServerError> {
        let special = special::kind(key);
        let shown_key = special::normalize(special, key);
        if let Some(collation) = &collation {
            options.insert("collation", collation.document());
        }
        let version = given.get("v").and_then(number).unwrap_or(2.0);
        #[expect(clippy::cast_possible_truncation, reason = "it is 1 or 2")]
        let mut document = bson::doc! { "v": version as i32, "key": shown_key, "name": &name };
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
            name,
            document,
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
        Self::assemble(
            &self.document,
            &self.key,
            self.name.clone(),
            self.collation.clone(),
            options,
        )
    }

    /// The specification as messages about conflicts show it.
    pub(crate) fn shown(&self) -> String {
        let mut document = Document::new();
        for key in ["v", "unique", "prepareUnique", "hidden", "key", "name"] {
            if let Some(value) = self.document.get(key) {
                document.insert(key, value);
            }
        }
        let version = "2dsphereIndexVersion";
        for (key, value) in &self.document {
            if !document.contains_key(key) && key != version {
                document.insert(key, value);
            }
        }
        // A server adds it when it is done with what was given.
        if let Some(value) = self.document.get(version) {
            document.insert(version, value);
        }
        show(&document)
    }
}

/// Key patterns are equal if their fields are, in order, with equal directions.
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

/// A document in the form of the server's messages.
pub(crate) fn show(document: &Document) -> String {
    RawDocumentBuf::try_from(document)
        .map(|raw| print::document(&raw))
        .unwrap_or_default()
}

#[expect(
    clippy::cast_precision_loss,
    reason = "directions and seconds are small"
)]
pub(crate) fn number(value: &Bson) -> Option<f64> {
    match value {
        Bson::Int32(value) => Some(f64::from(*value)),
        Bson::Int64(value) => Some(*value as f64),
        Bson::Double(value) => Some(*value),
        Bson::Decimal128(decimal) => {
            let value = decimal.to_string().parse().ok()?;
            // One too small for a double is still not zero.
            let is_zero = decimal
                .to_string()
                .bytes()
                .take_while(|byte| *byte != b'E')
                .all(|byte| matches!(byte, b'0' | b'.' | b'-'));
            Some(if value == 0.0 && !is_zero {
                f64::MIN_POSITIVE
            } else {
                value
            })
        }
        _ => None,
    }
}

#[expect(clippy::cast_possible_truncation, reason = "`as` saturates")]
fn whole(value: f64) -> i64 {
    value as i64
}

pub(crate) fn refused(message: impl Into<String>) -> ServerError {
    ServerError::new(Code::CANNOT_CREATE_INDEX, message)
}

fn within(given: &Document, error: &ServerError) -> ServerError {
    ServerError::new(
        error.code(),
        format!(
            "Error in specification {} :: caused by :: {}",
            show(given),
            error.message()
        ),
    )
}

fn type_of(value: &Bson) -> &'static str {
    kind::alias(value.element_type())
}

pub(super) fn wrong_type(field: &str, expected: &str, value: &Bson) -> ServerError {
    ServerError::new(
        Code::TYPE_MISMATCH,
        format!(
            "The field '{field}' must be {expected}, but got {}",
            type_of(value)
        ),
    )
}

/// The types of the fields, and what may be said about the key pattern alone.
fn shape(given: &Document, ignore_unknown: bool) -> Result<(), ServerError> {
    let is_known = |field: &str| {
        LISTED.contains(&field)
            || IGNORED.contains(&field)
            || BOOLEANS.contains(&field)
            // what a server itself once stored, and what only a new collection has
            || matches!(field, "_id" | "clustered")
    };
    if let Some(field) = given.keys().find(|field| !is_known(field.as_str()))
        && !ignore_unknown
    {
        return Err(ServerError::new(
            Code::INVALID_INDEX_SPECIFICATION_OPTION,
            format!(
                "The field '{field}' is not valid for an index specification. Specification: {}",
                show(given)
            ),
        ));
    }
    for (field, value) in given {
        match field.as_str() {
            "key" => match value {
                Bson::Document(key) => special::check_key(key)?,
                _ => return Err(wrong_type(field, "an object", value)),
            },
            "name" if !matches!(value, Bson::String(_)) => {
                return Err(wrong_type(field, "a string", value));
            }
            "v" => match kept::version(value) {
                None if number(value).is_none() => {
                    return Err(wrong_type(field, "a number", value));
                }
                None => {
                    return Err(ServerError::new(
                        Code::BAD_VALUE,
                        format!(
                            "Index version must be representable as a 32-bit integer, but got {}",
                            show_value(value)
                        ),
                    ));
                }
                Some(1 | 2) => {}
                Some(version) => {
                    return Err(refused(format!(
                        "Invalid index specification {}; cannot create an index with v={version}",
                        show(given)
                    )));
                }
            },
            // A collection is clustered when it is made, if at all.
            "clustered" => {
                return Err(if matches!(value, Bson::Boolean(false)) {
                    ServerError::new(
                        Code::location(6_492_800),
                        "Value 'false' for field 'clustered' is invalid",
                    )
                } else {
                    ServerError::new(
                        Code::COMMAND_NOT_SUPPORTED,
                        "the in-memory engine does not support clustered collections",
                    )
                });
            }
            "hidden" if !matches!(value, Bson::Boolean(_)) => {
                // The server names another field.
                return Err(wrong_type("name", "a bool", value));
            }
            "wildcardProjection" => special::check_projection(given, value)?,
            "collation" | "partialFilterExpression" => {
                let Bson::Document(filter) = value else {
                    return Err(wrong_type(field, "an object", value));
                };
                if field == "collation" && filter.is_empty() {
                    return Err(ServerError::new(
                        Code::BAD_VALUE,
                        "The field 'collation' cannot be an empty object.",
                    ));
                }
                if field == "partialFilterExpression" {
                    partial::parse(filter)?;
                }
            }
            word if (BOOLEANS.contains(&word) || special::LEVELS.contains(&word))
                && number(value).is_none()
                && !matches!(value, Bson::Boolean(_)) =>
            {
                return Err(ServerError::new(
                    Code::TYPE_MISMATCH,
                    format!(
                        "The field '{field} has value {field}: {}, which is not convertible to bool",
                        show_value(value)
                    ),
                ));
            }
            _ => kept::check(field, value)?,
        }
    }
    for field in ["key", "name"] {
        if !given.contains_key(field) {
            return Err(ServerError::new(
                Code::FAILED_TO_PARSE,
                format!("The '{field}' field is a required property of an index specification"),
            ));
        }
    }
    let is_on = |option: &str| {
        given.get(option).is_some_and(|value| {
            *value == Bson::Boolean(true) || number(value).is_some_and(|number| number != 0.0)
        })
    };
    if let Ok(key) = given.get_document("key")
        && special::kind(key) == Some("wildcard")
        && given.get("v").and_then(number) == Some(1.0)
    {
        return Err(refused(format!(
            "bad index key pattern {}: 'wildcard' index plugin is not allowed with index version v:1",
            show(key)
        )));
    }
    if given.get("v").and_then(number) == Some(1.0) && given.contains_key("collation") {
        return Err(refused(format!(
            "Invalid index specification {}; cannot create an index with the 'collation' option and v=1",
            show(given)
        )));
    }
    if is_on("unique") && is_on("prepareUnique") {
        return Err(refused(format!(
            "Invalid index specification {}; cannot create an index with the 'unique' option and the 'prepareUnique' option",
            show(given)
        )));
    }
    special::check_options(given)
}

fn show_value(value: &Bson) -> String {
    let mut document = Document::new();
    document.insert("v", value);
    let shown = show(&document);
    shown
        .strip_prefix("{ v: ")
        .and_then(|shown| shown.strip_suffix(" }"))
        .unwrap_or(&shown)
        .to_owned()
}

fn collation(
    given: &Document,
    inherited: Option<&Collator>,
) -> Result<Option<Collator>, ServerError> {
    let Ok(collation) = given.get_document("collation") else {
        return Ok(inherited.cloned());
    };
    let raw = RawDocumentBuf::try_from(collation)
        .map_err(|e| ServerError::new(Code::INVALID_BSON, e.to_string()))?;
    Collator::parse(&raw, "collation").map_err(|error| {
        let mut shown = given.clone();
        shown.entry("v".to_owned()).or_insert(Bson::Int32(2));
        ServerError::new(
            error.code(),
            format!(
                "failed to add collation information to index spec for index creation: {} :: \
                 caused by :: {}",
                show(&shown),
                error.message()
            ),
        )
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
            #[expect(clippy::cast_possible_truncation, reason = "checked by `check_expiry`")]
            "expireAfterSeconds" => number(value).map_or_else(
                || value.clone(),
                |value| {
                    Bson::Int32(if value.is_nan() {
                        i32::MAX
                    } else {
                        value as i32
                    })
                },
            ),
            "storageEngine" if value.element_type() != ElementType::EmbeddedDocument => {
                return Err(refused(
                    "\"storageEngine\" options must be a document if present",
                ));
            }
            "storageEngine" if value.as_document().is_some_and(Document::is_empty) => {
                return Err(refused(
                    "Empty \"storageEngine\" options are invalid. Please remove the field or include valid options.",
                ));
            }
            "storageEngine" => {
                kept::check_engines(value)?;
                value.clone()
            }
            // What is none is refused when the index is built.
            field if special::LEVELS.contains(&field) && special::kind(key) == Some("2dsphere") => {
                special::level(value).map_or_else(|| value.clone(), Bson::Int32)
            }
            _ => kept::stored(field, value),
        };
        options.insert(field, value);
    }
    let sparse = options.get_bool("sparse").unwrap_or(false);
    if sparse && options.contains_key("partialFilterExpression") {
        return Err(refused(
            "cannot mix \"partialFilterExpression\" and \"sparse\" options",
        ));
    }
    special::check(given, key, &mut options, collation)?;
    if let Ok(filter) = options.get_document("partialFilterExpression") {
        partial::check(filter)?;
    }
    Ok(options)
}

/// The globals of a stored filter: it has no variables.
pub(crate) fn stored_globals() -> Globals {
    Globals::stored()
}
