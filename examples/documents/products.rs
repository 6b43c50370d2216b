//! A product: its parts by reference, and the newest of its reviews.

use odm::bson::oid::ObjectId;
pub(crate) mod parts {
    use odm::prelude::*;

    use super::ObjectId;

    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
    #[odm(collection = "products")]
    pub(crate) struct Product {
        #[serde(rename = "_id")]
        id: Id<Product>,
        catalog_number: i32,
        #[odm(references(many, max = 2_000), index)]
        parts: Vec<Ref<Part>>,
    }

    /// A part may belong to several products.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
    #[odm(collection = "parts", has_many(products: Product, by = parts))]
    pub(crate) struct Part {
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
        let grommet = Part {
            id: ObjectId::from_bytes([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xaa, 0xaa]).into(),
            partno: "123-aff-456".to_owned(),
            name: "#4 grommet".to_owned(),
            qty: 94,
            cost: 0.94,
            price: 3.99,
        };
        let product = Product {
            id: Id::new(),
            catalog_number: 1234,
            parts: vec![Ref::to(&grommet)],
        };
        db.collection::<Part>().insert_one(&grommet).await?;
        db.collection::<Product>().insert_one(&product).await?;
        Ok(())
    }

    pub(crate) async fn join(db: &Db) -> odm::Result<Vec<String>> {
        let mut lines = Vec::new();
        let product = db
            .collection::<Product>()
            .find_one(|p| p.catalog_number.eq(1234));
        if let Some(row) = product.join(|p| p.parts).await? {
            let found = row.parts().iter().filter_map(|part| part.found());
            let names: Vec<_> = found.map(|part| part.name.as_str()).collect();
            lines.push(format!(
                "product {}: {}",
                row.catalog_number,
                names.join(", ")
            ));
        }
        for row in db
            .collection::<Part>()
            .find_all()
            .join(|p| p.products)
            .all()
            .await?
        {
            let numbers = row
                .products()
                .iter()
                .map(|it| it.catalog_number.to_string());
            let numbers: Vec<_> = numbers.collect();
            lines.push(format!("{} belongs to {}", row.name, numbers.join(", ")));
        }
        Ok(lines)
    }
}

pub(crate) mod reviews {
    use odm::prelude::*;

    /// Keeps its three newest reviews; all of them are in a collection of their own.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
    #[odm(collection = "products", has_squillions(all_reviews: Review, by = product))]
    pub(crate) struct Item {
        #[serde(rename = "_id")]
        id: i32,
        name: String,
        #[odm(recent(Review, max = 3, sort = -date))]
        reviews: Vec<Summary>,
    }

    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
    #[odm(collection = "reviews", index(product, date = desc))]
    pub(crate) struct Review {
        #[serde(rename = "_id")]
        id: i32,
        #[odm(recent_in = reviews)]
        product: Ref<Item>,
        date: DateTime,
        stars: i32,
        text: String,
    }

    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded, Projection)]
    #[odm(of = Review)]
    struct Summary {
        date: DateTime,
        stars: i32,
    }

    pub(crate) async fn store(db: &Db) -> odm::Result<()> {
        crate::examples::sync(db, models![Item, Review]).await?;
        let item = Item {
            id: 1,
            name: "#4 grommet".to_owned(),
            reviews: Vec::new(),
        };
        db.collection::<Item>().insert_one(&item).await?;
        let reviews = db.collection::<Review>();
        for (id, day, stars) in [(1, 3, 5), (2, 1, 2), (3, 4, 4), (4, 2, 1), (5, 5, 3)] {
            let review = Review {
                id,
                product: Ref::to(&item),
                date: crate::examples::date(&format!("2024-05-0{day}T00:00:00Z")),
                stars,
                text: "…".to_owned(),
            };
            reviews.insert_one(&review).propagate().await?;
        }
        Ok(())
    }

    pub(crate) async fn join(db: &Db) -> odm::Result<Vec<String>> {
        let mut lines = Vec::new();
        let items = db.collection::<Item>();
        for row in items
            .find_all()
            .join(|i| i.all_reviews.count())
            .all()
            .await?
        {
            let stars: Vec<_> = row.reviews.iter().map(|it| it.stars.to_string()).collect();
            let (newest, all) = (stars.join(", "), row.all_reviews());
            lines.push(format!(
                "{}: {newest} stars in the newest of {all} reviews",
                row.name
            ));
        }
        let bad = db.collection::<Review>().find(|r| r.stars.lt(2));
        for row in bad.join(|r| r.product).all().await? {
            let name = row.product().found().map_or("unknown", |it| &it.name);
            lines.push(format!("{} star for {name}", row.stars));
        }
        Ok(lines)
    }
}
