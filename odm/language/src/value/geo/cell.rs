//! Cells of the sphere: the six faces of a cube around it, each halved in both directions thirty times, numbered along
//! a Hilbert curve. The cells and their numbers are those of S2, because mongod shows the numbers in duplicate key
//! errors.

use crate::value::geo::vector::{Crossing, Vector, crossing, distance};

/// The deepest level, with cells of about a centimetre.
const LEAF: u32 = 30;

/// A cell by its number: three bits for the face, two for each level, then a one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cell(u64);

/// `PLACE[orientation][quarter]` is the place of a quarter on the curve; a quarter is its bit of `i`, then its bit of
/// `j`. `QUARTER[orientation][place]` is the inverse.
const PLACE: [[u64; 4]; 4] = [[0, 1, 3, 2], [0, 3, 1, 2], [2, 3, 1, 0], [2, 1, 3, 0]];
const QUARTER: [[u64; 4]; 4] = [[0, 1, 3, 2], [0, 2, 3, 1], [3, 2, 0, 1], [3, 1, 0, 2]];
/// By the place of a quarter, the bits of the orientation that change inside it.
const TURN: [u64; 4] = [1, 0, 0, 3];

fn look<T: Copy + Default>(table: &[T], at: u64) -> T {
    usize::try_from(at)
        .ok()
        .and_then(|at| table.get(at).copied())
        .unwrap_or_default()
}

impl Cell {
    pub fn id(self) -> i64 {
        self.0.cast_signed()
    }

    /// The leaf that holds a point.
    pub fn of(point: Vector) -> Self {
        let (face, u, v) = to_face(point);
        let (i, j) = (to_grid(u), to_grid(v));
        let mut orientation = face & 1;
        let mut id = 0;
        for level in (0..LEAF).rev() {
            let quarter = (i >> level & 1) << 1 | (j >> level & 1);
            let place = look(&look(&PLACE, orientation), quarter);
            id = id << 2 | place;
            orientation ^= look(&TURN, place);
        }
        Self(face << 61 | id << 1 | 1)
    }

    fn lowest(self) -> u64 {
        self.0 & self.0.wrapping_neg()
    }

    fn level(self) -> u32 {
        LEAF - self.0.trailing_zeros().min(2 * LEAF) / 2
    }

    /// The face and the range of both coordinates on it.
    fn square(self) -> (u64, [f64; 2], [f64; 2]) {
        let face = self.0 >> 61;
        let mut orientation = face & 1;
        let (mut i, mut j) = (0u32, 0u32);
        let level = self.level();
        for depth in 0..level {
            let place = self.0 >> (2 * (LEAF - 1 - depth) + 1) & 3;
            let quarter = look(&look(&QUARTER, orientation), place);
            i = i << 1 | u32::from(quarter & 2 != 0);
            j = j << 1 | u32::from(quarter & 1 != 0);
            orientation ^= look(&TURN, place);
        }
        let size = f64::from(1u32 << level);
        let range = |at: u32| {
            [
                from_unit(f64::from(at) / size),
                from_unit((f64::from(at) + 1.0) / size),
            ]
        };
        (face, range(i), range(j))
    }

    fn corners(self) -> [Vector; 4] {
        let (face, [u0, u1], [v0, v1]) = self.square();
        [(u0, v0), (u1, v0), (u1, v1), (u0, v1)].map(|(u, v)| {
            let vector = from_face(face, u, v);
            vector.unit().unwrap_or(vector)
        })
    }

    /// Whether a point lies within, or on the border.
    fn holds(self, point: Vector) -> bool {
        let (face, us, vs) = self.square();
        let (own, u, v) = to_face(point);
        let within = |[low, high]: [f64; 2], at: f64| low <= at && at <= high;
        face == own && within(us, u) && within(vs, v)
    }

    /// Whether the edge has a point in this leaf.
    pub fn touches(self, a: Vector, b: Vector) -> bool {
        if Self::of(a) == self || Self::of(b) == self {
            return true;
        }
        self.edges()
            .into_iter()
            .any(|(c, d)| crossing(a, b, c, d) != Crossing::Apart)
    }

    fn edges(self) -> [(Vector, Vector); 4] {
        let [one, two, three, four] = self.corners();
        [(one, two), (two, three), (three, four), (four, one)]
    }

    /// Whether a cap reaches the cell. A cap without extent reaches only the cells that contain its center.
    pub fn is_reached(self, center: Vector, radius: f64, has_extent: bool) -> bool {
        let mut edges = self.edges().into_iter();
        self.holds(center) || has_extent && edges.any(|(a, b)| distance(center, a, b) <= radius)
    }
}

/// The position of a cap around a cell relative to a region.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Relation {
    Outside,
    Partly,
    Inside,
}

impl Cell {
    fn faces() -> impl Iterator<Item = Self> {
        (0..6).map(|face| Self(face << 61 | 1 << 60))
    }

    /// The smallest and the largest number of the cells within this one.
    pub fn range(self) -> (i64, i64) {
        let rest = self.lowest() - 1;
        ((self.0 - rest).cast_signed(), (self.0 + rest).cast_signed())
    }

    /// The cells that contain this one, smallest first.
    pub fn ancestors(self) -> impl Iterator<Item = Self> {
        let start = self.lowest().trailing_zeros();
        (start + 2..=2 * LEAF).step_by(2).map(move |zeros| {
            let lowest = 1u64 << zeros;
            Self(self.0 & lowest.wrapping_neg() | lowest)
        })
    }

    fn children(self) -> impl Iterator<Item = Self> {
        let lowest = self.lowest();
        let small = lowest >> 2;
        (0..4).map(move |place| Self(self.0 - lowest + small + 2 * small * place))
    }

    /// A cap around the cell: its center and radius.
    fn cap(self) -> (Vector, f64) {
        let corners = self.corners();
        let sum = corners.iter().fold(
            Vector {
                x: 0.0,
                y: 0.0,
                z: 0.0,
            },
            |sum, corner| sum.plus(*corner),
        );
        let center = sum.unit().unwrap_or(sum);
        let radius = corners
            .iter()
            .map(|corner| center.angle(*corner))
            .fold(0.0, f64::max);
        (center, radius)
    }

    /// At most about `most` cells that together cover a region. `relation` returns the position of a cap relative to
    /// the region.
    pub fn cover(most: usize, relation: &dyn Fn(Vector, f64) -> Relation) -> Vec<Self> {
        let mut whole = Vec::new();
        let mut queue = std::collections::VecDeque::new();
        let mut sort = |cell: Self, queue: &mut std::collections::VecDeque<Self>| {
            let (center, radius) = cell.cap();
            match relation(center, radius) {
                Relation::Outside => {}
                Relation::Inside => whole.push(cell),
                Relation::Partly if cell.level() >= LEAF => whole.push(cell),
                Relation::Partly => queue.push_back(cell),
            }
            whole.len()
        };
        let mut count = 0;
        for face in Self::faces() {
            count = sort(face, &mut queue);
        }
        while count + queue.len() + 3 <= most {
            let Some(cell) = queue.pop_front() else {
                break;
            };
            for child in cell.children() {
                count = sort(child, &mut queue);
            }
        }
        whole.extend(queue);
        whole.sort_unstable();
        whole
    }
}

fn to_face(point: Vector) -> (u64, f64, f64) {
    let Vector { x, y, z } = point;
    let (ax, ay, az) = (x.abs(), y.abs(), z.abs());
    if ax > ay && ax > az {
        if x < 0.0 {
            (3, z / x, y / x)
        } else {
            (0, y / x, z / x)
        }
    } else if ay > az {
        if y < 0.0 {
            (4, z / y, -x / y)
        } else {
            (1, -x / y, z / y)
        }
    } else if z < 0.0 {
        (5, -y / z, -x / z)
    } else {
        (2, -x / z, -y / z)
    }
}

fn from_face(face: u64, u: f64, v: f64) -> Vector {
    let at = |x, y, z| Vector { x, y, z };
    match face {
        0 => at(1.0, u, v),
        1 => at(-u, 1.0, v),
        2 => at(-u, -v, 1.0),
        3 => at(-1.0, -v, -u),
        4 => at(v, -1.0, -u),
        _ => at(v, u, -1.0),
    }
}

/// Converts a coordinate on a face to the number of its column or row. The quadratic makes the cells similar in size.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "`as` saturates, and the grid ends there"
)]
fn to_grid(u: f64) -> u64 {
    let unit = if u >= 0.0 {
        0.5 * (1.0 + 3.0 * u).sqrt()
    } else {
        1.0 - 0.5 * (1.0 - 3.0 * u).sqrt()
    };
    let cells = f64::from(1u32 << LEAF);
    ((unit * cells).floor() as u64).min((1 << LEAF) - 1)
}

fn from_unit(unit: f64) -> f64 {
    if unit >= 0.5 {
        (4.0 * unit * unit - 1.0) / 3.0
    } else {
        (1.0 - 4.0 * (1.0 - unit) * (1.0 - unit)) / 3.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cell_ids_agree_with_mongod() {
        let cell = Cell::of(Vector::from_degrees(1.0, 1.0));
        assert_eq!(cell.id(), 1_153_277_837_650_709_461);
    }

    #[test]
    fn leaf_cells_contain_their_point_and_lie_in_their_ancestors() {
        for (lng, lat) in [
            (1.0, 1.0),
            (-170.0, -80.0),
            (100.0, 45.0),
            (0.0, 90.0),
            (-100.0, 10.0),
        ] {
            let point = Vector::from_degrees(lng, lat);
            let cell = Cell::of(point);
            let (center, radius) = cell.cap();
            assert!(center.angle(point) <= radius + 1e-15, "{lng} {lat}");
            assert_eq!(cell.ancestors().count(), 30);
            for ancestor in cell.ancestors() {
                let (low, high) = ancestor.range();
                assert!(low <= cell.id() && cell.id() <= high);
                let (center, radius) = ancestor.cap();
                assert!(center.angle(point) <= radius + 1e-15);
                assert!(
                    ancestor
                        .children()
                        .any(|child| child.range().0 <= cell.id() && cell.id() <= child.range().1)
                );
            }
        }
    }
}
