//! Downloads: the chunks of a file become bytes, and each is compared with what the file says.

use std::fmt;
use std::io::{self, SeekFrom};
use std::ops::{Bound, Range, RangeBounds};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bson::Bson;
use bson::raw::RawDocumentBuf;
use futures_core::future::BoxFuture;
use tokio::io::{AsyncRead, AsyncSeek, AsyncWrite, ReadBuf};

use super::bucket::{Bucket, FileModel, Sought};
use super::copy::CopyTo;
use super::place::{Layout, Place, chunks_of_a_batch, damaged, data_of};
use crate::collection::decode::decode;
use crate::error::{Error, GridFsError, Result};
use crate::store::RawCursor;

/// The most bytes that are reserved because a document says that they come.
const RESERVED: u64 = 16 * 1024 * 1024;

/// A download that is about to begin: [`Bucket::download`].
#[must_use = "nothing is read until it is asked for its bytes"]
pub struct Download<M: FileModel> {
    bucket: Bucket<M>,
    file: Sought,
    range: (Bound<u64>, Bound<u64>),
}

impl<M: FileModel> Download<M> {
    pub(super) fn new(bucket: Bucket<M>, file: Sought) -> Self {
        Self {
            bucket,
            file,
            range: (Bound::Unbounded, Bound::Unbounded),
        }
    }

    /// Another revision of the file with this name: 0 is the first one, 1 the second; -1 is the newest one, -2 the one before it. A
    /// download by `_id` ignores it: an `_id` is one revision.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::gridfs::File;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> odm::Result<()> {
    /// # let files = Db::memory().gridfs::<File>();
    /// for content in [b"1", b"2", b"3"] {
    ///     files.upload("a.txt").bytes(content).await?;
    /// }
    /// assert_eq!(files.download_by_name("a.txt").revision(0).bytes().await?, b"1");
    /// assert_eq!(files.download_by_name("a.txt").revision(-2).bytes().await?, b"2");
    /// # Ok(())
    /// # }
    /// ```
    pub fn revision(mut self, revision: i32) -> Self {
        self.file = self.file.revision(revision);
        self
    }

    /// Reads only these bytes of the file, and only the chunks that have them.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::gridfs::File;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> odm::Result<()> {
    /// # let files = Db::memory().gridfs::<File>();
    /// let id = files.upload("a.txt").chunk_size(4).bytes(b"0123456789").await?;
    /// assert_eq!(files.download(&id).range(2..=5).bytes().await?, b"2345");
    /// assert_eq!(files.download(&id).range(8..).bytes().await?, b"89");
    /// assert!(files.download(&id).range(8..11).bytes().await.is_err());
    /// # Ok(())
    /// # }
    /// ```
    pub fn range(mut self, bytes: impl RangeBounds<u64>) -> Self {
        self.range = (bytes.start_bound().cloned(), bytes.end_bound().cloned());
        self
    }

    /// Reads the document of the file, and returns a [reader](FileReader) of its bytes. The reader reads chunks when it is polled.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::gridfs::File;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> odm::Result<()> {
    /// # let files = Db::memory().gridfs::<File>();
    /// use tokio::io::AsyncReadExt;
    /// let id = files.upload("a.txt").bytes(b"0123456789").await?;
    /// let mut reader = files.download(&id).open().await?;
    /// let mut text = String::new();
    /// reader.read_to_string(&mut text).await.map_err(odm::Error::other)?;
    /// assert_eq!(text, "0123456789");
    /// # Ok(())
    /// # }
    /// ```
    pub async fn open(self) -> Result<FileReader<M>> {
        let place = self.bucket.place();
        let document = self.file.find(&place).await?;
        FileReader::new(place, &document, self.range)
    }

    /// The bytes, in memory.
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
    pub async fn bytes(self) -> Result<Vec<u8>> {
        let mut reader = self.open().await?;
        let expected = reader.range.end - reader.range.start;
        let mut bytes = Vec::with_capacity(usize::try_from(expected.min(RESERVED)).unwrap_or(0));
        while let Some(part) = reader.next_part().await? {
            bytes.extend_from_slice(part);
        }
        Ok(bytes)
    }

    /// Writes the bytes to a writer, and flushes it; returns how many there were.
    ///
    /// A writer's error is an [`is_other`](Error::is_other) with the writer's error as its source.
    ///
    /// ```no_run
    /// # use odm::prelude::*;
    /// # use odm::gridfs::File;
    /// # #[tokio::main]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = Db::memory();
    /// let disk = tokio::fs::File::create("cat.jpg").await?;
    /// db.gridfs::<File>().download_by_name("cat.jpg").copy_to(disk).await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn copy_to<'p, W: AsyncWrite + Unpin + Send + 'p>(self, writer: W) -> CopyTo<'p, M, W> {
        CopyTo::new(self, writer)
    }
}

impl<M: FileModel> fmt::Debug for Download<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Download")
            .field("file", &self.file)
            .field("range", &self.range)
            .finish_non_exhaustive()
    }
}

/// The bytes of a chunk, and where the reader is in them.
#[derive(Default)]
struct Part {
    bytes: Vec<u8>,
    /// How many of them were read.
    read: usize,
}

/// Where the next chunk comes from.
enum Source {
    /// No cursor is open.
    Closed,
    Open(RawCursor<'static>),
    Fetching(BoxFuture<'static, Result<(RawCursor<'static>, Option<Vec<u8>>)>>),
}

/// Reads the bytes of a file: [`Download::open`]. It is tokio's [`AsyncRead`] and [`AsyncSeek`].
///
/// The reader compares each chunk with what the document of the file says, and returns no byte of a damaged chunk. A seek reads
/// nothing itself; the next read fetches the chunk that it leads to, unless the reader has it. At most 4 MiB of chunks are fetched at a
/// time.
///
/// ```
/// # use odm::prelude::*;
/// # use odm::gridfs::File;
/// use std::io::SeekFrom;
/// use tokio::io::{AsyncReadExt, AsyncSeekExt};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let files = Db::memory().gridfs::<File>();
/// let id = files.upload("a.txt").chunk_size(4).bytes(b"0123456789").await?;
/// let mut reader = files.download(&id).open().await?;
/// reader.seek(SeekFrom::End(-3)).await?;
/// let mut text = String::new();
/// reader.read_to_string(&mut text).await?;
/// assert_eq!(text, "789");
/// # Ok(())
/// # }
/// ```
pub struct FileReader<M> {
    place: Place,
    file: M,
    id: Bson,
    layout: Layout,
    /// The bytes that are read.
    range: Range<u64>,
    /// The position of the next byte in the file.
    position: u64,
    part: Part,
    source: Source,
    /// The chunk that the cursor returns next.
    next: i64,
    /// Whether a chunk behind the last one would be seen.
    is_end_checked: bool,
}

impl<M: FileModel> FileReader<M> {
    fn new(
        place: Place,
        document: &RawDocumentBuf,
        range: (Bound<u64>, Bound<u64>),
    ) -> Result<Self> {
        let named = |error: Error| error.with_model(place.model.name);
        let layout = Layout::of(document).map_err(named)?;
        let start = match range.0 {
            Bound::Included(start) => start,
            Bound::Excluded(before) => before.saturating_add(1),
            Bound::Unbounded => 0,
        };
        let end = match range.1 {
            Bound::Included(last) => last.saturating_add(1),
            Bound::Excluded(end) => end,
            Bound::Unbounded => layout.length,
        };
        let beyond = start.max(end);
        if beyond > layout.length {
            let error = GridFsError::Range {
                end: beyond,
                length: layout.length,
            };
            return Err(named(Error::new(error)));
        }
        let id = document.get("_id").map_err(Error::encode)?;
        let id = id.map(Bson::try_from).transpose().map_err(Error::encode)?;
        Ok(Self {
            file: decode(document, place.model.name)?,
            id: id.unwrap_or(Bson::Null),
            layout,
            position: start,
            range: start..end.max(start),
            part: Part::default(),
            source: Source::Closed,
            next: 0,
            is_end_checked: false,
            place,
        })
    }
}

impl<M> FileReader<M> {
    /// The document of the file.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::gridfs::File;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> odm::Result<()> {
    /// # let files = Db::memory().gridfs::<File>();
    /// let id = files.upload("a.txt").bytes(b"1234").await?;
    /// let reader = files.download(&id).open().await?;
    /// assert_eq!(reader.file().filename.as_deref(), Some("a.txt"));
    /// # Ok(())
    /// # }
    /// ```
    pub fn file(&self) -> &M {
        &self.file
    }

    /// How many bytes the file has, whatever the range.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::gridfs::File;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> odm::Result<()> {
    /// # let files = Db::memory().gridfs::<File>();
    /// let id = files.upload("a.txt").bytes(b"1234").await?;
    /// let reader = files.download(&id).open().await?;
    /// assert_eq!(reader.len(), 4);
    /// # Ok(())
    /// # }
    /// ```
    pub fn len(&self) -> u64 {
        self.layout.length
    }

    /// Whether the file has no bytes.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::gridfs::File;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> odm::Result<()> {
    /// # let files = Db::memory().gridfs::<File>();
    /// let id = files.upload("a.txt").bytes(b"1234").await?;
    /// let reader = files.download(&id).open().await?;
    /// assert!(!reader.is_empty());
    /// # Ok(())
    /// # }
    /// ```
    pub fn is_empty(&self) -> bool {
        self.layout.length == 0
    }

    /// How many bytes the range has.
    pub(super) fn selected(&self) -> u64 {
        self.range.end - self.range.start
    }

    /// The rest of the current chunk, or the next one; `None` at the end.
    pub(super) async fn next_part(&mut self) -> Result<Option<&[u8]>> {
        std::future::poll_fn(|cx| self.poll_part(cx)).await?;
        let rest = self.part.bytes.get(self.part.read..).unwrap_or_default();
        self.part.read = self.part.bytes.len();
        self.position += rest.len() as u64;
        Ok((!rest.is_empty()).then_some(rest))
    }

    /// Makes the current part one that has bytes, unless the end is reached.
    fn poll_part(&mut self, cx: &mut Context<'_>) -> Poll<Result<()>> {
        while self.part.read >= self.part.bytes.len() {
            let is_end = !self.range.contains(&self.position);
            // A file that is read to its end must have no further chunk.
            let is_whole = self.range.end == self.layout.length;
            if is_end && (!is_whole || self.is_end_checked) {
                return Poll::Ready(Ok(()));
            }
            match ready!(self.poll_chunk(cx, is_end))? {
                Some(bytes) => self.show(bytes),
                None => self.is_end_checked = true,
            }
        }
        Poll::Ready(Ok(()))
    }

    /// Makes a chunk the current part: what the range has of it.
    fn show(&mut self, mut bytes: Vec<u8>) {
        let start = self.layout.start_of(self.next - 1);
        let wanted = usize::try_from(self.range.end.saturating_sub(start)).unwrap_or(usize::MAX);
        bytes.truncate(wanted);
        let read = usize::try_from(self.position.saturating_sub(start)).unwrap_or(usize::MAX);
        self.part = Part { bytes, read };
    }

    /// The next chunk; `None` behind the last one.
    fn poll_chunk(&mut self, cx: &mut Context<'_>, is_end: bool) -> Poll<Result<Option<Vec<u8>>>> {
        loop {
            match std::mem::replace(&mut self.source, Source::Closed) {
                Source::Closed => {
                    self.next = if is_end {
                        self.layout.chunks()
                    } else {
                        self.layout.chunk_at(self.position)
                    };
                    self.source = Source::Fetching(self.opened());
                }
                Source::Open(cursor) => {
                    self.source = Source::Fetching(Box::pin(fetched(
                        cursor,
                        self.id.clone(),
                        self.next,
                        self.layout,
                    )));
                }
                Source::Fetching(mut fetching) => {
                    let Poll::Ready(fetched) = fetching.as_mut().poll(cx) else {
                        self.source = Source::Fetching(fetching);
                        return Poll::Pending;
                    };
                    let (cursor, bytes) =
                        fetched.map_err(|error| error.with_model(self.place.model.name))?;
                    self.source = Source::Open(cursor);
                    self.next += i64::from(bytes.is_some());
                    return Poll::Ready(Ok(bytes));
                }
            }
        }
    }

    /// Opens a cursor and reads its first chunk.
    fn opened(&self) -> BoxFuture<'static, Result<(RawCursor<'static>, Option<Vec<u8>>)>> {
        let (place, id, next, layout) =
            (self.place.clone(), self.id.clone(), self.next, self.layout);
        let last = self.range.end.saturating_sub(1);
        let end = layout.chunk_at(last).saturating_add(1).max(next);
        let is_to_end = self.range.end == layout.length;
        let wanted = u64::try_from(end - next).unwrap_or_default().max(1);
        let batch = wanted.min(chunks_of_a_batch(layout.chunk_size));
        let batch = u32::try_from(batch).unwrap_or(u32::MAX);
        Box::pin(async move {
            let cursor = place.open_chunks(&id, next..end, is_to_end, batch).await?;
            fetched(cursor, id, next, layout).await
        })
    }
}

/// The next chunk of a cursor, and the cursor.
async fn fetched(
    mut cursor: RawCursor<'static>,
    id: Bson,
    n: i64,
    layout: Layout,
) -> Result<(RawCursor<'static>, Option<Vec<u8>>)> {
    let Some(document) = cursor.next().await else {
        if n < layout.chunks() {
            return Err(damaged(&id, crate::error::ChunkDamage::Missing { n }));
        }
        return Ok((cursor, None));
    };
    let bytes = match data_of(document?, n, layout) {
        Ok(bytes) => bytes.to_owned(),
        Err(damage) => return Err(damaged(&id, damage)),
    };
    Ok((cursor, Some(bytes)))
}

impl<M: Unpin> AsyncRead for FileReader<M> {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let reader = self.get_mut();
        ready!(reader.poll_part(cx)).map_err(io::Error::other)?;
        let rest = reader
            .part
            .bytes
            .get(reader.part.read..)
            .unwrap_or_default();
        let taken = rest.len().min(buffer.remaining());
        buffer.put_slice(rest.get(..taken).unwrap_or_default());
        reader.part.read += taken;
        reader.position += taken as u64;
        Poll::Ready(Ok(()))
    }
}

/// Positions count from the beginning of the file, whatever the range. A position outside of the range reads nothing.
impl<M: Unpin> AsyncSeek for FileReader<M> {
    fn start_seek(self: Pin<&mut Self>, to: SeekFrom) -> io::Result<()> {
        let reader = self.get_mut();
        let to = match to {
            SeekFrom::Start(to) => Some(to),
            SeekFrom::End(by) => reader.layout.length.checked_add_signed(by),
            SeekFrom::Current(by) => reader.position.checked_add_signed(by),
        };
        let to = to.ok_or_else(|| {
            io::Error::new(
                io::ErrorKind::InvalidInput,
                "a seek to a position before the file",
            )
        })?;
        let start = reader.position - reader.part.read as u64;
        let part = start..start + reader.part.bytes.len() as u64;
        reader.position = to;
        if part.contains(&to) {
            reader.part.read = usize::try_from(to - start).unwrap_or(usize::MAX);
        } else {
            reader.part = Part::default();
            reader.source = Source::Closed;
        }
        Ok(())
    }

    fn poll_complete(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<u64>> {
        Poll::Ready(Ok(self.position))
    }
}

impl<M: fmt::Debug> fmt::Debug for FileReader<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FileReader")
            .field("file", &self.file)
            .field("position", &self.position)
            .finish_non_exhaustive()
    }
}
