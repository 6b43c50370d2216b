//! Sums as mongod computes them: doubles with a compensation term, integers exactly, and the widest type wins.

use bson::raw::RawBson;

use crate::value::decimal::Decimal;
use crate::value::number::Number;

#[derive(Debug, Clone, Copy)]
pub struct Sum {
    /// The exact sum of the integers: 128 bits are enough for 2^63 of them.
    integers: i128,
    /// The sum of doubles and integers in their order.
    doubles: Compensated,
    decimal: Option<Decimal>,
    double: bool,
    long: bool,
}

impl Sum {
    pub const ZERO: Self = Self {
        integers: 0,
        doubles: Compensated::ZERO,
        decimal: None,
        double: false,
        long: false,
    };

    pub fn add(&mut self, number: Number) {
        match number {
            Number::Int32(n) => {
                self.integers += i128::from(n);
                self.doubles.add(f64::from(n));
            }
            Number::Int64(n) => {
                self.long = true;
                self.integers += i128::from(n);
                self.doubles.add_long(n, 1.0);
            }
            Number::Double(n) => {
                self.double = true;
                self.doubles.add(n);
            }
            Number::Decimal(n) => {
                self.decimal = Some(self.decimal.map_or(n, |sum| sum.add(n)));
            }
        }
    }

    /// The total as a double.
    pub fn to_f64(self) -> f64 {
        self.doubles.high
    }

    pub fn number(self) -> Number {
        if let Some(decimal) = self.decimal {
            if !self.double {
                return Number::Decimal(decimal.add(integer_decimal(self.integers)));
            }
            return Number::Decimal(decimal.add(self.doubles.to_decimal()));
        }
        if self.double {
            return Number::Double(self.to_f64());
        }
        match (i32::try_from(self.integers), i64::try_from(self.integers)) {
            (Ok(n), _) if !self.long => Number::Int32(n),
            (_, Ok(n)) => Number::Int64(n),
            _ => Number::Double(self.to_f64()),
        }
    }

    /// The total as the milliseconds of a date; `None` where mongod reports an overflow.
    pub fn to_i64(self) -> Option<i64> {
        match self.number() {
            Number::Decimal(total) => Some(total.to_i64_rounded()),
            _ if self.double => self.doubles.to_i64(),
            _ => i64::try_from(self.integers).ok(),
        }
    }

    pub fn into_bson(self) -> RawBson {
        self.number().to_raw().into()
    }
}

/// A sum of doubles, and the error of its rounding.
#[derive(Debug, Clone, Copy)]
struct Compensated {
    high: f64,
    low: f64,
}

impl Compensated {
    const ZERO: Self = Self {
        high: 0.0,
        low: 0.0,
    };

    /// Adds the previous rounding error to the next number, so that `high` is the sum as a double.
    fn add(&mut self, value: f64) {
        let (value, lost) = two_sum(value, self.low);
        let (high, more) = two_sum(self.high, value);
        self.low = if high.is_finite() { lost + more } else { 0.0 };
        self.high = high;
    }

    /// Adds an integer in two parts that doubles hold exactly, with the sign 1 or -1.
    #[expect(clippy::cast_precision_loss, reason = "the rest follows")]
    fn add_long(&mut self, n: i64, sign: f64) {
        let rest = n % (1 << 32);
        // in this order: each addition compensates for the rounding of the one before
        self.add(rest as f64 * sign);
        self.add((n - rest) as f64 * sign);
    }

    fn to_decimal(self) -> Decimal {
        let [high, low] = [self.high, self.low].map(Decimal::from_f64_exact);
        high.add(low)
    }

    /// The nearest integer; `None` if the sum is beyond 64 bits.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "larger sums saturate beyond 64 bits"
    )]
    fn to_integer(self) -> Option<i64> {
        let high = self.high.round();
        let rest = (self.high - high) + self.low;
        i64::try_from((high as i128).saturating_add(rest.round() as i128)).ok()
    }

    /// The nearest integer, if its leading double has 64 bits.
    fn to_i64(self) -> Option<i64> {
        let high = self.high.round();
        // Rounds twice, as mongod does, so that halves go towards zero: 2.5 gives 3 + round(-0.5) = 2.
        let rest = (self.high - high) + self.low;
        let high = Number::Double(high).to_i64_truncated()?;
        high.checked_add(Number::Double(rest.round()).to_i64_truncated()?)
    }
}

/// A sum from which numbers can be removed again, for windows that slide. Removed doubles leave their rounding errors,
/// and the result has the smallest type for the numbers that are left, as in mongod.
#[derive(Debug, Clone, Copy)]
pub struct RemovableSum {
    doubles: Compensated,
    decimals: Decimal,
    /// Whether a decimal was added, even if it was removed again.
    is_decimal: bool,
    /// How many doubles, decimals, NaNs and infinities of either sign it holds.
    double_count: i64,
    decimal_count: i64,
    nans: i64,
    above: i64,
    below: i64,
}

impl Default for RemovableSum {
    fn default() -> Self {
        Self {
            doubles: Compensated::ZERO,
            decimals: Decimal::from_i64(0),
            is_decimal: false,
            double_count: 0,
            decimal_count: 0,
            nans: 0,
            above: 0,
            below: 0,
        }
    }
}

impl RemovableSum {
    pub fn add(&mut self, number: Number) {
        self.change(number, 1);
    }

    /// Removes a number that was added before.
    pub fn remove(&mut self, number: Number) {
        self.change(number, -1);
    }

    /// Starts again from zero, without the rounding errors of numbers that were removed.
    pub fn restart(&mut self) {
        self.doubles = Compensated::ZERO;
        self.decimals = Decimal::from_i64(0);
    }

    /// The sum of the doubles, also if more were removed than added.
    pub fn doubles(self) -> f64 {
        self.doubles.high
    }

    fn change(&mut self, number: Number, by: i64) {
        let sign = if by < 0 { -1.0 } else { 1.0 };
        match number {
            Number::Double(_) => self.double_count += by,
            Number::Decimal(_) => {
                self.is_decimal = true;
                self.decimal_count += by;
            }
            Number::Int32(_) | Number::Int64(_) => {}
        }
        match number {
            number if number.is_nan() => self.nans += by,
            number if !number.is_finite() && number.to_f64() > 0.0 => self.above += by,
            number if !number.is_finite() => self.below += by,
            Number::Int32(n) => self.doubles.add(f64::from(n) * sign),
            Number::Int64(n) => self.doubles.add_long(n, sign),
            Number::Double(n) => self.doubles.add(n * sign),
            Number::Decimal(n) if by < 0 => self.decimals = self.decimals.sub(n),
            Number::Decimal(n) => self.decimals = self.decimals.add(n),
        }
    }

    pub fn number(self) -> Number {
        let unbounded = match (self.nans, self.above, self.below) {
            (0, 0, 0) => None,
            (0, _, 0) => Some(f64::INFINITY),
            (0, 0, _) => Some(f64::NEG_INFINITY),
            _ => Some(f64::NAN),
        };
        if self.decimal_count > 0 {
            return Number::Decimal(match unbounded {
                Some(value) => Decimal::from_f64(value),
                None => self.doubles.to_decimal().add(self.decimals),
            });
        }
        if let Some(value) = unbounded {
            return Number::Double(value);
        }
        // Decimals that were removed leave their rounding errors, too.
        let total = if self.is_decimal {
            self.doubles.to_decimal().add(self.decimals).to_f64()
        } else {
            self.doubles.high
        };
        if self.double_count > 0 || !self.decimals.is_zero() {
            return Number::Double(total);
        }
        match self.doubles.to_integer() {
            Some(n) => i32::try_from(n).map_or(Number::Int64(n), Number::Int32),
            None => Number::Double(total),
        }
    }
}

/// The sum of two numbers, and its rounding error.
fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let other = sum - a;
    (sum, (a - (sum - other)) + (b - other))
}

fn integer_decimal(n: i128) -> Decimal {
    let low = i64::try_from(n.rem_euclid(1 << 62)).unwrap_or(0);
    let high = i64::try_from(n.div_euclid(1 << 62)).unwrap_or(0);
    Decimal::from_i64(high)
        .mul(Decimal::from_i64(1 << 62))
        .add(Decimal::from_i64(low))
}
