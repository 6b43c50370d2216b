//! `$addFields $project $replaceRoot $replaceWith $set $unset`: turn each document into one other document.

use std::sync::Arc;

use bson::Document;
use bson::raw::{RawBsonRef, RawDocumentBuf};
use odm_language::error::ServerError;
use odm_language::expression::projection::{Kind, Shape};
use odm_language::expression::{Globals, replace_root};

use crate::pipeline::document::{Names, PipelineDocument};
use crate::pipeline::shown::{Dependencies, Printer, stage};
use crate::pipeline::source::{Documents, made};
use crate::pipeline::stage::{Cx, PathEffect, Stage, Touched};

type Parsed = Result<Box<dyn Stage>, ServerError>;

const PROJECT: &str = "$project";

/// A stage that keeps, drops and computes fields.
#[derive(Debug)]
struct Reshape {
    /// mongod's name for it: `$unset` is a `$project`.
    name: &'static str,
    shape: Shape,
}

pub(super) fn set(name: &str, spec: RawBsonRef<'_>, globals: &Globals) -> Parsed {
    let shape = replace_root::set(name, spec, &globals.scope())?;
    let name = if name == "$set" { "$set" } else { "$addFields" };
    Ok(Box::new(Reshape { name, shape }))
}

pub(super) fn project(_name: &str, spec: RawBsonRef<'_>, globals: &Globals) -> Parsed {
    Ok(Box::new(Reshape {
        name: PROJECT,
        shape: replace_root::project(spec, &globals.scope())?,
    }))
}

pub(super) fn unset(_name: &str, spec: RawBsonRef<'_>, _globals: &Globals) -> Parsed {
    Ok(Box::new(Reshape {
        name: PROJECT,
        shape: replace_root::unset(spec)?,
    }))
}

pub(super) fn replace(name: &str, spec: RawBsonRef<'_>, globals: &Globals) -> Parsed {
    Ok(Box::new(replace_root::NewRoot::parse(
        name,
        spec,
        &globals.scope().with_plain_sets(),
    )?))
}

impl Stage for Reshape {
    fn shown(&self, printer: &dyn Printer) -> Result<Vec<Document>, ServerError> {
        let shape = self.shape.optimized(printer.globals());
        Ok(vec![stage(self.name, shape)])
    }

    fn dependencies(&self) -> Option<Dependencies> {
        let paths = self.shape.dependencies()?;
        Some(match self.shape.kind() {
            Kind::Include => Dependencies::all(paths),
            Kind::Exclude | Kind::Set => Dependencies::some(paths),
        })
    }

    fn inclusion(&self, globals: &Globals, is_whole: bool) -> Option<Document> {
        let is_pushed = self.shape.kind() == Kind::Include && (is_whole || self.shape.is_plain());
        is_pushed.then(|| self.shape.optimized(globals))
    }

    fn run<'a>(&'a self, input: Documents<'a>, cx: Cx<'a>) -> Result<Documents<'a>, ServerError> {
        let Some(fields) = self.shape.changed_fields() else {
            let read = self.shape.fields_read();
            let mut buffer = RawDocumentBuf::new();
            return Ok(made(input.map(move |document| {
                let document = document?;
                let document = document.with_fields(read.as_deref(), &mut buffer);
                self.shape.apply(document, cx.globals, None)
            })));
        };
        let names: Names = fields.cloned().collect();
        Ok(Box::new(input.map(move |document| {
            let document = document?;
            let values = self.shape.changes(&document, cx.globals)?;
            let names = Arc::clone(&names);
            Ok(PipelineDocument::changed(Arc::new(document), names, values))
        })))
    }

    fn check_constants(&self, globals: &Globals) -> Result<(), ServerError> {
        self.shape.check_constants(globals)
    }

    fn reads(&self) -> Option<Vec<String>> {
        self.shape.reads()
    }

    fn effect(&self) -> Option<PathEffect> {
        let paths = self.shape.paths();
        let fields = match paths.kind {
            Kind::Include => Touched::AllBut(paths.kept),
            Kind::Exclude | Kind::Set => Touched::Only(paths.changed),
        };
        Some(PathEffect {
            copies: paths.copies,
            is_one_to_one: true,
            ..PathEffect::new(fields)
        })
    }
}

impl Stage for replace_root::NewRoot {
    fn shown(&self, printer: &dyn Printer) -> Result<Vec<Document>, ServerError> {
        let with = self.optimized(printer.globals());
        Ok(vec![stage("$replaceRoot", stage("newRoot", with))])
    }

    fn dependencies(&self) -> Option<Dependencies> {
        self.dependencies().map(Dependencies::all)
    }

    fn run<'a>(&'a self, input: Documents<'a>, cx: Cx<'a>) -> Result<Documents<'a>, ServerError> {
        Ok(made(
            input.map(|document| self.apply(&document?, cx.globals)),
        ))
    }

    fn check_constants(&self, globals: &Globals) -> Result<(), ServerError> {
        Self::check_constants(self, globals)
    }

    fn effect(&self) -> Option<PathEffect> {
        Some(PathEffect {
            is_one_to_one: true,
            ..PathEffect::new(Touched::AllBut(Vec::new()))
        })
    }
}
