//! The option methods, defined once for all builders.

/// Emits the named option methods for a builder with a field `call`.
macro_rules! options {
    ($($name:ident)*) => { $( options!(@ $name); )* };
    (@ session) => {
        /// Runs in this session, and in its transaction if one is under way.
        ///
        /// ```
        /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
        /// # #[tokio::main(flavor = "current_thread")]
        /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
        /// # let (db, books) = three_books().await?;
        /// let mut session = db.start_session().await?;
        /// session.start_transaction().await?;
        /// books.delete_one(|b| b.id.eq(1)).session(&mut session).await?;
        /// assert_eq!(books.find_all().session(&mut session).all().await?.len(), 2);
        /// session.abort_transaction().await?;
        /// assert_eq!(books.find_all().all().await?.len(), 3);
        /// # Ok(())
        /// # }
        /// ```
        pub fn session(mut self, session: &'s mut crate::store::Session) -> Self {
            self.call.session = Some(session);
            self
        }
    };
    (@ in_session) => {
        /// Runs in the session of a channel, if it has one.
        pub(crate) fn in_session(mut self, session: Option<&'s mut crate::store::Session>) -> Self {
            self.call.session = session;
            self
        }
    };
    (@ leave_dangling) => {
        /// Leaves documents that refer to the deleted ones as they are, although the model declares `on_delete` for them.
        ///
        /// ```
        /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/on_delete.rs"));
        /// # #[tokio::main(flavor = "current_thread")]
        /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
        /// # let db = a_shelf().await?;
        /// let authors = db.collection::<Author>();
        /// authors.delete_one(|a| a.id.eq(1)).leave_dangling().await?;
        /// let rows = db.collection::<Book>().find_all().join(|b| b.author).all().await?;
        /// assert!(rows.iter().all(|row| row.author().found().is_none()));
        /// # Ok(())
        /// # }
        /// ```
        pub fn leave_dangling(mut self) -> Self {
            self.call.leaves_dangling = true;
            self
        }
    };
    (@ leave_stale) => {
        /// Leaves what follows from the write as it is: copies that are declared by `copy_of`, references that refer back by
        /// `two_way`, summaries such as a `count_of`, and lists of the newest (`recent`).
        ///
        /// [`refresh_copies`](crate::collection::Collection::refresh_copies),
        /// [`refresh_two_way`](crate::collection::Collection::refresh_two_way),
        /// [`refresh_summaries`](crate::collection::Collection::refresh_summaries) and
        /// [`refresh_recent`](crate::collection::Collection::refresh_recent) write them later.
        ///
        /// ```
        /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/copies.rs"));
        /// # #[tokio::main(flavor = "current_thread")]
        /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
        /// # let db = two_hosts().await?;
        /// let hosts = db.collection::<Host>();
        /// hosts.update_by_id(&1, |h| h.ipaddr.set("127.0.0.9")).leave_stale().await?;
        /// let messages = db.collection::<LogMessage>();
        /// assert_eq!(messages.check_copies().await?.damages, 3);
        /// assert_eq!(messages.refresh_copies().await?.updated, 3);
        /// # Ok(())
        /// # }
        /// ```
        pub fn leave_stale(mut self) -> Self {
            self.call.leaves_stale = true;
            self
        }
    };
    (@ command) => {
        /// Returns the command document without sending it.
        ///
        /// ```
        /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
        /// # #[tokio::main(flavor = "current_thread")]
        /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
        /// # let (db, books) = three_books().await?;
        /// let command = books.find(|b| b.year.lt(1900)).limit(2).command()?;
        /// assert_eq!(command, doc! {"find": "books", "filter": {"year": {"$lt": 1900}}, "limit": 2_i64});
        /// # Ok(())
        /// # }
        /// ```
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
        ///
        /// ```
        /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
        /// # #[tokio::main(flavor = "current_thread")]
        /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
        /// # let (db, books) = three_books().await?;
        /// let later = books.find_all().sort(|b| b.year.asc()).skip(1).all().await?;
        /// assert_eq!(later[0].title, "Walden");
        /// # Ok(())
        /// # }
        /// ```
        pub fn skip(mut self, skip: u64) -> Self {
            self.call.options().skip = Some(skip);
            self
        }
    };
    (@ limit) => {
        /// Returns at most this many documents; 0 means no limit, as in MongoDB.
        ///
        /// ```
        /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
        /// # #[tokio::main(flavor = "current_thread")]
        /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
        /// # let (db, books) = three_books().await?;
        /// assert_eq!(books.find_all().limit(2).all().await?.len(), 2);
        /// assert_eq!(books.find_all().limit(0).all().await?.len(), 3);
        /// # Ok(())
        /// # }
        /// ```
        pub fn limit(mut self, limit: u64) -> Self {
            // No collection has more documents than `i64::MAX`.
            self.call.options().limit = i64::try_from(limit).ok().filter(|limit| *limit > 0);
            self
        }
    };
    (@ batch_size) => {
        /// How many documents the server sends per batch.
        ///
        /// ```
        /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
        /// # #[tokio::main(flavor = "current_thread")]
        /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
        /// # let (db, books) = three_books().await?;
        /// let command = books.find_all().batch_size(500).command()?;
        /// assert_eq!(command.get_i64("batchSize")?, 500);
        /// assert_eq!(books.find_all().batch_size(1).all().await?.len(), 3);
        /// # Ok(())
        /// # }
        /// ```
        pub fn batch_size(mut self, size: u32) -> Self {
            self.call.options().batch_size = Some(size);
            self
        }
    };
    (@ hint) => {
        /// The index to use, by its name or its keys.
        ///
        /// ```
        /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
        /// # #[tokio::main(flavor = "current_thread")]
        /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
        /// # let (db, books) = three_books().await?;
        /// let by_id = books.find(|b| b.year.gt(1900)).hint("_id_");
        /// assert_eq!(by_id.explain().await?.indexes, ["_id_"]);
        /// assert!(books.find_all().hint(doc! {"year": 1}).all().await.is_err(), "there is no such index");
        /// # Ok(())
        /// # }
        /// ```
        pub fn hint(mut self, hint: impl Into<crate::store::options::Hint>) -> Self {
            self.call.options().hint = Some(hint.into());
            self
        }
    };
    (@ comment) => {
        /// A comment that appears in the server's log, profiler and `currentOp`.
        ///
        /// ```
        /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
        /// # #[tokio::main(flavor = "current_thread")]
        /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
        /// # let (db, books) = three_books().await?;
        /// let command = books.find_all().comment("nightly report").command()?;
        /// assert_eq!(command.get_str("comment")?, "nightly report");
        /// # Ok(())
        /// # }
        /// ```
        pub fn comment(mut self, comment: impl Into<bson::Bson>) -> Self {
            self.call.options().comment = Some(comment.into());
            self
        }
    };
    (@ collation) => {
        /// The rules for comparing strings. Default: the collection's collation.
        ///
        /// ```
        /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
        /// use odm::collection::Collation;
        /// # #[tokio::main(flavor = "current_thread")]
        /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
        /// # let (db, books) = three_books().await?;
        /// let any_case = Collation::new("en").strength(2);
        /// let found = books.find(|b| b.title.eq("emma")).collation(any_case).all().await?;
        /// assert_eq!(found[0].title, "Emma");
        /// # Ok(())
        /// # }
        /// ```
        pub fn collation(mut self, collation: crate::store::options::Collation) -> Self {
            self.call.options().collation = Some(collation);
            self
        }
    };
    (@ upsert) => {
        /// Whether a document is inserted when none matches.
        ///
        /// ```
        /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
        /// # #[tokio::main(flavor = "current_thread")]
        /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
        /// # let (db, books) = three_books().await?;
        /// let result = books.replace_one(|b| b.id.eq(4), book(4, "Persuasion", 1817)).upsert(true).await?;
        /// assert_eq!(result.upserted_id, Some(4));
        /// # Ok(())
        /// # }
        /// ```
        pub fn upsert(mut self, upsert: bool) -> Self {
            self.call.options().upsert = Some(upsert);
            self
        }
    };
    (@ ordered) => {
        /// Whether to stop at the first failed write (the default) or to attempt all writes.
        ///
        /// ```
        /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
        /// # #[tokio::main(flavor = "current_thread")]
        /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
        /// # let (db, books) = three_books().await?;
        /// // The first is a duplicate; the second is inserted nevertheless.
        /// let both = [book(1, "Emma", 1815), book(4, "Persuasion", 1817)];
        /// let error = books.insert_many(both).ordered(false).await.unwrap_err();
        /// assert!(error.is_bulk());
        /// assert!(books.get(&4).await?.is_some());
        /// # Ok(())
        /// # }
        /// ```
        pub fn ordered(mut self, ordered: bool) -> Self {
            self.call.options().ordered = Some(ordered);
            self
        }
    };
    (@ bypass_document_validation) => {
        /// Whether to skip the collection's validator.
        ///
        /// ```
        /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
        /// # #[tokio::main(flavor = "current_thread")]
        /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
        /// # let (db, books) = three_books().await?;
        /// let insert = books.insert_one(book(4, "Persuasion", 1817)).bypass_document_validation(true);
        /// assert!(insert.command()?.get_bool("bypassDocumentValidation")?);
        /// # Ok(())
        /// # }
        /// ```
        pub fn bypass_document_validation(mut self, bypass: bool) -> Self {
            self.call.options().bypass_document_validation = Some(bypass);
            self
        }
    };
    (@ let_vars) => {
        /// Variables for aggregation expressions, as `$$name`.
        ///
        /// ```
        /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
        /// # #[tokio::main(flavor = "current_thread")]
        /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
        /// # let (db, books) = three_books().await?;
        /// let filter = doc! {"$expr": {"$lt": ["$year", "$$year"]}};
        /// let found = books.find(|_| Filter::raw(filter)).let_vars(doc! {"year": 1850}).all().await?;
        /// assert_eq!(found[0].title, "Emma");
        /// # Ok(())
        /// # }
        /// ```
        pub fn let_vars(mut self, variables: bson::Document) -> Self {
            self.call.options().let_vars = Some(variables);
            self
        }
    };
    (@ max_time) => {
        /// How long the server may take; the action fails with code 50 when it takes longer.
        ///
        /// ```
        /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
        /// # #[tokio::main(flavor = "current_thread")]
        /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
        /// # let (db, books) = three_books().await?;
        /// use std::time::Duration;
        ///
        /// let command = books.find_all().max_time(Duration::from_secs(2)).command()?;
        /// assert_eq!(command.get("maxTimeMS"), Some(&2_000.into()));
        /// # Ok(())
        /// # }
        /// ```
        pub fn max_time(mut self, time: std::time::Duration) -> Self {
            self.call.options().max_time = Some(time);
            self
        }
    };
    (@ allow_disk_use) => {
        /// Whether a large sort or group may spill to disk.
        ///
        /// ```
        /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
        /// # #[tokio::main(flavor = "current_thread")]
        /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
        /// # let (db, books) = three_books().await?;
        /// let command = books.find_all().sort(|b| b.title.asc()).allow_disk_use(true).command()?;
        /// assert!(command.get_bool("allowDiskUse")?);
        /// # Ok(())
        /// # }
        /// ```
        pub fn allow_disk_use(mut self, allow: bool) -> Self {
            self.call.options().allow_disk_use = Some(allow);
            self
        }
    };
    (@ min) => {
        /// The inclusive lower bound of the scan of the [`hint`](Self::hint)ed index.
        ///
        /// ```
        /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
        /// # #[tokio::main(flavor = "current_thread")]
        /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
        /// # let (db, books) = three_books().await?;
        /// let from = books.find_all().hint("_id_").min(doc! {"_id": 2});
        /// assert_eq!(from.all().await?.len(), 2);
        /// # Ok(())
        /// # }
        /// ```
        pub fn min(mut self, keys: bson::Document) -> Self {
            self.call.options().min = Some(keys);
            self
        }
    };
    (@ max) => {
        /// The exclusive upper bound of the scan of the [`hint`](Self::hint)ed index.
        ///
        /// ```
        /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
        /// # #[tokio::main(flavor = "current_thread")]
        /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
        /// # let (db, books) = three_books().await?;
        /// let before = books.find_all().hint("_id_").max(doc! {"_id": 3});
        /// assert_eq!(before.all().await?.len(), 2);
        /// # Ok(())
        /// # }
        /// ```
        pub fn max(mut self, keys: bson::Document) -> Self {
            self.call.options().max = Some(keys);
            self
        }
    };
    (@ allow_partial_results) => {
        /// Whether to return the results of the available shards while others are down.
        ///
        /// ```
        /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
        /// # #[tokio::main(flavor = "current_thread")]
        /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
        /// # let (db, books) = three_books().await?;
        /// let command = books.find_all().allow_partial_results(true).command()?;
        /// assert!(command.get_bool("allowPartialResults")?);
        /// # Ok(())
        /// # }
        /// ```
        pub fn allow_partial_results(mut self, allow: bool) -> Self {
            self.call.options().allow_partial_results = Some(allow);
            self
        }
    };
    (@ no_cursor_timeout) => {
        /// Whether the server keeps the cursor open no matter how long it is idle.
        ///
        /// ```
        /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
        /// # #[tokio::main(flavor = "current_thread")]
        /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
        /// # let (db, books) = three_books().await?;
        /// let command = books.find_all().no_cursor_timeout(true).command()?;
        /// assert!(command.get_bool("noCursorTimeout")?);
        /// # Ok(())
        /// # }
        /// ```
        pub fn no_cursor_timeout(mut self, keep: bool) -> Self {
            self.call.options().no_cursor_timeout = Some(keep);
            self
        }
    };
    (@ show_record_id) => {
        /// Whether to add a field `$recordId` to each document; read it with a type that has this field.
        ///
        /// ```
        /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
        /// # #[tokio::main(flavor = "current_thread")]
        /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
        /// # let (db, books) = three_books().await?;
        /// let raw = books.find_all().show_record_id(true).with_type::<odm::bson::Document>().all().await?;
        /// assert!(raw[0].contains_key("$recordId"));
        /// # Ok(())
        /// # }
        /// ```
        pub fn show_record_id(mut self, show: bool) -> Self {
            self.call.options().show_record_id = Some(show);
            self
        }
    };
    (@ return_key) => {
        /// Whether to return only the index keys; read them with a type that has these fields.
        ///
        /// ```
        /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
        /// # #[tokio::main(flavor = "current_thread")]
        /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
        /// # let (db, books) = three_books().await?;
        /// let find = books.find(|b| b.id.eq(2)).return_key(true);
        /// let keys = find.with_type::<odm::bson::Document>().all().await?;
        /// assert_eq!(keys, [doc! {"_id": 2}]);
        /// # Ok(())
        /// # }
        /// ```
        pub fn return_key(mut self, keys: bool) -> Self {
            self.call.options().return_key = Some(keys);
            self
        }
    };
    (@ return_document) => {
        /// Whether the document is returned as it was before (the default) or after the change.
        ///
        /// ```
        /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
        /// use odm::collection::ReturnDocument;
        /// # #[tokio::main(flavor = "current_thread")]
        /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
        /// # let (db, books) = three_books().await?;
        /// let update = books.find_one_and_update(|b| b.id.eq(1), |b| b.year.inc(1));
        /// let after = update.return_document(ReturnDocument::After).await?;
        /// assert_eq!(after.map(|book| book.year), Some(1816));
        /// # Ok(())
        /// # }
        /// ```
        pub fn return_document(mut self, returned: crate::store::options::ReturnDocument) -> Self {
            self.call.options().return_document = Some(returned);
            self
        }
    };
    (@ read_concern) => {
        /// Overrides the collection's read concern.
        ///
        /// ```
        /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
        /// use odm::collection::ReadConcern;
        /// # #[tokio::main(flavor = "current_thread")]
        /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
        /// # let (db, books) = three_books().await?;
        /// let books = books.with_read_concern(ReadConcern::Majority);
        /// let command = books.find_all().read_concern(ReadConcern::Local).command()?;
        /// assert_eq!(command.get_document("readConcern")?, &doc! {"level": "local"});
        /// # Ok(())
        /// # }
        /// ```
        pub fn read_concern(mut self, concern: crate::store::options::ReadConcern) -> Self {
            self.call.options().read_concern = Some(concern);
            self
        }
    };
    (@ write_concern) => {
        /// Overrides the collection's write concern.
        ///
        /// ```
        /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
        /// use odm::collection::WriteConcern;
        /// # #[tokio::main(flavor = "current_thread")]
        /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
        /// # let (db, books) = three_books().await?;
        /// let books = books.with_write_concern(WriteConcern::majority());
        /// let delete = books.delete_one(|b| b.id.eq(1)).write_concern(WriteConcern::nodes(1));
        /// assert_eq!(delete.command()?.get_document("writeConcern")?, &doc! {"w": 1});
        /// # Ok(())
        /// # }
        /// ```
        pub fn write_concern(mut self, concern: crate::store::options::WriteConcern) -> Self {
            self.call.options().write_concern = Some(concern);
            self
        }
    };
    (@ read_preference) => {
        /// Overrides the collection's read preference.
        ///
        /// ```
        /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
        /// use odm::collection::ReadPreference;
        /// # #[tokio::main(flavor = "current_thread")]
        /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
        /// # let (db, books) = three_books().await?;
        /// let books = books.with_read_preference(ReadPreference::secondary_preferred());
        /// let command = books.find_all().read_preference(ReadPreference::primary()).command()?;
        /// assert_eq!(command.get_document("$readPreference")?, &doc! {"mode": "primary"});
        /// # Ok(())
        /// # }
        /// ```
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
        ///
        /// ```
        /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
        /// # #[tokio::main(flavor = "current_thread")]
        /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
        /// # let (db, books) = three_books().await?;
        /// let sorted = books.find_all().sort(|b| b.year.desc().then(b.title.asc())).all().await?;
        /// assert_eq!(sorted[0].title, "Ulysses");
        /// # Ok(())
        /// # }
        /// ```
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
        ///
        /// ```
        /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
        /// # #[tokio::main(flavor = "current_thread")]
        /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
        /// # let (db, books) = three_books().await?;
        /// let plan = books.find(|b| b.year.lt(1900)).explain().await?;
        /// assert!(plan.indexes.is_empty(), "no index serves it");
        /// assert_eq!((plan.documents_examined, plan.returned), (3, 2));
        /// # Ok(())
        /// # }
        /// ```
        pub async fn explain(self) -> crate::error::Result<crate::collection::Explain> {
            self.call.explain().await
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
