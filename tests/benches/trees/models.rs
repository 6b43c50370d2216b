//! A plain model for each pattern, which odm and the driver both read.

use odm::prelude::*;
use odm::tree::prelude::*;
use odm::tree::{DeclaredTree, OrderedSiblings, Pattern, SingleParent};
use serde::de::DeserializeOwned;

/// A model of the benchmark.
pub(crate) trait BenchNode:
    DeclaredTree<Model = Self>
    + OrderedSiblings
    + SingleParent
    + Document<Id = i32>
    + DeserializeOwned
    + Unpin
    + Send
    + Sync
{
    const PATTERN: Pattern;

    /// A node to insert.
    fn new(id: i32) -> Self;
}

/// The text that a node holds beside its place.
pub(crate) fn name(id: i32) -> String {
    format!("the node with the number {id}")
}

/// The title of a pattern in the tables.
pub(crate) fn title(pattern: Pattern) -> &'static str {
    match pattern {
        Pattern::ParentReferences => "parent references",
        Pattern::ChildReferences => "child references",
        Pattern::ArrayOfAncestors => "array of ancestors",
        Pattern::MaterializedPath => "materialized path",
        Pattern::NestedSets => "nested sets",
    }
}

macro_rules! models {
    ($($model:ident($pattern:ident, $($tree:tt)*) { $($field:ident: $ty:ty),* })*) => {$(
        #[derive(Debug, Clone, Serialize, Deserialize, Document)]
        #[odm(collection = "nodes", tree($($tree)*))]
        pub(crate) struct $model {
            #[serde(rename = "_id")]
            id: i32,
            $($field: $ty,)*
            name: String,
        }

        impl BenchNode for $model {
            const PATTERN: Pattern = Pattern::$pattern;

            fn new(id: i32) -> Self {
                Self {
                    id,
                    $($field: Default::default(),)*
                    name: name(id),
                }
            }
        }
    )*};
}

models! {
    ByParent(ParentReferences, parent_references, order = rank) { parent: Parent<ByParent>, rank: Rank }
    ByChildren(ChildReferences, child_references) { children: Children<ByChildren> }
    ByAncestors(ArrayOfAncestors, array_of_ancestors, order = rank) { ancestors: Ancestors<ByAncestors>, rank: Rank }
    ByPath(MaterializedPath, materialized_path, order = rank) { path: Materialized<ByPath>, rank: Rank }
    ByBounds(NestedSets, nested_sets) { left: Left, right: Right }
}
