//! The parsers of what clients send, for this repository's own tools.

use crate::scram::Opening;
use crate::wire::{Compressor, Frame, HEADER, Header, Reply, Request};

/// Reads a frame as a server does, with every compressor agreed on. What is a message is sent back as a reply, and must
/// be the same message when it is read again. Tells whether it was a frame.
///
/// # Panics
///
/// Where it is not the same.
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

/// Reads a client's first message of SCRAM, and tells whether it was one.
pub fn read_scram(bytes: &[u8]) -> bool {
    Opening::parse(bytes).is_ok()
}
