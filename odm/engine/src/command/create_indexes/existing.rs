//! Checks whether indexes can be built beside others, with mongod's messages if they cannot.

use std::sync::Arc;

use bson::Uuid;
use odm_language::error::{Code, ServerError};

use crate::catalog::collection::Collection;
use crate::catalog::namespace::Namespace;
use crate::index::key_pattern::check_build;
use crate::index::spec::{Spec, show};

/// The maximum number of indexes of a collection.
const MAX_INDEXES: usize = 64;

/// Refuses an index if the collection has the maximum number.
pub(super) fn check_room(
    namespace: &Namespace,
    present: usize,
    spec: &Spec,
) -> Result<(), ServerError> {
    if present < MAX_INDEXES {
        return Ok(());
    }
    let key = show(&spec.key);
    Err(ServerError::new(
        Code::CANNOT_CREATE_INDEX,
        format!("add index fails, too many indexes for {namespace} key:{key}"),
    ))
}

/// Refuses indexes that cannot be built together in an empty collection that has `present` other indexes.
pub(super) fn check_all<S: AsRef<Spec>>(
    namespace: &Namespace,
    present: usize,
    specs: &[S],
) -> Result<(), ServerError> {
    for (at, spec) in specs.iter().map(AsRef::as_ref).enumerate() {
        if conflict(specs.iter().take(at).map(AsRef::as_ref), spec)? {
            return Err(ServerError::new(
                Code::INDEX_ALREADY_EXISTS,
                format!("Identical index already exists: {}", spec.name),
            ));
        }
        check_room(namespace, present + at, spec)?;
        check_build(&spec.key, &spec.kept)?;
    }
    Ok(())
}

/// Refuses indexes that cannot be built together. The messages differ for empty and non-empty collections.
pub(super) fn check_build_of(
    collection: &Collection,
    specs: &[&Arc<Spec>],
    build: [u8; 16],
) -> Result<(), ServerError> {
    let (namespace, present) = (&collection.namespace, collection.indexes.len());
    if collection.len() == 0 {
        return check_all(namespace, present, specs).map_err(|error| {
            let message = format!(
                "index build on empty collection failed: {} :: caused by :: {}",
                Uuid::from_bytes(build),
                error.message()
            );
            within_build(collection, build, &ServerError::new(error.code(), message))
        });
    }
    for (at, spec) in specs.iter().enumerate() {
        let begun = specs.iter().take(at).map(|spec| Arc::as_ref(spec));
        let check_others = || {
            if !conflict(begun, spec)? {
                return Ok(());
            }
            // An index may exist already, but one command must not name the same index twice.
            Err(ServerError::new(
                Code::OPERATION_FAILED,
                "Cannot build two identical indexes. Try again without duplicate indexes.",
            ))
        };
        check_room(namespace, present + at, spec)
            .and_then(|()| check_others())
            .and_then(|()| {
                check_build(&spec.key, &spec.kept)
                    .map_err(|error| within_setup(collection, build, specs, &error))
            })
            .map_err(|error| within_build(collection, build, &error))?;
    }
    Ok(())
}

/// Returns true if the index exists already, and an error if another index conflicts with it.
pub(super) fn conflict<'i>(
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
                spec.printed(),
                named.printed()
            ));
        }
        return Err(ServerError::new(
            Code::INDEX_KEY_SPECS_CONFLICT,
            format!(
                "An existing index has the same name as the requested index. When index names are not specified, they \
                 are auto generated and can cause conflicts. Please refer to our documentation. Requested index: {}, \
                 existing index: {}",
                spec.printed(),
                named.printed()
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
        requested.printed(),
        existing.printed()
    )
}

/// Adds mongod's prefix for errors at the start of a build on a non-empty collection.
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
            specs.first().map(|spec| spec.printed()).unwrap_or_default(),
            error.message()
        ),
    )
}

pub(super) fn within_build(
    collection: &Collection,
    build: [u8; 16],
    error: &ServerError,
) -> ServerError {
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
