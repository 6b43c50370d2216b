//! The operators of a filter on one field.

use bson::{Bson, Document};

/// The operators on one field, as the value beside the field's name in a filter. Each condition has exactly
/// one form.
///
/// Equality alone, the most common condition, is the value itself if MongoDB reads it as equality
/// ([`stands_for_itself`]). Everything else is a document of operators.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Operators(Bson);

impl Operators {
    /// `{$eq: value}`
    #[inline]
    pub(crate) fn equal(value: Bson) -> Self {
        if stands_for_itself(&value) {
            return Self(value);
        }
        Self::only("$eq", value)
    }

    /// `{operator: value}`
    #[inline]
    pub(crate) fn one(operator: &str, value: Bson) -> Self {
        if operator == "$eq" {
            return Self::equal(value);
        }
        Self::only(operator, value)
    }

    fn only(operator: &str, value: Bson) -> Self {
        let mut operators = Document::new();
        operators.insert(operator, value);
        Self(Bson::Document(operators))
    }

    /// The document of operators; `None` for a value that stands for equality.
    fn operators(&self) -> Option<&Document> {
        match &self.0 {
            Bson::Document(operators) if !stands_for_itself(&self.0) => Some(operators),
            _ => None,
        }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &Bson)> {
        let (equal, rest) = match self.operators() {
            None => (Some(("$eq", &self.0)), None),
            Some(operators) => (None, Some(operators)),
        };
        let rest = rest.into_iter().flatten();
        equal
            .into_iter()
            .chain(rest.map(|(operator, value)| (operator.as_str(), value)))
    }

    /// The operator, if there is only one.
    pub(crate) fn single(&self) -> Option<(&str, &Bson)> {
        let mut operators = self.iter();
        match (operators.next(), operators.next()) {
            (only, None) => only,
            _ => None,
        }
    }

    /// Adds `others`; returns them as the error if an operator would appear twice.
    pub(crate) fn merge(&mut self, others: Self) -> Result<(), Self> {
        let twice = |(operator, _): (&str, _)| self.iter().any(|(present, _)| present == operator);
        if others.iter().any(twice) {
            return Err(others);
        }
        let present = std::mem::replace(self, Self(Bson::Null));
        let mut operators = present.into_document();
        operators.extend(others.into_document());
        self.0 = Bson::Document(operators);
        Ok(())
    }

    /// The document of operators, with equality as `$eq`.
    pub(crate) fn into_document(self) -> Document {
        match self.0 {
            Bson::Document(operators) if !names_fields(&operators) => operators,
            value => {
                let mut operators = Document::new();
                operators.insert("$eq", value);
                operators
            }
        }
    }

    /// The value beside the field's name in a filter.
    pub(crate) fn into_value(self) -> Bson {
        self.0
    }
}

impl From<Document> for Operators {
    fn from(mut operators: Document) -> Self {
        if operators.len() == 1
            && let Some(value) = operators.remove("$eq")
        {
            return Self::equal(value);
        }
        Self(Bson::Document(operators))
    }
}

/// The condition that the field has one of these values.
///
/// One value gets no `$in`: MongoDB finds `{_id: value}` without planning (`IDHACK`), but neither `$eq` nor `$in`.
pub(crate) fn any_of(path: &str, mut values: Vec<Bson>) -> Document {
    let condition = match values.pop() {
        Some(only) if values.is_empty() => Operators::equal(only).into_value(),
        last => {
            values.extend(last);
            Operators::only("$in", Bson::Array(values)).into_value()
        }
    };
    let mut filter = Document::new();
    filter.insert(path, condition);
    filter
}

/// Whether MongoDB reads `{field: value}` as equality with `value`. It does not for a regular expression,
/// which matches as a pattern, nor for a document that could be read as operators.
pub(crate) fn stands_for_itself(value: &Bson) -> bool {
    match value {
        Bson::RegularExpression(_) => false,
        Bson::Document(document) => names_fields(document) || is_db_ref(document),
        _ => true,
    }
}

/// Whether no key could be read as an operator.
fn names_fields(document: &Document) -> bool {
    !document.keys().any(|key| key.starts_with('$'))
}

/// Whether MongoDB reads the document as a DBRef, whose names are not operators.
fn is_db_ref(document: &Document) -> bool {
    let mut names = document.keys().filter(|name| name.starts_with('$'));
    document.contains_key("$ref")
        && document.contains_key("$id")
        && names.all(|name| is_of_db_ref(name))
}

/// Whether the name is one of a DBRef, which MongoDB reads as a name inside a path.
pub(super) fn is_of_db_ref(name: &str) -> bool {
    matches!(name, "$ref" | "$id" | "$db")
}
