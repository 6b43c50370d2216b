//! The differences between two validators, field by field.

use bson::{Bson, Document};

use crate::plan::shell;
use crate::schema::normal;

/// A longer list is cut, and its last line counts the rest.
const MOST: usize = 12;

/// The differences, a line each: the path of the field, what the collection has, and what is declared.
pub(super) fn differences(is: &Document, declared: &Document) -> Vec<String> {
    let mut lines = Vec::new();
    rules("", is, declared, &mut lines);
    if lines.is_empty() {
        // The order of keywords can differ, too.
        return vec!["the validator differs".to_owned()];
    }
    let rest = lines.len().saturating_sub(MOST);
    lines.truncate(MOST);
    let mut lines: Vec<_> = lines
        .into_iter()
        .map(|line| format!("the validator differs: {line}"))
        .collect();
    if rest > 0 {
        lines.push(format!("the validator differs in {rest} more places"));
    }
    lines
}

/// Compares the rules of one value.
fn rules(path: &str, is: &Document, declared: &Document, lines: &mut Vec<String>) {
    for keyword in keys(is, declared) {
        let (one, other) = (is.get(keyword), declared.get(keyword));
        if one.zip(other).is_some_and(|(one, other)| same(one, other)) {
            continue;
        }
        match (keyword, one, other) {
            ("$jsonSchema", Some(Bson::Document(is)), Some(Bson::Document(declared))) => {
                rules(path, is, declared, lines);
            }
            ("properties", Some(Bson::Document(is)), Some(Bson::Document(declared))) => {
                fields(path, is, declared, lines);
            }
            ("items", Some(Bson::Document(is)), Some(Bson::Document(declared))) => {
                rules(&format!("{path}[]"), is, declared, lines);
            }
            // The whole schema is in the command.
            ("$jsonSchema", None, _) => lines.push("there is no $jsonSchema".to_owned()),
            ("required", one, other) => required(path, one, other, lines),
            (keyword, one, other) => {
                let place = if path.is_empty() {
                    String::new()
                } else {
                    format!("`{path}`: ")
                };
                lines.push(match (one, other) {
                    (Some(one), Some(other)) => {
                        format!(
                            "{place}{keyword} is {}, declared {}",
                            shown(one),
                            shown(other)
                        )
                    }
                    (Some(one), None) => {
                        format!("{place}{keyword} is {}, no longer declared", shown(one))
                    }
                    (None, Some(other)) => {
                        format!("{place}no {keyword}, declared {}", shown(other))
                    }
                    (None, None) => continue,
                });
            }
        }
    }
}

/// Compares the fields of one document.
fn fields(path: &str, is: &Document, declared: &Document, lines: &mut Vec<String>) {
    for name in keys(is, declared) {
        let path = match path {
            "" => name.to_owned(),
            path => format!("{path}.{name}"),
        };
        match (is.get(name), declared.get(name)) {
            (Some(Bson::Document(is)), Some(Bson::Document(declared))) => {
                rules(&path, is, declared, lines);
            }
            (Some(_), Some(_)) => {}
            (None, Some(declared)) => {
                lines.push(format!("`{path}` is new: {}", shown(declared)));
            }
            (_, None) => lines.push(format!("`{path}` is no longer declared")),
        }
    }
}

/// Compares the names of required fields.
fn required(path: &str, is: Option<&Bson>, declared: Option<&Bson>, lines: &mut Vec<String>) {
    let names = |list: Option<&Bson>| -> Vec<String> {
        let names = list.and_then(Bson::as_array).into_iter().flatten();
        names
            .filter_map(|name| name.as_str().map(str::to_owned))
            .collect()
    };
    let (is, declared) = (names(is), names(declared));
    let full = |name: &str| match path {
        "" => name.to_owned(),
        path => format!("{path}.{name}"),
    };
    for name in declared.iter().filter(|name| !is.contains(name)) {
        lines.push(format!("`{}` is now required", full(name)));
    }
    for name in is.iter().filter(|name| !declared.contains(name)) {
        lines.push(format!("`{}` is no longer required", full(name)));
    }
}

/// The keys of both documents, each once.
fn keys<'a>(one: &'a Document, other: &'a Document) -> impl Iterator<Item = &'a str> {
    let more = other.keys().filter(|key| !one.contains_key(*key));
    one.keys().chain(more).map(String::as_str)
}

fn same(one: &Bson, other: &Bson) -> bool {
    match (one, other) {
        (Bson::Document(one), Bson::Document(other)) => normal::same(one, other),
        (one, other) => one == other,
    }
}

fn shown(value: &Bson) -> String {
    match value {
        Bson::Document(document) => shell::document(document),
        value => shell::value(value),
    }
}

#[cfg(test)]
mod tests {
    use bson::doc;

    use super::*;

    #[test]
    fn each_line_names_a_field() {
        let is = doc! {"$jsonSchema": {
            "bsonType": "object",
            "required": ["_id", "title", "old"],
            "properties": {
                "_id": {"bsonType": "int"},
                "title": {"bsonType": "string", "maxLength": 10},
                "old": {"bsonType": "string"},
                "tags": {"bsonType": "array", "items": {"bsonType": "string"}},
                "address": {"bsonType": "object", "required": ["zip"], "properties": {"zip": {"bsonType": "string"}}},
            },
        }};
        let declared = doc! {"$jsonSchema": {
            "bsonType": "object",
            "required": ["_id", "title", "year"],
            "properties": {
                "_id": {"bsonType": "int"},
                "title": {"bsonType": "string", "maxLength": 20, "minLength": 1},
                "year": {"bsonType": "int"},
                "tags": {"bsonType": "array", "items": {"bsonType": "objectId"}},
                "address": {"bsonType": "object", "properties": {"zip": {"bsonType": "string", "pattern": "^[0-9]+$"}}},
            },
        }, "$expr": true};
        let lines = differences(&is, &declared);
        let lines: Vec<_> = lines
            .iter()
            .map(|line| line.strip_prefix("the validator differs: ").unwrap())
            .collect();
        assert_eq!(
            lines,
            [
                "`year` is now required",
                "`old` is no longer required",
                "`title`: maxLength is 10, declared 20",
                "`title`: no minLength, declared 1",
                "`old` is no longer declared",
                "`tags[]`: bsonType is \"string\", declared \"objectId\"",
                "`address.zip` is no longer required",
                "`address.zip`: no pattern, declared \"^[0-9]+$\"",
                "`year` is new: {bsonType: \"int\"}",
                "no $expr, declared true",
            ]
        );
    }

    #[test]
    fn long_lists_are_counted() {
        let of = |bson_type: &str| {
            let fields: Document = (0..20)
                .map(|n| {
                    (
                        format!("f{n}"),
                        Bson::Document(doc! {"bsonType": bson_type}),
                    )
                })
                .collect();
            doc! {"$jsonSchema": {"properties": fields}}
        };
        let lines = differences(&of("int"), &of("long"));
        assert_eq!(lines.len(), MOST + 1);
        assert_eq!(lines[MOST], "the validator differs in 8 more places");
    }
}
