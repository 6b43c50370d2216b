use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "hosts", has_many(messages: LogMessage, by = host))]
struct Host {
    #[serde(rename = "_id")]
    id: i32,
    owner: Ref<Host>,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "logmsg")]
struct LogMessage {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(index)]
    host: Ref<Host>,
}

async fn rows(hosts: Collection<Host>) -> odm::Result<usize> {
    let rows = hosts.find_all().join(|h| h.owner).all().await?;
    Ok(rows[0].messages().len())
}

async fn not_a_relation(hosts: Collection<Host>) {
    let _ = hosts.find_all().join(|h| h.id);
}

fn main() {}
