//! A person: addresses embedded, and tasks that refer back.

use odm::bson::oid::ObjectId;
pub(crate) mod kate {
    use odm::prelude::*;

    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
    #[odm(collection = "person")]
    struct Person {
        #[serde(rename = "_id")]
        id: Id<Person>,
        name: String,
        ssn: String,
        #[odm(embed(few, max = 10))]
        addresses: Vec<Address>,
    }

    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
    struct Address {
        street: String,
        city: String,
        cc: String,
    }

    pub(crate) async fn store(db: &Db) -> odm::Result<()> {
        crate::examples::sync(db, models![Person]).await?;
        let addresses = [("123 Sesame St", "Anytown"), ("123 Avenue Q", "New York")];
        let kate = Person {
            id: Id::new(),
            name: "Kate Monster".to_owned(),
            ssn: "123-456-7890".to_owned(),
            addresses: addresses
                .map(|(street, city)| Address {
                    street: street.to_owned(),
                    city: city.to_owned(),
                    cc: "USA".to_owned(),
                })
                .to_vec(),
        };
        db.collection::<Person>().insert_one(&kate).await?;
        Ok(())
    }

    pub(crate) async fn join(db: &Db) -> odm::Result<Vec<String>> {
        let people = db.collection::<Person>();
        let found = people
            .find(|p| {
                p.addresses
                    .elem_match(|a| a.city.eq("New York") & a.cc.eq("USA"))
            })
            .all()
            .await?;
        Ok(found
            .iter()
            .map(|person| format!("{} has {} addresses", person.name, person.addresses.len()))
            .collect())
    }
}

pub(crate) mod owners {
    use odm::prelude::*;

    use super::ObjectId;

    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
    #[odm(collection = "people")]
    pub(crate) struct Owner {
        #[serde(rename = "_id")]
        id: Id<Owner>,
        name: String,
        #[odm(references(many, max = 1_000), two_way = owner)]
        tasks: Vec<Ref<Task>>,
    }

    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
    #[odm(collection = "tasks")]
    pub(crate) struct Task {
        #[serde(rename = "_id")]
        id: Id<Task>,
        description: String,
        due_date: DateTime,
        #[odm(index, two_way = tasks)]
        owner: Ref<Owner>,
    }

    pub(crate) async fn store(db: &Db) -> odm::Result<()> {
        crate::examples::sync(db, models![Owner, Task]).await?;
        let task = ObjectId::from_bytes([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xad, 0xf9]);
        let kate = Owner {
            id: ObjectId::from_bytes([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xaa, 0xf1]).into(),
            name: "Kate Monster".to_owned(),
            tasks: Vec::new(),
        };
        let task = Task {
            id: task.into(),
            description: "Write lesson plan".to_owned(),
            due_date: crate::examples::date("2014-04-01T00:00:00Z"),
            owner: Ref::to(&kate),
        };
        db.collection::<Owner>().insert_one(&kate).await?;
        // Kate's list gets the task by the same transaction.
        db.collection::<Task>()
            .insert_one(&task)
            .propagate()
            .await?;
        Ok(())
    }

    pub(crate) async fn join(db: &Db) -> odm::Result<Vec<String>> {
        let mut lines = Vec::new();
        for row in db
            .collection::<Owner>()
            .find_all()
            .join(|p| p.tasks)
            .all()
            .await?
        {
            let found = row.tasks().iter().filter_map(|task| task.found());
            let tasks: Vec<_> = found.map(|task| task.description.as_str()).collect();
            lines.push(format!("{}: {}", row.name, tasks.join(", ")));
        }
        for row in db
            .collection::<Task>()
            .find_all()
            .join(|t| t.owner)
            .all()
            .await?
        {
            let name = row.owner().found().map_or("nobody", |owner| &owner.name);
            lines.push(format!("{} is due by {name}", row.description));
        }
        let tasks = db.collection::<Task>();
        if let Some(task) = tasks
            .find_one(|t| t.description.eq("Write lesson plan"))
            .await?
        {
            let erin = Owner {
                id: Id::new(),
                name: "Erin".to_owned(),
                tasks: Vec::new(),
            };
            db.collection::<Owner>().insert_one(&erin).await?;
            // Erin gets the task, and Kate loses it.
            tasks
                .update_by_id(&task.id, |t| t.owner.set(Ref::to(&erin)))
                .propagate()
                .await?;
        }
        let people = db.collection::<Owner>().find_all().sort(|p| p.name.asc());
        for row in people.join(|p| p.tasks).all().await? {
            let found = row.tasks().iter().filter_map(|task| task.found());
            let tasks: Vec<_> = found.map(|task| task.description.as_str()).collect();
            lines.push(format!("{} now: {}", row.name, tasks.join(", ")));
        }
        for row in tasks.find_all().join(|t| t.owner).all().await? {
            let name = row.owner().found().map_or("nobody", |owner| &owner.name);
            lines.push(format!("{} is due by {name} now", row.description));
        }
        Ok(lines)
    }
}
