//! The expected documents are validators as MongoDB 6.0.5 accepts them.

use bson::{Bson, Document, doc};

use super::{DEEPEST, UNROLLED, validator};
use crate::model::field::{
    EmbeddedMeta, EnumMeta, FieldMeta, Presence, Tagging, VariantContent, VariantMeta,
};
use crate::model::rule::{Bound, ExpressionRule, Limit, Rule};
use crate::model::{BsonType, ModelMeta, Shape, TypeMeta};
use crate::schema::testing::{INT, STRING, array, field, model, object, shape};

const fn flat(name: &'static str, ty: TypeMeta) -> FieldMeta {
    FieldMeta {
        flatten: true,
        ..field(name, ty, &[])
    }
}

const fn at_times(name: &'static str, ty: TypeMeta) -> FieldMeta {
    FieldMeta {
        presence: Presence::Sometimes,
        ..field(name, ty, &[])
    }
}

/// The schema of a model with these fields, less what every one has.
fn schema(fields: &'static [FieldMeta]) -> Document {
    let meta: &'static EmbeddedMeta = Box::leak(Box::new(object("M", fields)));
    schema_of(meta, false)
}

fn schema_of(meta: &'static EmbeddedMeta, deny_undeclared: bool) -> Document {
    let mut schema = doc! {"title": "M"};
    let own = super::Writer::new(UNROLLED).root(meta, deny_undeclared);
    schema.extend(own.unwrap());
    assert_eq!(schema.remove("title"), Some("M".into()));
    schema
}

/// The schema of a field of this type, and whether it is required.
fn of(ty: TypeMeta, rules: &'static [Rule]) -> Document {
    let fields: &'static [FieldMeta] = Box::leak(Box::new([field("f", ty, rules)]));
    let schema = schema(fields);
    assert_eq!(schema.get("bsonType"), Some(&Bson::from("object")));
    assert_eq!(schema.get("required"), Some(&Bson::from(vec!["f"])));
    schema
        .get_document("properties")
        .unwrap()
        .get_document("f")
        .unwrap()
        .clone()
}

fn refused(ty: TypeMeta, rules: &'static [Rule]) -> String {
    let fields: &'static [FieldMeta] = Box::leak(Box::new([field("f", ty, rules)]));
    let meta: &'static EmbeddedMeta = Box::leak(Box::new(object("M", fields)));
    let error = super::Writer::new(UNROLLED).root(meta, false).unwrap_err();
    assert!(error.is_declaration());
    error.to_string()
}

const fn range(min: i64, exclusive: bool) -> Rule {
    Rule::Range {
        min: Some(Bound {
            value: Limit::Int(min),
            exclusive,
        }),
        max: Some(Bound {
            value: Limit::Double(9.5),
            exclusive: false,
        }),
    }
}

#[test]
fn values() {
    const FIXED: TypeMeta = shape(Shape::Array {
        element: &INT,
        len: Some(3),
        unique: true,
    });
    let table: &[(TypeMeta, &'static [Rule], Document)] = &[
        (INT, &[], doc! {"bsonType": "int"}),
        (INT.nullable(), &[], doc! {"bsonType": ["int", "null"]}),
        (
            TypeMeta::scalar(&[BsonType::Int, BsonType::Long]),
            &[],
            doc! {"bsonType": ["int", "long"]},
        ),
        (TypeMeta::ANY, &[], doc! {}),
        (
            INT,
            const { &[range(1, true)] },
            doc! {"bsonType": "int", "minimum": 1, "exclusiveMinimum": true, "maximum": 9.5},
        ),
        (
            INT,
            const { &[range(1 << 40, false)] },
            doc! {"bsonType": "int", "minimum": 1_i64 << 40, "maximum": 9.5},
        ),
        (
            STRING,
            &[
                Rule::Length {
                    min: Some(1),
                    max: Some(200),
                },
                Rule::Pattern("^a"),
            ],
            doc! {"bsonType": "string", "pattern": "^a", "minLength": 1, "maxLength": 200},
        ),
        (
            STRING.nullable(),
            &[Rule::OneOf(&["a", "b", "a"])],
            doc! {"bsonType": ["string", "null"], "enum": ["a", "b", null]},
        ),
        (
            shape(Shape::OneOf(&["a", "b"])).nullable(),
            &[],
            doc! {"bsonType": ["string", "null"], "enum": ["a", "b", null]},
        ),
        (
            array(&STRING),
            &[
                Rule::Items {
                    min: Some(1),
                    max: Some(12),
                },
                Rule::Items {
                    min: None,
                    max: Some(5),
                },
                Rule::UniqueItems,
                Rule::Length {
                    min: Some(2),
                    max: None,
                },
            ],
            doc! {
                "bsonType": "array",
                "items": {"bsonType": "string", "minLength": 2},
                "uniqueItems": true,
                "minItems": 1,
                "maxItems": 5,
            },
        ),
        (
            FIXED,
            &[],
            doc! {
                "bsonType": "array",
                "items": {"bsonType": "int"},
                "uniqueItems": true,
                "minItems": 3,
                "maxItems": 3,
            },
        ),
        (array(&TypeMeta::ANY), &[], doc! {"bsonType": "array"}),
        (
            shape(Shape::Map(&INT)),
            const { &[range(0, false)] },
            doc! {"bsonType": "object", "additionalProperties":
            {"bsonType": "int", "minimum": 0, "maximum": 9.5}},
        ),
        (
            shape(Shape::Map(&STRING)),
            &[Rule::Items {
                min: None,
                max: Some(12),
            }],
            doc! {
                "bsonType": "object",
                "additionalProperties": {"bsonType": "string"},
                "maxProperties": 12,
            },
        ),
    ];
    for (ty, rules, expected) in table {
        assert_eq!(&of(*ty, rules), expected);
    }
}

#[test]
fn rules_that_would_bound_nothing_are_refused() {
    let length: &'static [Rule] = &[Rule::Length {
        min: Some(1),
        max: None,
    }];
    assert_eq!(
        refused(INT, length),
        "f: `length` bounds a string, and this field is stored as int; remove it or change the type"
    );
    assert!(refused(STRING, const { &[range(1, false)] }).contains("`range` bounds a number"));
    assert!(refused(STRING, &[Rule::UniqueItems]).contains("`unique_items` bounds an array"));
    assert!(refused(shape(Shape::Map(&INT)), &[Rule::UniqueItems]).contains("needs an array"));
    assert!(refused(STRING, &[Rule::OneOf(&[])]).contains("allows nothing"));
    let crossed: &'static [Rule] = &[Rule::Length {
        min: Some(3),
        max: Some(2),
    }];
    assert!(refused(STRING, crossed).contains("at least 3 and at most 2"));
}

fn inner() -> &'static EmbeddedMeta {
    const META: &EmbeddedMeta = &object("Inner", &[field("x", INT, &[]), at_times("y", INT)]);
    META
}

#[test]
fn subdocuments_and_flattening() {
    const INNER: TypeMeta = shape(Shape::Embedded(inner));
    assert_eq!(
        schema(
            const {
                &[
                    field("_id", INT, &[]),
                    field("one", INNER.nullable(), &[]),
                    flat("flat", INNER),
                ]
            }
        ),
        doc! {
            "bsonType": "object",
            "required": ["_id", "one", "x"],
            "properties": {
                "_id": {"bsonType": "int"},
                "one": {
                    "bsonType": ["object", "null"],
                    "required": ["x"],
                    "properties": {"x": {"bsonType": "int"}, "y": {"bsonType": "int"}},
                },
                "x": {"bsonType": "int"},
                "y": {"bsonType": "int"},
            },
        }
    );
    // A flattened `None` writes nothing; a flattened map takes every other name.
    assert_eq!(
        schema(
            const {
                &[
                    field("_id", INT, &[]),
                    flat("maybe", INNER.nullable()),
                    flat("rest", shape(Shape::Map(&STRING))),
                ]
            }
        ),
        doc! {
            "bsonType": "object",
            "required": ["_id"],
            "properties": {
                "_id": {"bsonType": "int"},
                "x": {"bsonType": "int"},
                "y": {"bsonType": "int"},
            },
            "additionalProperties": {"bsonType": "string"},
        }
    );
}

#[test]
fn names_that_meet_are_refused() {
    const FIELDS: &[FieldMeta] = &[
        field("x", INT, &[]),
        flat("flat", shape(Shape::Embedded(inner))),
    ];
    const META: &EmbeddedMeta = &object("M", FIELDS);
    let error = validator(&model(|| META)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "M.flat.x: two fields are stored under this name; rename one of them"
    );
}

#[test]
fn undeclared_fields_are_denied_but_for_the_id() {
    const META: &EmbeddedMeta = &object("M", &[field("a", INT, &[])]);
    assert_eq!(
        schema_of(META, true),
        doc! {
            "bsonType": "object",
            "required": ["a"],
            "properties": {"a": {"bsonType": "int"}, "_id": {}},
            "additionalProperties": false,
        }
    );
}

const fn variant(name: &'static str, content: VariantContent) -> VariantMeta {
    VariantMeta {
        rust: name,
        name,
        content,
    }
}

const VARIANTS: &[VariantMeta] = &[
    variant("None", VariantContent::Unit),
    variant(
        "Wrapped",
        VariantContent::Newtype(shape(Shape::Embedded(inner))),
    ),
    variant("Named", VariantContent::Struct(&[field("n", STRING, &[])])),
    variant("Gone", VariantContent::Unit),
];

const fn enumeration(tagging: Tagging) -> EmbeddedMeta {
    EmbeddedMeta {
        variants: Some(EnumMeta {
            tagging,
            variants: VARIANTS,
        }),
        ..EmbeddedMeta::of("E")
    }
}

fn external() -> &'static EmbeddedMeta {
    const META: &EmbeddedMeta = &enumeration(Tagging::External);
    META
}

fn internal() -> &'static EmbeddedMeta {
    const META: &EmbeddedMeta = &enumeration(Tagging::Internal { tag: "kind" });
    META
}

fn adjacent() -> &'static EmbeddedMeta {
    const META: &EmbeddedMeta = &enumeration(Tagging::Adjacent {
        tag: "t",
        content: "c",
    });
    META
}

fn untagged() -> &'static EmbeddedMeta {
    const META: &EmbeddedMeta = &enumeration(Tagging::Untagged);
    META
}

#[test]
fn enums_in_the_four_taggings() {
    let wrapped = doc! {
        "bsonType": "object",
        "required": ["x"],
        "properties": {"x": {"bsonType": "int"}, "y": {"bsonType": "int"}},
    };
    let named = doc! {
        "bsonType": "object",
        "required": ["n"],
        "properties": {"n": {"bsonType": "string"}},
    };
    let units = doc! {"bsonType": "string", "enum": ["None", "Gone"]};
    let one = |name: &str| doc! {"bsonType": "string", "enum": [name]};
    let only = |name: &str, content: &Document| {
        doc! {
            "bsonType": "object",
            "required": [name],
            "properties": {name: content.clone()},
            "additionalProperties": false,
        }
    };
    assert_eq!(
        of(shape(Shape::Embedded(external)).nullable(), &[]),
        doc! {"anyOf": [
            units.clone(),
            only("Wrapped", &wrapped),
            only("Named", &named),
            {"bsonType": "null"},
        ]}
    );
    assert_eq!(
        of(shape(Shape::Embedded(internal)), &[]),
        doc! {"anyOf": [
            {"bsonType": "object", "required": ["kind"], "properties": {"kind": units.clone()}},
            {
                "bsonType": "object",
                "required": ["kind", "x"],
                "properties": {"kind": one("Wrapped"), "x": {"bsonType": "int"}, "y": {"bsonType": "int"}},
            },
            {
                "bsonType": "object",
                "required": ["kind", "n"],
                "properties": {"kind": one("Named"), "n": {"bsonType": "string"}},
            },
        ]}
    );
    let content = |name: &str, content: &Document| {
        doc! {
            "bsonType": "object",
            "required": ["t", "c"],
            "properties": {"t": one(name), "c": content.clone()},
        }
    };
    assert_eq!(
        of(shape(Shape::Embedded(adjacent)), &[]),
        doc! {"anyOf": [
            {"bsonType": "object", "required": ["t"], "properties": {"t": units}},
            content("Wrapped", &wrapped),
            content("Named", &named),
        ]}
    );
    assert_eq!(
        of(shape(Shape::Embedded(untagged)), &[]),
        doc! {"anyOf": [{"bsonType": "null"}, wrapped, named]}
    );
}

#[test]
fn a_flattened_enum_shares_the_level() {
    const FIELDS: &[FieldMeta] = &[
        field("_id", INT, &[]),
        flat("e", shape(Shape::Embedded(internal))),
    ];
    const META: &EmbeddedMeta = &object("M", FIELDS);
    let tag = |name: &str| doc! {"bsonType": "string", "enum": [name]};
    assert_eq!(
        schema_of(META, true),
        doc! {
            "bsonType": "object",
            "required": ["_id"],
            "properties": {"_id": {"bsonType": "int"}, "kind": {}, "x": {}, "y": {}, "n": {}},
            "additionalProperties": false,
            "allOf": [{"anyOf": [
                {"required": ["kind"], "properties": {"kind": tag("None")}},
                {
                    "required": ["kind", "x"],
                    "properties": {"kind": tag("Wrapped"), "x": {"bsonType": "int"}, "y": {"bsonType": "int"}},
                },
                {
                    "required": ["kind", "n"],
                    "properties": {"kind": tag("Named"), "n": {"bsonType": "string"}},
                },
                {"required": ["kind"], "properties": {"kind": tag("Gone")}},
            ]}],
        }
    );
}

fn node() -> &'static EmbeddedMeta {
    const FIELDS: &[FieldMeta] = &[
        field("v", INT, &[]),
        field("next", shape(Shape::Embedded(node)).nullable(), &[]),
    ];
    const META: &EmbeddedMeta = &object("Node", FIELDS);
    META
}

fn bush() -> &'static EmbeddedMeta {
    const BUSH: TypeMeta = shape(Shape::Embedded(bush)).nullable();
    const FIELDS: &[FieldMeta] = &[
        field("a", BUSH, &[]),
        field("b", BUSH, &[]),
        field("c", BUSH, &[]),
        field("d", BUSH, &[]),
        field("e", BUSH, &[]),
        field("f", BUSH, &[]),
        field("g", BUSH, &[]),
        field("h", BUSH, &[]),
        field("i", BUSH, &[]),
        field("j", BUSH, &[]),
    ];
    const META: &EmbeddedMeta = &object("Bush", FIELDS);
    META
}

/// How many schemas of `next` are inside one another.
fn depth(schema: &Document, name: &str) -> usize {
    let inside = schema.get_document("properties");
    let next = inside.and_then(|properties| properties.get_document(name));
    next.map_or(0, |next| 1 + depth(next, name))
}

#[test]
fn what_contains_itself_is_unrolled_and_then_any_object() {
    let schema = validator(&model(node)).unwrap();
    let schema = schema.get_document("$jsonSchema").unwrap();
    // The last one is the bare `object`.
    assert_eq!(depth(schema, "next"), UNROLLED + 1);
    let bushy = validator(&model(bush)).unwrap();
    let bushy = bushy.get_document("$jsonSchema").unwrap();
    assert_eq!(depth(bushy, "a"), 3, "10 + 100 copies, not 1,110");
    // The server's limit of nesting, less the rest of a command.
    const { assert!(DEEPEST * 6 < 180) };
}

#[test]
fn expression_rules_follow_the_schema() {
    fn embedded() -> &'static EmbeddedMeta {
        const META: &EmbeddedMeta = &object("M", &[field("a", INT, &[])]);
        META
    }
    const fn with(rules: &'static [ExpressionRule]) -> ModelMeta {
        ModelMeta {
            rules,
            ..model(embedded)
        }
    }
    const NEAR: ExpressionRule = ExpressionRule {
        name: "near",
        filter: || Ok(doc! {"$or": [{"a": {"$not": {"$near": [1, 2]}}}]}),
    };
    const RULE: ExpressionRule = ExpressionRule {
        name: "positive",
        filter: || Ok(doc! {"a": {"$gt": 0}}),
    };
    assert_eq!(
        validator(&with(&[RULE])).unwrap(),
        doc! {"$and": [
            {"$jsonSchema": {
                "title": "M",
                "bsonType": "object",
                "required": ["a"],
                "properties": {"a": {"bsonType": "int"}},
            }},
            {"a": {"$gt": 0}},
        ]}
    );
    assert_eq!(
        validator(&with(&[RULE, NEAR])).unwrap_err().to_string(),
        "M: rule \"near\" can't be part of a validator: it uses $near, and MongoDB allows any query \
         operator there but $near, $nearSphere, $text and $where"
    );
    let system = ModelMeta {
        collection: "system.things",
        ..model(embedded)
    };
    assert!(
        validator(&system)
            .unwrap_err()
            .to_string()
            .contains("`system.things`")
    );
    assert!(super::refuse_system_database("admin").is_err());
    assert!(super::refuse_system_database("app").is_ok());
}

/// serde reads the fields of a flattened struct, whatever the default of the field that holds it.
#[test]
fn a_default_does_not_reach_into_a_flattened_struct() {
    #[derive(serde::Serialize, serde::Deserialize, crate::Document)]
    #[odm(collection = "outer")]
    struct Outer {
        #[serde(rename = "_id")]
        id: i32,
        #[serde(default)]
        missing: i32,
        #[serde(default, flatten)]
        inner: Inner,
    }

    #[derive(Default, serde::Serialize, serde::Deserialize, crate::Embedded)]
    struct Inner {
        needed: i32,
        maybe: Option<i32>,
    }

    bson::deserialize_from_document::<Outer>(doc! {"_id": 1})
        .map(|_| ())
        .unwrap_err();
    let meta = <Outer as crate::model::Document>::model();
    let schema = super::json_schema(meta).unwrap();
    assert_eq!(
        schema.get("required"),
        Some(&Bson::from(vec!["_id", "needed"]))
    );
}
