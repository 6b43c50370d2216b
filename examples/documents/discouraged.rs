//! What the guides advise against: arrays of whole documents and of ids that grow with the life of a student.
//!
//! The derive refuses each of these structs until the field says why it is stored in this way. `students` has what the guides
//! advise instead.

pub(crate) mod whole_courses {
    use odm::prelude::*;

    use crate::examples::students::{Email, SAMMY, email, id};

    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
    #[odm(collection = "students")]
    struct Student {
        #[serde(rename = "_id")]
        id: Id<Student>,
        first_name: String,
        last_name: String,
        #[odm(embed(few, max = 10))]
        emails: Vec<Email>,
        // Without `allow`, the check `odm::embed_few` refuses more than 200. It accepts the dozens of courses that the guide
        // expects, `embed(few, max = 60)`: no check knows that many students share a course, and that it changes on its own.
        #[odm(embed(
            few,
            max = 300,
            allow = "a counterexample: `students::courses` keeps the ids"
        ))]
        courses: Vec<Course>,
    }

    /// Repeated in each student that takes it.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
    struct Course {
        name: String,
        department: String,
        points: i32,
    }

    pub(crate) async fn store(db: &Db) -> odm::Result<()> {
        crate::examples::sync(db, models![Student]).await?;
        let courses = [
            ("Physics 101", "Department of Physics", 7),
            (
                "Introduction to Cloud Computing",
                "Department of Computer Science",
                4,
            ),
        ];
        let sammy = Student {
            id: id(SAMMY),
            first_name: "Sammy".to_owned(),
            last_name: "Shark".to_owned(),
            emails: vec![
                email("sammy@digitalocean.com", "work"),
                email("sammy@example.com", "home"),
            ],
            courses: courses
                .map(|(name, department, points)| Course {
                    name: name.to_owned(),
                    department: department.to_owned(),
                    points,
                })
                .to_vec(),
        };
        db.collection::<Student>().insert_one(&sammy).await?;
        Ok(())
    }

    pub(crate) async fn join(db: &Db) -> odm::Result<Vec<String>> {
        let mut lines = Vec::new();
        let students = db.collection::<Student>();
        let found = students.find(|s| s.courses.any().name.eq("Physics 101"));
        for student in found.all().await? {
            let names: Vec<_> = student.courses.iter().map(|it| it.name.as_str()).collect();
            lines.push(format!("{} takes {}", student.first_name, names.join(", ")));
        }
        // The list of all courses: each student is read for it, and a course that nobody takes is in none.
        let mut all = std::collections::BTreeSet::new();
        for student in students.find_all().all().await? {
            all.extend(student.courses.into_iter().map(|course| course.name));
        }
        let all: Vec<_> = all.into_iter().collect();
        lines.push(format!("the courses: {}", all.join(", ")));
        Ok(lines)
    }
}

pub(crate) mod whole_messages {
    use odm::prelude::*;

    use crate::examples::students::courses::{Course, catalogue};
    use crate::examples::students::{Email, SAMMY, email, id};

    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
    #[odm(collection = "students")]
    struct Student {
        #[serde(rename = "_id")]
        id: Id<Student>,
        first_name: String,
        last_name: String,
        #[odm(embed(few, max = 10))]
        emails: Vec<Email>,
        #[odm(references(many, max = 100), index)]
        courses: Vec<Ref<Course>>,
        // Without `unbounded`, the check `odm::bare_list` refuses a list that does not say how long it can become. With it,
        // the list grows until mongod refuses a student of more than 16 MB.
        #[odm(unbounded = "a counterexample: `students::posts` has the student in each message")]
        message_board_messages: Vec<Post>,
    }

    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
    struct Post {
        subject: String,
        message: String,
        posted_on: DateTime,
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
            message_board_messages: Vec::new(),
        };
        let students = db.collection::<Student>();
        db.collection::<Course>().insert_many(&courses).await?;
        students.insert_one(&sammy).await?;
        let message = Post {
            subject: "Books on kinematics and dynamics".to_owned(),
            message: "…".to_owned(),
            posted_on: crate::examples::date("2021-07-23T16:03:21Z"),
        };
        students
            .update_by_id(&sammy.id, |s| s.message_board_messages.push(&message))
            .await?;
        Ok(())
    }

    pub(crate) async fn join(db: &Db) -> odm::Result<Vec<String>> {
        let mut lines = Vec::new();
        let students = db.collection::<Student>();
        let authors = students.find(|s| {
            let message = s.message_board_messages.any();
            message.subject.contains("kinematics")
        });
        // The messages come with the student, wanted or not.
        for row in authors.join(|s| s.courses).all().await? {
            let subjects = row.message_board_messages.iter().map(|it| &*it.subject);
            let subjects: Vec<_> = subjects.collect();
            lines.push(format!(
                "{} takes {} courses, and has posted {}",
                row.first_name,
                row.courses().len(),
                subjects.join(", ")
            ));
        }
        Ok(lines)
    }
}

pub(crate) mod message_ids {
    use odm::prelude::*;

    use crate::examples::students::courses::{Course, catalogue};
    use crate::examples::students::{Email, SAMMY, email, id};

    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
    #[odm(collection = "students")]
    struct Student {
        #[serde(rename = "_id")]
        id: Id<Student>,
        first_name: String,
        last_name: String,
        #[odm(embed(few, max = 10))]
        emails: Vec<Email>,
        #[odm(references(many, max = 100), index)]
        courses: Vec<Ref<Course>>,
        // Without `allow`, the check `odm::references_many` refuses more than 5,000 ids.
        #[odm(
            references(
                many,
                max = 20_000,
                allow = "a counterexample: `students::posts` has the student in each message"
            ),
            index
        )]
        message_board_messages: Vec<Ref<Post>>,
    }

    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
    #[odm(
        collection = "message_board_messages",
        has_many(authors: Student, by = message_board_messages)
    )]
    struct Post {
        #[serde(rename = "_id")]
        id: Id<Post>,
        subject: String,
        message: String,
        posted_on: DateTime,
    }

    pub(crate) async fn store(db: &Db) -> odm::Result<()> {
        crate::examples::sync(db, models![Student, Course, Post]).await?;
        let courses = catalogue();
        let message = Post {
            id: id("61741c9cbc9ec583c836174c"),
            subject: "Books on kinematics and dynamics".to_owned(),
            message: "…".to_owned(),
            posted_on: crate::examples::date("2021-07-23T16:03:21Z"),
        };
        let sammy = Student {
            id: id(SAMMY),
            first_name: "Sammy".to_owned(),
            last_name: "Shark".to_owned(),
            emails: vec![
                email("sammy@digitalocean.com", "work"),
                email("sammy@example.com", "home"),
            ],
            courses: courses.iter().map(Ref::to).collect(),
            message_board_messages: Vec::new(),
        };
        let students = db.collection::<Student>();
        db.collection::<Course>().insert_many(&courses).await?;
        students.insert_one(&sammy).await?;
        // Each message is two writes: itself, and its id in an array of thousands.
        db.collection::<Post>().insert_one(&message).await?;
        students
            .update_by_id(&sammy.id, |s| {
                s.message_board_messages.push(Ref::to(&message))
            })
            .await?;
        Ok(())
    }

    pub(crate) async fn join(db: &Db) -> odm::Result<Vec<String>> {
        let mut lines = Vec::new();
        let students = db.collection::<Student>().find_all();
        for row in students.join(|s| s.message_board_messages).all().await? {
            let found = row.message_board_messages().iter();
            let found = found.filter_map(|message| message.found());
            let subjects: Vec<_> = found.map(|message| message.subject.as_str()).collect();
            lines.push(format!(
                "{} has posted {}",
                row.first_name,
                subjects.join(", ")
            ));
        }
        let messages = db.collection::<Post>().find_all();
        for row in messages.join(|m| m.authors).all().await? {
            let names: Vec<_> = row
                .authors()
                .iter()
                .map(|it| it.first_name.as_str())
                .collect();
            lines.push(format!(
                "{} was posted by {}",
                row.subject,
                names.join(", ")
            ));
        }
        Ok(lines)
    }
}
