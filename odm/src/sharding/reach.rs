//! The shards that a filter reaches.

use bson::{Bson, Document};

/// How many shards have documents that a filter may match.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reach {
    /// One: the filter has a value of every field of the shard key.
    One,
    /// Those with certain values.
    Some,
    /// All.
    All,
}

/// The condition of a filter on one field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Asked {
    /// Nothing that is of use to a cluster.
    Nothing,
    /// A range of values, which are in order unless the field is hashed.
    Range,
    /// One of several values.
    Several,
    /// One value.
    One,
}

/// A shard key, as `shardCollection` takes it.
#[derive(Debug)]
pub(super) struct Key(pub(super) Document);

/// The shards that a filter reaches, and why it reaches no single one.
pub(super) struct Found {
    pub(super) reach: Reach,
    /// The fields without a single value.
    pub(super) missing: Vec<String>,
}

impl Key {
    /// Compares a filter with the key.
    pub(super) fn found(&self, filter: &Document) -> Found {
        let asked: Vec<Asked> = self.0.keys().map(|name| asked(filter, name)).collect();
        let missing = self.0.keys().zip(&asked);
        let missing = missing.filter(|(_, asked)| **asked != Asked::One);
        let missing: Vec<String> = missing.map(|(name, _)| name.clone()).collect();
        let is_hashed = self.0.values().next().is_some_and(is_hashed);
        let reach = match asked.first() {
            _ if missing.is_empty() => Reach::One,
            Some(Asked::Several | Asked::One) => Reach::Some,
            Some(Asked::Range) if !is_hashed => Reach::Some,
            _ => Reach::All,
        };
        Found { reach, missing }
    }
}

fn is_hashed(kind: &Bson) -> bool {
    kind.as_str() == Some("hashed")
}

/// Whether a filter asks for one value of `_id`.
pub(super) fn has_id(filter: &Document) -> bool {
    asked(filter, "_id") == Asked::One
}

fn asked(filter: &Document, path: &str) -> Asked {
    let of_condition = |(name, condition): (&String, &Bson)| match (name.as_str(), condition) {
        ("$and", Bson::Array(parts)) => {
            let parts = parts.iter().filter_map(Bson::as_document);
            parts.map(|part| asked(part, path)).max()
        }
        ("$or", Bson::Array(branches)) => {
            let least = branches.iter().filter_map(Bson::as_document);
            let least = least.map(|branch| asked(branch, path)).min();
            // Two branches may have two values.
            least.map(|asked| {
                if branches.len() > 1 {
                    asked.min(Asked::Several)
                } else {
                    asked
                }
            })
        }
        (name, condition) if name == path => Some(asked_of(condition)),
        // A whole subdocument.
        (name, Bson::Document(whole)) if !is_operators(whole) => {
            let inside = path.strip_prefix(name)?.strip_prefix('.')?;
            value_at(whole, inside).map(asked_of_value)
        }
        _ => None,
    };
    let strongest = filter.iter().filter_map(of_condition).max();
    strongest.unwrap_or(Asked::Nothing)
}

fn asked_of(condition: &Bson) -> Asked {
    let Bson::Document(operators) = condition else {
        return asked_of_value(condition);
    };
    if !is_operators(operators) {
        return Asked::One;
    }
    let of_operator = |(name, operand): (&String, &Bson)| match (name.as_str(), operand) {
        ("$eq", value) => asked_of_value(value),
        ("$in", Bson::Array(values)) => {
            let least = values.iter().map(asked_of_value).min();
            let least = least.unwrap_or(Asked::One);
            if values.len() > 1 {
                least.min(Asked::Several)
            } else {
                least
            }
        }
        ("$gt" | "$gte" | "$lt" | "$lte", _) => Asked::Range,
        _ => Asked::Nothing,
    };
    operators
        .iter()
        .map(of_operator)
        .max()
        .unwrap_or(Asked::Nothing)
}

fn asked_of_value(value: &Bson) -> Asked {
    match value {
        Bson::RegularExpression(regex)
            if regex.pattern.as_str().starts_with('^') && regex.options.as_str().is_empty() =>
        {
            Asked::Range
        }
        // An array matches documents that have it, and documents that have it as an element.
        Bson::RegularExpression(_) | Bson::Array(_) => Asked::Nothing,
        _ => Asked::One,
    }
}

fn is_operators(document: &Document) -> bool {
    document
        .keys()
        .next()
        .is_some_and(|first| first.starts_with('$'))
}

fn value_at<'d>(document: &'d Document, path: &str) -> Option<&'d Bson> {
    match path.split_once('.') {
        None => document.get(path),
        Some((name, rest)) => value_at(document.get_document(name).ok()?, rest),
    }
}
