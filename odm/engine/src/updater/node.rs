//! A document while it is being changed. Only the parts that an update visits are decoded; the rest stays as bytes.

use std::borrow::Cow;

use bson::raw::{CStr, RawArray, RawArrayBuf, RawBson, RawBsonRef, RawDocument, RawDocumentBuf};

use odm_language::error::ServerError;
use odm_language::expression::compat::messages;
use odm_language::value::raw::{self, values};
use odm_language::value::raw_writer;

pub(super) use odm_language::value::raw::elements as fields;

/// One value of the document being changed.
#[derive(Debug, Clone)]
pub(super) enum Node<'a> {
    Raw(RawBsonRef<'a>),
    Owned(RawBson),
    Document(Vec<(Cow<'a, str>, Node<'a>)>),
    Array(Vec<Node<'a>>),
    Appended(Appended),
}

/// An array with appended elements. The bytes of the earlier elements were copied in one piece.
#[derive(Debug, Clone)]
pub(super) struct Appended {
    bytes: Vec<u8>,
    /// Whether a document or an array was added.
    nests: bool,
}

impl Appended {
    /// `None` if the key of the last element is not its index, or if the new array would be too large.
    pub(super) fn new(array: &RawArray, added: &[RawBson]) -> Option<Self> {
        let (mut count, mut last) = (0_usize, None);
        let mut elements = raw::walk_array(array);
        while let Some(element) = elements.advance() {
            (count, last) = (count + 1, Some(element));
        }
        let is_numbered = match (last, count.checked_sub(1)) {
            (Some(last), Some(number)) => last.key_bytes() == number.to_string().as_bytes(),
            _ => true,
        };
        let before = array.as_bytes();
        let mut bytes = Vec::with_capacity(before.len() + 32 * added.len());
        bytes.extend_from_slice(before.get(..before.len().checked_sub(1)?)?);
        for (number, value) in (count..).zip(added) {
            raw_writer::raw_element(&mut bytes, &number.to_string(), value.as_raw_bson_ref())?;
        }
        bytes.push(0);
        let length = i32::try_from(bytes.len()).ok()?;
        bytes
            .first_chunk_mut::<4>()?
            .copy_from_slice(&length.to_le_bytes());
        let nests = |value: &RawBson| matches!(value, RawBson::Document(_) | RawBson::Array(_));
        (is_numbered && raw::array_from_bytes(&bytes).is_some()).then(|| Self {
            bytes,
            nests: added.iter().any(nests),
        })
    }

    fn array(&self) -> &RawArray {
        raw::array_from_bytes(&self.bytes).expect("`new` has found the bytes to be an array")
    }
}

impl<'a> Node<'a> {
    pub(super) fn root(document: &'a RawDocument) -> Vec<(Cow<'a, str>, Self)> {
        fields(document)
            .map(|(key, value)| (Cow::Borrowed(key), Node::Raw(value)))
            .collect()
    }

    /// Decodes one level of a document or an array; scalars stay as they are.
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
            Self::Owned(RawBson::Array(array)) => Self::Array(owned(array)),
            Self::Appended(appended) => Self::Array(owned(appended.array())),
            _ => return,
        };
        *self = opened;
    }

    /// Whether it may contain new documents or arrays.
    pub(super) fn may_nest(&self) -> bool {
        match self {
            Self::Raw(value) => matches!(value, RawBsonRef::Document(_) | RawBsonRef::Array(_)),
            Self::Owned(value) => matches!(value, RawBson::Document(_) | RawBson::Array(_)),
            Self::Document(_) | Self::Array(_) => true,
            Self::Appended(appended) => appended.nests,
        }
    }

    /// The elements, if this is an array.
    pub(super) fn elements(&mut self) -> Option<&mut Vec<Self>> {
        self.open();
        match self {
            Self::Array(elements) => Some(elements),
            _ => None,
        }
    }

    /// The elements of the current array, or of a new one if there is no value. For other values, `refuse` receives the
    /// name of the type.
    pub(super) fn elements_or<'n>(
        current: Option<&'n mut Self>,
        fresh: &'n mut Vec<Self>,
        refuse: impl FnOnce(&str) -> ServerError,
    ) -> Result<&'n mut Vec<Self>, ServerError> {
        let Some(node) = current else {
            return Ok(fresh);
        };
        let kind = node.with(|value| messages::type_name(Some(value)));
        node.elements().ok_or_else(|| refuse(kind))
    }

    /// The value as one BSON value.
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
            Self::Appended(appended) => Cow::Owned(RawBsonRef::Array(appended.array()).into()),
        }
    }

    /// Calls `call` with the value, which is borrowed if it is a single BSON value.
    pub(super) fn with<R>(&self, call: impl FnOnce(RawBsonRef<'_>) -> R) -> R {
        match self {
            Self::Raw(value) => call(*value),
            Self::Appended(appended) => call(RawBsonRef::Array(appended.array())),
            other => call(other.value().as_raw_bson_ref()),
        }
    }
}

fn owned(array: &RawArray) -> Vec<Node<'static>> {
    let owned = |value: RawBsonRef<'_>| Node::Owned(value.into());
    values(array).map(owned).collect()
}

/// Builds the document from its fields.
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

/// Whether two values have the same type and bytes, so that an update is a no-op.
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
