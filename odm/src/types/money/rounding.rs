//! Rounding, which is always named.

use super::MoneyError;

/// How a result between two units is rounded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Rounding {
    /// To the nearer unit; from the middle to the even one: 0.5 to 0, 1.5 to 2.
    HalfEven,
    /// To the nearer unit; from the middle away from zero: 0.5 to 1, -0.5 to -1.
    HalfUp,
    /// To the nearer unit; from the middle towards zero.
    HalfDown,
    /// Away from zero.
    Up,
    /// Towards zero.
    Down,
    /// Towards positive infinity.
    Ceiling,
    /// Towards negative infinity.
    Floor,
}

impl Rounding {
    /// `amount * numerator / denominator`, exact until it is rounded once.
    pub(super) fn ratio(
        self,
        amount: i64,
        numerator: i64,
        denominator: i64,
    ) -> Result<i64, MoneyError> {
        if denominator == 0 {
            return Err(MoneyError::DivisionByZero);
        }
        let product = i128::from(amount) * i128::from(numerator);
        let denominator = i128::from(denominator);
        let (quotient, rest) = (product / denominator, product % denominator);
        let away = if (product < 0) == (denominator < 0) {
            1
        } else {
            -1
        };
        let twice = (2 * rest.abs()).cmp(&denominator.abs());
        let is_away = rest != 0
            && match self {
                Self::Up => true,
                Self::Down => false,
                Self::Ceiling => away > 0,
                Self::Floor => away < 0,
                Self::HalfUp => twice.is_ge(),
                Self::HalfDown => twice.is_gt(),
                Self::HalfEven => twice.is_gt() || twice.is_eq() && quotient % 2 != 0,
            };
        let rounded = if is_away { quotient + away } else { quotient };
        i64::try_from(rounded).map_err(|_| MoneyError::Overflow)
    }
}

#[cfg(test)]
mod tests {
    use super::Rounding::*;

    #[test]
    fn middles_and_signs_are_rounded_by_name() {
        // Tenths to whole units: -1.5, -0.6, -0.5, -0.4, 0.4, 0.5, 0.6, 1.5.
        let tenths = [-15, -6, -5, -4, 4, 5, 6, 15];
        for (rounding, expected) in [
            (HalfEven, [-2, -1, 0, 0, 0, 0, 1, 2]),
            (HalfUp, [-2, -1, -1, 0, 0, 1, 1, 2]),
            (HalfDown, [-1, -1, 0, 0, 0, 0, 1, 1]),
            (Up, [-2, -1, -1, -1, 1, 1, 1, 2]),
            (Down, [-1, 0, 0, 0, 0, 0, 0, 1]),
            (Ceiling, [-1, 0, 0, 0, 1, 1, 1, 2]),
            (Floor, [-2, -1, -1, -1, 0, 0, 0, 1]),
        ] {
            assert_eq!(
                tenths.map(|one| rounding.ratio(one, 1, 10).unwrap()),
                expected
            );
            // The sign of the denominator counts as well as that of the numerator.
            assert_eq!(
                tenths.map(|one| rounding.ratio(one, -1, -10).unwrap()),
                expected
            );
        }
    }

    #[test]
    fn products_beyond_64_bits_are_exact() {
        assert_eq!(HalfEven.ratio(i64::MAX, i64::MAX, i64::MAX), Ok(i64::MAX));
        assert_eq!(HalfEven.ratio(i64::MIN, 3, 3), Ok(i64::MIN));
        assert!(HalfEven.ratio(i64::MAX, 2, 1).is_err());
        assert!(HalfEven.ratio(i64::MIN, -1, 1).is_err());
        assert!(HalfEven.ratio(1, 1, 0).is_err());
    }
}
