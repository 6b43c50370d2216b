//! The inside of a filter: not generic, so that it is compiled once.

use bson::{Bson, Document, doc};

use super::deferred::Deferred;

/// A condition, before it is written as a document.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Node {
    /// `{}`
    All,
    /// One field, with an operator document such as `{$gt: 1}`; an empty path is the value itself.
    Field(String, Document),
    /// A document of the caller's; not empty.
    Raw(Document),
    /// Two or more, none of them `All` or `And`.
    And(Vec<Node>),
    /// One or more, none of them `Or`.
    Or(Vec<Node>),
    /// One or more.
    Nor(Vec<Node>),
}

impl Node {
    /// `{path: {operator: value}}`
    pub(crate) fn operator(path: String, operator: &str, value: Bson) -> Self {
        let mut operators = Document::new();
        operators.insert(operator, value);
        Self::Field(path, operators)
    }

    pub(crate) fn and(nodes: Vec<Self>) -> Self {
        let mut flat = Vec::with_capacity(nodes.len());
        for node in nodes {
            match node {
                Self::All => {}
                Self::And(inner) => flat.extend(inner),
                other => flat.push(other),
            }
        }
        if flat.len() > 1 {
            Self::And(flat)
        } else {
            flat.pop().unwrap_or(Self::All)
        }
    }

    pub(crate) fn or(nodes: Vec<Self>) -> Self {
        let mut flat = Vec::with_capacity(nodes.len());
        for node in nodes {
            match node {
                Self::Or(inner) => flat.extend(inner),
                other => flat.push(other),
            }
        }
        match flat.len() {
            // the server refuses an empty `$or`
            0 => Self::nothing(),
            1 => flat.pop().unwrap_or(Self::All),
            _ => Self::Or(flat),
        }
    }

    pub(crate) fn nor(nodes: Vec<Self>) -> Self {
        let mut flat = Vec::with_capacity(nodes.len());
        for node in nodes {
            match node {
                Self::Or(inner) => flat.extend(inner),
                other => flat.push(other),
            }
        }
        if flat.is_empty() {
            Self::All
        } else {
            Self::Nor(flat)
        }
    }

    /// What no document matches.
    pub(crate) fn nothing() -> Self {
        Self::Nor(vec![Self::All])
    }

    pub(crate) fn not(self) -> Self {
        match self {
            Self::Field(path, operators) => Self::not_field(path, operators),
            Self::Or(nodes) => Self::Nor(nodes),
            Self::Nor(nodes) => Self::or(nodes),
            Self::And(nodes) => match merged_element(&nodes) {
                Some(Ok(operators)) => Self::not_field(String::new(), operators),
                _ => Self::Nor(vec![Self::And(nodes)]),
            },
            other => Self::Nor(vec![other]),
        }
    }

    fn not_field(path: String, operators: Document) -> Self {
        let mut entries = operators.iter();
        if let (Some((key, value)), None) = (entries.next(), entries.next()) {
            match (key.as_str(), value) {
                // the server refuses a regular expression in `$ne`
                ("$eq", Bson::RegularExpression(_)) => {}
                ("$eq", value) => return Self::operator(path, "$ne", value.clone()),
                ("$ne", value) => return Self::operator(path, "$eq", value.clone()),
                ("$exists", Bson::Boolean(exists)) => {
                    return Self::operator(path, "$exists", Bson::Boolean(!exists));
                }
                ("$not", Bson::Document(inner)) => return Self::Field(path, inner.clone()),
                _ => {}
            }
        }
        Self::operator(path, "$not", Bson::Document(operators))
    }

    /// The document that is sent.
    pub(crate) fn to_document(&self) -> Result<Document, Deferred> {
        match self {
            Self::All => Ok(Document::new()),
            Self::Field(path, operators) => field_document(path, operators),
            Self::Raw(document) => Ok(document.clone()),
            Self::Or(nodes) => Ok(doc! {"$or": list(nodes)?}),
            Self::Nor(nodes) => Ok(doc! {"$nor": list(nodes)?}),
            Self::And(nodes) => conjunction(nodes),
        }
    }

    /// What `$elemMatch` and `$pull` hold: operators for an array of scalars, conditions on fields for an
    /// array of documents.
    pub(crate) fn to_element_condition(&self) -> Result<Document, Deferred> {
        match self {
            // `{}` would match documents only
            Self::All => Ok(doc! {"$exists": true}),
            Self::Field(path, operators) if path.is_empty() => Ok(operators.clone()),
            Self::And(nodes) => merged_element(nodes).unwrap_or_else(|| self.to_document()),
            other => other.to_document(),
        }
    }
}

/// The operators on the element itself as one document; none where there are other conditions.
fn merged_element(nodes: &[Node]) -> Option<Result<Document, Deferred>> {
    let mut merged = Document::new();
    for node in nodes {
        let Node::Field(path, operators) = node else {
            return None;
        };
        if !path.is_empty() {
            return None;
        }
        for (operator, value) in operators {
            if merged.insert(operator.clone(), value.clone()).is_some() {
                let message = format!(
                    "one element can't be held against two `{operator}`: MongoDB has no form for it"
                );
                return Some(Err(Deferred::usage("", message)));
            }
        }
    }
    Some(Ok(merged))
}

fn list(nodes: &[Node]) -> Result<Vec<Bson>, Deferred> {
    nodes
        .iter()
        .map(|node| node.to_document().map(Bson::Document))
        .collect()
}

/// `{path: value}` where that says `$eq`, else `{path: {operators}}`.
fn field_document(path: &str, operators: &Document) -> Result<Document, Deferred> {
    if path.is_empty() {
        return Err(Deferred::usage(
            "",
            "a condition on the element itself can't be joined with `|`, `!` or conditions on its fields: MongoDB has no form for it",
        ));
    }
    let mut document = Document::new();
    let mut entries = operators.iter();
    let bare = match (entries.next(), entries.next()) {
        (Some((key, value)), None) if key == "$eq" && stands_for_itself(value) => Some(value),
        _ => None,
    };
    let value = match bare {
        Some(value) => value.clone(),
        None => Bson::Document(operators.clone()),
    };
    document.insert(path, value);
    Ok(document)
}

/// Whether the server takes `{field: value}` as equality with `value`: not a regular expression,
/// which matches as a pattern, nor a document that could be read as operators.
pub(crate) fn stands_for_itself(value: &Bson) -> bool {
    match value {
        Bson::RegularExpression(_) => false,
        Bson::Document(document) => !document.keys().any(|key| key.starts_with('$')),
        _ => true,
    }
}

/// One document where fields and operators do not collide, with the rest in `$and`.
fn conjunction(nodes: &[Node]) -> Result<Document, Deferred> {
    let mut fields: Vec<(&str, Document)> = Vec::new();
    let mut merged: Vec<Entry<'_>> = Vec::new();
    let mut rest = Vec::new();
    for node in nodes {
        match node {
            Node::Field(path, operators) => {
                let seen = fields.iter_mut().find(|(name, _)| name == path);
                match seen {
                    Some((_, present)) if can_merge(present, operators) => {
                        present.extend(operators.clone());
                    }
                    Some(_) => rest.push(Bson::Document(node.to_document()?)),
                    None => {
                        merged.push(Entry::Field(fields.len()));
                        fields.push((path, operators.clone()));
                    }
                }
            }
            other => merged.push(Entry::Whole(other)),
        }
    }
    let mut document = Document::new();
    for entry in merged {
        let part = match entry {
            Entry::Field(index) => match fields.get(index) {
                Some((path, operators)) => field_document(path, operators)?,
                None => continue,
            },
            Entry::Whole(node) => node.to_document()?,
        };
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

enum Entry<'a> {
    /// By position, because a later node may add operators to it.
    Field(usize),
    Whole(&'a Node),
}

/// Whether two operator documents say the same as one: no operator twice, and no option that would
/// move to the other's pattern.
fn can_merge(present: &Document, added: &Document) -> bool {
    !added.keys().any(|key| present.contains_key(key))
}
