//! A host and its log messages: a reference in each message, the last messages in the host, or the host in each message.

use odm::bson::oid::ObjectId;
use odm::prelude::*;

fn goofy<T>() -> Id<T> {
    ObjectId::from_bytes([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xaa, 0xab]).into()
}

pub(crate) mod messages {
    use odm::prelude::*;

    use super::goofy;

    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
    #[odm(collection = "hosts", has_squillions(messages: LogMessage, by = host))]
    struct Host {
        #[serde(rename = "_id")]
        id: Id<Host>,
        name: String,
        #[odm(unique)]
        ipaddr: String,
    }

    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
    #[odm(collection = "logmsg", index(host, time = desc))]
    struct LogMessage {
        #[serde(rename = "_id")]
        id: Id<LogMessage>,
        time: DateTime,
        message: String,
        host: Ref<Host>,
    }

    pub(crate) async fn store(db: &Db) -> odm::Result<()> {
        crate::examples::sync(db, models![Host, LogMessage]).await?;
        let host = Host {
            id: goofy(),
            name: "goofy.example.com".to_owned(),
            ipaddr: "127.66.66.66".to_owned(),
        };
        let message = LogMessage {
            id: Id::new(),
            time: crate::examples::date("2014-03-28T09:42:41.382Z"),
            message: "cpu is on fire!".to_owned(),
            host: Ref::to(&host),
        };
        db.collection::<Host>().insert_one(&host).await?;
        db.collection::<LogMessage>().insert_one(&message).await?;
        Ok(())
    }

    pub(crate) async fn join(db: &Db) -> odm::Result<Vec<String>> {
        let mut lines = Vec::new();
        let hosts = db
            .collection::<Host>()
            .find(|h| h.ipaddr.eq("127.66.66.66"));
        let last = hosts.join(|h| h.messages.sort(|m| m.time.desc()).limit(5_000));
        for row in last.all().await? {
            let texts: Vec<_> = row
                .messages()
                .iter()
                .map(|it| it.message.as_str())
                .collect();
            lines.push(format!("{}: {}", row.name, texts.join(" ")));
        }
        for row in db
            .collection::<LogMessage>()
            .find_all()
            .join(|m| m.host)
            .all()
            .await?
        {
            let name = row.host().found().map_or("nowhere", |host| &host.name);
            lines.push(format!("{} at {name}", row.message));
        }
        Ok(lines)
    }
}

pub(crate) mod newest {
    use odm::prelude::*;

    use super::goofy;

    /// Keeps its last 1,000 messages, the newest at the end.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
    #[odm(collection = "hosts", has_squillions(messages: LogMessage, by = host))]
    pub(crate) struct Host {
        #[serde(rename = "_id")]
        id: Id<Host>,
        name: String,
        #[odm(unique)]
        ipaddr: String,
        #[odm(recent(LogMessage, max = 1_000, sort = time))]
        logmsgs: Vec<Line>,
    }

    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
    #[odm(collection = "logmsg", index(host, time = desc))]
    pub(crate) struct LogMessage {
        #[serde(rename = "_id")]
        id: Id<LogMessage>,
        time: DateTime,
        message: String,
        ipaddr: String,
        #[odm(recent_in = logmsgs)]
        host: Ref<Host>,
    }

    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded, Projection)]
    #[odm(of = LogMessage)]
    struct Line {
        time: DateTime,
        message: String,
    }

    pub(crate) async fn store(db: &Db) -> odm::Result<()> {
        crate::examples::sync(db, models![Host, LogMessage]).await?;
        let host = Host {
            id: goofy(),
            name: "goofy.example.com".to_owned(),
            ipaddr: "127.66.66.66".to_owned(),
            logmsgs: Vec::new(),
        };
        db.collection::<Host>().insert_one(&host).await?;
        let messages = [
            ("2014-03-28T09:42:41.382Z", "cpu is on fire!"),
            ("2014-03-28T09:41:00Z", "drive is hosed"),
        ];
        let messages = messages.map(|(time, message)| LogMessage {
            id: Id::new(),
            time: crate::examples::date(time),
            message: message.to_owned(),
            ipaddr: host.ipaddr.clone(),
            host: Ref::to(&host),
        });
        db.collection::<LogMessage>()
            .insert_many(&messages)
            .propagate()
            .await?;
        Ok(())
    }

    pub(crate) async fn join(db: &Db) -> odm::Result<Vec<String>> {
        let mut lines = Vec::new();
        let hosts = db.collection::<Host>();
        for row in hosts.find_all().join(|h| h.messages.count()).all().await? {
            let last = row.logmsgs.last().map_or("none", |line| &line.message);
            lines.push(format!(
                "{}: the last of {} messages is {last}",
                row.name,
                row.messages()
            ));
        }
        let burning = db
            .collection::<LogMessage>()
            .find(|m| m.message.contains("fire"));
        for row in burning.join(|m| m.host).all().await? {
            let name = row.host().found().map_or("nowhere", |host| &host.name);
            lines.push(format!("{} at {name}", row.message));
        }
        Ok(lines)
    }
}

pub(crate) mod alone {
    use odm::prelude::*;

    /// Holds all that is known of its host, which needs no collection.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
    #[odm(collection = "logmsg", index(ipaddr, time = desc))]
    struct LogMessage {
        #[serde(rename = "_id")]
        id: Id<LogMessage>,
        time: DateTime,
        message: String,
        ipaddr: String,
        hostname: String,
    }

    pub(crate) async fn store(db: &Db) -> odm::Result<()> {
        crate::examples::sync(db, models![LogMessage]).await?;
        let message = LogMessage {
            id: Id::new(),
            time: crate::examples::date("2014-03-28T09:42:41.382Z"),
            message: "cpu is on fire!".to_owned(),
            ipaddr: "127.66.66.66".to_owned(),
            hostname: "goofy.example.com".to_owned(),
        };
        db.collection::<LogMessage>().insert_one(&message).await?;
        Ok(())
    }

    pub(crate) async fn join(db: &Db) -> odm::Result<Vec<String>> {
        let messages = db.collection::<LogMessage>();
        let newest = messages
            .find(|m| m.ipaddr.eq("127.66.66.66"))
            .sort(|m| m.time.desc())
            .limit(5_000);
        Ok(newest
            .all()
            .await?
            .iter()
            .map(|it| format!("{} at {}, {}", it.message, it.hostname, it.ipaddr))
            .collect())
    }
}
