// A capped collection for examples: `include!` it in a hidden line.
use odm::prelude::*;

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[odm(collection = "events", capped(size = 65_536))]
struct Event {
    #[serde(rename = "_id")]
    id: Id<Event>,
    seq: i64,
    level: String,
}

fn event(seq: i64, level: &str) -> Event {
    Event {
        id: Id::new(),
        seq,
        level: level.to_owned(),
    }
}

async fn three_events() -> odm::Result<(Db, Collection<Event>)> {
    let db = Db::memory();
    db.sync(models![Event]).plan().await?.apply(Allow::CREATE).await?;
    let events = db.collection::<Event>();
    events.insert_many([event(1, "info"), event(2, "error"), event(3, "info")]).await?;
    Ok((db, events))
}
