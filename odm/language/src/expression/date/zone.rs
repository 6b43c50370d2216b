//! Time zones: UTC, offsets, and names from the built-in database.

use bson::raw::RawBsonRef;
use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::error::{ServerError, refuse};
use crate::expression::calendar;
use crate::expression::compat::messages;
use crate::expression::operator::Args;

/// The length of the calendar's cycle of 400 years in milliseconds.
const CYCLE: i64 = 146_097 * 86_400_000;

#[derive(Debug)]
pub(super) enum Zone {
    /// Milliseconds east of UTC.
    Fixed(i64),
    Named(TimeZone),
}

impl Zone {
    /// The zone of an argument, UTC by default; `None` for null.
    pub(super) fn of(args: &Args<'_>, index: usize) -> Result<Option<Self>, ServerError> {
        if !args.is_present(index) {
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
                    messages::computed(args.or_null(index))
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
        // mongod accepts a name in its exact case only.
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
                // Before the range of the database, its first rule applies; after it, the rule of the same year of the
                // calendar's cycle.
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

    /// The local time at an instant, as if it were in UTC.
    pub(super) fn local(&self, utc: i64) -> i64 {
        utc.saturating_add(self.offset(utc))
    }

    /// Like [`Self::utc`], for a date moved from `other`: if the local time occurs twice, prefers the offset of
    /// `other`.
    pub(super) fn utc_beside(&self, other: i64, local: i64) -> Option<i64> {
        let same = local.checked_sub(self.offset(other))?;
        if self.local(same) == local {
            return Some(same);
        }
        self.utc(local)
    }

    /// The instant of a local time. If the local time occurs twice, returns the second; if clocks skip it, the offset
    /// from before the change applies: 02:30 becomes 03:30.
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
