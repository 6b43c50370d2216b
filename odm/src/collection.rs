//! Databases, collections and their actions, one action per file.
//!
//! As in the official driver, each action is a builder with its options as methods; `.await` sends it.
//! `.command()` returns the command without sending it. Start at [`Db`] and [`Collection`].
//!
//! The module builds no filters ([`crate::query`]) and no updates ([`crate::update`]), and reaches the
//! database only through the store.

mod aggregate;
mod budget;
mod bulk_write;
mod by_id;
mod call;
mod count;
mod cursor;
mod db;
pub(crate) mod decode;
mod delete;
mod distinct;
mod drop;
mod find;
mod find_field;
mod find_one;
mod find_one_and;
mod find_one_or_insert;
mod guarded;
mod insert_many;
mod insert_one;
mod list;
mod nodes;
mod options;
mod pages;
mod repeated;
mod replace_one;
mod results;
mod run_command;
mod save;
mod stale;
mod sync;
mod tail;
mod template;
mod touch;
pub(crate) mod transaction;
mod update;
pub(crate) mod versions;
mod watch;
mod within;

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

pub use self::aggregate::Aggregate;
pub use self::budget::{CommandPlan, CountedCommand, OverBudget, QueryBudget};
pub use self::bulk_write::{BulkWrite, Write, Writes};
pub(crate) use self::bulk_write::{Matching, Run, Statements};
pub use self::call::ActionFuture;
pub(crate) use self::call::Call;
use self::call::{Defaults, Ready};
pub(crate) use self::call::{check_dependents, encode, encode_with_id, equality, filter, typed_id};
pub use self::count::{CountDocuments, EstimatedDocumentCount};
pub use self::cursor::Cursor;
pub use self::db::Db;
pub(crate) use self::decode::{decode, decode_id, decode_key};
pub use self::delete::Delete;
pub use self::distinct::Distinct;
pub use self::drop::DropCollection;
pub use self::find::Find;
pub(crate) use self::find::projection;
pub use self::find_field::FindField;
pub use self::find_one::FindOne;
pub use self::find_one_and::{FindOneAndDelete, FindOneAndReplace, FindOneAndUpdate};
pub(crate) use self::find_one_or_insert::Looked;
pub use self::find_one_or_insert::{FindOneOrInsert, FoundOrInserted};
pub(crate) use self::insert_many::Encoded;
pub use self::insert_many::InsertMany;
pub use self::insert_one::InsertOne;
pub use self::pages::{Page, PageToken};
pub(crate) use self::repeated::Repeated;
pub use self::replace_one::ReplaceOne;
pub use self::results::{DeleteResult, InsertManyResult, InsertOneResult, UpdateResult};
pub use self::run_command::RunCommand;
pub(crate) use self::save::Saving;
pub use self::save::{Load, Loaded, Save};
pub(crate) use self::stale::{Stale, overlaps};
pub use self::tail::{Tail, TailStream};
pub use self::touch::Touch;
pub use self::update::UpdateDocuments;
#[doc(hidden)]
pub use self::versions::decodes;
pub(crate) use self::versions::{ReadAs, decode_document};
pub use self::watch::{
    Change, ChangeFields, ChangeStream, FullDocument, FullDocumentBeforeChange, Namespace,
    Operation, OperationType, ResumeToken, TruncatedArray, UpdateDescription, Watch, Watched,
};
pub use self::within::{DeadlineOutput, Within, WithinFuture};
pub use crate::error::{BulkWriteResult, Withheld, WithheldReason, WriteError};
use crate::error::{Error, Result};
use crate::exec::Channel;
pub use crate::exec::explain::Explain;
use crate::model::{Document, VariantOf};
#[cfg(feature = "tracing")]
pub use crate::store::TracedValues;
pub use crate::store::options::{
    Acknowledgment, Alternate, CaseFirst, Collation, Hint, MaxVariable, ReadConcern,
    ReadPreference, ReturnDocument, WriteConcern,
};
use crate::store::{self, CollectionName, Store};
pub use crate::store::{Capability, CommandEvent, Session, SessionOptions, TransactionOptions};

/// A collection of documents of the model `M`, from [`Db::collection`].
///
/// Collections are cheap to clone; every action takes `&self`. Give each thread a clone of its own: threads that share
/// one handle of an in-memory collection slow each other down.
pub struct Collection<M> {
    pub(crate) store: Store,
    name: CollectionName,
    /// `None` in most handles, so that their calls copy and check no concerns.
    defaults: Option<Arc<Defaults>>,
    of: PhantomData<fn() -> M>,
}

impl<M: Document> Collection<M> {
    pub(crate) fn new(store: &Store) -> Self {
        let name = store.names().of_model(M::model());
        Self {
            store: store.at(&name),
            name,
            defaults: None,
            of: PhantomData,
        }
    }

    /// The collection's name: as declared, unless the database handle [chose another](Db::with_collection).
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = Db::memory();
    /// # let books = db.collection::<Book>();
    /// assert_eq!(books.name(), "books");
    /// # Ok(())
    /// # }
    /// ```
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Sets the read concern for actions that set none themselves.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// use odm::collection::ReadConcern;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, books) = three_books().await?;
    /// let books = books.with_read_concern(ReadConcern::Majority);
    /// let command = books.find_all().command()?;
    /// assert_eq!(command.get_document("readConcern")?, &doc! {"level": "majority"});
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn with_read_concern(mut self, concern: ReadConcern) -> Self {
        self.defaults().read_concern = Some(concern);
        self
    }

    /// Sets the write concern for actions that set none themselves.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// use odm::collection::WriteConcern;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, books) = three_books().await?;
    /// let books = books.with_write_concern(WriteConcern::majority());
    /// let command = books.delete_one(|b| b.id.eq(1)).command()?;
    /// assert_eq!(command.get_document("writeConcern")?, &doc! {"w": "majority"});
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn with_write_concern(mut self, concern: WriteConcern) -> Self {
        self.defaults().write_concern = Some(concern);
        self
    }

    /// Sets the read preference for actions that set none themselves.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// use odm::collection::ReadPreference;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, books) = three_books().await?;
    /// let books = books.with_read_preference(ReadPreference::secondary_preferred());
    /// let command = books.find_all().command()?;
    /// assert_eq!(command.get_document("$readPreference")?, &doc! {"mode": "secondaryPreferred"});
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn with_read_preference(mut self, preference: ReadPreference) -> Self {
        self.defaults().read_preference = Some(preference);
        self
    }

    /// A handle that sends inserts, upserts and deletes of nodes of [trees](crate::tree) as they are. Other handles refuse
    /// them, because the tree does not see them: children would lose their parent, and lists, counts and bounds of other nodes
    /// would be wrong.
    ///
    /// It is for nodes whose fields are right already, such as a backup or the fixtures of a test. Have the tree
    /// [checked](crate::tree::Tree::check) afterwards.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/categories.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = five_categories().await?;
    /// let categories = db.collection::<Category>();
    /// let backup = categories.find_all().all().await?;
    /// categories.delete_all().await?;
    /// assert!(categories.insert_many(&backup).await.is_err());
    /// categories.bypass_trees().insert_many(&backup).await?;
    /// assert!(db.tree::<Category>().check().await?.is_sound());
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn bypass_trees(&self) -> Self {
        let mut bypassing = self.clone();
        bypassing.defaults().bypasses_trees = true;
        bypassing
    }

    /// The documents of one variant: a handle like [`Db::collection`], with the concerns of this one.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/media.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = two_media().await?;
    /// let media = db.collection::<Medium>();
    /// let films = media.variant::<Film>().find(|f| f.title.eq("Emma")).all().await?;
    /// assert_eq!(films.iter().map(|film| film.minutes).collect::<Vec<_>>(), [124]);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn variant<V: VariantOf<M> + Document>(&self) -> Collection<V> {
        self.other()
    }

    fn defaults(&mut self) -> &mut Defaults {
        Arc::make_mut(self.defaults.get_or_insert_default())
    }

    pub(crate) fn call<'s>(&self, operation: store::Operation) -> Call<'s> {
        self.try_call(Ok(operation))
    }

    /// A call of this operation, or one that fails when it is sent if the builder failed.
    fn try_call<'s>(&self, operation: Result<store::Operation>) -> Call<'s> {
        let (defaults, name) = (self.defaults.as_ref(), self.name.clone());
        Call::new(&self.store, defaults, M::model(), name, operation)
    }

    /// The collection of another model, with the same concerns.
    pub(crate) fn other<T: Document>(&self) -> Collection<T> {
        Collection {
            defaults: self.defaults.clone(),
            ..Collection::new(&self.store)
        }
    }

    /// A channel whose writes have the same write concern.
    pub(crate) fn channel(&self) -> Channel<'static> {
        let defaults = self.defaults.as_deref();
        let concern = defaults.and_then(|defaults| defaults.write_concern.clone());
        Channel::new(self.store.clone(), None).with_write_concern(concern)
    }

    /// A call of an update, which may have guards.
    fn update_call<'s>(
        &self,
        update: Result<Ready>,
        operation: fn(Box<store::Update>) -> store::Operation,
    ) -> Call<'s> {
        let (operands, guards) = match update {
            Ok(Ready { operands, guards }) => (Ok(operands), guards),
            Err(error) => (Err(error), None),
        };
        let mut call = self.try_call(operands.map(operation));
        call.guards = guards;
        call
    }

    /// A call that fails with `error` when it is sent.
    fn refused<'s>(&self, error: Error) -> Call<'s> {
        self.try_call(Err(error))
    }
}

impl<M> Clone for Collection<M> {
    fn clone(&self) -> Self {
        Self {
            store: self.store.apart(),
            name: self.name.clone(),
            defaults: self.defaults.clone(),
            of: PhantomData,
        }
    }
}

impl<M: Document> fmt::Debug for Collection<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Collection({}.{})", self.store.database(), self.name())
    }
}
