//! Operations without options, which go to the engine as encoded operands instead of commands.

use std::borrow::Cow;

use bson::raw::{CStr, RawArrayBuf, RawBinaryRef, RawBsonRef, RawDocument, RawDocumentBuf};
use bson::{Bson, Document};
use odm_engine::reply;

use crate::error::{Result, WriteError};
use crate::store::memory::limits::{ROOMY, check_documents};
use crate::store::operation::build::{raw_condition, raw_document, raw_operators};
use crate::store::operation::{Condition, Modification, Operation, Request};
use crate::store::reply::{self as replies, WriteKind, Written};

/// The encoded operands of an operation.
pub(super) enum Parts<'r> {
    Find {
        filter: Filter<'r>,
        one: bool,
    },
    Insert(&'r [RawDocumentBuf]),
    Update {
        filter: RawDocumentBuf,
        update: Change<'r>,
        multi: bool,
    },
    Delete {
        filter: Filter<'r>,
        multi: bool,
    },
}

pub(super) enum Filter<'r> {
    /// `{path: value}`, with a value that needs no encoding.
    Equality(&'r CStr, RawBsonRef<'r>),
    Document(RawDocumentBuf),
}

pub(super) enum Change<'r> {
    Document(Cow<'r, RawDocument>),
    Pipeline(RawArrayBuf),
}

impl<'r> Parts<'r> {
    /// The operands of a request without options; `None` if the operation needs a command.
    pub(super) fn of(request: &'r Request) -> Result<Option<Self>> {
        Ok(Some(match &request.operation {
            Operation::Find { filter, one } => Self::Find {
                filter: Filter::of(filter)?,
                one: *one,
            },
            Operation::InsertOne { document } => Self::insert(std::slice::from_ref(document))?,
            Operation::InsertMany { documents } => Self::insert(documents)?,
            Operation::Update(operands) if operands.array_filters.is_empty() => Self::Update {
                filter: raw_condition(&operands.filter)?,
                update: Change::of(&operands.modification)?,
                multi: operands.multi,
            },
            Operation::Replace {
                filter,
                replacement,
            } => Self::Update {
                filter: raw_condition(filter)?,
                update: Change::Document(Cow::Borrowed(replacement)),
                multi: false,
            },
            Operation::Delete { filter, multi } => Self::Delete {
                filter: Filter::of(filter)?,
                multi: *multi,
            },
            _ => return Ok(None),
        }))
    }

    fn insert(documents: &'r [RawDocumentBuf]) -> Result<Self> {
        check_documents(documents)?;
        Ok(Self::Insert(documents))
    }

    /// Whether a command with these operands might be too large for mongod.
    pub(super) fn is_large(&self) -> bool {
        let size = match self {
            Self::Insert(_) => 0,
            Self::Find { filter, .. } | Self::Delete { filter, .. } => filter.size(),
            Self::Update { filter, update, .. } => filter.as_bytes().len() + update.size(),
        };
        size > ROOMY
    }

    pub(super) fn request(&self) -> odm_engine::Request<'_> {
        match self {
            Self::Find { filter, one } => odm_engine::Request::Find {
                filter: filter.request(),
                one: *one,
            },
            Self::Insert(documents) => odm_engine::Request::Insert { documents },
            Self::Update {
                filter,
                update,
                multi,
            } => odm_engine::Request::Update {
                filter,
                update: update.value(),
                multi: *multi,
            },
            Self::Delete { filter, multi } => odm_engine::Request::Delete {
                filter: filter.request(),
                multi: *multi,
            },
        }
    }

    /// Converts the counts and errors of a write. A write that fails, wholly or in part, is an error.
    pub(super) fn written(&self, answer: reply::Written, batch: bool) -> Result<Written> {
        let kind = match self {
            Self::Update { .. } => WriteKind::Update,
            Self::Delete { .. } => WriteKind::Delete,
            Self::Insert(_) | Self::Find { .. } => WriteKind::Insert,
        };
        let mut errors = Vec::new();
        if !answer.errors.is_empty() {
            let refused = answer.errors.into_iter();
            errors.extend(refused.map(|(at, error)| WriteError::new(at, error)));
        }
        let number = |count: i64| u64::try_from(count).unwrap_or_default();
        let counts = Written {
            n: number(answer.n),
            modified: number(answer.modified.unwrap_or_default()),
            upserted: answer.upserted,
        };
        replies::outcome(counts, errors, None, kind, batch)
    }
}

impl<'r> Filter<'r> {
    fn of(condition: &'r Condition) -> Result<Self> {
        if let Condition::One(path, value) = condition
            && let Ok(path) = <&CStr>::try_from(path.as_ref())
            && let Some(value) = borrowed(value)
        {
            return Ok(Self::Equality(path, value));
        }
        raw_condition(condition).map(Self::Document)
    }

    /// About how many bytes the document has.
    fn size(&self) -> usize {
        match self {
            Self::Equality(_, RawBsonRef::String(text)) => text.len(),
            Self::Equality(_, RawBsonRef::Binary(binary)) => binary.bytes.len(),
            Self::Equality(..) => 0,
            Self::Document(document) => document.as_bytes().len(),
        }
    }

    fn request(&self) -> odm_engine::Filter<'_> {
        match self {
            Self::Equality(path, value) => odm_engine::Filter::Equality {
                path,
                value: *value,
            },
            Self::Document(document) => odm_engine::Filter::Document(document),
        }
    }
}

/// A value that needs no encoding.
fn borrowed(value: &Bson) -> Option<RawBsonRef<'_>> {
    Some(match value {
        Bson::Double(value) => RawBsonRef::Double(*value),
        Bson::String(value) => RawBsonRef::String(value),
        Bson::Binary(value) => RawBsonRef::Binary(RawBinaryRef {
            subtype: value.subtype,
            bytes: &value.bytes,
        }),
        Bson::ObjectId(value) => RawBsonRef::ObjectId(*value),
        Bson::Boolean(value) => RawBsonRef::Boolean(*value),
        Bson::DateTime(value) => RawBsonRef::DateTime(*value),
        Bson::Int32(value) => RawBsonRef::Int32(*value),
        Bson::Int64(value) => RawBsonRef::Int64(*value),
        _ => return None,
    })
}

impl Change<'_> {
    fn of(update: &Modification) -> Result<Self> {
        Ok(match update {
            Modification::One {
                operator,
                path,
                value,
            } => Self::Document(Cow::Owned(raw_operators(operator, path, value)?)),
            Modification::Operators(operators) => {
                Self::Document(Cow::Owned(raw_document(operators)?))
            }
            Modification::Pipeline(stages) => Self::Pipeline(pipeline(stages)?),
        })
    }

    fn size(&self) -> usize {
        match self {
            Self::Document(document) => document.as_bytes().len(),
            Self::Pipeline(stages) => stages.as_bytes().len(),
        }
    }

    fn value(&self) -> RawBsonRef<'_> {
        match self {
            Self::Document(document) => RawBsonRef::Document(document),
            Self::Pipeline(stages) => RawBsonRef::Array(stages),
        }
    }
}

fn pipeline(stages: &[Document]) -> Result<RawArrayBuf> {
    let mut array = RawArrayBuf::new();
    for stage in stages {
        array.push(raw_document(stage)?);
    }
    Ok(array)
}
