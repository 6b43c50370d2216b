//! The code of a currency beside its amount.

use std::fmt;
use std::marker::PhantomData;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{Currency, MoneyError};
use crate::model::{Shape, TypeMeta};
use crate::query::scalars::field_type;

/// The code of a currency, stored beside an amount as MongoDB's guide does: `{price: 9990, currency: "USD"}`.
///
/// It takes no memory, and reading another code fails.
pub struct CodeOf<C: Currency> {
    of: PhantomData<fn() -> C>,
}

impl<C: Currency> CodeOf<C> {
    /// The code.
    ///
    /// ```
    /// # use odm::money::{CodeOf, Usd};
    /// assert_eq!(odm::query::encode(&CodeOf::<Usd>::new())?, "USD".into());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub const fn new() -> Self {
        Self { of: PhantomData }
    }

    /// `USD`
    ///
    /// ```
    /// # use odm::money::{CodeOf, Usd};
    /// assert_eq!(CodeOf::<Usd>::new().as_str(), "USD");
    /// ```
    pub const fn as_str(&self) -> &'static str {
        C::CODE
    }
}

impl<C: Currency> Default for CodeOf<C> {
    fn default() -> Self {
        Self::new()
    }
}

impl<C: Currency> Clone for CodeOf<C> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<C: Currency> Copy for CodeOf<C> {}

impl<C: Currency> PartialEq for CodeOf<C> {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl<C: Currency> Eq for CodeOf<C> {}

impl<C: Currency> fmt::Debug for CodeOf<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CodeOf({})", C::CODE)
    }
}

impl<C: Currency> Serialize for CodeOf<C> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(C::CODE)
    }
}

impl<'de, C: Currency> Deserialize<'de> for CodeOf<C> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let found = String::deserialize(deserializer)?;
        if found == C::CODE {
            return Ok(Self::new());
        }
        Err(D::Error::custom(MoneyError::OtherCurrency {
            found,
            expected: C::CODE.to_owned(),
        }))
    }
}

field_type!([C: Currency] CodeOf<C>, TypeMeta::of(Shape::OneOf(&[C::CODE])));
