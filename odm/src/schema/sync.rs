//! Reads the existing collections and indexes, and applies the difference.

use std::collections::HashMap;

use bson::{Bson, Document, doc};

use crate::error::{Error, Result};
use crate::model::gridfs::{CHUNKS, chunks_of};
use crate::model::tree::FENCES;
use crate::model::{ModelMeta, PROPAGATIONS, REFERENCE_FENCES};
use crate::plan::Plan;
use crate::schema::diff::{Existing, Target};
use crate::schema::validator::{declaration, refuse_system_database};
use crate::store::{CollectionName, Store};

/// Names models for [`Db::sync`](crate::collection::Db::sync): `models![Book, Publisher]`.
#[macro_export]
macro_rules! models {
    ($($model:ty),* $(,)?) => {
        [$(<$model as $crate::model::Document>::model()),*]
    };
}

/// Models to compare with a database: [`Db::sync`](crate::collection::Db::sync).
#[derive(Debug, Clone)]
#[must_use = "nothing is compared until `plan` is awaited"]
pub struct Sync {
    store: Store,
    models: Vec<&'static ModelMeta>,
}

impl Sync {
    pub(crate) fn new(store: Store, models: Vec<&'static ModelMeta>) -> Self {
        Self { store, models }
    }

    /// Compares the declarations of the models with the database and returns the difference. Only reads.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// #[derive(Debug, Serialize, Deserialize, Document)]
    /// #[odm(collection = "books", index(title))]
    /// struct Book { #[serde(rename = "_id")] id: i32, title: String }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = Db::memory();
    /// let plan = db.sync(models![Book]).plan().await?;
    /// assert_eq!(plan.steps().len(), 2, "the collection and its index");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`is_declaration`](Error::is_declaration): a declaration that can't be carried out, or two
    /// models that claim one collection.
    pub async fn plan(self) -> Result<Plan> {
        let Self { store, models } = self;
        let named = |meta: &&'static ModelMeta| (*meta, store.names().of(meta.collection));
        let models = wholes(models)?;
        let mut models: Vec<_> = models.iter().map(named).collect();
        let has_stored = models.iter().any(|(meta, _)| meta.view.is_none());
        if models.iter().any(|(meta, _)| !meta.trees.is_empty()) {
            // Handles with other names write the same fences.
            models.push((&FENCES, CollectionName::Declared(FENCES.collection)));
        }
        let (mut propagates, mut is_fenced) = (false, false);
        for (meta, _) in &models {
            // A declaration that could not keep derived data in step is an error here, too.
            meta.copies()?;
            meta.two_way()?;
            propagates |= !meta.copied()?.is_empty();
            propagates |= !meta.newest_lists()?.is_empty() || !meta.listed()?.is_empty();
            propagates |= !meta.summaries()?.is_empty() || !meta.summarized()?.is_empty();
            is_fenced |= meta.dependents().next().is_some();
        }
        if propagates {
            let name = CollectionName::Declared(PROPAGATIONS.collection);
            models.push((&PROPAGATIONS, name));
        }
        if propagates || is_fenced {
            let name = CollectionName::Declared(REFERENCE_FENCES.collection);
            models.push((&REFERENCE_FENCES, name));
        }
        let buckets = models.iter().filter(|(meta, _)| meta.gridfs.is_some());
        let chunks: Vec<(&'static ModelMeta, _)> = buckets
            .map(|(_, files)| (&CHUNKS, CollectionName::Chosen(chunks_of(files).into())))
            .collect();
        models.extend(chunks);
        let mut series = models.iter().filter(|(meta, _)| meta.time_series.is_some());
        if let Some((meta, _)) = series.next()
            && store.is_in_process()
        {
            let message = "time-series collections need MongoDB 5.0 or later: the engine in this process has none; \
                           a model with `bucket(…)` runs on both";
            return Err(Error::unsupported(message).with_model(meta.name));
        }
        if has_stored {
            refuse_system_database(store.database())?;
        }
        for (meta, _) in &models {
            meta.depth_of_view()?;
        }
        // A view is created after what it reads.
        models.sort_by_cached_key(|(meta, _)| meta.depth_of_view().unwrap_or_default());
        refuse_shared_collections(&models)?;
        let targets = models
            .iter()
            .map(|(meta, name)| Target::new(meta, name.clone(), store.names()))
            .collect::<Result<Vec<_>>>()?;
        let names: Vec<&str> = models.iter().map(|(_, name)| &**name).collect();
        let planning = |error: Error| error.context("planning");
        let mut listed = list(&store, &names).await.map_err(planning)?;
        let shard_keys = if targets.iter().any(Target::is_sharded) {
            ShardKeys::read(&store, &names).await.map_err(planning)?
        } else {
            ShardKeys::Elsewhere
        };
        let (mut steps, mut left_out) = (Vec::new(), Vec::new());
        for (target, (meta, name)) in targets.iter().zip(&models) {
            let existing = match listed.remove(&**name) {
                Some(listed) => {
                    let read = existing(&store, name, listed).await;
                    Some(read.map_err(|error| planning(error.with_model(meta.name)))?)
                }
                None => None,
            };
            steps.extend(target.steps(existing.as_ref()));
            let (is, list) = match &shard_keys {
                ShardKeys::Cluster(keys) => (keys.get(&**name), &mut steps),
                ShardKeys::Elsewhere => (None, &mut left_out),
            };
            list.extend(target.shard(store.database(), existing.as_ref(), is));
        }
        Ok(Plan::new(store, steps).leaving_out(left_out))
    }
}

/// The models without those whose collection another one of them declares: variants of an enum.
pub(super) fn wholes(models: Vec<&'static ModelMeta>) -> Result<Vec<&'static ModelMeta>> {
    let is_listed = |whole: &ModelMeta| {
        models.iter().any(|model| {
            std::ptr::eq(*model, whole)
                || model.name == whole.name && model.collection == whole.collection
        })
    };
    for model in &models {
        if let Some(of) = model.variant_of
            && !is_listed((of.model)())
        {
            let whole = (of.model)().name;
            return Err(declaration(format!(
                "`{}` is a variant of `{whole}`, which declares the collection with the validator and the indexes of all variants: \
                 list `{whole}`",
                model.name
            )));
        }
    }
    Ok(models
        .into_iter()
        .filter(|model| model.variant_of.is_none())
        .collect())
}

/// The shard keys that collections have.
enum ShardKeys {
    /// By the names of sharded collections.
    Cluster(HashMap<String, Document>),
    /// The deployment is not a sharded cluster.
    Elsewhere,
}

impl ShardKeys {
    async fn read(store: &Store, names: &[&str]) -> Result<Self> {
        if !store.capability().await?.sharded {
            return Ok(Self::Elsewhere);
        }
        let database = store.database();
        let namespaces = names.iter().map(|name| format!("{database}.{name}"));
        let namespaces: Vec<_> = namespaces.collect();
        // Before version 5.0, a dropped collection stays listed.
        let filter = doc! {"_id": {"$in": namespaces}, "dropped": {"$ne": true}};
        let find = doc! {"find": "collections", "filter": filter};
        let listed = store.sibling("config").run_cursor(find).await?;
        let keys = listed.into_iter().filter_map(|mut listed| {
            let namespace = listed.get_str("_id").ok()?;
            let name = namespace
                .strip_prefix(database)?
                .strip_prefix('.')?
                .to_owned();
            match listed.remove("key") {
                Some(Bson::Document(key)) => Some((name, key)),
                _ => None,
            }
        });
        Ok(Self::Cluster(keys.collect()))
    }
}

fn refuse_shared_collections(models: &[(&'static ModelMeta, CollectionName)]) -> Result<()> {
    for (position, (meta, name)) in models.iter().enumerate() {
        let mut before = models.iter().take(position);
        if let Some((other, _)) = before.find(|(_, other)| other == name) {
            let message = if std::ptr::eq(*other, *meta) || other.name == meta.name {
                format!("`{}` is listed twice; list each model once", meta.name)
            } else if other.collection != meta.collection {
                format!(
                    "the names of collections that were chosen for this handle put `{}` and `{}` into one collection, `{name}`: \
                     give each a name of its own",
                    other.name, meta.name,
                )
            } else {
                format!(
                    "`{}` and `{}` both declare the collection `{}`, which can have one validator \
                     and one set of indexes; make one model of them, with an enum in a `#[serde(flatten)]` field \
                     for what differs",
                    other.name, meta.name, meta.collection,
                )
            };
            return Err(declaration(message));
        }
    }
    Ok(())
}

/// The entries of `listCollections` for those of the collections that exist, by name.
async fn list(store: &Store, names: &[&str]) -> Result<HashMap<String, Document>> {
    if names.is_empty() {
        return Ok(HashMap::new());
    }
    let listed = store
        .run_cursor(doc! {"listCollections": 1, "filter": {"name": {"$in": names}}})
        .await?;
    let named = listed.into_iter().filter_map(|collection| {
        let name = collection.get_str("name").ok()?.to_owned();
        Some((name, collection))
    });
    Ok(named.collect())
}

/// Reads an existing collection and its indexes.
async fn existing(store: &Store, name: &str, mut listed: Document) -> Result<Existing> {
    let kind = match listed.remove("type") {
        Some(Bson::String(kind)) => kind,
        _ => "collection".to_owned(),
    };
    let options = match listed.remove("options") {
        Some(Bson::Document(options)) => options,
        _ => Document::new(),
    };
    let indexes = if kind == "collection" || kind == "timeseries" {
        store.run_cursor(doc! {"listIndexes": name}).await?
    } else {
        Vec::new()
    };
    Ok(Existing {
        kind,
        options,
        indexes,
    })
}
