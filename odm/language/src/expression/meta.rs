//! `$meta`: the metadata of a document.

use bson::raw::{RawArrayBuf, RawBson, RawBsonRef};

use crate::error::{Code, ServerError, refuse};
use crate::expression::globals::{Globals, Scope};
use crate::expression::value::Value;
use crate::value::raw::{elements, values};

/// The metadata of the current document.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Known {
    /// The score that `$text` assigned.
    pub text_score: Option<f64>,
    /// The id of its record.
    pub record: Option<i64>,
    /// The sort key of the document.
    pub sort_key: Option<RawArrayBuf>,
    /// The distance to the point that `$near` or `$geoNear` names.
    pub distance: Option<f64>,
    /// The geometry with that distance, as it is stored.
    pub point: Option<RawBson>,
}

/// A compiled `$meta`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Meta {
    TextScore,
    Record,
    /// Only in the projection of a find.
    SortKey,
    Distance,
    Point,
    /// No query of this engine has a value for it: random values, the scores of Atlas.
    Never,
}

/// The arguments of `$meta`; those with `None` are refused. Sorted.
pub const VALUES: &[(&str, Option<Meta>)] = &[
    ("geoNearDistance", Some(Meta::Distance)),
    ("geoNearPoint", Some(Meta::Point)),
    ("indexKey", None),
    ("randVal", Some(Meta::Never)),
    ("recordId", Some(Meta::Record)),
    ("searchHighlights", Some(Meta::Never)),
    ("searchScore", Some(Meta::Never)),
    ("searchScoreDetails", Some(Meta::Never)),
    ("sortKey", Some(Meta::SortKey)),
    ("textScore", Some(Meta::TextScore)),
    ("timeseriesBucketMaxTime", Some(Meta::Never)),
    ("timeseriesBucketMinTime", Some(Meta::Never)),
];

impl Meta {
    pub(super) fn parse(argument: RawBsonRef<'_>, scope: &Scope) -> Result<Self, ServerError> {
        let RawBsonRef::String(name) = argument else {
            return refuse(17307, "$meta only supports string arguments");
        };
        match VALUES.iter().find(|(known, _)| *known == name) {
            Some((_, Some(meta))) if *meta != Self::SortKey || scope.has_sort_keys() => Ok(*meta),
            Some(_) => Err(ServerError::new(
                Code::COMMAND_NOT_SUPPORTED,
                format!("{{$meta: \"{name}\"}} is not supported by the in-memory engine"),
            )),
            None => refuse(17308, format!("Unsupported argument to $meta: {name}")),
        }
    }

    pub(super) fn eval<'a>(self, globals: &Globals) -> Value<'a> {
        let known = globals.known();
        match self {
            Self::TextScore => known.text_score.map(RawBson::Double),
            Self::Record => known.record.map(RawBson::Int64),
            Self::SortKey => known.sort_key.map(RawBson::Array),
            Self::Distance => known.distance.map(RawBson::Double),
            Self::Point => known.point,
            Self::Never => None,
        }
        .map_or(Value::Missing, Value::Owned)
    }
}

/// The error for `{$meta: "textScore"}` without `$text`.
pub fn unavailable() -> ServerError {
    lacking("text score")
}

fn lacking(what: &str) -> ServerError {
    ServerError::new(
        Code::location(40218),
        format!("query requires {what} metadata, but it is not available"),
    )
}

/// The error for a distance or a point without `$near` and `$geoNear`, if the value mentions one.
pub fn lacks_distance(value: RawBsonRef<'_>) -> Option<ServerError> {
    [
        ("geoNearDistance", "$geoNear distance"),
        ("geoNearPoint", "$geoNear point"),
    ]
    .into_iter()
    .find(|(name, _)| mentions(value, Some(name)))
    .map(|(_, what)| lacking(what))
}

/// Whether a value contains a `$meta`, of the wanted name if one is given.
pub fn mentions(value: RawBsonRef<'_>, wanted: Option<&str>) -> bool {
    match value {
        RawBsonRef::Document(document) => elements(document).any(|(name, value)| {
            let is_it = name == "$meta"
                && match (wanted, value) {
                    (None, _) => true,
                    (Some(wanted), RawBsonRef::String(name)) => name == wanted,
                    _ => false,
                };
            is_it || mentions(value, wanted)
        }),
        RawBsonRef::Array(array) => values(array).any(|value| mentions(value, wanted)),
        _ => false,
    }
}
