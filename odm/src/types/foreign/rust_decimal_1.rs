//! `Decimal` of [`rust_decimal`] 1 as `Decimal128`, for `#[serde(with = "odm::rust_decimal_1")]`.
//!
//! Each `Decimal` has a `Decimal128` of the same digits: `1.50` is stored as `1.50`, and equals `1.5` in both. Results of `$mul` and
//! of aggregations may have up to 34 digits. Reading one that `Decimal` can't hold is an error, as is reading a NaN or an
//! infinity; no digit is dropped. In the database, `$inc` and `$mul` round at 34 digits.
//!
//! ```
//! use odm::prelude::*;
//! use rust_decimal::Decimal;
//!
//! #[derive(Debug, Serialize, Deserialize, Document)]
//! #[odm(collection = "goods", index(price))]
//! struct Good {
//!     #[serde(rename = "_id")]
//!     id: i32,
//!     #[serde(with = "odm::rust_decimal_1")]
//!     #[odm(range(min = 0))]
//!     price: Decimal,
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let db = Db::memory();
//! let goods = db.collection::<Good>();
//! goods.insert_one(&Good { id: 1, price: Decimal::new(9_99, 2) }).await?;
//! goods.update_one(|g| g.price.lt(Decimal::TEN), |g| g.price.inc(Decimal::new(5, 3))).await?;
//! goods.update_one(|g| g.id.eq(1), |g| g.price.mul(Decimal::TWO)).await?;
//! assert_eq!(goods.get(&1).await?.ok_or("no good")?.price, Decimal::new(19_990, 3));
//! # Ok(())
//! # }
//! ```

use bson::{Bson, Decimal128, doc};
use rust_decimal::Decimal;

use super::bare::bare;
use super::decimal::Parts;
use super::stored_as::{ConversionError, StoredAs};
use crate::model::Rule;

/// How this module stores a decimal.
#[doc(hidden)]
#[derive(Debug)]
pub enum AsDecimal {}

serializer!(AsDecimal);

bare! {
    [] Decimal: Decimal, "rust_decimal::Decimal", "text", "a decimal", "odm::rust_decimal_1";
}

/// The largest coefficient has 96 bits.
const MAX_COEFFICIENT: u128 = (1 << 96) - 1;

impl StoredAs<Decimal> for AsDecimal {
    type Stored = Decimal128;
    const RULES: &'static [Rule] = &[Rule::Schema(|| doc! {"anyOf": scales()})];

    fn to_stored(value: &Decimal) -> Result<Decimal128, ConversionError> {
        let mantissa = value.mantissa();
        let parts = Parts {
            negative: mantissa.is_negative(),
            coefficient: mantissa.unsigned_abs(),
            // At most 28.
            exponent: -i32::try_from(value.scale()).unwrap_or_default(),
        };
        parts
            .to_decimal()
            .ok_or_else(|| ConversionError::new(format!("{value} is out of the range of decimals")))
    }

    fn from_stored(stored: Decimal128) -> Result<Decimal, ConversionError> {
        Parts::of(stored).and_then(fitted).ok_or_else(|| {
            ConversionError::new(format!("a `rust_decimal::Decimal` can't hold {stored}"))
        })
    }
}

/// The numbers that a `Decimal` holds: for each count of digits after the point, those whose digits have 96 bits.
fn scales() -> Vec<Bson> {
    let scales = (0..=28).filter_map(|scale| {
        let parts = |negative, coefficient| {
            let exponent = -scale;
            Parts {
                negative,
                coefficient,
                exponent,
            }
            .to_decimal()
        };
        let (least, most) = (
            parts(true, MAX_COEFFICIENT)?,
            parts(false, MAX_COEFFICIENT)?,
        );
        let unit = parts(false, 1)?;
        Some(doc! {"minimum": least, "maximum": most, "multipleOf": unit}.into())
    });
    scales.collect()
}

/// The same number, with the digits after the point that it has, as far as there is room for them.
fn fitted(parts: Parts) -> Option<Decimal> {
    let Parts {
        negative,
        mut coefficient,
        mut exponent,
    } = parts;
    if coefficient == 0 {
        exponent = exponent.clamp(-28, 0);
    }
    while (exponent < -28 || coefficient > MAX_COEFFICIENT) && coefficient.is_multiple_of(10) {
        coefficient /= 10;
        exponent += 1;
    }
    while exponent > 0 && coefficient <= MAX_COEFFICIENT {
        coefficient *= 10;
        exponent -= 1;
    }
    if coefficient > MAX_COEFFICIENT || exponent > 0 {
        return None;
    }
    let mantissa = i128::try_from(coefficient).ok()?;
    let scale = u32::try_from(-exponent).ok()?;
    Decimal::try_from_i128_with_scale(if negative { -mantissa } else { mantissa }, scale).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn decimals_are_read_back(mantissa in 0..=MAX_COEFFICIENT, negative: bool, scale in 0..=28_u32) {
            let mantissa = i128::try_from(mantissa).unwrap();
            let decimal = Decimal::from_i128_with_scale(if negative { -mantissa } else { mantissa }, scale);
            let stored = AsDecimal::to_stored(&decimal).unwrap();
            prop_assert_eq!(stored.to_string().parse::<Decimal128>().unwrap(), stored);
            let read: Decimal = AsDecimal::from_stored(stored).unwrap();
            prop_assert_eq!((read.mantissa(), read.scale()), (decimal.mantissa(), decimal.scale()));
        }

        #[test]
        fn what_is_read_is_equal(coefficient in 0..10_u128.pow(34), exponent in -60..60_i32, negative: bool) {
            let parts = Parts { negative, coefficient, exponent };
            let read: Result<Decimal, _> = AsDecimal::from_stored(parts.to_decimal().unwrap());
            if let Ok(read) = read {
                let stored = AsDecimal::to_stored(&read).unwrap();
                let again = Parts::of(stored).unwrap().reduced();
                let reduced = parts.reduced();
                prop_assert_eq!((again.coefficient, again.exponent), (reduced.coefficient, reduced.exponent));
            }
        }

        #[test]
        fn no_bits_panic(bits: u128) {
            let _: Result<Decimal, _> =
                AsDecimal::from_stored(Decimal128::from_bytes(bits.to_le_bytes()));
        }
    }

    #[test]
    fn the_ends_of_the_ranges() {
        for value in [
            Decimal::MIN,
            Decimal::MAX,
            Decimal::ZERO,
            Decimal::from_i128_with_scale(1, 28),
        ] {
            let stored = AsDecimal::to_stored(&value).unwrap();
            assert_eq!(AsDecimal::from_stored(stored), Ok(value));
        }
        let read = |text: &str| AsDecimal::from_stored(text.parse().unwrap());
        assert_eq!(read("1E+3"), Ok(Decimal::ONE_THOUSAND));
        assert_eq!(
            read("1.500000000000000000000000000000000"),
            Ok(Decimal::new(15, 1))
        );
        assert_eq!(read("0E-6000"), Ok(Decimal::ZERO));
        assert_eq!(read("-0"), Ok(Decimal::ZERO));
        for bad in [
            "NaN",
            "Infinity",
            "1E+29",
            "1E-29",
            "79228162514264337593543950336",
            "1E-6000",
        ] {
            assert!(read(bad).is_err(), "{bad}");
        }
    }
}
