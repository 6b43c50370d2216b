//! The keys of an index.

use bson::{Bson, Document};

use crate::pull::item::{ANY, Attribute, Item, Type};
use crate::pull::literal::code;
use crate::pull::path::{self, Step};
use crate::schema::normal::integer;

/// How a key orders its values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Ascending,
    Descending,
    Hashed,
    Sphere,
    Text,
    Wildcard,
}

impl Kind {
    pub(super) fn is_ordered(self) -> bool {
        matches!(self, Self::Ascending | Self::Descending)
    }
}

/// A key.
#[derive(Debug)]
pub(super) struct Key {
    /// The stored path; of a wildcard, with `$**`.
    pub(super) path: String,
    pub(super) kind: Kind,
    /// The path as an attribute names it; none of a wildcard over all fields.
    field: Option<Attribute>,
    weight: Option<i64>,
    /// The first field of the path.
    pub(super) first: String,
    marks: Vec<Mark>,
}

/// A property of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mark {
    /// The first field of the path is a list.
    InList,
    /// The path is one field that may be null or absent.
    Optional,
    /// The field is left out where it is `None`.
    Skipped,
    MayBeDate,
    MayBeText,
    MayBePlace,
    /// The field has the name of an option, for which an attribute would take it.
    NamedLikeOption,
}

/// Options without a value, which fields of these names are mistaken for.
const FLAGS: [&str; 3] = ["hidden", "sparse", "unique"];

pub(super) fn read(
    items: &[Item],
    model: usize,
    index: &Document,
    keys: &Document,
) -> Result<Vec<Key>, String> {
    if keys.contains_key("_fts") {
        return text(items, model, index, keys);
    }
    let mut read = Vec::new();
    for (name, kind) in keys {
        if let Some(inside) = name.strip_suffix("$**") {
            let inside = inside.trim_end_matches('.');
            let mut key = if inside.is_empty() {
                Key::whole()
            } else {
                Key::at(items, model, inside, Kind::Wildcard)?
            };
            key.path.clone_from(name);
            read.push(key);
            continue;
        }
        let kind = match kind {
            Bson::String(kind) => match kind.as_str() {
                "hashed" => Kind::Hashed,
                "2dsphere" => Kind::Sphere,
                other => {
                    return Err(format!(
                        "odm has no declaration for keys of the kind {}",
                        code(other)
                    ));
                }
            },
            number => match direction(number) {
                Some(true) => Kind::Ascending,
                Some(false) => Kind::Descending,
                None => return Err("odm has no declaration for its keys".to_owned()),
            },
        };
        read.push(Key::at(items, model, name, kind)?);
    }
    Ok(read)
}

/// Whether a number means an ascending key.
fn direction(number: &Bson) -> Option<bool> {
    match number {
        Bson::Double(number) if *number > 0.0 => Some(true),
        Bson::Double(number) if *number < 0.0 => Some(false),
        other => match integer(other)? {
            0 => None,
            number => Some(number > 0),
        },
    }
}

/// The keys of a text index, which MongoDB lists by their weights.
fn text(
    items: &[Item],
    model: usize,
    index: &Document,
    keys: &Document,
) -> Result<Vec<Key>, String> {
    if keys.len() > 2 {
        return Err("odm has no declaration for text indexes with other keys".to_owned());
    }
    let weights = index
        .get_document("weights")
        .map_err(|_| "it has no weights".to_owned())?;
    let mut read = Vec::new();
    for (name, weight) in weights {
        if name.ends_with("$**") {
            return Err("odm has no declaration for text indexes of all fields".to_owned());
        }
        let mut key = Key::at(items, model, name, Kind::Text)?;
        key.weight = integer(weight).filter(|weight| *weight != 1);
        read.push(key);
    }
    Ok(read)
}

impl Key {
    fn whole() -> Self {
        Self {
            path: String::new(),
            kind: Kind::Wildcard,
            field: None,
            weight: None,
            first: String::new(),
            marks: Vec::new(),
        }
    }

    fn at(items: &[Item], model: usize, stored: &str, kind: Kind) -> Result<Self, String> {
        let found = path::resolve(items, model, stored)?;
        let first: Option<&Step<'_>> = found.steps.first();
        let is_nested = found.steps.len() > 1 || found.ends_in_db_ref;
        let first_type = first.map_or(&ANY, |step| &step.field.ty);
        let last = found.steps.last().filter(|_| !found.ends_in_db_ref);
        let last_type = last.map_or(&ANY, |step| &step.field.ty);
        let is_optional = !is_nested && matches!(last_type, Type::Option(_));
        let skips = |step: &&Step<'_>| {
            let serde = step.field.serde.iter();
            serde
                .clone()
                .any(|one| one.starts_with("skip_serializing_if"))
        };
        let inner = last_type.innermost();
        let is_enum = path::is_enum(items, inner);
        let is_any = *inner == ANY;
        let scalars = [
            "String",
            "bool",
            "i32",
            "i64",
            "f64",
            "DateTime",
            "ObjectId",
            "bson::Uuid",
            "bson::Binary",
            "bson::Decimal128",
            "bson::Timestamp",
            "bson::Regex",
        ];
        let is_scalar = matches!(inner, Type::Plain(name) if scalars.contains(name))
            || matches!(inner, Type::Id(_) | Type::Ref(_))
            || is_enum;
        let is_list_of_numbers =
            last_type.containers() == 1 && matches!(inner, Type::Plain("f64" | "i32" | "i64"));
        let ident = first.map_or("", |step| step.field.ident.as_str());
        let is_text = matches!(inner, Type::Plain("String" | "bson::Document"));
        let marks = [
            (Mark::InList, path::is_list(first_type)),
            (Mark::Optional, is_optional),
            (Mark::Skipped, last.as_ref().is_some_and(skips)),
            (Mark::MayBeDate, is_any || *inner == Type::Plain("DateTime")),
            (Mark::MayBeText, is_any || is_enum || is_text),
            (Mark::MayBePlace, is_any || is_list_of_numbers || !is_scalar),
            (Mark::NamedLikeOption, !is_nested && FLAGS.contains(&ident)),
        ];
        let marks = marks
            .into_iter()
            .filter(|(_, is)| *is)
            .map(|(mark, _)| mark);
        Ok(Self {
            path: stored.to_owned(),
            kind,
            field: Some(found.attribute),
            weight: None,
            first: first.map_or_else(String::new, |step| step.field.stored.clone()),
            marks: marks.collect(),
        })
    }

    pub(super) fn is(&self, mark: Mark) -> bool {
        self.marks.contains(&mark)
    }

    /// Refuses what the derive refuses.
    pub(super) fn check(&self) -> Result<(), String> {
        let field = || code(&self.path);
        if self.kind == Kind::Text && !self.is(Mark::MayBeText) {
            return Err(format!("{} holds no strings", field()));
        }
        if self.kind == Kind::Text && self.is(Mark::NamedLikeOption) {
            return Err(format!("{} has the name of an option", field()));
        }
        if self.kind == Kind::Sphere && !self.is(Mark::MayBePlace) {
            return Err(format!("{} is no place", field()));
        }
        if self.kind == Kind::Hashed && self.is(Mark::InList) {
            return Err(format!("{} is a list", field()));
        }
        Ok(())
    }

    /// The key in an attribute.
    pub(super) fn attribute(&self) -> Option<Attribute> {
        let mut attribute = self.field.clone()?;
        match self.kind {
            Kind::Ascending if self.is(Mark::NamedLikeOption) => attribute.push(" = asc"),
            Kind::Descending => attribute.push(" = desc"),
            Kind::Hashed => attribute.push(" = hashed"),
            Kind::Sphere => attribute.push(" = \"2dsphere\""),
            Kind::Ascending | Kind::Text | Kind::Wildcard => {}
        }
        if let Some(weight) = self.weight {
            attribute.push(&format!("(weight = {weight})"));
        }
        Some(attribute)
    }
}
