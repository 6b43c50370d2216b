//! How amounts are written as JSON, for web services: modules for `#[serde(with = "…")]`.
//!
//! An amount that is sent as JSON is an integer of the smallest unit, as it is stored, and [`AnyMoney`] is
//! `{"amount": 999, "currency": "USD"}`. With one of these modules it is decimal text, and is read from such text, exactly.
//! What MongoDB stores stays the same, with the same methods of the field.
//!
//! | module | JSON | types |
//! | --- | --- | --- |
//! | [`amount`] | `"9.99"` | `Money` |
//! | [`text`] | `"9.99 USD"` | `Money`, `AnyMoney`, `PreciseMoney` |
//! | [`parts`] | `{"amount": "9.99", "currency": "USD"}` | `Money`, `AnyMoney`, `PreciseMoney` |
//!
//! Each also takes an `Option`, a `Box`, a list or a map of these types. The modules follow serde's
//! [`is_human_readable`](Serializer::is_human_readable), so other text formats are written like JSON, and so is what
//! `bson::serialize_to_document` makes; `bson::serialize_to_raw_document_buf` has the stored form. An
//! [`Amount`](super::Amount), whose currency is another field, does not know its unit and has no text.
//!
//! ```
//! use odm::money::{AnyMoney, Money, Usd};
//! use odm::prelude::*;
//! use odm::query::raw;
//!
//! #[derive(Debug, PartialEq, Serialize, Deserialize, Document)]
//! #[odm(collection = "offers", index(price))]
//! struct Offer {
//!     #[serde(rename = "_id")]
//!     id: i32,
//!     #[serde(with = "odm::money::json::amount")]
//!     price: Money<Usd>,
//!     #[serde(default, with = "odm::money::json::parts")]
//!     discount: Option<AnyMoney>,
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let offer = Offer { id: 1, price: "9.99".parse()?, discount: Some("0.50 USD".parse()?) };
//! let json = r#"{"_id":1,"price":"9.99","discount":{"amount":"0.50","currency":"USD"}}"#;
//! assert_eq!(serde_json::to_string(&offer)?, json);
//! assert_eq!(serde_json::from_str::<Offer>(json)?, offer);
//!
//! let stored = doc! {"_id": 1, "price": 999_i64, "discount": {"amount": 50_i64, "currency": "USD"}};
//! let raw = odm::bson::serialize_to_raw_document_buf(&offer)?;
//! assert_eq!(odm::bson::Document::try_from(raw)?, stored);
//! # Ok(())
//! # }
//! ```

use std::collections::BTreeMap;
use std::fmt::Display;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{AnyMoney, Currencies, Currency, Money, MoneyError};
#[cfg(feature = "bigdecimal_0_4")]
use super::{DisplayForm, PreciseMoney};
use crate::types::foreign::{AsItself, ConversionError, StoredAs};

/// `"9.99"`
#[doc(hidden)]
#[derive(Debug)]
pub enum JsonAmount {}

/// `"9.99 USD"`
#[doc(hidden)]
#[derive(Debug)]
pub enum JsonText {}

/// `{"amount": "9.99", "currency": "USD"}`
#[doc(hidden)]
#[derive(Debug)]
pub enum JsonParts {}

macro_rules! form {
    ($form:ty) => {
        /// What the derives read of this module.
        #[doc(hidden)]
        pub type OdmStored = super::AsItself;

        /// Writes an amount; for `#[serde(with = "…")]`.
        ///
        /// # Errors
        ///
        /// Those of the serializer.
        pub fn serialize<T, S>(value: &T, serializer: S) -> Result<S::Ok, S::Error>
        where
            T: super::Serialize,
            S: super::Serializer,
            $form: super::StoredAs<T>,
        {
            if serializer.is_human_readable() {
                crate::types::foreign::serialize::<$form, T, S>(value, serializer)
            } else {
                value.serialize(serializer)
            }
        }

        /// Reads an amount; for `#[serde(with = "…")]`.
        ///
        /// # Errors
        ///
        /// The input is not an amount of this type.
        pub fn deserialize<'de, T, D>(deserializer: D) -> Result<T, D::Error>
        where
            T: super::Deserialize<'de>,
            D: super::Deserializer<'de>,
            $form: super::StoredAs<T>,
        {
            if deserializer.is_human_readable() {
                crate::types::foreign::deserialize::<$form, T, D>(deserializer)
            } else {
                T::deserialize(deserializer)
            }
        }
    };
}

/// An amount as decimal text without its currency: `"9.99"`. It reads `"9.99 USD"`, too.
pub mod amount {
    form!(super::JsonAmount);
}

/// An amount as decimal text with its currency: `"9.99 USD"`.
pub mod text {
    form!(super::JsonText);
}

/// An amount as an object of decimal text and a currency: `{"amount": "9.99", "currency": "USD"}`.
pub mod parts {
    form!(super::JsonParts);
}

impl<C: Currency> StoredAs<Money<C>> for JsonAmount {
    type Stored = String;

    fn to_stored(value: &Money<C>) -> Result<String, ConversionError> {
        Ok(value.amount())
    }

    fn from_stored(text: String) -> Result<Money<C>, ConversionError> {
        read(&text)
    }
}

macro_rules! with_currency {
    ($([$($generics:tt)*] $money:ty, $amount:ident, $currency:expr;)*) => {$(
        impl<$($generics)*> StoredAs<$money> for JsonText {
            type Stored = String;

            fn to_stored(value: &$money) -> Result<String, ConversionError> {
                Ok(value.to_string())
            }

            fn from_stored(text: String) -> Result<$money, ConversionError> {
                with_code(&text)
            }
        }

        impl<$($generics)*> StoredAs<$money> for JsonParts {
            type Stored = BTreeMap<String, String>;

            fn to_stored(value: &$money) -> Result<Self::Stored, ConversionError> {
                let currency: fn(&$money) -> String = $currency;
                Ok(BTreeMap::from([
                    ("amount".to_owned(), value.$amount()),
                    ("currency".to_owned(), currency(value)),
                ]))
            }

            fn from_stored(mut stored: Self::Stored) -> Result<$money, ConversionError> {
                let amount = take(&mut stored, "amount")?;
                let currency = take(&mut stored, "currency")?;
                match stored.keys().next() {
                    Some(name) => Err(ConversionError::new(format!("an amount has no field `{name}`"))),
                    None => read(&format!("{amount} {currency}")),
                }
            }
        }
    )*};
}

with_currency! {
    [C: Currency] Money<C>, amount, |_| C::CODE.to_owned();
    [S: Currencies] AnyMoney<S>, amount, |money| money.currency().code().to_owned();
}

#[cfg(feature = "bigdecimal_0_4")]
with_currency! {
    [S: Currencies, F: DisplayForm] PreciseMoney<S, F>, display, |money| money.currency().code().to_owned();
}

fn take(
    stored: &mut BTreeMap<String, String>,
    name: &'static str,
) -> Result<String, ConversionError> {
    stored
        .remove(name)
        .ok_or_else(|| ConversionError::new(format!("an amount has a field `{name}`")))
}

/// Reads text that must name the currency.
fn with_code<T: FromStr<Err = MoneyError>>(text: &str) -> Result<T, ConversionError> {
    if !text.contains(' ') {
        return Err(refused(MoneyError::NoCurrency(text.to_owned())));
    }
    read(text)
}

fn read<T: FromStr<Err = MoneyError>>(text: &str) -> Result<T, ConversionError> {
    text.parse().map_err(refused)
}

fn refused(error: impl Display) -> ConversionError {
    ConversionError::new(error.to_string())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::types::money::{Finer, Jpy, Usd};

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Prices {
        #[serde(with = "amount")]
        amount: Money<Finer<Usd, 3>>,
        #[serde(with = "text")]
        text: AnyMoney,
        #[serde(with = "parts")]
        parts: Money<Jpy>,
        #[serde(default, with = "text")]
        option: Option<Money<Usd>>,
        #[serde(with = "amount")]
        list: Vec<Money<Usd>>,
    }

    fn prices() -> Prices {
        Prices {
            amount: Money::from_minor(9_990),
            text: "-0.05 EUR".parse().unwrap(),
            parts: Money::from_minor(1_200),
            option: None,
            list: vec![Money::from_minor(1), Money::from_minor(i64::MIN)],
        }
    }

    #[test]
    fn text_formats_have_decimal_text() {
        let json = json!({
            "amount": "9.990",
            "text": "-0.05 EUR",
            "parts": {"amount": "1200", "currency": "JPY"},
            "option": null,
            "list": ["0.01", "-92233720368547758.08"],
        });
        assert_eq!(serde_json::to_value(prices()).unwrap(), json);
        assert_eq!(serde_json::from_value::<Prices>(json).unwrap(), prices());
    }

    #[test]
    fn bson_has_the_stored_form() {
        let stored = bson::doc! {
            "amount": 9_990_i64,
            "text": {"amount": -5_i64, "currency": "EUR"},
            "parts": 1_200_i64,
            "option": null,
            "list": [1_i64, i64::MIN],
        };
        let bytes = bson::serialize_to_vec(&prices()).unwrap();
        assert_eq!(bytes, bson::serialize_to_vec(&stored).unwrap());
        assert_eq!(
            bson::deserialize_from_slice::<Prices>(&bytes).unwrap(),
            prices()
        );
    }

    #[test]
    fn what_is_not_an_amount_is_refused() {
        let read = |name: &str, value: serde_json::Value| {
            let mut json = serde_json::to_value(prices()).unwrap();
            json[name] = value;
            serde_json::from_value::<Prices>(json)
                .unwrap_err()
                .to_string()
        };
        for (name, value, message) in [
            ("amount", json!(9.99), "a string"),
            ("amount", json!("9.9999"), "digits"),
            ("amount", json!("9.99 EUR"), "found EUR"),
            ("text", json!("9.99"), "currency"),
            ("option", json!("9.99"), "currency"),
            ("text", json!("9.99 ABCD"), "ABCD"),
            ("parts", json!({"amount": "1"}), "a field `currency`"),
            (
                "parts",
                json!({"amount": "1", "currency": "JPY", "tax": "1"}),
                "no field `tax`",
            ),
        ] {
            let error = read(name, value.clone());
            assert!(error.contains(message), "{name}: {value}: {error}");
        }
    }

    #[cfg(feature = "bigdecimal_0_4")]
    #[test]
    fn precise_amounts_have_their_exact_text() {
        #[derive(Debug, PartialEq, Serialize, Deserialize)]
        struct Rate {
            #[serde(with = "parts")]
            rate: PreciseMoney,
        }
        let rate = Rate {
            rate: "0.0000125 USD".parse().unwrap(),
        };
        let json = json!({"rate": {"amount": "0.0000125", "currency": "USD"}});
        assert_eq!(serde_json::to_value(&rate).unwrap(), json);
        assert_eq!(serde_json::from_value::<Rate>(json).unwrap(), rate);
        let raw = bson::serialize_to_raw_document_buf(&rate).unwrap();
        assert!(
            raw.get_document("rate")
                .unwrap()
                .get("approx")
                .unwrap()
                .is_some()
        );
    }
}
