//! The validator of a collection: `$jsonSchema` from the struct, and the declared expression rules.
//!
//! The schema requires of stored documents what reading them needs: the fields without a default, and the BSON types of
//! all. Attributes add further bounds. MongoDB's `$jsonSchema` has no references, so shapes are written out in place. A
//! type that contains itself is written out [`UNROLLED`] times within itself (fewer times if that would be hundreds of
//! copies), and is any `object` below.

mod enums;
mod members;
pub(crate) mod rules;
mod value;

use bson::{Bson, Document, doc};

use self::value::Writer;
use crate::error::{DeclarationError, Error, Result};
use crate::model::{ExpressionRule, ModelMeta, gridfs};

/// How many times a type that contains itself is written out within itself.
pub const UNROLLED: usize = 3;

/// How many subdocuments deep the schema goes; deeper subdocuments are any `object`.
///
/// MongoDB refuses documents nested deeper than 200 levels, and each level of subdocuments takes two to six
/// levels of the schema.
pub const DEEPEST: usize = 24;

/// Operators that a query can contain and a validator can't.
const NOT_IN_VALIDATORS: [&str; 5] = ["$geoNear", "$near", "$nearSphere", "$text", "$where"];

/// Returns the validator of a model's collection: `{$jsonSchema: …}`, or with expression rules
/// `{$and: [{$jsonSchema: …}, rule, …]}`, in declaration order.
///
/// ```
/// # use odm::prelude::*;
/// #[derive(Debug, Serialize, Deserialize, Document)]
/// #[odm(collection = "books")]
/// struct Book { #[serde(rename = "_id")] id: i32, #[odm(range(min = 1450))] year: i32 }
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let validator = odm::schema::validator(Book::model())?;
/// let fields = validator.get_document("$jsonSchema")?.get_document("properties")?;
/// assert_eq!(fields.get_document("year")?, &doc! {"bsonType": "int", "minimum": 1450});
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// A declaration that can't be a validator: a bound on a type that has none, a rule with `$text`,
/// a field that is stored twice.
pub fn validator(meta: &ModelMeta) -> Result<Document> {
    refuse_system_collection(meta.collection).map_err(|error| error.with_model(meta.name))?;
    let schema = Bson::Document(
        doc! {"$jsonSchema": json_schema(meta).map_err(|error| error.with_model(meta.name))?},
    );
    let mut rules: Vec<Document> = meta
        .rules
        .iter()
        .map(|rule| expression(rule).map_err(|error| error.with_model(meta.name)))
        .collect::<Result<_>>()?;
    for variant in meta.variants() {
        for rule in variant.rules {
            let filter = expression(rule).map_err(|error| error.with_model(variant.name))?;
            rules.extend(
                variant
                    .variant_of
                    .map(|of| doc! {"$or": [{of.tag: {"$ne": of.name}}, filter]}),
            );
        }
    }
    Ok(match (schema, rules.is_empty()) {
        (Bson::Document(schema), true) => schema,
        (schema, _) => {
            let clauses = std::iter::once(schema).chain(rules.into_iter().map(Bson::Document));
            doc! {"$and": clauses.collect::<Vec<_>>()}
        }
    })
}

/// The `$jsonSchema` alone.
fn json_schema(meta: &ModelMeta) -> Result<Document> {
    // MongoDB repeats the title in its validation errors, which thereby name the model.
    let mut schema = doc! {"title": meta.name};
    for unroll in (0..=UNROLLED).rev() {
        let mut writer = Writer::new(unroll);
        let keywords = writer.root((meta.embedded)(), meta.deny_undeclared)?;
        if !writer.is_too_large() {
            schema.extend(keywords);
            break;
        }
    }
    if meta.gridfs.is_some()
        && schema.contains_key("additionalProperties")
        && let Ok(properties) = schema.get_document_mut("properties")
    {
        // An upload stores all fields of a file, declared or not.
        for field in gridfs::FIELDS {
            if !properties.contains_key(field) {
                properties.insert(field, Document::new());
            }
        }
    }
    if let Some(field) = meta.schema_field() {
        let version = doc! {"bsonType": ["int", "long", "double"], "minimum": 1};
        match schema.get_document_mut("properties") {
            Ok(properties) => drop(properties.insert(field, version)),
            Err(_) => drop(schema.insert("properties", doc! {field: version})),
        }
    }
    Ok(schema)
}

fn expression(rule: &ExpressionRule) -> Result<Document> {
    let context = || format!("rule \"{}\"", rule.name);
    let filter = (rule.filter)().map_err(|error| error.context(context()))?;
    match forbidden(&filter) {
        Some(operator) => Err(declaration(format!(
            "{} can't be part of a validator: it uses {operator}, and MongoDB allows any query \
             operator there but $near, $nearSphere, $text and $where",
            context(),
        ))),
        None => Ok(filter),
    }
}

/// The first operator in `filter` that validators can't contain.
fn forbidden(filter: &Document) -> Option<&'static str> {
    filter.iter().find_map(|(key, value)| {
        let own = NOT_IN_VALIDATORS.iter().find(|name| *name == key).copied();
        own.or_else(|| match (key.as_str(), value) {
            ("$and" | "$or" | "$nor" | "$all", Bson::Array(clauses)) => clauses
                .iter()
                .filter_map(Bson::as_document)
                .find_map(forbidden),
            ("$not" | "$elemMatch", Bson::Document(inner)) => forbidden(inner),
            // The operand of any other operator is a value, and so is a document without operators.
            (field, Bson::Document(inner)) if !field.starts_with('$') => {
                let has_operators = inner.keys().next().is_some_and(|key| key.starts_with('$'));
                has_operators.then(|| forbidden(inner)).flatten()
            }
            _ => None,
        })
    })
}

pub(crate) fn refuse_system_collection(collection: &str) -> Result<()> {
    if collection.starts_with("system.") {
        return Err(declaration(format!(
            "collection `{collection}` can't have a validator: names that start with `system.` \
             belong to the server; choose another name"
        )));
    }
    Ok(())
}

/// Refuses databases in which MongoDB keeps its own data, and allows no validators.
pub(crate) fn refuse_system_database(database: &str) -> Result<()> {
    if ["admin", "config", "local"].contains(&database) {
        return Err(declaration(format!(
            "collections of the database `{database}` can't have validators: the server keeps its \
             own data there; use a database of your own"
        )));
    }
    Ok(())
}

pub(crate) fn declaration(message: impl Into<String>) -> Error {
    Error::new(DeclarationError::new(message))
}

#[cfg(test)]
mod tests;
