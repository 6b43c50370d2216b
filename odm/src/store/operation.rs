//! The operations of a store, and the command document of each.

pub(super) mod build;
mod condition;

pub(crate) use self::condition::Condition;

use bson::{Bson, Document, RawDocumentBuf, doc};

use crate::error::{Error, Result};
use crate::store::CollectionName;
use crate::store::options::Chosen;

/// One operation on one collection.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    pub(crate) collection: CollectionName,
    pub(crate) operation: Operation,
    pub(crate) options: Chosen,
}

/// An operation with its operands. The typed layer built the filters and updates; documents to
/// write are raw bytes, encoded once.
#[derive(Debug, Clone)]
pub(crate) enum Operation {
    InsertOne {
        document: RawDocumentBuf,
    },
    InsertMany {
        documents: Vec<RawDocumentBuf>,
    },
    Find {
        filter: Condition,
        /// Returns only the first document, in a single batch that closes the cursor.
        one: bool,
    },
    Update(Box<Update>),
    Replace {
        filter: Condition,
        replacement: RawDocumentBuf,
    },
    Delete {
        filter: Condition,
        multi: bool,
    },
    FindAndUpdate(Box<Update>),
    FindAndReplace {
        filter: Condition,
        replacement: RawDocumentBuf,
    },
    FindAndDelete {
        filter: Condition,
    },
    Aggregate {
        pipeline: Vec<Document>,
    },
    Count {
        filter: Condition,
    },
    EstimatedCount,
    Distinct {
        path: String,
        filter: Condition,
    },
    /// The statements of one `update` command: `{q, u, multi, upsert, …}`.
    Updates {
        statements: Vec<RawDocumentBuf>,
    },
    /// The statements of one `delete` command: `{q, limit, …}`.
    Deletes {
        statements: Vec<RawDocumentBuf>,
    },
    Drop,
}

/// The operands of an update. Operations box them, because requests are moved often.
#[derive(Debug, Clone)]
pub(crate) struct Update {
    pub(crate) filter: Condition,
    pub(crate) modification: Modification,
    /// The filters for `$[name]` in the update.
    pub(crate) array_filters: Vec<Document>,
    /// Whether it changes every document that matches; false in `findAndModify`.
    pub(crate) multi: bool,
    /// Whether it replaces a whole document, by a pipeline that reads the stored one.
    pub(crate) replaces: bool,
    /// A field that an upsert sets if it inserts a document.
    pub(crate) on_insert: Option<(&'static str, Bson)>,
}

impl Update {
    /// An update of the documents that match `filter`, without changes yet.
    pub(crate) fn new(filter: Condition) -> Self {
        Self {
            filter,
            modification: Modification::Pipeline(Vec::new()),
            array_filters: Vec::new(),
            multi: false,
            replaces: false,
            on_insert: None,
        }
    }

    /// Adds the field that only an upsert sets to the modification.
    pub(crate) fn complete_upsert(&mut self) {
        let Some((name, value)) = self.on_insert.take() else {
            return;
        };
        if let Modification::Pipeline(stages) = &mut self.modification {
            // A pipeline can't see whether it inserts, but an inserted document lacks the field.
            let stored = format!("${name}");
            stages.push(doc! {"$set": {name: {"$ifNull": [stored, value]}}});
            return;
        }
        let modification =
            std::mem::replace(&mut self.modification, Modification::Pipeline(Vec::new()));
        let Bson::Document(mut operators) = modification.into_bson() else {
            return;
        };
        match operators.get_mut("$setOnInsert") {
            Some(Bson::Document(fields)) => {
                fields.insert(name, value);
            }
            _ => {
                operators.insert("$setOnInsert", doc! {name: value});
            }
        }
        self.modification = Modification::Operators(operators);
    }
}

/// Update operators, or a pipeline.
#[derive(Debug, Clone)]
pub(crate) enum Modification {
    /// `{operator: {path: value}}`. Most updates have this form, which builds no document unless the store needs one.
    One {
        operator: &'static str,
        path: String,
        value: Bson,
    },
    Operators(Document),
    Pipeline(Vec<Document>),
}

impl Modification {
    /// The document of operators, or the array of stages.
    pub(crate) fn into_bson(self) -> Bson {
        match self {
            Self::One {
                operator,
                path,
                value,
            } => Bson::Document(operators(operator, path, value)),
            Self::Operators(operators) => Bson::Document(operators),
            Self::Pipeline(stages) => stages.into(),
        }
    }
}

/// `{operator: {path: value}}`
pub(crate) fn operators(operator: &str, path: String, value: Bson) -> Document {
    condition::one(operator, Bson::Document(condition::one(path, value)))
}

impl Request {
    pub(crate) fn new(collection: CollectionName, operation: Operation) -> Self {
        Self {
            collection,
            operation,
            options: Chosen::default(),
        }
    }

    /// The command document, as the shell would print it.
    pub(crate) fn command(&self) -> Result<Document> {
        let raw = match self.collection.part() {
            None => self.raw_command()?,
            Some(_) => self.clone().on_whole()?.raw_command()?,
        };
        Document::try_from(&*raw).map_err(Error::encode)
    }
}

impl Operation {
    /// Adds to an update what only upserts set.
    pub(crate) fn complete_upsert(&mut self) {
        if let Self::Update(update) | Self::FindAndUpdate(update) = self {
            update.complete_upsert();
        }
    }

    /// The name of the command.
    pub(crate) fn verb(&self) -> &'static str {
        match self {
            Self::Find { .. } => "find",
            Self::Aggregate { .. } | Self::Count { .. } => "aggregate",
            Self::InsertOne { .. } | Self::InsertMany { .. } => "insert",
            Self::Update(_) | Self::Replace { .. } | Self::Updates { .. } => "update",
            Self::Delete { .. } | Self::Deletes { .. } => "delete",
            Self::FindAndUpdate(_) | Self::FindAndReplace { .. } | Self::FindAndDelete { .. } => {
                "findAndModify"
            }
            Self::EstimatedCount => "count",
            Self::Distinct { .. } => "distinct",
            Self::Drop => "drop",
        }
    }

    /// Whether the driver sends a `maxTimeMS` with it.
    pub(crate) fn has_time_limit(&self) -> bool {
        !matches!(
            self,
            Self::InsertOne { .. }
                | Self::InsertMany { .. }
                | Self::Update(_)
                | Self::Replace { .. }
                | Self::Delete { .. }
                | Self::Drop
        )
    }

    /// Whether the reply has a cursor, which may stay open.
    pub(crate) fn opens_cursor(&self) -> bool {
        matches!(self, Self::Find { .. } | Self::Aggregate { .. })
    }

    /// The filter of an update or a replacement.
    pub(crate) fn filter(&self) -> Option<&Condition> {
        match self {
            Self::Update(update) | Self::FindAndUpdate(update) => Some(&update.filter),
            Self::Replace { filter, .. } | Self::FindAndReplace { filter, .. } => Some(filter),
            _ => None,
        }
    }

    /// The filter of an update or a replacement, to be changed.
    pub(crate) fn filter_mut(&mut self) -> Option<&mut Condition> {
        match self {
            Self::Update(update) | Self::FindAndUpdate(update) => Some(&mut update.filter),
            Self::Replace { filter, .. } | Self::FindAndReplace { filter, .. } => Some(filter),
            _ => None,
        }
    }

    /// Restricts a `find` to the first document.
    pub(crate) fn only_first(&mut self) {
        if let Self::Find { one, .. } = self {
            *one = true;
        }
    }

    /// Whether the server applies it to several documents one by one and reports errors by index.
    pub(crate) fn is_batch(&self) -> bool {
        matches!(
            self,
            Self::InsertMany { .. } | Self::Updates { .. } | Self::Deletes { .. }
        )
    }

    /// Whether its reply counts both matched and modified documents.
    pub(crate) fn updates(&self) -> bool {
        matches!(
            self,
            Self::Update(_) | Self::Replace { .. } | Self::Updates { .. }
        )
    }

    /// Whether it accepts a read concern and a read preference.
    pub(crate) fn reads(&self) -> bool {
        self.is_read() || matches!(self, Self::Aggregate { .. })
    }

    /// Whether it only reads.
    pub(crate) fn is_read(&self) -> bool {
        match self {
            Self::Find { .. }
            | Self::Count { .. }
            | Self::EstimatedCount
            | Self::Distinct { .. } => true,
            Self::Aggregate { pipeline } => !writes(pipeline),
            _ => false,
        }
    }
}

/// Whether a pipeline ends in a stage that writes.
pub(crate) fn writes(pipeline: &[Document]) -> bool {
    pipeline
        .last()
        .and_then(|stage| stage.keys().next())
        .is_some_and(|name| name == "$out" || name == "$merge")
}
