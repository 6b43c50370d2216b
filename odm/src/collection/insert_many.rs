//! `insert_many`.

use std::borrow::Borrow;
use std::fmt;

use bson::raw::RawDocumentBuf;

use super::call::{Call, encode_with_id, typed_id};
use super::options::{action, options};
use super::template::Template;
use super::{Collection, InsertManyResult};
use crate::error::{BulkError, Error, Kind, Result};
use crate::exec::{Channel, refused};
use crate::model::{Document, Writable};
use crate::store::limits;
use crate::store::{Operation, Request, Session, WriteKind, Written};

/// Inserts several documents: [`Collection::insert_many`].
#[must_use = "nothing is inserted until it is awaited"]
pub struct InsertMany<'s, M: Document> {
    call: Call<'s>,
    ids: Vec<M::Id>,
}

impl<M: Document> Collection<M> {
    /// Inserts documents, split into several commands if they are too large for one.
    ///
    /// If some inserts fail, the error lists them ([`Error::write_errors`]) and counts the inserted
    /// documents ([`Error::partial_result`]). An empty list sends nothing and is not an error.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = Db::memory();
    /// # let books = db.collection::<Book>();
    /// let inserted = books.insert_many([book(1, "Emma", 1815), book(2, "Walden", 1854)]).await?;
    /// assert_eq!(inserted.inserted_ids, [1, 2]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn insert_many<'s>(
        &self,
        documents: impl IntoIterator<Item = impl Borrow<M>>,
    ) -> InsertMany<'s, M>
    where
        M: Writable,
    {
        let mut encoded = Vec::new();
        let mut ids = Vec::new();
        for document in documents {
            let document = document.borrow();
            let one = encode_with_id(document)
                .and_then(|(raw, made_up)| Ok((raw, typed_id(document, made_up)?)));
            match one {
                Ok((raw, id)) => {
                    encoded.push(raw);
                    ids.push(id);
                }
                Err(error) => {
                    let doing = format!("document {}", ids.len());
                    return InsertMany {
                        call: self.refused(error.with_model(M::model().name).context(doing)),
                        ids,
                    };
                }
            }
        }
        self.insert_encoded(encoded, ids)
    }

    /// Inserts encoded documents with these ids.
    pub(crate) fn insert_encoded<'s>(
        &self,
        documents: Vec<RawDocumentBuf>,
        ids: Vec<M::Id>,
    ) -> InsertMany<'s, M> {
        InsertMany {
            call: self.call(Operation::InsertMany { documents }),
            ids,
        }
    }
}

/// Documents to insert as part of several writes, which may run more than once.
pub(crate) struct Encoded<M: Document> {
    template: Template,
    pub(crate) documents: Vec<RawDocumentBuf>,
    ids: Vec<M::Id>,
    /// Whether they are the document of an `insert_one`, whose error is not that of several writes.
    is_one: bool,
}

impl<M: Document> Encoded<M> {
    /// The documents of a call, and its session.
    pub(super) fn of(call: Call<'_>, ids: Vec<M::Id>) -> Result<(Self, Option<&mut Session>)> {
        let template = Template::of(&call)?;
        let (_, request, session) = call.prepare()?;
        let (documents, is_one) = match request.operation {
            Operation::InsertOne { document } => (vec![document], true),
            Operation::InsertMany { documents } => (documents, false),
            _ => return Err(Error::usage("only an insert has documents")),
        };
        let encoded = Self {
            template,
            documents,
            ids,
            is_one,
        };
        Ok((encoded, session))
    }

    /// Documents whose typed `_id`s the result does not have.
    pub(super) fn untyped(template: Template, documents: Vec<RawDocumentBuf>) -> Self {
        Self {
            template,
            documents,
            ids: Vec::new(),
            is_one: false,
        }
    }

    /// A channel whose writes have the same write concern.
    pub(crate) fn channel(&self) -> Channel<'static> {
        self.template.channel()
    }

    /// The insert.
    pub(crate) fn insert<'s>(&self, session: Option<&'s mut Session>) -> InsertMany<'s, M> {
        self.insert_these(self.documents.clone(), session)
    }

    /// The insert of other documents with the same `_id`s.
    pub(crate) fn insert_these<'s>(
        &self,
        documents: Vec<RawDocumentBuf>,
        session: Option<&'s mut Session>,
    ) -> InsertMany<'s, M> {
        let operation = insertion(documents, self.is_one);
        let call = self.template.call(M::model(), operation, session);
        let ids = self.ids.clone();
        InsertMany { call, ids }
    }
}

impl<'s, M: Document> InsertMany<'s, M> {
    /// The documents, to be inserted as part of several writes, and the session. The other writes may propagate these.
    pub(crate) fn encoded(
        mut self,
        propagates: bool,
    ) -> Result<(Encoded<M>, Option<&'s mut Session>)> {
        self.call.leaves_stale |= propagates;
        Encoded::of(self.call, self.ids)
    }

    options!(
        session in_session command comment ordered bypass_document_validation write_concern leave_stale
    );

    async fn run(self) -> Result<InsertManyResult<M::Id>> {
        let model = self.call.model;
        let inserted_ids = self.ids;
        let (store, request, session) = self.call.prepare()?;
        let mut channel = Channel::new(store, session);
        let Request {
            collection,
            operation,
            options,
        } = request;
        let (documents, is_one) = match operation {
            Operation::InsertOne { document } => (vec![document], true),
            Operation::InsertMany { documents } => (documents, false),
            _ => return Err(Error::malformed_reply("documents to insert")),
        };
        let ordered = options.ordered != Some(false);
        let mut failure: Option<BulkError> = None;
        let mut inserted = 0;
        let mut sent = 0;
        for documents in limits::batches(documents, limits::WRITES, limits::INSERT_BYTES) {
            let count = documents.len();
            let operation = insertion(documents, is_one);
            let documents = channel.named(collection.clone(), model);
            let written = match documents.send(operation, options.clone()).await {
                Ok(response) => response.written(),
                Err(error) => Err(error),
            };
            match written {
                Ok(written) => inserted += written.n,
                Err(error) => {
                    let bulk = match error.kind() {
                        Kind::Bulk(bulk) => bulk.clone(),
                        _ => return Err(refused(partial(error, inserted), model)),
                    };
                    failure
                        .get_or_insert_with(BulkError::default)
                        .add(bulk, |index| index + sent);
                    if ordered {
                        break;
                    }
                }
            }
            sent += count;
        }
        match failure {
            None => Ok(InsertManyResult { inserted_ids }),
            Some(mut failure) => {
                failure.result.inserted += inserted;
                Err(refused(Error::new(failure), model))
            }
        }
    }
}

fn insertion(mut documents: Vec<RawDocumentBuf>, is_one: bool) -> Operation {
    match documents.pop() {
        Some(document) if is_one => Operation::InsertOne { document },
        last => {
            documents.extend(last);
            Operation::InsertMany { documents }
        }
    }
}

/// The failure of a whole command, with the number of documents that earlier commands inserted.
fn partial(error: Error, inserted: u64) -> Error {
    if inserted == 0 {
        return error;
    }
    let done = Written {
        n: inserted,
        ..Written::default()
    };
    let done = done.into_result(WriteKind::Insert);
    error.context(format!("after {} documents were inserted", done.inserted))
}

action!(InsertMany => InsertManyResult<M::Id>);

impl<M: Document> fmt::Debug for InsertMany<'_, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.call, f)
    }
}
