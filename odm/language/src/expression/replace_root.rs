//! The stages that turn one document into one document, shared by pipelines and pipeline updates.

use bson::Bson;
use bson::raw::{RawBson, RawBsonRef, RawDocument, RawDocumentBuf};

use crate::error::{ServerError, refuse};
use crate::expression::projection::{Kind, Shape};
use crate::expression::{Expression, Globals, Scope, Value, compat::messages};
use crate::value::raw::{elements, values};

/// Prefixes errors of a stage with the stage's name.
fn invalid(stage: &str) -> impl Fn(ServerError) -> ServerError {
    move |error| {
        ServerError::new(
            error.code(),
            format!("Invalid {stage} :: caused by :: {}", error.message()),
        )
    }
}

/// `$set`, `$addFields`.
pub fn set(stage: &str, spec: RawBsonRef<'_>, scope: &Scope) -> Result<Shape, ServerError> {
    let RawBsonRef::Document(spec) = spec else {
        return refuse(
            40272,
            format!(
                "{stage} specification stage must be an object, got {}",
                messages::type_name(Some(spec))
            ),
        );
    };
    Shape::set(spec, scope).map_err(invalid(stage))
}

/// `$project`.
pub fn project(spec: RawBsonRef<'_>, scope: &Scope) -> Result<Shape, ServerError> {
    let RawBsonRef::Document(spec) = spec else {
        return refuse(15969, "$project specification must be an object");
    };
    if spec.is_empty() {
        return refuse(
            51272,
            "Invalid $project :: caused by :: projection specification must have at least one field",
        );
    }
    fields("$project", spec, scope)
}

/// The projection of a stage that mongod turns into a `$project`.
pub fn fields(stage: &str, spec: &RawDocument, scope: &Scope) -> Result<Shape, ServerError> {
    Shape::project(spec, scope, &|_, _, _| None, Kind::Include).map_err(invalid(stage))
}

/// `$unset`.
pub fn unset(spec: RawBsonRef<'_>) -> Result<Shape, ServerError> {
    let paths: Vec<&str> = match spec {
        RawBsonRef::String(path) => vec![path],
        RawBsonRef::Array(array) => {
            let paths: Vec<_> = values(array)
                .filter_map(|path| match path {
                    RawBsonRef::String(path) => Some(path),
                    _ => None,
                })
                .collect();
            if paths.is_empty() && array.is_empty() {
                return refuse(
                    31119,
                    "$unset specification must be a string or an array with at least one field",
                );
            }
            if paths.len() < values(array).count() {
                return refuse(
                    31120,
                    "$unset specification must be a string or an array containing only string values",
                );
            }
            paths
        }
        _ => return refuse(31002, "$unset specification must be a string or an array"),
    };
    Shape::unset(paths.into_iter()).map_err(invalid("$unset"))
}

/// `$replaceRoot`, `$replaceWith`.
#[derive(Debug)]
pub struct NewRoot {
    with: Expression,
    described: &'static str,
}

impl NewRoot {
    pub fn parse(stage: &str, spec: RawBsonRef<'_>, scope: &Scope) -> Result<Self, ServerError> {
        if stage == "$replaceWith" {
            return Ok(Self {
                with: Expression::parse(spec, scope)?,
                described: "'replacement document'",
            });
        }
        let RawBsonRef::Document(spec) = spec else {
            return refuse(
                40229,
                format!(
                    "expected an object as specification for $replaceRoot stage, got {}",
                    messages::type_name(Some(spec))
                ),
            );
        };
        let mut with = None;
        for (name, value) in elements(spec) {
            if name != "newRoot" {
                return refuse(
                    40415,
                    format!("BSON field '$replaceRoot.{name}' is an unknown field."),
                );
            }
            with = Some(Expression::parse(value, scope)?);
        }
        match with {
            Some(with) => Ok(Self {
                with,
                described: "'newRoot' expression ",
            }),
            None => refuse(
                40414,
                "BSON field '$replaceRoot.newRoot' is missing but a required field",
            ),
        }
    }

    /// The expression as mongod's `explain` shows it.
    pub fn optimized(&self, globals: &Globals) -> Bson {
        self.with.optimized(globals)
    }

    /// The paths that the new document is computed from; `None` if that is the whole document.
    pub fn dependencies(&self) -> Option<Vec<String>> {
        self.with.paths()
    }

    pub fn check_constants(&self, globals: &Globals) -> Result<(), ServerError> {
        self.with.check_constants(globals)
    }

    pub fn apply(
        &self,
        document: &RawDocument,
        globals: &Globals,
    ) -> Result<RawDocumentBuf, ServerError> {
        match self.with.eval(document, globals)? {
            Value::Ref(RawBsonRef::Document(new)) => Ok(new.to_owned()),
            Value::Owned(RawBson::Document(new)) => Ok(new),
            other => refuse(
                40228,
                format!(
                    "{} must evaluate to an object, but resulting value was: {}. Type of resulting value: '{}'. Input document: {}",
                    self.described,
                    other
                        .get()
                        .map_or_else(|| "MISSING".to_owned(), messages::computed),
                    messages::type_name(other.get()),
                    messages::computed(RawBsonRef::Document(document))
                ),
            ),
        }
    }
}
