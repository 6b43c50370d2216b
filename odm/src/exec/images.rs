//! Documents as they are before and after the writes of a channel.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use bson::raw::RawDocumentBuf;
use bson::{Bson, Document, doc};

use super::{Channel, Keys};
use crate::error::{Error, Result};
use crate::model::ModelMeta;
use crate::query::operators::any_of;
use crate::store::Operation;
use crate::store::options::{Collation, Options};

/// The conditions of how many statements are read by one query.
const STATEMENTS: usize = 100;

/// The documents that a channel has written, in the order of the writes.
#[derive(Debug, Default)]
pub(crate) struct Images(Mutex<Vec<Image>>);

/// A document before and after a write.
#[derive(Debug)]
pub(crate) struct Image {
    pub(crate) model: &'static ModelMeta,
    pub(crate) id: Bson,
    pub(crate) before: RawDocumentBuf,
    /// `None` if it was deleted.
    pub(crate) after: Option<RawDocumentBuf>,
}

impl Images {
    /// Adds documents that were written since they were read.
    pub(super) async fn add(
        &self,
        channel: &mut Channel<'_>,
        model: &'static ModelMeta,
        before: Vec<RawDocumentBuf>,
    ) -> Result<()> {
        let ids = ids(&before)?;
        let mut after: Vec<Option<RawDocumentBuf>> = vec![None; ids.len()];
        for part in ids.parts() {
            for document in read(channel, model, any_of("_id", part), None).await? {
                let id = document.get("_id").map_err(Error::encode)?;
                let position = id.and_then(|id| ids.position(id));
                if let Some(after) = position.and_then(|position| after.get_mut(position)) {
                    *after = Some(document);
                }
            }
        }
        let mut images = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for before in before {
            let id = before.get("_id").map_err(Error::encode)?;
            let position = id.and_then(|id| ids.position(id));
            let (Some(position), Some(id)) = (position, id) else {
                continue;
            };
            let after = after.get_mut(position).and_then(Option::take);
            if after.as_ref() == Some(&before) {
                continue;
            }
            images.push(Image {
                model,
                id: Bson::try_from(id).map_err(Error::encode)?,
                before,
                after,
            });
        }
        Ok(())
    }

    pub(crate) fn into_list(self) -> Vec<Image> {
        self.0.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Reads the documents that an operation writes, each once.
pub(super) async fn written(
    channel: &mut Channel<'_>,
    model: &'static ModelMeta,
    operation: &Operation,
) -> Result<Vec<RawDocumentBuf>> {
    let (Operation::Updates { statements } | Operation::Deletes { statements }) = operation else {
        return Ok(Vec::new());
    };
    let mut filters: BTreeMap<Option<String>, Vec<Document>> = BTreeMap::new();
    for statement in statements {
        let mut statement = Document::try_from(statement).map_err(Error::encode)?;
        let collation = statement.get_document("collation").ok();
        let collation = collation.and_then(|collation| collation.get_str("locale").ok());
        let collation = collation.map(str::to_owned);
        if let Some(Bson::Document(filter)) = statement.remove("q") {
            filters.entry(collation).or_default().push(filter);
        }
    }
    let (mut documents, mut seen) = (Vec::new(), Keys::default());
    for (collation, filters) in filters {
        for part in filters.chunks(STATEMENTS) {
            let any = doc! {"$or": part};
            for document in read(channel, model, any, collation.as_deref()).await? {
                let known = seen.len();
                if let Some(id) = document.get("_id").map_err(Error::encode)? {
                    seen.add(id)?;
                }
                if seen.len() > known {
                    documents.push(document);
                }
            }
        }
    }
    Ok(documents)
}

async fn read(
    channel: &mut Channel<'_>,
    model: &'static ModelMeta,
    filter: Document,
    collation: Option<&str>,
) -> Result<Vec<RawDocumentBuf>> {
    let find = Operation::Find {
        filter: filter.into(),
        one: false,
    };
    let options = Options {
        collation: collation.map(Collation::new),
        ..channel.current()
    };
    channel.of(model).documents(find, options.into()).await
}

fn ids(documents: &[RawDocumentBuf]) -> Result<Keys> {
    let mut ids = Keys::default();
    for document in documents {
        if let Some(id) = document.get("_id").map_err(Error::encode)? {
            ids.add(id)?;
        }
    }
    Ok(ids)
}
