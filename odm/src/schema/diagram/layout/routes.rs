//! Where boxes stand, where lines begin and end, and how they get there.

use super::each::Each;
use super::net::{Net, Node};
use super::tops::{Wish, mean, settle};
use super::{Point, Rect, Route, Size, pixels};

/// The space beside a box for the sign at the end of a line.
pub(in super::super) const STUB: i32 = 22;
/// The height of a port on the left side of a box, and on the right side of one with a label of one row.
const PORT: i32 = 25;
/// The space between a label and the lines above and below it.
const LABEL_GAP: i32 = 4;
/// The space in which lines from a box to itself turn around.
const LOOP: i32 = 22;
/// How often the heights follow those of the neighbours.
const SWEEPS: usize = 6;

#[derive(Debug)]
pub(super) struct Routed {
    pub(super) size: Size,
    pub(super) boxes: Vec<Rect>,
    pub(super) routes: Vec<Route>,
}

pub(super) fn route(net: &Net) -> Routed {
    let ports = Ports::of(net);
    let tops = tops(net, &ports);
    let columns = columns(net);
    let rect = |number: usize| {
        let column = columns[net.nodes[number].layer];
        Rect {
            left: column.left,
            top: tops[number],
            width: column.width,
            height: ports.heights[number],
        }
    };
    let boxes: Vec<_> = (0..net.sizes.len()).map(rect).collect();
    let routes = (0..net.lines.len()).map(|line| {
        let points = match net.courses[line].hops.as_slice() {
            [] => loop_points(net, line, &ports, &columns, &tops),
            hops => points(net, hops, &ports, &columns, &tops),
        };
        let label = net.lines[line].label;
        let start = points.first().copied().unwrap_or(Point { x: 0, y: 0 });
        Route {
            is_turned: net.courses[line].is_turned,
            is_loop: net.courses[line].hops.is_empty(),
            label: Rect {
                left: start.x + STUB,
                top: start.y - LABEL_GAP - label.height,
                width: label.width,
                height: label.height,
            },
            points,
        }
    });
    let last = columns.iter().last();
    Routed {
        size: Size {
            width: last.map_or(0, |column| column.right()),
            height: boxes.iter().map(|it| it.top + it.height).max().unwrap_or(0),
        },
        routes: routes.collect(),
        boxes,
    }
    .moved_to_zero()
}

impl Routed {
    /// Moves everything down or up, so that the highest node stands at 0.
    fn moved_to_zero(mut self) -> Self {
        let tops = self.boxes.iter().map(|it| it.top);
        let points = self.routes.iter().flat_map(|route| &route.points);
        let ys: Vec<_> = tops.chain(points.map(|point| point.y)).collect();
        let top = ys.iter().min().copied().unwrap_or(0);
        let bottom = ys.iter().max().copied().unwrap_or(0);
        let by = Point { x: 0, y: -top };
        self.size.height = self.size.height.max(bottom) - top;
        self.boxes = self.boxes.into_iter().map(|it| it.moved(by)).collect();
        self.routes = self.routes.into_iter().map(|it| it.moved(by)).collect();
        self
    }
}

/// Where hops and loops begin and end, below the tops of their nodes.
struct Ports {
    /// The height of each node.
    heights: Each<i32>,
    /// Where each hop begins.
    begins: Each<i32>,
    /// Where each hop ends.
    ends: Each<i32>,
    /// Where the loop of each line begins and ends.
    loops: Each<(i32, i32)>,
}

impl Ports {
    fn of(net: &Net) -> Self {
        let mut ports = Self {
            heights: Each::new(net.nodes.len(), 0),
            begins: Each::new(net.hops.len(), 0),
            ends: Each::new(net.hops.len(), 0),
            loops: Each::new(net.lines.len(), (0, 0)),
        };
        for number in 0..net.sizes.len() {
            ports.add_box(net, number);
        }
        ports
    }

    fn add_box(&mut self, net: &Net, number: usize) {
        let node = &net.nodes[number];
        let (mut left, mut right) = (node.left.clone(), node.right.clone());
        left.sort_by_key(|hop| (net.nodes[net.hops[*hop].left].position, *hop));
        right.sort_by_key(|hop| (net.nodes[net.hops[*hop].right].position, *hop));
        let with_label = |line: usize| PORT.max(net.lines[line].label.height + 3 * LABEL_GAP);
        let hops = right.iter().map(|hop| net.hops[*hop].first_of);
        let hops = hops.map(|line| line.map_or(PORT, with_label));
        let loops = node.loops.iter();
        let loops = loops.flat_map(|line| [with_label(*line), PORT]);
        let spaces: Vec<_> = hops.chain(loops).collect();
        let needed = spaces.iter().sum::<i32>().max(PORT * pixels(left.len()));
        let height = net.sizes[number].height.max(needed);
        self.heights[number] = height;
        let mut places = spread(&spaces, height).into_iter();
        for (hop, place) in right.iter().zip(&mut places) {
            self.begins[*hop] = place;
        }
        for line in &node.loops {
            let (begin, end) = (places.next(), places.next());
            self.loops[*line] = (begin.unwrap_or(0), end.unwrap_or(0));
        }
        let spaces = vec![PORT; left.len()];
        for (hop, place) in left.iter().zip(spread(&spaces, height)) {
            self.ends[*hop] = place;
        }
    }
}

/// Spreads ports that need these spaces over a side of a box. A port is near the end of its space, under its label.
fn spread(spaces: &[i32], height: i32) -> Vec<i32> {
    let total = spaces.iter().sum::<i32>().max(1);
    let mut before = 0;
    let places = spaces.iter().map(|space| {
        before += space;
        let place = i64::from(height) * i64::from(before - 2 * LABEL_GAP) / i64::from(total);
        i32::try_from(place).unwrap_or(height)
    });
    places.collect()
}

/// The top of each node.
fn tops(net: &Net, ports: &Ports) -> Each<i32> {
    let mut tops = Each::new(net.nodes.len(), 0);
    let wish_by_left = |tops: &Each<i32>, node: &Node| {
        let hops = node.left.iter();
        mean(hops.map(|hop| tops[net.hops[*hop].left] + ports.begins[*hop] - ports.ends[*hop]))
    };
    let wish_by_right = |tops: &Each<i32>, node: &Node| {
        let hops = node.right.iter();
        mean(hops.map(|hop| tops[net.hops[*hop].right] + ports.ends[*hop] - ports.begins[*hop]))
    };
    let place = |tops: &mut Each<i32>, layer: &[usize], by_left: bool| {
        let wishes: Vec<_> = layer
            .iter()
            .map(|number| {
                let node = &net.nodes[*number];
                let wish = if by_left {
                    wish_by_left(tops, node)
                } else {
                    wish_by_right(tops, node)
                };
                Wish {
                    top: wish.unwrap_or(tops[*number]),
                    height: ports.heights[*number],
                }
            })
            .collect();
        for (number, top) in layer.iter().zip(settle(&wishes)) {
            tops[*number] = top;
        }
    };
    for _ in 0..SWEEPS {
        for layer in &net.layers {
            place(&mut tops, layer, true);
        }
        for layer in net.layers.iter().rev() {
            place(&mut tops, layer, false);
        }
    }
    tops
}

/// A layer and the space behind it.
#[derive(Debug, Clone, Copy, Default)]
struct Column {
    left: i32,
    width: i32,
    /// The space for the labels of lines.
    labels: i32,
    /// The space for curves and for the signs at their ends.
    curves: i32,
}

impl Column {
    /// Where labels end, and lines bend.
    fn bend(self) -> i32 {
        self.left + self.width + self.labels
    }

    fn right(self) -> i32 {
        self.bend() + self.curves
    }
}

fn columns(net: &Net) -> Each<Column> {
    let mut columns: Each<Column> = Each::default();
    for (number, layer) in net.layers.iter().enumerate() {
        let boxes = layer.iter().filter(|node| net.is_box(**node));
        let widths = boxes.clone().map(|node| net.sizes[*node].width);
        let nodes = boxes.map(|node| &net.nodes[*node]);
        let firsts = nodes.clone().flat_map(|node| &node.right);
        let firsts = firsts.filter_map(|hop| net.hops[*hop].first_of);
        let loops = nodes.flat_map(|node| &node.loops).copied();
        let has_loops = loops.clone().next().is_some();
        let labels = firsts.chain(loops).map(|line| net.lines[line].label.width);
        let labels = labels.max().map(|widest| STUB + widest + LABEL_GAP);
        let hops: usize = layer.iter().map(|node| net.nodes[*node].right.len()).sum();
        let is_last = number + 1 == net.layers.len();
        let curves = if is_last {
            if has_loops { LOOP } else { 0 }
        } else {
            (32 + 6 * pixels(hops)).min(120) + STUB
        };
        let left = columns.iter().last().map_or(0, |column| column.right());
        columns.push(Column {
            left,
            width: widths.max().unwrap_or(0),
            labels: labels.unwrap_or(0),
            curves,
        });
    }
    columns
}

fn points(
    net: &Net,
    hops: &[usize],
    ports: &Ports,
    columns: &Each<Column>,
    tops: &Each<i32>,
) -> Vec<Point> {
    let mut points = Vec::new();
    for number in hops {
        let hop = net.hops[*number];
        let column = columns[net.nodes[hop.left].layer];
        let (begin, end) = (
            tops[hop.left] + ports.begins[*number],
            tops[hop.right] + ports.ends[*number],
        );
        if net.is_box(hop.left) {
            let x = column.left + column.width;
            points.push(Point { x, y: begin });
        }
        let bend = Point {
            x: column.bend(),
            y: begin,
        };
        points.push(bend);
        points.push(Point {
            x: column.right() - STUB,
            y: end,
        });
        if net.is_box(hop.right) {
            let x = column.right();
            points.push(Point { x, y: end });
        }
    }
    points
}

fn loop_points(
    net: &Net,
    line: usize,
    ports: &Ports,
    columns: &Each<Column>,
    tops: &Each<i32>,
) -> Vec<Point> {
    let number = net.lines[line].from;
    let column = columns[net.nodes[number].layer];
    let side = column.left + column.width;
    let (begin, end) = ports.loops[line];
    let at = |x: i32, y: i32| Point {
        x,
        y: tops[number] + y,
    };
    vec![
        at(side, begin),
        at(column.bend(), begin),
        at(column.bend(), end),
        at(side, end),
    ]
}
