//! What a filter says of one field.

use bson::{Bson, Document};

/// The operators on one field; there is one form for each condition.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Operators {
    /// `{$eq: value}` alone: most filters, and sent without the operator.
    Equal(Bson),
    /// Everything else.
    Document(Document),
}

impl Operators {
    /// `{operator: value}`
    pub(crate) fn one(operator: &str, value: Bson) -> Self {
        if operator == "$eq" {
            return Self::Equal(value);
        }
        let mut operators = Document::new();
        operators.insert(operator, value);
        Self::Document(operators)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &Bson)> {
        let (equal, rest) = match self {
            Self::Equal(value) => (Some(("$eq", value)), None),
            Self::Document(operators) => (None, Some(operators)),
        };
        let rest = rest.into_iter().flatten();
        equal
            .into_iter()
            .chain(rest.map(|(operator, value)| (operator.as_str(), value)))
    }

    /// The operator that stands alone.
    pub(crate) fn single(&self) -> Option<(&str, &Bson)> {
        let mut operators = self.iter();
        match (operators.next(), operators.next()) {
            (only, None) => only,
            _ => None,
        }
    }

    /// Adds what `others` say; gives them back where an operator would be there twice.
    pub(crate) fn merge(&mut self, others: Self) -> Result<(), Self> {
        let twice = |(operator, _): (&str, _)| self.iter().any(|(present, _)| present == operator);
        if others.iter().any(twice) {
            return Err(others);
        }
        let present = std::mem::replace(self, Self::Document(Document::new()));
        let mut operators = present.into_document();
        operators.extend(others.into_document());
        *self = Self::Document(operators);
        Ok(())
    }

    /// As operators, `$eq` too.
    pub(crate) fn into_document(self) -> Document {
        match self {
            Self::Equal(value) => {
                let mut operators = Document::new();
                operators.insert("$eq", value);
                operators
            }
            Self::Document(operators) => operators,
        }
    }

    /// What stands beside the field's name in a filter.
    pub(crate) fn into_value(self) -> Bson {
        match self {
            Self::Equal(value) if stands_for_itself(&value) => value,
            operators => Bson::Document(operators.into_document()),
        }
    }
}

impl From<Document> for Operators {
    fn from(mut operators: Document) -> Self {
        if operators.len() == 1
            && let Some(value) = operators.remove("$eq")
        {
            return Self::Equal(value);
        }
        Self::Document(operators)
    }
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
