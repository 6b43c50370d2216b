//! Writes what has to follow, and goes on where documents can't be written.

use std::sync::Arc;

use bson::raw::RawDocumentBuf;
use bson::{Bson, Document, doc};

use super::super::chunks::{self, Chunks, Visit};
use super::super::collected::Collected;
use super::super::copies::facts::settle;
use super::super::copies::kept::Kept;
use super::super::propagate::{Propagated, count};
use super::super::reference_place::exact_read;
use super::super::two_way::BackReference;
use super::super::{copies, newest, summaries, two_way};
use super::batch::FollowedBatch;
use super::event::Work;
use super::links::{FollowSide, Touched};
use super::relations::{Kind, Pair, Relation};
use super::step::{Step, run};
use crate::error::{Error, Result};
use crate::exec::{Channel, Keys, StoredPath};
use crate::model::ModelMeta;
use crate::store::Operation;
use crate::store::options::Chosen;

impl Relation {
    /// Writes what follows from the events of a batch.
    pub(super) async fn settle(
        &self,
        channel: &mut Channel<'static>,
        work: &Work,
        batch: &mut FollowedBatch,
    ) -> Result<()> {
        if work.is_scan {
            return self.scan(channel, batch).await;
        }
        match &self.kind {
            Kind::Copies(kept) => {
                let source = kept.copies.source;
                let mut keys = work.keys.clone();
                let read = values(channel, source, &work.sources, &kept.key).await?;
                keys.add_all(&read)?;
                let refused = Vec::new();
                let mut made = Made { kept, refused };
                run(&mut made, channel, keys.into_values(), batch).await?;
                for key in made.refused {
                    let documents = referring(channel, kept, &key).await?;
                    self.refresh(channel, documents, batch).await?;
                }
            }
            Kind::Collected(one) => {
                let mut keys = work.keys.clone();
                let reference = one.reference();
                let read = values(channel, one.source(), &work.sources, reference).await?;
                keys.add_all(&read)?;
                keys.add_all(&left(channel, one, &work.left).await?)?;
                let mut all = AllOf(one);
                run(&mut all, channel, keys.into_values(), batch).await?;
            }
            Kind::TwoWay(pair) => {
                let touched = work.touched.clone();
                return pair.settle(channel, touched, batch).await;
            }
        }
        let Some((model, options)) = self.held(channel) else {
            return Ok(());
        };
        let documents = chunks::again(channel, model, &work.holders, &options).await?;
        self.refresh(channel, documents, batch).await
    }

    /// Reads all documents that hold the values, and writes those that differ.
    pub(super) async fn scan(
        &self,
        channel: &mut Channel<'static>,
        batch: &mut FollowedBatch,
    ) -> Result<()> {
        batch.scans += 1;
        let Some((model, options)) = self.held(channel) else {
            return Ok(());
        };
        let chunks = Chunks::new(channel.in_session(None));
        let mut scan = Scan {
            relation: self,
            batch,
        };
        chunks.each(model, &options, &mut scan).await.map(drop)
    }

    /// The model whose documents hold the values, and the options of a read of them.
    fn held(&self, channel: &Channel<'_>) -> Option<(&'static ModelMeta, Chosen)> {
        Some(match &self.kind {
            Kind::Copies(kept) => {
                let (model, all) = (kept.copies.model, std::slice::from_ref(kept));
                (model, copies::check::options(channel, model, all))
            }
            Kind::Collected(one @ Collected::Summaries(summed)) => {
                let (model, all) = (one.holder(), std::slice::from_ref(summed));
                (model, summaries::check::options(channel, model, all))
            }
            Kind::Collected(one @ Collected::List(listed)) => {
                let (model, all) = (one.holder(), std::slice::from_ref(listed));
                (model, newest::check::options(channel, model, all))
            }
            Kind::TwoWay(pair) => {
                let back = pair.sides.get(pair.following)?;
                let (model, all) = (back.own.side.model, std::slice::from_ref(back));
                (model, two_way::check::options(channel, model, all))
            }
        })
    }

    /// Writes the values in documents where they differ.
    async fn refresh(
        &self,
        channel: &mut Channel<'static>,
        documents: Vec<RawDocumentBuf>,
        batch: &mut FollowedBatch,
    ) -> Result<()> {
        if let Kind::TwoWay(pair) = &self.kind
            && pair.is_symmetrical
        {
            // Neither side is the other one's fact: each document keeps what it refers to.
            let ids = Keys::at(&StoredPath::at("_id"), &documents)?.into_values();
            let touched = ids.into_iter().map(|id| Touched {
                side: 0,
                id,
                key: None,
                links: None,
                at: 0,
                is_new: true,
                is_gone: false,
            });
            return pair.settle(channel, touched.collect(), batch).await;
        }
        run(&mut Held(&self.kind), channel, documents, batch).await
    }
}

/// A pass over all documents that hold values.
struct Scan<'r> {
    relation: &'r Relation,
    batch: &'r mut FollowedBatch,
}

impl Visit for Scan<'_> {
    async fn visit(
        &mut self,
        channel: &mut Channel<'_>,
        documents: Vec<RawDocumentBuf>,
    ) -> Result<()> {
        let mut channel = channel.in_session(None);
        let refreshed = self.relation.refresh(&mut channel, documents, self.batch);
        refreshed.await
    }
}

impl Pair {
    async fn settle(
        &self,
        channel: &mut Channel<'static>,
        touched: Vec<Touched>,
        batch: &mut FollowedBatch,
    ) -> Result<()> {
        let mut touched = touched;
        touched.sort_by_key(|one| one.at);
        let mut lists = Keys::default();
        if self.is_one_to_many() {
            // The single references first: by their events they are facts, whatever the lists have.
            touched.sort_by_key(|one| self.is_list(one.side));
            for one in &touched {
                if self.is_list(one.side) && one.links.is_none() && !one.is_gone {
                    lists.add_value(Some(&one.id))?;
                }
            }
            touched.retain(|one| !self.is_list(one.side) || one.links.is_some() || one.is_gone);
        }
        self.follow(channel, touched, batch).await?;
        let back = self.sides.iter().find(|back| back.own.side.is_list());
        if lists.len() > 0
            && let Some(back) = back
        {
            let model = back.own.side.model;
            let options = two_way::check::options(channel, model, std::slice::from_ref(back));
            let documents = chunks::again(channel, model, &lists, &options).await?;
            run(&mut OneSide(back), channel, documents, batch).await?;
        }
        Ok(())
    }

    /// Lets the other side follow each of the documents.
    async fn follow(
        &self,
        channel: &mut Channel<'static>,
        touched: Vec<Touched>,
        batch: &mut FollowedBatch,
    ) -> Result<()> {
        let mut parts: Vec<Vec<Touched>> = Vec::new();
        for one in touched {
            // Of several documents that claim one, the last one gets it.
            let is_shared = self.is_list(1 - one.side.min(1));
            match parts.last_mut() {
                Some(part) if is_shared && part.iter().all(|it| it.side == one.side) => {
                    part.push(one);
                }
                _ => parts.push(vec![one]),
            }
        }
        for part in parts {
            let side = part.first().map_or(0, |one| one.side);
            let reverse = self.follow_side(channel, side, part, batch).await?;
            for one in reverse {
                let side = if self.is_symmetrical { 0 } else { one.side };
                self.follow_side(channel, side, vec![one], batch).await?;
            }
        }
        Ok(())
    }

    async fn follow_side(
        &self,
        channel: &mut Channel<'static>,
        side: usize,
        part: Vec<Touched>,
        batch: &mut FollowedBatch,
    ) -> Result<Vec<Touched>> {
        let Some(back) = self.sides.get(side) else {
            return Ok(Vec::new());
        };
        let mut step = FollowSide {
            back,
            reverse: Vec::new(),
        };
        run(&mut step, channel, part, batch).await?;
        Ok(step.reverse)
    }

    fn is_list(&self, side: usize) -> bool {
        let side = self.sides.get(side);
        side.is_some_and(|back| back.own.side.is_list())
    }
}

/// The copies of documents with these keys.
struct Made<'r> {
    kept: &'r Kept,
    /// The keys of which a document refuses its copy, so that others after it are not written, either.
    refused: Vec<Bson>,
}

impl Step for Made<'_> {
    type Item = Bson;

    fn label(&self) -> (&'static str, String) {
        (self.kept.copies.model.name, self.kept.copies.by.join("."))
    }

    fn refused(&mut self, key: &Bson, _: Error, _: &mut FollowedBatch) {
        self.refused.push(key.clone());
    }

    async fn run(
        &mut self,
        channel: &mut Channel<'static>,
        items: &[Bson],
        done: &mut Vec<Propagated>,
    ) -> Result<()> {
        let keys = Keys::of(items)?;
        let documents = settle(channel, self.kept, None, &keys, None).await?;
        add(done, self.kept.copies.model, self.label().1, documents);
        Ok(())
    }
}

/// The values that documents with these keys collect.
struct AllOf<'r>(&'r Collected);

impl Step for AllOf<'_> {
    type Item = Bson;

    fn label(&self) -> (&'static str, String) {
        (self.0.holder().name, self.0.name().to_owned())
    }

    async fn run(
        &mut self,
        channel: &mut Channel<'static>,
        items: &[Bson],
        done: &mut Vec<Propagated>,
    ) -> Result<()> {
        let documents = self.0.settle(channel, &Keys::of(items)?).await?;
        add(done, self.0.holder(), self.label().1, documents);
        Ok(())
    }
}

/// The values in these documents. They are compared before they are written.
struct Held<'r>(&'r Kind);

impl Step for Held<'_> {
    type Item = RawDocumentBuf;

    fn label(&self) -> (&'static str, String) {
        match self.0 {
            Kind::Copies(kept) => (kept.copies.model.name, kept.copies.by.join(".")),
            Kind::Collected(one) => AllOf(one).label(),
            Kind::TwoWay(pair) => match pair.sides.get(pair.following) {
                Some(back) => OneSide(back).label(),
                None => ("", String::new()),
            },
        }
    }

    async fn run(
        &mut self,
        channel: &mut Channel<'static>,
        items: &[RawDocumentBuf],
        done: &mut Vec<Propagated>,
    ) -> Result<()> {
        let documents = items.to_vec();
        let (model, updated) = match self.0 {
            Kind::Copies(kept) => {
                let copies = std::slice::from_ref(kept);
                let mut refresh = copies::check::Refresh { copies, updated: 0 };
                refresh.visit(channel, documents).await?;
                (kept.copies.model, refresh.updated)
            }
            Kind::Collected(one @ Collected::Summaries(summed)) => {
                let mut refresh = summaries::check::Refresh {
                    all: std::slice::from_ref(summed),
                    // Another order of the same documents may give another sum of doubles each time.
                    is_exact: false,
                    updated: 0,
                };
                refresh.visit(channel, documents).await?;
                (one.holder(), refresh.updated)
            }
            Kind::Collected(one @ Collected::List(listed)) => {
                let all = std::slice::from_ref(listed);
                let mut refresh = newest::check::Refresh { all, updated: 0 };
                refresh.visit(channel, documents).await?;
                (one.holder(), refresh.updated)
            }
            Kind::TwoWay(pair) => {
                let Some(back) = pair.sides.get(pair.following) else {
                    return Ok(());
                };
                return OneSide(back).run(channel, items, done).await;
            }
        };
        add(done, model, self.label().1, updated);
        Ok(())
    }
}

/// The field of these documents, which follows the other side.
struct OneSide<'r>(&'r Arc<BackReference>);

impl Step for OneSide<'_> {
    type Item = RawDocumentBuf;

    fn label(&self) -> (&'static str, String) {
        let own = &self.0.sides.own;
        (own.model.name, own.field.to_owned())
    }

    async fn run(
        &mut self,
        channel: &mut Channel<'static>,
        items: &[RawDocumentBuf],
        done: &mut Vec<Propagated>,
    ) -> Result<()> {
        let model = self.0.own.side.model;
        let options = two_way::check::options(channel, model, std::slice::from_ref(self.0));
        let mut refresh = two_way::check::Refresh {
            back: self.0,
            options: &options,
            updated: 0,
        };
        refresh.visit(channel, items.to_vec()).await?;
        add(done, model, self.label().1, refresh.updated);
        Ok(())
    }
}

fn add(done: &mut Vec<Propagated>, model: &ModelMeta, by: String, documents: u64) {
    if documents > 0 {
        count(done, model, by, documents);
    }
}

/// The values at a path of the documents with these `_id`s.
async fn values(
    channel: &mut Channel<'static>,
    model: &'static ModelMeta,
    ids: &Keys,
    path: &StoredPath,
) -> Result<Keys> {
    let projection: Document = doc! {"_id": 1, path.as_str(): 1};
    let options = exact_read(channel, model, Some(projection));
    let documents = chunks::again(channel, model, ids, &options).await?;
    Keys::at(path, &documents)
}

/// The documents that hold copies of the document with a key.
async fn referring(
    channel: &mut Channel<'static>,
    kept: &Kept,
    key: &Bson,
) -> Result<Vec<RawDocumentBuf>> {
    let model = kept.copies.model;
    let find = Operation::Find {
        filter: kept.place.refers_to(std::slice::from_ref(key)).into(),
        one: false,
    };
    let options = exact_read(channel, model, Some(kept.projection()));
    channel.of(model).documents(find, options).await
}

/// The keys of the documents whose list has one of these `_id`s.
async fn left(channel: &mut Channel<'static>, one: &Collected, ids: &Keys) -> Result<Keys> {
    let mut keys = Keys::default();
    let Collected::List(listed) = one else {
        return Ok(keys);
    };
    let model = one.holder();
    for part in ids.parts() {
        let find = Operation::Find {
            filter: doc! {format!("{}._id", listed.list.name): {"$in": part}}.into(),
            one: false,
        };
        let projection = doc! {"_id": 1, one.key().as_str(): 1};
        let options = exact_read(channel, model, Some(projection));
        let documents = channel.of(model).documents(find, options).await?;
        keys.add_all(&Keys::at(one.key(), &documents)?)?;
    }
    Ok(keys)
}
