use bson::oid::ObjectId;
use bson::{Bson, Document, bson, doc};

use crate::pull::testing::{database, field, pulled};

/// The source for documents with these values of a field `a`; `None` is a document without it.
async fn source(values: impl IntoIterator<Item = Option<Bson>>) -> String {
    let documents = values.into_iter().enumerate().map(|(id, value)| {
        let mut document = doc! {"_id": i32::try_from(id).unwrap()};
        if let Some(value) = value {
            document.insert("a", value);
        }
        document
    });
    let db = database(&[("things", documents.collect())]).await;
    pulled(&db).await.to_source()
}

async fn type_of(values: impl IntoIterator<Item = Bson>) -> String {
    field(&source(values.into_iter().map(Some)).await, "a")
}

#[tokio::test]
async fn numbers_have_the_least_type_that_holds_them() {
    assert_eq!(type_of([1.into()]).await, "a: i32");
    assert_eq!(type_of([1.into(), 1_i64.into()]).await, "a: i64");
    assert_eq!(type_of([1.into(), 1.5.into()]).await, "a: f64");
    assert_eq!(type_of([1_i64.into(), 1.5.into()]).await, "a: f64");
    // A double holds integers up to 2^53.
    let large = Bson::Int64((1 << 53) + 1);
    assert_eq!(type_of([large, 1.5.into()]).await, "a: bson::Bson");
    assert_eq!(type_of([1.into(), "x".into()]).await, "a: bson::Bson");
}

#[tokio::test]
async fn null_and_absent_are_kept_apart() {
    let skip = "#[serde(skip_serializing_if = \"Option::is_none\")]";
    let one = || Some(Bson::from(1));
    let null = || Some(Bson::Null);
    let field = async |values: Vec<Option<Bson>>| field(&source(values).await, "a");
    assert_eq!(field(vec![one(), null()]).await, "a: Option<i32>");
    assert_eq!(
        field(vec![one(), None]).await,
        format!("{skip} a: Option<i32>")
    );
    assert_eq!(
        field(vec![one(), None, null()]).await,
        format!("#[serde(default, with = \"odm::double_option\")] {skip} a: Option<Option<i32>>")
    );
    assert_eq!(field(vec![null()]).await, "a: bson::Bson");
    assert_eq!(
        field(vec![null(), None]).await.split(' ').next_back(),
        Some("Option<Option<bson::Bson>>")
    );
}

#[tokio::test]
async fn lists_have_the_type_of_their_elements() {
    assert_eq!(type_of([bson!([1, 2])]).await, "a: Vec<i32>");
    assert_eq!(type_of([bson!([1, null])]).await, "a: Vec<Option<i32>>");
    assert_eq!(type_of([bson!([])]).await, "a: Vec<bson::Bson>");
    assert_eq!(type_of([bson!([[1.5], []])]).await, "a: Vec<Vec<f64>>");
    let few = type_of([bson!([{"x": 1}, {"y": 1}])]).await;
    assert_eq!(few, "#[odm(embed(few, max = 10))] a: Vec<A>");
    let elements: Vec<Bson> = (0..300).map(|n| bson!({"x": n})).collect();
    assert_eq!(
        type_of([elements.into()]).await,
        "#[odm(embed(few, max = 1_000, allow = \"300 were found\"))] a: Vec<A>"
    );
    // A list in a list can't have a bound.
    assert_eq!(
        type_of([bson!([[{"x": 1}]])]).await,
        "a: Vec<Vec<bson::Document>>"
    );
}

#[tokio::test]
async fn documents_are_structs_and_maps() {
    assert_eq!(type_of([bson!({"x": 1})]).await, "a: A");
    assert_eq!(type_of([bson!({})]).await, "a: bson::Document");
    assert_eq!(
        type_of([bson!({"2020": 1.5})]).await,
        "a: BTreeMap<String, f64>"
    );
    let map = type_of([bson!({"2020": {"x": 1}, "2021": null})]).await;
    assert_eq!(
        map,
        "#[odm(embed(few, max = 10))] a: BTreeMap<String, Option<A>>"
    );
}

#[tokio::test]
async fn few_strings_are_an_enum() {
    let values = |count: usize, different: usize| {
        (0..count).map(move |n| Bson::from(format!("v{}", n % different)))
    };
    assert_eq!(type_of(values(40, 3)).await, "a: A");
    assert_eq!(type_of(values(19, 3)).await, "a: String");
    assert_eq!(type_of(values(40, 1)).await, "a: String");
    assert_eq!(type_of(values(400, 13)).await, "a: String");
    assert_eq!(type_of(values(40, 12)).await, "a: String");
    let numbers = (0..40).map(|n| Bson::from((n % 2).to_string()));
    assert_eq!(type_of(numbers).await, "a: String");
    let lists = values(40, 2).map(|one| bson!([one]));
    assert_eq!(type_of(lists).await, "a: Vec<A>");
}

#[tokio::test]
async fn ids_have_their_own_type() {
    let id = async |ids: Vec<Bson>| {
        let documents = ids.into_iter().map(|id| doc! {"_id": id});
        let db = database(&[("things", documents.collect())]).await;
        field(&pulled(&db).await.to_source(), "id")
    };
    let rename = "#[serde(rename = \"_id\")]";
    for (ids, ty) in [
        (vec![ObjectId::new().into()], "Id<Thing>"),
        (vec!["a".into()], "String"),
        (vec![1.into(), 2_i64.into()], "i64"),
        (vec![1.into(), "a".into()], "bson::Bson"),
        (vec![bson!({"x": 1})], "ThingId"),
        (vec![Bson::Null], "bson::Bson"),
    ] {
        let expected = format!("{rename} id: {ty}");
        assert_eq!(id(ids).await, expected);
    }
}

#[tokio::test]
async fn references_are_guessed_from_ids_that_resolve() {
    let authors: Vec<ObjectId> = (0..4).map(|_| ObjectId::new()).collect();
    let people = authors.iter().map(|id| doc! {"_id": *id});
    let tags = ["red", "green", "blue", "white", "black"];
    let works = (0..10_i32).map(|n| {
        let place = usize::try_from(n).unwrap();
        let author = authors.get(place).copied().unwrap_or_else(ObjectId::new);
        doc! {
            "_id": n, "writer": author, "by": [authors[0], authors[1]], "tag": tags[place % 5],
            "other": n % 3, "workId": n / 2, "inner": {"parent": n}, "nobody": ObjectId::new(),
            "ref": {"$ref": "people", "$id": authors[0]},
        }
    });
    let tags: Vec<Document> = tags.iter().map(|tag| doc! {"_id": *tag}).collect();
    let collections = [
        ("people", people.collect()),
        ("works", works.collect()),
        ("colours", tags),
    ];
    let db = database(&collections).await;
    let source = pulled(&db).await.to_source();
    // 4 of 10 authors are known.
    assert_eq!(field(&source, "writer"), "writer: ObjectId");
    assert_eq!(
        field(&source, "by"),
        "#[odm(references(many, max = 10))] by: Vec<Ref<Person>>"
    );
    assert_eq!(field(&source, "tag"), "tag: Ref<Colour>");
    assert_eq!(field(&source, "other"), "other: i32");
    assert_eq!(
        field(&source, "work_id").split(' ').next_back(),
        Some("Ref<Work>")
    );
    assert_eq!(field(&source, "parent"), "parent: Ref<Work>");
    assert_eq!(field(&source, "nobody"), "nobody: ObjectId");
    assert_eq!(field(&source, "r#ref"), "r#ref: DbRef<Person>");
    assert!(
        source
            .contains("/// DBRef 100 %; to `people`.\n    /// 100 % of 1 ids resolve in `people`.")
    );
    let source = db.pull().reference_share(0.4).await.unwrap().to_source();
    assert!(
        source.contains("/// 40 % of 10 ids resolve in `people`.\n    pub writer: Ref<Person>")
    );
}
