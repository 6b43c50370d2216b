//! `find_one_or_insert`: get or create.

use std::borrow::Borrow;
use std::fmt;
use std::marker::PhantomData;

use bson::raw::{RawDocument, RawDocumentBuf};
use bson::{Bson, Document as BsonDocument, doc};
use futures_core::future::BoxFuture;
use odm_language::expression::Globals;
use odm_language::matcher::Matcher;
use odm_language::value::raw;

use super::call::{Call, encode_with_id, filter};
use super::options::options;
use super::stale::Stale;
use super::template::Template;
use super::{Collection, Encoded, Find, decode_document, decode_id};
use crate::error::{Error, Result};
use crate::model::{Document, Writable};
use crate::query::FilterFn;
use crate::store::options::{Options, ReadPreference, ReturnDocument};
use crate::store::{Condition, Modification, Operation, Response, Session, Update};

/// Finds a document, or inserts one: [`Collection::find_one_or_insert`].
#[must_use = "nothing is read or inserted until it is awaited"]
pub struct FindOneOrInsert<'s, M: Document> {
    call: Call<'s>,
    filter: Condition,
    /// The document to insert if nothing matches.
    document: RawDocumentBuf,
    collection: Collection<M>,
}

/// What a [`FindOneOrInsert`] that propagates looks for.
pub(crate) struct Looked<M> {
    template: Template,
    filter: Condition,
    /// The `_id` of the document to insert.
    pub(crate) id: Bson,
    of: PhantomData<fn() -> M>,
}

impl<M: Document> Looked<M> {
    /// The read of the first document that matches.
    pub(crate) fn find(&self) -> (Operation, Options) {
        let (filter, one) = (self.filter.clone(), true);
        let chosen = &self.template.options;
        let options = Options {
            hint: chosen.hint.clone(),
            collation: chosen.collation.clone(),
            comment: chosen.comment.clone(),
            max_time: chosen.max_time,
            ..Options::default()
        };
        (Operation::Find { filter, one }, options)
    }
}

/// What [`Collection::find_one_or_insert`] returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct FoundOrInserted<M> {
    /// The document as it is stored.
    pub document: M,
    /// Whether this call inserted it.
    pub inserted: bool,
}

impl<M: Document> Collection<M> {
    /// Returns the first document that matches, or inserts `document` and returns it as it is stored, in one command: an
    /// upsert with `$setOnInsert`. A document that exists is not changed.
    ///
    /// Two callers at once insert one document only if a unique index has the fields that the condition compares: without
    /// it, MongoDB may insert both. With it, the one that comes too late gets the document of the other.
    ///
    /// ```
    /// use odm::prelude::*;
    ///
    /// #[derive(Debug, PartialEq, Serialize, Deserialize, Document)]
    /// #[odm(collection = "users")]
    /// struct User {
    ///     #[serde(rename = "_id")]
    ///     id: Id<Self>,
    ///     #[odm(unique)]
    ///     email: String,
    ///     logins: i32,
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> odm::Result<()> {
    /// # let db = Db::memory();
    /// db.sync(models![User]).plan().await?.apply(Allow::CREATE).await?;
    /// let users = db.collection::<User>();
    /// let user = User { id: Id::new(), email: "ada@example.org".to_owned(), logins: 0 };
    ///
    /// let first = users.find_one_or_insert(|u| u.email.eq(&user.email), &user).await?;
    /// assert!(first.inserted);
    /// let second = users.find_one_or_insert(|u| u.email.eq(&user.email), &user).await?;
    /// assert!(!second.inserted);
    /// assert_eq!(second.document, user);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The document does not meet the condition, so that each call would insert another one; it has a field with a dot or
    /// a `$` in its name, which `$setOnInsert` can't name; or the model has a tree, whose nodes
    /// [`insert`](crate::tree::Tree::insert) puts in their places.
    /// [`is_duplicate_key`](Error::is_duplicate_key): a document that does not match has the value of a unique index.
    pub fn find_one_or_insert<'s>(
        &self,
        condition: impl FilterFn<M>,
        document: impl Borrow<M>,
    ) -> FindOneOrInsert<'s, M>
    where
        M: Writable,
    {
        let ready = filter::<M>(condition).and_then(|filter| {
            let (document, _) = encode_with_id(document.borrow())?;
            Ok((on_insert(filter.clone(), &document)?, filter, document))
        });
        let (operation, filter, document) = match ready {
            Ok((update, filter, document)) => (
                Ok(Operation::FindAndUpdate(Box::new(update))),
                filter,
                document,
            ),
            Err(error) => (
                Err(error),
                BsonDocument::new().into(),
                RawDocumentBuf::new(),
            ),
        };
        let mut call = self.try_call(operation);
        // A document that is found stays as it is.
        call.any_version = true;
        call.options().upsert = Some(true);
        call.options().return_document = Some(ReturnDocument::Before);
        FindOneOrInsert {
            call,
            filter,
            document,
            collection: self.clone(),
        }
    }
}

/// The update that sets all fields of the document where it inserts one.
fn on_insert(filter: Condition, document: &RawDocument) -> Result<Update> {
    let fields = BsonDocument::try_from(document).map_err(Error::encode)?;
    let is_path = |name: &&String| name.contains('.') || name.starts_with('$');
    if let Some(name) = fields.keys().find(is_path) {
        let error = Error::usage(
            "`$setOnInsert` would read this name as a path: find the document, and insert it where there is none",
        );
        return Err(error.with_path(name.as_str()));
    }
    let mut update = Update::new(filter);
    update.modification = Modification::Operators(doc! {"$setOnInsert": fields});
    Ok(update)
}

impl<'s, M: Document> FindOneOrInsert<'s, M> {
    options!(session command hint comment collation max_time bypass_document_validation write_concern leave_stale);

    /// The read and the insert, to be made as parts of several writes, and the session.
    pub(crate) fn parts(mut self) -> Result<(Looked<M>, Encoded<M>, Option<&'s mut Session>)> {
        let template = Template::of(&self.call)?;
        self.meets_condition()?;
        if let Some(error) = self.call.error.take() {
            return Err(error);
        }
        let options = &self.call.request.options;
        let mut insert = self.collection.call(Operation::InsertOne {
            document: self.document.clone(),
        });
        insert.options().comment.clone_from(&options.comment);
        insert.options().bypass_document_validation = options.bypass_document_validation;
        insert.leaves_stale = true;
        let id = raw::get(&self.document, "_id").map(Bson::try_from);
        let id = id.ok_or_else(|| Error::malformed_reply("an `_id`"))?;
        let id = id.map_err(Error::encode)?;
        let (encoded, _) = Encoded::of(insert, vec![decode_id::<M>(id.clone())?])?;
        let looked = Looked {
            template,
            filter: self.filter,
            id,
            of: PhantomData,
        };
        Ok((looked, encoded, self.call.session))
    }

    /// What an insert would leave stale, if the caller has not said that it may.
    pub(crate) fn stale(&self) -> Result<Stale> {
        if self.call.leaves_stale {
            return Ok(Stale::default());
        }
        Stale::of_inserts(M::model(), std::slice::from_ref(&self.document))
    }

    async fn run(mut self) -> Result<FoundOrInserted<M>> {
        if self.call.error.is_none() {
            let met = self.meets_condition();
            self.call.keep(met);
        }
        let collation = self.call.request.options.collation.clone();
        let mut session = self.call.session.take();
        let in_transaction = session.as_ref().is_some_and(|it| it.in_transaction());
        let call = Call {
            session: session.as_deref_mut(),
            ..self.call
        };
        let found = match call.send().await.and_then(Response::document) {
            Ok(found) => found,
            // Another caller has inserted it meanwhile. A transaction is aborted by the error.
            Err(error) if error.is_duplicate_key() && !in_transaction => {
                let (filter, one) = (self.filter, true);
                let mut find = self.collection.call(Operation::Find { filter, one });
                find.session = session;
                let mut find = Find::<M>::new(find, ());
                find.call.options().collation = collation;
                // A secondary may not have it yet.
                find.call.options().read_preference = Some(ReadPreference::primary());
                let document = find.first().await?.ok_or(error)?;
                return Ok(FoundOrInserted {
                    document,
                    inserted: false,
                });
            }
            Err(error) => return Err(error),
        };
        let inserted = found.is_none();
        let document = decode_document(&found.unwrap_or(self.document))?;
        Ok(FoundOrInserted { document, inserted })
    }

    /// Refuses a document that the next call would not find. Conditions that only MongoDB evaluates, or compares by a
    /// collation, are taken as met.
    fn meets_condition(&self) -> Result<()> {
        let has_collation =
            self.call.model.collation.is_some() || self.call.request.options.collation.is_some();
        if has_collation {
            return Ok(());
        }
        let filter = self.filter.clone().into_document();
        let filter = RawDocumentBuf::try_from(&filter).map_err(Error::encode)?;
        let Ok(matcher) = Matcher::parse(&filter, &Globals::stored()) else {
            return Ok(());
        };
        match matcher.matches(&self.document) {
            Ok(false) => Err(Error::usage(
                "the document does not meet the condition, so that each call would insert another one",
            )),
            Ok(true) | Err(_) => Ok(()),
        }
    }
}

impl<'s, M: Document> IntoFuture for FindOneOrInsert<'s, M> {
    type Output = Result<FoundOrInserted<M>>;
    type IntoFuture = BoxFuture<'s, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.run())
    }
}

impl<M: Document> fmt::Debug for FindOneOrInsert<'_, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.call, f)
    }
}
