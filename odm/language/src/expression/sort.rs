//! Sort patterns (`{a: 1, b: -1}`), and the order of array elements.

use std::cmp::Ordering;

use bson::raw::{RawBsonRef, RawDocument};

use crate::error::{Code, ServerError};
use crate::value::collation::Collator;
use crate::value::number::Number;
use crate::value::order;
use crate::value::path::Path;

/// The order of the elements in `$push`'s `$sort` and in `$sortArray`: by the whole element, or by fields of documents.
#[derive(Debug, Clone)]
pub enum ElementOrder {
    Whole { descending: bool },
    Fields(Vec<(Path, bool)>),
}

impl ElementOrder {
    /// `1`, `-1` or a pattern.
    pub fn parse(value: RawBsonRef<'_>) -> Result<Self, ServerError> {
        let refuse = |message: &str| Err(ServerError::new(Code::BAD_VALUE, message));
        match value {
            RawBsonRef::Document(pattern) => Self::parse_pattern(pattern),
            _ => match (direction(value), is_number(value)) {
                (Some(descending), _) => Ok(Self::Whole { descending }),
                (None, true) => refuse("The $sort element value must be either 1 or -1"),
                (None, false) => refuse(
                    "The $sort is invalid: use 1/-1 to sort the whole element, or {field:1/-1} to sort embedded fields",
                ),
            },
        }
    }

    fn parse_pattern(pattern: &RawDocument) -> Result<Self, ServerError> {
        let refuse = |message: String| Err(ServerError::new(Code::BAD_VALUE, message));
        let mut fields = Vec::new();
        for element in pattern.iter_elements().flatten() {
            let name = element.key().as_str();
            let Some(descending) = element.value().ok().and_then(direction) else {
                return refuse("The sort element value must be either 1 or -1".to_owned());
            };
            if name.is_empty() {
                return refuse("The sort field cannot be empty".to_owned());
            }
            if name.split('.').any(str::is_empty) {
                return refuse(format!(
                    "The sort field is a dotted field but has an empty part: {name}"
                ));
            }
            fields.push((Path::new(name), descending));
        }
        if fields.is_empty() {
            return refuse(
                "The sort pattern is empty when it should be a set of fields.".to_owned(),
            );
        }
        Ok(Self::Fields(fields))
    }

    pub fn compare(
        &self,
        left: RawBsonRef<'_>,
        right: RawBsonRef<'_>,
        collator: Option<&Collator>,
    ) -> Ordering {
        match self {
            Self::Whole { descending } => {
                directed(order::compare(left, right, collator), *descending)
            }
            Self::Fields(fields) => fields
                .iter()
                .map(|(path, descending)| {
                    let ordering = order::compare(at(left, path), at(right, path), collator);
                    directed(ordering, *descending)
                })
                .find(|ordering| ordering.is_ne())
                .unwrap_or(Ordering::Equal),
        }
    }
}

fn at<'a>(value: RawBsonRef<'a>, path: &Path) -> RawBsonRef<'a> {
    match value {
        RawBsonRef::Document(document) => path.get_plain(document).unwrap_or(RawBsonRef::Null),
        _ => RawBsonRef::Null,
    }
}

fn directed(ordering: Ordering, descending: bool) -> Ordering {
    if descending {
        ordering.reverse()
    } else {
        ordering
    }
}

/// Returns false for 1 and true for -1.
fn direction(value: RawBsonRef<'_>) -> Option<bool> {
    match Number::from_raw(value)?.to_i64_exact() {
        Some(1) => Some(false),
        Some(-1) => Some(true),
        _ => None,
    }
}

fn is_number(value: RawBsonRef<'_>) -> bool {
    Number::from_raw(value).is_some()
}
