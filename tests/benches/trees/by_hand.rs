//! The operations written by hand with the driver, for the same documents and with the same guarantees: changes run in a
//! transaction that also writes the fence.

use std::collections::HashMap;

use futures::TryStreamExt;
use mongodb::bson::{Document, doc};
use mongodb::{ClientSession, Collection, Database};
use odm::tree::Pattern;

use crate::models::{BenchNode, name};
use crate::place::{At, Place, Row, after, replace_lineage, rows, shifts};

pub(crate) struct ByHand<M: BenchNode> {
    database: Database,
    nodes: Collection<M>,
    places: Collection<Place>,
    rows: Collection<Row>,
}

impl<M: BenchNode> ByHand<M> {
    pub(crate) fn new(database: &Database) -> Self {
        Self {
            database: database.clone(),
            nodes: database.collection("nodes"),
            places: database.collection("nodes"),
            rows: database.collection("nodes"),
        }
    }

    async fn place(&self, session: Option<&mut ClientSession>, filter: Document) -> Place {
        self.first(session, filter, doc! {}).await.unwrap()
    }

    async fn first(
        &self,
        session: Option<&mut ClientSession>,
        filter: Document,
        sort: Document,
    ) -> Option<Place> {
        let projection = Place::projection(M::PATTERN);
        let mut find = self.places.find_one(filter).projection(projection);
        if !sort.is_empty() {
            find = find.sort(sort);
        }
        match session {
            Some(session) => find.session(session).await.unwrap(),
            None => find.await.unwrap(),
        }
    }

    async fn find(&self, filter: Document, sort: Document) -> Vec<M> {
        let find = self.nodes.find(filter).sort(sort).await;
        find.unwrap().try_collect().await.unwrap()
    }

    /// The nodes with these ids, in this order.
    async fn in_order(&self, ids: &[i32]) -> Vec<M> {
        let found = self.nodes.find(doc! {"_id": {"$in": ids}}).await.unwrap();
        let found: Vec<M> = found.try_collect().await.unwrap();
        let mut found: HashMap<i32, M> = found.into_iter().map(|node| (*node.id(), node)).collect();
        ids.iter().filter_map(|id| found.remove(id)).collect()
    }

    pub(crate) async fn children(&self, id: i32) -> Vec<M> {
        match M::PATTERN {
            Pattern::ParentReferences => self.find(doc! {"parent": id}, doc! {"rank": 1}).await,
            Pattern::ChildReferences => {
                let parent = self.place(None, doc! {"_id": id}).await;
                self.in_order(&parent.children).await
            }
            Pattern::ArrayOfAncestors | Pattern::MaterializedPath => {
                let parent = self.place(None, doc! {"_id": id}).await;
                let filter = parent.family().filter(M::PATTERN);
                self.find(filter, doc! {"rank": 1}).await
            }
            Pattern::NestedSets => {
                let parent = self.place(None, doc! {"_id": id}).await;
                let inside = doc! {"left": {"$gt": parent.left, "$lt": parent.right}};
                let find = self.places.find(inside).sort(doc! {"left": 1});
                let find = find.projection(Place::projection(M::PATTERN)).await;
                let below: Vec<Place> = find.unwrap().try_collect().await.unwrap();
                let mut end = parent.left;
                let mut ids = Vec::new();
                for node in below {
                    if node.left > end {
                        ids.push(node.id);
                        end = node.right;
                    }
                }
                self.find(doc! {"_id": {"$in": ids}}, doc! {"left": 1})
                    .await
            }
        }
    }

    pub(crate) async fn ancestors(&self, id: i32) -> Vec<M> {
        match M::PATTERN {
            Pattern::ParentReferences | Pattern::ChildReferences => {
                let mut stages = ancestors(M::PATTERN, id);
                stages.push(doc! {"$replaceRoot": {"newRoot": "$found"}});
                let found = self.nodes.aggregate(stages).with_type::<M>();
                found.await.unwrap().try_collect().await.unwrap()
            }
            Pattern::ArrayOfAncestors => {
                let node = self.place(None, doc! {"_id": id}).await;
                self.in_order(&node.ancestors).await
            }
            Pattern::MaterializedPath => {
                let node = self.place(None, doc! {"_id": id}).await;
                let path = node.path.unwrap_or_default();
                let ids = path.split(',').filter(|id| !id.is_empty());
                let ids: Vec<i32> = ids.map(|id| id.parse().unwrap()).collect();
                self.in_order(&ids).await
            }
            Pattern::NestedSets => {
                let node = self.place(None, doc! {"_id": id}).await;
                let around = doc! {"left": {"$lt": node.left}, "right": {"$gt": node.right}};
                self.find(around, doc! {"left": 1}).await
            }
        }
    }

    pub(crate) async fn descendants(&self, id: i32) -> Vec<M> {
        let filter = match M::PATTERN {
            Pattern::ParentReferences | Pattern::ChildReferences => {
                let mut stages = descendants(M::PATTERN, id);
                stages.push(doc! {"$replaceRoot": {"newRoot": "$found"}});
                let found = self.nodes.aggregate(stages).with_type::<M>();
                return found.await.unwrap().try_collect().await.unwrap();
            }
            Pattern::ArrayOfAncestors => doc! {"ancestors": id},
            Pattern::MaterializedPath => {
                let node = self.place(None, doc! {"_id": id}).await;
                doc! {"path": {"$regex": format!("^{}", node.path_of_children())}}
            }
            Pattern::NestedSets => {
                let node = self.place(None, doc! {"_id": id}).await;
                doc! {"left": {"$gt": node.left, "$lt": node.right}}
            }
        };
        let found = self.nodes.find(filter).await.unwrap();
        found.try_collect().await.unwrap()
    }

    /// Starts a transaction and writes the fence.
    async fn begin(&self) -> Change<'_, M> {
        let mut session = self.database.client().start_session().await.unwrap();
        session.start_transaction().await.unwrap();
        let fences = self.database.collection::<Document>("odm_tree_fences");
        let filter = doc! {"_id": {"collection": "nodes"}};
        let write = fences.update_one(filter, doc! {"$inc": {"writes": 1_i64}});
        write.upsert(true).session(&mut session).await.unwrap();
        Change {
            tree: self,
            session,
            written: 0,
        }
    }

    pub(crate) async fn insert(&self, id: i32, at: At) -> usize {
        let mut change = self.begin().await;
        let row = match M::PATTERN {
            Pattern::ChildReferences => {
                let (parent, index) = match at {
                    At::LastIn(parent) => (parent, None),
                    At::Before(sibling) => {
                        let parent = change.place(doc! {"children": sibling}).await;
                        (parent.id, Some(index(&parent, sibling)))
                    }
                };
                change.list(parent, id, index).await;
                Row::Children {
                    id,
                    children: Vec::new(),
                    name: name(id),
                }
            }
            Pattern::NestedSets => {
                let left = match at {
                    At::LastIn(parent) => change.place(doc! {"_id": parent}).await.right,
                    At::Before(sibling) => change.place(doc! {"_id": sibling}).await.left,
                };
                change.shift_behind(left, 2).await;
                Row::Bounds {
                    id,
                    left,
                    right: left + 1,
                    name: name(id),
                }
            }
            pattern => {
                let (family, rank) = change.ranked(at).await;
                family.row(pattern, id, rank)
            }
        };
        let insert = self.rows.insert_one(row).session(&mut change.session);
        insert.await.unwrap();
        change.written += 1;
        change.commit().await
    }

    pub(crate) async fn relocate(&self, id: i32, at: At) -> usize {
        let mut change = self.begin().await;
        match M::PATTERN {
            Pattern::ParentReferences => {
                let (family, rank) = change.ranked(at).await;
                let above = change.ids(ancestors(M::PATTERN, family.parent)).await;
                assert!(family.parent != id && !above.contains(&id));
                let set = doc! {"$set": {"parent": family.parent, "rank": rank}};
                let changed = change.update(doc! {"_id": id}, vec![set], false).await;
                assert_eq!(changed, 1);
            }
            Pattern::ChildReferences => {
                let (parent, index) = match at {
                    At::LastIn(parent) => (parent, None),
                    At::Before(sibling) => {
                        let parent = change.place(doc! {"children": sibling}).await;
                        (parent.id, Some(index(&parent, sibling)))
                    }
                };
                let above = change.ids(ancestors(M::PATTERN, parent)).await;
                assert!(parent != id && !above.contains(&id));
                change.unlist(id).await;
                change.list(parent, id, index).await;
            }
            Pattern::ArrayOfAncestors | Pattern::MaterializedPath => {
                let node = change.place(doc! {"_id": id}).await;
                let (family, rank) = change.ranked(at).await;
                assert!(!family.is_below(id));
                let below = below(M::PATTERN, &node);
                let pipeline = replace_lineage(M::PATTERN, &node, &family);
                change.update(below, pipeline, true).await;
                let set = family.fields(M::PATTERN, &rank);
                change
                    .update(doc! {"_id": id}, vec![doc! {"$set": set}], false)
                    .await;
            }
            Pattern::NestedSets => {
                let node = change.place(doc! {"_id": id}).await;
                let at = match at {
                    At::LastIn(parent) => change.place(doc! {"_id": parent}).await.right,
                    At::Before(sibling) => change.place(doc! {"_id": sibling}).await.left,
                };
                assert!(at < node.left || at > node.right);
                let shifts = shifts(&node, at);
                let from = shifts.iter().map(|shift| shift.from).min();
                let to = shifts.iter().map(|shift| shift.to).max();
                let range = doc! {"$gte": from, "$lte": to};
                let moved = |field: &str| {
                    let branches = shifts.iter().map(|shift| {
                        doc! {
                            "case": {"$and": [{"$gte": [field, shift.from]}, {"$lte": [field, shift.to]}]},
                            "then": {"$add": [field, shift.by]},
                        }
                    });
                    doc! {"$switch": {"branches": branches.collect::<Vec<_>>(), "default": field}}
                };
                let set = vec![doc! {"$set": {"left": moved("$left"), "right": moved("$right")}}];
                let inside = doc! {"left": &range};
                change.update(inside, set.clone(), true).await;
                let around = doc! {"left": {"$lt": from}, "right": &range};
                change.update(around, set, true).await;
            }
        }
        change.commit().await
    }

    /// Deletes a node with its descendants.
    pub(crate) async fn delete(&self, id: i32) -> usize {
        let mut change = self.begin().await;
        match M::PATTERN {
            Pattern::ParentReferences | Pattern::ChildReferences => {
                let mut ids = change.ids(descendants(M::PATTERN, id)).await;
                ids.push(id);
                change.delete(doc! {"_id": {"$in": ids}}).await;
                if M::PATTERN == Pattern::ChildReferences {
                    change.unlist(id).await;
                }
            }
            Pattern::ArrayOfAncestors => {
                change
                    .delete(doc! {"$or": [{"_id": id}, {"ancestors": id}]})
                    .await;
            }
            Pattern::MaterializedPath => {
                let node = change.place(doc! {"_id": id}).await;
                let below = below(M::PATTERN, &node);
                change.delete(doc! {"$or": [{"_id": id}, below]}).await;
            }
            Pattern::NestedSets => {
                let node = change.place(doc! {"_id": id}).await;
                change
                    .delete(doc! {"left": {"$gte": node.left, "$lte": node.right}})
                    .await;
                let width = node.right - node.left + 1;
                change.shift_behind(node.right + 1, -width).await;
            }
        }
        change.commit().await
    }

    /// Inserts a whole tree.
    pub(crate) async fn load(
        &self,
        edges: impl Iterator<Item = (i32, Option<i32>)>,
        atomic: bool,
    ) -> usize {
        if !atomic {
            let inserted = self.rows.insert_many(rows(M::PATTERN, edges)).await;
            return inserted.unwrap().inserted_ids.len();
        }
        let mut change = self.begin().await;
        let insert = self.rows.insert_many(rows(M::PATTERN, edges));
        let inserted = insert.session(&mut change.session).await.unwrap();
        change.written += inserted.inserted_ids.len();
        change.commit().await
    }
}

/// A change of a tree in its transaction.
struct Change<'t, M: BenchNode> {
    tree: &'t ByHand<M>,
    session: ClientSession,
    written: usize,
}

impl<M: BenchNode> Change<'_, M> {
    async fn commit(mut self) -> usize {
        self.session.commit_transaction().await.unwrap();
        self.written
    }

    async fn place(&mut self, filter: Document) -> Place {
        self.tree.place(Some(&mut self.session), filter).await
    }

    /// The siblings at a place, and a rank among them.
    async fn ranked(&mut self, at: At) -> (crate::place::Family, String) {
        let (family, before) = match at {
            At::LastIn(parent) => (self.place(doc! {"_id": parent}).await.family(), None),
            At::Before(sibling) => {
                let sibling = self.place(doc! {"_id": sibling}).await;
                (sibling.own_family(), Some(sibling.rank))
            }
        };
        let mut filter = family.filter(M::PATTERN);
        if let Some(before) = &before {
            filter.insert("rank", doc! {"$lt": before});
        }
        let session = Some(&mut self.session);
        let last = self.tree.first(session, filter, doc! {"rank": -1}).await;
        let rank = after(&last.unwrap().rank);
        assert!(before.is_none_or(|before| rank < before));
        (family, rank)
    }

    /// The ids that a pipeline finds.
    async fn ids(&mut self, mut stages: Vec<Document>) -> Vec<i32> {
        stages.push(doc! {"$project": {"_id": "$found._id"}});
        let found = self.tree.nodes.aggregate(stages).with_type::<Place>();
        let mut found = found.session(&mut self.session).await.unwrap();
        let found: Vec<Place> = found.stream(&mut self.session).try_collect().await.unwrap();
        found.into_iter().map(|node| node.id).collect()
    }

    async fn update(&mut self, filter: Document, change: Vec<Document>, many: bool) -> u64 {
        let nodes = &self.tree.nodes;
        let session = &mut self.session;
        let done = if many {
            nodes.update_many(filter, change).session(session).await
        } else {
            nodes.update_one(filter, change).session(session).await
        };
        let changed = done.unwrap().modified_count;
        self.written += usize::try_from(changed).unwrap();
        changed
    }

    async fn delete(&mut self, filter: Document) {
        let delete = self.tree.nodes.delete_many(filter);
        let done = delete.session(&mut self.session).await.unwrap();
        self.written += usize::try_from(done.deleted_count).unwrap();
    }

    async fn change(&mut self, filter: Document, change: Document) -> u64 {
        let update = self.tree.nodes.update_many(filter, change);
        let done = update.session(&mut self.session).await.unwrap();
        self.written += usize::try_from(done.modified_count).unwrap();
        done.modified_count
    }

    /// Adds a child to the list of a node.
    async fn list(&mut self, parent: i32, child: i32, index: Option<i32>) {
        let mut push = doc! {"$each": [child]};
        push.extend(index.map(|index| ("$position".to_owned(), index.into())));
        let push = doc! {"$push": {"children": push}};
        assert_eq!(self.change(doc! {"_id": parent}, push).await, 1);
    }

    async fn unlist(&mut self, child: i32) {
        let pull = doc! {"$pull": {"children": child}};
        assert_eq!(self.change(doc! {"children": child}, pull).await, 1);
    }

    /// Moves the bounds that are not before this one.
    async fn shift_behind(&mut self, from: i32, by: i32) {
        // Afterwards, nodes behind the place could have bounds on both sides of it.
        let around = doc! {"left": {"$lt": from}, "right": {"$gte": from}};
        self.change(around, doc! {"$inc": {"right": by}}).await;
        let both = doc! {"$inc": {"left": by, "right": by}};
        self.change(doc! {"left": {"$gte": from}}, both).await;
    }
}

fn index(parent: &Place, child: i32) -> i32 {
    let index = parent.children.iter().position(|id| *id == child);
    i32::try_from(index.unwrap()).unwrap()
}

/// The filter of the descendants, for patterns that have one.
pub(crate) fn below(pattern: Pattern, node: &Place) -> Document {
    if pattern == Pattern::MaterializedPath {
        return doc! {"path": {"$regex": format!("^{}", node.path_of_children())}};
    }
    doc! {"ancestors": node.id}
}

/// The stages that find the descendants of a node, one document for each, in the field `found`.
pub(crate) fn descendants(pattern: Pattern, id: i32) -> Vec<Document> {
    let (start, from, to) = match pattern {
        Pattern::ParentReferences => ("$_id", "_id", "parent"),
        _ => ("$children", "children", "_id"),
    };
    vec![
        doc! {"$match": {"_id": id}},
        doc! {"$graphLookup": {
            "from": "nodes", "startWith": start, "connectFromField": from, "connectToField": to, "as": "found",
        }},
        doc! {"$unwind": "$found"},
    ]
}

/// The stages that find the ancestors of a node, the root first, in the field `found`.
pub(crate) fn ancestors(pattern: Pattern, id: i32) -> Vec<Document> {
    let (start, from, to) = match pattern {
        Pattern::ParentReferences => ("$parent", "parent", "_id"),
        _ => ("$_id", "_id", "children"),
    };
    vec![
        doc! {"$match": {"_id": id}},
        doc! {"$graphLookup": {
            "from": "nodes", "startWith": start, "connectFromField": from, "connectToField": to, "as": "found",
            "depthField": "steps",
        }},
        doc! {"$unwind": "$found"},
        doc! {"$sort": {"found.steps": -1}},
    ]
}
