//! Where documents are read from: a database, or a folder of dumps.

use std::collections::{BTreeSet, HashSet, VecDeque};
use std::path::{Path, PathBuf};

use bson::raw::{RawDocument, RawDocumentBuf};
use bson::{Bson, Document, doc};

use super::shape::{Shape, Value};
use super::{Sample, Skipped};
use crate::dump::{Content, Contents};
use crate::error::{Code, Error, FileError, Result};
use crate::schema::normal::integer;
use crate::store::{CollectionName, Operation, Request, Response, Store};

/// From this share of a collection on, `$sample` would sort all documents; the denominator.
const SORTED_FROM: u64 = 20;

/// The number of ids in one `find`.
const IDS: usize = 1_000;

/// Where documents come from.
#[derive(Debug, Clone)]
pub(super) enum Source {
    Database(Store),
    Folder {
        path: PathBuf,
        /// The database to read; without it, the only one.
        database: Option<String>,
    },
}

/// A collection, a view or a time series.
#[derive(Debug)]
pub(super) struct Listed {
    pub(super) name: String,
    pub(super) options: Document,
    /// Why it can't have a model.
    pub(super) refusal: Option<String>,
    content: Option<Content>,
}

impl Source {
    /// The collections, by name, and the files that hold no collection.
    pub(super) async fn list(&self) -> Result<(Vec<Listed>, Vec<Skipped>)> {
        match self {
            Self::Database(store) => Ok((list(store).await?, Vec::new())),
            Self::Folder { path, database } => list_folder(path, database.as_deref()),
        }
    }

    /// The indexes of a collection, in the form of `listIndexes`.
    pub(super) async fn indexes(&self, listed: &Listed) -> Result<Vec<Document>> {
        match (self, &listed.content) {
            (_, Some(content)) => Ok(content.indexes.clone()),
            (Self::Database(store), None) => {
                let command = doc! {"listIndexes": &listed.name};
                match store.run_cursor(command).await {
                    Err(error) if error.code() == Some(Code::NAMESPACE_NOT_FOUND) => Ok(Vec::new()),
                    listed => listed,
                }
            }
            (Self::Folder { .. }, None) => Ok(Vec::new()),
        }
    }

    /// Reads a sample of a collection, and returns how many documents there are.
    pub(super) async fn sample(
        &self,
        listed: &Listed,
        sample: Sample,
        shape: &mut Shape,
    ) -> Result<u64> {
        match (self, &listed.content) {
            (_, Some(content)) => sample_file(content, sample, shape),
            (Self::Database(store), None) => {
                sample_collection(store, &listed.name, sample, shape).await
            }
            (Self::Folder { .. }, None) => Ok(0),
        }
    }

    /// Which of these ids documents of the collection have.
    pub(super) async fn existing(
        &self,
        listed: &Listed,
        ids: &BTreeSet<&Value>,
    ) -> Result<HashSet<Value>> {
        match (self, &listed.content) {
            (_, Some(content)) => existing_in_file(content, ids),
            (Self::Database(store), None) => existing(store, &listed.name, ids).await,
            (Self::Folder { .. }, None) => Ok(HashSet::new()),
        }
    }
}

async fn list(store: &Store) -> Result<Vec<Listed>> {
    let command = doc! {"listCollections": 1};
    let mut all = Vec::new();
    for collection in store.run_cursor(command).await? {
        let name = collection
            .get_str("name")
            .map_err(|_| Error::malformed_reply("the name of a collection"))?;
        let kind = collection.get_str("type").unwrap_or("collection");
        let options = collection.get_document("options").cloned();
        all.push(Listed {
            name: name.to_owned(),
            options: options.unwrap_or_default(),
            refusal: refusal(name, kind),
            content: None,
        });
    }
    all.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(all)
}

/// Why something that is listed has no model.
fn refusal(name: &str, kind: &str) -> Option<String> {
    match kind {
        "view" => Some("it is a view: write a model with `view(on = …, pipeline = …)`".to_owned()),
        "timeseries" => Some("it is a time series, which odm has no declaration for".to_owned()),
        _ if name.starts_with("system.") => Some("the server keeps it for itself".to_owned()),
        _ if name.contains('$') => Some("its name contains `$`".to_owned()),
        _ if name.len() > 190 => Some("its name has more than 190 bytes".to_owned()),
        _ => None,
    }
}

fn list_folder(folder: &Path, database: Option<&str>) -> Result<(Vec<Listed>, Vec<Skipped>)> {
    let contents = Contents::read(folder, database.unwrap_or("test"))?;
    let skipped = contents.skipped.into_iter().map(|file| Skipped {
        name: file.path.display().to_string(),
        reason: file.reason,
    });
    let skipped = skipped.collect();
    let databases: BTreeSet<&str> = contents
        .collections
        .iter()
        .map(|content| content.database.as_str())
        .collect();
    let mut all = databases.iter();
    let database = match (database, all.next(), all.next()) {
        (Some(database), ..) if databases.contains(database) => database.to_owned(),
        (Some(database), ..) => {
            let message = format!("no collections of the database `{database}` are in it");
            return Err(Error::new(FileError::new(folder, message)));
        }
        (None, Some(only), None) => (*only).to_owned(),
        (None, None, _) => return Ok((Vec::new(), skipped)),
        (None, Some(_), Some(_)) => {
            let names: Vec<_> = databases.iter().copied().collect();
            let message = format!(
                "it holds several databases; name one of {}",
                names.join(", ")
            );
            return Err(Error::new(FileError::new(folder, message)));
        }
    };
    let listed = contents
        .collections
        .into_iter()
        .filter(|content| content.database == database)
        .map(|content| {
            let kind = if content.options.contains_key("viewOn") {
                "view"
            } else if content.options.contains_key("timeseries") {
                "timeseries"
            } else {
                "collection"
            };
            Listed {
                name: content.name.clone(),
                options: content.options.clone(),
                refusal: refusal(&content.name, kind),
                content: Some(content),
            }
        });
    Ok((listed.collect(), skipped))
}

async fn sample_collection(
    store: &Store,
    name: &str,
    sample: Sample,
    shape: &mut Shape,
) -> Result<u64> {
    let counted = store.run_command(doc! {"count": name}).await?;
    let counted = counted.get("n").and_then(integer);
    let count = counted.and_then(|count| u64::try_from(count).ok());
    let count = count.ok_or_else(|| Error::malformed_reply("the number of documents"))?;
    let operation = Operation::Aggregate {
        pipeline: stages(sample, count),
    };
    let request = Request::new(CollectionName::Chosen(name.into()), operation);
    let response = store.clone().exec(request, None).await;
    let mut cursor = response.and_then(Response::cursor)?;
    while let Some(document) = cursor.next().await {
        let document = document?;
        shape.add_document(document).map_err(|message| {
            let id = document.get("_id").ok().flatten();
            let id = id.and_then(|id| Bson::try_from(id).ok());
            let id = id.map_or_else(String::new, |id| format!(" with the `_id` {id}"));
            Error::malformed_reply(format_args!(
                "the document{id} is malformed: {message}; BSON"
            ))
        })?;
    }
    Ok(count)
}

/// The stages that return a sample of a collection with this many documents.
fn stages(sample: Sample, count: u64) -> Vec<Document> {
    let limit = |size: u64| i64::try_from(size.max(1)).unwrap_or(i64::MAX);
    match sample {
        Sample::All => Vec::new(),
        Sample::First(size) => vec![doc! {"$sort": {"_id": 1}}, doc! {"$limit": limit(size)}],
        Sample::Last(size) => vec![doc! {"$sort": {"_id": -1}}, doc! {"$limit": limit(size)}],
        Sample::Random(size) if count <= size => vec![doc! {"$limit": limit(size)}],
        Sample::Random(size) if size.saturating_mul(SORTED_FROM) <= count => {
            vec![doc! {"$sample": {"size": limit(size)}}]
        }
        Sample::Random(size) => {
            #[expect(clippy::cast_precision_loss, reason = "a rate need not be exact")]
            let rate = size as f64 / count as f64;
            vec![doc! {"$match": {"$sampleRate": rate}}]
        }
    }
}

fn sample_file(content: &Content, sample: Sample, shape: &mut Shape) -> Result<u64> {
    let mut count: u64 = 0;
    let mut kept: VecDeque<RawDocumentBuf> = VecDeque::new();
    let mut draws = Draws(0);
    content.each(|document| {
        count += 1;
        match sample {
            Sample::All => return shape.add_document(document),
            Sample::First(size) if count <= size => return shape.add_document(document),
            Sample::First(_) => {}
            Sample::Last(size) => {
                kept.push_back(document.to_owned());
                if kept.len() as u64 > size {
                    kept.pop_front();
                }
            }
            Sample::Random(size) => {
                if count <= size {
                    kept.push_back(document.to_owned());
                } else if let Ok(place) = usize::try_from(draws.below(count))
                    && let Some(other) = kept.get_mut(place)
                {
                    document.clone_into(other);
                }
            }
        }
        Ok(())
    })?;
    for document in kept {
        shape
            .add_document(&document)
            .map_err(|message| Error::usage(format!("a document is malformed: {message}")))?;
    }
    Ok(count)
}

/// The same draws each time, so that a second run on the same files reads the same documents.
struct Draws(u64);

impl Draws {
    /// A number below `end`, by the generator `SplitMix64`.
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (mixed ^ (mixed >> 31)) % end.max(1)
    }
}

async fn existing(store: &Store, name: &str, ids: &BTreeSet<&Value>) -> Result<HashSet<Value>> {
    let ids: Vec<Bson> = ids.iter().map(|id| id.to_bson()).collect();
    let mut existing = HashSet::new();
    for ids in ids.chunks(IDS) {
        let find = doc! {
            "find": name,
            "filter": {"_id": {"$in": ids}},
            "projection": {"_id": 1},
        };
        for found in store.run_cursor(find).await? {
            existing.extend(found.get("_id").and_then(Value::of_bson));
        }
    }
    Ok(existing)
}

fn existing_in_file(content: &Content, ids: &BTreeSet<&Value>) -> Result<HashSet<Value>> {
    let mut existing = HashSet::new();
    content.each(|document: &RawDocument| {
        let id = document.get("_id").map_err(|error| error.to_string())?;
        if let Some(id) = id.and_then(Value::of)
            && ids.contains(&id)
        {
            existing.insert(id);
        }
        Ok(())
    })?;
    Ok(existing)
}
