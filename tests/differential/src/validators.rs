//! `$jsonSchema`, in filters and validators.

use odm::bson::{Bson, Document, doc};

use crate::documents::{field, number, scalar, string, value};
use crate::rng::Rng;

const KINDS: &[&str] = &[
    "int", "long", "double", "decimal", "number", "string", "object", "array", "bool", "null",
    "date", "objectId",
];

pub(crate) fn schema(rng: &mut Rng, depth: usize) -> Document {
    let mut out = Document::new();
    for _ in 0..=rng.below(3) {
        keyword(rng, depth, &mut out);
    }
    out
}

fn keyword(rng: &mut Rng, depth: usize, out: &mut Document) {
    match rng.below(26) {
        0..3 => out.insert(
            "bsonType",
            if rng.chance(70) {
                Bson::from(rng.pick(KINDS))
            } else {
                vec![rng.pick(KINDS), "string"].into()
            },
        ),
        3..5 => out.insert("required", vec![field(rng)]),
        5..9 if depth > 0 => out.insert(
            "properties",
            doc! { field(rng): schema(rng, depth - 1), "c": schema(rng, depth - 1) },
        ),
        9 => {
            if rng.chance(50) {
                out.insert("exclusiveMinimum", rng.chance(50));
            }
            out.insert("minimum", number(rng))
        }
        10 => {
            if rng.chance(50) {
                out.insert("exclusiveMaximum", rng.chance(50));
            }
            out.insert("maximum", number(rng))
        }
        11 => out.insert(
            rng.pick(&[
                "minLength",
                "maxLength",
                "minItems",
                "maxItems",
                "minProperties",
                "maxProperties",
            ]),
            rng.int(0, 3),
        ),
        12 => out.insert("pattern", rng.pick(&["^a", "b", "[0-9]"])),
        13 => out.insert("enum", vec![scalar(rng), value(rng, 1)]),
        14 => out.insert("multipleOf", number(rng)),
        15 => out.insert("uniqueItems", true),
        16 if depth > 0 => out.insert(
            "items",
            if rng.chance(60) {
                Bson::from(schema(rng, depth - 1))
            } else {
                vec![schema(rng, depth - 1)].into()
            },
        ),
        17 if depth > 0 => out.insert(
            rng.pick(&["allOf", "anyOf", "oneOf"]),
            vec![schema(rng, depth - 1), schema(rng, depth - 1)],
        ),
        18 if depth > 0 => out.insert("not", schema(rng, depth - 1)),
        19 => out.insert(
            rng.pick(&["additionalProperties", "additionalItems"]),
            rng.chance(50),
        ),
        20 if depth > 0 => out.insert(
            "patternProperties",
            doc! { "^[ab]": schema(rng, depth - 1) },
        ),
        21 => out.insert("dependencies", doc! { field(rng): [field(rng)] }),
        22 if depth > 0 => out.insert("dependencies", doc! { field(rng): schema(rng, depth - 1) }),
        23 if depth > 0 => {
            out.insert("items", vec![schema(rng, depth - 1), schema(rng, 0)]);
            out.insert("additionalItems", schema(rng, depth - 1))
        }
        24 if depth > 0 => {
            out.insert("properties", doc! { field(rng): schema(rng, 0) });
            if rng.chance(50) {
                out.insert("patternProperties", doc! { "[0-9b]": schema(rng, 0) });
            }
            out.insert("additionalProperties", schema(rng, depth - 1))
        }
        25 => out.insert(rng.pick(&["title", "description"]), "words"),
        _ => out.insert(
            "type",
            rng.pick(&["string", "number", "object", "array", "null", "boolean"]),
        ),
    };
}

/// A schema with an operand that a keyword may not take.
pub(crate) fn odd(rng: &mut Rng) -> Document {
    let mut out = schema(rng, 2);
    let name = rng.pick(&[
        "bsonType",
        "type",
        "required",
        "properties",
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "minLength",
        "maxLength",
        "minItems",
        "maxItems",
        "minProperties",
        "maxProperties",
        "pattern",
        "enum",
        "multipleOf",
        "uniqueItems",
        "items",
        "allOf",
        "anyOf",
        "oneOf",
        "not",
        "additionalProperties",
        "additionalItems",
        "patternProperties",
        "dependencies",
        "title",
        "description",
        "$schema",
        "$ref",
        "format",
        "id",
        "default",
        "definitions",
        "zork",
        "const",
        "if",
        "contains",
        "propertyNames",
    ]);
    let operand = match rng.below(6) {
        0 => number(rng),
        1 => Bson::Array(vec![]),
        2 => doc! {}.into(),
        3 => vec![string(rng), string(rng)].into(),
        4 => doc! { field(rng): value(rng, 2) }.into(),
        _ => value(rng, 2),
    };
    if rng.chance(30) {
        return doc! { "properties": { field(rng): { name: operand } } };
    }
    out.insert(name, operand);
    out
}
