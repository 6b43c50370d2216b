//! The keys of 2dsphere and 2d indexes: the cells that contain a document's geometry.
//!
//! A point on the sphere has the id of its leaf cell as its key; a larger shape has several cells that cover it
//! together. A point in the plane has the interleaved bits of its coordinates.

use bson::raw::{RawBinaryRef, RawBsonRef, RawDocument};
use bson::spec::BinarySubtype;
use bson::{Bson, Document};
use odm_language::error::{Code, ServerError};
use odm_language::value::geo::cell::{Cell, Relation};
use odm_language::value::geo::flat::Flat;
use odm_language::value::geo::shape::Shape;
use odm_language::value::geo::stored::Stored;
use odm_language::value::geo::vector::Vector;
use odm_language::value::key;
use odm_language::value::number::Number;
use odm_language::value::path::Path;
use odm_language::value::{print, raw};

use crate::index::keys::{self, Values};
use crate::index::spec::Spec;

/// How geometry becomes keys.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Grid {
    /// `2dsphere`.
    Sphere,
    /// `2d`.
    Plane(Plane),
}

/// The range of coordinates of a 2d index, and their precision.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Plane {
    pub(crate) min: f64,
    pub(crate) max: f64,
    /// The number of bits of each coordinate in the hash.
    pub(crate) bits: u32,
}

impl Grid {
    /// The grid of one field of a key pattern; `None` if the field is not geospatial.
    pub(crate) fn of(value: &Bson, options: &Document) -> Option<Self> {
        let Bson::String(plugin) = value else {
            return None;
        };
        match plugin.as_str() {
            "2dsphere" => Some(Self::Sphere),
            "2d" => {
                let number = |name: &str, default: f64| {
                    options
                        .get(name)
                        .and_then(crate::index::spec::value::number)
                        .unwrap_or(default)
                };
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "the bits were checked to be 1 to 32"
                )]
                let bits = number("bits", 26.0) as u32;
                Some(Self::Plane(Plane {
                    min: number("min", -180.0),
                    max: number("max", 180.0),
                    bits,
                }))
            }
            _ => None,
        }
    }
}

/// The most cells that cover a shape other than a point.
const MAX_CELLS: usize = 16;

fn cells(stored: &Stored) -> Vec<i64> {
    let mut found: Vec<i64> = Vec::new();
    for shape in stored.shapes() {
        match shape {
            Shape::Point(point) => found.push(Cell::of(*point).id()),
            shape => {
                let cover =
                    Cell::cover(MAX_CELLS, &|center, radius| relation(shape, center, radius));
                found.extend(cover.into_iter().map(Cell::id));
            }
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// How a cap lies relative to a shape. The slack of a few leaf cells is there because a point on an edge belongs to
/// both sides.
pub(crate) fn relation(shape: &Shape, center: Vector, radius: f64) -> Relation {
    const SLACK: f64 = 1e-8;
    if let Shape::Polygon(polygon) = shape {
        let edge = polygon.to_edge(center);
        return if edge <= radius + SLACK {
            Relation::Partly
        } else if polygon.contains(center) {
            Relation::Inside
        } else {
            Relation::Outside
        };
    }
    if shape.distance(center) <= radius + SLACK {
        Relation::Partly
    } else {
        Relation::Outside
    }
}

impl Plane {
    /// The bits of both coordinates, interleaved.
    pub(crate) fn hash(&self, point: Flat) -> u64 {
        let bits = spread(self.scaled(point.x)) << 1 | spread(self.scaled(point.y));
        let kept = 2 * self.bits.clamp(1, 32);
        bits & u64::MAX << (64 - kept)
    }

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "`as` saturates, and so does the grid"
    )]
    fn scaled(&self, coordinate: f64) -> u32 {
        let cells = f64::from(u32::MAX) + 1.0;
        ((coordinate - self.min) * (cells / (self.max - self.min))) as u32
    }

    pub(crate) fn holds(&self, point: Flat) -> bool {
        let fits = |value: f64| self.min <= value && value <= self.max;
        fits(point.x) && fits(point.y)
    }
}

impl Plane {
    /// mongod's message about a point outside of the plane.
    pub(crate) fn outside(&self) -> String {
        format!(
            "point not in interval of [ {}, {} ]",
            print::significant(self.min, 6),
            print::significant(self.max, 6)
        )
    }
}

/// The least and the greatest hash in a square of the grid, given by its column and row at a level.
pub(crate) fn square_hashes(level: u32, x: u32, y: u32) -> (u64, u64) {
    let bits = spread(x) << 1 | spread(y);
    let rest = 64 - 2 * level;
    let low = bits.checked_shl(rest).unwrap_or(0);
    (low, low | u64::MAX.checked_shr(2 * level).unwrap_or(0))
}

/// Inserts a zero before each bit.
fn spread(value: u32) -> u64 {
    (0..32).fold(0, |spread, bit| {
        spread | u64::from(value >> bit & 1) << (2 * bit)
    })
}

/// A hash as a BSON value for the key.
pub(crate) fn hash_value(bytes: &[u8; 8]) -> RawBsonRef<'_> {
    RawBsonRef::Binary(RawBinaryRef {
        subtype: BinarySubtype::UserDefined(0x80),
        bytes,
    })
}

/// Calls `emit` with each key of the document. A document without geometry has none. Returns whether there were
/// several.
pub(super) fn generate(
    document: &RawDocument,
    spec: &Spec,
    emit: &mut dyn FnMut(&Values<'_>, &Spec),
) -> Result<bool, ServerError> {
    let mut fields: Vec<Field<'_>> = Vec::new();
    let mut any = false;
    for (path, part) in spec.paths.iter().zip(&spec.parts) {
        let field = match part.geo {
            Some(Grid::Sphere) => Field::Cells(sphere(document, path, is_old(spec))?),
            Some(Grid::Plane(plane)) => Field::Hashes(hashes(document, path, &plane)?),
            None => Field::Values(values(document, path)?),
        };
        any |= part.geo.is_some() && !field.is_empty();
        fields.push(field);
    }
    if !any {
        return Ok(false);
    }
    let mut count = 0usize;
    product(&fields, &mut Values::new(), &mut |values| {
        count += 1;
        emit(values, spec);
    });
    Ok(count > 1)
}

/// The values of a document for one field of the index.
enum Field<'a> {
    Cells(Vec<i64>),
    Hashes(Vec<[u8; 8]>),
    Values(Vec<Option<RawBsonRef<'a>>>),
}

impl Field<'_> {
    fn is_empty(&self) -> bool {
        match self {
            Self::Cells(cells) => cells.is_empty(),
            Self::Hashes(hashes) => hashes.is_empty(),
            Self::Values(values) => values.is_empty(),
        }
    }
}

fn product<'a>(
    fields: &'a [Field<'a>],
    values: &mut Values<'a>,
    emit: &mut dyn FnMut(&Values<'a>),
) {
    let Some((field, rest)) = fields.split_first() else {
        emit(values);
        return;
    };
    let mut with = |value: Option<RawBsonRef<'a>>| {
        values.push(value);
        product(rest, values, emit);
        values.pop();
    };
    match field {
        field if field.is_empty() => with(None),
        Field::Cells(cells) => cells
            .iter()
            .for_each(|cell| with(Some(RawBsonRef::Int64(*cell)))),
        Field::Hashes(hashes) => hashes.iter().for_each(|hash| with(Some(hash_value(hash)))),
        Field::Values(values) => values.iter().for_each(|value| with(*value)),
    }
}

fn values<'a>(
    document: &'a RawDocument,
    path: &Path,
) -> Result<Vec<Option<RawBsonRef<'a>>>, ServerError> {
    let mut found: Vec<Option<RawBsonRef<'a>>> = Vec::new();
    keys::generate(document, std::slice::from_ref(path), &mut |values| {
        found.extend(values.first());
        Ok(())
    })?;
    Ok(found)
}

/// Whether the index has version 1, which accepts only points, lines and polygons.
fn is_old(spec: &Spec) -> bool {
    spec.document.get("2dsphereIndexVersion") == Some(&Bson::Int32(1))
}

fn sphere(document: &RawDocument, path: &Path, old: bool) -> Result<Vec<i64>, ServerError> {
    let name = path.as_str().rsplit('.').next().unwrap_or_default();
    let mut values = path.get_all(document);
    if values.len() > 1 {
        values.sort_by_cached_key(|value| key::of(*value, None));
        values.dedup_by_key(|value| key::of(*value, None));
    }
    // An empty geometry is accepted if it is the only value at the path.
    let may_be_empty = !old && values.len() == 1;
    let mut found = Vec::new();
    for value in values {
        let stored = Stored::indexed(name, value, may_be_empty, old).map_err(|fault| {
            ServerError::new(
                Code::location(16755),
                format!(
                    "Can't extract geo keys: {}  {fault}",
                    print::document(document)
                ),
            )
        })?;
        found.extend(stored.as_ref().map(cells).unwrap_or_default());
    }
    found.sort_unstable();
    found.dedup();
    Ok(found)
}

fn hashes(document: &RawDocument, path: &Path, plane: &Plane) -> Result<Vec<[u8; 8]>, ServerError> {
    let mut found = Vec::new();
    for (place, _) in places(document, path)? {
        if !plane.holds(place) {
            return Err(caused_by(13027, &plane.outside(), document));
        }
        found.push(plane.hash(place).to_be_bytes());
    }
    found.sort_unstable();
    found.dedup();
    Ok(found)
}

fn caused_by(code: i32, problem: &str, document: &RawDocument) -> ServerError {
    ServerError::new(
        Code::location(code),
        format!("{problem} :: caused by :: {}", print::document(document)),
    )
}

/// The legacy coordinates at a path, as a 2d index takes them, with their values: a pair, or an array of pairs.
pub(crate) fn places<'d>(
    document: &'d RawDocument,
    path: &Path,
) -> Result<Vec<(Flat, RawBsonRef<'d>)>, ServerError> {
    let mut found = Vec::new();
    let misplaced = || {
        ServerError::new(
            Code::location(16804),
            "location object expected, location array not in correct format",
        )
    };
    for value in path.get_all(document) {
        let Some(elements) = members(value) else {
            continue;
        };
        let Some((_, first)) = raw::elements(elements).next() else {
            continue;
        };
        if Number::from_raw(first).is_some() {
            found.push((place(elements, document)?, value));
            continue;
        }
        for (_, value) in raw::elements(elements) {
            let elements = members(value).ok_or_else(misplaced)?;
            if raw::elements(elements).next().is_some() {
                found.push((place(elements, document)?, value));
            }
        }
    }
    Ok(found)
}

fn members(value: RawBsonRef<'_>) -> Option<&RawDocument> {
    match value {
        RawBsonRef::Array(array) => Some(raw::array_document(array)),
        RawBsonRef::Document(document) => Some(document),
        _ => None,
    }
}

fn place(elements: &RawDocument, document: &RawDocument) -> Result<Flat, ServerError> {
    let mut numbers =
        raw::elements(elements).map(|(_, value)| Number::from_raw(value).map(Number::to_f64));
    let (x, y) = (numbers.next(), numbers.next());
    match (x, y) {
        (_, None) => Err(caused_by(13068, "geo field only has 1 element", document)),
        (Some(Some(x)), Some(Some(y))) => Ok(Flat { x, y }),
        _ => Err(caused_by(
            13026,
            "geo values must be 'legacy coordinate pairs' for 2d indexes",
            document,
        )),
    }
}
