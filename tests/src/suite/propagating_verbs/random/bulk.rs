//! Random bulk writes.

use odm::collection::{Session, Write, Writes};
use odm::prelude::*;

use super::{Change, How, Place, Plain, Verb, host_to_write, message_to_write, send, stored};
use crate::random::{Random, count};
use crate::suite::propagating_verbs::{Host, Message};

/// In the order in which unordered writes are sent.
const VERBS: [Verb; 6] = [
    Verb::Insert,
    Verb::UpdateById,
    Verb::UpdateMany,
    Verb::ReplaceById,
    Verb::FindAndUpdate,
    Verb::Delete,
];

/// The position of the verb's command among unordered writes.
fn group(verb: Verb) -> u8 {
    match verb {
        Verb::Insert => 0,
        Verb::Delete => 2,
        _ => 1,
    }
}

/// One of the writes, with a document for the verbs that take one.
struct One {
    verb: Verb,
    change: Change,
    upsert: bool,
}

fn host_write(w: Writes<Host>, one: &One, document: Host) -> Write<Host> {
    let Change::Host(id, name) = &one.change else {
        panic!("a host");
    };
    let change = |h: <Host as Embedded>::Fields<Host>| {
        h.name.set(name.as_str())
            & h.count.set_on_insert(5)
            & h.messages.set_on_insert(Vec::new())
            & h.newest.set_on_insert(Vec::new())
            & h.best.set_on_insert(None)
            & h.tags.set_on_insert(Vec::new())
    };
    match one.verb {
        Verb::Insert => w.insert_one(document),
        Verb::UpdateById => w.update_one(|h| h.id.eq(*id), change).upsert(one.upsert),
        // Not by its `_id` alone.
        Verb::FindAndUpdate => w.update_one(|h| h.id.eq(*id) & h.count.gte(-1), change),
        Verb::UpdateMany => w.update_many(|h| h.id.eq(*id), change).upsert(one.upsert),
        Verb::ReplaceById => w.replace_one(|h| h.id.eq(*id), document).upsert(one.upsert),
        _ => w.delete_one(|h| h.id.eq(*id)),
    }
}

fn message_write(w: Writes<Message>, one: &One, document: Message) -> Write<Message> {
    let Change::Message(id, host, rank) = &one.change else {
        panic!("a message");
    };
    let change = |m: <Message as Embedded>::Fields<Message>| {
        m.host.set(host.map(Ref::from))
            & m.log.set(host.map(Ref::from))
            & m.rank.set(*rank)
            & m.host_name.set_on_insert(None)
    };
    match one.verb {
        Verb::Insert => w.insert_one(document),
        Verb::UpdateById => w.update_one(|m| m.id.eq(*id), change).upsert(one.upsert),
        Verb::FindAndUpdate => w.update_one(|m| m.id.eq(*id) & m.rank.gte(-1), change),
        Verb::UpdateMany => w.update_many(|m| m.id.eq(*id), change).upsert(one.upsert),
        Verb::ReplaceById => w.replace_one(|m| m.id.eq(*id), document).upsert(one.upsert),
        _ => w.delete_many(|m| m.id.eq(*id)),
    }
}

impl Plain {
    /// Runs a write, whatever its reference leads to; returns whether it writes anything.
    fn apply(&mut self, write: &One) -> bool {
        match write.verb {
            Verb::Delete => self.delete(&write.change),
            Verb::Insert => self.put(&write.change),
            _ if write.upsert || self.has(&write.change) => self.put(&write.change),
            _ => return false,
        }
        true
    }

    /// Runs writes that are sent together; returns `false` if they leave a reference that leads to nothing.
    fn run_together(&mut self, writes: &[&One]) -> bool {
        let mut changed = Vec::new();
        for write in writes {
            let is_written = self.apply(write);
            if let Change::Message(id, ..) = &write.change
                && is_written
            {
                changed.push(id);
            }
        }
        changed.iter().all(|id| {
            let host = self.messages.get(id).and_then(|facts| facts.host);
            host.is_none_or(|host| self.hosts.contains_key(&host))
        })
    }
}

/// Writes to hosts or to messages. None inserts a document that is there when the write is sent.
fn random_writes(random: &mut Random, plain: &Plain, ordered: bool) -> Vec<One> {
    let of_hosts = random.one_in(2);
    let mut plain = plain.clone();
    let mut writes: Vec<One> = Vec::new();
    for _ in 0..=random.below(5) {
        let change = loop {
            let change = Change::random(random);
            if matches!(change, Change::Host(..)) == of_hosts {
                break change;
            }
        };
        let verb = *random.pick(&VERBS);
        let is_insert = verb == Verb::Insert;
        let upsert = verb != Verb::FindAndUpdate && random.one_in(2);
        if is_insert && plain.has(&change) {
            continue;
        }
        // Unordered inserts are sent before other writes.
        let write = One {
            verb,
            change,
            upsert,
        };
        if ordered || is_insert {
            plain.apply(&write);
        }
        writes.push(write);
    }
    writes
}

/// `ODM_VERBS` sets the number of rounds.
pub(in super::super) async fn random_bulk_writes_leave_what_a_plain_model_leaves(db: &Db) {
    let mut random = Random::unless_set("ODM_VERBS", 29);
    let (hosts, messages) = (db.collection::<Host>(), db.collection::<Message>());
    for round in 0..count("ODM_VERBS", 8) {
        hosts.delete_all().leave_dangling().await.unwrap();
        messages.delete_all().leave_dangling().await.unwrap();
        let mut plain = Plain::default();
        for step in 0..20 {
            let ordered = random.one_in(2);
            let places = [Place::Own, Place::Own, Place::Committed, Place::Aborted];
            let how = How {
                place: *random.pick(&places),
                upsert: false,
                after: false,
                in_background: random.one_in(4),
            };
            let writes = random_writes(&mut random, &plain, ordered);
            let verbs = writes.iter().map(|one| (one.verb, &one.change, one.upsert));
            let verbs: Vec<_> = verbs.collect();
            let what = format!(
                "seed {}, round {round}, step {step}: {verbs:?} ordered {ordered} {how:?} on {plain:?}",
                random.seed()
            );
            let before = plain.clone();
            let mut sent: Vec<&One> = writes.iter().collect();
            sent.sort_by_key(|one| if ordered { 0 } else { group(one.verb) });
            let runs = sent
                .chunk_by(|one, other| group(one.verb) == group(other.verb))
                .all(|run| plain.run_together(run));
            if !runs || how.place == Place::Aborted {
                plain = before;
            }
            let mut session = match how.place {
                Place::Committed | Place::Aborted => {
                    let mut session = db.start_session().await.unwrap();
                    session.start_transaction().await.unwrap();
                    Some(session)
                }
                _ => None,
            };
            let done = write(db, &writes, ordered, session.as_mut(), how).await;
            if let Some(mut session) = session {
                if done.is_ok() && how.place == Place::Committed {
                    session.commit_transaction().await.unwrap();
                } else {
                    session.abort_transaction().await.unwrap();
                }
            }
            match (&done, runs) {
                (Ok(()), true) => {}
                (Err(error), false) if error.is_dangling() => {}
                _ => panic!("{done:?}, {runs}: {what}"),
            }
            if how.in_background {
                hosts.resume_propagation().await.unwrap();
                messages.resume_propagation().await.unwrap();
            }
            plain.compare(db, &what).await;
            assert!(stored(db, "odm_propagations").await.is_empty(), "{what}");
        }
    }
}

async fn write(
    db: &Db,
    writes: &[One],
    ordered: bool,
    session: Option<&mut Session>,
    how: How,
) -> odm::Result<()> {
    if writes
        .iter()
        .any(|one| matches!(one.change, Change::Host(..)))
    {
        let mut documents = Vec::new();
        for one in writes {
            if let Change::Host(id, name) = &one.change {
                let mut document = host_to_write(db, *id, name).await;
                // A list of what a delete has taken out would be a fact of the new document.
                let is_deleted =
                    |other: &One| other.verb == Verb::Delete && other.change.id() == *id;
                if writes.iter().any(is_deleted) {
                    document.messages.clear();
                }
                documents.push(document);
            }
        }
        let bulk = db.collection::<Host>().bulk_write(|w| {
            let all = writes.iter().zip(documents);
            all.map(move |(one, document)| host_write(w, one, document))
        });
        let bulk = bulk.ordered(ordered);
        let bulk = if how.in_background {
            bulk.in_background()
        } else {
            bulk.propagate()
        };
        return send(bulk, session, how).await.map(drop);
    }
    let bulk = db.collection::<Message>().bulk_write(|w| {
        writes.iter().map(move |one| {
            let document = match &one.change {
                Change::Message(id, host, rank) => message_to_write(*id, *host, *rank),
                Change::Host(..) => message_to_write(0, None, 0),
            };
            message_write(w, one, document)
        })
    });
    let bulk = bulk.ordered(ordered);
    let bulk = if how.in_background {
        bulk.in_background()
    } else {
        bulk.propagate()
    };
    send(bulk, session, how).await.map(drop)
}
