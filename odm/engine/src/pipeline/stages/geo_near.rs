//! `$geoNear`: the documents nearest to a point, nearest first, each with its distance.

use bson::Document;
use bson::raw::{RawBsonRef, RawDocument, RawDocumentBuf};
use odm_language::error::{Code, ServerError};
use odm_language::expression::{Expression, Globals, compat::messages, field_path};
use odm_language::matcher::Matcher;
use odm_language::value::number::Number;
use odm_language::value::raw::{self, append, get};

use crate::pipeline::shown::Printer;
use crate::pipeline::source::{Documents, made};
use crate::pipeline::stage::{Cx, GEO_NEAR, Stage};
use crate::pipeline::stages::foreign::{both, one};
use crate::pipeline::stages::unwind::with;

pub(super) const OPTIONS: &[&str] = &[
    "distanceField",
    "distanceMultiplier",
    "includeLocs",
    "key",
    "maxDistance",
    "minDistance",
    "near",
    "query",
    "spherical",
];

#[derive(Debug)]
struct GeoNear {
    /// Evaluated when the stage runs, because it may name a variable of a `$lookup`.
    near: Expression,
    distance: Vec<String>,
    location: Option<Vec<String>>,
    key: Option<String>,
    query: RawDocumentBuf,
    least: Option<f64>,
    most: Option<f64>,
    multiplier: Option<f64>,
    spherical: bool,
}

pub(super) fn parse(
    _name: &str,
    spec: RawBsonRef<'_>,
    globals: &Globals,
) -> Result<Box<dyn Stage>, ServerError> {
    let refuse = |code: Code, message: &str| Err(ServerError::new(code, message));
    let RawBsonRef::Document(spec) = spec else {
        return refuse(
            Code::location(10065),
            "invalid parameter: expected an object ($geoNear)",
        );
    };
    for (code, name) in [(50857, "num"), (50858, "limit")] {
        if get(spec, name).is_some() {
            let message = format!(
                "$geoNear no longer supports the '{name}' parameter. Use a $limit stage instead."
            );
            return refuse(Code::location(code), &message);
        }
    }
    let Some(near) = get(spec, "near") else {
        return refuse(
            Code::location(5_860_400),
            "$geoNear requires a 'near' argument",
        );
    };
    let scope = globals.scope();
    let near = Expression::parse(near, &scope)?;
    if scope.sees_document() {
        return refuse(
            Code::location(5_860_402),
            "$geoNear requires a constant near argument",
        );
    }
    let Some(RawBsonRef::String(distance)) = get(spec, "distanceField") else {
        return refuse(
            Code::location(16606),
            "$geoNear requires a 'distanceField' option as a String",
        );
    };
    let location = match get(spec, "includeLocs") {
        None => None,
        Some(RawBsonRef::String(path)) => Some(field_path(path)?),
        Some(_) => {
            return refuse(
                Code::location(16607),
                "$geoNear requires that 'includeLocs' option is a String",
            );
        }
    };
    let query = match get(spec, "query") {
        None => RawDocumentBuf::new(),
        Some(RawBsonRef::Document(query)) => query.to_owned(),
        Some(_) => return refuse(Code::TYPE_MISMATCH, "query must be an object"),
    };
    let stage = GeoNear {
        near,
        distance: field_path(distance)?,
        location,
        key: key(spec)?,
        query,
        least: number(spec, "minDistance")?,
        most: number(spec, "maxDistance")?,
        multiplier: number(spec, "distanceMultiplier")?,
        spherical: get(spec, "spherical").is_some_and(is_truthy),
    };
    Matcher::parse_query(&stage.query, globals)?;
    // The variables of a `$lookup` have no values yet.
    if !globals.is_inner_pipeline() {
        stage.point(globals)?;
    }
    Ok(Box::new(stage))
}

/// The field to search, if the stage names one.
fn key(spec: &RawDocument) -> Result<Option<String>, ServerError> {
    match get(spec, "key") {
        None => Ok(None),
        Some(RawBsonRef::String("")) => Err(ServerError::new(
            Code::BAD_VALUE,
            "$geoNear parameter 'key' cannot be the empty string",
        )),
        Some(RawBsonRef::String(path)) => {
            field_path(path)?;
            Ok(Some(path.to_owned()))
        }
        Some(other) => Err(ServerError::new(
            Code::TYPE_MISMATCH,
            format!(
                "$geoNear parameter 'key' must be of type string but found type: {}",
                messages::type_name(Some(other))
            ),
        )),
    }
}

/// A distance or a factor, which is not negative.
fn number(spec: &RawDocument, name: &str) -> Result<Option<f64>, ServerError> {
    let Some(value) = get(spec, name) else {
        return Ok(None);
    };
    let Some(number) = Number::from_raw(value).map(Number::to_f64) else {
        return Err(ServerError::new(
            Code::TYPE_MISMATCH,
            format!("{name} must be a number"),
        ));
    };
    if number < 0.0 {
        return Err(ServerError::new(
            Code::BAD_VALUE,
            format!("{name} must be nonnegative"),
        ));
    }
    Ok(Some(number))
}

fn is_truthy(value: RawBsonRef<'_>) -> bool {
    match value {
        RawBsonRef::Boolean(value) => value,
        RawBsonRef::Null | RawBsonRef::Undefined => false,
        value => Number::from_raw(value).is_none_or(|number| number.to_f64() != 0.0),
    }
}

impl GeoNear {
    /// The point, as `{value: …}`.
    fn point(&self, globals: &Globals) -> Result<RawDocumentBuf, ServerError> {
        let value = self.near.eval(raw::empty_document(), globals)?.into_owned();
        match value {
            Some(value @ (bson::RawBson::Document(_) | bson::RawBson::Array(_))) => {
                Ok(one("value", value.as_raw_bson_ref()))
            }
            _ => Err(ServerError::new(
                Code::location(5_860_401),
                "$geoNear requires near argument to be a GeoJSON object or a legacy point(array)",
            )),
        }
    }

    /// The filter of the query that finds the documents by a field.
    fn filter(&self, field: &str, globals: &Globals) -> Result<RawDocumentBuf, ServerError> {
        let point = self.point(globals)?;
        let value = get(&point, "value").unwrap_or(RawBsonRef::Null);
        let operator = if self.spherical {
            "$nearSphere"
        } else {
            "$near"
        };
        let mut near = one(operator, value);
        for (name, distance) in [("$minDistance", self.least), ("$maxDistance", self.most)] {
            if let Some(distance) = distance {
                append(&mut near, name, RawBsonRef::Double(distance));
            }
        }
        let near = one(field, RawBsonRef::Document(&near));
        let query = (!self.query.is_empty()).then(|| self.query.clone());
        Ok(both(query, Some(near)))
    }
}

impl Stage for GeoNear {
    /// It is shown as the query that feeds the pipeline.
    fn shown(&self, _printer: &dyn Printer) -> Result<Vec<Document>, ServerError> {
        Ok(Vec::new())
    }

    fn run<'a>(&'a self, _input: Documents<'a>, cx: Cx<'a>) -> Result<Documents<'a>, ServerError> {
        let filter = |field: &str| self.filter(field, cx.globals);
        let found = (cx.source).nearest(cx.collection, self.key.as_deref(), &filter, cx.globals)?;
        Ok(made(found.map(move |located| {
            let (document, known) = located?;
            let distance = known.distance.unwrap_or_default() * self.multiplier.unwrap_or(1.0);
            let mut shown = with(
                &document,
                &self.distance,
                Some(RawBsonRef::Double(distance)),
            );
            if let Some(path) = &self.location {
                let point = known.point.as_ref().map(bson::RawBson::as_raw_bson_ref);
                shown = with(&shown, path, point);
            }
            cx.globals.set_known(known);
            Ok(shown)
        })))
    }

    fn near(
        &self,
        only_field: &dyn Fn() -> Result<String, ServerError>,
        globals: &Globals,
    ) -> Option<Result<RawDocumentBuf, ServerError>> {
        Some(match &self.key {
            Some(field) => self.filter(field, globals),
            None => only_field().and_then(|field| self.filter(&field, globals)),
        })
    }

    fn begins(&self) -> Option<&'static str> {
        Some(GEO_NEAR)
    }
}
