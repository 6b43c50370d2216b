use bson::{Bson, Document, doc};

use super::ValidationFailure;
use crate::error::{Code, Error, ServerError};

/// Accounts as MongoDB 6.0.5 gives them, and what is read out of them: rule, path, value.
fn check(details: Document, rules: &[&'static str], expected: &[(&str, &str, Option<Bson>)]) {
    let error = Error::from(refusal(details)).with_rules(rules);
    assert!(error.is_validation_failure());
    let failure = error.validation_failure().unwrap();
    let found: Vec<_> = failure
        .violations()
        .iter()
        .map(|one| (one.rule.as_str(), one.path.as_str(), one.value.clone()))
        .collect();
    assert_eq!(found, expected);
}

fn refusal(details: Document) -> ServerError {
    ServerError::new(
        Code::DOCUMENT_VALIDATION_FAILURE,
        "Document failed validation",
    )
    .with_details(doc! {"errInfo": {"failingDocumentId": 1, "details": details}})
}

fn properties(name: &str, details: Document) -> Document {
    doc! {"operatorName": "properties", "propertiesNotSatisfied": [
        {"propertyName": name, "details": [details]},
    ]}
}

fn schema(rule: Document) -> Document {
    doc! {"operatorName": "$jsonSchema", "title": "Book", "schemaRulesNotSatisfied": [rule]}
}

fn wrong_type(wanted: &str, value: impl Into<Bson>) -> Document {
    doc! {"operatorName": "bsonType", "specifiedAs": {"bsonType": wanted},
    "reason": "type did not match", "consideredValue": value.into(), "consideredType": "string"}
}

#[test]
fn keywords_are_placed_at_their_paths() {
    check(
        schema(
            doc! {"operatorName": "required", "specifiedAs": {"required": ["a", "b"]},
            "missingProperties": ["a", "b"]},
        ),
        &[],
        &[("required", "a", None), ("required", "b", None)],
    );
    check(
        schema(properties(
            "a",
            doc! {"operatorName": "items", "reason": "At least one item did not match the sub-schema",
            "itemIndex": 1, "details": [properties("q", doc! {"operatorName": "maximum",
            "specifiedAs": {"maximum": 3}, "reason": "comparison failed", "consideredValue": 9})]},
        )),
        &[],
        &[("maximum", "a.1.q", Some(9.into()))],
    );
    check(
        schema(
            doc! {"operatorName": "additionalProperties", "specifiedAs": {"additionalProperties": false},
            "additionalProperties": ["c"]},
        ),
        &[],
        &[("additionalProperties", "c", None)],
    );
    check(
        schema(properties(
            "m",
            doc! {"operatorName": "additionalProperties",
            "reason": "at least one additional property did not match the subschema",
            "failingProperty": "y", "details": [wrong_type("int", "z")]},
        )),
        &[],
        &[("bsonType", "m.y", Some("z".into()))],
    );
    check(
        schema(properties(
            "a",
            doc! {"operatorName": "items", "details": [
                {"itemIndex": 1, "details": [wrong_type("string", 2)]},
            ]},
        )),
        &[],
        &[("bsonType", "a.1", Some(2.into()))],
    );
}

#[test]
fn the_best_matching_variant_is_named() {
    let tag = |name: &str| {
        properties(
            "kind",
            doc! {"operatorName": "enum", "specifiedAs": {"enum": [name]},
            "reason": "value was not found in enum", "consideredValue": "circle"},
        )
    };
    let circle = properties("radius", wrong_type("double", "x"));
    check(
        schema(properties(
            "shape",
            doc! {"operatorName": "anyOf", "schemasNotSatisfied": [
                {"index": 0, "details": [circle]},
                {"index": 1, "details": [tag("square")]},
                {"index": 2, "details": [wrong_type("null", doc! {"kind": "circle"})]},
            ]},
        )),
        &[],
        &[("bsonType", "shape.radius", Some("x".into()))],
    );
    check(
        schema(properties(
            "shape",
            doc! {"operatorName": "anyOf", "schemasNotSatisfied": [
                {"index": 0, "details": [wrong_type("int", "s")]},
                {"index": 1, "details": [wrong_type("null", "s")]},
            ]},
        )),
        &[],
        &[("anyOf", "shape", Some("s".into()))],
    );
}

#[test]
fn a_matching_tag_chooses_the_variant() {
    let tag = |name: &str| {
        properties(
            "t",
            doc! {"operatorName": "enum", "specifiedAs": {"enum": [name]},
            "reason": "value was not found in enum", "consideredValue": "Named"},
        )
    };
    let missing = doc! {"operatorName": "required", "specifiedAs": {"required": ["t", "c"]},
    "missingProperties": ["c"]};
    check(
        schema(properties(
            "adj",
            doc! {"operatorName": "anyOf", "schemasNotSatisfied": [
                {"index": 0, "details": [tag("None")]},
                {"index": 1, "details": [tag("Wrapped"), missing.clone()]},
                {"index": 2, "details": [missing]},
            ]},
        )),
        &[],
        &[("required", "adj.c", None)],
    );
}

#[test]
fn expression_rules_are_named_by_their_clause() {
    let details = doc! {"operatorName": "$and", "clausesNotSatisfied": [
        {"index": 0, "details": schema(properties("a", wrong_type("int", "x")))},
        {"index": 2, "details": {"operatorName": "$or", "clausesNotSatisfied": [
            {"index": 0, "details": {"operatorName": "$eq", "specifiedAs": {"a": 1},
                "reason": "comparison failed", "consideredValue": "x"}},
            {"index": 1, "details": {"operatorName": "$in", "specifiedAs": {"b": {"$in": [1]}},
                "reason": "field was missing"}},
        ]}},
    ]};
    check(
        details.clone(),
        &["first", "second"],
        &[
            ("bsonType", "a", Some("x".into())),
            ("second", "a", Some("x".into())),
            ("second", "b", None),
        ],
    );
    let failure = ValidationFailure::from_server(&refusal(details)).unwrap();
    assert_eq!(failure.model(), Some("Book"));
    assert_eq!(failure.document_id(), Some(&Bson::Int32(1)));
    assert_eq!(
        failure.to_string(),
        "document failed validation, _id 1: a breaks `bsonType` \"int\" with \"x\"; \
         a breaks `$eq` 1 with \"x\"; b breaks `$in` { \"$in\": [1] }: field was missing \
         (DocumentValidationFailure 121)"
    );
}

#[test]
fn refusals_without_details_stay_server_errors() {
    let error = Error::from(ServerError::new(Code::DOCUMENT_VALIDATION_FAILURE, "no"));
    assert!(error.is_validation_failure());
    assert!(error.validation_failure().is_none());
}
