//! The operands of `$median` and `$percentile`.

use bson::raw::RawBsonRef;
use odm_language::error::ServerError;
use odm_language::expression::percentile::{Percentile, check_method, not_constant};
use odm_language::expression::{Expression, Globals, Scope, compat::messages};
use odm_language::value::raw::{elements, empty_document};

use crate::pipeline::stages::group::refuse;

/// What the accumulator computes.
#[derive(Debug)]
pub(super) struct Spec {
    /// `None` for the median.
    p: Option<Expression>,
}

impl Spec {
    /// Parses the operand of the accumulator. Returns the expression whose values it collects, too.
    pub(super) fn parse(
        operator: &str,
        argument: RawBsonRef<'_>,
        scope: &Scope,
    ) -> Result<(Self, Expression), ServerError> {
        let is_median = operator == "$median";
        let RawBsonRef::Document(document) = argument else {
            return refuse(
                if is_median { 7_436_100 } else { 7_429_703 },
                format!(
                    "specification must be an object; found {}",
                    messages::element(operator, argument)
                ),
            );
        };
        let (mut input, mut p, mut method) = (None, None, None);
        for (name, value) in elements(document) {
            match name {
                "input" => input = Some(Expression::parse(value, scope)?),
                "p" if !is_median => p = Some(constant(value, scope)?),
                "method" => method = Some(value),
                other => {
                    return refuse(
                        40_415,
                        format!("BSON field '{operator}.{other}' is an unknown field."),
                    );
                }
            }
        }
        let missing = |name| {
            refuse(
                40_414,
                format!("BSON field '{operator}.{name}' is missing but a required field"),
            )
        };
        let Some(input) = input else {
            return missing("input");
        };
        if p.is_none() && !is_median {
            return missing("p");
        }
        match method {
            Some(method) => check_method(method)?,
            None => return missing("method"),
        }
        Ok((Self { p }, input))
    }

    /// The state without values. Fails if `p` has no fractions.
    pub(super) fn start(&self, globals: &Globals) -> Result<Percentile, ServerError> {
        match &self.p {
            None => Ok(Percentile::median()),
            Some(p) => Percentile::of(p.eval(empty_document(), globals)?.or_null()),
        }
    }
}

/// Parses an expression that must not read the document.
fn constant(value: RawBsonRef<'_>, scope: &Scope) -> Result<Expression, ServerError> {
    let apart = scope.apart();
    let expression = Expression::parse(value, &apart)?;
    if apart.sees_document() {
        return not_constant(value);
    }
    Ok(expression)
}
