//! Where a file and the data disagree.

use syn::{GenericArgument, PathArguments, Type as SynType};

use super::Note;
use super::existing::{Existing, Found, FoundField, Mark, normal};
use super::matching::Matches;
use crate::pull::item::{ANY, Field, Item, Type};
use crate::pull::literal::code;
use crate::pull::write::Spelling;

/// All notes.
pub(super) fn find(
    items: &[Item],
    listed: &[String],
    existing: &Existing,
    matches: &Matches,
    spelling: &Spelling<'_>,
) -> Vec<Note> {
    let mut notes = Vec::new();
    for (_, found) in existing.iter() {
        if let Some(collection) = &found.attributes.collection
            && !listed.contains(collection)
        {
            notes.push(Note {
                subject: found.name.clone(),
                message: format!("the collection {} does not exist", code(collection)),
            });
        }
    }
    for (item, place) in matches.iter() {
        let (Some(item), Some(found)) = (items.get(item), existing.get(place)) else {
            continue;
        };
        if !found.is_enum {
            fields(item, found, existing, &mut notes);
            attributes(item, found, spelling, &mut notes);
        }
    }
    notes
}

fn fields(item: &Item, found: &Found, existing: &Existing, notes: &mut Vec<Note>) {
    for own in existing.stored(found) {
        let subject = || format!("{}.{}", found.name, own.ident);
        if own.attributes.is(Mark::Skipped) || item.left_out.contains(&own.stored) {
            continue;
        }
        let Some(field) = item.fields().iter().find(|one| one.stored == own.stored) else {
            if !item.is_empty {
                notes.push(Note {
                    subject: subject(),
                    message: "no document that was read has it".to_owned(),
                });
            }
            continue;
        };
        if reads(own, field) == Some(false) {
            let found = field.docs.first().map_or("", String::as_str);
            notes.push(Note {
                subject: subject(),
                message: format!(
                    "its type does not read all documents: {}",
                    found.trim_end_matches('.')
                ),
            });
        }
    }
}

/// Whether the declared type reads what was found, as far as that is known.
fn reads(own: &FoundField, field: &Field) -> Option<bool> {
    if own.attributes.is(Mark::OwnWay) {
        return None;
    }
    accepts(own.ty.as_ref()?, &field.ty)
}

fn accepts(own: &SynType, found: &Type) -> Option<bool> {
    let SynType::Path(path) = own else {
        return None;
    };
    let last = path.path.segments.last()?;
    let name = last.ident.to_string();
    let argument = match &last.arguments {
        PathArguments::AngleBracketed(arguments) => {
            arguments.args.iter().find_map(|one| match one {
                GenericArgument::Type(ty) => Some(ty),
                _ => None,
            })
        }
        _ => None,
    };
    match (name.as_str(), argument, found) {
        ("Bson", None, _) => Some(true),
        ("Box", Some(own), found) => accepts(own, found),
        (_, _, Type::Boxed(found)) => accepts(own, found),
        ("Option", Some(own), Type::Option(found)) => match &**found {
            Type::Option(found) => accepts(own, found),
            found => accepts(own, found),
        },
        ("Option", Some(own), found) => accepts(own, found),
        (_, _, Type::Option(found)) => {
            // An alias may be that of an `Option`.
            accepts(own, found).map(|_| false)
        }
        ("Vec", Some(own), Type::Vec(found)) => accepts(own, found),
        ("Vec", Some(_), _) => Some(false),
        (name, None, found) => {
            let known: &[&str] = match name {
                "String" => &["String"],
                "bool" => &["bool"],
                "i32" => &["i32"],
                "i64" => &["i32", "i64"],
                "f64" => &["i32", "i64", "f64"],
                "DateTime" => &["DateTime"],
                "ObjectId" => &["ObjectId"],
                _ => return None,
            };
            match found {
                Type::Plain("ByteCount") => None,
                Type::Plain(plain) => Some(known.contains(plain)),
                Type::Vec(_) | Type::Map(_) => Some(false),
                found if *found == ANY => Some(false),
                _ => None,
            }
        }
        _ => None,
    }
}

/// Definitions of the collection that the struct does not declare.
fn attributes(item: &Item, found: &Found, spelling: &Spelling<'_>, notes: &mut Vec<Note>) {
    for attribute in &item.attributes {
        let wanted = spelling.attribute(attribute);
        let is_declared =
            found.attributes.odm.contains(&normal(&wanted)) || found.declares_on_field(&wanted);
        if !is_declared {
            notes.push(Note {
                subject: found.name.clone(),
                message: format!("it does not declare what the collection has: `{wanted}`"),
            });
        }
    }
}

impl Found {
    /// Whether a field has the attribute that the struct could have: `#[odm(unique)]` for `unique(title)`.
    fn declares_on_field(&self, wanted: &str) -> bool {
        let Some((word, field)) = wanted.split_once('(') else {
            return false;
        };
        let Some(field) = field.strip_suffix(')') else {
            return false;
        };
        let mut fields = self.fields.iter();
        fields.any(|one| {
            one.ident == field && one.attributes.odm.iter().any(|own| own.as_str() == word)
        })
    }
}
