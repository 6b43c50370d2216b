//! Rust source from items, formatted as rustfmt does.

use std::collections::{BTreeSet, HashSet};
use std::fmt::Write as _;

use super::item::{Attribute, Body, Field, Item, Piece, Type, Variant};
use super::literal::{comment, string};
use super::names;

/// The longest line of code.
const WIDTH: usize = 100;

/// The longest content of an attribute on one line.
const ATTRIBUTE_WIDTH: usize = 70;

/// Gives each item a name of its own. `taken` are names that other types have.
pub(super) fn name_items(items: &[Item], taken: &HashSet<String>) -> Vec<String> {
    let mut used = taken.clone();
    let mut all = Vec::new();
    for item in items {
        let is_taken = |name: &str| names::is_reserved_type(name) || collides(name, &used);
        let wanted = if is_taken(&item.name) {
            &item.long_name
        } else {
            &item.name
        };
        let name = names::apart(wanted, is_taken);
        used.insert(name.clone());
        all.push(name);
    }
    all
}

/// Whether a type has the name, or the derives make a type of it: `BookFields` and `BookJoined` beside `Book`.
fn collides(name: &str, used: &HashSet<String>) -> bool {
    const MADE: [&str; 2] = ["Fields", "Joined"];
    let is_made = MADE.iter().any(|ending| {
        name.strip_suffix(ending)
            .is_some_and(|stem| used.contains(stem))
    });
    let makes = MADE
        .iter()
        .any(|ending| used.contains(&format!("{name}{ending}")));
    used.contains(name) || is_made || makes
}

/// The names of items, and of fields of models that a file has already.
pub(super) struct Spelling<'a> {
    pub(super) items: &'a [Item],
    pub(super) names: &'a [String],
}

impl Spelling<'_> {
    pub(super) fn name(&self, item: usize) -> String {
        self.names.get(item).cloned().unwrap_or_default()
    }

    pub(super) fn ty(&self, ty: &Type) -> String {
        ty.spelled(&|item| self.name(item))
    }

    /// A struct or an enum.
    pub(super) fn item(&self, item: usize) -> String {
        let Some(written) = self.items.get(item) else {
            return String::new();
        };
        let mut text = String::new();
        docs(&mut text, "", &written.docs);
        for line in &written.comments {
            let _ = writeln!(text, "// {}", comment(line));
        }
        text.push_str(derives(written));
        if let Some(collection) = &written.collection {
            attribute(
                &mut text,
                "",
                "odm",
                &format!("collection = {}", string(collection)),
            );
        }
        for one in &written.attributes {
            attribute(&mut text, "", "odm", &self.attribute(one));
        }
        let name = self.name(item);
        match &written.body {
            Body::Struct(fields) => {
                let _ = writeln!(text, "pub struct {name} {{");
                for field in fields {
                    text.push_str(&self.field(field));
                }
            }
            Body::Enum(variants) => {
                let _ = writeln!(text, "pub enum {name} {{");
                for one in variants {
                    text.push_str(&variant(one));
                }
            }
        }
        text.push_str("}\n");
        text
    }

    /// The content of an attribute.
    pub(super) fn attribute(&self, attribute: &Attribute) -> String {
        let pieces = attribute.0.iter().map(|piece| match piece {
            Piece::Text(text) => text.clone(),
            Piece::Field(item, stored) => {
                let fields = self.items.get(*item).map_or(&[][..], Item::fields);
                let field = fields.iter().find(|field| field.stored == *stored);
                field.map_or_else(|| names::field(stored), |field| field.ident.clone())
            }
        });
        pieces.collect()
    }

    /// A field, with its documentation and attributes.
    pub(super) fn field(&self, field: &Field) -> String {
        const INDENT: &str = "    ";
        let mut text = String::new();
        docs(&mut text, INDENT, &field.docs);
        for line in &field.comments {
            let _ = writeln!(text, "{INDENT}// {}", comment(line));
        }
        let plain = field.ident.strip_prefix("r#").unwrap_or(&field.ident);
        if !field.is_rest && plain != field.stored {
            let rename = format!("rename = {}", string(&field.stored));
            attribute(&mut text, INDENT, "serde", &rename);
        }
        for one in &field.serde {
            attribute(&mut text, INDENT, "serde", one);
        }
        for one in &field.odm {
            attribute(&mut text, INDENT, "odm", one);
        }
        let ty = self.ty(&field.ty);
        let line = format!("{INDENT}pub {}: {ty},", field.ident);
        if line.len() > WIDTH {
            let _ = writeln!(text, "{INDENT}pub {}:\n{INDENT}{INDENT}{ty},", field.ident);
        } else {
            let _ = writeln!(text, "{line}");
        }
        text
    }
}

/// A variant of an enum.
pub(super) fn variant(variant: &Variant) -> String {
    const INDENT: &str = "    ";
    let mut text = String::new();
    docs(&mut text, INDENT, &variant.docs);
    if variant.ident != variant.stored {
        let rename = format!("rename = {}", string(&variant.stored));
        attribute(&mut text, INDENT, "serde", &rename);
    }
    let _ = writeln!(text, "{INDENT}{},", variant.ident);
    text
}

fn derives(item: &Item) -> &'static str {
    match (&item.body, &item.collection) {
        (Body::Enum(_), _) => {
            "#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, Embedded)]\n"
        }
        (Body::Struct(_), Some(_)) => {
            "#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]\n"
        }
        (Body::Struct(_), None) => {
            "#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]\n"
        }
    }
}

fn docs(text: &mut String, indent: &str, lines: &[String]) {
    for line in lines {
        let _ = writeln!(text, "{indent}/// {}", comment(line));
    }
}

fn attribute(text: &mut String, indent: &str, name: &str, content: &str) {
    if content.chars().count() <= ATTRIBUTE_WIDTH || !is_meta(content) {
        let _ = writeln!(text, "{indent}#[{name}({content})]");
    } else if let Some((word, arguments)) = list(content) {
        let arguments = arguments.join(&format!(",\n{indent}    "));
        let _ = writeln!(
            text,
            "{indent}#[{name}({word}(\n{indent}    {arguments}\n{indent}))]"
        );
    } else {
        let _ = writeln!(text, "{indent}#[{name}(\n{indent}    {content}\n{indent})]");
    }
}

/// Whether rustfmt reads the content of an attribute, and formats it; it leaves closures and names of kinds as they are.
fn is_meta(content: &str) -> bool {
    syn::parse_str::<syn::Meta>(content).is_ok_and(|meta| are_meta(&meta))
}

fn are_meta(meta: &syn::Meta) -> bool {
    match meta {
        syn::Meta::Path(path) => path.get_ident().is_some(),
        syn::Meta::NameValue(pair) => matches!(pair.value, syn::Expr::Lit(_)),
        syn::Meta::List(list) => {
            let arguments = list.parse_args_with(Arguments::parse_terminated);
            arguments.is_ok_and(|arguments| {
                let mut metas = arguments.iter().filter_map(|one| one.0.as_ref());
                metas.all(are_meta)
            })
        }
    }
}

type Arguments = syn::punctuated::Punctuated<Argument, syn::Token![,]>;

/// An argument of an attribute; a literal without the value.
struct Argument(Option<syn::Meta>);

impl syn::parse::Parse for Argument {
    fn parse(input: syn::parse::ParseStream<'_>) -> syn::Result<Self> {
        if input.peek(syn::Lit) {
            return input.parse::<syn::Lit>().map(|_| Self(None));
        }
        input.parse().map(|meta| Self(Some(meta)))
    }
}

/// The word and the arguments of `word(…)`.
fn list(content: &str) -> Option<(&str, Vec<&str>)> {
    let (word, arguments) = content.strip_suffix(')')?.split_once('(')?;
    let mut parts = Vec::new();
    let (mut start, mut depth, mut is_text, mut is_escaped) = (0, 0_usize, false, false);
    for (place, character) in arguments.char_indices() {
        match character {
            _ if is_escaped => is_escaped = false,
            '\\' if is_text => is_escaped = true,
            '"' => is_text = !is_text,
            _ if is_text => {}
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                parts.push(arguments.get(start..place)?.trim());
                start = place + 1;
            }
            _ => {}
        }
    }
    parts.push(arguments.get(start..)?.trim());
    Some((word, parts))
}

/// The lines that import what the items name.
pub(super) fn imports(items: &[Item], written: impl Fn(usize) -> bool) -> BTreeSet<&'static str> {
    let mut lines = BTreeSet::new();
    for (_, item) in items
        .iter()
        .enumerate()
        .filter(|(place, _)| written(*place))
    {
        lines.insert("use odm::prelude::*;");
        for field in item.fields() {
            lines.extend(imports_of(&field.ty));
        }
    }
    lines
}

/// The lines that import what a type names.
pub(super) fn imports_of(ty: &Type) -> Vec<&'static str> {
    let mut lines = Vec::new();
    if has_map(ty) {
        lines.push("use std::collections::BTreeMap;");
    }
    match ty.innermost() {
        Type::DbRef(_) => lines.push("use odm::dbref::DbRef;"),
        Type::Plain("ByteCount") => lines.push("use odm::gridfs::ByteCount;"),
        Type::Plain("AnyDbRef") => lines.push("use odm::dbref::AnyDbRef;"),
        Type::Plain(name) if name.starts_with("bson::") => lines.push("use odm::bson;"),
        Type::Plain(name) if name.starts_with("geo::") => lines.push("use odm::geo;"),
        _ => {}
    }
    lines
}

fn has_map(ty: &Type) -> bool {
    match ty {
        Type::Map(_) => true,
        Type::Option(inner) | Type::Vec(inner) | Type::Boxed(inner) => has_map(inner),
        _ => false,
    }
}
