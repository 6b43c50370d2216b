//! Uploads: bytes become chunks, and at the end the document of the file.

use std::fmt;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bson::raw::{RawBson, RawDocumentBuf};
use bson::{Bson, DateTime, Document, doc};
use futures_core::future::BoxFuture;
use serde::Serialize;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::bucket::{Bucket, FileModel};
use super::indexes;
use super::place::{Place, chunk, chunks_of_a_batch};
use crate::error::{Error, Result};
use crate::model::Document as Model;

/// An upload that is about to begin: [`Bucket::upload`].
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

    /// Stores the file with this `_id`, instead of a new `ObjectId`.
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

    /// Stores these metadata with the file.
    pub fn metadata(self, metadata: &M::Metadata) -> Self {
        let metadata = bson::serialize_to_bson(metadata).map_err(Error::encode);
        Self {
            metadata: metadata.map(Some),
            ..self
        }
    }

    /// Divides the file into chunks of this many bytes, instead of what the bucket declares.
    pub fn chunk_size(self, bytes: u32) -> Self {
        Self {
            chunk_size: bytes,
            ..self
        }
    }

    /// Begins the upload; the file is there when the writer was shut down.
    pub fn open(self) -> Result<FileWriter<M>> {
        let Self {
            bucket,
            filename,
            id,
            metadata,
            chunk_size,
        } = self;
        let largest = 16 * 1024 * 1024 - 16 * 1024;
        if chunk_size == 0 || chunk_size > largest {
            return Err(Error::usage(format!(
                "a chunk is a document, so it has between 1 and {largest} bytes, not {chunk_size}"
            ))
            .with_model(M::model().name)
            .with_path("chunkSize"));
        }
        let id = id?.unwrap_or_else(|| Bson::ObjectId(bson::oid::ObjectId::new()));
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
            chunks: 0,
            length: 0,
            running: None,
            state: State::Open,
        })
    }

    /// Uploads these bytes, and returns the `_id` of the file.
    pub async fn bytes(self, bytes: &[u8]) -> Result<M::Id> {
        let mut writer = self.open()?;
        let written = async {
            let mut rest = bytes;
            while !rest.is_empty() {
                let taken = std::future::poll_fn(|cx| writer.poll_take(cx, rest)).await?;
                rest = rest.get(taken..).unwrap_or_default();
            }
            std::future::poll_fn(|cx| writer.poll_end(cx)).await
        };
        match written.await {
            Ok(()) => Ok(writer.into_id()),
            Err(error) => Err(writer.abort_after(error).await),
        }
    }

    /// Uploads what a reader has, and returns the `_id` of the file.
    ///
    /// The next bytes are read while those before them are stored. A file that can't be read is an [`Error::is_other`] whose
    /// source is the reader's error; nothing stays of the upload then.
    pub async fn copy_from<R: AsyncRead + Unpin>(self, mut reader: R) -> Result<M::Id> {
        let mut writer = self.open()?;
        let written = async {
            let mut part = vec![0; 64 * 1024];
            loop {
                let mut buffer = ReadBuf::new(&mut part);
                let read = std::future::poll_fn(|cx| {
                    // What is stored goes on while the reader waits.
                    let _ = writer.poll_running(cx)?;
                    Pin::new(&mut reader)
                        .poll_read(cx, &mut buffer)
                        .map_err(Error::other)
                });
                read.await?;
                let mut rest = buffer.filled();
                if rest.is_empty() {
                    break;
                }
                while !rest.is_empty() {
                    let taken = std::future::poll_fn(|cx| writer.poll_take(cx, rest)).await?;
                    rest = rest.get(taken..).unwrap_or_default();
                }
            }
            std::future::poll_fn(|cx| writer.poll_end(cx)).await
        };
        match written.await {
            Ok(()) => Ok(writer.into_id()),
            Err(error) => Err(writer.abort_after(error).await),
        }
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
}

/// Writes the bytes of a file: [`Upload::open`].
///
/// The file is there after [`shutdown`](tokio::io::AsyncWriteExt::shutdown); without it, the chunks that were stored are deleted when
/// the writer is dropped, as far as the process lives on: [`Db::check`](crate::Db::check) finds what is left.
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
    /// How many chunks were sent.
    chunks: i32,
    length: u64,
    running: Option<Running>,
    state: State,
}

impl<M: Model> FileWriter<M> {
    /// The `_id` of the file.
    pub fn id(&self) -> &M::Id {
        &self.typed_id
    }

    /// Ends the upload without a file, and deletes the chunks that were stored.
    pub async fn abort(mut self) -> Result<()> {
        self.state = State::Failed;
        self.remove().await
    }

    fn into_id(self) -> M::Id
    where
        M::Id: Clone,
    {
        self.typed_id.clone()
    }

    async fn abort_after(mut self, error: Error) -> Error {
        self.state = State::Failed;
        // The first error says more than a failed attempt to clean up.
        let _ = self.remove().await;
        error
    }

    async fn remove(&mut self) -> Result<()> {
        // A chunk that arrives after the delete would stay.
        if let Some(running) = self.running.take() {
            let _ = running.await;
        }
        if self.chunks == 0 {
            return Ok(());
        }
        self.place.delete_chunks(vec![self.id.clone()]).await?;
        self.chunks = 0;
        Ok(())
    }

    /// Goes on with what is being stored.
    fn poll_running(&mut self, cx: &mut Context<'_>) -> Result<Poll<()>> {
        let Some(running) = &mut self.running else {
            return Ok(Poll::Ready(()));
        };
        match running.as_mut().poll(cx) {
            Poll::Pending => Ok(Poll::Pending),
            Poll::Ready(done) => {
                self.running = None;
                done.inspect_err(|_| self.state = State::Failed)?;
                Ok(Poll::Ready(()))
            }
        }
    }

    /// Takes as many bytes as there is room for, and begins to store them when they are enough for a command.
    fn poll_take(&mut self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<Result<usize>> {
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
            documents.push(chunk(&self.raw_id, self.chunks, data));
            self.chunks = self.chunks.checked_add(1).ok_or_else(|| {
                Error::usage("the file has too many chunks: choose a larger `chunk_size`")
            })?;
        }
        self.buffer.drain(..bytes.min(self.buffer.len()));
        let place = self.place.clone();
        let is_first = self.chunks as usize == documents.len();
        self.running = Some(Box::pin(async move {
            if is_first {
                indexes::ensure(&place).await?;
            }
            place.insert_chunks(documents).await
        }));
        Ok(())
    }

    /// Stores what is left, and the document of the file.
    fn poll_end(&mut self, cx: &mut Context<'_>) -> Poll<Result<()>> {
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
                    let (place, has_chunks) = (self.place.clone(), self.chunks > 0);
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
                State::Failed => return Poll::Ready(Err(self.closed())),
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
            State::Failed => "the upload has failed: begin another one",
            _ => "the upload has ended",
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

impl<M: Model> Drop for FileWriter<M> {
    fn drop(&mut self) {
        if self.state == State::Done || (self.chunks == 0 && self.running.is_none()) {
            return;
        }
        // A file whose document may be stored is complete.
        if self.state == State::Filing {
            return;
        }
        let (running, place, id) = (self.running.take(), self.place.clone(), self.id.clone());
        let mut removal: BoxFuture<'static, ()> = Box::pin(async move {
            if let Some(running) = running {
                let _ = running.await;
            }
            let _ = place.delete_chunks(vec![id]).await;
        });
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(removal);
        } else {
            // In memory, nothing waits.
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
