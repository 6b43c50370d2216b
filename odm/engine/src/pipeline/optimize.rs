//! Moves filters, sorts and limits towards the start of a pipeline, where a plan can answer them and fewer documents pass
//! the stages behind them.
//!
//! The moves are those of mongod, because they decide which documents an expression is computed for, and so which fail.

use std::borrow::Cow;

use bson::raw::{RawArrayBuf, RawBson, RawBsonRef, RawDocument, RawDocumentBuf};
use odm_language::error::ServerError;
use odm_language::expression::{Expression, Globals};
use odm_language::value::raw::{append, elements, values};

use super::stage::{PathEffect, Planned, Stage, Touched};
use super::stages::of_filter;

type Stages = Vec<Box<dyn Stage>>;

/// Rewrites the stages. A stage that may read the collection itself stays first.
pub(super) fn optimize(stages: &mut Stages, globals: &Globals) -> Result<(), ServerError> {
    let mut at = 1;
    while at < stages.len() {
        if step(stages, at, globals)? {
            at = at.saturating_sub(1).max(1);
        } else {
            at += 1;
        }
    }
    bound_sorts(stages);
    Ok(())
}

/// Moves the stage at this position, or a part of it, in front of the stage before it. Returns whether something changed.
fn step(stages: &mut Stages, at: usize, globals: &Globals) -> Result<bool, ServerError> {
    let (Some(before), Some(stage)) = (stages.get(at - 1), stages.get(at)) else {
        return Ok(false);
    };
    match (before.planned(), stage.planned()) {
        (Planned::Filter(first), Planned::Filter(second)) => {
            let both = and(parts(first).into_iter().chain(parts(second)));
            let both = of_filter(&both, globals)?;
            stages.splice(at - 1..=at, [both]);
            Ok(true)
        }
        (_, Planned::Filter(filter)) => {
            let Some(effect) = before.effect() else {
                let filter = filter.to_owned();
                let is_free = match stages.get_mut(at - 1) {
                    Some(before) => before.add_filter(&filter, globals)?,
                    None => false,
                };
                if is_free {
                    stages.swap(at - 1, at);
                }
                return Ok(is_free);
            };
            let (mut moved, mut left) = (Vec::new(), Vec::new());
            for condition in conditions(filter) {
                match effect.before(&condition, globals) {
                    Some(condition) => moved.push(condition),
                    None => left.push(condition),
                }
            }
            if moved.is_empty() {
                return Ok(false);
            }
            let moved = of_filter(&one(moved), globals)?;
            let left = if left.is_empty() {
                None
            } else {
                Some(of_filter(&one(left), globals)?)
            };
            let passed = stages.remove(at - 1);
            stages.splice(at - 1..at, [moved, passed].into_iter().chain(left));
            Ok(true)
        }
        (Planned::No, Planned::Sort(sort)) => {
            let is_free = before
                .effect()
                .is_some_and(|effect| effect.keeps_sort(sort));
            if is_free {
                stages.swap(at - 1, at);
                // Of two adjacent sorts, mongod runs only the second.
                if let Some(earlier) = at.checked_sub(2)
                    && let Some(Planned::Sort(_)) = stages.get(earlier).map(|stage| stage.planned())
                {
                    stages.remove(earlier);
                }
            }
            Ok(is_free)
        }
        (Planned::No, Planned::Limit(_) | Planned::Skip(_)) => {
            let is_free = before.effect().is_some_and(|effect| effect.is_one_to_one);
            if is_free {
                stages.swap(at - 1, at);
            }
            Ok(is_free)
        }
        _ => Ok(false),
    }
}

/// Tells each sort how many of its documents the skips and the limit behind it let pass.
fn bound_sorts(stages: &mut Stages) {
    for at in 0..stages.len() {
        let mut skipped = 0_u64;
        let mut behind = stages.iter().skip(at + 1);
        let limit = behind.find_map(|stage| match stage.planned() {
            Planned::Skip(count) => {
                skipped = skipped.saturating_add(count);
                None
            }
            Planned::Limit(limit) => Some(Some(limit)),
            _ => Some(None),
        });
        if let Some(stage) = stages.get_mut(at)
            && let Some(limit) = limit.flatten()
            && matches!(stage.planned(), Planned::Sort(_))
        {
            stage.bound(limit.saturating_add(skipped));
        }
    }
}

/// The filters of an `$and` alone, or the filter itself: a merge of many filters must not nest them.
fn parts(filter: &RawDocument) -> Vec<&RawDocument> {
    let mut all = elements(filter);
    match (all.next(), all.next()) {
        (Some(("$and", RawBsonRef::Array(filters))), None) => values(filters)
            .filter_map(RawBsonRef::as_document)
            .collect(),
        _ => vec![filter],
    }
}

/// The filters as one `$and`.
fn and<'f>(filters: impl IntoIterator<Item = &'f RawDocument>) -> RawDocumentBuf {
    let mut all = RawArrayBuf::new();
    for filter in filters {
        all.push(filter);
    }
    let mut both = RawDocumentBuf::new();
    append(&mut both, "$and", RawBsonRef::Array(&all));
    both
}

/// One filter of all conditions.
fn one(mut conditions: Vec<RawDocumentBuf>) -> RawDocumentBuf {
    match conditions.pop() {
        Some(only) if conditions.is_empty() => only,
        last => and(conditions.iter().chain(&last).map(|condition| &**condition)),
    }
}

/// The conditions that must all hold, each as a filter of its own.
fn conditions(filter: &RawDocument) -> Vec<RawDocumentBuf> {
    let single = |name: &str, value: RawBsonRef<'_>| {
        let mut condition = RawDocumentBuf::new();
        append(&mut condition, name, value);
        condition
    };
    let mut all = Vec::new();
    for (name, value) in elements(filter) {
        match (name, value) {
            ("$and", RawBsonRef::Array(filters)) => {
                let filters = values(filters).filter_map(RawBsonRef::as_document);
                all.extend(filters.flat_map(conditions));
            }
            ("$nor", RawBsonRef::Array(filters)) => {
                for filter in values(filters) {
                    let mut only = RawArrayBuf::new();
                    only.push(filter);
                    all.push(single(name, RawBsonRef::Array(&only)));
                }
            }
            _ => all.push(single(name, value)),
        }
    }
    all
}

impl PathEffect {
    /// The filter that finds before the stage what this one finds behind it, if there is one.
    fn before(&self, filter: &RawDocument, globals: &Globals) -> Option<RawDocumentBuf> {
        let mut moved = RawDocumentBuf::new();
        for (name, value) in elements(filter) {
            match (name, value) {
                ("$and" | "$or" | "$nor", RawBsonRef::Array(filters)) => {
                    let mut all = RawArrayBuf::new();
                    for filter in values(filters) {
                        all.push(self.before(filter.as_document()?, globals)?);
                    }
                    append(&mut moved, name, RawBsonRef::Array(&all));
                }
                ("$expr", value) => {
                    let moved_value = self.expression_before(value, globals)?;
                    append(&mut moved, name, moved_value.as_raw_bson_ref());
                }
                ("$jsonSchema", value) if self.changes_nothing() => {
                    append(&mut moved, name, value);
                }
                (operator, _) if operator.starts_with('$') => return None,
                (path, value)
                    if asks(value, &["$elemMatch", "$size"])
                        || self.never_missing == Some(path) && asks(value, &["$exists"]) =>
                {
                    return None;
                }
                (path, value) => append(&mut moved, &self.path_before(path)?, value),
            }
        }
        Some(moved)
    }

    /// Whether documents that are sorted so before the stage are sorted so behind it.
    fn keeps_sort(&self, sort: &RawDocument) -> bool {
        // Metadata is sorted by a document in place of a direction.
        let mut keys = elements(sort);
        self.keeps_order
            && keys.all(|(path, direction)| {
                direction.as_document().is_none()
                    && matches!(self.path_before(path), Some(Cow::Borrowed(_)))
            })
    }

    /// The expression that has before the stage the value that this one has behind it, if there is one.
    ///
    /// mongod takes the key of a group for the field it is computed from, although the key is null where the field is missing.
    fn expression_before(&self, value: RawBsonRef<'_>, globals: &Globals) -> Option<RawBson> {
        let expression = Expression::parse(value, &globals.scope()).ok()?;
        // A random choice of groups is not one of documents.
        if expression.is_random() {
            return None;
        }
        if self.changes_nothing() {
            return Some(RawBson::from(value));
        }
        let paths = expression.paths()?;
        let mut is_renamed = false;
        for path in &paths {
            is_renamed |= matches!(self.path_before(path)?, Cow::Owned(_));
        }
        if !is_renamed {
            return Some(RawBson::from(value));
        }
        let rename = |path: &str| match self.path_before(path) {
            Some(before) => before.into_owned(),
            None => path.to_owned(),
        };
        RawBson::try_from(expression.renamed(globals, &rename)).ok()
    }

    fn changes_nothing(&self) -> bool {
        self.copies.is_empty() && matches!(&self.fields, Touched::Only(paths) if paths.is_empty())
    }

    /// The path that has before the stage what this one has behind it, if there is one.
    fn path_before<'p>(&self, path: &'p str) -> Option<Cow<'p, str>> {
        let copied = self.copies.iter().find_map(|(copy, field)| {
            let below = below(path, copy)?;
            Some(Cow::Owned(format!("{field}{below}")))
        });
        // As in mongod, a copy below a path is no change of that path.
        let named = named(path);
        let is_as_it_was = match &self.fields {
            Touched::Only(changed) => !changed
                .iter()
                .any(|one| below(named, one).is_some() || below(one, named).is_some()),
            Touched::AllBut(kept) => kept.iter().any(|one| below(named, one).is_some()),
        };
        copied.or_else(|| is_as_it_was.then_some(Cow::Borrowed(path)))
    }
}

/// Whether a condition on a value has one of the operators.
fn asks(condition: RawBsonRef<'_>, names: &[&str]) -> bool {
    let RawBsonRef::Document(operators) = condition else {
        return false;
    };
    elements(operators).any(|(name, value)| match (name, value) {
        ("$not", value) => asks(value, names),
        ("$all", RawBsonRef::Array(items)) => values(items).any(|item| asks(item, names)),
        (name, _) => names.contains(&name),
    })
}

/// The path in front of its first number, which may be the position of an element.
fn named(path: &str) -> &str {
    let is_number = |segment: &str| segment.bytes().all(|byte| byte.is_ascii_digit());
    let mut end = 0;
    for (at, segment) in path.split('.').enumerate() {
        if at > 0 && is_number(segment) {
            return path.get(..end).unwrap_or(path);
        }
        end += segment.len() + usize::from(at > 0);
    }
    path
}

/// What follows `above` in the path, with its dot: of `a.b`, below `a`, `.b`.
fn below<'p>(path: &'p str, above: &str) -> Option<&'p str> {
    let rest = path.strip_prefix(above)?;
    (rest.is_empty() || rest.starts_with('.')).then_some(rest)
}
