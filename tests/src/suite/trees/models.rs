//! A model for each pattern, and for patterns that are kept together.

use odm::model::Embedded;
use odm::prelude::*;
use odm::query::Field;
use odm::tree::prelude::*;
use odm::tree::{DeclaredTree, OrderedSiblings, SingleParent};

/// A tree whose nodes tests can make.
pub(super) trait TestTree:
    SingleParent + OrderedSiblings + DeclaredTree<Model: Document<Id = i32> + Clone>
{
    /// A node to insert.
    fn node(id: i32) -> Self::Model;

    /// The field with the name of a node: `node 1`.
    fn label(fields: <Self::Model as Embedded>::Fields<Self::Model>) -> Field<Self::Model, String>;
}

macro_rules! models {
    ($($model:ident($collection:literal, $($tree:tt)*) { $($field:ident: $ty:ty),* })*) => {$(
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
        #[odm(collection = $collection, tree($($tree)*))]
        pub(super) struct $model {
            #[serde(rename = "_id")]
            pub(super) id: i32,
            $(pub(super) $field: $ty,)*
            pub(super) label: String,
        }

        impl TestTree for $model {
            fn node(id: i32) -> Self {
                Self {
                    id,
                    $($field: Default::default(),)*
                    label: format!("node {id}"),
                }
            }

            fn label(fields: <Self as Embedded>::Fields<Self>) -> Field<Self, String> {
                fields.label
            }
        }
    )*};
}

models! {
    ByParent("by_parent", parent_references, order = rank) {
        parent: Parent<ByParent>, rank: Rank
    }
    ByChildren("by_children", child_references, order = rank) {
        children: Children<ByChildren>, rank: Rank
    }
    ByAncestors("by_ancestors", array_of_ancestors, order = rank) {
        ancestors: Ancestors<ByAncestors>, rank: Rank
    }
    ByPath("by_path", materialized_path, order = rank) {
        path: Materialized<ByPath>, rank: Rank
    }
    ByBounds("by_bounds", nested_sets) {
        left: Left, right: Right
    }
    ByBoundsInShops("by_bounds_in_shops", nested_sets, scope = shop, depth = depth) {
        shop: i32, left: Left, right: Right, depth: Depth
    }
    ByBoundsAndParent("by_bounds_and_parent", nested_sets, parent = parent, depth = depth, count(children = children_count, descendants = descendants_count)) {
        parent: Parent<ByBoundsAndParent, ZeroRoot>, left: Left, right: Right, depth: Depth,
        children_count: NodeCount, descendants_count: NodeCount
    }
    ByAll("by_all", materialized_path, parent = parent, children = children, ancestors = ancestors, left = left, right = right, depth = depth, order = rank, count(children = children_count, descendants = descendants_count)) {
        parent: Parent<ByAll>, children: Children<ByAll>, ancestors: Ancestors<ByAll>, path: Materialized<ByAll>,
        left: Left, right: Right, depth: Depth, rank: Rank, children_count: NodeCount, descendants_count: NodeCount
    }
    TwoPatterns("two_patterns", array_of_ancestors, parent = parent, depth = depth, order = rank) {
        ancestors: Ancestors<TwoPatterns>, parent: Parent<TwoPatterns>, depth: Depth, rank: Rank
    }
    Scoped("scoped", parent_references, order = rank, scope = shop) {
        shop: i32, parent: Parent<Scoped>, rank: Rank
    }
}

impl Scoped {
    /// A node of the tree of a shop.
    pub(super) fn of_shop(id: i32, shop: i32) -> Self {
        Self {
            shop,
            ..Self::node(id)
        }
    }
}
