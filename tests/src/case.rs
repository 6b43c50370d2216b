//! One test of the suite.

use futures::future::LocalBoxFuture;
use odm::Db;

/// A test that any store passes; made by `cases!`.
#[derive(Debug, Clone, Copy)]
pub struct Case {
    /// `odm_tests::suite::filters::equality`
    pub name: &'static str,
    /// Runs it on a fresh, empty database; it panics when it fails.
    pub run: for<'a> fn(&'a Db) -> LocalBoxFuture<'a, ()>,
}

impl Case {
    /// `filters::equality`
    pub fn short_name(&self) -> &'static str {
        self.name
            .rsplit_once("suite::")
            .map_or(self.name, |(_, name)| name)
    }
}

/// Names the cases of a feature: `cases![equality, ranges];` makes the file's `CASES`.
macro_rules! cases {
    ($($name:ident),* $(,)?) => {
        pub(super) const CASES: &[$crate::Case] = &[$($crate::Case {
            name: concat!(module_path!(), "::", stringify!($name)),
            run: |db| Box::pin($name(db)),
        }),*];
    };
}
pub(crate) use cases;
