//! [`Money`]: an exact amount in a currency.

use std::fmt;
use std::marker::PhantomData;
use std::str::FromStr;

use serde::de::Visitor;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{Currency, MoneyError, Rounding, digits, parts, text};
use crate::model::{BsonType, TypeMeta};
use crate::query::kind::{Additive, Multiple};
use crate::query::scalars::field_type;
use crate::types::compared::compared_by;

/// An exact amount of money: an integer that counts the smallest unit of the currency `C`, stored as an `Int64`.
///
/// Amounts of different currencies do not mix, nothing is rounded unless a [`Rounding`] is named, and there is no way from
/// or to a floating-point number. Fields have comparisons, `inc` and `dec` with amounts, and `times` with an integer, all of
/// them exact on the server. An `inc` or `times` beyond 64 bits is refused by MongoDB. A `$sum` beyond 64 bits becomes
/// a double there, which an amount refuses to be read from.
///
/// ```
/// use odm::money::{Eur, Money, Usd};
///
/// let price: Money<Usd> = "9.99".parse()?;
/// assert_eq!(price.minor(), 999);
/// assert_eq!(price.try_mul(3)?.try_sub(Money::from_minor(7))?.to_string(), "29.90 USD");
/// assert_eq!(Money::<Eur>::from_minor(-5).amount(), "-0.05");
/// # Ok::<(), odm::money::MoneyError>(())
/// ```
///
/// ```compile_fail
/// # use odm::money::{Eur, Money, Usd};
/// // Dollars and euros are different types.
/// let wrong = Money::<Usd>::from_minor(1).try_add(Money::<Eur>::from_minor(1));
/// ```
// Without a bound, like the implementations below: a wrong currency is then one error, that of the field.
pub struct Money<C> {
    minor: i64,
    of: PhantomData<fn() -> C>,
}

impl<C: Currency> Money<C> {
    /// No money.
    pub const ZERO: Self = Self::from_minor(0);

    /// A count of the smallest unit: cents for [`Usd`](super::Usd).
    ///
    /// ```
    /// # use odm::money::{Money, Usd};
    /// assert_eq!(Money::<Usd>::from_minor(999).to_string(), "9.99 USD");
    /// ```
    pub const fn from_minor(minor: i64) -> Self {
        // Checked wherever an amount is made.
        let _ = digits::<C>();
        Self {
            minor,
            of: PhantomData,
        }
    }

    /// The count of the smallest unit, as it is stored.
    ///
    /// ```
    /// # use odm::money::{Money, Usd};
    /// let price: Money<Usd> = "9.99".parse()?;
    /// assert_eq!(price.minor(), 999);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub const fn minor(self) -> i64 {
        self.minor
    }

    /// The code of the currency: `USD`.
    ///
    /// ```
    /// # use odm::money::{Money, Usd};
    /// assert_eq!(Money::<Usd>::from_minor(999).code(), "USD");
    /// ```
    pub const fn code(self) -> &'static str {
        C::CODE
    }

    /// The decimal text without the code: `9.99`.
    ///
    /// ```
    /// # use odm::money::{Money, Usd};
    /// assert_eq!(Money::<Usd>::from_minor(-5).amount(), "-0.05");
    /// ```
    pub fn amount(self) -> String {
        text::format(self.minor, digits::<C>())
    }

    /// Adds an amount of the same currency.
    ///
    /// ```
    /// # use odm::money::{Money, Usd};
    /// let (price, tax) = (Money::<Usd>::from_minor(999), Money::from_minor(80));
    /// assert_eq!(price.try_add(tax)?.amount(), "10.79");
    /// assert!(price.try_add(Money::from_minor(i64::MAX)).is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`MoneyError::Overflow`], as for all arithmetic here.
    pub fn try_add(self, other: Self) -> Result<Self, MoneyError> {
        exact(self.minor.checked_add(other.minor))
    }

    /// Subtracts an amount of the same currency.
    ///
    /// ```
    /// # use odm::money::{Money, Usd};
    /// let (price, discount) = (Money::<Usd>::from_minor(999), Money::from_minor(100));
    /// assert_eq!(price.try_sub(discount)?.amount(), "8.99");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn try_sub(self, other: Self) -> Result<Self, MoneyError> {
        exact(self.minor.checked_sub(other.minor))
    }

    /// Multiplies by a whole number, such as a quantity.
    ///
    /// ```
    /// # use odm::money::{Money, Usd};
    /// assert_eq!(Money::<Usd>::from_minor(999).try_mul(3)?.amount(), "29.97");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn try_mul(self, factor: i64) -> Result<Self, MoneyError> {
        exact(self.minor.checked_mul(factor))
    }

    /// The amount with the other sign.
    ///
    /// ```
    /// # use odm::money::{Money, Usd};
    /// assert_eq!(Money::<Usd>::from_minor(999).try_neg()?.amount(), "-9.99");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn try_neg(self) -> Result<Self, MoneyError> {
        exact(self.minor.checked_neg())
    }

    /// The sum of amounts.
    ///
    /// ```
    /// use odm::money::{Money, Usd};
    ///
    /// let prices = [999, 1].map(Money::<Usd>::from_minor);
    /// assert_eq!(Money::try_sum(prices)?, Money::from_minor(1_000));
    /// # Ok::<(), odm::money::MoneyError>(())
    /// ```
    pub fn try_sum(amounts: impl IntoIterator<Item = Self>) -> Result<Self, MoneyError> {
        amounts.into_iter().try_fold(Self::ZERO, Self::try_add)
    }

    /// The amount times a fraction, rounded once: `ratio(19, 100, …)` is 19 %, `ratio(1, 3, …)` a third.
    ///
    /// ```
    /// # use odm::money::{Money, Rounding, Usd};
    /// // 7.7 % of 9.99
    /// let tax = Money::<Usd>::from_minor(999).ratio(77, 1000, Rounding::HalfEven)?;
    /// assert_eq!(tax.amount(), "0.77");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The denominator is zero, or the result overflows.
    pub fn ratio(
        self,
        numerator: i64,
        denominator: i64,
        rounding: Rounding,
    ) -> Result<Self, MoneyError> {
        rounding
            .ratio(self.minor, numerator, denominator)
            .map(Self::from_minor)
    }

    /// The amount in this many parts that differ by at most one unit, the larger ones first; together they are the amount.
    ///
    /// ```
    /// use odm::money::{Money, Usd};
    ///
    /// let parts = Money::<Usd>::from_minor(1_000).split(3)?;
    /// assert_eq!(parts.map(Money::minor).collect::<Vec<_>>(), [334, 333, 333]);
    /// # Ok::<(), odm::money::MoneyError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// There are no parts.
    pub fn split(self, parts: usize) -> Result<impl ExactSizeIterator<Item = Self>, MoneyError> {
        self.split_by(&vec![1; parts]).map(Vec::into_iter)
    }

    /// The amount in parts in the proportions of the weights; together they are the amount. Each part is less than one unit
    /// away from its exact share.
    ///
    /// ```
    /// # use odm::money::{Money, Usd};
    /// let shares = Money::<Usd>::from_minor(100).split_by(&[1, 1, 1])?;
    /// assert_eq!(shares.iter().map(|share| share.minor()).collect::<Vec<_>>(), [34, 33, 33]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// All weights are zero.
    pub fn split_by(self, weights: &[u64]) -> Result<Vec<Self>, MoneyError> {
        let parts = parts::by_weights(self.minor, weights)?;
        Ok(parts.into_iter().map(Self::from_minor).collect())
    }
}

fn exact<C: Currency>(minor: Option<i64>) -> Result<Money<C>, MoneyError> {
    minor.map(Money::from_minor).ok_or(MoneyError::Overflow)
}

compared_by!([C] Money<C>, |money| money.minor, Copy, Ord);

impl<C: Currency> Default for Money<C> {
    fn default() -> Self {
        Self::ZERO
    }
}

impl<C: Currency> fmt::Debug for Money<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Money({self})")
    }
}

/// `9.99 USD`
impl<C: Currency> fmt::Display for Money<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{} {}", self.amount(), C::CODE))
    }
}

/// Reads `9.99` or `9.99 USD`, exactly.
impl<C: Currency> FromStr for Money<C> {
    type Err = MoneyError;

    fn from_str(text: &str) -> Result<Self, MoneyError> {
        let amount = match text.split_once(' ') {
            Some((amount, code)) if code == C::CODE => amount,
            Some((_, code)) => {
                return Err(MoneyError::OtherCurrency {
                    found: code.to_owned(),
                    expected: C::CODE.to_owned(),
                });
            }
            None => text,
        };
        text::parse(amount, digits::<C>()).map(Self::from_minor)
    }
}

impl<C> Serialize for Money<C> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_i64(self.minor)
    }
}

impl<'de, C> Deserialize<'de> for Money<C> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let minor = deserializer.deserialize_i64(Minor)?;
        Ok(Self {
            minor,
            of: PhantomData,
        })
    }
}

/// Reads integers only.
pub(super) struct Minor;

impl Visitor<'_> for Minor {
    type Value = i64;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an integer that counts the smallest unit of a currency")
    }

    fn visit_i64<E>(self, value: i64) -> Result<i64, E> {
        Ok(value)
    }

    fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<i64, E> {
        i64::try_from(value).map_err(E::custom)
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<i64, E> {
        Err(E::custom(format_args!(
            "{value} is a double, which may be inexact, and money is stored as an integer; a `$sum` beyond 64 bits makes a double"
        )))
    }
}

field_type!([C: Currency] Money<C>, {
    let _ = digits::<C>();
    TypeMeta::scalar(&[BsonType::Long])
});

impl<C> Additive for Money<C> {}
impl<C> Multiple for Money<C> {}

#[cfg(test)]
mod tests {
    use super::Money;
    use crate::types::money::{Finer, Jpy, MoneyError, Rounding, Usd};

    #[test]
    fn arithmetic_is_exact_or_fails() {
        let most = Money::<Usd>::from_minor(i64::MAX);
        assert_eq!(
            most.try_add(Money::from_minor(1)),
            Err(MoneyError::Overflow)
        );
        assert_eq!(most.try_mul(2), Err(MoneyError::Overflow));
        assert_eq!(
            Money::<Usd>::from_minor(i64::MIN).try_neg(),
            Err(MoneyError::Overflow)
        );
        assert_eq!(most.try_sub(most), Ok(Money::ZERO));
        let tax = Money::<Usd>::from_minor(999).ratio(19, 100, Rounding::HalfUp);
        assert_eq!(tax, Ok(Money::from_minor(190)));
    }

    #[test]
    fn text_names_the_currency() {
        assert_eq!("12.30 USD".parse(), Ok(Money::<Usd>::from_minor(1_230)));
        assert_eq!(
            "9.99".parse(),
            Ok(Money::<Finer<Usd, 3>>::from_minor(9_990))
        );
        assert_eq!(Money::<Jpy>::from_minor(-1_200).to_string(), "-1200 JPY");
        assert_eq!(
            format!("{:>12}", Money::<Usd>::from_minor(5)),
            "    0.05 USD"
        );
        let other = "1 EUR".parse::<Money<Usd>>().unwrap_err();
        assert_eq!(other.to_string(), "expected an amount in USD, found EUR");
    }
}
