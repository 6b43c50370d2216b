//! The projection of `find`: that of `$project`, with `$slice`, `$elemMatch` and the positional `$`.

use std::sync::Arc;

use bson::raw::{RawArrayBuf, RawBson, RawBsonRef, RawDocument, RawDocumentBuf};

use odm_language::error::{Code, ServerError};
use odm_language::expression::memory_limit;
use odm_language::expression::projection::{
    ExclusiveOperators, Kind, ProjectionEffect, Shape, Transform, check_position,
};
use odm_language::expression::{Globals, Value, compat::messages};
use odm_language::matcher::{Matcher, without_where};
use odm_language::value::number::Number;
use odm_language::value::raw::append;
use odm_language::value::raw::{elements, values};

/// A parsed projection of `find` and `findAndModify`.
#[derive(Debug)]
pub(crate) struct Projection {
    shape: Shape,
    positional: bool,
}

impl Projection {
    /// Parses a projection that is not empty.
    ///
    /// `check` fails if the filter cannot provide the position of the matched array element. It is called if the
    /// projection needs that position.
    pub(crate) fn parse(
        spec: &RawDocument,
        globals: &Globals,
        check: &dyn Fn() -> Result<(), ServerError>,
    ) -> Result<Self, ServerError> {
        let shape = Shape::project(
            spec,
            &globals.scope(),
            &|path, value, others| special(path, value, others, (globals, check)),
            Kind::Exclude,
        )?;
        Ok(Self {
            shape,
            positional: has_position(spec),
        })
    }

    /// Fails if a constant part of its expressions fails.
    pub(crate) fn check_constants(&self, globals: &Globals) -> Result<(), ServerError> {
        self.shape.check_constants(globals)
    }

    /// Whether the filter must provide the matched array position (see `Matcher::match_position`).
    pub(crate) fn needs_position(&self) -> bool {
        self.positional
    }

    /// Returns the projected document.
    pub(crate) fn apply(
        &self,
        document: &RawDocument,
        matched_index: Option<usize>,
        globals: &Globals,
    ) -> Result<RawDocumentBuf, ServerError> {
        self.shape
            .apply(document, globals, matched_index)
            .and_then(memory_limit::checked)
    }
}

fn refuse<T>(code: i32, message: impl Into<String>) -> Result<T, ServerError> {
    Err(ServerError::new(Code::location(code), message))
}

fn has_position(spec: &RawDocument) -> bool {
    elements(spec).any(|(name, value)| {
        name.ends_with(".$") || matches!(value, RawBsonRef::Document(below) if has_position(below))
    })
}

const MIXED: &str = "Cannot specify positional operator and $elemMatch.";

type Found = Option<Result<(ProjectionEffect, String, Arc<dyn Transform>), ServerError>>;

fn special(
    path: &str,
    value: RawBsonRef<'_>,
    others: ExclusiveOperators,
    (globals, check): (&Globals, &dyn Fn() -> Result<(), ServerError>),
) -> Found {
    if let Err(error) = check_position(path) {
        return Some(Err(error));
    }
    if let Some(path) = path.strip_suffix(".$") {
        let keeps = matches!(value, RawBsonRef::Boolean(_)) || Number::from_raw(value).is_some();
        if keeps && !Value::Ref(value).truthy() {
            return Some(refuse(
                31395,
                "positional projection cannot be used with exclusion",
            ));
        }
        if !keeps {
            return Some(match value {
                RawBsonRef::Document(_) => refuse(
                    31271,
                    "positional projection cannot be used with an expression or sub object",
                ),
                _ => refuse(31308, "positional projection cannot be used with a literal"),
            });
        }
        if others.matches_elements {
            return Some(refuse(31256, MIXED));
        }
        if let Err(error) = check() {
            return Some(Err(error));
        }
        let transform: Arc<dyn Transform> = Arc::new(Positional);
        return Some(Ok((ProjectionEffect::Includes, path.to_owned(), transform)));
    }
    let RawBsonRef::Document(document) = value else {
        return None;
    };
    let mut fields = elements(document);
    let (Some((name, argument)), None) = (fields.next(), fields.next()) else {
        return None;
    };
    let parsed = match name {
        "$slice" => Slice::parse(argument).map(|slice| {
            let transform: Arc<dyn Transform> = Arc::new(slice);
            (
                ProjectionEffect::Otherwise(Kind::Exclude),
                path.to_owned(),
                transform,
            )
        }),
        "$elemMatch" => ElemMatch::parse(path, argument, others, globals).map(|transform| {
            (
                ProjectionEffect::Otherwise(Kind::Include),
                path.to_owned(),
                Arc::new(transform) as Arc<dyn Transform>,
            )
        }),
        _ => return None,
    };
    Some(parsed)
}

/// `{$slice: 2}`, `{$slice: -2}`, `{$slice: [skip, limit]}`.
#[derive(Debug)]
struct Slice {
    skip: i64,
    limit: i64,
}

impl Slice {
    fn parse(argument: RawBsonRef<'_>) -> Result<Self, ServerError> {
        let number = |value| Number::from_raw(value).map(saturating_i32);
        match argument {
            RawBsonRef::Array(parts) => {
                let parts: Vec<_> = values(parts).collect();
                let [skip, limit] = parts.as_slice() else {
                    return refuse(
                        31272,
                        "$slice array argument should be of form [skip, limit]",
                    );
                };
                match (number(*skip), number(*limit)) {
                    (Some(skip), Some(limit)) if limit > 0 => Ok(Self { skip, limit }),
                    (None, _) => refuse(
                        31257,
                        format!(
                            "$slice expects the skip argument to be a number, got {}",
                            messages::type_name(Some(*skip))
                        ),
                    ),
                    (_, None) => refuse(
                        31258,
                        format!(
                            "$slice expects the limit argument to be a number, got {}",
                            messages::type_name(Some(*limit))
                        ),
                    ),
                    (_, Some(limit)) => {
                        refuse(31259, format!("$slice limit must be positive, got {limit}"))
                    }
                }
            }
            value => match number(value) {
                Some(limit) if limit < 0 => Ok(Self {
                    skip: limit,
                    limit: limit.saturating_neg(),
                }),
                Some(limit) => Ok(Self { skip: 0, limit }),
                None => refuse(
                    31273,
                    "$slice only supports numbers and [skip, limit] arrays",
                ),
            },
        }
    }
}

/// The number as a 32-bit integer, saturating; 0 for NaN.
fn saturating_i32(number: Number) -> i64 {
    let (least, most) = (i64::from(i32::MIN), i64::from(i32::MAX));
    // Decimals are rounded, doubles truncated.
    let whole = number.to_i64_truncated().map(|whole| match number {
        Number::Decimal(decimal) => decimal.to_i64_rounded(),
        _ => whole,
    });
    match whole {
        Some(number) => number.clamp(least, most),
        None if number.is_nan() => 0,
        None if number.compare(Number::Int32(0)).is_lt() => least,
        None => most,
    }
}

impl Transform for Slice {
    fn apply(
        &self,
        value: RawBsonRef<'_>,
        _matched_index: Option<usize>,
    ) -> Result<Option<RawBson>, ServerError> {
        let RawBsonRef::Array(items) = value else {
            return Ok(Some(value.into()));
        };
        let length = i64::try_from(values(items).count()).unwrap_or(i64::MAX);
        let start = if self.skip < 0 {
            (length + self.skip).max(0)
        } else {
            self.skip
        };
        let kept = values(items)
            .skip(usize::try_from(start).unwrap_or(usize::MAX))
            .take(usize::try_from(self.limit).unwrap_or(usize::MAX));
        Ok(Some(RawBson::Array(kept.collect())))
    }
}

/// `{$elemMatch: {…}}`: the first element that matches.
#[derive(Debug)]
struct ElemMatch {
    /// Matches `{a: [element]}`, like the same condition in a filter.
    matcher: Matcher,
}

/// The name of the field that presents an element to the matcher.
const HELD: &str = "e";

impl ElemMatch {
    fn parse(
        path: &str,
        argument: RawBsonRef<'_>,
        others: ExclusiveOperators,
        globals: &Globals,
    ) -> Result<Self, ServerError> {
        let RawBsonRef::Document(_) = argument else {
            return refuse(
                31274,
                format!(
                    "elemMatch: Invalid argument, object required, but got {}",
                    messages::type_name(Some(argument))
                ),
            );
        };
        if others.positional {
            return refuse(31255, MIXED);
        }
        if path.contains('.') {
            return refuse(31275, "Cannot use $elemMatch projection on a nested field.");
        }
        let mut condition = RawDocumentBuf::new();
        append(&mut condition, "$elemMatch", argument);
        let mut filter = RawDocumentBuf::new();
        append(&mut filter, HELD, RawBsonRef::Document(&condition));
        let matcher = Matcher::parse(&filter, globals).map_err(without_where)?;
        matcher.refuse_schemas()?;
        Ok(Self { matcher })
    }
}

impl Transform for ElemMatch {
    fn is_computed(&self) -> bool {
        true
    }

    fn apply(
        &self,
        value: RawBsonRef<'_>,
        _matched_index: Option<usize>,
    ) -> Result<Option<RawBson>, ServerError> {
        let RawBsonRef::Array(items) = value else {
            return Ok(None);
        };
        for item in values(items) {
            let mut one = RawArrayBuf::new();
            one.push(item);
            let mut document = RawDocumentBuf::new();
            append(&mut document, HELD, RawBsonRef::Array(&one));
            if self.matcher.matches(&document)? {
                return Ok(Some(RawBson::Array(one)));
            }
        }
        Ok(None)
    }
}

/// `{"a.$": 1}`: the element that the filter matched.
#[derive(Debug)]
struct Positional;

impl Transform for Positional {
    fn takes_first_array(&self) -> bool {
        true
    }

    fn apply(
        &self,
        value: RawBsonRef<'_>,
        matched_index: Option<usize>,
    ) -> Result<Option<RawBson>, ServerError> {
        let RawBsonRef::Array(items) = value else {
            return Ok(Some(value.into()));
        };
        match matched_index.and_then(|index| values(items).nth(index)) {
            Some(item) => {
                let mut one = RawArrayBuf::new();
                one.push(item);
                Ok(Some(RawBson::Array(one)))
            }
            None if matched_index.is_some() => {
                refuse(51247, "positional operator '.$' element mismatch")
            }
            None => refuse(
                51246,
                "positional operator '.$' couldn't find a matching element in the array",
            ),
        }
    }
}
