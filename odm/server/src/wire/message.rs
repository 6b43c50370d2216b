//! `OP_MSG`: a command, with its documents in the body or in document sequences.

use bson::raw::{RawArrayBuf, RawDocument, RawDocumentBuf};
use odm_language::expression::memory_limit::too_large;
use odm_language::value::raw;

use super::bytes::Bytes;
use super::compressor::Compressor;
use super::{Fault, OP_COMPRESSED, OP_MSG, frame};

const CHECKSUM_PRESENT: u32 = 1;
const MORE_TO_COME: u32 = 1 << 1;
const EXHAUST_ALLOWED: u32 = 1 << 16;

/// The required flags: unknown ones among them are an error.
const REQUIRED: u32 = 0xffff;

/// The length of a checksum.
const CHECKSUM: usize = 4;

/// The largest body, and the largest document in a sequence: the largest stored document plus 16 KiB.
const MAX_DOCUMENT: usize = 16 * 1024 * 1024 + 16 * 1024;

/// A client's command, with its document sequences added as arrays.
#[derive(Debug, PartialEq)]
pub(crate) struct Message {
    pub(crate) command: RawDocumentBuf,
    /// The client does not wait for a reply.
    pub(crate) more_to_come: bool,
    /// The client accepts several replies.
    pub(crate) exhaust_allowed: bool,
    /// The message had a checksum, so the reply may have one.
    pub(crate) checksum: bool,
}

impl Message {
    /// Reads the body of a frame. The checksum covers the header, too; compressed messages have no header, so theirs is
    /// not checked.
    pub(super) fn parse(body: &[u8], header: Option<&[u8]>) -> Result<Self, Fault> {
        let flags = Bytes::new(body).u32()?;
        let unknown = flags & REQUIRED & !(CHECKSUM_PRESENT | MORE_TO_COME);
        if unknown != 0 {
            return Err(Fault::Flags(unknown));
        }
        let checksum = flags & CHECKSUM_PRESENT != 0;
        let covered = if checksum {
            let length = body.len().checked_sub(CHECKSUM).ok_or(Fault::Truncated)?;
            let mut bytes = Bytes::new(body);
            let covered = bytes.take(length)?;
            let sum = bytes.u32()?;
            if let Some(header) = header
                && crc32c::crc32c_append(crc32c::crc32c(header), covered) != sum
            {
                return Err(Fault::Checksum);
            }
            covered
        } else {
            body
        };
        let mut bytes = Bytes::new(covered);
        bytes.u32()?;
        Ok(Self {
            command: command(bytes)?,
            more_to_come: flags & MORE_TO_COME != 0,
            exhaust_allowed: flags & EXHAUST_ALLOWED != 0,
            checksum,
        })
    }
}

/// The sections of a message as one document.
fn command(mut bytes: Bytes<'_>) -> Result<RawDocumentBuf, Fault> {
    let rule = |code, message: String| Err(Fault::Rule(code, message));
    let mut body: Option<&RawDocument> = None;
    let mut sequences: Vec<(&str, Bytes<'_>)> = Vec::new();
    while !bytes.is_empty() {
        match bytes.u8()? {
            0 if body.is_some() => {
                return rule(40430, "Multiple body sections in message".to_owned());
            }
            0 => body = Some(small_enough(bytes.document()?)?),
            1 => {
                let length = Bytes::new(bytes.rest()).i32()?;
                let size = usize::try_from(length).map_err(|_| Fault::Length(length))?;
                let mut section = Bytes::new(bytes.take(size)?);
                section.i32()?;
                let name = section.cstring()?;
                if sequences.iter().any(|(known, _)| *known == name) {
                    return rule(40431, format!("Duplicate document sequence: {name}"));
                }
                sequences.push((name, section));
            }
            kind => return rule(40432, format!("Unknown section kind {kind}")),
        }
    }
    let Some(body) = body else {
        return rule(40587, "OP_MSG messages must have a body".to_owned());
    };
    let mut command = body.to_owned();
    for (name, mut documents) in sequences {
        if raw::get(body, name).is_some() {
            return rule(
                40433,
                format!("Duplicate field between body and document sequence {name}"),
            );
        }
        let mut array = RawArrayBuf::new();
        while !documents.is_empty() {
            array.push(small_enough(documents.document()?)?);
        }
        let name = bson::raw::CString::try_from(name.to_owned())
            .map_err(|e| Fault::Rule(22, e.to_string()))?;
        command.append(name, array);
    }
    Ok(command)
}

/// Refuses a document that is larger than any that mongod reads from a message.
fn small_enough(document: &RawDocument) -> Result<&RawDocument, Fault> {
    if document.as_bytes().len() <= MAX_DOCUMENT {
        return Ok(document);
    }
    let error = too_large(document, MAX_DOCUMENT);
    Err(Fault::Rule(
        error.code().number(),
        error.message().to_owned(),
    ))
}

/// A reply and its encoding.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) id: i32,
    pub(crate) response_to: i32,
    pub(crate) document: RawDocumentBuf,
    /// Another reply follows without a request.
    pub(crate) more_to_come: bool,
    pub(crate) checksum: bool,
    pub(crate) compressor: Option<Compressor>,
}

impl Reply {
    /// The frame of the reply.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let compressor = self.compressor;
        let checksum = self.checksum && compressor.is_none();
        let flags = if self.more_to_come { MORE_TO_COME } else { 0 }
            | if checksum { CHECKSUM_PRESENT } else { 0 };
        let mut body = Vec::with_capacity(self.document.as_bytes().len() + 9);
        body.extend(flags.to_le_bytes());
        body.push(0);
        body.extend(self.document.as_bytes());
        if let Some(compressor) = compressor {
            let size = i32::try_from(body.len()).unwrap_or(i32::MAX);
            let mut compressed = Vec::new();
            compressed.extend(OP_MSG.to_le_bytes());
            compressed.extend(size.to_le_bytes());
            compressed.push(compressor.id());
            compressor.compress(&body, &mut compressed);
            return frame(self.id, self.response_to, OP_COMPRESSED, &compressed);
        }
        if !checksum {
            return frame(self.id, self.response_to, OP_MSG, &body);
        }
        // The checksum covers the header, whose length includes the checksum.
        body.extend([0; CHECKSUM]);
        let mut whole = frame(self.id, self.response_to, OP_MSG, &body);
        whole.truncate(whole.len() - CHECKSUM);
        let sum = crc32c::crc32c(&whole);
        whole.extend(sum.to_le_bytes());
        whole
    }
}
