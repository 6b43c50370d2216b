//! The geospatial operators: `$geoWithin`, `$geoIntersects`, `$near`.

use bson::{RawBsonRef, RawDocument};

use crate::error::{Code, ServerError};
use crate::value::geo::flat::{Flat, Rect};
use crate::value::geo::parse;
use crate::value::geo::region::Region;
use crate::value::geo::shape::Shape;
use crate::value::geo::stored::Stored;
use crate::value::geo::vector::Vector;
use crate::value::number::Number;
use crate::value::{print, raw};

/// `$geoWithin` or `$geoIntersects`.
#[derive(Debug, Clone)]
pub struct GeoTest {
    pub region: Region,
    /// Whether the value must lie within the region (`$geoWithin`) or only intersect it (`$geoIntersects`).
    pub within: bool,
}

/// `$near` or `$nearSphere`. It matches every document: the planner sorts them and applies the distance limits.
#[derive(Debug, Clone, PartialEq)]
pub struct Near {
    pub center: Flat,
    /// Whether the center is GeoJSON: distances are in metres, and the query needs a 2dsphere index.
    pub geo_json: bool,
    /// Whether distances are measured on the sphere: in metres for GeoJSON, otherwise in radians.
    pub sphere: bool,
    /// Whether `$nearSphere` names the point.
    pub by_sphere: bool,
    pub least: f64,
    pub most: f64,
}

type Parsed<T> = Result<T, ServerError>;

fn bad_value(message: impl Into<String>) -> ServerError {
    ServerError::new(Code::BAD_VALUE, message)
}

impl GeoTest {
    /// Parses the operators of one field, the first of which is this one: no other may follow.
    pub(super) fn parse(operators: &RawDocument, within: bool) -> Parsed<Self> {
        let mut elements = raw::elements(operators);
        let value = elements.next().map_or(RawBsonRef::Null, |(_, value)| value);
        if let Some((extra, value)) = elements.next() {
            return Err(bad_value(format!(
                "can't parse extra field: {}",
                print::field(extra, value)
            )));
        }
        let RawBsonRef::Document(specifiers) = value else {
            return Err(bad_value("geometry must be an object"));
        };
        let mut region = None;
        for (specifier, value) in raw::elements(specifiers) {
            if specifier == "$uniqueDocs" {
                continue;
            }
            region = Some(region_of(specifier, value)?);
        }
        let region = region.ok_or_else(|| bad_value("geo query doesn't have any geometry"))?;
        let supported = match &region {
            Region::Shapes(shapes) if within => shapes
                .iter()
                .any(|shape| matches!(shape, Shape::Polygon(_))),
            Region::Shapes(shapes) => !shapes.is_empty(),
            Region::Cap { .. } => true,
            _ => within,
        };
        if !supported {
            let kind = if within { "$within" } else { "$geoIntersect" };
            return Err(bad_value(format!(
                "{kind} not supported with provided geometry: {}",
                print::document(operators)
            )));
        }
        Ok(Self { region, within })
    }

    pub(super) fn matches(&self, value: RawBsonRef<'_>) -> bool {
        let Some(stored) = geometry(value) else {
            return false;
        };
        if self.within {
            self.region.contains(&stored)
        } else {
            self.region.meets(&stored)
        }
    }
}

/// Reads a value as a geometry; `None` if it is not one.
pub(super) fn geometry(value: RawBsonRef<'_>) -> Option<Stored> {
    match value {
        RawBsonRef::Array(_) | RawBsonRef::Document(_) => Stored::read(value),
        _ => None,
    }
}

fn region_of(specifier: &str, value: RawBsonRef<'_>) -> Parsed<Region> {
    let unknown = || {
        bad_value(format!(
            "unknown geo specifier: {}",
            print::field(specifier, value)
        ))
    };
    let parts = match value {
        RawBsonRef::Document(document) => document,
        RawBsonRef::Array(array) => raw::array_document(array),
        _ => return Err(unknown()),
    };
    let mut parts = raw::elements(parts).map(|(_, value)| value);
    match specifier {
        "$geometry" => {
            let geometry = parse::geometry(value).map_err(bad_value)?;
            let mut shapes = geometry.shapes;
            if shapes.is_empty() {
                parse::only_pair(value).map_err(bad_value)?;
            }
            if let (true, Some(point)) = (shapes.is_empty(), geometry.point)
                && point.is_on_sphere()
            {
                shapes.push(Shape::Point(Vector::from_degrees(point.x, point.y)));
            }
            Ok(Region::Shapes(shapes))
        }
        "$box" => {
            let mut corner = || parse::only_pair(parts.next().unwrap_or(RawBsonRef::Null));
            let one = corner().map_err(bad_value)?;
            Ok(Region::Rect(Rect::new(one, corner().map_err(bad_value)?)))
        }
        "$polygon" => {
            let vertices: Vec<_> = parts
                .map(parse::only_pair)
                .collect::<Result<_, _>>()
                .map_err(bad_value)?;
            if vertices.len() < 3 {
                return Err(bad_value("Polygon must have at least 3 points"));
            }
            Ok(Region::Polygon(vertices))
        }
        "$center" | "$centerSphere" => {
            let center =
                parse::only_pair(parts.next().unwrap_or(RawBsonRef::Null)).map_err(bad_value)?;
            let sphere = specifier == "$centerSphere";
            if sphere {
                parse::on_sphere(center).map_err(bad_value)?;
            }
            let radius = parts.next().and_then(Number::from_raw).map(Number::to_f64);
            let Some(radius) = radius.filter(|radius| *radius >= 0.0) else {
                return Err(bad_value("radius must be a non-negative number"));
            };
            if parts.next().is_some() {
                return Err(bad_value("Only 2 fields allowed for circular region"));
            }
            Ok(if sphere {
                Region::Cap { center, radius }
            } else {
                Region::Circle { center, radius }
            })
        }
        _ => Err(unknown()),
    }
}

impl Near {
    /// Parses the operators of one field; the first must be `$near`, `$nearSphere` or `$geoNear`.
    pub fn parse(operators: &RawDocument) -> Parsed<Self> {
        let first = raw::elements(operators).next();
        let Some((name, RawBsonRef::Document(_) | RawBsonRef::Array(_))) = first else {
            return Err(not_first(operators));
        };
        if !matches!(name, "$near" | "$nearSphere" | "$geoNear") {
            return Err(not_first(operators));
        }
        let value = first.map_or(RawBsonRef::Null, |(_, value)| value);
        let sphere = name == "$nearSphere";
        match Self::legacy(operators, value, sphere)? {
            Some(near) => Ok(near),
            None => Self::geo_json(operators, value),
        }
    }

    /// `{$near: [x, y], $maxDistance: d}`, where the distance may also follow the coordinates.
    fn legacy(
        operators: &RawDocument,
        value: RawBsonRef<'_>,
        sphere: bool,
    ) -> Parsed<Option<Self>> {
        let near = |(center, geo_json), most| Self {
            center,
            geo_json,
            sphere: sphere || geo_json,
            by_sphere: sphere,
            least: 0.0,
            most,
        };
        let near = match parse::query_point(value) {
            Ok(point) => Some(near(point, f64::MAX)),
            Err(_) => with_distance(value)?.map(|(center, most)| near((center, false), most)),
        };
        // mongod reads the operators beside the point first, even if the point is invalid.
        let (mut least, mut most) = (None, None);
        for (name, value) in raw::elements(operators).skip(1) {
            let number = || Number::from_raw(value).map(Number::to_f64);
            match name {
                "$minDistance" => {
                    let number = number().ok_or_else(|| not_number(name, Code::location(16893)))?;
                    least = Some(distance_of(number, name, Code::location(16894))?);
                }
                "$maxDistance" => {
                    let number = number().ok_or_else(|| not_number(name, Code::location(16895)))?;
                    most = Some(distance_of(number, name, Code::location(16896))?);
                }
                "$uniqueDocs" => {}
                _ => {
                    return Err(ServerError::new(
                        Code::location(34413),
                        format!("invalid argument in geo near query: {name}"),
                    ));
                }
            }
        }
        let Some(mut near) = near else {
            return Ok(None);
        };
        near.least = least.unwrap_or(near.least);
        near.most = most.unwrap_or(near.most);
        if sphere && !near.center.is_on_sphere() {
            return Err(bad_value(
                "Legacy point is out of bounds for spherical query",
            ));
        }
        Ok(Some(near))
    }

    /// `{$near: {$geometry: {type: "Point", ..}, $maxDistance: metres}}`.
    fn geo_json(operators: &RawDocument, value: RawBsonRef<'_>) -> Parsed<Self> {
        if let Some((extra, value)) = raw::elements(operators).nth(1) {
            return Err(bad_value(format!(
                "geo near accepts just one argument when querying for a GeoJSON point. Extra field found: {}",
                print::field(extra, value)
            )));
        }
        let parts = match value {
            RawBsonRef::Document(document) => document,
            RawBsonRef::Array(array) => raw::array_document(array),
            _ => raw::empty_document(),
        };
        let mut center = None;
        let (mut least, mut most) = (0.0, f64::MAX);
        for (name, value) in raw::elements(parts) {
            let number = || {
                Number::from_raw(value)
                    .map(Number::to_f64)
                    .ok_or_else(|| not_number(name, Code::BAD_VALUE))
            };
            match (name, value) {
                ("$geometry", RawBsonRef::Document(_) | RawBsonRef::Array(_)) => {
                    center = Some(center_of(value)?);
                }
                ("$geometry", _) => {}
                ("$minDistance", _) => least = metres_of(number()?, name)?,
                ("$maxDistance", _) => most = metres_of(number()?, name)?,
                _ => {
                    return Err(bad_value(format!(
                        "invalid argument in geo near query: {name}"
                    )));
                }
            }
        }
        let center = center.ok_or_else(|| bad_value("$geometry is required for geo near query"))?;
        Ok(Self {
            center,
            geo_json: true,
            sphere: true,
            by_sphere: false,
            least,
            most,
        })
    }
}

/// Reads the center of a `$near` from `$geometry`.
fn center_of(value: RawBsonRef<'_>) -> Parsed<Flat> {
    let document = match value {
        RawBsonRef::Document(document) => document,
        RawBsonRef::Array(array) => raw::array_document(array),
        _ => raw::empty_document(),
    };
    let invalid = |problem: String| {
        bad_value(format!(
            "invalid point in geo near query $geometry argument: {}  {problem}",
            print::document(document)
        ))
    };
    match parse::query_point(value).map_err(invalid)? {
        (point, true) => Ok(point),
        (_, false) => Err(bad_value(format!(
            "$near requires geojson point, given {}",
            print::document(document)
        ))),
    }
}

/// Reads coordinates followed by a distance: `[x, y, d]`.
fn with_distance(value: RawBsonRef<'_>) -> Parsed<Option<(Flat, f64)>> {
    let parts = match value {
        RawBsonRef::Document(document) => document,
        RawBsonRef::Array(array) => raw::array_document(array),
        _ => return Ok(None),
    };
    let mut rest = raw::elements(parts).skip(2).map(|(_, value)| value);
    let (Ok(center), Some(most), None) = (
        parse::pair(value),
        rest.next().and_then(Number::from_raw),
        rest.next(),
    ) else {
        return Ok(None);
    };
    let most = most.to_f64();
    if most < 0.0 || most.is_nan() {
        return Err(ServerError::new(
            Code::location(18522),
            "max distance must be non-negative",
        ));
    }
    Ok(Some((center, most)))
}

fn not_first(operators: &RawDocument) -> ServerError {
    bad_value(format!(
        "near must be first in: {}",
        print::document(operators)
    ))
}

fn not_number(name: &str, code: Code) -> ServerError {
    ServerError::new(code, format!("{name} must be a number"))
}

/// Reads a distance in metres, which must be finite.
fn metres_of(value: f64, name: &str) -> Parsed<f64> {
    let value = if value.is_finite() { value } else { -1.0 };
    distance_of(value, name, Code::BAD_VALUE)
}

fn distance_of(value: f64, name: &str, code: Code) -> Parsed<f64> {
    if value >= 0.0 {
        Ok(value)
    } else {
        Err(ServerError::new(
            code,
            format!("{name} must be non-negative"),
        ))
    }
}
