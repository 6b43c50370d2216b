//! The in-memory engine's entry point for this repository's own tools, which also send it malformed commands.

use bson::raw::{RawArray, RawBsonRef, RawDocument, RawDocumentBuf, cstr};

use odm_language::error::ServerError;
use odm_language::value::raw;

use crate::catalog::namespace::Namespace;
use crate::command::COMMON_FIELDS;
use crate::command::direct::{Answer, Request};
use crate::command::reply::failed;
use crate::context::Context;
use crate::service::Service;

/// The known commands, and the names of their fields.
pub fn commands() -> impl Iterator<Item = (&'static str, Vec<&'static str>)> {
    let commands = crate::command::known_commands().iter();
    commands.map(|command| {
        let fields = command.fields.iter().map(|field| field.name);
        (command.name, fields.collect())
    })
}

/// The names of the fields that all commands take.
pub fn common_fields() -> &'static [&'static str] {
    COMMON_FIELDS
}

/// The names of the fields of statements in commands, such as the documents in `updates`.
pub fn statement_fields() -> impl Iterator<Item = &'static str> {
    let statements = crate::command::known_statements().into_iter();
    statements.flat_map(|(_, fields)| fields.iter().map(|field| field.name))
}

/// The options of indexes.
pub fn index_options() -> impl Iterator<Item = &'static str> {
    crate::index::spec::known_options()
}

/// An engine that takes and returns raw BSON.
#[derive(Debug)]
pub struct Engine(Service);

impl Engine {
    /// An engine without a collection.
    pub fn new(context: Context) -> Self {
        Self(Service::new(context))
    }

    /// Answers a command, well-formed or not.
    pub fn run(&self, command: &RawDocument) -> RawDocumentBuf {
        self.0.run(command)
    }

    /// Answers a command as a [`Request`], the way the in-memory collections do, and converts the answer to a command
    /// reply. `None` if a `Request` cannot express the command.
    pub fn ask(&self, command: &RawDocument) -> Option<RawDocumentBuf> {
        let mut fields = Fields::of(command);
        let RawBsonRef::String(database) = fields.take("$db")? else {
            return None;
        };
        let (name, target) = raw::elements(command).next()?;
        fields.take(name);
        let mut documents = Vec::new();
        let (collection, request) = match (name, target) {
            ("find", RawBsonRef::String(collection)) => (collection, fields.find()?),
            ("getMore", RawBsonRef::Int64(cursor)) => fields.more(cursor)?,
            ("insert", RawBsonRef::String(collection)) => {
                for document in raw::values(fields.array("documents")?) {
                    documents.push(document.as_document()?.to_owned());
                }
                let documents = &documents;
                (collection, Request::Insert { documents })
            }
            ("update", RawBsonRef::String(collection)) => {
                (collection, Fields::of(fields.only("updates")?).update()?)
            }
            ("delete", RawBsonRef::String(collection)) => {
                (collection, Fields::of(fields.only("deletes")?).delete()?)
            }
            _ => return None,
        };
        if !fields.0.is_empty() {
            return None;
        }
        let namespace = Namespace::new(database, collection);
        let answer = self.0.answer(&namespace, request);
        let batch = if name == "getMore" {
            cstr!("nextBatch")
        } else {
            cstr!("firstBatch")
        };
        Some(reply(answer, batch).unwrap_or_else(|error| failed(&error)))
    }
}

fn reply(
    answer: Result<Answer, ServerError>,
    batch: &bson::raw::CStr,
) -> Result<RawDocumentBuf, ServerError> {
    match answer? {
        Answer::Page(page) => Ok(page.to_reply(batch)),
        Answer::Written(written) => written.to_reply(),
    }
}

/// The fields of a command or a statement that have not been read yet.
struct Fields<'a>(Vec<(&'a str, RawBsonRef<'a>)>);

impl<'a> Fields<'a> {
    fn of(document: &'a RawDocument) -> Self {
        Self(raw::elements(document).collect())
    }

    fn take(&mut self, name: &str) -> Option<RawBsonRef<'a>> {
        let at = self.0.iter().position(|(field, _)| *field == name)?;
        Some(self.0.swap_remove(at).1)
    }

    fn array(&mut self, name: &str) -> Option<&'a RawArray> {
        self.take(name)?.as_array()
    }

    /// The document of an array with one element.
    fn only(&mut self, name: &str) -> Option<&'a RawDocument> {
        let mut documents = raw::values(self.array(name)?);
        let only = documents.next()?.as_document()?;
        documents.next().is_none().then_some(only)
    }

    /// Returns `read` if no field is left; otherwise the request would lose some.
    fn end<T>(&self, read: T) -> Option<T> {
        self.0.is_empty().then_some(read)
    }

    fn find(&mut self) -> Option<Request<'a>> {
        let filter = self.take("filter")?.as_document()?;
        let one = match (self.take("limit"), self.take("singleBatch")) {
            (None, None) => false,
            (Some(RawBsonRef::Int32(1)), Some(RawBsonRef::Boolean(true))) => true,
            _ => return None,
        };
        self.end(Request::Find {
            filter: filter.into(),
            one,
        })
    }

    fn more(&mut self, cursor: i64) -> Option<(&'a str, Request<'a>)> {
        let collection = self.take("collection")?.as_str()?;
        let batch_size = match self.take("batchSize") {
            None => None,
            Some(size) => Some(u32::try_from(size.as_i32()?).ok()?),
        };
        self.end((collection, Request::More { cursor, batch_size }))
    }

    fn update(mut self) -> Option<Request<'a>> {
        let filter = self.take("q")?.as_document()?;
        let update = self.take("u")?;
        let multi = match self.take("multi") {
            None => false,
            Some(multi) => multi.as_bool()?,
        };
        self.end(Request::Update {
            filter,
            update,
            multi,
        })
    }

    fn delete(mut self) -> Option<Request<'a>> {
        let filter = self.take("q")?.as_document()?;
        let multi = match self.take("limit")? {
            RawBsonRef::Int32(0) => true,
            RawBsonRef::Int32(1) => false,
            _ => return None,
        };
        self.end(Request::Delete {
            filter: filter.into(),
            multi,
        })
    }
}
