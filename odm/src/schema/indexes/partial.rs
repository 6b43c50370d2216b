//! Checks the filters of partial indexes.

use bson::{Bson, Document};

use crate::error::Result;
use crate::schema::normal::is_truthy;
use crate::schema::validator::declaration;

/// The operators on a field that MongoDB allows in a partial filter.
const CONDITIONS: [&str; 11] = [
    "$all",
    "$eq",
    "$exists",
    "$geoIntersects",
    "$geoWithin",
    "$gt",
    "$gte",
    "$in",
    "$lt",
    "$lte",
    "$type",
];

/// Refuses filters that MongoDB would refuse when it builds the index.
pub(super) fn check(filter: &Document) -> Result<()> {
    match refused(filter) {
        None => Ok(()),
        Some(what) => Err(declaration(format!(
            "its partial filter uses {what}, and MongoDB allows $eq, $gt, $gte, $lt, $lte, $in, \
             $all, $type, `$exists: true`, $geoWithin and $geoIntersects there, joined by $and and \
             $or; turn the condition into one of these"
        ))),
    }
}

/// The first thing in `filter` that is not allowed.
fn refused(filter: &Document) -> Option<String> {
    filter.iter().find_map(|(key, value)| match key.as_str() {
        "$and" | "$or" => {
            let clauses = value.as_array().map(Vec::as_slice).unwrap_or_default();
            clauses
                .iter()
                .filter_map(Bson::as_document)
                .find_map(refused)
        }
        "$comment" => None,
        operator if operator.starts_with('$') => Some(operator.to_owned()),
        _ => condition(value),
    })
}

fn condition(value: &Bson) -> Option<String> {
    match value {
        Bson::RegularExpression(_) => Some("a regular expression".to_owned()),
        Bson::Document(operators) if operators.keys().any(|key| key.starts_with('$')) => {
            operators.iter().find_map(|(operator, operand)| {
                if !CONDITIONS.contains(&operator.as_str()) {
                    return Some(operator.clone());
                }
                (operator == "$exists" && !is_truthy(operand))
                    .then(|| "`$exists: false`".to_owned())
            })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use bson::{Document, doc};

    use super::check;

    /// As MongoDB 6.0.5 accepts and refuses them.
    #[test]
    fn operators() {
        let taken: [Document; 7] = [
            doc! {},
            doc! {"b": null},
            doc! {"b": {"c": {"$ne": 1}}},
            doc! {"b": {"$gt": 1, "$lt": 5}, "$comment": "x"},
            doc! {"b": {"$exists": 1, "$type": ["string"]}},
            doc! {"$or": [{"b": {"$in": [1]}}, {"$and": [{"c": {"$all": [1]}}]}]},
            doc! {"b": {"$geoWithin": {"$center": [[0, 0], 1]}}},
        ];
        for filter in taken {
            assert!(check(&filter).is_ok(), "{filter}");
        }
        let refused = [
            (doc! {"b": {"$ne": 1}}, "$ne"),
            (doc! {"b": {"$exists": false}}, "`$exists: false`"),
            (doc! {"b": {"$gt": 1, "$not": {"$gt": 3}}}, "$not"),
            (doc! {"$nor": [{"b": 1}]}, "$nor"),
            (doc! {"b": {"$regex": "a"}}, "$regex"),
            (
                doc! {"b": bson::Regex { pattern: bson::raw::cstr!("a").into(), options: bson::raw::cstr!("").into() }},
                "a regular expression",
            ),
            (
                doc! {"$or": [{"b": {"$elemMatch": {"c": 1}}}]},
                "$elemMatch",
            ),
            (doc! {"$expr": {"$gt": ["$b", 1]}}, "$expr"),
        ];
        for (filter, what) in refused {
            let message = check(&filter).unwrap_err().to_string();
            assert!(message.contains(&format!("uses {what},")), "{message}");
        }
    }
}
