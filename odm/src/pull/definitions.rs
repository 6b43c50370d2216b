//! The options of a collection as attributes of its model.

use bson::{Bson, Document};

use super::item::{Attribute, Item};
use super::literal::{code, json, string};
use super::number::separated;
use crate::schema::normal::{integer, is_truthy};

/// Adds the options to a model, but for the validator.
pub(super) fn declare(item: &mut Item, options: &Document) {
    let mut validation = Vec::new();
    let mut size = None;
    let mut most = None;
    for (name, value) in options {
        match (name.as_str(), value) {
            ("capped", value) if !is_truthy(value) => {}
            ("size", value) => size = integer(value),
            ("max", value) => most = integer(value),
            ("collation", Bson::Document(document)) => match collation(document) {
                Ok(collation) => item.attributes.push(Attribute::text(collation)),
                Err(reason) => item.comments.push(format!(
                    "The collation of the collection is not declared: {reason}. {}",
                    json(document)
                )),
            },
            ("changeStreamPreAndPostImages", Bson::Document(images)) => {
                if images.get_bool("enabled").unwrap_or(false) {
                    item.attributes.push(Attribute::text("change_stream_images"));
                }
            }
            ("validationLevel", Bson::String(level)) if level != "strict" => {
                validation.push(format!("level = {}", string(level)));
            }
            ("validationAction", Bson::String(action)) if action != "error" => {
                validation.push(format!("action = {}", string(action)));
            }
            // MongoDB keeps some for itself, and other attributes declare the rest.
            (
                "validationLevel" | "validationAction" | "validator" | "capped" | "uuid"
                | "autoIndexId" | "flags",
                _,
            ) => {}
            (name, value) => item.comments.push(format!(
                "The option {} of the collection is not declared: odm has no attribute for it. {value}",
                code(name)
            )),
        }
    }
    if options.get("capped").is_some_and(is_truthy)
        && let Some(size) = size.filter(|size| *size > 0)
    {
        let most = most.filter(|most| (1..2_147_483_648).contains(most));
        let most = most.map_or_else(String::new, |most| format!(", max = {}", separated(most)));
        let capped = format!("capped(size = {}{most})", separated(size));
        item.attributes.push(Attribute::text(capped));
    }
    if !validation.is_empty() {
        let validation = format!("validation({})", validation.join(", "));
        item.attributes.push(Attribute::text(validation));
    }
}

/// A collation in an attribute, without the options that have their default.
pub(super) fn collation(collation: &Document) -> Result<String, String> {
    let locale = collation
        .get_str("locale")
        .map_err(|_| "its collation has no locale".to_owned())?;
    let mut parts = vec![format!("locale = {}", string(locale))];
    for (name, value) in collation {
        let (word, default) = match name.as_str() {
            "locale" | "version" => continue,
            "strength" => {
                let strength = integer(value).filter(|strength| (1..=5).contains(strength));
                let strength = strength.ok_or("its strength is out of range")?;
                if strength != 3 {
                    parts.push(format!("strength = {strength}"));
                }
                continue;
            }
            "caseLevel" => ("case_level", Bson::Boolean(false)),
            "caseFirst" => ("case_first", Bson::from("off")),
            "numericOrdering" => ("numeric_ordering", Bson::Boolean(false)),
            "alternate" => ("alternate", Bson::from("non-ignorable")),
            "maxVariable" => ("max_variable", Bson::from("punct")),
            "backwards" => ("backwards", Bson::Boolean(false)),
            "normalization" => ("normalization", Bson::Boolean(false)),
            other => return Err(format!("odm has no word for its option {}", code(other))),
        };
        if *value == default {
            continue;
        }
        match value {
            Bson::String(text) => parts.push(format!("{word} = {}", string(text))),
            Bson::Boolean(value) => parts.push(format!("{word} = {value}")),
            _ => return Err(format!("its option {} is malformed", code(name))),
        }
    }
    Ok(format!("collation({})", parts.join(", ")))
}
