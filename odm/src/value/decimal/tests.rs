use super::*;

fn parse(text: &str) -> Decimal {
    Decimal::from_bson(text.parse().unwrap())
}

#[test]
fn packing_round_trips() {
    for text in [
        "0",
        "-0",
        "1",
        "-1.50",
        "1E+6111",
        "9.999999999999999999999999999999999E+6144",
        "1E-6176",
        "NaN",
        "Infinity",
        "-Infinity",
        "0.000001234",
        "0E+3",
    ] {
        assert_eq!(parse(text).to_string(), text);
    }
}

#[test]
fn arithmetic_has_34_digits_rounded_half_to_even() {
    let check = |shown: Decimal, expected: &str| assert_eq!(shown.to_string(), expected);
    check(parse("0.1").add(parse("0.20")), "0.30");
    check(
        parse("1E+33").add(parse("0.5")),
        "1000000000000000000000000000000000",
    );
    check(
        parse("1000000000000000000000000000000001").add(parse("0.5")),
        "1000000000000000000000000000000002",
    );
    check(
        parse("1E+6000").add(parse("-1")),
        "1.000000000000000000000000000000000E+6000",
    );
    check(parse("1").sub(parse("1.00")), "0.00");
    check(parse("1.5").mul(parse("-2.50")), "-3.750");
    check(
        parse("9999999999999999999999999999999999")
            .mul(parse("9999999999999999999999999999999999")),
        "9.999999999999999999999999999999998E+67",
    );
    check(
        parse("1").div(parse("3")),
        "0.3333333333333333333333333333333333",
    );
    check(
        parse("2").div(parse("3")),
        "0.6666666666666666666666666666666667",
    );
    check(parse("6").div(parse("2")), "3");
    check(parse("1").div(parse("8")), "0.125");
    check(parse("1").div(parse("0")), "Infinity");
    check(parse("0").div(parse("0")), "NaN");
    check(parse("-7.5").rem(parse("2")), "-1.5");
    check(parse("1E+20").rem(parse("7")), "2");
    check(parse("2").sqrt(), "1.414213562373095048801688724209698");
    check(parse("4.00").sqrt(), "2.0");
    check(parse("-1").sqrt(), "NaN");
    check(parse("2.345").quantize(2, Rounding::HalfEven), "2.34");
    check(parse("2.5").quantize(0, Rounding::Floor), "2");
    check(parse("-2.5").quantize(0, Rounding::Floor), "-3");
    check(parse("-2.5").quantize(0, Rounding::Down), "-2");
    check(parse("2.1").quantize(0, Rounding::Ceiling), "3");
    check(parse("155").quantize(-1, Rounding::HalfEven), "1.6E+2");
    check(parse("1E+6144").mul(parse("10")), "Infinity");
}

#[test]
fn doubles_convert_with_15_or_34_digits() {
    assert_eq!(Decimal::from_f64(0.1).to_string(), "0.100000000000000");
    assert_eq!(
        Decimal::from_f64_exact(0.1).to_string(),
        "0.1000000000000000055511151231257827"
    );
    assert_eq!(Decimal::from_f64(1.5).to_string(), "1.50000000000000");
    assert!((parse("0.1").to_f64() - 0.1).abs() < f64::EPSILON);
}
