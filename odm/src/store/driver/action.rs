//! Runs each operation as one of the driver's actions.

use bson::raw::{RawDocumentBuf, cstr};
use bson::{Bson, Document};
use mongodb::options::UpdateModifications;
use mongodb::{ClientSession, Collection, Database};

use super::cursor::{self, DriverCursor};
use super::lease::{Holder, Lease};
use super::{error, errors, options};
use crate::error::{Error, Result};
use crate::store::operation::{Condition, Modification, Operation, Request, Update, operators};
use crate::store::options::Chosen;
use crate::store::reply::{self, WriteKind, Written};
use crate::store::response::Response;
use crate::store::{Answer, CollectionName};

/// One operation on its way to the driver. The methods return `async` blocks, which capture only what
/// they use; the future of an `async fn` would store each parameter twice.
pub(super) struct Action<'d, 's> {
    pub(super) database: &'d Database,
    pub(super) collection: CollectionName,
    pub(super) target: Collection<RawDocumentBuf>,
    pub(super) options: Chosen,
    pub(super) session: Option<&'s mut ClientSession>,
    pub(super) in_transaction: bool,
}

impl<'s> Action<'_, 's> {
    /// The future of an operation on one collection.
    pub(super) fn run(self, operation: Operation) -> Answer<'s> {
        match operation {
            Operation::Find { filter, one } => self.find(filter, one),
            Operation::Aggregate { pipeline } => self.aggregate(pipeline),
            Operation::InsertOne { document } => self.insert_one(document),
            Operation::InsertMany { documents } => self.insert_many(documents),
            Operation::Update(operands) => self.update(operands),
            Operation::Replace {
                filter,
                replacement,
            } => self.replace(filter, replacement),
            Operation::Delete { filter, multi } => self.delete(filter, multi),
            Operation::FindAndUpdate(operands) => self.find_and_update(operands),
            Operation::FindAndReplace {
                filter,
                replacement,
            } => self.find_and_replace(filter, replacement),
            Operation::FindAndDelete { filter } => self.find_and_delete(filter),
            Operation::Count { filter } => self.count(filter),
            Operation::EstimatedCount => self.estimated_count(),
            Operation::Distinct { path, filter } => self.distinct(path, filter),
            operation @ Operation::Updates { .. } => self.statements(operation, WriteKind::Update),
            operation @ Operation::Deletes { .. } => self.statements(operation, WriteKind::Delete),
            Operation::Drop => self.drop(),
        }
    }

    fn find(self, filter: Condition, one: bool) -> Answer<'s> {
        Box::pin(async move {
            let mut options = self.options.chosen().map(options::find).transpose()?;
            if one {
                // A negative limit requests a single batch and closes the cursor.
                options.get_or_insert_default().limit = Some(-1);
            }
            let action = self
                .target
                .find(filter.into_document())
                .with_options(options);
            if one && self.session.is_none() {
                let cursor = action.batch().await.map_err(error)?;
                return Ok(Response::Cursor(cursor::of_one_batch(cursor).await?));
            }
            let client = self.target.client();
            let cursor = opened!(action, client, self.session, self.options.batch_size);
            Ok(Response::Cursor(cursor))
        })
    }

    fn aggregate(self, pipeline: Vec<Document>) -> Answer<'s> {
        Box::pin(async move {
            let options = self.options.chosen().map(options::aggregate).transpose()?;
            let action = self.target.aggregate(pipeline).with_options(options);
            let client = self.target.client();
            let cursor = opened!(action, client, self.session, self.options.batch_size);
            Ok(Response::Cursor(cursor))
        })
    }

    fn insert_one(self, document: RawDocumentBuf) -> Answer<'s> {
        Box::pin(async move {
            let options = self.options.chosen().map(options::insert_one);
            let action = self.target.insert_one(&document).with_options(options);
            in_session!(action, self.session).await.map_err(error)?;
            Ok(inserted(1))
        })
    }

    fn insert_many(self, documents: Vec<RawDocumentBuf>) -> Answer<'s> {
        Box::pin(async move {
            let options = self.options.chosen().map(options::insert_many);
            let action = self.target.insert_many(&documents).with_options(options);
            let n = documents.len();
            match in_session!(action, self.session).await {
                Ok(_) => Ok(inserted(n as u64)),
                Err(failure) => Err(errors::insert_many(failure, n, self.options.ordered)),
            }
        })
    }

    fn update(self, operands: Box<Update>) -> Answer<'s> {
        let plain = self.options.chosen().is_none() && operands.array_filters.is_empty();
        if plain && self.session.is_none() {
            // Most updates have no options. Options are large: without them the future is a third of the size.
            let target = self.target;
            return Box::pin(async move { updated(update(&target, *operands).await) });
        }
        Box::pin(async move {
            let mut options = options::update(&self.options)?;
            options.array_filters = some(&operands.array_filters);
            let action = update(&self.target, *operands).with_options(options);
            updated(in_session!(action, self.session).await)
        })
    }

    fn replace(self, filter: Condition, replacement: RawDocumentBuf) -> Answer<'s> {
        Box::pin(async move {
            let options = self.options.chosen().map(options::replace).transpose()?;
            let action = self
                .target
                .replace_one(filter.into_document(), &replacement)
                .with_options(options);
            updated(in_session!(action, self.session).await)
        })
    }

    fn delete(self, filter: Condition, multi: bool) -> Answer<'s> {
        if self.options.chosen().is_none() && self.session.is_none() {
            // Most deletes have no options. Options are large: without them the future is smaller.
            let target = self.target;
            return Box::pin(async move { deleted(delete(&target, filter, multi).await) });
        }
        Box::pin(async move {
            let options = self.options.chosen().map(options::delete).transpose()?;
            let action = delete(&self.target, filter, multi).with_options(options);
            deleted(in_session!(action, self.session).await)
        })
    }

    fn find_and_update(self, operands: Box<Update>) -> Answer<'s> {
        Box::pin(async move {
            let mut options = options::find_one_and_update(&self.options)?;
            options.array_filters = some(&operands.array_filters);
            let Update {
                filter,
                modification,
                ..
            } = *operands;
            let action = self
                .target
                .find_one_and_update(filter.into_document(), modifications(modification))
                .with_options(options);
            found(in_session!(action, self.session).await)
        })
    }

    fn find_and_replace(self, filter: Condition, replacement: RawDocumentBuf) -> Answer<'s> {
        Box::pin(async move {
            let options = self
                .options
                .chosen()
                .map(options::find_one_and_replace)
                .transpose()?;
            let action = self
                .target
                .find_one_and_replace(filter.into_document(), &replacement)
                .with_options(options);
            found(in_session!(action, self.session).await)
        })
    }

    fn find_and_delete(self, filter: Condition) -> Answer<'s> {
        Box::pin(async move {
            let options = self
                .options
                .chosen()
                .map(options::find_one_and_delete)
                .transpose()?;
            let action = self
                .target
                .find_one_and_delete(filter.into_document())
                .with_options(options);
            found(in_session!(action, self.session).await)
        })
    }

    fn count(self, filter: Condition) -> Answer<'s> {
        Box::pin(async move {
            let options = self.options.chosen().map(options::count).transpose()?;
            let action = self
                .target
                .count_documents(filter.into_document())
                .with_options(options);
            let counted = in_session!(action, self.session).await.map_err(error)?;
            Ok(Response::Count(counted))
        })
    }

    fn estimated_count(self) -> Answer<'s> {
        Box::pin(async move {
            let options = self.options.chosen().map(options::estimated_count);
            let action = self.target.estimated_document_count().with_options(options);
            Ok(Response::Count(action.await.map_err(error)?))
        })
    }

    fn distinct(self, path: String, filter: Condition) -> Answer<'s> {
        Box::pin(async move {
            let options = self.options.chosen().map(options::distinct).transpose()?;
            let action = self
                .target
                .distinct(path, filter.into_document())
                .with_options(options);
            let values: Vec<Bson> = in_session!(action, self.session).await.map_err(error)?;
            Ok(Response::Values(values))
        })
    }

    /// Sends several updates or deletes in one raw command, because the driver's bulk write requires
    /// MongoDB 8.0. The driver does not retry raw commands.
    fn statements(self, operation: Operation, kind: WriteKind) -> Answer<'s> {
        let request = Request {
            collection: self.collection,
            operation,
            options: self.options,
        };
        let database = self.database.clone();
        Box::pin(async move {
            let mut command = request.raw_command()?;
            let in_transaction = self.in_transaction;
            if request.options.write_concern.is_none()
                && !in_transaction
                && let Some(concern) = database.write_concern()
            {
                // `run_command` does not inherit the connection's write concern.
                let concern =
                    bson::serialize_to_raw_document_buf(concern).map_err(Error::encode)?;
                command.append(cstr!("writeConcern"), concern);
            }
            let action = database.run_raw_command(command);
            let reply = in_session!(action, self.session).await.map_err(error)?;
            let reply = RawDocumentBuf::try_from(&reply).map_err(Error::encode)?;
            Ok(Response::Written(reply::written(&reply, kind, true)?))
        })
    }

    fn drop(self) -> Answer<'s> {
        Box::pin(async move {
            let options = self.options.chosen().map(options::drop);
            let action = self.target.drop().with_options(options);
            in_session!(action, self.session).await.map_err(error)?;
            Ok(Response::Done)
        })
    }
}

fn update(target: &Collection<RawDocumentBuf>, operands: Update) -> mongodb::action::Update<'_> {
    let Update {
        filter,
        modification,
        multi,
        ..
    } = operands;
    let update = modifications(modification);
    if multi {
        target.update_many(filter.into_document(), update)
    } else {
        target.update_one(filter.into_document(), update)
    }
}

fn delete(
    target: &Collection<RawDocumentBuf>,
    filter: Condition,
    multi: bool,
) -> mongodb::action::Delete<'_> {
    if multi {
        target.delete_many(filter.into_document())
    } else {
        target.delete_one(filter.into_document())
    }
}

fn some(array_filters: &[Document]) -> Option<Vec<Document>> {
    (!array_filters.is_empty()).then(|| array_filters.to_vec())
}

fn modifications(update: Modification) -> UpdateModifications {
    match update {
        Modification::One {
            operator,
            path,
            value,
        } => operators(operator, path, value).into(),
        Modification::Operators(operators) => operators.into(),
        Modification::Pipeline(stages) => stages.into(),
    }
}

fn inserted<'s>(n: u64) -> Response<'s> {
    Response::Written(Written {
        n,
        ..Written::default()
    })
}

fn deleted<'s>(
    result: mongodb::error::Result<mongodb::results::DeleteResult>,
) -> Result<Response<'s>> {
    let result = result.map_err(error)?;
    Ok(Response::Written(Written {
        n: result.deleted_count,
        ..Written::default()
    }))
}

fn updated<'s>(
    result: mongodb::error::Result<mongodb::results::UpdateResult>,
) -> Result<Response<'s>> {
    let result = result.map_err(error)?;
    let upserted = match result.upserted_id {
        Some(id) => vec![(0, id)],
        None => Vec::new(),
    };
    Ok(Response::Written(Written {
        n: result.matched_count + upserted.len() as u64,
        modified: result.modified_count,
        upserted,
    }))
}

fn found<'s>(result: mongodb::error::Result<Option<RawDocumentBuf>>) -> Result<Response<'s>> {
    Ok(Response::Document(result.map_err(error)?))
}
