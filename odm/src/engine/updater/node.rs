//! A document being changed: only the parts that an update walks through are taken apart, the rest stays bytes.

use std::borrow::Cow;

use bson::raw::{CStr, RawArrayBuf, RawBson, RawBsonRef, RawDocument, RawDocumentBuf};

use crate::engine::expression::text;
use crate::error::ServerError;
use crate::value::raw::values;

pub(super) use crate::value::raw::elements as fields;

/// One value of the document being changed.
#[derive(Debug, Clone)]
pub(super) enum Node<'a> {
    Raw(RawBsonRef<'a>),
    Owned(RawBson),
    Document(Vec<(Cow<'a, str>, Node<'a>)>),
    Array(Vec<Node<'a>>),
}

impl<'a> Node<'a> {
    pub(super) fn root(document: &'a RawDocument) -> Vec<(Cow<'a, str>, Self)> {
        fields(document)
            .map(|(key, value)| (Cow::Borrowed(key), Node::Raw(value)))
            .collect()
    }

    /// Takes a document or an array apart by one level; scalars stay as they are.
    pub(super) fn open(&mut self) {
        let opened = match self {
            Self::Raw(RawBsonRef::Document(document)) => Self::Document(Self::root(document)),
            Self::Raw(RawBsonRef::Array(array)) => {
                Self::Array(values(array).map(Node::Raw).collect())
            }
            Self::Owned(RawBson::Document(document)) => Self::Document(
                fields(document)
                    .map(|(key, value)| (Cow::Owned(key.to_owned()), Node::Owned(value.into())))
                    .collect(),
            ),
            Self::Owned(RawBson::Array(array)) => Self::Array(
                values(array)
                    .map(|value| Node::Owned(value.into()))
                    .collect(),
            ),
            _ => return,
        };
        *self = opened;
    }

    /// Whether it is neither a document nor an array.
    pub(super) fn is_scalar(&self) -> bool {
        match self {
            Self::Raw(value) => !matches!(value, RawBsonRef::Document(_) | RawBsonRef::Array(_)),
            Self::Owned(value) => !matches!(value, RawBson::Document(_) | RawBson::Array(_)),
            Self::Document(_) | Self::Array(_) => false,
        }
    }

    /// The elements, where this is an array.
    pub(super) fn elements(&mut self) -> Option<&mut Vec<Self>> {
        self.open();
        match self {
            Self::Array(elements) => Some(elements),
            _ => None,
        }
    }

    /// The elements of the array that is there, or of a new one. `refuse` is told the type of what is no array.
    pub(super) fn elements_or<'n>(
        current: Option<&'n mut Self>,
        fresh: &'n mut Vec<Self>,
        refuse: impl FnOnce(&str) -> ServerError,
    ) -> Result<&'n mut Vec<Self>, ServerError> {
        let Some(node) = current else {
            return Ok(fresh);
        };
        let kind = node.with(|value| text::type_name(Some(value)));
        node.elements().ok_or_else(|| refuse(kind))
    }

    /// The value in one piece.
    pub(super) fn value(&self) -> Cow<'_, RawBson> {
        match self {
            Self::Raw(value) => Cow::Owned((*value).into()),
            Self::Owned(value) => Cow::Borrowed(value),
            Self::Document(fields) => Cow::Owned(RawBson::Document(build(fields))),
            Self::Array(elements) => {
                let mut array = RawArrayBuf::new();
                for element in elements {
                    element.with(|value| array.push(value));
                }
                Cow::Owned(RawBson::Array(array))
            }
        }
    }

    /// Calls with the value, borrowed where it is in one piece.
    pub(super) fn with<R>(&self, call: impl FnOnce(RawBsonRef<'_>) -> R) -> R {
        match self {
            Self::Raw(value) => call(*value),
            other => call(other.value().as_raw_bson_ref()),
        }
    }
}

/// The document of these fields.
pub(super) fn build(fields: &[(Cow<'_, str>, Node<'_>)]) -> RawDocumentBuf {
    let mut document = RawDocumentBuf::new();
    for (key, node) in fields {
        node.with(|value| append(&mut document, key, value));
    }
    document
}

/// Appends a field. Names come from BSON or were checked, so they hold no null byte.
pub(super) fn append(document: &mut RawDocumentBuf, key: &str, value: RawBsonRef<'_>) {
    if let Ok(key) = <&CStr>::try_from(key) {
        document.append(key, value);
    }
}

/// Whether two values are the same bytes of the same type: what makes an update a no-op.
pub(super) fn identical(left: RawBsonRef<'_>, right: RawBsonRef<'_>) -> bool {
    match (left, right) {
        (RawBsonRef::Double(left), RawBsonRef::Double(right)) => left.to_bits() == right.to_bits(),
        (RawBsonRef::Document(left), RawBsonRef::Document(right)) => {
            left.as_bytes() == right.as_bytes()
        }
        (RawBsonRef::Array(left), RawBsonRef::Array(right)) => left.as_bytes() == right.as_bytes(),
        (left, right) => left == right,
    }
}
