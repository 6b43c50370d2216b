//! The page of `$lookup`: classes with lists of the names of their members.

use odm::output;
use odm::pipeline::{Pipeline, pipeline};
use odm::prelude::*;

use super::{date, owned, sync};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "classes")]
pub(crate) struct Class {
    #[serde(rename = "_id")]
    id: i32,
    title: String,
    #[odm(refers_to(Member, by = name), items(max = 200))]
    enrollmentlist: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "members")]
pub(crate) struct Member {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(unique)]
    name: String,
    joined: DateTime,
    status: String,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, Embedded)]
#[odm(result)]
pub(crate) struct ClassWithMembers {
    title: String,
    pub(crate) enrollee_info: Vec<Member>,
}

pub(crate) fn classes_with_members() -> Pipeline<Class, ClassWithMembers> {
    pipeline::<Class>()
        .lookup_with(
            |c| c.enrollmentlist,
            |members| members.sort(|m| m.name.asc()),
        )
        .project(|(c, enrollee_info)| {
            output!(ClassWithMembers {
                title: c.title,
                enrollee_info: enrollee_info,
            })
        })
}

pub(crate) async fn store(db: &Db) -> odm::Result<()> {
    sync(db, models![Class, Member]).await?;
    let class = |id, title: &str, enrolled: &[&str]| Class {
        id,
        title: title.to_owned(),
        enrollmentlist: owned(enrolled),
    };
    let classes = [
        class(1, "Reading is ...", &["giraffe2", "pandabear", "artie"]),
        class(2, "But Writing ...", &["giraffe1", "artie"]),
    ];
    let member = |id, name: &str, joined, status: &str| Member {
        id,
        name: name.to_owned(),
        joined: date(joined),
        status: status.to_owned(),
    };
    let members = [
        member(1, "artie", "2016-05-01T00:00:00Z", "A"),
        member(2, "giraffe", "2017-05-01T00:00:00Z", "D"),
        member(3, "giraffe1", "2017-10-01T00:00:00Z", "A"),
        member(4, "panda", "2018-10-11T00:00:00Z", "A"),
        member(5, "pandabear", "2018-12-01T00:00:00Z", "A"),
        member(6, "giraffe2", "2018-12-01T00:00:00Z", "D"),
    ];
    db.collection::<Class>().insert_many(classes).await?;
    db.collection::<Member>().insert_many(members).await?;
    Ok(())
}
