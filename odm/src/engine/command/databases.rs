//! `listDatabases`, `dropDatabase`.

use bson::raw::{RawBsonRef, RawDocumentBuf};
use bson::{Bson, doc};

use crate::engine::catalog::Edit;
use crate::engine::catalog::changes::{Change, What};
use crate::engine::catalog::namespace::Namespace;
use crate::engine::catalog::options::to_raw;
use crate::engine::command::args::{Kind, field, whole};
use crate::engine::command::call::Call;
use crate::engine::command::reply::reply;
use crate::engine::command::table::{Command, InTransaction, Target};
use crate::engine::expression::Globals;
use crate::engine::matcher::Matcher;
use crate::error::{Code, ServerError};
use crate::value::raw;

pub(crate) const LIST_DATABASES: Command = Command {
    name: "listDatabases",
    idl: "listDatabases",
    fields: &[
        field("filter", Kind::Object),
        field("nameOnly", Kind::SafeBool),
        field("authorizedDatabases", Kind::Bool),
    ],
    target: Target::Database,
    transaction: InTransaction::Refused,
    retryable: false,
    writes: false,
    run: list_databases,
};

pub(crate) const DROP_DATABASE: Command = Command {
    name: "dropDatabase",
    idl: "dropDatabase",
    fields: &[],
    target: Target::Database,
    transaction: InTransaction::Refused,
    retryable: false,
    writes: true,
    run: drop_database,
};

fn list_databases(call: &mut Call<'_>) -> Result<RawDocumentBuf, ServerError> {
    if call.database != "admin" {
        return Err(ServerError::new(
            Code::UNAUTHORIZED,
            "listDatabases may only be run against the admin database.",
        ));
    }
    let name_only = call.args.flag("nameOnly");
    let filter = call
        .args
        .filled("filter")
        .map(|filter| Matcher::parse(filter, &Globals::new(call.now)))
        .transpose()?;
    let root = call.root();
    let mut total = 0;
    let mut rows: Vec<Bson> = Vec::new();
    for name in root.databases() {
        let size: u64 = root
            .database(name)
            .map(|collection| collection.bytes())
            .sum();
        let size = i64::try_from(size).unwrap_or(i64::MAX);
        let mut row = doc! { "name": &**name };
        if !name_only {
            row.insert("sizeOnDisk", size);
            row.insert("empty", false);
        }
        if let Some(filter) = &filter
            && !filter.matches(&to_raw(&row)?)?
        {
            continue;
        }
        total += size;
        rows.push(row.into());
    }
    let mut fields = doc! { "databases": rows };
    if !name_only {
        fields.insert("totalSize", total);
        fields.insert("totalSizeMb", total / (1024 * 1024));
    }
    reply(fields)
}

fn drop_database(call: &mut Call<'_>) -> Result<RawDocumentBuf, ServerError> {
    let value = raw::elements(call.command)
        .next()
        .map_or(RawBsonRef::Null, |(_, value)| value);
    if whole(value) != Some(1) {
        return Err(ServerError::new(
            Code::location(5_255_100),
            "Have to pass 1 as 'drop' parameter",
        ));
    }
    if matches!(call.database, "admin" | "local" | "config") {
        return Err(ServerError::new(
            Code::ILLEGAL_OPERATION,
            format!("Dropping the '{}' database is prohibited.", call.database),
        ));
    }
    let namespaces: Vec<_> = call
        .root()
        .database(call.database)
        .map(|collection| collection.namespace.clone())
        .collect();
    let was_there = !namespaces.is_empty();
    for namespace in namespaces {
        call.alter(&namespace, |_| Ok(Edit::Drop(())))?;
    }
    if was_there {
        let catalog = &call.engine.catalog;
        catalog.log(&catalog.publish(), || {
            vec![Change {
                namespace: Namespace::new(call.database, ""),
                uuid: None,
                what: What::DropDatabase,
            }]
        });
    }
    reply(doc! {})
}
