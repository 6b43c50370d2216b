//! Opening and reading files, compressed ones too, and the documents of BSON files.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;

use bson::raw::RawDocumentBuf;
use flate2::bufread::MultiGzDecoder;
use odm_language::value::raw;

use crate::error::{Error, FileError, Result};

/// The longest document: 16 MiB, and the 16 KiB that MongoDB allows its own commands beyond that.
const LONGEST: usize = 16 * 1024 * 1024 + 16 * 1024;

/// The shortest document: a length and a terminating zero.
const SHORTEST: usize = 5;

/// Opens a file, and decompresses it if its name ends in `.gz`.
pub(super) fn open(path: &Path) -> Result<Box<dyn Read>> {
    let file = File::open(path).map_err(|error| failed(path, error))?;
    let file = BufReader::with_capacity(1 << 16, file);
    let is_compressed = path.extension().is_some_and(|ending| ending == "gz");
    Ok(if is_compressed {
        Box::new(BufReader::new(MultiGzDecoder::new(file)))
    } else {
        Box::new(file)
    })
}

/// Reads a whole file of at most `most` bytes after decompression; a small file may decompress to many.
pub(super) fn read(path: &Path, most: u64) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open(path)?
        .take(most.saturating_add(1))
        .read_to_end(&mut bytes)
        .map_err(|error| failed(path, error))?;
    if u64::try_from(bytes.len()).is_ok_and(|length| length <= most) {
        return Ok(bytes);
    }
    let message = format!("it has more than {most} bytes, the largest size that is read");
    Err(Error::new(FileError::new(path, message)))
}

fn failed(path: &Path, error: std::io::Error) -> Error {
    Error::new(FileError::io(path, "read", error))
}

/// The documents of a BSON file, one after the other.
pub(super) struct Documents<'p> {
    path: &'p Path,
    file: Box<dyn Read>,
    /// The number of bytes read.
    place: u64,
    /// The number of documents read.
    count: u64,
}

impl<'p> Documents<'p> {
    pub(super) fn open(path: &'p Path) -> Result<Self> {
        Ok(Self {
            path,
            file: open(path)?,
            place: 0,
            count: 0,
        })
    }

    /// The next document.
    pub(super) fn next(&mut self) -> Result<Option<RawDocumentBuf>> {
        let mut bytes = Vec::new();
        if self.fill(&mut bytes, 4)? == 0 {
            return Ok(None);
        }
        let Some(length) = bytes
            .first_chunk()
            .map(|length| i32::from_le_bytes(*length))
        else {
            return Err(self.fault("the file ends within its length"));
        };
        let length = match usize::try_from(length) {
            Ok(length) if (SHORTEST..=LONGEST).contains(&length) => length,
            _ => {
                return Err(self.fault(&format!(
                    "its length would be {length} bytes, and documents have {SHORTEST} to {LONGEST}: the file is not BSON"
                )));
            }
        };
        self.fill(&mut bytes, length - 4)?;
        if bytes.len() < length {
            return Err(self.fault(&format!(
                "the file ends within it, after {} of {length} bytes",
                bytes.len()
            )));
        }
        if let Err(error) = raw::validate(&bytes) {
            return Err(self.fault(error.message()));
        }
        let document =
            RawDocumentBuf::from_bytes(bytes).map_err(|error| self.fault(&error.to_string()))?;
        self.place += u64::try_from(length).unwrap_or(u64::MAX);
        self.count += 1;
        Ok(Some(document))
    }

    /// Reads `count` more bytes, or fewer at the end of the file.
    fn fill(&mut self, bytes: &mut Vec<u8>, count: usize) -> Result<usize> {
        let count = u64::try_from(count).unwrap_or(u64::MAX);
        let read = self.file.by_ref().take(count).read_to_end(bytes);
        read.map_err(|error| self.fault(&format!("it can't be read: {error}")))
    }

    fn fault(&self, what: &str) -> Error {
        let message = format!(
            "document {}, at byte {}: {what}",
            self.count + 1,
            self.place
        );
        Error::new(FileError::new(self.path, message))
    }
}
