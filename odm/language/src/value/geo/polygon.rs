//! Polygons on the sphere: loops whose inside lies to the left of their edges.

use crate::value::geo::vector::distance;
use crate::value::geo::vector::{Crossing, Vector, crosses_once, crossing, ordered, turn};

/// A reference point that no document's coordinates hit. A point is inside a loop or not by how often the edge from
/// here to the point crosses the loop.
const FAR: Vector = Vector {
    x: -0.009_994_665_704_540_8,
    y: 0.002_592_454_260_932_4,
    z: 0.999_946_692_523_684_1,
};

#[derive(Debug, Clone, PartialEq)]
pub struct Loop {
    vertices: Vec<Vector>,
    far_inside: bool,
}

/// The reason why a loop is invalid.
#[derive(Debug, Clone, PartialEq)]
pub enum Fault {
    Duplicate(usize, usize),
    Cross(usize, usize),
}

impl Loop {
    /// A loop of at least three vertices, without a closing one. The inside lies to the left of the edges.
    pub fn new(vertices: Vec<Vector>) -> Self {
        let mut it = Self {
            vertices,
            far_inside: false,
        };
        if let [first, second, third, ..] = it.vertices.as_slice() {
            let (first, second, third) = (*first, *second, *third);
            let inside = ordered(second.perpendicular(), first, third, second);
            it.far_inside = inside != it.contains(second);
        }
        it
    }

    /// The loop whose inside is the smaller side.
    pub fn normalized(self) -> Self {
        let full = 4.0 * std::f64::consts::PI;
        if self.signed_area().rem_euclid(full) > full / 2.0 {
            self.reversed()
        } else {
            self
        }
    }

    pub fn reversed(mut self) -> Self {
        self.vertices.reverse();
        Self::new(self.vertices)
    }

    fn signed_area(&self) -> f64 {
        let Some(first) = self.vertices.first() else {
            return 0.0;
        };
        self.edges()
            .map(|(b, c)| {
                let volume = first.dot(b.cross(c));
                2.0 * volume.atan2(1.0 + first.dot(b) + b.dot(c) + c.dot(*first))
            })
            .sum()
    }

    pub fn vertices(&self) -> &[Vector] {
        &self.vertices
    }

    pub fn edges(&self) -> impl Iterator<Item = (Vector, Vector)> + '_ {
        let next = self.vertices.iter().cycle().skip(1);
        self.vertices.iter().copied().zip(next.copied())
    }

    pub fn contains(&self, point: Vector) -> bool {
        self.edges().fold(self.far_inside, |inside, (a, b)| {
            inside != crosses_once(FAR, point, a, b)
        })
    }

    /// Each vertex between the one before and the one after it.
    fn corners(&self) -> impl Iterator<Item = (Vector, Vector, Vector)> + '_ {
        let count = self.vertices.len();
        let before = self.vertices.iter().cycle().skip(count.saturating_sub(1));
        let after = self.vertices.iter().cycle().skip(1);
        before
            .zip(&self.vertices)
            .zip(after)
            .map(|((before, at), after)| (*before, *at, *after))
    }

    /// The first fault: a duplicate vertex or, without duplicates, two edges that cross.
    pub fn fault(&self) -> Option<Fault> {
        let mut order: Vec<usize> = (0..self.vertices.len()).collect();
        let at = |index: &usize| self.vertices.get(*index).copied();
        order.sort_by(|one, other| {
            at(one)
                .partial_cmp(&at(other))
                .unwrap_or(std::cmp::Ordering::Equal)
        });
        let duplicate = order
            .windows(2)
            .filter_map(|pair| match pair {
                [one, other] if at(one) == at(other) => Some((*one.min(other), *one.max(other))),
                _ => None,
            })
            .min_by_key(|(_, second)| *second);
        if let Some((one, other)) = duplicate {
            return Some(Fault::Duplicate(one, other));
        }
        let edges: Vec<_> = self.edges().collect();
        first_crossing(&edges).map(|(one, other)| Fault::Cross(one, other))
    }
}

/// The extent of an edge along one axis: the extent of its ends, widened by how far the arc bends away from the chord.
fn extent(a: f64, b: f64, bend: f64) -> (f64, f64) {
    (a.min(b) - bend, a.max(b) + bend)
}

/// The first two edges of a loop that cross. Sweeps along one axis, to avoid comparing all pairs of edges of a large
/// loop.
fn first_crossing(edges: &[(Vector, Vector)]) -> Option<(usize, usize)> {
    let boxed = |(a, b): &(Vector, Vector)| {
        let bend = 1.0 - (1.0 - a.chord2(*b) / 4.0).max(0.0).sqrt() + 1e-15;
        (
            extent(a.x, b.x, bend),
            extent(a.y, b.y, bend),
            extent(a.z, b.z, bend),
        )
    };
    let mut sorted: Vec<_> = edges.iter().map(boxed).zip(edges).enumerate().collect();
    sorted.sort_by(|one, other| one.1.0.0.0.total_cmp(&other.1.0.0.0));
    let meet = |one: (f64, f64), other: (f64, f64)| one.0 <= other.1 && other.0 <= one.1;
    let mut active: Vec<(usize, _)> = Vec::new();
    let mut found: Option<(usize, usize)> = None;
    for (index, ((x, y, z), edge)) in sorted {
        active.retain(
            |(_, ((other, _, _), _)): &(usize, (_, &(Vector, Vector)))| {
                let other: &(f64, f64) = other;
                other.1 >= x.0
            },
        );
        for (other_index, ((_, other_y, other_z), other)) in &active {
            if meet(y, *other_y)
                && meet(z, *other_z)
                && crossing(edge.0, edge.1, other.0, other.1) == Crossing::Proper
            {
                let pair = (index.min(*other_index), index.max(*other_index));
                if found.is_none_or(|found| pair < found) {
                    found = Some(pair);
                }
            }
        }
        active.push((index, ((x, y, z), edge)));
    }
    found
}

/// The intersection of the insides of its loops: the shell and the reversed holes.
#[derive(Debug, Clone, PartialEq)]
pub struct Polygon {
    loops: Vec<Loop>,
    /// The center and the squared chord of a cap that contains the polygon; `None` for strict polygons and for polygons
    /// of about a hemisphere or more.
    bound: Option<(Vector, f64)>,
    /// Whether the shell keeps its winding. A line that only touches the border of such a polygon meets it.
    strict: bool,
}

impl Polygon {
    /// `holes` are loops whose inside is the hole. `strict` keeps the shell's winding, however large its inside.
    pub fn new(shell: Loop, holes: Vec<Loop>, strict: bool) -> Self {
        let bound = if strict {
            None
        } else {
            bound(shell.vertices())
        };
        let holes = holes.into_iter().map(Loop::reversed);
        Self {
            loops: std::iter::once(shell).chain(holes).collect(),
            bound,
            strict,
        }
    }

    pub fn edges(&self) -> impl Iterator<Item = (Vector, Vector)> + '_ {
        self.loops.iter().flat_map(Loop::edges)
    }

    fn vertices(&self) -> impl Iterator<Item = Vector> + '_ {
        self.loops.iter().flat_map(|it| it.vertices.iter().copied())
    }

    pub fn contains(&self, point: Vector) -> bool {
        let near = self
            .bound
            .is_none_or(|(center, chord2)| center.chord2(point) <= chord2);
        near && self.loops.iter().all(|it| it.contains(point))
    }

    /// Whether a point may lie in the polygon or within `angle` of an edge.
    pub fn may_touch(&self, point: Vector, angle: f64) -> bool {
        self.bound
            .is_none_or(|(center, chord2)| center.chord2(point).sqrt() <= chord2.sqrt() + angle)
    }

    /// The angle to the nearest edge.
    pub fn to_edge(&self, point: Vector) -> f64 {
        self.edges()
            .map(|(a, b)| distance(point, a, b))
            .fold(f64::INFINITY, f64::min)
    }

    fn may_meet(&self, other: &Self) -> bool {
        match (self.bound, other.bound) {
            (Some((one, chord2)), Some((two, other_chord2))) => {
                one.chord2(two).sqrt() <= chord2.sqrt() + other_chord2.sqrt() + 1e-9
            }
            _ => true,
        }
    }

    fn crosses(&self, other: &Self) -> bool {
        self.edges().any(|(a, b)| {
            other
                .edges()
                .any(|(c, d)| crossing(a, b, c, d) == Crossing::Proper)
        })
    }

    /// Pairs of corners at common vertices.
    fn common_corners<'a>(
        &'a self,
        other: &'a Self,
    ) -> impl Iterator<Item = (Corner, Corner)> + 'a {
        let corners = |it: &'a Self| it.loops.iter().flat_map(Loop::corners).map(Corner::from);
        corners(self).flat_map(move |one| {
            corners(other)
                .filter(move |two| two.at == one.at)
                .map(move |two| (one, two))
        })
    }

    fn has_vertex(&self, point: Vector) -> bool {
        self.vertices().any(|vertex| vertex == point)
    }

    /// Whether the other polygon lies within this one; common edges don't matter.
    pub fn contains_polygon(&self, other: &Self) -> bool {
        self.may_meet(other)
            && !self.crosses(other)
            && self
                .common_corners(other)
                .all(|(one, two)| one.contains(two))
            && other
                .vertices()
                .all(|vertex| self.has_vertex(vertex) || self.contains(vertex))
            && !self
                .vertices()
                .any(|vertex| !other.has_vertex(vertex) && other.contains(vertex))
    }

    /// Whether the insides have a point in common; common edges alone don't count.
    pub fn meets_polygon(&self, other: &Self) -> bool {
        self.may_meet(other)
            && (self.crosses(other)
                || self.common_corners(other).any(|(one, two)| one.meets(two))
                || other
                    .vertices()
                    .any(|vertex| !self.has_vertex(vertex) && self.contains(vertex))
                || self
                    .vertices()
                    .any(|vertex| !other.has_vertex(vertex) && other.contains(vertex)))
    }

    /// Whether an edge leads from a vertex of this polygon to its inside; `None` if `from` is not a vertex.
    fn starts_inside(&self, from: Vector, to: Vector) -> Option<bool> {
        let mut corners = self
            .loops
            .iter()
            .flat_map(Loop::corners)
            .map(Corner::from)
            .filter(|corner| corner.at == from)
            .peekable();
        corners.peek()?;
        Some(corners.all(|corner| corner.holds(to)))
    }

    fn has_edge(&self, from: Vector, to: Vector) -> bool {
        self.edges()
            .any(|(a, b)| (a == from && b == to) || (a == to && b == from))
    }

    fn crosses_line(&self, line: &[Vector]) -> bool {
        segments(line).any(|(a, b)| {
            self.edges()
                .any(|(c, d)| crossing(a, b, c, d) == Crossing::Proper)
        })
    }

    /// Whether the line crosses an edge of the polygon or shares a vertex with it.
    fn touches_line(&self, line: &[Vector]) -> bool {
        segments(line).any(|(a, b)| {
            self.edges()
                .any(|(c, d)| crossing(a, b, c, d) != Crossing::Apart)
        })
    }

    fn end_inside(&self, from: Vector, to: Vector) -> bool {
        self.starts_inside(from, to)
            .unwrap_or_else(|| self.contains(from))
    }

    /// Whether a line lies within.
    pub fn contains_line(&self, line: &[Vector]) -> bool {
        !self.crosses_line(line)
            && segments(line).all(|(a, b)| {
                self.has_edge(a, b) || (self.end_inside(a, b) && self.end_inside(b, a))
            })
    }

    /// Whether a line has a point within.
    pub fn meets_line(&self, line: &[Vector]) -> bool {
        self.crosses_line(line)
            || self.strict && self.touches_line(line)
            || segments(line)
                .any(|(a, b)| self.has_edge(a, b) || self.end_inside(a, b) || self.end_inside(b, a))
    }
}

pub(super) fn segments(line: &[Vector]) -> impl Iterator<Item = (Vector, Vector)> + '_ {
    line.iter().copied().zip(line.iter().copied().skip(1))
}

/// The center and the squared chord of a cap that contains the points and the edges between them; `None` if the cap
/// would not be smaller than a hemisphere.
fn bound(vertices: &[Vector]) -> Option<(Vector, f64)> {
    let sum = vertices.iter().fold(
        Vector {
            x: 0.0,
            y: 0.0,
            z: 0.0,
        },
        |sum, vertex| sum.plus(*vertex),
    );
    let center = sum.unit()?;
    let chord2 = vertices
        .iter()
        .map(|vertex| center.chord2(*vertex))
        .fold(0.0, f64::max);
    (chord2 < 1.9).then_some((center, chord2 + 1e-12))
}

/// A vertex with its neighbours.
#[derive(Debug, Clone, Copy)]
struct Corner {
    before: Vector,
    at: Vector,
    after: Vector,
}

impl From<(Vector, Vector, Vector)> for Corner {
    fn from((before, at, after): (Vector, Vector, Vector)) -> Self {
        Self { before, at, after }
    }
}

impl Corner {
    /// Whether the inside of the other corner, at the same vertex, lies within the inside of this one.
    fn contains(self, other: Self) -> bool {
        ordered(self.after, other.after, other.before, self.at)
            && ordered(other.before, self.before, self.after, self.at)
    }

    fn meets(self, other: Self) -> bool {
        // The corners do not meet if, going around the vertex, one ends before the other begins.
        !(ordered(self.after, self.before, other.after, self.at)
            && ordered(other.after, other.before, self.after, self.at))
    }

    /// Whether the direction to a point leads inside.
    fn holds(self, to: Vector) -> bool {
        if to == self.after || to == self.before {
            return false;
        }
        ordered(self.after, to, self.before, self.at) && turn(self.at, to, self.after) != 0
    }
}
