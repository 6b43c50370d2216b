//! Stages whose collections have no names yet: a handle may have chosen others than the declared ones.

use bson::{Document, doc};

use crate::model::ModelMeta;
use crate::store::CollectionNames;

/// A stage of a pipeline.
#[derive(Debug, Clone)]
pub(super) enum Stage {
    /// A stage that names no collection of a model.
    Plain(Document),
    /// `$unionWith` the documents of a model.
    Union {
        model: &'static ModelMeta,
        stages: Vec<Self>,
    },
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
                let stages = stages.into_iter().map(|stage| stage.named(names));
                let pipeline: Vec<Document> = part.into_iter().chain(stages).collect();
                doc! {"$unionWith": {"coll": &*collection, "pipeline": pipeline}}
            }
        }
    }
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
        self.0.into_iter().map(|stage| stage.named(names)).collect()
    }
}
