//! Relations whose documents no index finds.

use bson::{Bson, Document, doc};

use crate::error::{Code, Result};
use crate::model::{ModelMeta, RelationMeta, name};
use crate::store::Store;

/// A field by which documents of a collection are found.
#[derive(Debug)]
struct Needed {
    /// The model of the collection.
    model: &'static ModelMeta,
    path: String,
    /// Who finds the documents, for messages.
    by: String,
}

/// A field without an index.
#[derive(Debug)]
pub(super) struct Unindexed {
    pub(super) model: &'static ModelMeta,
    pub(super) path: String,
    pub(super) detail: String,
}

/// The fields by which the relations of a model find documents, and which no index of the database starts with.
pub(super) async fn unindexed(store: &Store, model: &'static ModelMeta) -> Result<Vec<Unindexed>> {
    let mut found = Vec::new();
    for Needed { model, path, by } in needed(model)? {
        // A view has no indexes, and which ones of its collection serve it depends on its stages.
        if path == "_id" || model.view.is_some() {
            continue;
        }
        let collection = store.names().of(model.collection);
        let indexes = store.run_cursor(doc! {"listIndexes": &*collection}).await;
        let indexes = match indexes {
            Err(error) if error.code() == Some(Code::NAMESPACE_NOT_FOUND) => continue,
            indexes => indexes.map_err(|error| error.with_model(model.name))?,
        };
        if !indexes.iter().any(|index| finds(model, index, &path)) {
            let detail = format!(
                "no index of `{collection}` starts with `{path}`, by which {by}: declare one with `#[odm(index)]` on the field, and \
                 apply the plan of `db.sync`"
            );
            found.push(Unindexed {
                model,
                path,
                detail,
            });
        }
    }
    Ok(found)
}

fn needed(model: &'static ModelMeta) -> Result<Vec<Needed>> {
    let mut needed: Vec<Needed> = Vec::new();
    let mut add = |model: &'static ModelMeta, path: String, by: String| {
        let is_same = |one: &Needed| {
            one.model.name == model.name
                && one.model.collection == model.collection
                && one.path == path
        };
        if !needed.iter().any(is_same) {
            needed.push(Needed { model, path, by });
        }
    };
    for relation in model.relations() {
        match relation {
            RelationMeta::Inverse(inverse) if inverse.allow_scan.is_none() => {
                let target = (inverse.target)();
                let path = name::resolve((target.embedded)(), inverse.by)?
                    .path
                    .to_string();
                let by = format!("`{}.{}` finds its documents", model.name, inverse.name);
                add(target, path, by);
            }
            RelationMeta::Reference(reference) => {
                let target = reference.target;
                let key = name::resolve((target.embedded)(), &[reference.key])?;
                let by = format!("`{}.{}` refers to them", model.name, reference.name);
                add(target, key.path.to_string(), by);
            }
            RelationMeta::Inverse(_) | RelationMeta::Recent(_) => {}
        }
    }
    for variant in model.variants() {
        for relation in variant.declared_relations {
            let RelationMeta::Inverse(inverse) = relation else {
                continue;
            };
            if inverse.allow_scan.is_none() {
                let target = (inverse.target)();
                let path = name::resolve((target.embedded)(), inverse.by)?.path;
                let by = format!("`{}.{}` finds its documents", variant.name, inverse.name);
                add(target, path.to_string(), by);
            }
        }
    }
    for list in model.newest_lists()? {
        let by = format!("`{}.{}` finds the newest", model.name, list.recent.field);
        add(list.source, list.reference.path.to_string(), by);
    }
    Ok(needed)
}

/// Whether an index finds all documents of the model with a value of the field.
fn finds(model: &ModelMeta, index: &Document, path: &str) -> bool {
    let key = index.get_document("key").ok();
    let first = key.and_then(|key| key.iter().next());
    let is_path = first.is_some_and(|(name, kind)| {
        let is_ordered = !matches!(kind, Bson::String(kind) if kind != "hashed");
        name == path && is_ordered
    });
    let is_hidden = index.get_bool("hidden").unwrap_or(false);
    let has_all = match index.get("partialFilterExpression") {
        None => true,
        // Queries of a variant have its tag.
        Some(filter) => model
            .variant_of
            .is_some_and(|of| *filter == Bson::Document(of.filter())),
    };
    is_path && !is_hidden && has_all
}
