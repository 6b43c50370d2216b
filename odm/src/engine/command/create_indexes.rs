//! `createIndexes`.

use std::sync::Arc;

use bson::raw::{RawBsonRef, RawDocumentBuf};
use bson::{Bson, Uuid, doc};

use crate::engine::catalog::Edit;
use crate::engine::catalog::changes::definition;
use crate::engine::catalog::collection::Collection;
use crate::engine::catalog::namespace::Namespace;
use crate::engine::command::args::{Field, Kind, field, objects, required, whole, wrong_type};
use crate::engine::command::call::Call;
use crate::engine::command::reply::reply;
use crate::engine::command::table::{Command, InTransaction, Target};
use crate::engine::index::Index;
use crate::engine::index::spec::{Spec, same_key, show};
use crate::engine::index::special::check_build;
use crate::error::{Code, ServerError};
use crate::value::collation::Collator;

const FIELDS: &[Field] = &[
    required("indexes", Kind::Objects),
    field("commitQuorum", Kind::Any).checked(is_quorum),
    field("ignoreUnknownIndexOptions", Kind::SafeBool),
    // A server does nothing by these, and here are no time series.
    field("v", Kind::SafeInt),
    field("isTimeseriesNamespace", Kind::Bool),
];

pub(crate) const CREATE_INDEXES: Command = Command {
    name: "createIndexes",
    idl: "createIndexes",
    fields: FIELDS,
    target: Target::Collection,
    transaction: InTransaction::Allowed,
    retryable: false,
    writes: true,
    run: create_indexes,
};

/// The most indexes of a collection.
const MOST: usize = 64;

fn create_indexes(call: &mut Call<'_>) -> Result<RawDocumentBuf, ServerError> {
    let namespace = call.namespace();
    namespace.check_create()?;
    let quorum = quorum(call.args.get("commitQuorum"))?;
    let array = call.args.array_or_empty("indexes");
    let ignore_unknown = call.args.flag("ignoreUnknownIndexOptions");
    namespace.check_write()?;
    call.check_not_view(&namespace)?;
    let existing = call.find_collection(&namespace);
    let collation = existing
        .as_ref()
        .and_then(|existing| existing.options.collation.clone());
    let specs = specs(array, collation.as_ref(), ignore_unknown)?;
    check_quorum(&quorum)?;
    for spec in &specs {
        spec.uses.begin(call.now);
    }
    let created = existing.is_none();
    // What can't be built makes no collection.
    if created {
        for spec in &specs {
            check_build(&spec.key, &spec.document)?;
        }
    }
    drop(existing);
    let in_transaction = call.transaction.is_some();
    call.ensure(&namespace)?;
    let build = call.uuid();
    let add = |collection: &mut Collection| {
        let before = collection.indexes.len();
        add_all(collection, &specs, build)?;
        Ok((before, collection.indexes.len()))
    };
    let counts = if let Some(transaction) = &mut call.transaction {
        let collection = transaction
            .root()
            .collection(&namespace)
            .map(|c| (**c).clone());
        match collection {
            Some(mut collection) => {
                let is_empty = collection.len() == 0;
                let counts = add(&mut collection)?;
                if counts.0 != counts.1 {
                    check_new(&namespace, transaction.created(&namespace), is_empty)?;
                    transaction.recreate(collection);
                }
                Some(counts)
            }
            None => None,
        }
    } else {
        call.alter(&namespace, |collection| {
            let was = collection.clone();
            let (before, after) = add(collection)?;
            Ok(if before == after {
                Edit::Unchanged((before, after))
            } else {
                let told = definition::indexes_created(&was, collection);
                Edit::Publish((before, after), told)
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

/// In a transaction, indexes are only made for an empty collection that the transaction has made itself.
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

/// The most that a quorum may be, however many members there are.
const MOST_NODES: u8 = 50;

/// Refuses what is no quorum at all.
fn quorum(value: Option<RawBsonRef<'_>>) -> Result<Bson, ServerError> {
    let failed = |why: &str| Err(ServerError::new(Code::FAILED_TO_PARSE, why));
    match value {
        None | Some(RawBsonRef::Null) => Ok(Bson::from("votingMembers")),
        Some(RawBsonRef::String("")) => failed("commitQuorum can't be an empty string"),
        Some(RawBsonRef::String(mode)) => Ok(Bson::from(mode)),
        Some(value) => match whole(value).map(u8::try_from) {
            Some(Ok(nodes @ 0..=MOST_NODES)) => Ok(Bson::Int32(nodes.into())),
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

/// Refuses a quorum that a single node can't be.
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

fn specs(
    array: &bson::raw::RawArray,
    collation: Option<&Collator>,
    ignore_unknown: bool,
) -> Result<Vec<Arc<Spec>>, ServerError> {
    let mut specs = Vec::new();
    for spec in objects(array) {
        specs.push(Arc::new(Spec::parse(spec, collation, ignore_unknown)?));
    }
    if specs.is_empty() {
        return Err(ServerError::new(
            Code::BAD_VALUE,
            "Must specify at least one index to create",
        ));
    }
    Ok(specs)
}

/// Adds the indexes that are not there yet.
fn add_all(
    collection: &mut Collection,
    specs: &[Arc<Spec>],
    build: [u8; 16],
) -> Result<(), ServerError> {
    let mut missing: Vec<&Arc<Spec>> = Vec::new();
    for spec in specs {
        if !conflict(
            collection.indexes.iter().map(|index| index.spec.as_ref()),
            spec,
        )? {
            missing.push(spec);
        }
    }
    for (at, spec) in missing.iter().enumerate() {
        check_place(collection, spec, at)?;
        let begun = missing.iter().take(at).map(AsRef::as_ref);
        let error = match conflict(begun, spec) {
            Ok(false) => match check_build(&spec.key, &spec.document) {
                Ok(()) => continue,
                Err(error) if collection.len() > 0 => {
                    within_setup(collection, build, &missing, &error)
                }
                Err(error) => error,
            },
            // What was there before is no fault, but the same index twice in one command is.
            Ok(true) => ServerError::new(
                Code::OPERATION_FAILED,
                "Cannot build two identical indexes. Try again without duplicate indexes.",
            ),
            Err(error) => error,
        };
        return Err(within_build(collection, build, &error));
    }
    for spec in missing {
        let index = collection
            .build(Index::new(Arc::clone(spec)))
            .map_err(|error| within_build(collection, build, &error))?;
        collection.indexes.push(index);
    }
    Ok(())
}

/// Refuses an index that the collection can't have beside what it has.
fn check_place(collection: &Collection, spec: &Spec, begun: usize) -> Result<(), ServerError> {
    let fault = if spec.ttl.is_some() && collection.options.capped.is_some() {
        "Cannot create TTL index on a capped collection".to_owned()
    } else if collection.indexes.len() + begun >= MOST {
        format!(
            "add index fails, too many indexes for {} key:{}",
            collection.namespace,
            show(&spec.key)
        )
    } else {
        return Ok(());
    };
    Err(ServerError::new(Code::CANNOT_CREATE_INDEX, fault))
}

/// True if the index is there already; an error if another one stands in its way.
fn conflict<'i>(
    specs: impl Iterator<Item = &'i Spec> + Clone,
    spec: &Spec,
) -> Result<bool, ServerError> {
    let options_conflict =
        |message: String| Err(ServerError::new(Code::INDEX_OPTIONS_CONFLICT, message));
    if let Some(named) = specs.clone().find(|known| known.name == spec.name) {
        if named.same_signature(spec) {
            if named.same_options(spec) {
                return Ok(true);
            }
            return options_conflict(format!(
                "An equivalent index already exists with the same name but different options. Requested index: {}, \
                 existing index: {}",
                spec.shown(),
                named.shown()
            ));
        }
        return Err(ServerError::new(
            Code::INDEX_KEY_SPECS_CONFLICT,
            format!(
                "An existing index has the same name as the requested index. When index names are not specified, they \
                 are auto generated and can cause conflicts. Please refer to our documentation. Requested index: {}, \
                 existing index: {}",
                spec.shown(),
                named.shown()
            ),
        ));
    }
    for known in specs {
        if known.same_signature(spec) {
            if known.same_options(spec) {
                return options_conflict(format!(
                    "Index already exists with a different name: {}",
                    known.name
                ));
            }
            return options_conflict(different(spec, known));
        }
        let is_text = |spec: &Spec| spec.key.contains_key("_fts");
        if is_text(spec) && is_text(known) {
            if same_key(&spec.key, &known.key) {
                return options_conflict(different(spec, known));
            }
            return Err(ServerError::new(
                Code::CANNOT_CREATE_INDEX,
                format!(
                    "only one text index per collection allowed, found existing text index \"{}\"",
                    known.name
                ),
            ));
        }
    }
    Ok(false)
}

fn different(requested: &Spec, existing: &Spec) -> String {
    format!(
        "An equivalent index already exists with a different name and options. Requested index: {}, existing index: {}",
        requested.shown(),
        existing.shown()
    )
}

/// What the server adds to an error of a build's very beginning, where there are documents to read.
fn within_setup(
    collection: &Collection,
    build: [u8; 16],
    specs: &[&Arc<Spec>],
    error: &ServerError,
) -> ServerError {
    ServerError::new(
        error.code(),
        format!(
            "Caught exception during index builder ({}) initialization on namespace{} ({}). {} index specs provided. \
             First index spec: {} :: caused by :: {}",
            Uuid::from_bytes(build),
            collection.namespace,
            Uuid::from_bytes(collection.uuid),
            specs.len(),
            specs.first().map(|spec| spec.shown()).unwrap_or_default(),
            error.message()
        ),
    )
}

fn within_build(collection: &Collection, build: [u8; 16], error: &ServerError) -> ServerError {
    let wrapped = ServerError::new(
        error.code(),
        format!(
            "Index build failed: {}: Collection {} ( {} ) :: caused by :: {}",
            Uuid::from_bytes(build),
            collection.namespace,
            Uuid::from_bytes(collection.uuid),
            error.message()
        ),
    );
    match error.details() {
        Some(details) => wrapped.with_details(details.clone()),
        None => wrapped,
    }
}
