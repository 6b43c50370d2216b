//! Changed documents, computed from the change instead of read again.

use bson::{Bson, Document, RawDocumentBuf};

use crate::error::{Error, Result};

/// The fields of these documents after a change, if its operators alone say what they are: `$set` replaces a field, or nothing
/// touches it.
///
/// It holds in a transaction only, where nobody else writes between the read of the documents and the change.
pub(super) fn changed(
    before: &[RawDocumentBuf],
    fields: &Document,
    operators: &Document,
) -> Result<Option<Vec<RawDocumentBuf>>> {
    let Some(values) = values(fields, operators) else {
        return Ok(None);
    };
    let mut after = Vec::with_capacity(before.len());
    for document in before {
        let mut document = Document::try_from(document).map_err(Error::encode)?;
        for (field, value) in &values {
            document.insert(*field, (*value).clone());
        }
        after.push(RawDocumentBuf::try_from(document).map_err(Error::encode)?);
    }
    Ok(Some(after))
}

/// The values that `$set` gives to these fields; `None` if another operator, or a path inside of a field, changes one.
fn values<'c>(fields: &Document, operators: &'c Document) -> Option<Vec<(&'c str, &'c Bson)>> {
    let mut values = Vec::new();
    for (operator, operands) in operators {
        // The operands of `$rename` name fields, too.
        let Bson::Document(operands) = operands else {
            return None;
        };
        if operator == "$rename" {
            return None;
        }
        for (path, value) in operands {
            let touches = |field: &String| first_name(field) == first_name(path);
            if !fields.keys().any(touches) {
                continue;
            }
            if operator != "$set" || path.contains('.') || !fields.contains_key(path) {
                return None;
            }
            values.push((path.as_str(), value));
        }
    }
    Some(values)
}

fn first_name(path: &str) -> &str {
    path.split('.').next().unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use bson::doc;

    fn after(operators: &Document) -> Option<Document> {
        let before = RawDocumentBuf::try_from(doc! {"_id": 1, "a": 1, "l": {"x": 1}}).unwrap();
        let fields = doc! {"_id": 1, "a": 1, "b": 1, "l.x": 1};
        let after = changed(&[before], &fields, operators).unwrap()?;
        Some(Document::try_from(&after[0]).unwrap())
    }

    #[test]
    fn fields_that_are_set_are_known() {
        let before = doc! {"_id": 1, "a": 1, "l": {"x": 1}};
        assert_eq!(
            after(&doc! {"$set": {"c": 2}, "$inc": {"d.e": 1}}),
            Some(before)
        );
        let set = doc! {"$set": {"a": [2]}, "$currentDate": {"at": true}, "$unset": {"c": ""}};
        let expected = doc! {"_id": 1, "a": [2], "l": {"x": 1}};
        assert_eq!(after(&set), Some(expected));
        let expected = doc! {"_id": 1, "a": 1, "l": {"x": 1}, "b": null};
        assert_eq!(after(&doc! {"$set": {"b": null}}), Some(expected));
    }

    #[test]
    fn other_changes_are_read() {
        for operators in [
            doc! {"$inc": {"a": 1}},
            doc! {"$unset": {"b": ""}},
            doc! {"$set": {"a.b": 1}},
            doc! {"$set": {"l": {"x": 2}}},
            doc! {"$set": {"l.x": 2}},
            doc! {"$set": {"l.$[].x": 2}},
            doc! {"$push": {"l.y": 2}},
            doc! {"$setOnInsert": {"a": 2}},
            doc! {"$rename": {"c": "a"}},
            doc! {"a": 1},
        ] {
            assert_eq!(after(&operators), None, "{operators}");
        }
    }
}
