//! Conversions, and what an expression's value is.

use bson::oid::ObjectId;
use bson::{DateTime, Decimal128};

use super::expression::Expr;
use super::operators;

macro_rules! conversions {
    ($($(#[$doc:meta])* $method:ident $operator:ident $to:ty;)*) => {
        impl<S, T> Expr<S, T> {
            $($(#[$doc])*
            pub fn $method(self) -> Expr<S, T::To<$to>>
            where
                T: Convert,
            {
                self.one(operators::$operator.name)
            })*
        }
    };
}

/// A value that can be converted; null stays null.
pub trait Convert {
    /// The type of the result: an `Option` for an `Option`.
    type To<U>;
}

macro_rules! converted {
    ($($type:ty),*) => {$(
        impl Convert for $type {
            type To<U> = U;
        }
    )*};
}

converted!(
    i8,
    i16,
    i32,
    i64,
    isize,
    u8,
    u16,
    u32,
    u64,
    usize,
    f32,
    f64,
    Decimal128,
    bool,
    String,
    &str,
    Box<str>,
    ObjectId,
    DateTime
);

#[diagnostic::do_not_recommend]
impl<T: Convert> Convert for Option<T> {
    type To<U> = Option<U>;
}

conversions! {
    /// Converts to an `i32`: `$toInt`. MongoDB cuts off a fraction, and fails if the number is too large or the text is
    /// not a number.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::query::fields;
    /// # #[derive(Serialize, Deserialize, Embedded)]
    /// # struct Address { zip: String }
    /// let zip = fields::<Address>().zip.expr().to_int();
    /// assert_eq!(zip.to_bson()?, bson::bson!({"$toInt": "$zip"}));
    /// # Ok::<(), odm::Error>(())
    /// ```
    to_int TO_INT i32;
    /// As an `i64`: `$toLong`. A date becomes the milliseconds since 1970.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::query::fields;
    /// # #[derive(Serialize, Deserialize, Embedded)]
    /// # struct Event { at: DateTime }
    /// let millis = fields::<Event>().at.expr().to_long();
    /// assert_eq!(millis.to_bson()?, bson::bson!({"$toLong": "$at"}));
    /// # Ok::<(), odm::Error>(())
    /// ```
    to_long TO_LONG i64;
    /// As an `f64`: `$toDouble`.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::query::fields;
    /// # #[derive(Serialize, Deserialize, Embedded)]
    /// # struct Sample { value: String }
    /// let value = fields::<Sample>().value.expr().to_double();
    /// assert_eq!(value.to_bson()?, bson::bson!({"$toDouble": "$value"}));
    /// # Ok::<(), odm::Error>(())
    /// ```
    to_double TO_DOUBLE f64;
    /// As a decimal: `$toDecimal`.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::query::fields;
    /// # #[derive(Serialize, Deserialize, Embedded)]
    /// # struct Line { cents: i64 }
    /// let price = fields::<Line>().cents.expr().to_decimal();
    /// assert_eq!(price.to_bson()?, bson::bson!({"$toDecimal": "$cents"}));
    /// # Ok::<(), odm::Error>(())
    /// ```
    to_decimal TO_DECIMAL Decimal128;
    /// As text: `$toString`. A date is written as in ISO 8601.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::query::fields;
    /// # #[derive(Serialize, Deserialize, Embedded)]
    /// # struct Address { zip: i32 }
    /// let zip = fields::<Address>().zip.expr().to_text();
    /// assert_eq!(zip.to_bson()?, bson::bson!({"$toString": "$zip"}));
    /// # Ok::<(), odm::Error>(())
    /// ```
    to_text TO_STRING String;
    /// As a date: `$toDate`, from ISO 8601, from milliseconds since 1970, or the time in an `ObjectId`.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::query::fields;
    /// # #[derive(Serialize, Deserialize, Embedded)]
    /// # struct Post { #[serde(rename = "_id")] id: ObjectId }
    /// let made = fields::<Post>().id.expr().to_date();
    /// assert_eq!(made.to_bson()?, bson::bson!({"$toDate": "$_id"}));
    /// # Ok::<(), odm::Error>(())
    /// ```
    to_date TO_DATE DateTime;
    /// As an `ObjectId`: `$toObjectId`, from 24 hexadecimal digits.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::query::fields;
    /// # #[derive(Serialize, Deserialize, Embedded)]
    /// # struct Log { user: String }
    /// let user = fields::<Log>().user.expr().to_object_id();
    /// assert_eq!(user.to_bson()?, bson::bson!({"$toObjectId": "$user"}));
    /// # Ok::<(), odm::Error>(())
    /// ```
    to_object_id TO_OBJECT_ID ObjectId;
}

impl<S, T> Expr<S, T> {
    /// The name of the value's BSON type: `$type`. That of a missing value is `missing`.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::query::fields;
    /// # #[derive(Serialize, Deserialize, Embedded)]
    /// # struct Sample { value: bson::Bson }
    /// let of = fields::<Sample>().value.expr().bson_type();
    /// assert_eq!(of.to_bson()?, bson::bson!({"$type": "$value"}));
    /// # Ok::<(), odm::Error>(())
    /// ```
    pub fn bson_type(self) -> Expr<S, String> {
        self.one(operators::TYPE.name)
    }
}
