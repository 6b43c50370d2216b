//! The representation of an update; not generic, so that it is compiled once.

use bson::{Bson, Document, doc};
use smallvec::SmallVec;

use super::elements::is_placeholder;
use crate::error::Result;
use crate::model::{Path, Segment};
use crate::query::compare::{one_name, stored_path};
use crate::query::deferred::Deferred;
use crate::query::node::Node;
use crate::store::{Modification, Update as Operands};

/// The changes that an update makes.
#[derive(Debug, Clone)]
pub(crate) enum Changes {
    /// The parts as they were written. They become a document only when the update is sent.
    Operators(Vec<Part>),
    Pipeline(Vec<Stage>),
}

/// One stage of an update by a pipeline.
#[derive(Debug, Clone)]
pub(crate) enum Stage {
    /// `{$set: {path: expression}}`
    Set { path: String, expression: Bson },
    /// As the caller wrote it.
    Raw(Document),
}

/// One part of an update by operators.
#[derive(Debug, Clone)]
pub(crate) enum Part {
    /// One operator on one field, from a method of the field.
    Field(OnField),
    /// `{$set: {…}, $inc: {…}}`, as the caller wrote it.
    Raw(Document),
    /// An array filter, which defines `$[name]` in paths.
    ArrayFilter(Document),
    /// Changes of the elements that meet a condition. The array filter gets its name when the update is complete.
    Elements(Box<Elements>),
    /// A condition that withholds the update from a document.
    Unless(Box<Unless>),
}

/// One operator on one field.
#[derive(Debug, Clone)]
pub(crate) struct OnField {
    pub(super) operator: &'static str,
    pub(super) path: String,
    pub(super) value: Bson,
}

/// Changes of elements of one array.
#[derive(Debug, Clone)]
pub(crate) struct Elements {
    /// The path of the array.
    pub(super) array: String,
    /// The condition on one element.
    pub(super) condition: Node,
    /// The name that stands in `parts` for that of the array filter.
    pub(super) placeholder: String,
    pub(super) parts: Vec<Part>,
}

/// A condition on one field that withholds the update.
#[derive(Debug, Clone)]
pub(crate) struct Unless {
    pub(super) path: String,
    pub(super) state: State,
}

/// The state of a field that withholds an update.
#[derive(Debug, Clone)]
pub(crate) enum State {
    /// An array has an element that meets the condition.
    Has(Node),
    /// A currency is another one than this.
    OtherCurrency(String),
}

/// Whether the path of an update leads into elements of the list that it chooses by `$[]` or `$[name]`.
fn is_in_elements(path: &str, list: &str) -> bool {
    let inside = path.strip_prefix(list);
    inside.is_some_and(|inside| inside.starts_with(".$["))
}

impl Stage {
    fn into_document(self) -> Document {
        match self {
            Self::Set { path, expression } => {
                let mut fields = Document::new();
                fields.insert(path, expression);
                doc! {"$set": fields}
            }
            Self::Raw(stage) => stage,
        }
    }
}

/// One operator on one field, for errors about conflicts.
#[derive(Clone, Copy)]
struct Change<'a> {
    operator: &'a str,
    path: &'a str,
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
            Ok(value) => Ok(Self::Operators(vec![Part::Field(OnField {
                operator,
                path,
                value,
            })])),
        }
    }

    /// No changes; sending an update without any is an error.
    pub(crate) fn nothing() -> Self {
        Self::Operators(Vec::new())
    }

    pub(crate) fn raw_pipeline(stages: impl IntoIterator<Item = Document>) -> Self {
        Self::Pipeline(stages.into_iter().map(Stage::Raw).collect())
    }

    /// An array filter, to be joined with the changes that name it.
    pub(crate) fn filtered(filter: Document) -> Self {
        Self::Operators(vec![Part::ArrayFilter(filter)])
    }

    pub(crate) fn array_filter(
        name: &str,
        condition: Result<Node, Deferred>,
    ) -> Result<Self, Deferred> {
        identifier(name)?;
        let filter = match condition? {
            // MongoDB requires the name in the filter.
            Node::All => doc! {name: {"$exists": true}},
            node => node.into_document()?,
        };
        Ok(Self::filtered(filter))
    }

    pub(crate) fn from_raw(document: Document) -> Result<Self, Deferred> {
        let not_fields = |(operator, fields): &(&String, &Bson)| {
            !operator.starts_with('$') || !matches!(fields, Bson::Document(_))
        };
        if let Some((key, _)) = document.iter().find(not_fields) {
            return Err(not_operators(key));
        }
        Ok(Self::Operators(vec![Part::Raw(document)]))
    }

    pub(crate) fn join(self, other: Self) -> Result<Self, Deferred> {
        match (self, other) {
            (Self::Operators(mut parts), Self::Operators(mut more)) => {
                parts.append(&mut more);
                Ok(Self::Operators(parts))
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

    /// Refuses changes of anything but the elements of the list with this stored name, and such as add some.
    pub(crate) fn expect_elements_of(&self, list: &str) -> Result<(), Deferred> {
        let Self::Operators(parts) = self else {
            return Err(Deferred::usage(
                list,
                "a pipeline may change more than the elements of this list: write operators",
            ));
        };
        let changes_elements = |part: &Part| match part {
            Part::Field(change) if change.path == list => {
                matches!(change.operator, "$pull" | "$pullAll")
            }
            Part::Field(change) => is_in_elements(&change.path, list),
            Part::Elements(elements) => {
                elements.array == list || is_in_elements(&elements.array, list)
            }
            Part::ArrayFilter(_) => true,
            Part::Raw(_) | Part::Unless(_) => false,
        };
        if parts.is_empty() || !parts.iter().all(changes_elements) {
            return Err(Deferred::usage(
                list,
                "this changes elements of the list, wherever they are stored: remove some by `pull`, `pull_all` or `pull_where`, or \
                 change some by `update_where` or `all_elements`; `push` adds elements",
            ));
        }
        Ok(())
    }

    pub(crate) fn array_filters(&self) -> Result<Vec<Document>, Deferred> {
        let Self::Operators(parts) = self.clone().named()? else {
            return Ok(Vec::new());
        };
        let filter = |part| match part {
            Part::ArrayFilter(filter) => Some(filter),
            Part::Field(_) | Part::Raw(_) | Part::Elements(_) | Part::Unless(_) => None,
        };
        Ok(parts.into_iter().filter_map(filter).collect())
    }

    /// Writes the update into `to`, which has no changes yet. Documents are large, so they are made where
    /// they stay.
    pub(crate) fn write(self, to: &mut Operands) -> Result<(), Deferred> {
        let mut parts = match self.named()? {
            Self::Operators(parts) => parts,
            Self::Pipeline(stages) => {
                let stages = stages.into_iter().map(Stage::into_document);
                to.modification = Modification::Pipeline(stages.collect());
                return Ok(());
            }
        };
        if let [Part::Field(only)] = parts.as_slice()
            // A renamed field may conflict with its own new name.
            && only.operator != "$rename"
            && let Some(Part::Field(only)) = parts.pop()
        {
            to.modification = Modification::One {
                operator: only.operator,
                path: only.path,
                value: only.value,
            };
            return Ok(());
        }
        to.modification = Modification::Operators(Document::new());
        let Modification::Operators(document) = &mut to.modification else {
            return Ok(());
        };
        let apart = apart(&parts);
        for part in parts {
            match part {
                Part::Field(change) => add(document, change)?,
                Part::Raw(raw) => add_raw(document, raw)?,
                Part::ArrayFilter(filter) => to.array_filters.push(filter),
                Part::Elements(_) | Part::Unless(_) => {}
            }
        }
        if document.is_empty() {
            return Err(Deferred::usage(
                "",
                "the update changes nothing: it has no operator",
            ));
        }
        if apart {
            return Ok(());
        }
        refuse_conflicts(document)
    }
}

/// Adds one operator on one field; pushes to one array are joined.
fn add(document: &mut Document, change: OnField) -> Result<(), Deferred> {
    match document.get_mut(change.operator) {
        None => {
            let mut fields = Document::new();
            fields.insert(change.path, change.value);
            document.insert(change.operator, fields);
            Ok(())
        }
        Some(fields) => add_field(change.operator, fields, change.path, change.value),
    }
}

fn add_field(operator: &str, fields: &mut Bson, path: String, value: Bson) -> Result<(), Deferred> {
    let Bson::Document(fields) = fields else {
        return Err(not_operators(operator));
    };
    match fields.get_mut(&path) {
        None => {
            fields.insert(path, value);
            Ok(())
        }
        Some(present) => add_elements(operator, &path, present, value),
    }
}

fn add_raw(document: &mut Document, raw: Document) -> Result<(), Deferred> {
    for (operator, fields) in raw {
        let Bson::Document(fields) = fields else {
            return Err(not_operators(&operator));
        };
        // Adds the operator even without fields: raw changes are sent as they are written.
        let Some(present) = document.get_mut(&operator) else {
            document.insert(operator, fields);
            continue;
        };
        for (path, value) in fields {
            add_field(&operator, present, path, value)?;
        }
    }
    Ok(())
}

/// The path as MongoDB writes it; refuses names of array filters that MongoDB would refuse.
fn update_path(path: &Path) -> Result<String, Deferred> {
    match one_name(path) {
        Some(name) => Ok(name.to_owned()),
        None => long_update_path(path),
    }
}

fn long_update_path(path: &Path) -> Result<String, Deferred> {
    let stored = stored_path(path)?;
    if path.segments().any(|segment| segment == Segment::Any) {
        return Err(Deferred::usage(
            stored,
            "`any` is for filters; an update says which elements it changes: `at`, `positional`, `all_elements`, `filtered`",
        ));
    }
    for segment in path.segments() {
        if let Segment::Filtered(name) = segment
            && !is_placeholder(&name)
        {
            identifier(&name)?;
        }
    }
    Ok(stored)
}

/// Refuses names of array filters that MongoDB would refuse.
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

/// Joins two changes of a field by the same operator, which works only for elements that are added to one
/// array.
fn add_elements(
    operator: &str,
    path: &str,
    present: &mut Bson,
    value: Bson,
) -> Result<(), Deferred> {
    if !adds_plainly(operator, present) || !adds_plainly(operator, &value) {
        let change = Change { operator, path };
        return Err(conflict(change, change));
    }
    // moved, not copied: changes are joined in loops
    let mut each = added_values(std::mem::replace(present, Bson::Null));
    each.extend(added_values(value));
    *present = Bson::Document(doc! {"$each": each});
    Ok(())
}

/// Whether this adds values to an array, without modifiers such as `$slice`.
pub(super) fn adds_plainly(operator: &str, value: &Bson) -> bool {
    if !matches!(operator, "$push" | "$addToSet") {
        return false;
    }
    let Bson::Document(document) = value else {
        return true;
    };
    match document.get("$each") {
        None => true,
        Some(Bson::Array(_)) => document.len() == 1,
        Some(_) => false,
    }
}

/// The values that are added.
pub(super) fn added_values(value: Bson) -> Vec<Bson> {
    match value {
        Bson::Document(mut document) => match document.remove("$each") {
            Some(Bson::Array(values)) => values,
            _ => vec![Bson::Document(document)],
        },
        value => vec![value],
    }
}

fn conflict(change: Change<'_>, present: Change<'_>) -> Deferred {
    Deferred::usage(
        change.path,
        format!(
            "`{}` of `{}` and `{}` of `{}` conflict: an update can change a field only once",
            present.operator, present.path, change.operator, change.path
        ),
    )
}

/// Every operator on every field.
fn changes(document: &Document) -> impl Iterator<Item = (Change<'_>, &Bson)> {
    document.iter().flat_map(|(operator, fields)| {
        let fields = fields.as_document().into_iter().flatten();
        fields.map(|(path, value)| (Change { operator, path }, value))
    })
}

/// Whether the update changes a few top-level fields, each once, so that no two changes conflict. Most
/// updates do, and need no sorting; `false` does not mean that there is a conflict.
fn apart(parts: &[Part]) -> bool {
    parts.len() <= 8 && parts.iter().enumerate().all(|(place, part)| {
        let before =
            |part: &Part, path: &str| matches!(part, Part::Field(before) if before.path == path);
        match part {
            Part::Field(OnField { operator, path, .. }) => {
                *operator != "$rename"
                    && !path.contains('.')
                    && !parts.iter().take(place).any(|part| before(part, path))
            }
            Part::ArrayFilter(_) | Part::Unless(_) => true,
            Part::Raw(_) | Part::Elements(_) => false,
        }
    })
}

/// Refuses changes that MongoDB refuses with code 40: of one field twice, or of a field and of one inside it.
fn refuse_conflicts(document: &Document) -> Result<(), Deferred> {
    let mut touched: SmallVec<[(&str, Change<'_>); 8]> = SmallVec::new();
    for (change, value) in changes(document) {
        touched.push((change.path, change));
        if let ("$rename", Bson::String(target)) = (change.operator, value) {
            touched.push((target, change));
        }
    }
    // In this order, a path is followed by the paths inside it.
    touched.sort_by(|(left, _), (right, _)| left.split('.').cmp(right.split('.')));
    for pair in touched.windows(2) {
        if let [(outer, first), (inner, second)] = pair {
            let rest = inner.strip_prefix(outer);
            if rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.')) {
                return Err(conflict(*second, *first));
            }
        }
    }
    refuse_mixed_elements(&touched)
}

/// Refuses changes of elements of one array both by `$[]` or `$[name]` and by position.
fn refuse_mixed_elements(touched: &[(&str, Change<'_>)]) -> Result<(), Deferred> {
    if !touched.iter().any(|(path, _)| path.contains("$[")) {
        return Ok(());
    }
    for (place, (left, first)) in touched.iter().enumerate() {
        for (right, second) in touched.iter().skip(place + 1) {
            let mut pairs = left.split('.').zip(right.split('.'));
            let differ = pairs.find(|(left, right)| left != right);
            if differ.is_some_and(|(left, right)| left.starts_with("$[") != right.starts_with("$["))
            {
                return Err(conflict(*second, *first));
            }
        }
    }
    Ok(())
}
