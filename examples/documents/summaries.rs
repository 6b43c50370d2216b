//! A product with the number of its reviews and their mean.

use odm::prelude::*;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "products", has_many(reviews: Review, by = product))]
struct Product {
    #[serde(rename = "_id")]
    id: i32,
    name: String,
    #[odm(count_of(reviews))]
    review_count: i32,
    #[odm(mean_of(reviews.stars))]
    stars: Option<f64>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "reviews")]
struct Review {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(index)]
    product: Ref<Product>,
    stars: i32,
    text: String,
}

pub(crate) async fn store(db: &Db) -> odm::Result<()> {
    crate::examples::sync(db, models![Product, Review]).await?;
    let names = [(1, "#4 grommet"), (2, "fan blade assembly")];
    let products = names.map(|(id, name)| Product {
        id,
        name: name.to_owned(),
        review_count: 0,
        stars: None,
    });
    db.collection::<Product>().insert_many(&products).await?;
    let [grommet, fan] = &products;
    let stars = [(1, grommet, 5), (2, grommet, 2), (3, fan, 4)];
    let reviews = stars.map(|(id, product, stars)| Review {
        id,
        product: Ref::to(product),
        stars,
        text: "…".to_owned(),
    });
    db.collection::<Review>()
        .insert_many(reviews)
        .propagate()
        .await?;
    Ok(())
}

pub(crate) async fn join(db: &Db) -> odm::Result<Vec<String>> {
    let (products, reviews) = (db.collection::<Product>(), db.collection::<Review>());
    let mut lines = Vec::new();
    let mut rated = async |when: &str| -> odm::Result<()> {
        for product in products.find_all().sort(|p| p.id.asc()).all().await? {
            let stars = product.stars.map_or("none".to_owned(), |it| it.to_string());
            let (name, count) = (product.name, product.review_count);
            lines.push(format!("{name}{when}: {count} reviews, {stars} stars"));
        }
        Ok(())
    };
    rated("").await?;
    // One review changes its stars, another one was about the other product, and the third is deleted.
    let other = reviews.update_by_id(&2, |r| r.stars.set(3));
    other.propagate().await?;
    let moved = reviews.update_by_id(&1, |r| r.product.set(Ref::from(2)));
    moved.propagate().await?;
    reviews.delete_by_id(&3).with_dependents().await?;
    rated(" now").await?;
    Ok(lines)
}
