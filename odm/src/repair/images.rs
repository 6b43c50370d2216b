//! Documents as they were before a repair, in a collection of odm's.

use bson::oid::ObjectId;
use bson::raw::RawDocumentBuf;
use bson::{Bson, DateTime, Document, doc};

use crate::error::{Error, Result};
use crate::exec::{Channel, Image, Images};
use crate::model::{ModelMeta, REPAIRS};
use crate::store::CollectionName;

/// All handles keep images in one collection, whatever names they use.
pub(super) const COLLECTION: CollectionName = CollectionName::Declared(REPAIRS.collection);

/// Stores the images of a batch, in its transaction.
pub(super) async fn store(
    channel: &mut Channel<'_>,
    model: &'static ModelMeta,
    repair: ObjectId,
    images: Images,
) -> Result<()> {
    let mut records = Vec::new();
    for image in images.into_list() {
        let record = record(repair, image)?;
        records.push(RawDocumentBuf::try_from(record).map_err(Error::encode)?);
    }
    if records.is_empty() {
        return Ok(());
    }
    let stored = channel.named(COLLECTION, model).insert(records).await;
    stored.map(drop)
}

/// The record of a written document: the fields that changed, or the document if it was deleted.
fn record(repair: ObjectId, image: Image) -> Result<Document> {
    let Image {
        model,
        id,
        before,
        after,
    } = image;
    let before = Document::try_from(before).map_err(Error::encode)?;
    let mut record = doc! {
        // Ids of one process increase, so that an undo finds the last writes first.
        "_id": {"repair": repair, "image": ObjectId::new()},
        "at": DateTime::now(),
        "collection": model.collection,
        "document": id,
    };
    match after {
        None => drop(record.insert("deleted", before)),
        Some(after) => {
            let after = Document::try_from(after).map_err(Error::encode)?;
            record.insert("fields", changed(before, after));
        }
    }
    Ok(record)
}

/// The fields at the top level that differ.
fn changed(mut before: Document, mut after: Document) -> Vec<Bson> {
    let mut names: Vec<String> = before.keys().cloned().collect();
    names.extend(
        after
            .keys()
            .filter(|name| !before.contains_key(name))
            .cloned(),
    );
    let mut fields = Vec::new();
    for name in names {
        let (before, after) = (before.remove(&name), after.remove(&name));
        if before == after {
            continue;
        }
        let mut field = doc! {"name": name};
        if let Some(before) = before {
            field.insert("before", before);
        }
        if let Some(after) = after {
            field.insert("after", after);
        }
        fields.push(field.into());
    }
    fields
}
