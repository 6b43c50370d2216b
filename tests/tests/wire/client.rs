//! A client that sends given frames.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use mongodb::bson::Document;
use odm::Db;
use odm::server::Server;

pub(crate) const OP_MSG: i32 = 2013;

fn bytes(document: &Document) -> Vec<u8> {
    document.to_vec().unwrap()
}

pub(crate) fn frame(opcode: i32, body: &[u8]) -> Vec<u8> {
    let length = i32::try_from(body.len() + 16).unwrap();
    let mut frame = Vec::new();
    for field in [length, 7, 0, opcode] {
        frame.extend(field.to_le_bytes());
    }
    frame.extend(body);
    frame
}

/// The body of an `OP_MSG`.
pub(crate) fn message(flags: u32, sections: &[Vec<u8>]) -> Vec<u8> {
    let mut body = flags.to_le_bytes().to_vec();
    body.extend(sections.iter().flatten());
    body
}

pub(crate) fn section(document: &Document) -> Vec<u8> {
    let mut section = vec![0];
    section.extend(bytes(document));
    section
}

pub(crate) fn sequence(name: &str, documents: &[Document]) -> Vec<u8> {
    let mut content = name.as_bytes().to_vec();
    content.push(0);
    content.extend(documents.iter().flat_map(bytes));
    let mut section = vec![1];
    section.extend(i32::try_from(content.len() + 4).unwrap().to_le_bytes());
    section.extend(content);
    section
}

pub(crate) struct Wire(pub(crate) TcpStream);

impl Wire {
    pub(crate) fn to(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).unwrap();
        stream
            .set_read_timeout(Some(Duration::from_secs(10)))
            .unwrap();
        Self(stream)
    }

    pub(crate) fn send(&mut self, opcode: i32, body: &[u8]) {
        // The server may have closed the connection before all was sent.
        let _ = self.0.write_all(&frame(opcode, body));
    }

    /// The document of the next reply; nothing where the connection is closed.
    pub(crate) fn reply(&mut self) -> Option<Document> {
        let mut header = [0; 16];
        self.0.read_exact(&mut header).ok()?;
        let length = i32::from_le_bytes(header[..4].try_into().unwrap());
        let mut body = vec![0; usize::try_from(length).unwrap() - 16];
        self.0.read_exact(&mut body).ok()?;
        let opcode = i32::from_le_bytes(header[12..].try_into().unwrap());
        let start = if opcode == OP_MSG { 5 } else { 20 };
        let end = start
            + usize::try_from(i32::from_le_bytes(
                body[start..start + 4].try_into().unwrap(),
            ))
            .unwrap();
        Some(Document::from_reader(&body[start..end]).unwrap())
    }

    pub(crate) fn ask(&mut self, opcode: i32, body: &[u8]) -> Option<Document> {
        self.send(opcode, body);
        self.reply()
    }

    pub(crate) fn command(&mut self, command: &Document) -> Option<Document> {
        self.ask(OP_MSG, &message(0, &[section(command)]))
    }
}

/// The engine behind a port, and the server that the environment names.
pub(crate) fn both(check: impl Fn(SocketAddr)) {
    let server = Server::options().test_commands();
    let server = server.bind(&Db::memory(), "127.0.0.1:0").unwrap();
    check(server.address());
    if let Ok(uri) = std::env::var("ODM_TEST_URI") {
        let host = uri.split("://").nth(1).unwrap().split('/').next().unwrap();
        check(host.parse().unwrap());
    }
}
