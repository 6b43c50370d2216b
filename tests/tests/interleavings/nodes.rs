//! Nodes of trees that hold a copy of the name of their author, and the number of their likes.

use futures::future::BoxFuture;
use odm::prelude::*;
use odm::tree::prelude::*;
use odm::tree::{DeclaredTree, SingleParent, TreeDelete};

use super::explorer::{Explored, Operation, Orders, explore, more, operation};
use super::verbs::Named;
use super::ways::{Way, run};

/// An author, and a tree of nodes of one.
macro_rules! nodes {
    (
        $author:ident($authors:literal), $like:ident($likes:literal),
        $node:ident($nodes:literal, $relation:ident, $($tree:tt)*),
        $($field:ident: $ty:ty),*
    ) => {
        #[derive(Debug, Serialize, Deserialize, Document)]
        #[odm(collection = $authors, $relation(nodes: $node, by = author))]
        struct $author {
            #[serde(rename = "_id")]
            id: i32,
            name: String,
        }

        #[derive(Debug, Serialize, Deserialize, Document)]
        #[odm(collection = $likes)]
        struct $like {
            #[serde(rename = "_id")]
            id: i32,
            #[odm(index)]
            node: Ref<$node>,
        }

        #[derive(Debug, Serialize, Deserialize, Document)]
        #[odm(collection = $nodes, tree($($tree)*), $relation(likes: $like, by = node))]
        struct $node {
            #[serde(rename = "_id")]
            id: i32,
            #[odm(index)]
            author: Ref<$author>,
            #[odm(copy_of(author.name))]
            author_name: String,
            #[odm(count_of(likes))]
            like_count: i32,
            $($field: $ty,)*
        }

        impl Authored for $node {
            type Author = $author;
            type Like = $like;

            fn node(id: i32, author: i32) -> Self {
                Self {
                    id,
                    author: Ref::from(author),
                    author_name: "?".to_owned(),
                    like_count: 7,
                    $($field: Default::default(),)*
                }
            }

            fn author(id: i32, name: &str) -> $author {
                $author { id, name: name.to_owned() }
            }

            fn rename(way: Way) -> Operation {
                operation(move |db| async move {
                    let authors = db.collection::<$author>();
                    let update = || authors.update_by_id(&1, |a| a.name.set("new"));
                    run!(way, db, update().propagate())
                })
            }

            fn like(node: i32, way: Way) -> Operation {
                operation(move |db| async move {
                    let likes = db.collection::<$like>();
                    let like = || $like { id: 1, node: Ref::from(node) };
                    run!(way, db, likes.insert_one(like()).propagate())
                })
            }

            fn reassign(id: i32, way: Way) -> Operation {
                operation(move |db| async move {
                    let all = db.collection::<$node>();
                    let update = || all.update_by_id(&id, |n| n.author.set(Ref::from(1)));
                    run!(way, db, update().propagate())
                })
            }
        }
    };
}

/// A tree of nodes that have an author.
trait Authored:
    SingleParent + DeclaredTree<Model = Self> + Document<Id = i32> + odm::model::Writable + 'static
{
    type Author: Document<Id = i32> + odm::model::Writable;
    type Like: Document + odm::model::Writable;

    fn node(id: i32, author: i32) -> Self;
    fn author(id: i32, name: &str) -> Self::Author;
    /// Gives the author 1 another name.
    fn rename(way: Way) -> Operation;
    /// Inserts a like of a node, which may not exist yet.
    fn like(node: i32, way: Way) -> Operation;
    /// The node goes to the author 1.
    fn reassign(id: i32, way: Way) -> Operation;
}

nodes!(
    ParentAuthor("parent_authors"), ParentLike("parent_likes"),
    ByParent("authored_by_parent", has_many, parent_references),
    parent: Parent<ByParent>
);
nodes!(
    PathAuthor("path_authors"), PathLike("path_likes"),
    ByPath("authored_by_path", has_squillions, materialized_path, parent = parent),
    path: Materialized<ByPath>, parent: Parent<ByPath>
);
nodes!(
    BoundsAuthor("bounds_authors"), BoundsLike("bounds_likes"),
    ByBounds("authored_by_bounds", has_many, nested_sets, parent = parent),
    left: Left, right: Right, parent: Parent<ByBounds>
);

/// Two authors. The author 1 has the root 1 and the node 2 below it, and the author 2 has the node 3 below 1, and 4 below 2.
fn fill<N: Authored>(db: Db) -> BoxFuture<'static, ()> {
    Box::pin(async move {
        let plan = db
            .sync([N::Author::model(), N::model(), N::Like::model()])
            .plan();
        plan.await.unwrap().apply(Allow::CREATE).await.unwrap();
        let authors = [N::author(1, "first"), N::author(2, "second")];
        db.collection().insert_many(authors).await.unwrap();
        let edges = [
            (1, 1, None),
            (2, 1, Some(1)),
            (3, 2, Some(1)),
            (4, 2, Some(2)),
        ];
        let edges =
            edges.map(|(id, author, parent)| (N::node(id, author), parent.map(Ref::<N>::from)));
        let insert = db.tree::<N>().insert_edges(edges).propagate();
        insert.await.unwrap();
    })
}

/// Whether the tree is whole, no copy and no number is stale, and no record of a change is left.
async fn is_sound<N: Authored>(db: Db) -> bool {
    let records = doc! {"find": "odm_propagations"};
    let records = db.run_command(records).all().await.unwrap();
    let copies = db.collection::<N>().check_copies().await.unwrap();
    let counts = db.collection::<N>().check_summaries().await.unwrap();
    let tree = db.tree::<N>().check().await.unwrap();
    records.is_empty() && copies.is_sound() && counts.is_sound() && tree.is_sound()
}

/// A change of the tree in a way.
macro_rules! change {
    ($way:ident, |$tree:ident| $change:expr) => {
        operation(move |db| async move {
            let $tree = db.tree::<N>();
            let result = match $way {
                Way::Joined => {
                    let ended = odm::transaction!(db, |tx| {
                        $change.session(tx).await?;
                        Ok(())
                    });
                    ended.await
                }
                _ => $change.await.map(drop),
            };
            match result {
                // What the other has left does not allow the change.
                Err(error) if error.tree_refusal().is_some() => Ok(()),
                other => other,
            }
        })
    };
}

fn changes<N: Authored>(way: Way) -> Named {
    let node = Ref::<N>::from;
    vec![
        (
            "an insert",
            change!(way, |tree| tree
                .insert(N::node(5, 1), Position::child_of(node(2)))
                .propagate()),
        ),
        (
            "a load",
            change!(way, |tree| tree
                .insert_edges([(N::node(6, 1), Some(node(3))), (N::node(7, 2), None)])
                .propagate()),
        ),
        (
            "a move",
            change!(way, |tree| tree
                .move_to(node(2), Position::child_of(node(3)))),
        ),
        (
            "a delete",
            change!(way, |tree| tree
                .delete(node(2))
                .policy(TreeDelete::Cascade)
                .with_dependents()),
        ),
        (
            "a delete that leaves the children",
            change!(way, |tree| tree
                .delete(node(2))
                .policy(TreeDelete::Adopt)
                .with_dependents()),
        ),
    ]
}

fn cross<N: Authored>() {
    let mut all = Explored::default();
    let ways = [
        (Way::Own, Way::Own),
        (Way::Own, Way::NonAtomic),
        (Way::Joined, Way::Own),
        (Way::Joined, Way::Joined),
    ];
    for (turn, (way, other_way)) in ways.into_iter().enumerate() {
        let mut others = vec![
            ("a change of the source", N::rename(other_way)),
            ("a move to another author", N::reassign(3, other_way)),
            ("a like", N::like(4, other_way)),
            ("a like of a new node", N::like(5, other_way)),
        ];
        if way == Way::Joined {
            // Changes of a tree take turns outside of transactions of their callers.
            let node = Ref::<N>::from;
            others.push((
                "another insert",
                change!(way, |tree| tree
                    .insert(N::node(8, 1), Position::child_of(node(1)))
                    .propagate()),
            ));
        }
        for (at, (name, change)) in changes::<N>(way).into_iter().enumerate() {
            for (other_at, (other_name, other)) in others.iter().enumerate() {
                // In the other ways, some of the changes meet one of the other operations each.
                let is_one = (at + turn) % 2 == 0 && other_at == (at + turn) % others.len();
                let is_chosen = turn == 0 || is_one;
                if !is_chosen && more() == 0 {
                    continue;
                }
                let pair = [change.clone(), other.clone()];
                let explored = explore(fill::<N>, &pair, Orders::Switches(1), |db| {
                    Box::pin(is_sound::<N>(db))
                });
                assert_eq!(
                    explored.unsound,
                    0,
                    "{}: {name} ({way:?}) beside {other_name} ({other_way:?}): {explored}",
                    N::model().collection
                );
                all.add(&explored);
            }
        }
    }
    println!("nodes with derived data, {}: {all}", N::model().collection);
    assert!(all.orders > 100, "{all}");
}

#[test]
fn nodes_with_derived_data() {
    cross::<ByParent>();
    cross::<ByPath>();
    cross::<ByBounds>();
}
