//! Stages whose collections have no names yet: a handle may have chosen others than the declared ones.

use bson::{Bson, Document, doc};

use crate::model::ModelMeta;
use crate::store::CollectionNames;

/// A stage of a pipeline.
#[derive(Debug, Clone)]
pub(crate) enum Stage {
    /// A stage that names no collection of a model.
    Plain(Document),
    /// `$unionWith` the documents of a model.
    Union {
        model: &'static ModelMeta,
        stages: Vec<Self>,
    },
    /// `$lookup` of the documents of a model.
    Lookup(Lookup),
    /// `$graphLookup` of the documents of a model, with its other options.
    GraphLookup {
        model: &'static ModelMeta,
        options: Document,
        filter: Document,
    },
    /// `$facet`, by the fields of its result.
    Facet(Vec<(String, Vec<Self>)>),
    /// `$merge` into the collection of a model, with the other options.
    Merge {
        model: &'static ModelMeta,
        options: Document,
    },
    /// `$out` into the collection of a model.
    Out(&'static ModelMeta),
}

/// A `$lookup` by a relation.
#[derive(Debug, Clone)]
pub(crate) struct Lookup {
    /// The documents to look up.
    pub(crate) model: &'static ModelMeta,
    /// The field of the input.
    pub(crate) local: String,
    /// The field of the documents that are looked up.
    pub(crate) foreign: String,
    /// Whether the input may lack the field. MongoDB compares it as null then, which documents without a reference equal.
    pub(crate) optional: bool,
    /// What becomes of the documents that were found.
    pub(crate) stages: Vec<Stage>,
    /// The field that gets them.
    pub(crate) to: String,
}

impl Lookup {
    fn named(self, names: &CollectionNames) -> Document {
        let collection = names.of_model(self.model);
        let part = collection.part();
        let part = part.map(|part| doc! {"$match": part.filter()});
        let refers = self.optional;
        let refers = refers.then(|| doc! {"$match": {&self.foreign: {"$ne": null}}});
        let stages = named(self.stages, names);
        let stages: Vec<Document> = part.into_iter().chain(refers).chain(stages).collect();
        let mut lookup = doc! {
            "from": &*collection,
            "localField": self.local,
            "foreignField": self.foreign,
        };
        if !stages.is_empty() {
            lookup.insert("pipeline", stages);
        }
        lookup.insert("as", self.to);
        doc! {"$lookup": lookup}
    }
}

impl Stage {
    fn named(self, names: &CollectionNames) -> Document {
        match self {
            Self::Plain(stage) => stage,
            Self::Union { model, stages } => {
                let collection = names.of_model(model);
                let part = collection.part();
                // The documents of other models in the same collection are left out.
                let part = part.map(|part| doc! {"$match": part.filter()});
                let stages = named(stages, names);
                let pipeline: Vec<Document> = part.into_iter().chain(stages).collect();
                doc! {"$unionWith": {"coll": &*collection, "pipeline": pipeline}}
            }
            Self::Lookup(lookup) => lookup.named(names),
            Self::GraphLookup {
                model,
                options,
                filter,
            } => {
                let collection = names.of_model(model);
                let mut lookup = doc! {"from": &*collection};
                lookup.extend(options);
                let part = collection.part().map(|part| part.filter());
                let filters = part.into_iter().chain([filter]);
                let mut filters: Vec<Document> = filters.filter(|one| !one.is_empty()).collect();
                match filters.len() {
                    0 => {}
                    1 => {
                        lookup.insert("restrictSearchWithMatch", filters.pop());
                    }
                    _ => {
                        lookup.insert("restrictSearchWithMatch", doc! {"$and": filters});
                    }
                }
                doc! {"$graphLookup": lookup}
            }
            Self::Facet(facets) => {
                let facets = facets.into_iter();
                let facets = facets.map(|(name, stages)| {
                    let stages: Vec<Document> = named(stages, names).collect();
                    (name, Bson::from(stages))
                });
                doc! {"$facet": facets.collect::<Document>()}
            }
            Self::Merge { model, options } => {
                let mut merge = doc! {"into": &*names.of_model(model)};
                merge.extend(options);
                doc! {"$merge": merge}
            }
            Self::Out(model) => doc! {"$out": &*names.of_model(model)},
        }
    }
}

fn named(stages: Vec<Stage>, names: &CollectionNames) -> impl Iterator<Item = Document> {
    stages.into_iter().map(|stage| stage.named(names))
}

/// The stages of a pipeline, to be sent with the collection names of a handle.
#[doc(hidden)]
#[derive(Debug)]
pub struct Stages(Vec<Stage>);

impl Stages {
    pub(super) fn new(stages: Vec<Stage>) -> Self {
        Self(stages)
    }

    /// Stages written by hand.
    pub(super) fn plain(stages: impl IntoIterator<Item = Document>) -> Self {
        Self(stages.into_iter().map(Stage::Plain).collect())
    }

    /// The stages with these names of collections.
    pub(crate) fn named(self, names: &CollectionNames) -> Vec<Document> {
        named(self.0, names).collect()
    }
}
