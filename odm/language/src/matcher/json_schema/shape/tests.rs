use bson::{Bson, Document, RawBson, RawBsonRef, RawDocumentBuf, cstr, doc};

use super::super::eval::{Considered, all};
use crate::matcher::json_schema::{Schema, parse};

/// Schemas with rules for fields, both those that a single walk checks and others.
fn schemas() -> Vec<Document> {
    let mut schemas = vec![
        doc! {},
        doc! { "required": ["a"] },
        doc! { "required": ["b", "a", "longer than eight"] },
        doc! { "required": ["a.b"] },
        doc! { "properties": { "a": {} } },
        doc! { "properties": { "a.b": { "bsonType": "int" }, "a": { "bsonType": "object" } } },
        doc! { "properties": { "": { "bsonType": "int" } } },
        doc! { "additionalProperties": false },
        doc! { "additionalProperties": { "bsonType": "int" } },
        doc! { "additionalProperties": false, "patternProperties": { "^a": {} } },
        doc! { "properties": { "a": { "enum": [1, "x", { "p": 1, "q": 2 }] } } },
        doc! { "properties": { "a": { "items": { "bsonType": ["int", "string"] } } } },
        doc! { "properties": { "a": { "bsonType": "array", "items": [{ "bsonType": "int" }], "uniqueItems": true } } },
        doc! { "properties": { "a": { "not": { "bsonType": "int" } } }, "minProperties": 2 },
        doc! { "properties": { "a": { "bsonType": "object", "required": ["b"], "properties": { "b": { "minimum": 1 } } } } },
        doc! { "allOf": [{ "required": ["a"] }, { "properties": { "b": { "bsonType": "int" } } }] },
        doc! { "dependencies": { "a": ["b"] } },
        doc! { "bsonType": "array", "properties": { "a": {} } },
    ];
    for required in [vec!["a"], vec!["b", "longer than eight"]] {
        for others in [Bson::Boolean(false), doc! { "bsonType": "int" }.into()] {
            schemas.push(doc! {
                "bsonType": "object",
                "required": required.clone(),
                "properties": {
                    "a": { "bsonType": ["int", "array"] },
                    "longer than eight": { "bsonType": "string", "minLength": 1 },
                    "longer than nine": { "maximum": 3 },
                },
                "additionalProperties": others,
            });
        }
    }
    schemas
}

fn values() -> Vec<Bson> {
    let mut values: Vec<Bson> = vec![
        1.into(),
        "x".into(),
        "".into(),
        Bson::Null,
        vec![1, 2, 1].into(),
        vec![Bson::from(1), Bson::Null].into(),
        doc! { "q": 2, "p": 1 }.into(),
    ];
    values.extend([doc! {}, doc! { "b": 1 }, doc! { "b": 0 }].map(Bson::from));
    values
}

/// Documents with up to three of the fields in any order.
fn documents() -> Vec<Document> {
    let names = [
        "a",
        "b",
        "longer than eight",
        "longer than nine",
        "other",
        "",
    ];
    let values = values();
    let mut documents = vec![doc! {}];
    for (at, first) in names.iter().enumerate() {
        for value in &values {
            documents.push(doc! { *first: value.clone() });
            for second in names.iter().filter(|second| *second != first) {
                let other = &values[at % values.len()];
                documents.push(doc! { *first: value.clone(), *second: other.clone() });
                documents.push(doc! { *first: value.clone(), *second: other.clone(), "a": 1 });
            }
        }
    }
    documents
}

#[test]
fn the_compiled_shape_agrees_with_the_rules() {
    for source in schemas() {
        let raw = bson::serialize_to_raw_document_buf(&source).unwrap();
        for whole in [true, false] {
            let schema = parse::schema(&raw, whole).unwrap();
            for document in documents() {
                let document = bson::serialize_to_raw_document_buf(&document).unwrap();
                same(&schema, RawBsonRef::Document(&document), &source);
            }
            for value in values() {
                let value = bson::serialize_to_raw_document_buf(&doc! { "v": value }).unwrap();
                same(&schema, value.get("v").unwrap().unwrap(), &source);
            }
        }
    }
}

fn same(schema: &Schema, value: RawBsonRef<'_>, source: &Document) {
    let by_rules = all(&schema.rules, |rule| rule.admits(Considered::one(&value))).unwrap();
    assert_eq!(
        schema.admits(value).unwrap(),
        by_rules,
        "{source}: {value:?}"
    );
}

#[test]
fn the_first_of_duplicate_fields_is_validated() {
    let schema = doc! {
        "required": ["a"],
        "properties": { "a": { "bsonType": "int" } },
        "additionalProperties": { "bsonType": "string" },
    };
    let schema = bson::serialize_to_raw_document_buf(&schema).unwrap();
    let schema = parse::schema(&schema, true).unwrap();
    for (first, second, other) in [
        (1.into(), "x".into(), "y".into()),
        ("x".into(), 1.into(), "y".into()),
        (1.into(), 1.into(), Bson::Null),
    ] {
        let mut document = RawDocumentBuf::new();
        let fields = [
            (cstr!("a"), first),
            (cstr!("a"), second),
            (cstr!("b"), other),
        ];
        for (name, value) in fields {
            let value: RawBson = value.try_into().unwrap();
            document.append(name, value);
        }
        document.append(cstr!("b"), "z");
        same(
            &schema,
            RawBsonRef::Document(&document),
            &doc! { "twice": true },
        );
    }
}
