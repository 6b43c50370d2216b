//! The option methods, defined once for all builders.

/// Emits the named option methods for a builder with a field `call`.
macro_rules! options {
    ($($name:ident)*) => { $( options!(@ $name); )* };
    (@ session) => {
        /// Runs in this session, and in its transaction if one is under way.
        pub fn session(mut self, session: &'s mut crate::store::Session) -> Self {
            self.call.session = Some(session);
            self
        }
    };
    (@ command) => {
        /// Returns the command document without sending it.
        ///
        /// # Errors
        ///
        /// The builder's first error: a value that can't be encoded, or an invalid request.
        pub fn command(self) -> crate::error::Result<bson::Document> {
            self.call.command()
        }
    };
    (@ skip) => {
        /// Skips this many documents.
        pub fn skip(mut self, skip: u64) -> Self {
            self.call.options().skip = Some(skip);
            self
        }
    };
    (@ limit) => {
        /// Returns at most this many documents; 0 means no limit, as in MongoDB.
        pub fn limit(mut self, limit: u64) -> Self {
            // No collection has more documents than `i64::MAX`.
            self.call.options().limit = i64::try_from(limit).ok().filter(|limit| *limit > 0);
            self
        }
    };
    (@ batch_size) => {
        /// How many documents the server sends per batch.
        pub fn batch_size(mut self, size: u32) -> Self {
            self.call.options().batch_size = Some(size);
            self
        }
    };
    (@ hint) => {
        /// The index to use, by its name or its keys.
        pub fn hint(mut self, hint: impl Into<crate::store::options::Hint>) -> Self {
            self.call.options().hint = Some(hint.into());
            self
        }
    };
    (@ comment) => {
        /// A comment that appears in the server's log, profiler and `currentOp`.
        pub fn comment(mut self, comment: impl Into<bson::Bson>) -> Self {
            self.call.options().comment = Some(comment.into());
            self
        }
    };
    (@ collation) => {
        /// The rules for comparing strings. Default: the collection's collation.
        pub fn collation(mut self, collation: crate::store::options::Collation) -> Self {
            self.call.options().collation = Some(collation);
            self
        }
    };
    (@ upsert) => {
        /// Whether a document is inserted when none matches.
        pub fn upsert(mut self, upsert: bool) -> Self {
            self.call.options().upsert = Some(upsert);
            self
        }
    };
    (@ ordered) => {
        /// Whether to stop at the first failed write (the default) or to attempt all writes.
        pub fn ordered(mut self, ordered: bool) -> Self {
            self.call.options().ordered = Some(ordered);
            self
        }
    };
    (@ bypass_document_validation) => {
        /// Whether to skip the collection's validator.
        pub fn bypass_document_validation(mut self, bypass: bool) -> Self {
            self.call.options().bypass_document_validation = Some(bypass);
            self
        }
    };
    (@ let_vars) => {
        /// Variables for aggregation expressions, as `$$name`.
        pub fn let_vars(mut self, variables: bson::Document) -> Self {
            self.call.options().let_vars = Some(variables);
            self
        }
    };
    (@ max_time) => {
        /// How long the server may take; the action fails with code 50 when it takes longer.
        pub fn max_time(mut self, time: std::time::Duration) -> Self {
            self.call.options().max_time = Some(time);
            self
        }
    };
    (@ allow_disk_use) => {
        /// Whether a large sort or group may spill to disk.
        pub fn allow_disk_use(mut self, allow: bool) -> Self {
            self.call.options().allow_disk_use = Some(allow);
            self
        }
    };
    (@ min) => {
        /// The inclusive lower bound of the scan of the [`hint`](Self::hint)ed index.
        pub fn min(mut self, keys: bson::Document) -> Self {
            self.call.options().min = Some(keys);
            self
        }
    };
    (@ max) => {
        /// The exclusive upper bound of the scan of the [`hint`](Self::hint)ed index.
        pub fn max(mut self, keys: bson::Document) -> Self {
            self.call.options().max = Some(keys);
            self
        }
    };
    (@ allow_partial_results) => {
        /// Whether to return the results of the available shards while others are down.
        pub fn allow_partial_results(mut self, allow: bool) -> Self {
            self.call.options().allow_partial_results = Some(allow);
            self
        }
    };
    (@ no_cursor_timeout) => {
        /// Whether the server keeps the cursor open no matter how long it is idle.
        pub fn no_cursor_timeout(mut self, keep: bool) -> Self {
            self.call.options().no_cursor_timeout = Some(keep);
            self
        }
    };
    (@ show_record_id) => {
        /// Whether to add a field `$recordId` to each document; read it with a type that has this field.
        pub fn show_record_id(mut self, show: bool) -> Self {
            self.call.options().show_record_id = Some(show);
            self
        }
    };
    (@ return_key) => {
        /// Whether to return only the index keys; read them with a type that has these fields.
        pub fn return_key(mut self, keys: bool) -> Self {
            self.call.options().return_key = Some(keys);
            self
        }
    };
    (@ return_document) => {
        /// Whether the document is returned as it was before (the default) or after the change.
        pub fn return_document(mut self, returned: crate::store::options::ReturnDocument) -> Self {
            self.call.options().return_document = Some(returned);
            self
        }
    };
    (@ read_concern) => {
        /// Overrides the collection's read concern.
        pub fn read_concern(mut self, concern: crate::store::options::ReadConcern) -> Self {
            self.call.options().read_concern = Some(concern);
            self
        }
    };
    (@ write_concern) => {
        /// Overrides the collection's write concern.
        pub fn write_concern(mut self, concern: crate::store::options::WriteConcern) -> Self {
            self.call.options().write_concern = Some(concern);
            self
        }
    };
    (@ read_preference) => {
        /// Overrides the collection's read preference.
        pub fn read_preference(
            mut self,
            preference: crate::store::options::ReadPreference,
        ) -> Self {
            self.call.options().read_preference = Some(preference);
            self
        }
    };
    (@ sort) => {
        /// The sort order: `|book| book.year.desc().then(book.title.asc())`.
        pub fn sort(
            mut self,
            order: impl crate::query::SortFn<M>,
        ) -> Self {
            let order = order(crate::query::fields::<M>()).to_document();
            let order = self.call.keep(order);
            self.call.options().sort = Some(order);
            self
        }
    };
    (@ explain) => {
        /// Returns the query plan with its execution statistics. Nothing is written.
        pub async fn explain(self) -> crate::error::Result<crate::collection::Explain> {
            crate::collection::explain::explain(self.call).await
        }
    };
}

/// Implements `IntoFuture` for a builder over `'s` and `M` by boxing the future of its `run` method.
macro_rules! action {
    // This form needs no box: `run` returns an `ActionFuture`.
    ($builder:ident => ActionFuture<$output:ty $(, $kept:ty)?>) => {
        impl<'s, M: crate::model::Document> IntoFuture for $builder<'s, M> {
            type Output = crate::error::Result<$output>;
            type IntoFuture = crate::collection::ActionFuture<'s, $output $(, $kept)?>;

            #[inline]
            fn into_future(self) -> Self::IntoFuture {
                self.run()
            }
        }
    };
    ($builder:ident => $output:ty) => {
        impl<'s, M: crate::model::Document> IntoFuture for $builder<'s, M> {
            type Output = crate::error::Result<$output>;
            type IntoFuture = futures_core::future::BoxFuture<'s, Self::Output>;

            fn into_future(self) -> Self::IntoFuture {
                Box::pin(self.run())
            }
        }
    };
}

pub(crate) use {action, options};
