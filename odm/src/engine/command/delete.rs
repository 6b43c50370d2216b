//! `delete`.

use bson::raw::{RawBsonRef, RawDocument, RawDocumentBuf};
use bson::{Bson, doc};

use crate::engine::command::args::{Args, Field, Kind, field, required, whole};
use crate::engine::command::call::Call;
use crate::engine::command::insert::{batch, is_fatal};
use crate::engine::command::modify::{self, Target as Wanted};
use crate::engine::command::reply::{reply, write_error};
use crate::engine::command::retry::{Retry, STATEMENT_ID, STATEMENT_IDS};
use crate::engine::command::table::{Command, InTransaction, Target};
use crate::engine::command::update::{check_filter, int, no_multi};
use crate::engine::txn::session::Statement;
use crate::error::{Code, ServerError};
use crate::value::{print, raw};

const FIELDS: &[Field] = &[
    required("deletes", Kind::Array),
    field("ordered", Kind::Bool),
    field("let", Kind::Object),
    STATEMENT_ID,
    STATEMENT_IDS,
];

pub(crate) const STATEMENT: &[Field] = &[
    required("q", Kind::Object),
    required("limit", Kind::Any),
    field("collation", Kind::Object),
    field("hint", Kind::Any),
];

pub(crate) const DELETE: Command = Command {
    name: "delete",
    idl: "delete",
    fields: FIELDS,
    target: Target::Collection,
    transaction: InTransaction::Allowed,
    retryable: true,
    writes: true,
    run: delete,
};

/// One of `deletes`.
#[derive(Debug)]
pub(crate) struct Row<'a> {
    pub(crate) q: &'a RawDocument,
    pub(crate) multi: bool,
    pub(crate) collation: Option<&'a RawDocument>,
    pub(crate) hint: Option<RawBsonRef<'a>>,
}

impl<'a> Row<'a> {
    pub(crate) fn parse(statement: &'a RawDocument) -> Result<Self, ServerError> {
        let args = Args::of_statement(statement, "delete.deletes", STATEMENT)?;
        let limit = args.get("limit").unwrap_or(RawBsonRef::Null);
        // What is no number counts as zero, as on the server.
        let multi = match whole(limit) {
            Some(0) | None => true,
            Some(1) => false,
            Some(_) => {
                return Err(ServerError::new(
                    Code::FAILED_TO_PARSE,
                    format!(
                        "The limit field in delete objects must be 0 or 1. Got {}",
                        print::value(limit)
                    ),
                ));
            }
        };
        let hint = args.hint()?;
        Ok(Self {
            q: args.document("q").unwrap_or_else(|| raw::empty_document()),
            multi,
            collation: args.filled("collation"),
            hint,
        })
    }
}

fn delete(call: &mut Call<'_>) -> Result<RawDocumentBuf, ServerError> {
    let namespace = call.namespace();
    let array = call.args.array_or_empty("deletes");
    let statements = batch(array, "delete.deletes")?
        .into_iter()
        .map(Row::parse)
        .collect::<Result<Vec<_>, _>>()?;
    let ordered = call.args.bool("ordered").unwrap_or(true);
    let variables = call.args.document("let");
    namespace.check_write()?;
    if let Err(error) = call.check_not_view(&namespace) {
        return reply(doc! { "n": 0, "writeErrors": [write_error(0, &error)] });
    }
    let collection = call.find_collection(&namespace);
    let mut retry = Retry::new(call.statements.take(), call.command);
    let mut prepared = Vec::new();
    for statement in &statements {
        let globals = call.globals(statement.collation, variables, collection.as_deref());
        prepared.push(globals.and_then(|globals| {
            let target = Wanted {
                filter: statement.q,
                sort: None,
                hint: statement.hint,
                globals,
                multi: statement.multi,
                deadline: call.deadline(),
            };
            check_filter(&target)?;
            Ok(target)
        }));
    }
    drop(collection);
    let mut n = 0;
    let mut errors: Vec<Bson> = Vec::new();
    let mut done = Vec::new();
    let mut fault = |index: usize, error: &ServerError| {
        errors.push(write_error(index, error));
        ordered
    };
    let written = call.write(&namespace, true, |writer| {
        for (index, target) in prepared.iter().enumerate() {
            if let Some(Statement::Delete { n: before }) = retry.before(index) {
                n += before;
                continue;
            }
            let outcome = match target {
                Err(e) => Err(e.clone()),
                Ok(target) if target.multi && retry.is_on() => Err(no_multi("limit=0")),
                Ok(target) => modify::delete(writer, target),
            };
            match outcome {
                Ok(outcome) => {
                    n += outcome.matched;
                    done.push((index, Statement::Delete { n: outcome.matched }));
                }
                Err(e) if is_fatal(&e) => return Err(e),
                Err(e) if fault(index, &e) => break,
                Err(_) => {}
            }
        }
        Ok(())
    })?;
    if written.is_none() {
        for (index, target) in prepared.iter().enumerate() {
            if let Err(e) = target
                && fault(index, e)
            {
                break;
            }
        }
    }
    retry.remember(done);
    let mut fields = doc! { "n": int(n) };
    if !errors.is_empty() {
        fields.insert("writeErrors", errors);
    }
    retry.report(&mut fields);
    reply(fields)
}
