//! Files that are larger than a document: GridFS.
//!
//! A bucket divides a file into chunks of 255 KiB, one document each, and describes it by a document with its name, its length and
//! what else is known of it. All of MongoDB's drivers share the format, so other programs read what is uploaded here, and the other
//! way round.

mod bucket;
mod byte_count;
pub(crate) mod check;
mod copy;
mod download;
mod file;
mod indexes;
mod place;
mod upload;

pub use self::bucket::{Bucket, CHUNK_SIZE, FileModel, NoMetadata};
pub use self::byte_count::ByteCount;
pub use self::copy::{CopyFrom, CopyTo, FileProgress};
pub use self::download::{Download, FileReader};
pub use self::file::File;
pub use self::upload::{FileWriter, Upload};
