//! `insert_many`.

use std::borrow::Borrow;
use std::fmt;

use bson::raw::RawDocumentBuf;

use super::call::{Call, encode_with_id, refused, typed_id};
use super::options::{action, options};
use super::{Collection, InsertManyResult};
use crate::error::{BulkError, Error, Kind, Result};
use crate::model::Document;
use crate::store::{Operation, Request, WriteKind, Written};

/// The most that one command takes: 48 MB minus room for its other fields, and 100,000 documents.
pub(super) const MAX_BYTES: usize = 48_000_000 - 16_384;
pub(super) const MAX_COUNT: usize = 100_000;

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
    ) -> InsertMany<'s, M> {
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

impl<'s, M: Document> InsertMany<'s, M> {
    options!(session command comment ordered bypass_document_validation write_concern);

    async fn run(self) -> Result<InsertManyResult<M::Id>> {
        let model = self.call.model;
        let inserted_ids = self.ids;
        let (store, request, mut session) = self.call.prepare()?;
        let Request {
            collection,
            operation,
            options,
        } = request;
        let Operation::InsertMany { documents } = operation else {
            return Err(Error::malformed_reply("documents to insert"));
        };
        let ordered = options.ordered != Some(false);
        let mut failure: Option<BulkError> = None;
        let mut inserted = 0;
        let mut sent = 0;
        for documents in batches(documents) {
            let count = documents.len();
            let request = Request {
                collection: collection.clone(),
                operation: Operation::InsertMany { documents },
                options: options.clone(),
            };
            let written = match store.clone().exec(request, session.as_deref_mut()).await {
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

/// Splits documents into batches that each fit one command.
fn batches(documents: Vec<RawDocumentBuf>) -> Vec<Vec<RawDocumentBuf>> {
    let mut batches = Vec::new();
    let mut batch: Vec<RawDocumentBuf> = Vec::new();
    let mut bytes = 0;
    for document in documents {
        // An array element adds a type byte, the index as text and a NUL.
        let size = document.as_bytes().len() + 8;
        if !batch.is_empty() && (batch.len() == MAX_COUNT || bytes + size > MAX_BYTES) {
            batches.push(std::mem::take(&mut batch));
            bytes = 0;
        }
        bytes += size;
        batch.push(document);
    }
    if !batch.is_empty() {
        batches.push(batch);
    }
    batches
}

action!(InsertMany => InsertManyResult<M::Id>);

impl<M: Document> fmt::Debug for InsertMany<'_, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.call, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document(bytes: usize) -> RawDocumentBuf {
        let mut raw = RawDocumentBuf::new();
        raw.append(bson::raw::cstr!("x"), "x".repeat(bytes));
        raw
    }

    #[test]
    fn a_batch_fits_one_command() {
        let sizes = |documents| {
            let batches: Vec<usize> = batches(documents).iter().map(Vec::len).collect();
            batches
        };
        assert_eq!(sizes(Vec::new()), [0_usize; 0]);
        assert_eq!(sizes(vec![document(1); 100_001]), [100_000, 1]);
        assert_eq!(sizes(vec![document(15_990_000); 4]), [3, 1]);
    }
}
