//! What a pipeline reaches beyond its input: other collections, and the ends of `$out` and `$merge`.

use std::cell::RefCell;

use bson::raw::{RawDocument, RawDocumentBuf};

use crate::engine::catalog::Root;
use crate::engine::catalog::namespace::Namespace;
use crate::engine::command::call::Call;
use crate::engine::cursor::query::{Query, owned};
use crate::engine::expression::Globals;
use crate::engine::pipeline::Source;
use crate::error::ServerError;

/// One aggregation's view of the rest of the engine: it reads one snapshot, and writes through the call.
#[derive(Debug)]
pub(crate) struct CallSource<'c, 'a> {
    root: Root,
    database: &'a str,
    call: RefCell<&'c mut Call<'a>>,
}

impl<'c, 'a> CallSource<'c, 'a> {
    pub(crate) fn new(call: &'c mut Call<'a>) -> Self {
        Self {
            root: call.root(),
            database: call.database,
            call: RefCell::new(call),
        }
    }

    fn namespace(&self, database: Option<&str>, collection: &str) -> Namespace {
        Namespace::new(database.unwrap_or(self.database), collection)
    }
}

impl Source for CallSource<'_, '_> {
    fn find(
        &self,
        database: Option<&str>,
        collection: &str,
        filter: &RawDocument,
        globals: &Globals,
    ) -> Result<Vec<RawDocumentBuf>, ServerError> {
        let namespace = self.namespace(database, collection);
        let Some(collection) = self.root.collection(&namespace).cloned() else {
            return Ok(Vec::new());
        };
        let query = Query {
            filter: Some(filter),
            sort: None,
            hint: None,
            skip: 0,
            limit: None,
            globals: globals.clone(),
        };
        let deadline = self.call.borrow().deadline();
        query
            .prepare(Some(&collection))?
            .run(collection, deadline)?
            .map(|row| row.map(|(_, bytes)| owned(&bytes)))
            .collect()
    }

    fn random(&self) -> u64 {
        self.call.borrow().context.random()
    }

    fn replace_all(
        &self,
        database: Option<&str>,
        collection: &str,
        documents: Vec<RawDocumentBuf>,
    ) -> Result<(), ServerError> {
        let namespace = self.namespace(database, collection);
        let mut call = self.call.borrow_mut();
        call.ensure(&namespace)?;
        let bypass = call.args.flag("bypassDocumentValidation");
        let context = call.context.clone();
        // All or nothing: an error leaves the collection as it was.
        call.write(&namespace, bypass, |writer| {
            let records: Vec<_> = writer
                .collection
                .scan(None, false, usize::MAX)
                .into_iter()
                .map(|(record, _)| record)
                .collect();
            for record in records {
                writer.remove(record)?;
            }
            for document in documents {
                writer.insert(super::insert::with_id(document, || context.object_id()))?;
            }
            Ok(())
        })?;
        Ok(())
    }
}
