//! Elements of embedded lists: added, changed and removed by a key or a condition, two levels deep, in one update.

use futures::future::join_all;
use odm::bson::doc;
use odm::collection::WithheldReason;
use odm::prelude::*;

use crate::case::cases;

cases![
    one_to_one_is_a_subdocument,
    elements_are_changed_by_a_condition,
    elements_change_two_levels_deep_in_one_update,
    joined_changes_reach_their_own_elements,
    an_element_with_a_new_key_is_added_once,
    concurrent_additions_of_one_key_add_one,
    elements_are_replaced_by_key,
    elements_are_added_by_key_two_levels_deep,
    two_removals_at_once_remove_what_they_name,
    several_keys_are_removed_at_once,
    lists_of_scalars_have_elements_too,
    find_one_and_update_reports_a_duplicate,
];

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "patrons")]
struct Patron {
    #[serde(rename = "_id")]
    id: String,
    name: String,
    address: Address,
    former: Option<Address>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
struct Address {
    street: String,
    city: String,
    state: String,
    zip: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "students")]
struct Student {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(embed(few, max = 4))]
    emails: Vec<Email>,
    #[odm(embed(few, max = 4))]
    courses: Vec<Course>,
    #[odm(items(max = 9))]
    grades: Vec<i32>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
struct Email {
    kind: String,
    email: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
struct Course {
    code: String,
    #[odm(embed(few, max = 2))]
    tests: Vec<Test>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
struct Test {
    number: i32,
    mark: i32,
}

fn email(kind: &str, email: &str) -> Email {
    Email {
        kind: kind.to_owned(),
        email: email.to_owned(),
    }
}

fn test(number: i32, mark: i32) -> Test {
    Test { number, mark }
}

fn course(code: &str, tests: impl IntoIterator<Item = Test>) -> Course {
    Course {
        code: code.to_owned(),
        tests: tests.into_iter().collect(),
    }
}

/// One student with two addresses and two courses.
async fn students(db: &Db) -> Collection<Student> {
    let students = db.collection::<Student>();
    let student = Student {
        id: 1,
        emails: vec![email("work", "w"), email("home", "h")],
        courses: vec![
            course("math", [test(1, 50), test(2, 60)]),
            course("art", [test(1, 70)]),
        ],
        grades: vec![80, 40, 95],
    };
    students.insert_one(&student).await.unwrap();
    students
}

async fn stored(students: &Collection<Student>) -> Student {
    students.get(&1).await.unwrap().unwrap()
}

async fn one_to_one_is_a_subdocument(db: &Db) {
    let patrons = db.collection::<Patron>();
    let address = Address {
        street: "123 Fake Street".to_owned(),
        city: "Faketon".to_owned(),
        state: "MA".to_owned(),
        zip: "12345".to_owned(),
    };
    let joe = Patron {
        id: "joe".to_owned(),
        name: "Joe Bookreader".to_owned(),
        address: address.clone(),
        former: None,
    };
    patrons.insert_one(&joe).await.unwrap();
    let moved = patrons
        .update_one(
            |p| p.address.zip.eq("12345"),
            |p| p.address.street.set("1 Some Other Street") & p.former.set(&address),
        )
        .await
        .unwrap();
    assert_eq!(moved.modified, 1);
    let joe = patrons
        .find_one(|p| p.former.street.eq("123 Fake Street"))
        .await
        .unwrap()
        .unwrap();
    assert_eq!(joe.address.street, "1 Some Other Street");
    assert_eq!(joe.former, Some(address));
    patrons
        .update_one(|p| p.id.eq("joe"), |p| p.former.unset())
        .await
        .unwrap();
    assert_eq!(patrons.get("joe").await.unwrap().unwrap().former, None);
}

async fn elements_are_changed_by_a_condition(db: &Db) {
    let students = students(db).await;
    let change = |kind: &'static str| {
        students.update_one(
            |s| s.id.eq(1),
            |s| {
                s.emails
                    .update_where(|e| e.kind.eq(kind), |e| e.email.set("new"))
            },
        )
    };
    let result = change("home").await.unwrap();
    assert_eq!((result.matched, result.modified), (1, 1));
    let result = change("none").await.unwrap();
    assert_eq!((result.matched, result.modified), (1, 0));
    assert_eq!(
        stored(&students).await.emails,
        [email("work", "w"), email("home", "new")]
    );
}

async fn elements_change_two_levels_deep_in_one_update(db: &Db) {
    let students = students(db).await;
    let update = students.update_one(
        |s| s.id.eq(1),
        |s| {
            s.courses.update_where(
                |c| c.code.eq("math"),
                |c| {
                    c.code.set("maths")
                        & c.tests
                            .update_where(|t| t.number.eq(2) & t.mark.lt(100), |t| t.mark.inc(5))
                        & c.tests.update_where(|t| t.number.eq(1), |t| t.mark.set(0))
                },
            ) & s.emails.pull_by(|e| e.kind, ["work"])
        },
    );
    let command = update.command().unwrap();
    let statement = command.get_array("updates").unwrap()[0]
        .as_document()
        .unwrap();
    assert_eq!(
        statement.get_array("arrayFilters").unwrap(),
        &[
            doc! {"a.code": "math"}.into(),
            doc! {"b.number": 2, "b.mark": {"$lt": 100}}.into(),
            doc! {"c.number": 1}.into(),
        ]
    );
    let result = students
        .update_one(
            |s| s.id.eq(1),
            |s| {
                s.courses.update_where(
                    |c| c.code.eq("math"),
                    |c| {
                        c.code.set("maths")
                            & c.tests.update_where(|t| t.number.eq(2), |t| t.mark.inc(5))
                            & c.tests.update_where(|t| t.number.eq(1), |t| t.mark.set(0))
                    },
                ) & s.emails.pull_by(|e| e.kind, ["work"])
            },
        )
        .await
        .unwrap();
    assert_eq!(result.modified, 1);
    let student = stored(&students).await;
    assert_eq!(
        student.courses,
        [
            course("maths", [test(1, 0), test(2, 65)]),
            course("art", [test(1, 70)]),
        ]
    );
    assert_eq!(student.emails, [email("home", "h")]);
}

async fn joined_changes_reach_their_own_elements(db: &Db) {
    let students = students(db).await;
    students
        .update_one(
            |s| s.id.eq(1),
            |s| {
                Update::all_of(["work", "home"].map(|kind| {
                    s.emails
                        .update_where(|e| e.kind.eq(kind), |e| e.email.set(kind))
                })) & s
                    .grades
                    .update_where(|g| g.lt(60) | g.gt(90), |g| g.set(60))
                    & s.courses
                        .update_where(|c| c.code.eq("art"), |c| c.tests.all_elements().mark.inc(1))
                    & s.courses
                        .update_where(|c| c.code.eq("art"), |c| c.code.set("arts"))
            },
        )
        .await
        .unwrap();
    let student = stored(&students).await;
    assert_eq!(
        student.emails,
        [email("work", "work"), email("home", "home")]
    );
    assert_eq!(student.grades, [80, 60, 60]);
    assert_eq!(student.courses[1], course("arts", [test(1, 71)]));
}

async fn an_element_with_a_new_key_is_added_once(db: &Db) {
    let students = students(db).await;
    let add = |kind: &'static str| {
        students.update_one(
            |s| s.id.eq(1),
            |s| s.emails.push_new(|e| e.kind, email(kind, "new")),
        )
    };
    let added = add("school").await.unwrap();
    assert_eq!((added.modified, added.is_duplicate()), (1, false));
    let there = add("work").await.unwrap();
    assert_eq!((there.matched, there.modified), (0, 0));
    assert!(there.is_duplicate() && !there.is_full());
    assert_eq!(there.withheld[0].path, "emails");
    assert_eq!(there.withheld[0].reason, WithheldReason::Duplicate);
    assert_eq!(add("fax").await.unwrap().modified, 1);
    let full = add("pager").await.unwrap();
    assert!(full.is_full() && !full.is_duplicate());
    let both = add("work").await.unwrap();
    assert!(both.is_full() && both.is_duplicate());
    assert_eq!(stored(&students).await.emails.len(), 4);
}

async fn concurrent_additions_of_one_key_add_one(db: &Db) {
    let students = students(db).await;
    let add = |number: i32| {
        let students = students.clone();
        async move {
            let new = email("school", &number.to_string());
            let update =
                students.update_one(|s| s.id.eq(1), |s| s.emails.push_new(|e| e.kind, new));
            update.await.unwrap().modified
        }
    };
    let added = join_all((0..10).map(add)).await;
    assert_eq!(added.iter().sum::<u64>(), 1);
    assert_eq!(stored(&students).await.emails.len(), 3);
}

async fn elements_are_replaced_by_key(db: &Db) {
    let students = students(db).await;
    let set = |kind: &'static str| {
        students.update_one(
            |s| s.id.eq(1),
            |s| s.emails.set_by(|e| e.kind, email(kind, "new")),
        )
    };
    assert_eq!(set("work").await.unwrap().modified, 1);
    assert_eq!(set("none").await.unwrap().modified, 0);
    assert_eq!(
        stored(&students).await.emails,
        [email("work", "new"), email("home", "h")]
    );
    // Removed and added again in one update, the key would change its place; in two updates it can be lost in between.
    let changed = students
        .update_one(
            |s| s.id.eq(1),
            |s| s.emails.set_by(|e| e.kind, email("home", "x")) & s.grades.push(1),
        )
        .await
        .unwrap();
    assert_eq!(changed.modified, 1);
}

async fn elements_are_added_by_key_two_levels_deep(db: &Db) {
    let students = students(db).await;
    let add = |code: &'static str, number: i32| {
        students.update_one(
            |s| s.id.eq(1),
            |s| {
                s.courses.update_where(
                    |c| c.code.eq(code),
                    |c| c.tests.push_new(|t| t.number, test(number, 90)),
                )
            },
        )
    };
    // The key is new in this course, though another one has it.
    assert_eq!(add("art", 2).await.unwrap().modified, 1);
    let there = add("art", 1).await.unwrap();
    assert!(there.is_duplicate() && there.is_full());
    assert_eq!(there.withheld[0].path, "courses.tests");
    let full = add("math", 3).await.unwrap();
    assert!(full.is_full() && !full.is_duplicate());
    let replaced = students
        .update_one(
            |s| s.id.eq(1),
            |s| {
                s.courses.update_where(
                    |c| c.code.eq("art"),
                    |c| c.tests.set_by(|t| t.number, test(1, 100)),
                )
            },
        )
        .await
        .unwrap();
    assert_eq!(replaced.modified, 1);
    assert_eq!(
        stored(&students).await.courses,
        [
            course("math", [test(1, 50), test(2, 60)]),
            course("art", [test(1, 100), test(2, 90)]),
        ]
    );
}

async fn two_removals_at_once_remove_what_they_name(db: &Db) {
    let students = students(db).await;
    let remove = |kind: &'static str| {
        let students = students.clone();
        async move {
            students
                .update_one(|s| s.id.eq(1), |s| s.emails.pull_by(|e| e.kind, [kind]))
                .await
                .unwrap()
                .modified
        }
    };
    let changed = |kind: &'static str| {
        let students = students.clone();
        async move {
            students
                .update_one(
                    |s| s.id.eq(1),
                    |s| {
                        s.courses
                            .update_where(|c| c.code.eq(kind), |c| c.tests.set(Vec::new()))
                    },
                )
                .await
                .unwrap()
                .modified
        }
    };
    let removed = join_all(["work", "none", "home"].map(remove)).await;
    assert_eq!(removed, [1, 0, 1]);
    let changed = join_all(["math", "art"].map(changed)).await;
    assert_eq!(changed, [1, 1]);
    let student = stored(&students).await;
    assert_eq!(student.emails, []);
    assert_eq!(student.courses, [course("math", []), course("art", [])]);
}

async fn several_keys_are_removed_at_once(db: &Db) {
    let students = students(db).await;
    students
        .update_one(
            |s| s.id.eq(1),
            |s| {
                s.courses.update_where(
                    |c| c.code.eq("math"),
                    |c| c.tests.pull_by(|t| t.number, [1, 2, 3]),
                ) & s.emails.pull_where(|e| e.email.eq("h"))
            },
        )
        .await
        .unwrap();
    let student = stored(&students).await;
    assert_eq!(student.courses[0], course("math", []));
    assert_eq!(student.emails, [email("work", "w")]);
}

async fn lists_of_scalars_have_elements_too(db: &Db) {
    let students = students(db).await;
    let add = |grade: i32| students.update_one(|s| s.id.eq(1), |s| s.grades.push_new(|g| g, grade));
    assert!(add(40).await.unwrap().is_duplicate());
    assert_eq!(add(41).await.unwrap().modified, 1);
    students
        .update_one(|s| s.id.eq(1), |s| s.grades.pull_by(|g| g, [80, 95]))
        .await
        .unwrap();
    assert_eq!(stored(&students).await.grades, [40, 41]);
}

async fn find_one_and_update_reports_a_duplicate(db: &Db) {
    let students = students(db).await;
    let error = students
        .find_one_and_update(
            |s| s.id.eq(1),
            |s| s.emails.push_new(|e| e.kind, email("work", "new")),
        )
        .await
        .unwrap_err();
    assert!(error.is_duplicate_element() && !error.is_full(), "{error}");
}
