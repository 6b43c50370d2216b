//! Frames of MongoDB's wire protocol: converts bytes to messages and back.
//!
//! This module reads no socket and runs no command. Invalid bytes are a [`Fault`], never a panic, and a length that a
//! client only claims allocates nothing.

mod bytes;
mod compressor;
pub(crate) mod legacy;
mod message;

use std::fmt;

use odm_language::error::{Code, ServerError};

use bytes::Bytes;
pub(crate) use compressor::Compressor;
pub(crate) use legacy::Query;
pub(crate) use message::{Message, Reply};

/// The length of every frame's header.
pub(crate) const HEADER: usize = 16;

/// The largest frame, as `hello` says in `maxMessageSizeBytes`.
pub(crate) const MAX_MESSAGE: usize = 48_000_000;

const OP_REPLY: i32 = 1;
const OP_QUERY: i32 = 2004;
const OP_COMPRESSED: i32 = 2012;
const OP_MSG: i32 = 2013;

/// The header of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Header {
    /// The length of the body.
    pub(crate) length: usize,
    pub(crate) id: i32,
    opcode: i32,
    bytes: [u8; HEADER],
}

impl Header {
    pub(crate) fn parse(header: [u8; HEADER]) -> Result<Self, Fault> {
        let mut fields = Bytes::new(&header);
        let (length, id) = (fields.i32()?, fields.i32()?);
        let (_response_to, opcode) = (fields.i32()?, fields.i32()?);
        let length = usize::try_from(length)
            .ok()
            .filter(|length| (HEADER..=MAX_MESSAGE).contains(length))
            .ok_or(Fault::Length(length))?;
        Ok(Self {
            length: length - HEADER,
            id,
            opcode,
            bytes: header,
        })
    }
}

/// A client's request, in either form.
#[derive(Debug)]
pub(crate) enum Request {
    Message(Message),
    Query(Query),
}

/// A received frame.
#[derive(Debug)]
pub(crate) struct Frame {
    pub(crate) request: Request,
    /// The compressor of the frame, which the reply also uses.
    pub(crate) compressor: Option<Compressor>,
}

impl Frame {
    /// Reads a body. `agreed` has the compressors from the handshake; others are refused.
    pub(crate) fn parse(header: Header, body: &[u8], agreed: &[Compressor]) -> Result<Self, Fault> {
        if header.opcode != OP_COMPRESSED {
            return Ok(Self {
                request: request(header.opcode, body, Some(&header.bytes))?,
                compressor: None,
            });
        }
        let mut bytes = Bytes::new(body);
        let opcode = bytes.i32()?;
        let claimed = bytes.i32()?;
        let size = usize::try_from(claimed)
            .ok()
            .filter(|size| *size <= MAX_MESSAGE - HEADER)
            .ok_or(Fault::Length(claimed))?;
        let id = bytes.u8()?;
        let compressor = agreed.iter().copied().find(|known| known.id() == id);
        let compressor = compressor.ok_or(Fault::Compressor(id))?;
        let plain = compressor.decompress(bytes.rest(), size)?;
        Ok(Self {
            request: request(opcode, &plain, None)?,
            compressor: Some(compressor),
        })
    }
}

/// Parses a request's body. A compressed request has no header of its own.
fn request(opcode: i32, body: &[u8], header: Option<&[u8]>) -> Result<Request, Fault> {
    match opcode {
        OP_MSG => Message::parse(body, header).map(Request::Message),
        OP_QUERY => Query::parse(body).map(Request::Query),
        other => Err(Fault::Opcode(other)),
    }
}

/// A frame with this body.
fn frame(id: i32, response_to: i32, opcode: i32, body: &[u8]) -> Vec<u8> {
    let length = i32::try_from(HEADER + body.len()).unwrap_or(i32::MAX);
    let mut frame = Vec::with_capacity(HEADER + body.len());
    for field in [length, id, response_to, opcode] {
        frame.extend(field.to_le_bytes());
    }
    frame.extend(body);
    frame
}

/// Why bytes are not a valid request. The connection is closed, unless only a [rule](Self::Rule) was broken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Fault {
    /// A length that is below the header's or above the maximum.
    Length(i32),
    /// The frame ends before what it must hold.
    Truncated,
    Opcode(i32),
    /// An unknown required flag.
    Flags(u32),
    Checksum,
    Compressor(u8),
    /// The body does not decompress to the size in the frame.
    Compressed(&'static str),
    /// A broken rule of the protocol: MongoDB's error code and message.
    Rule(i32, String),
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Length(length) => write!(
                f,
                "a message of {length} bytes: it must have {HEADER} to {MAX_MESSAGE}"
            ),
            Self::Truncated => f.write_str("the message ends before what it must hold"),
            Self::Opcode(opcode) => write!(
                f,
                "the operation {opcode} is not supported: send OP_MSG ({OP_MSG})"
            ),
            Self::Flags(flags) => write!(
                f,
                "OP_MSG flags contains an unknown required flag: {flags:#x}"
            ),
            Self::Checksum => f.write_str("OP_MSG checksum does not match contents"),
            Self::Compressor(id) => write!(
                f,
                "the compressor {id} is not known: agree on one in the handshake"
            ),
            Self::Compressed(name) => write!(
                f,
                "what was compressed with {name} has not the size that the message says"
            ),
            Self::Rule(_, message) => f.write_str(message),
        }
    }
}

impl Fault {
    /// Whether the frame was whole, so that the connection can go on.
    pub(crate) fn is_harmless(&self) -> bool {
        matches!(self, Self::Rule(..))
    }

    /// The error for the client.
    pub(crate) fn to_error(&self) -> ServerError {
        let code = match self {
            Self::Flags(_) => Code::location(51151),
            Self::Checksum => Code::location(51252),
            Self::Rule(code, _) => Code::from(*code),
            _ => Code::PROTOCOL_ERROR,
        };
        ServerError::new(code, self.to_string())
    }
}

#[cfg(test)]
mod tests {
    use bson::rawdoc;

    use super::*;

    fn header(length: usize, opcode: i32) -> Header {
        let mut bytes = [0; HEADER];
        let fields = [i32::try_from(length + HEADER).unwrap(), 7, 0, opcode];
        for (to, field) in bytes.chunks_mut(4).zip(fields) {
            to.copy_from_slice(&field.to_le_bytes());
        }
        Header::parse(bytes).unwrap()
    }

    /// Parses the bytes of a reply as a request.
    fn back(bytes: &[u8], agreed: &[Compressor]) -> Result<Message, Fault> {
        let (start, body) = bytes.split_first_chunk().unwrap();
        match Frame::parse(Header::parse(*start)?, body, agreed)?.request {
            Request::Message(message) => Ok(message),
            Request::Query(_) => panic!("no query was sent"),
        }
    }

    #[test]
    fn messages_round_trip_with_every_compressor() {
        let all = [Compressor::Snappy, Compressor::Zlib, Compressor::Zstd];
        for text in ["", "a", &"abc".repeat(100_000)] {
            let document = rawdoc! { "ping": 1, "text": text };
            let dresses = all.map(Some).into_iter().chain([None]);
            for (compressor, checksum) in dresses.flat_map(|it| [(it, false), (it, true)]) {
                let reply = Reply {
                    id: 1,
                    response_to: 2,
                    document: document.clone(),
                    more_to_come: true,
                    checksum,
                    compressor,
                };
                let message = back(&reply.to_bytes(), &all).unwrap();
                assert_eq!(message.command, document);
                assert!(message.more_to_come);
                assert_eq!(message.checksum, checksum && compressor.is_none());
                if let Some(compressor) = compressor {
                    let other = all.map(|it| if it == compressor { all[0] } else { it });
                    let others: Vec<_> = other.into_iter().filter(|it| *it != compressor).collect();
                    let fault = back(&reply.to_bytes(), &others).unwrap_err();
                    assert_eq!(fault, Fault::Compressor(compressor.id()));
                }
            }
        }
    }

    #[test]
    fn checksums_detect_changed_bytes() {
        let reply = Reply {
            id: 1,
            response_to: 2,
            document: rawdoc! { "ping": 1 },
            more_to_come: false,
            checksum: true,
            compressor: None,
        };
        let whole = reply.to_bytes();
        for at in (4..12).chain(HEADER + 5..whole.len()) {
            let mut changed = whole.clone();
            changed[at] ^= 0x20;
            assert_eq!(back(&changed, &[]), Err(Fault::Checksum), "byte {at}");
        }
    }

    #[test]
    fn wrong_uncompressed_sizes_are_refused() {
        for compressor in [Compressor::Snappy, Compressor::Zlib, Compressor::Zstd] {
            let mut packed = Vec::new();
            compressor.compress(&[7; 10_000], &mut packed);
            for claimed in [0, 9_999, 10_001, MAX_MESSAGE - HEADER] {
                let mut body = OP_MSG.to_le_bytes().to_vec();
                body.extend(i32::try_from(claimed).unwrap().to_le_bytes());
                body.push(compressor.id());
                body.extend(&packed);
                let parsed = Frame::parse(header(body.len(), OP_COMPRESSED), &body, &[compressor]);
                assert_eq!(
                    parsed.unwrap_err(),
                    Fault::Compressed(compressor.name()),
                    "{claimed}"
                );
            }
        }
    }
}
