//! Buckets: the files of a model, and the operations on them.

use std::fmt;
use std::marker::PhantomData;

use bson::raw::{RawBsonRef, RawDocumentBuf};
use bson::{Bson, Document, doc};
use serde::Serialize;

use super::download::Download;
use super::place::Place;
use super::upload::Upload;
use crate::collection::{Collection, Db};
use crate::error::{Error, GridFsError, Result};
use crate::model::Document as Model;
use crate::model::gridfs::DEFAULT_CHUNK_SIZE;
use crate::store::Operation;
use crate::store::options::{Chosen, Options, ReadPreference};

/// A model of the documents that describe the files of a bucket: a struct with `#[odm(collection = "photos.files", gridfs)]`.
/// [`File`](super::File) is one for the bucket `fs`; [`Db::gridfs`] works with any.
///
/// Its collection is `<bucket>.files`, and the chunks are in `<bucket>.chunks`. The struct declares those fields of the specification
/// that the program reads (`_id`, `length`, `chunkSize`, `uploadDate`, `filename`, `metadata`); an upload writes them all.
///
/// The derive implements it:
///
/// ```
/// use odm::gridfs::{ByteCount, FileModel};
/// use odm::prelude::*;
///
/// #[derive(Debug, Serialize, Deserialize, Embedded)]
/// struct Shot { camera: String }
///
/// #[derive(Debug, Serialize, Deserialize, Document)]
/// #[odm(collection = "photos.files", gridfs(chunk_size = "1MiB"))]
/// struct Photo {
///     #[serde(rename = "_id")]
///     id: odm::bson::oid::ObjectId,
///     length: ByteCount,
///     metadata: Shot,
/// }
///
/// assert_eq!(Photo::CHUNK_SIZE, 1_048_576);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not describe files of GridFS",
    label = "not declared with `gridfs`",
    note = "declare it: `#[odm(collection = \"photos.files\", gridfs)]`"
)]
pub trait FileModel: Model<Id: Clone + Unpin> {
    /// The type of the field `metadata`, which an upload stores.
    type Metadata: Serialize;

    /// The size of a chunk in bytes, unless an upload says otherwise.
    const CHUNK_SIZE: u32;
}

/// The size of a chunk in bytes, unless a model or an upload says otherwise: 255 KiB, as in all drivers.
pub const CHUNK_SIZE: u32 = DEFAULT_CHUNK_SIZE;

/// The metadata of a model without a field for them: there are none.
#[derive(Debug, Clone, Copy, Serialize)]
pub enum NoMetadata {}

/// The files of a model: [`Db::gridfs`].
///
/// The first upload creates the indexes of the specification, `{filename: 1, uploadDate: 1}` and the unique `{files_id: 1, n: 1}`;
/// [`Db::sync`] plans both, too. No method takes a session: GridFS has no transactions, by its specification.
pub struct Bucket<M> {
    db: Db,
    pub(super) chunk_size: u32,
    of: PhantomData<fn() -> M>,
}

impl<M> Clone for Bucket<M> {
    fn clone(&self) -> Self {
        Self {
            db: self.db.clone(),
            chunk_size: self.chunk_size,
            of: PhantomData,
        }
    }
}

impl<M: FileModel> fmt::Debug for Bucket<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = self.place();
        f.debug_struct("Bucket")
            .field("files", &place.files)
            .field("chunks", &place.chunks)
            .finish_non_exhaustive()
    }
}

impl Db {
    /// The files of a model in GridFS, which stores files that are larger than a document.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// use odm::gridfs::File;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> odm::Result<()> {
    /// # let db = Db::memory();
    /// let files = db.gridfs::<File>();
    /// let id = files.upload("notes.txt").bytes(b"the first notes").await?;
    /// assert_eq!(files.download(&id).range(4..9).bytes().await?, b"first");
    /// # Ok(())
    /// # }
    /// ```
    pub fn gridfs<M: FileModel>(&self) -> Bucket<M> {
        Bucket {
            db: self.clone(),
            chunk_size: M::CHUNK_SIZE,
            of: PhantomData,
        }
    }
}

impl<M: FileModel> Bucket<M> {
    pub(super) fn place(&self) -> Place {
        Place::new(self.db.store.clone(), M::model())
    }

    /// The documents of the files, for typed finds, counts and joins.
    ///
    /// Delete files by [`delete`](Self::delete): a delete of the document alone leaves the chunks.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::gridfs::File;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> odm::Result<()> {
    /// # let files = Db::memory().gridfs::<File>();
    /// files.upload("a.txt").bytes(b"1234").await?;
    /// let large = files.files().find(|f| f.length.gt(odm::gridfs::ByteCount::new(3)));
    /// assert_eq!(large.count().await?, 1);
    /// # Ok(())
    /// # }
    /// ```
    pub fn files(&self) -> Collection<M> {
        self.db.collection()
    }

    /// Uploads a file with this name. Names need not be unique: files of one name are its revisions.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::gridfs::File;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> odm::Result<()> {
    /// # let files = Db::memory().gridfs::<File>();
    /// files.upload("notes.txt").bytes(b"the first notes").await?;
    /// files.upload("notes.txt").bytes(b"the second notes").await?;
    /// assert_eq!(files.download_by_name("notes.txt").bytes().await?, b"the second notes");
    /// # Ok(())
    /// # }
    /// ```
    pub fn upload(&self, filename: impl Into<String>) -> Upload<M> {
        Upload::new(self.clone(), filename.into())
    }

    /// Downloads the file with this `_id`.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::gridfs::File;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> odm::Result<()> {
    /// # let files = Db::memory().gridfs::<File>();
    /// let id = files.upload("notes.txt").bytes(b"the first notes").await?;
    /// assert_eq!(files.download(&id).bytes().await?, b"the first notes");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// From the methods of the download: [`is_file_not_found`](Error::is_file_not_found), and
    /// [`is_file_damaged`](Error::is_file_damaged) when a chunk that is read is missing, too short, too long or one too many.
    pub fn download(&self, id: &M::Id) -> Download<M> {
        Download::new(self.clone(), Sought::Id(encoded::<M>(id)))
    }

    /// Downloads the newest file with this name, or another [revision](Download::revision): newest by the time of the upload, as the
    /// clock of the uploading machine had it.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::gridfs::File;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> odm::Result<()> {
    /// # let files = Db::memory().gridfs::<File>();
    /// files.upload("notes.txt").bytes(b"the first notes").await?;
    /// assert_eq!(files.download_by_name("notes.txt").bytes().await?, b"the first notes");
    /// let absent = files.download_by_name("other.txt").bytes().await.unwrap_err();
    /// assert!(absent.is_file_not_found());
    /// # Ok(())
    /// # }
    /// ```
    pub fn download_by_name(&self, filename: impl Into<String>) -> Download<M> {
        let name = filename.into();
        Download::new(self.clone(), Sought::Name { name, revision: -1 })
    }

    /// Gives the file with this `_id` another name.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::gridfs::File;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> odm::Result<()> {
    /// # let files = Db::memory().gridfs::<File>();
    /// let id = files.upload("notes.txt").bytes(b"the first notes").await?;
    /// files.rename(&id, "old-notes.txt").await?;
    /// assert_eq!(files.download_by_name("old-notes.txt").bytes().await?, b"the first notes");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`is_file_not_found`](Error::is_file_not_found).
    pub async fn rename(&self, id: &M::Id, filename: &str) -> Result<()> {
        let id = encoded::<M>(id)?;
        let filter = doc! {"_id": &id};
        match self.set_name(filter, filename, false).await? {
            0 => Err(absent::<M>(GridFsError::NoId(id))),
            _ => Ok(()),
        }
    }

    /// Gives all files with a name another one; returns how many there were.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::gridfs::File;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> odm::Result<()> {
    /// # let files = Db::memory().gridfs::<File>();
    /// files.upload("a.txt").bytes(b"1").await?;
    /// files.upload("a.txt").bytes(b"2").await?;
    /// assert_eq!(files.rename_by_name("a.txt", "b.txt").await?, 2);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`is_file_not_found`](Error::is_file_not_found) if no file has the name.
    pub async fn rename_by_name(&self, from: &str, to: &str) -> Result<u64> {
        match self.set_name(doc! {"filename": from}, to, true).await? {
            0 => Err(absent::<M>(no_name(from))),
            renamed => Ok(renamed),
        }
    }

    async fn set_name(&self, filter: Document, filename: &str, multi: bool) -> Result<u64> {
        let place = self.place();
        let mut channel = place.channel();
        let files = channel.named(place.files, place.model);
        let change = doc! {"$set": {"filename": filename}};
        let statement = doc! {"q": filter, "u": change, "multi": multi};
        Ok(files.update(vec![statement]).await?.matched())
    }

    /// Deletes a file, then its chunks. A reader that is open meanwhile ends with an error when it comes to a deleted chunk.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::gridfs::File;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> odm::Result<()> {
    /// # let files = Db::memory().gridfs::<File>();
    /// let id = files.upload("notes.txt").bytes(b"the first notes").await?;
    /// files.delete(&id).await?;
    /// assert!(files.delete(&id).await.unwrap_err().is_file_not_found());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`is_file_not_found`](Error::is_file_not_found). Chunks with the `_id`, which a stopped upload or delete has left, are deleted
    /// all the same.
    pub async fn delete(&self, id: &M::Id) -> Result<()> {
        let id = encoded::<M>(id)?;
        match self.remove(vec![id.clone()]).await? {
            0 => Err(absent::<M>(GridFsError::NoId(id))),
            _ => Ok(()),
        }
    }

    /// Deletes all files with a name, and their chunks; returns how many there were.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::gridfs::File;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> odm::Result<()> {
    /// # let files = Db::memory().gridfs::<File>();
    /// files.upload("a.txt").bytes(b"1").await?;
    /// files.upload("a.txt").bytes(b"2").await?;
    /// assert_eq!(files.delete_by_name("a.txt").await?, 2);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`is_file_not_found`](Error::is_file_not_found) if no file has the name.
    pub async fn delete_by_name(&self, filename: &str) -> Result<u64> {
        let place = self.place();
        let find = Operation::Find {
            filter: doc! {"filename": filename}.into(),
            one: false,
        };
        let options = Options {
            projection: Some(doc! {"_id": 1}),
            read_preference: Some(ReadPreference::primary()),
            ..Options::default()
        };
        let mut ids = Vec::new();
        let mut channel = place.channel();
        let files = channel.named(place.files.clone(), place.model);
        let read = files.read(find, Chosen::from(options), |document| {
            let id = document.get("_id").map_err(Error::encode)?;
            let id = Bson::try_from(id.unwrap_or(RawBsonRef::Null)).map_err(Error::encode)?;
            ids.push(id);
            Ok(())
        });
        read.await?;
        if ids.is_empty() {
            return Err(absent::<M>(no_name(filename)));
        }
        let mut deleted = 0;
        for part in ids.chunks(1_000) {
            deleted += self.remove(part.to_vec()).await?;
        }
        Ok(deleted)
    }

    /// Deletes documents of files, then their chunks: a reader between the two finds no file.
    async fn remove(&self, ids: Vec<Bson>) -> Result<u64> {
        let place = self.place();
        let mut channel = place.channel();
        let files = channel.named(place.files.clone(), place.model);
        let deleted = files.delete(vec![doc! {"_id": {"$in": &ids}}]).await?;
        place.delete_chunks(ids).await?;
        Ok(deleted)
    }

    /// Drops the collections of the files and of the chunks, with their indexes.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::gridfs::File;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> odm::Result<()> {
    /// # let files = Db::memory().gridfs::<File>();
    /// files.upload("a.txt").bytes(b"1").await?;
    /// files.drop().await?;
    /// assert_eq!(files.files().find_all().count().await?, 0);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn drop(&self) -> Result<()> {
        let place = self.place();
        for collection in [&place.files, &place.chunks] {
            let mut channel = place.channel();
            let collection = channel.named(collection.clone(), place.model);
            collection.send(Operation::Drop, Chosen::default()).await?;
        }
        Ok(())
    }
}

fn encoded<M: FileModel>(id: &M::Id) -> Result<Bson> {
    let id = bson::serialize_to_bson(id).map_err(Error::encode);
    id.map_err(|error| error.with_model(M::model().name).with_path("_id"))
}

fn absent<M: FileModel>(error: GridFsError) -> Error {
    Error::new(error).with_model(M::model().name)
}

fn no_name(name: &str) -> GridFsError {
    GridFsError::NoName {
        name: name.to_owned(),
        revision: None,
    }
}

/// The file that a download looks for.
#[derive(Debug)]
pub(super) enum Sought {
    Id(Result<Bson>),
    Name { name: String, revision: i32 },
}

impl Sought {
    pub(super) fn revision(self, revision: i32) -> Self {
        match self {
            // An `_id` is one revision.
            Self::Id(_) => self,
            Self::Name { name, .. } => Self::Name { name, revision },
        }
    }

    /// Reads the document of the file.
    pub(super) async fn find(self, place: &Place) -> Result<RawDocumentBuf> {
        let mut options = Options::default();
        let (filter, error) = match self {
            Self::Id(id) => {
                let id = id?;
                (doc! {"_id": &id}, GridFsError::NoId(id))
            }
            Self::Name { name, revision } => {
                let direction = if revision < 0 { -1 } else { 1 };
                options.sort = Some(doc! {"uploadDate": direction});
                let skip = if revision < 0 {
                    -1 - i64::from(revision)
                } else {
                    revision.into()
                };
                options.skip = Some(skip.unsigned_abs());
                let filter = doc! {"filename": &name};
                let revision = (revision != -1).then_some(revision);
                (filter, GridFsError::NoName { name, revision })
            }
        };
        let find = Operation::Find {
            filter: filter.into(),
            one: true,
        };
        let mut channel = place.channel();
        let files = channel.named(place.files.clone(), place.model);
        let found = files.documents(find, Chosen::from(options)).await?;
        let found = found.into_iter().next();
        found.ok_or_else(|| Error::new(error).with_model(place.model.name))
    }
}
