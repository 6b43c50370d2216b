//! The inside of an update: not generic, so that it is compiled once.

use std::borrow::Cow;

use bson::{Bson, Document, doc};
use smallvec::{SmallVec, smallvec};

use crate::error::Result;
use crate::model::{Path, Segment};
use crate::query::compare::stored_path;
use crate::query::deferred::Deferred;
use crate::query::node::Node;

/// What an update does.
#[derive(Debug, Clone)]
#[expect(
    clippy::large_enum_variant,
    reason = "most updates are few operators; a box would be one more allocation for each"
)]
pub(crate) enum Changes {
    Operators {
        changes: SmallVec<[Change; 2]>,
        array_filters: Vec<Document>,
    },
    Pipeline(Vec<Document>),
}

/// One operator on one field.
#[derive(Debug, Clone)]
pub(crate) struct Change {
    operator: Cow<'static, str>,
    path: String,
    value: Bson,
}

impl Changes {
    pub(crate) fn one(
        path: &Path,
        operator: &'static str,
        value: Result<Bson>,
    ) -> Result<Self, Deferred> {
        let path = update_path(path)?;
        match value {
            Err(error) => Err(Deferred::encode(path, &error)),
            Ok(_) if path.is_empty() => Err(Deferred::usage(
                "",
                "the document itself can't be changed as one field: change its fields, or replace it",
            )),
            Ok(value) => Ok(Self::of(Change {
                operator: operator.into(),
                path,
                value,
            })),
        }
    }

    /// No change; an update must have some by the time it is sent.
    pub(crate) fn nothing() -> Self {
        Self::Operators {
            changes: SmallVec::new(),
            array_filters: Vec::new(),
        }
    }

    fn of(change: Change) -> Self {
        Self::Operators {
            changes: smallvec![change],
            array_filters: Vec::new(),
        }
    }

    pub(crate) fn array_filter(
        name: &str,
        condition: Result<Node, Deferred>,
    ) -> Result<Self, Deferred> {
        identifier(name)?;
        let filter = match condition? {
            // the server wants the name in the filter
            Node::All => doc! {name: {"$exists": true}},
            node => node.into_document()?,
        };
        Ok(Self::Operators {
            changes: SmallVec::new(),
            array_filters: vec![filter],
        })
    }

    pub(crate) fn from_raw(document: Document) -> Result<Self, Deferred> {
        let mut changes = SmallVec::new();
        for (operator, fields) in document {
            let Bson::Document(fields) = fields else {
                return Err(not_operators(&operator));
            };
            if !operator.starts_with('$') {
                return Err(not_operators(&operator));
            }
            changes.extend(fields.into_iter().map(|(path, value)| Change {
                operator: operator.clone().into(),
                path,
                value,
            }));
        }
        Ok(Self::Operators {
            changes,
            array_filters: Vec::new(),
        })
    }

    pub(crate) fn join(self, other: Self) -> Result<Self, Deferred> {
        match (self, other) {
            (
                Self::Operators {
                    mut changes,
                    mut array_filters,
                },
                Self::Operators {
                    changes: more,
                    array_filters: more_filters,
                },
            ) => {
                for change in more {
                    add(&mut changes, change)?;
                }
                array_filters.extend(more_filters);
                Ok(Self::Operators {
                    changes,
                    array_filters,
                })
            }
            (Self::Pipeline(mut stages), Self::Pipeline(more)) => {
                stages.extend(more);
                Ok(Self::Pipeline(stages))
            }
            _ => Err(Deferred::usage(
                "",
                "an update is either operators or a pipeline: write the changes as stages of the pipeline",
            )),
        }
    }

    pub(crate) fn array_filters(&self) -> &[Document] {
        match self {
            Self::Operators { array_filters, .. } => array_filters,
            Self::Pipeline(_) => &[],
        }
    }

    /// The update and its array filters.
    pub(crate) fn into_parts(self) -> Result<(Bson, Vec<Document>), Deferred> {
        match self {
            Self::Pipeline(stages) => {
                let stages = stages.into_iter().map(Bson::Document).collect();
                Ok((Bson::Array(stages), Vec::new()))
            }
            Self::Operators { changes, .. } if changes.is_empty() => Err(Deferred::usage(
                "",
                "the update changes nothing: it has no operator",
            )),
            Self::Operators {
                changes,
                array_filters,
            } => {
                refuse_conflicts(&changes)?;
                Ok((Bson::Document(operator_document(changes)), array_filters))
            }
        }
    }
}

/// The path as MongoDB writes it, with names of array filters that it accepts.
fn update_path(path: &Path) -> Result<String, Deferred> {
    let stored = stored_path(path)?;
    if path.segments().any(|segment| segment == Segment::Any) {
        return Err(Deferred::usage(
            stored,
            "`any` is for filters; an update says which elements it changes: `at`, `positional`, `all_elements`, `filtered`",
        ));
    }
    for segment in path.segments() {
        if let Segment::Filtered(name) = segment {
            identifier(&name)?;
        }
    }
    Ok(stored)
}

/// The server's rule for names of array filters.
fn identifier(name: &str) -> Result<(), Deferred> {
    let valid = name.starts_with(|first: char| first.is_ascii_lowercase())
        && name.chars().all(|each| each.is_ascii_alphanumeric());
    if valid {
        return Ok(());
    }
    Err(Deferred::usage(
        name,
        "the name of an array filter starts with a lowercase letter and has only letters and digits",
    ))
}

fn not_operators(key: &str) -> Deferred {
    Deferred::usage(
        key,
        "a raw update is a document of operators, such as `{$set: {…}}`; replacing a document is a verb of its own",
    )
}

/// Adds a change; pushes to one array become one.
fn add(changes: &mut SmallVec<[Change; 2]>, change: Change) -> Result<(), Deferred> {
    let same = changes
        .iter_mut()
        .find(|present| present.path == change.path && present.operator == change.operator);
    let Some(present) = same else {
        changes.push(change);
        return Ok(());
    };
    if !adds_plainly(present) || !adds_plainly(&change) {
        return Err(conflict(&change, present));
    }
    // moved, not copied: changes are joined in loops
    let first = std::mem::replace(&mut present.value, Bson::Null);
    let mut each = added_values(first);
    each.extend(added_values(change.value));
    present.value = Bson::Document(doc! {"$each": each});
    Ok(())
}

/// Whether this adds values to an array and no modifiers such as `$slice` stand beside them.
fn adds_plainly(change: &Change) -> bool {
    if !matches!(&*change.operator, "$push" | "$addToSet") {
        return false;
    }
    let Bson::Document(document) = &change.value else {
        return true;
    };
    match document.get("$each") {
        None => true,
        Some(Bson::Array(_)) => document.len() == 1,
        Some(_) => false,
    }
}

/// The values that are added.
fn added_values(value: Bson) -> Vec<Bson> {
    match value {
        Bson::Document(mut document) => match document.remove("$each") {
            Some(Bson::Array(values)) => values,
            _ => vec![Bson::Document(document)],
        },
        value => vec![value],
    }
}

fn conflict(change: &Change, present: &Change) -> Deferred {
    Deferred::usage(
        &*change.path,
        format!(
            "`{}` of `{}` and `{}` of `{}` can't stand in one update: it may change a field only once",
            present.operator, present.path, change.operator, change.path
        ),
    )
}

/// What the server refuses with code 40: one field changed twice, or a field and what it is in.
fn refuse_conflicts(changes: &[Change]) -> Result<(), Deferred> {
    let mut touched: SmallVec<[(&str, &Change); 8]> = SmallVec::with_capacity(changes.len());
    for change in changes {
        touched.push((&change.path, change));
        if let ("$rename", Bson::String(target)) = (&*change.operator, &change.value) {
            touched.push((target, change));
        }
    }
    // in this order a path is followed by what it contains
    touched.sort_by(|(left, _), (right, _)| left.split('.').cmp(right.split('.')));
    for pair in touched.windows(2) {
        if let [(outer, first), (inner, second)] = pair {
            let rest = inner.strip_prefix(outer);
            if rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.')) {
                return Err(conflict(second, first));
            }
        }
    }
    refuse_mixed_elements(&touched)
}

/// Of one array an update changes elements by `$[]` and `$[name]`, or by position, not by both.
fn refuse_mixed_elements(touched: &[(&str, &Change)]) -> Result<(), Deferred> {
    if !touched.iter().any(|(path, _)| path.contains("$[")) {
        return Ok(());
    }
    for (place, (left, first)) in touched.iter().enumerate() {
        for (right, second) in touched.iter().skip(place + 1) {
            let mut pairs = left.split('.').zip(right.split('.'));
            let differ = pairs.find(|(left, right)| left != right);
            if differ.is_some_and(|(left, right)| left.starts_with("$[") != right.starts_with("$["))
            {
                return Err(conflict(second, first));
            }
        }
    }
    Ok(())
}

/// `{$set: {…}, $inc: {…}}`, operators in the order in which they were first used.
fn operator_document(changes: SmallVec<[Change; 2]>) -> Document {
    let mut document = Document::new();
    for change in changes {
        let entry = document
            .entry(change.operator.into_owned())
            .or_insert_with(|| Bson::Document(Document::new()));
        if let Bson::Document(fields) = entry {
            fields.insert(change.path, change.value);
        }
    }
    document
}
