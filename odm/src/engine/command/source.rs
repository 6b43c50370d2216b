//! What a pipeline reaches beyond its input: other collections, and the ends of `$out` and `$merge`.

use std::borrow::Cow;
use std::cell::RefCell;

use bson::oid::ObjectId;
use bson::raw::{RawDocument, RawDocumentBuf};

use crate::engine::catalog::Root;
use crate::engine::catalog::namespace::Namespace;
use crate::engine::catalog::view::Resolved;
use crate::engine::command::call::Call;
use crate::engine::command::modify;
use crate::engine::command::statistics::Asker;
use crate::engine::context::Context;
use crate::engine::cursor::query::{Deadline, Query, Shape, owned};
use crate::engine::expression::Globals;
use crate::engine::matcher::Matcher;
use crate::engine::pipeline::{Cx, MergeWrite, Merging, Pipeline, Source, Statistics, Target};
use crate::engine::txn::writer::Writer;
use crate::engine::updater::check_id;
use crate::error::{Code, ServerError};
use crate::value::collation::Collator;
use crate::value::raw;

/// One aggregation's view of the rest of the engine: it reads one snapshot, and writes through the call.
#[derive(Debug)]
pub(crate) struct CallSource<'c, 'a> {
    root: Root,
    database: &'a str,
    call: RefCell<&'c mut Call<'a>>,
    /// What the aggregation itself is about, where it asks about it: if that is a view, then not of what it is on.
    told: Option<&'c Namespace>,
}

impl<'c, 'a> CallSource<'c, 'a> {
    pub(crate) fn new(call: &'c mut Call<'a>, told: Option<&'c Namespace>) -> Self {
        Self {
            root: call.root(),
            database: call.database,
            call: RefCell::new(call),
            told,
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
        let (now, random) = {
            let call = self.call.borrow();
            (call.now, call.context.randomness())
        };
        let inner = Globals::new(now)
            .with_collator(view.collation.clone())
            .with_random(random);
        let pipeline = Pipeline::parse(&view.stages, &inner)?;
        let leading = pipeline.leading();
        let base = leading.filter.as_deref();
        let input = match pipeline.begins() {
            Some(_) => Vec::new(),
            None => self.find(
                Some(&view.namespace.database),
                &view.namespace.collection,
                base.unwrap_or_else(|| raw::empty_document()),
                &inner,
            )?,
        };
        let input = Box::new(input.into_iter().map(Ok));
        let matcher = Matcher::parse(filter, globals)?;
        let mut found = Vec::new();
        let cx = Cx {
            source: self,
            collection: &view.namespace.collection,
            globals: &inner,
        };
        for document in pipeline.run_within(input, cx)? {
            let document = document?;
            if matcher.matches(&document)? {
                found.push(document);
            }
        }
        Ok(found)
    }

    /// What is read of a name.
    fn root(&self, namespace: &Namespace) -> Result<Cow<'_, Root>, ServerError> {
        let mut call = self.call.borrow_mut();
        if call.transaction.is_none() {
            return Ok(Cow::Borrowed(&self.root));
        }
        call.follow(namespace)?;
        Ok(Cow::Owned(call.root()))
    }

    fn namespace(&self, database: Option<&str>, collection: &str) -> Namespace {
        Namespace::new(database.unwrap_or(self.database), collection)
    }
}

/// The collection that a `$merge` writes into.
struct MergeInto<'w, 'a, 'b> {
    writer: &'w mut Writer<'a, 'b>,
    collator: Option<Collator>,
    context: &'w Context,
    deadline: Deadline,
}

impl Merging for MergeInto<'_, '_, '_> {
    fn write(&mut self, write: &MergeWrite<'_>, globals: &Globals) -> Result<bool, ServerError> {
        let (filter, update, upsert, otherwise) = match write {
            MergeWrite::Insert(document) => {
                self.writer.insert(document)?;
                return Ok(true);
            }
            MergeWrite::Update {
                filter,
                update,
                upsert,
                otherwise,
            } => (filter, *update, *upsert, otherwise),
        };
        let wanted = modify::Target {
            filter,
            sort: None,
            hint: None,
            globals: globals.clone().with_collator(self.collator.clone()),
            met: self.collator.clone(),
            multi: false,
            returns: false,
            deadline: self.deadline.clone(),
        };
        let change = modify::Change {
            update,
            array_filters: None,
            upsert,
        };
        let checked = change.check(&wanted)?;
        let new_id = || self.context.object_id();
        let outcome = modify::update(self.writer, &wanted, &change, &checked, new_id)?;
        let was_there = outcome.matched > 0 || outcome.upserted.is_some();
        if let (false, Some(document)) = (was_there, otherwise) {
            self.writer.insert(document)?;
            return Ok(true);
        }
        Ok(was_there)
    }
}

/// No collection, where none is made.
struct Nowhere;

impl Merging for Nowhere {
    fn write(&mut self, _write: &MergeWrite<'_>, _globals: &Globals) -> Result<bool, ServerError> {
        Ok(false)
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
        let root = self.root(&namespace)?;
        if let Some(view) = root.resolve(&namespace)? {
            return self.read_view(&view, filter, globals);
        }
        let Some(collection) = root.collection(&namespace).cloned() else {
            return Ok(Vec::new());
        };
        let query = Query {
            filter: Some(filter),
            sort: None,
            hint: None,
            skip: 0,
            limit: None,
            globals: globals.clone(),
            shape: Shape::default(),
        };
        let deadline = self.call.borrow().deadline();
        query
            .prepare(Some(&collection))?
            .run(collection, deadline)?
            .map(|row| row.map(|(_, bytes)| owned(&bytes)))
            .collect()
    }

    fn statistics(
        &self,
        collection: &str,
        asked: &Statistics,
    ) -> Result<Vec<RawDocumentBuf>, ServerError> {
        let call = self.call.borrow();
        let asker = Asker {
            root: &self.root,
            context: call.context,
            now: call.now,
        };
        let namespace = self.namespace(None, collection);
        match self.root.resolve(&namespace)? {
            Some(view) if self.told != Some(&namespace) => asker.ask(&view.namespace, asked),
            _ => asker.ask(&namespace, asked),
        }
    }

    fn random(&self) -> u64 {
        self.call.borrow().context.random()
    }

    fn object_id(&self) -> ObjectId {
        self.call.borrow().context.object_id()
    }

    fn merge(
        &self,
        target: Target<'_>,
        creates: bool,
        write: &mut dyn FnMut(&mut dyn Merging) -> Result<(), ServerError>,
    ) -> Result<(), ServerError> {
        let namespace = self.namespace(target.database, target.collection);
        let mut call = self.call.borrow_mut();
        let bypass = call.args.flag("bypassDocumentValidation");
        if creates {
            call.ensure(&namespace)?;
        }
        // As an update that names no collation, it finds by that of the collection it writes to.
        let collator = modify::collation_of(call.find_collection(&namespace).as_deref());
        let (context, deadline) = (call.context.clone(), call.deadline());
        let mut each = |writer: &mut Writer<'_, '_>| {
            let mut merging = MergeInto {
                writer,
                collator: collator.clone(),
                context: &context,
                deadline: deadline.clone(),
            };
            match write(&mut merging) {
                // What is not kept is not done twice when the command is run again.
                Err(error) if error.code() == Code::WRITE_CONFLICT => Err(error),
                done => Ok(done),
            }
        };
        let done = if creates {
            Some(call.write_ensured(&namespace, bypass, each)?)
        } else {
            call.write(&namespace, bypass, &mut each)?
        };
        done.unwrap_or_else(|| write(&mut Nowhere))
    }

    fn name_of(&self, collection: &str) -> String {
        self.namespace(None, collection).to_string()
    }

    fn check_replaced(&self, database: Option<&str>, collection: &str) -> Result<(), ServerError> {
        let namespace = self.namespace(database, collection);
        let call = self.call.borrow();
        call.check_not_view(&namespace)?;
        let is_capped = call
            .find_collection(&namespace)
            .is_some_and(|collection| collection.options.capped.is_some());
        if is_capped {
            return Err(ServerError::new(
                Code::location(17152),
                format!("namespace '{namespace}' is capped so it can't be used for $out"),
            ));
        }
        Ok(())
    }

    fn replace_all(
        &self,
        database: Option<&str>,
        collection: &str,
        mut documents: Vec<RawDocumentBuf>,
    ) -> Result<(), ServerError> {
        let namespace = self.namespace(database, collection);
        let mut call = self.call.borrow_mut();
        let was_there = call.find_collection(&namespace).is_some();
        call.ensure_quietly(&namespace).map_err(|error| {
            if error.code() != Code::INVALID_NAMESPACE {
                return error;
            }
            // A server renames a new collection to this one, and so finds the name illegal.
            ServerError::new(
                Code::ILLEGAL_OPERATION,
                format!("error with target namespace: {}", error.message()),
            )
        })?;
        let bypass = call.args.flag("bypassDocumentValidation");
        let context = call.context.clone();
        // All or nothing: an error leaves the collection as it was.
        call.write_ensured(&namespace, bypass, |writer| {
            let records: Vec<_> = writer
                .collection()
                .all()
                .map(|stored| stored.record)
                .collect();
            for record in records {
                writer.remove(record)?;
            }
            for document in std::mem::take(&mut documents) {
                if let Some(id) = raw::get(&document, "_id") {
                    check_id(id)?;
                }
                let is_id = |element: &raw::Element<'_>| element.key_bytes() == b"_id";
                if raw::walk(&document).filter(is_id).nth(1).is_some() {
                    return Err(super::insert::several_ids());
                }
                writer.insert(&super::insert::with_id(document, || context.object_id()))?;
            }
            if writer.is_watched() {
                let from = writer.collection().made_as("agg_out");
                writer.tell_as_moved(&from, was_there);
            }
            Ok(())
        })
    }
}
