//! A model for each pattern with its options and types of ids, for random trees.

use std::fmt::Debug;

use odm::bson::{Uuid, oid::ObjectId};
use odm::prelude::*;
use odm::tree::prelude::*;
use odm::tree::{ChangeTree, DeclaredTree, SingleParent};

use super::plain::Place;

/// The field that orders siblings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    /// A field of each node.
    Field,
    /// The list of their parent, so that roots have none.
    List,
    None,
}

/// An id with a value for each number.
pub(super) trait TestId: Clone + Debug + PartialEq {
    fn of(number: i32) -> Self;

    /// The part of a path.
    fn text(&self) -> String;
}

impl TestId for i32 {
    fn of(number: i32) -> Self {
        number
    }

    fn text(&self) -> String {
        self.to_string()
    }
}

impl TestId for i64 {
    fn of(number: i32) -> Self {
        Self::from(number) * 10_000_000_000
    }

    fn text(&self) -> String {
        self.to_string()
    }
}

impl TestId for ObjectId {
    fn of(number: i32) -> Self {
        Self::parse_str(format!("{number:024x}")).unwrap()
    }

    fn text(&self) -> String {
        self.to_hex()
    }
}

impl TestId for Uuid {
    fn of(number: i32) -> Self {
        Self::parse_str(format!("{number:032x}")).unwrap()
    }

    fn text(&self) -> String {
        self.to_string()
    }
}

impl TestId for String {
    /// Texts that mean something in patterns or paths, each beside ones that sort next to it.
    fn of(number: i32) -> Self {
        let texts = [
            "a",
            "a-",
            "a!",
            "a+",
            "A",
            ".",
            "a.b",
            ".*",
            "a\nb",
            "\n",
            "a\n",
            "(",
            "a|b",
            "^a",
            "$a",
            "\\d",
            "[^",
            "ä",
            "日本",
            "a\u{10ffff}",
            " ",
            "a b",
            "0",
            "null",
            "é\u{301}",
            "\u{1}",
            "{2}",
            "/",
            "'\"",
        ];
        let index = usize::try_from(number).unwrap() - 1;
        texts
            .get(index)
            .map_or_else(|| format!("x{number}"), |text| (*text).to_owned())
    }

    fn text(&self) -> String {
        self.clone()
    }
}

pub(super) trait ReadTree:
    Sized + SingleParent + DeclaredTree<Model: Document<Id: TestId>>
{
    const ORDER: Order;

    fn node(number: i32, shop: i32) -> Self::Model;

    /// A place that this tree has.
    fn position(place: Place) -> Position<Self>;

    /// A change that only trees with an order have.
    fn in_order(
        tree: &Tree<Self>,
        number: i32,
        change: InOrder,
    ) -> Option<ChangeTree<'static, Self>>;
}

/// A change of the order of siblings.
#[derive(Debug, Clone, Copy)]
pub(super) enum InOrder {
    Up,
    Down,
    To(i32, usize),
    Rerank,
}

/// What a tree does that has an order of siblings, or none.
macro_rules! order {
    (None) => {
        fn position(place: Place) -> Position<Self> {
            match place {
                Place::LastOf(0) => Position::root(),
                Place::LastOf(parent) => Position::child_of(named::<Self>(parent)),
                other => panic!("{other:?} without an order"),
            }
        }

        fn in_order(_: &Tree<Self>, _: i32, _: InOrder) -> Option<ChangeTree<'static, Self>> {
            None
        }
    };
    ($order:ident) => {
        fn position(place: Place) -> Position<Self> {
            match place {
                Place::FirstOf(0) => Position::first_root(),
                Place::LastOf(0) => Position::last_root(),
                Place::FirstOf(parent) => Position::first_child_of(named::<Self>(parent)),
                Place::LastOf(parent) => Position::last_child_of(named::<Self>(parent)),
                Place::Before(sibling) => Position::before(named::<Self>(sibling)),
                Place::After(sibling) => Position::after(named::<Self>(sibling)),
            }
        }

        fn in_order(
            tree: &Tree<Self>,
            number: i32,
            change: InOrder,
        ) -> Option<ChangeTree<'static, Self>> {
            let node = named::<Self>(number);
            Some(match change {
                InOrder::Up => tree.move_up(node),
                InOrder::Down => tree.move_down(node),
                InOrder::To(0, index) => tree.move_to(node, Position::root_at(index)),
                InOrder::To(parent, index) => {
                    tree.move_to(node, Position::child_at(named::<Self>(parent), index))
                }
                InOrder::Rerank => tree.rerank_siblings(node),
            })
        }
    };
}
pub(super) use order;

macro_rules! models {
    ($($model:ident: $id:ty, $order:ident, $collection:literal, ($($tree:tt)*) { $($field:ident: $ty:ty),* })*) => {$(
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
        #[odm(collection = $collection, tree($($tree)*))]
        pub(super) struct $model {
            #[serde(rename = "_id")]
            pub(super) id: $id,
            pub(super) shop: i32,
            pub(super) number: i32,
            $(pub(super) $field: $ty),*
        }

        impl ReadTree for $model {
            const ORDER: Order = Order::$order;

            fn node(number: i32, shop: i32) -> Self {
                Self { id: TestId::of(number), shop, number, $($field: Default::default()),* }
            }

            order!($order);
        }
    )*};
}
pub(super) use models;

models! {
    ParentNumber: i32, Field, "read_parent_number", (parent_references, order = rank, count(children = children, descendants = descendants)) {
        parent: Parent<ParentNumber, ZeroRoot>, rank: Rank, children: NodeCount, descendants: NodeCount
    }
    ParentText: String, None, "read_parent_text", (parent_references) { parent: Parent<ParentText> }
    ParentUuid: Uuid, Field, "read_parent_uuid", (parent_references, order = rank, depth = depth) {
        parent: Parent<ParentUuid>, rank: Rank, depth: Depth
    }
    ChildText: String, List, "read_child_text", (child_references) { children: Children<ChildText> }
    ChildUuid: Uuid, Field, "read_child_uuid", (child_references, order = rank, count(children = count, descendants = below)) {
        children: Children<ChildUuid>, rank: Rank, count: NodeCount, below: NodeCount
    }
    ChildCounted: ObjectId, List, "read_child_counted", (child_references, count(descendants = below)) {
        children: Children<ChildCounted>, below: NodeCount
    }
    ChildAndParent: String, List, "read_child_and_parent", (child_references, parent = parent, depth = depth) {
        children: Children<ChildAndParent>, parent: Parent<ChildAndParent>, depth: Depth
    }
    AncestorsText: String, Field, "read_ancestors_text", (array_of_ancestors, order = rank) {
        ancestors: Ancestors<AncestorsText>, rank: Rank
    }
    AncestorsObjectId: ObjectId, None, "read_ancestors_object_id", (array_of_ancestors, depth = depth) {
        ancestors: Ancestors<AncestorsObjectId>, depth: Depth
    }
    AncestorsChildren: i64, List, "read_ancestors_children", (array_of_ancestors, children = children) {
        ancestors: Ancestors<AncestorsChildren>, children: Children<AncestorsChildren>
    }
    PathText: String, Field, "read_path_text", (materialized_path, order = rank) { path: Materialized<PathText>, rank: Rank }
    PathUuid: Uuid, None, "read_path_uuid", (materialized_path) { path: Materialized<PathUuid> }
    PathObjectId: ObjectId, Field, "read_path_object_id", (materialized_path, order = rank, count(children = count)) {
        path: Materialized<PathObjectId>, rank: Rank, count: NodeCount
    }
    PathNumber: i64, List, "read_path_number", (materialized_path, children = children, depth = depth) {
        path: Materialized<PathNumber>, children: Children<PathNumber>, depth: Depth
    }
    BoundsText: String, Field, "read_bounds_text", (nested_sets) { left: Left, right: Right }
    BoundsUuid: Uuid, Field, "read_bounds_uuid", (nested_sets, parent = parent, depth = depth) {
        left: Left, right: Right, parent: Parent<BoundsUuid>, depth: Depth
    }
    BoundsChildren: i32, Field, "read_bounds_children", (nested_sets, children = children) {
        left: Left, right: Right, children: Children<BoundsChildren>
    }
    ParentInShop: String, Field, "read_parent_in_shop", (parent_references, order = rank, scope = shop) {
        parent: Parent<ParentInShop>, rank: Rank
    }
    ChildInShop: String, List, "read_child_in_shop", (child_references, scope = shop) { children: Children<ChildInShop> }
    AncestorsInShop: Uuid, None, "read_ancestors_in_shop", (array_of_ancestors, scope = shop) {
        ancestors: Ancestors<AncestorsInShop>
    }
    PathInShop: String, Field, "read_path_in_shop", (materialized_path, scope = shop, order = rank) {
        path: Materialized<PathInShop>, rank: Rank
    }
    BoundsInShop: i32, Field, "read_bounds_in_shop", (nested_sets, scope = shop) { left: Left, right: Right }
}

pub(super) type IdOf<D> = <<D as DeclaredTree>::Model as Document>::Id;

pub(super) fn named<D: ReadTree>(number: i32) -> Ref<D::Model> {
    Ref::from(IdOf::<D>::of(number))
}
