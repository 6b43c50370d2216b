use super::*;
use crate::value::decimal::Decimal;

fn decimal(text: &str) -> Number {
    Number::Decimal(Decimal::from_bson(text.parse().unwrap()))
}

#[test]
fn integers_widen_then_refuse_or_become_doubles() {
    let check = |result: Option<Number>, expected: &str| {
        let shown = result.map_or("none".to_owned(), |number| format!("{:?}", number.to_raw()));
        assert_eq!(shown, expected);
    };
    check(Int32(1).checked_add(Int32(2)), "Int32(3)");
    check(Int32(i32::MAX).checked_add(Int32(1)), "Int64(2147483648)");
    check(Int64(i64::MAX).checked_add(Int32(1)), "none");
    check(Int64(1).checked_mul(Int32(2)), "Int64(2)");
    check(Int32(1).checked_add(Double(0.5)), "Double(1.5)");
}

#[test]
fn every_type_compares_by_exact_value() {
    let ascending = [
        vec![Double(f64::NAN), decimal("NaN")],
        vec![Double(f64::NEG_INFINITY), decimal("-Infinity")],
        vec![decimal("-1E400")],
        vec![
            Int64(i64::MIN),
            Double(-9_223_372_036_854_775_808.0),
            decimal("-9223372036854775808"),
        ],
        vec![Int64(-9_007_199_254_740_993)],
        vec![Double(-9_007_199_254_740_992.0)],
        vec![decimal("-1E-6176")],
        vec![
            Int32(0),
            Double(-0.0),
            Double(0.0),
            decimal("-0"),
            decimal("0E+6111"),
        ],
        vec![Double(5e-324)],
        vec![decimal("0.1")],
        vec![decimal("0.1000000000000000055511151231257827")],
        vec![Double(0.1)],
        vec![decimal("0.1000000000000000055511151231257828")],
        vec![Int32(1), Int64(1), Double(1.0), decimal("1.000")],
        vec![Double(1.5), decimal("1.50")],
        vec![
            Double(9_007_199_254_740_992.0),
            Int64(9_007_199_254_740_992),
        ],
        vec![Int64(9_007_199_254_740_993), decimal("9007199254740993")],
        vec![Int64(i64::MAX), decimal("9223372036854775807")],
        vec![Double(9_223_372_036_854_775_808.0)],
        vec![Double(f64::MAX)],
        vec![decimal("1E+6000")],
        vec![Double(f64::INFINITY), decimal("Infinity")],
    ];
    for (i, left) in ascending.iter().enumerate() {
        for (j, right) in ascending.iter().enumerate() {
            for a in left {
                for b in right {
                    assert_eq!(a.compare(*b), i.cmp(&j), "{a:?} {b:?}");
                }
            }
        }
    }
}
