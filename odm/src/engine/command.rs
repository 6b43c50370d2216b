//! The door: a command document in, the reply document out.
//!
//! [`table`] lists the commands; each has its file. What a command shares with the others (its
//! fields' check, its database, the session) is prepared here.

pub(crate) mod args;
mod hello;
mod table;

use bson::Document;
use bson::raw::{RawBsonRef, RawDocument, RawDocumentBuf};

use crate::engine::context::Context;
use crate::error::{Code, ServerError};

use args::Args;
use table::Target;

/// The in-memory engine. One value is one server; sessions and threads share it.
#[derive(Debug, Default)]
pub(crate) struct Engine {}

/// One command under way.
#[derive(Debug)]
pub(crate) struct Call<'a> {
    pub(crate) engine: &'a Engine,
    pub(crate) context: &'a Context,
    pub(crate) database: &'a str,
    /// The collection that the command names, where it names one.
    pub(crate) collection: &'a str,
    pub(crate) args: Args<'a>,
}

impl Engine {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// Answers one command as a driver sends it in an `OP_MSG`: its name first, then its fields, with
    /// `$db` and the session's fields among them. A failure is a reply too (`ok: 0`).
    pub(crate) fn run(&self, context: &Context, command: &RawDocument) -> RawDocumentBuf {
        match self.dispatch(context, command) {
            Ok(reply) => reply,
            Err(error) => raw(&error.to_reply()),
        }
    }

    fn dispatch(
        &self,
        context: &Context,
        command: &RawDocument,
    ) -> Result<RawDocumentBuf, ServerError> {
        let mut elements = command.iter();
        let (name, target) = match elements.next() {
            Some(first) => first.map_err(|e| args::invalid_bson(&e))?,
            None => {
                return Err(ServerError::new(
                    Code::FAILED_TO_PARSE,
                    "the command is empty",
                ));
            }
        };
        let Some(row) = table::find(name.as_str()) else {
            return Err(ServerError::new(
                Code::COMMAND_NOT_FOUND,
                format!("no such command: '{name}'"),
            ));
        };
        let database = database(command)?;
        let args = Args::of_command(command, row.idl, row.fields)?;
        let collection = match (row.target, target) {
            (Target::Database, _) => "",
            (Target::Collection, RawBsonRef::String(collection)) => collection,
            (Target::Collection, other) => {
                return Err(ServerError::new(
                    Code::BAD_VALUE,
                    format!(
                        "collection name has invalid type {}",
                        args::type_name(other.element_type())
                    ),
                ));
            }
        };
        let mut call = Call {
            engine: self,
            context,
            database,
            collection,
            args,
        };
        (row.run)(&mut call)
    }
}

fn database(command: &RawDocument) -> Result<&str, ServerError> {
    match command.get("$db") {
        Ok(Some(RawBsonRef::String(name))) => Ok(name),
        Ok(Some(_)) => Err(ServerError::new(
            Code::TYPE_MISMATCH,
            "$db must be a string",
        )),
        Ok(None) => Err(ServerError::new(
            Code::location(40571),
            "OP_MSG requests require a $db argument",
        )),
        Err(e) => Err(args::invalid_bson(&e)),
    }
}

/// A successful reply: the fields, then `ok: 1`.
fn reply(mut fields: Document) -> Result<RawDocumentBuf, ServerError> {
    fields.insert("ok", 1.0);
    Ok(raw(&fields))
}

/// The raw form of a document of our own making.
fn raw(document: &Document) -> RawDocumentBuf {
    RawDocumentBuf::try_from(document).unwrap_or_else(|e| {
        // Only a key with a NUL byte could fail: reply keys that come from data are checked before.
        let mut reply = RawDocumentBuf::new();
        reply.append(bson::cstr!("ok"), 0.0);
        reply.append(bson::cstr!("errmsg"), e.to_string());
        reply.append(bson::cstr!("code"), Code::INTERNAL_ERROR.number());
        reply
    })
}
