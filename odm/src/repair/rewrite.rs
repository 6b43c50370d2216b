//! Changes of the values at paths of a document, at any depth.

use bson::raw::RawDocument;
use bson::{Bson, Document, doc};

use crate::error::{Error, Result};
use crate::model::ModelMeta;
use crate::store::limits;
use crate::update::maintain;

/// A change of one value.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Rewrite {
    /// The path of the value; positions in lists are not part of it.
    pub(super) path: String,
    /// The value as it was read.
    pub(super) value: Bson,
    pub(super) change: Change,
}

/// What becomes of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Change {
    Null,
    /// The field is removed; an element of a list becomes null.
    Remove,
    /// The element of the innermost list that holds the value is removed.
    Pull,
    KeepFirst(usize),
    KeepLast(usize),
}

/// What a value leaves behind.
enum Left {
    Value(Bson),
    /// Nothing.
    None,
    /// Nothing, and nothing of the element around it.
    Pulled,
}

/// The update statement that makes these changes of a document, if it still has the values; `None` if it does not have them. Its
/// filter has the fields as they were read.
pub(super) fn statement(
    model: &'static ModelMeta,
    document: &RawDocument,
    rewrites: &[Rewrite],
) -> Result<Option<Document>> {
    let document = Document::try_from(document).map_err(Error::encode)?;
    let id = document.get("_id").cloned().unwrap_or(Bson::Null);
    let (mut set, mut unset) = (Document::new(), Document::new());
    let mut conditions = Vec::new();
    for (name, before) in document {
        let mut path = vec![name.clone()];
        let after = match left(before.clone(), &mut path, rewrites) {
            Left::Value(after) if after == before => continue,
            Left::Value(after) => Some(after),
            Left::None => None,
            Left::Pulled => {
                let message = format!("`{name}` is in no list from which it could be taken out");
                return Err(Error::usage(message).with_model(model.name));
            }
        };
        if name.contains('.') || name.starts_with('$') {
            let message = format!(
                "an update can't name the field {name:?}, which has a dot or begins with `$`: change it by hand"
            );
            return Err(Error::usage(message).with_model(model.name));
        }
        conditions.push(doc! {"$eq": [format!("${name}"), {"$literal": before}]});
        match after {
            Some(after) => set.insert(name, after),
            None => unset.insert(name, ""),
        };
    }
    if conditions.is_empty() {
        return Ok(None);
    }
    let mut change = Document::new();
    for (operator, operands) in [("$set", set), ("$unset", unset)] {
        if !operands.is_empty() {
            change.insert(operator, operands);
        }
    }
    maintain::change(&maintain::fields(model), &mut change);
    let filter = doc! {"_id": {"$eq": id}, "$expr": {"$and": conditions}};
    Ok(Some(doc! {"q": filter, "u": change}))
}

/// The size of the values that a statement names: those that it reads and those that it writes.
pub(super) fn is_small(statement: &Document) -> bool {
    bson::serialize_to_vec(statement).is_ok_and(|bytes| bytes.len() < limits::LIST_BYTES)
}

fn left(value: Bson, path: &mut Vec<String>, rewrites: &[Rewrite]) -> Left {
    let mut change = None;
    let name = path.join(".");
    for rewrite in rewrites {
        if rewrite.path == name && rewrite.value == value {
            change = Some(rewrite.change);
        }
    }
    match change {
        Some(Change::Null) => return Left::Value(Bson::Null),
        Some(Change::Remove) => return Left::None,
        Some(Change::Pull) => return Left::Pulled,
        Some(Change::KeepFirst(_) | Change::KeepLast(_)) | None => {}
    }
    match value {
        Bson::Document(fields) => {
            let mut kept = Document::new();
            for (name, value) in fields {
                path.push(name.clone());
                let left = left(value, path, rewrites);
                path.pop();
                match left {
                    Left::Value(value) => drop(kept.insert(name, value)),
                    Left::None => {}
                    Left::Pulled => return Left::Pulled,
                }
            }
            Left::Value(Bson::Document(kept))
        }
        Bson::Array(elements) => {
            let mut kept = Vec::with_capacity(elements.len());
            for element in elements {
                match left(element, path, rewrites) {
                    Left::Value(element) => kept.push(element),
                    Left::None => kept.push(Bson::Null),
                    Left::Pulled => {}
                }
            }
            match change {
                Some(Change::KeepFirst(length)) => kept.truncate(length),
                Some(Change::KeepLast(length)) => {
                    let extra = kept.len().saturating_sub(length);
                    kept.drain(..extra);
                }
                _ => {}
            }
            Left::Value(Bson::Array(kept))
        }
        value => Left::Value(value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rewritten(document: &Document, path: &str, value: impl Into<Bson>, change: Change) -> Bson {
        let rewrite = Rewrite {
            path: path.to_owned(),
            value: value.into(),
            change,
        };
        let mut all = Document::new();
        for (name, value) in document {
            let mut path = vec![name.clone()];
            match left(value.clone(), &mut path, std::slice::from_ref(&rewrite)) {
                Left::Value(value) => drop(all.insert(name, value)),
                Left::None => {}
                Left::Pulled => return "pulled".into(),
            }
        }
        all.into()
    }

    #[test]
    fn values_change_at_any_depth() {
        let document =
            doc! {"a": 1, "b": [{"c": 1, "d": 1}, {"c": 2}], "e": [1, 2, [1]], "f": {"g": 1}};
        let change = |path, change| rewritten(&document, path, 1, change);
        let with = |name: &str, value: Bson| {
            let mut other = document.clone();
            other.insert(name, value);
            Bson::from(other)
        };
        assert_eq!(change("a", Change::Null), with("a", Bson::Null));
        assert_eq!(
            change("b.c", Change::Null),
            with(
                "b",
                vec![doc! {"c": Bson::Null, "d": 1}, doc! {"c": 2}].into()
            )
        );
        assert_eq!(
            change("b.c", Change::Remove),
            with("b", vec![doc! {"d": 1}, doc! {"c": 2}].into())
        );
        assert_eq!(
            change("b.c", Change::Pull),
            with("b", vec![doc! {"c": 2}].into())
        );
        assert_eq!(
            change("e", Change::Pull),
            with("e", Bson::Array(vec![2.into(), Bson::Array(Vec::new())]))
        );
        assert_eq!(change("f.g", Change::Remove), with("f", doc! {}.into()));
        assert_eq!(change("f.g", Change::Pull), "pulled".into());
        assert_eq!(change("b.d.x", Change::Null), document.clone().into());
    }

    #[test]
    fn only_the_value_that_was_read_changes() {
        let document = doc! {"a": [1, 2, 3]};
        let keep = |value: Vec<i32>, change| rewritten(&document, "a", value, change);
        assert_eq!(
            keep(vec![1, 2, 3], Change::KeepFirst(2)),
            doc! {"a": [1, 2]}.into()
        );
        assert_eq!(
            keep(vec![1, 2, 3], Change::KeepLast(2)),
            doc! {"a": [2, 3]}.into()
        );
        assert_eq!(
            keep(vec![1, 2], Change::KeepLast(2)),
            document.clone().into()
        );
    }
}
