//! Named time zones, by the crate `jiff`.

use bson::DateTime;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan, Zoned};

use super::{CivilDay, InstantRange, LocalTime, Offset, TimeError};

impl CivilDay {
    /// The day in a zone of the IANA database, from its first instant to the first of the next day.
    ///
    /// A day has 23 or 25 hours where clocks change, starts at 01:00 where they are set forward at midnight, and is empty
    /// where the calendar skips it. The ranges of successive days meet. Where clocks were set back over midnight, as in
    /// St. John's until 2011, each of the two days is the range between first midnights.
    ///
    /// ```
    /// use odm::time::day;
    ///
    /// let range = day("2026-03-29")?.in_zone("Europe/Berlin")?;
    /// assert_eq!(range.start().to_string(), "2026-03-28 23:00:00.0 +00:00:00");
    /// assert_eq!(range.millis(), 23 * 3_600_000);
    /// // Samoa went to the other side of the date line.
    /// assert!(day("2011-12-30")?.in_zone("Pacific/Apia")?.is_empty());
    /// # Ok::<(), odm::time::TimeError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The database has no such zone, or the day is at an end of the range of times.
    pub fn in_zone(self, name: &str) -> Result<InstantRange, TimeError> {
        let zone = TimeZone::get(name).map_err(|_| TimeError::UnknownZone(name.to_owned()))?;
        self.in_time_zone(&zone)
    }

    /// The day in this zone; see [`in_zone`](Self::in_zone).
    ///
    /// ```
    /// # use odm::time::day;
    /// let berlin = jiff::tz::TimeZone::get("Europe/Berlin")?;
    /// let range = day("2026-03-29")?.in_time_zone(&berlin)?;
    /// assert_eq!(range.millis(), 23 * 3_600_000);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The day is at an end of the range of times.
    pub fn in_time_zone(self, zone: &TimeZone) -> Result<InstantRange, TimeError> {
        let out_of_range = |_| TimeError::OutOfRange(self.to_string());
        let (year, month, day) = (
            i16::try_from(self.year()).unwrap_or(i16::MAX),
            i8::try_from(self.month()).unwrap_or(i8::MAX),
            i8::try_from(self.day()).unwrap_or(i8::MAX),
        );
        let today = Date::new(year, month, day).map_err(out_of_range)?;
        let tomorrow = today.checked_add(1.day()).map_err(out_of_range)?;
        let start = |date: Date| {
            let start = date.to_zoned(zone.clone()).map_err(out_of_range)?;
            Ok(start.timestamp().as_millisecond())
        };
        Ok(InstantRange::from_millis(start(today)?, start(tomorrow)?))
    }
}

impl<F> LocalTime<F> {
    /// The time of this instant in its zone.
    ///
    /// ```
    /// # use odm::time::{Iso, LocalTime};
    /// let zoned: jiff::Zoned = "2026-03-29T10:30:00+02:00[Europe/Berlin]".parse()?;
    /// let time = LocalTime::<Iso>::from_zoned(&zoned)?;
    /// assert_eq!(time.to_string(), "2026-03-29T10:30:00+02:00");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The instant has fractions of a millisecond, which [`truncated_from_zoned`](Self::truncated_from_zoned) drops; or the
    /// offset has seconds, as local mean times do.
    pub fn from_zoned(time: &Zoned) -> Result<Self, TimeError> {
        if time.timestamp().subsec_nanosecond() % 1_000_000 != 0 {
            return Err(TimeError::TooPrecise(time.to_string()));
        }
        Self::truncated_from_zoned(time)
    }

    /// The time of this instant in its zone, without the fractions of a millisecond.
    ///
    /// ```
    /// # use odm::time::{Iso, LocalTime};
    /// let zoned: jiff::Zoned = "2026-03-29T10:30:00.1239+02:00[Europe/Berlin]".parse()?;
    /// let time = LocalTime::<Iso>::truncated_from_zoned(&zoned)?;
    /// assert_eq!(time.to_string(), "2026-03-29T10:30:00.123+02:00");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The offset has seconds, as local mean times do.
    pub fn truncated_from_zoned(time: &Zoned) -> Result<Self, TimeError> {
        let seconds = time.offset().seconds();
        if seconds % 60 != 0 {
            return Err(TimeError::OutOfRange(time.to_string()));
        }
        let offset = Offset::from_minutes_east(seconds / 60)?;
        // Towards the past, also before 1970.
        let millis = time.timestamp().as_nanosecond().div_euclid(1_000_000);
        let millis = i64::try_from(millis).map_err(|_| TimeError::OutOfRange(time.to_string()))?;
        Ok(Self::new(DateTime::from_millis(millis), offset))
    }

    /// The time of this instant in a zone of the IANA database: what the clocks showed there.
    ///
    /// ```
    /// # use odm::bson::DateTime;
    /// # use odm::time::{Iso, LocalTime};
    /// let instant = DateTime::parse_rfc3339_str("2026-03-29T08:30:00Z")?;
    /// let time = LocalTime::<Iso>::in_zone(instant, "Europe/Berlin")?;
    /// assert_eq!(time.to_string(), "2026-03-29T10:30:00+02:00");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The database has no such zone; or the offset has seconds, as local mean times do.
    pub fn in_zone(instant: DateTime, name: &str) -> Result<Self, TimeError> {
        let out_of_range = |_| TimeError::OutOfRange(instant.to_string());
        let zone = TimeZone::get(name).map_err(|_| TimeError::UnknownZone(name.to_owned()))?;
        let timestamp =
            Timestamp::from_millisecond(instant.timestamp_millis()).map_err(out_of_range)?;
        Self::from_zoned(&timestamp.to_zoned(zone))
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use jiff::tz::TimeZone;
    use proptest::prelude::*;

    use crate::types::time::{CivilDay, Iso, LocalTime, day};

    const HOUR: u64 = 3_600_000;

    #[test]
    fn days_follow_the_clocks() {
        let hours = |text: &str, zone: &str| {
            let range = day(text).unwrap().in_zone(zone).unwrap();
            let start = LocalTime::<Iso>::in_zone(range.start(), zone).unwrap();
            (range.millis() / HOUR, start.hour())
        };
        assert_eq!(hours("2026-03-29", "Europe/Berlin"), (23, 0));
        assert_eq!(hours("2026-10-25", "Europe/Berlin"), (25, 0));
        // Clocks were set forward at midnight.
        assert_eq!(hours("2018-11-04", "America/Sao_Paulo"), (23, 1));
        // Clocks were set back at midnight: the day before is longer.
        assert_eq!(hours("2018-02-17", "America/Sao_Paulo"), (25, 0));
        assert_eq!(hours("2011-12-29", "Pacific/Apia"), (24, 0));
        let skipped = day("2011-12-30").unwrap().in_zone("Pacific/Apia").unwrap();
        assert!(skipped.is_empty());
        assert!(
            day("2026-03-29")
                .unwrap()
                .in_zone("Europe/Bielefeld")
                .is_err()
        );
    }

    #[test]
    fn zoned_times_are_truncated_by_name() {
        let zoned: jiff::Zoned = "1969-12-31T23:59:59.9999+01:00[Europe/Berlin]"
            .parse()
            .unwrap();
        assert!(LocalTime::<Iso>::from_zoned(&zoned).is_err());
        let time = LocalTime::<Iso>::truncated_from_zoned(&zoned).unwrap();
        assert_eq!(time.to_string(), "1969-12-31T23:59:59.999+01:00");
    }

    const ZONES: &[&str] = &[
        "Europe/Berlin",
        "Europe/London",
        "America/New_York",
        "America/Sao_Paulo",
        "America/Havana",
        "Asia/Tehran",
        "Asia/Kathmandu",
        "Asia/Beirut",
        "Africa/Cairo",
        "Australia/Lord_Howe",
        "Pacific/Apia",
        "Pacific/Kiritimati",
        "Pacific/Chatham",
        "Asia/Gaza",
        "America/Asuncion",
        "Antarctica/Troll",
        "UTC",
    ];

    proptest! {
        /// Against jiff's own arithmetic: an instant is in the range of the day that its calendar shows.
        #[test]
        fn an_instant_is_in_its_day(zone in 0..ZONES.len(), second in -1_500_000_000_i64..4_000_000_000) {
            let name = ZONES[zone];
            let timestamp = Timestamp::from_second(second).unwrap();
            let zoned = timestamp.to_zoned(TimeZone::get(name).unwrap());
            let date = zoned.date();
            let of = |date: jiff::civil::Date| {
                let day = CivilDay::new(date.year().into(), date.month().try_into().unwrap(), date.day().try_into().unwrap());
                day.unwrap().in_zone(name).unwrap()
            };
            let range = of(date);
            let instant = bson::DateTime::from_millis(second * 1_000);
            prop_assert!(range.contains(instant), "{} {:?}", zoned, range);
            let (yesterday, tomorrow) = (of(date.yesterday().unwrap()), of(date.tomorrow().unwrap()));
            prop_assert_eq!(yesterday.end(), range.start());
            prop_assert_eq!(range.end(), tomorrow.start());
            let start = zoned.start_of_day().unwrap().timestamp().as_millisecond();
            prop_assert_eq!(range.start().timestamp_millis(), start);
        }
    }
}
