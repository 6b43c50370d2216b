//! The models, and a write of each verb that has a plan.

use std::fmt::Debug;

use odm::bson::DateTime;
use odm::collection::Loaded;
use odm::expr::literal;
use odm::prelude::*;
use odm::write::{DeletePlan, UpdatePlan};

/// Messages refer to it by its number; hosts may be parts of each other.
#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[odm(
    collection = "hosts",
    has_many(messages: Message, by = host, key = number, on_delete = cascade),
    has_many(parts: Host, by = part_of, on_delete = cascade)
)]
pub(super) struct Host {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(unique)]
    number: i32,
    name: String,
    rank: i32,
    note: String,
    #[odm(index)]
    part_of: Option<Ref<Host>>,
    #[odm(created_at)]
    created: DateTime,
    #[odm(updated_at)]
    updated: DateTime,
}

/// Has documents that refer to it, so a delete of hosts reads it.
#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[odm(
    collection = "messages",
    has_many(answers: Answer, by = message, on_delete = cascade)
)]
pub(super) struct Message {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(index, refers_to(Host, by = number))]
    host: i32,
    #[odm(copy_of(host.name))]
    host_name: String,
    #[odm(version)]
    version: i64,
    #[odm(created_at)]
    created: DateTime,
}

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[odm(collection = "answers")]
pub(super) struct Answer {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(index)]
    message: Ref<Message>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Verb {
    InsertOne,
    InsertMany,
    BulkInsert,
    UpdateOne,
    UpdateMany,
    UpdateById,
    UpdateByPipeline,
    UpsertOfOne,
    UpsertOfNone,
    Replace,
    ReplaceById,
    FindOneAndUpdate,
    FindOneAndReplace,
    Save,
    BulkUpdate,
    BulkReplace,
    BulkOfAll,
    DeleteOne,
    DeleteMany,
    DeleteAll,
    DeleteById,
    FindOneAndDelete,
    BulkDelete,
}

pub(super) const VERBS: [Verb; 23] = [
    Verb::InsertOne,
    Verb::InsertMany,
    Verb::BulkInsert,
    Verb::UpdateOne,
    Verb::UpdateMany,
    Verb::UpdateById,
    Verb::UpdateByPipeline,
    Verb::UpsertOfOne,
    Verb::UpsertOfNone,
    Verb::Replace,
    Verb::ReplaceById,
    Verb::FindOneAndUpdate,
    Verb::FindOneAndReplace,
    Verb::Save,
    Verb::BulkUpdate,
    Verb::BulkReplace,
    Verb::BulkOfAll,
    Verb::DeleteOne,
    Verb::DeleteMany,
    Verb::DeleteAll,
    Verb::DeleteById,
    Verb::FindOneAndDelete,
    Verb::BulkDelete,
];

impl Verb {
    pub(super) fn inserts(self) -> bool {
        matches!(self, Self::InsertOne | Self::InsertMany | Self::BulkInsert)
    }

    /// Whether the plan is that of a delete.
    pub(super) fn deletes(self) -> bool {
        matches!(
            self,
            Self::DeleteOne
                | Self::DeleteMany
                | Self::DeleteAll
                | Self::DeleteById
                | Self::FindOneAndDelete
        )
    }

    /// The model that errors name.
    pub(super) fn model(self) -> &'static str {
        if self.inserts() { "Message" } else { "Host" }
    }

    /// The verb that sends the same command.
    pub(super) fn twin(self) -> Self {
        match self {
            Self::BulkInsert => Self::InsertOne,
            Self::BulkUpdate => Self::UpdateMany,
            Self::BulkReplace => Self::Replace,
            Self::Save => Self::UpdateById,
            other => other,
        }
    }
}

#[derive(Debug)]
pub(super) enum Plan {
    Update(UpdatePlan),
    Delete(DeletePlan),
}

/// What becomes of a write.
#[derive(Debug)]
pub(super) enum How<'h> {
    Plan,
    Alone,
    Expecting(&'h Plan),
    NonAtomicFirst(&'h Plan),
    NonAtomicLast(&'h Plan),
    InSession(&'h Plan, &'h mut Session),
}

#[derive(Debug)]
pub(super) enum Outcome {
    Plan(Plan),
    /// The result, printed.
    Done(String),
}

impl Outcome {
    pub(super) fn plan(self) -> Plan {
        match self {
            Self::Plan(plan) => plan,
            Self::Done(done) => panic!("{done} is no plan"),
        }
    }

    pub(super) fn done(self) -> String {
        match self {
            Self::Done(done) => done,
            Self::Plan(plan) => panic!("{plan:?} is no result"),
        }
    }
}

fn done<D: Debug>(result: odm::Result<D>) -> odm::Result<Outcome> {
    result.map(|done| Outcome::Done(format!("{done:?}")))
}

macro_rules! run {
    ($how:ident, $kind:ident, $write:expr) => {{
        let write = $write;
        match $how {
            How::Plan => write.plan().await.map(|it| Outcome::Plan(Plan::$kind(it))),
            How::Alone => done(write.await),
            How::Expecting(Plan::$kind(plan)) => done(write.expecting(plan).await),
            How::NonAtomicFirst(Plan::$kind(plan)) => {
                done(write.non_atomic().expecting(plan).await)
            }
            How::NonAtomicLast(Plan::$kind(plan)) => done(write.expecting(plan).non_atomic().await),
            How::InSession(Plan::$kind(plan), session) => {
                done(write.expecting(plan).session(session).await)
            }
            how => panic!("{how:?} has the plan of another kind of write"),
        }
    }};
}

/// What a call names.
#[derive(Debug, Clone, Copy)]
pub(super) struct Named {
    /// The name that hosts get.
    pub(super) name: &'static str,
    /// The rank of hosts that match, and the number to which inserted messages refer.
    pub(super) rank: i32,
    pub(super) number: i32,
}

pub(super) const NAMED: Named = Named {
    name: "eve",
    rank: 5,
    number: 10,
};

fn host(name: &str) -> Host {
    Host {
        id: 1,
        number: 10,
        name: name.to_owned(),
        rank: 5,
        note: String::new(),
        part_of: Some(Ref::from(2)),
        created: DateTime::MIN,
        updated: DateTime::MIN,
    }
}

fn message(id: i32, host: i32) -> Message {
    Message {
        id,
        host,
        host_name: String::new(),
        version: 0,
        created: DateTime::MIN,
    }
}

/// Makes the call, which may be made anew for its plan and for itself. `loaded` is the host 1.
pub(super) async fn write(
    db: &Db,
    verb: Verb,
    named: Named,
    loaded: &mut Loaded<Host>,
    how: How<'_>,
) -> odm::Result<Outcome> {
    let (hosts, messages) = (db.collection::<Host>(), db.collection::<Message>());
    let Named { name, rank, number } = named;
    let ranked = move |h: <Host as Embedded>::Fields<Host>| h.rank.eq(rank);
    let first = move |h: <Host as Embedded>::Fields<Host>| h.id.eq(1) & h.rank.eq(rank);
    let change = move |h: <Host as Embedded>::Fields<Host>| h.name.set(name);
    let upsert = move |h: <Host as Embedded>::Fields<Host>| {
        h.name.set(name)
            & h.number.set_on_insert(90)
            & h.rank.set_on_insert(0)
            & h.note.set_on_insert("new")
            & h.part_of.set_on_insert(None)
    };
    match verb {
        Verb::InsertOne => {
            let new = message(9, number);
            run!(how, Update, messages.insert_one(&new).propagate())
        }
        Verb::InsertMany => {
            let new = [message(8, number), message(9, 20)];
            run!(how, Update, messages.insert_many(&new).propagate())
        }
        Verb::BulkInsert => {
            let new = message(9, number);
            let bulk = messages.bulk_write(|w| [w.insert_one(&new)]);
            run!(how, Update, bulk.propagate())
        }
        Verb::UpdateOne => run!(how, Update, hosts.update_one(first, change).propagate()),
        Verb::UpdateMany => run!(how, Update, hosts.update_many(ranked, change).propagate()),
        Verb::UpdateById => run!(how, Update, hosts.update_by_id(&1, change).propagate()),
        Verb::UpdateByPipeline => {
            let by_pipeline = move |h: <Host as Embedded>::Fields<Host>| {
                h.name.set_expr(literal(name).concat(h.note))
            };
            let write = hosts.update_many(ranked, by_pipeline);
            run!(how, Update, write.propagate())
        }
        Verb::UpsertOfOne => {
            let write = hosts.update_by_id(&1, upsert).upsert(true);
            run!(how, Update, write.propagate())
        }
        Verb::UpsertOfNone => {
            let write = hosts.update_by_id(&9, upsert).upsert(true);
            run!(how, Update, write.propagate())
        }
        Verb::Replace => {
            let write = hosts.replace_one(first, &host(name));
            run!(how, Update, write.propagate())
        }
        Verb::ReplaceById => {
            let write = hosts.replace_by_id(&1, &host(name));
            run!(how, Update, write.propagate())
        }
        Verb::FindOneAndUpdate => {
            let write = hosts.find_one_and_update(ranked, change);
            run!(how, Update, write.sort(|h| h.id.desc()).propagate())
        }
        Verb::FindOneAndReplace => {
            let write = hosts.find_one_and_replace(first, &host(name));
            run!(how, Update, write.propagate())
        }
        Verb::Save => {
            name.clone_into(&mut loaded.name);
            run!(how, Update, hosts.save(loaded).propagate())
        }
        Verb::BulkUpdate => {
            let bulk = hosts.bulk_write(|w| [w.update_many(ranked, change)]);
            run!(how, Update, bulk.propagate())
        }
        Verb::BulkReplace => {
            let bulk = hosts.bulk_write(|w| [w.replace_one(first, &host(name))]);
            run!(how, Update, bulk.propagate())
        }
        Verb::BulkOfAll => {
            let bulk = hosts.bulk_write(|w| {
                [
                    w.update_many(ranked, change),
                    w.delete_one(|h| h.id.eq(3)),
                    w.update_one(|h| h.id.eq(1), |h| h.note.set("bulk")),
                ]
            });
            run!(how, Update, bulk.propagate())
        }
        Verb::DeleteOne => run!(how, Delete, hosts.delete_one(first).with_dependents()),
        Verb::DeleteMany => run!(how, Delete, hosts.delete_many(ranked).with_dependents()),
        Verb::DeleteAll => run!(how, Delete, hosts.delete_all().with_dependents()),
        Verb::DeleteById => run!(how, Delete, hosts.delete_by_id(&1).with_dependents()),
        Verb::FindOneAndDelete => {
            let write = hosts.find_one_and_delete(ranked).sort(|h| h.id.desc());
            run!(how, Delete, write.with_dependents())
        }
        Verb::BulkDelete => {
            let bulk = hosts.bulk_write(|w| [w.delete_one(|h| h.id.eq(1))]);
            run!(how, Update, bulk.propagate())
        }
    }
}
