use bson::{Document, doc};

use crate::pull::testing::{database, field, head, pulled};

/// The source for documents in a collection with this schema.
async fn source(schema: Document, documents: Vec<Document>) -> String {
    let db = database(&[("things", documents)]).await;
    let command = doc! {"collMod": "things", "validator": {"$jsonSchema": schema}};
    db.run_command(command).await.unwrap();
    pulled(&db).await.to_source()
}

/// The lines of a field `a` with this schema.
async fn declared(schema: Document, value: impl Into<bson::Bson>) -> String {
    let schema = doc! {"properties": {"a": schema}};
    let source = source(schema, vec![doc! {"_id": 1, "a": value.into()}]).await;
    let comment = source.lines().find(|line| line.contains("// A part"));
    let comment = comment.map_or(String::new(), |line| format!("{} ", line.trim()));
    comment + &field(&source, "a")
}

#[tokio::test]
async fn bounds_are_attributes() {
    for (schema, value, expected) in [
        (
            doc! {"minimum": 1, "maximum": 9},
            5.into(),
            "#[odm(range(min = 1, max = 9))] a: i32",
        ),
        (
            doc! {"minimum": 1, "exclusiveMinimum": true},
            5.into(),
            "#[odm(range(exclusive_min = 1))] a: i32",
        ),
        (
            doc! {"minLength": 1},
            "x".into(),
            "#[odm(length(min = 1))] a: String",
        ),
        (
            doc! {"pattern": "^a\"b"},
            "a\"b".into(),
            "#[odm(pattern = \"^a\\\"b\")] a: String",
        ),
        (
            doc! {"enum": ["x", "y"]},
            "x".into(),
            "#[odm(one_of(\"x\", \"y\"))] a: String",
        ),
        (
            doc! {"bsonType": "string"},
            bson::Bson::from("x"),
            "a: String",
        ),
        (
            doc! {"minItems": 1, "uniqueItems": true, "items": {"maxLength": 3}},
            bson::bson!(["x"]),
            "#[odm(items(min = 1))] #[odm(unique_items)] #[odm(length(max = 3))] a: Vec<String>",
        ),
        (
            doc! {"maxItems": 3},
            bson::bson!([{"x": 1}]),
            "#[odm(embed(few, max = 3))] a: Vec<A>",
        ),
    ] {
        assert_eq!(declared(schema, value).await, expected);
    }
}

#[tokio::test]
async fn what_no_attribute_says_is_a_comment() {
    let start = "// A part of the validator is not declared: ";
    for (schema, expected) in [
        (doc! {"multipleOf": 5}, "{\"multipleOf\":5} a: i32"),
        (doc! {"minLength": 5}, "{\"minLength\":5} a: i32"),
        (
            doc! {"bsonType": ["int", "long"]},
            "{\"bsonType\":[\"int\",\"long\"]} a: i32",
        ),
        (
            doc! {"anyOf": [{"minimum": 1}]},
            "{\"anyOf\":[{\"minimum\":1}]} a: i32",
        ),
    ] {
        assert_eq!(declared(schema, 5).await, format!("{start}{expected}"));
    }
}

#[tokio::test]
async fn fields_without_documents_come_from_the_validator() {
    let db = database(&[]).await;
    let properties = doc! {
        "a": {"bsonType": "string"}, "b": {"bsonType": ["int", "null"]}, "c": {"bsonType": "array", "items": {"bsonType": "date"}},
    };
    let schema =
        doc! {"required": ["a", "b"], "properties": properties, "additionalProperties": false};
    let create = doc! {"create": "things", "validator": {"$jsonSchema": schema}};
    db.run_command(create).await.unwrap();
    let source = pulled(&db).await.to_source();
    assert_eq!(field(&source, "a"), "a: String");
    assert_eq!(field(&source, "b"), "b: Option<i32>");
    let skip = "#[serde(skip_serializing_if = \"Option::is_none\")]";
    assert_eq!(
        field(&source, "c"),
        format!("{skip} c: Option<Vec<DateTime>>")
    );
    assert!(
        head(&source, "Thing").contains(&"#[odm(deny_undeclared)]"),
        "{source}"
    );
}

#[tokio::test]
async fn a_generated_validator_is_read_back() {
    let schema = doc! {
        "title": "Thing", "bsonType": "object", "required": ["_id", "a", "inner"],
        "properties": {
            "_id": {"bsonType": "int"},
            "a": {"bsonType": "string", "minLength": 1},
            "inner": {"bsonType": "object", "required": ["n"], "properties": {"n": {"bsonType": "int", "minimum": 0}}},
            "maybe": {"bsonType": ["date", "null"]},
        },
    };
    let document = doc! {"_id": 1, "a": "x", "inner": {"n": 1}};
    let source = source(schema, vec![document]).await;
    assert!(!source.contains("not declared"), "{source}");
    assert_eq!(field(&source, "n"), "#[odm(range(min = 0))] n: i32");
}
