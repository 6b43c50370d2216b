//! Sums as the server makes them: doubles in doubled precision, integers exactly, and the widest type met.

use bson::raw::RawBson;

use crate::value::decimal::Decimal;
use crate::value::number::Number;

#[derive(Debug, Clone, Copy)]
pub(crate) struct Sum {
    /// Every integer; 2^63 times as many as fit a collection.
    integers: i128,
    /// The doubles, and what their additions lost.
    high: f64,
    low: f64,
    decimal: Option<Decimal>,
    double: bool,
    long: bool,
}

impl Sum {
    pub(crate) const ZERO: Self = Self {
        integers: 0,
        high: 0.0,
        low: 0.0,
        decimal: None,
        double: false,
        long: false,
    };

    pub(crate) fn add(&mut self, number: Number) {
        match number {
            Number::Int32(n) => self.integers += i128::from(n),
            Number::Int64(n) => {
                self.long = true;
                self.integers += i128::from(n);
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

    fn add_double(&mut self, value: f64) {
        let sum = self.high + value;
        if sum.is_finite() {
            let other = sum - value;
            self.low += (self.high - other) + (value - (sum - other));
        } else {
            self.low = 0.0;
        }
        self.high = sum;
    }

    /// The total as a double.
    #[expect(clippy::cast_precision_loss, reason = "what is lost goes to `low`")]
    pub(crate) fn to_f64(self) -> f64 {
        let mut total = self;
        let high = self.integers as f64;
        total.add_double(high);
        // Beyond 2^127 there is nothing to make up for.
        #[expect(clippy::cast_possible_truncation, reason = "the conversion saturates")]
        let rest = self.integers.saturating_sub(high as i128) as f64;
        total.add_double(rest);
        let sum = total.high + total.low;
        if sum.is_nan() { total.high } else { sum }
    }

    pub(crate) fn number(self) -> Number {
        if let Some(decimal) = self.decimal {
            let mut total = decimal;
            if self.double {
                total = total.add(Decimal::from_f64_exact(self.high + self.low));
            }
            return Number::Decimal(total.add(integer_decimal(self.integers)));
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

    pub(crate) fn into_bson(self) -> RawBson {
        self.number().to_raw().into()
    }
}

fn integer_decimal(n: i128) -> Decimal {
    let low = i64::try_from(n.rem_euclid(1 << 62)).unwrap_or(0);
    let high = i64::try_from(n.div_euclid(1 << 62)).unwrap_or(0);
    Decimal::from_i64(high)
        .mul(Decimal::from_i64(1 << 62))
        .add(Decimal::from_i64(low))
}
