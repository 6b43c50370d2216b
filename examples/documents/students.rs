//! A student: e-mails and card embedded, courses by reference, and posts that refer to the student.

use odm::bson::oid::ObjectId;
use odm::prelude::*;

pub(crate) const SAMMY: &str = "612d1e835ebee16872a109a4";

pub(crate) fn id<T>(hex: &str) -> Id<T> {
    ObjectId::parse_str(hex).unwrap_or_default().into()
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub(crate) struct Email {
    email: String,
    #[serde(rename = "type")]
    kind: String,
}

pub(crate) fn email(address: &str, kind: &str) -> Email {
    Email {
        email: address.to_owned(),
        kind: kind.to_owned(),
    }
}

pub(crate) mod emails {
    use odm::prelude::*;

    use super::{Email, SAMMY, email, id};

    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
    #[odm(collection = "students")]
    struct Student {
        #[serde(rename = "_id")]
        id: Id<Student>,
        first_name: String,
        last_name: String,
        #[odm(embed(few, max = 10))]
        emails: Vec<Email>,
    }

    pub(crate) async fn store(db: &Db) -> odm::Result<()> {
        crate::examples::sync(db, models![Student]).await?;
        let sammy = Student {
            id: id(SAMMY),
            first_name: "Sammy".to_owned(),
            last_name: "Shark".to_owned(),
            emails: vec![email("sammy@digitalocean.com", "work")],
        };
        let students = db.collection::<Student>();
        students.insert_one(&sammy).await?;
        // One address of each kind: a second one for work would be withheld.
        for new in [
            email("sammy@example.com", "home"),
            email("shark@example.com", "work"),
        ] {
            students
                .update_one(
                    |s| s.id.eq(sammy.id),
                    |s| s.emails.push_new(|e| e.kind, new),
                )
                .await?;
        }
        Ok(())
    }

    pub(crate) async fn join(db: &Db) -> odm::Result<Vec<String>> {
        let students = db.collection::<Student>();
        let found = students
            .find(|s| s.emails.any().kind.eq("home"))
            .all()
            .await?;
        Ok(found
            .iter()
            .map(|student| {
                let all: Vec<_> = student.emails.iter().map(|it| it.email.as_str()).collect();
                format!(
                    "{} {}: {}",
                    student.first_name,
                    student.last_name,
                    all.join(", ")
                )
            })
            .collect())
    }
}

pub(crate) mod card {
    use odm::prelude::*;

    use super::{SAMMY, id};

    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
    #[odm(collection = "students")]
    struct Student {
        #[serde(rename = "_id")]
        id: Id<Student>,
        first_name: String,
        last_name: String,
        id_card: Card,
    }

    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
    struct Card {
        number: String,
        issued_on: DateTime,
        expires_on: DateTime,
    }

    pub(crate) async fn store(db: &Db) -> odm::Result<()> {
        crate::examples::sync(db, models![Student]).await?;
        let issued = crate::examples::date("2020-01-23T00:00:00Z");
        let sammy = Student {
            id: id(SAMMY),
            first_name: "Sammy".to_owned(),
            last_name: "Shark".to_owned(),
            id_card: Card {
                number: "123-1234-123".to_owned(),
                issued_on: issued,
                expires_on: issued,
            },
        };
        db.collection::<Student>().insert_one(&sammy).await?;
        Ok(())
    }

    pub(crate) async fn join(db: &Db) -> odm::Result<Vec<String>> {
        let students = db.collection::<Student>();
        let found = students
            .find(|s| s.id_card.number.eq("123-1234-123"))
            .all()
            .await?;
        Ok(found
            .iter()
            .map(|student| {
                format!(
                    "{} has the card {}",
                    student.first_name, student.id_card.number
                )
            })
            .collect())
    }
}

pub(crate) mod courses {
    use odm::prelude::*;

    use super::{Email, SAMMY, email, id};

    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
    #[odm(collection = "students")]
    pub(crate) struct Student {
        #[serde(rename = "_id")]
        id: Id<Student>,
        first_name: String,
        last_name: String,
        #[odm(embed(few, max = 10))]
        emails: Vec<Email>,
        #[odm(references(many, max = 100), index)]
        courses: Vec<Ref<Course>>,
    }

    /// A course has several students, and a student several courses: no collection stands between them.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
    #[odm(collection = "courses", has_many(students: Student, by = courses))]
    pub(crate) struct Course {
        #[serde(rename = "_id")]
        id: Id<Course>,
        name: String,
        department: String,
        points: i32,
    }

    /// Two courses.
    pub(crate) fn catalogue() -> [Course; 2] {
        [
            (
                "61741c9cbc9ec583c836170a",
                "Physics 101",
                "Department of Physics",
                7,
            ),
            (
                "61741c9cbc9ec583c836170b",
                "Introduction to Cloud Computing",
                "Department of Computer Science",
                4,
            ),
        ]
        .map(|(hex, name, department, points)| Course {
            id: id(hex),
            name: name.to_owned(),
            department: department.to_owned(),
            points,
        })
    }

    pub(crate) async fn store(db: &Db) -> odm::Result<()> {
        crate::examples::sync(db, models![Student, Course]).await?;
        let courses = catalogue();
        let sammy = Student {
            id: id(SAMMY),
            first_name: "Sammy".to_owned(),
            last_name: "Shark".to_owned(),
            emails: vec![
                email("sammy@digitalocean.com", "work"),
                email("sammy@example.com", "home"),
            ],
            courses: courses.iter().map(Ref::to).collect(),
        };
        db.collection::<Course>().insert_many(&courses).await?;
        db.collection::<Student>().insert_one(&sammy).await?;
        Ok(())
    }

    pub(crate) async fn join(db: &Db) -> odm::Result<Vec<String>> {
        let mut lines = Vec::new();
        for row in db
            .collection::<Student>()
            .find_all()
            .join(|s| s.courses)
            .all()
            .await?
        {
            let found = row.courses().iter().filter_map(|course| course.found());
            let names: Vec<_> = found.map(|course| course.name.as_str()).collect();
            lines.push(format!("{} takes {}", row.first_name, names.join(", ")));
        }
        let courses = db.collection::<Course>().find(|c| c.points.gt(5));
        for row in courses.join(|c| c.students).all().await? {
            let names: Vec<_> = row
                .students()
                .iter()
                .map(|it| it.first_name.as_str())
                .collect();
            lines.push(format!("{} is taken by {}", row.name, names.join(", ")));
        }
        Ok(lines)
    }
}

pub(crate) mod posts {
    use odm::prelude::*;

    use super::{SAMMY, id};

    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
    #[odm(collection = "students", has_squillions(posts: Post, by = posted_by))]
    pub(crate) struct Author {
        #[serde(rename = "_id")]
        id: Id<Author>,
        first_name: String,
        last_name: String,
    }

    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
    #[odm(collection = "message_board_messages")]
    pub(crate) struct Post {
        #[serde(rename = "_id")]
        id: Id<Post>,
        subject: String,
        message: String,
        posted_on: DateTime,
        #[odm(index)]
        posted_by: Ref<Author>,
    }

    pub(crate) async fn store(db: &Db) -> odm::Result<()> {
        crate::examples::sync(db, models![Author, Post]).await?;
        let sammy = Author {
            id: id(SAMMY),
            first_name: "Sammy".to_owned(),
            last_name: "Shark".to_owned(),
        };
        let post = Post {
            id: id("61741c9cbc9ec583c836174c"),
            subject: "Books on kinematics and dynamics".to_owned(),
            message: "…".to_owned(),
            posted_on: crate::examples::date("2021-07-23T16:03:21Z"),
            posted_by: Ref::to(&sammy),
        };
        db.collection::<Author>().insert_one(&sammy).await?;
        db.collection::<Post>().insert_one(&post).await?;
        Ok(())
    }

    pub(crate) async fn join(db: &Db) -> odm::Result<Vec<String>> {
        let mut lines = Vec::new();
        let authors = db.collection::<Author>().find_all();
        let latest = authors.join(|a| a.posts.sort(|p| p.posted_on.desc()).limit(10));
        for row in latest.all().await? {
            let subjects: Vec<_> = row.posts().iter().map(|it| it.subject.as_str()).collect();
            lines.push(format!(
                "{} has posted {}",
                row.first_name,
                subjects.join(", ")
            ));
        }
        for row in db
            .collection::<Post>()
            .find_all()
            .join(|p| p.posted_by)
            .all()
            .await?
        {
            let name = row
                .posted_by()
                .found()
                .map_or("nobody", |it| &it.first_name);
            lines.push(format!("{} was posted by {name}", row.subject));
        }
        Ok(lines)
    }
}
