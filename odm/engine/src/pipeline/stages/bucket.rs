//! `$bucket`: groups by the boundaries between which a value is, and sorts by them.

use std::cmp::Ordering;

use bson::raw::{RawArray, RawArrayBuf, RawBson, RawBsonRef, RawDocument, RawDocumentBuf, cstr};
use odm_language::error::{Code, ServerError};
use odm_language::expression::{Expression, Globals, Value, compat::messages};
use odm_language::value::bson_type::Bracket;
use odm_language::value::order;
use odm_language::value::raw::{append, elements, values};

use crate::pipeline::stage::Stage;
use crate::pipeline::stages::foreign::one;
use crate::pipeline::stages::sequence::Sequence;
use crate::pipeline::stages::{group, sort};

/// The options, as far as they are checked while they are read.
#[derive(Default)]
struct Spec<'s> {
    group_by: Option<RawBsonRef<'s>>,
    boundaries: Option<Vec<RawBson>>,
    default: Option<Value<'static>>,
    output: Option<&'s RawDocument>,
}

fn refuse<T>(code: i32, message: impl Into<String>) -> Result<T, ServerError> {
    Err(ServerError::new(Code::location(code), message))
}

/// Whether the value of a `groupBy` is a path or an expression, and no constant.
pub(super) fn is_computed(spec: RawBsonRef<'_>) -> bool {
    match spec {
        RawBsonRef::String(path) => path.starts_with('$'),
        RawBsonRef::Document(document) => elements(document)
            .next()
            .is_some_and(|(name, _)| name.starts_with('$')),
        _ => false,
    }
}

pub(super) fn parse(
    _name: &str,
    spec: RawBsonRef<'_>,
    globals: &Globals,
) -> Result<Box<dyn Stage>, ServerError> {
    let RawBsonRef::Document(document) = spec else {
        return refuse(
            40201,
            format!(
                "Argument to $bucket stage must be an object, but found type: {}.",
                messages::type_name(Some(spec))
            ),
        );
    };
    let mut spec = Spec::default();
    for (name, value) in elements(document) {
        spec.read(name, value, globals)?;
    }
    let (Some(group_by), Some(boundaries)) = (spec.group_by, spec.boundaries) else {
        return refuse(
            40198,
            "$bucket requires 'groupBy' and 'boundaries' to be specified.",
        );
    };
    // A missing default is less than every boundary, and none.
    let default = spec.default.and_then(Value::into_owned);
    if let Some(default) = &default {
        check_default(default, &boundaries, globals)?;
    }
    let mut grouping = one(
        "_id",
        RawBsonRef::Document(&switch(group_by, &boundaries, default)),
    );
    if let Some(output) = spec.output {
        for (name, value) in elements(output) {
            append(&mut grouping, name, value);
        }
    } else {
        grouping.append(cstr!("count"), one("$sum", RawBsonRef::Int32(1)));
    }
    let order = one("_id", RawBsonRef::Int32(1));
    Ok(Sequence::boxed(vec![
        group::parse("$group", RawBsonRef::Document(&grouping), globals)?,
        sort::parse("$sort", RawBsonRef::Document(&order), globals)?,
    ]))
}

impl<'s> Spec<'s> {
    fn read(
        &mut self,
        name: &str,
        value: RawBsonRef<'s>,
        globals: &Globals,
    ) -> Result<(), ServerError> {
        match (name, value) {
            ("groupBy", value) if is_computed(value) => self.group_by = Some(value),
            ("groupBy", other) => {
                return refuse(
                    40202,
                    format!(
                        "The $bucket 'groupBy' field must be defined as a $-prefixed path or an expression, but found: {}.",
                        messages::stored(other)
                    ),
                );
            }
            ("boundaries", RawBsonRef::Array(array)) => {
                self.boundaries = Some(boundaries(array, globals)?);
            }
            ("boundaries", other) => {
                return refuse(
                    40200,
                    format!(
                        "The $bucket 'boundaries' field must be an array, but found type: {}.",
                        messages::type_name(Some(other))
                    ),
                );
            }
            ("default", value) => {
                let Some(constant) = constant(value, globals)? else {
                    return refuse(
                        40195,
                        format!(
                            "The $bucket 'default' field must be a constant expression, but found: {}.",
                            messages::stored(value)
                        ),
                    );
                };
                self.default = Some(constant);
            }
            ("output", RawBsonRef::Document(output)) => self.output = Some(output),
            ("output", other) => {
                return refuse(
                    40196,
                    format!(
                        "The $bucket 'output' field must be an object, but found type: {}.",
                        messages::type_name(Some(other))
                    ),
                );
            }
            (other, _) => {
                return refuse(40197, format!("Unrecognized option to $bucket: {other}."));
            }
        }
        Ok(())
    }
}

/// The value of an expression, which may be missing; `None` if it is not constant.
fn constant(
    spec: RawBsonRef<'_>,
    globals: &Globals,
) -> Result<Option<Value<'static>>, ServerError> {
    let expression = Expression::parse(spec, &globals.scope())?;
    let value = expression.constant(globals)?;
    Ok(value.map(|value| value.into_owned().map_or(Value::Missing, Value::Owned)))
}

/// Evaluates the boundaries, which must be of one type and in ascending order.
fn boundaries(array: &RawArray, globals: &Globals) -> Result<Vec<RawBson>, ServerError> {
    let mut found = Vec::new();
    for value in values(array) {
        let Some(constant) = constant(value, globals)? else {
            return refuse(
                40191,
                format!(
                    "The $bucket 'boundaries' field must be an array of constant values, but found value: {}.",
                    messages::stored(value)
                ),
            );
        };
        found.push(constant);
    }
    if found.len() < 2 {
        return refuse(
            40192,
            format!(
                "The $bucket 'boundaries' field must have at least 2 values, but found {} value(s).",
                found.len()
            ),
        );
    }
    for (at, pair) in found.windows(2).enumerate() {
        if let [lower, upper] = pair {
            check_pair(at, lower.get(), upper.get(), globals)?;
        }
    }
    // Two missing values are not in ascending order, and one has another type than its neighbour.
    Ok(found.into_iter().filter_map(Value::into_owned).collect())
}

fn check_pair(
    at: usize,
    lower: Option<RawBsonRef<'_>>,
    upper: Option<RawBsonRef<'_>>,
    globals: &Globals,
) -> Result<(), ServerError> {
    if lower.map(Bracket::of) != upper.map(Bracket::of) {
        return refuse(
            40193,
            format!(
                "All values in the the 'boundaries' option to $bucket must have the same type. Found conflicting types {} and {}.",
                messages::type_name(lower),
                messages::type_name(upper)
            ),
        );
    }
    let ascends = lower.zip(upper).is_some_and(|(lower, upper)| {
        order::compare(lower, upper, globals.collator()) == Ordering::Less
    });
    if ascends {
        return Ok(());
    }
    let shown = |value: Option<_>| value.map_or_else(|| "MISSING".to_owned(), messages::computed);
    refuse(
        40194,
        format!(
            "The 'boundaries' option to $bucket must be sorted, but elements {at} and {} are not in ascending order ({} is not less than {}).",
            at + 1,
            shown(lower),
            shown(upper)
        ),
    )
}

/// Refuses a default that a bucket contains.
fn check_default(
    default: &RawBson,
    boundaries: &[RawBson],
    globals: &Globals,
) -> Result<(), ServerError> {
    let against = |boundary: Option<&RawBson>| {
        boundary.map(|boundary| {
            order::compare(
                default.as_raw_bson_ref(),
                boundary.as_raw_bson_ref(),
                globals.collator(),
            )
        })
    };
    if against(boundaries.first()) != Some(Ordering::Less)
        && against(boundaries.last()) == Some(Ordering::Less)
    {
        return refuse(
            40199,
            "The $bucket 'default' field must be less than the lowest boundary or greater than or equal to the highest boundary.",
        );
    }
    Ok(())
}

/// The `$switch` that finds the lower boundary of a value's bucket. Like mongod, it has the values of the options as
/// expressions: a default of `{$literal: "$a"}` is the path `$a`.
fn switch(
    group_by: RawBsonRef<'_>,
    boundaries: &[RawBson],
    default: Option<RawBson>,
) -> RawDocumentBuf {
    let compared = |operator, boundary: &RawBson| {
        let mut operands = RawArrayBuf::new();
        operands.push(group_by);
        operands.push(boundary.as_raw_bson_ref());
        one(operator, RawBsonRef::Array(&operands))
    };
    let mut branches = RawArrayBuf::new();
    for pair in boundaries.windows(2) {
        if let [lower, upper] = pair {
            let mut both = RawArrayBuf::new();
            both.push(compared("$gte", lower));
            both.push(compared("$lt", upper));
            let case = one("$and", RawBsonRef::Array(&both));
            let mut branch = one("case", RawBsonRef::Document(&case));
            append(&mut branch, "then", lower.as_raw_bson_ref());
            branches.push(branch);
        }
    }
    let mut switch = one("branches", RawBsonRef::Array(&branches));
    if let Some(default) = default {
        append(&mut switch, "default", default.as_raw_bson_ref());
    }
    one("$switch", RawBsonRef::Document(&switch))
}
