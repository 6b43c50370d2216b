//! Documents that MongoDB does not store: the errors name the field, and nothing is sent.

use std::collections::BTreeMap;

use odm::prelude::*;

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[odm(collection = "sites")]
struct Site {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(embed(few, max = 100))]
    pages: Vec<Page>,
    hits: BTreeMap<String, i64>,
}

#[derive(Debug, Clone, Serialize, Deserialize, Embedded)]
struct Page {
    text: String,
}

pub(super) async fn show(db: &Db) -> Result<(), Box<dyn std::error::Error>> {
    let sites = db.collection::<Site>();
    let page = |bytes| Page {
        text: "x".repeat(bytes),
    };
    let site = Site {
        id: 1,
        pages: vec![page(1_000), page(17 << 20)],
        hits: BTreeMap::new(),
    };
    println!("\nDocuments that are not sent:");
    if let Err(error) = sites.insert_one(&site).await {
        println!("  {error}");
    }
    let hits = BTreeMap::from([("example.com".to_owned(), 1)]);
    let site = Site {
        id: 1,
        pages: vec![],
        hits,
    };
    if let Err(error) = sites.insert_one(&site).await {
        println!("  {error}");
    }
    let update = sites.update_one(|s| s.id.eq(1), |s| s.hits.set(site.hits));
    if let Err(error) = update.upsert(true).await {
        println!("  {error}");
    }
    Ok(())
}
