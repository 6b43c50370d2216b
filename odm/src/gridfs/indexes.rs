//! The indexes that the specification asks for.

use bson::{Document, doc};

use super::place::Place;
use crate::error::{Code, Result};
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
    create(
        place,
        &place.files,
        doc! {"filename": 1, "uploadDate": 1},
        false,
    )
    .await?;
    create(place, &place.chunks, doc! {"files_id": 1, "n": 1}, true).await
}

async fn create(
    place: &Place,
    collection: &CollectionName,
    key: Document,
    unique: bool,
) -> Result<()> {
    let name = key.keys().map(|name| format!("{name}_1"));
    let mut index = doc! {"key": key.clone(), "name": name.collect::<Vec<_>>().join("_")};
    if unique {
        index.insert("unique", true);
    }
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
