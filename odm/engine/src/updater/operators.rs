//! Updates made of operators.

use std::borrow::Cow;

use bson::raw::{RawBsonRef, RawDocument, RawDocumentBuf};
use odm_language::error::{Code, ServerError};
use odm_language::expression::{Globals, compat::messages};
use odm_language::value::print;
use odm_language::value::raw;

use crate::updater::Applied;
use crate::updater::add_to_set::AddToSet;
use crate::updater::arithmetic::{Arithmetic, Operation};
use crate::updater::array_filters::ArrayFilters;
use crate::updater::bit::Bit;
use crate::updater::compare::Compare;
use crate::updater::conflicts::{Fields, Part, Tree, check_path, is_plain};
use crate::updater::current_date::CurrentDate;
use crate::updater::immutable::is_of_reference;
use crate::updater::node::{Node, build, fields};
use crate::updater::operator::{DocumentName, Operator, OperatorContext, bad_value};
use crate::updater::pop::Pop;
use crate::updater::pull::Pull;
use crate::updater::push::Push;
use crate::updater::rename::Rename;
use crate::updater::set::Set;
use crate::updater::splice;
use crate::updater::unset::Unset;
use crate::updater::walk::Walk;
use crate::updater::{delta, describe};

/// Parses an operator's argument for one path.
type Parse = fn(&str, RawBsonRef<'_>, &Globals) -> Result<Box<dyn Operator>, ServerError>;

/// Sorted by name. `$rename` acts on two paths and is handled beside the table.
const OPERATORS: &[(&str, Parse)] = &[
    ("$addToSet", |_, value, _| {
        Ok(Box::new(AddToSet::parse(value)?))
    }),
    ("$bit", |_, value, _| Ok(Box::new(Bit::parse(value)?))),
    ("$currentDate", |_, value, _| {
        Ok(Box::new(CurrentDate::parse(value)?))
    }),
    ("$inc", |path, value, _| {
        Ok(Box::new(Arithmetic::parse(Operation::Inc, path, value)?))
    }),
    ("$max", |_, value, _| Ok(Box::new(Compare::max(value)))),
    ("$min", |_, value, _| Ok(Box::new(Compare::min(value)))),
    ("$mul", |path, value, _| {
        Ok(Box::new(Arithmetic::parse(Operation::Mul, path, value)?))
    }),
    ("$pop", |path, value, _| {
        Ok(Box::new(Pop::parse(path, value)?))
    }),
    ("$pull", |_, value, globals| {
        Ok(Box::new(Pull::parse(value, globals)?))
    }),
    ("$pullAll", |_, value, _| {
        Ok(Box::new(Pull::parse_all(value)?))
    }),
    ("$push", |_, value, _| Ok(Box::new(Push::parse(value)?))),
    ("$set", |_, value, _| Ok(Box::new(Set::new(value)))),
    ("$setOnInsert", |_, value, _| {
        Ok(Box::new(Set::on_insert(value)))
    }),
    ("$unset", |_, _, _| Ok(Box::new(Unset))),
];

/// `$rename` is not in the table because it acts on two paths.
const RENAME: &str = "$rename";

#[derive(Debug)]
pub(super) struct Operators {
    tree: Fields,
    renames: Vec<Rename>,
    filters: ArrayFilters,
    needs_position: bool,
}

impl Operators {
    pub(super) fn parse(
        update: &RawDocument,
        filters: ArrayFilters,
        globals: &Globals,
    ) -> Result<Self, ServerError> {
        let mut operators = Self {
            tree: Fields::default(),
            renames: Vec::new(),
            filters,
            needs_position: false,
        };
        let mut used = Vec::new();
        for (name, argument) in fields(update) {
            let row = OPERATORS
                .binary_search_by_key(&name, |(known, _)| known)
                .ok()
                .and_then(|index| OPERATORS.get(index));
            if row.is_none() && name != RENAME {
                return Err(ServerError::new(
                    Code::FAILED_TO_PARSE,
                    format!(
                        "Unknown modifier: {name}. Expected a valid update modifier or pipeline-style update specified as an array"
                    ),
                ));
            }
            let RawBsonRef::Document(argument) = argument else {
                return Err(ServerError::new(
                    Code::FAILED_TO_PARSE,
                    format!(
                        "Modifiers operate on fields but we found type {} instead. For example: {{$mod: {{<field>: ...}}}} not {{{}}}",
                        messages::type_name(Some(argument)),
                        print::field(name, argument)
                    ),
                ));
            };
            for (path, value) in fields(argument) {
                if let Some((_, parse)) = row {
                    let behaviour = parse(path, value, globals)?;
                    check_path(path)?;
                    operators.check_filters(path, &mut used)?;
                    operators.tree.insert(path, Tree::Leaf(behaviour))?;
                } else {
                    let target = Rename::target(path, value)?;
                    check_path(path)?;
                    operators.tree.insert(path, Tree::Reserved)?;
                    let rename = Rename::new(path, target)?;
                    operators.tree.insert(&rename.to, Tree::Reserved)?;
                    operators.renames.push(rename);
                }
            }
        }
        let unused = operators
            .filters
            .identifiers()
            .find(|identifier| !used.iter().any(|name| name == identifier));
        if let Some(unused) = unused {
            return Err(ServerError::new(
                Code::FAILED_TO_PARSE,
                format!(
                    "The array filter for identifier '{unused}' was not used in the update {}",
                    messages::stored_document(update)
                ),
            ));
        }
        Ok(operators)
    }

    /// Checks that every `$[name]` has a filter, and adds the names to `used`.
    fn check_filters(&mut self, path: &str, used: &mut Vec<String>) -> Result<(), ServerError> {
        if is_plain(path) {
            return Ok(());
        }
        for part in path.split('.') {
            match Part::new(part) {
                Part::Positional => self.needs_position = true,
                Part::Elements("") | Part::Field(_) => {}
                Part::Elements(identifier) => {
                    if !self.filters.identifiers().any(|known| known == identifier) {
                        return Err(bad_value(format!(
                            "No array filter found for identifier '{identifier}' in path '{path}'"
                        )));
                    }
                    used.push(identifier.to_owned());
                }
            }
        }
        Ok(())
    }

    pub(super) fn needs_position(&self) -> bool {
        self.needs_position
    }

    pub(super) fn apply(
        &self,
        document: &RawDocument,
        matched_index: Option<usize>,
        globals: &Globals,
        inserting: bool,
    ) -> Result<Applied, ServerError> {
        let id = raw::get(document, "_id");
        let named = DocumentName(id);
        let walk = Walk {
            matched_index,
            filters: &self.filters,
            has_id: id.is_some(),
            anew: false,
        };
        let mut at = OperatorContext {
            path: String::new(),
            document: named,
            globals,
            inserting,
            resorted: Vec::new(),
        };
        // The parts of a `DBRef` are checked against their neighbouring fields.
        let refers = self
            .tree
            .named
            .iter()
            .any(|(name, _)| is_of_reference(name));
        if self.renames.is_empty() && !refers {
            return splice::apply(&walk, &self.tree, document, &mut at);
        }
        let (moves, moving) = self.moves(document, &named.to_string())?;
        let mut root = Node::root(document);
        let mut modified = walk.document(&[&self.tree, &moving], &mut root, &mut at)?;
        for rename in &moves {
            remove(&mut root, &rename.from);
            modified = true;
        }
        Ok(Applied {
            document: build(&root),
            modified,
            nests: true,
            resorted: at.resorted,
        })
    }

    /// Describes the changes that the update made to a document.
    pub(super) fn describe(
        &self,
        before: &RawDocument,
        after: &RawDocument,
        matched_index: Option<usize>,
    ) -> Result<RawDocumentBuf, ServerError> {
        let walk = Walk {
            matched_index,
            filters: &self.filters,
            has_id: true,
            anew: false,
        };
        let (moves, moving) = self.moves(before, "")?;
        let mut trees = vec![moving];
        let mut gone = Fields::default();
        for rename in &moves {
            gone.insert(&rename.from, Tree::Leaf(Box::new(Unset)))?;
        }
        trees.push(gone);
        let trees: Vec<&Fields> = std::iter::once(&self.tree).chain(&trees).collect();
        let changes = describe::document(&walk, &trees, before, after)?;
        Ok(delta::description(&changes))
    }

    /// The renames whose source exists, and their effect at the destination paths.
    fn moves(
        &self,
        document: &RawDocument,
        named: &str,
    ) -> Result<(Vec<&Rename>, Fields), ServerError> {
        let (mut moves, mut tree) = (Vec::new(), Fields::default());
        for rename in &self.renames {
            if let Some(moving) = rename.moving(document, named) {
                tree.insert(&rename.to, Tree::Leaf(Box::new(moving)))?;
                moves.push(rename);
            }
        }
        Ok((moves, tree))
    }
}

fn remove(fields: &mut Vec<(Cow<'_, str>, Node<'_>)>, path: &str) {
    let (head, rest) = path
        .split_once('.')
        .map_or((path, None), |(head, rest)| (head, Some(rest)));
    match rest {
        None => fields.retain(|(name, _)| name != head),
        Some(rest) => {
            if let Some((_, node)) = fields.iter_mut().find(|(name, _)| name == head) {
                node.open();
                if let Node::Document(below) = node {
                    remove(below, rest);
                }
            }
        }
    }
}

/// The names of all operators.
#[cfg(test)]
pub(crate) fn names() -> Vec<&'static str> {
    let rows = OPERATORS.iter().map(|(name, _)| *name);
    rows.chain([RENAME]).collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_table_is_sorted() {
        assert!(super::OPERATORS.is_sorted_by_key(|(name, _)| *name));
    }
}
