//! The fields of a node that a tree keeps, read from a stored document.

use bson::raw::{RawBsonRef, RawDocument, RawDocumentBuf};
use bson::{Bson, Document, RawBson, doc};
use odm_language::value::key;

use crate::error::{Error, Result};
use crate::model::TreeMeta;
use crate::model::tree::{RootParent, SEPARATOR, path_text};

/// The kept fields of a node. A field that the tree does not keep has its default.
#[derive(Debug, Clone, Default)]
pub(super) struct Node {
    pub(super) id: Bson,
    pub(super) scope: Option<Bson>,
    /// `None` at a root.
    pub(super) parent: Option<Bson>,
    pub(super) children: Vec<Bson>,
    pub(super) ancestors: Vec<Bson>,
    /// `None` at a root.
    pub(super) path: Option<String>,
    pub(super) left: i64,
    pub(super) right: i64,
    pub(super) depth: i64,
    pub(super) rank: Option<String>,
    pub(super) child_count: i64,
    pub(super) descendant_count: i64,
    pub(super) unread: Unread,
}

/// The kept fields of a node that are missing, or not of their type.
#[derive(Debug, Clone, Default)]
pub(super) struct Unread {
    pub(super) missing: Vec<&'static str>,
    pub(super) mistyped: Vec<&'static str>,
}

impl Unread {
    pub(super) fn contains(&self, field: &str) -> bool {
        self.missing.contains(&field) || self.mistyped.contains(&field)
    }
}

/// A stored document, and which of its fields could not be read.
struct Fields<'d> {
    document: &'d RawDocument,
    unread: Unread,
}

impl<'d> Fields<'d> {
    fn get(&mut self, name: &'static str) -> Option<RawBsonRef<'d>> {
        let value = self.document.get(name).ok().flatten();
        if value.is_none() {
            self.unread.missing.push(name);
        }
        value
    }

    fn parent(&mut self, name: &'static str, root: RootParent) -> Result<Option<Bson>> {
        let Some(value) = self.get(name) else {
            return Ok(None);
        };
        if value == RawBsonRef::Null && root != RootParent::Null
            || is_root(value, root) && matches!(value, RawBsonRef::Double(_))
        {
            self.unread.mistyped.push(name);
        }
        if value == RawBsonRef::Null || is_root(value, root) {
            return Ok(None);
        }
        Bson::try_from(value).map(Some).map_err(Error::encode)
    }

    fn list(&mut self, name: Option<&'static str>) -> Result<Vec<Bson>> {
        let Some(name) = name else {
            return Ok(Vec::new());
        };
        match self.get(name) {
            Some(RawBsonRef::Array(array)) => {
                let values = array.into_iter().flatten().map(Bson::try_from);
                values.collect::<Result<_, _>>().map_err(Error::encode)
            }
            value => {
                self.unread.mistyped.extend(value.map(|_| name));
                Ok(Vec::new())
            }
        }
    }

    fn text(&mut self, name: Option<&'static str>) -> Option<String> {
        let name = name?;
        if let RawBsonRef::String(text) = self.get(name)? {
            return Some(text.to_owned());
        }
        self.unread.mistyped.push(name);
        None
    }

    /// A path, which is null at a root.
    fn path(&mut self, name: Option<&'static str>) -> Option<String> {
        match self.document.get(name?) {
            Ok(Some(RawBsonRef::Null)) => None,
            _ => self.text(name),
        }
    }

    fn number(&mut self, name: Option<&'static str>) -> i64 {
        let Some((name, value)) = name.and_then(|name| Some((name, self.get(name)?))) else {
            return 0;
        };
        if !matches!(value, RawBsonRef::Int32(_) | RawBsonRef::Int64(_)) {
            self.unread.mistyped.push(name);
        }
        integer(value).unwrap_or_default()
    }
}

impl Node {
    /// The projection of the kept fields.
    pub(super) fn projection(tree: &TreeMeta) -> Document {
        let mut projection = doc! {"_id": 1};
        for field in tree.fields() {
            projection.insert(field, 1);
        }
        projection
    }

    /// Reads the kept fields. A field that is missing or of another type has its default, and is noted as unread.
    pub(super) fn read(tree: &TreeMeta, document: &RawDocument) -> Result<Self> {
        let id = document.get("_id").ok().flatten();
        let id = id.ok_or_else(|| Error::malformed_reply("an `_id`"))?;
        let mut fields = Fields {
            document,
            unread: Unread::default(),
        };
        let mut node = Self {
            id: Bson::try_from(id).map_err(Error::encode)?,
            scope: stored_scope(tree, document)?,
            parent: match tree.parent {
                Some((name, root)) => fields.parent(name, root)?,
                None => None,
            },
            children: fields.list(tree.children)?,
            ancestors: fields.list(tree.ancestors)?,
            path: fields.path(tree.path.map(|(name, _)| name)),
            left: fields.number(tree.bounds.map(|(left, _)| left)),
            right: fields.number(tree.bounds.map(|(_, right)| right)),
            depth: fields.number(tree.depth),
            rank: fields.text(tree.order),
            child_count: fields.number(tree.child_count),
            descendant_count: fields.number(tree.descendant_count),
            unread: Unread::default(),
        };
        node.unread = fields.unread;
        Ok(node)
    }

    /// How many numbers the bounds of the node and its descendants take.
    pub(super) fn width(&self) -> i64 {
        self.right - self.left + 1
    }

    /// The path that the children of the node have: `,Books,Programming,`.
    pub(super) fn path_of_children(&self) -> Result<String> {
        child_path(self.path.as_deref(), &self.id)
    }
}

/// The path of the children of a node with this path and id.
pub(super) fn child_path(path: Option<&str>, id: &Bson) -> Result<String> {
    let before = path.map_or_else(|| SEPARATOR.to_string(), str::to_owned);
    Ok(format!("{before}{}{SEPARATOR}", path_text(id)?))
}

/// The ids in a path; `None` if a part of it is not the text of an id.
pub(super) fn path_ids(tree: &TreeMeta, path: &str) -> Option<Vec<Bson>> {
    let (_, read) = tree.path?;
    let inner = path.strip_prefix(SEPARATOR)?.strip_suffix(SEPARATOR)?;
    inner.split(SEPARATOR).map(read).collect()
}

/// The id that a part of a path stands for; `None` if it is not the text of an id.
pub(super) fn last_of_path(tree: &TreeMeta, part: &str) -> Option<Bson> {
    let (_, read) = tree.path?;
    read(part).filter(|_| !part.is_empty())
}

/// Whether a root has this parent.
fn is_root(value: RawBsonRef<'_>, root: RootParent) -> bool {
    match root {
        RootParent::Null => value == RawBsonRef::Null,
        RootParent::Zero => integer(value) == Some(0),
    }
}

/// A whole number of any numeric type.
#[expect(clippy::cast_possible_truncation, reason = "the number is whole")]
pub(super) fn integer(value: RawBsonRef<'_>) -> Option<i64> {
    match value {
        RawBsonRef::Int32(number) => Some(number.into()),
        RawBsonRef::Int64(number) => Some(number),
        RawBsonRef::Double(number) if number.fract() == 0.0 && number.abs() < 9e15 => {
            Some(number as i64)
        }
        _ => None,
    }
}

/// The bytes of an id in an index: equal for ids that MongoDB takes for equal.
pub(super) fn id_key(id: &Bson) -> Result<Vec<u8>> {
    let raw = RawBson::try_from(id.clone()).map_err(Error::encode)?;
    Ok(raw_id_key(raw.as_raw_bson_ref()))
}

/// As [`id_key`], of an encoded id.
pub(super) fn raw_id_key(id: RawBsonRef<'_>) -> Vec<u8> {
    key::of(id, None)
}

/// The scope of a stored node. A missing field is in the tree of null, as it is for MongoDB's filters.
pub(super) fn stored_scope(tree: &TreeMeta, document: &RawDocument) -> Result<Option<Bson>> {
    let Some(name) = tree.scope else {
        return Ok(None);
    };
    let value = document.get(name).ok().flatten();
    let scope = value.map_or(Ok(Bson::Null), Bson::try_from);
    scope.map(Some).map_err(Error::encode)
}

/// The bytes of a scope, which can be encoded because it was read: equal for values that MongoDB takes for equal, such as
/// numbers of two types.
pub(super) fn scope_key(scope: Option<&Bson>) -> Option<Vec<u8>> {
    scope.and_then(|scope| id_key(scope).ok())
}

/// Whether two ids, which can be encoded because they were read, are of the same document: another program may have stored
/// a reference as a number of another type.
pub(super) fn same_id(one: &Bson, other: &Bson) -> bool {
    one == other || id_key(one).ok() == id_key(other).ok()
}

/// Whether two nodes with these scopes are in the same tree.
pub(super) fn same_scope(one: Option<&Bson>, other: Option<&Bson>) -> bool {
    one == other || scope_key(one) == scope_key(other)
}

/// Whether a stored value is the expected one; numbers may be `int` or `long`.
pub(super) fn agrees(stored: &Bson, expected: &Bson) -> bool {
    match (stored, expected) {
        (Bson::Int32(one), Bson::Int64(other)) | (Bson::Int64(other), Bson::Int32(one)) => {
            i64::from(*one) == *other
        }
        (Bson::Array(one), Bson::Array(other)) => agree(one, other),
        _ => stored == expected,
    }
}

/// Whether the stored ids are the expected ones.
pub(super) fn agree(stored: &[Bson], expected: &[Bson]) -> bool {
    let mut pairs = stored.iter().zip(expected);
    stored.len() == expected.len() && pairs.all(|(one, other)| agrees(one, other))
}

/// A whole number as `int`, or as `long` if it is larger, as the kept fields store it.
pub(super) fn stored(number: i64) -> Bson {
    i32::try_from(number).map_or(Bson::Int64(number), Bson::Int32)
}

/// The document with these values in place of its own; fields that it lacks follow at the end.
pub(super) fn with_fields<N: AsRef<str>>(
    document: &RawDocument,
    fields: impl IntoIterator<Item = (N, Bson)>,
) -> Result<RawDocumentBuf> {
    let mut fields: Vec<(N, Bson)> = fields.into_iter().collect();
    let mut changed = RawDocumentBuf::new();
    for element in document {
        let (name, value) = element.map_err(Error::encode)?;
        let own = |(field, _): &(N, Bson)| field.as_ref() == name.as_str();
        match fields.iter().position(own) {
            Some(at) => {
                let (_, value) = fields.remove(at);
                changed.append(name, RawBson::try_from(value).map_err(Error::encode)?);
            }
            None => changed.append(name, value),
        }
    }
    for (name, value) in fields {
        let value = RawBson::try_from(value).map_err(Error::encode)?;
        let name = bson::raw::CString::try_from(name.as_ref()).map_err(Error::encode)?;
        changed.append(name, value);
    }
    Ok(changed)
}
