//! Sums as mongod computes them: doubles with a compensation term, integers exactly, and the widest type wins.

use bson::raw::RawBson;

use crate::value::decimal::Decimal;
use crate::value::number::Number;

#[derive(Debug, Clone, Copy)]
pub struct Sum {
    /// The exact sum of the integers: 128 bits are enough for 2^63 of them.
    integers: i128,
    /// The sum of doubles and integers in their order, and the error of its rounding.
    high: f64,
    low: f64,
    decimal: Option<Decimal>,
    double: bool,
    long: bool,
}

impl Sum {
    pub const ZERO: Self = Self {
        integers: 0,
        high: 0.0,
        low: 0.0,
        decimal: None,
        double: false,
        long: false,
    };

    #[expect(clippy::cast_precision_loss, reason = "the rest follows")]
    pub fn add(&mut self, number: Number) {
        match number {
            Number::Int32(n) => {
                self.integers += i128::from(n);
                self.add_double(f64::from(n));
            }
            Number::Int64(n) => {
                self.long = true;
                self.integers += i128::from(n);
                let rest = n % (1 << 32);
                // in this order: each addition compensates for the rounding of the one before
                self.add_double(rest as f64);
                self.add_double((n - rest) as f64);
            }
            Number::Double(n) => {
                self.double = true;
                self.add_double(n);
            }
            Number::Decimal(n) => {
                self.decimal = Some(self.decimal.map_or(n, |sum| sum.add(n)));
            }
        }
    }

    /// Adds the previous rounding error to the next number, so that `high` is the sum as a double.
    fn add_double(&mut self, value: f64) {
        let (value, lost) = two_sum(value, self.low);
        let (high, more) = two_sum(self.high, value);
        self.low = if high.is_finite() { lost + more } else { 0.0 };
        self.high = high;
    }

    /// The total as a double.
    pub fn to_f64(self) -> f64 {
        self.high
    }

    pub fn number(self) -> Number {
        if let Some(decimal) = self.decimal {
            if !self.double {
                return Number::Decimal(decimal.add(integer_decimal(self.integers)));
            }
            let [high, low] = [self.high, self.low].map(Decimal::from_f64_exact);
            return Number::Decimal(decimal.add(high.add(low)));
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
            _ if self.double => {
                let high = self.high.round();
                // Rounds twice, as mongod does, so that halves go towards zero: 2.5 gives 3 + round(-0.5) = 2.
                let rest = (self.high - high) + self.low;
                let high = Number::Double(high).to_i64_truncated()?;
                high.checked_add(Number::Double(rest.round()).to_i64_truncated()?)
            }
            _ => i64::try_from(self.integers).ok(),
        }
    }

    pub fn into_bson(self) -> RawBson {
        self.number().to_raw().into()
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
