//! Where the files of a bucket are stored, and the documents of their chunks.

use bson::oid::ObjectId;
use bson::raw::{RawBinaryRef, RawBson, RawBsonRef, RawDocument, RawDocumentBuf, cstr};
use bson::spec::BinarySubtype;
use bson::{Bson, doc};
use odm_language::value::number::Number;

use crate::error::{ChunkDamage, Error, GridFsError, Result};
use crate::exec::Channel;
use crate::model::ModelMeta;
use crate::model::gridfs::chunks_of;
use crate::store::options::{Chosen, Options};
use crate::store::{CollectionName, Operation, RawCursor, Request, Store};

/// About how many bytes are sent or read by one command.
const BATCH_BYTES: u64 = 4 * 1024 * 1024;

/// The collections of a bucket.
#[derive(Debug, Clone)]
pub(super) struct Place {
    pub(super) store: Store,
    pub(super) model: &'static ModelMeta,
    pub(super) files: CollectionName,
    pub(super) chunks: CollectionName,
}

impl Place {
    pub(super) fn new(store: Store, model: &'static ModelMeta) -> Self {
        let files = store.names().of(model.collection);
        Self {
            store,
            model,
            chunks: CollectionName::Chosen(chunks_of(&files).into()),
            files,
        }
    }

    pub(super) fn channel(&self) -> Channel<'static> {
        Channel::new(self.store.clone(), None)
    }

    pub(super) async fn insert_chunks(self, documents: Vec<RawDocumentBuf>) -> Result<()> {
        let mut channel = self.channel();
        let inserted = channel.named(self.chunks, self.model).insert(documents);
        inserted.await.map(drop)
    }

    /// Deletes all chunks of files.
    pub(super) async fn delete_chunks(&self, ids: Vec<Bson>) -> Result<u64> {
        let mut channel = self.channel();
        let chunks = channel.named(self.chunks.clone(), self.model);
        chunks.delete(vec![doc! {"files_id": {"$in": ids}}]).await
    }

    /// Deletes these chunks of a file.
    pub(super) async fn delete_sent(&self, file: &Bson, sent: &[ObjectId]) -> Result<()> {
        for part in sent.chunks(10_000) {
            let mut channel = self.channel();
            let chunks = channel.named(self.chunks.clone(), self.model);
            let filter = doc! {"files_id": file, "_id": {"$in": part.to_vec()}};
            chunks.delete(vec![filter]).await?;
        }
        Ok(())
    }

    /// Opens a cursor over the chunks of a file, from one on, and before another one.
    pub(super) async fn open_chunks(
        &self,
        id: &Bson,
        chunks: std::ops::Range<i64>,
        is_to_end: bool,
        batch_size: u32,
    ) -> Result<RawCursor<'static>> {
        let mut n = doc! {"$gte": chunks.start};
        if !is_to_end {
            n.insert("$lt", chunks.end);
        }
        let find = Operation::Find {
            filter: doc! {"files_id": id, "n": n}.into(),
            one: false,
        };
        let options = Options {
            sort: Some(doc! {"n": 1}),
            batch_size: Some(batch_size),
            ..Options::default()
        };
        let mut request = Request::new(self.chunks.clone(), find);
        request.options = Chosen::from(options);
        let response = self.store.clone().exec(request, None).await;
        response
            .and_then(crate::store::Response::cursor)
            .map_err(|error| error.with_model(self.model.name))
    }
}

/// How many chunks of this size are sent or read by one command.
pub(super) fn chunks_of_a_batch(chunk_size: u64) -> u64 {
    (BATCH_BYTES / chunk_size.max(1)).clamp(1, 10_000)
}

/// The document of a chunk.
pub(super) fn chunk(id: ObjectId, file: &RawBson, n: i32, data: &[u8]) -> RawDocumentBuf {
    let mut chunk = RawDocumentBuf::new();
    chunk.append(cstr!("_id"), id);
    chunk.append(cstr!("files_id"), file.as_raw_bson_ref());
    chunk.append(cstr!("n"), n);
    let subtype = BinarySubtype::Generic;
    chunk.append(
        cstr!("data"),
        RawBsonRef::Binary(RawBinaryRef {
            subtype,
            bytes: data,
        }),
    );
    chunk
}

/// A whole number, of any type: programs store what their language has.
pub(super) fn whole(value: RawBsonRef<'_>) -> Option<i64> {
    Number::from_raw(value)?.to_i64_exact()
}

/// The place of the chunks of a file in its bytes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Layout {
    pub(super) length: u64,
    pub(super) chunk_size: u64,
}

impl Layout {
    /// Reads it of the document of a file. Programs store the numbers as they like, as long as they are whole.
    pub(super) fn of(file: &RawDocument) -> Result<Self> {
        let number = |name: &str| {
            let number = file.get(name).ok().flatten().and_then(whole);
            let number = number.and_then(|number| u64::try_from(number).ok());
            number.ok_or_else(|| {
                Error::usage("the document of a file has a whole number of bytes here")
                    .with_path(name)
            })
        };
        let layout = Self {
            length: number("length")?,
            chunk_size: number("chunkSize")?,
        };
        if layout.chunk_size == 0 && layout.length > 0 {
            let error = Error::usage("a file that has bytes can't have chunks of none");
            return Err(error.with_path("chunkSize"));
        }
        Ok(layout)
    }

    /// How many chunks the file has.
    pub(super) fn chunks(self) -> i64 {
        match self.length {
            0 => 0,
            length => i64::try_from(length.div_ceil(self.chunk_size)).unwrap_or(i64::MAX),
        }
    }

    /// The number of the chunk that has the byte at this position.
    pub(super) fn chunk_at(self, position: u64) -> i64 {
        i64::try_from(position / self.chunk_size.max(1)).unwrap_or(i64::MAX)
    }

    /// Where a chunk begins.
    pub(super) fn start_of(self, n: i64) -> u64 {
        u64::try_from(n)
            .unwrap_or_default()
            .saturating_mul(self.chunk_size)
    }

    /// How many bytes a chunk has.
    pub(super) fn size_of(self, n: i64) -> u64 {
        let left = self.length.saturating_sub(self.start_of(n));
        left.min(self.chunk_size)
    }
}

/// The bytes of the chunk that has to come next.
pub(super) fn data_of(
    chunk: &RawDocument,
    n: i64,
    layout: Layout,
) -> std::result::Result<&[u8], ChunkDamage> {
    // Other values are in no order that a writer would use.
    let found = chunk.get("n").ok().flatten().and_then(whole);
    if found != Some(n) {
        return Err(ChunkDamage::Missing { n });
    }
    if n >= layout.chunks() && !(n == 0 && layout.length == 0) {
        return Err(ChunkDamage::Extra { n });
    }
    let Ok(Some(RawBsonRef::Binary(data))) = chunk.get("data") else {
        return Err(ChunkDamage::NoData { n });
    };
    let (expected, size) = (layout.size_of(n), data.bytes.len() as u64);
    if size != expected {
        return Err(ChunkDamage::Size {
            n,
            expected,
            found: size,
        });
    }
    Ok(data.bytes)
}

/// The error for a damaged file.
pub(super) fn damaged(file: &Bson, damage: ChunkDamage) -> Error {
    Error::new(GridFsError::Damaged {
        file: file.clone(),
        damage,
    })
}
