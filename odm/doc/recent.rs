use odm::prelude::*;

#[derive(Debug, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "hosts", has_squillions(messages: LogMessage, by = host))]
struct Host {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(recent(LogMessage, max = 2, sort = time))]
    logmsgs: Vec<Line>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "logmsg", index(host, time = desc))]
struct LogMessage {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(recent_in = logmsgs)]
    host: Ref<Host>,
    time: i32,
    message: String,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, Embedded, Projection)]
#[odm(of = LogMessage)]
struct Line {
    time: i32,
    message: String,
}

#[allow(dead_code)]
fn message(id: i32, host: i32, time: i32) -> LogMessage {
    LogMessage { id, host: Ref::from(host), time, message: format!("message {id}") }
}

/// Two hosts, and three messages of the first, of which its list has the newest two.
#[allow(dead_code)]
async fn two_hosts() -> odm::Result<Db> {
    let db = Db::memory();
    db.sync(models![Host, LogMessage]).plan().await?.apply(Allow::CREATE).await?;
    let host = |id| Host { id, logmsgs: Vec::new() };
    db.collection::<Host>().insert_many([host(1), host(2)]).await?;
    let messages = [(1, 10), (2, 20), (3, 30)].map(|(id, time)| message(id, 1, time));
    db.collection::<LogMessage>().insert_many(messages).propagate().await?;
    Ok(db)
}

/// The times in the list of a host.
#[allow(dead_code)]
async fn times(db: &Db, id: i32) -> odm::Result<Vec<i32>> {
    let host = db.collection::<Host>().get(&id).await?;
    let lines = host.map_or(Vec::new(), |host| host.logmsgs);
    Ok(lines.iter().map(|line| line.time).collect())
}
