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
fn texts_that_the_specification_forbids_are_refused() {
    for text in [
        "",
        ".",
        "..",
        ".e",
        ".e1",
        "e",
        "E",
        "E01",
        "e1",
        "1E",
        "1e",
        "1e+",
        "1.2.3",
        "1..",
        "1e1e1",
        "1e1.1",
        "1E+-3",
        "+-3",
        "-+32.4",
        "--1",
        "+",
        "-",
        "-.",
        "1a",
        "1ae",
        "0x1",
        "1 ",
        " 1",
        "1_0",
        "E+2",
        "Infinit",
        "infinite",
        "sNaN",
        "NaN1",
        "Na",
        "i",
        "in",
        "in-f",
        "INFINITYY",
        ".Infinity",
        "1.0E+,",
        "１",
        // Numbers without a decimal of their value.
        "1E+6145",
        "1E-6177",
        "1.00000000000000000000000000000000001",
        "1E+99999999999999999999",
    ] {
        assert_eq!(Decimal::read_exact(text), None, "{text:?}");
    }
    for (text, read) in [
        ("+1.50", "1.50"),
        ("-.5", "-0.5"),
        ("5.", "5"),
        ("1e3", "1E+3"),
        ("1E-3", "0.001"),
        ("00012", "12"),
        ("-infinity", "-Infinity"),
        ("INF", "Infinity"),
        ("nan", "NaN"),
        ("-0", "-0"),
        ("0E-9999", "0E-6176"),
        ("10E+6111", "1.0E+6112"),
        (
            "1.000000000000000000000000000000000000",
            "1.000000000000000000000000000000000",
        ),
    ] {
        let decimal = Decimal::read_exact(text).map(|decimal| decimal.to_string());
        assert_eq!(decimal.as_deref(), Some(read), "{text:?}");
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

#[test]
fn fused_multiply_add_rounds_once() {
    let check = |factors: [&str; 2], term: &str, expected: &str| {
        let got = parse(factors[0]).times_plus(parse(factors[1]), parse(term));
        assert_eq!(got.to_string(), expected);
    };
    // only digits of the product beyond the 34th remain
    let long = "1.000000000000000000000000000000001";
    let square = "-1.000000000000000000000000000000002";
    check([long, long], square, "1E-66");
    check(["2", "3"], "-6", "0");
    check(["2", "3.0"], "-6.00", "0.00");
    check(["-1", "0"], "-0.0", "-0.0");
    check(["1", "0"], "-0.0", "0.0");
    check(["1", "1"], "0E-10", "1.0000000000");
    check(["0", "1E-40"], "0", "0E-40");
    check(["0", "1E-40"], "5", "5.000000000000000000000000000000000");
    // a term of a much smaller magnitude only affects the rounding
    check(["1", "1E-90"], "1", "1.000000000000000000000000000000000");
    check(
        ["1", "1E-90"],
        "9.999999999999999999999999999999999",
        "9.999999999999999999999999999999999",
    );
    check(["-1", "1E-90"], "1", "1.000000000000000000000000000000000");
    check(
        ["1E+90", "1"],
        "-1",
        "1.000000000000000000000000000000000E+90",
    );
    check(
        ["5E-34", "1.0000000000000000000000000000000000"],
        "1",
        "1.000000000000000000000000000000000",
    );
    check(["5E-34", long], "1", "1.000000000000000000000000000000001");
    check(
        ["-5E-35", long],
        "1",
        "0.9999999999999999999999999999999999",
    );
    check(["Infinity", "1"], "-Infinity", "NaN");
    check(
        ["1E+6144", "10"],
        "-1E+6144",
        "9.000000000000000000000000000000000E+6144",
    );
}

#[test]
fn binary128_has_113_bits() {
    let there_and_back = |text: &str| {
        let number = compat::binary128::Binary128::from_decimal(parse(text));
        number.to_decimal().to_string()
    };
    for exact in [
        "0",
        "-0",
        "1",
        "-73",
        "0.5",
        "-2.25",
        "9999999999999999999999999999999999",
    ] {
        assert_eq!(there_and_back(exact), exact);
    }
    for (text, expected) in [
        ("1.50", "1.5"),
        ("0.1", "0.1000000000000000000000000000000000"),
        ("1E+40", "1.000000000000000000000000000000000E+40"),
        ("1E-4000", "1.000000000000000000000000000000000E-4000"),
        // subnormal numbers have fewer bits
        ("65411E-4969", "6.475175119438025110924438958227647E-4965"),
        ("-1E-5000", "-0"),
    ] {
        assert_eq!(there_and_back(text), expected);
    }
    let (high, low) = compat::binary128::Binary128::from_decimal_in_two(parse("0.1"));
    assert!(!low.is_zero() && !low.is_negative());
    let sum = (high + low).to_decimal().to_string();
    assert_eq!(sum, there_and_back("0.1"));
}
