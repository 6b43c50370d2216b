//! The parsers of client messages, for this repository's own tools.

use crate::scram::Opening;
use crate::wire::{Compressor, Frame, HEADER, Header, Reply, Request};

/// Reads a frame with every compressor enabled, and returns whether it was valid. A message is written as a reply and
/// must be equal when read again.
///
/// # Panics
///
/// If the message read again differs.
pub fn read_frame(bytes: &[u8]) -> bool {
    let all = [Compressor::Snappy, Compressor::Zlib, Compressor::Zstd];
    let parse = |bytes: &[u8]| {
        let (header, body) = bytes.split_first_chunk::<HEADER>()?;
        let header = Header::parse(*header).ok()?;
        Frame::parse(header, body.get(..header.length)?, &all).ok()
    };
    let Some(frame) = parse(bytes) else {
        return false;
    };
    let Request::Message(message) = frame.request else {
        return true;
    };
    let reply = Reply {
        id: 1,
        response_to: 0,
        document: message.command.clone(),
        more_to_come: message.more_to_come,
        checksum: message.checksum,
        compressor: frame.compressor,
    };
    match parse(&reply.to_bytes()).map(|frame| frame.request) {
        Some(Request::Message(again)) => assert_eq!(again.command, message.command),
        other => panic!("a reply is no message: {other:?}"),
    }
    true
}

/// Reads a client's first SCRAM message, and returns whether it was valid.
pub fn read_scram(bytes: &[u8]) -> bool {
    Opening::parse(bytes).is_ok()
}
