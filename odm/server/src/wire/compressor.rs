//! `OP_COMPRESSED`: snappy, zlib and zstd.

use std::io::{Read, Write};

use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;
use ruzstd::decoding::StreamingDecoder;
use ruzstd::encoding::{CompressionLevel, compress};

use super::Fault;

/// A compression algorithm for messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Compressor {
    Snappy,
    Zlib,
    Zstd,
}

impl Compressor {
    /// Finds a compressor by its name in the handshake.
    pub(crate) fn of_name(name: &str) -> Option<Self> {
        match name {
            "snappy" => Some(Self::Snappy),
            "zlib" => Some(Self::Zlib),
            "zstd" => Some(Self::Zstd),
            _ => None,
        }
    }

    pub(super) fn id(self) -> u8 {
        match self {
            Self::Snappy => 1,
            Self::Zlib => 2,
            Self::Zstd => 3,
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Snappy => "snappy",
            Self::Zlib => "zlib",
            Self::Zstd => "zstd",
        }
    }

    /// Decompresses bytes to exactly `size` bytes. It never produces more than one byte beyond that.
    pub(super) fn decompress(self, bytes: &[u8], size: usize) -> Result<Vec<u8>, Fault> {
        let fault = Fault::Compressed(self.name());
        let limit = size as u64 + 1;
        let mut plain = Vec::new();
        let done = match self {
            Self::Snappy => {
                if snap::raw::decompress_len(bytes) != Ok(size) {
                    return Err(fault);
                }
                match snap::raw::Decoder::new().decompress_vec(bytes) {
                    Ok(decompressed) => {
                        plain = decompressed;
                        true
                    }
                    Err(_) => false,
                }
            }
            Self::Zlib => ZlibDecoder::new(bytes)
                .take(limit)
                .read_to_end(&mut plain)
                .is_ok(),
            Self::Zstd => match StreamingDecoder::new(bytes) {
                Ok(decoder) => decoder.take(limit).read_to_end(&mut plain).is_ok(),
                Err(_) => false,
            },
        };
        if done && plain.len() == size {
            Ok(plain)
        } else {
            Err(fault)
        }
    }

    /// Appends the compressed bytes.
    pub(super) fn compress(self, bytes: &[u8], into: &mut Vec<u8>) {
        match self {
            Self::Snappy => match snap::raw::Encoder::new().compress_vec(bytes) {
                Ok(compressed) => into.extend(compressed),
                // Fails only above 4 GiB, and no reply is that long.
                Err(_) => into.clear(),
            },
            Self::Zlib => {
                let mut encoder = ZlibEncoder::new(into, Compression::default());
                // Writing to a vector can't fail.
                let _ = encoder.write_all(bytes).and_then(|()| encoder.try_finish());
            }
            Self::Zstd => compress(bytes, into, CompressionLevel::Fastest),
        }
    }
}
