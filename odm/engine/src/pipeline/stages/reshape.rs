//! `$addFields $project $replaceRoot $replaceWith $set $unset`: turn each document into one other document.

use std::rc::Rc;
use std::sync::Arc;

use bson::raw::{RawBsonRef, RawDocumentBuf};
use odm_language::error::ServerError;
use odm_language::expression::projection::{Kind, Shape};
use odm_language::expression::{Globals, replace_root};

use crate::pipeline::document::{Names, PipelineDocument};
use crate::pipeline::source::{Documents, made};
use crate::pipeline::stage::{Cx, PathEffect, Stage, Touched};

type Parsed = Result<Box<dyn Stage>, ServerError>;

pub(super) fn set(name: &str, spec: RawBsonRef<'_>, globals: &Globals) -> Parsed {
    Ok(Box::new(replace_root::set(name, spec, &globals.scope())?))
}

pub(super) fn project(_name: &str, spec: RawBsonRef<'_>, globals: &Globals) -> Parsed {
    Ok(Box::new(replace_root::project(spec, &globals.scope())?))
}

pub(super) fn unset(_name: &str, spec: RawBsonRef<'_>, _globals: &Globals) -> Parsed {
    Ok(Box::new(replace_root::unset(spec)?))
}

pub(super) fn replace(name: &str, spec: RawBsonRef<'_>, globals: &Globals) -> Parsed {
    Ok(Box::new(replace_root::NewRoot::parse(
        name,
        spec,
        &globals.scope().with_plain_sets(),
    )?))
}

impl Stage for Shape {
    fn run<'a>(&'a self, input: Documents<'a>, cx: Cx<'a>) -> Result<Documents<'a>, ServerError> {
        let Some(fields) = self.changed_fields() else {
            let read = self.fields_read();
            let mut buffer = RawDocumentBuf::new();
            return Ok(made(input.map(move |document| {
                let document = document?;
                let document = document.with_fields(read.as_deref(), &mut buffer);
                self.apply(document, cx.globals, None)
            })));
        };
        let names: Names = fields.cloned().collect();
        Ok(Box::new(input.map(move |document| {
            let document = document?;
            let values = self.changes(&document, cx.globals)?;
            let names = Arc::clone(&names);
            Ok(PipelineDocument::changed(Rc::new(document), names, values))
        })))
    }

    fn check_constants(&self, globals: &Globals) -> Result<(), ServerError> {
        Self::check_constants(self, globals)
    }

    fn reads(&self) -> Option<Vec<String>> {
        Self::reads(self)
    }

    fn effect(&self) -> Option<PathEffect> {
        let paths = self.paths();
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
