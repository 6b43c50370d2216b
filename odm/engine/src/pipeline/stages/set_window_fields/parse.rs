//! Reads the functions of the output.

use bson::raw::{RawBson, RawBsonRef, RawDocument};
use odm_language::error::ServerError;
use odm_language::expression::compat::messages;
use odm_language::expression::percentile;
use odm_language::expression::top_n::Keep;
use odm_language::expression::{Expression, Globals, Scope};
use odm_language::value::decimal::Decimal;
use odm_language::value::number::Number;
use odm_language::value::raw::{elements, get};

use crate::pipeline::stages::group::Field;

use super::bounds::Window;
use super::common::{SortBy, failed_to_parse, refuse};
use super::function::{Function, Kind};
use super::integral;
use super::sequential::Rank;

/// The functions that collect values like the accumulators of `$group`; sorted.
const ACCUMULATORS: &[&str] = &[
    "$addToSet",
    "$avg",
    "$bottom",
    "$bottomN",
    "$count",
    "$firstN",
    "$lastN",
    "$max",
    "$maxN",
    "$min",
    "$minN",
    "$push",
    "$stdDevPop",
    "$stdDevSamp",
    "$sum",
    "$top",
    "$topN",
];

/// The other functions with their parsers; sorted.
const OTHERS: &[(&str, Parse)] = &[
    ("$covariancePop", covariance),
    ("$covarianceSamp", covariance),
    ("$denseRank", rank),
    ("$derivative", slope_or_area),
    ("$documentNumber", rank),
    ("$expMovingAvg", moving_average),
    ("$first", end),
    ("$integral", slope_or_area),
    ("$last", end),
    ("$linearFill", fill),
    ("$locf", fill),
    ("$rank", rank),
    ("$shift", shift),
];

type Parse = fn(&Call<'_>) -> Result<Function, ServerError>;

/// Whether the engine supports a window operator.
#[cfg(test)]
pub(crate) fn runs(operator: &str) -> bool {
    ACCUMULATORS.binary_search(&operator).is_ok()
        || OTHERS
            .binary_search_by_key(&operator, |(name, _)| name)
            .is_ok()
}

/// `{$sum: "$a", window: {…}}`.
struct Call<'c> {
    name: &'c str,
    argument: RawBsonRef<'c>,
    whole: &'c RawDocument,
    sort: &'c SortBy,
    scope: &'c Scope,
    globals: &'c Globals,
}

/// Reads the function for one path.
pub(super) fn parse(
    path: &str,
    spec: RawBsonRef<'_>,
    sort: &SortBy,
    globals: &Globals,
) -> Result<Function, ServerError> {
    let RawBsonRef::Document(whole) = spec else {
        return failed_to_parse(format!("The field '{path}' must be an object"));
    };
    let mut found = None;
    for (name, argument) in elements(whole) {
        if name.starts_with('$') && found.replace((name, argument)).is_some() {
            return failed_to_parse("Cannot specify two functions in window function spec");
        }
    }
    let Some((name, argument)) = found else {
        return failed_to_parse(match elements(whole).next() {
            None => "Expected a $-prefixed window function".to_owned(),
            Some((other, _)) => format!("Expected a $-prefixed window function, {other}"),
        });
    };
    let call = Call {
        name,
        argument,
        whole,
        sort,
        scope: &globals.scope(),
        globals,
    };
    if ACCUMULATORS.binary_search(&name).is_ok()
        || percentile::has_accumulator(name, globals.version())
    {
        return accumulator(&call);
    }
    let other = OTHERS.binary_search_by_key(&name, |(known, _)| known);
    match other.ok().and_then(|at| OTHERS.get(at)) {
        Some((_, parse)) => parse(&call),
        None => failed_to_parse(format!("Unrecognized window function, {name}")),
    }
}

impl Call<'_> {
    fn expression(&self, argument: RawBsonRef<'_>) -> Result<Expression, ServerError> {
        Expression::parse(argument, self.scope)
    }

    /// The window of a function that may have one, and no other fields.
    fn window(&self) -> Result<Window, ServerError> {
        self.check_others()?;
        Window::parse(get(self.whole, "window"), self.sort)
    }

    fn check_others(&self) -> Result<(), ServerError> {
        let mut others = elements(self.whole);
        match others.find(|(name, _)| *name != self.name && *name != "window") {
            None => Ok(()),
            Some((other, _)) => failed_to_parse(format!(
                "Window function found an unknown argument: {other}"
            )),
        }
    }

    fn has_window(&self) -> bool {
        get(self.whole, "window").is_some()
    }
}

fn accumulator(call: &Call<'_>) -> Result<Function, ServerError> {
    let (name, argument) = match (call.name, call.argument) {
        ("$count", RawBsonRef::Document(none)) if none.is_empty() => ("$sum", RawBsonRef::Int32(1)),
        ("$count", _) => {
            return failed_to_parse("$count only accepts an empty object as input");
        }
        other => other,
    };
    let field = Field::accumulator(name, (name, argument), call.scope)?;
    let n = match (Keep::new(name), argument) {
        (Some(_), RawBsonRef::Document(argument)) => get(argument, "n"),
        _ => None,
    };
    Ok(Function::Accumulator {
        name: name.to_owned(),
        field: Box::new(field),
        n: n.map(|n| call.expression(n)).transpose()?,
        window: call.window()?,
    })
}

fn covariance(call: &Call<'_>) -> Result<Function, ServerError> {
    Ok(Function::Sliding {
        kind: Kind::Covariance {
            is_sample: call.name == "$covarianceSamp",
        },
        argument: call.expression(call.argument)?,
        window: call.window()?,
    })
}

fn end(call: &Call<'_>) -> Result<Function, ServerError> {
    Ok(Function::End {
        last: call.name == "$last",
        argument: call.expression(call.argument)?,
        window: call.window()?,
    })
}

fn rank(call: &Call<'_>) -> Result<Function, ServerError> {
    if elements(call.whole).count() > 1 {
        return refuse(
            5_371_601,
            "Rank style window functions take no other arguments",
        );
    }
    if !matches!(call.argument, RawBsonRef::Document(none) if none.is_empty()) {
        return refuse(5_371_603, "(None) must be specified with '{}' as the value");
    }
    if call.sort.count != 1 {
        return refuse(
            5_371_602,
            format!(
                "{} must be specified with a top level sortBy expression with exactly one element",
                call.name
            ),
        );
    }
    Ok(Function::Rank(Rank::new(call.name).unwrap_or(Rank::Number)))
}

/// `$derivative` and `$integral`.
fn slope_or_area(call: &Call<'_>) -> Result<Function, ServerError> {
    let name = call.name;
    let RawBsonRef::Document(options) = call.argument else {
        return failed_to_parse(format!(
            "{name} expects an object, but got a {}: {}",
            messages::type_name(Some(call.argument)),
            messages::element(name, call.argument)
        ));
    };
    match call.sort.count {
        0 => return failed_to_parse(format!("{name} requires a sortBy")),
        1 => {}
        _ => return failed_to_parse(format!("{name} requires a non-compound sortBy")),
    }
    let (mut input, mut unit) = (None, None);
    let mut others = elements(call.whole);
    if let Some((other, _)) = others.find(|(other, _)| *other != name && *other != "window") {
        return failed_to_parse(format!("{name} got unexpected argument: {other}"));
    }
    for (option, value) in elements(options) {
        match option {
            "input" => input = Some(call.expression(value)?),
            "unit" => unit = Some(integral::unit(value)?),
            other => {
                return failed_to_parse(format!("{name} got unexpected argument: {other}"));
            }
        }
    }
    let Some(argument) = input else {
        return failed_to_parse(format!("{name} requires an 'input' expression"));
    };
    if name == "$integral" {
        return Ok(Function::Sliding {
            kind: Kind::Integral { unit },
            argument,
            window: call.window()?,
        });
    }
    if !call.has_window() {
        return failed_to_parse(format!("{name} requires explicit window bounds"));
    }
    Ok(Function::Slope {
        argument,
        unit,
        window: call.window()?,
    })
}

fn moving_average(call: &Call<'_>) -> Result<Function, ServerError> {
    let name = call.name;
    let fields = "$expMovingAvg sub object must have exactly two fields: An 'input' field, and either an 'N' field or an 'alpha' field";
    let RawBsonRef::Document(options) = call.argument else {
        return failed_to_parse(format!(
            "{name} must have exactly one argument that is an object"
        ));
    };
    if elements(call.whole).count() > 1 {
        return failed_to_parse(format!(
            "{name} must have exactly one argument that is an object"
        ));
    }
    if call.sort.count == 0 {
        return failed_to_parse(format!("{name} requires an explicit 'sortBy'"));
    }
    if elements(options).count() != 2 {
        return failed_to_parse(fields);
    }
    let (n, alpha) = (get(options, "N"), get(options, "alpha"));
    let Some(input) = get(options, "input") else {
        return failed_to_parse(fields);
    };
    let alpha = match (n, alpha) {
        (Some(n), _) => {
            let Some(number) = Number::from_raw(n) else {
                return failed_to_parse(format!(
                    "'N' field must be an integer, but found type {}",
                    messages::type_name(Some(n))
                ));
            };
            let Some(count) = number.to_i64_exact() else {
                return failed_to_parse(format!(
                    "'N' field must be an integer, but found  {}. To use a non-integer, use the 'alpha' argument instead",
                    messages::element("N", n)
                ));
            };
            if count <= 0 {
                return failed_to_parse(format!("'N' must be greater than zero. Got {count}"));
            }
            let after = Decimal::from_i64(count).add(Decimal::from_i64(1));
            Decimal::from_i64(2).div(after)
        }
        (None, Some(alpha)) => {
            let Some(number) = Number::from_raw(alpha) else {
                return failed_to_parse("'alpha' must be a number");
            };
            let is_between = number.compare(Number::Int32(0)).is_gt()
                && number.compare(Number::Int32(1)).is_lt();
            if !is_between {
                return failed_to_parse(format!(
                    "'alpha' must be between 0 and 1 (exclusive), found {}",
                    messages::element("alpha", alpha)
                ));
            }
            number.to_decimal()
        }
        (None, None) => {
            return failed_to_parse(format!("Got unrecognized field in $expMovingAvg{fields}"));
        }
    };
    Ok(Function::MovingAverage {
        argument: call.expression(input)?,
        alpha,
    })
}

/// `$locf` and `$linearFill`.
fn fill(call: &Call<'_>) -> Result<Function, ServerError> {
    let name = call.name;
    call.check_others()?;
    if call.has_window() {
        return failed_to_parse(format!("'window' field is not allowed in {name}"));
    }
    if name == "$locf" {
        return Ok(Function::Carry(call.expression(call.argument)?));
    }
    let argument = call.expression(call.argument)?;
    if call.sort.count != 1 {
        return refuse(
            605_001,
            format!(
                "{name} must be specified with a top level sortBy expression with exactly one element"
            ),
        );
    }
    Ok(Function::LinearFill(argument))
}

fn shift(call: &Call<'_>) -> Result<Function, ServerError> {
    if call.has_window() {
        return failed_to_parse("$shift does not accept a 'window' field");
    }
    call.check_others()?;
    let RawBsonRef::Document(options) = call.argument else {
        return failed_to_parse("Argument to $shift must be an object");
    };
    let (mut output, mut by, mut default) = (None, None, None);
    for (option, value) in elements(options) {
        match option {
            "output" => output = Some(call.expression(value)?),
            "by" => {
                let whole = Number::from_raw(value).and_then(Number::to_i64_exact);
                by = whole.and_then(|by| i32::try_from(by).ok());
                if by.is_none() {
                    return failed_to_parse(format!(
                        "'$shift:by' field must be an integer, but found  {}",
                        messages::element("by", value)
                    ));
                }
            }
            "default" => {
                let expression = call.expression(value)?;
                let Some(constant) = expression.constant(call.globals)? else {
                    return failed_to_parse(
                        "'$shift:default' expression must yield a constant value.",
                    );
                };
                default = Some(constant.into_owned());
            }
            _ => return failed_to_parse("Unknown argument in $shift"),
        }
    }
    let Some(argument) = output else {
        return failed_to_parse("$shift requires an 'output' expression.");
    };
    let Some(by) = by else {
        return failed_to_parse("$shift requires 'by' as an integer value.");
    };
    if call.sort.count == 0 {
        return failed_to_parse("'$shift' requires a sortBy");
    }
    Ok(Function::Shift {
        argument,
        by,
        default: default.unwrap_or(Some(RawBson::Null)),
    })
}

#[cfg(test)]
mod tests {
    use super::{ACCUMULATORS, OTHERS};

    #[test]
    fn rows_are_sorted() {
        assert!(ACCUMULATORS.is_sorted());
        assert!(OTHERS.is_sorted_by_key(|(name, _)| *name));
    }
}
