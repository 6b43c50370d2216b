//! What the parts of the stage share: the sort, the values of a column, errors.

use bson::raw::{RawBson, RawBsonRef, RawDocument};
use odm_language::error::{Code, ServerError};
use odm_language::expression::{Expression, Globals};
use odm_language::value::raw::elements;

/// The values of a function for the documents of a partition; `None` where the value is missing.
pub(super) type Column = Vec<Option<RawBson>>;

pub(super) fn refuse<T>(code: i32, message: impl Into<String>) -> Result<T, ServerError> {
    Err(ServerError::new(Code::location(code), message))
}

pub(in crate::pipeline::stages) fn failed_to_parse<T>(
    message: impl Into<String>,
) -> Result<T, ServerError> {
    Err(ServerError::new(Code::FAILED_TO_PARSE, message))
}

/// What the functions know of `sortBy`.
#[derive(Debug)]
pub(super) struct SortBy {
    /// The number of its fields.
    pub(super) count: usize,
    pub(super) is_descending: bool,
    /// The value of the first field.
    pub(super) field: Option<Expression>,
}

impl SortBy {
    pub(super) fn parse(
        sort: Option<&RawDocument>,
        globals: &Globals,
    ) -> Result<Self, ServerError> {
        let fields = sort.into_iter().flat_map(elements);
        let first = fields.clone().next();
        let is_field = |value| !matches!(value, RawBsonRef::Document(_));
        let field = first.filter(|(_, value)| is_field(*value));
        Ok(Self {
            count: fields.count(),
            is_descending: first.is_some_and(|(_, direction)| is_negative(direction)),
            field: field
                .map(|(path, _)| {
                    let path = format!("${path}");
                    Expression::parse(RawBsonRef::String(&path), &globals.scope())
                })
                .transpose()?,
        })
    }
}

fn is_negative(direction: RawBsonRef<'_>) -> bool {
    odm_language::value::number::Number::from_raw(direction)
        .is_some_and(|number| number.to_f64() < 0.0)
}
