//! Relations joined in both directions: which rows, in how many commands, and by which index.

use std::sync::{Arc, Mutex};

use odm::bson::{Document as BsonDocument, doc};
use odm::prelude::*;
use odm::relation::Resolved;

use crate::case::cases;

cases![
    one_to_squillions_is_joined_from_the_one_side,
    a_limit_per_row_is_one_pipeline,
    a_limit_for_one_row_is_a_find,
    rows_are_counted_and_tested_for_existence,
    one_to_one_in_two_collections,
    many_to_many_from_either_side,
    filters_and_projections_of_forward_joins,
    references_in_lists_of_subdocuments,
    relations_of_one_document,
    streams_load_relations_in_chunks,
    joins_in_a_transaction_see_its_writes,
];

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(
    collection = "hosts",
    has_squillions(messages: LogMessage, by = host),
    has_one(setup: Setup, by = host)
)]
struct Host {
    #[serde(rename = "_id")]
    id: i32,
    name: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "logmsg", index(host, time = desc))]
struct LogMessage {
    #[serde(rename = "_id")]
    id: i32,
    #[serde(rename = "h")]
    host: Ref<Host>,
    time: i32,
    level: i32,
    message: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "setups")]
struct Setup {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(unique)]
    host: Ref<Host>,
    memory: i32,
}

#[derive(Debug, Clone, PartialEq, Deserialize, Projection)]
#[odm(of = LogMessage)]
#[serde(deny_unknown_fields)]
struct Line {
    message: String,
}

/// Three hosts: the first has messages 0 to 4, the second 5 and 6, the third none.
async fn logs(db: &Db) -> Collection<Host> {
    db.sync(models![Host, LogMessage, Setup])
        .plan()
        .await
        .unwrap()
        .apply(Allow::CREATE)
        .await
        .unwrap();
    let hosts = db.collection::<Host>();
    let host = |id| Host {
        id,
        name: format!("host {id}"),
    };
    hosts
        .insert_many([host(1), host(2), host(3)])
        .await
        .unwrap();
    let message = |id: i32| LogMessage {
        id,
        host: Ref::from(if id < 5 { 1 } else { 2 }),
        time: 100 - id,
        level: id % 3,
        message: format!("message {id}"),
    };
    db.collection::<LogMessage>()
        .insert_many((0..7).map(message))
        .await
        .unwrap();
    let setup = Setup {
        id: 7,
        host: Ref::from(2),
        memory: 64,
    };
    db.collection::<Setup>().insert_one(&setup).await.unwrap();
    hosts
}

/// A handle that records its commands.
pub(super) fn watched(db: &Db) -> (Db, Arc<Mutex<Vec<BsonDocument>>>) {
    let sent = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&sent);
    let db = db.on_command(move |event| log.lock().unwrap().push(event.command.clone()));
    (db, sent)
}

fn ids(messages: &[Arc<LogMessage>]) -> Vec<i32> {
    messages.iter().map(|message| message.id).collect()
}

async fn one_to_squillions_is_joined_from_the_one_side(db: &Db) {
    logs(db).await;
    let (db, sent) = watched(db);
    let rows = db
        .collection::<Host>()
        .find_all()
        .sort(|h| h.id.asc())
        .join(|h| {
            h.messages
                .filter(|m| m.level.gte(1))
                .sort(|m| m.time.desc())
        })
        .all()
        .await
        .unwrap();
    let found: Vec<_> = rows
        .iter()
        .map(|row| (row.id, ids(row.messages())))
        .collect();
    assert_eq!(found, [(1, vec![1, 2, 4]), (2, vec![5]), (3, vec![])]);
    assert_eq!(
        *sent.lock().unwrap(),
        [
            doc! {"find": "hosts", "filter": {}, "sort": {"_id": 1}},
            doc! {
                "find": "logmsg",
                "filter": {"h": {"$in": [1, 2, 3]}, "$and": [{"level": {"$gte": 1}}]},
                "sort": {"time": -1},
            },
        ]
    );
}

async fn a_limit_per_row_is_one_pipeline(db: &Db) {
    logs(db).await;
    let (db, sent) = watched(db);
    let rows = db
        .collection::<Host>()
        .find_all()
        .sort(|h| h.id.desc())
        .join(|h| h.messages.sort(|m| m.time.desc()).limit(2).select::<Line>())
        .all()
        .await
        .unwrap();
    let lines = |row: usize| -> Vec<String> {
        rows[row]
            .messages()
            .iter()
            .map(|line| line.message.clone())
            .collect()
    };
    assert_eq!(lines(0), Vec::<String>::new());
    assert_eq!(lines(1), ["message 5", "message 6"]);
    assert_eq!(lines(2), ["message 0", "message 1"]);
    let sent = sent.lock().unwrap();
    let commands: Vec<_> = sent
        .iter()
        .map(|command| command.keys().next().unwrap())
        .collect();
    assert_eq!(commands, ["find", "aggregate"]);
    assert_eq!(sent[1].get_str("aggregate").unwrap(), "hosts");
}

async fn a_limit_for_one_row_is_a_find(db: &Db) {
    logs(db).await;
    let (db, sent) = watched(db);
    let hosts = db.collection::<Host>();
    let row = hosts
        .get(&1)
        .join(|h| h.messages.sort(|m| m.time.desc()).limit(2))
        .await
        .unwrap()
        .unwrap();
    assert_eq!(ids(row.messages()), [0, 1]);
    let sent = sent.lock().unwrap();
    assert_eq!(sent.len(), 2);
    assert_eq!(
        sent[1],
        doc! {"find": "logmsg", "filter": {"h": {"$in": [1]}}, "sort": {"time": -1}, "limit": 2_i64}
    );
}

async fn rows_are_counted_and_tested_for_existence(db: &Db) {
    let hosts = logs(db).await;
    let rows = hosts
        .find_all()
        .sort(|h| h.id.asc())
        .join(|h| h.messages.count().filter(|m| m.level.eq(0)))
        .join(|h| h.setup.exists())
        .all()
        .await
        .unwrap();
    let found: Vec<_> = rows
        .iter()
        .map(|row| (*row.messages(), *row.setup()))
        .collect();
    assert_eq!(found, [(2, false), (1, true), (0, false)]);
    let rows = hosts
        .find_all()
        .sort(|h| h.id.asc())
        .join(|h| h.messages.exists())
        .all()
        .await
        .unwrap();
    assert_eq!(
        rows.iter().map(|row| *row.messages()).collect::<Vec<_>>(),
        [true, true, false]
    );
    let one = hosts
        .get(&3)
        .join(|h| h.messages.exists())
        .await
        .unwrap()
        .unwrap();
    assert!(!one.messages());
}

async fn one_to_one_in_two_collections(db: &Db) {
    let hosts = logs(db).await;
    let rows = hosts
        .find_all()
        .sort(|h| h.id.asc())
        .join(|h| h.setup)
        .all()
        .await
        .unwrap();
    let memory: Vec<_> = rows
        .iter()
        .map(|row| row.setup().as_ref().map(|it| it.memory))
        .collect();
    assert_eq!(memory, [None, Some(64), None]);
    let setups = db.collection::<Setup>();
    let row = setups
        .find_one(|s| s.memory.eq(64))
        .join(|s| s.host)
        .await
        .unwrap()
        .unwrap();
    assert_eq!(row.host().found().map(|host| host.id), Some(2));
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "students")]
struct Student {
    #[serde(rename = "_id")]
    id: String,
    #[odm(references(many, max = 100), index)]
    courses: Vec<Ref<Course>>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "courses", has_many(students: Student, by = courses))]
struct Course {
    #[serde(rename = "_id")]
    id: i32,
    name: String,
}

async fn school(db: &Db) {
    let courses = db.collection::<Course>();
    for (id, name) in [(1, "Physics"), (2, "Cloud"), (3, "Latin")] {
        courses
            .insert_one(&Course {
                id,
                name: name.to_owned(),
            })
            .await
            .unwrap();
    }
    let students = db.collection::<Student>();
    for (id, courses) in [("ann", vec![1, 2, 1]), ("bob", vec![2]), ("eve", vec![])] {
        let courses = courses.into_iter().map(Ref::from).collect();
        students
            .insert_one(&Student {
                id: id.to_owned(),
                courses,
            })
            .await
            .unwrap();
    }
}

async fn many_to_many_from_either_side(db: &Db) {
    school(db).await;
    let (db, sent) = watched(db);
    let courses = db.collection::<Course>();
    let rows = courses
        .find_all()
        .sort(|c| c.id.asc())
        .join(|c| c.students.sort(|s| s.id.asc()))
        .all()
        .await
        .unwrap();
    let names = |row: usize| -> Vec<&str> {
        rows[row]
            .students()
            .iter()
            .map(|student| student.id.as_str())
            .collect()
    };
    assert_eq!(
        (names(0), names(1), names(2)),
        (vec!["ann"], vec!["ann", "bob"], vec![])
    );
    assert!(Arc::ptr_eq(&rows[0].students()[0], &rows[1].students()[0]));
    assert_eq!(sent.lock().unwrap().len(), 2);
    let counts = courses
        .find_all()
        .sort(|c| c.id.asc())
        .join(|c| c.students.count())
        .all()
        .await
        .unwrap();
    assert_eq!(
        counts.iter().map(|row| *row.students()).collect::<Vec<_>>(),
        [1, 2, 0]
    );
    let firsts = courses
        .find_all()
        .sort(|c| c.id.asc())
        .join(|c| c.students.sort(|s| s.id.desc()).limit(1))
        .all()
        .await
        .unwrap();
    let firsts: Vec<_> = firsts
        .iter()
        .map(|row| row.students().first().map(|it| it.id.as_str()))
        .collect();
    assert_eq!(firsts, [Some("ann"), Some("bob"), None]);

    let rows = db
        .collection::<Student>()
        .find(|s| s.id.eq("ann"))
        .join(|s| s.courses)
        .all()
        .await
        .unwrap();
    let names: Vec<_> = rows[0]
        .courses()
        .iter()
        .filter_map(|course| course.found().map(|course| course.name.as_str()))
        .collect();
    assert_eq!(names, ["Physics", "Cloud", "Physics"]);
}

async fn filters_and_projections_of_forward_joins(db: &Db) {
    school(db).await;
    let students = db.collection::<Student>();
    students
        .update_one(|s| s.id.eq("bob"), |s| s.courses.push(Ref::from(9)))
        .await
        .unwrap();
    let rows = students
        .find_all()
        .sort(|s| s.id.asc())
        .join(|s| {
            s.courses
                .filter(|c| c.name.eq("Cloud"))
                .select::<CourseName>()
        })
        .all()
        .await
        .unwrap();
    let found: Vec<Vec<_>> = rows
        .iter()
        .map(|row| {
            let courses = row.courses().iter();
            courses
                .map(|course| match course {
                    Resolved::Found(course) => Ok(course.name.as_str()),
                    other => Err(other.missing().copied()),
                })
                .collect()
        })
        .collect();
    assert_eq!(
        found,
        [
            vec![Err(Some(1)), Ok("Cloud"), Err(Some(1))],
            vec![Ok("Cloud"), Err(Some(9))],
            vec![],
        ]
    );
    assert!(matches!(rows[1].courses()[1], Resolved::Excluded(9)));
}

#[derive(Debug, Clone, PartialEq, Deserialize, Projection)]
#[odm(of = Course)]
#[serde(deny_unknown_fields)]
struct CourseName {
    name: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "orders")]
struct Order {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(embed(few, max = 10))]
    lines: Vec<OrderLine>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
struct OrderLine {
    course: Ref<Course>,
    #[odm(references(many, max = 3))]
    gifts: Vec<Ref<Course>>,
}

async fn references_in_lists_of_subdocuments(db: &Db) {
    school(db).await;
    let orders = db.collection::<Order>();
    let line = |course: i32, gifts: Vec<i32>| OrderLine {
        course: Ref::from(course),
        gifts: gifts.into_iter().map(Ref::from).collect(),
    };
    for (id, lines) in [
        (1, vec![line(2, vec![]), line(1, vec![3, 2])]),
        (2, vec![]),
        (3, vec![line(9, vec![])]),
    ] {
        orders.insert_one(&Order { id, lines }).await.unwrap();
    }
    let (db, sent) = watched(db);
    let rows = db
        .collection::<Order>()
        .find_all()
        .sort(|o| o.id.asc())
        .join(|o| o.lines.each(|line| line.course))
        .join(|o| o.lines.each(|line| line.gifts))
        .all()
        .await
        .unwrap();
    let name = |course: &Resolved<Course>| course.found().map(|it| it.name.clone());
    let courses: Vec<Vec<_>> = rows
        .iter()
        .map(|row| row.course().iter().map(name).collect())
        .collect();
    let some = |name: &str| Some(name.to_owned());
    assert_eq!(
        courses,
        [vec![some("Cloud"), some("Physics")], vec![], vec![None]]
    );
    let gifts: Vec<usize> = rows[0].gifts().iter().map(Vec::len).collect();
    assert_eq!(gifts, [0, 2]);
    assert_eq!(sent.lock().unwrap().len(), 3);
    // Without `each`, the join does not know which element is meant.
    let refused = orders
        .find_all()
        .join(|o| o.lines.any().course.clone())
        .all()
        .await
        .unwrap_err();
    assert!(refused.to_string().contains("each"), "{refused}");
}

async fn relations_of_one_document(db: &Db) {
    let hosts = logs(db).await;
    let row = hosts
        .find_one(|h| h.name.eq("host 2"))
        .join(|h| h.messages)
        .join(|h| h.setup);
    let row = row.await.unwrap().unwrap();
    assert_eq!((row.messages().len(), row.setup().is_some()), (2, true));
    let none = hosts.get(&9).join(|h| h.messages).await.unwrap();
    assert!(none.is_none());
}

async fn streams_load_relations_in_chunks(db: &Db) {
    logs(db).await;
    let messages = db.collection::<LogMessage>();
    let message = |id: i32| LogMessage {
        id,
        host: Ref::from(id % 4),
        time: id,
        level: 0,
        message: String::new(),
    };
    messages
        .insert_many((10..2_510).map(message))
        .await
        .unwrap();
    let (db, sent) = watched(db);
    let mut rows = db
        .collection::<LogMessage>()
        .find(|m| m.id.gte(10))
        .sort(|m| m.id.asc())
        .join(|m| m.host)
        .stream();
    let mut seen = 0;
    while let Some(row) = rows.next().await {
        let row = row.unwrap();
        assert_eq!(row.id, 10 + seen);
        assert_eq!(
            row.host().found().map(|host| host.id),
            (row.id % 4 != 0).then_some(row.id % 4)
        );
        seen += 1;
    }
    assert_eq!(seen, 2_500);
    let joins = sent
        .lock()
        .unwrap()
        .iter()
        .filter(|command| command.get_str("find").is_ok_and(|name| name == "hosts"))
        .count();
    assert_eq!(joins, 3);
    let mut session = db.start_session().await.unwrap();
    let mut refused = messages
        .find_all()
        .session(&mut session)
        .join(|m| m.host)
        .stream();
    assert!(refused.next().await.unwrap().unwrap_err().is_usage());
    assert!(refused.next().await.is_none());
}

async fn joins_in_a_transaction_see_its_writes(db: &Db) {
    let hosts = logs(db).await;
    let messages = db.collection::<LogMessage>();
    transaction!(db, |tx| -> odm::Result<()> {
        messages
            .delete_many(|m| m.host.eq(Ref::from(1)))
            .session(tx)
            .await?;
        let rows = hosts
            .find_all()
            .sort(|h| h.id.asc())
            .join(|h| h.messages.sort(|m| m.time.desc()).limit(1))
            .join(|h| h.setup)
            .session(tx)
            .all()
            .await?;
        let counts: Vec<_> = rows.iter().map(|row| row.messages().len()).collect();
        assert_eq!(counts, [0, 1, 0]);
        Ok(())
    })
    .await
    .unwrap();
}
