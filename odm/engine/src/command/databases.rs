//! `listDatabases`, `dropDatabase`.

use std::collections::BTreeSet;
use std::sync::Arc;

use bson::raw::{RawBsonRef, RawDocumentBuf};
use bson::{Bson, doc};
use odm_language::error::{Code, ServerError};
use odm_language::matcher::Matcher;
use odm_language::value::raw;

use crate::catalog::Catalog;
use crate::catalog::changes::{ChangeKind, LoggedChange};
use crate::catalog::collection::{Shared, Version};
use crate::catalog::namespace::Namespace;
use crate::catalog::options::to_raw;
use crate::command::args::{Kind, field, whole};
use crate::command::concern;
use crate::command::declare::{Command, CommandTarget};
use crate::command::generic_arguments::InTransaction;
use crate::command::invocation::Invocation;
use crate::command::reply::reply;
use crate::txn::write_conflict;

pub(crate) const LIST_DATABASES: Command = Command {
    name: "listDatabases",
    idl: "listDatabases",
    fields: &[
        field("filter", Kind::Object),
        field("nameOnly", Kind::SafeBool),
        field("authorizedDatabases", Kind::Bool),
    ],
    target: CommandTarget::Database,
    transaction: InTransaction::Refused,
    retryable: false,
    writes: false,
    run: list_databases,
    explain: None,
};

pub(crate) const DROP_DATABASE: Command = Command {
    name: "dropDatabase",
    idl: "dropDatabase",
    fields: &[],
    target: CommandTarget::Database,
    transaction: InTransaction::Refused,
    retryable: false,
    writes: true,
    run: drop_database,
    explain: None,
};

fn list_databases(call: &mut Invocation<'_>) -> Result<RawDocumentBuf, ServerError> {
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
        .map(|filter| Matcher::parse(filter, &call.simple_globals()))
        .transpose()?;
    let root = call.root();
    let mut total = 0;
    let mut rows: Vec<Bson> = Vec::new();
    let names = root.databases().map(|name| &**name);
    let names: BTreeSet<&str> = names.chain(["admin", "config", "local"]).collect();
    for name in names {
        let size: u64 = root
            .database(name)
            .map(|collection| collection.bytes())
            .sum();
        let size = i64::try_from(size).unwrap_or(i64::MAX);
        let mut row = doc! { "name": name };
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

fn drop_database(call: &mut Invocation<'_>) -> Result<RawDocumentBuf, ServerError> {
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
    let unmet = concern::unmet(call.command);
    let catalog = &call.engine.catalog;
    let dropped = drop_all(catalog, call.database, unmet.is_none())?;
    call.engine.profiler.forget(call.database);
    let Some(unmet) = unmet.filter(|_| dropped > 0) else {
        return reply(doc! {});
    };
    // MongoDB waits for the write concern of the collections' drops before it drops the database, and gives up if that
    // fails.
    call.locked.set(true);
    let time = catalog.clock.now();
    let (code, why) = if concern::has_timeout(call.command) {
        (
            Code::WRITE_CONCERN_FAILED,
            "waiting for replication timed out",
        )
    } else {
        let code = unmet.get_i32("code");
        (
            code.map_or(Code::CANNOT_SATISFY_WRITE_CONCERN, Code::from),
            unmet.get_str("errmsg").unwrap_or_default(),
        )
    };
    Err(ServerError::new(
        code,
        format!(
            "dropDatabase {} failed waiting for {dropped} collection drop(s) (most recent drop optime: {{ ts: \
             Timestamp({}, {}), t: 1 }}) to replicate. :: caused by :: {why}",
            call.database, time.time, time.increment
        ),
    ))
}

/// Drops every collection of a database at once, or none, and returns their number. With `entirely`, drops the database
/// too.
fn drop_all(catalog: &Catalog, database: &str, entirely: bool) -> Result<usize, ServerError> {
    loop {
        let root = catalog.root();
        let all: Vec<_> = root.database(database).collect();
        if all.is_empty() {
            return Ok(0);
        }
        let locks = Shared::lock_all(all.iter().map(|collection| &collection.shared));
        if locks.iter().any(|locks| !locks.is_empty()) {
            return Err(write_conflict());
        }
        let mut published = catalog.publish();
        let which = |it: &Version| (it.namespace.clone(), Arc::as_ptr(&it.shared));
        let now = published.database(database).map(which);
        // If they differ, a collection was created or dropped during the wait for the locks.
        if !now.eq(all.iter().map(|then| which(then))) {
            continue;
        }
        for collection in &all {
            published.remove(&collection.namespace);
        }
        catalog.log(&published, || {
            let drop = |namespace, uuid, what| LoggedChange {
                namespace,
                uuid,
                what,
            };
            let dropped =
                |it: &&Version| drop(it.namespace.clone(), Some(it.uuid), ChangeKind::Drop);
            let mut events: Vec<_> = all.iter().map(dropped).collect();
            if entirely {
                events.push(drop(
                    Namespace::new(database, ""),
                    None,
                    ChangeKind::DropDatabase,
                ));
            }
            events
        });
        return Ok(all.len());
    }
}
