//! [`AnyMoney`] and [`Amount`]: exact amounts whose currency is a value.

use std::cmp::Ordering;
use std::fmt;
use std::marker::PhantomData;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::amount::Minor;
use super::{AnyCurrency, Currencies, Currency, Iso4217, Money, MoneyError, Rounding, parts, text};
use crate::model::{BsonType, TypeMeta};
use crate::query::scalars::field_type;
use crate::types::compared::compared_by;

/// An exact amount of money in a currency that is known at run time, stored as `{amount: NumberLong(999), currency: "USD"}`.
///
/// The amount counts the smallest unit of its currency, as the set `S` defines it. Arithmetic with another currency is an
/// error. Fields have the parts `amount` and `currency`, comparisons that include the currency, and `inc` and `dec`, which
/// leave amounts in another currency alone. See [`Amount`] for the same in two fields, and [`Money`] for a currency in the
/// type.
///
/// ```
/// use odm::money::AnyMoney;
///
/// let price: AnyMoney = "9.99 USD".parse()?;
/// assert_eq!((price.minor(), price.currency().code()), (999, "USD"));
/// assert_eq!(price.try_mul(3)?.to_string(), "29.97 USD");
/// assert!(price.try_add("1 EUR".parse()?).is_err());
/// # Ok::<(), odm::money::MoneyError>(())
/// ```
#[derive(Serialize, Deserialize)]
#[serde(bound(serialize = "", deserialize = "S: Currencies"))]
pub struct AnyMoney<S = Iso4217> {
    #[serde(deserialize_with = "minor")]
    amount: i64,
    currency: AnyCurrency<S>,
}

fn minor<'de, D: Deserializer<'de>>(deserializer: D) -> Result<i64, D::Error> {
    deserializer.deserialize_i64(Minor)
}

impl<S: Currencies> AnyMoney<S> {
    /// A count of the smallest unit of a currency.
    ///
    /// ```
    /// # use odm::money::{AnyCurrency, AnyMoney};
    /// let euro: AnyCurrency = "EUR".parse()?;
    /// assert_eq!(AnyMoney::from_minor(999, euro).to_string(), "9.99 EUR");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub const fn from_minor(amount: i64, currency: AnyCurrency<S>) -> Self {
        Self { amount, currency }
    }

    /// The count of the smallest unit, as it is stored.
    ///
    /// ```
    /// # use odm::money::AnyMoney;
    /// let price: AnyMoney = "9.99 EUR".parse()?;
    /// assert_eq!(price.minor(), 999);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub const fn minor(self) -> i64 {
        self.amount
    }

    /// The currency.
    ///
    /// ```
    /// # use odm::money::AnyMoney;
    /// let price: AnyMoney = "9.99 EUR".parse()?;
    /// assert_eq!(price.currency().code(), "EUR");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub const fn currency(self) -> AnyCurrency<S> {
        self.currency
    }

    /// The decimal text without the code: `9.99`.
    ///
    /// ```
    /// # use odm::money::AnyMoney;
    /// let price: AnyMoney = "500 JPY".parse()?;
    /// assert_eq!(price.amount(), "500");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn amount(self) -> String {
        text::format(self.amount, self.currency.digits())
    }

    /// Adds an amount.
    ///
    /// ```
    /// # use odm::money::AnyMoney;
    /// let (price, tax): (AnyMoney, AnyMoney) = ("9.99 EUR".parse()?, "0.80 EUR".parse()?);
    /// assert_eq!(price.try_add(tax)?.to_string(), "10.79 EUR");
    /// assert!(price.try_add("1.00 USD".parse()?).is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`MoneyError::OtherCurrency`] and [`MoneyError::Overflow`], as for all arithmetic here.
    pub fn try_add(self, other: Self) -> Result<Self, MoneyError> {
        self.check(other)?;
        self.exact(self.amount.checked_add(other.amount))
    }

    /// Subtracts an amount.
    ///
    /// ```
    /// # use odm::money::AnyMoney;
    /// let (price, discount): (AnyMoney, AnyMoney) = ("9.99 EUR".parse()?, "1.00 EUR".parse()?);
    /// assert_eq!(price.try_sub(discount)?.to_string(), "8.99 EUR");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn try_sub(self, other: Self) -> Result<Self, MoneyError> {
        self.check(other)?;
        self.exact(self.amount.checked_sub(other.amount))
    }

    /// Multiplies by a whole number, such as a quantity.
    ///
    /// ```
    /// # use odm::money::AnyMoney;
    /// let price: AnyMoney = "9.99 EUR".parse()?;
    /// assert_eq!(price.try_mul(3)?.to_string(), "29.97 EUR");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn try_mul(self, factor: i64) -> Result<Self, MoneyError> {
        self.exact(self.amount.checked_mul(factor))
    }

    /// The amount with the other sign.
    ///
    /// ```
    /// # use odm::money::AnyMoney;
    /// let price: AnyMoney = "9.99 EUR".parse()?;
    /// assert_eq!(price.try_neg()?.to_string(), "-9.99 EUR");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn try_neg(self) -> Result<Self, MoneyError> {
        self.exact(self.amount.checked_neg())
    }

    /// The amount times a fraction, rounded once, as [`Money::ratio`] does.
    ///
    /// ```
    /// # use odm::money::{AnyMoney, Rounding};
    /// let price: AnyMoney = "9.99 EUR".parse()?;
    /// assert_eq!(price.ratio(1, 3, Rounding::HalfEven)?.to_string(), "3.33 EUR");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn ratio(
        self,
        numerator: i64,
        denominator: i64,
        rounding: Rounding,
    ) -> Result<Self, MoneyError> {
        let amount = rounding.ratio(self.amount, numerator, denominator)?;
        Ok(Self { amount, ..self })
    }

    /// The amount in this many parts, none of which loses a unit, as [`Money::split`] makes them.
    ///
    /// ```
    /// # use odm::money::AnyMoney;
    /// let bill: AnyMoney = "1.00 EUR".parse()?;
    /// let shares: Vec<String> = bill.split(3)?.map(|share| share.amount()).collect();
    /// assert_eq!(shares, ["0.34", "0.33", "0.33"]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn split(self, parts: usize) -> Result<impl ExactSizeIterator<Item = Self>, MoneyError> {
        self.split_by(&vec![1; parts]).map(Vec::into_iter)
    }

    /// The amount in parts in the proportions of the weights, as [`Money::split_by`] makes them.
    ///
    /// ```
    /// # use odm::money::AnyMoney;
    /// let bill: AnyMoney = "1.00 EUR".parse()?;
    /// assert_eq!(bill.split_by(&[3, 1])?[0].to_string(), "0.75 EUR");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn split_by(self, weights: &[u64]) -> Result<Vec<Self>, MoneyError> {
        let parts = parts::by_weights(self.amount, weights)?;
        let part = |amount| Self { amount, ..self };
        Ok(parts.into_iter().map(part).collect())
    }

    fn exact(self, amount: Option<i64>) -> Result<Self, MoneyError> {
        let amount = amount.ok_or(MoneyError::Overflow)?;
        Ok(Self { amount, ..self })
    }

    fn check(self, other: Self) -> Result<(), MoneyError> {
        if self.currency == other.currency {
            return Ok(());
        }
        Err(MoneyError::OtherCurrency {
            found: other.currency.code().to_owned(),
            expected: self.currency.code().to_owned(),
        })
    }
}

compared_by!([S] AnyMoney<S>, |money| (money.amount, money.currency), Copy);

/// Amounts in different currencies have no order.
impl<S> PartialOrd for AnyMoney<S> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        (self.currency == other.currency).then(|| self.amount.cmp(&other.amount))
    }
}

impl<S: Currencies> fmt::Debug for AnyMoney<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "AnyMoney({self})")
    }
}

/// `9.99 USD`
impl<S: Currencies> fmt::Display for AnyMoney<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{} {}", self.amount(), self.currency))
    }
}

/// Reads `9.99 USD`, exactly.
impl<S: Currencies> FromStr for AnyMoney<S> {
    type Err = MoneyError;

    fn from_str(text: &str) -> Result<Self, MoneyError> {
        let Some((amount, code)) = text.split_once(' ') else {
            return Err(MoneyError::NoCurrency(text.to_owned()));
        };
        let currency: AnyCurrency<S> = code.parse()?;
        let amount = text::parse(amount, currency.digits())?;
        Ok(Self { amount, currency })
    }
}

/// Fails if the set lacks the currency, or counts it in another unit.
impl<C: Currency, S: Currencies> TryFrom<Money<C>> for AnyMoney<S> {
    type Error = MoneyError;

    fn try_from(money: Money<C>) -> Result<Self, MoneyError> {
        let currency = AnyCurrency::of::<C>()?;
        Ok(Self::from_minor(money.minor(), currency))
    }
}

/// Fails if the amount is in another currency, or counted in another unit.
impl<C: Currency, S: Currencies> TryFrom<AnyMoney<S>> for Money<C> {
    type Error = MoneyError;

    fn try_from(money: AnyMoney<S>) -> Result<Self, MoneyError> {
        if AnyCurrency::of::<C>()? == money.currency {
            return Ok(Self::from_minor(money.amount));
        }
        Err(MoneyError::OtherCurrency {
            found: money.currency.code().to_owned(),
            expected: C::CODE.to_owned(),
        })
    }
}

/// The amount of an [`AnyMoney`] whose currency is another field of the same struct, stored as an `Int64`:
/// `{price: NumberLong(999), currency: "USD"}`, as MongoDB's guide has it.
///
/// `#[odm(currency = …)]` names that field, so that filters and updates of the amount include it.
///
/// ```
/// use odm::money::{Amount, AnyCurrency, AnyMoney};
/// use odm::prelude::*;
///
/// #[derive(Debug, Serialize, Deserialize, Document)]
/// #[odm(collection = "products")]
/// struct Product {
///     #[serde(rename = "_id")]
///     id: i32,
///     #[odm(currency = currency)]
///     price: Amount,
///     currency: AnyCurrency,
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let db = Db::memory();
/// let products = db.collection::<Product>();
/// let price: AnyMoney = "9.99 USD".parse()?;
/// products.insert_one(&Product { id: 1, price: price.into(), currency: price.currency() }).await?;
///
/// let found = products.find_one(|p| p.price.lt("10 USD".parse::<AnyMoney>().unwrap())).await?.ok_or("no product")?;
/// assert_eq!(found.price.with(found.currency), price);
/// assert!(products.find_one(|p| p.price.lt("10 EUR".parse::<AnyMoney>().unwrap())).await?.is_none());
/// # Ok(())
/// # }
/// ```
pub struct Amount<S = Iso4217> {
    minor: i64,
    of: PhantomData<fn() -> S>,
}

impl<S: Currencies> Amount<S> {
    /// A count of the smallest unit of the currency in the other field.
    ///
    /// ```
    /// # use odm::money::{Amount, AnyCurrency, AnyMoney};
    /// let price: Amount = Amount::from_minor(999);
    /// assert_eq!(price.with("USD".parse()?).to_string(), "9.99 USD");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub const fn from_minor(minor: i64) -> Self {
        Self {
            minor,
            of: PhantomData,
        }
    }

    /// The count of the smallest unit, as it is stored.
    ///
    /// ```
    /// # use odm::money::{Amount, AnyCurrency, AnyMoney};
    /// let money: AnyMoney = "9.99 USD".parse()?;
    /// assert_eq!(Amount::from(money).minor(), 999);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub const fn minor(self) -> i64 {
        self.minor
    }

    /// The amount with its currency, the value of the other field.
    ///
    /// ```
    /// # use odm::money::{Amount, AnyCurrency, AnyMoney};
    /// let (price, euro): (Amount, AnyCurrency) = (Amount::from_minor(999), "EUR".parse()?);
    /// assert_eq!(price.with(euro), "9.99 EUR".parse()?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub const fn with(self, currency: AnyCurrency<S>) -> AnyMoney<S> {
        AnyMoney::from_minor(self.minor, currency)
    }
}

/// The amount without its currency, which belongs into the other field.
impl<S: Currencies> From<AnyMoney<S>> for Amount<S> {
    fn from(money: AnyMoney<S>) -> Self {
        Self::from_minor(money.amount)
    }
}

compared_by!([S] Amount<S>, |amount| amount.minor, Copy);

impl<S> fmt::Debug for Amount<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Amount({})", self.minor)
    }
}

impl<S> Serialize for Amount<S> {
    fn serialize<Z: Serializer>(&self, serializer: Z) -> Result<Z::Ok, Z::Error> {
        serializer.serialize_i64(self.minor)
    }
}

impl<'de, S> Deserialize<'de> for Amount<S> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let minor = minor(deserializer)?;
        Ok(Self {
            minor,
            of: PhantomData,
        })
    }
}

field_type!([S: Currencies] Amount<S>, TypeMeta::scalar(&[BsonType::Long]));

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::money::{Eur, Finer, Scaled, Usd};

    fn usd(minor: i64) -> AnyMoney {
        AnyMoney::from_minor(minor, AnyCurrency::of::<Usd>().unwrap())
    }

    #[test]
    fn currencies_do_not_mix() {
        let euros: AnyMoney = "1 EUR".parse().unwrap();
        let other = MoneyError::OtherCurrency {
            found: "EUR".to_owned(),
            expected: "USD".to_owned(),
        };
        assert_eq!(usd(1).try_add(euros), Err(other.clone()));
        assert_eq!(usd(1).try_sub(euros), Err(other.clone()));
        assert_eq!(usd(1).partial_cmp(&euros), None);
        assert!(usd(1) < usd(2));
        assert_eq!(Money::<Usd>::try_from(euros), Err(other));
        assert_eq!(Money::try_from(euros), Ok(Money::<Eur>::from_minor(100)));
        assert_eq!(Money::<Usd>::from_minor(5).try_into(), Ok(usd(5)));
    }

    #[test]
    fn units_do_not_mix() {
        let mills: AnyMoney<Scaled<3>> = "9.99 USD".parse().unwrap();
        assert_eq!(mills.minor(), 9_990);
        assert!(Money::<Usd>::try_from(mills).is_err());
        assert_eq!(
            Money::try_from(mills),
            Ok(Money::<Finer<Usd, 3>>::from_minor(9_990))
        );
        assert!(AnyMoney::<Scaled<3>>::try_from(Money::<Usd>::ZERO).is_err());
    }

    #[test]
    fn arithmetic_is_exact_or_fails() {
        assert_eq!(usd(i64::MAX).try_mul(2), Err(MoneyError::Overflow));
        assert_eq!(usd(i64::MIN).try_neg(), Err(MoneyError::Overflow));
        assert_eq!(usd(999).ratio(19, 100, Rounding::HalfUp), Ok(usd(190)));
        let parts: Vec<_> = usd(1_000).split(3).unwrap().collect();
        assert_eq!(parts, [usd(334), usd(333), usd(333)]);
    }

    #[test]
    fn text_needs_the_currency() {
        assert_eq!("-0.05 USD".parse(), Ok(usd(-5)));
        for text in ["9.99", "9.99 XXY", "9.999 USD", "9.99  USD", "USD 9.99"] {
            assert!(text.parse::<AnyMoney>().is_err(), "{text}");
        }
    }
}
