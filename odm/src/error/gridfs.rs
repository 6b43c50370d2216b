//! Files of GridFS that can't be read.

use std::fmt;

use bson::Bson;

use super::{Error, Kind};

/// A file of GridFS that is not there, or whose chunks are damaged.
#[derive(Debug)]
pub(crate) enum GridFsError {
    /// No file has the `_id`.
    NoId(Bson),
    /// No file has the name, or not that many revisions.
    NoName { name: String, revision: Option<i32> },
    /// A range that the file does not have.
    Range { end: u64, length: u64 },
    /// The chunks of a file are not those that its length needs.
    Damaged { file: Bson, damage: ChunkDamage },
}

/// A fault in the chunks of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ChunkDamage {
    /// A chunk is not there.
    Missing { n: i64 },
    /// A chunk stands behind the last one.
    Extra { n: i64 },
    /// A chunk is shorter or longer than it has to be.
    Size { n: i64, expected: u64, found: u64 },
    /// A chunk has no bytes as `data`.
    NoData { n: i64 },
}

impl fmt::Display for ChunkDamage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing { n } => write!(f, "chunk {n} is missing"),
            Self::Extra { n } => write!(f, "chunk {n} stands behind the last one"),
            Self::Size { n, expected, found } => {
                write!(f, "chunk {n} has {found} bytes instead of {expected}")
            }
            Self::NoData { n } => write!(f, "chunk {n} has no bytes as `data`"),
        }
    }
}

impl fmt::Display for GridFsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoId(id) => write!(f, "no file has the _id {id}"),
            Self::NoName {
                name,
                revision: None,
            } => write!(f, "no file has the name {name:?}"),
            Self::NoName {
                name,
                revision: Some(revision),
            } => write!(f, "the file {name:?} has no revision {revision}"),
            Self::Range { end, length } => write!(
                f,
                "the range ends at {end}, and the file has {length} bytes: read a part that it has"
            ),
            Self::Damaged { file, damage } => write!(
                f,
                "the file with the _id {file} is damaged: {damage}; upload it again, and delete this one"
            ),
        }
    }
}

impl From<GridFsError> for Kind {
    fn from(error: GridFsError) -> Self {
        Self::GridFs(error)
    }
}

impl Error {
    /// Whether no file has the `_id`, the name or the revision: [`Bucket::download`](crate::gridfs::Bucket::download) and the other
    /// methods of a bucket that name a file.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::gridfs::File;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> odm::Result<()> {
    /// # let files = Db::memory().gridfs::<File>();
    /// let absent = files.download_by_name("a.txt").bytes().await.unwrap_err();
    /// assert!(absent.is_file_not_found());
    /// assert_eq!(absent.to_string(), "File: no file has the name \"a.txt\"");
    /// # Ok(())
    /// # }
    /// ```
    pub fn is_file_not_found(&self) -> bool {
        matches!(
            self.kind(),
            Kind::GridFs(GridFsError::NoId(_) | GridFsError::NoName { .. })
        )
    }

    /// Whether a chunk of a file is missing, too short, too long or one too many. [`Db::check`](crate::Db::check) lists such files.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::gridfs::File;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> odm::Result<()> {
    /// # let db = Db::memory();
    /// let id = db.gridfs::<File>().upload("a.txt").bytes(b"1234").await?;
    /// db.run_command(doc! {"drop": "fs.chunks"}).await?;
    /// let damaged = db.gridfs::<File>().download(&id).bytes().await.unwrap_err();
    /// assert!(damaged.is_file_damaged());
    /// # Ok(())
    /// # }
    /// ```
    pub fn is_file_damaged(&self) -> bool {
        matches!(self.kind(), Kind::GridFs(GridFsError::Damaged { .. }))
    }
}
