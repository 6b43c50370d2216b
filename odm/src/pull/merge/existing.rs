//! The structs and enums of a file, with the places of their text.

mod attributes;
mod case;
mod imports;

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use proc_macro2::Span;
use syn::spanned::Spanned;
use syn::{Fields, GenericArgument, PathArguments, Type as SynType};

pub(super) use self::attributes::{Attributes, Mark, normal};
use self::imports::Use;
use crate::error::{Error, Result};
use crate::pull::item::{Body, Field, Item, Variant};

/// The place of an item in [`Existing`].
pub(super) type Place = usize;

/// A file.
#[derive(Default)]
pub(super) struct Existing {
    items: Vec<Found>,
    /// The names of all types.
    named: HashSet<String>,
    pub(super) imported: HashSet<String>,
    uses: Vec<Use>,
    /// Where the first item starts.
    start: Option<usize>,
}

/// A struct or an enum of a file.
pub(super) struct Found {
    pub(super) name: String,
    pub(super) attributes: Attributes,
    pub(super) is_enum: bool,
    pub(super) fields: Vec<FoundField>,
    /// Where its closing brace is.
    pub(super) end: usize,
    /// The end of its last field, if no comma follows.
    pub(super) without_comma: Option<usize>,
}

/// A field of a struct, or a variant of an enum.
pub(super) struct FoundField {
    pub(super) ident: String,
    pub(super) stored: String,
    pub(super) ty: Option<SynType>,
    pub(super) attributes: Attributes,
}

impl Existing {
    pub(super) fn parse(source: &str) -> Result<Self> {
        let file: syn::File = syn::parse_str(source).map_err(|error| {
            let line = error.span().start().line;
            Error::usage(format!("line {line} is not Rust: {error}"))
        })?;
        let mut existing = Self {
            start: file.items.first().map(|item| start(item.span())),
            ..Self::default()
        };
        let mut constants = HashMap::new();
        existing.add(file.items, true, &mut constants);
        for item in &mut existing.items {
            item.attributes.resolve(&constants);
        }
        Ok(existing)
    }

    fn add(
        &mut self,
        items: Vec<syn::Item>,
        is_top: bool,
        constants: &mut HashMap<String, String>,
    ) {
        for item in items {
            match item {
                syn::Item::Struct(item) => {
                    self.named.insert(unraw(&item.ident));
                    self.items.extend(Found::of_struct(&item));
                }
                syn::Item::Enum(item) => {
                    self.named.insert(unraw(&item.ident));
                    self.items.push(Found::of_enum(&item));
                }
                syn::Item::Mod(module) => {
                    if let Some((_, items)) = module.content {
                        self.add(items, false, constants);
                    }
                }
                syn::Item::Const(item) => {
                    if let syn::Expr::Lit(literal) = &*item.expr
                        && let syn::Lit::Str(text) = &literal.lit
                    {
                        constants.insert(item.ident.to_string(), text.value());
                    }
                }
                syn::Item::Type(item) => {
                    self.named.insert(unraw(&item.ident));
                }
                syn::Item::Trait(item) => {
                    self.named.insert(unraw(&item.ident));
                }
                syn::Item::Union(item) => {
                    self.named.insert(unraw(&item.ident));
                }
                syn::Item::Use(item) => {
                    let found = Use::of(&item);
                    self.imported.extend(found.names.iter().cloned());
                    if is_top {
                        self.uses.push(found);
                    }
                }
                _ => {}
            }
        }
    }

    pub(super) fn get(&self, place: Place) -> Option<&Found> {
        self.items.get(place)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (Place, &Found)> {
        self.items.iter().enumerate()
    }

    /// The names of all types of the file.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.named.iter().map(String::as_str)
    }

    /// The item to which a field's type leads.
    pub(super) fn behind(&self, field: &FoundField) -> Option<Place> {
        let name = innermost(field.ty.as_ref()?)?;
        self.iter()
            .find(|(_, found)| found.name == name)
            .map(|(place, _)| place)
    }

    /// The stored fields of a struct, with those of the structs that are flattened into it.
    pub(super) fn stored<'e>(&'e self, found: &'e Found) -> Vec<&'e FoundField> {
        const DEEPEST: usize = 8;
        let mut all = Vec::new();
        self.collect(found, DEEPEST, &mut all);
        all
    }

    fn collect<'e>(&'e self, found: &'e Found, depth: usize, all: &mut Vec<&'e FoundField>) {
        for field in &found.fields {
            if !field.attributes.is(Mark::Flattened) {
                all.push(field);
            } else if depth > 0
                && let Some(inner) = self.behind(field).and_then(|inner| self.get(inner))
            {
                self.collect(inner, depth - 1, all);
            }
        }
    }

    /// The fields of `item` that a struct of the file does not have.
    pub(super) fn new_fields<'i>(&self, found: &Found, item: &'i Item) -> Vec<&'i Field> {
        let stored: HashSet<&str> = self
            .stored(found)
            .iter()
            .map(|field| field.stored.as_str())
            .collect();
        let flattens = found
            .fields
            .iter()
            .any(|one| one.attributes.is(Mark::Flattened));
        let fields = item.fields().iter();
        fields
            .filter(|field| {
                if field.is_rest {
                    !flattens
                } else {
                    !stored.contains(field.stored.as_str())
                }
            })
            .collect()
    }

    /// Where an import is to be inserted, and its text; `None` if the file has it.
    pub(super) fn import(&self, line: &str) -> Option<(usize, String)> {
        imports::insertion(&self.uses, self.start, line)
    }
}

impl Found {
    fn of_struct(item: &syn::ItemStruct) -> Option<Self> {
        let Fields::Named(fields) = &item.fields else {
            return None;
        };
        let attributes = Attributes::read(&item.attrs);
        let found = fields.named.iter().filter_map(|field| {
            let own = Attributes::read(&field.attrs);
            let ident = field.ident.as_ref()?;
            let plain = unraw(ident);
            let renamed = || case::field(attributes.rename_all.as_deref(), &plain);
            Some(FoundField {
                ident: ident.to_string(),
                stored: own.rename.clone().unwrap_or_else(renamed),
                ty: Some(field.ty.clone()),
                attributes: own,
            })
        });
        Some(Self {
            name: unraw(&item.ident),
            is_enum: false,
            fields: found.collect(),
            end: start(fields.brace_token.span.close()),
            without_comma: without_comma(&fields.named),
            attributes,
        })
    }

    fn of_enum(item: &syn::ItemEnum) -> Self {
        let attributes = Attributes::read(&item.attrs);
        let variants = item.variants.iter().map(|variant| {
            let own = Attributes::read(&variant.attrs);
            let plain = unraw(&variant.ident);
            let renamed = || case::variant(attributes.rename_all.as_deref(), &plain);
            FoundField {
                ident: variant.ident.to_string(),
                stored: own.rename.clone().unwrap_or_else(renamed),
                ty: None,
                attributes: own,
            }
        });
        Self {
            name: unraw(&item.ident),
            is_enum: true,
            fields: variants.collect(),
            end: start(item.brace_token.span.close()),
            without_comma: without_comma(&item.variants),
            attributes,
        }
    }

    /// The variants of `item` that an enum of the file does not have.
    pub(super) fn new_variants<'i>(&self, item: &'i Item) -> Vec<&'i Variant> {
        let Body::Enum(variants) = &item.body else {
            return Vec::new();
        };
        let is_new = |variant: &&Variant| {
            let aliases = |one: &FoundField| one.attributes.aliases.contains(&variant.stored);
            let mut fields = self.fields.iter();
            !fields.any(|one| one.stored == variant.stored || aliases(one))
        };
        // An enum with a variant for other strings has them all.
        if self.fields.iter().any(|one| one.attributes.is(Mark::Other)) {
            return Vec::new();
        }
        variants.iter().filter(is_new).collect()
    }

    /// The names of the fields or variants.
    pub(super) fn idents(&self) -> HashSet<String> {
        self.fields
            .iter()
            .map(|field| field.ident.clone())
            .collect()
    }

    /// The range that the text of new fields or variants is to replace, and the text with the indentation of the item.
    pub(super) fn insertion(&self, source: &str, text: &str) -> (Range<usize>, String) {
        let before = source.get(..self.end).unwrap_or_default();
        let line = before.rfind('\n').map_or(0, |newline| newline + 1);
        let indent = before.get(line..).unwrap_or_default();
        if indent.chars().all(char::is_whitespace) {
            return (line..line, indented(text, indent));
        }
        // The closing brace follows something on its line.
        let indent: String = indent
            .chars()
            .take_while(|one| one.is_whitespace())
            .collect();
        let text = format!("\n{}{indent}", indented(text, &indent));
        (before.trim_end().len()..self.end, text)
    }
}

fn indented(text: &str, indent: &str) -> String {
    if indent.is_empty() {
        return text.to_owned();
    }
    let lines = text.lines().map(|line| format!("{indent}{line}\n"));
    lines.collect()
}

fn without_comma<T: Spanned>(
    list: &syn::punctuated::Punctuated<T, syn::Token![,]>,
) -> Option<usize> {
    let last = list.last().filter(|_| !list.trailing_punct())?;
    Some(last.span().byte_range().end)
}

fn start(span: Span) -> usize {
    span.byte_range().start
}

/// A name without `r#`.
pub(super) fn unraw(ident: &syn::Ident) -> String {
    let name = ident.to_string();
    name.strip_prefix("r#").unwrap_or(&name).to_owned()
}

/// The name of the type inside `Option`, `Vec` and the like.
fn innermost(ty: &SynType) -> Option<String> {
    let SynType::Path(path) = ty else {
        return None;
    };
    let last = path.path.segments.last()?;
    let name = unraw(&last.ident);
    let wrappers = [
        "Option", "Vec", "VecDeque", "Box", "Arc", "Rc", "BTreeMap", "HashMap",
    ];
    match &last.arguments {
        PathArguments::AngleBracketed(arguments) if wrappers.contains(&name.as_str()) => {
            let types = arguments.args.iter().filter_map(|argument| match argument {
                GenericArgument::Type(ty) => Some(ty),
                _ => None,
            });
            // Of a map, the values.
            let position = usize::from(name.ends_with("Map"));
            innermost(types.clone().nth(position)?)
        }
        _ => Some(name),
    }
}
