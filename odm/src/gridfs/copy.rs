//! Whole files from a reader and to a writer.

use std::fmt;
use std::future::poll_fn;
use std::io;
use std::pin::Pin;

use futures_core::future::BoxFuture;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::bucket::FileModel;
use super::download::Download;
use super::upload::{FileWriter, Upload};
use crate::error::{Error, Result};

/// How many bytes are asked of a reader at a time.
const PART: usize = 64 * 1024;

/// How far a copy is: what [`CopyFrom::on_progress`] and [`CopyTo::on_progress`] report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct FileProgress {
    /// How many bytes MongoDB has stored of an upload, or the writer has taken of a download.
    pub bytes: u64,
    /// How many bytes a download has in all. `None` for an upload: a reader does not know its length.
    pub length: Option<u64>,
}

type Hear<'p> = Box<dyn FnMut(&FileProgress) + Send + 'p>;

/// An upload of what a reader has: [`Upload::copy_from`].
#[must_use = "nothing is stored until it is awaited"]
pub struct CopyFrom<'p, M: FileModel, R> {
    upload: Upload<M>,
    reader: R,
    hear: Option<Hear<'p>>,
}

impl<'p, M: FileModel, R> CopyFrom<'p, M, R> {
    pub(super) fn new(upload: Upload<M>, reader: R) -> Self {
        Self {
            upload,
            reader,
            hear: None,
        }
    }

    /// Calls a function whenever MongoDB has stored further chunks.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::gridfs::File;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> odm::Result<()> {
    /// # let db = Db::memory();
    /// let mut stored = 0;
    /// let copy = db.gridfs::<File>().upload("a.bin").copy_from(&[7; 1_000_000][..]);
    /// copy.on_progress(|now| stored = now.bytes).await?;
    /// assert_eq!(stored, 1_000_000);
    /// # Ok(())
    /// # }
    /// ```
    pub fn on_progress(self, hear: impl FnMut(&FileProgress) + Send + 'p) -> Self {
        Self {
            hear: Some(Box::new(hear)),
            ..self
        }
    }
}

impl<'p, M, R> IntoFuture for CopyFrom<'p, M, R>
where
    M: FileModel,
    R: AsyncRead + Unpin + Send + 'p,
{
    type Output = Result<M::Id>;
    type IntoFuture = BoxFuture<'p, Result<M::Id>>;

    fn into_future(self) -> Self::IntoFuture {
        let Self {
            upload,
            mut reader,
            mut hear,
        } = self;
        Box::pin(async move {
            let mut writer = upload.open()?;
            match read_all(&mut reader, &mut writer, &mut hear).await {
                Ok(()) => Ok(writer.into_id()),
                Err(error) => Err(writer.abort_after(error).await),
            }
        })
    }
}

/// Stores what a reader has. The next bytes are read while those before them are stored.
async fn read_all<M: FileModel, R: AsyncRead + Unpin>(
    reader: &mut R,
    writer: &mut FileWriter<M>,
    hear: &mut Option<Hear<'_>>,
) -> Result<()> {
    let mut part = vec![0; PART];
    let mut reported = 0;
    let mut report = |writer: &FileWriter<M>| {
        let bytes = writer.stored();
        if let Some(hear) = hear
            && bytes > reported
        {
            reported = bytes;
            hear(&FileProgress {
                bytes,
                length: None,
            });
        }
    };
    loop {
        let mut buffer = ReadBuf::new(&mut part);
        let read = poll_fn(|cx| {
            // A running insert goes on while the reader waits.
            let _ = writer.poll_running(cx)?;
            let read = Pin::new(&mut *reader).poll_read(cx, &mut buffer);
            read.map_err(Error::other)
        });
        read.await?;
        report(writer);
        let mut rest = buffer.filled();
        if rest.is_empty() {
            break;
        }
        while !rest.is_empty() {
            let taken = poll_fn(|cx| writer.poll_take(cx, rest)).await?;
            rest = rest.get(taken..).unwrap_or_default();
            report(writer);
        }
    }
    poll_fn(|cx| writer.poll_end(cx)).await?;
    report(writer);
    Ok(())
}

impl<M: FileModel, R> fmt::Debug for CopyFrom<'_, M, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CopyFrom")
            .field("upload", &self.upload)
            .finish_non_exhaustive()
    }
}

/// A download to a writer: [`Download::copy_to`].
#[must_use = "nothing is read until it is awaited"]
pub struct CopyTo<'p, M: FileModel, W> {
    download: Download<M>,
    writer: W,
    hear: Option<Hear<'p>>,
}

impl<'p, M: FileModel, W> CopyTo<'p, M, W> {
    pub(super) fn new(download: Download<M>, writer: W) -> Self {
        Self {
            download,
            writer,
            hear: None,
        }
    }

    /// Calls a function whenever the writer has taken a chunk.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::gridfs::File;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> odm::Result<()> {
    /// # let files = Db::memory().gridfs::<File>();
    /// # let id = files.upload("a.bin").bytes(&[7; 1_000_000]).await?;
    /// let mut percent = Vec::new();
    /// let copy = files.download(&id).copy_to(tokio::io::sink());
    /// copy.on_progress(|now| percent.push(100 * now.bytes / now.length.unwrap_or(1))).await?;
    /// assert_eq!(percent, [26, 52, 78, 100]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn on_progress(self, hear: impl FnMut(&FileProgress) + Send + 'p) -> Self {
        Self {
            hear: Some(Box::new(hear)),
            ..self
        }
    }
}

impl<'p, M, W> IntoFuture for CopyTo<'p, M, W>
where
    M: FileModel + Send,
    W: AsyncWrite + Unpin + Send + 'p,
{
    type Output = Result<u64>;
    type IntoFuture = BoxFuture<'p, Result<u64>>;

    fn into_future(self) -> Self::IntoFuture {
        let Self {
            download,
            mut writer,
            mut hear,
        } = self;
        Box::pin(async move {
            let mut reader = download.open().await?;
            let length = Some(reader.selected());
            let mut bytes = 0;
            while let Some(part) = reader.next_part().await? {
                write_all(&mut writer, part).await.map_err(Error::other)?;
                bytes += part.len() as u64;
                if let Some(hear) = &mut hear {
                    hear(&FileProgress { bytes, length });
                }
            }
            let flushed = poll_fn(|cx| Pin::new(&mut writer).poll_flush(cx)).await;
            flushed.map_err(Error::other)?;
            Ok(bytes)
        })
    }
}

async fn write_all<W: AsyncWrite + Unpin>(writer: &mut W, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        let written = poll_fn(|cx| Pin::new(&mut *writer).poll_write(cx, bytes)).await?;
        if written == 0 {
            return Err(io::ErrorKind::WriteZero.into());
        }
        bytes = bytes.get(written..).unwrap_or_default();
    }
    Ok(())
}

impl<M: FileModel, W> fmt::Debug for CopyTo<'_, M, W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CopyTo")
            .field("download", &self.download)
            .finish_non_exhaustive()
    }
}
