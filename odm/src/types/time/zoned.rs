//! [`ZonedTime`]: a local time with the name of its zone.

use std::fmt;
use std::marker::PhantomData;
use std::str::FromStr;

use bson::DateTime;
use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};
use serde::de::{Error as _, IgnoredAny, MapAccess, Visitor};
use serde::ser::SerializeStruct;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{IntoInstant, LocalTime, LocalTimeFields, Offset, OffsetForm, TimeError};
use crate::model::Contents;
use crate::types::compared::compared_by;
use crate::types::compound::compound;

/// A [`LocalTime`] with the name of its zone in the IANA database, stored as `{date, offset, zone}` in the form `F`.
///
/// The instant is what counts: times are compared by it, and [`to_zoned`](Self::to_zoned) computes the offset anew from the
/// rules of the zone. The stored offset is what the writer's clock showed.
///
/// ```
/// use odm::time::{Iso, ZonedTime};
///
/// let time: ZonedTime<Iso> = "2026-03-28T10:30:00+01:00[Europe/Berlin]".parse()?;
/// // The same time on the next day, when clocks were set forward.
/// let next = time.to_zoned()?.tomorrow()?;
/// assert_eq!(ZonedTime::<Iso>::from_zoned(&next)?.to_string(), "2026-03-29T10:30:00+02:00[Europe/Berlin]");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct ZonedTime<F> {
    time: LocalTime<F>,
    zone: String,
}

impl<F> ZonedTime<F> {
    /// The time of this instant in a zone of the IANA database.
    ///
    /// ```
    /// # use odm::bson::DateTime;
    /// # use odm::time::{Iso, ZonedTime};
    /// let instant = DateTime::parse_rfc3339_str("2026-03-29T08:30:00Z")?;
    /// let time = ZonedTime::<Iso>::new(instant, "Europe/Berlin")?;
    /// assert_eq!(time.to_string(), "2026-03-29T10:30:00+02:00[Europe/Berlin]");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The database has no such zone; or the offset has seconds, as local mean times do.
    pub fn new(instant: DateTime, zone: &str) -> Result<Self, TimeError> {
        Ok(Self {
            time: LocalTime::in_zone(instant, zone)?,
            zone: zone.to_owned(),
        })
    }

    /// The time of this instant in its zone.
    ///
    /// ```
    /// # use odm::time::{Iso, ZonedTime};
    /// let zoned: jiff::Zoned = "2026-03-29T10:30:00+02:00[Europe/Berlin]".parse()?;
    /// assert_eq!(ZonedTime::<Iso>::from_zoned(&zoned)?.zone(), "Europe/Berlin");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Those of [`LocalTime::from_zoned`]; or the zone has no name.
    pub fn from_zoned(time: &Zoned) -> Result<Self, TimeError> {
        Self::named(LocalTime::from_zoned(time)?, time)
    }

    /// The time of this instant in its zone, without the fractions of a millisecond.
    ///
    /// ```
    /// # use odm::time::{Iso, ZonedTime};
    /// let zoned: jiff::Zoned = "2026-03-29T10:30:00.1239+02:00[Europe/Berlin]".parse()?;
    /// assert!(ZonedTime::<Iso>::from_zoned(&zoned).is_err());
    /// let time = ZonedTime::<Iso>::truncated_from_zoned(&zoned)?;
    /// assert_eq!(time.to_string(), "2026-03-29T10:30:00.123+02:00[Europe/Berlin]");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Those of [`LocalTime::truncated_from_zoned`]; or the zone has no name.
    pub fn truncated_from_zoned(time: &Zoned) -> Result<Self, TimeError> {
        Self::named(LocalTime::truncated_from_zoned(time)?, time)
    }

    fn named(time: LocalTime<F>, zoned: &Zoned) -> Result<Self, TimeError> {
        let zone = zoned.time_zone().iana_name();
        let zone = zone.ok_or_else(|| TimeError::UnknownZone(zoned.to_string()))?;
        Ok(Self {
            time,
            zone: zone.to_owned(),
        })
    }

    /// The instant in the zone, by the rules that the time zone database has today.
    ///
    /// ```
    /// # use odm::time::{Iso, ZonedTime};
    /// let time: ZonedTime<Iso> = "2026-03-29T10:30:00+02:00[Europe/Berlin]".parse()?;
    /// let tomorrow = time.to_zoned()?.tomorrow()?;
    /// assert_eq!(tomorrow.to_string(), "2026-03-30T10:30:00+02:00[Europe/Berlin]");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The database has no such zone, or the instant is out of the range of `jiff`.
    pub fn to_zoned(&self) -> Result<Zoned, TimeError> {
        let zone =
            TimeZone::get(&self.zone).map_err(|_| TimeError::UnknownZone(self.zone.clone()))?;
        let millis = self.time.instant().timestamp_millis();
        let timestamp = Timestamp::from_millisecond(millis)
            .map_err(|_| TimeError::OutOfRange(self.to_string()))?;
        Ok(timestamp.to_zoned(zone))
    }

    /// The instant, and the offset of the clock that showed it.
    ///
    /// ```
    /// # use odm::time::{Iso, ZonedTime};
    /// let time: ZonedTime<Iso> = "2026-03-29T10:30:00+02:00[Europe/Berlin]".parse()?;
    /// assert_eq!(time.local().to_string(), "2026-03-29T10:30:00+02:00");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub const fn local(&self) -> LocalTime<F> {
        self.time
    }

    /// The instant.
    ///
    /// ```
    /// # use odm::time::{Iso, ZonedTime};
    /// let time: ZonedTime<Iso> = "2026-03-29T10:30:00+02:00[Europe/Berlin]".parse()?;
    /// assert_eq!(time.instant().try_to_rfc3339_string()?, "2026-03-29T08:30:00Z");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub const fn instant(&self) -> DateTime {
        self.time.instant()
    }

    /// The name of the zone.
    ///
    /// ```
    /// # use odm::time::{Iso, ZonedTime};
    /// let time: ZonedTime<Iso> = "2026-03-29T10:30:00+02:00[Europe/Berlin]".parse()?;
    /// assert_eq!(time.zone(), "Europe/Berlin");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn zone(&self) -> &str {
        &self.zone
    }
}

// Implemented by hand, because derives would put bounds on `F`.
impl<F> Clone for ZonedTime<F> {
    fn clone(&self) -> Self {
        Self {
            time: self.time,
            zone: self.zone.clone(),
        }
    }
}

compared_by!([F] ZonedTime<F>, |zoned| zoned.time, Ord);

/// `2026-03-29T10:30:00+02:00[Europe/Berlin]`, as in RFC 9557.
impl<F> fmt::Display for ZonedTime<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{}[{}]", self.time, self.zone))
    }
}

impl<F> fmt::Debug for ZonedTime<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ZonedTime({self})")
    }
}

/// Reads a time as RFC 9557 writes it. The offset must be the zone's at this instant.
impl<F> FromStr for ZonedTime<F> {
    type Err = TimeError;

    fn from_str(text: &str) -> Result<Self, TimeError> {
        let refused = || TimeError::NotATime(text.to_owned());
        let parts = text.strip_suffix(']').and_then(|text| text.split_once('['));
        let (time, zone) = parts.ok_or_else(refused)?;
        let read: LocalTime<F> = time.parse()?;
        let this = Self::new(read.instant(), zone)?;
        if this.time.offset() == read.offset() {
            Ok(this)
        } else {
            Err(TimeError::ZoneOffset {
                text: text.to_owned(),
                in_zone: this.to_string(),
            })
        }
    }
}

impl<F: OffsetForm> ZonedTime<F> {
    const NAMES: &'static [&'static str] = &[F::DATE, F::OFFSET, F::ZONE];
}

impl<F: OffsetForm> Serialize for ZonedTime<F> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut stored = serializer.serialize_struct("ZonedTime", 3)?;
        stored.serialize_field(F::DATE, &self.time.instant())?;
        stored.serialize_field(F::OFFSET, &self.time.offset())?;
        stored.serialize_field(F::ZONE, &self.zone)?;
        stored.end()
    }
}

impl<'de, F: OffsetForm> Deserialize<'de> for ZonedTime<F> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_struct("ZonedTime", Self::NAMES, Stored(PhantomData))
    }
}

/// Reads the three fields, and passes over others.
struct Stored<F>(PhantomData<F>);

impl<'de, F: OffsetForm> Visitor<'de> for Stored<F> {
    type Value = ZonedTime<F>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = ZonedTime::<F>::NAMES.join("`, `");
        write!(f, "a time of a zone with `{names}`")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<ZonedTime<F>, A::Error> {
        let (mut date, mut offset, mut zone) = (None, None, None);
        while let Some(name) = map.next_key::<String>()? {
            if name == F::DATE {
                date = Some(map.next_value()?);
            } else if name == F::OFFSET {
                offset = Some(map.next_value::<Offset<F>>()?);
            } else if name == F::ZONE {
                zone = Some(map.next_value()?);
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        let date = date.ok_or_else(|| A::Error::missing_field(F::DATE))?;
        let offset = offset.ok_or_else(|| A::Error::missing_field(F::OFFSET))?;
        let zone = zone.ok_or_else(|| A::Error::missing_field(F::ZONE))?;
        Ok(ZonedTime {
            time: LocalTime::new(date, offset),
            zone,
        })
    }
}

compound! {
    /// The typed field of a [`ZonedTime`]: that of a [`LocalTime`], and the zone.
    pub struct ZonedTimeFields of ZonedTime<F: OffsetForm>
    in LocalTimeFields<M, F, As> { date: DateTime = F::DATE, offset: Offset<F> = F::OFFSET }
    {
        /// The name of the zone.
        zone: String = F::ZONE,
    }
    ordered_by: Some("date"),
    contents: Contents::NONE,
}

#[diagnostic::do_not_recommend]
impl<F> IntoInstant<F> for ZonedTime<F> {
    fn into_instant(self) -> DateTime {
        self.instant()
    }
}

#[diagnostic::do_not_recommend]
impl<F> IntoInstant<F> for &ZonedTime<F> {
    fn into_instant(self) -> DateTime {
        self.instant()
    }
}

#[cfg(test)]
mod tests {
    use crate::time::{Iso, TimeError, ZonedTime};

    /// Clocks in Berlin went from 02:00 to 03:00 on that day.
    #[test]
    fn a_skipped_time_is_refused_for_its_offset() {
        let text = "2026-03-29T02:30:00+01:00[Europe/Berlin]";
        let error = text.parse::<ZonedTime<Iso>>().unwrap_err();
        assert!(matches!(error, TimeError::ZoneOffset { .. }), "{error:?}");
        assert_eq!(
            error.to_string(),
            format!(
                "`{text}` has another offset than its zone, where this instant is \
                 `2026-03-29T03:30:00+02:00[Europe/Berlin]`"
            )
        );
    }
}
