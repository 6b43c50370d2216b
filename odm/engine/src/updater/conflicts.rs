//! The tree of paths that an update acts on. Two operators on the same path are an error.

use std::collections::BTreeMap;

use odm_language::error::{Code, ServerError};
use smallvec::SmallVec;

use crate::updater::operator::{Operator, bad_value};

/// The operations at a path and below it.
#[derive(Debug)]
pub(super) enum Tree {
    Leaf(Box<dyn Operator>),
    /// The source of a `$rename`, which is removed at the end. No other operator may act on it.
    Reserved,
    Fields(Fields),
    /// `$[]` (an empty name) and `$[name]`, in the order given.
    Elements(Vec<(String, Tree)>),
}

#[derive(Debug, Default)]
pub(super) struct Fields {
    pub(super) named: Vec<(String, Tree)>,
    /// The positional `$`.
    pub(super) positional: Option<Box<Tree>>,
}

/// One part of an update path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part<'a> {
    Field(&'a str),
    Positional,
    Elements(&'a str),
}

impl<'a> Part<'a> {
    pub(super) fn new(part: &'a str) -> Self {
        if part == "$" {
            return Self::Positional;
        }
        match part
            .strip_prefix("$[")
            .and_then(|rest| rest.strip_suffix(']'))
        {
            Some(identifier) => Self::Elements(identifier),
            None => Self::Field(part),
        }
    }
}

/// Whether a path is a single name that needs no further checks.
pub(super) fn is_plain(path: &str) -> bool {
    !path.is_empty() && !path.bytes().any(|byte| matches!(byte, b'.' | b'$'))
}

/// Checks the syntax of a path.
pub(super) fn check_path(path: &str) -> Result<(), ServerError> {
    if is_plain(path) {
        return Ok(());
    }
    if path.is_empty() {
        return Err(ServerError::new(
            Code::EMPTY_FIELD_NAME,
            "An empty update path is not valid.",
        ));
    }
    if path.split('.').any(str::is_empty) {
        return Err(ServerError::new(
            Code::EMPTY_FIELD_NAME,
            format!("The update path '{path}' contains an empty field name, which is not allowed."),
        ));
    }
    let positions = path
        .split('.')
        .filter(|part| matches!(Part::new(part), Part::Positional));
    if positions.count() > 1 {
        return Err(bad_value(format!(
            "Too many positional (i.e. '$') elements found in path '{path}'"
        )));
    }
    let first = path.split('.').next().unwrap_or(path);
    match Part::new(first) {
        Part::Positional => Err(bad_value(format!(
            "Cannot have positional (i.e. '$') element in the first position in path '{path}'"
        ))),
        Part::Elements(_) => Err(bad_value(format!(
            "Cannot have array filter identifier (i.e. '$[<id>]') element in the first position in path '{path}'"
        ))),
        Part::Field(_) => Ok(()),
    }
}

/// The error for a top-level name that starts with `$`, which only an insert may create.
pub(super) fn dollar_prefixed(name: &str, path: &str) -> ServerError {
    ServerError::new(
        Code::DOLLAR_PREFIXED_FIELD_NAME,
        format!(
            "The dollar ($) prefixed field '{name}' in '{path}' is not allowed in the context of an update's replacement document. Consider using an aggregation pipeline with $replaceWith."
        ),
    )
}

impl Fields {
    /// Puts `tree` at `path`.
    pub(super) fn insert(&mut self, path: &str, tree: Tree) -> Result<(), ServerError> {
        let parts: SmallVec<[&str; 4]> = path.split('.').collect();
        self.place(path, &parts, 0, tree)
    }

    fn place(
        &mut self,
        path: &str,
        parts: &[&str],
        at: usize,
        tree: Tree,
    ) -> Result<(), ServerError> {
        let slot = match parts.get(at).map(|part| Part::new(part)) {
            Some(Part::Positional) => match &mut self.positional {
                Some(existing) => return existing.place(path, parts, at + 1, tree),
                empty => {
                    *empty = Some(Box::new(Tree::Reserved));
                    empty.as_deref_mut()
                }
            },
            Some(Part::Field(name)) => {
                if let Some((_, existing)) = self.named.iter_mut().find(|(known, _)| known == name)
                {
                    return existing.place(path, parts, at + 1, tree);
                }
                self.named.push((name.to_owned(), Tree::Reserved));
                self.named.last_mut().map(|(_, tree)| tree)
            }
            // A `Fields` node never contains array parts: `branch` creates `Elements` for them.
            Some(Part::Elements(_)) | None => return Err(conflict(path, parts, at)),
        };
        if let Some(slot) = slot {
            *slot = branch(path, parts, at + 1, tree)?;
        }
        Ok(())
    }
}

impl Tree {
    fn place(
        &mut self,
        path: &str,
        parts: &[&str],
        at: usize,
        tree: Self,
    ) -> Result<(), ServerError> {
        match (self, parts.get(at).map(|part| Part::new(part))) {
            (Self::Fields(fields), Some(Part::Field(_) | Part::Positional)) => {
                fields.place(path, parts, at, tree)
            }
            (Self::Elements(elements), Some(Part::Elements(identifier))) => {
                if let Some((_, existing)) =
                    elements.iter_mut().find(|(known, _)| known == identifier)
                {
                    return existing.place(path, parts, at + 1, tree);
                }
                let below = branch(path, parts, at + 1, tree)?;
                elements.push((identifier.to_owned(), below));
                Ok(())
            }
            _ => Err(conflict(path, parts, at)),
        }
    }
}

/// Rejects trees that turn out to act on the same element, at `path`, if they conflict in it.
pub(super) fn check_merged(trees: &[&Tree], path: &str) -> Result<(), ServerError> {
    let (mut fields, mut elements): (Named<'_>, Named<'_>) = Default::default();
    let mut positional = Vec::new();
    let (mut has_leaf, mut has_fields) = (false, false);
    let trees = trees.iter().filter(|tree| !matches!(tree, Tree::Reserved));
    if trees.clone().count() < 2 {
        return Ok(());
    }
    for tree in trees {
        match tree {
            Tree::Reserved => {}
            Tree::Leaf(_) => has_leaf = true,
            Tree::Fields(below) => {
                has_fields = true;
                for (name, tree) in &below.named {
                    fields.entry(name).or_default().push(tree);
                }
                positional.extend(below.positional.as_deref());
            }
            Tree::Elements(below) => {
                for (identifier, tree) in below {
                    elements.entry(identifier).or_default().push(tree);
                }
            }
        }
    }
    if has_leaf || has_fields && !elements.is_empty() {
        return Err(ServerError::new(
            Code::CONFLICTING_UPDATE_OPERATORS,
            format!("Update created a conflict at '{path}'"),
        ));
    }
    let fields = fields
        .into_iter()
        .map(|(name, trees)| (format!("{path}.{name}"), trees));
    let elements = elements
        .into_iter()
        .map(|(identifier, trees)| (format!("{path}.$[{identifier}]"), trees));
    for (path, trees) in fields
        .chain(elements)
        .chain([(format!("{path}.$"), positional)])
    {
        check_merged(&trees, &path)?;
    }
    Ok(())
}

type Named<'a> = BTreeMap<&'a str, Vec<&'a Tree>>;

/// Builds a chain of new nodes down to `tree`.
fn branch(path: &str, parts: &[&str], at: usize, tree: Tree) -> Result<Tree, ServerError> {
    match parts.get(at).map(|part| Part::new(part)) {
        None => Ok(tree),
        Some(Part::Elements(identifier)) => Ok(Tree::Elements(vec![(
            identifier.to_owned(),
            branch(path, parts, at + 1, tree)?,
        )])),
        Some(Part::Field(_) | Part::Positional) => {
            let mut fields = Fields::default();
            fields.place(path, parts, at, tree)?;
            Ok(Tree::Fields(fields))
        }
    }
}

fn conflict(path: &str, parts: &[&str], at: usize) -> ServerError {
    let taken = parts.get(..at).unwrap_or(parts).join(".");
    ServerError::new(
        Code::CONFLICTING_UPDATE_OPERATORS,
        format!("Updating the path '{path}' would create a conflict at '{taken}'"),
    )
}
