//! `createIndexes`.

mod existing;

use std::sync::Arc;

use bson::raw::{RawArray, RawBsonRef, RawDocumentBuf};
use bson::{Bson, doc};
use odm_language::error::{Code, ServerError};

use crate::catalog::Edit;
use crate::catalog::changes::definition;
use crate::catalog::collection::Collection;
use crate::catalog::namespace::Namespace;
use crate::command::args::{Field, Kind, field, objects, required, whole, wrong_type};
use crate::command::create_indexes::existing::{
    check_all, check_build_of, check_room, conflict, within_build,
};
use crate::command::declare::{Command, CommandTarget};
use crate::command::generic_arguments::InTransaction;
use crate::command::invocation::Invocation;
use crate::command::reply::reply;
use crate::index::Index;
use crate::index::spec::Spec;
use crate::index::spec::parse::ParsedSpec;
use crate::txn::transaction::Transaction;

const FIELDS: &[Field] = &[
    required("indexes", Kind::Objects),
    field("commitQuorum", Kind::Any).checked(is_quorum),
    field("ignoreUnknownIndexOptions", Kind::SafeBool),
    // mongod ignores these, and the engine has no time series collections.
    field("v", Kind::SafeInt),
    field("isTimeseriesNamespace", Kind::Bool),
];

pub(crate) const CREATE_INDEXES: Command = Command {
    name: "createIndexes",
    idl: "createIndexes",
    fields: FIELDS,
    target: CommandTarget::Collection,
    transaction: InTransaction::Allowed,
    retryable: false,
    writes: true,
    run: create_indexes,
    explain: None,
};

fn create_indexes(call: &mut Invocation<'_>) -> Result<RawDocumentBuf, ServerError> {
    let namespace = call.namespace();
    namespace.check_create()?;
    let quorum = quorum(call.args.get("commitQuorum"))?;
    let array = call.args.array_or_empty("indexes");
    let ignore_unknown = call.args.flag("ignoreUnknownIndexOptions");
    namespace.check_write()?;
    if call.transaction.is_some() && namespace.is_system() {
        return Err(ServerError::new(
            Code::OPERATION_NOT_SUPPORTED_IN_TRANSACTION,
            format!("Cannot write to system collection {namespace} within a transaction."),
        ));
    }
    call.check_not_view(&namespace)?;
    let existing = call.find_collection(&namespace);
    let given = parse_specs(array, ignore_unknown)?;
    if given.iter().any(ParsedSpec::may_hide) {
        check_hides(&namespace)?;
    }
    check_quorum(&quorum)?;
    let specs = specs(given, existing.as_deref())?;
    for spec in &specs {
        spec.uses.begin(call.now);
    }
    let created = existing.is_none();
    // Indexes that cannot be built must not create the collection.
    if created {
        let others: Vec<_> = specs.iter().filter(|spec| !spec.is_id()).collect();
        check_all(&namespace, 1, &others)?;
    }
    // If all indexes exist, the command does not wait for transactions with writes on the collection.
    let unchanged = match &existing {
        Some(existing) if missing(existing, &specs)?.is_empty() => Some(existing.indexes.len()),
        _ => None,
    };
    drop(existing);
    let in_transaction = call.transaction.is_some();
    if unchanged.is_none() {
        call.ensure(&namespace)?;
    }
    let build = call.uuid();
    let counts = if let Some(count) = unchanged {
        Some((count, count))
    } else if let Some(transaction) = &mut call.transaction {
        build_in_transaction(transaction, &namespace, &specs, build)?
    } else {
        call.alter(&namespace, |collection| {
            let was = collection.clone();
            check_build_of(collection, &missing(collection, &specs)?, build)?;
            let (before, after) = add(collection, &specs, build)?;
            Ok(if before == after {
                Edit::Unchanged((before, after))
            } else {
                let change = definition::indexes_created(&was, collection);
                Edit::Publish((before, after), change)
            })
        })?
    };
    let Some((before, after)) = counts else {
        return Err(ServerError::new(
            Code::NAMESPACE_NOT_FOUND,
            format!("ns does not exist: {namespace}"),
        ));
    };
    let int = |count: usize| i32::try_from(count).unwrap_or(i32::MAX);
    let mut fields = doc! { "numIndexesBefore": int(before), "numIndexesAfter": int(after) };
    if before != after || created {
        fields.insert("createdCollectionAutomatically", created || in_transaction);
        fields.insert("commitQuorum", quorum);
    }
    if before == after {
        fields.insert("note", "all indexes already exist");
    } else if after - before < specs.len() {
        fields.insert("note", "index already exists");
    }
    reply(fields)
}

/// Builds the missing indexes, and returns the number of indexes before and after.
fn add(
    collection: &mut Collection,
    specs: &[Arc<Spec>],
    build: [u8; 16],
) -> Result<(usize, usize), ServerError> {
    let before = collection.indexes.len();
    for spec in missing(collection, specs)? {
        let index = collection
            .build(Index::new(Arc::clone(spec)))
            .map_err(|error| within_build(collection, build, &error))?;
        collection.indexes.push(index);
    }
    Ok((before, collection.indexes.len()))
}

/// Like [`add`]; `None` if the collection does not exist.
fn build_in_transaction(
    transaction: &mut Transaction,
    namespace: &Namespace,
    specs: &[Arc<Spec>],
    build: [u8; 16],
) -> Result<Option<(usize, usize)>, ServerError> {
    let Some(collection) = transaction.root().collection(namespace) else {
        return Ok(None);
    };
    let mut collection = (**collection).clone();
    let missing = missing(&collection, specs)?;
    if !missing.is_empty() {
        let is_empty = collection.len() == 0;
        check_new(namespace, transaction.created(namespace), is_empty)?;
        check_all(namespace, collection.indexes.len(), &missing)?;
    }
    let (before, after) = add(&mut collection, specs, build)?;
    if before != after {
        transaction.recreate(collection);
    }
    Ok(Some((before, after)))
}

/// In a transaction, indexes can only be created on an empty collection that the transaction created.
fn check_new(namespace: &Namespace, is_own: bool, is_empty: bool) -> Result<(), ServerError> {
    let which = match (is_own, is_empty) {
        (true, true) => return Ok(()),
        (true, false) => "non-empty",
        (false, _) => "existing",
    };
    Err(ServerError::new(
        Code::OPERATION_NOT_SUPPORTED_IN_TRANSACTION,
        format!(
            "Cannot create new indexes on {which} collection {namespace} in a multi-document transaction."
        ),
    ))
}

/// Refuses to hide indexes of system collections, except for time series buckets.
pub(super) fn check_hides(namespace: &Namespace) -> Result<(), ServerError> {
    if namespace.is_system() && !namespace.collection.starts_with("system.buckets.") {
        return Err(ServerError::new(
            Code::BAD_VALUE,
            "Can't hide index on system collection",
        ));
    }
    Ok(())
}

/// The largest commit quorum, whatever the number of members.
const MAX_NODES: u8 = 50;

/// Parses the commit quorum, and refuses malformed ones.
fn quorum(value: Option<RawBsonRef<'_>>) -> Result<Bson, ServerError> {
    let failed = |why: &str| Err(ServerError::new(Code::FAILED_TO_PARSE, why));
    match value {
        None | Some(RawBsonRef::Null) => Ok(Bson::from("votingMembers")),
        Some(RawBsonRef::String("")) => failed("commitQuorum can't be an empty string"),
        Some(RawBsonRef::String(mode)) => Ok(Bson::from(mode)),
        Some(value) => match whole(value).map(u8::try_from) {
            Some(Ok(nodes @ 0..=MAX_NODES)) => Ok(Bson::Int32(nodes.into())),
            Some(_) => {
                failed("commitQuorum has to be a non-negative number and not greater than 50")
            }
            None => Err(wrong_type(
                "createIndexes.commitQuorum",
                value,
                "types '[long, int, decimal, double, string']",
            )),
        },
    }
}

fn is_quorum(_name: &str, value: RawBsonRef<'_>) -> Result<(), ServerError> {
    quorum(Some(value)).map(drop)
}

/// Refuses a quorum that a single node cannot meet.
fn check_quorum(quorum: &Bson) -> Result<(), ServerError> {
    match quorum {
        Bson::String(mode) if !matches!(&**mode, "majority" | "votingMembers") => {
            Err(ServerError::new(
                Code::UNKNOWN_REPL_WRITE_CONCERN,
                format!("No write concern mode named '{mode}' found in replica set configuration"),
            ))
        }
        Bson::Int32(2..) => Err(ServerError::new(
            Code::UNSATISFIABLE_COMMIT_QUORUM,
            "Not enough data-bearing nodes to satisfy commit quorum",
        )),
        _ => Ok(()),
    }
}

/// Reads the index specifications and checks their form.
fn parse_specs(array: &RawArray, ignore_unknown: bool) -> Result<Vec<ParsedSpec>, ServerError> {
    let given = objects(array).map(|spec| ParsedSpec::read(spec, ignore_unknown));
    let given = given.collect::<Result<Vec<_>, _>>()?;
    if given.is_empty() {
        return Err(ServerError::new(
            Code::BAD_VALUE,
            "Must specify at least one index to create",
        ));
    }
    Ok(given)
}

/// Checks the specifications in mongod's order: expiry, collations, then each one against the existing indexes.
fn specs(
    given: Vec<ParsedSpec>,
    existing: Option<&Collection>,
) -> Result<Vec<Arc<Spec>>, ServerError> {
    given.iter().try_for_each(ParsedSpec::check_expiry)?;
    let inherited = existing.and_then(|existing| existing.options.collation.as_ref());
    let collations = given.iter().map(|given| given.collation(inherited));
    let collations = collations.collect::<Result<Vec<_>, _>>()?;
    let mut specs = Vec::new();
    for (given, collation) in given.into_iter().zip(collations) {
        let spec = Arc::new(given.spec(collation)?);
        if let Some(existing) = existing {
            is_there(existing, &spec)?;
        }
        specs.push(spec);
    }
    Ok(specs)
}

/// The indexes that the collection does not have yet.
fn missing<'s>(
    collection: &Collection,
    specs: &'s [Arc<Spec>],
) -> Result<Vec<&'s Arc<Spec>>, ServerError> {
    let mut missing = Vec::new();
    for spec in specs {
        if !is_there(collection, spec)? {
            missing.push(spec);
        }
    }
    Ok(missing)
}

/// Whether the collection has the index. Returns an error if the index conflicts with the collection or with another
/// index.
fn is_there(collection: &Collection, spec: &Spec) -> Result<bool, ServerError> {
    if spec.ttl.is_some() && collection.options.capped.is_some() {
        return Err(ServerError::new(
            Code::CANNOT_CREATE_INDEX,
            "Cannot create TTL index on a capped collection",
        ));
    }
    let present = collection.indexes.iter().map(|index| index.spec.as_ref());
    if conflict(present, spec)? {
        return Ok(true);
    }
    check_room(&collection.namespace, collection.indexes.len(), spec).map(|()| false)
}
