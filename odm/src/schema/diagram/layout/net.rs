//! Boxes in layers, and the nodes at which lines pass the layers between their ends.

use super::each::Each;
use super::layers::layers;
use super::{Line, Size};

#[derive(Debug)]
pub(super) struct Net {
    pub(super) sizes: Each<Size>,
    pub(super) lines: Each<Line>,
    /// The boxes by their numbers, then the places where lines pass a layer.
    pub(super) nodes: Each<Node>,
    pub(super) hops: Each<Hop>,
    /// The nodes of each layer, from top to bottom.
    pub(super) layers: Vec<Vec<usize>>,
    /// The course of each line.
    pub(super) courses: Each<Course>,
}

#[derive(Debug, Clone, Default)]
pub(super) struct Node {
    pub(super) layer: usize,
    /// The place in its layer.
    pub(super) position: usize,
    /// The hops that end here.
    pub(super) left: Vec<usize>,
    /// The hops that begin here.
    pub(super) right: Vec<usize>,
    /// The lines that lead from the box to itself.
    pub(super) loops: Vec<usize>,
}

/// The part of a line between two neighbouring layers, by the numbers of the nodes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Hop {
    pub(super) left: usize,
    pub(super) right: usize,
    /// The line, if the hop begins at its box.
    pub(super) first_of: Option<usize>,
}

#[derive(Debug, Clone, Default)]
pub(super) struct Course {
    /// The hops from left to right; empty for a line from a box to itself.
    pub(super) hops: Vec<usize>,
    pub(super) is_turned: bool,
}

impl Net {
    pub(super) fn new(sizes: Each<Size>, lines: Each<Line>) -> Self {
        let apart = lines.iter().filter(|line| line.from != line.to);
        let ends: Vec<_> = apart.map(|line| (line.from, line.to)).collect();
        let layer_of = layers(sizes.len(), &ends);
        let nodes = layer_of.iter().map(|layer| Node {
            layer: *layer,
            ..Node::default()
        });
        let mut net = Self {
            nodes: nodes.collect(),
            courses: Each::new(lines.len(), Course::default()),
            sizes,
            lines,
            hops: Each::from_iter([]),
            layers: Vec::new(),
        };
        for line in 0..net.lines.len() {
            net.add_line(line);
        }
        let last = net.nodes.iter().map(|node| node.layer).max();
        net.layers = vec![Vec::new(); last.map_or(0, |last| last + 1)];
        for number in 0..net.nodes.len() {
            let node = &mut net.nodes[number];
            if let Some(layer) = net.layers.get_mut(node.layer) {
                node.position = layer.len();
                layer.push(number);
            }
        }
        net
    }

    /// Whether the node is a box.
    pub(super) fn is_box(&self, node: usize) -> bool {
        node < self.sizes.len()
    }

    fn add_line(&mut self, line: usize) {
        let Line { from, to, .. } = self.lines[line];
        if from == to {
            self.nodes[from].loops.push(line);
            return;
        }
        let is_turned = self.nodes[from].layer > self.nodes[to].layer;
        let (first, last) = if is_turned { (to, from) } else { (from, to) };
        let mut hops = Vec::new();
        let mut left = first;
        for layer in self.nodes[first].layer + 1..self.nodes[last].layer {
            let passed = self.nodes.push(Node {
                layer,
                ..Node::default()
            });
            hops.push(self.add_hop(left, passed, line));
            left = passed;
        }
        hops.push(self.add_hop(left, last, line));
        self.courses[line] = Course { hops, is_turned };
    }

    fn add_hop(&mut self, left: usize, right: usize, line: usize) -> usize {
        let first_of = self.is_box(left).then_some(line);
        let hop = self.hops.push(Hop {
            left,
            right,
            first_of,
        });
        self.nodes[left].right.push(hop);
        self.nodes[right].left.push(hop);
        hop
    }
}
