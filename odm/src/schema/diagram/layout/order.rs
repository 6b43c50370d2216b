//! The order of the nodes in each layer, so that few lines cross.

use super::net::Net;

/// How often the layers are gone through, there and back.
const SWEEPS: usize = 8;

/// The unit of a position, of which means are fractions.
const UNIT: usize = 1_000;

/// Orders each layer by the mean positions of the neighbours, several times, and keeps the best order.
pub(super) fn arrange(net: &mut Net) {
    let mut best = (crossings(net), net.layers.clone());
    for _ in 0..SWEEPS {
        for layer in 1..net.layers.len() {
            sort(net, layer, true);
        }
        for layer in (0..net.layers.len().saturating_sub(1)).rev() {
            sort(net, layer, false);
        }
        let found = crossings(net);
        if found < best.0 {
            best = (found, net.layers.clone());
        }
    }
    net.layers = best.1;
    for layer in 0..net.layers.len() {
        number(net, layer);
    }
}

/// Sorts a layer by the neighbours on one side.
fn sort(net: &mut Net, layer: usize, by_left: bool) {
    let Some(mut nodes) = net.layers.get(layer).cloned() else {
        return;
    };
    nodes.sort_by_key(|number| {
        let node = &net.nodes[*number];
        let hops = if by_left { &node.left } else { &node.right };
        let neighbours = hops.iter().map(|hop| {
            let hop = net.hops[*hop];
            net.nodes[if by_left { hop.left } else { hop.right }].position
        });
        let sum: usize = neighbours.sum();
        (sum * UNIT)
            .checked_div(hops.len())
            .unwrap_or(node.position * UNIT)
    });
    if let Some(layer) = net.layers.get_mut(layer) {
        *layer = nodes;
    }
    number(net, layer);
}

/// Notes at each node of a layer where it stands.
fn number(net: &mut Net, layer: usize) {
    let nodes = net.layers.get(layer).into_iter().flatten();
    for (position, node) in nodes.enumerate() {
        net.nodes[*node].position = position;
    }
}

/// How many pairs of hops cross.
fn crossings(net: &Net) -> usize {
    let mut crossings = 0;
    for layer in &net.layers {
        let hops = layer.iter().flat_map(|node| &net.nodes[*node].right);
        let mut ends: Vec<_> = hops
            .map(|hop| {
                let hop = net.hops[*hop];
                (net.nodes[hop.left].position, net.nodes[hop.right].position)
            })
            .collect();
        ends.sort_unstable();
        for (count, (left, right)) in ends.iter().enumerate() {
            let before = ends.iter().take(count);
            crossings += before
                .filter(|(other_left, other_right)| other_left < left && other_right > right)
                .count();
        }
    }
    crossings
}
