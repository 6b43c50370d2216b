//! The options of an index.

use bson::{Bson, Document};

use super::keys::{Key, Kind};
use crate::pull::definitions;
use crate::pull::item::{Attribute, Item, Type};
use crate::pull::literal::{self, code, string};
use crate::pull::path;
use crate::schema::normal::{integer, is_truthy};

/// The options of an index, as far as they can be declared.
#[derive(Debug, Default)]
pub(super) struct Options {
    pub(super) unique: bool,
    pub(super) sparse: bool,
    hidden: bool,
    /// The call of `doc!`.
    pub(super) partial: Option<String>,
    /// Seconds.
    pub(super) expires: Option<i64>,
    pub(super) collation: Option<String>,
    language: Option<String>,
    language_field: Option<String>,
    /// `only(…)` or `except(…)` of a wildcard.
    pub(super) projection: Option<Attribute>,
}

impl Options {
    pub(super) fn read(
        items: &[Item],
        model: usize,
        index: &Document,
        of_collection: &Bson,
        keys: &[Key],
    ) -> Result<Self, String> {
        let is_text = keys.iter().any(|key| key.kind == Kind::Text);
        let mut options = Self::default();
        for (name, value) in index {
            match name.as_str() {
                "unique" => options.unique = is_truthy(value),
                "sparse" => options.sparse = is_truthy(value),
                "hidden" => options.hidden = is_truthy(value),
                "expireAfterSeconds" => {
                    let seconds = integer(value);
                    let seconds = seconds.filter(|seconds| (0..=2_147_483_647).contains(seconds));
                    options.expires =
                        Some(seconds.ok_or_else(|| "its time to live is out of range".to_owned())?);
                }
                "partialFilterExpression" => {
                    let filter = value.as_document().and_then(literal::doc);
                    options.partial = Some(filter.ok_or_else(|| {
                        "its partial filter has values without a literal in Rust".to_owned()
                    })?);
                }
                "collation" if is_text => {}
                "collation" if value == of_collection => {}
                "collation" => {
                    let collation = value.as_document().ok_or("its collation is malformed")?;
                    options.collation = Some(definitions::collation(collation)?);
                }
                "default_language" => {
                    let language = value.as_str().unwrap_or_default();
                    options.language = (language != "english").then(|| language.to_owned());
                }
                "language_override" => {
                    let field = value.as_str().unwrap_or_default();
                    options.language_field = (field != "language").then(|| field.to_owned());
                }
                "wildcardProjection" => {
                    let projection = value.as_document().ok_or("its projection is malformed")?;
                    options.projection = projected(items, model, projection)?;
                }
                // The version of the stored format, and what is derived from the keys.
                "v"
                | "key"
                | "name"
                | "ns"
                | "weights"
                | "background"
                | "textIndexVersion"
                | "2dsphereIndexVersion" => {}
                other => {
                    return Err(format!(
                        "odm has no declaration for its option {}",
                        code(other)
                    ));
                }
            }
        }
        let has_collation = of_collection.as_document().is_some();
        if has_collation && !is_text && !index.contains_key("collation") {
            options.collation = Some("collation(locale = \"simple\")".to_owned());
        }
        if is_text {
            options.check_language(items, model)?;
        }
        Ok(options)
    }

    /// Refuses a text index beside a field that MongoDB would take for the language of the document.
    fn check_language(&self, items: &[Item], model: usize) -> Result<(), String> {
        let stored = self.language_field.as_deref().unwrap_or("language");
        let fields = items.get(model).map_or(&[][..], Item::fields);
        let field = fields.iter().find(|field| field.stored == stored);
        let is_text = |ty: &Type| matches!(ty, Type::Plain("String"));
        match field {
            Some(_) if self.language_field.is_none() => {
                Err("MongoDB takes the field `language` for the language of the text".to_owned())
            }
            Some(field) if !is_text(&field.ty) => Err(format!(
                "the field {} with the language of the text is not a string in all documents",
                code(stored)
            )),
            _ => Ok(()),
        }
    }

    /// Whether all options are those of an index that declares none.
    pub(super) fn are_default(&self) -> bool {
        self.hold_all_documents() && !self.unique && self.expires.is_none()
    }

    /// Whether the index holds all documents, in the order of their values.
    pub(super) fn hold_all_documents(&self) -> bool {
        !self.sparse && !self.hidden && self.partial.is_none() && self.collation.is_none()
    }

    /// The options in an attribute that starts with `word`.
    pub(super) fn attributes(&self, word: &str) -> Vec<Attribute> {
        let mut parts = Vec::new();
        let mut add = |text: String| parts.push(Attribute::text(text));
        if let Some(seconds) = self.expires {
            let option = if word == "ttl" {
                "after"
            } else {
                "expire_after"
            };
            add(format!("{option} = {}", string(&duration(seconds))));
        }
        if self.unique && word != "unique" {
            add("unique".to_owned());
        }
        if self.sparse {
            add("sparse".to_owned());
        }
        if self.hidden {
            add("hidden".to_owned());
        }
        if let Some(language) = &self.language {
            add(format!("default_language = {}", string(language)));
        }
        if let Some(field) = &self.language_field {
            add(format!("language_override = {}", string(field)));
        }
        if let Some(collation) = &self.collation {
            add(collation.clone());
        }
        if let Some(filter) = &self.partial {
            add(format!("partial = |_| odm::query::raw({filter})"));
        }
        parts.extend(self.projection.clone());
        parts
    }
}

/// A time as attributes spell it, in the largest unit without a rest.
fn duration(seconds: i64) -> String {
    let units = [(604_800, "w"), (86_400, "d"), (3_600, "h"), (60, "m")];
    let unit = units
        .into_iter()
        .find(|(unit, _)| seconds > 0 && seconds % unit == 0);
    // 28 and 30 days are more common than weeks.
    match unit {
        Some((604_800, _)) if seconds > 604_800 => format!("{}d", seconds / 86_400),
        Some((unit, name)) => format!("{}{name}", seconds / unit),
        None => format!("{seconds}s"),
    }
}

fn projected(
    items: &[Item],
    model: usize,
    projection: &Document,
) -> Result<Option<Attribute>, String> {
    let mut word = None;
    let mut paths = Attribute::default();
    for (stored, value) in projection {
        let own = if is_truthy(value) { "only" } else { "except" };
        if word.is_some_and(|word| word != own) {
            return Err("its projection both names and leaves out fields".to_owned());
        }
        paths.push(if word.is_none() { "" } else { ", " });
        word = Some(own);
        paths
            .0
            .extend(path::resolve(items, model, stored)?.attribute.0);
    }
    Ok(word.map(|word| {
        let mut attribute = Attribute::text(format!("{word}("));
        attribute.0.extend(paths.0);
        attribute.push(")");
        attribute
    }))
}
