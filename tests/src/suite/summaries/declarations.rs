//! Declarations that only the whole of the models shows to be wrong.

use odm::prelude::*;
use odm::tree::prelude::*;

pub(super) async fn wrong_declarations_are_refused(db: &Db) {
    #[derive(Debug, Serialize, Deserialize, Document)]
    #[odm(collection = "parts", has_many(bundles: Bundle, by = codes, key = code))]
    struct Part {
        #[serde(rename = "_id")]
        id: i32,
        #[odm(unique)]
        code: String,
        #[odm(count_of(bundles))]
        bundle_count: i64,
    }
    #[derive(Debug, Serialize, Deserialize, Document)]
    #[odm(collection = "bundles")]
    struct Bundle {
        #[serde(rename = "_id")]
        id: i32,
        #[odm(index, refers_to(Part, by = code), items(max = 5))]
        codes: Vec<String>,
    }
    #[derive(Debug, Serialize, Deserialize, Document)]
    #[odm(collection = "owners", has_many(nodes: Leaf, by = owner))]
    struct Owner {
        #[serde(rename = "_id")]
        id: i32,
        #[odm(max_of(nodes.rank))]
        rank: Option<Rank>,
    }
    #[derive(Debug, Serialize, Deserialize, Document)]
    #[odm(collection = "nodes", tree(parent_references, order = rank))]
    struct Leaf {
        #[serde(rename = "_id")]
        id: i32,
        parent: Parent<Leaf>,
        rank: Rank,
        #[odm(index)]
        owner: Ref<Owner>,
    }
    let refused = async |models: &[&'static odm::model::ModelMeta]| {
        let error = db.sync(models.iter().copied()).plan().await.unwrap_err();
        assert!(error.is_declaration(), "{error}");
        error.to_string()
    };
    let text = refused(&models![Part]).await;
    assert!(
        text.starts_with("Part.bundle_count: `codes` of `Bundle` is in a list"),
        "{text}"
    );
    // The other side finds it, too.
    let text = refused(&models![Bundle]).await;
    assert!(text.contains("`codes` of `Bundle`"), "{text}");
    let text = refused(&models![Owner]).await;
    assert!(
        text.contains("`Leaf` has a tree, whose operations write no summaries of other models"),
        "{text}"
    );
    for error in [
        db.collection::<Part>().check_summaries().await.unwrap_err(),
        db.collection::<Part>()
            .refresh_summaries()
            .await
            .unwrap_err(),
    ] {
        assert!(error.is_declaration(), "{error}");
    }
}
