use odm::prelude::*;

#[derive(Debug, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "people")]
struct Person {
    #[serde(rename = "_id")]
    id: i32,
    name: String,
    #[odm(references(many, max = 1_000), two_way = owner)]
    tasks: Vec<Ref<Task>>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "tasks")]
struct Task {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(index, two_way = tasks)]
    owner: Option<Ref<Person>>,
}

/// Kate, who has the tasks 1 and 2, and Jim, who has none.
#[allow(dead_code)]
async fn two_people() -> odm::Result<Db> {
    let db = Db::memory();
    db.sync(models![Person, Task]).plan().await?.apply(Allow::CREATE).await?;
    let person = |id, name: &str| Person { id, name: name.into(), tasks: Vec::new() };
    db.collection::<Person>().insert_many([person(1, "Kate"), person(2, "Jim")]).await?;
    let tasks = [1, 2].map(|id| Task { id, owner: Some(Ref::from(1)) });
    db.collection::<Task>().insert_many(tasks).propagate().await?;
    Ok(db)
}
