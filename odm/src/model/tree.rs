//! Declared trees: the pattern, and the fields that the tree operations keep.

use bson::{Bson, oid::ObjectId};

use super::{Document, EmbeddedMeta, ModelMeta, ValidationLevel, Writable};
use crate::error::{Error, Result, TreeError, TreeRefusal};

/// The separator of materialized paths: `,Books,Programming,`.
pub(crate) const SEPARATOR: char = ',';

/// How a tree is stored: the five patterns of MongoDB's data model guide.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pattern {
    /// Each node stores the id of its parent.
    ParentReferences,
    /// Each node stores the ids of its children.
    ChildReferences,
    /// Each node stores the ids of its ancestors, the root first.
    ArrayOfAncestors,
    /// Each node stores the ids of its ancestors in a string: `,Books,Programming,`.
    MaterializedPath,
    /// Each node stores two numbers, which enclose those of its descendants.
    NestedSets,
}

/// The stored form of a root's parent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RootParent {
    /// `null`
    Null,
    /// `0`
    Zero,
}

impl RootParent {
    /// The stored value.
    pub fn value(self) -> Bson {
        match self {
            Self::Null => Bson::Null,
            Self::Zero => Bson::Int32(0),
        }
    }
}

/// The declaration of `#[odm(tree(…))]`. Fields are named as they are stored.
#[derive(Debug)]
pub struct TreeMeta {
    /// The declared name; empty for the only tree of a model.
    pub name: &'static str,
    /// The declared pattern; shown by `Debug` only. What reads use depends on the fields that are declared.
    pub pattern: Pattern,
    /// The field with the id of the parent, and what it holds at a root.
    pub parent: Option<(&'static str, RootParent)>,
    /// The field with the ids of the children.
    pub children: Option<&'static str>,
    /// The field with the ids of the ancestors.
    pub ancestors: Option<&'static str>,
    /// The field with the path, and how its parts become ids.
    pub path: Option<(&'static str, ReadId)>,
    /// The fields with the bounds of a nested set: left and right.
    pub bounds: Option<(&'static str, &'static str)>,
    /// The field with the number of ancestors.
    pub depth: Option<&'static str>,
    /// The field with the rank among siblings.
    pub order: Option<&'static str>,
    /// The field whose value all nodes of a tree share.
    pub scope: Option<&'static str>,
    /// The field with the number of children.
    pub child_count: Option<&'static str>,
    /// The field with the number of descendants.
    pub descendant_count: Option<&'static str>,
    /// The largest number of ancestors that a node may have.
    pub max_depth: Option<u32>,
    /// The rule for the children of a deleted node.
    pub on_delete: TreeDelete,
    /// Whether a node may have several parents.
    pub is_graph: bool,
}

/// Reads an id from a part of a materialized path; `None` if the part is not the text of an id.
pub type ReadId = fn(&str) -> Option<Bson>;

/// The rule for the descendants of a deleted node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TreeDelete {
    /// A node with children is not deleted.
    #[default]
    Restrict,
    /// The descendants are deleted, too.
    Cascade,
    /// The children become children of the deleted node's parent, in its place.
    Adopt,
    /// The children become roots.
    MakeRoots,
}

/// A tree that `#[odm(tree(…))]` declares. The derive implements it for the model, or for the type that
/// `name = …` makes if the model has several trees.
#[diagnostic::on_unimplemented(
    message = "`{Self}` declares no tree",
    label = "no tree, or more than one",
    note = "declare one: `#[odm(tree(materialized_path, path = path))]`; if the model has several, name which: `db.tree::<ByRegion>()` for `tree(…, name = ByRegion)`"
)]
pub trait DeclaredTree: 'static {
    /// The model of the nodes.
    type Model: Document + Writable;

    /// The declaration.
    const TREE: &'static TreeMeta;
}

/// A tree whose nodes have at most one parent: all but graphs of child references.
#[diagnostic::on_unimplemented(
    message = "a node of `{Self}` may have several parents",
    label = "this operation needs a single parent",
    note = "leave `graph` out of its declaration if each node has at most one parent"
)]
pub trait SingleParent: DeclaredTree {}

/// A graph of child references: a node may have several parents.
#[diagnostic::on_unimplemented(
    message = "a node of `{Self}` has one parent",
    label = "this operation gives a node another parent beside its own",
    note = "move the node: `tree.move_to(&node, Position::child_of(&parent))`; or declare the tree as `tree(child_references, graph)`"
)]
pub trait SeveralParents: DeclaredTree {}

/// A tree whose siblings have an order: by a rank, in an array of children, or by the bounds of a nested set.
#[diagnostic::on_unimplemented(
    message = "the siblings of `{Self}` have no order",
    label = "this operation needs an order",
    note = "add a field `rank: Rank` to the model, and `order = rank` to its `tree(…)`"
)]
pub trait OrderedSiblings: DeclaredTree {}

/// An id that materialized paths can hold: its text is unambiguous, and can be read back.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't be a part of a materialized path",
    label = "no text form that can be read back",
    note = "ids in paths are strings without a comma, integers, `ObjectId`, `Id` or `Uuid`; another pattern takes any id"
)]
pub trait PathId {
    /// Reads the id from a part of a path.
    fn read(text: &str) -> Option<Bson>;
}

#[diagnostic::do_not_recommend]
impl PathId for String {
    fn read(text: &str) -> Option<Bson> {
        Some(Bson::String(text.to_owned()))
    }
}

#[diagnostic::do_not_recommend]
impl PathId for ObjectId {
    fn read(text: &str) -> Option<Bson> {
        ObjectId::parse_str(text).ok().map(Bson::ObjectId)
    }
}

#[diagnostic::do_not_recommend]
impl PathId for bson::Uuid {
    fn read(text: &str) -> Option<Bson> {
        let id = Self::parse_str(text).ok()?;
        Some(Bson::Binary(id.into()))
    }
}

macro_rules! integers {
    ($($type:ty => $kind:ident),*) => {$(
        #[diagnostic::do_not_recommend]
        impl PathId for $type {
            fn read(text: &str) -> Option<Bson> {
                text.parse().ok().map(Bson::$kind)
            }
        }
    )*};
}

integers!(i8 => Int32, i16 => Int32, i32 => Int32, u8 => Int32, u16 => Int32, i64 => Int64, u32 => Int64, u64 => Int64);

/// The text of an id in a path.
///
/// # Errors
///
/// The id has no unambiguous text: it is empty, contains the separator, or has another type.
pub(crate) fn path_text(id: &Bson) -> Result<String> {
    match id {
        Bson::String(text) if !text.is_empty() && !text.contains(SEPARATOR) => Ok(text.clone()),
        Bson::Int32(number) => Ok(number.to_string()),
        Bson::Int64(number) => Ok(number.to_string()),
        Bson::ObjectId(id) => Ok(id.to_hex()),
        Bson::Binary(binary) => match binary.to_uuid() {
            Ok(uuid) => Ok(uuid.to_string()),
            Err(_) => Err(unfit(id)),
        },
        _ => Err(unfit(id)),
    }
}

fn unfit(id: &Bson) -> Error {
    let message = format!(
        "the id {id} can't be a part of a path: it is empty, or contains `{SEPARATOR}`, or is neither a string, an integer, an ObjectId nor a UUID"
    );
    Error::new(TreeError::new(TreeRefusal::Id, message)).with_path("_id")
}

impl TreeMeta {
    /// The stored names of the fields that say where a node is: the kept ones, and the scope.
    pub fn fields(&self) -> impl Iterator<Item = &'static str> {
        let (left, right) = self.bounds.unzip();
        [
            self.scope,
            self.parent.map(|(name, _)| name),
            self.children,
            self.ancestors,
            self.path.map(|(name, _)| name),
            left,
            right,
            self.depth,
            self.order,
            self.child_count,
            self.descendant_count,
        ]
        .into_iter()
        .flatten()
    }

    /// Whether siblings have an order.
    pub fn is_ordered(&self) -> bool {
        self.order.is_some() || self.children.is_some() || self.bounds.is_some()
    }
}

/// The collection of the fences: a small document for each tree and scope, which every change of the tree writes, so that
/// concurrent changes run one after the other.
pub(crate) static FENCES: ModelMeta = ModelMeta {
    name: "the fences of trees",
    collection: "odm_tree_fences",
    embedded: || const { &EmbeddedMeta::of("the fences of trees") },
    validation_level: ValidationLevel::Off,
    ..ModelMeta::EMPTY
};
