//! Sort specifications over documents: `{a: 1, "b.c": -1}`.

use bson::raw::{RawBsonRef, RawDocument};

use crate::engine::expression::text;
use crate::engine::index::keys;
use crate::error::{Code, ServerError};
use crate::value::collation::Collator;
use crate::value::key::{self, Direction};
use crate::value::number::Number;
use crate::value::path::Path;
use crate::value::raw::{elements, get};

/// A parsed sort specification.
#[derive(Debug, Clone)]
pub(crate) struct SortPattern {
    paths: Vec<Path>,
    directions: Vec<Direction>,
}

impl SortPattern {
    /// Parses the specification of `$sort`; an empty one is refused.
    pub(crate) fn parse(spec: &RawDocument) -> Result<Self, ServerError> {
        let refuse = |code, message: String| Err(ServerError::new(Code::location(code), message));
        let mut paths: Vec<Path> = Vec::new();
        let mut directions = Vec::new();
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
            // A field that is named again keeps its place and takes the later direction. (`find` keeps the first.)
            if let Some(again) = paths.iter().position(|path| path.as_str() == name) {
                if let Some(known) = directions.get_mut(again) {
                    *known = direction;
                }
            } else {
                paths.push(Path::new(name));
                directions.push(direction);
            }
        }
        if paths.is_empty() {
            return refuse(
                15976,
                "$sort stage must have at least one sort key".to_owned(),
            );
        }
        Ok(Self { paths, directions })
    }

    /// The paths and their directions.
    pub(crate) fn parts(&self) -> impl Iterator<Item = (&str, Direction)> {
        self.paths
            .iter()
            .map(Path::as_str)
            .zip(self.directions.iter().copied())
    }

    /// Bytes that order as the specification orders documents: the least of the keys that an index over the fields
    /// would have.
    pub(crate) fn key(
        &self,
        document: &RawDocument,
        collator: Option<&Collator>,
    ) -> Result<Vec<u8>, ServerError> {
        if let [path] = self.paths.as_slice()
            && path.as_str() == "_id"
        {
            // As in the index on it, an array there is one value.
            let id = get(document, "_id").unwrap_or(RawBsonRef::Null);
            let mut bytes = Vec::new();
            for direction in self.directions.iter().take(1) {
                key::append(&mut bytes, id, *direction, collator);
            }
            return Ok(bytes);
        }
        keys::least(document, &self.paths, &self.directions, collator).map_err(|error| match error
            .code()
        {
            Code::CANNOT_INDEX_PARALLEL_ARRAYS => ServerError::new(
                Code::BAD_VALUE,
                "cannot sort with keys that are parallel arrays",
            ),
            _ => error,
        })
    }
}

#[cfg(test)]
mod tests {
    use bson::{RawDocumentBuf, rawdoc};

    use super::SortPattern;

    #[test]
    fn a_field_named_again_takes_the_later_direction() {
        let mut spec = RawDocumentBuf::new();
        spec.append(bson::raw::cstr!("a"), 1);
        spec.append(bson::raw::cstr!("b"), 1);
        spec.append(bson::raw::cstr!("a"), -1);
        let pattern = SortPattern::parse(&spec).unwrap();
        let key = |a, b| pattern.key(&rawdoc! { "a": a, "b": b }, None).unwrap();
        assert!(key(2, 1) < key(1, 1));
        assert!(key(1, 1) < key(1, 2));
    }
}
