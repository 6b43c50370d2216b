//! The validator of a collection as attributes of its model.

mod declared;
mod rules;

use bson::{Bson, Document};

use self::rules::FieldRules;
use super::item::{Attribute, Body, Item, Variant};
use super::literal::{self, json, string};
use super::names;

/// Operators that a rule of a model can't have.
const NOT_IN_RULES: [&str; 5] = ["$geoNear", "$near", "$nearSphere", "$text", "$where"];

/// Adds the validator to a model. What attributes can't say becomes comments.
pub(super) fn declare(items: &mut Vec<Item>, model: usize, validator: &Document) {
    let mut rules = 0;
    for clause in clauses(validator) {
        match clause.get_document("$jsonSchema") {
            Ok(schema) if clause.len() == 1 => object(items, model, schema, true),
            _ => rule(items, model, &clause, &mut rules),
        }
    }
}

/// The conditions that all have to hold.
fn clauses(validator: &Document) -> Vec<Document> {
    let mut all = Vec::new();
    for (name, value) in validator {
        match (name.as_str(), value) {
            ("$and", Bson::Array(clauses))
                if clauses.iter().all(|one| one.as_document().is_some()) =>
            {
                all.extend(
                    clauses
                        .iter()
                        .filter_map(Bson::as_document)
                        .flat_map(clauses_of),
                );
            }
            _ => {
                let mut clause = Document::new();
                clause.insert(name, value.clone());
                all.push(clause);
            }
        }
    }
    all
}

fn clauses_of(clause: &Document) -> Vec<Document> {
    clauses(clause)
}

/// Adds an expression as a rule.
fn rule(items: &mut [Item], model: usize, clause: &Document, rules: &mut usize) {
    let Some(item) = items.get_mut(model) else {
        return;
    };
    let text = json(clause);
    let is_allowed =
        NOT_IN_RULES.iter().all(|name| !text.contains(name)) && !text.contains("$jsonSchema");
    match literal::doc(clause).filter(|_| is_allowed) {
        Some(filter) => {
            *rules += 1;
            let name = string(&format!("validator {rules}"));
            let rule = format!("rule({name}, |_| odm::query::raw({filter}))");
            item.attributes.push(Attribute::text(rule));
        }
        None => item.comments.push(format!(
            "A condition of the validator is not declared: {text}"
        )),
    }
}

/// Adds the schema of documents to their struct.
fn object(items: &mut Vec<Item>, item: usize, schema: &Document, is_model: bool) {
    let mut rest = Document::new();
    let empty = Document::new();
    let properties = schema.get_document("properties").unwrap_or(&empty);
    let required: Vec<&str> = schema
        .get_array("required")
        .map(|names| names.iter().filter_map(Bson::as_str).collect())
        .unwrap_or_default();
    for (name, value) in schema {
        match (name.as_str(), value) {
            ("properties" | "title" | "description", _)
            | ("required", Bson::Array(_))
            | ("additionalProperties", Bson::Boolean(true)) => {}
            ("bsonType" | "type", Bson::String(ty)) if ty == "object" => {}
            ("additionalProperties", Bson::Boolean(false)) => {
                deny_undeclared(items, item, &mut rest);
            }
            (name, value) => {
                rest.insert(name, value.clone());
            }
        }
    }
    for (name, property) in properties {
        if let Bson::Document(property) = property {
            let is_required = required.contains(&name.as_str());
            self::property(items, item, name, property, is_required, is_model);
        }
    }
    let Some(item) = items.get_mut(item) else {
        return;
    };
    for name in required {
        if let Body::Struct(fields) = &mut item.body
            && let Some(field) = fields.iter_mut().find(|field| field.stored == name)
            && field
                .serde
                .iter()
                .any(|one| one.starts_with("skip_serializing_if"))
        {
            let line = "The validator requires it, and older documents are without it.";
            field.comments.push(line.to_owned());
        }
    }
    if !rest.is_empty() {
        let line = format!("A part of the validator is not declared: {}", json(&rest));
        item.comments.push(line);
    }
}

fn deny_undeclared(items: &mut [Item], item: usize, rest: &mut Document) {
    let Some(item) = items.get_mut(item) else {
        return;
    };
    if item.left_out.is_empty() {
        item.attributes.push(Attribute::text("deny_undeclared"));
    } else {
        rest.insert("additionalProperties", false);
    }
}

/// Adds the schema of a field.
fn property(
    items: &mut Vec<Item>,
    item: usize,
    name: &str,
    schema: &Document,
    is_required: bool,
    is_model: bool,
) {
    let Some(around) = items.get_mut(item) else {
        return;
    };
    if around.left_out.iter().any(|one| one == name) || is_model && name == "_id" {
        return;
    }
    // Documents may be older than the validator.
    let is_always = is_required && around.is_empty;
    let Body::Struct(fields) = &mut around.body else {
        return;
    };
    if fields.iter().all(|field| field.stored != name) {
        let Some(field) = declared::field(name, schema, is_always, fields) else {
            let line = format!(
                "A field of the validator is not declared: {} {}",
                literal::code(name),
                json(schema)
            );
            around.comments.push(line);
            return;
        };
        // Before the field for the rest.
        let place = fields.iter().position(|field| field.is_rest);
        fields.insert(place.unwrap_or(fields.len()), field);
    }
    let Some(field) = fields.iter_mut().find(|field| field.stored == name) else {
        return;
    };
    let (ty, inner) = (field.ty.clone(), field.ty.item());
    let mut rules = FieldRules::of(&ty, field.odm.clone());
    rules.add(schema);
    field.odm = rules.attributes();
    if let Ok(description) = schema.get_str("description") {
        field.docs.insert(0, description.to_owned());
    }
    let (rest, inside) = (rules.rest, rules.inside);
    if !rest.is_empty() {
        let line = format!("A part of the validator is not declared: {}", json(&rest));
        field.comments.push(line);
    }
    let Some(inner) = inner else {
        return;
    };
    let Some(inside) = inside else {
        return;
    };
    let is_enum = items
        .get(inner)
        .is_some_and(|inner| matches!(inner.body, Body::Enum(_)));
    if is_enum {
        variants(items, inner, &inside);
    } else {
        object(items, inner, &inside, false);
    }
}

/// Adds the strings of `enum` that no document has to an enum.
fn variants(items: &mut [Item], item: usize, schema: &Document) {
    let Some(Body::Enum(variants)) = items.get_mut(item).map(|item| &mut item.body) else {
        return;
    };
    let Ok(strings) = schema.get_array("enum") else {
        return;
    };
    for stored in strings.iter().filter_map(Bson::as_str) {
        if variants.iter().any(|variant| variant.stored == stored) {
            continue;
        }
        let Some(ident) = names::variant(stored) else {
            continue;
        };
        let ident = names::apart(&ident, |name| variants.iter().any(|one| one.ident == name));
        variants.push(Variant {
            stored: stored.to_owned(),
            ident,
            docs: vec!["In no document that was read; the validator allows it.".to_owned()],
        });
    }
}

#[cfg(test)]
mod tests;
