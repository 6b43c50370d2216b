//! Sorts by a pattern, with the keys of an index over its fields: the smallest key of each document counts.

use bson::raw::{RawArrayBuf, RawBsonRef, RawDocument};
use odm_language::error::{Code, ServerError};
use odm_language::expression::meta::Known;
use odm_language::value::collation::Collator;
use odm_language::value::key::{Direction, Head};
use odm_language::value::number::Number;
use odm_language::value::path::Path;
use odm_language::value::{bson_type, print, raw};

use crate::index::keys::{self, PathValue};
use crate::pipeline::sort::{ScoredBy, check_meta};
use crate::planner::compat::exclusive_options::is_backwards;

/// A parsed sort pattern.
#[derive(Debug, Clone)]
pub(crate) struct Sort {
    pub(crate) paths: Vec<Path>,
    pub(crate) directions: Vec<Direction>,
    /// The positions of a score in the pattern. Higher scores sort first.
    pub(crate) scores: Vec<usize>,
    /// What the score is.
    pub(crate) scored_by: ScoredBy,
}

/// The order that a `sort` requests.
#[derive(Debug, Clone)]
pub(crate) enum Order {
    /// No order.
    None,
    /// `{$natural: 1}`: record order.
    Natural {
        backwards: bool,
    },
    Fields(Sort),
}

impl Order {
    /// Parses a sort pattern. `planner::agreement` has checked that `$natural` is the only field.
    pub(crate) fn parse(pattern: Option<&RawDocument>) -> Result<Self, ServerError> {
        let Some(pattern) = pattern else {
            return Ok(Self::None);
        };
        let mut sort = Sort {
            paths: Vec::new(),
            directions: Vec::new(),
            scores: Vec::new(),
            scored_by: ScoredBy::default(),
        };
        for (name, value) in raw::elements(pattern) {
            if name == "$natural" {
                return Ok(Self::Natural {
                    backwards: is_backwards(value),
                });
            }
            if let RawBsonRef::Document(meta) = value {
                sort.scored_by = check_meta(meta)?;
                check_path(name)?;
                sort.scores.push(sort.paths.len() + sort.scores.len());
                continue;
            }
            let direction = direction(name, value)?;
            check_path(name)?;
            // A repeated field has no effect: documents that reach it are equal in it.
            if sort.paths.iter().all(|path| path.as_str() != name) {
                sort.paths.push(Path::new(name));
                sort.directions.push(direction);
            }
        }
        Ok(if sort.paths.is_empty() && sort.scores.is_empty() {
            Self::None
        } else {
            Self::Fields(sort)
        })
    }
}

impl Sort {
    /// Whether a document certainly sorts after a key with this head: the first field decides, and no path meets an
    /// array. False may also mean unknown.
    pub(crate) fn is_behind(&self, document: &[u8], collated: bool, head: Head) -> bool {
        let (Some((first, others)), Some(direction), true) = (
            self.paths.split_first(),
            self.directions.first(),
            self.scores.is_empty(),
        ) else {
            return false;
        };
        let own = match keys::straight(document, first) {
            PathValue::Value(element) => Head::of(Some(&element), *direction, collated),
            PathValue::Missing => Head::of(None, *direction, collated),
            PathValue::Array => None,
        };
        let is_array = |path| matches!(keys::straight(document, path), PathValue::Array);
        own.is_some_and(|own| own.is_behind(head)) && !others.iter().any(is_array)
    }

    /// Appends the document's sort key.
    pub(crate) fn key_into(
        &self,
        document: &RawDocument,
        collation: Option<&Collator>,
        score: Option<f64>,
        key: &mut Vec<u8>,
    ) -> Result<(), ServerError> {
        let score = (self.scores.as_slice(), score);
        keys::least(
            document,
            &self.paths,
            &self.directions,
            collation,
            score,
            key,
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

impl Order {
    /// The values by which a document is sorted; empty for record order.
    pub(crate) fn values(
        &self,
        document: &RawDocument,
        known: &Known,
    ) -> Result<RawArrayBuf, ServerError> {
        match self {
            Self::None | Self::Natural { .. } => Ok(RawArrayBuf::new()),
            Self::Fields(sort) => keys::least_values(
                document,
                &sort.paths,
                &sort.directions,
                (sort.scores.as_slice(), sort.scored_by.of(known)),
            ),
        }
    }
}

/// Reads 1 or −1 of any numeric type, ignoring the fraction.
pub(crate) fn unit(value: RawBsonRef<'_>) -> Option<Direction> {
    let number = Number::from_raw(value)?;
    let whole = match number {
        // Decimals are rounded.
        Number::Decimal(number) => Some(number.to_i64_rounded()),
        number => number.to_i64_truncated(),
    };
    match whole {
        Some(1) => Some(Direction::Ascending),
        Some(-1) => Some(Direction::Descending),
        _ => None,
    }
}

fn direction(name: &str, value: RawBsonRef<'_>) -> Result<Direction, ServerError> {
    if bson_type::TypeSet::NUMBER.contains(value.element_type()) {
        return unit(value).ok_or_else(|| {
            ServerError::new(
                Code::location(15975),
                "$sort key ordering must be 1 (for ascending) or -1 (for descending)",
            )
        });
    }
    Err(ServerError::new(
        Code::location(15974),
        format!(
            "Illegal key in $sort specification: {}",
            print::field(name, value)
        ),
    ))
}

pub(crate) fn check_path(name: &str) -> Result<(), ServerError> {
    let error = |code, message: &str| Err(ServerError::new(Code::location(code), message));
    if name.is_empty() {
        return error(40352, "FieldPath cannot be constructed with empty string");
    }
    if name.ends_with('.') {
        return error(40353, "FieldPath must not end with a '.'.");
    }
    if name.split('.').any(str::is_empty) {
        return error(15998, "FieldPath field names may not be empty strings.");
    }
    // The fields of a DBRef have these names.
    let is_refused = |part: &str| part.starts_with('$') && !matches!(part, "$db" | "$id" | "$ref");
    if name.split('.').any(is_refused) {
        return error(
            16410,
            "FieldPath field names may not start with '$'. Consider using $getField or $setField.",
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use bson::{Bson, Document, RawDocumentBuf, doc, rawdoc};
    use proptest::prelude::*;

    use super::Order;
    use odm_language::value::key::Head;

    fn document() -> impl Strategy<Value = Document> {
        let leaf = prop_oneof![
            (-2i32..3).prop_map(Bson::Int32),
            (-2i32..3).prop_map(|value| Bson::Double(f64::from(value) / 2.0)),
            "[ab]{0,9}".prop_map(Bson::String),
            Just(Bson::Null),
            Just(Bson::Undefined),
        ];
        let value = leaf.prop_recursive(2, 6, 3, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..3).prop_map(Bson::Array),
                prop::collection::vec(("[ab0]", inner), 0..3)
                    .prop_map(|fields| Bson::Document(fields.into_iter().collect())),
            ]
        });
        prop::collection::vec(("[ab]", value), 0..3).prop_map(|fields| fields.into_iter().collect())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn later_documents_have_greater_sort_keys(
            one in document(),
            other in document(),
            pattern in prop_oneof![
                Just(doc! { "a": 1 }),
                Just(doc! { "a": -1 }),
                Just(doc! { "a.b": 1 }),
                Just(doc! { "a.0": -1, "b": 1 }),
                Just(doc! { "a": 1, "b.a": -1, "b.b": 1 }),
            ],
        ) {
            let raw = |document: &Document| RawDocumentBuf::try_from(document).unwrap();
            let Ok(Order::Fields(sort)) = Order::parse(Some(&raw(&pattern))) else {
                panic!("a sort by fields");
            };
            let key = |document: &Document| {
                let mut key = Vec::new();
                sort.key_into(&raw(document), None, None, &mut key).map(|()| key)
            };
            if let Ok(there) = key(&other)
                && sort.is_behind(raw(&one).as_bytes(), false, Head::at(&there).unwrap())
            {
                prop_assert!(key(&one).unwrap() > there);
            }
        }
    }

    #[test]
    fn a_repeated_sort_field_keeps_the_first_direction() {
        let mut pattern = RawDocumentBuf::new();
        pattern.append(bson::raw::cstr!("a"), 1);
        pattern.append(bson::raw::cstr!("a"), -1);
        pattern.append(bson::raw::cstr!("b"), 1);
        let Order::Fields(sort) = Order::parse(Some(&pattern)).unwrap() else {
            panic!("a sort by fields");
        };
        let key = |a, b| {
            let mut key = Vec::new();
            let document = rawdoc! { "a": a, "b": b };
            sort.key_into(&document, None, None, &mut key).unwrap();
            key
        };
        assert!(key(1, 2) < key(2, 1));
        assert!(key(1, 1) < key(1, 2));
    }
}
