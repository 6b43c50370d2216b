//! Overflows together with other declarations: copies, references, versions, times, other names.

use odm::bson::{Document as BsonDocument, doc};
use odm::prelude::*;

#[derive(Debug, Serialize, Deserialize, Document)]
#[odm(
    collection = "people",
    has_many(of_books: Book, by = readers.person),
    has_many(of_overflow: MoreReaders, by = readers.person)
)]
struct Person {
    #[serde(rename = "_id")]
    id: i32,
    name: String,
}

#[derive(Debug, Serialize, Deserialize, Document)]
#[odm(
    collection = "books",
    has_many(more: MoreReaders, by = book, on_delete = cascade),
    index(readers.person)
)]
struct Book {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(embed(few, max = 2))]
    readers: Vec<Reader>,
    #[odm(count_of(more))]
    more_count: i64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
struct Reader {
    person: Ref<Person>,
    #[odm(copy_of(person.name))]
    name: String,
}

#[derive(Debug, Serialize, Deserialize, Document)]
#[odm(
    collection = "more_readers",
    overflow(list = readers, by = book, number = number, max = 2),
    index(readers.person)
)]
struct MoreReaders {
    #[serde(rename = "_id")]
    id: Id<MoreReaders>,
    book: Ref<Book>,
    number: i32,
    readers: Vec<Reader>,
}

pub(super) async fn copies_in_elements_are_filled_and_followed(db: &Db) {
    let all = || models![Person, Book, MoreReaders];
    let plan = db.sync(all()).plan().await.unwrap();
    plan.apply(Allow::CREATE).await.unwrap();
    let people = db.collection::<Person>();
    let person = |id: i32| Person {
        id,
        name: format!("person {id}"),
    };
    people.insert_many((0..6).map(person)).await.unwrap();
    let books = db.collection::<Book>();
    let book = Book {
        id: 1,
        readers: Vec::new(),
        more_count: 0,
    };
    books.insert_one(&book).propagate().await.unwrap();
    let overflow = db.overflow::<MoreReaders>();
    let reader = |id: i32| Reader {
        person: Ref::from(id),
        name: String::new(),
    };
    for ids in [vec![0], vec![1, 2], vec![3], vec![4, 5]] {
        let count = ids.len() as u64;
        let result = overflow.push(1, ids.into_iter().map(reader)).await.unwrap();
        assert_eq!(result.pushed, count);
    }
    let names = async || {
        let items = overflow.items(1).all().await.unwrap();
        let names = items.into_iter().map(|reader| reader.name);
        names.collect::<Vec<_>>()
    };
    let mut expected: Vec<_> = (0..6).map(|id| format!("person {id}")).collect();
    assert_eq!(names().await, expected);
    assert_eq!(books.get(&1).await.unwrap().unwrap().more_count, 2);

    for id in [1, 3] {
        let rename = people.update_by_id(&id, |p| p.name.set("Ada"));
        rename.propagate().await.unwrap();
        expected[usize::try_from(id).unwrap()] = String::from("Ada");
    }
    assert_eq!(names().await, expected);

    let removal = overflow.update(1, |m| m.readers.pull_where(|r| r.person.eq(Ref::from(1))));
    assert_eq!(removal.await.unwrap().matched, 1);
    expected.remove(1);
    assert_eq!(names().await, expected);
    let report = db.check(all()).await.unwrap();
    assert!(report.is_sound(), "{report}");
}

/// The list holds references, and the elements of it are joined.
#[derive(Debug, Serialize, Deserialize, Document)]
#[odm(
    collection = "clubs",
    has_many(more_members: MoreMembers, by = club, on_delete = cascade)
)]
struct Club {
    #[serde(rename = "_id")]
    id: String,
    #[odm(references(many, max = 2))]
    members: Vec<Ref<Person>>,
}

#[derive(Debug, Serialize, Deserialize, Document)]
#[odm(
    collection = "more_members",
    overflow(list = members, by = club, number = part, max = 3)
)]
struct MoreMembers {
    #[serde(rename = "_id")]
    id: Id<MoreMembers>,
    club: Ref<Club>,
    part: i32,
    members: Vec<Ref<Person>>,
}

pub(super) async fn elements_are_references(db: &Db) {
    let plan = db.sync(models![Club, MoreMembers]).plan().await.unwrap();
    plan.apply(Allow::CREATE).await.unwrap();
    let clubs = db.collection::<Club>();
    let club = Club {
        id: "chess".to_owned(),
        members: Vec::new(),
    };
    clubs.insert_one(&club).await.unwrap();
    let people = db.collection::<Person>();
    let person = |id: i32| Person {
        id,
        name: format!("person {id}"),
    };
    people.insert_many((0..7).map(person)).await.unwrap();
    let overflow = db.overflow::<MoreMembers>();
    let members: Vec<Ref<Person>> = (0..7).map(Ref::from).collect();
    overflow.push("chess", &members).await.unwrap();
    assert_eq!(overflow.items("chess").all().await.unwrap(), members);

    let more = overflow.collection();
    let rows = more.find_all().sort(|m| m.part.asc()).join(|m| m.members);
    let rows = rows.all().await.unwrap();
    let names = rows.iter().flat_map(|row| row.members().iter());
    let names = names.filter_map(|person| person.found());
    let names: Vec<_> = names.map(|person| person.name.as_str()).collect();
    assert_eq!(
        names,
        ["person 2", "person 3", "person 4", "person 5", "person 6"]
    );

    let removal = overflow.update("chess", |m| m.members.pull(Ref::from(4)));
    assert_eq!(removal.await.unwrap().modified, 1);
    assert_eq!(overflow.count("chess").await.unwrap(), 6);
}

/// An element is a document of any names, so that `rows.3` could be the name of a field.
#[derive(Debug, Serialize, Deserialize, Document)]
#[odm(
    collection = "sheets",
    has_many(more: MoreRows, by = sheet, on_delete = cascade)
)]
struct Sheet {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(items(max = 3))]
    rows: Vec<BsonDocument>,
}

#[derive(Debug, Serialize, Deserialize, Document)]
#[odm(
    collection = "more_rows",
    overflow(list = rows, by = sheet, number = number, max = 4)
)]
struct MoreRows {
    #[serde(rename = "_id")]
    id: Id<MoreRows>,
    sheet: Ref<Sheet>,
    number: i32,
    rows: Vec<BsonDocument>,
}

pub(super) async fn elements_with_numbers_as_names(db: &Db) {
    let plan = db.sync(models![Sheet, MoreRows]).plan().await.unwrap();
    plan.apply(Allow::CREATE).await.unwrap();
    let sheets = db.collection::<Sheet>();
    let sheet = Sheet {
        id: 1,
        rows: Vec::new(),
    };
    sheets.insert_one(&sheet).await.unwrap();
    let overflow = db.overflow::<MoreRows>();
    let row = |number: i32| doc! {"0": number, "1": 1, "2": 2, "3": 3, "4": 4};
    for number in 0..9 {
        overflow.push(1, [row(number)]).await.unwrap();
    }
    let rows: Vec<_> = (0..9).map(row).collect();
    assert_eq!(overflow.items(1).all().await.unwrap(), rows);
    assert_eq!(sheets.get(&1).await.unwrap().unwrap().rows.len(), 3);
    let more = overflow.collection().find_all().sort(|m| m.number.asc());
    let lengths: Vec<_> = more
        .all()
        .await
        .unwrap()
        .iter()
        .map(|m| m.rows.len())
        .collect();
    assert_eq!(lengths, [4, 2]);
}

#[derive(Debug, Serialize, Deserialize, Document)]
#[serde(rename_all = "camelCase")]
#[odm(
    collection = "machines",
    has_many(more_steps: MoreSteps, by = made_by, on_delete = cascade)
)]
struct Machine {
    #[serde(rename = "_id")]
    id: String,
    #[odm(embed(few, max = 1))]
    all_steps: Vec<Step>,
    #[odm(count_of(more_steps))]
    step_documents: i64,
    #[odm(version)]
    version: i64,
    #[odm(updated_at)]
    changed: DateTime,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
#[serde(rename_all = "camelCase")]
struct Step {
    step_number: i64,
}

#[derive(Debug, Serialize, Deserialize, Document)]
#[serde(rename_all = "camelCase")]
#[odm(
    collection = "steps",
    deny_undeclared,
    overflow(list = all_steps, by = made_by, number = part_number, max = 2)
)]
struct MoreSteps {
    #[serde(rename = "_id")]
    id: ObjectId,
    made_by: Ref<Machine>,
    part_number: i64,
    all_steps: Vec<Step>,
    note: Option<String>,
    #[serde(default)]
    rank: i32,
    #[odm(version)]
    version: i32,
    #[odm(created_at)]
    opened: DateTime,
    #[odm(updated_at)]
    changed: DateTime,
}

async fn a_machine(db: &Db) -> Collection<Machine> {
    let plan = db.sync(models![Machine, MoreSteps]).plan().await.unwrap();
    plan.apply(Allow::CREATE).await.unwrap();
    let machines = db.collection();
    let machine = Machine {
        id: "m1".to_owned(),
        all_steps: Vec::new(),
        step_documents: 0,
        version: 1,
        changed: DateTime::from_millis(0),
    };
    machines.insert_one(&machine).await.unwrap();
    machines
}

fn steps(numbers: std::ops::Range<i64>) -> Vec<Step> {
    numbers.map(|step_number| Step { step_number }).collect()
}

pub(super) async fn other_names_and_types(db: &Db) {
    a_machine(db).await;
    let overflow = db.overflow::<MoreSteps>();
    overflow.push("m1", steps(0..4)).await.unwrap();
    let stored = doc! {"find": "steps", "sort": {"partNumber": 1}, "projection": {"_id": 0, "opened": 0, "changed": 0}};
    let stored = db.run_command(stored).all().await.unwrap();
    let expected = [
        doc! {"madeBy": "m1", "partNumber": 1_i64, "allSteps": [{"stepNumber": 1_i64}, {"stepNumber": 2_i64}], "version": 1},
        doc! {"madeBy": "m1", "partNumber": 2_i64, "allSteps": [{"stepNumber": 3_i64}], "version": 1},
    ];
    for (stored, expected) in stored.iter().zip(&expected) {
        for (name, value) in expected {
            assert_eq!(stored.get(name), Some(value), "{name} of {stored}");
        }
    }
    assert_eq!(stored.len(), 2);
    assert_eq!(overflow.items("m1").all().await.unwrap(), steps(0..4));
    let report = db.check(models![Machine, MoreSteps]).await.unwrap();
    assert!(report.is_sound(), "{report}");
}

pub(super) async fn maintained_fields_follow(db: &Db) {
    let machines = a_machine(db).await;
    let overflow = db.overflow::<MoreSteps>();
    let before = machines.get("m1").await.unwrap().unwrap();
    overflow.push("m1", steps(0..1)).await.unwrap();
    let after = machines.get("m1").await.unwrap().unwrap();
    assert_eq!(after.version, before.version + 1);
    assert!(after.changed >= before.changed);

    overflow.push("m1", steps(1..2)).await.unwrap();
    let more = overflow.collection();
    let opened = more.find_all().all().await.unwrap();
    assert_eq!(opened[0].version, 1);
    assert!(opened[0].opened.timestamp_millis() > 0);
    overflow.push("m1", steps(2..3)).await.unwrap();
    let filled = more.find_all().all().await.unwrap();
    assert_eq!((filled[0].version, filled[0].all_steps.len()), (2, 2));
    assert!(filled[0].changed >= opened[0].changed);
}
