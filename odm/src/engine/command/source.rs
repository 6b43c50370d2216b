//! What a pipeline reaches beyond its input: other collections, and the ends of `$out` and `$merge`.

use std::cell::RefCell;

use bson::raw::{RawDocument, RawDocumentBuf};

use crate::engine::catalog::Root;
use crate::engine::catalog::namespace::Namespace;
use crate::engine::catalog::view::Resolved;
use crate::engine::command::call::Call;
use crate::engine::cursor::query::{Query, owned};
use crate::engine::expression::Globals;
use crate::engine::matcher::Matcher;
use crate::engine::pipeline::{Pipeline, Source};
use crate::error::{Code, ServerError};
use crate::value::raw;

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

    /// The documents of a view that match a filter. What the view itself says, it says with its own collation and
    /// without variables from outside.
    fn read_view(
        &self,
        view: &Resolved,
        filter: &RawDocument,
        globals: &Globals,
    ) -> Result<Vec<RawDocumentBuf>, ServerError> {
        let now = self.call.borrow().now;
        let inner = Globals::new(now).with_collator(view.collation.clone());
        let pipeline = Pipeline::parse(&view.stages, &inner)?;
        let leading = pipeline.leading();
        let base = leading.filter.as_deref();
        let input = self.find(
            Some(&view.namespace.database),
            &view.namespace.collection,
            base.unwrap_or_else(|| raw::empty_document()),
            &inner,
        )?;
        let input = Box::new(input.into_iter().map(Ok));
        let matcher = Matcher::parse(filter, globals)?;
        let mut found = Vec::new();
        for document in pipeline.run_within(input, self, &inner)? {
            let document = document?;
            if matcher.matches(&document)? {
                found.push(document);
            }
        }
        Ok(found)
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
        if let Some(view) = self.root.resolve(&namespace)? {
            return self.read_view(&view, filter, globals);
        }
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
        if call
            .find_collection(&namespace)
            .is_some_and(|target| target.options.capped.is_some())
        {
            return Err(ServerError::new(
                Code::location(17152),
                format!("namespace '{namespace}' is capped so it can't be used for $out"),
            ));
        }
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
