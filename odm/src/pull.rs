//! Models from what exists: structs for the collections of a database, or of a folder of dumps.
//!
//! [`Db::pull`] reads a database and [`folder`] a folder that `mongodump` or `mongoexport` has written. Both sample documents, and
//! [`Pulled::to_source`] returns structs that compile and read each sampled document. The program `odm-pull`, behind the feature
//! `pull`, does the same on the command line.
//!
//! ```
//! use odm::prelude::*;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> odm::Result<()> {
//! let db = Db::memory();
//! db.run_command(doc! {"insert": "books", "documents": [
//!     {"_id": 1, "title": "Emma", "year": 1815},
//!     {"_id": 2, "title": "Persuasion"},
//! ]})
//! .await?;
//! let source = db.pull().await?.to_source();
//! assert!(source.contains(r#"
//! #[odm(collection = "books")]
//! pub struct Book {
//!     /// int 100 %.
//!     #[serde(rename = "_id")]
//!     pub id: i32,
//!     /// string 100 %.
//!     pub title: String,
//!     /// int 50 %, absent 50 %.
//!     #[serde(skip_serializing_if = "Option::is_none")]
//!     pub year: Option<i32>,
//! }
//! "#));
//! # Ok(())
//! # }
//! ```

mod definitions;
mod gridfs;
mod indexes;
mod infer;
mod item;
mod literal;
mod merge;
mod names;
mod number;
mod path;
mod references;
mod shape;
mod source;
#[cfg(test)]
mod testing;
mod validator;
mod write;

use std::collections::HashSet;
use std::fmt;
use std::path::PathBuf;

use bson::{Bson, Document};
use futures_core::future::BoxFuture;

use self::infer::{Choices, Sampled};
use self::item::Item;
use self::literal::{code, comment};
pub use self::merge::{Merged, Note};
use self::shape::Shape;
use self::source::{Listed, Source};
use self::write::Spelling;
use crate::collection::Db;
use crate::error::{Error, Result};

/// Which documents of a collection are read.
///
/// ```
/// use odm::prelude::*;
/// use odm::pull::Sample;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> odm::Result<()> {
/// # let db = Db::memory();
/// # let insert = doc! {"insert": "books", "documents": [{"_id": 1, "old": 1}, {"_id": 2}]};
/// # db.run_command(insert).await?;
/// let newest = db.pull().sample(Sample::Last(1)).await?;
/// assert!(!newest.to_source().contains("old"));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Sample {
    /// About this many documents, chosen at random.
    Random(u64),
    /// The documents with the least ids; of a file, the first ones.
    First(u64),
    /// The documents with the greatest ids; of a file, the last ones.
    Last(u64),
    /// All documents.
    All,
}

impl Default for Sample {
    fn default() -> Self {
        Self::Random(1_000)
    }
}

impl Db {
    /// Reads a sample of the documents of each collection, its indexes and its validator, to make models of them.
    ///
    /// It writes nothing. Of each collection it reads up to 1,000 random documents ([`Pull::sample`]), and looks up to 200 values
    /// of each field that may be a reference up in the other collections, by their `_id`.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> odm::Result<()> {
    /// # let db = Db::memory();
    /// # db.run_command(doc! {"insert": "books", "documents": [{"_id": 1}]}).await?;
    /// let pulled = db.pull().await?;
    /// assert_eq!(pulled.collections(), ["books"]);
    /// std::fs::write(std::env::temp_dir().join("models.rs"), pulled.to_source()).unwrap();
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Errors of the server, with the collection in their context. [`is_usage`](Error::is_usage): a collection named in
    /// [`only`](Pull::only) does not exist.
    pub fn pull<'s>(&self) -> Pull<'s> {
        Pull::of(Source::Database(self.store.clone()))
    }
}

/// Like [`Db::pull`], for a folder that `mongodump` or `mongoexport` has written, or with fixtures. [`Db::import`] describes the
/// files. Each document is read from its file and forgotten, so that large dumps need little memory; only a file of Extended JSON
/// is read as a whole.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> odm::Result<()> {
/// # let folder = std::env::temp_dir().join(format!("odm-pull-{}", std::process::id()));
/// # std::fs::create_dir_all(&folder).unwrap();
/// std::fs::write(folder.join("books.json"), r#"{"_id": 1} {"_id": 2}"#).unwrap();
/// let pulled = odm::pull::folder(&folder).await?;
/// assert!(pulled.to_source().contains("pub struct Book {"));
/// # std::fs::remove_dir_all(&folder).unwrap();
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// [`is_file`](Error::is_file): the folder or a file can't be read, or holds something else; the error names the file and the
/// document. Or the folder has several databases, and [`database`](Pull::database) names none.
pub fn folder<'s>(path: impl Into<PathBuf>) -> Pull<'s> {
    Pull::of(Source::Folder {
        path: path.into(),
        database: None,
    })
}

/// Models about to be made: [`Db::pull`] and [`folder`].
#[must_use = "nothing is read until it is awaited"]
pub struct Pull<'s> {
    source: Source,
    sample: Sample,
    only: Vec<String>,
    except: Vec<String>,
    share: f64,
    choices: Choices,
    progress: Box<dyn FnMut(u64) + Send + 's>,
}

impl<'s> Pull<'s> {
    fn of(source: Source) -> Self {
        Self {
            source,
            sample: Sample::default(),
            only: Vec::new(),
            except: Vec::new(),
            share: 0.5,
            choices: Choices {
                max_variants: 12,
                max_fields: 200,
                merge_nulls: false,
            },
            progress: Box::new(|_| {}),
        }
    }

    /// Chooses the documents to read: [`Sample::Random`] of 1,000 without it.
    ///
    /// A field, or a string of an enum, that no sampled document has is in no struct. [`Sample::All`] misses none.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::pull::Sample;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> odm::Result<()> {
    /// # let db = Db::memory();
    /// # db.run_command(doc! {"insert": "books", "documents": [{"_id": 1}, {"_id": 2}]}).await?;
    /// let source = db.pull().sample(Sample::All).await?.to_source();
    /// assert!(source.contains("2 of 2 were read"));
    /// # Ok(())
    /// # }
    /// ```
    pub fn sample(mut self, sample: Sample) -> Self {
        self.sample = sample;
        self
    }

    /// Names the database to read, where a folder has several.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> odm::Result<()> {
    /// # let folder = std::env::temp_dir().join(format!("odm-pull-db-{}", std::process::id()));
    /// for (database, file) in [("shop", "orders.json"), ("library", "books.json")] {
    ///     std::fs::create_dir_all(folder.join(database)).unwrap();
    ///     std::fs::write(folder.join(database).join(file), r#"{"_id": 1}"#).unwrap();
    /// }
    /// let pulled = odm::pull::folder(&folder).database("shop").await?;
    /// assert_eq!(pulled.collections(), ["orders"]);
    /// # std::fs::remove_dir_all(&folder).unwrap();
    /// # Ok(())
    /// # }
    /// ```
    pub fn database(mut self, name: impl Into<String>) -> Self {
        match &mut self.source {
            Source::Database(store) => *store = store.sibling(&name.into()),
            Source::Folder { database, .. } => *database = Some(name.into()),
        }
        self
    }

    /// Makes models of these collections alone. References to other collections are not recognized.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> odm::Result<()> {
    /// # let db = Db::memory();
    /// # db.run_command(doc! {"insert": "books", "documents": [{"_id": 1}]}).await?;
    /// # db.run_command(doc! {"insert": "loans", "documents": [{"_id": 1}]}).await?;
    /// let pulled = db.pull().only(["books"]).await?;
    /// assert_eq!(pulled.collections(), ["books"]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn only<S: Into<String>>(mut self, collections: impl IntoIterator<Item = S>) -> Self {
        self.only.extend(collections.into_iter().map(Into::into));
        self
    }

    /// Leaves out collections, by their names, and fields, by the collection and the stored path. The documents within a map stand
    /// under `*`: `books.prices.*.currency`.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> odm::Result<()> {
    /// # let db = Db::memory();
    /// # let documents = [doc! {"_id": 1, "old": 1, "author": {"age": 1, "name": "Ada"}}];
    /// # db.run_command(doc! {"insert": "books", "documents": documents}).await?;
    /// # db.run_command(doc! {"insert": "sessions", "documents": [{"_id": 1}]}).await?;
    /// let pulled = db.pull().except(["sessions", "books.old", "books.author.age"]).await?;
    /// assert_eq!(pulled.collections(), ["books"]);
    /// let source = pulled.to_source();
    /// assert!(source.contains("name") && !source.contains("age") && !source.contains("old"));
    /// # Ok(())
    /// # }
    /// ```
    pub fn except<S: Into<String>>(mut self, paths: impl IntoIterator<Item = S>) -> Self {
        self.except.extend(paths.into_iter().map(Into::into));
        self
    }

    /// Sets the share of ids that have to resolve in a collection for a field to be a reference to it: 0.5 without it, and never
    /// less than one id.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> odm::Result<()> {
    /// # let db = Db::memory();
    /// # db.run_command(doc! {"insert": "authors", "documents": [{"_id": 1}]}).await?;
    /// let books = [doc! {"_id": 1, "author": 1}, doc! {"_id": 2, "author": 9}];
    /// db.run_command(doc! {"insert": "books", "documents": books}).await?;
    /// let source = db.pull().await?.to_source();
    /// assert!(source.contains("/// 50 % of 2 ids resolve in `authors`."));
    /// assert!(source.contains("pub author: Ref<Author>"));
    /// let source = db.pull().reference_share(0.9).await?.to_source();
    /// assert!(source.contains("pub author: i32"));
    /// # Ok(())
    /// # }
    /// ```
    pub fn reference_share(mut self, share: f64) -> Self {
        self.share = share;
        self
    }

    /// Sets the largest number of different strings that become an enum: 12 without it, and none with 0.
    ///
    /// There have to be at least 20 strings, and four times as many as different ones.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> odm::Result<()> {
    /// # let db = Db::memory();
    /// let state = |n: i32| if n % 3 == 0 { "lent" } else { "on shelf" };
    /// let books: Vec<_> = (0..30).map(|n| doc! {"_id": n, "state": state(n)}).collect();
    /// db.run_command(doc! {"insert": "books", "documents": books}).await?;
    /// let source = db.pull().await?.to_source();
    /// assert!(source.contains("    #[serde(rename = \"on shelf\")]\n    OnShelf,"));
    /// let source = db.pull().max_variants(0).await?.to_source();
    /// assert!(source.contains("pub state: String"));
    /// # Ok(())
    /// # }
    /// ```
    pub fn max_variants(mut self, most: usize) -> Self {
        self.choices.max_variants = most;
        self
    }

    /// Sets the largest number of fields that one struct declares: 200 without it. The rarest others are in a flattened document
    /// named `rest`.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> odm::Result<()> {
    /// # let db = Db::memory();
    /// # let documents = [doc! {"_id": 1, "a": 1, "b": 1}, doc! {"_id": 2, "a": 1}];
    /// # db.run_command(doc! {"insert": "books", "documents": documents}).await?;
    /// let source = db.pull().max_fields(2).await?.to_source();
    /// assert!(source.contains("    #[serde(flatten)]\n    pub rest: bson::Document,"));
    /// # Ok(())
    /// # }
    /// ```
    pub fn max_fields(mut self, most: usize) -> Self {
        self.choices.max_fields = most;
        self
    }

    /// Declares a field that is null in some documents and absent from others as a plain `Option`.
    ///
    /// Without it, such a field is an `Option<Option<T>>` with `odm::double_option`, so that a document is written as it was read.
    /// With it, null is written back as absent.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> odm::Result<()> {
    /// # let db = Db::memory();
    /// # let documents = [doc! {"_id": 1, "a": 1}, doc! {"_id": 2, "a": null}, doc! {"_id": 3}];
    /// # db.run_command(doc! {"insert": "books", "documents": documents}).await?;
    /// assert!(db.pull().await?.to_source().contains("pub a: Option<Option<i32>>"));
    /// assert!(db.pull().merge_nulls().await?.to_source().contains("pub a: Option<i32>"));
    /// # Ok(())
    /// # }
    /// ```
    pub fn merge_nulls(mut self) -> Self {
        self.choices.merge_nulls = true;
        self
    }

    /// Calls `report` with the number of collections that were read, after each.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> odm::Result<()> {
    /// # let db = Db::memory();
    /// # db.run_command(doc! {"insert": "books", "documents": [{"_id": 1}]}).await?;
    /// let mut read = 0;
    /// db.pull().on_progress(|collections| read = collections).await?;
    /// assert_eq!(read, 1);
    /// # Ok(())
    /// # }
    /// ```
    pub fn on_progress(mut self, report: impl FnMut(u64) + Send + 's) -> Self {
        self.progress = Box::new(report);
        self
    }

    async fn run(mut self) -> Result<Pulled> {
        let (listed, files) = self.source.list().await?;
        let mut skipped = Vec::new();
        for name in &self.only {
            if listed.iter().all(|one| one.name != *name) {
                let message = format!("{} does not exist, and can't be pulled", code(name));
                return Err(Error::usage(message));
            }
        }
        let buckets = gridfs::files(&listed);
        let mut sampled = Vec::new();
        let mut definitions = Vec::new();
        for one in &listed {
            let is_chosen = self.only.is_empty() || self.only.contains(&one.name);
            if !is_chosen || self.except.contains(&one.name) {
                continue;
            }
            let refusal = one.refusal.clone();
            if let Some(reason) = refusal.or_else(|| gridfs::refusal(&one.name, &buckets)) {
                skipped.push(Skipped {
                    name: one.name.clone(),
                    reason,
                });
                continue;
            }
            let read = read(&self.source, one, self.sample, &self.except).await;
            let context = || format!("collection {}", code(&one.name));
            let (read, indexes) = read.map_err(|error| error.context(context()))?;
            sampled.push(read);
            definitions.push((one.options.clone(), indexes));
            (self.progress)(sampled.len() as u64);
        }
        let guesses = references::guess(&self.source, &sampled, &listed, self.share).await?;
        let mut items = infer::items(&sampled, &guesses, &self.choices);
        let definitions = sampled.iter().zip(definitions).enumerate();
        for (model, (sampled, (options, mut indexes))) in definitions {
            if buckets.contains(&sampled.collection)
                && let Some(item) = items.get_mut(model)
                && gridfs::declare(item, &sampled.shape)
            {
                indexes.retain(|index| !gridfs::is_implied(index));
            }
            define(&mut items, model, &options, &indexes);
        }
        Ok(Pulled {
            items,
            skipped_collections: skipped.len(),
            skipped: skipped.into_iter().chain(files).collect(),
            listed: listed.into_iter().map(|one| one.name).collect(),
        })
    }
}

/// Reads a collection.
async fn read(
    source: &Source,
    listed: &Listed,
    sample: Sample,
    except: &[String],
) -> Result<(Sampled, Vec<Document>)> {
    let mut shape = Shape::default();
    let documents = source.sample(listed, sample, &mut shape).await?;
    shape.fold();
    let indexes = source.indexes(listed).await?;
    let except = except.iter().filter_map(|path| {
        let path = path.strip_prefix(&listed.name)?.strip_prefix('.')?;
        Some(path.to_owned())
    });
    let sampled = Sampled {
        collection: listed.name.clone(),
        documents,
        shape,
        unique: indexes.iter().filter_map(indexes::unique_path).collect(),
        except: except.collect(),
    };
    Ok((sampled, indexes))
}

/// Adds the definitions of a collection to its model.
fn define(items: &mut Vec<Item>, model: usize, options: &Document, indexes: &[Document]) {
    if let Some(item) = items.get_mut(model) {
        definitions::declare(item, options);
    }
    // Before the indexes, because it may declare fields that they have as keys.
    if let Ok(validator) = options.get_document("validator") {
        validator::declare(items, model, validator);
    }
    let collation = options.get("collation").cloned();
    indexes::declare(items, model, indexes, &collation.unwrap_or(Bson::Null));
}

impl<'s> IntoFuture for Pull<'s> {
    type Output = Result<Pulled>;
    type IntoFuture = BoxFuture<'s, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.run())
    }
}

impl fmt::Debug for Pull<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pull")
            .field("source", &self.source)
            .field("sample", &self.sample)
            .finish_non_exhaustive()
    }
}

/// A collection that has no model, or a file that is no collection.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Skipped {
    /// The name of the collection, or the path of the file.
    pub name: String,
    /// Why it has no model.
    pub reason: String,
}

impl fmt::Display for Skipped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} has no model: {}", code(&self.name), self.reason)
    }
}

/// Models of collections: [`Db::pull`] and [`folder`].
#[derive(Debug)]
pub struct Pulled {
    items: Vec<Item>,
    skipped: Vec<Skipped>,
    /// How many of the skipped are collections or views; files follow.
    skipped_collections: usize,
    /// The names of all collections.
    listed: Vec<String>,
}

impl Pulled {
    /// The collections that have a model, by name.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> odm::Result<()> {
    /// assert!(Db::memory().pull().await?.collections().is_empty());
    /// # Ok(())
    /// # }
    /// ```
    pub fn collections(&self) -> Vec<&str> {
        let models = self.items.iter();
        let models = models.filter_map(|item| item.collection.as_deref());
        models.collect()
    }

    /// The collections that have no model, such as views, and the files of a folder that are no collections.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> odm::Result<()> {
    /// # let db = Db::memory();
    /// db.run_command(doc! {"create": "lent", "viewOn": "books", "pipeline": []}).await?;
    /// let pulled = db.pull().await?;
    /// let skipped: Vec<_> = pulled.skipped().iter().map(|one| one.name.as_str()).collect();
    /// assert!(skipped.contains(&"lent"));
    /// # Ok(())
    /// # }
    /// ```
    pub fn skipped(&self) -> &[Skipped] {
        &self.skipped
    }

    /// The source of a module with all models.
    ///
    /// It is formatted as rustfmt does, needs the crates `odm` and `serde`, and compiles without warnings.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> odm::Result<()> {
    /// # let db = Db::memory();
    /// # db.run_command(doc! {"insert": "books", "documents": [{"_id": 1}]}).await?;
    /// let source = db.pull().await?.to_source();
    /// assert!(source.starts_with("//! "));
    /// # Ok(())
    /// # }
    /// ```
    pub fn to_source(&self) -> String {
        let names = write::name_items(&self.items, &HashSet::new());
        let spelling = Spelling {
            items: &self.items,
            names: &names,
        };
        let mut text = String::from("//! Models of existing collections, pulled by odm.\n");
        for skipped in self.skipped.iter().take(self.skipped_collections) {
            text.push_str("//!\n//! ");
            text.push_str(&comment(&skipped.to_string()));
            text.push_str(".\n");
        }
        let imports = write::imports(&self.items, |_| true);
        let (std, odm): (Vec<&str>, Vec<&str>) = imports
            .into_iter()
            .partition(|line| line.starts_with("use std"));
        for group in [std, odm] {
            if !group.is_empty() {
                text.push('\n');
                text.push_str(&group.join("\n"));
                text.push('\n');
            }
        }
        for item in 0..self.items.len() {
            text.push('\n');
            text.push_str(&spelling.item(item));
        }
        text
    }
}
