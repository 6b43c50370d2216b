//! A patron and its addresses: embedded, or in a collection of their own.

use odm::prelude::*;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
struct Address {
    street: String,
    city: String,
    state: String,
    zip: String,
}

fn address(street: &str, city: &str) -> Address {
    Address {
        street: street.to_owned(),
        city: city.to_owned(),
        state: "MA".to_owned(),
        zip: "12345".to_owned(),
    }
}

pub(crate) mod embedded {
    use odm::prelude::*;

    use super::{Address, address};

    /// One address, read and changed with its patron.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
    #[odm(collection = "patrons")]
    struct Patron {
        #[serde(rename = "_id")]
        id: String,
        name: String,
        address: Address,
    }

    pub(crate) async fn store(db: &Db) -> odm::Result<()> {
        crate::examples::sync(db, models![Patron]).await?;
        let joe = Patron {
            id: "joe".to_owned(),
            name: "Joe Bookreader".to_owned(),
            address: address("123 Fake Street", "Faketon"),
        };
        db.collection::<Patron>().insert_one(&joe).await?;
        Ok(())
    }

    pub(crate) async fn join(db: &Db) -> odm::Result<Vec<String>> {
        let patrons = db.collection::<Patron>();
        let found = patrons.find(|p| p.address.city.eq("Faketon")).all().await?;
        Ok(found
            .iter()
            .map(|patron| format!("{} lives in {}", patron.name, patron.address.city))
            .collect())
    }
}

pub(crate) mod one {
    use odm::prelude::*;

    use super::{Address, address};

    /// The same, with the address in a collection of its own.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
    #[odm(collection = "patrons", has_one(address: Home, by = patron))]
    struct Resident {
        #[serde(rename = "_id")]
        id: String,
        name: String,
    }

    /// The unique index keeps it at one address for each patron.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
    #[odm(collection = "addresses")]
    struct Home {
        #[serde(rename = "_id")]
        id: Id<Home>,
        #[serde(rename = "patron_id")]
        #[odm(unique)]
        patron: Ref<Resident>,
        street: String,
        city: String,
        state: String,
        zip: String,
    }

    pub(crate) async fn store(db: &Db) -> odm::Result<()> {
        crate::examples::sync(db, models![Resident, Home]).await?;
        let joe = Resident {
            id: "joe".to_owned(),
            name: "Joe Bookreader".to_owned(),
        };
        let Address {
            street,
            city,
            state,
            zip,
        } = address("123 Fake Street", "Faketon");
        let home = Home {
            id: Id::new(),
            patron: Ref::to(&joe),
            street,
            city,
            state,
            zip,
        };
        db.collection::<Resident>().insert_one(&joe).await?;
        db.collection::<Home>().insert_one(&home).await?;
        Ok(())
    }

    pub(crate) async fn join(db: &Db) -> odm::Result<Vec<String>> {
        let mut lines = Vec::new();
        let residents = db.collection::<Resident>().find_all();
        for row in residents.join(|r| r.address).all().await? {
            let city = row.address().as_ref().map_or("nowhere", |home| &home.city);
            lines.push(format!("{} lives in {city}", row.name));
        }
        let homes = db.collection::<Home>().find(|h| h.city.eq("Faketon"));
        for row in homes.join(|h| h.patron).all().await? {
            let name = row.patron().found().map_or("nobody", |patron| &patron.name);
            lines.push(format!("{} is the address of {name}", row.street));
        }
        Ok(lines)
    }
}

pub(crate) mod few {
    use odm::prelude::*;

    use super::{Address, address};

    /// A few addresses, read and changed with their patron.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
    #[odm(collection = "patrons")]
    pub(crate) struct Patron {
        #[serde(rename = "_id")]
        id: String,
        name: String,
        #[odm(embed(few, max = 5))]
        addresses: Vec<Address>,
    }

    pub(crate) async fn store(db: &Db) -> odm::Result<()> {
        crate::examples::sync(db, models![Patron]).await?;
        let joe = Patron {
            id: "joe".to_owned(),
            name: "Joe Bookreader".to_owned(),
            addresses: vec![address("123 Fake Street", "Faketon")],
        };
        let patrons = db.collection::<Patron>();
        patrons.insert_one(&joe).await?;
        let other = address("1 Some Other Street", "Boston");
        patrons
            .update_one(|p| p.id.eq("joe"), |p| p.addresses.push(&other))
            .await?;
        Ok(())
    }

    pub(crate) async fn join(db: &Db) -> odm::Result<Vec<String>> {
        let patrons = db.collection::<Patron>();
        let found = patrons
            .find(|p| p.addresses.any().city.eq("Boston"))
            .all()
            .await?;
        Ok(found
            .iter()
            .map(|patron| format!("{} has {} addresses", patron.name, patron.addresses.len()))
            .collect())
    }
}

pub(crate) mod addresses {
    use odm::prelude::*;

    use super::{Address, address};

    /// The same, with the addresses in a collection of their own.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
    #[odm(collection = "patrons", has_many(addresses: Mail, by = patron))]
    pub(crate) struct Member {
        #[serde(rename = "_id")]
        id: String,
        name: String,
    }

    /// An address that refers to its patron.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
    #[odm(collection = "addresses")]
    pub(crate) struct Mail {
        #[serde(rename = "_id")]
        id: Id<Mail>,
        #[serde(rename = "patron_id")]
        #[odm(index)]
        patron: Ref<Member>,
        street: String,
        city: String,
        state: String,
        zip: String,
    }

    pub(crate) async fn store(db: &Db) -> odm::Result<()> {
        crate::examples::sync(db, models![Member, Mail]).await?;
        let joe = Member {
            id: "joe".to_owned(),
            name: "Joe Bookreader".to_owned(),
        };
        db.collection::<Member>().insert_one(&joe).await?;
        let mails = [
            ("123 Fake Street", "Faketon"),
            ("1 Some Other Street", "Boston"),
        ];
        let mails = mails.map(|(street, city)| {
            let Address {
                street,
                city,
                state,
                zip,
            } = address(street, city);
            Mail {
                id: Id::new(),
                patron: Ref::to(&joe),
                street,
                city,
                state,
                zip,
            }
        });
        db.collection::<Mail>().insert_many(&mails).await?;
        Ok(())
    }

    pub(crate) async fn join(db: &Db) -> odm::Result<Vec<String>> {
        let members = db.collection::<Member>().find_all();
        let members = members
            .join(|m| m.addresses.sort(|a| a.city.asc()))
            .all()
            .await?;
        let mut lines: Vec<String> = members
            .iter()
            .map(|row| {
                let cities: Vec<_> = row.addresses().iter().map(|it| it.city.as_str()).collect();
                format!("{}: {}", row.name, cities.join(", "))
            })
            .collect();
        let mails = db.collection::<Mail>().find(|m| m.city.eq("Boston"));
        for row in mails.join(|m| m.patron).all().await? {
            let name = row.patron().found().map_or("nobody", |patron| &patron.name);
            lines.push(format!("{} is the address of {name}", row.street));
        }
        Ok(lines)
    }
}
