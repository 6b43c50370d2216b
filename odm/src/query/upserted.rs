//! Filters of upserts.
//!
//! MongoDB copies the equalities of the filter into a document that an upsert inserts. Equality with an element of a list is
//! copied as a single value (`{tags: "new"}`), which the model can't read. These conditions are sent in a form that means the
//! same and of which MongoDB copies nothing.

use bson::{Bson, Document, doc};

use super::operators::{is_of_db_ref, stands_for_itself};
use crate::error::{Error, Result};
use crate::model::{BsonType, EmbeddedMeta, Shape, TypeMeta, bound};
use crate::store::{Condition, Modification};

/// The filter in a form of which an upsert copies only what the model can read.
pub(crate) fn upserted(filter: Condition, meta: &'static EmbeddedMeta) -> Result<Condition> {
    let document = match filter {
        // Of most upserts the filter is equality with the id.
        Condition::One(path, value) if !path.contains('.') && !bound::is_list(meta, &path) => {
            return Ok(Condition::One(path, value));
        }
        other => other.into_document(),
    };
    all_of(document, meta).map(Condition::Document)
}

/// Refuses an upsert that would insert a document whose `_id` MongoDB makes, if the model can't read an `ObjectId` there.
pub(crate) fn check_id(
    filter: &Condition,
    modification: &Modification,
    meta: &EmbeddedMeta,
) -> Result<()> {
    let id = meta.fields.iter().find(|field| field.name == "_id");
    if id.is_none_or(|id| may_be_object_id(&id.ty)) {
        return Ok(());
    }
    let by_filter = match filter {
        Condition::One(path, value) => path == "_id" && is_equality(value),
        Condition::Document(filter) => sets_id(filter),
    };
    let by_update = match modification {
        Modification::One { path, .. } => path == "_id",
        Modification::Operators(operators) => {
            let mut operands = operators.values().filter_map(Bson::as_document);
            operands.any(|fields| fields.contains_key("_id"))
        }
        // Its stages may compute an `_id`.
        Modification::Pipeline(_) => true,
    };
    if by_filter || by_update {
        return Ok(());
    }
    Err(Error::usage(
        "this upsert could insert a document with an `_id` made by MongoDB, an ObjectId, which this field can't hold: \
         compare the `_id` in the filter, or set it with `set_on_insert`",
    )
    .with_path("_id"))
}

fn may_be_object_id(ty: &TypeMeta) -> bool {
    match ty.shape {
        Shape::Scalar(types) => types.contains(&BsonType::ObjectId),
        Shape::Reference { id, .. } => may_be_object_id(id),
        Shape::Embedded(meta) => meta().variants.is_some(),
        Shape::Any => true,
        Shape::OneOf(_) | Shape::Array { .. } | Shape::Tuple(_) | Shape::Map(_) => false,
    }
}

/// Whether an upsert takes the `_id` from the filter.
fn sets_id(filter: &Document) -> bool {
    let in_each = |all: &Bson| {
        let mut all = all.as_array().into_iter().flatten();
        all.any(|one| one.as_document().is_some_and(sets_id))
    };
    filter.iter().any(|(key, value)| match key.as_str() {
        "$and" => in_each(value),
        "$or" => value.as_array().is_some_and(|all| all.len() == 1) && in_each(value),
        "_id" => is_equality(value),
        _ => false,
    })
}

/// Whether MongoDB copies the value of a condition on one field.
fn is_equality(condition: &Bson) -> bool {
    match condition {
        Bson::RegularExpression(_) => false,
        Bson::Document(operators) if operators.keys().any(|key| key.starts_with('$')) => {
            operators.iter().any(|(operator, value)| match value {
                Bson::Array(values) if operator == "$in" => all_equal(values),
                Bson::Array(values) if operator == "$all" => values.iter().any(is_copied),
                _ => operator == "$eq",
            })
        }
        _ => true,
    }
}

fn all_of(filter: Document, meta: &'static EmbeddedMeta) -> Result<Document> {
    let mut kept = Document::new();
    let mut moved: Vec<Bson> = Vec::new();
    for (key, value) in filter {
        let name = key.clone();
        match (name.as_str(), value) {
            ("$and", Bson::Array(all)) => {
                kept.insert(key, each(all, meta)?);
            }
            // MongoDB takes one alternative for the condition itself.
            ("$or", Bson::Array(all)) if all.len() == 1 => {
                kept.insert(key, each(all, meta)?);
            }
            (operator, value) if operator.starts_with('$') => {
                kept.insert(key, value);
            }
            (path, value) => {
                if let Some(value) = field(path, value, meta, &mut moved)? {
                    kept.insert(key, value);
                }
            }
        }
    }
    if kept.is_empty()
        && let [Bson::Document(only)] = moved.as_slice()
    {
        return Ok(only.clone());
    }
    if !moved.is_empty() {
        if let Ok(all) = kept.get_array_mut("$and") {
            all.append(&mut moved);
        } else {
            kept.insert("$and", moved);
        }
    }
    Ok(kept)
}

fn each(all: Vec<Bson>, meta: &'static EmbeddedMeta) -> Result<Vec<Bson>> {
    let each = all.into_iter().map(|one| match one {
        Bson::Document(one) => all_of(one, meta).map(Bson::Document),
        other => Ok(other),
    });
    each.collect()
}

/// Moves the equalities out of the condition on a field; returns what is left of it.
fn field(
    path: &str,
    condition: Bson,
    meta: &'static EmbeddedMeta,
    moved: &mut Vec<Bson>,
) -> Result<Option<Bson>> {
    let operators = match condition {
        Bson::Document(operators)
            if operators
                .keys()
                .any(|key| key.starts_with('$') && !is_of_db_ref(key)) =>
        {
            operators
        }
        Bson::RegularExpression(pattern) => return Ok(Some(pattern.into())),
        value => doc! {"$eq": value},
    };
    let copied = |(operator, value): (&String, &Bson)| match (operator.as_str(), value) {
        ("$eq", _) => true,
        ("$in", Bson::Array(values)) => all_equal(values),
        ("$all", Bson::Array(values)) => values.iter().any(is_copied),
        _ => false,
    };
    if path.starts_with("_id.") && operators.iter().any(copied) {
        return Err(Error::usage(
            "an upsert would insert an `_id` of the parts that the filter names, in the order of their names: compare the \
             whole `_id`, with `eq`",
        )
        .with_path(path));
    }
    let place = Place::of(path, meta);
    let mut left = Document::new();
    for (operator, value) in operators {
        let name = operator.clone();
        let values = match (name.as_str(), value) {
            ("$eq", value) if place.is_unreadable(&value) => vec![value],
            ("$in", Bson::Array(values))
                if all_equal(&values) && values.iter().any(|it| place.is_unreadable(it)) =>
            {
                values.into_iter().take(1).collect()
            }
            ("$all", Bson::Array(values))
                if (place.is_list || place.is_inside()) && values.iter().all(is_copied) =>
            {
                values
            }
            (_, value) => {
                left.insert(operator, value);
                continue;
            }
        };
        if values.is_empty() {
            left.insert(name, values);
            continue;
        }
        let of_list = name == "$all";
        moved.extend(
            values
                .into_iter()
                .map(|it| Bson::from(place.equal(it, of_list))),
        );
    }
    if left.is_empty() {
        return Ok(None);
    }
    let only = left.get("$eq").filter(|_| left.len() == 1);
    let plain = only.filter(|value| stands_for_itself(value)).cloned();
    Ok(Some(plain.unwrap_or_else(|| left.into())))
}

fn all_equal(values: &[Bson]) -> bool {
    match values {
        // A pattern matches instead of being equal.
        [] | [Bson::RegularExpression(_), ..] => false,
        [first, rest @ ..] => rest.iter().all(|value| value == first),
    }
}

/// Whether MongoDB copies a value of `$all`.
fn is_copied(value: &Bson) -> bool {
    match value {
        Bson::RegularExpression(_) => false,
        Bson::Document(value) => !value.contains_key("$elemMatch"),
        _ => true,
    }
}

/// Where a path leads.
struct Place {
    path: String,
    /// The path, cut behind each list whose elements it enters.
    parts: Vec<String>,
    /// Whether it names an element by its position.
    by_position: bool,
    is_list: bool,
    /// Whether it is a list of lists.
    of_lists: bool,
}

impl Place {
    fn of(path: &str, meta: &'static EmbeddedMeta) -> Self {
        // With a position behind each list.
        let mut full = String::new();
        let mut parts: Vec<String> = vec![String::new()];
        let mut by_position = false;
        for segment in path.split('.') {
            if !full.is_empty() {
                if bound::is_list(meta, &full) {
                    if segment.bytes().all(|byte| byte.is_ascii_digit()) {
                        by_position = true;
                    } else {
                        full.push_str(".0");
                        parts.push(String::new());
                    }
                }
                full.push('.');
            }
            full.push_str(segment);
            if let Some(part) = parts.last_mut() {
                if !part.is_empty() {
                    part.push('.');
                }
                part.push_str(segment);
            }
        }
        let is_list = bound::is_list(meta, &full);
        let of_lists = is_list && bound::is_list(meta, &format!("{full}.0"));
        Self {
            path: path.to_owned(),
            parts,
            by_position,
            is_list,
            of_lists,
        }
    }

    fn is_inside(&self) -> bool {
        self.parts.len() > 1 || self.by_position
    }

    /// Whether the value is an element of the list at the path, not the whole list.
    fn is_element(&self, value: &Bson) -> bool {
        match value {
            Bson::Array(values) if self.of_lists => {
                values.first().is_some_and(|it| it.as_array().is_none())
            }
            Bson::Array(_) => false,
            _ => self.is_list,
        }
    }

    /// Whether the model can't read a document into which MongoDB copied the value.
    fn is_unreadable(&self, value: &Bson) -> bool {
        // `null` stands for a list that is absent.
        self.is_inside() || (*value != Bson::Null && self.is_element(value))
    }

    /// Equality in a form that MongoDB does not copy.
    fn equal(&self, value: Bson, of_list: bool) -> Document {
        // Equality with null matches absent lists, and `$elemMatch` knows no positions.
        if value == Bson::Null || self.by_position {
            let path = self.path.as_str();
            return doc! {"$or": [{path: {"$eq": value}}, {path: {"$in": []}}]};
        }
        let is_element = of_list && self.is_list || self.is_element(&value);
        let equal = if stands_for_itself(&value) && !is_element {
            value
        } else {
            doc! {"$eq": value}.into()
        };
        let mut condition = equal;
        if is_element {
            condition = doc! {"$elemMatch": condition}.into();
        }
        let mut parts = self.parts.iter().rev();
        if let Some(last) = parts.next() {
            condition = doc! {last: condition}.into();
        }
        for list in parts {
            condition = doc! {list: {"$elemMatch": condition}}.into();
        }
        match condition {
            Bson::Document(condition) => condition,
            _ => Document::new(),
        }
    }
}
