//! A program and its tests: its functions take a `Db`, and each test gives them one of its own, in memory.

use odm::prelude::*;

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "users")]
struct User {
    #[serde(rename = "_id")]
    id: Id<User>,
    #[odm(unique, pattern = "^[^@]+@[^@]+$")]
    email: String,
    name: Option<String>,
    #[odm(created_at)]
    joined: DateTime,
}

/// The fields of a user that a list shows. Only these are sent.
#[derive(Deserialize, Projection)]
#[odm(of = User)]
struct Entry {
    email: String,
    name: Option<String>,
}

/// `None` if the address is registered already.
async fn register(db: &Db, email: &str) -> odm::Result<Option<Id<User>>> {
    let user = User {
        id: Id::new(),
        email: email.to_owned(),
        name: None,
        joined: DateTime::now(),
    };
    match db.collection::<User>().insert_one(&user).await {
        Ok(_) => Ok(Some(user.id)),
        Err(error) if error.is_duplicate_key() => Ok(None),
        Err(error) => Err(error),
    }
}

async fn rename(db: &Db, id: Id<User>, name: &str) -> odm::Result<bool> {
    let users = db.collection::<User>();
    Ok(users.update_by_id(&id, |u| u.name.set(name)).await?.matched == 1)
}

/// Pages count from 1.
async fn page(db: &Db, number: u64) -> odm::Result<Vec<Entry>> {
    let users = db.collection::<User>().find_all().sort(|u| u.email.asc());
    users.page(number, 20).select::<Entry>().all().await
}

/// Opens a database and creates the collection, its validator and its indexes where they are missing.
async fn open(uri: Option<&str>) -> odm::Result<Db> {
    let db = match uri {
        Some(uri) => Db::connect(uri).await?, // mongodb://localhost/app
        None => Db::memory(),
    };
    let plan = db.sync(models![User]).plan().await?;
    plan.apply(Allow::CREATE).await?.require_complete()?;
    Ok(db)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> odm::Result<()> {
    let db = open(std::env::args().nth(1).as_deref()).await?;
    if let Some(id) = register(&db, "ada@example.com").await? {
        assert!(rename(&db, id, "Ada").await?);
    }
    for entry in page(&db, 1).await? {
        assert!(entry.email.contains('@') && entry.name.is_some());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn an_address_registers_once() -> odm::Result<()> {
        let db = open(None).await?;
        let id = register(&db, "ada@example.com").await?.expect("free");
        assert_eq!(register(&db, "ada@example.com").await?, None);
        assert!(rename(&db, id, "Ada").await?);
        let names: Vec<_> = page(&db, 1).await?.into_iter().map(|it| it.name).collect();
        assert_eq!(names, [Some("Ada".to_owned())]);
        Ok(())
    }

    #[tokio::test]
    async fn an_address_has_an_at_sign() -> odm::Result<()> {
        let refused = register(&open(None).await?, "ada").await;
        assert!(refused.is_err_and(|error| error.is_validation_failure()));
        Ok(())
    }
}
