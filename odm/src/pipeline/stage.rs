//! Stages whose collections have no names yet: a handle may have chosen others than the declared ones.

use bson::{Bson, Document, doc};

use super::input::Input;
use super::stages::Pipeline;
use crate::error::Result;
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
        if !stages.is_empty() {
            lookup.insert("pipeline", stages);
        }
        lookup.insert("as", self.to);
        doc! {"$lookup": lookup}
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
            Self::GraphLookup {
                model,
                options,
                filter,
            } => {
                let mut lookup = doc! {"from": names(model.collection)};
                lookup.extend(options);
                let filters = part(model).into_iter().chain([filter]);
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
        self.with_names(&|declared| names.of(declared).to_string())
    }

    fn with_names(self, names: &ActualNames<'_>) -> Vec<Document> {
        named(self.0, names).collect()
    }
}

/// What a view of the type `V` over documents of `M` is computed by: a pipeline that makes documents of `V`, or stages written
/// by hand.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a pipeline from `{M}` to `{V}`",
    label = "expected a function that returns a `Pipeline<{M}, {V}>`, or a `Vec` of stages"
)]
pub trait IntoView<M, V> {
    /// Makes the stages.
    #[doc(hidden)]
    fn into_stages(self) -> Result<Stages>;
}

impl<M, V: Input> IntoView<M, V> for Pipeline<M, V> {
    fn into_stages(self) -> Result<Stages> {
        let stages = self.into_stages().map_err(|error| error.to_error())?;
        Ok(Stages::new(stages))
    }
}

impl<M, V> IntoView<M, V> for Vec<Document> {
    fn into_stages(self) -> Result<Stages> {
        Ok(Stages::plain(self))
    }
}

/// The stages of a view; generated code calls it.
#[doc(hidden)]
pub fn view_stages<M, V, P: IntoView<M, V>>(
    pipeline: impl Fn() -> P,
    names: &ActualNames<'_>,
) -> Result<Vec<Document>> {
    Ok(pipeline().into_stages()?.with_names(names))
}
