//! Places boxes in layers from left to right, and leads lines between them.
//!
//! Each group of connected boxes is placed alone: [`layers`] chooses the layer of each box, [`net`] the places where lines pass
//! layers on their way, [`order`] the order in each layer, [`tops`] the heights and [`routes`] the lines. The groups then stand on
//! shelves. All numbers are whole pixels, so that the same models have the same diagram on each machine.
//!
//! A label stands above the line that begins at the right side of a box, within the height of the box. Lines bend only
//! behind all labels of their layer. So no label meets a box, a line or another label.

mod each;
mod layers;
mod net;
mod order;
mod routes;
mod tops;

use self::each::Each;
use self::net::Net;

/// The space around the diagram.
const MARGIN: i32 = 12;
/// The width of a page, which several groups on one shelf do not exceed.
const PAGE: i32 = 1_150;
/// The space between groups.
const GROUP_GAP: i32 = 36;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Size {
    pub(super) width: i32,
    pub(super) height: i32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Point {
    pub(super) x: i32,
    pub(super) y: i32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Rect {
    pub(super) left: i32,
    pub(super) top: i32,
    pub(super) width: i32,
    pub(super) height: i32,
}

/// The boxes and lines to place.
#[derive(Debug, Clone, Default)]
pub(super) struct Graph {
    /// The smallest size of each box.
    pub(super) boxes: Vec<Size>,
    pub(super) lines: Vec<Line>,
}

/// A line between two boxes, which are named by their numbers.
#[derive(Debug, Clone, Copy)]
pub(super) struct Line {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) label: Size,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Layout {
    pub(super) size: Size,
    /// In the order of the graph's boxes.
    pub(super) boxes: Vec<Rect>,
    /// In the order of the graph's lines.
    pub(super) routes: Vec<Route>,
}

/// The course of a line.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Route {
    /// The ends of level stretches, from the right side of a box to the left side of another, or back to the same side.
    /// Curves lead from one stretch to the next.
    pub(super) points: Vec<Point>,
    /// Whether the course begins at the box that the line leads to.
    pub(super) is_turned: bool,
    /// Whether it ends at the right side of its box.
    pub(super) is_loop: bool,
    pub(super) label: Rect,
}

pub(super) fn layout(graph: &Graph) -> Layout {
    let mut groups: Vec<_> = groups(graph)
        .iter()
        .map(|group| place(graph, group))
        .collect();
    // High groups first: they fill the shelves better. Boxes without lines come last.
    groups.sort_by_key(|group| (group.routes.is_empty(), -group.size.height));
    let (corners, size) = shelves(&groups);
    let mut layout = Layout {
        size,
        boxes: vec![Rect::default(); graph.boxes.len()],
        routes: vec![Route::default(); graph.lines.len()],
    };
    for (group, corner) in groups.into_iter().zip(corners) {
        for (number, rect) in group.boxes {
            if let Some(place) = layout.boxes.get_mut(number) {
                *place = rect.moved(corner);
            }
        }
        for (number, route) in group.routes {
            if let Some(place) = layout.routes.get_mut(number) {
                *place = route.moved(corner);
            }
        }
    }
    layout
}

/// The numbers of connected boxes and of their lines.
#[derive(Debug, Default)]
struct Group {
    boxes: Vec<usize>,
    lines: Vec<usize>,
}

fn groups(graph: &Graph) -> Vec<Group> {
    let mut neighbours = Each::new(graph.boxes.len(), Vec::new());
    for line in &graph.lines {
        neighbours[line.from].push(line.to);
        neighbours[line.to].push(line.from);
    }
    let mut group_of = Each::new(graph.boxes.len(), None);
    let mut groups: Vec<Group> = Vec::new();
    for first in 0..graph.boxes.len() {
        if group_of[first].is_some() {
            continue;
        }
        let mut group = Group::default();
        let mut open = vec![first];
        while let Some(one) = open.pop() {
            if group_of[one].is_none() {
                group_of[one] = Some(groups.len());
                group.boxes.push(one);
                open.extend(&neighbours[one]);
            }
        }
        group.boxes.sort_unstable();
        groups.push(group);
    }
    for (number, line) in graph.lines.iter().enumerate() {
        if let Some(group) = group_of[line.from].and_then(|group| groups.get_mut(group)) {
            group.lines.push(number);
        }
    }
    groups
}

/// A group whose corner is at 0, 0. Its boxes and routes have the numbers of the graph.
#[derive(Debug, Default)]
struct Placed {
    size: Size,
    boxes: Vec<(usize, Rect)>,
    routes: Vec<(usize, Route)>,
}

fn place(graph: &Graph, group: &Group) -> Placed {
    let mut local = Each::new(graph.boxes.len(), 0);
    for (position, one) in group.boxes.iter().enumerate() {
        local[*one] = position;
    }
    let sizes = group.boxes.iter().filter_map(|one| graph.boxes.get(*one));
    let lines = group.lines.iter().filter_map(|one| graph.lines.get(*one));
    let lines = lines.map(|line| Line {
        from: local[line.from],
        to: local[line.to],
        label: line.label,
    });
    let mut net = Net::new(sizes.copied().collect(), lines.collect());
    order::arrange(&mut net);
    let routed = routes::route(&net);
    Placed {
        size: routed.size,
        boxes: group.boxes.iter().copied().zip(routed.boxes).collect(),
        routes: group.lines.iter().copied().zip(routed.routes).collect(),
    }
}

/// The corners of the groups, and the size of the diagram.
fn shelves(groups: &[Placed]) -> (Vec<Point>, Size) {
    let area: i64 = groups
        .iter()
        .map(|group| {
            i64::from(group.size.width + GROUP_GAP) * i64::from(group.size.height + GROUP_GAP)
        })
        .sum();
    let square = i32::try_from((area * 3 / 2).isqrt()).unwrap_or(i32::MAX);
    let widest = groups.iter().map(|group| group.size.width).max();
    let limit = square.min(PAGE).max(widest.unwrap_or_default());
    let (mut corners, mut size) = (Vec::new(), Size::default());
    let (mut x, mut y, mut height) = (0, 0, 0);
    for group in groups {
        if x > 0 && x + group.size.width > limit {
            (x, y, height) = (0, y + height + GROUP_GAP, 0);
        }
        corners.push(Point {
            x: x + MARGIN,
            y: y + MARGIN,
        });
        size.width = size.width.max(x + group.size.width);
        size.height = size.height.max(y + group.size.height);
        x += group.size.width + GROUP_GAP;
        height = height.max(group.size.height);
    }
    size.width += 2 * MARGIN;
    size.height += 2 * MARGIN;
    (corners, size)
}

impl Rect {
    fn moved(self, by: Point) -> Self {
        Self {
            left: self.left + by.x,
            top: self.top + by.y,
            ..self
        }
    }
}

impl Route {
    fn moved(mut self, by: Point) -> Self {
        for point in &mut self.points {
            point.x += by.x;
            point.y += by.y;
        }
        self.label = self.label.moved(by);
        self
    }
}

/// A number of things as a number of pixels.
fn pixels(count: usize) -> i32 {
    i32::try_from(count).unwrap_or(i32::MAX)
}

#[cfg(test)]
mod tests;
