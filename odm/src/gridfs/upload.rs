//! Uploads: bytes become chunks, and at the end the document of the file.

use std::fmt;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bson::oid::ObjectId;
use bson::raw::{RawBson, RawDocumentBuf};
use bson::{Bson, DateTime, Document, doc};
use futures_core::future::BoxFuture;
use serde::Serialize;
use tokio::io::{AsyncRead, AsyncWrite};

use super::bucket::{Bucket, FileModel};
use super::copy::CopyFrom;
use super::indexes;
use super::place::{Place, chunk, chunks_of_a_batch};
use crate::error::{Error, Result};
use crate::model::Document as Model;
use crate::model::gridfs::MAX_CHUNK_SIZE;

/// An upload that is about to begin: [`Bucket::upload`].
///
/// [`bytes`](Self::bytes) uploads what is in memory, [`copy_from`](Self::copy_from) what a reader has, and [`open`](Self::open)
/// returns a writer. A failed upload deletes the chunks that it has stored.
#[must_use = "nothing is stored until it gets its bytes"]
pub struct Upload<M: FileModel> {
    bucket: Bucket<M>,
    filename: String,
    id: Result<Option<Bson>>,
    metadata: Result<Option<Bson>>,
    chunk_size: u32,
}

impl<M: FileModel> Upload<M> {
    pub(super) fn new(bucket: Bucket<M>, filename: String) -> Self {
        Self {
            chunk_size: bucket.chunk_size,
            bucket,
            filename,
            id: Ok(None),
            metadata: Ok(None),
        }
    }

    /// Stores the file with this `_id`, instead of a new `ObjectId`. A model whose `_id` is of another type needs it.
    ///
    /// An `_id` that another file has is an error, [`is_duplicate_key`](Error::is_duplicate_key), of what uploads the bytes.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::gridfs::File;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> odm::Result<()> {
    /// # let files = Db::memory().gridfs::<File>();
    /// let id = odm::bson::oid::ObjectId::new();
    /// files.upload("a.txt").id(&id).bytes(b"1").await?;
    /// let taken = files.upload("b.txt").id(&id).bytes(b"2").await.unwrap_err();
    /// assert!(taken.is_duplicate_key());
    /// # Ok(())
    /// # }
    /// ```
    pub fn id(self, id: &M::Id) -> Self
    where
        M::Id: Serialize,
    {
        let id = bson::serialize_to_bson(id).map_err(Error::encode);
        Self {
            id: id.map(Some),
            ..self
        }
    }

    /// Stores these metadata with the file: a value of the model's field `metadata`.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::gridfs::File;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> odm::Result<()> {
    /// # let files = Db::memory().gridfs::<File>();
    /// let metadata = doc! {"language": "en"};
    /// let id = files.upload("a.txt").metadata(&metadata).bytes(b"1").await?;
    /// let file = files.files().get(&id).await?;
    /// assert_eq!(file.and_then(|file| file.metadata), Some(metadata));
    /// # Ok(())
    /// # }
    /// ```
    pub fn metadata(self, metadata: &M::Metadata) -> Self {
        let metadata = bson::serialize_to_bson(metadata).map_err(Error::encode);
        Self {
            metadata: metadata.map(Some),
            ..self
        }
    }

    /// Divides the file into chunks of this many bytes, instead of what the model declares: from 1 to 16,760,832 (16 KiB less than a
    /// document). Small chunks cost an index entry each; a range reads whole chunks.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::gridfs::File;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> odm::Result<()> {
    /// # let files = Db::memory().gridfs::<File>();
    /// let id = files.upload("a.txt").chunk_size(1_000).bytes(&[0; 2_500]).await?;
    /// let file = files.files().get(&id).await?;
    /// assert_eq!(file.map(|file| file.chunk_size.get()), Some(1_000));
    /// # Ok(())
    /// # }
    /// ```
    pub fn chunk_size(self, bytes: u32) -> Self {
        Self {
            chunk_size: bytes,
            ..self
        }
    }

    /// Begins an upload whose bytes are written to a writer. The file exists once the writer is shut down: see [`FileWriter`].
    ///
    /// # Errors
    ///
    /// A chunk size out of bounds, and an `_id` or metadata that can't be stored.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::gridfs::File;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> odm::Result<()> {
    /// # let files = Db::memory().gridfs::<File>();
    /// use tokio::io::AsyncWriteExt;
    /// let mut writer = files.upload("a.txt").open()?;
    /// writer.write_all(b"1234").await.map_err(odm::Error::other)?;
    /// writer.shutdown().await.map_err(odm::Error::other)?;
    /// assert_eq!(files.download(writer.id()).bytes().await?, b"1234");
    /// # Ok(())
    /// # }
    /// ```
    pub fn open(self) -> Result<FileWriter<M>> {
        let Self {
            bucket,
            filename,
            id,
            metadata,
            chunk_size,
        } = self;
        if chunk_size == 0 || chunk_size > MAX_CHUNK_SIZE {
            return Err(Error::usage(format!(
                "a chunk is a document, so it has between 1 and {MAX_CHUNK_SIZE} bytes, not {chunk_size}"
            ))
            .with_model(M::model().name)
            .with_path("chunkSize"));
        }
        let id = id?.unwrap_or_else(|| Bson::ObjectId(ObjectId::new()));
        let mut file = doc! {"_id": &id, "chunkSize": chunk_size};
        file.insert("filename", filename);
        if let Some(metadata) = metadata? {
            file.insert("metadata", metadata);
        }
        Ok(FileWriter {
            typed_id: bson::deserialize_from_bson(id.clone()).map_err(Error::encode)?,
            raw_id: RawBson::try_from(id.clone()).map_err(Error::encode)?,
            id,
            place: bucket.place(),
            file,
            chunk_size: chunk_size as usize,
            room: chunk_size as usize
                * usize::try_from(chunks_of_a_batch(chunk_size.into())).unwrap_or(1),
            buffer: Vec::new(),
            sent: Vec::new(),
            length: 0,
            stored: 0,
            running: None,
            state: State::Open,
        })
    }

    /// Uploads these bytes, and returns the `_id` of the file.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::gridfs::File;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> odm::Result<()> {
    /// # let files = Db::memory().gridfs::<File>();
    /// let id = files.upload("a.txt").bytes(b"1234").await?;
    /// assert_eq!(files.download(&id).bytes().await?, b"1234");
    /// # Ok(())
    /// # }
    /// ```
    pub async fn bytes(self, bytes: &[u8]) -> Result<M::Id> {
        self.copy_from(bytes).await
    }

    /// Uploads what a reader has, and returns the `_id` of the file.
    ///
    /// The next bytes are read while MongoDB stores those before them. A reader's error is an
    /// [`is_other`](Error::is_other) with the reader's error as its source, and deletes what was stored.
    ///
    /// ```no_run
    /// # use odm::prelude::*;
    /// # use odm::gridfs::File;
    /// # #[tokio::main]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = Db::memory();
    /// let disk = tokio::fs::File::open("cat.jpg").await?;
    /// let id = db.gridfs::<File>().upload("cat.jpg").copy_from(disk).await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn copy_from<'p, R: AsyncRead + Unpin + Send + 'p>(self, reader: R) -> CopyFrom<'p, M, R> {
        CopyFrom::new(self, reader)
    }
}

impl<M: FileModel> fmt::Debug for Upload<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Upload")
            .field("filename", &self.filename)
            .finish_non_exhaustive()
    }
}

type Running = BoxFuture<'static, Result<()>>;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Open,
    /// All chunks are sent; the document of the file is next.
    Ending,
    /// The document of the file is sent.
    Filing,
    Done,
    Failed,
    /// MongoDB may have stored the document of the file: its answer did not arrive.
    Unknown,
}

/// Writes the bytes of a file: [`Upload::open`]. It is tokio's [`AsyncWrite`].
///
/// The file exists once the writer is shut down (`AsyncWriteExt::shutdown`). A writer that is dropped before that
/// deletes the chunks that it has stored: on a task of the runtime, so that a process that ends at once leaves chunks, which
/// [`Db::check`](crate::Db::check) finds. [`abort`](Self::abort) waits for the deletion.
///
/// The writer holds up to 4 MiB of chunks, or a single larger one, while MongoDB stores as many. It deletes no chunk that it has not stored, even if the
/// `_id` turns out to be taken.
///
/// ```
/// # use odm::prelude::*;
/// # use odm::gridfs::File;
/// use tokio::io::AsyncWriteExt;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let db = Db::memory();
/// let mut writer = db.gridfs::<File>().upload("log.txt").open()?;
/// for line in 1..=1_000 {
///     writer.write_all(format!("line {line}\n").as_bytes()).await?;
/// }
/// writer.shutdown().await?;
/// let file = db.gridfs::<File>().files().get(writer.id()).await?;
/// assert_eq!(file.map(|file| file.length.get()), Some(8_893));
/// # Ok(())
/// # }
/// ```
pub struct FileWriter<M: Model> {
    place: Place,
    /// The document of the file, without its length and its date.
    file: Document,
    id: Bson,
    raw_id: RawBson,
    typed_id: M::Id,
    chunk_size: usize,
    /// How many bytes are sent together: whole chunks.
    room: usize,
    buffer: Vec<u8>,
    /// The `_id`s of the chunks that were sent.
    sent: Vec<ObjectId>,
    length: u64,
    /// How many bytes of these MongoDB has stored.
    stored: u64,
    running: Option<Running>,
    state: State,
}

impl<M: Model> FileWriter<M> {
    /// The `_id` of the file.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::gridfs::File;
    /// # fn main() -> odm::Result<()> {
    /// # let db = Db::memory();
    /// let id = odm::bson::oid::ObjectId::new();
    /// let writer = db.gridfs::<File>().upload("log.txt").id(&id).open()?;
    /// assert_eq!(*writer.id(), id);
    /// # Ok(())
    /// # }
    /// ```
    pub fn id(&self) -> &M::Id {
        &self.typed_id
    }

    /// How many bytes MongoDB has stored: fewer than were written, until the writer is shut down.
    pub(super) fn stored(&self) -> u64 {
        self.stored
    }

    /// Ends the upload without a file, and deletes the chunks that were stored.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::gridfs::File;
    /// use tokio::io::AsyncWriteExt;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = Db::memory();
    /// let mut writer = db.gridfs::<File>().upload("log.txt").open()?;
    /// writer.write_all(&[0; 10_000_000]).await?;
    /// writer.abort().await?;
    /// let chunks = db.run_command(doc! {"count": "fs.chunks"}).await?;
    /// assert_eq!(chunks, doc! {"n": 0, "ok": 1.0});
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`is_usage`](Error::is_usage) after the writer was shut down: the file exists, and [`Bucket::delete`] deletes it. The error of the
    /// connection if MongoDB may have stored the file when the connection broke: the chunks stay.
    pub async fn abort(mut self) -> Result<()> {
        if self.state == State::Done {
            return Err(self.closed());
        }
        self.remove().await
    }

    pub(super) fn into_id(self) -> M::Id
    where
        M::Id: Clone,
    {
        self.typed_id.clone()
    }

    pub(super) async fn abort_after(mut self, error: Error) -> Error {
        // The first error says more than a failed attempt to clean up.
        let _ = self.remove().await;
        error
    }

    async fn remove(&mut self) -> Result<()> {
        let removal = self.removal();
        self.state = State::Failed;
        removal.await
    }

    /// Deletes what was stored. A running insert ends first, because a chunk that it stores after the delete would stay.
    fn removal(&mut self) -> BoxFuture<'static, Result<()>> {
        let (running, state, place) = (self.running.take(), self.state, self.place.clone());
        let (id, sent) = (self.id.clone(), std::mem::take(&mut self.sent));
        Box::pin(async move {
            let mut is_filed = false;
            if let Some(running) = running {
                match running.await {
                    Ok(()) => is_filed = state == State::Filing,
                    Err(error) if state == State::Filing && !is_refusal(&error) => {
                        return Err(error);
                    }
                    Err(_) => {}
                }
            }
            if state == State::Unknown {
                // A file without its chunks would be worse than chunks without their file.
                return Ok(());
            }
            if is_filed {
                let mut channel = place.channel();
                let files = channel.named(place.files.clone(), place.model);
                files.delete(vec![doc! {"_id": &id}]).await?;
            }
            place.delete_sent(&id, &sent).await
        })
    }

    /// Polls the running insert.
    pub(super) fn poll_running(&mut self, cx: &mut Context<'_>) -> Result<Poll<()>> {
        let Some(running) = &mut self.running else {
            return Ok(Poll::Ready(()));
        };
        match running.as_mut().poll(cx) {
            Poll::Pending => Ok(Poll::Pending),
            Poll::Ready(done) => {
                self.running = None;
                let is_filing = self.state == State::Filing;
                done.inspect_err(|error| {
                    self.state = if is_filing && !is_refusal(error) {
                        State::Unknown
                    } else {
                        State::Failed
                    };
                })?;
                self.stored = self.length - self.buffer.len() as u64;
                Ok(Poll::Ready(()))
            }
        }
    }

    /// Takes as many bytes as there is room for, and begins to store them when they are enough for a command.
    pub(super) fn poll_take(&mut self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<Result<usize>> {
        if self.state != State::Open {
            return Poll::Ready(Err(self.closed()));
        }
        let is_running = self.poll_running(cx)?.is_pending();
        if self.buffer.len() == self.room {
            if is_running {
                return Poll::Pending;
            }
            self.send(self.room)?;
            // Begins now, not when the next bytes come.
            let _ = self.poll_running(cx)?;
        }
        let taken = bytes.len().min(self.room - self.buffer.len());
        self.buffer.extend(bytes.iter().take(taken));
        self.length += taken as u64;
        if self.buffer.len() == self.room && self.running.is_none() {
            self.send(self.room)?;
            let _ = self.poll_running(cx)?;
        }
        Poll::Ready(Ok(taken))
    }

    /// Begins to store the first bytes of the buffer as chunks.
    fn send(&mut self, bytes: usize) -> Result<()> {
        let mut documents = Vec::new();
        for data in self
            .buffer
            .get(..bytes)
            .unwrap_or_default()
            .chunks(self.chunk_size)
        {
            let n = i32::try_from(self.sent.len()).map_err(|_| {
                Error::usage("the file has too many chunks: choose a larger `chunk_size`")
                    .with_model(self.place.model.name)
            })?;
            let chunk_id = ObjectId::new();
            documents.push(chunk(chunk_id, &self.raw_id, n, data));
            self.sent.push(chunk_id);
        }
        self.buffer.drain(..bytes.min(self.buffer.len()));
        let place = self.place.clone();
        let is_first = self.sent.len() == documents.len();
        self.running = Some(Box::pin(async move {
            if is_first {
                indexes::ensure(&place).await?;
            }
            place.insert_chunks(documents).await
        }));
        Ok(())
    }

    /// Stores the rest of the buffer, then the document of the file.
    pub(super) fn poll_end(&mut self, cx: &mut Context<'_>) -> Poll<Result<()>> {
        loop {
            if self.poll_running(cx)?.is_pending() {
                return Poll::Pending;
            }
            match self.state {
                State::Open if !self.buffer.is_empty() => {
                    self.send(self.buffer.len())?;
                }
                State::Open => self.state = State::Ending,
                State::Ending => {
                    let file = self.document()?;
                    let (place, has_chunks) = (self.place.clone(), !self.sent.is_empty());
                    self.running = Some(Box::pin(async move {
                        if !has_chunks {
                            indexes::ensure(&place).await?;
                        }
                        let mut channel = place.channel();
                        let files = channel.named(place.files, place.model);
                        files.insert(vec![file]).await.map(drop)
                    }));
                    self.state = State::Filing;
                }
                State::Filing => self.state = State::Done,
                State::Done => return Poll::Ready(Ok(())),
                State::Failed | State::Unknown => return Poll::Ready(Err(self.closed())),
            }
        }
    }

    /// The document of the file, in the order of the specification.
    fn document(&mut self) -> Result<RawDocumentBuf> {
        let length = i64::try_from(self.length)
            .map_err(|_| Error::usage("the file has more bytes than a 64-bit integer counts"))?;
        let mut file = std::mem::take(&mut self.file);
        let mut document = Document::new();
        document.insert("_id", file.remove("_id").unwrap_or(Bson::Null));
        document.insert("length", length);
        document.insert("chunkSize", file.remove("chunkSize").unwrap_or(Bson::Null));
        document.insert("uploadDate", DateTime::now());
        document.extend(file);
        RawDocumentBuf::try_from(document).map_err(Error::encode)
    }

    fn closed(&self) -> Error {
        let what = match self.state {
            State::Done => "the upload has ended: delete the file, or begin another upload",
            State::Unknown => {
                "the upload has failed, and MongoDB may have stored the file: look for it before another upload"
            }
            _ => "the upload has failed or is about to end: begin another one",
        };
        Error::usage(what).with_model(self.place.model.name)
    }
}

impl<M: Model> AsyncWrite for FileWriter<M>
where
    M::Id: Unpin,
{
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.get_mut()
            .poll_take(cx, bytes)
            .map_err(io::Error::other)
    }

    /// Waits for the chunks that are being stored. Bytes that do not fill a chunk stay in memory.
    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let polled = self.get_mut().poll_running(cx).map_err(io::Error::other)?;
        polled.map(Ok)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.get_mut().poll_end(cx)).map_err(io::Error::other)?;
        Poll::Ready(Ok(()))
    }
}

/// Whether MongoDB has stored nothing for sure.
fn is_refusal(error: &Error) -> bool {
    error.is_duplicate_key() || error.is_validation_failure() || error.is_encode()
}

impl<M: Model> Drop for FileWriter<M> {
    fn drop(&mut self) {
        let has_stored = !self.sent.is_empty() || self.running.is_some();
        if !has_stored || matches!(self.state, State::Done | State::Unknown) {
            return;
        }
        let mut removal = self.removal();
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(removal);
        } else {
            // The in-memory store answers at once. Without a runtime, no connection of a driver works either.
            let _ = removal
                .as_mut()
                .poll(&mut Context::from_waker(std::task::Waker::noop()));
        }
    }
}

impl<M: Model> fmt::Debug for FileWriter<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FileWriter")
            .field("id", &self.id)
            .field("length", &self.length)
            .finish_non_exhaustive()
    }
}
