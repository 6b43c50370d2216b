//! Operations on the documents of one model in a collection of several.
//!
//! Above this file, such a model is like any other: its documents do not have the tag that says of which model they are. Here
//! every operation is restricted to documents with the tag, writes add it, and documents that are read lose it. Each operation
//! passes here on its way to a store, so that none reaches the documents of another model.

use bson::raw::{RawBsonRef, RawDocument, RawDocumentBuf};
use bson::{Bson, Document, doc};

use crate::error::{Error, Result};
use crate::store::names::Part;
use crate::store::operation::{Condition, Modification, Operation, Request, Update};

/// Stages about a whole collection, which say nothing about single documents.
const OF_COLLECTION: [&str; 3] = ["$collStats", "$indexStats", "$planCacheStats"];

impl Request {
    /// The request on the whole collection, which reaches only the documents of the part that it names.
    pub(crate) fn on_whole(mut self) -> Result<Self> {
        if let Some(part) = self.collection.part().cloned() {
            self.operation = part.restricted(self.operation)?;
            self.collection = self.collection.whole();
        }
        Ok(self)
    }
}

impl Part {
    fn restricted(&self, operation: Operation) -> Result<Operation> {
        Ok(match operation {
            Operation::InsertOne { document } => Operation::InsertOne {
                document: self.tagged(&document)?,
            },
            Operation::InsertMany { documents } => {
                let documents = documents.iter().map(|document| self.tagged(document));
                Operation::InsertMany {
                    documents: documents.collect::<Result<_>>()?,
                }
            }
            Operation::Find { filter, one } => Operation::Find {
                filter: self.among(filter),
                one,
            },
            Operation::Update(update) => Operation::Update(self.update(update)?),
            Operation::FindAndUpdate(update) => Operation::FindAndUpdate(self.update(update)?),
            Operation::Replace {
                filter,
                replacement,
            } => Operation::Replace {
                filter: self.among(filter),
                replacement: self.tagged(&replacement)?,
            },
            Operation::FindAndReplace {
                filter,
                replacement,
            } => Operation::FindAndReplace {
                filter: self.among(filter),
                replacement: self.tagged(&replacement)?,
            },
            Operation::Delete { filter, multi } => Operation::Delete {
                filter: self.among(filter),
                multi,
            },
            Operation::FindAndDelete { filter } => Operation::FindAndDelete {
                filter: self.among(filter),
            },
            Operation::Aggregate { pipeline } => Operation::Aggregate {
                pipeline: self.pipeline(pipeline)?,
            },
            Operation::Count { filter } => Operation::Count {
                filter: self.among(filter),
            },
            // The metadata of a collection counts the documents of all models.
            Operation::EstimatedCount => Operation::Count {
                filter: self.filter().into(),
            },
            Operation::Distinct { path, filter } => Operation::Distinct {
                path,
                filter: self.among(filter),
            },
            Operation::Updates { statements } => Operation::Updates {
                statements: self.statements(&statements, Self::update_statement)?,
            },
            Operation::Deletes { statements } => Operation::Deletes {
                statements: self.statements(&statements, |_, _| Ok(()))?,
            },
            Operation::Drop => {
                return Err(Error::usage(format!(
                    "this would drop the documents of all variants of `{}`: drop the collection of `{0}`, or delete the documents \
                     of this variant by `delete_all`",
                    self.whole
                )));
            }
        })
    }

    /// The filter of all documents of the part.
    pub(crate) fn filter(&self) -> Document {
        doc! {self.tag: self.value}
    }

    /// The filter, restricted to the documents of the part.
    fn among(&self, filter: Condition) -> Condition {
        self.among_document(filter.into_document()).into()
    }

    fn among_document(&self, mut filter: Document) -> Document {
        // One level, so that MongoDB finds an equality of the `_id` or of a shard key at once.
        if filter.contains_key(self.tag) {
            return doc! {"$and": [filter, self.filter()]};
        }
        filter.insert(self.tag, self.value);
        filter
    }

    /// The document with the tag.
    fn tagged(&self, document: &RawDocument) -> Result<RawDocumentBuf> {
        match document.get(self.tag) {
            Ok(Some(RawBsonRef::String(value))) if value == self.value => {
                return Ok(document.to_owned());
            }
            Ok(None) => {}
            Ok(Some(_)) => return Err(self.changes()),
            Err(error) => return Err(Error::encode(error)),
        }
        let tag = bson::raw::CString::try_from(self.tag).map_err(Error::encode)?;
        let mut tagged = RawDocumentBuf::new();
        tagged.append(&tag, self.value);
        for element in document {
            let (key, value) = element.map_err(Error::encode)?;
            tagged.append(key, value);
        }
        Ok(tagged)
    }

    fn update(&self, mut update: Box<Update>) -> Result<Box<Update>> {
        let filter = std::mem::replace(&mut update.filter, Document::new().into());
        update.filter = self.among(filter);
        match &mut update.modification {
            Modification::One { path, .. } => self.check_path(path)?,
            Modification::Operators(operators) => self.check_operators(operators)?,
            Modification::Pipeline(stages) => {
                stages.push(self.set());
            }
        }
        Ok(update)
    }

    /// The stage that restores the tag behind stages that may remove or change it.
    fn set(&self) -> Document {
        doc! {"$set": {self.tag: {"$literal": self.value}}}
    }

    fn check_operators(&self, operators: &Document) -> Result<()> {
        for (operator, fields) in operators {
            let Bson::Document(fields) = fields else {
                continue;
            };
            for (path, operand) in fields {
                self.check_path(path)?;
                if let ("$rename", Bson::String(new)) = (operator.as_str(), operand) {
                    self.check_path(new)?;
                }
            }
        }
        Ok(())
    }

    fn check_path(&self, path: &str) -> Result<()> {
        let first = path.split('.').next();
        if first == Some(self.tag) {
            return Err(self.changes());
        }
        Ok(())
    }

    fn changes(&self) -> Error {
        let Self {
            tag, value, whole, ..
        } = self;
        Error::usage(format!(
            "`{tag}` says which variant of `{whole}` a document is, and is always \"{value}\" here: to make another variant of a \
             document, replace it through the collection of `{whole}`"
        ))
        .with_path(*tag)
    }

    /// Statements of an `update` or a `delete` command, each restricted to the part.
    fn statements(
        &self,
        statements: &[RawDocumentBuf],
        complete: impl Fn(&Self, &mut Document) -> Result<()>,
    ) -> Result<Vec<RawDocumentBuf>> {
        let statement = |raw: &RawDocumentBuf| {
            let mut statement = Document::try_from(&**raw).map_err(Error::encode)?;
            if let Some(Bson::Document(filter)) = statement.get_mut("q") {
                *filter = self.among_document(std::mem::take(filter));
            }
            complete(self, &mut statement)?;
            RawDocumentBuf::try_from(statement).map_err(Error::encode)
        };
        statements.iter().map(statement).collect()
    }

    fn update_statement(&self, statement: &mut Document) -> Result<()> {
        match statement.get_mut("u") {
            Some(Bson::Array(stages)) => stages.push(self.set().into()),
            Some(Bson::Document(update)) => {
                let is_replacement = !update.keys().any(|key| key.starts_with('$'));
                if !is_replacement {
                    return self.check_operators(update);
                }
                let raw = RawDocumentBuf::try_from(&*update).map_err(Error::encode)?;
                *update = Document::try_from(&*self.tagged(&raw)?).map_err(Error::encode)?;
            }
            _ => {}
        }
        Ok(())
    }

    fn pipeline(&self, mut pipeline: Vec<Document>) -> Result<Vec<Document>> {
        let first = pipeline.first_mut();
        let name = first
            .as_ref()
            .and_then(|stage| stage.keys().next().cloned());
        let operand = match (first, &name) {
            (Some(stage), Some(name)) => stage.get_mut(name),
            _ => None,
        };
        match (name.as_deref(), operand) {
            // A text search has to be in the first stage.
            (Some("$match"), Some(Bson::Document(filter))) => {
                *filter = self.among_document(std::mem::take(filter));
            }
            (Some("$geoNear"), Some(Bson::Document(near))) => {
                let query = match near.remove("query") {
                    Some(Bson::Document(query)) => query,
                    _ => Document::new(),
                };
                near.insert("query", self.among_document(query));
            }
            (Some(name), _) if OF_COLLECTION.contains(&name) => {}
            (Some(name), _) if name.starts_with("$search") || name == "$vectorSearch" => {
                return Err(Error::unsupported(format!(
                    "`{name}` has to be the first stage, and would find documents of all variants: run the pipeline on the \
                     collection of `{}`",
                    self.whole
                )));
            }
            _ => pipeline.insert(0, doc! {"$match": self.filter()}),
        }
        Ok(pipeline)
    }

    /// The document without the tag, in `without`.
    pub(crate) fn untag(&self, document: &RawDocument, without: &mut RawDocumentBuf) -> Result<()> {
        *without = RawDocumentBuf::new();
        for element in document {
            let (key, value) = element.map_err(Error::encode)?;
            if key.as_str() != self.tag {
                without.append(key, value);
            }
        }
        Ok(())
    }
}
