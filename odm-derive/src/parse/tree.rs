//! Trees: `tree(materialized_path, path = path, order = rank)`.

use proc_macro2::Span;
use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::{Ident, Token};

use super::{comma_separated_by, inner, number, once, quoted_by_name, unknown};
use crate::attribute_names as names;

/// How a tree is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pattern {
    ParentReferences,
    ChildReferences,
    ArrayOfAncestors,
    MaterializedPath,
    NestedSets,
}

quoted_by_name!(Pattern);

/// What a tree keeps in a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    Parent,
    Children,
    Ancestors,
    Path,
    Left,
    Right,
    Depth,
    Order,
    ChildCount,
    DescendantCount,
}

impl Role {
    /// The word that names the field.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Parent => names::PARENT,
            Self::Children | Self::ChildCount => names::CHILDREN,
            Self::Ancestors => names::ANCESTORS,
            Self::Path => names::PATH,
            Self::Left => names::LEFT,
            Self::Right => names::RIGHT,
            Self::Depth => names::DEPTH,
            Self::Order => names::ORDER,
            Self::DescendantCount => names::DESCENDANTS,
        }
    }

    /// The type of the field, without the model that some types name.
    pub(crate) fn type_name(self) -> &'static str {
        match self {
            Self::Parent => "Parent",
            Self::Children => "Children",
            Self::Ancestors => "Ancestors",
            Self::Path => "Materialized",
            Self::Left => "Left",
            Self::Right => "Right",
            Self::Depth => "Depth",
            Self::Order => "Rank",
            Self::ChildCount | Self::DescendantCount => "NodeCount",
        }
    }

    /// Whether the type names the model.
    pub(crate) fn names_model(self) -> bool {
        matches!(
            self,
            Self::Parent | Self::Children | Self::Ancestors | Self::Path
        )
    }
}

impl Pattern {
    /// What the pattern stores.
    pub(crate) fn roles(self) -> &'static [Role] {
        match self {
            Self::ParentReferences => &[Role::Parent],
            Self::ChildReferences => &[Role::Children],
            Self::ArrayOfAncestors => &[Role::Ancestors],
            Self::MaterializedPath => &[Role::Path],
            Self::NestedSets => &[Role::Left, Role::Right],
        }
    }
}

/// A declared tree.
pub(crate) struct Tree {
    pub(crate) word: Ident,
    /// The word of the pattern.
    pub(crate) pattern_word: Ident,
    pub(crate) pattern: Pattern,
    /// The fields that are named, each with its role.
    pub(crate) fields: Vec<(Role, Ident)>,
    pub(crate) scope: Option<Ident>,
    pub(crate) max_depth: Option<(u32, Span)>,
    pub(crate) max_children: Option<(u32, Span)>,
    pub(crate) on_delete: Option<Ident>,
    /// The fields in which siblings differ.
    pub(crate) unique: Vec<Ident>,
    pub(crate) name: Option<Ident>,
    pub(crate) graph: Option<Ident>,
}

/// Reads what follows `tree`.
pub(crate) fn tree(word: &Ident, input: ParseStream<'_>) -> syn::Result<Tree> {
    let usage = names::usage(names::TREE).unwrap_or_default();
    let refused = || syn::Error::new_spanned(word, format!("`{word}` is written {usage}"));
    if !input.peek(syn::token::Paren) {
        return Err(refused());
    }
    let content;
    syn::parenthesized!(content in input);
    if content.is_empty() {
        return Err(refused());
    }
    let pattern_word = content.call(Ident::parse_any)?;
    let mut tree = Tree {
        word: word.clone(),
        pattern: pattern(&pattern_word)?,
        pattern_word,
        fields: Vec::new(),
        scope: None,
        max_depth: None,
        max_children: None,
        on_delete: None,
        unique: Vec::new(),
        name: None,
        graph: None,
    };
    if !content.is_empty() {
        content.parse::<Token![,]>()?;
    }
    comma_separated_by(names::tree_usage, &content, |word, input| {
        tree.option(word, input)
    })?;
    Ok(tree)
}

fn pattern(word: &Ident) -> syn::Result<Pattern> {
    Ok(match word.unraw().to_string().as_str() {
        "parent_references" => Pattern::ParentReferences,
        "child_references" => Pattern::ChildReferences,
        "array_of_ancestors" => Pattern::ArrayOfAncestors,
        "materialized_path" => Pattern::MaterializedPath,
        "nested_sets" => Pattern::NestedSets,
        _ => return Err(unknown(word, "tree pattern", names::TREE_PATTERNS)),
    })
}

impl Tree {
    fn option(&mut self, word: &Ident, input: ParseStream<'_>) -> syn::Result<()> {
        let role = match word.unraw().to_string().as_str() {
            names::PARENT => Role::Parent,
            names::CHILDREN => Role::Children,
            names::ANCESTORS => Role::Ancestors,
            names::PATH => Role::Path,
            names::LEFT => Role::Left,
            names::RIGHT => Role::Right,
            names::DEPTH => Role::Depth,
            names::ORDER => Role::Order,
            names::COUNT => {
                let before = self.fields.len();
                inner(input, |word, input| {
                    let role = match word.unraw().to_string().as_str() {
                        names::CHILDREN => Role::ChildCount,
                        names::DESCENDANTS => Role::DescendantCount,
                        _ => return Err(unknown(word, "word of `count`", names::TREE_COUNTS)),
                    };
                    self.keep(role, word, ident(input)?)
                })?;
                if self.fields.len() == before {
                    return Err(nothing_named(word));
                }
                return Ok(());
            }
            names::SCOPE => return once(&mut self.scope, word, ident(input)?),
            names::MAX_DEPTH => return once(&mut self.max_depth, word, number(input)?),
            names::MAX_CHILDREN => return once(&mut self.max_children, word, number(input)?),
            names::ON_DELETE => {
                let policy = ident(input)?;
                let text = policy.unraw().to_string();
                if !names::TREE_DELETES.contains(&text.as_str()) {
                    return Err(unknown(&policy, "delete policy", names::TREE_DELETES));
                }
                return once(&mut self.on_delete, word, policy);
            }
            names::NAME => return once(&mut self.name, word, ident(input)?),
            names::GRAPH => return once(&mut self.graph, word, word.clone()),
            names::UNIQUE_AMONG_SIBLINGS => {
                let mut before = self.unique.first();
                once(&mut before, word, word)?;
                let content;
                syn::parenthesized!(content in input);
                while !content.is_empty() {
                    self.unique.push(content.call(Ident::parse_any)?);
                    if !content.is_empty() {
                        content.parse::<Token![,]>()?;
                    }
                }
                if self.unique.is_empty() {
                    return Err(nothing_named(word));
                }
                return Ok(());
            }
            _ => return Err(unknown(word, "word of `tree`", names::TREES)),
        };
        self.keep(role, word, ident(input)?)
    }

    fn keep(&mut self, role: Role, word: &Ident, field: Ident) -> syn::Result<()> {
        let before = self.fields.iter().find(|(other, _)| *other == role);
        once(&mut before.map(|_| ()), word, ())?;
        self.fields.push((role, field));
        Ok(())
    }
}

/// The error for parentheses that name no field.
fn nothing_named(word: &Ident) -> syn::Error {
    let usage = names::tree_usage(&word.unraw().to_string()).unwrap_or_default();
    syn::Error::new_spanned(word, format!("`{word}` names no field; write {usage}"))
}

/// The name after `=`.
fn ident(input: ParseStream<'_>) -> syn::Result<Ident> {
    input.parse::<Token![=]>()?;
    input.call(Ident::parse_any)
}
