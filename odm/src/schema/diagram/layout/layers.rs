//! The layer of each box.

use super::each::Each;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    New,
    /// On the path that is being walked.
    Open,
    Done,
}

/// The layer of each of `count` boxes. Lines lead from a layer to a higher one; some are turned around for that, where lines
/// form a cycle. No line leads from a box to itself.
pub(super) fn layers(count: usize, lines: &[(usize, usize)]) -> Each<usize> {
    let mut next = Each::new(count, Vec::new());
    for (from, to) in lines {
        next[*from].push(*to);
    }
    let (order, turned) = walk(count, &next);
    let mut after = Each::new(count, Vec::new());
    let mut has_before = Each::new(count, false);
    for (from, to) in lines {
        let is_turned = turned.contains(&(*from, *to));
        let (left, right) = if is_turned {
            (*to, *from)
        } else {
            (*from, *to)
        };
        after[left].push(right);
        has_before[right] = true;
    }
    let mut layers = Each::new(count, 0);
    for one in &order {
        for right in &after[*one] {
            layers[*right] = layers[*right].max(layers[*one] + 1);
        }
    }
    // The first boxes stand next to the boxes that their lines lead to.
    for one in order.iter().rev().filter(|one| !has_before[**one]) {
        let nearest = after[*one].iter().map(|right| layers[*right]).min();
        layers[*one] = nearest.unwrap_or(1) - 1;
    }
    layers
}

/// Walks along the lines, depth first. Returns the boxes in an order in which each stands before those that its lines lead to, and
/// the lines for which that is impossible.
fn walk(count: usize, next: &Each<Vec<usize>>) -> (Vec<usize>, Vec<(usize, usize)>) {
    let mut states = Each::new(count, State::New);
    let (mut left, mut turned) = (Vec::new(), Vec::new());
    for first in 0..count {
        if states[first] != State::New {
            continue;
        }
        states[first] = State::Open;
        let mut path = vec![(first, next[first].iter())];
        while let Some((one, rest)) = path.last_mut() {
            let one = *one;
            let Some(to) = rest.next().copied() else {
                states[one] = State::Done;
                left.push(one);
                path.pop();
                continue;
            };
            match states[to] {
                State::New => {
                    states[to] = State::Open;
                    path.push((to, next[to].iter()));
                }
                State::Open => turned.push((one, to)),
                State::Done => {}
            }
        }
    }
    left.reverse();
    (left, turned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layers_of(count: usize, lines: &[(usize, usize)]) -> Vec<usize> {
        layers(count, lines).iter().copied().collect()
    }

    #[test]
    fn lines_lead_to_higher_layers() {
        assert_eq!(layers_of(3, &[(0, 1), (1, 2), (0, 2)]), [0, 1, 2]);
        assert_eq!(layers_of(4, &[(0, 1), (1, 2), (3, 2)]), [0, 1, 2, 1]);
    }

    #[test]
    fn a_line_of_each_cycle_is_turned() {
        assert_eq!(layers_of(2, &[(0, 1), (1, 0)]), [0, 1]);
        assert_eq!(layers_of(3, &[(0, 1), (1, 2), (2, 0)]), [0, 1, 2]);
    }
}
