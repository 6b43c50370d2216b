//! Loads files into collections.

use std::mem;
use std::path::Path;

use bson::raw::RawDocumentBuf;
use bson::{Document, doc};
use odm_engine::{Answer, Context, Fork, Namespace, Request, Service};

use crate::dump::file::{self, Documents};
use crate::dump::layout::{Files, Format, Layout, TimeSeries};
use crate::dump::metadata::Metadata;
use crate::dump::{ImportReport, LoadedCollection, SkippedFile};
use crate::error::{Error, FileError, Result, ServerError};
use crate::store::{Memory, limits};
use crate::types::json::text as json;

/// The largest file of Extended JSON, which is read as a whole.
pub(super) const MAX_JSON_BYTES: u64 = 4 * 1024 * 1024 * 1024;

/// Loads the collections of a folder: all of them, or nothing.
pub(super) fn load(memory: &Memory, folder: &Path, database: &str) -> Result<ImportReport> {
    let Layout {
        collections,
        skipped,
        ..
    } = Layout::read(folder, database, TimeSeries::Refuse)?;
    let mut loader = Loader {
        fork: memory.service().fork(),
        context: memory.service().context().clone(),
        report: ImportReport {
            collections: Vec::new(),
            skipped,
        },
    };
    let mut views = Vec::new();
    for (namespace, files) in collections {
        let metadata = loader.metadata(files.metadata.as_deref())?;
        if metadata.is_view() {
            views.push((namespace, files, metadata));
        } else {
            loader.collection(&namespace, &files, metadata)?;
        }
    }
    // Views come last, because a view may read any of the collections.
    for (namespace, files, metadata) in views {
        loader.view(&namespace, &files, metadata)?;
    }
    loader
        .fork
        .merge(&loader.context)
        .map_err(|error| within(folder, error))?;
    Ok(loader.report)
}

struct Loader<'m> {
    fork: Fork<'m>,
    context: Context,
    report: ImportReport,
}

impl Loader<'_> {
    fn metadata(&mut self, path: Option<&Path>) -> Result<Metadata> {
        let Some(path) = path else {
            return Ok(Metadata::default());
        };
        let mut metadata = Metadata::read(path)?;
        for name in mem::take(&mut metadata.unknown) {
            self.report.skipped.push(SkippedFile {
                path: path.to_owned(),
                reason: format!("its field `{name}` is not known"),
            });
        }
        Ok(metadata)
    }

    fn collection(
        &mut self,
        namespace: &Namespace,
        files: &Files,
        metadata: Metadata,
    ) -> Result<()> {
        // A collection comes from at least one file, which errors name.
        let named = files.metadata.as_deref();
        let described = named
            .or(files.documents.as_ref().map(|(_, path)| path.as_path()))
            .unwrap_or(Path::new(""));
        let existing = self.fork.root().collection(namespace).cloned();
        let exists = existing.is_some();
        if let Some(existing) = existing {
            self.check_options(namespace, &metadata.options, existing.options())
                .map_err(|error| error.context(described.display().to_string()))?;
        } else {
            let create = create(namespace, metadata.options);
            self.run(namespace, create)
                .map_err(|error| within(described, error))?;
        }
        // A new collection is restored as it was dumped: its documents need not pass its validator.
        let documents = match &files.documents {
            Some((Format::Bson, path)) => self.bson(namespace, path, !exists)?,
            Some((Format::Json, path)) => self.json(namespace, path, !exists)?,
            None => 0,
        };
        self.report.collections.push(LoadedCollection {
            database: namespace.database.to_string(),
            collection: namespace.collection.to_string(),
            documents,
        });
        if metadata.indexes.is_empty() {
            return Ok(());
        }
        let indexes = self.indexes(namespace, metadata.indexes);
        let create = doc! { "createIndexes": &*namespace.collection, "indexes": indexes };
        self.run(namespace, create)
            .map_err(|error| within(described, error))
    }

    /// Refuses options that the existing collection does not have.
    fn check_options(
        &self,
        namespace: &Namespace,
        given: &Document,
        existing: &Document,
    ) -> Result<()> {
        if given.is_empty() {
            return Ok(());
        }
        // An empty engine creates the collection, which fills in and rounds its options.
        let empty = Service::new(self.context.clone());
        let command = to_raw(namespace, create(namespace, given.clone()))?;
        empty.try_run(&command)?;
        let root = empty.root();
        let made = root.collection(namespace);
        let other = made
            .iter()
            .flat_map(|made| made.options())
            .find(|(name, value)| existing.get(name) != Some(value));
        match other {
            None => Ok(()),
            Some((name, _)) => Err(Error::usage(format!(
                "the collection {namespace} exists with another `{name}`: load before you create it, or leave the \
                 options out"
            ))),
        }
    }

    /// Turns the output of `listIndexes` into specifications for `createIndexes`.
    fn indexes(&self, namespace: &Namespace, indexes: Vec<Document>) -> Vec<Document> {
        let has_collation = self
            .fork
            .root()
            .collection(namespace)
            .is_some_and(|collection| collection.has_collation());
        let specification = |mut index: Document| {
            // The name of the dumped collection, and the version of the stored index.
            index.remove("ns");
            index.remove("v");
            // Without a collation, the index would inherit the collection's.
            if has_collation && !index.contains_key("collation") {
                index.insert("collation", doc! { "locale": "simple" });
            }
            index
        };
        indexes.into_iter().map(specification).collect()
    }

    fn view(&mut self, namespace: &Namespace, files: &Files, metadata: Metadata) -> Result<()> {
        if let Some((_, path)) = &files.documents {
            let message = "the metadata says that this is a view, which has no documents";
            return Err(Error::new(FileError::new(path, message)));
        }
        let path = files.metadata.as_deref().unwrap_or(Path::new(""));
        let create = create(namespace, metadata.options);
        self.run(namespace, create)
            .map_err(|error| within(path, error))?;
        self.report.collections.push(LoadedCollection {
            database: namespace.database.to_string(),
            collection: namespace.collection.to_string(),
            documents: 0,
        });
        Ok(())
    }

    fn bson(&self, namespace: &Namespace, path: &Path, bypass: bool) -> Result<u64> {
        let mut documents = Documents::open(path)?;
        let (mut batch, mut bytes, mut done) = (Vec::new(), 0, 0);
        while let Some(document) = documents.next()? {
            bytes += document.as_bytes().len();
            batch.push(document);
            if batch.len() == limits::LOADED || bytes >= limits::LOADED_BYTES {
                done += self.insert(namespace, path, &batch, done, bypass)?;
                batch.clear();
                bytes = 0;
            }
        }
        Ok(done + self.insert(namespace, path, &batch, done, bypass)?)
    }

    fn json(&self, namespace: &Namespace, path: &Path, bypass: bool) -> Result<u64> {
        let documents = json::documents(&file::read(path, MAX_JSON_BYTES)?)
            .map_err(|message| Error::new(FileError::new(path, message)))?;
        let mut done = 0;
        for batch in documents.chunks(limits::LOADED) {
            done += self.insert(namespace, path, batch, done, bypass)?;
        }
        Ok(done)
    }

    fn insert(
        &self,
        namespace: &Namespace,
        path: &Path,
        documents: &[RawDocumentBuf],
        done: u64,
        bypass: bool,
    ) -> Result<u64> {
        if documents.is_empty() {
            return Ok(0);
        }
        let number = |at: usize| u64::try_from(at).unwrap_or(u64::MAX);
        let request = Request::Restore { documents, bypass };
        let answer = self.fork.answer(&self.context, namespace, request);
        match answer.map_err(|error| within(path, error))? {
            Answer::Written(mut written) if !written.errors.is_empty() => {
                let (at, error) = written.errors.swap_remove(0);
                let place = format!("document {}", done + number(at) + 1);
                Err(Error::from(error)
                    .context(place)
                    .context(path.display().to_string()))
            }
            _ => Ok(number(documents.len())),
        }
    }

    fn run(&self, namespace: &Namespace, command: Document) -> Result<(), ServerError> {
        let command = to_raw(namespace, command)?;
        match ServerError::of_reply(&self.fork.run(&self.context, &command)) {
            Some(error) => Err(error),
            None => Ok(()),
        }
    }
}

fn create(namespace: &Namespace, options: Document) -> Document {
    let mut command = doc! { "create": &*namespace.collection };
    command.extend(options);
    command
}

fn to_raw(namespace: &Namespace, mut command: Document) -> Result<RawDocumentBuf, ServerError> {
    command.insert("$db", &*namespace.database);
    odm_engine::to_raw(&command)
}

fn within(path: &Path, error: ServerError) -> Error {
    Error::from(error).context(path.display().to_string())
}
