use odm::prelude::*;

#[derive(Debug, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "products", has_many(reviews: Review, by = product))]
struct Product {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(count_of(reviews))]
    review_count: i64,
    #[odm(mean_of(reviews.stars))]
    stars: Option<f64>,
    #[odm(sum_of(reviews.helpful))]
    helpful: i64,
    #[odm(max_of(reviews.stars))]
    best: Option<i32>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "reviews")]
struct Review {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(index)]
    product: Ref<Product>,
    stars: i32,
    helpful: i32,
}

/// A product without reviews.
#[allow(dead_code)]
fn product(id: i32) -> Product {
    Product { id, review_count: 0, stars: None, helpful: 0, best: None }
}

/// Two products, and two reviews of the first, whose summaries are stored.
#[allow(dead_code)]
async fn two_products() -> odm::Result<Db> {
    let db = Db::memory();
    db.sync(models![Product, Review]).plan().await?.apply(Allow::CREATE).await?;
    db.collection::<Product>().insert_many([product(1), product(2)]).await?;
    let review = |id, stars, helpful| Review { id, product: Ref::from(1), stars, helpful };
    let reviews = [review(1, 5, 7), review(2, 2, 0)];
    db.collection::<Review>().insert_many(reviews).propagate().await?;
    Ok(db)
}
