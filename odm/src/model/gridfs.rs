//! The collections of a bucket of GridFS.

use bson::{Document, doc};

use super::{EmbeddedMeta, ModelMeta};

/// The end of the name of a collection of files.
const FILES: &str = ".files";

const CHUNKS_OF: &str = ".chunks";

/// How many bytes a chunk has, as in drivers, unless the model says otherwise.
pub(crate) const DEFAULT_CHUNK_SIZE: u32 = 255 * 1024;

/// The most bytes of a chunk: it is a document with some fields besides.
pub(crate) const MAX_CHUNK_SIZE: u32 = 16 * 1024 * 1024 - 16 * 1024;

/// The collection of the chunks of files. It is no model.
pub(crate) static CHUNKS: ModelMeta = ModelMeta {
    name: "the chunks of files",
    collection: "fs.chunks",
    embedded: || const { &EmbeddedMeta::of("the chunks of files") },
    ..ModelMeta::EMPTY
};

/// The fields of a file besides its `_id`, declared or not; the last three old programs have written.
pub(crate) const FIELDS: [&str; 8] = [
    "length",
    "chunkSize",
    "uploadDate",
    "filename",
    "metadata",
    "md5",
    "contentType",
    "aliases",
];

/// The name of the collection with the chunks of these files. A handle may have renamed the collection of the files.
pub(crate) fn chunks_of(files: &str) -> String {
    let bucket = files.strip_suffix(FILES).unwrap_or(files);
    format!("{bucket}{CHUNKS_OF}")
}

impl ModelMeta {
    /// Whether this describes chunks, whose collection is no model's: programs in any language have created it, with options of
    /// their own.
    pub(crate) fn is_of_chunks(&self) -> bool {
        std::ptr::eq(self, &raw const CHUNKS)
    }

    /// The index that the specification of GridFS asks for, declared or not.
    pub(crate) fn index_of_gridfs(&self) -> Option<Document> {
        if self.gridfs.is_some() {
            let key = doc! {"filename": 1, "uploadDate": 1};
            Some(doc! {"key": key, "name": "filename_1_uploadDate_1"})
        } else if self.is_of_chunks() {
            let key = doc! {"files_id": 1, "n": 1};
            Some(doc! {"key": key, "name": "files_id_1_n_1", "unique": true})
        } else {
            None
        }
    }
}
