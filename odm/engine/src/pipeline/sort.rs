//! Sort specifications over documents: `{a: 1, "b.c": -1}`.

use bson::raw::{RawBsonRef, RawDocument};
use odm_language::error::{Code, ServerError};
use odm_language::expression::compat::messages;
use odm_language::expression::meta::Known;
use odm_language::value::collation::Collator;
use odm_language::value::key::{self, Direction};
use odm_language::value::number::Number;
use odm_language::value::path::{Path, Segment};
use odm_language::value::raw::{elements, get};

use crate::index::keys;

/// A parsed sort specification.
#[derive(Debug, Clone)]
pub(crate) struct SortPattern {
    paths: Vec<Path>,
    directions: Vec<Direction>,
    /// The positions of a score in the pattern; it sorts descending.
    scores: Vec<usize>,
    /// What the score is.
    scored_by: ScoredBy,
}

/// The score of a document that `{$meta: …}` in a sort names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum ScoredBy {
    #[default]
    Text,
    /// The distance that `$near` and `$geoNear` measure.
    Distance,
}

impl ScoredBy {
    /// The document's score.
    pub(crate) fn of(self, known: &Known) -> Option<f64> {
        match self {
            Self::Text => known.text_score,
            Self::Distance => known.distance,
        }
    }
}

impl SortPattern {
    /// Parses the specification of `$sort`, which must not be empty.
    pub(crate) fn parse(spec: &RawDocument) -> Result<Self, ServerError> {
        let refuse = |code, message: String| Err(ServerError::new(Code::location(code), message));
        let mut paths: Vec<Path> = Vec::new();
        let mut directions = Vec::new();
        let mut scores = Vec::new();
        let mut scored_by = ScoredBy::default();
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
                (None, RawBsonRef::Document(meta)) => {
                    scored_by = check_meta(meta)?;
                    odm_language::expression::field_path(name)?;
                    scores.push(paths.len() + scores.len());
                    continue;
                }
                _ => {
                    return refuse(
                        15974,
                        format!(
                            "Illegal key in $sort specification: {}",
                            messages::element(name, value)
                        ),
                    );
                }
            };
            odm_language::expression::field_path(name)?;
            // A repeated field keeps its position and takes the later direction. (`find` keeps the first direction.)
            if let Some(again) = paths.iter().position(|path| path.as_str() == name) {
                if let Some(known) = directions.get_mut(again) {
                    *known = direction;
                }
            } else {
                paths.push(Path::new(name));
                directions.push(direction);
            }
        }
        if paths.is_empty() && scores.is_empty() {
            return refuse(
                15976,
                "$sort stage must have at least one sort key".to_owned(),
            );
        }
        key::check_parts(paths.len())?;
        Ok(Self {
            paths,
            directions,
            scores,
            scored_by,
        })
    }

    /// The paths and their directions.
    pub(crate) fn parts(&self) -> impl Iterator<Item = (&str, Direction)> {
        self.paths
            .iter()
            .map(Path::as_str)
            .zip(self.directions.iter().copied())
    }

    /// The top-level fields that the sort reads.
    pub(crate) fn fields(&self) -> Vec<Segment> {
        let fields = self.paths.iter().filter_map(|path| path.segments().first());
        fields.cloned().collect()
    }

    /// The bytes that [`key_into`](Self::key_into) appends.
    pub(crate) fn key(
        &self,
        document: &RawDocument,
        collator: Option<&Collator>,
        known: &Known,
    ) -> Result<Vec<u8>, ServerError> {
        let mut bytes = Vec::with_capacity(16 * self.paths.len());
        self.key_into(document, collator, known, &mut bytes)?;
        Ok(bytes)
    }

    /// Appends bytes that sort like the documents: the least key that an index over the fields would have, with the
    /// document's score at its positions.
    pub(crate) fn key_into(
        &self,
        document: &RawDocument,
        collator: Option<&Collator>,
        known: &Known,
        bytes: &mut Vec<u8>,
    ) -> Result<(), ServerError> {
        let score = self.scored_by.of(known);
        if let [path] = self.paths.as_slice()
            && self.scores.is_empty()
            && path.as_str() == "_id"
        {
            // As in the index on `_id`, an array is one value.
            let id = get(document, "_id").unwrap_or(RawBsonRef::Null);
            for direction in self.directions.iter().take(1) {
                key::append(bytes, id, *direction, collator);
            }
            return Ok(());
        }
        keys::least(
            document,
            &self.paths,
            &self.directions,
            collator,
            (&self.scores, score),
            bytes,
        )
        .map_err(|error| match error.code() {
            Code::CANNOT_INDEX_PARALLEL_ARRAYS => ServerError::new(
                Code::BAD_VALUE,
                "cannot sort with keys that are parallel arrays",
            ),
            _ => error,
        })
    }
}

/// Reads a `{$meta: …}`, which must name a score.
pub(crate) fn check_meta(value: &RawDocument) -> Result<ScoredBy, ServerError> {
    let refuse = |code, message: String| Err(ServerError::new(Code::location(code), message));
    let Some(meta) = get(value, "$meta") else {
        return refuse(
            17312,
            "$meta is the only expression supported by $sort right now".to_owned(),
        );
    };
    if elements(value).count() > 1 {
        return Err(ServerError::new(
            Code::FAILED_TO_PARSE,
            "Cannot have additional keys in a $meta sort specification",
        ));
    }
    match meta {
        RawBsonRef::String("textScore") => Ok(ScoredBy::Text),
        RawBsonRef::String("geoNearDistance") => Ok(ScoredBy::Distance),
        RawBsonRef::String("randVal") => Err(ServerError::new(
            Code::COMMAND_NOT_SUPPORTED,
            "sorting by {$meta: \"randVal\"} is not supported by the in-memory engine",
        )),
        RawBsonRef::String("searchScore") => refuse(
            31218,
            "$meta sort by 'searchScore' metadata is not supported".to_owned(),
        ),
        RawBsonRef::String("searchHighlights") => refuse(
            31219,
            "$meta sort by 'searchHighlights' metadata is not supported".to_owned(),
        ),
        other => refuse(
            31138,
            format!("Illegal $meta sort: {}", messages::element("$meta", other)),
        ),
    }
}

#[cfg(test)]
mod tests {
    use bson::{RawDocumentBuf, rawdoc};

    use super::{Known, SortPattern};

    #[test]
    fn a_repeated_sort_field_takes_the_later_direction() {
        let mut spec = RawDocumentBuf::new();
        spec.append(bson::raw::cstr!("a"), 1);
        spec.append(bson::raw::cstr!("b"), 1);
        spec.append(bson::raw::cstr!("a"), -1);
        let pattern = SortPattern::parse(&spec).unwrap();
        let key = |a, b| {
            pattern
                .key(&rawdoc! { "a": a, "b": b }, None, &Known::default())
                .unwrap()
        };
        assert!(key(2, 1) < key(1, 1));
        assert!(key(1, 1) < key(1, 2));
    }
}
