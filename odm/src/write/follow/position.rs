//! The stored position of a follower in the stream of changes.

use bson::{Bson, Document, doc};

use crate::error::{Code, Error, Result};
use crate::exec::Channel;
use crate::model::FOLLOWERS;
use crate::store::Operation;
use crate::store::options::Chosen;

/// The position of a follower, by its name.
#[derive(Debug)]
pub(super) struct Position {
    name: String,
}

impl Position {
    pub(super) fn of(name: String) -> Self {
        Self { name }
    }

    /// The token after the last batch that was handled.
    pub(super) async fn read(&self, channel: &mut Channel<'static>) -> Result<Option<Document>> {
        let find = Operation::Find {
            filter: doc! {"_id": &self.name}.into(),
            one: true,
        };
        let options = Chosen::from(channel.current());
        let found = channel.of(&FOLLOWERS).documents(find, options).await?;
        let Some(found) = found.first() else {
            return Ok(None);
        };
        let found = Document::try_from(found).map_err(Error::encode)?;
        Ok(found.get_document("token").ok().cloned())
    }

    /// Stores a token, unless another follower of the name has stored a later one. The strings of tokens sort in the order
    /// of events.
    pub(super) async fn write(
        &self,
        channel: &mut Channel<'static>,
        token: &Document,
    ) -> Result<()> {
        let mut filter = doc! {"_id": {"$eq": &self.name}};
        if let Some(data) = token.get("_data") {
            let is_earlier = [
                doc! {"token._data": {"$lt": data}},
                doc! {"token._data": {"$not": {"$type": "string"}}},
            ];
            filter.insert("$or", is_earlier.as_slice());
        }
        let change = doc! {"$set": {"token": token}, "$currentDate": {"at": true}};
        let statement = doc! {"q": filter, "u": change, "upsert": true};
        let written = channel.of(&FOLLOWERS).update(vec![statement]).await;
        match written {
            Err(error) if error.is_duplicate_key() => Ok(()),
            written => written.map(drop),
        }
    }

    /// Removes a token that is of no use.
    pub(super) async fn forget(
        &self,
        channel: &mut Channel<'static>,
        token: &Document,
    ) -> Result<()> {
        let filter = doc! {"_id": {"$eq": &self.name}, "token": {"$eq": Bson::from(token.clone())}};
        channel.of(&FOLLOWERS).delete(vec![filter]).await.map(drop)
    }
}

/// Whether a stream has ended because the store has no longer the events behind its position.
pub(super) fn is_lost(error: &Error) -> bool {
    let lost = [
        Code::CHANGE_STREAM_HISTORY_LOST,
        Code::CHANGE_STREAM_FATAL_ERROR,
        Code::CAPPED_POSITION_LOST,
    ];
    error.code().is_some_and(|code| lost.contains(&code))
}
