//! Changes of local times.

use super::Update;
use crate::query::IntoValue;
use crate::types::time::{LocalTime, LocalTimeFields, OffsetForm};
#[cfg(feature = "jiff_0_2")]
use crate::types::time::{ZonedTime, ZonedTimeFields};

impl<M, F: OffsetForm> LocalTimeFields<M, F> {
    /// Stores an instant and its offset: `{$set: {"at.date": …, "at.offset": …}}`. The two are set apart, so that a
    /// flattened local time is set, too.
    ///
    /// ```
    /// use odm::prelude::*;
    /// use odm::query::fields;
    /// use odm::time::{JavaScript, LocalTime};
    ///
    /// #[derive(Serialize, Deserialize, Embedded)]
    /// struct Visit {
    ///     at: LocalTime<JavaScript>,
    /// }
    ///
    /// let time: LocalTime<JavaScript> = "2026-03-29T10:30:00+02:00".parse()?;
    /// assert_eq!(
    ///     fields::<Visit>().at.set(time).to_document()?,
    ///     doc! {"$set": {"at.date": time.instant(), "at.offset": -120}},
    /// );
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn set(&self, value: impl IntoValue<LocalTime<F>>) -> Update<M> {
        let value = value.into_value();
        self.date.set(value.instant()) & self.offset.set(value.offset())
    }
}

#[cfg(feature = "jiff_0_2")]
impl<M, F: OffsetForm> ZonedTimeFields<M, F> {
    /// Stores an instant, its offset and its zone, each for itself, as [`LocalTimeFields::set`] does.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::query::fields;
    /// # use odm::time::{Iso, ZonedTime};
    /// # #[derive(Serialize, Deserialize, Embedded)]
    /// # struct Visit { at: ZonedTime<Iso> }
    /// let time: ZonedTime<Iso> = "2026-03-29T10:30:00+02:00[Europe/Berlin]".parse()?;
    /// let date = time.instant();
    /// let set = doc! {"at.date": date, "at.offset": 120, "at.zone": "Europe/Berlin"};
    /// assert_eq!(fields::<Visit>().at.set(time).to_document()?, doc! {"$set": set});
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn set(&self, value: impl IntoValue<ZonedTime<F>>) -> Update<M> {
        let value = value.into_value();
        let time = self.date.set(value.instant()) & self.offset.set(value.local().offset());
        time & self.zone.set(value.zone())
    }
}
