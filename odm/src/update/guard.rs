//! Conditions that keep an update from documents whose lists have no room or have the key already, or whose amounts are in
//! another currency.
//!
//! MongoDB checks no declared bound in `$push`. A guard is a condition on the list that goes into the filter of the
//! update, so that check and change are one atomic write: `{"contacts.11": {$exists: false}}` for a list of at most 12.

use bson::{Bson, Document, doc};

use super::operators::{Changes, OnField, Part, State, Unless};
use crate::error::WithheldReason;
use crate::model::EmbeddedMeta;
use crate::model::bound::{self, Excess};
use crate::model::storable::{self, UnaddressableKey};
use crate::query::array::all_of;
use crate::query::deferred::Deferred;
use crate::query::node::Node;
use crate::query::operators::Operators;

/// A condition that withholds an update.
#[derive(Debug, Clone)]
pub(crate) struct Guard {
    /// The stored path of the list, without the parts that stand for elements, or that of the currency.
    pub(crate) path: String,
    pub(crate) reason: WithheldReason,
    /// The condition of the documents that the update is withheld from.
    pub(crate) withheld: Node,
}

impl Guard {
    /// The condition of the documents that the update may change.
    pub(crate) fn allowed(&self) -> Result<Node, Deferred> {
        self.withheld.clone().not()
    }
}

/// Values that are added to one list.
struct Added<'a> {
    operator: &'static str,
    path: &'a str,
    bound: bound::ListBound,
    values: Vec<&'a Bson>,
    slice: Option<i64>,
}

impl Changes {
    /// The guards that these changes need, by the bounds that the model declares. Raw updates and pipelines have none.
    ///
    /// The names of array filters must be [made](Self::named).
    ///
    /// # Errors
    ///
    /// A value, or the number of added values, exceeds a bound in any document.
    pub(crate) fn guards(&self, meta: &'static EmbeddedMeta) -> Result<Vec<Guard>, Deferred> {
        let Self::Operators(parts) = self else {
            return Ok(Vec::new());
        };
        let mut guards = Vec::new();
        let mut added: Vec<Added<'_>> = Vec::new();
        for part in parts {
            match part {
                Part::Field(change) if change.operator == "$rename" => {
                    guards.extend(renamed(change, meta, parts)?);
                }
                Part::Field(change) => {
                    check(change, meta, &mut added)?;
                    guards.extend(short(change, meta, parts, &guards)?);
                }
                Part::Unless(unless) => guards.push(withheld(unless, parts)?),
                Part::Raw(_) | Part::ArrayFilter(_) | Part::Elements(_) => {}
            }
        }
        for added in &added {
            guards.extend(full(added, parts)?);
        }
        Ok(guards)
    }
}

/// Refuses values that no document may have, and collects those that are added to bounded lists.
fn check<'a>(
    change: &'a OnField,
    meta: &'static EmbeddedMeta,
    added: &mut Vec<Added<'a>>,
) -> Result<(), Deferred> {
    let OnField {
        operator,
        path,
        value,
    } = change;
    if let Some(key) = unaddressable(change, meta) {
        return Err(Deferred::usage(key.path(), key.message()));
    }
    let excess = match *operator {
        "$push" | "$addToSet" => add(change, meta, added),
        "$set" | "$setOnInsert" | "$min" | "$max"
            if matches!(value, Bson::Array(_) | Bson::Document(_)) =>
        {
            bound::excess(meta, path, value)
        }
        "$unset" | "$pull" | "$pullAll" | "$pop" => return Ok(()),
        _ => None,
    };
    if let Some(excess) = excess {
        return Err(too_many(&excess));
    }
    match path
        .contains('.')
        .then(|| bound::position_beyond(meta, path))
    {
        Some(Some(Excess { path, max, count })) => Err(Deferred::usage(
            path,
            format!(
                "the list has at most {max} elements, and the position {} is after the last of them",
                count - 1
            ),
        )),
        _ => Ok(()),
    }
}

/// The first key of a map in a new value that no path can name.
fn unaddressable(change: &OnField, meta: &'static EmbeddedMeta) -> Option<UnaddressableKey> {
    let OnField { path, value, .. } = change;
    let in_value =
        |value: &Bson, is_element| storable::unaddressable_key(meta, path, value, is_element);
    match change.operator {
        "$push" | "$addToSet" => {
            let (values, _) = values(value);
            values.iter().find_map(|value| in_value(value, true))
        }
        "$set" | "$setOnInsert" | "$min" | "$max" => in_value(value, false),
        _ => None,
    }
}

fn too_many(excess: &Excess) -> Deferred {
    Deferred::usage(
        excess.path.as_str(),
        format!(
            "the new value has {} elements, and the declaration allows at most {}",
            excess.count, excess.max
        ),
    )
}

/// Notes the values that `$push` or `$addToSet` adds, and returns the first list in one of them that is too long.
fn add<'a>(
    change: &'a OnField,
    meta: &'static EmbeddedMeta,
    added: &mut Vec<Added<'a>>,
) -> Option<Excess> {
    let (values, slice) = values(&change.value);
    for value in &values {
        if matches!(value, Bson::Array(_) | Bson::Document(_))
            && let Some(excess) = bound::element_excess(meta, &change.path, value)
        {
            return Some(excess);
        }
    }
    let bound = bound::at(meta, &change.path)?;
    let same = |it: &&mut Added<'_>| it.operator == change.operator && it.path == change.path;
    match added.iter_mut().find(same) {
        Some(present) => present.values.extend(values),
        None => added.push(Added {
            operator: change.operator,
            path: &change.path,
            bound,
            values,
            slice,
        }),
    }
    None
}

/// The guard of a list that takes the place of one with a smaller bound.
fn renamed(
    change: &OnField,
    meta: &'static EmbeddedMeta,
    parts: &[Part],
) -> Result<Option<Guard>, Deferred> {
    let Bson::String(target) = &change.value else {
        return Ok(None);
    };
    let Some(bound) = bound::at(meta, target) else {
        return Ok(None);
    };
    let fits = bound::at(meta, &change.path).is_some_and(|source| source.max <= bound.max);
    if fits || bound.numbers_are_names {
        return Ok(None);
    }
    Ok(Some(Guard {
        path: target.clone(),
        reason: WithheldReason::Full { max: bound.max },
        withheld: Leaf::Full(bound.max).at(&change.path, parts)?,
    }))
}

/// The guard of a list of a fixed length of which an element is set: MongoDB would fill a shorter one up with nulls, and store a
/// missing one as a subdocument with the position as a name.
fn short(
    change: &OnField,
    meta: &'static EmbeddedMeta,
    parts: &[Part],
    present: &[Guard],
) -> Result<Option<Guard>, Deferred> {
    if !change.path.contains('.') || change.operator == "$unset" {
        return Ok(None);
    }
    let Some((list, length)) = bound::positioned(meta, &change.path) else {
        return Ok(None);
    };
    let (path, reason) = (shown(&list), WithheldReason::Short { length });
    if present
        .iter()
        .any(|it| it.path == path && it.reason == reason)
    {
        return Ok(None);
    }
    let last = length.saturating_sub(1);
    Ok(Some(Guard {
        withheld: Leaf::Short(last).at(&list, parts)?,
        path,
        reason,
    }))
}

/// The values that an operator adds, and its `$slice`.
fn values(value: &Bson) -> (Vec<&Bson>, Option<i64>) {
    if let Bson::Document(modifiers) = value
        && let Some(Bson::Array(values)) = modifiers.get("$each")
    {
        let slice = match modifiers.get("$slice") {
            Some(Bson::Int32(slice)) => Some(i64::from(*slice)),
            Some(Bson::Int64(slice)) => Some(*slice),
            _ => None,
        };
        return (values.iter().collect(), slice);
    }
    (vec![value], None)
}

/// The guard of values that are added to a bounded list, if they need one.
fn full(added: &Added<'_>, parts: &[Part]) -> Result<Option<Guard>, Deferred> {
    let Added {
        operator,
        path,
        bound,
        values,
        slice,
    } = added;
    let max = bound.max;
    if slice.is_some_and(|slice| slice.unsigned_abs() <= u64::from(max)) {
        return Ok(None);
    }
    let mut values = values.clone();
    if *operator == "$addToSet" {
        distinct(&mut values);
    }
    let count = u32::try_from(values.len()).unwrap_or(u32::MAX);
    let Some(room) = max.checked_sub(count) else {
        return Err(Deferred::usage(
            *path,
            format!(
                "{count} values are added to a list of at most {max}: add fewer, or cut the list with \
                 `push_with(values, |push| push.slice({max}))`"
            ),
        ));
    };
    // The validator alone keeps the bound where `list.9` could be the name of a field.
    if count == 0 || bound.numbers_are_names {
        return Ok(None);
    }
    let leaf = if *operator == "$addToSet" {
        Leaf::FullWithout(room, &values)
    } else {
        Leaf::Full(room)
    };
    Ok(Some(Guard {
        path: shown(path),
        reason: WithheldReason::Full { max },
        withheld: leaf.at(path, parts)?,
    }))
}

fn distinct(values: &mut Vec<&Bson>) {
    let mut seen: Vec<&Bson> = Vec::with_capacity(values.len());
    values.retain(|value| {
        let new = !seen.contains(value);
        if new {
            seen.push(value);
        }
        new
    });
}

/// The guard of an element whose key must be new, or of an amount to which only one of the same currency is added.
fn withheld(unless: &Unless, parts: &[Part]) -> Result<Guard, Deferred> {
    let (reason, leaf) = match &unless.state {
        State::Has(element) => (WithheldReason::Duplicate, Leaf::Has(element)),
        State::OtherCurrency(code) => (WithheldReason::OtherCurrency, Leaf::Differs(code)),
    };
    Ok(Guard {
        path: shown(&unless.path),
        reason,
        withheld: leaf.at(&unless.path, parts)?,
    })
}

/// The path without `$[]` and `$[name]`.
fn shown(path: &str) -> String {
    let fields: Vec<_> = path.split('.').filter(|it| !it.starts_with('$')).collect();
    fields.join(".")
}

/// The condition on a field that withholds the update.
enum Leaf<'a> {
    /// The list has an element at this position.
    Full(u32),
    /// The list has an element at this position, and lacks one of the values.
    FullWithout(u32, &'a [&'a Bson]),
    /// The list has such an element.
    Has(&'a Node),
    /// The field has another value.
    Differs(&'a str),
    /// The list has no element at this position.
    Short(u32),
}

impl Leaf<'_> {
    /// The condition on documents in which a list at `path`, a path of an update, meets this condition.
    fn at(&self, path: &str, parts: &[Part]) -> Result<Node, Deferred> {
        if path.split('.').any(|segment| segment == "$") {
            return Err(Deferred::usage(
                path,
                "the bound of a list inside `positional()` can't be checked: choose the element by \
                 `update_where` or `filtered`",
            ));
        }
        let segments: Vec<_> = path.split('.').collect();
        self.below(&segments, parts)
    }

    fn below(&self, segments: &[&str], parts: &[Part]) -> Result<Node, Deferred> {
        let mut fields: Vec<&str> = Vec::new();
        let mut rest = segments;
        while let [segment, after @ ..] = rest {
            rest = after;
            let Some(name) = segment
                .strip_prefix("$[")
                .and_then(|name| name.strip_suffix(']'))
            else {
                fields.push(segment);
                continue;
            };
            // A path looks into every element by itself, but not into a list that is an element.
            let plain =
                |next: &&str| !next.starts_with(|it: char| it == '$' || it.is_ascii_digit());
            if name.is_empty()
                && matches!(self, Self::Full(_))
                && !fields.is_empty()
                && rest.first().is_some_and(plain)
            {
                continue;
            }
            let element = Node::and([condition(name, parts)?, self.below(rest, parts)?])?;
            let element = element
                .into_element_condition()
                .map_err(|error| error.under(&shown(&segments.join("."))))?;
            return Ok(Node::operator(
                fields.join(".").into(),
                "$elemMatch",
                Bson::Document(element),
            ));
        }
        self.on(fields.join("."))
    }

    fn on(&self, path: String) -> Result<Node, Deferred> {
        let occupied = |position: &u32| {
            let place = if path.is_empty() {
                position.to_string()
            } else {
                format!("{path}.{position}")
            };
            Node::operator(place.into(), "$exists", Bson::Boolean(true))
        };
        match self {
            Self::Full(position) => Ok(occupied(position)),
            Self::Short(position) => occupied(position).not(),
            Self::FullWithout(position, values) => {
                let full = occupied(position);
                let values = values.iter().map(|value| (*value).clone()).collect();
                Node::and([full, all_of(path.into(), values)?.not()?])
            }
            Self::Differs(value) => Ok(Node::operator(path.into(), "$ne", (*value).into())),
            Self::Has(element) => {
                let element = (*element).clone().into_element_condition()?;
                Ok(Node::operator(
                    path.into(),
                    "$elemMatch",
                    Bson::Document(element),
                ))
            }
        }
    }
}

/// The condition of the array filter `name`, as a condition on the element itself.
fn condition(name: &str, parts: &[Part]) -> Result<Node, Deferred> {
    if name.is_empty() {
        return Ok(Node::All);
    }
    for part in parts {
        if let Part::ArrayFilter(filter) = part
            && names(filter) == Some(name)
        {
            return on_element(name, filter);
        }
    }
    // MongoDB refuses an update whose path names no array filter.
    Ok(Node::All)
}

/// The name that an array filter defines.
fn names(filter: &Document) -> Option<&str> {
    filter.iter().find_map(|(key, value)| match value {
        Bson::Array(list) if key.starts_with('$') => list
            .iter()
            .filter_map(Bson::as_document)
            .find_map(|inner| names(inner)),
        _ => key.split('.').next().filter(|name| !name.starts_with('$')),
    })
}

fn on_element(name: &str, filter: &Document) -> Result<Node, Deferred> {
    let mut nodes = Vec::with_capacity(filter.len());
    for (key, value) in filter {
        let node = match (key.as_str(), value) {
            ("$and", Bson::Array(list)) => Node::and(each(name, list)?)?,
            ("$or", Bson::Array(list)) => Node::or(each(name, list)?)?,
            ("$nor", Bson::Array(list)) => Node::nor(each(name, list)?)?,
            (key, value) if key == name => itself(value),
            (key, value) => match key.strip_prefix(name).and_then(|it| it.strip_prefix('.')) {
                Some(field) => Node::Raw(doc! {field: value.clone()}),
                None => {
                    return Err(Deferred::usage(
                        name,
                        format!(
                            "the condition `{key}` of this array filter can't be compared with the bound of a list in \
                             the element"
                        ),
                    ));
                }
            },
        };
        nodes.push(node);
    }
    Node::and(nodes)
}

fn each(name: &str, list: &[Bson]) -> Result<Vec<Node>, Deferred> {
    let documents = list.iter().filter_map(Bson::as_document);
    documents.map(|inner| on_element(name, inner)).collect()
}

/// The condition `{name: value}` on the element itself.
fn itself(value: &Bson) -> Node {
    match value {
        Bson::Document(operators) if operators.keys().any(|key| key.starts_with('$')) => {
            if *operators == doc! {"$exists": true} {
                return Node::All;
            }
            Node::Field("".into(), Operators::from(operators.clone()))
        }
        value => Node::Field("".into(), Operators::equal(value.clone())),
    }
}

#[cfg(test)]
mod tests;
