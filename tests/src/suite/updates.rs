//! Every update operator of the typed fields.
#![expect(
    clippy::no_effect,
    clippy::assigning_clones,
    reason = "what an update changes is written as one assignment, or none"
)]

use std::collections::BTreeMap;

use odm::bson;
use odm::prelude::*;
use odm::query::raw;

use crate::case::cases;

cases![
    set_and_unset,
    arithmetic,
    bounds,
    bits,
    rename_and_dates,
    set_on_insert_counts_only_for_an_insert,
    push_at_the_end_sorted_or_cut,
    sets_and_removals,
    elements_by_position,
    nested_documents_and_maps,
    pipelines_compute_from_the_document,
    updates_refused_by_the_server,
    updates_refused_by_the_client,
    timestamps_are_unique,
];

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "students")]
struct Student {
    #[serde(rename = "_id")]
    id: i32,
    name: String,
    age: i32,
    credits: i64,
    mean: f64,
    flags: i32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    nick: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    alias: Option<String>,
    seen: Option<DateTime>,
    grades: Vec<i32>,
    home: Home,
    #[odm(embed(few, max = 10))]
    exams: Vec<Exam>,
    stock: BTreeMap<String, i32>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
struct Home {
    city: String,
    zip: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
struct Exam {
    topic: String,
    points: i32,
}

fn exam(topic: &str, points: i32) -> Exam {
    Exam {
        topic: topic.to_owned(),
        points,
    }
}

fn student() -> Student {
    Student {
        id: 1,
        name: "Ada".to_owned(),
        age: 20,
        credits: 7_000_000_000,
        mean: 2.5,
        flags: 0b1100,
        nick: Some("A".to_owned()),
        alias: None,
        seen: None,
        grades: vec![80, 55, 95, 55],
        home: Home {
            city: "Graz".to_owned(),
            zip: None,
        },
        exams: vec![exam("algebra", 8), exam("logic", 3)],
        stock: BTreeMap::from([("pens".to_owned(), 3)]),
    }
}

/// Asserts the result of an update of [`student`], as the difference to it.
macro_rules! makes {
    ($db:ident, $update:expr, |$student:ident| $change:expr) => {{
        let students = $db.collection::<Student>();
        students.delete_all().await.unwrap();
        students.insert_one(&student()).await.unwrap();
        let done = students.update_one(|s| s.id.eq(1), $update).await.unwrap();
        let mut expected = student();
        {
            let $student = &mut expected;
            $change;
        }
        let modified = u64::from(expected != student());
        assert_eq!(
            students.get(&1).await.unwrap(),
            Some(expected),
            "{}",
            stringify!($update)
        );
        assert_eq!(
            (done.matched, done.modified),
            (1, modified),
            "{}",
            stringify!($update)
        );
    }};
}

/// Asserts the code with which the server refuses an update of [`student`].
macro_rules! refuses {
    ($db:ident, $update:expr, $code:expr) => {{
        let students = $db.collection::<Student>();
        students.delete_all().await.unwrap();
        students.insert_one(&student()).await.unwrap();
        let refused = students
            .update_one(|s| s.id.eq(1), $update)
            .await
            .unwrap_err();
        assert_eq!(refused.code(), Some($code), "{refused}");
        assert_eq!(students.get(&1).await.unwrap(), Some(student()));
    }};
}

async fn set_and_unset(db: &Db) {
    makes!(db, |s| s.name.set("Grace"), |s| s.name = "Grace".to_owned());
    makes!(db, |s| s.name.set("Ada"), |_s| ());
    makes!(db, |s| s.nick.unset(), |s| s.nick = None);
    makes!(db, |s| s.alias.unset(), |_s| ());
    makes!(db, |s| s.age.set(21) & s.nick.set("B"), |s| {
        s.age = 21;
        s.nick = Some("B".to_owned());
    });
}

async fn arithmetic(db: &Db) {
    makes!(db, |s| s.age.inc(2), |s| s.age = 22);
    makes!(db, |s| s.age.dec(2), |s| s.age = 18);
    makes!(db, |s| s.age.inc(0), |_s| ());
    makes!(db, |s| s.credits.inc(1), |s| s.credits = 7_000_000_001);
    makes!(db, |s| s.mean.mul(2.0), |s| s.mean = 5.0);
    makes!(db, |s| s.age.mul(3) & s.mean.inc(0.25), |s| {
        s.age = 60;
        s.mean = 2.75;
    });
}

async fn bounds(db: &Db) {
    makes!(db, |s| s.age.max(25), |s| s.age = 25);
    makes!(db, |s| s.age.max(15), |_s| ());
    makes!(db, |s| s.age.min(15), |s| s.age = 15);
    makes!(db, |s| s.name.min("AAA"), |s| s.name = "AAA".to_owned());
    makes!(db, |s| s.alias.max("x"), |s| s.alias = Some("x".to_owned()));
}

async fn bits(db: &Db) {
    makes!(db, |s| s.flags.bit_and(0b0110), |s| s.flags = 0b0100);
    makes!(db, |s| s.flags.bit_or(0b0011), |s| s.flags = 0b1111);
    makes!(db, |s| s.flags.bit_xor(0b0101), |s| s.flags = 0b1001);
}

async fn rename_and_dates(db: &Db) {
    makes!(db, |s| s.nick.rename(&s.alias), |s| {
        s.alias = s.nick.take();
    });
    let students = db.collection::<Student>();
    let before = DateTime::now();
    students
        .update_one(|s| s.id.eq(1), |s| s.seen.current_date())
        .await
        .unwrap();
    let seen = students.get(&1).await.unwrap().unwrap().seen.unwrap();
    // A server's clock may differ from this machine's by a little.
    assert!((seen.timestamp_millis() - before.timestamp_millis()).abs() < 60_000);
}

async fn set_on_insert_counts_only_for_an_insert(db: &Db) {
    makes!(db, |s| s.age.set_on_insert(1) & s.flags.set(0), |s| s
        .flags =
        0);
    let students = db.collection::<Student>();
    let new = Student { id: 2, ..student() };
    students
        .update_one(
            |s| s.id.eq(2),
            |s| {
                s.name.set("Ada")
                    & s.age.set_on_insert(20)
                    & s.credits.inc(7_000_000_000)
                    & s.mean.set(2.5)
                    & s.flags.set(0b1100)
                    & s.nick.set("A")
                    & s.seen.set(None)
                    & s.grades.push_each([80, 55, 95, 55])
                    & s.home.set(new.home.clone())
                    & s.exams.set(new.exams.clone())
                    & s.stock.set(new.stock.clone())
            },
        )
        .upsert(true)
        .await
        .unwrap();
    assert_eq!(students.get(&2).await.unwrap(), Some(new));
}

async fn push_at_the_end_sorted_or_cut(db: &Db) {
    makes!(db, |s| s.grades.push(70), |s| s.grades.push(70));
    makes!(db, |s| s.grades.push_each([1, 2]), |s| s
        .grades
        .extend([1, 2]));
    makes!(db, |s| s.grades.push_with([70], |p| p.position(1)), |s| s
        .grades
        .insert(1, 70));
    makes!(db, |s| s.grades.push_with([70], |p| p.position(-1)), |s| s
        .grades
        .insert(3, 70));
    makes!(
        db,
        |s| s.grades.push_with([70], |p| p.sort(|g| g.desc()).slice(3)),
        |s| {
            s.grades = vec![95, 80, 70];
        }
    );
    makes!(db, |s| s.grades.push_with([70], |p| p.slice(-2)), |s| s
        .grades =
        vec![55, 70]);
    makes!(
        db,
        |s| s
            .exams
            .push_with([exam("sets", 5)], |p| p.sort(|e| e.points.asc())),
        |s| s.exams = vec![exam("logic", 3), exam("sets", 5), exam("algebra", 8)]
    );
    makes!(db, |s| s.exams.push(exam("sets", 5)), |s| s
        .exams
        .push(exam("sets", 5)));
}

async fn sets_and_removals(db: &Db) {
    makes!(db, |s| s.grades.add_to_set(95), |_s| ());
    makes!(db, |s| s.grades.add_to_set(1), |s| s.grades.push(1));
    makes!(db, |s| s.grades.add_to_set_each([95, 1, 1]), |s| s
        .grades
        .push(1));
    makes!(db, |s| s.grades.pull(55), |s| s.grades = vec![80, 95]);
    makes!(db, |s| s.grades.pull_where(|g| g.lt(90)), |s| s.grades =
        vec![95]);
    makes!(db, |s| s.grades.pull_all([55, 80, 1]), |s| s.grades =
        vec![95]);
    makes!(db, |s| s.grades.pop_first(), |s| {
        s.grades.remove(0);
    });
    makes!(db, |s| s.grades.pop_last(), |s| {
        s.grades.pop();
    });
    makes!(db, |s| s.exams.pull(exam("logic", 3)), |s| s
        .exams
        .truncate(1));
    makes!(db, |s| s.exams.pull_where(|e| e.points.gte(8)), |s| {
        s.exams.remove(0);
    });
}

async fn elements_by_position(db: &Db) {
    makes!(db, |s| s.grades.at(1).set(60), |s| s.grades[1] = 60);
    makes!(db, |s| s.grades.all_elements().inc(1), |s| s.grades =
        vec![81, 56, 96, 56]);
    makes!(
        db,
        |s| s.grades.filtered("low").set(60) & s.grades.array_filter("low", |g| g.lt(60)),
        |s| s.grades = vec![80, 60, 95, 60]
    );
    makes!(
        db,
        |s| s.exams.filtered("e").points.inc(1)
            & s.exams.array_filter("e", |e| e.topic.eq("logic")),
        |s| s.exams[1].points = 4
    );
    makes!(db, |s| s.exams.at(0).topic.set("sets"), |s| s.exams[0]
        .topic =
        "sets".to_owned());
    // `$` is the element that the filter matched.
    let students = db.collection::<Student>();
    students
        .update_one(
            |s| s.id.eq(1) & s.exams.elem_match(|e| e.points.lt(5)),
            |s| s.exams.positional().points.set(5),
        )
        .await
        .unwrap();
    let exams = students.get(&1).await.unwrap().unwrap().exams;
    assert_eq!(exams.iter().map(|e| e.points).collect::<Vec<_>>(), [8, 5]);
}

async fn nested_documents_and_maps(db: &Db) {
    makes!(db, |s| s.home.city.set("Linz"), |s| s.home.city =
        "Linz".to_owned());
    makes!(db, |s| s.home.zip.set("8010"), |s| s.home.zip =
        Some("8010".to_owned()));
    makes!(db, |s| s.stock.key("pens").inc(1), |s| {
        s.stock.insert("pens".to_owned(), 4);
    });
    makes!(db, |s| s.stock.key("ink").set(9), |s| {
        s.stock.insert("ink".to_owned(), 9);
    });
    makes!(db, |s| s.stock.remove_key("pens"), |s| s.stock.clear());
}

async fn pipelines_compute_from_the_document(db: &Db) {
    makes!(
        db,
        |s| s.age.set_expr(s.age.expr() + s.grades.expr().size()),
        |s| s.age = 24
    );
    makes!(db, |s| s.name.set_literal("$age"), |s| s.name =
        "$age".to_owned());
    makes!(
        db,
        |_| Update::pipeline([
            doc! {"$set": {"age": {"$max": "$grades"}}},
            doc! {"$set": {"flags": "$age"}},
        ]),
        |s| {
            s.age = 95;
            s.flags = 95;
        }
    );
    makes!(db, |_| raw(doc! {"$set": {"age": 3}}), |s| s.age = 3);
}

async fn updates_refused_by_the_server(db: &Db) {
    refuses!(
        db,
        |_| raw(doc! {"$inc": {"name": 1}}),
        odm::Code::TYPE_MISMATCH
    );
    refuses!(
        db,
        |_| raw(doc! {"$set": {"_id": 2}}),
        odm::Code::IMMUTABLE_FIELD
    );
    refuses!(
        db,
        |_| raw(doc! {"$push": {"name": 1}}),
        odm::Code::BAD_VALUE
    );
    refuses!(
        db,
        |_| raw(doc! {"$nothing": {"name": 1}}),
        odm::Code::FAILED_TO_PARSE
    );
    refuses!(
        db,
        |_| raw(doc! {"$set": {"name.x": 1}}),
        odm::Code::PATH_NOT_VIABLE
    );
    // Without a matched element, `$` is an error.
    refuses!(db, |s| s.grades.positional().set(1), odm::Code::BAD_VALUE);
}

async fn updates_refused_by_the_client(db: &Db) {
    let students = db.collection::<Student>();
    let refused = students
        .update_one(|s| s.id.eq(1), |s| s.age.set(1) & s.age.inc(1))
        .await
        .unwrap_err();
    assert!(refused.is_usage(), "{refused}");
    assert!(refused.to_string().contains("age"), "{refused}");

    // it would put a number in the place of the array
    let refused = students
        .update_one(|s| s.id.eq(1), |s| s.grades.any().set(1))
        .await
        .unwrap_err();
    assert!(refused.is_usage(), "{refused}");
    assert!(refused.to_string().contains("all_elements"), "{refused}");
}

async fn timestamps_are_unique(db: &Db) {
    let empty = bson::Timestamp {
        time: 0,
        increment: 0,
    };
    let run = async |command: bson::Document| db.run_command(command).await.unwrap();
    let update = |filter: bson::Document, update: bson::Document, options: bson::Document| {
        let mut statement = doc! {"q": filter, "u": update};
        statement.extend(options);
        doc! {"update": "clocks", "updates": [statement]}
    };
    let mut seen = std::collections::BTreeSet::new();
    // Every timestamp of the collection is new.
    let mut all_new = async |names: &[&str], count: usize| {
        let found = db.run_command(doc! {"find": "clocks", "filter": {}}).all();
        let found = found.await.unwrap();
        let times: Vec<_> = found
            .iter()
            .flat_map(|document| {
                names
                    .iter()
                    .filter_map(|name| document.get_timestamp(name).ok())
            })
            .collect();
        assert_eq!(times.len(), count, "{found:?}");
        for time in times {
            assert!(time.time > 0, "{found:?}");
            assert!(
                seen.insert((time.time, time.increment)),
                "{time:?} twice: {found:?}"
            );
        }
    };
    let documents = [1, 2, 3].map(|id| doc! {"_id": id, "a": empty, "b": empty});
    run(doc! {"insert": "clocks", "documents": documents.to_vec()}).await;
    all_new(&["a", "b"], 6).await;
    let now = doc! {"$type": "timestamp"};
    let current = doc! {"$currentDate": {"a": now.clone(), "b": now}};
    run(update(doc! {}, current.clone(), doc! {"multi": true})).await;
    all_new(&["a", "b"], 6).await;
    for id in [1, 2, 3] {
        run(update(
            doc! {"_id": id},
            doc! {"a": empty, "b": empty},
            doc! {},
        ))
        .await;
    }
    all_new(&["a", "b"], 6).await;
    run(doc! {"delete": "clocks", "deletes": [{"q": {}, "limit": 0}]}).await;
    run(update(
        doc! {"_id": 4},
        doc! {"a": empty, "b": empty},
        doc! {"upsert": true},
    ))
    .await;
    run(update(doc! {"_id": 5}, current, doc! {"upsert": true})).await;
    let replace = doc! {"a": empty, "b": empty};
    run(doc! {"findAndModify": "clocks", "query": {"_id": 6}, "update": replace, "upsert": true})
        .await;
    all_new(&["a", "b"], 6).await;
    // Stages that insert also set timestamps.
    for stage in [
        doc! {"$out": "clocks"},
        doc! {"$merge": {"into": "clocks", "whenMatched": "replace"}},
    ] {
        run(doc! {"insert": "source", "documents": [{}, {}]}).await;
        let stages = [doc! {"$set": {"c": empty}}, stage];
        run(doc! {"aggregate": "source", "pipeline": stages.to_vec(), "cursor": {}}).await;
        let count = run(doc! {"count": "clocks"}).await.get_i32("n").unwrap();
        all_new(&["c"], usize::try_from(count).unwrap()).await;
    }
}
