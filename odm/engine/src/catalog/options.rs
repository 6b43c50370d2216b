//! A collection's options: capped sizes, validator, collation.

use bson::raw::{RawDocument, RawDocumentBuf};
use bson::{Bson, Document};
use odm_language::error::{Code, ServerError};
use odm_language::matcher::Matcher;
use odm_language::value::collation::Collator;
use odm_language::value::raw;
use odm_language::version::ServerVersion;

use crate::index::spec::stored_globals;

/// The limits of a capped collection. Past one of them, the oldest records are removed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Capped {
    pub(crate) size: u64,
    pub(crate) max: Option<u64>,
}

/// Which writes the validator applies to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Level {
    Off,
    Strict,
    /// Documents that were invalid before may stay so.
    Moderate,
}

#[derive(Debug)]
pub(crate) struct Options {
    pub(crate) capped: Option<Capped>,
    pub(crate) collation: Option<Collator>,
    /// `changeStreamPreAndPostImages`: events carry the document before and after the change.
    pub(crate) keeps_images: bool,
    validator: Option<Matcher>,
    level: Level,
    /// `validationAction: "warn"`: invalid documents are accepted.
    warn: bool,
    /// The options as `listCollections` returns them.
    pub(crate) document: Document,
}

impl Options {
    /// The options of an implicitly created collection.
    pub(crate) fn none() -> Self {
        Self {
            capped: None,
            collation: None,
            keeps_images: false,
            validator: None,
            level: Level::Strict,
            warn: false,
            document: Document::new(),
        }
    }

    /// Compiles the options in `document`, which has the form of `listCollections`.
    pub(crate) fn compile(document: Document, version: ServerVersion) -> Result<Self, ServerError> {
        let integer = |name: &str| match document.get(name) {
            Some(Bson::Int64(value)) => u64::try_from(*value).ok(),
            Some(Bson::Int32(value)) => u64::try_from(*value).ok(),
            _ => None,
        };
        let capped = integer("size").map(|size| Capped {
            size,
            max: integer("max"),
        });
        let collation = match document.get_document("collation") {
            Ok(collation) => Collator::parse(&to_raw(collation)?, "collation")?,
            Err(_) => None,
        };
        let validator = match document.get_document("validator") {
            Ok(filter) if !filter.is_empty() => {
                Some(Self::validator(filter, collation.as_ref(), version)?)
            }
            _ => None,
        };
        let level = match document.get_str("validationLevel") {
            Ok("off") => Level::Off,
            Ok("moderate") => Level::Moderate,
            _ => Level::Strict,
        };
        Ok(Self {
            capped,
            collation,
            keeps_images: document
                .get_document("changeStreamPreAndPostImages")
                .is_ok_and(|images| images.get_bool("enabled").unwrap_or(false)),
            validator,
            level,
            warn: matches!(document.get_str("validationAction"), Ok("warn")),
            document,
        })
    }

    /// Compiles a validator; `$where`, `$text` and `$near` are not allowed in one.
    pub(crate) fn validator(
        filter: &Document,
        collation: Option<&Collator>,
        version: ServerVersion,
    ) -> Result<Matcher, ServerError> {
        check_operators(filter, false)?;
        let globals = stored_globals()
            .with_version(version)
            .with_collator(collation.cloned());
        Matcher::parse_validator(&to_raw(filter)?, &globals)
    }

    /// Whether a document satisfies the validator, regardless of its level and action.
    pub(crate) fn complies(&self, document: &RawDocument) -> bool {
        self.validator
            .as_ref()
            .is_none_or(|validator| passes(validator, document))
    }

    /// Whether there is a validator.
    pub(crate) fn is_validated(&self) -> bool {
        self.validator.is_some()
    }

    /// Refuses a document that fails validation. `before` is the document that it replaces.
    pub(crate) fn validate(
        &self,
        document: &RawDocument,
        before: Option<&RawDocument>,
    ) -> Result<(), ServerError> {
        let Some(validator) = &self.validator else {
            return Ok(());
        };
        if self.level == Level::Off || self.warn || passes(validator, document) {
            return Ok(());
        }
        if self.level == Level::Moderate && before.is_some_and(|before| !passes(validator, before))
        {
            return Ok(());
        }
        let mut info = Document::new();
        if let Some(id) = raw::get(document, "_id") {
            info.insert(
                "failingDocumentId",
                Bson::try_from(id).unwrap_or(Bson::Null),
            );
        }
        if let Ok(Some(details)) = validator.failure(document) {
            // If the failure cannot be explained, the details hold an error.
            if details.contains_key("errmsg") {
                info.insert("note", "failed to generate document validation error");
            }
            info.insert("details", details);
        }
        Err(ServerError::new(
            Code::DOCUMENT_VALIDATION_FAILURE,
            "Document failed validation",
        )
        .with_details(bson::doc! { "errInfo": info }))
    }
}

/// Refuses the operators that MongoDB does not allow in validators.
fn check_operators(filter: &Document, of_field: bool) -> Result<(), ServerError> {
    for (name, value) in filter {
        match name.as_str() {
            "$where" | "$text" => {
                return Err(ServerError::new(
                    Code::BAD_VALUE,
                    format!("{name} is not allowed in this context"),
                ));
            }
            "$near" | "$nearSphere" | "$geoNear" if of_field => {
                return Err(ServerError::new(
                    Code::location(5_626_500),
                    "$geoNear, $near, and $nearSphere are not allowed in this context",
                ));
            }
            _ => {}
        }
        match (name.as_str(), value) {
            ("$and" | "$or" | "$nor" | "$all", Bson::Array(clauses)) => {
                clauses
                    .iter()
                    .filter_map(Bson::as_document)
                    .try_for_each(|clause| check_operators(clause, name == "$all"))?;
            }
            ("$not" | "$elemMatch", Bson::Document(inner)) => check_operators(inner, true)?,
            // The operand of any other operator is a plain value, and so is a document without operators.
            (field, Bson::Document(inner))
                if !field.starts_with('$')
                    && inner.keys().next().is_some_and(|key| key.starts_with('$')) =>
            {
                check_operators(inner, true)?;
            }
            _ => {}
        }
    }
    Ok(())
}

/// An error while matching (of `$expr`) counts as a mismatch, as in MongoDB.
fn passes(validator: &Matcher, document: &RawDocument) -> bool {
    validator.matches(document).unwrap_or(false)
}

pub fn to_raw(document: &Document) -> Result<RawDocumentBuf, ServerError> {
    RawDocumentBuf::try_from(document)
        .map_err(|e| ServerError::new(Code::INVALID_BSON, e.to_string()))
}
