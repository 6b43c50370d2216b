//! Declarations that only the whole of the models shows to be wrong.

use odm::bson::DateTime;
use odm::prelude::*;

/// A subdocument does not know which models embed it, and a projection not which fields writes maintain.
pub(super) async fn wrong_declarations_are_refused(db: &Db) {
    #[derive(Debug, Serialize, Deserialize, Document)]
    #[odm(
        collection = "parts",
        has_many(products: Product, by = parts.part),
        has_many(bins: Bin, by = part)
    )]
    struct Part {
        #[serde(rename = "_id")]
        id: i32,
        name: String,
        #[odm(updated_at)]
        updated: Option<DateTime>,
    }
    #[derive(Debug, Serialize, Deserialize, Embedded)]
    struct NamedPart {
        part: Ref<Part>,
        #[odm(copy_of(part.name))]
        name: String,
    }
    #[derive(Debug, Serialize, Deserialize, Document)]
    #[odm(collection = "products", index(parts.part))]
    struct Product {
        #[serde(rename = "_id")]
        id: i32,
        #[odm(embed(few, max = 10))]
        parts: Vec<NamedPart>,
    }
    #[derive(Debug, Serialize, Deserialize, Document)]
    #[odm(collection = "bundles")]
    struct Bundle {
        #[serde(rename = "_id")]
        id: i32,
        #[odm(embed(few, max = 10))]
        parts: Vec<NamedPart>,
    }
    #[derive(Debug, Serialize, Deserialize, Embedded, Projection)]
    #[odm(of = Part)]
    struct Seen {
        name: String,
        updated: Option<DateTime>,
    }
    #[derive(Debug, Serialize, Deserialize, Document)]
    #[odm(collection = "bins")]
    struct Bin {
        #[serde(rename = "_id")]
        id: i32,
        #[odm(index)]
        part: Ref<Part>,
        #[odm(copy_of(part))]
        seen: Seen,
    }
    let refused = async |models: &[&'static odm::model::ModelMeta]| {
        let error = db.sync(models.iter().copied()).plan().await.unwrap_err();
        assert!(error.is_declaration(), "{error}");
        error.to_string()
    };
    let plan = db.sync(models![Product]).plan().await.unwrap();
    assert!(!plan.steps().is_empty());
    let text = refused(&models![Bundle]).await;
    assert!(
        text.starts_with("Bundle.parts.part: a change of `Part` could not find its copies"),
        "{text}"
    );
    assert!(
        text.contains("`#[odm(has_many(name: Bundle, by = parts.part))]` on `Part`"),
        "{text}"
    );
    let text = refused(&models![Bin]).await;
    assert!(
        text.contains("`updated` of `Part` changes without an update that names it"),
        "{text}"
    );
    // The other side finds it, too.
    let text = refused(&models![Part]).await;
    assert!(text.contains("`updated` of `Part`"), "{text}");
    let bundle = Bundle {
        id: 1,
        parts: Vec::new(),
    };
    let error = db
        .collection::<Bundle>()
        .insert_one(&bundle)
        .propagate()
        .await;
    assert!(error.unwrap_err().is_declaration());
}
