//! [`LocalTime`]: an instant, and the offset of the clock that showed it.

use std::fmt;
use std::marker::PhantomData;
use std::str::FromStr;

use bson::DateTime;
use serde::de::{Error as _, IgnoredAny, MapAccess, Visitor};
use serde::ser::SerializeStruct;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::civil::Civil;
use super::{CivilDay, Offset, OffsetForm, TimeError, Weekday, text};
use crate::types::compared::compared_by;

/// An instant together with the offset from UTC of the clock that showed it, stored as `{date, offset}` in the form `F`:
/// [`Iso`](super::Iso) or [`JavaScript`](super::JavaScript).
///
/// Two local times are equal if they are the same instant, and they are ordered by it; so do the filters, the sorts and the
/// indexes of fields. As a field it can stand inside a document, or be flattened into it (`#[serde(flatten)]`).
///
/// ```
/// use odm::time::{Iso, JavaScript, LocalTime, Weekday};
///
/// let berlin: LocalTime<Iso> = "2026-03-29T10:30:00+02:00".parse()?;
/// assert_eq!((berlin.year(), berlin.month(), berlin.day(), berlin.hour()), (2026, 3, 29, 10));
/// assert_eq!(berlin.weekday(), Weekday::Sunday);
/// assert_eq!(odm::bson::serialize_to_document(&berlin)?.get_i32("offset")?, 120);
///
/// let stored_by_javascript: LocalTime<JavaScript> = berlin.to_form();
/// assert_eq!(odm::bson::serialize_to_document(&stored_by_javascript)?.get_i32("offset")?, -120);
/// assert_eq!(stored_by_javascript.to_string(), "2026-03-29T10:30:00+02:00");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct LocalTime<F> {
    date: DateTime,
    offset: Offset<F>,
}

impl<F> LocalTime<F> {
    /// An instant, and the offset of the clock that showed it.
    ///
    /// ```
    /// # use odm::bson::DateTime;
    /// # use odm::time::{Iso, LocalTime, Offset};
    /// let offset = Offset::<Iso>::from_minutes_east(120)?;
    /// let time = LocalTime::new(DateTime::from_millis(0), offset);
    /// assert_eq!(time.to_string(), "1970-01-01T02:00:00+02:00");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub const fn new(date: DateTime, offset: Offset<F>) -> Self {
        Self { date, offset }
    }

    /// Reads a time as RFC 3339 writes it, and drops fractions of a millisecond, which `parse` refuses.
    ///
    /// ```
    /// # use odm::time::{Iso, LocalTime};
    /// let text = "2026-03-29T10:30:15.2509+02:00";
    /// assert_eq!(LocalTime::<Iso>::parse_truncated(text)?.millisecond(), 250);
    /// assert!(text.parse::<LocalTime<Iso>>().is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The text is not such a time, or the offset is more than 18 hours.
    pub fn parse_truncated(text: &str) -> Result<Self, TimeError> {
        Self::read(text).map(|(time, _)| time)
    }

    fn read(text: &str) -> Result<(Self, bool), TimeError> {
        let read = text::read(text).ok_or_else(|| TimeError::NotATime(text.to_owned()))?;
        let offset = Offset::from_minutes_east(read.offset)?;
        let millis = read.shown - i64::from(read.offset) * 60_000;
        Ok((
            Self::new(DateTime::from_millis(millis), offset),
            read.truncated,
        ))
    }

    /// The instant.
    ///
    /// ```
    /// # use odm::time::{Iso, LocalTime};
    /// let time: LocalTime<Iso> = "2026-03-29T10:30:15.250+02:00".parse()?;
    /// assert_eq!(time.instant().try_to_rfc3339_string()?, "2026-03-29T08:30:15.25Z");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub const fn instant(self) -> DateTime {
        self.date
    }

    /// The offset of the clock that showed it.
    ///
    /// ```
    /// # use odm::time::{Iso, LocalTime};
    /// let time: LocalTime<Iso> = "2026-03-29T10:30:15.250+02:00".parse()?;
    /// assert_eq!(time.offset().minutes_east(), 120);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub const fn offset(self) -> Offset<F> {
        self.offset
    }

    /// The same time, stored in another form.
    ///
    /// ```
    /// # use odm::time::{Iso, JavaScript, LocalTime};
    /// let time: LocalTime<Iso> = "2026-03-29T10:30:15.250+02:00".parse()?;
    /// let stored: LocalTime<JavaScript> = time.to_form();
    /// assert_eq!(stored.offset().stored(), -120);
    /// assert_eq!(stored.to_string(), time.to_string());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn to_form<G>(self) -> LocalTime<G> {
        // The offset is within the same bounds in every form.
        let offset = Offset::from_minutes_east(self.offset.minutes_east());
        LocalTime::new(self.date, offset.unwrap_or(Offset::UTC))
    }

    /// The same instant, as a clock with another offset shows it.
    ///
    /// ```
    /// # use odm::time::{Iso, LocalTime, Offset};
    /// let time: LocalTime<Iso> = "2026-03-29T10:30:15.250+02:00".parse()?;
    /// let in_utc = time.with_offset(Offset::from_minutes_east(0)?);
    /// assert_eq!((in_utc.hour(), in_utc == time), (8, true));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn with_offset(self, offset: Offset<F>) -> Self {
        Self { offset, ..self }
    }

    fn civil(self) -> Civil {
        Civil::new(self.date.timestamp_millis(), self.offset.minutes_east())
    }

    /// The year that the calendar showed.
    ///
    /// ```
    /// # use odm::time::{Iso, LocalTime};
    /// let time: LocalTime<Iso> = "2026-03-29T10:30:15.250+02:00".parse()?;
    /// assert_eq!(time.year(), 2026);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn year(self) -> i32 {
        self.civil().year
    }

    /// The month that the calendar showed, from 1.
    ///
    /// ```
    /// # use odm::time::{Iso, LocalTime};
    /// let time: LocalTime<Iso> = "2026-03-29T10:30:15.250+02:00".parse()?;
    /// assert_eq!(time.month(), 3);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn month(self) -> u8 {
        self.civil().month
    }

    /// The day of the month that the calendar showed, from 1.
    ///
    /// ```
    /// # use odm::time::{Iso, LocalTime};
    /// let time: LocalTime<Iso> = "2026-03-29T10:30:15.250+02:00".parse()?;
    /// assert_eq!(time.day(), 29);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn day(self) -> u8 {
        self.civil().day
    }

    /// The hour that the clock showed, from 0 to 23.
    ///
    /// ```
    /// # use odm::time::{Iso, LocalTime};
    /// let time: LocalTime<Iso> = "2026-03-29T10:30:15.250+02:00".parse()?;
    /// assert_eq!(time.hour(), 10);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn hour(self) -> u8 {
        self.part(3_600_000, 24)
    }

    /// The minute that the clock showed.
    ///
    /// ```
    /// # use odm::time::{Iso, LocalTime};
    /// let time: LocalTime<Iso> = "2026-03-29T10:30:15.250+02:00".parse()?;
    /// assert_eq!(time.minute(), 30);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn minute(self) -> u8 {
        self.part(60_000, 60)
    }

    /// The second that the clock showed.
    ///
    /// ```
    /// # use odm::time::{Iso, LocalTime};
    /// let time: LocalTime<Iso> = "2026-03-29T10:30:15.250+02:00".parse()?;
    /// assert_eq!(time.second(), 15);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn second(self) -> u8 {
        self.part(1_000, 60)
    }

    fn part(self, unit: u32, count: u32) -> u8 {
        u8::try_from(self.civil().millis / unit % count).unwrap_or(0)
    }

    /// The millisecond of the second.
    ///
    /// ```
    /// # use odm::time::{Iso, LocalTime};
    /// let time: LocalTime<Iso> = "2026-03-29T10:30:15.250+02:00".parse()?;
    /// assert_eq!(time.millisecond(), 250);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn millisecond(self) -> u16 {
        u16::try_from(self.civil().millis % 1_000).unwrap_or(0)
    }

    /// The day of the week that the calendar showed.
    ///
    /// ```
    /// # use odm::time::{Iso, LocalTime, Weekday};
    /// let time: LocalTime<Iso> = "2026-03-29T10:30:15.250+02:00".parse()?;
    /// assert_eq!(time.weekday(), Weekday::Sunday);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn weekday(self) -> Weekday {
        self.civil().weekday
    }

    /// The day that the calendar showed.
    ///
    /// ```
    /// # use odm::time::{Iso, LocalTime};
    /// let time: LocalTime<Iso> = "2026-03-29T10:30:15.250+02:00".parse()?;
    /// assert_eq!(time.civil_day()?.to_string(), "2026-03-29");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The year is not one from 0 to 9999.
    pub fn civil_day(self) -> Result<CivilDay, TimeError> {
        let civil = self.civil();
        CivilDay::new(civil.year, civil.month, civil.day)
    }
}

compared_by!([F] LocalTime<F>, |time| time.date, Copy, Ord);

/// `2026-03-29T10:30:00+02:00`, as in RFC 3339.
impl<F> fmt::Display for LocalTime<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{}{}", text::write(&self.civil()), self.offset))
    }
}

impl<F> fmt::Debug for LocalTime<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "LocalTime({self})")
    }
}

/// Reads a time as RFC 3339 writes it. Fractions of a millisecond are an error:
/// [`parse_truncated`](LocalTime::parse_truncated) drops them.
impl<F> FromStr for LocalTime<F> {
    type Err = TimeError;

    fn from_str(text: &str) -> Result<Self, TimeError> {
        match Self::read(text)? {
            (time, false) => Ok(time),
            (_, true) => Err(TimeError::TooPrecise(text.to_owned())),
        }
    }
}

impl<F: OffsetForm> LocalTime<F> {
    const NAMES: &'static [&'static str] = &[F::DATE, F::OFFSET];
}

impl<F: OffsetForm> Serialize for LocalTime<F> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut stored = serializer.serialize_struct("LocalTime", 2)?;
        stored.serialize_field(F::DATE, &self.date)?;
        stored.serialize_field(F::OFFSET, &self.offset)?;
        stored.end()
    }
}

impl<'de, F: OffsetForm> Deserialize<'de> for LocalTime<F> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_struct("LocalTime", Self::NAMES, Fields(PhantomData))
    }
}

/// Reads the two fields, and passes over others.
struct Fields<F>(PhantomData<F>);

impl<'de, F: OffsetForm> Visitor<'de> for Fields<F> {
    type Value = LocalTime<F>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a local time with `{}` and `{}`", F::DATE, F::OFFSET)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<LocalTime<F>, A::Error> {
        let (mut date, mut offset) = (None, None);
        while let Some(name) = map.next_key::<String>()? {
            if name == F::DATE {
                date = Some(map.next_value()?);
            } else if name == F::OFFSET {
                offset = Some(map.next_value()?);
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        let date = date.ok_or_else(|| A::Error::missing_field(F::DATE))?;
        let offset = offset.ok_or_else(|| A::Error::missing_field(F::OFFSET))?;
        Ok(LocalTime::new(date, offset))
    }
}

#[cfg(test)]
mod tests {
    use bson::DateTime;
    use proptest::prelude::*;

    use super::LocalTime;
    use crate::types::time::{Iso, JavaScript, Offset, TimeError};

    type Time = LocalTime<Iso>;

    #[test]
    fn text_is_read_exactly() {
        let time: Time = "2026-03-29T00:30:00.250-11:30".parse().unwrap();
        assert_eq!(time.to_string(), "2026-03-29T00:30:00.250-11:30");
        assert_eq!(time.instant().timestamp_millis(), 1_774_785_600_250);
        assert_eq!(
            "1970-01-01t00:00:00z".parse::<Time>().unwrap().instant(),
            DateTime::from_millis(0)
        );
        let precise = "2026-03-29T00:30:00.2501+00:00";
        assert_eq!(
            precise.parse::<Time>(),
            Err(TimeError::TooPrecise(precise.to_owned()))
        );
        assert_eq!(Time::parse_truncated(precise).unwrap().millisecond(), 250);
        assert!("2026-03-29T00:30:00.250000+00:00".parse::<Time>().is_ok());
        assert_eq!(
            "2026-03-29T00:30:00+18:01".parse::<Time>(),
            Err(TimeError::Offset { minutes: 1_081 })
        );
        for wrong in [
            "",
            "2026-03-29",
            "2026-02-29T00:00:00Z",
            "2026-03-29T24:00:00Z",
            "2026-03-29T00:00:00",
            "2026-03-29T00:00:00.Z",
            "2026-03-29T00:00:00Z ",
        ] {
            assert_eq!(
                wrong.parse::<Time>(),
                Err(TimeError::NotATime(wrong.to_owned()))
            );
        }
    }

    #[test]
    fn forms_store_opposite_signs() {
        let time: Time = "2026-03-29T10:30:00+02:00".parse().unwrap();
        let javascript = time.to_form::<JavaScript>();
        assert_eq!(
            (time.offset().stored(), javascript.offset().stored()),
            (120, -120)
        );
        assert_eq!(javascript.to_string(), time.to_string());
        let far = bson::doc! {"date": DateTime::from_millis(0), "offset": 1_081};
        assert!(bson::deserialize_from_document::<Time>(far).is_err());
        let half = bson::doc! {"date": DateTime::from_millis(0), "offset": 0.5};
        assert!(bson::deserialize_from_document::<Time>(half).is_err());
    }

    proptest! {
        #[test]
        fn text_and_documents_are_read_back(
            millis in -62_000_000_000_000_i64..250_000_000_000_000,
            minutes in -1_080_i32..=1_080,
        ) {
            let time = LocalTime::<JavaScript>::new(DateTime::from_millis(millis), Offset::from_minutes_east(minutes).unwrap());
            let again: LocalTime<JavaScript> = time.to_string().parse().unwrap();
            prop_assert_eq!((again, again.offset()), (time, time.offset()));
            let stored = bson::serialize_to_document(&time).unwrap();
            let again: LocalTime<JavaScript> = bson::deserialize_from_document(stored).unwrap();
            prop_assert_eq!((again, again.offset()), (time, time.offset()));
        }
    }
}
