//! Time-series collections: `time_series`.

/// A time-series collection, as `#[odm(time_series(…))]` declares it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimeSeriesMeta {
    /// The stored name of the field with the time of a document.
    pub time: &'static str,
    /// The stored name of the field that tells series apart.
    pub meta: Option<&'static str>,
    /// `seconds`, `minutes` or `hours`; MongoDB takes `seconds` if there is none.
    pub granularity: Option<&'static str>,
    /// After how many seconds MongoDB removes documents.
    pub expire_after_seconds: Option<u32>,
}
