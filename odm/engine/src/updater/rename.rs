//! `$rename`: `{a: 1}` `{$rename: {a: "b.c"}}` -> `{b: {c: 1}}`.

use bson::raw::{RawArray, RawBsonRef, RawDocument};
use odm_language::error::{Code, ServerError};
use odm_language::value::path::padded_index;
use odm_language::value::print;
use odm_language::value::raw::values;

use crate::updater::conflicts::{Part, check_path};
use crate::updater::immutable::{immutable_id, is_of_id};
use crate::updater::node::{Node, fields};
use crate::updater::operator::{Effect, Operator, OperatorContext, bad_value};
use crate::updater::set::Set;

/// The value in which the next part of a path is looked up.
#[derive(Clone, Copy)]
enum Below<'a> {
    Document(&'a RawDocument),
    Array(&'a RawArray),
}

/// The effect of one `$rename` at its destination path.
#[derive(Debug)]
pub(super) struct Moving {
    set: Result<Set, ServerError>,
    /// The source path, if it is in the immutable `_id`.
    of_id: Option<String>,
}

impl Operator for Moving {
    fn apply<'a>(
        &'a self,
        current: Option<&mut Node<'a>>,
        at: &OperatorContext<'_>,
    ) -> Result<Effect<'a>, ServerError> {
        let set = self.set.as_ref().map_err(Clone::clone)?;
        let change = set.apply(current, at)?;
        let to_id = is_of_id(&at.path);
        if to_id && at.document.0.is_some() {
            return match change {
                // Moving to `_id` counts as a write even if the value stays the same.
                Effect::Nothing => Err(immutable_id(&at.path)),
                change => Ok(change),
            };
        }
        match &self.of_id {
            Some(from) => Err(immutable_id(from)),
            None => Ok(change),
        }
    }

    fn fault(&self) -> Option<&ServerError> {
        self.set.as_ref().err()
    }
}

/// A checked `$rename` of one field.
#[derive(Debug)]
pub(super) struct Rename {
    pub(super) from: String,
    pub(super) to: String,
}

impl Rename {
    /// Reads the destination path of a rename.
    pub(super) fn target<'a>(from: &str, to: RawBsonRef<'a>) -> Result<&'a str, ServerError> {
        let RawBsonRef::String(target) = to else {
            return Err(bad_value(format!(
                "The 'to' field for $rename must be a string: {}",
                print::field(from, to)
            )));
        };
        if target.contains('\0') {
            return Err(bad_value(
                "The 'to' field for $rename cannot contain an embedded null byte",
            ));
        }
        Ok(target)
    }

    pub(super) fn new(from: &str, to: &str) -> Result<Self, ServerError> {
        check_path(to)?;
        let shown = || print::field(from, RawBsonRef::String(to));
        let below = |long: &str, short: &str| {
            long.strip_prefix(short)
                .is_some_and(|rest| rest.starts_with('.'))
        };
        if from == to {
            return Err(bad_value(format!(
                "The source and target field for $rename must differ: {}",
                shown()
            )));
        }
        if below(from, to) || below(to, from) {
            return Err(bad_value(format!(
                "The source and target field for $rename must not be on the same path: {}",
                shown()
            )));
        }
        let dynamic = |path: &str| {
            path.split('.')
                .any(|part| !matches!(Part::new(part), Part::Field(_)))
        };
        if dynamic(from) {
            return Err(bad_value(format!(
                "The source field for $rename may not be dynamic: {from}"
            )));
        }
        if dynamic(to) {
            return Err(bad_value(format!(
                "The destination field for $rename may not be dynamic: {to}"
            )));
        }
        Ok(Self {
            from: from.to_owned(),
            to: to.to_owned(),
        })
    }

    /// The effect at the destination path, if the source exists: it sets the value there, or returns the error when the
    /// other operators reach that path.
    pub(super) fn moving(&self, document: &RawDocument, named: &str) -> Option<Moving> {
        match self.value(document, named) {
            Ok(value) => value.map(|value| Moving {
                set: Ok(Set::new(value)),
                of_id: is_of_id(&self.from).then(|| self.from.clone()),
            }),
            Err(fault) => Some(Moving {
                set: Err(fault),
                of_id: None,
            }),
        }
    }

    fn value<'a>(
        &self,
        document: &'a RawDocument,
        named: &str,
    ) -> Result<Option<RawBsonRef<'a>>, ServerError> {
        let Some(value) = self.source(document, named)? else {
            return Ok(None);
        };
        self.check_destination(document, named)?;
        Ok(Some(value))
    }

    fn source<'a>(
        &self,
        document: &'a RawDocument,
        named: &str,
    ) -> Result<Option<RawBsonRef<'a>>, ServerError> {
        let parts: Vec<&str> = self.from.split('.').collect();
        let mut through = None;
        let mut below = Below::Document(document);
        for (index, part) in parts.iter().enumerate() {
            let found = match below {
                Below::Document(document) => fields(document)
                    .find(|(name, _)| name == part)
                    .map(|(_, value)| value),
                Below::Array(array) => {
                    padded_index(part).and_then(|index| values(array).nth(index))
                }
            };
            let Some(value) = found else {
                return Ok(None);
            };
            let Some(next) = parts.get(index + 1) else {
                return match through {
                    Some(array) => Err(array_element("source", &self.from, named, array)),
                    None => Ok(Some(value)),
                };
            };
            below = match value {
                RawBsonRef::Document(inner) => Below::Document(inner),
                RawBsonRef::Array(inner) if padded_index(next).is_some() => {
                    through = Some(*part);
                    Below::Array(inner)
                }
                value => {
                    return Err(ServerError::new(
                        Code::PATH_NOT_VIABLE,
                        format!(
                            "cannot use the part ({part} of {}) to traverse the element ({{{}}})",
                            self.from,
                            print::field(part, value)
                        ),
                    ));
                }
            };
        }
        Ok(None)
    }

    fn check_destination(&self, document: &RawDocument, named: &str) -> Result<(), ServerError> {
        let mut below = document;
        let mut parts = self.to.split('.').peekable();
        while let Some(part) = parts.next() {
            match fields(below).find(|(name, _)| *name == part) {
                Some((_, RawBsonRef::Document(inner))) => below = inner,
                Some((name, RawBsonRef::Array(_))) if parts.peek().is_some() => {
                    return Err(array_element("destination", &self.to, named, name));
                }
                _ => break,
            }
        }
        Ok(())
    }
}

fn array_element(which: &str, path: &str, named: &str, array: &str) -> ServerError {
    bad_value(format!(
        "The {which} field cannot be an array element, '{path}' in doc with {named} has an array field called '{array}'"
    ))
}
