//! The sign and the names of stored offsets.

use std::fmt;
use std::marker::PhantomData;

use bson::doc;
use serde::de::{Error as _, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::TimeError;
use crate::model::{BsonType, Rule, TypeMeta};
use crate::query::scalars::field_type;
use crate::types::compared::compared_by;

/// The largest offset in minutes, as in `java.time`. No zone has ever been that far from UTC.
pub(super) const MAX_OFFSET: i16 = 18 * 60;

/// The offsets that are stored as positive numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sign {
    /// Those east of Greenwich, as in ISO 8601: `120` for `+02:00`.
    East,
    /// Those west of Greenwich, as in JavaScript: `-120` for `+02:00`.
    West,
}

/// How a [`LocalTime`](super::LocalTime) is stored: [`Iso`], [`JavaScript`], or a form of your own with other names.
///
/// ```
/// use odm::prelude::*;
/// use odm::query::fields;
/// use odm::time::{LocalTime, OffsetForm, Sign};
///
/// /// `{utc, tz}`
/// enum Utc {}
///
/// impl OffsetForm for Utc {
///     const SIGN: Sign = Sign::East;
///     const DATE: &'static str = "utc";
///     const OFFSET: &'static str = "tz";
/// }
///
/// #[derive(Serialize, Deserialize, Embedded)]
/// struct Visit {
///     #[serde(flatten)]
///     at: LocalTime<Utc>,
/// }
///
/// assert_eq!(fields::<Visit>().at.asc().to_document()?, doc! {"utc": 1});
/// # Ok::<(), odm::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a form of stored offsets",
    label = "expected `odm::time::Iso` or `odm::time::JavaScript`",
    note = "`Iso` stores 120 for `+02:00`; `JavaScript` stores -120, as `getTimezoneOffset()` returns it"
)]
pub trait OffsetForm: 'static {
    /// The offsets that are positive.
    const SIGN: Sign;

    /// The name of the field that has the instant.
    const DATE: &'static str = "date";

    /// The name of the field that has the offset.
    const OFFSET: &'static str = "offset";

    /// The name of the field that has the name of the zone, in a time of a zone.
    const ZONE: &'static str = "zone";
}

/// Offsets as in ISO 8601 and RFC 3339, positive east of Greenwich: `{date, offset: 120}` for `+02:00`.
#[derive(Debug)]
pub enum Iso {}

/// Offsets as JavaScript's `getTimezoneOffset()` returns them, positive west of Greenwich: `{date, offset: -120}` for
/// `+02:00`.
#[derive(Debug)]
pub enum JavaScript {}

impl OffsetForm for Iso {
    const SIGN: Sign = Sign::East;
}

impl OffsetForm for JavaScript {
    const SIGN: Sign = Sign::West;
}

/// An offset from UTC in whole minutes, at most 18 hours, stored with the sign of the form `F`.
pub struct Offset<F> {
    /// Minutes east of Greenwich, in every form.
    east: i16,
    of: PhantomData<fn() -> F>,
}

impl<F> Offset<F> {
    /// UTC itself.
    pub const UTC: Self = Self {
        east: 0,
        of: PhantomData,
    };

    /// The offset of clocks that are this many minutes ahead of UTC: 120 for `+02:00`, in every form.
    ///
    /// ```
    /// # use odm::time::{Iso, Offset};
    /// let vienna = Offset::<Iso>::from_minutes_east(120)?;
    /// assert_eq!(vienna.to_string(), "+02:00");
    /// assert!(Offset::<Iso>::from_minutes_east(19 * 60).is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// More than 18 hours.
    pub fn from_minutes_east(minutes: i32) -> Result<Self, TimeError> {
        match i16::try_from(minutes) {
            Ok(east) if east.unsigned_abs() <= MAX_OFFSET.unsigned_abs() => Ok(Self {
                east,
                of: PhantomData,
            }),
            _ => Err(TimeError::Offset {
                minutes: minutes.into(),
            }),
        }
    }

    /// How many minutes clocks are ahead of UTC: 120 for `+02:00`, in every form.
    ///
    /// ```
    /// # use odm::time::{JavaScript, Offset};
    /// let offset = Offset::<JavaScript>::from_minutes_east(120)?;
    /// assert_eq!(offset.minutes_east(), 120);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn minutes_east(self) -> i32 {
        self.east.into()
    }
}

impl<F: OffsetForm> Offset<F> {
    /// The number that is stored.
    ///
    /// ```
    /// # use odm::time::{Iso, JavaScript, Offset};
    /// assert_eq!(Offset::<Iso>::from_minutes_east(120)?.stored(), 120);
    /// assert_eq!(Offset::<JavaScript>::from_minutes_east(120)?.stored(), -120);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn stored(self) -> i32 {
        match F::SIGN {
            Sign::East => self.minutes_east(),
            Sign::West => -self.minutes_east(),
        }
    }

    fn from_stored(stored: i64) -> Result<Self, TimeError> {
        let east = match F::SIGN {
            Sign::East => stored,
            Sign::West => stored.saturating_neg(),
        };
        let minutes = i32::try_from(east).map_err(|_| TimeError::Offset { minutes: east })?;
        Self::from_minutes_east(minutes)
    }
}

compared_by!([F] Offset<F>, |offset| offset.east, Copy);

/// `+02:00`, in every form.
impl<F> fmt::Display for Offset<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.east < 0 { '-' } else { '+' };
        let size = self.east.unsigned_abs();
        write!(f, "{sign}{:02}:{:02}", size / 60, size % 60)
    }
}

impl<F> fmt::Debug for Offset<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Offset({self})")
    }
}

impl<F: OffsetForm> Serialize for Offset<F> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_i32(self.stored())
    }
}

impl<'de, F: OffsetForm> Deserialize<'de> for Offset<F> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // A flattened field is buffered, and `deserialize_i32` of the buffer refuses doubles.
        let stored = deserializer.deserialize_any(Minutes)?;
        Self::from_stored(stored).map_err(D::Error::custom)
    }
}

/// Reads whole numbers of any type: the `mongo` shell stores a double.
struct Minutes;

impl Visitor<'_> for Minutes {
    type Value = i64;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an offset from UTC in whole minutes")
    }

    fn visit_i64<E>(self, value: i64) -> Result<i64, E> {
        Ok(value)
    }

    fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<i64, E> {
        i64::try_from(value).map_err(E::custom)
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<i64, E> {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "the value is a whole number of at most five digits"
        )]
        if value.fract() == 0.0 && value.abs() < 100_000.0 {
            Ok(value as i64)
        } else {
            Err(E::custom(format_args!(
                "{value} is not a whole number of minutes within a day"
            )))
        }
    }
}

// Shells store doubles, and some drivers 64 bits.
field_type!(
    [F: OffsetForm] Offset<F>,
    TypeMeta::scalar(&[BsonType::Int, BsonType::Long, BsonType::Double]).with_rules(WHOLE_MINUTES)
);

const WHOLE_MINUTES: &[Rule] = &[
    Rule::between(-(MAX_OFFSET as i64), MAX_OFFSET as i64),
    Rule::Schema(|| doc! {"multipleOf": 1}),
];
