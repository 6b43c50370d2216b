//! The typed fields of a [`LocalTime`].

use bson::{DateTime, doc};

use super::{CivilDay, InstantRange, LocalTime, Offset, OffsetForm, Sign};
use crate::model::{Contents, Path, Segment};
use crate::query::compare::filter_path;
use crate::query::deferred::Deferred;
use crate::query::{Field, Filter, FromRaw, Sort};
use crate::types::compound::compound;

compound! {
    /// The typed field of a [`LocalTime`]: its comparisons and sorts are those of the instant.
    ///
    /// It derefs to a [`Field`], which has the other methods, such as `set` of an `Option` and `exists`.
    pub struct LocalTimeFields of LocalTime<F: OffsetForm> in Field<M, As> {} {
        /// The instant.
        date: DateTime = F::DATE,
        /// The offset of the writer's clock.
        offset: Offset<F> = F::OFFSET,
    }
    ordered_by: Some("date"),
    // A value, and not an embedded document that lists would have to bound.
    contents: Contents::NONE,
}

/// A value that a local time in the form `F` is compared with: an instant, or a local time in the same form.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not comparable with a local time in the form `{F}`",
    label = "expected a `bson::DateTime` or a `LocalTime<{F}>`",
    note = "of a local time in another form, write `.instant()`"
)]
pub trait IntoInstant<F> {
    /// The instant.
    fn into_instant(self) -> DateTime;
}

impl<F> IntoInstant<F> for DateTime {
    fn into_instant(self) -> DateTime {
        self
    }
}

impl<F> IntoInstant<F> for LocalTime<F> {
    fn into_instant(self) -> DateTime {
        self.instant()
    }
}

impl<F> IntoInstant<F> for &LocalTime<F> {
    fn into_instant(self) -> DateTime {
        self.instant()
    }
}

impl<M, F: OffsetForm, As> LocalTimeFields<M, F, As> {
    /// Matches where the field is this instant, with whatever offset: `{"at.date": instant}`.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::query::fields;
    /// # use odm::time::{Iso, LocalTime};
    /// # #[derive(Serialize, Deserialize, Embedded)]
    /// # struct Sale { at: LocalTime<Iso> }
    /// let noon: LocalTime<Iso> = "2026-03-29T12:00:00+02:00".parse()?;
    /// let filter = fields::<Sale>().at.eq(noon);
    /// assert_eq!(filter.to_document()?, doc! {"at.date": noon.instant()});
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn eq(&self, value: impl IntoInstant<F>) -> Filter<M> {
        self.date.eq(value.into_instant())
    }

    /// Matches where the field is another instant, or missing: `{"at.date": {$ne: instant}}`.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::query::fields;
    /// # use odm::time::{Iso, LocalTime};
    /// # #[derive(Serialize, Deserialize, Embedded)]
    /// # struct Sale { at: LocalTime<Iso> }
    /// let noon: LocalTime<Iso> = "2026-03-29T12:00:00+02:00".parse()?;
    /// let filter = fields::<Sale>().at.ne(noon);
    /// assert_eq!(filter.to_document()?, doc! {"at.date": {"$ne": noon.instant()}});
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn ne(&self, value: impl IntoInstant<F>) -> Filter<M> {
        self.date.ne(value.into_instant())
    }

    /// Matches later instants: `{"at.date": {$gt: instant}}`.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::query::fields;
    /// # use odm::time::{Iso, LocalTime};
    /// # #[derive(Serialize, Deserialize, Embedded)]
    /// # struct Sale { at: LocalTime<Iso> }
    /// let noon: LocalTime<Iso> = "2026-03-29T12:00:00+02:00".parse()?;
    /// let filter = fields::<Sale>().at.gt(noon);
    /// assert_eq!(filter.to_document()?, doc! {"at.date": {"$gt": noon.instant()}});
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn gt(&self, value: impl IntoInstant<F>) -> Filter<M> {
        self.date.gt(value.into_instant())
    }

    /// Matches this instant and later ones: `{"at.date": {$gte: instant}}`.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::query::fields;
    /// # use odm::time::{Iso, LocalTime};
    /// # #[derive(Serialize, Deserialize, Embedded)]
    /// # struct Sale { at: LocalTime<Iso> }
    /// let noon: LocalTime<Iso> = "2026-03-29T12:00:00+02:00".parse()?;
    /// let filter = fields::<Sale>().at.gte(noon);
    /// assert_eq!(filter.to_document()?, doc! {"at.date": {"$gte": noon.instant()}});
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn gte(&self, value: impl IntoInstant<F>) -> Filter<M> {
        self.date.gte(value.into_instant())
    }

    /// Matches earlier instants: `{"at.date": {$lt: instant}}`.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::query::fields;
    /// # use odm::time::{Iso, LocalTime};
    /// # #[derive(Serialize, Deserialize, Embedded)]
    /// # struct Sale { at: LocalTime<Iso> }
    /// let noon: LocalTime<Iso> = "2026-03-29T12:00:00+02:00".parse()?;
    /// let filter = fields::<Sale>().at.lt(noon);
    /// assert_eq!(filter.to_document()?, doc! {"at.date": {"$lt": noon.instant()}});
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn lt(&self, value: impl IntoInstant<F>) -> Filter<M> {
        self.date.lt(value.into_instant())
    }

    /// Matches this instant and earlier ones: `{"at.date": {$lte: instant}}`.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::query::fields;
    /// # use odm::time::{Iso, LocalTime};
    /// # #[derive(Serialize, Deserialize, Embedded)]
    /// # struct Sale { at: LocalTime<Iso> }
    /// let noon: LocalTime<Iso> = "2026-03-29T12:00:00+02:00".parse()?;
    /// let filter = fields::<Sale>().at.lte(noon);
    /// assert_eq!(filter.to_document()?, doc! {"at.date": {"$lte": noon.instant()}});
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn lte(&self, value: impl IntoInstant<F>) -> Filter<M> {
        self.date.lte(value.into_instant())
    }

    /// Matches where the field is one of these instants: `{"at.date": {$in: […]}}`.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::query::fields;
    /// # use odm::time::{Iso, LocalTime};
    /// # #[derive(Serialize, Deserialize, Embedded)]
    /// # struct Sale { at: LocalTime<Iso> }
    /// let noon: LocalTime<Iso> = "2026-03-29T12:00:00+02:00".parse()?;
    /// let one: LocalTime<Iso> = "2026-03-29T13:00:00+02:00".parse()?;
    /// let filter = fields::<Sale>().at.in_([noon, one]);
    /// let expected = doc! {"at.date": {"$in": [noon.instant(), one.instant()]}};
    /// assert_eq!(filter.to_document()?, expected);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn in_<V: IntoInstant<F>>(&self, values: impl IntoIterator<Item = V>) -> Filter<M> {
        self.date
            .in_(values.into_iter().map(IntoInstant::into_instant))
    }

    /// Matches if the field is missing or equals none of these instants: `{"at.date": {$nin: […]}}`.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::query::fields;
    /// # use odm::time::{Iso, LocalTime};
    /// # #[derive(Serialize, Deserialize, Embedded)]
    /// # struct Sale { at: LocalTime<Iso> }
    /// let noon: LocalTime<Iso> = "2026-03-29T12:00:00+02:00".parse()?;
    /// let one: LocalTime<Iso> = "2026-03-29T13:00:00+02:00".parse()?;
    /// let filter = fields::<Sale>().at.nin([noon, one]);
    /// let expected = doc! {"at.date": {"$nin": [noon.instant(), one.instant()]}};
    /// assert_eq!(filter.to_document()?, expected);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn nin<V: IntoInstant<F>>(&self, values: impl IntoIterator<Item = V>) -> Filter<M> {
        self.date
            .nin(values.into_iter().map(IntoInstant::into_instant))
    }

    /// Matches where the instant is in the range: `{"at.date": {$gte: start, $lt: end}}`.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::query::fields;
    /// # use odm::time::{Iso, LocalTime, day};
    /// # #[derive(Serialize, Deserialize, Embedded)]
    /// # struct Sale { at: LocalTime<Iso> }
    /// let sunday = day("2026-03-29")?.in_utc();
    /// let filter = fields::<Sale>().at.within(sunday);
    /// let expected = doc! {"at.date": {"$gte": sunday.start(), "$lt": sunday.end()}};
    /// assert_eq!(filter.to_document()?, expected);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn within(&self, range: InstantRange) -> Filter<M> {
        self.date.within(range)
    }

    /// Matches where the writer's own calendar showed this day, whatever the offset.
    ///
    /// The filter is a range of 60 hours, the instants that are on this day somewhere, which the index on the instant
    /// serves; and an `$expr` that adds the stored offset, which makes it exact. It is for fields outside of arrays.
    ///
    /// ```
    /// use odm::prelude::*;
    /// use odm::query::fields;
    /// use odm::time::{Iso, LocalTime, day};
    ///
    /// #[derive(Serialize, Deserialize, Embedded)]
    /// struct Sale {
    ///     at: LocalTime<Iso>,
    /// }
    ///
    /// let today = day("2026-03-29")?;
    /// let filter = fields::<Sale>().at.on_writers_day(today);
    /// let local = doc! {"$add": ["$at.date", {"$multiply": ["$at.offset", 60_000]}]};
    /// let (anywhere, shown) = (today.anywhere(), today.in_utc());
    /// assert_eq!(
    ///     filter.to_document()?,
    ///     doc! {
    ///         "at.date": {"$gte": anywhere.start(), "$lt": anywhere.end()},
    ///         "$expr": {"$and": [{"$gte": [&local, shown.start()]}, {"$lt": [&local, shown.end()]}]},
    ///     },
    /// );
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn on_writers_day(&self, day: CivilDay) -> Filter<M> {
        let paths = names_only(self.date.path())
            .and_then(|date| Ok((date, names_only(self.offset.path())?)));
        let (date, offset) = match paths {
            Ok(paths) => paths,
            Err(error) => return Filter::from_node(Err(error)),
        };
        let minute = match F::SIGN {
            Sign::East => 60_000,
            Sign::West => -60_000,
        };
        let local = doc! {"$add": [
            format!("${date}"),
            {"$multiply": [format!("${offset}"), minute]},
        ]};
        let (start, end) = day.shown();
        let exact = doc! {"$expr": {"$and": [
            {"$gte": [&local, start]},
            {"$lt": [&local, end]},
        ]}};
        self.within(day.anywhere()) & Filter::from_raw(exact)
    }

    /// Earliest first: `{"at.date": 1}`.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::query::fields;
    /// # use odm::time::{Iso, LocalTime};
    /// # #[derive(Serialize, Deserialize, Embedded)]
    /// # struct Sale { at: LocalTime<Iso> }
    /// assert_eq!(fields::<Sale>().at.asc().to_document()?, doc! {"at.date": 1});
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn asc(&self) -> Sort<M> {
        self.date.asc()
    }

    /// Latest first: `{"at.date": -1}`.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::query::fields;
    /// # use odm::time::{Iso, LocalTime};
    /// # #[derive(Serialize, Deserialize, Embedded)]
    /// # struct Sale { at: LocalTime<Iso> }
    /// assert_eq!(fields::<Sale>().at.desc().to_document()?, doc! {"at.date": -1});
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn desc(&self) -> Sort<M> {
        self.date.desc()
    }
}

/// The path, if an expression can name the field.
fn names_only(path: &Path) -> Result<String, Deferred> {
    let stored = filter_path(path)?;
    if path
        .segments()
        .all(|segment| matches!(segment, Segment::Name(_)))
    {
        return Ok(stored.into_owned());
    }
    Err(Deferred::usage(
        stored.into_owned(),
        "`on_writers_day` computes with the field, which expressions can't do inside of arrays: write `within(day.anywhere())`, and compare `civil_day()` of what it returns",
    ))
}
