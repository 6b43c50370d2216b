use odm::prelude::*;

#[derive(Debug, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "hosts", has_squillions(messages: LogMessage, by = host))]
struct Host {
    #[serde(rename = "_id")]
    id: i32,
    name: String,
    ipaddr: String,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "logmsg")]
struct LogMessage {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(index)]
    host: Ref<Host>,
    #[odm(copy_of(host.ipaddr))]
    ipaddr: String,
}

/// A message of a host, whose address is to be filled in.
#[allow(dead_code)]
fn message(id: i32, host: i32) -> LogMessage {
    LogMessage { id, host: Ref::from(host), ipaddr: String::new() }
}

/// Two hosts, and three messages of the first.
#[allow(dead_code)]
async fn two_hosts() -> odm::Result<Db> {
    let db = Db::memory();
    db.sync(models![Host, LogMessage]).plan().await?.apply(Allow::CREATE).await?;
    let host = |id, name: &str, ipaddr: &str| Host { id, name: name.into(), ipaddr: ipaddr.into() };
    let hosts = [host(1, "mickey", "127.0.0.1"), host(2, "minnie", "127.0.0.2")];
    db.collection::<Host>().insert_many(hosts).await?;
    let messages = (1..=3).map(|id| message(id, 1));
    db.collection::<LogMessage>().insert_many(messages).propagate().await?;
    Ok(db)
}
