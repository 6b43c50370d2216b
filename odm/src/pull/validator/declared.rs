//! Fields that a validator names, and no document that was read has.

use bson::{Bson, Document};

use crate::pull::item::{ANY, DOCUMENT, Field, Type};
use crate::pull::names;

/// A field of the type that its schema names.
pub(super) fn field(
    name: &str,
    schema: &Document,
    is_always: bool,
    fields: &[Field],
) -> Option<Field> {
    let is_declarable = !name.is_empty() && !name.starts_with('$') && !name.contains(['.', '\0']);
    if !is_declarable {
        return None;
    }
    let aliases = aliases(schema);
    let is_null = aliases.contains(&"null");
    let mut others = aliases.iter().filter(|alias| **alias != "null");
    let ty = match (others.next(), others.next()) {
        (Some(only), None) => of_alias(only, schema),
        _ => ANY,
    };
    let ty = match (is_always, is_null) {
        (true, true) if ty != ANY => ty.option(),
        (true, _) => ty,
        (false, _) => ty.option(),
    };
    let serde = if is_always {
        Vec::new()
    } else {
        vec!["skip_serializing_if = \"Option::is_none\"".to_owned()]
    };
    let is_taken = |name: &str| fields.iter().any(|field| field.ident == name);
    Some(Field {
        stored: name.to_owned(),
        ident: names::apart(&names::field(name), is_taken),
        docs: vec!["In no document that was read; the validator declares it.".to_owned()],
        comments: Vec::new(),
        serde,
        odm: Vec::new(),
        ty,
        is_rest: false,
    })
}

/// The types that a schema allows, by their aliases.
pub(super) fn aliases(schema: &Document) -> Vec<&str> {
    match schema.get("bsonType").or_else(|| schema.get("type")) {
        Some(Bson::String(alias)) => vec![alias],
        Some(Bson::Array(aliases)) => aliases.iter().filter_map(Bson::as_str).collect(),
        _ => Vec::new(),
    }
}

fn of_alias(alias: &str, schema: &Document) -> Type {
    Type::Plain(match alias {
        "double" | "number" => "f64",
        "string" => "String",
        "object" => return DOCUMENT,
        "array" => {
            let items = schema.get_document("items").ok();
            let aliases = items.map(aliases).unwrap_or_default();
            let element = match aliases.as_slice() {
                [only] if *only != "array" => of_alias(only, &Document::new()),
                _ => ANY,
            };
            return element.vec();
        }
        "binData" => "bson::Binary",
        "objectId" => "ObjectId",
        "bool" | "boolean" => "bool",
        "date" => "DateTime",
        "regex" => "bson::Regex",
        "javascriptWithScope" => "bson::JavaScriptCodeWithScope",
        "int" => "i32",
        "timestamp" => "bson::Timestamp",
        "long" => "i64",
        "decimal" => "bson::Decimal128",
        _ => return ANY,
    })
}
