//! The derived data that a follower keeps in step.

use std::sync::Arc;

use bson::{Bson, Document, doc};

use super::super::collected::Collected;
use super::super::copies::kept::Kept;
use super::super::two_way::BackReference;
use crate::error::{Error, Result};
use crate::exec::Channel;
use crate::model::ModelMeta;
use crate::store::Store;

/// Derived data that is kept in step by one reference.
#[derive(Debug)]
pub(super) struct Relation {
    pub(super) kind: Kind,
    /// The names of the collections: of the documents from which the values derive, and of those that hold them. Of a pair,
    /// those of its sides.
    pub(super) names: [String; 2],
}

#[derive(Debug)]
pub(super) enum Kind {
    Copies(&'static Kept),
    Collected(Collected),
    TwoWay(Pair),
}

/// The two sides of references that refer to each other. `sides[0].other` is `sides[1].own`.
#[derive(Debug)]
pub(super) struct Pair {
    pub(super) sides: [Arc<BackReference>; 2],
    /// Whether both sides are one field.
    pub(super) is_symmetrical: bool,
    /// The side that follows where no event says which side has changed.
    pub(super) following: usize,
}

impl Pair {
    fn new(own: Arc<BackReference>) -> Result<Self> {
        let (one, other) = (&own.sides.own, &own.sides.other);
        let is_symmetrical = own.is_symmetrical();
        let sides = other.model.two_way()?.iter();
        let mut sides = sides.filter(|sides| {
            sides.own.path == other.path
                && sides.other.path == one.path
                && sides.other.model.collection == one.model.collection
        });
        let back = match sides.next() {
            Some(sides) if !is_symmetrical => Arc::new(BackReference::new(sides)?),
            _ => Arc::clone(&own),
        };
        // A single reference is the fact, and otherwise the side of the model that is listed first.
        let following = usize::from(!one.is_list() || other.is_list());
        Ok(Self {
            sides: [own, back],
            is_symmetrical,
            following,
        })
    }

    /// Whether a single reference leads to a document with a list.
    pub(super) fn is_one_to_many(&self) -> bool {
        let [one, other] = &self.sides;
        one.own.side.is_list() != other.own.side.is_list()
    }

    fn is(&self, back: &BackReference) -> bool {
        let is = |own: &BackReference| {
            own.sides.own.path == back.sides.own.path
                && own.sides.own.model.collection == back.sides.own.model.collection
        };
        self.sides.iter().any(|side| is(side))
    }
}

impl Relation {
    /// The derived data in documents of these models, and in others that follow them.
    pub(super) fn all(channel: &Channel<'_>, models: &[&'static ModelMeta]) -> Result<Vec<Self>> {
        let (mut pairs, mut copies, mut collected) = (Vec::new(), Vec::new(), Vec::new());
        for model in models {
            for back in BackReference::all(model.two_way()?)? {
                if !pairs.iter().any(|pair: &Pair| pair.is(&back)) {
                    pairs.push(Pair::new(back)?);
                }
            }
            let held = model.copies()?.iter().filter(|it| it.relation.is_some());
            let made = model.copied()?.iter().copied();
            for kept in Kept::all(held.chain(made))? {
                let is = |one: &&Kept| {
                    one.copies.model.collection == kept.copies.model.collection
                        && one.copies.by == kept.copies.by
                };
                if !copies.iter().any(is) {
                    copies.push(kept);
                }
            }
            let held = Collected::held_by(model)?.into_iter();
            for one in held.chain(Collected::from(model)?) {
                let is = |known: &Collected| {
                    std::mem::discriminant(known) == std::mem::discriminant(&one)
                        && known.holder().collection == one.holder().collection
                        && known.name() == one.name()
                };
                if !collected.iter().any(is) {
                    collected.push(one);
                }
            }
        }
        // References first: copies, summaries and lists follow them.
        let pairs = pairs.into_iter().map(Kind::TwoWay);
        let copies = copies.into_iter().map(Kind::Copies);
        let collected = collected.into_iter().map(Kind::Collected);
        let all = pairs.chain(copies).chain(collected);
        Ok(all.map(|kind| Self::new(channel, kind)).collect())
    }

    fn new(channel: &Channel<'_>, kind: Kind) -> Self {
        let names = kind
            .models()
            .map(|model| channel.collection(model).to_string());
        Self { kind, names }
    }
}

impl Kind {
    /// The models of the documents from which the values derive, and of those that hold them.
    fn models(&self) -> [&'static ModelMeta; 2] {
        match self {
            Self::Copies(kept) => [kept.copies.source, kept.copies.model],
            Self::Collected(one) => [one.source(), one.holder()],
            Self::TwoWay(pair) => [pair.sides[0].own.side.model, pair.sides[1].own.side.model],
        }
    }

    /// The models whose earlier documents have to be known, with what they are needed for.
    fn imaged(&self) -> Vec<(&'static ModelMeta, String)> {
        match self {
            Self::Copies(_) => Vec::new(),
            Self::Collected(one) if one.lists_ids() => Vec::new(),
            Self::Collected(one) => {
                let reason = format!("`{}` of `{}`", one.name(), one.holder().name);
                vec![(one.source(), reason)]
            }
            Self::TwoWay(pair) if pair.is_one_to_many() => Vec::new(),
            Self::TwoWay(pair) => {
                let sides = pair.sides.iter().map(|back| {
                    let own = &back.sides.own;
                    let reason = format!("`{}` of `{}`", own.field, own.model.name);
                    (own.model, reason)
                });
                sides.collect()
            }
        }
    }
}

/// The stages of the stream: the events of the collections, and those that end them.
pub(super) fn pipeline(relations: &[Relation]) -> Vec<Document> {
    let mut names: Vec<&String> = relations.iter().flat_map(|one| &one.names).collect();
    names.sort();
    names.dedup();
    let names: Vec<Bson> = names.into_iter().map(Bson::from).collect();
    let ends = ["dropDatabase", "invalidate"];
    let matched = doc! {"$match": {"$or": [
        {"ns.coll": {"$in": &names}},
        {"to.coll": {"$in": names}},
        {"operationType": {"$in": ends.as_slice()}},
    ]}};
    vec![matched, doc! {"$project": projection(relations)}]
}

/// The parts of events that are read. Whole documents before and after a change may be too large for one event.
fn projection(relations: &[Relation]) -> Document {
    const EVENT: [&str; 9] = [
        "clusterTime",
        "wallTime",
        "operationType",
        "ns",
        "to",
        "documentKey",
        "updateDescription",
        "lsid",
        "txnNumber",
    ];
    let mut paths = vec!["_id"];
    for relation in relations {
        match &relation.kind {
            Kind::Copies(kept) => paths.push(kept.key.as_str()),
            Kind::Collected(one) => paths.push(one.reference().as_str()),
            Kind::TwoWay(pair) => {
                let sides = pair.sides.iter().map(|back| &back.own);
                paths.extend(sides.flat_map(|own| [own.key.as_str(), own.path.as_str()]));
            }
        }
    }
    paths.sort_unstable();
    paths.dedup();
    let is_inside = |path: &str, other: &str| {
        path.strip_prefix(other)
            .is_some_and(|rest| rest.starts_with('.'))
    };
    let outer = paths
        .iter()
        .filter(|path| !paths.iter().any(|other| is_inside(path, other)));
    let mut projection: Document = EVENT
        .map(|name| (name.to_owned(), Bson::from(1)))
        .into_iter()
        .collect();
    for path in outer {
        for document in ["fullDocument", "fullDocumentBeforeChange"] {
            projection.insert(format!("{document}.{path}"), 1);
        }
    }
    projection
}

/// Refuses collections that do not store the documents before a change, where those are needed.
pub(super) async fn check_images(
    store: &Store,
    channel: &Channel<'_>,
    relations: &[Relation],
) -> Result<()> {
    let needed: Vec<_> = relations.iter().flat_map(|one| one.kind.imaged()).collect();
    if needed.is_empty() {
        return Ok(());
    }
    let list = doc! {"listCollections": 1, "filter": {"type": "collection"}};
    let listed = store.run_cursor(list).await?;
    for (model, reason) in needed {
        let name = channel.collection(model);
        let mut same = listed
            .iter()
            .filter(|one| one.get_str("name").is_ok_and(|one| *one == *name));
        let is_enabled = same.any(|one| {
            let options = one.get_document("options");
            let images = options.and_then(|it| it.get_document("changeStreamPreAndPostImages"));
            images.is_ok_and(|images| images.get_bool("enabled").is_ok_and(|it| it))
        });
        if is_enabled {
            continue;
        }
        return Err(Error::usage(format!(
            "{reason} follows documents that are moved or deleted only if `{name}` stores them as they were: declare \
             `#[odm(change_stream_images)]` on `{}` and run `sync`, or run `{{collMod: \"{name}\", \
             changeStreamPreAndPostImages: {{enabled: true}}}}`; or write `.without_pre_images()`, which reads all of `{name}` \
             after such a write",
            model.name
        ))
        .with_model(model.name));
    }
    Ok(())
}
