//! Writes that send one command for each document, as libraries without statements for whole subtrees do. In
//! transactions.

use mongodb::bson::{self, Bson, Document, doc};
use odm::prelude::*;
use odm::tree::Pattern;

use crate::by_hand::{below, descendants};
use crate::models::BenchNode;
use crate::place::{At, Place, Row, after, rows, shifts};

pub(crate) struct OneByOne<'b> {
    pub(crate) db: &'b Db,
}

/// A change in its transaction.
struct Change<'b> {
    db: &'b Db,
    session: Session,
    written: usize,
}

fn place(document: Document) -> Place {
    bson::deserialize_from_document(document).unwrap()
}

impl OneByOne<'_> {
    async fn begin(&self) -> Change<'_> {
        let mut session = self.db.start_session().await.unwrap();
        session.start_transaction().await.unwrap();
        let mut change = Change {
            db: self.db,
            session,
            written: 0,
        };
        let statement = doc! {"q": {"_id": {"collection": "nodes"}}, "u": {"$inc": {"writes": 1_i64}}, "upsert": true};
        change
            .run(doc! {"update": "odm_tree_fences", "updates": [statement]})
            .await;
        change
    }

    /// Inserts a node into nested sets; the other patterns write at most one other document.
    pub(crate) async fn insert<M: BenchNode>(&self, id: i32, at: At) -> usize {
        let mut change = self.begin().await;
        let left = match at {
            At::LastIn(parent) => change.place::<M>(parent).await.right,
            At::Before(sibling) => change.place::<M>(sibling).await.left,
        };
        change
            .shift(|bound| if bound >= left { bound + 2 } else { bound })
            .await;
        let row = Row::Bounds {
            id,
            left,
            right: left + 1,
            name: crate::models::name(id),
        };
        change.insert(&row).await;
        change.commit().await
    }

    /// Moves a subtree.
    pub(crate) async fn relocate<M: BenchNode>(&self, id: i32, at: At) -> usize {
        let mut change = self.begin().await;
        let node = change.place::<M>(id).await;
        let beside = match at {
            At::LastIn(id) | At::Before(id) => change.place::<M>(id).await,
        };
        if M::PATTERN == Pattern::NestedSets {
            let at = match at {
                At::LastIn(_) => beside.right,
                At::Before(_) => beside.left,
            };
            let shifts = shifts(&node, at);
            let moved = |bound| {
                let inside = shifts
                    .iter()
                    .find(|shift| shift.from <= bound && bound <= shift.to);
                inside.map_or(bound, |shift| bound + shift.by)
            };
            change.shift(moved).await;
            return change.commit().await;
        }
        let (family, before) = match at {
            At::LastIn(_) => (beside.family(), None),
            At::Before(_) => (beside.own_family(), Some(beside.rank)),
        };
        let mut filter = family.filter(M::PATTERN);
        filter.extend(before.map(|before| ("rank".to_owned(), doc! {"$lt": before}.into())));
        let find = doc! {"find": "nodes", "filter": filter, "sort": {"rank": -1}, "limit": 1};
        let last = change.find(find).await.pop().unwrap();
        let rank = after(&place(last).rank);
        let below = below(M::PATTERN, &node);
        let find =
            doc! {"find": "nodes", "filter": below, "projection": Place::projection(M::PATTERN)};
        for child in change.find(find).await {
            let child = place(child);
            let set = if M::PATTERN == Pattern::MaterializedPath {
                let dropped = node.path.as_ref().map_or(1, String::len);
                let path = child.path.unwrap_or_default();
                doc! {"path": format!("{}{}", family.path, &path[dropped..])}
            } else {
                let rest = &child.ancestors[node.ancestors.len()..];
                let ancestors = family.ancestors.iter().chain(rest);
                doc! {"ancestors": ancestors.copied().collect::<Vec<i32>>()}
            };
            change.set(child.id, set).await;
        }
        change.set(id, family.fields(M::PATTERN, &rank)).await;
        change.commit().await
    }

    /// Deletes a node with its descendants.
    pub(crate) async fn delete<M: BenchNode>(&self, id: i32) -> usize {
        let mut change = self.begin().await;
        let node = change.place::<M>(id).await;
        let inside = match M::PATTERN {
            Pattern::ParentReferences | Pattern::ChildReferences => {
                let mut stages = descendants(M::PATTERN, id);
                stages.push(doc! {"$project": {"_id": "$found._id"}});
                doc! {"aggregate": "nodes", "pipeline": stages, "cursor": {}}
            }
            Pattern::NestedSets => {
                let filter = doc! {"left": {"$gt": node.left, "$lt": node.right}};
                doc! {"find": "nodes", "filter": filter, "projection": {"_id": 1}}
            }
            pattern => {
                doc! {"find": "nodes", "filter": below(pattern, &node), "projection": {"_id": 1}}
            }
        };
        let below = change.find(inside).await.into_iter().map(place);
        let ids: Vec<i32> = below.map(|node| node.id).collect();
        for id in ids.into_iter().chain([id]) {
            let statement = doc! {"q": {"_id": id}, "limit": 1};
            change
                .write(doc! {"delete": "nodes", "deletes": [statement]}, "n")
                .await;
        }
        if M::PATTERN == Pattern::ChildReferences {
            let pull = doc! {"q": {"children": id}, "u": {"$pull": {"children": id}}};
            change
                .write(doc! {"update": "nodes", "updates": [pull]}, "nModified")
                .await;
        }
        if M::PATTERN == Pattern::NestedSets {
            let width = node.right - node.left + 1;
            let closed = |bound| {
                if bound > node.right {
                    bound - width
                } else {
                    bound
                }
            };
            change.shift(closed).await;
        }
        change.commit().await
    }

    /// Inserts a whole tree, in transactions of 1,000 nodes: one would take longer than MongoDB gives it.
    pub(crate) async fn load(
        &self,
        pattern: Pattern,
        edges: impl Iterator<Item = (i32, Option<i32>)>,
    ) -> usize {
        let rows = rows(pattern, edges);
        for some in rows.chunks(1_000) {
            let mut change = self.begin().await;
            for row in some {
                change.insert(row).await;
            }
            change.commit().await;
        }
        rows.len()
    }
}

impl Change<'_> {
    async fn run(&mut self, command: Document) -> Document {
        let run = self.db.run_command(command).session(&mut self.session);
        run.await.unwrap()
    }

    async fn find(&mut self, command: Document) -> Vec<Document> {
        let run = self.db.run_command(command).session(&mut self.session);
        run.all().await.unwrap()
    }

    async fn place<M: BenchNode>(&mut self, id: i32) -> Place {
        let find = doc! {
            "find": "nodes", "filter": {"_id": id}, "projection": Place::projection(M::PATTERN), "limit": 1,
        };
        place(self.find(find).await.pop().unwrap())
    }

    /// Runs a write, and counts what it wrote.
    async fn write(&mut self, command: Document, count: &str) {
        let reply = self.run(command).await;
        self.written += usize::try_from(reply.get_i32(count).unwrap()).unwrap();
    }

    async fn set(&mut self, id: i32, set: Document) {
        let statement = doc! {"q": {"_id": id}, "u": {"$set": set}};
        self.write(
            doc! {"update": "nodes", "updates": [statement]},
            "nModified",
        )
        .await;
    }

    async fn insert(&mut self, row: &Row) {
        let document = bson::serialize_to_document(row).unwrap();
        self.write(doc! {"insert": "nodes", "documents": [document]}, "n")
            .await;
    }

    /// Moves bounds, in each node that has other ones then.
    async fn shift(&mut self, moved: impl Fn(i32) -> i32) {
        let find = doc! {"find": "nodes", "projection": Place::projection(Pattern::NestedSets)};
        for node in self.find(find).await.into_iter().map(place) {
            let (left, right) = (moved(node.left), moved(node.right));
            if (left, right) != (node.left, node.right) {
                self.set(node.id, doc! {"left": left, "right": right}).await;
            }
        }
    }

    async fn commit(mut self) -> usize {
        self.session.commit_transaction().await.unwrap();
        self.written
    }
}

/// What a delete takes away, to be put back.
pub(crate) struct Deleted {
    documents: Vec<Document>,
    /// The node, and its place among the children of its parent.
    node: Place,
    index: i32,
}

impl Deleted {
    /// Reads a subtree below the root before it is deleted.
    pub(crate) async fn read<M: BenchNode>(db: &Db, id: i32, ids: Vec<i32>) -> Self {
        let find = |filter: Document| doc! {"find": "nodes", "filter": filter};
        let mut ids: Vec<Bson> = ids.into_iter().map(Bson::from).collect();
        ids.push(id.into());
        let documents = db.run_command(find(doc! {"_id": {"$in": ids}})).all();
        let root = db.run_command(find(doc! {"_id": 1})).all().await.unwrap();
        let root = place(root.into_iter().next().unwrap());
        let documents = documents.await.unwrap();
        let node = documents
            .iter()
            .find(|one| one.get_i32("_id").ok() == Some(id));
        let index = root.children.iter().position(|child| *child == id);
        Self {
            node: place(node.unwrap().clone()),
            index: i32::try_from(index.unwrap_or_default()).unwrap(),
            documents,
        }
    }

    pub(crate) async fn restore<M: BenchNode>(self, db: &Db) {
        let id = self.node.id;
        let mut updates = Vec::new();
        if M::PATTERN == Pattern::ChildReferences {
            let push = doc! {"$each": [id], "$position": self.index};
            updates.push(doc! {"q": {"_id": 1}, "u": {"$push": {"children": push}}});
        }
        if M::PATTERN == Pattern::NestedSets {
            let width = self.node.right - self.node.left + 1;
            let both = doc! {"$inc": {"left": width, "right": width}};
            updates.push(doc! {"q": {"left": {"$gte": self.node.left}}, "u": both, "multi": true});
            updates.push(doc! {"q": {"_id": 1}, "u": {"$inc": {"right": width}}});
        }
        if !updates.is_empty() {
            let update = doc! {"update": "nodes", "updates": updates};
            db.run_command(update).await.unwrap();
        }
        let insert = doc! {"insert": "nodes", "documents": self.documents};
        db.run_command(insert).await.unwrap();
    }
}
