//! The stored forms of numbers.

use bson::Bson;
use odm_language::value::decimal::Decimal;
use odm_language::value::number::Number;

use crate::model::types::TypeMeta;
use crate::model::{Bound, BsonType, Rule, Shape};

/// By how much a double may differ that was summed in another order.
const DOUBLE: f64 = 1e-12;

/// By how much a decimal may differ that was summed in another order: it has 34 digits.
const DECIMAL: &str = "1E-30";

/// The types of a field that stores one number.
pub(super) fn types(ty: &TypeMeta) -> Option<&'static [BsonType]> {
    let is_number = |one: &BsonType| {
        matches!(
            one,
            BsonType::Int | BsonType::Long | BsonType::Double | BsonType::Decimal
        )
    };
    match ty.shape {
        Shape::Scalar(types) if types.iter().all(is_number) => Some(types),
        _ => None,
    }
}

/// The number as a field of the type stores it; none if the field can't.
pub(super) fn stored(number: Number, ty: &TypeMeta) -> Option<Bson> {
    let types = types(ty)?.iter();
    let value = types.copied().find_map(|one| of_type(number, one))?;
    let mut rules = ty.all_rules();
    rules.all(|rule| keeps(number, rule)).then_some(value)
}

fn of_type(number: Number, ty: BsonType) -> Option<Bson> {
    match ty {
        BsonType::Int => {
            let integer = number.to_i64_exact()?;
            i32::try_from(integer).ok().map(Bson::Int32)
        }
        BsonType::Long => number.to_i64_exact().map(Bson::Int64),
        BsonType::Double => {
            let double = number.to_f64();
            let is_lost = number.is_finite() && !double.is_finite();
            (!is_lost).then_some(Bson::Double(double))
        }
        BsonType::Decimal => Some(Bson::Decimal128(number.to_decimal().to_bson())),
        _ => None,
    }
}

/// Whether a reader of the type takes the number.
fn keeps(number: Number, rule: &Rule) -> bool {
    let Rule::Range { min, max } = rule else {
        return true;
    };
    let limit = |bound: &Bound| match bound.value {
        crate::model::rule::Limit::Int(value) => Number::Int64(value),
        crate::model::rule::Limit::Double(value) => Number::Double(value),
    };
    let is_above = min.as_ref().is_none_or(|bound| {
        let order = number.compare(limit(bound));
        order.is_gt() || (order.is_eq() && !bound.exclusive)
    });
    is_above
        && max.as_ref().is_none_or(|bound| {
            let order = number.compare(limit(bound));
            order.is_lt() || (order.is_eq() && !bound.exclusive)
        })
}

/// Whether two numbers may be the same sum or mean, computed in another order. Integers are exact.
pub(super) fn is_close(one: Number, other: Number) -> bool {
    if one.compare(other).is_eq() {
        return true;
    }
    if !one.is_finite() || !other.is_finite() {
        return false;
    }
    match (one, other) {
        (Number::Decimal(_), _) | (_, Number::Decimal(_)) => {
            let (one, other) = (one.to_decimal(), other.to_decimal());
            let Ok(tolerance) = DECIMAL.parse() else {
                return false;
            };
            let most = other.abs().mul(Decimal::from_bson(tolerance));
            one.sub(other).abs().compare(most).is_le()
        }
        (Number::Double(_), _) | (_, Number::Double(_)) => {
            let (one, other) = (one.to_f64(), other.to_f64());
            (one - other).abs() <= DOUBLE * one.abs().max(other.abs())
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::FieldType;

    fn decimal(text: &str) -> Number {
        Number::Decimal(Decimal::from_bson(text.parse().unwrap()))
    }

    #[test]
    fn numbers_take_the_declared_form() {
        let long = Number::Int64(3_000_000_000);
        assert_eq!(stored(Number::Int64(7), &i32::TYPE), Some(Bson::Int32(7)));
        assert_eq!(
            stored(Number::Double(7.0), &i64::TYPE),
            Some(Bson::Int64(7))
        );
        assert_eq!(stored(long, &i32::TYPE), None);
        assert_eq!(stored(long, &f64::TYPE), Some(Bson::Double(3e9)));
        assert_eq!(stored(Number::Double(0.5), &i64::TYPE), None);
        assert_eq!(stored(Number::Double(f64::NAN), &i64::TYPE), None);
        assert_eq!(stored(decimal("1E+400"), &f64::TYPE), None);
        assert_eq!(stored(decimal("7.0"), &i32::TYPE), Some(Bson::Int32(7)));
    }

    #[test]
    fn numbers_out_of_range_do_not_fit() {
        assert_eq!(stored(Number::Int32(-1), &u32::TYPE), None);
        assert_eq!(stored(Number::Int32(256), &u8::TYPE), None);
        assert_eq!(
            stored(Number::Int32(255), &u8::TYPE),
            Some(Bson::Int32(255))
        );
    }

    #[test]
    fn rounding_is_no_difference() {
        assert!(is_close(Number::Double(0.1 + 0.2), Number::Double(0.3)));
        assert!(!is_close(Number::Double(0.3), Number::Double(0.300_000_1)));
        assert!(!is_close(
            Number::Int64(i64::MAX),
            Number::Int64(i64::MAX - 1)
        ));
        assert!(is_close(Number::Double(f64::NAN), Number::Double(f64::NAN)));
        assert!(!is_close(Number::Double(f64::NAN), Number::Double(0.0)));
        assert!(!is_close(decimal("1.00000000000000000001"), decimal("1")));
        let third = decimal("0.3333333333333333333333333333333333");
        assert!(is_close(
            third,
            decimal("0.3333333333333333333333333333333334")
        ));
    }
}
