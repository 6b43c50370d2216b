//! The indexes that the specification asks for.

use bson::{Document, doc};

use super::place::Place;
use crate::error::{Code, Result};
use crate::model::gridfs::CHUNKS;
use crate::store::options::{Chosen, Options, ReadPreference};
use crate::store::{CollectionName, Operation};

/// Creates the indexes of a bucket that has no file yet, unless it has them.
pub(super) async fn ensure(place: &Place) -> Result<()> {
    let find = Operation::Find {
        filter: Document::new().into(),
        one: true,
    };
    let options = Options {
        projection: Some(doc! {"_id": 1}),
        read_preference: Some(ReadPreference::primary()),
        ..Options::default()
    };
    let mut channel = place.channel();
    let files = channel.named(place.files.clone(), place.model);
    if !files
        .documents(find, Chosen::from(options))
        .await?
        .is_empty()
    {
        return Ok(());
    }
    for (meta, collection) in [(place.model, &place.files), (&CHUNKS, &place.chunks)] {
        if let Some(index) = meta.index_of_gridfs() {
            create(place, collection, index).await?;
        }
    }
    Ok(())
}

async fn create(place: &Place, collection: &CollectionName, index: Document) -> Result<()> {
    let create = doc! {"createIndexes": &**collection, "indexes": [index]};
    match place.store.run_command(create).await {
        Ok(_) => Ok(()),
        // Another program has made it with a name or an option of its own.
        Err(error)
            if [
                Some(Code::INDEX_OPTIONS_CONFLICT),
                Some(Code::INDEX_KEY_SPECS_CONFLICT),
            ]
            .contains(&error.code()) =>
        {
            Ok(())
        }
        Err(error) => Err(error.with_model(place.model.name)),
    }
}
