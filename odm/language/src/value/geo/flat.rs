//! The plane of legacy coordinates: boxes, polygons and circles.

/// A pair of legacy coordinates.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Flat {
    pub x: f64,
    pub y: f64,
}

impl Flat {
    /// Whether the pair is a longitude and a latitude.
    pub fn is_on_sphere(self) -> bool {
        self.x.abs() <= 180.0 && self.y.abs() <= 90.0
    }

    pub fn distance(self, other: Self) -> f64 {
        let (x, y) = (self.x - other.x, self.y - other.y);
        (x * x + y * y).sqrt()
    }

    /// Whether the other is at most `radius` away. Along an axis the radius is added to a coordinate, as MongoDB does,
    /// so that `52.0001` is within `0.0001` of `52` although their difference is slightly more.
    #[expect(
        clippy::float_cmp,
        reason = "two points are on a line along an axis if a coordinate is the same"
    )]
    pub fn is_within(self, radius: f64, other: Self) -> bool {
        let reaches = |one: f64, other: f64| one.min(other) + radius >= one.max(other);
        if self.x == other.x {
            reaches(self.y, other.y)
        } else if self.y == other.y {
            reaches(self.x, other.x)
        } else {
            self.distance(other) <= radius
        }
    }
}

/// A rectangle: its least and its greatest corner.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rect {
    pub min: Flat,
    pub max: Flat,
}

impl Rect {
    pub fn new(one: Flat, other: Flat) -> Self {
        Self {
            min: Flat {
                x: one.x.min(other.x),
                y: one.y.min(other.y),
            },
            max: Flat {
                x: one.x.max(other.x),
                y: one.y.max(other.y),
            },
        }
    }

    pub fn contains(&self, point: Flat) -> bool {
        self.min.x <= point.x
            && point.x <= self.max.x
            && self.min.y <= point.y
            && point.y <= self.max.y
    }

    /// The rectangle around points.
    pub fn around(points: &[Flat]) -> Option<Self> {
        let (first, rest) = points.split_first()?;
        let start = Self::new(*first, *first);
        Some(rest.iter().fold(start, |rect, point| Self {
            min: Self::new(rect.min, *point).min,
            max: Self::new(rect.max, *point).max,
        }))
    }

    pub fn meets(&self, other: &Self) -> bool {
        self.min.x <= other.max.x
            && other.min.x <= self.max.x
            && self.min.y <= other.max.y
            && other.min.y <= self.max.y
    }

    pub fn holds(&self, other: &Self) -> bool {
        self.contains(other.min) && self.contains(other.max)
    }
}

/// Whether a point lies in a polygon. The last vertex is connected to the first.
///
/// As in MongoDB, the polygon includes its vertices and its axis-parallel edges. A point on a slanted edge belongs to
/// it only if the inside lies to the left of the point.
#[expect(
    clippy::float_cmp,
    reason = "a coordinate is on an axis-parallel edge if it is the edge's own"
)]
pub fn polygon_contains(vertices: &[Flat], point: Flat) -> bool {
    let next = vertices.iter().cycle().skip(1);
    let mut inside = false;
    for (a, b) in vertices.iter().zip(next) {
        let upright = a.x == b.x || a.y == b.y;
        if *a == point || (upright && Rect::new(*a, *b).contains(point)) {
            return true;
        }
        if point.y > a.y.min(b.y) && point.y <= a.y.max(b.y) {
            let x = (point.y - a.y) * (b.x - a.x) / (b.y - a.y) + a.x;
            inside ^= point.x <= x;
        }
    }
    inside
}
