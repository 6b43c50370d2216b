//! [`PreciseMoney`]: an amount of any precision, beside an approximation to sort by.

use std::cmp::Ordering;
use std::fmt;
use std::marker::PhantomData;
use std::ops::{Bound, RangeBounds};
use std::str::FromStr;

use bigdecimal::{BigDecimal, Zero};
use bson::Binary;
use bson::spec::BinarySubtype;
use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{AnyCurrency, Currencies, Iso4217, MoneyError, text};
use crate::model::{Contents, FieldType, Segment};
use crate::query::deferred::Deferred;
use crate::query::{Field, Filter};
use crate::types::compared::compared_by;
use crate::types::compound::compound;

/// How far a stored approximation may be from the text, as a part of the amount.
const TOLERANCE: f64 = 1e-12;

/// The most digits of an amount, about as many as a double reaches.
const MAX_DIGITS: usize = 300;

/// An amount of any precision, stored as MongoDB's guide does:
/// `{display: "9.99", approx: 9.99, currency: "USD"}`. It needs the feature `bigdecimal_0_4`.
///
/// The text is exact, and the double next to it serves ranges and sorts by an index. Writing stores the nearest double;
/// reading accepts one that is at most a 10¹²th part of the amount away, since other programs may round differently.
///
/// Two amounts are equal if their values are: "9.990" is written as "9.99", and equality on the server compares this text. A
/// range on the server finds [candidates](PreciseMoneyFields::candidates), and the program chooses among them.
///
/// An amount has at most 300 digits, before and after the point.
///
/// `PreciseMoney<Iso4217, BinaryForm>` stores the text as [binary data](BinaryForm).
///
/// ```
/// use odm::money::PreciseMoney;
///
/// let rate: PreciseMoney = "0.0000125 USD".parse()?;
/// let cost: PreciseMoney = PreciseMoney::new(rate.value() * 1_000_000, rate.currency())?;
/// assert_eq!(cost, "12.50 USD".parse()?);
/// assert_eq!(cost.to_string(), "12.5 USD");
/// # Ok::<(), odm::money::MoneyError>(())
/// ```
pub struct PreciseMoney<S = Iso4217, F = TextForm> {
    /// Normalized: no zeros at the end.
    value: BigDecimal,
    currency: AnyCurrency<S>,
    form: PhantomData<fn() -> F>,
}

impl<S> PreciseMoney<S> {
    /// An amount in a currency.
    ///
    /// ```
    /// # use odm::money::PreciseMoney;
    /// let price: PreciseMoney = PreciseMoney::new(10, "USD".parse()?)?;
    /// assert_eq!(price, "10.00 USD".parse()?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The amount has more than 300 digits.
    pub fn new(value: impl Into<BigDecimal>, currency: AnyCurrency<S>) -> Result<Self, MoneyError> {
        Self::checked(&value.into(), currency)
    }
}

impl<S, F> PreciseMoney<S, F> {
    fn checked(value: &BigDecimal, currency: AnyCurrency<S>) -> Result<Self, MoneyError> {
        let value = value.normalized();
        let (digits, scale) = (value.digits(), value.fractional_digit_count());
        // The digits of the plain text.
        let width = digits.max(scale.unsigned_abs()) + scale.min(0).unsigned_abs();
        if usize::try_from(width).map_or(true, |width| width > MAX_DIGITS) {
            return Err(MoneyError::Overflow);
        }
        Ok(Self {
            value,
            currency,
            form: PhantomData,
        })
    }

    /// The same amount, stored in another form.
    ///
    /// ```
    /// use odm::money::{BinaryForm, Iso4217, PreciseMoney};
    ///
    /// let price: PreciseMoney = "9.99 USD".parse()?;
    /// let stored: PreciseMoney<Iso4217, BinaryForm> = price.into_form();
    /// assert_eq!(stored.display(), "9.99");
    /// # Ok::<(), odm::money::MoneyError>(())
    /// ```
    pub fn into_form<G>(self) -> PreciseMoney<S, G> {
        PreciseMoney {
            value: self.value,
            currency: self.currency,
            form: PhantomData,
        }
    }

    /// The exact value, to compute with.
    ///
    /// ```
    /// # use odm::money::PreciseMoney;
    /// let rate: PreciseMoney = "0.0000125 USD".parse()?;
    /// assert_eq!(rate.value().to_string(), "0.0000125");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn value(&self) -> &BigDecimal {
        &self.value
    }

    /// The currency.
    ///
    /// ```
    /// # use odm::money::PreciseMoney;
    /// let rate: PreciseMoney = "0.0000125 USD".parse()?;
    /// assert_eq!(rate.currency().code(), "USD");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn currency(&self) -> AnyCurrency<S> {
        self.currency
    }

    /// The exact decimal text, as it is stored: no exponent, and no zeros at the end.
    ///
    /// ```
    /// # use odm::money::PreciseMoney;
    /// let price: PreciseMoney = "9.990 USD".parse()?;
    /// assert_eq!(price.display(), "9.99");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn display(&self) -> String {
        if self.value.is_zero() {
            return "0".to_owned();
        }
        self.value.to_plain_string()
    }

    /// The nearest double.
    ///
    /// ```
    /// # use odm::money::PreciseMoney;
    /// let price: PreciseMoney = "9.99 USD".parse()?;
    /// assert_eq!(price.approx(), 9.99);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn approx(&self) -> f64 {
        // At most 300 digits, so it is finite.
        self.display().parse().unwrap_or(f64::NAN)
    }
}

// Implemented by hand, because derives would put bounds on `S`.
impl<S, F> Clone for PreciseMoney<S, F> {
    fn clone(&self) -> Self {
        Self {
            value: self.value.clone(),
            currency: self.currency,
            form: PhantomData,
        }
    }
}

compared_by!([S, F] PreciseMoney<S, F>, |money| (&money.value, money.currency));

/// Amounts in different currencies have no order.
impl<S, F> PartialOrd for PreciseMoney<S, F> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        (self.currency == other.currency).then(|| self.value.cmp(&other.value))
    }
}

impl<S, F> fmt::Debug for PreciseMoney<S, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PreciseMoney({self})")
    }
}

/// `9.99 USD`
impl<S, F> fmt::Display for PreciseMoney<S, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{} {}", self.display(), self.currency))
    }
}

/// Reads `9.99 USD`, exactly.
impl<S: Currencies, F> FromStr for PreciseMoney<S, F> {
    type Err = MoneyError;

    fn from_str(text: &str) -> Result<Self, MoneyError> {
        match text.split_once(' ') {
            Some((amount, code)) => Self::checked(&decimal(amount)?, code.parse()?),
            None => Err(MoneyError::NoCurrency(text.to_owned())),
        }
    }
}

/// How a [`PreciseMoney`] stores its exact value: [`TextForm`] or [`BinaryForm`].
pub trait DisplayForm: sealed::Sealed + 'static {
    /// The type of the field `display`.
    #[doc(hidden)]
    type Stored: FieldType + Serialize + DeserializeOwned + Clone;

    #[doc(hidden)]
    fn write(text: String) -> Self::Stored;

    #[doc(hidden)]
    fn read(stored: Self::Stored) -> Result<String, MoneyError>;
}

mod sealed {
    pub trait Sealed {}
}

/// The exact value is text: `{display: "9.99", …}`.
#[derive(Debug)]
pub enum TextForm {}

/// The exact value is binary data of the subtype 0: the ASCII characters of the text, `{display: BinData(0, "OS45OQ=="), …}`.
///
/// MongoDB's guide allows it beside text, for programs that must not take the value for words: a text index, a collation or
/// a search does not see it.
///
/// ```
/// use odm::money::{BinaryForm, Iso4217, PreciseMoney};
///
/// let price: PreciseMoney<Iso4217, BinaryForm> = "9.99 USD".parse()?;
/// let stored = odm::bson::serialize_to_document(&price)?;
/// assert_eq!(stored.get_binary_generic("display")?, b"9.99");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub enum BinaryForm {}

impl sealed::Sealed for TextForm {}
impl sealed::Sealed for BinaryForm {}

impl DisplayForm for TextForm {
    type Stored = String;

    fn write(text: String) -> String {
        text
    }

    fn read(stored: String) -> Result<String, MoneyError> {
        Ok(stored)
    }
}

impl DisplayForm for BinaryForm {
    type Stored = Binary;

    fn write(text: String) -> Binary {
        Binary {
            subtype: BinarySubtype::Generic,
            bytes: text.into_bytes(),
        }
    }

    fn read(stored: Binary) -> Result<String, MoneyError> {
        String::from_utf8(stored.bytes)
            .map_err(|error| MoneyError::NotANumber(format!("{:?}", error.as_bytes())))
    }
}

/// Reads plain decimal text.
fn decimal(text: &str) -> Result<BigDecimal, MoneyError> {
    if !text::is_decimal(text) {
        return Err(MoneyError::NotANumber(text.to_owned()));
    }
    // Zeros at the ends do not count as digits.
    if text.len() > 2 * MAX_DIGITS {
        return Err(MoneyError::Overflow);
    }
    let not_a_number = |_| MoneyError::NotANumber(text.to_owned());
    text.parse().map_err(not_a_number)
}

/// The stored form.
#[derive(Serialize, Deserialize)]
#[serde(bound(
    serialize = "F: DisplayForm",
    deserialize = "S: Currencies, F: DisplayForm"
))]
struct Stored<S, F: DisplayForm> {
    display: F::Stored,
    approx: f64,
    currency: AnyCurrency<S>,
}

impl<S, F: DisplayForm> Serialize for PreciseMoney<S, F> {
    fn serialize<Z: Serializer>(&self, serializer: Z) -> Result<Z::Ok, Z::Error> {
        let stored = Stored::<S, F> {
            display: F::write(self.display()),
            approx: self.approx(),
            currency: self.currency,
        };
        stored.serialize(serializer)
    }
}

impl<'de, S: Currencies, F: DisplayForm> Deserialize<'de> for PreciseMoney<S, F> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let stored = Stored::<S, F>::deserialize(deserializer)?;
        let display = F::read(stored.display).map_err(D::Error::custom)?;
        let value = decimal(&display).map_err(D::Error::custom)?;
        let money = Self::checked(&value, stored.currency).map_err(D::Error::custom)?;
        let exact = money.approx();
        if (stored.approx - exact).abs() <= exact.abs() * TOLERANCE {
            return Ok(money);
        }
        Err(D::Error::custom(format_args!(
            "the approximation {} does not belong to the amount \"{}\"",
            stored.approx, display
        )))
    }
}

compound! {
    /// The typed fields of a [`PreciseMoney`].
    pub struct PreciseMoneyFields of PreciseMoney<S: Currencies, F: DisplayForm> in Field<M, As> {} {
        /// The exact text.
        display: F::Stored = "display",
        /// The double next to it, to sort by.
        approx: f64 = "approx",
        /// The currency.
        currency: AnyCurrency<S> = "currency",
    }
    ordered_by: None,
    contents: Contents::DOCUMENT,
}

impl<M, S: Currencies, F: DisplayForm, As> PreciseMoneyFields<M, S, F, As> {
    /// Matches where the amount is `value`: its text and its currency.
    ///
    /// It does not find a text that another program has written with zeros at the end.
    ///
    /// ```
    /// # use odm::money::PreciseMoney;
    /// # use odm::prelude::*;
    /// # #[derive(Serialize, Deserialize, Embedded)]
    /// # struct Rate { price: PreciseMoney }
    /// let price: PreciseMoney = "9.990 USD".parse()?;
    /// let filter = odm::query::fields::<Rate>().price.eq(&price);
    /// let expected = doc! {"price.currency": "USD", "price.display": "9.99"};
    /// assert_eq!(filter.to_document()?, expected);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn eq(&self, value: &PreciseMoney<S, F>) -> Filter<M> {
        let display = F::write(value.display());
        self.one(self.currency.eq(value.currency) & self.display.eq(display))
    }

    /// Matches the amounts that can be in the range, by their approximations: all that are, and those next to its ends. The
    /// range itself chooses among them.
    ///
    /// An index of the currency and the approximation serves it.
    ///
    /// ```
    /// use odm::money::PreciseMoney;
    /// use odm::prelude::*;
    ///
    /// #[derive(Debug, Serialize, Deserialize, Document)]
    /// #[odm(collection = "rates", index(price.currency, price.approx))]
    /// struct Rate {
    ///     #[serde(rename = "_id")]
    ///     id: i32,
    ///     price: PreciseMoney,
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = Db::memory();
    /// let rates = db.collection::<Rate>();
    /// // Both have the same approximation.
    /// for (id, price) in [(1, "0.1 USD"), (2, "0.10000000000000000001 USD")] {
    ///     rates.insert_one(&Rate { id, price: price.parse()? }).await?;
    /// }
    /// let range = ..="0.1 USD".parse::<PreciseMoney>()?;
    /// let mut found = rates.find(|r| r.price.candidates(range.clone())).all().await?;
    /// found.retain(|rate| range.contains(&rate.price));
    /// assert_eq!(found.len(), 1);
    /// # Ok(())
    /// # }
    /// ```
    pub fn candidates(&self, range: impl RangeBounds<PreciseMoney<S, F>>) -> Filter<M> {
        let ends = [range.start_bound(), range.end_bound()];
        let [start, end] = ends.map(|bound| match bound {
            Bound::Included(money) | Bound::Excluded(money) => Some(money),
            Bound::Unbounded => None,
        });
        let Some(currency) = start.or(end).map(PreciseMoney::currency) else {
            return self.refused(
                "a range without a start and an end has no currency: compare the currency instead",
            );
        };
        if start
            .zip(end)
            .is_some_and(|(one, other)| one.currency != other.currency)
        {
            return self.refused("the ends of the range are in two currencies");
        }
        let mut filter = self.currency.eq(currency);
        // Twice the tolerance: the ends are rounded, too.
        if let Some(start) = start {
            let approx = start.approx();
            filter &= self.approx.gte(approx - approx.abs() * 2.0 * TOLERANCE);
        }
        if let Some(end) = end {
            let approx = end.approx();
            filter &= self.approx.lte(approx + approx.abs() * 2.0 * TOLERANCE);
        }
        self.one(filter)
    }

    /// The filter, unless it could mix the parts of several amounts.
    fn one(&self, filter: Filter<M>) -> Filter<M> {
        if self.path().segments().any(|it| it == Segment::Any) {
            return self.refused(super::handle::OF_SEVERAL);
        }
        filter
    }

    fn refused(&self, message: &'static str) -> Filter<M> {
        Filter::from_node(Err(Deferred::usage(self.path().to_string(), message)))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::query::fields;

    fn money(text: &str) -> PreciseMoney {
        format!("{text} USD").parse().unwrap()
    }

    #[test]
    fn text_is_normalized() {
        for (text, display, approx) in [
            ("9.99", "9.99", 9.99),
            ("9.990", "9.99", 9.99),
            ("-0.0", "0", 0.0),
            ("1200", "1200", 1200.0),
            ("0012.10", "12.1", 12.1),
            ("0.00000000000000000001", "0.00000000000000000001", 1e-20),
        ] {
            let money = money(text);
            assert_eq!(money.display(), display);
            assert_eq!(money.approx().to_bits(), f64::to_bits(approx), "{text}");
        }
        assert_eq!(money("9.99"), money("9.990"));
        for text in ["1e5", ".5", "5.", "+1", "NaN", "", "1_000"] {
            assert!(
                format!("{text} USD").parse::<PreciseMoney>().is_err(),
                "{text}"
            );
        }
        let long = format!("0.{}1 USD", "0".repeat(400));
        assert_eq!(long.parse::<PreciseMoney>(), Err(MoneyError::Overflow));
        let huge = BigDecimal::new(1.into(), -2_000_000_000);
        let currency = money("1").currency();
        assert_eq!(PreciseMoney::new(huge, currency), Err(MoneyError::Overflow));
    }

    #[test]
    fn approximations_are_read_within_the_tolerance() {
        let read = |display: &str, approx: f64| {
            let stored = bson::doc! {"display": display, "approx": approx, "currency": "USD"};
            bson::deserialize_from_document::<PreciseMoney>(stored)
        };
        assert_eq!(
            read("0.25", 0.249_999_999_999_999_9).unwrap(),
            money("0.25")
        );
        assert_eq!(read("9.990", 9.99).unwrap(), money("9.99"));
        let wrong = read("9.99", 9.98).unwrap_err().to_string();
        assert!(
            wrong.contains("9.98 does not belong to the amount \"9.99\""),
            "{wrong}"
        );
        assert!(read("9.99", f64::NAN).is_err());
        assert!(read("9.99", f64::INFINITY).is_err());
    }

    #[test]
    fn binary_text_is_read_exactly_or_refused() {
        use bson::spec::BinarySubtype;

        type Binary = PreciseMoney<Iso4217, BinaryForm>;
        let read = |bytes: &[u8]| {
            let display = bson::Binary {
                subtype: BinarySubtype::Generic,
                bytes: bytes.to_vec(),
            };
            let stored = bson::doc! {"display": display, "approx": 9.99, "currency": "USD"};
            bson::deserialize_from_document::<Binary>(stored)
        };
        assert_eq!(read(b"9.99").unwrap(), "9.99 USD".parse().unwrap());
        assert!(read(b"9.98").is_err());
        let error = read(&[0xFF, b'9']).unwrap_err().to_string();
        assert!(error.contains("[255, 57]"), "{error}");
    }

    #[derive(Serialize, Deserialize, odm_derive::Embedded)]
    struct Sale {
        price: PreciseMoney,
        #[odm(embed(few, max = 10))]
        prices: Vec<PreciseMoney>,
    }

    #[test]
    fn filters_that_mean_something_else_are_refused() {
        let sale = fields::<Sale>();
        let one = money("1");
        let euros: PreciseMoney = "1 EUR".parse().unwrap();
        assert!(
            sale.price
                .candidates(one.clone()..euros)
                .to_document()
                .is_err()
        );
        assert!(sale.price.candidates(..).to_document().is_err());
        assert!(sale.prices.any().eq(&one).to_document().is_err());
        assert!(
            sale.prices
                .elem_match(|price| price.eq(&one))
                .to_document()
                .is_ok()
        );
    }

    proptest! {
        /// Amounts that share an approximation are all candidates, and the range chooses exactly.
        #[test]
        fn candidates_include_all_of_a_range(
            whole in -1_000_i64..1_000, steps in prop::collection::vec(-50_i64..50, 1..20), end in -50_i64..50,
        ) {
            // Steps of 10^-17 around a value have few approximations.
            let value = |step: i64| {
                BigDecimal::from(whole) / BigDecimal::from(10) + BigDecimal::new(step.into(), 17)
            };
            let currency = money("1").currency();
            let end = PreciseMoney::new(value(end), currency).unwrap();
            for step in steps {
                let money = PreciseMoney::new(value(step), currency).unwrap();
                let approx = money.approx();
                let (low, high) = (end.approx() - end.approx().abs() * 2.0 * TOLERANCE, end.approx() + end.approx().abs() * 2.0 * TOLERANCE);
                if money >= end {
                    prop_assert!(approx >= low);
                }
                if money <= end {
                    prop_assert!(approx <= high);
                }
            }
        }

        #[test]
        fn the_stored_form_is_read_back(digits in "[1-9][0-9]{0,80}", scale in 0_i64..80, negative: bool) {
            let digits: BigDecimal = digits.parse().unwrap();
            let value = digits * BigDecimal::new(1.into(), scale);
            let value = if negative { -value } else { value };
            let money = PreciseMoney::<Iso4217>::new(value, "USD".parse().unwrap()).unwrap();
            let stored = bson::serialize_to_document(&money).unwrap();
            prop_assert_eq!(bson::deserialize_from_document::<PreciseMoney>(stored).unwrap(), money);
        }
    }
}
