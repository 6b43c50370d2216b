//! Points of the unit sphere, and exact predicates about their order.

use robust::{Coord, Coord3D, orient2d, orient3d};

/// A point of the unit sphere, or any vector.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct Vector {
    pub x: f64,
    pub y: f64,
    pub z: f64,
}

/// How two edges meet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Crossing {
    Apart,
    /// The edges have an end in common.
    Shared,
    /// The edges cross between their ends.
    Proper,
}

impl Vector {
    pub fn from_degrees(lng: f64, lat: f64) -> Self {
        let (lat, lng) = (lat.to_radians(), lng.to_radians());
        Self {
            x: lng.cos() * lat.cos(),
            y: lng.sin() * lat.cos(),
            z: lat.sin(),
        }
    }

    pub fn dot(self, other: Self) -> f64 {
        self.x * other.x + self.y * other.y + self.z * other.z
    }

    #[must_use]
    pub fn cross(self, other: Self) -> Self {
        Self {
            x: self.y * other.z - self.z * other.y,
            y: self.z * other.x - self.x * other.z,
            z: self.x * other.y - self.y * other.x,
        }
    }

    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            x: self.x + other.x,
            y: self.y + other.y,
            z: self.z + other.z,
        }
    }

    #[must_use]
    pub fn scaled(self, factor: f64) -> Self {
        Self {
            x: self.x * factor,
            y: self.y * factor,
            z: self.z * factor,
        }
    }

    pub fn length(self) -> f64 {
        self.dot(self).sqrt()
    }

    /// The vector of length one in the same direction; `None` for the zero vector.
    pub fn unit(self) -> Option<Self> {
        let length = self.length();
        (length > 0.0).then(|| self.scaled(1.0 / length))
    }

    /// The angle between two vectors, in radians.
    pub fn angle(self, other: Self) -> f64 {
        self.cross(other).length().atan2(self.dot(other))
    }

    /// The square of the straight distance.
    pub fn chord2(self, other: Self) -> f64 {
        let difference = self.plus(other.scaled(-1.0));
        difference.dot(difference)
    }

    /// A unit vector at a right angle.
    #[must_use]
    pub fn perpendicular(self) -> Self {
        let (x, y, z) = (self.x.abs(), self.y.abs(), self.z.abs());
        let off = |x, y, z| Self { x, y, z };
        // Not along an axis, so that the result does not fall on round coordinates.
        let other = if x > y && x > z {
            off(0.012, 0.0053, 1.0)
        } else if y > z {
            off(1.0, 0.0053, 0.00457)
        } else {
            off(0.012, 1.0, 0.00457)
        };
        self.cross(other).unit().unwrap_or(other)
    }

    fn coord(self) -> Coord3D<f64> {
        Coord3D {
            x: self.x,
            y: self.y,
            z: self.z,
        }
    }
}

const ORIGIN: Coord3D<f64> = Coord3D {
    x: 0.0,
    y: 0.0,
    z: 0.0,
};

fn sign_of(value: f64) -> i8 {
    i8::from(value > 0.0) - i8::from(value < 0.0)
}

/// The exact sign of `a * d - b * c`.
fn minor(a: f64, b: f64, c: f64, d: f64) -> i8 {
    sign_of(orient2d(
        Coord { x: a, y: b },
        Coord { x: c, y: d },
        Coord { x: 0.0, y: 0.0 },
    ))
}

/// 1 if the three points turn left, -1 if they turn right, 0 only if two of them are equal. Points on one great circle
/// are treated as if each were moved by its own infinitesimal (simulation of simplicity), so that answers about
/// different triples never contradict each other.
pub fn turn(a: Vector, b: Vector, c: Vector) -> i8 {
    if a == b || b == c || a == c {
        return 0;
    }
    match sign_of(orient3d(a.coord(), b.coord(), c.coord(), ORIGIN)) {
        0 => degenerate(a, b, c),
        sign => sign,
    }
}

fn degenerate(a: Vector, b: Vector, c: Vector) -> i8 {
    let mut points = [a, b, c];
    let mut parity = 1;
    for (one, other) in [(0, 1), (1, 2), (0, 1)] {
        if points.get(one) > points.get(other) {
            points.swap(one, other);
            parity = -parity;
        }
    }
    let [a, b, c] = points;
    let order = [
        minor(b.x, b.y, c.x, c.y),
        minor(b.z, b.x, c.z, c.x),
        minor(b.y, b.z, c.y, c.z),
        minor(c.x, c.y, a.x, a.y),
        sign_of(c.x),
        -sign_of(c.y),
        minor(c.z, c.x, a.z, a.x),
        sign_of(c.z),
        minor(a.x, a.y, b.x, b.y),
        -sign_of(b.x),
        sign_of(b.y),
        sign_of(a.x),
    ];
    let sign = order.into_iter().find(|sign| *sign != 0).unwrap_or(1);
    sign * parity
}

/// Whether `a`, `b` and `c` follow one another in this order when turning left around `center`. `a` and `b`, or `b` and
/// `c`, may be equal.
pub fn ordered(a: Vector, b: Vector, c: Vector, center: Vector) -> bool {
    let turns = u8::from(turn(b, center, a) >= 0)
        + u8::from(turn(c, center, b) >= 0)
        + u8::from(turn(a, center, c) > 0);
    turns >= 2
}

/// How the edges `ab` and `cd` meet.
pub fn crossing(a: Vector, b: Vector, c: Vector, d: Vector) -> Crossing {
    if a == c || a == d || b == c || b == d {
        return Crossing::Shared;
    }
    let first = -turn(a, b, c);
    let same =
        first != 0 && turn(a, b, d) == first && -turn(c, d, b) == first && turn(c, d, a) == first;
    if same {
        Crossing::Proper
    } else {
        Crossing::Apart
    }
}

/// Whether the edges cross. For edges with a common end, the answer is chosen such that counting crossings still
/// decides whether a point is inside a loop.
pub fn crosses_once(a: Vector, b: Vector, c: Vector, d: Vector) -> bool {
    match crossing(a, b, c, d) {
        Crossing::Apart => false,
        Crossing::Proper => true,
        Crossing::Shared => {
            if a == b || c == d {
                false
            } else if a == d {
                ordered(a.perpendicular(), c, b, a)
            } else if b == c {
                ordered(b.perpendicular(), d, a, b)
            } else if a == c {
                ordered(a.perpendicular(), d, b, a)
            } else {
                ordered(b.perpendicular(), c, a, b)
            }
        }
    }
}

/// The angle from a point to an edge.
pub fn distance(point: Vector, a: Vector, b: Vector) -> f64 {
    if let Some(normal) = a.cross(b).unit()
        && normal.cross(a).dot(point) > 0.0
        && b.cross(normal).dot(point) > 0.0
    {
        return point.dot(normal).abs().min(1.0).asin();
    }
    let chord2 = point.chord2(a).min(point.chord2(b));
    2.0 * (0.5 * chord2.sqrt()).min(1.0).asin()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orientation_is_consistent_for_cocircular_points() {
        let point = |lng| Vector::from_degrees(lng, 0.0);
        let (a, b, c) = (point(1.0), point(2.0), point(3.0));
        let sign = turn(a, b, c);
        assert_ne!(sign, 0);
        assert_eq!(turn(b, c, a), sign);
        assert_eq!(turn(c, b, a), -sign);
    }

    #[test]
    fn distance_to_an_edge_is_to_its_nearest_point() {
        let (a, b) = (
            Vector::from_degrees(0.0, 0.0),
            Vector::from_degrees(10.0, 0.0),
        );
        let beside = distance(Vector::from_degrees(5.0, 1.0), a, b).to_degrees();
        let behind = distance(Vector::from_degrees(12.0, 0.0), a, b).to_degrees();
        assert!((beside - 1.0).abs() < 1e-12, "{beside}");
        assert!((behind - 2.0).abs() < 1e-12, "{behind}");
    }
}
