//! Copies of fields of other documents: the name of each part, the facts of a product, the address of a host.

use odm::bson::oid::ObjectId;
use odm::prelude::*;

/// The guides shorten an id to two bytes.
fn id<T>(low: u16) -> Id<T> {
    let [high, low] = low.to_be_bytes();
    ObjectId::from_bytes([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, high, low]).into()
}

pub(crate) mod part_names {
    use odm::prelude::*;

    use super::id;

    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
    #[odm(collection = "products", index(parts.part))]
    struct Product {
        #[serde(rename = "_id")]
        id: Id<Product>,
        name: String,
        manufacturer: String,
        #[odm(unique)]
        catalog_number: i32,
        #[odm(embed(few, max = 2_000, allow = "each is an id and a short name"))]
        parts: Vec<NamedPart>,
    }

    /// A reference to a part, and the name that the product shows without reading the part.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
    struct NamedPart {
        #[serde(rename = "id")]
        part: Ref<Part>,
        #[odm(copy_of(part.name))]
        name: String,
    }

    /// Its quantity changes too often to be copied.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
    #[odm(collection = "parts", has_many(products: Product, by = parts.part))]
    struct Part {
        #[serde(rename = "_id")]
        id: Id<Part>,
        partno: String,
        name: String,
        qty: i32,
        cost: f64,
        price: f64,
    }

    pub(crate) async fn store(db: &Db) -> odm::Result<()> {
        crate::examples::sync(db, models![Product, Part]).await?;
        let parts = [
            (0xaaaa, "123-aff-456", "#4 grommet", 94, 0.94, 3.99),
            (0xf17c, "456-fan-789", "fan blade assembly", 12, 4.5, 9.99),
        ]
        .map(|(number, partno, name, qty, cost, price)| Part {
            id: id(number),
            partno: partno.to_owned(),
            name: name.to_owned(),
            qty,
            cost,
            price,
        });
        let named = |part: &Part| NamedPart {
            part: Ref::to(part),
            // `propagate` reads it from the part.
            name: String::new(),
        };
        let product = Product {
            id: Id::new(),
            name: "left-handed smoke shifter".to_owned(),
            manufacturer: "Acme Corp".to_owned(),
            catalog_number: 1234,
            parts: parts.iter().map(named).collect(),
        };
        db.collection::<Part>().insert_many(&parts).await?;
        db.collection::<Product>()
            .insert_one(&product)
            .propagate()
            .await?;
        Ok(())
    }

    pub(crate) async fn join(db: &Db) -> odm::Result<Vec<String>> {
        let mut lines = Vec::new();
        let (products, parts) = (db.collection::<Product>(), db.collection::<Part>());
        let names = |product: &Product| -> String {
            let names: Vec<_> = product.parts.iter().map(|it| it.name.as_str()).collect();
            names.join(", ")
        };
        let product = || products.find_one(|p| p.catalog_number.eq(1234));
        // The names alone need no join, all other facts of the parts do.
        if let Some(row) = product().join(|p| p.parts.each(|it| it.part)).await? {
            let found = row.part().iter().filter_map(|part| part.found());
            let left: i32 = found.map(|part| part.qty).sum();
            lines.push(format!("{}: {}; {left} in stock", row.name, names(&row)));
        }
        let grommet = parts.find(|p| p.partno.eq("123-aff-456"));
        for row in grommet.join(|p| p.products).all().await? {
            let numbers = row.products().iter().map(|it| it.catalog_number);
            let numbers: Vec<_> = numbers.map(|it| it.to_string()).collect();
            lines.push(format!("{} belongs to {}", row.name, numbers.join(", ")));
        }
        // The part and its name in all products change in one transaction.
        parts
            .update_one(|p| p.name.eq("#4 grommet"), |p| p.name.set("#5 grommet"))
            .propagate()
            .await?;
        if let Some(product) = product().await? {
            lines.push(format!("{} now: {}", product.name, names(&product)));
        }
        Ok(lines)
    }
}

pub(crate) mod product_facts {
    use odm::prelude::*;

    use super::id;

    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
    #[odm(collection = "products", has_many(parts: Part, by = product))]
    struct Product {
        #[serde(rename = "_id")]
        id: Id<Product>,
        name: String,
        manufacturer: String,
        #[odm(unique)]
        catalog_number: i32,
    }

    /// Shows its product without reading it.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
    #[odm(collection = "parts")]
    struct Part {
        #[serde(rename = "_id")]
        id: Id<Part>,
        partno: String,
        name: String,
        #[odm(index)]
        product: Ref<Product>,
        #[odm(copy_of(product.name))]
        product_name: String,
        #[odm(copy_of(product.catalog_number))]
        product_catalog_number: i32,
        qty: i32,
        cost: f64,
        price: f64,
    }

    pub(crate) async fn store(db: &Db) -> odm::Result<()> {
        crate::examples::sync(db, models![Product, Part]).await?;
        let product = Product {
            id: id(0xabcd),
            name: "left-handed smoke shifter".to_owned(),
            manufacturer: "Acme Corp".to_owned(),
            catalog_number: 1234,
        };
        let grommet = Part {
            id: id(0xaaaa),
            partno: "123-aff-456".to_owned(),
            name: "#4 grommet".to_owned(),
            product: Ref::to(&product),
            product_name: String::new(),
            product_catalog_number: 0,
            qty: 94,
            cost: 0.94,
            price: 3.99,
        };
        db.collection::<Product>().insert_one(&product).await?;
        db.collection::<Part>()
            .insert_one(&grommet)
            .propagate()
            .await?;
        Ok(())
    }

    pub(crate) async fn join(db: &Db) -> odm::Result<Vec<String>> {
        let mut lines = Vec::new();
        let (products, parts) = (db.collection::<Product>(), db.collection::<Part>());
        let shown = |part: &Part| {
            let Part {
                name,
                product_name,
                product_catalog_number,
                ..
            } = part;
            format!("{name} is a part of {product_name} ({product_catalog_number})")
        };
        for row in parts.find_all().join(|p| p.product).all().await? {
            let product = row.product().found();
            let maker = product.map_or("nobody", |it| &it.manufacturer);
            lines.push(format!("{}, made by {maker}", shown(&row)));
        }
        for row in products.find_all().join(|p| p.parts).all().await? {
            let names: Vec<_> = row.parts().iter().map(|it| it.name.as_str()).collect();
            lines.push(format!("{}: {}", row.catalog_number, names.join(", ")));
        }
        products
            .update_one(
                |p| p.catalog_number.eq(1234),
                |p| p.name.set("right-handed smoke shifter") & p.catalog_number.set(1235),
            )
            .propagate()
            .await?;
        let all = parts.find_all().all().await?;
        lines.extend(all.iter().map(|part| format!("{} now", shown(part))));
        Ok(lines)
    }
}

pub(crate) mod addresses {
    use odm::prelude::*;

    use super::id;

    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
    #[odm(collection = "hosts", has_squillions(messages: LogMessage, by = host))]
    struct Host {
        #[serde(rename = "_id")]
        id: Id<Host>,
        name: String,
        #[odm(unique)]
        ipaddr: String,
    }

    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
    #[odm(
        collection = "logmsg",
        index(host, time = desc),
        index(ipaddr, time = desc)
    )]
    struct LogMessage {
        #[serde(rename = "_id")]
        id: Id<LogMessage>,
        time: DateTime,
        message: String,
        #[odm(copy_of(host.ipaddr))]
        ipaddr: String,
        host: Ref<Host>,
    }

    pub(crate) async fn store(db: &Db) -> odm::Result<()> {
        crate::examples::sync(db, models![Host, LogMessage]).await?;
        let host = Host {
            id: id(0xaaab),
            name: "goofy.example.com".to_owned(),
            ipaddr: "127.66.66.66".to_owned(),
        };
        let message = LogMessage {
            id: Id::new(),
            time: crate::examples::date("2014-03-28T09:42:41.382Z"),
            message: "cpu is on fire!".to_owned(),
            ipaddr: String::new(),
            host: Ref::to(&host),
        };
        db.collection::<Host>().insert_one(&host).await?;
        db.collection::<LogMessage>()
            .insert_one(&message)
            .propagate()
            .await?;
        Ok(())
    }

    pub(crate) async fn join(db: &Db) -> odm::Result<Vec<String>> {
        let mut lines = Vec::new();
        let (hosts, messages) = (db.collection::<Host>(), db.collection::<LogMessage>());
        let newest = |ipaddr| {
            let of_host = messages.find(move |m| m.ipaddr.eq(ipaddr));
            of_host.sort(|m| m.time.desc()).limit(5_000)
        };
        // One query by the copy, instead of one for the host and one for its messages.
        for message in newest("127.66.66.66").all().await? {
            lines.push(format!("{} at {}", message.message, message.ipaddr));
        }
        for row in messages.find_all().join(|m| m.host).all().await? {
            let name = row.host().found().map_or("nowhere", |host| &host.name);
            lines.push(format!("{} at {name}", row.message));
        }
        for row in hosts.find_all().join(|h| h.messages.count()).all().await? {
            lines.push(format!("{} has {} message", row.name, row.messages()));
        }
        // Squillions of messages follow after the transaction of the update.
        hosts
            .update_one(
                |h| h.ipaddr.eq("127.66.66.66"),
                |h| h.ipaddr.set("127.0.0.66"),
            )
            .propagate()
            .await?;
        for message in newest("127.0.0.66").all().await? {
            lines.push(format!("{} at {} now", message.message, message.ipaddr));
        }
        Ok(lines)
    }
}
