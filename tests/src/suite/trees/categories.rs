//! The categories of the guides: the example `trees` stores what they show, in each pattern.

use odm::bson::Document as BsonDocument;
use odm::prelude::*;

use crate::case::cases;
use crate::categories::PATTERNS;
use crate::suite::documents::shown;

cases![every_pattern_stores_what_the_guides_show];

async fn every_pattern_stores_what_the_guides_show(db: &Db) {
    for pattern in PATTERNS {
        (pattern.store)(db).await.unwrap();
        let find = doc! {"find": "categories", "sort": {"_id": 1}};
        let stored = db.run_command(find).all().await.unwrap();
        let mut expected = shown(pattern.title, "categories");
        expected.sort_by_key(|document| document.get_str("_id").unwrap().to_owned());
        assert_eq!(stored, expected, "{}", pattern.title);
        let order = |documents: &[BsonDocument]| {
            let names = documents.iter().map(|it| it.keys().cloned().collect());
            names.collect::<Vec<Vec<String>>>()
        };
        assert_eq!(order(&stored), order(&expected), "{}", pattern.title);

        let log = std::sync::Mutex::new(Vec::new());
        (pattern.steps)(db, &|line| log.lock().unwrap().push(line.to_owned()))
            .await
            .unwrap();
        let log = log.into_inner().unwrap();
        // Only some patterns keep the order of siblings.
        let mut children: Vec<_> = log[1].trim().split(", ").collect();
        children.sort_unstable();
        assert_eq!(children, ["MongoDB", "dbm"]);
        assert_eq!(log[5], "  Books > Programming > Databases > MongoDB");
        assert_eq!(log[9], "  Books > Databases > MongoDB");
        db.run_command(doc! {"drop": "categories"}).await.unwrap();
    }
}
