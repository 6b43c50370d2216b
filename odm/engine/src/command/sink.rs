//! The writes of `$merge` and `$out`.

use std::sync::Arc;

use bson::raw::{RawDocument, RawDocumentBuf};
use odm_language::error::{Code, ServerError};
use odm_language::expression::Globals;
use odm_language::value::collation::Collator;

use crate::catalog::Edit;
use crate::catalog::namespace::Namespace;
use crate::command::insert::{Times, prepare};
use crate::command::invocation::Invocation;
use crate::command::modify;
use crate::context::Context;
use crate::cursor::query::Deadline;
use crate::pipeline::{MergeWrite, Merging, Sink, WriteTarget};
use crate::txn::writer::Writer;

/// Writes through a running command.
#[derive(Debug)]
pub(crate) struct CommandSink<'c, 'a>(pub(crate) &'c mut Invocation<'a>);

impl CommandSink<'_, '_> {
    fn namespace(&self, database: Option<&str>, collection: &str) -> Namespace {
        Namespace::new(database.unwrap_or(self.0.database), collection)
    }
}

/// The collection that a `$merge` writes into.
struct MergeInto<'w, 'a, 'b> {
    writer: &'w mut Writer<'a, 'b>,
    collator: Option<Collator>,
    context: &'w Context,
    times: Times<'w>,
    deadline: Deadline,
}

impl Merging for MergeInto<'_, '_, '_> {
    fn write(&mut self, write: &MergeWrite<'_>, globals: &Globals) -> Result<bool, ServerError> {
        let (filter, update, upsert, otherwise) = match write {
            MergeWrite::Insert(document) => {
                self.insert(document)?;
                return Ok(true);
            }
            MergeWrite::Update {
                filter,
                update,
                upsert,
                otherwise,
            } => (filter, *update, *upsert, otherwise),
        };
        let wanted = modify::Selection::new(
            filter,
            globals.clone().with_collator(self.collator.clone()),
            self.collator.clone(),
            self.deadline.clone(),
        );
        let change = modify::UpdateSpec {
            update,
            array_filters: None,
            upsert,
        };
        let checked = change.check(&wanted)?;
        let new_id = || self.context.object_id();
        let outcome = modify::update(self.writer, &wanted, &change, &checked, new_id)?;
        let was_there = outcome.matched > 0 || outcome.upserted.is_some();
        if let (false, Some(document)) = (was_there, otherwise) {
            self.insert(document)?;
            return Ok(true);
        }
        Ok(was_there)
    }
}

impl MergeInto<'_, '_, '_> {
    fn insert(&mut self, document: &RawDocument) -> Result<(), ServerError> {
        let context = self.context;
        let stored = prepare(document, || context.object_id(), Some(self.times))?;
        self.writer.insert(&stored)?;
        Ok(())
    }
}

/// The target of a `$merge` that must not create its missing collection.
struct MissingTarget;

impl Merging for MissingTarget {
    fn write(&mut self, _write: &MergeWrite<'_>, _globals: &Globals) -> Result<bool, ServerError> {
        Ok(false)
    }
}

impl Sink for CommandSink<'_, '_> {
    fn merge(
        &mut self,
        target: WriteTarget<'_>,
        creates: bool,
        write: &mut dyn FnMut(&mut dyn Merging) -> Result<(), ServerError>,
    ) -> Result<(), ServerError> {
        let namespace = self.namespace(target.database, target.collection);
        let call = &mut *self.0;
        call.locked.set(true);
        let bypass = call.args.flag("bypassDocumentValidation");
        if creates {
            call.ensure(&namespace)?;
        }
        // Like an update without a collation, `$merge` matches with the collation of its target.
        let collator = modify::collation_of(call.find_collection(&namespace).as_deref());
        let (context, deadline) = (call.context.clone(), call.deadline());
        let (clock, now) = (Arc::clone(&call.engine.catalog.clock), call.now);
        let mut each = |writer: &mut Writer<'_, '_>| {
            let mut merging = MergeInto {
                writer,
                collator: collator.clone(),
                context: &context,
                times: Times { clock: &clock, now },
                deadline: deadline.clone(),
            };
            match write(&mut merging) {
                // A write conflict undoes all writes, so that the command can run again. Other errors keep the writes
                // made before them.
                Err(error) if error.code() == Code::WRITE_CONFLICT => Err(error),
                done => Ok(done),
            }
        };
        let done = if creates {
            Some(call.write_ensured(&namespace, bypass, each)?)
        } else {
            call.write(&namespace, bypass, &mut each)?
        };
        done.unwrap_or_else(|| write(&mut MissingTarget))
    }

    fn check_replaced(&self, database: Option<&str>, collection: &str) -> Result<(), ServerError> {
        let namespace = self.namespace(database, collection);
        let call = &*self.0;
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
        &mut self,
        database: Option<&str>,
        collection: &str,
        mut documents: Vec<RawDocumentBuf>,
    ) -> Result<(), ServerError> {
        let namespace = self.namespace(database, collection);
        let call = &mut *self.0;
        call.locked.set(true);
        let was_there = call.find_collection(&namespace).is_some();
        let created = call.ensure_quietly(&namespace).map_err(|error| {
            if error.code() != Code::INVALID_NAMESPACE {
                return error;
            }
            // mongod renames a temporary collection to this name, and so reports the name as illegal.
            ServerError::new(
                Code::ILLEGAL_OPERATION,
                format!("error with target namespace: {}", error.message()),
            )
        })?;
        let created = created
            .then(|| {
                call.find_collection(&namespace)
                    .map(|collection| collection.uuid)
            })
            .flatten();
        let bypass = call.args.flag("bypassDocumentValidation");
        let context = call.context.clone();
        let (clock, now) = (Arc::clone(&call.engine.catalog.clock), call.now);
        // All or nothing: an error leaves the collection as it was.
        let written = call.write_ensured(&namespace, bypass, |writer| {
            let records: Vec<_> = writer
                .collection()
                .all()
                .map(|stored| stored.record)
                .collect();
            for record in records {
                writer.remove(record)?;
            }
            for document in std::mem::take(&mut documents) {
                let times = Times { clock: &clock, now };
                writer.insert(&prepare(&document, || context.object_id(), Some(times))?)?;
            }
            if writer.is_watched() {
                let from = writer.collection().made_as("agg_out");
                writer.tell_as_moved(&from, was_there);
            }
            Ok(())
        });
        if let Some(uuid) = created.filter(|_| written.is_err()) {
            // Another client may have replaced the collection; its writes then stay.
            // The error of the write is the one to report.
            let _ = call.alter(&namespace, |collection| {
                Ok(if collection.uuid == uuid && collection.len() == 0 {
                    Edit::Drop(())
                } else {
                    Edit::Unchanged(())
                })
            });
        }
        written
    }
}
