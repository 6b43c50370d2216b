//! Describes the effect of update operators on a document, path by path.

use std::borrow::Cow;

use bson::raw::{RawArray, RawBsonRef, RawDocument};
use odm_language::error::ServerError;
use odm_language::value::path::padded_index;
use odm_language::value::raw;

use crate::updater::conflicts::{Fields, Tree};
use crate::updater::delta::{self, Delta};
use crate::updater::node::{Node, identical};
use crate::updater::walk::Walk;

/// Returns the changes of the fields that the trees name.
pub(super) fn document<'d>(
    walk: &Walk<'_>,
    fields: &[&Fields],
    before: &'d RawDocument,
    after: &'d RawDocument,
) -> Result<delta::Fields<'d>, ServerError> {
    let mut changes = delta::Fields::default();
    for (name, trees) in walk.children(fields)? {
        let name: Cow<'_, str> = name;
        match (raw::get(before, &name), raw::get(after, &name)) {
            (None, None) => {}
            (Some(_), None) => changes.remove(name.into_owned()),
            (None, Some(value)) => changes.insert(name.into_owned(), value),
            (Some(was), Some(is)) if is_untouched(&trees, was, is) => {}
            (Some(was), Some(is)) => {
                changes.change(name.into_owned(), value(walk, &trees, was, is)?);
            }
        }
    }
    Ok(changes)
}

/// Whether mongod would not log the value.
fn is_untouched(trees: &[&Tree], before: RawBsonRef<'_>, after: RawBsonRef<'_>) -> bool {
    identical(before, after) && !trees.iter().any(|tree| remakes(tree))
}

fn remakes(tree: &Tree) -> bool {
    match tree {
        Tree::Leaf(leaf) => leaf.remakes(),
        Tree::Fields(below) => below.named.iter().any(|(_, tree)| remakes(tree)),
        Tree::Reserved | Tree::Elements(_) => false,
    }
}

fn value<'d>(
    walk: &Walk<'_>,
    trees: &[&Tree],
    before: RawBsonRef<'d>,
    after: RawBsonRef<'d>,
) -> Result<Delta<'d>, ServerError> {
    let mut fields = Vec::new();
    let mut elements = Vec::new();
    for tree in trees {
        match tree {
            Tree::Reserved => {}
            Tree::Leaf(behaviour) => {
                let (RawBsonRef::Array(before), RawBsonRef::Array(after)) = (before, after) else {
                    return Ok(Delta::Whole(after));
                };
                let (was, is) = (raw::values(before).count(), raw::values(after).count());
                if was == 0 || !behaviour.appends(was, is) {
                    return Ok(Delta::Whole(RawBsonRef::Array(after)));
                }
                let mut changes = delta::Elements::default();
                for (index, value) in raw::values(after).enumerate().skip(was) {
                    changes.change(index, Delta::Whole(value));
                }
                return Ok(Delta::Elements(changes));
            }
            Tree::Fields(below) => fields.push(below),
            Tree::Elements(below) => elements.extend(below),
        }
    }
    match (before, after) {
        (RawBsonRef::Document(before), RawBsonRef::Document(after)) => {
            document(walk, &fields, before, after).map(Delta::Fields)
        }
        (RawBsonRef::Array(before), RawBsonRef::Array(after)) if elements.is_empty() => {
            indexed(walk, &fields, before, after)
        }
        (RawBsonRef::Array(before), RawBsonRef::Array(after)) => {
            matched(walk, &elements, before, after)
        }
        _ => Ok(Delta::Whole(after)),
    }
}

/// Describes elements that paths name by their index.
fn indexed<'d>(
    walk: &Walk<'_>,
    fields: &[&Fields],
    before: &'d RawArray,
    after: &'d RawArray,
) -> Result<Delta<'d>, ServerError> {
    let mut changes = delta::Elements::default();
    for (name, trees) in walk.children(fields)? {
        let Some(index) = padded_index(&name) else {
            continue;
        };
        let at = |array: &'d RawArray| raw::values(array).nth(index);
        match (at(before), at(after)) {
            (_, None) => {}
            (None, Some(is)) => changes.change(index, Delta::Whole(is)),
            (Some(was), Some(is)) if is_untouched(&trees, was, is) => {}
            (Some(was), Some(is)) => changes.change(index, value(walk, &trees, was, is)?),
        }
    }
    Ok(Delta::Elements(changes))
}

/// Describes elements that array filters selected. For one selected element, mongod logs the changes inside it; for
/// several, the only changed element, or otherwise the whole array.
fn matched<'d>(
    walk: &Walk<'_>,
    elements: &[&(String, Tree)],
    before: &'d RawArray,
    after: &'d RawArray,
) -> Result<Delta<'d>, ServerError> {
    let mut chosen = Vec::new();
    for (index, (was, is)) in raw::values(before).zip(raw::values(after)).enumerate() {
        let mut trees = Vec::new();
        let node = Node::Raw(was);
        for (identifier, tree) in elements {
            if walk.filters.matches(identifier, &node)? {
                trees.push(tree);
            }
        }
        if !trees.is_empty() {
            chosen.push((index, was, is, trees));
        }
    }
    let mut changes = delta::Elements::default();
    if let [(index, was, is, trees)] = chosen.as_slice() {
        changes.change(*index, value(walk, trees, *was, *is)?);
        return Ok(Delta::Elements(changes));
    }
    let mut changed = chosen
        .iter()
        .filter(|(_, was, is, _)| !identical(*was, *is));
    match (changed.next(), changed.next()) {
        (Some((index, _, is, _)), None) => {
            changes.change(*index, Delta::Whole(*is));
            Ok(Delta::Elements(changes))
        }
        _ => Ok(Delta::Whole(RawBsonRef::Array(after))),
    }
}
