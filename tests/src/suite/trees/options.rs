//! Options of trees, refusals, and reads with all that a find takes.

use odm::bson::{Document as BsonDocument, doc};
use odm::error::TreeRefusal;
use odm::prelude::*;
use odm::tree::prelude::*;
use odm::tree::{DamageKind, TreeDelete};

use super::models::{ByAll, ByPath, TestTree};
use crate::case::cases;
use crate::suite::relations::watched;

cases![
    scopes_are_trees_of_their_own,
    depth_is_limited_for_moved_descendants_too,
    siblings_are_unique,
    children_are_kept_sorted,
    long_ranks_are_made_short,
    graphs_have_nodes_with_several_parents,
    two_trees_of_one_model_are_kept_apart,
    ids_that_a_path_cannot_hold_are_refused,
    ids_do_not_act_as_patterns,
    places_that_do_not_exist_are_refused,
    reads_are_queries,
    typed_writes_leave_the_place_of_a_node_alone,
    changes_run_in_the_session_of_the_caller,
    changes_without_a_transaction_are_non_atomic,
    moves_send_the_same_commands_for_every_size,
    fences_are_planned_and_keep_changes_apart,
];

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "shops")]
struct Shop {
    #[serde(rename = "_id")]
    id: i32,
    name: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(
    collection = "categories",
    tree(
        materialized_path,
        scope = shop,
        order = rank,
        max_depth = 2,
        on_delete = cascade,
        unique_among_siblings(name)
    )
)]
struct Category {
    #[serde(rename = "_id")]
    id: String,
    shop: Ref<Shop>,
    path: Materialized<Category>,
    rank: Rank,
    name: String,
}

fn category(shop: i32, id: &str) -> Category {
    Category {
        id: id.to_owned(),
        shop: Ref::from(shop),
        path: Materialized::default(),
        rank: Rank::default(),
        name: id.to_lowercase(),
    }
}

fn id(id: &str) -> Ref<Category> {
    Ref::from(id)
}

async fn synced(db: &Db) -> Tree<Category> {
    let plan = db.sync(odm::models![Shop, Category]).plan().await.unwrap();
    plan.apply(Allow::CREATE).await.unwrap();
    let tree = db.tree::<Category>();
    for (shop, node, parent) in [
        (1, "Books", None),
        (1, "Programming", Some("Books")),
        (1, "Databases", Some("Programming")),
        (1, "Music", None),
        (2, "Garden", None),
        (2, "Tools", Some("Garden")),
    ] {
        let position = match parent {
            None => Position::root(),
            Some(parent) => Position::child_of(id(parent)),
        };
        tree.insert(category(shop, node), position).await.unwrap();
    }
    tree
}

fn refusal<T: std::fmt::Debug>(result: odm::Result<T>) -> TreeRefusal {
    result.unwrap_err().tree_refusal().unwrap()
}

async fn scopes_are_trees_of_their_own(db: &Db) {
    let tree = synced(db).await;
    let roots = tree.roots().filter(|c| c.shop.eq(Ref::from(1)));
    assert_eq!(roots.ids().await.unwrap(), ["Books", "Music"]);
    let under = tree.insert(category(2, "Roses"), Position::child_of(id("Books")));
    assert_eq!(refusal(under.await), TreeRefusal::OtherTree);
    let beside = tree.insert(category(2, "Roses"), Position::before(id("Music")));
    assert_eq!(refusal(beside.await), TreeRefusal::OtherTree);
    let moved = tree.move_to(id("Tools"), Position::child_of(id("Music")));
    assert_eq!(refusal(moved.await), TreeRefusal::OtherTree);
    // A root stays in its tree.
    tree.move_to(id("Tools"), Position::first_root())
        .await
        .unwrap();
    let roots = tree.roots().filter(|c| c.shop.eq(Ref::from(2)));
    assert_eq!(roots.ids().await.unwrap(), ["Tools", "Garden"]);
    assert!(!tree.are_siblings(id("Tools"), id("Books")).await.unwrap());
    assert!(tree.check().await.unwrap().is_sound());
    let plan = db.tree::<Category>().repair().await.unwrap();
    assert!(plan.is_empty(), "{plan}");
}

async fn depth_is_limited_for_moved_descendants_too(db: &Db) {
    let tree = synced(db).await;
    let below = tree.insert(category(1, "MongoDB"), Position::child_of(id("Databases")));
    let error = below.await.unwrap_err();
    assert_eq!(error.tree_refusal(), Some(TreeRefusal::TooDeep));
    assert!(error.to_string().contains("3 ancestors"), "{error}");
    let moved = tree.move_to(id("Books"), Position::child_of(id("Music")));
    assert_eq!(refusal(moved.await), TreeRefusal::TooDeep);
    tree.move_to(id("Programming"), Position::root())
        .await
        .unwrap();
    tree.move_to(id("Programming"), Position::child_of(id("Music")))
        .await
        .unwrap();
    assert_eq!(tree.depth(id("Databases")).await.unwrap(), 2);
    assert_eq!(
        tree.path(id("Databases")).ids().await.unwrap(),
        ["Music", "Programming", "Databases"]
    );
}

async fn siblings_are_unique(db: &Db) {
    let tree = synced(db).await;
    let mut twin = category(1, "Second");
    "programming".clone_into(&mut twin.name);
    let taken = tree
        .insert(&twin, Position::child_of(id("Books")))
        .await
        .unwrap_err();
    assert!(taken.is_duplicate_key(), "{taken}");
    tree.insert(&twin, Position::child_of(id("Music")))
        .await
        .unwrap();
    let taken = tree
        .move_to(&twin, Position::child_of(id("Books")))
        .await
        .unwrap_err();
    assert!(taken.is_duplicate_key(), "{taken}");
    // Without a transaction, too, nothing is written.
    let moved = tree.move_to(&twin, Position::child_of(id("Books")));
    let taken = moved.non_atomic().await.unwrap_err();
    assert!(taken.is_duplicate_key(), "{taken}");
    let report = tree.check().await.unwrap();
    assert!(report.is_sound(), "{report}");
}

async fn children_are_kept_sorted(db: &Db) {
    let tree = synced(db).await;
    for name in ["Jazz", "Blues", "Zydeco", "Folk"] {
        let new = category(1, name);
        let sorted = tree.insert(
            &new,
            tree.sorted_child_of(id("Music"), |c| c.name.gt(&new.name)),
        );
        sorted.await.unwrap();
    }
    let children = tree.children(id("Music")).ids().await.unwrap();
    assert_eq!(children, ["Blues", "Folk", "Jazz", "Zydeco"]);
    let art = category(1, "Art");
    let sorted = tree.insert(&art, tree.sorted_root(|c| c.name.gt(&art.name)));
    sorted.await.unwrap();
    let roots = tree.roots().filter(|c| c.shop.eq(Ref::from(1)));
    assert_eq!(roots.ids().await.unwrap(), ["Art", "Books", "Music"]);
}

async fn long_ranks_are_made_short(db: &Db) {
    let (db, log) = watched(db);
    let tree = synced(&db).await;
    for number in 0..30 {
        let place = Position::before(id("Music"));
        let new = category(1, &format!("Root {number}"));
        tree.insert(new, place).await.unwrap();
    }
    let other = tree.roots().filter(|c| c.shop.eq(Ref::from(2)));
    let other = other.all().await.unwrap();
    let roots = || tree.roots().filter(|c| c.shop.eq(Ref::from(1)));
    let longest = |nodes: &[Category]| nodes.iter().map(|node| node.rank.as_str().len()).max();
    let before = roots().all().await.unwrap();
    assert!(longest(&before) > Some(5), "{before:?}");

    log.lock().unwrap().clear();
    let done = tree.rerank_siblings(id("Music")).await.unwrap();
    assert_eq!((done.matched, done.modified), (31, 31));
    let sent = log.lock().unwrap().len();
    assert!(sent <= 6, "{sent} commands");
    let after = roots().all().await.unwrap();
    assert_eq!(longest(&after), Some(2), "{after:?}");
    let ids = |nodes: &[Category]| nodes.iter().map(|node| node.id.clone()).collect::<Vec<_>>();
    assert_eq!(ids(&after), ids(&before));
    let untouched = tree.roots().filter(|c| c.shop.eq(Ref::from(2)));
    assert_eq!(untouched.all().await.unwrap(), other);

    let again = tree.rerank_siblings(id("Music")).await.unwrap();
    assert_eq!((again.matched, again.modified), (0, 0));
    assert!(tree.check().await.unwrap().is_sound());
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "parts", tree(child_references, graph, count(children = uses)))]
struct Part {
    #[serde(rename = "_id")]
    id: i32,
    children: Children<Part>,
    uses: NodeCount,
}

fn part(id: i32) -> Part {
    Part {
        id,
        children: Children::default(),
        uses: NodeCount::default(),
    }
}

async fn graphs_have_nodes_with_several_parents(db: &Db) {
    let graph = db.tree::<Part>();
    let bike = graph.insert(part(1), Position::root()).await.unwrap().node;
    let wheel = graph
        .insert(part(2), Position::child_of(&bike))
        .await
        .unwrap()
        .node;
    let cart = graph.insert(part(3), Position::root()).await.unwrap().node;
    graph
        .insert(part(4), Position::child_of(&wheel))
        .await
        .unwrap();
    graph.add_child(&cart, &wheel).await.unwrap();
    let roots = async || {
        let mut roots = graph.roots().ids().await.unwrap();
        roots.sort_unstable();
        roots
    };
    let children = |of: i32| graph.children(Ref::<Part>::from(of)).ids();
    assert_eq!(children(1).await.unwrap(), [2]);
    assert_eq!(children(3).await.unwrap(), [2]);
    assert_eq!(graph.descendants(&cart).count().await.unwrap(), 2);
    assert_eq!(roots().await, [1, 3]);
    assert!(graph.check().await.unwrap().is_sound());

    let cycle = graph.add_child(Ref::from(4), &bike).await;
    assert_eq!(refusal(cycle), TreeRefusal::OwnSubtree);
    let itself = graph.add_child(&bike, &bike).await;
    assert_eq!(refusal(itself), TreeRefusal::OwnSubtree);
    assert_eq!(graph.add_child(&cart, &wheel).await.unwrap().modified, 0);

    graph.remove_child(&bike, &wheel).await.unwrap();
    assert!(children(1).await.unwrap().is_empty());
    let refused = graph.delete(&wheel).await;
    assert_eq!(refusal(refused), TreeRefusal::HasChildren);
    graph
        .delete(&wheel)
        .policy(TreeDelete::MakeRoots)
        .await
        .unwrap();
    assert_eq!(roots().await, [1, 3, 4]);
    assert!(graph.check().await.unwrap().is_sound());
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(
    collection = "staff",
    tree(parent_references, name = ByBoss, parent = boss),
    tree(array_of_ancestors, name = ByRegion, ancestors = regions)
)]
struct Member {
    #[serde(rename = "_id")]
    id: i32,
    boss: Parent<Member>,
    regions: Ancestors<Member>,
}

async fn two_trees_of_one_model_are_kept_apart(db: &Db) {
    let new = |id| Member {
        id,
        boss: Parent::default(),
        regions: Ancestors::default(),
    };
    let (bosses, regions) = (db.tree::<ByBoss>(), db.tree::<ByRegion>());
    let first = bosses.insert(new(1), Position::root()).await.unwrap().node;
    let second = bosses
        .insert(new(2), Position::child_of(&first))
        .await
        .unwrap()
        .node;
    // The first tree has inserted them both, as roots of the second.
    regions
        .move_to(&first, Position::child_of(&second))
        .await
        .unwrap();
    assert_eq!(bosses.descendants(&first).ids().await.unwrap(), [2]);
    assert_eq!(regions.descendants(&second).ids().await.unwrap(), [1]);
    assert!(bosses.check().await.unwrap().is_sound());
    assert!(regions.check().await.unwrap().is_sound());
}

async fn ids_that_a_path_cannot_hold_are_refused(db: &Db) {
    let tree = synced(db).await;
    for wrong in ["a,b", ","] {
        let error = tree
            .insert(category(1, wrong), Position::root())
            .await
            .unwrap_err();
        assert_eq!(error.tree_refusal(), Some(TreeRefusal::Id), "{error}");
        assert_eq!(error.path(), Some("_id"));
    }
}

async fn ids_do_not_act_as_patterns(db: &Db) {
    let tree = synced(db).await;
    let odd = ["B.*", "$where", "^", "(a|b)", r"\d+", "ü.ö"];
    for name in odd {
        let parent = tree
            .insert(category(1, name), Position::root())
            .await
            .unwrap()
            .node;
        let child = category(1, &format!("{name} child"));
        tree.insert(&child, Position::child_of(&parent))
            .await
            .unwrap();
        let below = tree.descendants(&parent).ids().await.unwrap();
        assert_eq!(below, [format!("{name} child")]);
    }
    for name in odd {
        tree.move_to(id(&format!("{name} child")), Position::root())
            .await
            .unwrap();
        tree.move_to(id(name), Position::child_of(id("Music")))
            .await
            .unwrap();
        tree.move_to(id(&format!("{name} child")), Position::child_of(id(name)))
            .await
            .unwrap();
    }
    let report = tree.check().await.unwrap();
    assert!(report.is_sound(), "{report}");
}

async fn places_that_do_not_exist_are_refused(db: &Db) {
    let tree = synced(db).await;
    let missing = || id("Nowhere");
    let under = tree.insert(category(1, "New"), Position::child_of(missing()));
    assert_eq!(refusal(under.await), TreeRefusal::NotFound);
    let moved = tree.move_to(missing(), Position::root());
    assert_eq!(refusal(moved.await), TreeRefusal::NotFound);
    assert_eq!(refusal(tree.delete(missing()).await), TreeRefusal::NotFound);
    assert_eq!(
        refusal(tree.ancestors(missing()).all().await),
        TreeRefusal::NotFound
    );
    let own = tree.move_to(id("Books"), Position::child_of(id("Databases")));
    assert_eq!(refusal(own.await), TreeRefusal::OwnSubtree);
    let itself = tree.move_to(id("Books"), Position::child_of(id("Books")));
    assert_eq!(refusal(itself.await), TreeRefusal::OwnSubtree);
    let beside = tree.move_to(id("Books"), Position::before(id("Books")));
    assert_eq!(refusal(beside.await), TreeRefusal::OwnSubtree);
    let swapped = tree.swap(id("Books"), id("Databases"));
    assert_eq!(refusal(swapped.await), TreeRefusal::OwnSubtree);
}

#[derive(Debug, PartialEq, Deserialize, Projection)]
#[odm(of = Category)]
struct Named {
    name: String,
}

async fn reads_are_queries(db: &Db) {
    let tree = synced(db).await;
    db.collection::<Shop>()
        .insert_one(&Shop {
            id: 1,
            name: "Corner".to_owned(),
        })
        .await
        .unwrap();
    let books = || id("Books");
    let rows = tree.descendants(books()).find().await.unwrap();
    let rows = rows.join(|c| c.shop).all().await.unwrap();
    assert_eq!(rows.len(), 2);
    assert!(rows.iter().all(|row| row.shop().found().is_some()));
    let names = tree
        .path(id("Databases"))
        .select::<Named>()
        .all()
        .await
        .unwrap();
    let names: Vec<_> = names.iter().map(|named| named.name.as_str()).collect();
    assert_eq!(names, ["books", "programming", "databases"]);
    let last = tree
        .descendants(books())
        .sort(|c| c.name.desc())
        .first()
        .await
        .unwrap();
    assert_eq!(last.unwrap().id, "Programming");
    let second = tree
        .descendants(books())
        .with_self()
        .pre_order()
        .skip(1)
        .limit(1);
    assert_eq!(second.ids().await.unwrap(), ["Programming"]);
    let filtered = tree
        .descendants(books())
        .filter(|c| c.name.ne("programming"));
    assert_eq!(filtered.pre_order().ids().await.unwrap(), ["Databases"]);
    assert!(tree.children(books()).exists().await.unwrap());
    assert!(!tree.children(id("Tools")).exists().await.unwrap());
    let common = tree.lowest_common_ancestor([id("Databases"), id("Programming")]);
    assert_eq!(common.await.unwrap().as_deref(), Some("Programming"));
    let none = tree.lowest_common_ancestor([id("Databases"), id("Tools")]);
    assert_eq!(none.await.unwrap(), None);
    assert!(tree.is_parent_of(books(), id("Programming")).await.unwrap());
    assert!(!tree.is_parent_of(books(), id("Databases")).await.unwrap());
}

async fn typed_writes_leave_the_place_of_a_node_alone(db: &Db) {
    let tree = synced(db).await;
    let nodes = tree.collection();
    let books = || "Books".to_owned();
    let moved = nodes.update_one(
        |c| c.id.eq(books()),
        |c| c.path.set(Materialized::default()),
    );
    let error = moved.await.unwrap_err();
    assert!(error.is_usage(), "{error}");
    assert_eq!(error.path(), Some("path"));
    let elsewhere = nodes.update_many(|c| c.id.eq(books()), |c| c.shop.set(Ref::from(2)));
    assert_eq!(elsewhere.await.unwrap_err().path(), Some("shop"));
    let node = nodes.get(&books()).await.unwrap().unwrap();
    let replaced = nodes.replace_one(|c| c.id.eq(books()), &node).await;
    assert!(replaced.unwrap_err().is_usage());
    let replaced = nodes
        .find_one_and_replace(|c| c.id.eq(books()), &node)
        .await;
    assert!(replaced.unwrap_err().is_usage());

    let named = nodes.update_one(|c| c.id.eq(books()), |c| c.name.set("tomes"));
    assert_eq!(named.await.unwrap().modified, 1);
    let mut loaded = nodes.load("Programming").await.unwrap().unwrap();
    tree.move_to(&loaded, Position::root()).await.unwrap();
    "code".clone_into(&mut loaded.name);
    assert!(nodes.save(&mut loaded).await.unwrap());
    let report = tree.check().await.unwrap();
    assert!(report.is_sound(), "{report}");
    assert!(tree.is_root(id("Programming")).await.unwrap());
}

async fn changes_run_in_the_session_of_the_caller(db: &Db) {
    let tree = synced(db).await;
    let mut session = db.start_session().await.unwrap();
    let outside = tree
        .move_to(id("Databases"), Position::root())
        .session(&mut session);
    assert!(outside.await.unwrap_err().is_usage());
    session.start_transaction().await.unwrap();
    tree.move_to(id("Databases"), Position::root())
        .session(&mut session)
        .await
        .unwrap();
    tree.insert(category(1, "MongoDB"), Position::child_of(id("Databases")))
        .session(&mut session)
        .await
        .unwrap();
    let seen = tree
        .descendants(id("Databases"))
        .session(&mut session)
        .ids()
        .await
        .unwrap();
    assert_eq!(seen, ["MongoDB"]);
    session.abort_transaction().await.unwrap();
    assert_eq!(
        tree.parent(id("Databases")).ids().await.unwrap(),
        ["Programming"]
    );
    let inserted = tree.collection().get("MongoDB").await.unwrap();
    assert_eq!(inserted, None);
}

async fn changes_without_a_transaction_are_non_atomic(db: &Db) {
    let tree = synced(db).await;
    let moved = tree.move_to(id("Programming"), Position::child_of(id("Music")));
    let done = moved.non_atomic().await.unwrap();
    assert_eq!((done.inserted, done.deleted), (0, 0));
    assert_eq!((done.matched, done.modified), (2, 2));
    let new = tree.insert(category(1, "Jazz"), Position::first_child_of(id("Music")));
    assert_eq!(
        new.non_atomic().await.unwrap().node.path.as_str(),
        Some(",Music,")
    );
    assert!(tree.check().await.unwrap().is_sound());
}

async fn moves_send_the_same_commands_for_every_size(db: &Db) {
    let (db, log) = watched(db);
    let mut counts = Vec::new();
    for size in [3, 60] {
        counts.push(commands_of_a_move::<ByPath>(&db, &log, size).await);
        counts.push(commands_of_a_move::<ByAll>(&db, &log, size).await);
    }
    assert_eq!(counts[..2], counts[2..]);
}

async fn commands_of_a_move<D: TestTree>(
    db: &Db,
    log: &std::sync::Mutex<Vec<BsonDocument>>,
    size: i32,
) -> usize {
    db.collection::<D::Model>().drop().await.unwrap();
    let tree = db.tree::<D>();
    tree.insert(D::node(1), Position::root()).await.unwrap();
    tree.insert(D::node(2), Position::root()).await.unwrap();
    for id in 3..3 + size {
        let parent = Ref::from(if id == 3 { 2 } else { 3 });
        tree.insert(D::node(id), Position::child_of(parent))
            .await
            .unwrap();
    }
    log.lock().unwrap().clear();
    let done = tree
        .move_to(Ref::from(2), Position::child_of(Ref::from(1)))
        .await
        .unwrap();
    let sent = log.lock().unwrap().len();
    assert!(done.modified > u64::try_from(size).unwrap());
    assert!(tree.check().await.unwrap().is_sound());
    sent
}

async fn fences_are_planned_and_keep_changes_apart(db: &Db) {
    synced(db).await;
    let fences = db
        .run_command(doc! {"count": "odm_tree_fences"})
        .await
        .unwrap();
    assert_eq!(fences.get_i32("n").unwrap(), 2);
    // A change behind the fence fails, and runs again, if another change of the same tree was first.
    let tree = db.tree::<Category>();
    let mut session = db.start_session().await.unwrap();
    session.start_transaction().await.unwrap();
    tree.move_to(id("Databases"), Position::root())
        .session(&mut session)
        .await
        .unwrap();
    let mut other = db.start_session().await.unwrap();
    other.start_transaction().await.unwrap();
    let change = tree.insert(category(1, "Jazz"), Position::child_of(id("Music")));
    let conflict = change.session(&mut other).await.unwrap_err();
    assert!(
        conflict.has_label("TransientTransactionError"),
        "{conflict}"
    );
    // Another scope is another tree.
    let mut third = db.start_session().await.unwrap();
    third.start_transaction().await.unwrap();
    let change = tree.insert(category(2, "Roses"), Position::child_of(id("Garden")));
    change.session(&mut third).await.unwrap();
    third.commit_transaction().await.unwrap();
    session.commit_transaction().await.unwrap();
    let report = tree.check().await.unwrap();
    assert!(
        !report
            .listed
            .iter()
            .any(|one| one.kind == DamageKind::MixedScopes)
    );
    assert!(report.is_sound(), "{report}");
}
