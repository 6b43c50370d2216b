//! The representation of a filter; not generic, so that it is compiled once.

use std::borrow::Cow;
use std::collections::HashMap;

use bson::{Bson, Document, doc};

use super::deferred::Deferred;
use super::joined::Joined;
use super::operators::{Operators, is_of_db_ref};
use crate::store::Condition;

/// A condition, before it is written as a document.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Node {
    /// `{}`
    All,
    /// The operators on one field, such as `{$gt: 1}`; an empty path names the value itself.
    Field(Cow<'static, str>, Operators),
    /// A document that the caller wrote; not empty.
    Raw(Document),
    /// Two or more, none of them `All` or `And`.
    And(Joined),
    /// One or more, none of them `Or`.
    Or(Joined),
    /// One or more.
    Nor(Joined),
}

impl Node {
    /// `{path: {operator: value}}`
    #[inline]
    pub(crate) fn operator(path: Cow<'static, str>, operator: &str, value: Bson) -> Self {
        Self::Field(path, Operators::one(operator, value))
    }

    /// How deep `And`, `Or` and `Nor` nest.
    pub(super) fn depth(&self) -> usize {
        match self {
            Self::And(joined) | Self::Or(joined) | Self::Nor(joined) => joined.depth(),
            Self::All | Self::Field(..) | Self::Raw(_) => 0,
        }
    }

    pub(crate) fn and(nodes: impl IntoIterator<Item = Self>) -> Result<Self, Deferred> {
        let mut joined = Joined::default();
        for node in nodes {
            match node {
                Self::All => {}
                Self::And(inner) => joined.append(inner),
                other => joined.push(other),
            }
        }
        match joined.only() {
            Ok(None) => Ok(Self::All),
            Ok(Some(node)) => Ok(node),
            Err(joined) => joined.bounded().map(Self::And),
        }
    }

    pub(crate) fn or(nodes: impl IntoIterator<Item = Self>) -> Result<Self, Deferred> {
        match alternatives(nodes).only() {
            // MongoDB refuses an empty `$or`.
            Ok(None) => Ok(Self::nothing()),
            Ok(Some(node)) => Ok(node),
            Err(joined) => joined.bounded().map(Self::Or),
        }
    }

    pub(crate) fn nor(nodes: impl IntoIterator<Item = Self>) -> Result<Self, Deferred> {
        let joined = alternatives(nodes);
        if joined.is_empty() {
            return Ok(Self::All);
        }
        joined.bounded().map(Self::Nor)
    }

    /// A condition that no document matches.
    pub(crate) fn nothing() -> Self {
        Self::Nor(Joined::one(Self::All))
    }

    pub(crate) fn not(self) -> Result<Self, Deferred> {
        match self {
            Self::Field(path, operators) => Ok(Self::not_field(path, operators)),
            Self::Or(nodes) => Ok(Self::Nor(nodes)),
            Self::Nor(nodes) => Self::or(nodes),
            Self::And(nodes) => match merged_element(&nodes) {
                Some(Ok(operators)) => Ok(Self::not_field(Cow::default(), operators.into())),
                _ => Joined::one(Self::And(nodes)).bounded().map(Self::Nor),
            },
            other => Ok(Self::Nor(Joined::one(other))),
        }
    }

    fn not_field(path: Cow<'static, str>, operators: Operators) -> Self {
        let negated = match operators.single() {
            // MongoDB refuses a regular expression in `$ne`.
            Some(("$eq", Bson::RegularExpression(_))) => None,
            Some(("$eq", value)) => Some(Operators::one("$ne", value.clone())),
            Some(("$ne", value)) => Some(Operators::one("$eq", value.clone())),
            Some(("$exists", Bson::Boolean(exists))) => {
                Some(Operators::one("$exists", Bson::Boolean(!exists)))
            }
            Some(("$not", Bson::Document(inner))) => Some(inner.clone().into()),
            _ => None,
        };
        let negated = negated
            .unwrap_or_else(|| Operators::one("$not", Bson::Document(operators.into_document())));
        Self::Field(path, negated)
    }

    /// The value that the condition requires at `path`, if it requires one.
    pub(crate) fn equality(&self, path: &str) -> Option<&Bson> {
        match self {
            Self::Field(at, operators) if at == path => {
                let mut operators = operators.iter();
                operators.find_map(|(operator, value)| (operator == "$eq").then_some(value))
            }
            Self::And(nodes) => nodes.iter().find_map(|node| node.equality(path)),
            _ => None,
        }
    }

    /// The same condition on the value at `name`, for a condition on the value itself or on its fields.
    pub(crate) fn under(self, name: &str) -> Self {
        let all = |nodes: Joined| {
            let mut under = Joined::default();
            for node in nodes {
                under.push(node.under(name));
            }
            under
        };
        match self {
            Self::All => Self::All,
            Self::Field(path, operators) if path.is_empty() => {
                Self::Field(Cow::Owned(name.to_owned()), operators)
            }
            Self::Field(path, operators) => {
                Self::Field(Cow::Owned(format!("{name}.{path}")), operators)
            }
            Self::Raw(document) => Self::Raw(document_under(document, name)),
            Self::And(nodes) => Self::And(all(nodes)),
            Self::Or(nodes) => Self::Or(all(nodes)),
            Self::Nor(nodes) => Self::Nor(all(nodes)),
        }
    }

    /// The document that is sent.
    pub(crate) fn into_document(self) -> Result<Document, Deferred> {
        match self {
            Self::All => Ok(Document::new()),
            Self::Field(path, operators) => field_document(path, operators),
            Self::Raw(document) => Ok(document),
            Self::Or(nodes) => Ok(doc! {"$or": list(nodes)?}),
            Self::Nor(nodes) => Ok(doc! {"$nor": list(nodes)?}),
            Self::And(nodes) => conjunction(nodes),
        }
    }

    /// The condition in the form that a store takes.
    #[inline]
    pub(crate) fn into_condition(self) -> Result<Condition, Deferred> {
        match self {
            Self::Field(path, operators) if !path.is_empty() => {
                Ok(Condition::One(path, operators.into_value()))
            }
            other => other.into_document().map(Condition::Document),
        }
    }

    /// The operand of `$elemMatch` and `$pull`: operators for an array of scalars, conditions on fields for
    /// an array of documents.
    pub(crate) fn into_element_condition(self) -> Result<Document, Deferred> {
        let condition = self.into_unchecked_element_condition()?;
        match operators_on_db_ref(&condition) {
            None => Ok(condition),
            Some(name) => Err(Deferred::usage(
                name,
                "MongoDB compares the parts of a DBRef that is the element itself with whole values only: write `eq`, or a \
                 condition on `.any()`",
            )),
        }
    }

    fn into_unchecked_element_condition(self) -> Result<Document, Deferred> {
        match self {
            // `{}` would match documents only
            Self::All => Ok(doc! {"$exists": true}),
            Self::Field(path, operators) if path.is_empty() => Ok(operators.into_document()),
            Self::And(nodes) => merged_element(&nodes).unwrap_or_else(|| conjunction(nodes)),
            other => other.into_document(),
        }
    }
}

/// [`Node::under`], for a document that the caller wrote.
fn document_under(document: Document, name: &str) -> Document {
    let mut under = Document::new();
    for (key, value) in document {
        match value {
            Bson::Array(list) if matches!(key.as_str(), "$and" | "$or" | "$nor") => {
                let each = list.into_iter().map(|value| match value {
                    Bson::Document(inner) => Bson::Document(document_under(inner, name)),
                    other => other,
                });
                under.insert(key, each.collect::<Vec<_>>());
            }
            value if key.starts_with('$') => {
                under.insert(key, value);
            }
            value => {
                under.insert(format!("{name}.{key}"), value);
            }
        }
    }
    under
}

/// The name of a part of a DBRef that has operators in the condition of an element.
fn operators_on_db_ref(condition: &Document) -> Option<&str> {
    condition.iter().find_map(|(key, value)| match value {
        Bson::Document(operators) if is_of_db_ref(key) => {
            let is_operator = |name: &String| name.starts_with('$') && !is_of_db_ref(name);
            operators.keys().any(is_operator).then_some(key.as_str())
        }
        Bson::Array(list) if matches!(key.as_str(), "$and" | "$or" | "$nor") => {
            let inner = list.iter().filter_map(Bson::as_document);
            inner.into_iter().find_map(operators_on_db_ref)
        }
        _ => None,
    })
}

/// Merges operators on the element itself into one document; `None` if there are other conditions.
fn merged_element(nodes: &Joined) -> Option<Result<Document, Deferred>> {
    let mut merged = Document::new();
    for node in nodes.iter() {
        let Node::Field(path, operators) = node else {
            return None;
        };
        if !path.is_empty() {
            return None;
        }
        for (operator, value) in operators.iter() {
            if merged.insert(operator, value.clone()).is_some() {
                let message = format!(
                    "MongoDB can't test one element with two `{operator}`: leave one of them out"
                );
                return Some(Err(Deferred::usage("", message)));
            }
        }
    }
    Some(Ok(merged))
}

/// The list of `nodes`, with each `Or` replaced by its operands.
fn alternatives(nodes: impl IntoIterator<Item = Node>) -> Joined {
    let mut joined = Joined::default();
    for node in nodes {
        match node {
            Node::Or(inner) => joined.append(inner),
            other => joined.push(other),
        }
    }
    joined
}

fn list(nodes: Joined) -> Result<Vec<Bson>, Deferred> {
    nodes
        .into_iter()
        .map(|node| node.into_document().map(Bson::Document))
        .collect()
}

/// `{path: value}` if MongoDB reads that as `$eq`, else `{path: {operators}}`.
fn field_document(path: Cow<'static, str>, operators: Operators) -> Result<Document, Deferred> {
    if path.is_empty() {
        return Err(Deferred::usage(
            "",
            "MongoDB can't join a condition on the element itself with `|`, `!` or conditions on its fields: leave one of them out",
        ));
    }
    let mut document = Document::new();
    document.insert(path, operators.into_value());
    Ok(document)
}

/// Joins conditions in one document; those whose field or operator is already there go into `$and`.
fn conjunction(nodes: Joined) -> Result<Document, Deferred> {
    let mut merged: Vec<Node> = Vec::new();
    let mut places: HashMap<Cow<'static, str>, usize> = HashMap::new();
    let mut rest = Vec::new();
    for node in nodes {
        let Node::Field(path, operators) = node else {
            merged.push(node);
            continue;
        };
        let present = places.get(&path).and_then(|place| merged.get_mut(*place));
        if let Some(Node::Field(_, present)) = present {
            if let Err(operators) = present.merge(operators) {
                rest.push(Bson::Document(field_document(path, operators)?));
            }
        } else {
            places.insert(path.clone(), merged.len());
            merged.push(Node::Field(path, operators));
        }
    }
    let mut document = Document::new();
    for node in merged {
        let part = node.into_document()?;
        if part
            .keys()
            .any(|key| key == "$and" || document.contains_key(key))
        {
            rest.push(Bson::Document(part));
        } else {
            document.extend(part);
        }
    }
    if !rest.is_empty() {
        document.insert("$and", rest);
    }
    Ok(document)
}
