//! `bulkWrite`: inserts, updates and deletes in several collections, by one command. MongoDB 8.0 has added it.
//!
//! The operations run as the statements of `insert`, `update` and `delete` do. Outside of transactions they share a
//! transaction of their own: if one of them conflicts with another client's, none has written, and the command can run
//! again.

mod operation;

use bson::raw::{CStr, RawArrayBuf, RawDocument, RawDocumentBuf, cstr};
use bson::{Document, doc};
use odm_language::error::{Code, ServerError};
use odm_language::value::raw;
use smallvec::SmallVec;

use crate::catalog::namespace::Namespace;
use crate::catalog::options::to_raw;
use crate::command::aggregate;
use crate::command::args::{Args, Field, Kind, field, objects, required};
use crate::command::collections::batch_size;
use crate::command::declare::{Command, CommandTarget};
use crate::command::delete::Delete;
use crate::command::generic_arguments::InTransaction;
use crate::command::insert::{Insert, check_count};
use crate::command::invocation::Invocation;
use crate::command::reply::{Written, int};
use crate::command::retry::{Retry, STATEMENT_IDS};
use crate::command::update::Update;
use crate::cursor::registry;
use crate::txn::session::{Mode, Statements};
use crate::txn::transaction::Transaction;
use crate::txn::write_conflict;

use self::operation::{Operation, Statement};

const FIELDS: &[Field] = &[
    required("ops", Kind::Objects),
    required("nsInfo", Kind::Objects),
    field("bypassDocumentValidation", Kind::SafeBool),
    field("cursor", Kind::Object),
    field("errorsOnly", Kind::Bool),
    field("let", Kind::Object),
    field("ordered", Kind::Bool),
    STATEMENT_IDS,
];

const NAMESPACE: &[Field] = &[
    required("ns", Kind::Str),
    field("collectionUUID", Kind::Unsupported),
    field("encryptionInformation", Kind::Unsupported),
];

pub(crate) const BULK_WRITE: Command = Command {
    name: "bulkWrite",
    idl: "bulkWrite",
    fields: FIELDS,
    target: CommandTarget::Database,
    transaction: InTransaction::Allowed,
    retryable: true,
    writes: true,
    run: bulk_write,
    explain: None,
};

fn bulk_write(call: &mut Invocation<'_>) -> Result<RawDocumentBuf, ServerError> {
    if call.database != "admin" {
        return Err(ServerError::new(
            Code::UNAUTHORIZED,
            "bulkWrite may only be run against the admin database.",
        ));
    }
    let bulk = BulkWrite::parse(call)?;
    Retry::check(call.command, bulk.operations.len())?;
    let results = if matches!(call.mode, Mode::Transaction { .. }) {
        bulk.run(call)?
    } else {
        bulk.run_together(call)?
    };
    bulk.reply(call, results)
}

/// A parsed `bulkWrite`.
struct BulkWrite<'a> {
    namespaces: Vec<Namespace>,
    operations: Vec<Operation<'a>>,
    ordered: bool,
    bypass: bool,
    variables: Option<&'a RawDocument>,
    errors_only: bool,
    batch_size: Option<u64>,
}

impl<'a> BulkWrite<'a> {
    fn parse(call: &Invocation<'a>) -> Result<Self, ServerError> {
        let args = &call.args;
        let mut namespaces = Vec::new();
        for given in objects(args.array_or_empty("nsInfo")) {
            namespaces.push(namespace(given)?);
        }
        let statements = check_count(objects(args.array_or_empty("ops")).collect())?;
        let mut operations = Vec::with_capacity(statements.len());
        for (at, statement) in statements.into_iter().enumerate() {
            let operation = Operation::parse(statement)?;
            if operation.namespace >= namespaces.len() {
                return Err(ServerError::new(
                    Code::BAD_VALUE,
                    format!("BulkWrite ops entry {at} has an invalid nsInfo index."),
                ));
            }
            operations.push(operation);
        }
        Ok(Self {
            namespaces,
            operations,
            ordered: args.bool("ordered").unwrap_or(true),
            bypass: args.flag("bypassDocumentValidation"),
            variables: args.document("let"),
            errors_only: args.flag("errorsOnly"),
            batch_size: batch_size(args.document("cursor"), "cursor")?,
        })
    }

    /// Runs all operations in a transaction of their own.
    fn run_together(&self, call: &mut Invocation<'_>) -> Result<Results, ServerError> {
        let engine = call.engine;
        let mut own = Transaction::of_command(engine.catalog.root(), call.now);
        // The session remembers the statements once they are committed.
        let mut statements: Option<Statements> = call.statements.as_deref().cloned();
        let mut inner = call.within(call.namespace, 0);
        inner.transaction = Some(&mut own);
        inner.statements = statements.as_mut();
        let outcome = self.run(&mut inner);
        let again = |error: ServerError| match error.code() {
            // Another client has changed a collection meanwhile.
            Code::SNAPSHOT_UNAVAILABLE | Code::WRITE_CONFLICT => write_conflict(),
            _ => error.without_labels(),
        };
        let results = match outcome {
            Ok(results) => results,
            Err(error) => {
                own.abort();
                return Err(again(error));
            }
        };
        own.commit(&engine.catalog, None).map_err(again)?;
        if let (Some(known), Some(statements)) = (&mut call.statements, statements) {
            **known = statements;
        }
        Ok(results)
    }

    /// Runs the operations in order, until one fails if the command is ordered or in a transaction.
    fn run(&self, call: &mut Invocation<'_>) -> Result<Results, ServerError> {
        let ends_at_error = self.ordered || matches!(call.mode, Mode::Transaction { .. });
        let mut results = Results::default();
        let mut at = 0;
        while let Some(first) = self.operations.get(at) {
            let Some(namespace) = self.namespaces.get(first.namespace) else {
                break;
            };
            let rest = self.operations.get(at..).unwrap_or_default();
            let documents = inserted(rest);
            let count = documents.len().max(1);
            call.follow(namespace)?;
            let mut inner = call.within(namespace, at);
            let written = match &first.statement {
                Statement::Insert(_) => Insert {
                    documents,
                    ordered: self.ordered,
                    bypass: self.bypass,
                    restores: false,
                }
                .run(&mut inner),
                Statement::Update(statement) => Update {
                    statements: std::slice::from_ref(statement),
                    ordered: true,
                    bypass: self.bypass,
                    variables: self.variables,
                }
                .run(&mut inner),
                Statement::Delete(statement) => Delete {
                    statements: std::slice::from_ref(statement),
                    ordered: true,
                    variables: self.variables,
                }
                .run(&mut inner),
            };
            let failed = results.add(first, (at, count), ends_at_error, written?);
            if failed && ends_at_error {
                break;
            }
            at += count;
        }
        Ok(results)
    }

    fn reply(
        &self,
        call: &Invocation<'_>,
        results: Results,
    ) -> Result<RawDocumentBuf, ServerError> {
        let shown = results.items.into_iter();
        let shown = shown.filter(|item| !self.errors_only || item.is_error);
        let documents = shown
            .map(|item| to_raw(&item.shown))
            .collect::<Result<Vec<_>, _>>()?;
        let namespace = Namespace::new("admin", "$cmd.bulkWrite");
        let all = u64::try_from(documents.len()).unwrap_or(u64::MAX);
        let size = self.batch_size.unwrap_or(all.saturating_add(1));
        let documents = documents.into_iter().map(registry::Item::Made).collect();
        let page = aggregate::open(call, namespace, documents, Some(size))?;
        let page = page.to_reply(cstr!("firstBatch"));
        let mut reply = RawDocumentBuf::new();
        if let Some(cursor) = raw::get(&page, "cursor") {
            reply.append(cstr!("cursor"), cursor);
        }
        let counts: [(&CStr, i64); 6] = [
            (cstr!("nErrors"), results.errors),
            (cstr!("nInserted"), results.inserted),
            (cstr!("nMatched"), results.matched),
            (cstr!("nModified"), results.modified),
            (cstr!("nUpserted"), results.upserted),
            (cstr!("nDeleted"), results.deleted),
        ];
        for (name, count) in counts {
            reply.append(name, i32::try_from(count).unwrap_or(i32::MAX));
        }
        if !results.retried.is_empty() {
            let retried: RawArrayBuf = results.retried.into_iter().collect();
            reply.append(cstr!("retriedStmtIds"), retried);
        }
        reply.append(cstr!("ok"), 1.0);
        Ok(reply)
    }
}

/// The namespace of an element of `nsInfo`.
fn namespace(given: &RawDocument) -> Result<Namespace, ServerError> {
    let args = Args::of_statement(given, "bulkWrite.nsInfo", NAMESPACE)?;
    let full = args.str("ns").unwrap_or_default();
    let invalid = || {
        ServerError::new(
            Code::INVALID_NAMESPACE,
            format!("Invalid namespace specified for bulkWrite: '{full}'"),
        )
    };
    let namespace = Namespace::split(full).ok_or_else(invalid)?;
    namespace.check().map_err(|_| invalid())?;
    Ok(namespace)
}

/// The documents of the inserts into one collection with which the operations begin.
fn inserted<'a>(operations: &[Operation<'a>]) -> SmallVec<[&'a RawDocument; 1]> {
    let into = operations.first().map(|operation| operation.namespace);
    operations
        .iter()
        .map_while(|operation| match operation.statement {
            Statement::Insert(document) if Some(operation.namespace) == into => Some(document),
            _ => None,
        })
        .collect()
}

/// The result of one operation, as the reply's cursor returns it.
struct Item {
    shown: Document,
    is_error: bool,
}

/// The results of the operations so far.
#[derive(Default)]
struct Results {
    items: Vec<Item>,
    errors: i64,
    inserted: i64,
    matched: i64,
    modified: i64,
    upserted: i64,
    deleted: i64,
    retried: Vec<i32>,
}

impl Results {
    /// Adds the results of operations that ran as one command, and returns whether one failed.
    fn add(
        &mut self,
        operation: &Operation<'_>,
        (first, count): (usize, usize),
        ends_at_error: bool,
        written: Written,
    ) -> bool {
        self.retried.extend(written.retried);
        let upserts = i64::try_from(written.upserted.len()).unwrap_or(i64::MAX);
        match &operation.statement {
            Statement::Insert(_) => self.inserted += written.n,
            Statement::Update(_) => {
                self.matched += written.n - upserts;
                self.modified += written.modified.unwrap_or_default();
                self.upserted += upserts;
            }
            Statement::Delete(_) => self.deleted += written.n,
        }
        let errors = written.errors;
        let is_insert = matches!(operation.statement, Statement::Insert(_));
        let inserted = usize::try_from(written.n).unwrap_or(usize::MAX);
        // A collection that takes no inserts, such as a view, refuses all of them by one error.
        let refuses = is_insert && inserted.saturating_add(errors.len()) < count && !ends_at_error;
        let tried = match errors.last() {
            Some((last, _)) if ends_at_error => last + 1,
            _ => count,
        };
        let mut failing = errors.iter().peekable();
        for at in 0..tried {
            let error = match errors.first() {
                first if refuses => first,
                _ => failing.next_if(|(index, _)| *index == at),
            };
            let error = error.map(|(_, error)| error);
            let mut shown = doc! {
                "ok": if error.is_some() { 0.0 } else { 1.0 },
                "idx": i32::try_from(first + at).unwrap_or(i32::MAX),
            };
            if let Some(error) = error {
                self.errors += 1;
                shown.insert("code", error.code().number());
                shown.insert("errmsg", error.message());
                shown.extend(error.details().cloned().unwrap_or_default());
            }
            let n = if is_insert {
                i64::from(error.is_none())
            } else {
                written.n
            };
            shown.insert("n", int(n));
            if let Some(modified) = written.modified {
                shown.insert("nModified", int(modified));
            }
            if let Some((_, id)) = written.upserted.first() {
                shown.insert("upserted", doc! { "_id": id.clone() });
            }
            self.items.push(Item {
                shown,
                is_error: error.is_some(),
            });
        }
        !errors.is_empty()
    }
}
