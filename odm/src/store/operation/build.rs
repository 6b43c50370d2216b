//! Builds command documents.

use bson::raw::{CStr, RawArrayBuf, RawBson, RawDocumentBuf, cstr};
use bson::{Bson, Document, doc};
use odm_language::value::raw_writer;

use super::{Condition, Modification, Operation, Request, writes};
use crate::error::{Error, Result};
use crate::store::options::{Collation, Hint, Options, ReturnDocument, millis};

impl Request {
    /// The command as a driver sends it, without the database and session fields.
    pub(crate) fn raw_command(&self) -> Result<RawDocumentBuf> {
        let options = &self.options;
        let collection = &*self.collection;
        let mut command = Command::default();
        match &self.operation {
            Operation::InsertOne { document } => {
                command.text(cstr!("insert"), collection);
                command.array(cstr!("documents"), std::slice::from_ref(document));
                command.write(options)?;
            }
            Operation::InsertMany { documents } => {
                command.text(cstr!("insert"), collection);
                command.array(cstr!("documents"), documents);
                command.write(options)?;
            }
            Operation::Find { filter, one } => {
                command.text(cstr!("find"), collection);
                command.condition(cstr!("filter"), filter)?;
                command.find(options, *one)?;
            }
            Operation::Update(_) | Operation::Replace { .. } => {
                command.text(cstr!("update"), collection);
                command.array(cstr!("updates"), &[self.operation.statement(options)?]);
                command.write(options)?;
            }
            Operation::Delete { .. } => {
                command.text(cstr!("delete"), collection);
                command.array(cstr!("deletes"), &[self.operation.statement(options)?]);
                command.write(options)?;
            }
            Operation::Updates { statements } => {
                command.text(cstr!("update"), collection);
                command.array(cstr!("updates"), statements);
                command.write(options)?;
            }
            Operation::Deletes { statements } => {
                command.text(cstr!("delete"), collection);
                command.array(cstr!("deletes"), statements);
                command.write(options)?;
            }
            Operation::FindAndUpdate(operands) => {
                command.text(cstr!("findAndModify"), collection);
                command.condition(cstr!("query"), &operands.filter)?;
                command.modification(cstr!("update"), &operands.modification)?;
                command.array_filters(&operands.array_filters)?;
                command.find_and_modify(options)?;
            }
            Operation::FindAndReplace {
                filter,
                replacement,
            } => {
                command.text(cstr!("findAndModify"), collection);
                command.condition(cstr!("query"), filter)?;
                command.0.append(cstr!("update"), replacement);
                command.find_and_modify(options)?;
            }
            Operation::FindAndDelete { filter } => {
                command.text(cstr!("findAndModify"), collection);
                command.condition(cstr!("query"), filter)?;
                command.flag(cstr!("remove"), Some(true));
                command.find_and_modify(options)?;
            }
            Operation::Aggregate { pipeline } => {
                command.text(cstr!("aggregate"), collection);
                command.documents(cstr!("pipeline"), pipeline)?;
                command.aggregate(options, writes(pipeline))?;
            }
            Operation::Count { filter } => {
                command.text(cstr!("aggregate"), collection);
                command.documents(cstr!("pipeline"), &count_pipeline(filter, options))?;
                command.document(cstr!("cursor"), &Document::new())?;
                command.optional(cstr!("hint"), options.hint.as_ref().map(Hint::to_bson))?;
                command.read(options)?;
            }
            Operation::EstimatedCount => {
                command.text(cstr!("count"), collection);
                command.read(options)?;
            }
            Operation::Distinct { path, filter } => {
                command.text(cstr!("distinct"), collection);
                command.text(cstr!("key"), path);
                command.condition(cstr!("query"), filter)?;
                command.optional(cstr!("hint"), options.hint.as_ref().map(Hint::to_bson))?;
                command.read(options)?;
            }
            Operation::Drop => {
                command.text(cstr!("drop"), collection);
                command.write_concern(options)?;
                command.optional(cstr!("comment"), options.comment.clone())?;
            }
        }
        Ok(command.0)
    }
}

impl Operation {
    /// An update, a replacement or a delete as one statement of its command.
    pub(crate) fn statement(&self, options: &Options) -> Result<RawDocumentBuf> {
        let mut statement = Command::default();
        match self {
            Self::Update(operands) => {
                statement.condition(cstr!("q"), &operands.filter)?;
                statement.modification(cstr!("u"), &operands.modification)?;
                if operands.multi {
                    statement.flag(cstr!("multi"), Some(true));
                }
                statement.array_filters(&operands.array_filters)?;
            }
            Self::Replace {
                filter,
                replacement,
            } => {
                statement.condition(cstr!("q"), filter)?;
                statement.0.append(cstr!("u"), replacement);
            }
            Self::Delete { filter, multi } => {
                statement.condition(cstr!("q"), filter)?;
                statement.0.append(cstr!("limit"), i32::from(!multi));
            }
            _ => return Err(Error::usage("only updates and deletes are statements")),
        }
        statement.statement(options)?;
        Ok(statement.0)
    }
}

/// The pipeline of `count_documents`, which counts exactly for every filter.
fn count_pipeline(filter: &Condition, options: &Options) -> Vec<Document> {
    let mut pipeline = vec![doc! { "$match": filter.clone().into_document() }];
    if let Some(skip) = options.skip {
        pipeline.push(doc! { "$skip": number(skip) });
    }
    if let Some(limit) = options.limit {
        pipeline.push(doc! { "$limit": limit });
    }
    pipeline.push(doc! { "$group": { "_id": 1, "n": { "$sum": 1 } } });
    pipeline
}

fn number(value: u64) -> Bson {
    Bson::Int64(i64::try_from(value).unwrap_or(i64::MAX))
}

/// A command under construction.
#[derive(Default)]
struct Command(RawDocumentBuf);

impl Command {
    fn text(&mut self, key: &CStr, value: &str) {
        self.0.append(key, value);
    }

    fn flag(&mut self, key: &CStr, value: Option<bool>) {
        if let Some(value) = value {
            self.0.append(key, value);
        }
    }

    fn document(&mut self, key: &CStr, value: &Document) -> Result<()> {
        self.0.append(key, raw_document(value)?);
        Ok(())
    }

    fn condition(&mut self, key: &CStr, value: &Condition) -> Result<()> {
        self.0.append(key, raw_condition(value)?);
        Ok(())
    }

    fn optional(&mut self, key: &CStr, value: Option<Bson>) -> Result<()> {
        if let Some(value) = value {
            self.0
                .append(key, RawBson::try_from(value).map_err(Error::encode)?);
        }
        Ok(())
    }

    fn optional_document(&mut self, key: &CStr, value: Option<&Document>) -> Result<()> {
        value.map_or(Ok(()), |value| self.document(key, value))
    }

    fn documents(&mut self, key: &CStr, values: &[Document]) -> Result<()> {
        let mut array = RawArrayBuf::new();
        for value in values {
            array.push(raw_document(value)?);
        }
        self.0.append(key, array);
        Ok(())
    }

    fn array(&mut self, key: &CStr, values: &[RawDocumentBuf]) {
        let mut array = RawArrayBuf::new();
        for value in values {
            array.push(value);
        }
        self.0.append(key, array);
    }

    fn modification(&mut self, key: &CStr, update: &Modification) -> Result<()> {
        match update {
            Modification::One {
                operator,
                path,
                value,
            } => {
                self.0.append(key, raw_operators(operator, path, value)?);
                Ok(())
            }
            Modification::Operators(operators) => self.document(key, operators),
            Modification::Pipeline(stages) => self.documents(key, stages),
        }
    }

    fn array_filters(&mut self, filters: &[Document]) -> Result<()> {
        if filters.is_empty() {
            return Ok(());
        }
        self.documents(cstr!("arrayFilters"), filters)
    }

    /// The options of one `update` or `delete` statement.
    fn statement(&mut self, options: &Options) -> Result<()> {
        self.flag(cstr!("upsert"), options.upsert);
        self.optional(cstr!("hint"), options.hint.as_ref().map(Hint::to_bson))?;
        self.collation(options)
    }

    /// The options of a write command as a whole.
    fn write(&mut self, options: &Options) -> Result<()> {
        self.0
            .append(cstr!("ordered"), options.ordered.unwrap_or(true));
        self.flag(
            cstr!("bypassDocumentValidation"),
            options.bypass_document_validation,
        );
        self.optional_document(cstr!("let"), options.let_vars.as_ref())?;
        self.optional(cstr!("comment"), options.comment.clone())?;
        self.max_time(options)?;
        self.write_concern(options)
    }

    fn find(&mut self, options: &Options, one: bool) -> Result<()> {
        self.optional_document(cstr!("sort"), options.sort.as_ref())?;
        self.optional_document(cstr!("projection"), options.projection.as_ref())?;
        self.optional(cstr!("skip"), options.skip.map(number))?;
        if one {
            self.0.append(cstr!("limit"), 1_i64);
            self.flag(cstr!("singleBatch"), Some(true));
        } else if let Some(limit) = options.limit {
            self.0.append(cstr!("limit"), limit);
        }
        self.optional(
            cstr!("batchSize"),
            options.batch_size.map(|size| Bson::Int64(size.into())),
        )?;
        self.optional(cstr!("hint"), options.hint.as_ref().map(Hint::to_bson))?;
        self.flag(cstr!("allowDiskUse"), options.allow_disk_use);
        self.optional_document(cstr!("min"), options.min.as_ref())?;
        self.optional_document(cstr!("max"), options.max.as_ref())?;
        self.flag(cstr!("allowPartialResults"), options.allow_partial_results);
        self.flag(cstr!("noCursorTimeout"), options.no_cursor_timeout);
        self.flag(cstr!("showRecordId"), options.show_record_id);
        self.flag(cstr!("returnKey"), options.return_key);
        if options.tails {
            self.flag(cstr!("tailable"), Some(true));
            self.flag(cstr!("awaitData"), Some(true));
        }
        self.optional_document(cstr!("let"), options.let_vars.as_ref())?;
        self.read(options)
    }

    fn aggregate(&mut self, options: &Options, writes: bool) -> Result<()> {
        let cursor = match options.batch_size {
            // A pipeline that writes returns no documents.
            Some(size) if !writes => doc! { "batchSize": i64::from(size) },
            _ => Document::new(),
        };
        self.document(cstr!("cursor"), &cursor)?;
        self.optional(cstr!("hint"), options.hint.as_ref().map(Hint::to_bson))?;
        self.flag(cstr!("allowDiskUse"), options.allow_disk_use);
        self.flag(
            cstr!("bypassDocumentValidation"),
            options.bypass_document_validation,
        );
        self.optional_document(cstr!("let"), options.let_vars.as_ref())?;
        self.read(options)?;
        if writes {
            self.write_concern(options)?;
        }
        Ok(())
    }

    fn find_and_modify(&mut self, options: &Options) -> Result<()> {
        self.optional_document(cstr!("sort"), options.sort.as_ref())?;
        self.optional_document(cstr!("fields"), options.projection.as_ref())?;
        self.flag(
            cstr!("new"),
            options
                .return_document
                .map(|returned| returned == ReturnDocument::After),
        );
        self.statement(options)?;
        self.flag(
            cstr!("bypassDocumentValidation"),
            options.bypass_document_validation,
        );
        self.optional_document(cstr!("let"), options.let_vars.as_ref())?;
        self.optional(cstr!("comment"), options.comment.clone())?;
        self.max_time(options)?;
        self.write_concern(options)
    }

    /// The options that all reads share.
    fn read(&mut self, options: &Options) -> Result<()> {
        self.collation(options)?;
        self.optional(cstr!("comment"), options.comment.clone())?;
        self.max_time(options)?;
        if let Some(concern) = options.read_concern {
            self.document(cstr!("readConcern"), &concern.to_document())?;
        }
        if let Some(preference) = &options.read_preference {
            self.document(cstr!("$readPreference"), &preference.to_document())?;
        }
        Ok(())
    }

    fn collation(&mut self, options: &Options) -> Result<()> {
        let collation = options.collation.as_ref().map(Collation::to_document);
        self.optional_document(cstr!("collation"), collation.as_ref())
    }

    fn max_time(&mut self, options: &Options) -> Result<()> {
        self.optional(cstr!("maxTimeMS"), options.max_time.map(millis))
    }

    fn write_concern(&mut self, options: &Options) -> Result<()> {
        match &options.write_concern {
            Some(concern) => self.document(cstr!("writeConcern"), &concern.to_document()),
            None => Ok(()),
        }
    }
}

pub(crate) fn raw_document(document: &Document) -> Result<RawDocumentBuf> {
    raw_writer::document(document).map_err(Error::encode)
}

/// The bytes of a filter.
pub(crate) fn raw_condition(condition: &Condition) -> Result<RawDocumentBuf> {
    match condition {
        Condition::One(path, value) => raw_writer::one(path, value).map_err(Error::encode),
        Condition::Document(document) => raw_document(document),
    }
}

/// The bytes of an update by one operator on one field.
pub(crate) fn raw_operators(operator: &str, path: &str, value: &Bson) -> Result<RawDocumentBuf> {
    raw_writer::one_in(operator, path, value).map_err(Error::encode)
}
