//! A specification before it becomes an index. mongod checks all specifications of a command in several passes: the
//! form of each, then expiry, then the collations, and last each against the existing indexes.

use bson::raw::{RawDocument, RawDocumentBuf};
use bson::{Bson, Document};
use odm_language::error::{Code, ServerError};
use odm_language::value::collation::Collator;

use crate::index::spec::value::{number, refused, show, wrong_type};
use crate::index::spec::{BOOLEANS, IGNORED, LISTED, Spec, id, options, stored_options};
use crate::index::{key_pattern, partial};

/// A specification whose form is valid.
#[derive(Debug)]
pub(crate) struct ParsedSpec {
    document: Document,
    key: Document,
    name: String,
}

impl ParsedSpec {
    /// Checks the form of a specification.
    pub(crate) fn read(raw: &RawDocument, ignore_unknown: bool) -> Result<Self, ServerError> {
        let document = Document::try_from(raw)
            .map_err(|e| ServerError::new(Code::INVALID_BSON, e.to_string()))?;
        shape(&document, ignore_unknown).map_err(|e| within(&document, &e))?;
        let key = document.get_document("key").cloned().unwrap_or_default();
        let name = document.get_str("name").unwrap_or_default().to_owned();
        let given = Self {
            document,
            key,
            name,
        };
        if let Some(refusal) = id::refusal(&given.settled(), &given.key, &given.name) {
            return Err(refusal);
        }
        // The index on `_id` has a fixed name, so the given name does not matter.
        if given.name == "*" && !given.is_id() {
            return Err(ServerError::new(
                Code::BAD_VALUE,
                "The index name '*' is not valid.",
            ));
        }
        Ok(given)
    }

    /// Reads the `idIndex` of a new collection, whose errors do not repeat the specification.
    pub(crate) fn read_id(raw: &RawDocument) -> Result<Self, ServerError> {
        let document = Document::try_from(raw)
            .map_err(|e| ServerError::new(Code::INVALID_BSON, e.to_string()))?;
        shape(&document, false)?;
        let key = document.get_document("key").cloned().unwrap_or_default();
        let refuse = |key| {
            ServerError::new(
                Code::BAD_VALUE,
                format!(
                    "The field 'key' for an _id index must be {{_id: 1}}, but got {}",
                    show(key)
                ),
            )
        };
        let is_ascending = key.get("_id").and_then(number).is_some_and(|it| it > 0.0);
        if key.len() != 1 || !is_ascending {
            return Err(refuse(&key));
        }
        let given = Self {
            document,
            key,
            name: "_id_".to_owned(),
        };
        match id::refusal(&given.settled(), &given.key, &given.name) {
            Some(refusal) => Err(refusal),
            None => Ok(given),
        }
    }

    /// Whether the specification has no collation, or this one.
    pub(crate) fn agrees(&self, inherited: Option<&Collator>) -> Result<bool, ServerError> {
        let Ok(collation) = self.document.get_document("collation") else {
            return Ok(true);
        };
        let raw = RawDocumentBuf::try_from(collation)
            .map_err(|e| ServerError::new(Code::INVALID_BSON, e.to_string()))?;
        Ok(Collator::parse(&raw, "collation")?.as_ref() == inherited)
    }

    /// Whether the specification has a `hidden` option.
    pub(crate) fn may_hide(&self) -> bool {
        self.document.contains_key("hidden")
    }

    fn is_id(&self) -> bool {
        self.key.len() == 1 && self.key.get("_id").and_then(number) == Some(1.0)
    }

    /// The specification as it was given, except that a NaN expiry becomes the longest.
    fn settled(&self) -> Document {
        let mut document = self.document.clone();
        if let Some(seconds) = document.get_mut("expireAfterSeconds")
            && number(seconds).is_some_and(f64::is_nan)
        {
            *seconds = Bson::Int32(i32::MAX);
        }
        document
    }

    /// Returns an error if `expireAfterSeconds` is invalid or the index is compound.
    pub(crate) fn check_expiry(&self) -> Result<(), ServerError> {
        stored_options::check_expiry(&self.document, &self.key)
    }

    /// The collation of the index, in a collection with `inherited`.
    pub(crate) fn collation(
        &self,
        inherited: Option<&Collator>,
    ) -> Result<Option<Collator>, ServerError> {
        let collation = match self.document.get_document("collation") {
            Ok(collation) => self.own_collation(collation)?,
            // Version 1 indexes have no collation.
            Err(_) if self.version() == 1 => None,
            Err(_) => inherited.cloned(),
        };
        if self.is_id() && collation.as_ref() != inherited {
            return Err(id::other_collation(collation.as_ref(), inherited));
        }
        Ok(collation)
    }

    fn own_collation(&self, collation: &Document) -> Result<Option<Collator>, ServerError> {
        let raw = RawDocumentBuf::try_from(collation)
            .map_err(|e| ServerError::new(Code::INVALID_BSON, e.to_string()))?;
        Collator::parse(&raw, "collation").map_err(|error| {
            let mut shown = self.settled();
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

    fn version(&self) -> i32 {
        self.document
            .get("v")
            .and_then(stored_options::version)
            .unwrap_or(2)
    }

    /// Builds the whole specification of an index with this collation.
    pub(crate) fn spec(self, collation: Option<Collator>) -> Result<Spec, ServerError> {
        let mut versioned = self.settled();
        versioned.remove("collation");
        versioned.entry("v".to_owned()).or_insert(Bson::Int32(2));
        if let Some(collation) = &collation {
            versioned.insert("collation", collation.document());
        }
        let listed = options(&self.settled(), &self.key, &self.name, collation.as_ref())
            .map_err(|e| within(&versioned, &e))?;
        if self.is_id() {
            return Ok(Spec::id(collation.as_ref()));
        }
        let kept = self.stored(&versioned, &listed);
        Spec::assemble(&self.key, collation, listed, kept)
    }

    /// The specification that mongod stores: some options first, then the others as they were given.
    fn stored(&self, versioned: &Document, listed: &Document) -> Document {
        let special = key_pattern::kind(&self.key);
        let mut kept = Document::new();
        kept.insert("v", self.version());
        for option in ["unique", "hidden", "prepareUnique"] {
            if let Some(value) = listed.get(option) {
                kept.insert(option, value);
            }
        }
        kept.insert("key", key_pattern::normalize(special, &self.key));
        kept.insert("name", &self.name);
        let is_text = special == Some("text");
        for (option, value) in versioned {
            let is_kept = LISTED.contains(&option.as_str())
                && !matches!(option.as_str(), "unique" | "hidden" | "prepareUnique")
                && !(is_text && option == "textIndexVersion");
            if is_kept {
                let value = match option.as_str() {
                    "weights" => listed.get(option).unwrap_or(value),
                    _ => value,
                };
                kept.insert(option, value);
            }
        }
        // Options that the kind of index adds come after the given ones, its version last.
        let (versions, added): (Vec<_>, Vec<_>) = listed
            .iter()
            .filter(|(option, _)| !kept.contains_key(option))
            .partition(|(option, _)| *option == "textIndexVersion");
        for (option, value) in added.into_iter().chain(versions) {
            kept.insert(option, value);
        }
        kept
    }
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

/// Checks the types of the options, and the key pattern.
fn shape(given: &Document, ignore_unknown: bool) -> Result<(), ServerError> {
    let is_known = |field: &str| {
        LISTED.contains(&field)
            || IGNORED.contains(&field)
            || BOOLEANS.contains(&field)
            // `_id` occurs in old stored specifications, and `clustered` only in those of new collections.
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
        check_option(given, field, value)?;
    }
    check_combinations(given)
}

/// Checks the type and the value of one option.
fn check_option(given: &Document, field: &str, value: &Bson) -> Result<(), ServerError> {
    match field {
        "key" => match value {
            Bson::Document(key) => key_pattern::check_key(key),
            _ => Err(wrong_type(field, "an object", value)),
        },
        "name" if !matches!(value, Bson::String(_)) => Err(wrong_type(field, "a string", value)),
        "v" => match stored_options::version(value) {
            None if number(value).is_none() => Err(wrong_type(field, "a number", value)),
            None => Err(ServerError::new(
                Code::BAD_VALUE,
                format!(
                    "Index version must be representable as a 32-bit integer, but got {}",
                    show_value(value)
                ),
            )),
            Some(1 | 2) => Ok(()),
            Some(version) => Err(refused(format!(
                "Invalid index specification {}; cannot create an index with v={version}",
                show(given)
            ))),
        },
        // A collection can only become clustered when it is created.
        "clustered" if number(value).is_some() || matches!(value, Bson::Boolean(_)) => {
            Err(if !is_true(value) {
                ServerError::new(
                    Code::location(6_492_800),
                    "Value 'false' for field 'clustered' is invalid",
                )
            } else if given.get("unique").is_some_and(is_true) {
                ServerError::new(
                    Code::COMMAND_NOT_SUPPORTED,
                    "the in-memory engine does not support clustered collections",
                )
            } else {
                refused("The 'unique' field is required when 'clustered' is specified")
            })
        }
        "hidden" if !matches!(value, Bson::Boolean(_)) => {
            // mongod's message names another field.
            Err(wrong_type("name", "a bool", value))
        }
        "wildcardProjection" => key_pattern::check_projection(given, value),
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
            Ok(())
        }
        word if is_flag(word) && number(value).is_none() && !matches!(value, Bson::Boolean(_)) => {
            Err(ServerError::new(
                Code::TYPE_MISMATCH,
                format!(
                    "The field '{field} has value {field}: {}, which is not convertible to bool",
                    show_value(value)
                ),
            ))
        }
        _ => stored_options::check(field, value),
    }
}

/// Checks that the required options are there, and refuses options that exclude each other.
fn check_combinations(given: &Document) -> Result<(), ServerError> {
    for field in ["key", "name"] {
        if !given.contains_key(field) {
            return Err(ServerError::new(
                Code::FAILED_TO_PARSE,
                format!("The '{field}' field is a required property of an index specification"),
            ));
        }
    }
    let is_on = |option: &str| given.get(option).is_some_and(is_true);
    if given.get("v").and_then(number) == Some(1.0) && given.contains_key("collation") {
        return Err(refused(format!(
            "Invalid index specification {}; cannot create an index with the 'collation' option and v=1",
            show(given)
        )));
    }
    if let Ok(key) = given.get_document("key")
        && key_pattern::kind(key) == Some("wildcard")
        && given.get("v").and_then(number) == Some(1.0)
    {
        return Err(refused(format!(
            "bad index key pattern {}: 'wildcard' index plugin is not allowed with index version v:1",
            show(key)
        )));
    }
    if is_on("unique") && is_on("prepareUnique") {
        return Err(refused(format!(
            "Invalid index specification {}; cannot create an index with the 'unique' option and the 'prepareUnique' option",
            show(given)
        )));
    }
    key_pattern::check_options(given)
}

/// Whether an option is a boolean, which may also be given as a number.
fn is_flag(option: &str) -> bool {
    BOOLEANS.contains(&option)
        || key_pattern::LEVELS.contains(&option)
        || matches!(option, "dropDups" | "clustered")
}

fn is_true(value: &Bson) -> bool {
    *value == Bson::Boolean(true) || number(value).is_some_and(|number| number != 0.0)
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

#[cfg(test)]
impl Spec {
    /// Reads a complete specification.
    pub(crate) fn parse(raw: &RawDocument) -> Result<Self, ServerError> {
        let given = ParsedSpec::read(raw, false)?;
        given.check_expiry()?;
        let collation = given.collation(None)?;
        given.spec(collation)
    }
}
