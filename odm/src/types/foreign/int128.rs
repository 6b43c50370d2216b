//! Integers of 128 bits, which BSON does not have, for `#[serde(with = "odm::int128")]`: `u128` and `i128`.
//!
//! | module | stored as | values |
//! | --- | --- | --- |
//! | `odm::int128` | a `Decimal128`, which is a number: it has `inc`, `mul`, `range(…)` | those of at most 34 digits |
//! | `odm::int128::text` | text of one length that sorts as the numbers do | all |
//!
//! A value of more than 34 digits is refused in the first, by an error that names the field. So is a stored decimal that is no
//! integer or has more digits, when it is read: MongoDB rounds the result of an `$inc` to 34 digits.
//!
//! ```
//! use odm::prelude::*;
//!
//! #[derive(Debug, Serialize, Deserialize, Document)]
//! #[odm(collection = "accounts", index(wei))]
//! struct Account {
//!     #[serde(rename = "_id")]
//!     id: i32,
//!     #[serde(with = "odm::int128")]
//!     wei: u128,
//!     #[serde(with = "odm::int128::text")]
//!     hash: u128,
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let db = Db::memory();
//! let accounts = db.collection::<Account>();
//! let ether = 1_000_000_000_000_000_000_u128;
//! accounts.insert_one(&Account { id: 1, wei: 25 * ether, hash: u128::MAX }).await?;
//! accounts.update_one(|a| a.wei.gte(ether), |a| a.wei.inc(100 * ether)).await?;
//! assert_eq!(accounts.get(&1).await?.ok_or("no account")?.wei, 125 * ether);
//!
//! let error = odm::query::fields::<Account>().wei.eq(u128::MAX).to_document().unwrap_err();
//! assert_eq!(error.path(), Some("wei"));
//! # Ok(())
//! # }
//! ```

use bson::{Decimal128, doc};

use super::bare::bare;
use super::decimal::{MAX_COEFFICIENT, Parts};
use super::stored_as::{ConversionError, StoredAs};
use crate::model::Rule;

/// Integers of at most 34 digits; NaN and infinities are out of every range.
const INTEGER: Rule = Rule::Schema(|| {
    let most = Parts {
        negative: false,
        coefficient: MAX_COEFFICIENT,
        exponent: 0,
    };
    let least = Parts {
        negative: true,
        ..most
    };
    doc! {"minimum": least.to_decimal(), "maximum": most.to_decimal(), "multipleOf": 1}
});

/// How this module stores an integer.
#[doc(hidden)]
#[derive(Debug)]
pub enum AsDecimal {}

serializer!(AsDecimal);

/// Text that sorts as the numbers do: 39 digits with zeros in front. A negative number is `-` and, so that it sorts, the 39 digits
/// that are left to 10^39: -1 is `-999…9`.
pub mod text {
    /// How this module stores an integer.
    #[doc(hidden)]
    #[derive(Debug)]
    pub enum AsText {}

    serializer!(AsText);
}

bare! {
    [] u128: Decimal, "u128", "a number that BSON does not have", "a decimal", "odm::int128";
    [] i128: Decimal, "i128", "a number that BSON does not have", "a decimal", "odm::int128";
}

fn to_decimal(negative: bool, coefficient: u128) -> Result<Decimal128, ConversionError> {
    let parts = Parts {
        negative,
        coefficient,
        exponent: 0,
    };
    parts.to_decimal().ok_or_else(|| {
        ConversionError::new(
            "the number has more than 34 digits: for all of 128 bits, store text (`#[serde(with = \"odm::int128::text\")]`)",
        )
    })
}

/// The sign and the digits of an integer.
fn from_decimal(decimal: Decimal128) -> Result<(bool, u128), ConversionError> {
    let integer = Parts::of(decimal).and_then(|parts| {
        let exact = parts.reduced().coefficient <= MAX_COEFFICIENT;
        let integer = parts.to_integer()?;
        (exact && integer <= MAX_COEFFICIENT).then_some((parts.negative, integer))
    });
    integer.ok_or_else(|| not_a_number(&decimal.to_string()))
}

fn not_a_number(stored: &str) -> ConversionError {
    ConversionError::new(format!("{stored} is not an integer that the type holds"))
}

impl StoredAs<u128> for AsDecimal {
    type Stored = Decimal128;
    const RULES: &'static [Rule] = &[INTEGER, Rule::at_least(0)];

    fn to_stored(value: &u128) -> Result<Decimal128, ConversionError> {
        to_decimal(false, *value)
    }

    fn from_stored(decimal: Decimal128) -> Result<u128, ConversionError> {
        match from_decimal(decimal)? {
            (true, 1..) => Err(not_a_number(&decimal.to_string())),
            (_, integer) => Ok(integer),
        }
    }
}

impl StoredAs<i128> for AsDecimal {
    type Stored = Decimal128;
    const RULES: &'static [Rule] = &[INTEGER];

    fn to_stored(value: &i128) -> Result<Decimal128, ConversionError> {
        to_decimal(value.is_negative(), value.unsigned_abs())
    }

    fn from_stored(decimal: Decimal128) -> Result<i128, ConversionError> {
        let (negative, integer) = from_decimal(decimal)?;
        // 34 digits are less than 127 bits.
        let integer = i128::try_from(integer).unwrap_or_default();
        Ok(if negative { -integer } else { integer })
    }
}

impl StoredAs<u128> for text::AsText {
    type Stored = String;

    fn to_stored(value: &u128) -> Result<String, ConversionError> {
        Ok(format!("{value:039}"))
    }

    fn from_stored(text: String) -> Result<u128, ConversionError> {
        let integer = digits(&text).and_then(|digits| digits.parse().ok());
        integer.ok_or_else(|| not_a_number(&text))
    }
}

impl StoredAs<i128> for text::AsText {
    type Stored = String;

    fn to_stored(value: &i128) -> Result<String, ConversionError> {
        if *value >= 0 {
            return Ok(format!("{value:039}"));
        }
        let nines = complement(&format!("{:039}", value.unsigned_abs() - 1));
        Ok(format!("-{nines}"))
    }

    fn from_stored(text: String) -> Result<i128, ConversionError> {
        let integer = match text.strip_prefix('-') {
            Some(nines) => digits(nines)
                .and_then(|nines| complement(nines).parse::<u128>().ok())
                .and_then(|below| i128::try_from(below).ok())
                .map(|below| -1 - below),
            None => digits(&text).and_then(|digits| digits.parse().ok()),
        };
        integer.ok_or_else(|| not_a_number(&text))
    }
}

fn digits(text: &str) -> Option<&str> {
    let all = text.len() == 39 && text.bytes().all(|byte| byte.is_ascii_digit());
    all.then_some(text)
}

/// Each digit subtracted from 9.
fn complement(digits: &str) -> String {
    let digits = digits
        .bytes()
        .map(|digit| char::from(b'0' + (b'9' - digit)));
    digits.collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::decimal::MAX_COEFFICIENT;
    use super::text::AsText;
    use super::*;

    proptest! {
        #[test]
        fn text_is_read_back_and_sorts(a: i128, b: i128) {
            let (x, y) = (AsText::to_stored(&a).unwrap(), AsText::to_stored(&b).unwrap());
            prop_assert_eq!(x.cmp(&y), a.cmp(&b));
            prop_assert_eq!(AsText::from_stored(x), Ok(a));
            let (c, d) = (a.unsigned_abs(), b.unsigned_abs());
            let (x, y) = (AsText::to_stored(&c).unwrap(), AsText::to_stored(&d).unwrap());
            prop_assert_eq!(x.cmp(&y), c.cmp(&d));
            prop_assert_eq!(AsText::from_stored(x), Ok(c));
        }

        #[test]
        fn decimals_are_read_back(digits in 0..=MAX_COEFFICIENT, negative: bool) {
            let stored = AsDecimal::to_stored(&digits).unwrap();
            prop_assert_eq!(digits.to_string().parse::<Decimal128>().unwrap(), stored);
            prop_assert_eq!(AsDecimal::from_stored(stored), Ok(digits));
            let signed = i128::try_from(digits).unwrap();
            let signed = if negative { -signed } else { signed };
            let stored = AsDecimal::to_stored(&signed).unwrap();
            prop_assert_eq!(AsDecimal::from_stored(stored), Ok(signed));
        }

        #[test]
        fn no_text_panics(text in "-?[0-9x]{0,41}") {
            let _: Result<i128, _> = AsText::from_stored(text.clone());
            let _: Result<u128, _> = AsText::from_stored(text);
        }
    }

    #[test]
    fn the_ends_of_the_ranges() {
        for value in [i128::MIN, -1, 0, 1, i128::MAX] {
            let text = AsText::to_stored(&value).unwrap();
            assert_eq!(AsText::from_stored(text), Ok(value));
        }
        assert_eq!(
            AsText::to_stored(&-1_i128).unwrap(),
            format!("-{}", "9".repeat(39))
        );
        assert!(AsDecimal::to_stored(&MAX_COEFFICIENT).is_ok());
        assert!(AsDecimal::to_stored(&(MAX_COEFFICIENT + 1)).is_err());
        assert!(AsDecimal::to_stored(&i128::MIN).is_err());
        let read =
            |text: &str| -> Result<u128, _> { AsDecimal::from_stored(text.parse().unwrap()) };
        assert_eq!(read("1.20E+3"), Ok(1_200));
        assert_eq!(read("-0"), Ok(0));
        for bad in ["-1", "1.5", "NaN", "Infinity", "1E+34", "1E+6000"] {
            assert!(read(bad).is_err(), "{bad}");
        }
    }
}
