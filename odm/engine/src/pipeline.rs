//! Aggregation stages.
//!
//! [`outline::check`] reads the outline of each stage, [`Pipeline::parse`] compiles the stages, and [`Pipeline::run`]
//! streams documents through them. Each stage is a file under `stages/` and a row of its table.
//!
//! What this module is not: it plans nothing and opens no collection. It reaches other collections through [`Source`],
//! which a higher layer implements.

mod counts;
mod document;
mod explained;
pub(crate) mod memory;
mod metadata;
mod optimize;
pub(crate) mod outline;
pub(crate) mod projection;
mod shown;
mod sink;
pub(crate) mod sort;
mod source;
mod stage;
mod stages;
#[cfg(test)]
mod tests;

use std::ops::Range;

use bson::raw::{RawArray, RawBsonRef, RawDocument, RawDocumentBuf};
use bson::{Bson, Document};

use odm_language::error::{Code, ServerError};
use odm_language::expression::Globals;
use odm_language::expression::meta::Known;
use odm_language::matcher::Matcher;
use odm_language::value::path::Path;
use odm_language::value::raw::{elements, values};

pub(crate) use self::counts::{Counts, Reads};
pub(crate) use self::document::PipelineDocument;
pub(crate) use self::shown::{Printer, number};
pub(crate) use self::sink::{MergeWrite, Merging, Sink, WriteTarget};
pub(crate) use self::source::{Documents, Located, Source, Statistics, StatisticsOf};
pub(crate) use self::stage::{Cx, DOCUMENTS, GEO_NEAR, Other, not_first};

use self::metadata::Origin;
use self::source::{deferred, drained};
use self::stage::{CHANGE_STREAM, Planned, Stage, WritingStage};
#[cfg(test)]
pub(crate) use self::stages::{
    known as known_stages, known_options as known_stage_options, runs_accumulator,
    runs_window_operator,
};

/// The leading stages that the planner may take over: `[$match] [$sort] [$skip] [$limit]`.
#[derive(Debug, Default)]
pub(crate) struct Leading {
    pub(crate) filter: Option<RawDocumentBuf>,
    pub(crate) sort: Option<RawDocumentBuf>,
    pub(crate) skip: u64,
    pub(crate) limit: Option<u64>,
    /// The path by which the next stage reads only the first document of each value.
    pub(crate) first_by: Option<Path>,
    /// The paths that the stages behind these read, if that is not the whole document.
    pub(crate) needs: Option<Vec<Path>>,
    /// Like `needs`, for a stage that reads them from documents.
    pub(crate) reads: Option<Vec<Path>>,
    /// The number of these stages, for [`Pipeline::run`]'s `skip`.
    pub(crate) stages: usize,
}

impl Leading {
    /// Skips documents, of those that an earlier limit lets pass. Returns false if it lets none pass.
    fn pass(&mut self, skip: u64) -> bool {
        if let Some(limit) = &mut self.limit {
            let Some(left) = limit.checked_sub(skip).filter(|left| *left > 0) else {
                return false;
            };
            *limit = left;
        }
        self.skip = self.skip.saturating_add(skip);
        true
    }

    /// Whether a skip or a limit is among the stages.
    fn is_cut(&self) -> bool {
        self.skip > 0 || self.limit.is_some()
    }

    /// Whether the stages leave out no document but by a filter, and sort nothing.
    pub(crate) fn is_whole(&self) -> bool {
        self.sort.is_none() && !self.is_cut()
    }
}

/// A parsed pipeline.
#[derive(Debug)]
pub(crate) struct Pipeline {
    stages: Vec<Box<dyn Stage>>,
    /// Whether a stage reads the metadata of documents.
    asks: bool,
}

/// Removes a sort that ends the pipeline so far, or that only filters follow. Of two adjacent sorts, mongod runs only
/// the second, which shows in the order of documents that the second considers equal.
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
    /// Compiles a pipeline that has passed [`outline::check`].
    pub(crate) fn parse(stages: &RawArray, globals: &Globals) -> Result<Self, ServerError> {
        let pipeline = Self::compile(stages, Origin::Own, globals)?;
        pipeline.check_places()?;
        Ok(pipeline)
    }

    /// Compiles a pipeline of a `$facet`.
    fn parse_facet(stages: &RawArray, globals: &Globals) -> Result<Self, ServerError> {
        let pipeline = Self::compile(stages, Origin::Around, globals)?;
        pipeline.check_places()?;
        Ok(pipeline)
    }

    /// Compiles the stages without checking their positions.
    fn compile(stages: &RawArray, origin: Origin, globals: &Globals) -> Result<Self, ServerError> {
        metadata::check_support(stages, origin, globals)?;
        let mut parsed: Vec<Box<dyn Stage>> = Vec::new();
        for stage in values(stages) {
            let (name, spec) = single(stage)?;
            let mut stage = stages::parse(name, spec, globals)?;
            let parts = stage.parts();
            let stages = if parts.is_empty() { vec![stage] } else { parts };
            for stage in stages {
                if let Planned::Sort(_) = stage.planned() {
                    drop_sort(&mut parsed);
                }
                parsed.push(stage);
            }
        }
        metadata::check(stages, origin)?;
        // Like mongod, drop filters of everything in front of a `$geoNear`, which must be first.
        let is_empty = |stage: &dyn Stage| matches!(stage.planned(), Planned::Filter(filter) if filter.is_empty());
        let near = parsed
            .iter()
            .position(|stage| stage.begins() == Some(GEO_NEAR));
        if let Some(at) = near
            && parsed.iter().take(at).all(|stage| is_empty(&**stage))
        {
            parsed.drain(..at);
        }
        Ok(Self {
            stages: parsed,
            asks: metadata::is_used(stages),
        })
    }

    /// Rejects stages that write before the end, and stages that bring their own documents after the start.
    fn check_places(&self) -> Result<(), ServerError> {
        let parsed = &self.stages;
        let last = parsed.len().saturating_sub(1);
        if let Some(target) = parsed
            .iter()
            .take(last)
            .find_map(|stage| target_of(&**stage))
        {
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

    /// The other collections that a nested pipeline starts from without reading their documents, each with the name of
    /// its first stage (such as `$collStats`).
    pub(crate) fn statistics_stages(&self) -> impl Iterator<Item = (&str, &'static str)> {
        self.stages
            .iter()
            .filter_map(|stage| stage.statistics_stages())
    }

    /// Whether the first stage is a `$match` with a `$text`.
    fn searches_text(&self, globals: &Globals) -> bool {
        let Some(Planned::Filter(filter)) = self.stages.first().map(|stage| stage.planned()) else {
            return false;
        };
        Matcher::parse(filter, globals).is_ok_and(|matcher| matcher.text().is_some())
    }

    /// A number that no other pipeline with stages has while this one exists.
    pub(crate) fn address(&self) -> usize {
        self.stages.as_ptr().addr()
    }

    /// The number of stages.
    pub(crate) fn len(&self) -> usize {
        self.stages.len()
    }

    /// The projection that mongod lets the query of the leading stages make, if the stage at an index is one; `is_whole` if
    /// those stages leave out and sort nothing.
    pub(crate) fn pushed(&self, at: usize, is_whole: bool, globals: &Globals) -> Option<Document> {
        let stage = self.stages.get(at)?;
        stage.inclusion(globals, is_whole)
    }

    /// The name of the first stage, if that stage brings its own documents.
    pub(crate) fn begins(&self) -> Option<&'static str> {
        self.stages.first().and_then(|stage| stage.begins())
    }

    /// The name of the first stage, if that stage reports statistics.
    pub(crate) fn reports(&self) -> Option<&'static str> {
        self.begins().filter(|name| *name != GEO_NEAR)
    }

    /// Whether any stage uses document metadata, such as a text score.
    pub(crate) fn asks_for_metadata(stages: &RawArray) -> bool {
        metadata::is_used(stages)
    }

    /// Moves filters, sorts and limits towards the start.
    pub(crate) fn optimized(mut self, globals: &Globals) -> Result<Self, ServerError> {
        optimize::optimize(&mut self.stages, globals)?;
        Ok(self)
    }

    /// Evaluates the constant parts of the stages' expressions, as mongod does before it reads a document.
    pub(crate) fn check_constants(&self, globals: &Globals) -> Result<(), ServerError> {
        self.stages
            .iter()
            .try_for_each(|stage| stage.check_constants(globals))
            .map_err(|error| error.within("Failed to optimize pipeline"))
    }

    /// The leading stages that the planner may take over. A caller that takes them passes `stages` as the `skip` of
    /// `run`.
    pub(crate) fn leading(&self) -> Leading {
        let mut leading = Leading::default();
        for stage in &self.stages {
            match stage.planned() {
                Planned::Filter(filter)
                    if leading.filter.is_none() && leading.sort.is_none() && !leading.is_cut() =>
                {
                    leading.filter = Some(filter.to_owned());
                }
                Planned::Sort(sort) if leading.sort.is_none() && !leading.is_cut() => {
                    leading.sort = Some(sort.to_owned());
                }
                Planned::Skip(skip) if leading.pass(skip) => {}
                Planned::Limit(limit) => {
                    leading.limit = Some(leading.limit.map_or(limit, |least| least.min(limit)));
                }
                _ => break,
            }
            leading.stages += 1;
        }
        if let Some(next) = self.stages.get(leading.stages) {
            let first_by = next.reads_first_by().filter(|_| !leading.is_cut());
            leading.first_by = first_by.as_deref().map(Path::new);
            let paths = |paths: Vec<String>| paths.iter().map(|path| Path::new(path)).collect();
            leading.reads = next.reads().filter(|reads| !reads.is_empty()).map(paths);
            leading.needs = next.needs().map(paths);
        }
        leading
    }

    /// The index of the first stage to run behind the leading ones. A projection need not run if it keeps everything that the
    /// next stage reads.
    pub(crate) fn first_to_run(&self, leading: &Leading, globals: &Globals) -> usize {
        let at = leading.stages;
        let next = self.stages.get(at + 1);
        let reads = next
            .filter(|next| !next.holds_documents())
            .and_then(|next| next.reads());
        let is_idle = match (self.pushed(at, false, globals), reads) {
            (Some(kept), Some(reads)) => reads.iter().all(|path| keeps(&kept, path)),
            _ => false,
        };
        at + usize::from(is_idle)
    }

    /// Parses a pipeline nested in a stage. It may not write.
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
        let pipeline = Self::compile(stages, Origin::Own, globals).map_err(|error| {
            if is_change_stream(&error) {
                outside(CHANGE_STREAM)
            } else {
                error
            }
        })?;
        let mut targets = pipeline
            .stages
            .iter()
            .filter_map(|stage| target_of(&**stage));
        if let Some(target) = targets.next() {
            return Err(outside(target.stage));
        }
        pipeline.check_places()?;
        pipeline.optimized(globals)
    }

    /// The filter of the query that finds the documents of a leading `$geoNear`. `only_field` returns the field to
    /// search if the stage names none.
    pub(crate) fn near(
        &self,
        only_field: &dyn Fn() -> Result<String, ServerError>,
        globals: &Globals,
    ) -> Option<Result<RawDocumentBuf, ServerError>> {
        self.stages.first()?.near(only_field, globals)
    }

    /// The collection to write to, if the pipeline ends in `$merge` or `$out`.
    pub(crate) fn target(&self) -> Option<WriteTarget<'_>> {
        self.stages.last().and_then(|stage| target_of(&**stage))
    }

    /// The other collections that the pipeline reads or writes.
    pub(crate) fn collections(&self) -> Vec<Other> {
        self.stages
            .iter()
            .flat_map(|stage| stage.collections())
            .collect()
    }

    /// Streams `input` through the stages, from index `skip` on. The first stage starts at once if it brings its own
    /// documents, because it may plan a query; the others wait for the first request.
    pub(crate) fn run<'a>(
        &'a self,
        skip: usize,
        input: Documents<'a>,
        cx: Cx<'a>,
    ) -> Result<Documents<'a>, ServerError> {
        let (skip, input) = self.begin(skip, input, cx)?;
        let documents = deferred(move || self.stream(skip, input, cx));
        Ok(Box::new(documents.map(|document| {
            document.and_then(PipelineDocument::checked)
        })))
    }

    /// Streams `input` through the stages, from index `skip` on, into the last one, which writes.
    pub(crate) fn write(
        &self,
        skip: usize,
        input: Documents<'_>,
        cx: Cx<'_>,
        sink: &mut dyn Sink,
    ) -> Result<(), ServerError> {
        let (skip, input) = self.begin(skip, input, cx)?;
        let Some(last) = self.stages.last().and_then(|stage| stage.writing()) else {
            return Ok(());
        };
        let documents = self.stream_in(skip..self.len() - 1, input, cx);
        documents
            .and_then(|documents| last.write(documents, cx, sink))
            .map_err(while_running)
    }

    /// Starts a first stage that brings its own documents. Returns the index of the next stage, and its input.
    fn begin<'a>(
        &'a self,
        skip: usize,
        input: Documents<'a>,
        cx: Cx<'a>,
    ) -> Result<(usize, Documents<'a>), ServerError> {
        let Some(first) = self.stages.first().filter(|it| it.begins().is_some()) else {
            return Ok((skip, input));
        };
        let documents = first.run(input, cx).map_err(|error| {
            // A `$geoNear` is planned here.
            if self.begins() == Some(GEO_NEAR) && is_planning(&error) {
                error
            } else {
                while_running(error)
            }
        })?;
        Ok((1, self.remembered(&**first, documents, cx.globals)))
    }

    /// Streams `input` through the stages of a pipeline that is explained, from index `skip` on.
    pub(crate) fn run_explained<'a>(
        &'a self,
        skip: usize,
        input: Documents<'a>,
        cx: Cx<'a>,
    ) -> Result<Documents<'a>, ServerError> {
        self.stream(skip, input, cx)
    }

    /// Streams the documents of the first stage that match a filter through the other stages.
    fn stream_own<'a>(
        &'a self,
        filter: &RawDocument,
        cx: Cx<'a>,
    ) -> Result<Documents<'a>, ServerError> {
        let matcher = Matcher::parse(filter, cx.globals)?;
        let own = match self.stages.first() {
            Some(stage) => stage.run(Box::new(std::iter::empty()), cx)?,
            None => Box::new(std::iter::empty()),
        };
        let matching = own.filter_map(move |document| {
            document
                .and_then(|document| Ok(matcher.matches(&document)?.then_some(document)))
                .transpose()
        });
        self.stream(1, Box::new(matching), cx)
    }

    /// Streams `input` through all stages of a pipeline nested in another, which adds the prefix to errors.
    pub(crate) fn run_within<'a>(
        &'a self,
        input: Documents<'a>,
        cx: Cx<'a>,
    ) -> Result<Documents<'a>, ServerError> {
        self.stream(0, input, cx)
    }

    /// Streams `input` through the stages, from index `skip` on.
    fn stream<'a>(
        &'a self,
        skip: usize,
        input: Documents<'a>,
        cx: Cx<'a>,
    ) -> Result<Documents<'a>, ServerError> {
        self.stream_in(skip..self.len(), input, cx)
    }

    /// Streams `input` through the stages at these indexes.
    fn stream_in<'a>(
        &'a self,
        range: Range<usize>,
        input: Documents<'a>,
        cx: Cx<'a>,
    ) -> Result<Documents<'a>, ServerError> {
        let stages = self.stages.iter().enumerate();
        let mut stages = stages.skip(range.start).take(range.len());
        let Some(counts) = cx.counts else {
            return stages.try_fold(input, |input, (_, stage)| {
                Ok(self.remembered(&**stage, stage.run(input, cx)?, cx.globals))
            });
        };
        stages.try_fold(counts.input(self.address(), input), |input, (at, stage)| {
            // An explained pipeline writes nothing.
            if stage.writing().is_some() {
                return Ok(drained(input));
            }
            let output = counts.run((self.address(), Some(at)), &**stage, input, cx)?;
            Ok(self.remembered(&**stage, output, cx.globals))
        })
    }

    /// The documents of a stage, without the metadata of its input if the stage forgets it.
    fn remembered<'a>(
        &self,
        stage: &dyn Stage,
        output: Documents<'a>,
        globals: &'a Globals,
    ) -> Documents<'a> {
        if self.asks && stage.forgets_metadata() {
            Box::new(output.inspect(|_| globals.set_known(Known::default())))
        } else {
            output
        }
    }
}

/// Whether an inclusion keeps all values at a path.
fn keeps(inclusion: &Document, path: &str) -> bool {
    let (name, below) = match path.split_once('.') {
        Some((name, below)) => (name, Some(below)),
        None => (path, None),
    };
    match inclusion.get(name) {
        Some(Bson::Document(inner)) => below.is_some_and(|below| keeps(inner, below)),
        kept => kept == Some(&Bson::Boolean(true)),
    }
}

/// The collection that a stage writes to.
fn target_of(stage: &dyn Stage) -> Option<WriteTarget<'_>> {
    stage.writing().map(WritingStage::target)
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

/// Whether a pipeline was rejected because of a `$changeStream`, which reads no documents of a collection.
pub(crate) fn is_change_stream(error: &ServerError) -> bool {
    *error == not_first(CHANGE_STREAM)
}

/// Whether an error is about the choice of an index.
fn is_planning(error: &ServerError) -> bool {
    [
        Code::BAD_VALUE,
        Code::NAMESPACE_NOT_FOUND,
        Code::INDEX_NOT_FOUND,
        Code::NO_QUERY_EXECUTION_PLANS,
    ]
    .contains(&error.code())
}

/// Whether an error is about the position of a stage.
pub(crate) fn is_of_place(error: &ServerError) -> bool {
    [40601, 40602, 40603]
        .map(Code::location)
        .contains(&error.code())
}

/// The first of the stages that mongod makes of a stage, which its messages name.
pub(crate) fn made_of(stage: &str) -> &str {
    match stage {
        "$bucket" | "$count" | "$sortByCount" => "$group",
        "$densify" => "$sort",
        "$fill" => "$addFields",
        "$replaceWith" => "$replaceRoot",
        "$setWindowFields" => "$_internalSetWindowFields",
        "$unset" => "$project",
        stage => stage,
    }
}

/// Adds the prefix of errors in the first batch of a cursor.
pub(crate) fn while_running(error: ServerError) -> ServerError {
    if error.labels().is_empty() {
        error.within("PlanExecutor error during aggregation")
    } else {
        error
    }
}
