//! The series of preferred numbers that `$bucketAuto` rounds boundaries to.

use bson::raw::RawBson;
use odm_language::value::decimal::{Decimal, Rounding};
use odm_language::value::number::Number;

/// The numbers that a boundary may have.
#[derive(Debug, Clone, Copy)]
pub(super) enum Granularity {
    PowersOfTwo,
    /// These numbers, multiplied by powers of ten. They increase.
    Series(&'static [u16]),
}

const R5: &[u16] = &[10, 16, 25, 40, 63];
const R10: &[u16] = &[100, 125, 160, 200, 250, 315, 400, 500, 630, 800];
const R20: &[u16] = &[
    100, 112, 125, 140, 160, 180, 200, 224, 250, 280, 315, 355, 400, 450, 500, 560, 630, 710, 800,
    900,
];
const R40: &[u16] = &[
    100, 106, 112, 118, 125, 132, 140, 150, 160, 170, 180, 190, 200, 212, 224, 236, 250, 265, 280,
    300, 315, 355, 375, 400, 425, 450, 475, 500, 530, 560, 600, 630, 670, 710, 750, 800, 850, 900,
    950,
];
const R80: &[u16] = &[
    103, 109, 115, 122, 128, 136, 145, 155, 165, 175, 185, 195, 206, 218, 230, 243, 258, 272, 290,
    307, 325, 345, 365, 387, 412, 437, 462, 487, 515, 545, 575, 615, 650, 690, 730, 775, 825, 875,
    925, 975,
];
const ONE_TWO_FIVE: &[u16] = &[10, 20, 50];
const E6: &[u16] = &[10, 15, 22, 33, 47, 68];
const E12: &[u16] = &[10, 12, 15, 18, 22, 27, 33, 39, 47, 56, 68, 82];
const E24: &[u16] = &[
    10, 11, 12, 13, 15, 16, 18, 20, 22, 24, 27, 30, 33, 36, 39, 43, 47, 51, 56, 62, 68, 75, 82, 91,
];
const E48: &[u16] = &[
    100, 105, 110, 115, 121, 127, 133, 140, 147, 154, 162, 169, 178, 187, 196, 205, 215, 226, 237,
    249, 261, 274, 287, 301, 316, 332, 348, 365, 383, 402, 422, 442, 464, 487, 511, 536, 562, 590,
    619, 649, 681, 715, 750, 787, 825, 866, 909, 953,
];
const E96: &[u16] = &[
    100, 102, 105, 107, 110, 113, 115, 118, 121, 124, 127, 130, 133, 137, 140, 143, 147, 150, 154,
    158, 162, 165, 169, 174, 178, 182, 187, 191, 196, 200, 205, 210, 215, 221, 226, 232, 237, 243,
    249, 255, 261, 267, 274, 280, 287, 294, 301, 309, 316, 324, 332, 340, 348, 357, 365, 374, 383,
    392, 402, 412, 422, 432, 442, 453, 464, 475, 487, 499, 511, 523, 536, 549, 562, 576, 590, 604,
    619, 634, 649, 665, 681, 698, 715, 732, 750, 768, 787, 806, 825, 845, 866, 887, 909, 931, 953,
    976,
];
const E192: &[u16] = &[
    100, 101, 102, 104, 105, 106, 107, 109, 110, 111, 113, 114, 115, 117, 118, 120, 121, 123, 124,
    126, 127, 129, 130, 132, 133, 135, 137, 138, 140, 142, 143, 145, 147, 149, 150, 152, 154, 156,
    158, 160, 162, 164, 165, 167, 169, 172, 174, 176, 178, 180, 182, 184, 187, 189, 191, 193, 196,
    198, 200, 203, 205, 208, 210, 213, 215, 218, 221, 223, 226, 229, 232, 234, 237, 240, 243, 246,
    249, 252, 255, 258, 261, 264, 267, 271, 274, 277, 280, 284, 287, 291, 294, 298, 301, 305, 309,
    312, 316, 320, 324, 328, 332, 336, 340, 344, 348, 352, 357, 361, 365, 370, 374, 379, 383, 388,
    392, 397, 402, 407, 412, 417, 422, 427, 432, 437, 442, 448, 453, 459, 464, 470, 475, 481, 487,
    493, 499, 505, 511, 517, 523, 530, 536, 542, 549, 556, 562, 569, 576, 583, 590, 597, 604, 612,
    619, 626, 634, 642, 649, 657, 665, 673, 681, 690, 698, 706, 715, 723, 732, 741, 750, 759, 768,
    777, 787, 796, 806, 816, 825, 835, 845, 856, 866, 876, 887, 898, 909, 920, 931, 942, 953, 965,
    976, 988,
];

impl Granularity {
    pub(super) fn new(name: &str) -> Option<Self> {
        Some(Self::Series(match name {
            "POWERSOF2" => return Some(Self::PowersOfTwo),
            "1-2-5" => ONE_TWO_FIVE,
            "E6" => E6,
            "E12" => E12,
            "E24" => E24,
            "E48" => E48,
            "E96" => E96,
            "E192" => E192,
            "R5" => R5,
            "R10" => R10,
            "R20" => R20,
            "R40" => R40,
            "R80" => R80,
            _ => return None,
        }))
    }

    /// The smallest of the numbers that is greater than the value.
    pub(super) fn round_up(self, value: &RawBson) -> RawBson {
        self.round(value, power_above, above)
    }

    /// The largest of the numbers that is less than the value.
    pub(super) fn round_down(self, value: &RawBson) -> RawBson {
        self.round(value, power_below, below)
    }

    /// Rounds a number. Zero stays as it is, and so does infinity in a series.
    fn round(
        self,
        value: &RawBson,
        to_power: fn(Number) -> Number,
        to_series: fn(Number, &Scaled) -> Number,
    ) -> RawBson {
        let Some(number) = Number::from_raw(value.as_raw_bson_ref()) else {
            return value.clone();
        };
        let nearest = number.to_f64();
        let rounded = match self {
            _ if nearest == 0.0 => return value.clone(),
            Self::PowersOfTwo => to_power(number),
            Self::Series(_) if nearest.is_infinite() => return value.clone(),
            Self::Series(series) => to_series(number, &Scaled::new(series, number.is_decimal())),
        };
        rounded.to_raw().into()
    }
}

/// Whether a boundary is zero as a double, like a decimal that is too small for one.
pub(super) fn is_zero(boundary: &RawBson) -> bool {
    Number::from_raw(boundary.as_raw_bson_ref()).is_some_and(|number| number.to_f64() == 0.0)
}

/// A series in one type of number. mongod computes with the same steps, whose roundings of doubles show in the results.
struct Scaled {
    numbers: Vec<Number>,
    first: Number,
    last: Number,
    one: Number,
    ten: Number,
}

impl Scaled {
    fn new(series: &[u16], is_decimal: bool) -> Self {
        let convert = |number: u16| {
            let double = f64::from(number);
            if is_decimal {
                Number::Decimal(Decimal::from_f64(double))
            } else {
                Number::Double(double)
            }
        };
        let exact = |number: i32| {
            if is_decimal {
                Number::Decimal(Decimal::from_i64(number.into()))
            } else {
                Number::Double(number.into())
            }
        };
        let numbers: Vec<_> = series.iter().copied().map(convert).collect();
        let one = exact(1);
        Self {
            first: numbers.first().copied().unwrap_or(one),
            last: numbers.last().copied().unwrap_or(one),
            one,
            ten: exact(10),
            numbers,
        }
    }
}

fn above(number: Number, series: &Scaled) -> Number {
    let mut scale = series.one;
    while number.compare(series.last.mul(scale)).is_ge() {
        scale = scale.mul(series.ten);
    }
    while number.compare(series.first.mul(scale)).is_lt() {
        let above = series.first.mul(scale);
        scale = scale.div(series.ten);
        if number.compare(series.last.mul(scale)).is_ge() {
            return above;
        }
    }
    let scaled = series.numbers.iter().map(|candidate| candidate.mul(scale));
    let mut greater = scaled.filter(|candidate| number.compare(*candidate).is_lt());
    greater.next().unwrap_or_else(|| series.last.mul(scale))
}

fn below(number: Number, series: &Scaled) -> Number {
    let mut scale = series.one;
    while number.compare(series.first.mul(scale)).is_le() {
        scale = scale.div(series.ten);
    }
    while number.compare(series.last.mul(scale)).is_gt() {
        let below = series.last.mul(scale);
        scale = scale.mul(series.ten);
        // For the smallest doubles, the scale is zero.
        if scale.is_zero() || number.compare(series.first.mul(scale)).is_le() {
            return below;
        }
    }
    let scaled = series.numbers.iter().map(|candidate| candidate.mul(scale));
    let mut less = scaled.filter(|candidate| number.compare(*candidate).is_gt());
    less.next_back().unwrap_or_else(|| series.first.mul(scale))
}

fn power_above(number: Number) -> Number {
    match number {
        Number::Decimal(number) => decimal_power(number, |log| log.quantize(0, Rounding::Floor), 1),
        number => power(number.to_f64().log2().floor() + 1.0),
    }
}

fn power_below(number: Number) -> Number {
    match number {
        Number::Decimal(number) => {
            decimal_power(number, |log| log.quantize(0, Rounding::Ceiling), -1)
        }
        number => power(number.to_f64().log2().ceil() - 1.0),
    }
}

/// The exponent to which mongod converts the logarithm of infinity.
const OF_INFINITY: i32 = i32::MIN;

/// Two to the power of an exponent: an integer if it is one of 64 bits.
fn power(exponent: f64) -> Number {
    let exponent = if exponent.is_finite() {
        exponent
    } else {
        OF_INFINITY.into()
    };
    let whole = Number::Double(exponent).to_i64_exact();
    let integer = whole
        .and_then(|exponent| u32::try_from(exponent).ok())
        .and_then(|exponent| 2_i64.checked_pow(exponent));
    match integer {
        Some(integer) => i32::try_from(integer).map_or(Number::Int64(integer), Number::Int32),
        None => Number::Double(exponent.exp2()),
    }
}

/// Like [`power`], for the rounded logarithm of a decimal and an addend.
fn decimal_power(number: Decimal, round: fn(Decimal) -> Decimal, addend: i64) -> Number {
    let two = Decimal::from_i64(2);
    let exponent = if number.is_finite() {
        round(number.log(two)).add(Decimal::from_i64(addend))
    } else {
        Decimal::from_i64(OF_INFINITY.into())
    };
    Number::Decimal(two.pow(exponent))
}
