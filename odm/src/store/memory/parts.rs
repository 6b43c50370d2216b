//! Operations without options, which go to the engine as encoded operands instead of commands.

use std::borrow::Cow;

use bson::Document;
use bson::raw::{RawArrayBuf, RawBsonRef, RawDocument, RawDocumentBuf, cstr};
use odm_engine::Answer;
use odm_engine::reply;

use crate::error::{Result, WriteError};
use crate::store::batch::Batch;
use crate::store::memory::limits::{ROOMY, check_documents};
use crate::store::operation::{
    Modification, Operation, Request, raw_condition, raw_document, raw_operators,
};
use crate::store::reply::{self as replies, WriteKind, Written};

/// The encoded operands of an operation.
pub(super) enum Parts<'r> {
    Find {
        filter: RawDocumentBuf,
        one: bool,
    },
    Insert(&'r [RawDocumentBuf]),
    Update {
        filter: RawDocumentBuf,
        update: Change<'r>,
        multi: bool,
    },
    Delete {
        filter: RawDocumentBuf,
        multi: bool,
    },
}

pub(super) enum Change<'r> {
    Document(Cow<'r, RawDocument>),
    Pipeline(RawArrayBuf),
}

/// The result of an operation.
pub(super) enum Outcome {
    Batch(Batch),
    Written(Written),
}

impl<'r> Parts<'r> {
    /// The operands of a request without options; `None` if the operation needs a command.
    pub(super) fn of(request: &'r Request) -> Result<Option<Self>> {
        Ok(Some(match &request.operation {
            Operation::Find { filter, one } => Self::Find {
                filter: raw_condition(filter)?,
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
                filter: raw_condition(filter)?,
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
            Self::Find { filter, .. } | Self::Delete { filter, .. } => filter.as_bytes().len(),
            Self::Update { filter, update, .. } => filter.as_bytes().len() + update.size(),
        };
        size > ROOMY
    }

    pub(super) fn request(&self) -> odm_engine::Request<'_> {
        match self {
            Self::Find { filter, one } => odm_engine::Request::Find { filter, one: *one },
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
                filter,
                multi: *multi,
            },
        }
    }

    /// Converts the engine's answer. A write that fails, wholly or in part, is an error.
    pub(super) fn outcome(&self, answer: Answer, batch: bool) -> Result<Outcome> {
        let kind = match self {
            Self::Update { .. } => WriteKind::Update,
            Self::Delete { .. } => WriteKind::Delete,
            Self::Insert(_) | Self::Find { .. } => WriteKind::Insert,
        };
        match answer {
            Answer::Page(page) => Ok(Outcome::Batch(Batch::of_page(page, cstr!("firstBatch")))),
            Answer::Written(answer) => written(answer, kind, batch).map(Outcome::Written),
        }
    }
}

/// Converts the counts and errors of a write. A write that fails, wholly or in part, is an error.
pub(super) fn written(answer: reply::Written, kind: WriteKind, batch: bool) -> Result<Written> {
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
