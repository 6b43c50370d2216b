//! The operations of a `bulkWrite`.

use bson::raw::{RawBsonRef, RawDocument};
use odm_language::error::{Code, ServerError};
use odm_language::value::raw;

use crate::command::args::{Args, Field, Kind, field, required, unsupported};
use crate::command::delete::DeleteStatement;
use crate::command::update::UpdateStatement;

const INSERT: &[Field] = &[
    required("insert", Kind::Int),
    required("document", Kind::Object),
];

const UPDATE: &[Field] = &[
    required("update", Kind::Int),
    required("filter", Kind::Object),
    required("updateMods", Kind::Any),
    field("arrayFilters", Kind::Objects),
    field("collation", Kind::Object),
    field("constants", Kind::Object),
    field("hint", Kind::Any),
    field("multi", Kind::Bool),
    field("sort", Kind::Object),
    field("upsert", Kind::Bool),
    field("upsertSupplied", Kind::UnsupportedBool),
];

const DELETE: &[Field] = &[
    required("delete", Kind::Int),
    required("filter", Kind::Object),
    field("collation", Kind::Object),
    field("hint", Kind::Any),
    field("multi", Kind::Bool),
];

/// One of `ops`.
#[derive(Debug)]
pub(super) struct Operation<'a> {
    /// The index of its namespace in `nsInfo`.
    pub(super) namespace: usize,
    pub(super) statement: Statement<'a>,
}

#[derive(Debug)]
pub(super) enum Statement<'a> {
    Insert(&'a RawDocument),
    Update(UpdateStatement<'a>),
    Delete(DeleteStatement<'a>),
}

impl<'a> Operation<'a> {
    pub(super) fn parse(given: &'a RawDocument) -> Result<Self, ServerError> {
        // The first field names the operation.
        let name = raw::elements(given).next().map_or("", |(name, _)| name);
        let (fields, name) = match name {
            "insert" => (INSERT, "insert"),
            "update" => (UPDATE, "update"),
            "delete" => (DELETE, "delete"),
            other => {
                return Err(ServerError::new(
                    Code::FAILED_TO_PARSE,
                    format!(
                        "Unrecognized operation '{other}' in 'ops': it must begin with 'insert', 'update' or 'delete'"
                    ),
                ));
            }
        };
        let args = Args::of_statement(given, "bulkWrite.ops", fields)?;
        let namespace = args.int(name).and_then(|index| usize::try_from(index).ok());
        let document = |name| args.document(name).unwrap_or_else(|| raw::empty_document());
        let statement = match name {
            "insert" => Statement::Insert(document("document")),
            "update" => Statement::Update(update(&args, document("filter"))?),
            _ => {
                let mut statement = DeleteStatement::new(document("filter"), args.flag("multi"));
                statement.collation = args.filled("collation");
                statement.hint = args.hint()?;
                Statement::Delete(statement)
            }
        };
        Ok(Self {
            // An index that is negative is past the end, too.
            namespace: namespace.unwrap_or(usize::MAX),
            statement,
        })
    }
}

fn update<'a>(
    args: &Args<'a>,
    filter: &'a RawDocument,
) -> Result<UpdateStatement<'a>, ServerError> {
    let mods = args.get("updateMods").unwrap_or(RawBsonRef::Null);
    let mut statement = UpdateStatement::new(filter, mods, args.flag("multi"))?;
    if args.filled("constants").is_some() {
        if !matches!(mods, RawBsonRef::Array(_)) {
            return Err(ServerError::new(
                Code::location(51198),
                "Constant values may only be specified for pipeline updates",
            ));
        }
        return Err(unsupported("the option 'bulkWrite.ops.constants'"));
    }
    statement.upsert = args.flag("upsert");
    statement.array_filters = args.array("arrayFilters");
    statement.collation = args.filled("collation");
    statement.hint = args.hint()?;
    statement.sort = args.filled("sort");
    statement.check_sort()?;
    Ok(statement)
}
