//! Random verbs, options and places to run, compared with a plain model of the facts.

pub(super) mod bulk;

use std::collections::BTreeMap;
use std::future::IntoFuture;
use std::time::Duration;

use odm::bson::{Bson, Document as BsonDocument};
use odm::collection::{ReturnDocument, Session};
use odm::prelude::*;
use odm::write::Atomic;

use super::{Host, Message, host, message, stored};
use crate::random::{Random, count};

const HOSTS: usize = 3;
const MESSAGES: usize = 6;

/// The facts of a message. A deleted host is taken out of `host`, and not out of `log`.
#[derive(Debug, Clone, PartialEq)]
struct Facts {
    host: Option<i32>,
    log: Option<i32>,
    rank: i32,
}

/// The names of hosts, and the facts of messages.
#[derive(Debug, Clone, Default, PartialEq)]
struct Plain {
    hosts: BTreeMap<i32, String>,
    messages: BTreeMap<i32, Facts>,
}

/// What becomes of a document. One that is not there may be inserted.
#[derive(Debug, Clone)]
enum Change {
    Host(i32, String),
    Message(i32, Option<i32>, i32),
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Verb {
    Insert,
    UpdateById,
    UpdateMany,
    ReplaceById,
    FindAndUpdate,
    FindAndReplace,
    Save,
    FindOrInsert,
    Delete,
    FindAndDelete,
}

const VERBS: [Verb; 10] = [
    Verb::Insert,
    Verb::UpdateById,
    Verb::UpdateMany,
    Verb::ReplaceById,
    Verb::FindAndUpdate,
    Verb::FindAndReplace,
    Verb::Save,
    Verb::FindOrInsert,
    Verb::Delete,
    Verb::FindAndDelete,
];

#[derive(Debug, Clone, Copy, PartialEq)]
enum Place {
    Own,
    NonAtomic,
    Committed,
    Aborted,
}

#[derive(Debug, Clone, Copy)]
struct How {
    place: Place,
    upsert: bool,
    after: bool,
    in_background: bool,
}

impl Change {
    fn random(random: &mut Random) -> Self {
        let id = |random: &mut Random, end| i32::try_from(random.below(end)).unwrap();
        if random.one_in(2) {
            let name = (*random.pick(&["ada", "bob", "cyd"])).to_owned();
            return Self::Host(id(random, HOSTS), name);
        }
        let host = (!random.one_in(4)).then(|| id(random, HOSTS));
        Self::Message(id(random, MESSAGES), host, id(random, 4))
    }
}

impl Change {
    fn id(&self) -> i32 {
        let (Self::Host(id, _) | Self::Message(id, ..)) = self;
        *id
    }
}

impl Plain {
    fn has(&self, change: &Change) -> bool {
        match change {
            Change::Host(id, _) => self.hosts.contains_key(id),
            Change::Message(id, ..) => self.messages.contains_key(id),
        }
    }

    /// Writes the facts; returns `false` where a reference would lead to nothing.
    fn write(&mut self, change: &Change) -> bool {
        if let Change::Message(_, Some(host), _) = change
            && !self.hosts.contains_key(host)
        {
            return false;
        }
        self.put(change);
        true
    }

    fn put(&mut self, change: &Change) {
        match change {
            Change::Host(id, name) => {
                self.hosts.insert(*id, name.clone());
            }
            Change::Message(id, host, rank) => {
                let facts = Facts {
                    host: *host,
                    log: *host,
                    rank: *rank,
                };
                self.messages.insert(*id, facts);
            }
        }
    }

    fn delete(&mut self, change: &Change) {
        match change {
            Change::Host(id, _) => {
                self.hosts.remove(id);
                for message in self.messages.values_mut() {
                    message.host.take_if(|host| host == id);
                }
            }
            Change::Message(id, ..) => {
                self.messages.remove(id);
            }
        }
    }

    /// Runs the verb; returns `None` if it has to fail.
    fn run(&mut self, verb: Verb, change: &Change, how: How) -> Option<()> {
        let before = self.clone();
        let is_there = self.has(change);
        let is_written = match verb {
            Verb::Insert | Verb::FindOrInsert if is_there => true,
            Verb::Insert | Verb::FindOrInsert => self.write(change),
            Verb::Delete | Verb::FindAndDelete => {
                self.delete(change);
                true
            }
            _ if is_there || (how.upsert && verb != Verb::Save) => self.write(change),
            _ => true,
        };
        if !is_written || how.place == Place::Aborted {
            *self = before;
        }
        is_written.then_some(())
    }

    /// Compares all documents with what follows from the facts.
    async fn compare(&self, db: &Db, what: &str) {
        let hosts = stored(db, "hosts").await;
        let found: Vec<_> = hosts.iter().map(id).collect();
        assert_eq!(
            found,
            self.hosts.keys().copied().collect::<Vec<_>>(),
            "{what}"
        );
        for (stored, (id, name)) in hosts.iter().zip(&self.hosts) {
            let of = |reference: fn(&Facts) -> Option<i32>| {
                let messages = self.messages.iter();
                let referring = messages.filter(|(_, facts)| reference(facts) == Some(*id));
                let mut all: Vec<_> = referring.map(|(id, facts)| (facts.rank, *id)).collect();
                all.sort_unstable();
                all
            };
            let (all, logged) = (of(|facts| facts.host), of(|facts| facts.log));
            let best = all
                .last()
                .map_or(Bson::Null, |(rank, _)| Bson::Int32(*rank));
            let newest = logged.iter().skip(logged.len().saturating_sub(2));
            let newest: Vec<i32> = newest.map(|(rank, _)| *rank).collect();
            let mut ids: Vec<i32> = all.iter().map(|(_, id)| *id).collect();
            ids.sort_unstable();
            let list = |name: &str| stored.get_array(name).unwrap().clone();
            let mut linked: Vec<i32> = list("messages").iter().map(number).collect();
            linked.sort_unstable();
            let ranks: Vec<i32> = list("newest")
                .iter()
                .map(|line| number(&line.as_document().unwrap()["rank"]))
                .collect();
            assert_eq!(stored.get_str("name").unwrap(), name, "{what}");
            assert_eq!(linked, ids, "the list of {id}: {what}");
            assert_eq!(ranks, newest, "the newest of {id}: {what}");
            assert_eq!(stored["best"], best, "{id}: {what}");
            let counted = i32::try_from(all.len()).unwrap();
            assert_eq!(number(&stored["count"]), counted, "{id}: {what}");
        }
        let messages = stored(db, "messages").await;
        let found: Vec<_> = messages.iter().map(id).collect();
        assert_eq!(
            found,
            self.messages.keys().copied().collect::<Vec<_>>(),
            "{what}"
        );
        for (stored, (id, facts)) in messages.iter().zip(&self.messages) {
            let (host, rank) = (&facts.host, &facts.rank);
            let reference = stored.get("host").filter(|host| **host != Bson::Null);
            assert_eq!(reference.map(number), *host, "the host of {id}: {what}");
            assert_eq!(number(&stored["rank"]), *rank, "{what}");
            let name = host.and_then(|host| self.hosts.get(&host));
            let copy = stored.get("host_name").and_then(Bson::as_str);
            assert_eq!(copy, name.map(String::as_str), "the name in {id}: {what}");
        }
    }
}

fn number(value: &Bson) -> i32 {
    match value {
        Bson::Int32(value) => *value,
        Bson::Int64(value) => i32::try_from(*value).unwrap(),
        other => panic!("{other} is no number"),
    }
}

fn id(document: &BsonDocument) -> i32 {
    number(&document["_id"])
}

/// Sends the writes in the session, if there is one.
async fn send<'s, W, T>(
    writes: Atomic<'s, W>,
    session: Option<&'s mut Session>,
    how: How,
) -> odm::Result<T>
where
    Atomic<'s, W>: IntoFuture<Output = odm::Result<T>>,
{
    let writes = match session {
        Some(session) => writes.session(session),
        None if how.place == Place::NonAtomic => writes.non_atomic(),
        None => writes,
    };
    writes.await
}

/// Propagates at once or in the background.
macro_rules! propagate {
    ($write:expr, $session:ident, $how:ident) => {{
        let write = $write;
        let writes = if $how.in_background {
            write.in_background()
        } else {
            write.propagate()
        };
        send(writes, $session, $how).await
    }};
}

/// The document as a caller would build it: facts, and derived fields with anything in them.
async fn host_to_write(db: &Db, id: i32, name: &str) -> Host {
    let stored = db.collection::<Host>().get(&id).await.unwrap();
    let links = stored.map_or(Vec::new(), |host| host.messages);
    let mut new = host(id, name);
    new.messages = links;
    new.count = 77;
    new.best = Some(99);
    new
}

fn message_to_write(id: i32, host: Option<i32>, rank: i32) -> Message {
    let mut new = message(id, host, rank);
    new.host_name = host.map(|_| "?".to_owned());
    new
}

async fn write_host(
    db: &Db,
    verb: Verb,
    (id, name): (i32, &str),
    session: Option<&mut Session>,
    how: How,
) -> odm::Result<()> {
    let hosts = db.collection::<Host>();
    let new = host_to_write(db, id, name).await;
    let returned = if how.after {
        ReturnDocument::After
    } else {
        ReturnDocument::Before
    };
    let change = |h: <Host as Embedded>::Fields<Host>| {
        h.name.set(name)
            & h.count.set_on_insert(5)
            & h.messages.set_on_insert(Vec::new())
            & h.newest.set_on_insert(Vec::new())
            & h.best.set_on_insert(None)
            & h.tags.set_on_insert(Vec::new())
    };
    match verb {
        Verb::Insert => propagate!(hosts.insert_one(&new), session, how).map(drop),
        Verb::UpdateById => {
            let update = hosts.update_by_id(&id, change).upsert(how.upsert);
            propagate!(update, session, how).map(drop)
        }
        Verb::UpdateMany => {
            let update = hosts
                .update_many(|h| h.id.eq(id), change)
                .upsert(how.upsert);
            propagate!(update, session, how).map(drop)
        }
        Verb::ReplaceById => {
            let replace = hosts.replace_by_id(&id, &new).upsert(how.upsert);
            propagate!(replace, session, how).map(drop)
        }
        Verb::FindAndUpdate => {
            let update = hosts.find_one_and_update(|h| h.id.eq(id), change);
            let update = update.upsert(how.upsert).return_document(returned);
            let found = propagate!(update, session, how)?;
            if let Some(found) = found.filter(|_| how.after) {
                assert_eq!(found.name, name);
            }
            Ok(())
        }
        Verb::FindAndReplace => {
            let replace = hosts.find_one_and_replace(|h| h.id.eq(id), &new);
            let replace = replace.upsert(how.upsert).return_document(returned);
            let found = propagate!(replace, session, how)?;
            if let Some(found) = found.filter(|_| how.after) {
                let is_computed = how.in_background || found.count != 77;
                assert!(is_computed, "{found:?}");
            }
            Ok(())
        }
        Verb::Save => {
            let Some(mut loaded) = hosts.load(&id).await? else {
                return Ok(());
            };
            let mut session = session;
            // The second save goes on with what the first has written.
            for name in ["new", name] {
                name.clone_into(&mut loaded.name);
                loaded.count = 77;
                let session = session.as_deref_mut();
                propagate!(hosts.save(&mut loaded), session, how)?;
            }
            Ok(())
        }
        Verb::FindOrInsert => {
            let call = hosts.find_one_or_insert(|h| h.id.eq(id), &new);
            send(call.propagate(), session, how).await.map(drop)
        }
        Verb::Delete => {
            let delete = hosts.delete_by_id(&id).with_dependents();
            send(delete, session, how).await.map(drop)
        }
        Verb::FindAndDelete => {
            let delete = hosts.find_one_and_delete(|h| h.id.eq(id));
            send(delete.with_dependents(), session, how).await.map(drop)
        }
    }
}

async fn write_message(
    db: &Db,
    verb: Verb,
    (id, host, rank): (i32, Option<i32>, i32),
    session: Option<&mut Session>,
    how: How,
) -> odm::Result<()> {
    let messages = db.collection::<Message>();
    let new = message_to_write(id, host, rank);
    let returned = if how.after {
        ReturnDocument::After
    } else {
        ReturnDocument::Before
    };
    let change = |m: <Message as Embedded>::Fields<Message>| {
        m.host.set(host.map(Ref::from))
            & m.log.set(host.map(Ref::from))
            & m.rank.set(rank)
            & m.host_name.set_on_insert(None)
    };
    match verb {
        Verb::Insert => propagate!(messages.insert_one(&new), session, how).map(drop),
        Verb::UpdateById => {
            let update = messages.update_by_id(&id, change).upsert(how.upsert);
            propagate!(update, session, how).map(drop)
        }
        Verb::UpdateMany => {
            let update = messages.update_many(|m| m.id.eq(id), change);
            propagate!(update.upsert(how.upsert), session, how).map(drop)
        }
        Verb::ReplaceById => {
            let replace = messages.replace_by_id(&id, &new).upsert(how.upsert);
            propagate!(replace, session, how).map(drop)
        }
        Verb::FindAndUpdate => {
            let update = messages.find_one_and_update(|m| m.id.eq(id), change);
            let update = update.upsert(how.upsert).return_document(returned);
            propagate!(update, session, how).map(drop)
        }
        Verb::FindAndReplace => {
            let replace = messages.find_one_and_replace(|m| m.id.eq(id), &new);
            let replace = replace.upsert(how.upsert).return_document(returned);
            let found = propagate!(replace, session, how)?;
            if let Some(found) = found.filter(|_| how.after) {
                assert_ne!(found.host_name.as_deref(), Some("?"), "{found:?}");
            }
            Ok(())
        }
        Verb::Save => {
            let Some(mut loaded) = messages.load(&id).await? else {
                return Ok(());
            };
            loaded.host = host.map(Ref::from);
            loaded.log = host.map(Ref::from);
            loaded.rank = rank;
            propagate!(messages.save(&mut loaded), session, how).map(drop)
        }
        Verb::FindOrInsert => {
            let call = messages.find_one_or_insert(|m| m.id.eq(id), &new);
            send(call.propagate(), session, how).await.map(drop)
        }
        Verb::Delete => {
            let delete = messages.delete_by_id(&id).with_dependents();
            send(delete, session, how).await.map(drop)
        }
        Verb::FindAndDelete => {
            let delete = messages.find_one_and_delete(|m| m.id.eq(id));
            send(delete.with_dependents(), session, how).await.map(drop)
        }
    }
}

async fn write(
    db: &Db,
    verb: Verb,
    change: &Change,
    session: Option<&mut Session>,
    how: How,
) -> odm::Result<()> {
    match change {
        Change::Host(id, name) => write_host(db, verb, (*id, name), session, how).await,
        Change::Message(id, host, rank) => {
            write_message(db, verb, (*id, *host, *rank), session, how).await
        }
    }
}

/// `ODM_VERBS` sets the number of rounds.
pub(super) async fn random_verbs_leave_what_a_plain_model_leaves(db: &Db) {
    let mut random = Random::unless_set("ODM_VERBS", 23);
    let (hosts, messages) = (db.collection::<Host>(), db.collection::<Message>());
    for round in 0..count("ODM_VERBS", 12) {
        hosts.delete_all().leave_dangling().await.unwrap();
        messages.delete_all().leave_dangling().await.unwrap();
        let mut plain = Plain::default();
        for step in 0..25 {
            let change = Change::random(&mut random);
            let verb = *random.pick(&VERBS);
            let places = [
                Place::Own,
                Place::Own,
                Place::NonAtomic,
                Place::Committed,
                Place::Aborted,
            ];
            let mut how = How {
                place: *random.pick(&places),
                upsert: random.one_in(2),
                after: random.one_in(2),
                in_background: random.one_in(4),
            };
            if how.place == Place::NonAtomic {
                // What fails without a transaction may leave a part, and an upsert is refused.
                how.upsert = false;
                how.place = Place::Own;
                let fails = plain.clone().run(verb, &change, how).is_none();
                if !fails && verb != Verb::Insert {
                    how.place = Place::NonAtomic;
                }
            }
            if verb == Verb::Insert && plain.has(&change) {
                continue;
            }
            let what = format!(
                "seed {}, round {round}, step {step}: {verb:?} {change:?} {how:?} on {plain:?}",
                random.seed()
            );
            let expected = plain.run(verb, &change, how);
            let done = match how.place {
                Place::Own | Place::NonAtomic => write(db, verb, &change, None, how).await,
                Place::Committed | Place::Aborted => {
                    let mut session = db.start_session().await.unwrap();
                    session.start_transaction().await.unwrap();
                    let done = write(db, verb, &change, Some(&mut session), how).await;
                    if done.is_ok() && how.place == Place::Committed {
                        session.commit_transaction().await.unwrap();
                    } else {
                        session.abort_transaction().await.unwrap();
                    }
                    done
                }
            };
            match (&done, expected) {
                (Ok(()), Some(())) => {}
                (Err(error), None) if error.is_dangling() => {}
                _ => panic!("{done:?}, {expected:?}: {what}"),
            }
            if how.in_background {
                let throttled = 1 + random.below(3);
                let resume = hosts.resume_propagation();
                resume.throttle(throttled, Duration::ZERO).await.unwrap();
                messages.resume_propagation().await.unwrap();
            }
            plain.compare(db, &what).await;
            assert!(stored(db, "odm_propagations").await.is_empty(), "{what}");
        }
    }
}
