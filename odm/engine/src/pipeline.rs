//! Aggregation stages.
//!
//! [`outline::check`] reads what comes first of every stage, [`Pipeline::parse`] the rest; [`Pipeline::run`] streams documents through them. Each stage is a file
//! under `stages/` and a row of its table.
//!
//! What this module is not: it plans nothing and opens no collection. Other collections are reached through
//! [`Source`], which a higher floor implements.

mod metadata;
pub(crate) mod outline;
pub(crate) mod projection;
pub(crate) mod sort;
mod stage;
mod stages;
#[cfg(test)]
mod tests;

use bson::oid::ObjectId;
use bson::raw::{RawArray, RawBsonRef, RawDocument, RawDocumentBuf};

use odm_language::error::{Code, ServerError};
use odm_language::expression::Globals;
use odm_language::expression::memory;
use odm_language::matcher::Matcher;
use odm_language::value::raw::{elements, values};

pub(crate) use self::stage::{Cx, Other, Target};

use self::stage::{Planned, Stage};
#[cfg(test)]
pub(crate) use self::stages::{
    known as known_stages, known_options as known_stage_options, runs_accumulator,
};

/// A stream of documents, as it flows between stages.
pub(crate) type Documents<'a> = Box<dyn Iterator<Item = Result<RawDocumentBuf, ServerError>> + 'a>;

/// What stages need beyond their input.
pub(crate) trait Source {
    /// The documents of another collection of the database that match a filter, by whatever plan is best. A collection
    /// that does not exist is empty. `depth` is how many sub-pipelines deep it is read; `globals` carries the collation
    /// and the variables of a `$expr`.
    fn find(
        &self,
        depth: usize,
        collection: &str,
        filter: &RawDocument,
        globals: &Globals,
    ) -> Result<Vec<RawDocumentBuf>, ServerError>;

    /// Fails if the command has run for longer than it may, or is killed. Stages call it that make many documents of
    /// one.
    fn check_deadline(&self) -> Result<(), ServerError>;

    /// What is told of another collection.
    fn statistics(
        &self,
        collection: &str,
        asked: &Statistics,
    ) -> Result<Vec<RawDocumentBuf>, ServerError>;

    /// Random bits, for `$sample`.
    fn random(&self) -> u64;

    /// A new `_id`.
    fn object_id(&self) -> ObjectId;

    /// Opens the target of `$merge` once for all that is written, so that nothing is kept where another's write stands
    /// in the way of a part of it: the command is then run again. `write` may be called several times.
    fn merge(
        &self,
        target: Target<'_>,
        creates: bool,
        write: &mut dyn FnMut(&mut dyn Merging) -> Result<(), ServerError>,
    ) -> Result<(), ServerError>;

    /// The full name of another collection of the database, for messages.
    fn name_of(&self, collection: &str) -> String {
        collection.to_owned()
    }

    /// Refuses to replace what is no collection, or one of a fixed size.
    fn check_replaced(&self, database: Option<&str>, collection: &str) -> Result<(), ServerError>;

    /// Replaces a collection's documents (`$out`); it is made if it is not there.
    fn replace_all(
        &self,
        database: Option<&str>,
        collection: &str,
        documents: Vec<RawDocumentBuf>,
    ) -> Result<(), ServerError>;
}

/// What is asked about a collection.
#[derive(Debug)]
pub(crate) enum Statistics {
    /// `$collStats`: one document.
    Collection(StatisticsOf),
    /// `$indexStats`: a document for each index.
    Indexes,
    /// `$planCacheStats`: a document for each plan that is kept for later, of which there are none.
    Plans,
}

/// The parts of `$collStats`.
#[derive(Debug, Default)]
pub(crate) struct StatisticsOf {
    pub(crate) count: bool,
    /// How often it was read as a whole.
    pub(crate) executions: bool,
    /// How long commands took, perhaps with histograms.
    pub(crate) latency: Option<bool>,
    /// Sizes, divided by this.
    pub(crate) storage: Option<i64>,
}

/// The target of a `$merge`, open for writing.
pub(crate) trait Merging {
    /// Writes one document; false if nothing was there to be changed. `globals` carries the variables of the update.
    fn write(&mut self, write: &MergeWrite<'_>, globals: &Globals) -> Result<bool, ServerError>;
}

/// One document's write by `$merge`.
#[derive(Debug)]
pub(crate) enum MergeWrite<'w> {
    /// Inserts it, whatever is there.
    Insert(&'w RawDocument),
    /// Updates the document that the filter finds.
    Update {
        filter: &'w RawDocument,
        update: RawBsonRef<'w>,
        /// Whether the update makes a document where there is none.
        upsert: bool,
        /// What is inserted where there is none, as it is.
        otherwise: Option<&'w RawDocument>,
    },
}

/// The leading stages that a plan may answer: `[$match] [$sort] [$limit]`.
#[derive(Debug, Default)]
pub(crate) struct Leading {
    pub(crate) filter: Option<RawDocumentBuf>,
    pub(crate) sort: Option<RawDocumentBuf>,
    pub(crate) limit: Option<u64>,
    /// How many stages these are, for [`Pipeline::run`]'s `skip`.
    pub(crate) stages: usize,
}

/// A parsed pipeline.
#[derive(Debug)]
pub(crate) struct Pipeline {
    stages: Vec<Box<dyn Stage>>,
}

/// Takes away the sort at the end, or in front of filters there: of two in a row a server runs the second alone, which
/// shows in what that one leaves in place.
fn drop_sort(stages: &mut Vec<Box<dyn Stage>>) {
    let before = stages
        .iter()
        .rposition(|stage| !matches!(stage.planned(), Planned::Filter(_)));
    if let Some(at) = before
        && let Some(Planned::Sort(_)) = stages.get(at).map(|stage| stage.planned())
    {
        stages.remove(at);
    }
}

impl Pipeline {
    /// Compiles a pipeline whose outline was read.
    pub(crate) fn parse(stages: &RawArray, globals: &Globals) -> Result<Self, ServerError> {
        let pipeline = Self::compile(stages, globals)?;
        pipeline.check_places()?;
        Ok(pipeline)
    }

    /// Compiles the stages, wherever each of them stands.
    fn compile(stages: &RawArray, globals: &Globals) -> Result<Self, ServerError> {
        metadata::check_support(stages, globals)?;
        let mut parsed: Vec<Box<dyn Stage>> = Vec::new();
        for stage in values(stages) {
            let (name, spec) = single(stage)?;
            let stage = stages::parse(name, spec, globals)?;
            if let Planned::Sort(_) = stage.planned() {
                drop_sort(&mut parsed);
            }
            parsed.push(stage);
        }
        metadata::check(stages)?;
        Ok(Self { stages: parsed })
    }

    /// Refuses stages that write before the end, and stages with documents of their own behind others.
    fn check_places(&self) -> Result<(), ServerError> {
        let parsed = &self.stages;
        let last = parsed.len().saturating_sub(1);
        if let Some(target) = parsed.iter().take(last).find_map(|stage| stage.target()) {
            return Err(ServerError::new(
                Code::location(40601),
                format!(
                    "{} can only be the final stage in the pipeline",
                    target.stage
                ),
            ));
        }
        if let Some(name) = parsed.iter().skip(1).find_map(|stage| stage.begins()) {
            return Err(not_first(name));
        }
        Ok(())
    }

    /// The other collections of the database that its stages ask about, and the stages in them that do.
    pub(crate) fn tells_of(&self) -> impl Iterator<Item = (&str, &'static str)> {
        self.stages.iter().filter_map(|stage| stage.tells_of())
    }

    /// Whether the first stage is a `$match` with a `$text`.
    fn searches_text(&self, globals: &Globals) -> bool {
        let Some(Planned::Filter(filter)) = self.stages.first().map(|stage| stage.planned()) else {
            return false;
        };
        Matcher::parse(filter, globals).is_ok_and(|matcher| matcher.text().is_some())
    }

    /// The first stage, if it asks for no documents of the collection.
    pub(crate) fn begins(&self) -> Option<&'static str> {
        self.stages.first().and_then(|stage| stage.begins())
    }

    /// Whether any stage asks for what is known of a document beyond its fields.
    pub(crate) fn asks_for_metadata(stages: &RawArray) -> bool {
        metadata::is_asked(stages)
    }

    /// Evaluates what is constant in the stages' expressions, as a server does before it reads a document.
    pub(crate) fn check_constants(&self, globals: &Globals) -> Result<(), ServerError> {
        self.stages
            .iter()
            .try_for_each(|stage| stage.check_constants(globals))
            .map_err(|error| error.within("Failed to optimize pipeline"))
    }

    /// What the planner may take over; pass `stages` of the part that it took to `run`.
    pub(crate) fn leading(&self) -> Leading {
        let mut leading = Leading::default();
        for stage in &self.stages {
            match stage.planned() {
                Planned::Filter(filter)
                    if leading.filter.is_none()
                        && leading.sort.is_none()
                        && leading.limit.is_none() =>
                {
                    leading.filter = Some(filter.to_owned());
                }
                Planned::Sort(sort) if leading.sort.is_none() && leading.limit.is_none() => {
                    leading.sort = Some(sort.to_owned());
                }
                Planned::Limit(limit) if leading.limit.is_none() => leading.limit = Some(limit),
                _ => break,
            }
            leading.stages += 1;
        }
        leading
    }

    /// A pipeline inside a stage: it may not write.
    fn parse_inner(
        outer: &str,
        code: i32,
        stages: &RawArray,
        globals: &Globals,
    ) -> Result<Self, ServerError> {
        let outside = |stage: &str| {
            ServerError::new(
                Code::location(code),
                format!("{stage} is not allowed within a {outer}'s sub-pipeline"),
            )
        };
        let pipeline = Self::compile(stages, globals).map_err(|error| {
            if is_change_stream(&error) {
                outside(CHANGE_STREAM)
            } else {
                error
            }
        })?;
        let mut targets = pipeline.stages.iter().filter_map(|stage| stage.target());
        if let Some(target) = targets.next() {
            return Err(outside(target.stage));
        }
        pipeline.check_places()?;
        Ok(pipeline)
    }

    /// Where it writes, if it ends in `$merge` or `$out`.
    pub(crate) fn target(&self) -> Option<Target<'_>> {
        self.stages.last().and_then(|stage| stage.target())
    }

    /// The other collections that it reads or writes.
    pub(crate) fn collections(&self) -> Vec<Other> {
        self.stages
            .iter()
            .flat_map(|stage| stage.collections())
            .collect()
    }

    /// Streams `input` through the stages from number `skip` on. Failures while it runs are worded as the server
    /// words those of a plan.
    pub(crate) fn run<'a>(
        &'a self,
        skip: usize,
        input: Documents<'a>,
        cx: Cx<'a>,
    ) -> Result<Documents<'a>, ServerError> {
        let documents = self.stream(skip, input, cx).map_err(while_running)?;
        Ok(Box::new(documents.map(|document| {
            document.and_then(memory::checked).map_err(while_running)
        })))
    }

    /// Streams `input` through all stages, inside of another pipeline, which words what fails.
    pub(crate) fn run_within<'a>(
        &'a self,
        input: Documents<'a>,
        cx: Cx<'a>,
    ) -> Result<Documents<'a>, ServerError> {
        self.stream(0, input, cx)
    }

    fn stream<'a>(
        &'a self,
        skip: usize,
        input: Documents<'a>,
        cx: Cx<'a>,
    ) -> Result<Documents<'a>, ServerError> {
        self.stages
            .iter()
            .skip(skip)
            .try_fold(input, |input, stage| stage.run(input, cx))
    }
}

/// The name of a stage and its specification.
fn single(stage: RawBsonRef<'_>) -> Result<(&str, RawBsonRef<'_>), ServerError> {
    let RawBsonRef::Document(stage) = stage else {
        return Err(ServerError::new(
            Code::TYPE_MISMATCH,
            "Each element of the 'pipeline' array must be an object",
        ));
    };
    let mut fields = elements(stage);
    match (fields.next(), fields.next()) {
        (Some(field), None) => Ok(field),
        _ => Err(ServerError::new(
            Code::location(40323),
            "A pipeline stage specification object must contain exactly one field.",
        )),
    }
}

/// What MongoDB calls the first of the stages that `$changeStream` stands for.
const CHANGE_STREAM: &str = "$_internalChangeStreamOplogMatch";

/// Whether a pipeline is refused for a `$changeStream`, which no collection's documents go through.
pub(crate) fn is_change_stream(error: &ServerError) -> bool {
    *error == not_first(CHANGE_STREAM)
}

/// The refusal of a stage before which there are others.
pub(crate) fn not_first(name: &str) -> ServerError {
    ServerError::new(
        Code::location(40602),
        format!("{name} is only valid as the first stage in a pipeline"),
    )
}

fn while_running(error: ServerError) -> ServerError {
    if error.labels().is_empty() {
        error.within("PlanExecutor error during aggregation")
    } else {
        error
    }
}
