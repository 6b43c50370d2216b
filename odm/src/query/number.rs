//! Conditions on integers and bits.

use bson::{Binary, Bson};

use super::compare::operator;
use super::encode::Encode;
use super::field::Field;
use super::filter::Filter;
use super::kind::{Bits, Integer};

impl<M, T, E> Field<M, T, E> {
    /// Matches where the number divided by `divisor` leaves `remainder`:
    /// `{field: {$mod: [divisor, remainder]}}`.
    ///
    /// ```
    /// use odm::prelude::*;
    /// use odm::query::fields;
    ///
    /// #[derive(Serialize, Deserialize, Embedded)]
    /// struct Book {
    ///     year: i32,
    /// }
    ///
    /// let book = fields::<Book>();
    /// assert_eq!(book.year.mod_(4, 0).to_document()?, doc! {"year": {"$mod": [4, 0]}});
    /// # Ok::<(), odm::Error>(())
    /// ```
    pub fn mod_(&self, divisor: i64, remainder: i64) -> Filter<M>
    where
        E: Encode<T, Stored: Integer>,
    {
        let value = Bson::Array(vec![integer(divisor), integer(remainder)]);
        Filter::from_node(operator(self.path(), "$mod", Ok(value)))
    }

    /// Matches where all bits of `mask` are 1: `{field: {$bitsAllSet: mask}}`.
    ///
    /// A mask is a number, an array of bit positions, or binary data.
    ///
    /// ```
    /// use odm::prelude::*;
    /// use odm::query::fields;
    ///
    /// #[derive(Serialize, Deserialize, Embedded)]
    /// struct File {
    ///     mode: i32,
    /// }
    ///
    /// let file = fields::<File>();
    /// assert_eq!(file.mode.bits_all_set(0o644).to_document()?, doc! {"mode": {"$bitsAllSet": 420}});
    /// assert_eq!(file.mode.bits_any_clear([1, 5]).to_document()?, doc! {"mode": {"$bitsAnyClear": [1, 5]}});
    /// # Ok::<(), odm::Error>(())
    /// ```
    pub fn bits_all_set(&self, mask: impl IntoMask) -> Filter<M>
    where
        E: Encode<T, Stored: Bits>,
    {
        self.bits("$bitsAllSet", mask.into_mask())
    }

    /// Matches where at least one bit of `mask` is 1: `{field: {$bitsAnySet: mask}}`.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::query::fields;
    /// # #[derive(Serialize, Deserialize, Embedded)]
    /// # struct Book { mode: i32 }
    /// let book = fields::<Book>();
    /// assert_eq!(book.mode.bits_any_set(0b11).to_document()?, doc! {"mode": {"$bitsAnySet": 3}});
    /// # Ok::<(), odm::Error>(())
    /// ```
    pub fn bits_any_set(&self, mask: impl IntoMask) -> Filter<M>
    where
        E: Encode<T, Stored: Bits>,
    {
        self.bits("$bitsAnySet", mask.into_mask())
    }

    /// Matches where all bits of `mask` are 0: `{field: {$bitsAllClear: mask}}`.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::query::fields;
    /// # #[derive(Serialize, Deserialize, Embedded)]
    /// # struct Book { mode: i32 }
    /// let book = fields::<Book>();
    /// let filter = book.mode.bits_all_clear([0, 1]);
    /// assert_eq!(filter.to_document()?, doc! {"mode": {"$bitsAllClear": [0, 1]}});
    /// # Ok::<(), odm::Error>(())
    /// ```
    pub fn bits_all_clear(&self, mask: impl IntoMask) -> Filter<M>
    where
        E: Encode<T, Stored: Bits>,
    {
        self.bits("$bitsAllClear", mask.into_mask())
    }

    /// Matches where at least one bit of `mask` is 0: `{field: {$bitsAnyClear: mask}}`.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::query::fields;
    /// # #[derive(Serialize, Deserialize, Embedded)]
    /// # struct Book { mode: i32 }
    /// let book = fields::<Book>();
    /// assert_eq!(book.mode.bits_any_clear(0b11).to_document()?, doc! {"mode": {"$bitsAnyClear": 3}});
    /// # Ok::<(), odm::Error>(())
    /// ```
    pub fn bits_any_clear(&self, mask: impl IntoMask) -> Filter<M>
    where
        E: Encode<T, Stored: Bits>,
    {
        self.bits("$bitsAnyClear", mask.into_mask())
    }

    fn bits(&self, name: &str, mask: Bson) -> Filter<M> {
        Filter::from_node(operator(self.path(), name, Ok(mask)))
    }
}

/// The number as an int32 if it fits, as a shell user would type it.
fn integer(number: i64) -> Bson {
    i32::try_from(number).map_or(Bson::Int64(number), Bson::Int32)
}

/// A bit mask: a number, an array of bit positions, or binary data.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not say which bits",
    label = "expected a number, an array of bit positions, or `bson::Binary`"
)]
pub trait IntoMask {
    /// The operand.
    fn into_mask(self) -> Bson;
}

impl IntoMask for i32 {
    fn into_mask(self) -> Bson {
        Bson::Int32(self)
    }
}

impl IntoMask for i64 {
    fn into_mask(self) -> Bson {
        integer(self)
    }
}

impl IntoMask for u32 {
    fn into_mask(self) -> Bson {
        integer(self.into())
    }
}

impl IntoMask for Binary {
    fn into_mask(self) -> Bson {
        Bson::Binary(self)
    }
}

impl<const N: usize> IntoMask for [u32; N] {
    fn into_mask(self) -> Bson {
        Bson::Array(self.into_iter().map(|bit| integer(bit.into())).collect())
    }
}
