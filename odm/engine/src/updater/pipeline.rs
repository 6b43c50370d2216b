//! Updates made of pipeline stages: `[{$set: {total: {$add: ["$a", "$b"]}}}]`.

use bson::raw::{RawArray, RawBsonRef, RawDocument, RawDocumentBuf};
use odm_language::error::{Code, ServerError};
use odm_language::expression::projection::Shape;
use odm_language::expression::{Globals, replace_root};
use odm_language::value::raw::{get, values};

use crate::updater::Applied;
use crate::updater::node::{append, fields};
use crate::updater::replacement::check_new_id;

#[derive(Debug)]
pub(super) struct UpdatePipeline(Vec<Stage>);

#[derive(Debug)]
enum Stage {
    Shape(Shape),
    Root(replace_root::NewRoot),
}

impl UpdatePipeline {
    pub(super) fn parse(stages: &RawArray, globals: &Globals) -> Result<Self, ServerError> {
        values(stages)
            .enumerate()
            .map(|(at, stage)| Stage::parse(stage, at == 0, globals))
            .collect::<Result<_, _>>()
            .map(Self)
    }

    pub(super) fn apply(
        &self,
        document: &RawDocument,
        globals: &Globals,
        inserting: bool,
    ) -> Result<Applied, ServerError> {
        let mut new = document.to_owned();
        for stage in &self.0 {
            new = match stage {
                Stage::Shape(shape) => shape.apply(&new, globals, None)?,
                Stage::Root(root) => root.apply(&new, globals)?,
            };
        }
        let modified = new.as_bytes() != document.as_bytes();
        if let (None, Some(id)) = (get(&new, "_id"), get(document, "_id")) {
            let mut with_id = RawDocumentBuf::new();
            append(&mut with_id, "_id", id);
            for (name, value) in fields(&new) {
                append(&mut with_id, name, value);
            }
            new = with_id;
        }
        check_new_id(document, &new, modified, inserting)?;
        Ok(Applied {
            document: new,
            modified,
            nests: true,
            resorted: Vec::new(),
        })
    }
}

impl Stage {
    fn parse(
        stage: RawBsonRef<'_>,
        is_first: bool,
        globals: &Globals,
    ) -> Result<Self, ServerError> {
        let RawBsonRef::Document(stage) = stage else {
            return Err(ServerError::new(
                Code::TYPE_MISMATCH,
                "Each element of the 'pipeline' array must be an object",
            ));
        };
        let mut named = fields(stage);
        let (Some((name, spec)), None) = (named.next(), named.next()) else {
            return Err(ServerError::new(
                Code::location(40323),
                "A pipeline stage specification object must contain exactly one field.",
            ));
        };
        let scope = globals.scope().unmoved();
        match name {
            "$addFields" | "$set" => replace_root::set(name, spec, &scope).map(Self::Shape),
            "$project" => replace_root::project(spec, &scope).map(Self::Shape),
            "$unset" => replace_root::unset(spec).map(Self::Shape),
            "$replaceRoot" | "$replaceWith" => {
                replace_root::NewRoot::parse(name, spec, &scope).map(Self::Root)
            }
            "$documents" if !is_first => Err(ServerError::new(
                Code::location(40602),
                "$documents is only valid as the first stage in a pipeline",
            )),
            "$documents" => Err(ServerError::new(
                Code::INVALID_NAMESPACE,
                "'$documents' can only be run with {aggregate: 1}",
            )),
            other if STAGES.contains(&other) => {
                let other = match other {
                    "$bucket" | "$count" | "$sortByCount" => "$group",
                    other => other,
                };
                Err(ServerError::new(
                    Code::INVALID_OPTIONS,
                    format!("{other} is not allowed to be used within an update"),
                ))
            }
            other => Err(ServerError::new(
                Code::location(40324),
                format!("Unrecognized pipeline stage name: '{other}'"),
            )),
        }
    }
}

/// Stages that exist, but not in updates.
const STAGES: &[&str] = &[
    "$_internalInhibitOptimization",
    "$bucket",
    "$bucketAuto",
    "$changeStream",
    "$collStats",
    "$count",
    "$currentOp",
    "$densify",
    "$facet",
    "$fill",
    "$geoNear",
    "$graphLookup",
    "$group",
    "$indexStats",
    "$limit",
    "$listLocalSessions",
    "$listSessions",
    "$lookup",
    "$match",
    "$merge",
    "$out",
    "$planCacheStats",
    "$redact",
    "$sample",
    "$setWindowFields",
    "$skip",
    "$sort",
    "$sortByCount",
    "$unionWith",
    "$unwind",
];
