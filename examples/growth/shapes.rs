//! A lock file: what a change of a model means for documents that are stored.

use odm::prelude::*;
use odm::schema::Lock;

/// The model as it was released.
mod released {
    use super::{Deserialize, Document, Serialize};

    #[derive(Debug, Serialize, Deserialize, Document)]
    #[odm(collection = "members")]
    pub(super) struct Member {
        #[serde(rename = "_id")]
        pub(super) id: i32,
        pub(super) name: String,
        pub(super) points: i32,
    }
}

/// The model as somebody changes it.
#[derive(Debug, Serialize, Deserialize, Document)]
#[odm(collection = "members")]
struct Member {
    #[serde(rename = "_id")]
    id: i32,
    #[serde(rename = "fullName")]
    name: String,
    #[odm(range(max = 1_000))]
    points: i32,
    email: Option<String>,
}

pub(super) async fn show(db: &Db) -> Result<(), Box<dyn std::error::Error>> {
    let old = odm::schema::lock(models![released::Member])?;
    println!(
        "\nthe lock file of a release:\n{}",
        old.to_string().trim_end()
    );
    // A test calls `odm::schema::check_lock("odm.lock", models![Member])`, which reads the file and fails with this list.
    let new = odm::schema::lock(models![Member])?;
    for change in Lock::compare(&old, &new) {
        println!("- {change}");
    }

    // The list is right: a document of the release can't be read.
    let member = released::Member {
        id: 1,
        name: "Ada".to_owned(),
        points: 7,
    };
    db.collection::<released::Member>()
        .insert_one(&member)
        .await?;
    let members = db.collection::<Member>();
    println!("before: {}", members.find_all().all().await.is_err());
    // The step that it names.
    let rename = doc! {"q": {}, "u": {"$rename": {"name": "fullName"}}, "multi": true};
    db.run_command(doc! {"update": "members", "updates": [rename]})
        .await?;
    let read = members.get(1).await?.ok_or("the member is stored")?;
    println!("after: {} has {} points", read.name, read.points);
    Ok(())
}
