//! Time zones: UTC, offsets, and names from the database that is compiled in.

use bson::raw::RawBsonRef;
use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::error::ServerError;
use crate::expression::calendar;
use crate::expression::operator::{Args, refuse};
use crate::expression::text;

/// The milliseconds of 400 years, after which the calendar begins anew.
const CYCLE: i64 = 146_097 * 86_400_000;

#[derive(Debug)]
pub(super) enum Zone {
    /// Milliseconds east of UTC.
    Fixed(i64),
    Named(TimeZone),
}

impl Zone {
    /// The zone of an argument, UTC where it is not written; `None` for null.
    pub(super) fn of(args: &Args<'_>, index: usize) -> Result<Option<Self>, ServerError> {
        if !args.given(index) {
            return Ok(Some(Self::Fixed(0)));
        }
        match args.get(index) {
            None | Some(RawBsonRef::Null | RawBsonRef::Undefined) => Ok(None),
            Some(RawBsonRef::String(name)) => match Self::parse(name) {
                Some(zone) => Ok(Some(zone)),
                None => refuse(
                    40485,
                    format!("unrecognized time zone identifier: \"{name}\""),
                ),
            },
            Some(_) if args.values.len() == 2 => refuse(
                40533,
                format!(
                    "{} requires a string for the timezone argument, but was given a {} ({})",
                    args.operator,
                    args.type_name(index),
                    text::computed(args.or_null(index))
                ),
            ),
            Some(_) => refuse(
                40517,
                format!(
                    "timezone must evaluate to a string, found {}",
                    args.type_name(index)
                ),
            ),
        }
    }

    fn parse(name: &str) -> Option<Self> {
        match name {
            "UTC" | "GMT" | "Etc/UTC" => return Some(Self::Fixed(0)),
            offset if offset.starts_with(['+', '-']) => {
                let is_regular = matches!(offset.len(), 3 | 5)
                    || offset.len() == 6 && offset.find(':') == Some(3);
                let minutes = is_regular
                    .then(|| calendar::zone_minutes(offset))
                    .flatten()?;
                return Some(Self::Fixed(minutes * 60_000));
            }
            _ => {}
        }
        let zone = TimeZone::get(name).ok()?;
        // A server knows a name in its own case alone.
        (zone.iana_name() == Some(name)).then_some(Self::Named(zone))
    }

    /// Milliseconds east of UTC at an instant.
    pub(super) fn offset(&self, utc: i64) -> i64 {
        match self {
            Self::Fixed(offset) => *offset,
            Self::Named(zone) => {
                let bounds = (
                    Timestamp::MIN.as_millisecond(),
                    Timestamp::MAX.as_millisecond(),
                );
                // Before the years that the database covers its first rule holds; after them, what holds in the same year
                // of the calendar's cycle.
                let known = if utc > bounds.1 {
                    bounds.1 - CYCLE + (utc - bounds.1).rem_euclid(CYCLE)
                } else {
                    utc.max(bounds.0)
                };
                let at = Timestamp::from_millisecond(known);
                at.map_or(0, |at| i64::from(zone.to_offset(at).seconds()) * 1_000)
            }
        }
    }

    /// What clocks show at an instant, as if it were in UTC.
    pub(super) fn local(&self, utc: i64) -> i64 {
        utc.saturating_add(self.offset(utc))
    }

    /// The same for a date that was moved from another one: where clocks show it twice, the time that is as far from UTC
    /// as that other one was.
    pub(super) fn utc_beside(&self, other: i64, local: i64) -> Option<i64> {
        let same = local.checked_sub(self.offset(other))?;
        if self.local(same) == local {
            return Some(same);
        }
        self.utc(local)
    }

    /// The instant at which clocks show this. Where they show it twice, it is the second time; where they never do, it is
    /// as long after the clocks are changed as it would be after the hour that they skip began.
    pub(super) fn utc(&self, local: i64) -> Option<i64> {
        const DAY: i64 = 86_400_000;
        if let Self::Fixed(offset) = self {
            return local.checked_sub(*offset);
        }
        let before = local.checked_sub(self.offset(local.checked_sub(DAY)?))?;
        let after = local.checked_sub(self.offset(local.checked_add(DAY)?))?;
        let shows = |utc| self.local(utc) == local;
        Some(if shows(after) { after } else { before })
    }
}
