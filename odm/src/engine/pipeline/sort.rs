//! Sort specifications over documents: `{a: 1, "b.c": -1}`.

use bson::raw::{RawBsonRef, RawDocument};

use crate::engine::expression::text;
use crate::error::{Code, ServerError};
use crate::value::collation::Collator;
use crate::value::key::{self, Direction};
use crate::value::number::Number;
use crate::value::path::Path;
use crate::value::raw::{elements, get, values};

/// A parsed sort specification.
#[derive(Debug, Clone)]
pub(crate) struct SortPattern(Vec<(Path, Direction)>);

impl SortPattern {
    /// Parses the specification of `$sort`; an empty one is refused.
    pub(crate) fn parse(spec: &RawDocument) -> Result<Self, ServerError> {
        let refuse = |code, message: String| Err(ServerError::new(Code::location(code), message));
        let mut parts = Vec::new();
        for (name, value) in elements(spec) {
            let direction = match (Number::from_raw(value), value) {
                (Some(number), _) => match number.to_i64_exact() {
                    Some(1) => Direction::Ascending,
                    Some(-1) => Direction::Descending,
                    _ => {
                        return refuse(
                            15975,
                            "$sort key ordering must be 1 (for ascending) or -1 (for descending)"
                                .to_owned(),
                        );
                    }
                },
                (None, RawBsonRef::Document(meta)) if get(meta, "$meta").is_some() => {
                    return match get(meta, "$meta") {
                        Some(RawBsonRef::String(
                            known @ ("textScore" | "randVal" | "searchScore" | "geoNearDistance"),
                        )) => Err(ServerError::new(
                            Code::COMMAND_NOT_SUPPORTED,
                            format!(
                                "sorting by {{$meta: \"{known}\"}} is not supported by the in-memory engine"
                            ),
                        )),
                        Some(other) => refuse(
                            31138,
                            format!("Illegal $meta sort: {}", text::element("$meta", other)),
                        ),
                        None => refuse(31138, "Illegal $meta sort".to_owned()),
                    };
                }
                _ => {
                    return refuse(
                        15974,
                        format!(
                            "Illegal key in $sort specification: {}",
                            text::element(name, value)
                        ),
                    );
                }
            };
            crate::engine::expression::field_path(name)?;
            parts.push((Path::new(name), direction));
        }
        if parts.is_empty() {
            return refuse(
                15976,
                "$sort stage must have at least one sort key".to_owned(),
            );
        }
        Ok(Self(parts))
    }

    /// Bytes that order as the specification orders documents. Of an array, the least element counts (the
    /// greatest, descending).
    pub(crate) fn key(&self, document: &RawDocument, collator: Option<&Collator>) -> Vec<u8> {
        let mut bytes = Vec::new();
        for (path, direction) in &self.0 {
            let names: Vec<&str> = path
                .segments()
                .iter()
                .map(|segment| segment.name())
                .collect();
            let mut least: Option<Vec<u8>> = None;
            visit(RawBsonRef::Document(document), &names, &mut |value| {
                let mut candidate = Vec::new();
                key::append(&mut candidate, value, *direction, collator);
                if least.as_ref().is_none_or(|least| candidate < *least) {
                    least = Some(candidate);
                }
            });
            bytes.extend(least.unwrap_or_default());
        }
        bytes
    }
}

/// Visits what an index on the path would hold: elements of arrays one by one, null for what is missing.
fn visit(value: RawBsonRef<'_>, names: &[&str], call: &mut dyn FnMut(RawBsonRef<'_>)) {
    match (names.split_first(), value) {
        (None, RawBsonRef::Array(array)) => {
            if array.is_empty() {
                call(RawBsonRef::Undefined);
            }
            values(array).for_each(call);
        }
        (None, value) => call(value),
        (Some((name, rest)), RawBsonRef::Document(document)) => match get(document, name) {
            Some(value) => visit(value, rest, call),
            None => call(RawBsonRef::Null),
        },
        (Some((name, rest)), RawBsonRef::Array(array)) => {
            if let Some(item) =
                crate::value::path::index(name).and_then(|index| values(array).nth(index))
            {
                visit(item, rest, call);
                return;
            }
            if array.is_empty() {
                call(RawBsonRef::Null);
            }
            for item in values(array) {
                match item {
                    RawBsonRef::Document(_) => visit(item, names, call),
                    _ => call(RawBsonRef::Null),
                }
            }
        }
        (Some(_), _) => call(RawBsonRef::Null),
    }
}
