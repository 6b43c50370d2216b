//! The parts of a country as a tree: materialized paths, in order.

use odm::prelude::*;
use odm::tree::prelude::*;

use crate::show::{self, Show, line};
use crate::source;

/// A country, or a part of one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "regions", tree(materialized_path, order = rank))]
pub(crate) struct Region {
    #[serde(rename = "_id")]
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) path: Materialized<Region>,
    pub(crate) rank: Rank,
}

fn region(id: &str, name: &str) -> Region {
    Region {
        id: id.to_owned(),
        name: name.to_owned(),
        path: Materialized::default(),
        rank: Rank::default(),
    }
}

/// Reads a subtree by one range of an index, and moves it by one update.
pub(crate) async fn tree(db: &Db, show: &Show) -> odm::Result<()> {
    show.step("A tree: a subtree is one range of an index, and moves by one update");
    let plan = db.sync(models![Region]).plan().await?;
    plan.apply(Allow::CREATE).await?;
    let tree = db.tree::<Region>();
    let belgium = tree
        .insert(region("BE", "Belgium"), Position::root())
        .await?
        .node;
    let mut parts = source::subdivisions();
    parts.retain(|part| part.country.id() == "BE");
    // A parent is inserted before its children.
    parts.sort_by_key(|part| part.parent.is_some());
    for part in parts {
        let parent = part.parent.map_or("BE".to_owned(), Ref::into_id);
        let new = region(&part.id, &part.name);
        let place = tree.sorted_child_of(Ref::from(parent), |r| r.name.gt(&new.name));
        tree.insert(&new, place).await?;
    }
    show.forget();
    line("\nthe parts of Belgium, each before its own parts:");
    let parts = tree.descendants(&belgium).pre_order().all().await?;
    show.commands();
    show::stored("the last one", parts.last())?;
    let lines: Vec<String> = parts
        .iter()
        .map(|part| format!("{}{}", "  ".repeat(part.path.depth()), part.name))
        .collect();
    show::answer(lines.join("\n"));

    line("\nFlanders, with its provinces, becomes a root:");
    let moved = tree.move_to(Ref::from("BE-VLG"), Position::root()).await?;
    show.commands();
    show::answer(format!("{} documents changed", moved.modified));
    Ok(())
}
