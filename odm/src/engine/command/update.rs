//! `update`.

use bson::raw::{RawArray, RawBsonRef, RawDocument, RawDocumentBuf};
use bson::{Bson, Document, doc};

use crate::engine::catalog::namespace::Namespace;
use crate::engine::command::args::{Args, Field, Kind, field, required};
use crate::engine::command::call::Call;
use crate::engine::command::insert::{batch, is_fatal};
use crate::engine::command::modify::{self, Change, Outcome, Target as Wanted};
use crate::engine::command::reply::{reply, write_error};
use crate::engine::command::retry::{Retry, STATEMENT_ID, STATEMENT_IDS};
use crate::engine::command::table::{Command, InTransaction, Target};
use crate::engine::matcher::Matcher;
use crate::engine::pipeline::Pipeline;
use crate::engine::txn::session::Statement;
use crate::engine::txn::writer::Writer;
use crate::error::{Code, ServerError};
use crate::value::raw;

const FIELDS: &[Field] = &[
    required("updates", Kind::Array),
    field("ordered", Kind::Bool),
    field("bypassDocumentValidation", Kind::SafeBool),
    field("let", Kind::Object),
    STATEMENT_ID,
    STATEMENT_IDS,
];

pub(crate) const STATEMENT: &[Field] = &[
    required("q", Kind::Object),
    required("u", Kind::Any),
    field("c", Kind::Object),
    field("multi", Kind::Bool),
    field("upsert", Kind::Bool),
    field("upsertSupplied", Kind::Bool),
    field("arrayFilters", Kind::Array),
    field("collation", Kind::Object),
    field("hint", Kind::Any),
];

pub(crate) const UPDATE: Command = Command {
    name: "update",
    idl: "update",
    fields: FIELDS,
    target: Target::Collection,
    transaction: InTransaction::Allowed,
    retryable: true,
    writes: true,
    run: update,
};

/// One of `updates`.
#[derive(Debug)]
pub(crate) struct Row<'a> {
    pub(crate) q: &'a RawDocument,
    pub(crate) u: RawBsonRef<'a>,
    pub(crate) multi: bool,
    pub(crate) upsert: bool,
    pub(crate) array_filters: Option<&'a RawArray>,
    pub(crate) collation: Option<&'a RawDocument>,
    pub(crate) hint: Option<RawBsonRef<'a>>,
}

impl<'a> Row<'a> {
    pub(crate) fn parse(statement: &'a RawDocument) -> Result<Self, ServerError> {
        let args = Args::of_statement(statement, "update.updates", STATEMENT)?;
        let u = args.get("u").unwrap_or(RawBsonRef::Null);
        if args.get("c").is_some() && !matches!(u, RawBsonRef::Array(_)) {
            return Err(ServerError::new(
                Code::location(51198),
                "Constant values may only be specified for pipeline updates",
            ));
        }
        if args.filled("c").is_some() {
            return Err(super::args::unsupported("the option 'update.updates.c'"));
        }
        if !matches!(u, RawBsonRef::Document(_) | RawBsonRef::Array(_)) {
            return Err(ServerError::new(
                Code::FAILED_TO_PARSE,
                "Update argument must be either an object or an array",
            ));
        }
        let hint = args.hint()?;
        Ok(Self {
            q: args.document("q").unwrap_or_else(|| raw::empty_document()),
            u,
            multi: args.flag("multi"),
            upsert: args.flag("upsert"),
            array_filters: args.array("arrayFilters"),
            collation: args.filled("collation"),
            hint,
        })
    }

    pub(crate) fn target(
        &self,
        call: &Call<'_>,
        namespace: &Namespace,
        variables: Option<&RawDocument>,
    ) -> Result<Wanted<'a>, ServerError> {
        let collection = call.find_collection(namespace);
        Ok(Wanted {
            filter: self.q,
            sort: None,
            hint: self.hint,
            globals: call.globals(self.collation, variables, collection.as_deref())?,
            multi: self.multi,
            deadline: call.deadline(),
        })
    }

    pub(crate) fn change(&self) -> Change<'a> {
        Change {
            update: self.u,
            array_filters: self.array_filters,
            upsert: self.upsert,
        }
    }
}

fn update(call: &mut Call<'_>) -> Result<RawDocumentBuf, ServerError> {
    let namespace = call.namespace();
    let array = call.args.array_or_empty("updates");
    let statements = batch(array, "update.updates")?
        .into_iter()
        .map(Row::parse)
        .collect::<Result<Vec<_>, _>>()?;
    for statement in &statements {
        if let RawBsonRef::Array(stages) = statement.u {
            Pipeline::check_names(stages)?;
        }
    }
    let ordered = call.args.bool("ordered").unwrap_or(true);
    let bypass = call.args.flag("bypassDocumentValidation");
    let variables = call.args.document("let");
    let mut retry = Retry::new(call.statements.take(), call.command);
    let mut total = Total::default();
    namespace.check_write()?;
    if let Err(error) = call.check_not_view(&namespace) {
        total.errors.push(write_error(0, &error));
        return reply(total.into_fields());
    }
    let mut prepared = Vec::new();
    for statement in &statements {
        let target = statement.target(call, &namespace, variables);
        prepared.push(target.and_then(|target| {
            let change = statement.change();
            let checked = change.check(&target)?;
            // The filter is checked even where there is nothing to match.
            check_filter(&target)?;
            Ok((target, change, checked))
        }));
    }
    let upserts =
        statements.iter().any(|statement| statement.upsert) && prepared.iter().any(Result::is_ok);
    let context = call.context.clone();
    let mut done = Vec::new();
    let write = |writer: &mut Writer<'_>| {
        for (index, prepared) in prepared.iter().enumerate() {
            if let Some(Statement::Update {
                n,
                modified,
                upserted,
            }) = retry.before(index)
            {
                total.add(index, n, modified, upserted);
                continue;
            }
            let outcome = match prepared {
                Err(e) => Err(e.clone()),
                Ok((target, ..)) if target.multi && retry.is_on() => Err(no_multi("multi=true")),
                Ok((target, change, checked)) => {
                    modify::update(writer, target, change, checked, || context.object_id())
                }
            };
            match outcome {
                Ok(outcome) => {
                    let Outcome {
                        matched,
                        modified,
                        upserted,
                        ..
                    } = outcome;
                    let n = matched + i64::from(upserted.is_some());
                    total.add(index, n, modified, upserted.clone());
                    done.push((
                        index,
                        Statement::Update {
                            n,
                            modified,
                            upserted,
                        },
                    ));
                }
                Err(e) if is_fatal(&e) => return Err(e),
                Err(e) => {
                    total.errors.push(write_error(index, &e));
                    if ordered {
                        break;
                    }
                }
            }
        }
        Ok(())
    };
    let written = if upserts {
        Some(call.write_ensured(&namespace, bypass, write)?)
    } else {
        call.write(&namespace, bypass, write)?
    };
    if written.is_none() {
        for (index, prepared) in prepared.iter().enumerate() {
            if let Err(e) = prepared {
                total.errors.push(write_error(index, e));
                if ordered {
                    break;
                }
            }
        }
    }
    retry.remember(done);
    let mut fields = total.into_fields();
    retry.report(&mut fields);
    reply(fields)
}

pub(crate) fn check_filter(target: &Wanted<'_>) -> Result<(), ServerError> {
    Matcher::parse_query(target.filter, &target.globals)?.check_constants(&target.globals)
}

pub(crate) fn no_multi(what: &str) -> ServerError {
    ServerError::new(
        Code::INVALID_OPTIONS,
        format!("Cannot use (or request) retryable writes with {what}"),
    )
}

#[derive(Debug, Default)]
struct Total {
    n: i64,
    modified: i64,
    upserted: Vec<Bson>,
    errors: Vec<Bson>,
}

impl Total {
    fn add(&mut self, index: usize, n: i64, modified: i64, upserted: Option<Bson>) {
        self.n += n;
        self.modified += modified;
        if let Some(id) = upserted {
            let index = i32::try_from(index).unwrap_or(i32::MAX);
            self.upserted
                .push(doc! { "index": index, "_id": id }.into());
        }
    }

    fn into_fields(self) -> Document {
        let mut fields = doc! { "n": int(self.n) };
        if !self.errors.is_empty() {
            fields.insert("writeErrors", self.errors);
        }
        if !self.upserted.is_empty() {
            fields.insert("upserted", self.upserted);
        }
        fields.insert("nModified", int(self.modified));
        fields
    }
}

/// Counts are 32 bits in replies, unless they don't fit.
pub(crate) fn int(count: i64) -> Bson {
    i32::try_from(count).map_or(Bson::Int64(count), Bson::Int32)
}
