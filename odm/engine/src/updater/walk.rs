//! Walks an update's tree of paths over a document: creates missing fields, enters arrays, resolves `$` and `$[…]`.

use std::borrow::Cow;
use std::cmp::Ordering;

use bson::raw::RawBsonRef;
use odm_language::error::{Code, ServerError};
use odm_language::value::path::padded_index;
use odm_language::value::print;
use smallvec::SmallVec;

use crate::updater::array_filters::ArrayFilters;
use crate::updater::conflicts::{Fields, Tree, check_merged, dollar_prefixed};
use crate::updater::immutable::{check_reference, grown, immutable_id, is_of_id, is_of_reference};
use crate::updater::limits::array_id;
use crate::updater::node::Node;
use crate::updater::operator::{BlockedPath, Effect, OperatorContext, bad_value};

/// The most nulls to insert before an element that is set past the end of an array.
const MAX_BACKFILL: usize = 1_500_000;

/// The operations on the fields of a document, by name.
type Children<'a> = SmallVec<[(Cow<'a, str>, SmallVec<[&'a Tree; 1]>); 1]>;

/// One walk over one document.
pub(super) struct Walk<'w> {
    pub(super) matched_index: Option<usize>,
    pub(super) filters: &'w ArrayFilters,
    /// Whether the document has an `_id`, which is then immutable.
    pub(super) has_id: bool,
    /// Whether the visited value is being created.
    pub(super) anew: bool,
}

impl Walk<'_> {
    /// Applies `fields` to a document's fields. Returns whether anything changed.
    pub(super) fn document<'a>(
        &self,
        fields: &[&'a Fields],
        document: &mut Vec<(Cow<'a, str>, Node<'a>)>,
        at: &mut OperatorContext<'_>,
    ) -> Result<bool, ServerError> {
        let mut modified = false;
        for (name, trees) in self.merged(fields, &at.path)? {
            let index = document.iter().position(|(key, _)| *key == name);
            let current = index
                .and_then(|index| document.get_mut(index))
                .map(|(_, node)| node);
            let change = self.step(&name, &trees, current, at)?;
            modified |= !matches!(change, Effect::Nothing | Effect::Resorted);
            match change {
                Effect::Nothing | Effect::Resorted => continue,
                Effect::Edited => {}
                Effect::Remove => {
                    index.map(|index| document.remove(index));
                    continue;
                }
                Effect::Put(node) => match index.and_then(|index| document.get_mut(index)) {
                    Some((_, slot)) => *slot = node,
                    None => document.push((name, node)),
                },
            }
            if index.is_none() && is_of_id(&at.path) {
                // For a value created inside the `_id`, the enclosing value reports the error.
                if self.anew && self.has_id {
                    return Ok(true);
                }
                if !self.anew || document.len() > 1 {
                    return Err(grown(at, &Node::Document(document.clone())));
                }
            }
            if at.path.is_empty() && !at.inserting {
                check_reference(document, index.unwrap_or(document.len().saturating_sub(1)))?;
            }
        }
        Ok(modified)
    }

    pub(super) fn step<'a>(
        &self,
        name: &str,
        trees: &[&'a Tree],
        current: Option<&mut Node<'a>>,
        at: &mut OperatorContext<'_>,
    ) -> Result<Effect<'a>, ServerError> {
        let length = at.path.len();
        if length > 0 {
            at.path.push('.');
        }
        at.path.push_str(name);
        let is_new = current.is_none();
        let mut change = self.visit(trees, current, at)?;
        if is_of_id(&at.path) {
            match &change {
                Effect::Nothing => {}
                // The enclosing value reports the error.
                Effect::Put(_) if self.has_id && is_new => {}
                _ if self.has_id => return Err(immutable_id(&at.path)),
                Effect::Put(_) if at.inserting && at.path == "_id" && add(trees) => {
                    return Err(array_id(""));
                }
                _ => {}
            }
        }
        if matches!(change, Effect::Resorted) {
            at.resorted.push(at.path.clone());
            change = Effect::Nothing;
        }
        let is_made = matches!(change, Effect::Edited | Effect::Put(_));
        if length == 0
            && name.starts_with('$')
            && !is_of_reference(name)
            && is_made
            && !at.inserting
        {
            return Err(dollar_prefixed(name, &at.path));
        }
        at.path.truncate(length);
        Ok(change)
    }

    fn visit<'a>(
        &self,
        trees: &[&'a Tree],
        current: Option<&mut Node<'a>>,
        at: &mut OperatorContext<'_>,
    ) -> Result<Effect<'a>, ServerError> {
        if let [Tree::Leaf(only)] = trees {
            return only.apply(current, at);
        }
        let mut leaves = Vec::new();
        let mut fields = Vec::new();
        let mut elements = Vec::new();
        for tree in trees {
            match tree {
                Tree::Reserved => {}
                Tree::Leaf(behaviour) => leaves.push(behaviour),
                Tree::Fields(below) => fields.push(below),
                Tree::Elements(below) => elements.extend(below),
            }
        }
        match (leaves.as_slice(), fields.as_slice(), elements.as_slice()) {
            ([], [], []) => Ok(Effect::Nothing),
            ([leaf], [], []) => leaf.apply(current, at),
            ([], fields, []) => self.fields(fields, current, at),
            ([], [], elements) => self.elements(elements, current, at),
            _ => Err(conflict(at)),
        }
    }

    fn fields<'a>(
        &self,
        fields: &[&'a Fields],
        current: Option<&mut Node<'a>>,
        at: &mut OperatorContext<'_>,
    ) -> Result<Effect<'a>, ServerError> {
        let Some(node) = current else {
            let mut made = Vec::new();
            let anew = Walk {
                anew: true,
                ..*self
            };
            anew.document(fields, &mut made, at)?;
            return Ok(if made.is_empty() {
                Effect::Nothing
            } else {
                Effect::Put(Node::Document(made))
            });
        };
        node.open();
        let modified = match node {
            Node::Document(document) => self.document(fields, document, at)?,
            Node::Array(array) => {
                let mut modified = false;
                for (name, trees) in self.merged(fields, &at.path)? {
                    let Some(index) = padded_index(&name) else {
                        self.blocked(&name, "", &trees, &Node::Array(array.clone()), at)?;
                        continue;
                    };
                    let length = array.len();
                    match self.step(&name, &trees, array.get_mut(index), at)? {
                        Effect::Nothing | Effect::Resorted => continue,
                        Effect::Edited => {}
                        Effect::Remove => put(array, index, Node::Raw(NULL))?,
                        Effect::Put(node) => put(array, index, node)?,
                    }
                    if array.len() > length && is_of_id(&at.path) {
                        return Err(grown(at, &Node::Array(array.clone())));
                    }
                    modified = true;
                }
                modified
            }
            scalar @ (Node::Raw(_) | Node::Owned(_) | Node::Appended(_)) => {
                for (name, trees) in self.merged(fields, &at.path)? {
                    self.blocked(&name, "", &trees, scalar, at)?;
                }
                false
            }
        };
        Ok(if modified {
            Effect::Edited
        } else {
            Effect::Nothing
        })
    }

    fn elements<'a>(
        &self,
        elements: &[&'a (String, Tree)],
        current: Option<&mut Node<'a>>,
        at: &mut OperatorContext<'_>,
    ) -> Result<Effect<'a>, ServerError> {
        let Some(node) = current else {
            return Err(bad_value(format!(
                "The path '{}' must exist in the document in order to apply array updates.",
                at.path
            )));
        };
        let shown = node.clone();
        let Some(array) = node.elements() else {
            return Err(bad_value(format!(
                "Cannot apply array updates to non-array element {}",
                shown.with(|value| print::field(at.name(), value))
            )));
        };
        let mut modified = false;
        for (index, element) in array.iter_mut().enumerate() {
            let mut trees = Vec::new();
            for (identifier, tree) in elements {
                if self.filters.matches(identifier, element)? {
                    trees.push(tree);
                }
            }
            if trees.is_empty() {
                continue;
            }
            let name = index.to_string();
            if trees.len() > 1 {
                check_merged(&trees, &format!("{}.{name}", at.path))?;
            }
            match self.step(&name, &trees, Some(&mut *element), at)? {
                Effect::Nothing | Effect::Resorted => continue,
                Effect::Edited => {}
                Effect::Remove => *element = Node::Raw(NULL),
                Effect::Put(node) => *element = node,
            }
            modified = true;
        }
        Ok(if modified {
            Effect::Edited
        } else {
            Effect::Nothing
        })
    }

    /// Like `children`, but returns an error if two operators conflict.
    fn merged<'a>(&self, fields: &[&'a Fields], path: &str) -> Result<Children<'a>, ServerError> {
        let children = self.children(fields)?;
        for (name, trees) in children.iter().filter(|(_, trees)| trees.len() > 1) {
            check_merged(trees, &format!("{path}.{name}"))?;
        }
        Ok(children)
    }

    /// The trees by field name, in the order in which mongod visits them: by bytes, except that of two names that start
    /// like numbers the shorter comes first.
    pub(super) fn children<'a>(&self, fields: &[&'a Fields]) -> Result<Children<'a>, ServerError> {
        let mut children = Children::new();
        let mut add = |name: Cow<'a, str>, tree| match children
            .iter_mut()
            .find(|(known, _)| *known == name)
        {
            Some((_, trees)) => trees.push(tree),
            None => children.push((name, SmallVec::from_elem(tree, 1))),
        };
        for fields in fields {
            for (name, tree) in &fields.named {
                add(Cow::Borrowed(name), tree);
            }
            if let Some(tree) = &fields.positional {
                let index = self.matched_index.ok_or_else(|| {
                    bad_value(
                        "The positional operator did not find the match needed from the query.",
                    )
                })?;
                add(Cow::Owned(index.to_string()), tree);
            }
        }
        children.sort_by(|(left, _), (right, _)| visiting_order(left, right));
        Ok(children)
    }

    /// Handles a path that leads into a value without fields. `rest` is the path from there to the trees.
    fn blocked(
        &self,
        name: &str,
        rest: &str,
        trees: &[&Tree],
        parent: &Node<'_>,
        at: &OperatorContext<'_>,
    ) -> Result<(), ServerError> {
        let full = || format!("{}.{name}{rest}", at.path);
        for tree in trees {
            match tree {
                Tree::Reserved => {}
                Tree::Leaf(behaviour) => {
                    if let Some(fault) = behaviour.fault() {
                        return Err(fault.clone());
                    }
                    let element = || parent.with(|value| print::field(at.name(), value));
                    let message = match behaviour.blocked(at.inserting) {
                        BlockedPath::Ignore => continue,
                        BlockedPath::Create => {
                            format!("Cannot create field '{name}' in element {{{}}}", element())
                        }
                        BlockedPath::Traverse => format!(
                            "Cannot use the part ({name}) of ({}) to traverse the element ({{{}}})",
                            full(),
                            element()
                        ),
                    };
                    return Err(ServerError::new(Code::PATH_NOT_VIABLE, message));
                }
                Tree::Fields(fields) => {
                    let here = full();
                    for (below, trees) in self.merged(&[fields], &here)? {
                        let rest = format!("{rest}.{below}");
                        self.blocked(name, &rest, &trees, parent, at)?;
                    }
                }
                Tree::Elements(_) => {
                    return Err(bad_value(format!(
                        "The path '{}' must exist in the document in order to apply array updates.",
                        full()
                    )));
                }
            }
        }
        Ok(())
    }
}

const NULL: RawBsonRef<'static> = RawBsonRef::Null;

/// Whether any operator adds elements to an array.
fn add(trees: &[&Tree]) -> bool {
    trees
        .iter()
        .any(|tree| matches!(tree, Tree::Leaf(leaf) if leaf.adds()))
}

fn put<'a>(array: &mut Vec<Node<'a>>, index: usize, node: Node<'a>) -> Result<(), ServerError> {
    if let Some(slot) = array.get_mut(index) {
        *slot = node;
        return Ok(());
    }
    if index - array.len() > MAX_BACKFILL {
        return Err(ServerError::new(
            Code::location(34),
            format!("can't backfill more than {MAX_BACKFILL} elements"),
        ));
    }
    array.resize(index, Node::Raw(NULL));
    array.push(node);
    Ok(())
}

fn visiting_order(left: &str, right: &str) -> Ordering {
    let like_number = |name: &str| matches!(name.as_bytes(), [b'1'..=b'9', ..]);
    let by_length = if like_number(left) && like_number(right) {
        left.len().cmp(&right.len())
    } else {
        Ordering::Equal
    };
    by_length.then_with(|| left.cmp(right))
}

fn conflict(at: &OperatorContext<'_>) -> ServerError {
    ServerError::new(
        Code::CONFLICTING_UPDATE_OPERATORS,
        format!("Update created a conflict at '{}'", at.path),
    )
}
