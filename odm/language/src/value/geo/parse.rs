//! Reads geometry from BSON, with mongod's error messages. Errors are messages without a code, because the code depends
//! on the caller.

use bson::raw::RawArray;
use bson::{RawBsonRef, RawDocument};

use crate::value::geo::flat::Flat;
use crate::value::geo::polygon::{Fault, Loop, Polygon};
use crate::value::geo::shape::Shape;
use crate::value::geo::vector::Vector;
use crate::value::number::Number;
use crate::value::{print, raw};

type Parsed<T> = Result<T, String>;

/// GeoJSON or legacy coordinates.
#[derive(Debug, Clone, PartialEq)]
pub struct Geometry {
    /// The shapes of GeoJSON; empty for legacy coordinates.
    pub shapes: Vec<Shape>,
    /// The coordinates of a single point, of either form.
    pub point: Option<Flat>,
    /// Whether this is a polygon whose winding defines which side is inside.
    pub strict: bool,
    /// Whether this is one point, line or polygon rather than a collection of them.
    pub single: bool,
}

/// Reads a geometry of either form.
pub fn geometry(value: RawBsonRef<'_>) -> Parsed<Geometry> {
    let RawBsonRef::Document(document) = value else {
        return legacy(value);
    };
    let first = raw::elements(document).next().map(|(_, value)| value);
    if first.and_then(Number::from_raw).is_some() {
        return legacy(value);
    }
    let unknown = || format!("unknown GeoJSON type: {}", print::document(document));
    let Some(RawBsonRef::String(kind)) = raw::get(document, "type") else {
        return Err(unknown());
    };
    geo_json(kind, document)?.ok_or_else(unknown)
}

fn legacy(value: RawBsonRef<'_>) -> Parsed<Geometry> {
    Ok(Geometry {
        shapes: Vec::new(),
        point: Some(pair(value)?),
        strict: false,
        single: true,
    })
}

/// GeoJSON of a known type.
fn geo_json(kind: &str, document: &RawDocument) -> Parsed<Option<Geometry>> {
    let coordinates = || raw::get(document, "coordinates");
    let mut point = None;
    let strict = match kind {
        "Point" | "LineString" | "Polygon" | "MultiPoint" | "MultiLineString" | "MultiPolygon" => {
            is_strict(document)?
        }
        _ => false,
    };
    if strict && kind != "Polygon" {
        return Err("Strict winding order is only supported by polygon".to_owned());
    }
    let shapes = match kind {
        "Point" => {
            let pair = pair(coordinates().unwrap_or(RawBsonRef::Null))?;
            point = Some(pair);
            vec![Shape::Point(on_sphere(pair)?)]
        }
        "LineString" => vec![line(coordinates())?],
        "Polygon" => vec![polygon(coordinates(), strict)?],
        "MultiPoint" => {
            let points = vertices(coordinates())?;
            at_least_one(&points, "MultiPoint coordinates")?;
            points.into_iter().map(Shape::Point).collect()
        }
        "MultiLineString" => several(coordinates(), "MultiLineString coordinates", line)?,
        "MultiPolygon" => several(coordinates(), "MultiPolygon coordinates", |value| {
            polygon(value, false)
        })?,
        "GeometryCollection" => collection(raw::get(document, "geometries"))?,
        _ => return Ok(None),
    };
    Ok(Some(Geometry {
        shapes,
        point,
        strict,
        single: matches!(kind, "Point" | "LineString" | "Polygon"),
    }))
}

/// Returns an error if a point has an invalid coordinate reference system or one for polygons only.
fn check_system(document: &RawDocument) -> Parsed<()> {
    if is_strict(document)? {
        return Err("Strict winding order is only supported by polygon".to_owned());
    }
    Ok(())
}

/// Whether the coordinate reference system is the one with strict winding.
fn is_strict(document: &RawDocument) -> Parsed<bool> {
    let Some(system) = raw::get(document, "crs") else {
        return Ok(false);
    };
    let RawBsonRef::Document(system) = system else {
        return Err("GeoJSON CRS must be an object".to_owned());
    };
    let Some(RawBsonRef::String("name")) = raw::get(system, "type") else {
        return Err("GeoJSON CRS must have field \"type\": \"name\"".to_owned());
    };
    let Some(RawBsonRef::Document(properties)) = raw::get(system, "properties") else {
        return Err("CRS must have field \"properties\" which is an object".to_owned());
    };
    match raw::get(properties, "name") {
        Some(RawBsonRef::String("urn:ogc:def:crs:OGC:1.3:CRS84" | "EPSG:4326")) => Ok(false),
        Some(RawBsonRef::String("urn:x-mongodb:crs:strictwinding:EPSG:4326")) => Ok(true),
        Some(RawBsonRef::String(name)) => Err(format!("Unknown CRS name: {name}")),
        _ => Err("In CRS, \"properties.name\" must be a string".to_owned()),
    }
}

/// A pair of numbers in an array or in the first fields of a document.
pub fn pair(value: RawBsonRef<'_>) -> Parsed<Flat> {
    let elements = match value {
        RawBsonRef::Array(array) => raw::array_document(array),
        RawBsonRef::Document(document) => document,
        _ => return Err("Point must be an array or object".to_owned()),
    };
    let mut numbers = raw::elements(elements)
        .take(2)
        .map(|(_, value)| Number::from_raw(value).map(Number::to_f64));
    let (Some(Some(x)), Some(Some(y))) = (numbers.next(), numbers.next()) else {
        return Err("Point must only contain numeric elements".to_owned());
    };
    if x.is_finite() && y.is_finite() {
        Ok(Flat { x, y })
    } else {
        Err("Point coordinates must be finite numbers".to_owned())
    }
}

/// Like [`pair`], but returns an error for more than two elements, as queries do.
pub fn only_pair(value: RawBsonRef<'_>) -> Parsed<Flat> {
    let pair = pair(value);
    let length = match value {
        RawBsonRef::Array(array) => raw::values(array).count(),
        RawBsonRef::Document(document) => raw::elements(document).count(),
        _ => 0,
    };
    let is_pair = !matches!(&pair, Err(fault) if fault.ends_with("numeric elements"));
    if length > 2 && is_pair {
        return Err("Point must only contain two numeric elements".to_owned());
    }
    pair
}

/// The point of a query, and whether it is GeoJSON. The `type` of GeoJSON is not checked.
pub fn query_point(value: RawBsonRef<'_>) -> Parsed<(Flat, bool)> {
    let RawBsonRef::Document(document) = value else {
        return only_pair(value).map(|point| (point, false));
    };
    let first = raw::elements(document).next().map(|(_, value)| value);
    if first.and_then(Number::from_raw).is_some() {
        return only_pair(value).map(|point| (point, false));
    }
    check_system(document)?;
    let point = pair(raw::get(document, "coordinates").unwrap_or(RawBsonRef::Null))?;
    on_sphere(point)?;
    Ok((point, true))
}

/// Converts a longitude and a latitude to a point of the sphere.
pub fn on_sphere(point: Flat) -> Parsed<Vector> {
    if point.is_on_sphere() {
        return Ok(Vector::from_degrees(point.x, point.y));
    }
    Err(format!(
        "longitude/latitude is out of bounds, lng: {} lat: {}",
        print::significant(point.x, 6),
        print::significant(point.y, 6)
    ))
}

fn vertices(value: Option<RawBsonRef<'_>>) -> Parsed<Vec<Vector>> {
    let Some(RawBsonRef::Array(array)) = value else {
        return Err("GeoJSON coordinates must be an array of coordinates".to_owned());
    };
    raw::values(array)
        .map(|value| match value {
            RawBsonRef::Array(_) => on_sphere(pair(value)?),
            _ => Err("GeoJSON coordinates must be an array".to_owned()),
        })
        .collect()
}

fn at_least_one<T>(list: &[T], what: &str) -> Parsed<()> {
    if list.is_empty() {
        return Err(format!("{what} must have at least 1 element"));
    }
    Ok(())
}

fn several(
    value: Option<RawBsonRef<'_>>,
    what: &str,
    one: impl Fn(Option<RawBsonRef<'_>>) -> Parsed<Shape>,
) -> Parsed<Vec<Shape>> {
    let Some(RawBsonRef::Array(array)) = value else {
        return Err(format!("{what} must be an array"));
    };
    let shapes: Vec<_> = raw::values(array)
        .map(|value| one(Some(value)))
        .collect::<Parsed<_>>()?;
    at_least_one(&shapes, what)?;
    Ok(shapes)
}

fn collection(value: Option<RawBsonRef<'_>>) -> Parsed<Vec<Shape>> {
    let Some(RawBsonRef::Array(array)) = value else {
        return Err("GeometryCollection geometries must be an array".to_owned());
    };
    let mut shapes = Vec::new();
    for (index, value) in raw::values(array).enumerate() {
        let RawBsonRef::Document(document) = value else {
            return Err(format!(
                "Element {index} of \"geometries\" is not an object"
            ));
        };
        let unknown = || format!("Unknown GeoJSON type: {}", print::document(document));
        let Some(RawBsonRef::String(kind)) = raw::get(document, "type") else {
            return Err(unknown());
        };
        if kind == "GeometryCollection" {
            return Err(format!(
                "GeometryCollections cannot be nested: {}",
                print::document(document)
            ));
        }
        let part = geo_json(kind, document)?.ok_or_else(unknown)?;
        if part.strict {
            return Err("Strict winding order is not supported in a GeometryCollection".to_owned());
        }
        shapes.extend(part.shapes);
    }
    at_least_one(&shapes, "GeometryCollection geometries")?;
    Ok(shapes)
}

fn line(value: Option<RawBsonRef<'_>>) -> Parsed<Shape> {
    let mut line = vertices(value)?;
    line.dedup();
    if line.len() < 2 {
        return Err(format!(
            "GeoJSON LineString must have at least 2 vertices: {}",
            shown(value)
        ));
    }
    Ok(Shape::Line(line))
}

fn shown(value: Option<RawBsonRef<'_>>) -> String {
    value.map(print::value).unwrap_or_default()
}

fn polygon(value: Option<RawBsonRef<'_>>, strict: bool) -> Parsed<Shape> {
    let Some(RawBsonRef::Array(rings)) = value else {
        return Err(if strict {
            "Coordinates of polygon must be an array".to_owned()
        } else {
            "Polygon coordinates must be an array".to_owned()
        });
    };
    if strict && raw::values(rings).count() != 1 {
        return Err(format!(
            "Only one simple loop is allowed in a big polygon: {}",
            shown(value)
        ));
    }
    let mut loops = Vec::new();
    for ring in raw::values(rings) {
        // mongod prints all rings of a strict polygon.
        let printed = if strict {
            RawBsonRef::Array(rings)
        } else {
            ring
        };
        let it = ring_loop(ring, printed)?;
        loops.push((if strict { it } else { it.normalized() }, ring));
    }
    let mut loops = loops.into_iter();
    let Some((shell, first)) = loops.next() else {
        return Err("Polygon has no loops.".to_owned());
    };
    let holes: Vec<_> = loops.collect();
    let simple = |it: &Loop| Polygon::new(it.clone(), Vec::new(), strict);
    let outer = simple(&shell);
    for (hole, ring) in &holes {
        if !outer.contains_polygon(&simple(hole)) {
            return Err(format!(
                "Secondary loops not contained by first exterior loop - secondary loops must be holes: {} first \
                 loop: {}",
                print::value(*ring),
                print::value(first)
            ));
        }
    }
    check_holes(&shell, &holes, rings)?;
    let holes = holes.into_iter().map(|(hole, _)| hole).collect();
    Ok(Shape::Polygon(Polygon::new(shell, holes, strict)))
}

/// Returns an error for duplicate edges, for holes that share more than one vertex with the loop around them, and for
/// holes that cross or contain each other.
fn check_holes(shell: &Loop, holes: &[(Loop, RawBsonRef<'_>)], rings: &RawArray) -> Parsed<()> {
    let rings = || print::value(RawBsonRef::Array(rings));
    let loops: Vec<&Loop> = std::iter::once(shell)
        .chain(holes.iter().map(|(hole, _)| hole))
        .collect();
    for (index, it) in loops.iter().enumerate() {
        for (other_index, other) in loops.iter().enumerate().take(index) {
            for (edge, (a, b)) in it.edges().enumerate() {
                if let Some(same) = other.edges().position(|(c, d)| a == c && b == d) {
                    return Err(format!(
                        "Polygon isn't valid: Duplicate edge: loop {index}, edge {edge} and loop {other_index}, edge \
                         {same} {}",
                        rings()
                    ));
                }
            }
        }
    }
    let polygons: Vec<_> = holes
        .iter()
        .map(|(hole, _)| Polygon::new(hole.clone(), Vec::new(), false))
        .collect();
    for (index, (hole, own)) in holes
        .iter()
        .map(|(hole, _)| hole)
        .zip(&polygons)
        .enumerate()
    {
        // The loop around a hole is the shell, unless the hole lies in another hole.
        let outer = polygons.iter().enumerate();
        let outer = outer
            .filter(|(at, other)| *at != index && other.contains_polygon(own))
            .map(|(at, _)| at + 1)
            .next();
        let parent = outer.unwrap_or_default();
        let around = loops.get(parent).map_or(&[][..], |it| it.vertices());
        let shared = hole.vertices().iter().filter(|it| around.contains(it));
        if shared.count() > 1 {
            return Err(format!(
                "Loop {} shares more than one vertex with its parent loop {parent}: {}",
                index + 1,
                rings()
            ));
        }
    }
    for (index, one) in polygons.iter().enumerate() {
        for (other_index, other) in polygons.iter().enumerate().skip(index + 1) {
            if !one.meets_polygon(other) {
                continue;
            }
            if one.contains_polygon(other) || other.contains_polygon(one) {
                return Err(format!(
                    "Polygon interior loops cannot be nested: {}",
                    rings()
                ));
            }
            return Err(format!(
                "Polygon isn't valid: Loop {} crosses loop {} {}",
                index + 1,
                other_index + 1,
                rings()
            ));
        }
    }
    Ok(())
}

fn ring_loop(ring: RawBsonRef<'_>, printed: RawBsonRef<'_>) -> Parsed<Loop> {
    let mut points = vertices(Some(ring))?;
    let refuse = |what: &str| Err(format!("{what}: {}", print::value(ring)));
    if points.is_empty() {
        return refuse("Loop has no vertices");
    }
    if points.first() != points.last() {
        return refuse("Loop is not closed");
    }
    points.dedup();
    points.pop();
    if points.len() < 3 {
        return Err(format!(
            "Loop must have at least 3 different vertices: {}",
            print::value(printed)
        ));
    }
    let it = Loop::new(points);
    let fault = match it.fault() {
        None => return Ok(it),
        Some(Fault::Duplicate(one, other)) => format!("Duplicate vertices: {one} and {other}"),
        Some(Fault::Cross(one, other)) => {
            let edge = |index: usize| {
                it.edges()
                    .nth(index)
                    .map(|(a, b)| format!("{}-{}", degrees(a), degrees(b)))
                    .unwrap_or_default()
            };
            format!(
                "Edges {one} and {other} cross. Edge locations in degrees: {} and {}",
                edge(one),
                edge(other)
            )
        }
    };
    Err(format!(
        "Loop is not valid: {} {fault}",
        print::value(printed)
    ))
}

/// Prints the latitude and the longitude of a point.
fn degrees(point: Vector) -> String {
    let lat = point.z.atan2(point.x.hypot(point.y)).to_degrees();
    let lng = point.y.atan2(point.x).to_degrees();
    format!("[{lat:.7}, {lng:.7}]")
}
