//! Currencies as values: the code of one, and the sets that a field takes.

use std::fmt;
use std::marker::PhantomData;
use std::str::FromStr;

use bson::{Document, doc};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{Currency, MoneyError, codes};
use crate::model::{BsonType, Rule, TypeMeta};
use crate::query::scalars::field_type;
use crate::query::text::escape;
use crate::types::compared::compared_by;

/// A set of currencies, and the unit in which each is counted: [`Iso4217`], a [finer](Scaled) one, or your own.
///
/// ```
/// use odm::money::{AnyMoney, Currencies, Iso4217};
///
/// /// Those of ISO 4217, and the points of a loyalty programme.
/// enum WithPoints {}
///
/// impl Currencies for WithPoints {
///     fn digits(code: &str) -> Option<u32> {
///         match code {
///             "PTS" => Some(0),
///             code => Iso4217::digits(code),
///         }
///     }
/// }
///
/// let points: AnyMoney<WithPoints> = "120 PTS".parse()?;
/// assert_eq!(points.minor(), 120);
/// # Ok::<(), odm::money::MoneyError>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a set of currencies",
    label = "expected `Iso4217`, `Scaled<3>` or a set of your own",
    note = "an amount in one currency that the program knows is a `Money<Usd>`"
)]
pub trait Currencies: 'static {
    /// How many digits after the decimal point the smallest unit of a currency has, at most 18; `None` if the set lacks it.
    fn digits(code: &str) -> Option<u32>;

    /// All codes, for the validator; without them, it allows any text that can be a code.
    ///
    /// ```
    /// # use odm::money::{Currencies, Iso4217, Scaled};
    /// assert!(Iso4217::codes().is_some_and(|codes| codes.contains(&"KWD")));
    /// // An amount in cents has no units for the dinar's thousandths.
    /// assert!(Scaled::<2>::codes().is_some_and(|codes| !codes.contains(&"KWD")));
    /// ```
    fn codes() -> Option<Vec<&'static str>> {
        None
    }
}

/// The currencies of ISO 4217, each counted in its own smallest unit.
#[derive(Debug)]
pub enum Iso4217 {}

impl Currencies for Iso4217 {
    fn digits(code: &str) -> Option<u32> {
        let found = codes::ALL.binary_search_by_key(&code, |(code, _)| code);
        let (_, digits) = found.ok().and_then(|index| codes::ALL.get(index))?;
        Some(*digits)
    }

    fn codes() -> Option<Vec<&'static str>> {
        Some(codes::ALL.iter().map(|(code, _)| *code).collect())
    }
}

/// The currencies of a set, all counted in the same unit: `Scaled<3>` is thousandths, as MongoDB's guide stores 9990 for 9.99.
/// Currencies with more digits of their own are not in it.
#[derive(Debug)]
pub struct Scaled<const DIGITS: u32, S = Iso4217> {
    of: PhantomData<S>,
}

impl<const DIGITS: u32, S: Currencies> Currencies for Scaled<DIGITS, S> {
    fn digits(code: &str) -> Option<u32> {
        const {
            assert!(
                DIGITS <= 18,
                "an amount has at most 18 digits after the decimal point"
            );
        }
        S::digits(code).filter(|own| *own <= DIGITS).map(|_| DIGITS)
    }

    fn codes() -> Option<Vec<&'static str>> {
        let mut codes = S::codes()?;
        codes.retain(|code| Self::digits(code).is_some());
        Some(codes)
    }
}

/// The most bytes of a code.
const MAX_CODE: usize = 12;

/// A currency as a value, one of the set `S`, stored as its code: `"USD"`.
///
/// ```
/// use odm::money::{AnyCurrency, Eur};
///
/// let euro: AnyCurrency = "EUR".parse()?;
/// assert_eq!(euro, AnyCurrency::of::<Eur>()?);
/// assert_eq!((euro.code(), euro.digits()), ("EUR", 2));
/// assert!("EURO".parse::<AnyCurrency>().is_err());
/// # Ok::<(), odm::money::MoneyError>(())
/// ```
pub struct AnyCurrency<S = Iso4217> {
    /// Padded with zeros.
    code: [u8; MAX_CODE],
    of: PhantomData<fn() -> S>,
}

impl<S: Currencies> AnyCurrency<S> {
    /// The currency of a type.
    ///
    /// ```
    /// # use odm::money::{AnyCurrency, Eur};
    /// let euro: AnyCurrency = AnyCurrency::of::<Eur>()?;
    /// assert_eq!(euro, "EUR".parse()?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The set lacks it, or counts it in another unit.
    pub fn of<C: Currency>() -> Result<Self, MoneyError> {
        let currency: Self = C::CODE.parse()?;
        if currency.digits() == C::DIGITS {
            Ok(currency)
        } else {
            Err(MoneyError::UnknownCurrency(C::CODE.to_owned()))
        }
    }

    /// How many digits after the decimal point the smallest unit has.
    ///
    /// ```
    /// # use odm::money::AnyCurrency;
    /// let (euro, yen): (AnyCurrency, AnyCurrency) = ("EUR".parse()?, "JPY".parse()?);
    /// assert_eq!((euro.digits(), yen.digits()), (2, 0));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn digits(self) -> u32 {
        S::digits(self.code()).unwrap_or_default()
    }
}

impl<S> AnyCurrency<S> {
    /// `USD`
    ///
    /// ```
    /// # use odm::money::AnyCurrency;
    /// let euro: AnyCurrency = "EUR".parse()?;
    /// assert_eq!(euro.code(), "EUR");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn code(&self) -> &str {
        let bytes = self.code.split(|byte| *byte == 0).next();
        str::from_utf8(bytes.unwrap_or_default()).unwrap_or_default()
    }
}

impl<S: Currencies> FromStr for AnyCurrency<S> {
    type Err = MoneyError;

    fn from_str(text: &str) -> Result<Self, MoneyError> {
        let unknown = || MoneyError::UnknownCurrency(text.to_owned());
        let is_code = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic());
        if !is_code || S::digits(text).is_none_or(|digits| digits > 18) {
            return Err(unknown());
        }
        let mut code = [0; MAX_CODE];
        let start = code.get_mut(..text.len()).ok_or_else(unknown)?;
        start.copy_from_slice(text.as_bytes());
        Ok(Self {
            code,
            of: PhantomData,
        })
    }
}

compared_by!([S] AnyCurrency<S>, |currency| currency.code, Copy);

impl<S> fmt::Debug for AnyCurrency<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "AnyCurrency({})", self.code())
    }
}

impl<S> fmt::Display for AnyCurrency<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.code())
    }
}

impl<S> Serialize for AnyCurrency<S> {
    fn serialize<Z: Serializer>(&self, serializer: Z) -> Result<Z::Ok, Z::Error> {
        serializer.serialize_str(self.code())
    }
}

impl<'de, S: Currencies> Deserialize<'de> for AnyCurrency<S> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let code = String::deserialize(deserializer)?;
        code.parse().map_err(D::Error::custom)
    }
}

field_type!(
    [S: Currencies] AnyCurrency<S>,
    // A code has up to `MAX_CODE` bytes of text, behind its length and before a NUL.
    TypeMeta::scalar(&[BsonType::String])
        .with_rules(&[Rule::Schema(codes::<S>), Rule::Bytes { max: MAX_CODE as u64 + 5 }])
);

/// The codes of a set, as keywords of a schema.
fn codes<S: Currencies>() -> Document {
    // An enumeration would refuse null, which the type is in an `Option`.
    let codes = S::codes().map_or_else(
        || format!("[!-~]{{1,{MAX_CODE}}}"),
        |codes| {
            let codes: Vec<_> = codes.into_iter().map(escape).collect();
            codes.join("|")
        },
    );
    doc! {"pattern": format!("^(?:{codes})\\z")}
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::money::{Finer, Jpy, Kwd, Usd};

    #[test]
    fn all_codes_are_found() {
        for (code, digits) in codes::ALL {
            assert_eq!(Iso4217::digits(code), Some(*digits), "{code}");
            let currency: AnyCurrency = code.parse().unwrap();
            assert_eq!((currency.code(), currency.digits()), (*code, *digits));
        }
        for code in ["", "usd", "US", "USDX", "a code that is too long", "U\0D"] {
            assert!(code.parse::<AnyCurrency>().is_err(), "{code}");
        }
    }

    #[test]
    fn sets_count_in_their_own_units() {
        assert_eq!(Scaled::<3>::digits("USD"), Some(3));
        assert_eq!(Scaled::<2>::digits("KWD"), None);
        assert!(AnyCurrency::<Scaled<3>>::of::<Usd>().is_err());
        assert!(AnyCurrency::<Scaled<3>>::of::<Kwd>().is_ok());
        assert!(AnyCurrency::<Scaled<3>>::of::<Finer<Jpy, 3>>().is_ok());
    }
}
