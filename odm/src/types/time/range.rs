//! [`InstantRange`]: from one instant to another, such as a day.

use bson::DateTime;

use crate::query::compare::operator;
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
    pub const fn new(start: DateTime, end: DateTime) -> Self {
        Self { start, end }
    }

    pub(super) fn from_millis(start: i64, end: i64) -> Self {
        Self::new(DateTime::from_millis(start), DateTime::from_millis(end))
    }

    /// The first instant.
    pub const fn start(self) -> DateTime {
        self.start
    }

    /// The instant after the last.
    pub const fn end(self) -> DateTime {
        self.end
    }

    /// From the start of this range to the end of the other: `first_day.through(last_day)`.
    #[must_use]
    pub const fn through(self, last: Self) -> Self {
        Self::new(self.start, last.end)
    }

    /// Whether the instant is in the range.
    pub fn contains(self, instant: DateTime) -> bool {
        self.start <= instant && instant < self.end
    }

    /// Whether no instant is in the range.
    pub fn is_empty(self) -> bool {
        self.start >= self.end
    }

    /// How many milliseconds it has.
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
        let (start, end) = (T::from_instant(range.start), T::from_instant(range.end));
        let compare =
            |name, value: &T| Filter::from_node(operator(self.path(), name, E::encode(value)));
        compare("$gte", &start) & compare("$lt", &end)
    }
}
