//! Stages whose collections have no names yet: a handle may have chosen others than the declared ones.

use bson::{Bson, Document, doc};

use crate::model::{ActualNames, ModelMeta, VariantOfMeta};
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
    /// `$graphLookup` of the documents of a model.
    GraphLookup(GraphLookup),
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

/// The variable of a `$lookup` that has the document of the input.
pub(crate) const OUTER: &str = "document";

/// A `$lookup` by a relation.
#[derive(Debug, Clone)]
pub(crate) struct Lookup {
    /// The documents to look up.
    pub(crate) model: &'static ModelMeta,
    /// The field of the input.
    pub(crate) local: String,
    /// The field of the documents that are looked up.
    pub(crate) foreign: String,
    /// Whether the nested stages read the document of the input, as the variable [`OUTER`].
    pub(crate) outer: bool,
    /// Whether the input may lack the field. MongoDB compares it as null then, which documents without a reference equal.
    pub(crate) optional: bool,
    /// What becomes of the documents that were found.
    pub(crate) stages: Vec<Stage>,
    /// The field that gets them.
    pub(crate) to: String,
}

impl Lookup {
    /// The stage, with the names of collections of a handle.
    pub(crate) fn stage(self, names: &CollectionNames) -> Document {
        self.named(&|declared| names.of(declared).to_string())
    }

    fn named(self, names: &ActualNames<'_>) -> Document {
        let part = part(self.model).map(|part| doc! {"$match": part});
        let refers = self.optional;
        let refers = refers.then(|| doc! {"$match": {&self.foreign: {"$ne": null}}});
        let stages = named(self.stages, names);
        let stages: Vec<Document> = part.into_iter().chain(refers).chain(stages).collect();
        let mut lookup = doc! {
            "from": names(self.model.collection),
            "localField": self.local,
            "foreignField": self.foreign,
        };
        if self.outer {
            lookup.insert("let", doc! {OUTER: "$$ROOT"});
        }
        if !stages.is_empty() {
            lookup.insert("pipeline", stages);
        }
        lookup.insert("as", self.to);
        doc! {"$lookup": lookup}
    }
}

/// A `$graphLookup` from field to field of the documents of one collection.
#[derive(Debug, Clone)]
pub(crate) struct GraphLookup {
    /// The documents to look up.
    pub(crate) model: &'static ModelMeta,
    /// The field of the input with the first values.
    pub(crate) start: String,
    /// The field of the documents found with the next values.
    pub(crate) from: String,
    /// The field that equals a value.
    pub(crate) to: String,
    /// The field that gets the documents found.
    pub(crate) found: String,
    /// The field of each document found that gets the number of steps to it, from 0.
    pub(crate) depth: Option<&'static str>,
    /// The largest number of steps.
    pub(crate) max_depth: Option<u32>,
    /// The filter of the documents on the way; empty for all.
    pub(crate) filter: Document,
}

impl GraphLookup {
    /// The stage, with the names of collections of a handle.
    pub(crate) fn stage(self, names: &CollectionNames) -> Document {
        self.named(&|declared| names.of(declared).to_string())
    }

    fn named(self, names: &ActualNames<'_>) -> Document {
        let mut lookup = doc! {
            "from": names(self.model.collection),
            "startWith": format!("${}", self.start),
            "connectFromField": self.from,
            "connectToField": self.to,
            "as": self.found,
        };
        if let Some(depth) = self.depth {
            lookup.insert("depthField", depth);
        }
        if let Some(max_depth) = self.max_depth {
            lookup.insert("maxDepth", i64::from(max_depth));
        }
        let filters = part(self.model).into_iter().chain([self.filter]);
        let mut filters: Vec<Document> = filters.filter(|one| !one.is_empty()).collect();
        let filter = match filters.len() {
            0 | 1 => filters.pop(),
            _ => Some(doc! {"$and": filters}),
        };
        if let Some(filter) = filter {
            lookup.insert("restrictSearchWithMatch", filter);
        }
        doc! {"$graphLookup": lookup}
    }
}

impl Stage {
    fn named(self, names: &ActualNames<'_>) -> Document {
        match self {
            Self::Plain(stage) => stage,
            Self::Union { model, stages } => {
                let part = part(model).map(|part| doc! {"$match": part});
                let stages = named(stages, names);
                let pipeline: Vec<Document> = part.into_iter().chain(stages).collect();
                doc! {"$unionWith": {"coll": names(model.collection), "pipeline": pipeline}}
            }
            Self::Lookup(lookup) => lookup.named(names),
            Self::GraphLookup(lookup) => lookup.named(names),
            Self::Facet(facets) => {
                let facets = facets.into_iter();
                let facets = facets.map(|(name, stages)| {
                    let stages: Vec<Document> = named(stages, names).collect();
                    (name, Bson::from(stages))
                });
                doc! {"$facet": facets.collect::<Document>()}
            }
            Self::Merge { model, options } => {
                let mut merge = doc! {"into": names(model.collection)};
                merge.extend(options);
                doc! {"$merge": merge}
            }
            Self::Out(model) => doc! {"$out": names(model.collection)},
        }
    }
}

/// The filter of the documents of a model that shares its collection with others.
fn part(model: &ModelMeta) -> Option<Document> {
    model.variant_of.map(VariantOfMeta::filter)
}

fn named(stages: Vec<Stage>, names: &ActualNames<'_>) -> impl Iterator<Item = Document> {
    stages.into_iter().map(|stage| stage.named(names))
}

/// What the results of a pipeline are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Results {
    /// Documents without a struct.
    Documents,
    /// Stored documents of the model.
    Stored,
    /// Documents that stages made of a struct with this name.
    Made(&'static str),
}

/// The stages of a pipeline, to be sent with the collection names of a handle.
#[doc(hidden)]
#[derive(Debug)]
pub struct Stages {
    stages: Vec<Stage>,
    results: Results,
}

impl Stages {
    pub(super) fn new(stages: Vec<Stage>, results: Results) -> Self {
        Self { stages, results }
    }

    /// Stages written by hand.
    pub(super) fn plain(stages: impl IntoIterator<Item = Document>) -> Self {
        let stages = stages.into_iter().map(Stage::Plain).collect();
        Self::new(stages, Results::Documents)
    }

    pub(crate) fn results(&self) -> Results {
        self.results
    }

    /// The stages with these names of collections.
    pub(crate) fn named(self, names: &CollectionNames) -> Vec<Document> {
        self.with_names(&|declared| names.of(declared).to_string())
    }

    pub(super) fn with_names(self, names: &ActualNames<'_>) -> Vec<Document> {
        named(self.stages, names).collect()
    }
}
