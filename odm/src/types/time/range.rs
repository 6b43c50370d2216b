//! [`InstantRange`]: from one instant to another, such as a day.

use bson::DateTime;

use crate::query::array::on_one_value;
use crate::query::{Encode, Field, Filter};

/// The instants from `start`, inclusive, to `end`, exclusive. A range that ends before it starts is empty.
///
/// ```
/// use odm::bson::DateTime;
/// use odm::time::day;
///
/// let range = day("2026-03-29")?.in_utc();
/// assert!(range.contains(range.start()) && !range.contains(range.end()));
/// assert_eq!(range.end(), day("2026-03-30")?.in_utc().start());
/// # Ok::<(), odm::time::TimeError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct InstantRange {
    start: DateTime,
    end: DateTime,
}

impl InstantRange {
    /// From `start`, inclusive, to `end`, exclusive.
    ///
    /// ```
    /// # use odm::bson::DateTime;
    /// # use odm::time::InstantRange;
    /// let second = InstantRange::new(DateTime::from_millis(1_000), DateTime::from_millis(2_000));
    /// assert_eq!(second.millis(), 1_000);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub const fn new(start: DateTime, end: DateTime) -> Self {
        Self { start, end }
    }

    pub(super) fn from_millis(start: i64, end: i64) -> Self {
        Self::new(DateTime::from_millis(start), DateTime::from_millis(end))
    }

    /// The first instant.
    ///
    /// ```
    /// # use odm::time::day;
    /// let range = day("2026-03-29")?.in_utc();
    /// assert_eq!(range.start().try_to_rfc3339_string()?, "2026-03-29T00:00:00Z");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub const fn start(self) -> DateTime {
        self.start
    }

    /// The instant after the last.
    ///
    /// ```
    /// # use odm::time::day;
    /// let range = day("2026-03-29")?.in_utc();
    /// assert_eq!(range.end().try_to_rfc3339_string()?, "2026-03-30T00:00:00Z");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub const fn end(self) -> DateTime {
        self.end
    }

    /// From the start of this range to the end of the other: `first_day.through(last_day)`.
    ///
    /// ```
    /// # use odm::time::day;
    /// let week = day("2026-03-23")?.in_utc().through(day("2026-03-29")?.in_utc());
    /// assert_eq!(week.millis(), 7 * 24 * 3_600_000);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub const fn through(self, last: Self) -> Self {
        Self::new(self.start, last.end)
    }

    /// Whether the instant is in the range.
    ///
    /// ```
    /// # use odm::time::day;
    /// let range = day("2026-03-29")?.in_utc();
    /// assert!(range.contains(range.start()) && !range.contains(range.end()));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn contains(self, instant: DateTime) -> bool {
        self.start <= instant && instant < self.end
    }

    /// Whether no instant is in the range.
    ///
    /// ```
    /// # use odm::time::{InstantRange, day};
    /// let range = day("2026-03-29")?.in_utc();
    /// assert!(!range.is_empty());
    /// assert!(InstantRange::new(range.end(), range.start()).is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn is_empty(self) -> bool {
        self.start >= self.end
    }

    /// How many milliseconds it has.
    ///
    /// ```
    /// # use odm::time::day;
    /// assert_eq!(day("2026-03-29")?.in_utc().millis(), 86_400_000);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn millis(self) -> u64 {
        let (start, end) = (self.start.timestamp_millis(), self.end.timestamp_millis());
        u64::try_from(end.saturating_sub(start)).unwrap_or(0)
    }
}

/// A type stored as a date: it has `within`.
#[diagnostic::on_unimplemented(
    message = "a field declared as `{Self}` is not a date",
    label = "`within` is for `bson::DateTime` and `odm::time::LocalTime`"
)]
pub trait Dated: Sized {
    /// The value that is stored as this date.
    fn from_instant(instant: DateTime) -> Self;
}

impl Dated for DateTime {
    fn from_instant(instant: DateTime) -> Self {
        instant
    }
}

#[diagnostic::do_not_recommend]
impl<T: Dated> Dated for Option<T> {
    fn from_instant(instant: DateTime) -> Self {
        Some(T::from_instant(instant))
    }
}

#[diagnostic::do_not_recommend]
impl<T: Dated> Dated for Box<T> {
    fn from_instant(instant: DateTime) -> Self {
        Self::new(T::from_instant(instant))
    }
}

impl<M, T, E: Encode<T>> Field<M, T, E> {
    /// Matches where the field is in the range: `{field: {$gte: start, $lt: end}}`. An index on the field serves it.
    ///
    /// Behind [`any`](Self::any), one element is in the range: `{list: {$elemMatch: {field: {$gte: start, $lt: end}}}}`.
    ///
    /// ```
    /// use odm::prelude::*;
    /// use odm::query::fields;
    /// use odm::time::day;
    ///
    /// #[derive(Serialize, Deserialize, Embedded)]
    /// struct Order {
    ///     paid: Option<DateTime>,
    /// }
    ///
    /// let range = day("2026-03-29")?.in_utc();
    /// let filter = fields::<Order>().paid.within(range);
    /// assert_eq!(filter.to_document()?, doc! {"paid": {"$gte": range.start(), "$lt": range.end()}});
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn within(&self, range: InstantRange) -> Filter<M>
    where
        T: Dated,
    {
        let end = |at| E::encode(&T::from_instant(at));
        let ends = [("$gte", end(range.start)), ("$lt", end(range.end))];
        Filter::from_node(on_one_value(self.path(), ends))
    }
}
