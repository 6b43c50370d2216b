//! The part of the other side that a join reads: a filter, an order, a limit and a projection.

use std::borrow::Cow;

use bson::raw::{RawDocument, RawDocumentBuf};
use bson::{Bson, Document, doc};
use serde::de::DeserializeOwned;

use super::branch::Branches;
use super::projected as kept;
use crate::collection::versions::{Current, projected};
use crate::collection::{ReadAs, projection};
use crate::error::{DecodeError, Error, Result};
use crate::exec::Channel;
use crate::model::{self, ModelMeta, Projection};
use crate::query::{FilterFn, SortFn, fields};
use crate::store::operation::Operation;
use crate::store::options::Chosen;

/// The documents to read of a joined collection.
#[derive(Debug)]
pub(super) struct Scope {
    model: &'static ModelMeta,
    pub(super) filter: Option<Document>,
    pub(super) sort: Option<Document>,
    pub(super) limit: Option<u32>,
    projection: Option<Document>,
    /// The top-level fields that the join needs and the projection's struct does not have.
    extra: Vec<String>,
    error: Option<Error>,
}

impl Scope {
    pub(super) fn new(model: &'static ModelMeta) -> Self {
        Self {
            model,
            filter: None,
            sort: None,
            limit: None,
            projection: None,
            extra: Vec::new(),
            error: None,
        }
    }

    /// Adds a condition to those that were set before.
    pub(super) fn filter<T: model::Document>(&mut self, condition: impl FilterFn<T>) {
        match condition(fields::<T>()).into_document() {
            Ok(filter) => {
                self.filter = Some(match self.filter.take() {
                    Some(before) => doc! {"$and": [before, filter]},
                    None => filter,
                });
            }
            Err(error) => {
                self.error.get_or_insert(error.with_model(self.model.name));
            }
        }
    }

    pub(super) fn sort<T: model::Document>(&mut self, sort: impl SortFn<T>) {
        match sort(fields::<T>()).to_document() {
            Ok(sort) => self.sort = Some(sort),
            Err(error) => {
                self.error.get_or_insert(error.with_model(self.model.name));
            }
        }
    }

    /// Reads the documents as `P`; `needed` are the stored paths that the join reads besides.
    pub(super) fn select<P: Projection>(&mut self, needed: &[&str]) {
        let mut projection = projection::<P>();
        for path in needed {
            let top = path.split('.').next().unwrap_or(path);
            if kept::sends(&projection, path) {
                continue;
            }
            if P::FIELDS.iter().all(|field| field.name != top) {
                self.extra.push(top.to_owned());
            }
            if top == "_id" {
                projection.remove("_id");
            } else {
                projection.insert(*path, 1);
            }
        }
        self.projection = Some(projection);
    }

    /// Remembers an error until the join runs.
    pub(super) fn fail(&mut self, error: Error) {
        self.error.get_or_insert(error);
    }

    /// Reads only the fields of this projection.
    pub(super) fn project(&mut self, projection: Document) {
        self.projection = Some(projection);
    }

    /// Returns the error of a filter that could not be encoded.
    fn check(&mut self) -> Result<()> {
        match self.error.take() {
            Some(error) => Err(error),
            None => Ok(()),
        }
    }

    /// Checks the scope, and the branches of the documents that it reads.
    pub(super) fn check_with(&mut self, branches: &mut impl Branches) -> Result<()> {
        self.check()?;
        branches
            .check(self.projection.as_ref())
            .map_err(|error| self.named(error))
    }

    /// Names the model in an error of a document that was read.
    pub(super) fn named(&self, error: Error) -> Error {
        error.with_model(self.model.name)
    }

    /// The condition, and the scope's own.
    pub(super) fn condition(&self, path: &str, values: Vec<Bson>) -> Document {
        let mut condition = doc! {path: {"$in": values}};
        if let Some(filter) = &self.filter {
            condition.insert("$and", [filter.clone()]);
        }
        condition
    }

    /// The stages of a pipeline that read the scope.
    pub(super) fn stages(&self) -> Vec<Document> {
        let mut stages = Vec::new();
        if let Some(filter) = &self.filter {
            stages.push(doc! {"$match": filter.clone()});
        }
        if let Some(sort) = &self.sort {
            stages.push(doc! {"$sort": sort.clone()});
        }
        if let Some(limit) = self.limit {
            stages.push(doc! {"$limit": i64::from(limit)});
        }
        if let Some(projection) = &self.projection {
            let projection = projected(self.model, projection.clone());
            stages.push(doc! {"$project": projection});
        }
        stages
    }

    /// The document in the form that the program knows.
    pub(super) fn current<'r>(&self, raw: &'r RawDocument) -> Result<Current<'r>> {
        ReadAs::of_model(self.model, self.projection.as_ref()).current(raw)
    }

    /// Decodes a document without the fields that only joins read.
    pub(super) fn decode<T: DeserializeOwned>(&self, mut current: Current<'_>) -> Result<T> {
        let name = self.model.name;
        if self.extra.is_empty() {
            return current.decode(name);
        }
        let mut bare = RawDocumentBuf::new();
        for element in &*current.raw {
            let (key, value) = element.map_err(|error| {
                let message = error.to_string();
                Error::new(DecodeError::new(None, message, Some(Box::new(error)))).with_model(name)
            })?;
            if !self.extra.iter().any(|extra| extra == key.as_str()) {
                bare.append(key, value);
            }
        }
        current.raw = Cow::Owned(bare);
        current.decode(name)
    }

    /// Runs a find, and calls `visit` with each document.
    pub(super) async fn find(
        &self,
        channel: &mut Channel<'_>,
        condition: Document,
        visit: impl FnMut(&RawDocument) -> Result<()> + Send,
    ) -> Result<()> {
        let (operation, options) = self.query(channel, condition);
        channel.of(self.model).read(operation, options, visit).await
    }

    /// A find of the documents.
    fn query(&self, channel: &Channel<'_>, condition: Document) -> (Operation, Chosen) {
        let operation = Operation::Find {
            filter: condition.into(),
            one: false,
        };
        let mut options = channel.options();
        if self.sort.is_some() {
            options.sort.clone_from(&self.sort);
        }
        if self.limit.is_some() {
            options.limit = self.limit.map(i64::from);
        }
        if self.projection.is_some() {
            let projection = self.projection.clone();
            options.projection = projection.map(|it| projected(self.model, it));
        }
        (operation, options)
    }

    /// Explains a find without sending it.
    pub(super) async fn explain(
        &self,
        channel: &mut Channel<'_>,
        condition: Document,
    ) -> Result<()> {
        if !channel.is_explained() {
            return Ok(());
        }
        let (operation, options) = self.query(channel, condition);
        channel.of(self.model).explain(operation, options).await
    }
}

/// Refuses a projection that leaves out a field that a join reads: its rows would look as if they did not have it.
pub(super) fn check_projection(projection: Option<&Document>, path: &str) -> Result<()> {
    if projection.is_none_or(|projection| kept::sends(projection, path)) {
        return Ok(());
    }
    let message = "a projection that is joined must include the field that the join reads";
    Err(Error::usage(message).with_path(path.to_owned()))
}
