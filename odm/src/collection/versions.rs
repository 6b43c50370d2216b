//! Stored documents of other versions of their schema: what a model declares by `schema(version = …, steps(…))`.
//!
//! Every typed read passes a document to [`ReadAs`], which makes it one of the version that the program knows. Typed writes
//! that change documents by operators reach only those of that version, so [`upgrade`] rewrites older ones before.

mod project;
pub(crate) mod upgrade;

use std::borrow::Cow;

use bson::raw::{RawBsonRef, RawDocument, RawDocumentBuf};
use bson::{Bson, Document as BsonDocument, doc};
use serde::de::DeserializeOwned;

use self::project::Shape;
use super::decode::decode;
use crate::error::{DecodeError, Error, Result, SchemaError};
use crate::model::{Document, ModelMeta, SchemaMeta};
use crate::store::Operation;

/// The field of a projected document that has the whole document, where that is of another version.
const WHOLE: &str = "__odm_whole";

/// How the documents that a call returns are read.
#[derive(Debug, Clone)]
pub(crate) enum ReadAs {
    /// As they are stored: the model has no versions.
    Stored(&'static str),
    /// As a pipeline over a model made them: of a struct, by the name of both.
    Made {
        model: &'static str,
        shape: &'static str,
    },
    /// Whole documents of a model with versions.
    Whole(&'static ModelMeta, &'static SchemaMeta),
    /// Parts of such documents.
    Parts(&'static ModelMeta, &'static SchemaMeta, Box<BsonDocument>),
}

/// A document of the version that the program knows.
pub(crate) struct Current<'r> {
    pub(crate) raw: Cow<'r, RawDocument>,
    /// The version that the document had, and the steps that it has taken, if it was older.
    before: Option<(i64, &'static SchemaMeta)>,
}

impl ReadAs {
    /// How documents of the model with this projection are read.
    pub(crate) fn of_model(model: &'static ModelMeta, projection: Option<&BsonDocument>) -> Self {
        match (model.schema, projection) {
            (None, _) => Self::Stored(model.name),
            (Some(schema), None) => Self::Whole(model, schema),
            (Some(schema), Some(projection)) => {
                Self::Parts(model, schema, Box::new(projection.clone()))
            }
        }
    }

    /// The name of the model, for errors.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Stored(model) | Self::Made { model, .. } => model,
            Self::Whole(model, _) | Self::Parts(model, ..) => model.name,
        }
    }

    /// Decodes a document.
    #[inline]
    pub(crate) fn decode<T: DeserializeOwned>(&self, raw: &RawDocument) -> Result<T> {
        match self {
            Self::Stored(shape) | Self::Made { shape, .. } => decode(raw, shape),
            _ => self.current(raw)?.decode(self.name()),
        }
    }

    /// The document in the form that the program knows.
    #[inline]
    pub(crate) fn current<'r>(&self, raw: &'r RawDocument) -> Result<Current<'r>> {
        match self {
            Self::Stored(_) | Self::Made { .. } => Ok(Current::as_is(raw)),
            Self::Whole(model, schema) => current(raw, model, schema),
            Self::Parts(model, schema, projection) => part(raw, model, schema, projection),
        }
    }
}

impl<'r> Current<'r> {
    fn as_is(raw: &'r RawDocument) -> Self {
        Self {
            raw: Cow::Borrowed(raw),
            before: None,
        }
    }

    /// Decodes the document; an error names the steps that it has taken.
    pub(crate) fn decode<T: DeserializeOwned>(&self, model: &'static str) -> Result<T> {
        let decoded = decode(&self.raw, model);
        match self.before {
            None => decoded,
            Some((from, schema)) => decoded.map_err(|error| after_steps(error, from, schema)),
        }
    }

    /// Whether the document was of an older version.
    pub(super) fn is_upgraded(&self) -> bool {
        self.before.is_some()
    }
}

/// Decodes a whole stored document of a model.
pub(crate) fn decode_document<M: Document>(raw: &RawDocument) -> Result<M> {
    ReadAs::of_model(M::model(), None).decode(raw)
}

/// Finds out whether a model can read a document of the version that it knows.
///
/// # Errors
///
/// It can't.
pub fn decodes<M: Document>(raw: &RawDocument) -> Result<()> {
    decode::<M>(raw, M::model().name).map(drop)
}

/// Names the steps in the error of a document that can't be read after them.
fn after_steps(error: Error, from: i64, schema: &SchemaMeta) -> Error {
    let steps: Vec<_> = taken(from, schema).map(|(_, step)| step.name).collect();
    let word = if steps.len() == 1 { "step" } else { "steps" };
    error.context(format!(
        "after the {word} `{}` from version {from} to {}",
        steps.join("`, `"),
        schema.version,
    ))
}

/// The steps that a document of a version takes, each with the version before it.
fn taken(
    from: i64,
    schema: &SchemaMeta,
) -> impl Iterator<Item = (i64, &'static crate::model::StepMeta)> {
    let steps = (1_i64..).zip(schema.steps);
    steps.skip_while(move |(version, _)| *version < from)
}

/// The `_id` of a document, for errors.
fn id_of(raw: &RawDocument) -> Option<Bson> {
    Bson::try_from(raw.get("_id").ok().flatten()?).ok()
}

/// The version of a stored document.
pub(crate) fn version_of(
    raw: &RawDocument,
    model: &'static ModelMeta,
    schema: &SchemaMeta,
) -> Result<i64> {
    let found = raw.get(schema.field).ok().flatten();
    let version = match found {
        None => return Ok(1),
        Some(RawBsonRef::Int32(version)) => Some(i64::from(version)),
        Some(RawBsonRef::Int64(version)) => Some(version),
        // The shell stores numbers as doubles.
        Some(RawBsonRef::Double(version)) => whole(version),
        Some(_) => None,
    };
    match version {
        Some(version) if version >= 1 => Ok(version),
        _ => {
            let value = found.and_then(|found| Bson::try_from(found).ok());
            let value = value.map_or_else(String::new, |value| value.to_string());
            let error = SchemaError::new(
                id_of(raw),
                format!(
                    "has the version {value}, and versions are whole numbers from 1: correct the field `{}`, or remove it from \
                     a document of version 1",
                    schema.field,
                ),
            );
            Err(Error::new(error)
                .with_model(model.name)
                .with_path(schema.field))
        }
    }
}

/// A double that is a whole number.
fn whole(number: f64) -> Option<i64> {
    // Beyond these, a double does not hold every whole number.
    let is_exact = (-9_007_199_254_740_992.0..=9_007_199_254_740_992.0).contains(&number);
    (is_exact && number.fract().abs() < f64::EPSILON)
        .then(|| format!("{number:.0}").parse().ok())?
}

/// The document in the form that the program knows.
fn current<'r>(
    raw: &'r RawDocument,
    model: &'static ModelMeta,
    schema: &'static SchemaMeta,
) -> Result<Current<'r>> {
    let version = version_of(raw, model, schema)?;
    let known = i64::from(schema.version);
    if version == known || version > known && schema.reads_newer {
        return Ok(Current::as_is(raw));
    }
    if version > known {
        return Err(newer(raw, model, version));
    }
    Ok(Current {
        raw: Cow::Owned(upgraded(raw, model, schema, version)?),
        before: Some((version, schema)),
    })
}

/// The document in the form that the program knows, to be written: an error if it is newer.
pub(super) fn writable<'r>(
    raw: &'r RawDocument,
    model: &'static ModelMeta,
    schema: &'static SchemaMeta,
) -> Result<Current<'r>> {
    let version = version_of(raw, model, schema)?;
    if version > i64::from(schema.version) {
        return Err(newer(raw, model, version));
    }
    current(raw, model, schema)
}

#[cold]
fn newer(raw: &RawDocument, model: &'static ModelMeta, version: i64) -> Error {
    let known = model.schema.map_or(1, |schema| schema.version);
    let error = Error::new(SchemaError::newer(id_of(raw), version, known));
    error.with_model(model.name)
}

/// The document after the steps from an older version.
fn upgraded(
    raw: &RawDocument,
    model: &'static ModelMeta,
    schema: &'static SchemaMeta,
    from: i64,
) -> Result<RawDocumentBuf> {
    let failed = |error: SchemaError| Error::new(error).with_model(model.name);
    let malformed = |error: bson::error::Error| {
        let message = error.to_string();
        let error = DecodeError::new(id_of(raw), message, Some(Box::new(error)));
        Error::new(error).with_model(model.name)
    };
    let mut document = BsonDocument::try_from(raw).map_err(malformed)?;
    let id = document.get("_id").cloned();
    for (version, step) in taken(from, schema) {
        (step.run)(&mut document).map_err(|message| {
            failed(SchemaError::step(id.clone(), version, step.name, message))
        })?;
        if document.get("_id") != id.as_ref() {
            let message = "it changes the `_id`, which stays with a document".to_owned();
            return Err(failed(SchemaError::step(id, version, step.name, message)));
        }
    }
    document.insert(schema.field, schema.version);
    RawDocumentBuf::try_from(&document).map_err(|error| Error::encode(error).with_model(model.name))
}

/// The projected document in the form that the program knows.
fn part<'r>(
    raw: &'r RawDocument,
    model: &'static ModelMeta,
    schema: &'static SchemaMeta,
    projection: &BsonDocument,
) -> Result<Current<'r>> {
    match Shape::of(projection) {
        Shape::Everything => current(raw, model, schema),
        Shape::Included => {
            let Ok(Some(whole)) = raw.get(WHOLE) else {
                return Ok(Current::as_is(raw));
            };
            let Some(whole) = whole.as_document() else {
                return Err(Error::malformed_reply("a whole document").with_path(WHOLE));
            };
            let found = current(whole, model, schema)?;
            Ok(Current {
                raw: Cow::Owned(project::included(&found.raw, projection)?),
                before: found.before,
            })
        }
        Shape::Computed => match raw.get(WHOLE) {
            Ok(Some(_)) => Err(not_projected(raw, model)),
            _ => Ok(Current::as_is(raw)),
        },
        Shape::Excluded => {
            let version = version_of(raw, model, schema)?;
            let known = i64::from(schema.version);
            if version < known {
                return Err(not_projected(raw, model));
            }
            current(raw, model, schema)
        }
    }
}

/// The error for a part of a document that the steps would have to see as a whole.
#[cold]
fn not_projected(raw: &RawDocument, model: &'static ModelMeta) -> Error {
    let message = "is of another version, and this projection leaves a part of it that no step can take: read it by `select`, \
                   by a projection that only names fields to include, or as a whole; or migrate the collection by `db.migrate`";
    Error::new(SchemaError::new(id_of(raw), message)).with_model(model.name)
}

/// Makes MongoDB return the whole document where it is of another version.
pub(super) fn complete_projection(projection: &mut BsonDocument, schema: &SchemaMeta) {
    let whole: Bson = match Shape::of(projection) {
        Shape::Everything | Shape::Excluded => return,
        Shape::Included => "$$ROOT".into(),
        Shape::Computed => true.into(),
    };
    projection.insert(
        WHOLE,
        doc! {"$cond": [schema.is_current(), "$$REMOVE", whole]},
    );
}

/// A projection of which the documents are read by [`ReadAs`].
pub(crate) fn projected(model: &ModelMeta, mut projection: BsonDocument) -> BsonDocument {
    if let Some(schema) = model.schema {
        complete_projection(&mut projection, schema);
    }
    projection
}

/// Matches the documents of other versions that a write has to deal with before it is sent: a replacement only with newer ones.
pub(super) fn outdated(operation: &Operation, schema: &SchemaMeta) -> Option<BsonDocument> {
    let replaces = match operation {
        Operation::Update(update) | Operation::FindAndUpdate(update) => update.replaces,
        _ => true,
    };
    let mut filter = operation.filter()?.clone();
    filter.join(if replaces {
        schema.newer()
    } else {
        schema.other()
    });
    Some(filter.into_document())
}

/// Keeps a write of documents from those of other versions: an update from all of them, a replacement from newer ones.
pub(super) fn guard(operation: &mut Operation, schema: &SchemaMeta) {
    let (filter, condition) = match operation {
        Operation::Update(update) | Operation::FindAndUpdate(update) if update.replaces => {
            (&mut update.filter, schema.not_newer())
        }
        Operation::Update(update) | Operation::FindAndUpdate(update) => {
            (&mut update.filter, schema.current())
        }
        Operation::Replace { filter, .. } | Operation::FindAndReplace { filter, .. } => {
            (filter, schema.not_newer())
        }
        _ => return,
    };
    filter.join(condition);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubles_are_versions_if_they_are_whole() {
        assert_eq!(whole(2.0), Some(2));
        assert_eq!(whole(-1.0), Some(-1));
        for other in [2.5, f64::NAN, f64::INFINITY, 1e300] {
            assert_eq!(whole(other), None, "{other}");
        }
    }
}
