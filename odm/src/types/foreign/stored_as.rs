//! The stored form of a type of another crate.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{DeserializeOwned, Error as _};
use serde::ser::Error as _;
use serde::{Deserializer, Serialize, Serializer};

use crate::model::{FieldType, Rule, TypeMeta};

/// Converts values of `T` to the type that is stored, and back. Implement it for a marker type of your own.
///
/// A field whose `#[serde(with = "…")]` names a module made by [`serializer!`](crate::serializer) has the
/// operators, the validator and the indexes of [`Stored`](Self::Stored). See [`foreign`](crate::foreign) for an example.
///
/// An implementation for `T` is also one for `Option<T>`, `Box<T>`, lists and sets of `T`, and maps to `T`.
#[diagnostic::on_unimplemented(
    message = "this serializer does not store a `{T}`",
    label = "not a type that the module after `with` stores",
    note = "the documentation of `odm::foreign` lists the types of each module; for another type, implement `odm::foreign::StoredAs`"
)]
pub trait StoredAs<T> {
    /// The type that is stored.
    type Stored: FieldType + Serialize + DeserializeOwned;

    /// The rules that every stored form keeps, for the validator: without them, an update in the database can
    /// store a value that [`from_stored`](Self::from_stored) refuses, and every read of it fails.
    ///
    /// ```
    /// # use odm::foreign::{ConversionError, StoredAs};
    /// use odm::model::Rule;
    ///
    /// # struct Percent(u8);
    /// enum Number {}
    ///
    /// impl StoredAs<Percent> for Number {
    ///     type Stored = i32;
    ///     const RULES: &'static [Rule] = &[Rule::between(0, 100)];
    /// #     fn to_stored(value: &Percent) -> Result<i32, ConversionError> {
    /// #         Ok(value.0.into())
    /// #     }
    ///
    ///     fn from_stored(stored: i32) -> Result<Percent, ConversionError> {
    ///         let percent = u8::try_from(stored).ok().filter(|number| *number <= 100);
    ///         percent.map(Percent).ok_or_else(|| ConversionError::new("the number is not within 0 to 100"))
    ///     }
    /// }
    /// # assert_eq!(<Number as StoredAs<Percent>>::RULES.len(), 1);
    /// # assert!(<Number as StoredAs<Percent>>::from_stored(101).is_err());
    /// ```
    const RULES: &'static [Rule] = &[];

    /// How the values are stored.
    #[doc(hidden)]
    const TYPE: TypeMeta = TypeMeta::narrowed(&<Self::Stored as FieldType>::TYPE, Self::RULES);

    /// The stored form of `value`.
    ///
    /// ```
    /// # use odm::foreign::{ConversionError, StoredAs};
    /// # #[derive(Debug, PartialEq)]
    /// # struct Celsius(f64);
    /// # enum Tenths {}
    /// # impl StoredAs<Celsius> for Tenths {
    /// #     type Stored = i32;
    /// #     fn to_stored(value: &Celsius) -> Result<i32, ConversionError> {
    /// #         let tenths = value.0 * 10.0;
    /// #         let refused = ConversionError::new("a temperature has one digit");
    /// #         if tenths.fract() == 0.0 { Ok(tenths as i32) } else { Err(refused) }
    /// #     }
    /// #     fn from_stored(tenths: i32) -> Result<Celsius, ConversionError> {
    /// #         Ok(Celsius(f64::from(tenths) / 10.0))
    /// #     }
    /// # }
    /// // `Tenths` stores a temperature as the number of tenths of a degree.
    /// assert_eq!(Tenths::to_stored(&Celsius(21.5))?, 215);
    /// assert!(Tenths::to_stored(&Celsius(21.55)).is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The stored type can't hold the value. Nothing is rounded silently.
    fn to_stored(value: &T) -> Result<Self::Stored, ConversionError>;

    /// The value of a stored form.
    ///
    /// ```
    /// # use odm::foreign::{ConversionError, StoredAs};
    /// # #[derive(Debug, PartialEq)]
    /// # struct Celsius(f64);
    /// # enum Tenths {}
    /// # impl StoredAs<Celsius> for Tenths {
    /// #     type Stored = i32;
    /// #     fn to_stored(value: &Celsius) -> Result<i32, ConversionError> {
    /// #         let tenths = value.0 * 10.0;
    /// #         let refused = ConversionError::new("a temperature has one digit");
    /// #         if tenths.fract() == 0.0 { Ok(tenths as i32) } else { Err(refused) }
    /// #     }
    /// #     fn from_stored(tenths: i32) -> Result<Celsius, ConversionError> {
    /// #         Ok(Celsius(f64::from(tenths) / 10.0))
    /// #     }
    /// # }
    /// // `Tenths` stores a temperature as the number of tenths of a degree.
    /// let inside: Celsius = Tenths::from_stored(215)?;
    /// assert_eq!(inside, Celsius(21.5));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// `T` can't hold what is stored.
    fn from_stored(stored: Self::Stored) -> Result<T, ConversionError>;
}

/// Why a value can't be stored, or what is stored is not a value. The error of the operation that fails names the field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConversionError(String);

impl ConversionError {
    /// An error with this message: `1.5 ms has a fraction of a millisecond`.
    ///
    /// ```
    /// # use odm::foreign::ConversionError;
    /// let error = ConversionError::new("1.5 ms has a fraction of a millisecond");
    /// assert_eq!(error.to_string(), "1.5 ms has a fraction of a millisecond");
    /// ```
    pub fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }
}

impl fmt::Display for ConversionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ConversionError {}

/// How a module made by [`serializer!`](crate::serializer) stores its types: as the [`StoredAs`] of `W` says.
#[derive(Debug)]
pub struct By<W> {
    way: PhantomData<fn() -> W>,
}

/// Writes a value as `W` stores it.
pub fn serialize<W: StoredAs<T>, T, S: Serializer>(
    value: &T,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    match W::to_stored(value) {
        Ok(stored) => stored.serialize(serializer),
        Err(error) => Err(S::Error::custom(error)),
    }
}

/// Reads a value that `W` has stored.
pub fn deserialize<'de, W: StoredAs<T>, T, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<T, D::Error> {
    let stored = serde::Deserialize::deserialize(deserializer)?;
    W::from_stored(stored).map_err(D::Error::custom)
}

/// The items of a module that `#[serde(with = "…")]` can name: the paths of [`foreign`](super) and of serde, and the type that
/// implements [`StoredAs`].
#[doc(hidden)]
#[macro_export]
macro_rules! __odm_serializer_items {
    ([$($foreign:tt)*] [$($serde:tt)*] $way:ty) => {
        /// What the derives read of this module.
        #[doc(hidden)]
        pub type OdmStored = $($foreign)*::By<$way>;

        /// Writes a value of a type of this module; for `#[serde(with = "…")]`.
        ///
        /// # Errors
        ///
        /// The stored type can't hold the value.
        pub fn serialize<T, S>(
            value: &T,
            serializer: S,
        ) -> ::core::result::Result<
            <S as $($serde)*::Serializer>::Ok,
            <S as $($serde)*::Serializer>::Error,
        >
        where
            S: $($serde)*::Serializer,
            $way: $($foreign)*::StoredAs<T>,
        {
            $($foreign)*::serialize::<$way, T, S>(value, serializer)
        }

        /// Reads a value of a type of this module; for `#[serde(with = "…")]`.
        ///
        /// # Errors
        ///
        /// The type can't hold what is stored.
        pub fn deserialize<'de, T, D>(
            deserializer: D,
        ) -> ::core::result::Result<T, <D as $($serde)*::Deserializer<'de>>::Error>
        where
            D: $($serde)*::Deserializer<'de>,
            $way: $($foreign)*::StoredAs<T>,
        {
            $($foreign)*::deserialize::<$way, T, D>(deserializer)
        }
    };
}

/// [`serializer!`](crate::serializer) for the modules of this crate.
macro_rules! serializer {
    ($way:ty) => {
        __odm_serializer_items! {[crate::types::foreign] [::serde] $way}
    };
}
