//! The categories of the guides, in each of the five patterns.

use std::pin::Pin;

use odm::prelude::*;

use odm::tree::prelude::*;
use odm::tree::{DeclaredTree, SingleParent};

/// A category that is stored as a node of a tree.
pub(crate) trait Category:
    SingleParent + DeclaredTree<Model = Self> + Document<Id = String>
{
    /// A category to insert; the tree fills in its place.
    fn new(name: &str) -> Self;
}

/// Each node stores its parent.
pub(crate) mod by_parent {
    use odm::prelude::*;
    use odm::tree::prelude::*;

    #[derive(Debug, Serialize, Deserialize, Document)]
    #[odm(collection = "categories", tree(parent_references))]
    pub(crate) struct Category {
        #[serde(rename = "_id")]
        name: String,
        parent: Parent<Category>,
    }

    impl super::Category for Category {
        fn new(name: &str) -> Self {
            Self {
                name: name.to_owned(),
                parent: Parent::default(),
            }
        }
    }
}

/// Each node stores its children, in their order.
pub(crate) mod by_children {
    use odm::prelude::*;
    use odm::tree::prelude::*;

    #[derive(Debug, Serialize, Deserialize, Document)]
    #[odm(collection = "categories", tree(child_references))]
    pub(crate) struct Category {
        #[serde(rename = "_id")]
        name: String,
        children: Children<Category>,
    }

    impl super::Category for Category {
        fn new(name: &str) -> Self {
            Self {
                name: name.to_owned(),
                children: Children::default(),
            }
        }
    }
}

/// Each node stores all its ancestors, the root first, and its parent.
pub(crate) mod by_ancestors {
    use odm::prelude::*;
    use odm::tree::prelude::*;

    #[derive(Debug, Serialize, Deserialize, Document)]
    #[odm(
        collection = "categories",
        tree(array_of_ancestors, parent = parent)
    )]
    pub(crate) struct Category {
        #[serde(rename = "_id")]
        name: String,
        ancestors: Ancestors<Category>,
        parent: Parent<Category>,
    }

    impl super::Category for Category {
        fn new(name: &str) -> Self {
            Self {
                name: name.to_owned(),
                ancestors: Ancestors::default(),
                parent: Parent::default(),
            }
        }
    }
}

/// Each node stores the path to it as a string.
pub(crate) mod by_path {
    use odm::prelude::*;
    use odm::tree::prelude::*;

    #[derive(Debug, Serialize, Deserialize, Document)]
    #[odm(collection = "categories", tree(materialized_path))]
    pub(crate) struct Category {
        #[serde(rename = "_id")]
        name: String,
        path: Materialized<Category>,
    }

    impl super::Category for Category {
        fn new(name: &str) -> Self {
            Self {
                name: name.to_owned(),
                path: Materialized::default(),
            }
        }
    }
}

/// Each node stores where a round trip through the tree first and last visits it, and its parent.
pub(crate) mod by_bounds {
    use odm::prelude::*;
    use odm::tree::prelude::*;

    #[derive(Debug, Serialize, Deserialize, Document)]
    #[odm(collection = "categories", tree(nested_sets, parent = parent))]
    pub(crate) struct Category {
        #[serde(rename = "_id")]
        name: String,
        // The guides store 0 for the parent of a root.
        parent: Parent<Category, ZeroRoot>,
        left: Left,
        right: Right,
    }

    impl super::Category for Category {
        fn new(name: &str) -> Self {
            Self {
                name: name.to_owned(),
                parent: Parent::default(),
                left: Left::default(),
                right: Right::default(),
            }
        }
    }
}

type Running<'d, T> = Pin<Box<dyn Future<Output = odm::Result<T>> + 'd>>;

/// A pattern, and what the example does with it.
pub(crate) struct Pattern {
    /// Its name, the key in `examples/data/documents.json`.
    pub(crate) title: &'static str,
    /// Inserts the categories.
    pub(crate) store: for<'d> fn(&'d Db) -> Running<'d, ()>,
    /// Reads them, and moves some.
    pub(crate) steps: for<'d> fn(&'d Db, &'d Log<'d>) -> Running<'d, ()>,
}

/// Called before each step with what it does, and after it with what it found.
pub(crate) type Log<'l> = dyn Fn(&str) + 'l;

/// Every pattern, in the order of the guides.
pub(crate) const PATTERNS: &[Pattern] = &[
    Pattern {
        title: "tree, parent references",
        store: |db| Box::pin(store::<by_parent::Category>(db)),
        steps: |db, log| Box::pin(steps::<by_parent::Category>(db, log)),
    },
    Pattern {
        title: "tree, child references",
        store: |db| Box::pin(store_children(db)),
        steps: |db, log| Box::pin(steps::<by_children::Category>(db, log)),
    },
    Pattern {
        title: "tree, array of ancestors",
        store: |db| Box::pin(store::<by_ancestors::Category>(db)),
        steps: |db, log| Box::pin(steps::<by_ancestors::Category>(db, log)),
    },
    Pattern {
        title: "tree, materialized paths",
        store: |db| Box::pin(store::<by_path::Category>(db)),
        steps: |db, log| Box::pin(steps::<by_path::Category>(db, log)),
    },
    Pattern {
        title: "tree, nested sets",
        store: |db| Box::pin(store::<by_bounds::Category>(db)),
        steps: |db, log| Box::pin(steps::<by_bounds::Category>(db, log)),
    },
];

/// Inserts the categories from the root down.
async fn store<C: Category>(db: &Db) -> odm::Result<()> {
    let tree = db.tree::<C>();
    tree.insert(C::new("Books"), Position::root()).await?;
    for (name, parent) in [
        ("Programming", "Books"),
        ("Languages", "Programming"),
        ("Databases", "Programming"),
        ("MongoDB", "Databases"),
        ("dbm", "Databases"),
    ] {
        let parent = Ref::from(parent);
        tree.insert(C::new(name), Position::child_of(parent))
            .await?;
    }
    Ok(())
}

/// Inserts the categories, with the databases before the languages, as the guides list these children.
async fn store_children(db: &Db) -> odm::Result<()> {
    store::<by_children::Category>(db).await?;
    let tree = db.tree::<by_children::Category>();
    let named = |name: &str| Ref::from(name);
    let first = Position::first_child_of(named("Programming"));
    tree.move_to(named("Databases"), first).await?;
    Ok(())
}

async fn steps<C: Category>(db: &Db, log: &Log<'_>) -> odm::Result<()> {
    let tree = db.tree::<C>();
    let named = |name: &str| Ref::from(name);
    log("children of Databases");
    let children = tree.children(named("Databases")).ids().await?;
    log(&format!("  {}", children.join(", ")));
    log("descendants of Programming, each before its own");
    let below = tree
        .descendants(named("Programming"))
        .pre_order()
        .ids()
        .await?;
    log(&format!("  {}", below.join(", ")));
    log("path to MongoDB");
    let path = tree.path(named("MongoDB")).ids().await?;
    log(&format!("  {}", path.join(" > ")));
    log("move Databases, with all below it, under Books");
    let done = tree
        .move_to(named("Databases"), Position::child_of(named("Books")))
        .await?;
    log(&format!("  {} documents changed", done.modified));
    log("path to MongoDB");
    let path = tree.path(named("MongoDB")).ids().await?;
    log(&format!("  {}", path.join(" > ")));
    Ok(())
}
