//! `$rename`: `{a: 1}` `{$rename: {a: "b.c"}}` -> `{b: {c: 1}}`.

use bson::raw::{RawBson, RawBsonRef, RawDocument};

use crate::engine::expression::text;
use crate::engine::updater::behaviour::bad_value;
use crate::engine::updater::conflicts::{Part, check_path};
use crate::engine::updater::node::fields;
use crate::error::{Code, ServerError};

/// A checked `$rename` of one field.
#[derive(Debug)]
pub(super) struct Rename {
    pub(super) from: String,
    pub(super) to: String,
}

impl Rename {
    pub(super) fn parse(from: &str, to: RawBsonRef<'_>) -> Result<Self, ServerError> {
        let RawBsonRef::String(target) = to else {
            return Err(bad_value(format!(
                "The 'to' field for $rename must be a string: {}",
                text::element(from, to)
            )));
        };
        if target.contains('\0') {
            return Err(bad_value(
                "The 'to' field for $rename cannot contain an embedded null byte",
            ));
        }
        check_path(from)?;
        check_path(target)?;
        let below = |long: &str, short: &str| {
            long.strip_prefix(short)
                .is_some_and(|rest| rest.starts_with('.'))
        };
        if from == target {
            return Err(bad_value(format!(
                "The source and target field for $rename must differ: {}",
                text::element(from, to)
            )));
        }
        if below(from, target) || below(target, from) {
            return Err(bad_value(format!(
                "The source and target field for $rename must not be on the same path: {}",
                text::element(from, to)
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
        if dynamic(target) {
            return Err(bad_value(format!(
                "The destination field for $rename may not be dynamic: {target}"
            )));
        }
        Ok(Self {
            from: from.to_owned(),
            to: target.to_owned(),
        })
    }

    /// The value to move, where the document has one.
    pub(super) fn value(
        &self,
        document: &RawDocument,
        named: &str,
    ) -> Result<Option<RawBson>, ServerError> {
        let Some(value) = self.source(document, named)? else {
            return Ok(None);
        };
        self.check_destination(document, named)?;
        Ok(Some(value.into()))
    }

    fn source<'a>(
        &self,
        document: &'a RawDocument,
        named: &str,
    ) -> Result<Option<RawBsonRef<'a>>, ServerError> {
        let parts: Vec<&str> = self.from.split('.').collect();
        let mut below = document;
        for (index, part) in parts.iter().enumerate() {
            let Some((name, value)) = fields(below).find(|(name, _)| name == part) else {
                return Ok(None);
            };
            match (value, parts.get(index + 1)) {
                (value, None) => return Ok(Some(value)),
                (RawBsonRef::Document(inner), Some(_)) => below = inner,
                (RawBsonRef::Array(array), Some(next)) if next.parse::<usize>().is_ok() => {
                    let index = next.parse().unwrap_or(usize::MAX);
                    return match array.get(index) {
                        Ok(Some(_)) => Err(array_element("source", &self.from, named, name)),
                        _ => Ok(None),
                    };
                }
                (value, Some(_)) => {
                    return Err(ServerError::new(
                        Code::PATH_NOT_VIABLE,
                        format!(
                            "cannot use the part ({part} of {}) to traverse the element ({{{}}})",
                            self.from,
                            text::element(name, value)
                        ),
                    ));
                }
            }
        }
        Ok(None)
    }

    fn check_destination(&self, document: &RawDocument, named: &str) -> Result<(), ServerError> {
        let mut below = document;
        for part in self.to.split('.') {
            match fields(below).find(|(name, _)| *name == part) {
                Some((_, RawBsonRef::Document(inner))) => below = inner,
                Some((name, RawBsonRef::Array(_)))
                    if self.to != name && !self.to.ends_with(&format!(".{name}")) =>
                {
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
