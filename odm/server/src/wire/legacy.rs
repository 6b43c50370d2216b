//! `OP_QUERY` and `OP_REPLY`: the handshake of clients that do not know the server's version yet.

use bson::raw::{RawBsonRef, RawDocument, RawDocumentBuf, cstr};
use odm_language::value::raw;

use super::bytes::Bytes;
use super::{Fault, OP_REPLY, frame};

/// The flag of a server that supports awaiting data.
const AWAIT_CAPABLE: u32 = 1 << 3;

/// A command in an `OP_QUERY`.
#[derive(Debug, PartialEq)]
pub(crate) struct Query {
    /// The command, with its database in `$db` as in an `OP_MSG`.
    pub(crate) command: RawDocumentBuf,
}

impl Query {
    pub(super) fn parse(body: &[u8]) -> Result<Self, Fault> {
        let mut bytes = Bytes::new(body);
        bytes.u32()?;
        let name = bytes.cstring()?;
        let Some(database) = name.strip_suffix(".$cmd") else {
            return Err(Fault::Rule(
                5_739_101,
                "OP_QUERY is no longer supported. The client driver may require an upgrade. For more details see \
                 https://dochub.mongodb.org/core/legacy-opcode-removal"
                    .to_owned(),
            ));
        };
        bytes.i32()?;
        bytes.i32()?;
        let query = bytes.document()?;
        let mut command = match raw::get(query, "$query") {
            Some(RawBsonRef::Document(inner)) => inner.to_owned(),
            _ => query.to_owned(),
        };
        if raw::get(&command, "$db").is_none() {
            command.append(cstr!("$db"), database);
        }
        Ok(Self { command })
    }

    /// The command's name.
    pub(crate) fn name(&self) -> &str {
        raw::elements(&self.command)
            .next()
            .map_or("", |(name, _)| name)
    }

    /// Whether the command is allowed in an `OP_QUERY`.
    pub(crate) fn is_for_handshake(&self) -> bool {
        matches!(
            self.name(),
            "hello"
                | "isMaster"
                | "ismaster"
                | "buildInfo"
                | "buildinfo"
                | "saslStart"
                | "saslContinue"
        )
    }
}

/// The frame of an `OP_REPLY` with one document.
pub(crate) fn reply(id: i32, response_to: i32, document: &RawDocument) -> Vec<u8> {
    let mut body = Vec::with_capacity(20 + document.as_bytes().len());
    body.extend(AWAIT_CAPABLE.to_le_bytes());
    // No cursor, starting at document 0, one document.
    body.extend(0_i64.to_le_bytes());
    body.extend(0_i32.to_le_bytes());
    body.extend(1_i32.to_le_bytes());
    body.extend(document.as_bytes());
    frame(id, response_to, OP_REPLY, &body)
}
