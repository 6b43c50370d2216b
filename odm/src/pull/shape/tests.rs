use bson::{Bson, Document, RawDocumentBuf, doc, oid::ObjectId};

use super::*;

fn shape(documents: &[Document]) -> Shape {
    let mut shape = Shape::default();
    for document in documents {
        let raw = RawDocumentBuf::try_from(document).unwrap();
        shape.add_document(&raw).unwrap();
    }
    shape.fold();
    shape
}

fn names(shape: &Shape) -> Vec<&str> {
    shape.fields.iter().map(|(name, _)| name).collect()
}

#[test]
fn types_are_counted() {
    let shape = shape(&[
        doc! {"a": 1},
        doc! {"a": "x"},
        doc! {"a": Bson::Null},
        doc! {},
    ]);
    assert_eq!(shape.of(Kind::Document), 4);
    let field = shape.fields.get("a").unwrap();
    assert_eq!(field.count(), 3);
    assert_eq!((field.of(Kind::Int), field.of(Kind::String)), (1, 1));
    assert_eq!(field.only(), None);
}

#[test]
fn fields_keep_the_order_of_documents() {
    let shape = shape(&[doc! {"a": 1, "d": 1}, doc! {"a": 1, "b": 1, "c": 1, "d": 1}]);
    assert_eq!(names(&shape), ["a", "b", "c", "d"]);
    let apart = self::shape(&[doc! {"a": 1, "x": 1}, doc! {"a": 1, "y": 1}]);
    assert_eq!(names(&apart), ["a", "x", "y"]);
}

#[test]
fn keys_that_are_data_make_maps() {
    let id = ObjectId::new().to_hex();
    let shape = shape(&[
        doc! {"by_year": {"2020": 1}, "by_id": {&id: {"n": 1}}, "own": {"x1": 1}},
        doc! {"by_year": {"2021": 2}},
    ]);
    let entries = |name| shape.fields.get(name).unwrap().entries.as_ref();
    assert_eq!(entries("by_year").unwrap().of(Kind::Int), 2);
    assert_eq!(names(entries("by_id").unwrap()), ["n"]);
    assert!(entries("own").is_none());
}

#[test]
fn many_rare_keys_of_one_type_make_a_map() {
    let documents: Vec<_> = (0..100)
        .map(|n| doc! {"words": {format!("w{n}x"): n, format!("v{n}y"): n}})
        .collect();
    let shape = shape(&documents);
    let words = shape.fields.get("words").unwrap();
    assert_eq!(words.entries.as_ref().unwrap().count(), 200);
    assert_eq!(words.most, 2);
}

#[test]
fn documents_within_their_own_type_are_recursive() {
    let shape = shape(&[doc! {"comments": [
        {"text": "a", "comments": [{"text": "b", "likes": 1, "comments": [{"text": "c"}]}]},
    ]}]);
    let comments = shape.fields.get("comments").unwrap();
    let comment = comments.elements.as_ref().unwrap();
    assert_eq!(names(comment), ["text", "likes", "comments"]);
    assert_eq!(comment.fields.get("text").unwrap().count(), 3);
    let inner = comment.fields.get("comments").unwrap();
    assert!(inner.elements.as_ref().unwrap().is_recursive);
    assert!(inner.elements.as_ref().unwrap().fields.is_empty());
}

#[test]
fn db_refs_and_places_are_recognized() {
    let shape = shape(&[doc! {
        "by": {"$ref": "users", "$id": 7},
        "at": {"type": "Point", "coordinates": [1.5, 2.5]},
        "no": {"type": "Point", "coordinates": [1, 2]},
    }]);
    let by = shape.fields.get("by").unwrap();
    assert_eq!(by.only(), Some(Kind::DbRef));
    assert_eq!(by.references.get("users"), Some(&1));
    assert_eq!(
        shape.fields.get("at").unwrap().places.get("Point"),
        Some(&1)
    );
    assert!(shape.fields.get("no").unwrap().places.is_empty());
}

#[test]
fn a_document_that_nests_too_deep_is_refused() {
    let mut document = doc! {};
    for _ in 0..300 {
        document = doc! {"a": document};
    }
    let raw = RawDocumentBuf::try_from(&document).unwrap();
    let refused = Shape::default().add_document(&raw).unwrap_err();
    assert!(refused.contains("more than 256 levels"), "{refused}");
}
