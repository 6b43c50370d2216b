//! The fields of a node that a tree keeps, read from a stored document.

use bson::raw::{RawBsonRef, RawDocument};
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

    /// Reads the kept fields. A field of the wrong type counts as missing; `check` reports it.
    pub(super) fn read(tree: &TreeMeta, document: &RawDocument) -> Result<Self> {
        let get = |name: &str| document.get(name).ok().flatten();
        let owned = |value: RawBsonRef<'_>| Bson::try_from(value).map_err(Error::encode);
        let list = |name: Option<&str>| match name.and_then(get) {
            Some(RawBsonRef::Array(array)) => array
                .into_iter()
                .flatten()
                .map(owned)
                .collect::<Result<Vec<_>>>(),
            _ => Ok(Vec::new()),
        };
        let text = |name: Option<&str>| match name.and_then(get) {
            Some(RawBsonRef::String(text)) => Some(text.to_owned()),
            _ => None,
        };
        let number = |name: Option<&str>| name.and_then(get).and_then(integer).unwrap_or_default();
        let id = get("_id").ok_or_else(|| Error::malformed_reply("an `_id`"))?;
        let mut parent = None;
        if let Some((name, root)) = tree.parent {
            parent = get(name)
                .filter(|value| !is_root(*value, root))
                .map(owned)
                .transpose()?;
        }
        let scope = tree.scope.and_then(get).map(owned).transpose()?;
        Ok(Self {
            id: owned(id)?,
            scope,
            parent,
            children: list(tree.children)?,
            ancestors: list(tree.ancestors)?,
            path: text(tree.path.map(|(name, _)| name)),
            left: number(tree.bounds.map(|(left, _)| left)),
            right: number(tree.bounds.map(|(_, right)| right)),
            depth: number(tree.depth),
            rank: text(tree.order),
            child_count: number(tree.child_count),
            descendant_count: number(tree.descendant_count),
        })
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

/// A whole number as `int`, or as `long` if it is larger, as the kept fields store it.
pub(super) fn stored(number: i64) -> Bson {
    i32::try_from(number).map_or(Bson::Int64(number), Bson::Int32)
}
