//! The attributes of serde and odm, as far as merging needs them.

use std::collections::HashMap;

use proc_macro2::{TokenStream, TokenTree};
use syn::punctuated::Punctuated;
use syn::{Attribute, Expr, ExprLit, Lit, Meta, Token};

/// The attributes of an item or a field, parsed.
#[derive(Debug, Default)]
pub(in crate::pull::merge) struct Attributes {
    pub(in crate::pull::merge) rename: Option<String>,
    pub(in crate::pull::merge) rename_all: Option<String>,
    pub(in crate::pull::merge) aliases: Vec<String>,
    marks: Vec<Mark>,
    pub(in crate::pull::merge) collection: Option<String>,
    constant: Option<String>,
    /// The contents of `#[odm(…)]`, split at commas, without white space.
    pub(in crate::pull::merge) odm: Vec<String>,
}

/// A property of a field or variant that an attribute of serde sets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::pull::merge) enum Mark {
    Flattened,
    Skipped,
    /// A missing value is read as a default one, or by a module.
    OwnWay,
    /// A variant takes all other strings.
    Other,
}

impl Attributes {
    pub(in crate::pull::merge) fn is(&self, mark: Mark) -> bool {
        self.marks.contains(&mark)
    }

    pub(super) fn read(attributes: &[Attribute]) -> Self {
        let mut read = Self::default();
        for attribute in attributes {
            let Meta::List(list) = &attribute.meta else {
                continue;
            };
            if list.path.is_ident("serde") {
                let parsed = list.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated);
                for meta in parsed.into_iter().flatten() {
                    read.serde(&meta);
                }
            } else if list.path.is_ident("odm") {
                read.odm(list.tokens.clone());
            }
        }
        read
    }

    fn serde(&mut self, meta: &Meta) {
        let Some(word) = meta.path().get_ident().map(ToString::to_string) else {
            return;
        };
        match word.as_str() {
            "rename" => self.rename = text(meta),
            "rename_all" => self.rename_all = text(meta),
            "alias" => self.aliases.extend(text(meta)),
            "flatten" => self.marks.push(Mark::Flattened),
            "skip" => self.marks.push(Mark::Skipped),
            "default" | "with" | "deserialize_with" => self.marks.push(Mark::OwnWay),
            "other" => self.marks.push(Mark::Other),
            _ => {}
        }
    }

    fn odm(&mut self, tokens: TokenStream) {
        let mut parts: Vec<Vec<TokenTree>> = vec![Vec::new()];
        for token in tokens {
            match &token {
                TokenTree::Punct(punct) if punct.as_char() == ',' => parts.push(Vec::new()),
                _ => {
                    if let Some(part) = parts.last_mut() {
                        part.push(token);
                    }
                }
            }
        }
        for part in parts.into_iter().filter(|part| !part.is_empty()) {
            if let [TokenTree::Ident(word), TokenTree::Punct(_), value] = part.as_slice()
                && word == "collection"
            {
                match value {
                    TokenTree::Literal(literal) => {
                        let literal: Result<Lit, _> = syn::parse_str(&literal.to_string());
                        if let Ok(Lit::Str(name)) = literal {
                            self.collection = Some(name.value());
                        }
                    }
                    TokenTree::Ident(constant) => self.constant = Some(constant.to_string()),
                    _ => {}
                }
            }
            let tokens: TokenStream = part.into_iter().collect();
            self.odm.push(normal(&tokens.to_string()));
        }
    }

    /// Replaces a constant by the collection that it names.
    pub(super) fn resolve(&mut self, constants: &HashMap<String, String>) {
        if let Some(constant) = &self.constant {
            self.collection = constants.get(constant).cloned();
        }
    }
}

/// The content of an attribute without white space, for comparison.
pub(in crate::pull::merge) fn normal(tokens: &str) -> String {
    let spelled: Result<TokenStream, _> = tokens.parse();
    let text = spelled.map_or_else(|_| tokens.to_owned(), |tokens| tokens.to_string());
    let text: String = text.chars().filter(|one| !one.is_whitespace()).collect();
    // `index(title = asc)` is `index(title)`.
    text.replace("=asc", "")
}

fn text(meta: &Meta) -> Option<String> {
    let Meta::NameValue(pair) = meta else {
        return None;
    };
    match &pair.value {
        Expr::Lit(ExprLit {
            lit: Lit::Str(text),
            ..
        }) => Some(text.value()),
        _ => None,
    }
}
