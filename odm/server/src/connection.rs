//! Serves one connection: reads frames and sends replies until either side closes it.

use std::io::{self, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use bson::raw::{RawDocument, RawDocumentBuf};
use odm_language::error::{Code, ServerError};
use odm_language::value::raw;

use crate::answer::{Answer, answer, failed};
use crate::client::Client;
use crate::current_op::{ConnectionEntry, Operations};
use crate::state::ServerState;
use crate::wire::{Fault, Frame, HEADER, Header, Message, Query, Reply, Request, legacy};

/// How long a client may take to read a reply.
const WRITE_TIMEOUT: Duration = Duration::from_secs(60);

/// How much of the read buffer is kept between messages, which may be far apart.
const KEPT: usize = 64 * 1024;

/// Serves a connection to its end.
pub(crate) fn serve(state: &ServerState, stream: &TcpStream, address: SocketAddr, id: i64) {
    let entry = state.operations.enter(id, address);
    let mut connection = Connection {
        state,
        client: Client::new(&entry, state.context.clone()),
        entry,
        writer: stream,
        sent: 0,
    };
    // An I/O error means that the client is gone, so there is nobody to report it to.
    let _ = connection.run(stream);
}

struct Connection<'a> {
    state: &'a ServerState,
    client: Client,
    entry: Arc<ConnectionEntry>,
    writer: &'a TcpStream,
    /// The id of the last reply.
    sent: i32,
}

impl Connection<'_> {
    fn run(&mut self, stream: &TcpStream) -> io::Result<()> {
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(self.state.options.idle_timeout))?;
        stream.set_write_timeout(Some(WRITE_TIMEOUT.min(self.state.options.idle_timeout)))?;
        let mut reader = BufReader::with_capacity(16 * 1024, stream);
        let mut body = Vec::new();
        loop {
            let mut header = [0; HEADER];
            reader.read_exact(&mut header)?;
            let header = match Header::parse(header) {
                Ok(header) => header,
                Err(fault) => return self.refuse(0, &fault),
            };
            // Memory grows with the received bytes, not with the length that the client claims.
            (&mut reader)
                .take(header.length as u64)
                .read_to_end(&mut body)?;
            let counters = &self.state.operations.counters;
            counters.received(HEADER.saturating_add(body.len()));
            if body.len() < header.length {
                return self.refuse(header.id, &Fault::Truncated);
            }
            match Frame::parse(header, &body, &self.client.compressors) {
                Ok(frame) => match frame.request {
                    Request::Message(message) => {
                        let reply = Reply {
                            id: 0,
                            response_to: header.id,
                            document: RawDocumentBuf::new(),
                            more_to_come: false,
                            checksum: message.checksum,
                            compressor: frame.compressor,
                        };
                        if !self.converse(&message, reply)? {
                            return Ok(());
                        }
                    }
                    Request::Query(query) => {
                        if !self.answer_query(header.id, &query)? {
                            return Ok(());
                        }
                    }
                },
                Err(fault) if fault.is_harmless() => self.refuse(header.id, &fault)?,
                Err(fault) => return self.refuse(header.id, &fault),
            }
            body.clear();
            body.shrink_to(KEPT);
        }
    }

    fn answer(&mut self, command: &RawDocument) -> Answer {
        let operations = &self.state.operations;
        let (client, user) = (self.client.metadata.as_ref(), self.client.user.as_ref());
        operations.begin(&self.entry, client, user, command);
        let answer = answer(self.state, &mut self.client, command);
        operations.counters.tried(command, &answer.document);
        Operations::end(&self.entry, |namespace| self.state.has(namespace));
        let name = raw::elements(command).next().map_or("", |(name, _)| name);
        if matches!(name, "drop" | "dropDatabase" | "renameCollection") {
            operations.forget(|namespace| self.state.has(namespace));
        }
        answer
    }

    /// Answers a message, with several replies if the client allows exhaust. False if the connection is to be closed.
    fn converse(&mut self, message: &Message, mut reply: Reply) -> io::Result<bool> {
        loop {
            let Answer {
                document,
                continues,
                hang_up,
            } = self.answer(&message.command);
            if hang_up {
                return Ok(false);
            }
            if message.more_to_come {
                return Ok(true);
            }
            reply.id = self.next_id();
            reply.document = document;
            reply.more_to_come = continues && message.exhaust_allowed;
            self.send(&reply.to_bytes())?;
            if !reply.more_to_come {
                return Ok(true);
            }
            reply.response_to = reply.id;
        }
    }

    /// Answers an `OP_QUERY` command. False if the connection is to be closed.
    fn answer_query(&mut self, response_to: i32, query: &Query) -> io::Result<bool> {
        let document = if query.is_for_handshake() {
            let answer = self.answer(&query.command);
            if answer.hang_up {
                return Ok(false);
            }
            answer.document
        } else {
            let error = ServerError::new(
                Code::UNSUPPORTED_OP_QUERY_COMMAND,
                format!(
                    "Unsupported OP_QUERY command: {}. The client driver may require an upgrade. For more details see \
                     https://dochub.mongodb.org/core/legacy-opcode-removal",
                    query.name()
                ),
            );
            failed(&error)
        };
        let id = self.next_id();
        self.send(&legacy::reply(id, response_to, &document))?;
        Ok(true)
    }

    /// Replies with the reason why the bytes are not a valid request.
    fn refuse(&mut self, response_to: i32, fault: &Fault) -> io::Result<()> {
        let reply = Reply {
            id: self.next_id(),
            response_to,
            document: failed(&fault.to_error()),
            more_to_come: false,
            checksum: false,
            compressor: None,
        };
        self.send(&reply.to_bytes())
    }

    fn next_id(&mut self) -> i32 {
        self.sent = self.sent.checked_add(1).unwrap_or(1);
        self.sent
    }

    fn send(&mut self, frame: &[u8]) -> io::Result<()> {
        self.state.operations.counters.sent(frame.len());
        self.writer.write_all(frame)
    }
}
