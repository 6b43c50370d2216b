//! The tree that bounds describe, and the bounds that are wrong in it.
//!
//! In a sound tree of n nodes the bounds are the numbers from 1 to 2n, each once. So a wrong bound leaves a number free, and
//! mostly one number is left for it that nests.

use std::collections::HashMap;

use crate::tree::check::survey::ranks::by_scope;
use crate::tree::node::{Node, agrees};
use crate::tree::tree_store::TreeStore;

/// The most places that are tried for wrong bounds, beside the first for each number.
const MAX_TRIES: usize = 50_000;

/// The most nodes that are tried for a free number.
const MAX_CANDIDATES: usize = 16;

/// What the bounds of each node are, by its position.
#[derive(Debug, Default)]
pub(in crate::tree) struct Bounds {
    /// Empty if the tree has no bounds.
    pub(in crate::tree) nodes: Vec<Bound>,
    /// The nodes before whose bound a number is free.
    pub(in crate::tree) gaps: Vec<(usize, String)>,
}

#[derive(Debug, Clone, Copy)]
pub(in crate::tree) struct Bound {
    pub(in crate::tree) left: i64,
    /// The nearest node around it.
    pub(in crate::tree) parent: Option<usize>,
    /// The fault of the stored bounds, if any.
    pub(in crate::tree) fault: Option<WrongBounds>,
}

/// A fault of stored bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::tree) enum WrongBounds {
    Overlapping,
    Gapped,
    Duplicate,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Left,
    Right,
}

/// A bound of the node at this place among those of its scope.
type End = (usize, Side);

impl TreeStore<'_> {
    pub(super) fn mended_bounds(&self, nodes: &[Node]) -> Bounds {
        let mut bounds = Bounds::default();
        if self.tree.bounds.is_none() {
            return bounds;
        }
        let stored = |node: &Node| Bound {
            left: node.left,
            parent: None,
            fault: None,
        };
        bounds.nodes = nodes.iter().map(stored).collect();
        let all: Vec<usize> = (0..nodes.len()).collect();
        for family in by_scope(nodes, &all) {
            let own = family.iter().filter_map(|position| nodes.get(*position));
            Nesting::new(self, own.collect()).write(&family, &mut bounds);
        }
        bounds
    }
}

/// The bounds of the nodes of one scope.
struct Nesting<'n> {
    tree_store: &'n TreeStore<'n>,
    nodes: Vec<&'n Node>,
    /// Left and right of each node.
    stored: Vec<[i64; 2]>,
    /// The bounds with each number.
    holders: HashMap<i64, Vec<End>>,
    last: i64,
}

/// A number, and the bounds that may have it.
struct Slot {
    options: Vec<End>,
    next: usize,
}

impl<'n> Nesting<'n> {
    fn new(tree_store: &'n TreeStore<'n>, nodes: Vec<&'n Node>) -> Self {
        let stored: Vec<[i64; 2]> = nodes.iter().map(|node| [node.left, node.right]).collect();
        let last = i64::try_from(nodes.len())
            .unwrap_or(i64::MAX)
            .saturating_mul(2);
        let mut times: HashMap<i64, u32> = HashMap::new();
        for number in stored.iter().flatten() {
            *times.entry(*number).or_default() += 1;
        }
        let is_own =
            |number: &i64| (1..=last).contains(number) && times.get(number).copied() == Some(1);
        let mut holders: HashMap<i64, Vec<End>> = HashMap::new();
        for (at, [left, right]) in stored.iter().enumerate() {
            // Bounds that were swapped nest again when they are swapped back.
            let (first, end) = if left > right && is_own(left) && is_own(right) {
                (right, left)
            } else {
                (left, right)
            };
            for (number, side) in [(*first, Side::Left), (*end, Side::Right)] {
                if number > 0 {
                    holders.entry(number).or_default().push((at, side));
                }
            }
        }
        Self {
            tree_store,
            nodes,
            stored,
            holders,
            last,
        }
    }

    fn write(&self, family: &[usize], bounds: &mut Bounds) {
        let is_nested = Self::nests(&self.stored);
        let beyond = self
            .holders
            .keys()
            .filter(|number| **number > self.last)
            .count();
        // Where nodes are gone, an even count of numbers is beyond the end; one wrong bound makes it odd.
        let mended = if is_nested && beyond % 2 == 0 {
            Some(self.stored.clone())
        } else {
            self.solved()
        };
        let (mended, outside) =
            mended.map_or_else(|| self.guessed(), |mended| (mended, Vec::new()));
        let parents = Self::parents(&mended);
        for (at, position) in family.iter().enumerate() {
            let (Some([left, right]), Some(slot)) =
                (mended.get(at).copied(), bounds.nodes.get_mut(*position))
            else {
                continue;
            };
            let is_changed = self.stored.get(at) != Some(&[left, right]) || outside.contains(&at);
            let parent = parents.get(at).copied().flatten();
            *slot = Bound {
                left,
                parent: parent.and_then(|parent| family.get(parent).copied()),
                fault: is_changed.then(|| self.kind(at, is_nested)),
            };
        }
        if outside.is_empty() {
            Self::gaps(&mended, family, &mut bounds.gaps);
        }
    }

    /// The fault of stored bounds that are not the right ones.
    fn kind(&self, at: usize, is_nested: bool) -> WrongBounds {
        let stored = self.stored.get(at).into_iter().flatten();
        let mut holders = stored.filter_map(|number| self.holders.get(number));
        if holders.any(|all| all.len() > 1) {
            WrongBounds::Duplicate
        } else if is_nested {
            WrongBounds::Gapped
        } else {
            WrongBounds::Overlapping
        }
    }

    /// The bounds in the order of their numbers.
    fn ends(bounds: &[[i64; 2]]) -> Vec<(i64, End)> {
        let mut ends = Vec::with_capacity(bounds.len() * 2);
        for (at, [left, right]) in bounds.iter().enumerate() {
            ends.push((*left, (at, Side::Left)));
            ends.push((*right, (at, Side::Right)));
        }
        ends.sort_by_key(|(number, _)| *number);
        ends
    }

    fn nests(bounds: &[[i64; 2]]) -> bool {
        let ends = Self::ends(bounds);
        let mut open = Vec::new();
        let mut last = 0;
        for (number, (at, side)) in ends {
            if number <= last {
                return false;
            }
            last = number;
            match side {
                Side::Left => open.push(at),
                Side::Right if open.pop() == Some(at) => {}
                Side::Right => return false,
            }
        }
        true
    }

    fn parents(bounds: &[[i64; 2]]) -> Vec<Option<usize>> {
        let mut parents = vec![None; bounds.len()];
        let mut order: Vec<(usize, &[i64; 2])> = bounds.iter().enumerate().collect();
        order.sort_by_key(|(_, [left, right])| (*left, std::cmp::Reverse(*right)));
        let mut open: Vec<(usize, i64)> = Vec::new();
        for (at, [left, right]) in order {
            while open.pop_if(|(_, end)| *end < *left).is_some() {}
            if let Some(parent) = parents.get_mut(at) {
                *parent = open.last().map(|(parent, _)| *parent);
            }
            if left < right {
                open.push((at, *right));
            }
        }
        parents
    }

    fn gaps(bounds: &[[i64; 2]], family: &[usize], gaps: &mut Vec<(usize, String)>) {
        let mut next = 1;
        for (number, (at, side)) in Self::ends(bounds) {
            if number > next
                && let Some(position) = family.get(at)
            {
                let name = match side {
                    Side::Left => "left",
                    Side::Right => "right",
                };
                gaps.push((*position, format!("{name} is {number}, and {next} is free")));
            }
            next = number + 1;
        }
    }

    /// Gives the free numbers to the bounds that are wrong, so that all nest. `None` if there is no way, or it takes long.
    fn solved(&self) -> Option<Vec<[i64; 2]>> {
        let is_fixed = |number: &i64| {
            *number <= self.last && self.holders.get(number).is_some_and(|all| all.len() == 1)
        };
        // The ends whose numbers are theirs alone.
        let mut fixed: Vec<[Option<i64>; 2]> = vec![[None; 2]; self.nodes.len()];
        for (number, holders) in self.holders.iter().filter(|(number, _)| is_fixed(number)) {
            for (at, side) in holders {
                *slot(&mut fixed, (*at, *side))? = Some(*number);
            }
        }
        let loose: Vec<usize> = (0..fixed.len())
            .filter(|at| fixed.get(*at).is_some_and(|ends| ends.contains(&None)))
            .collect();
        let mut found: Vec<[Option<i64>; 2]> = vec![[None; 2]; self.nodes.len()];
        let mut open: Vec<usize> = Vec::new();
        let mut slots: Vec<Slot> = Vec::new();
        let mut tries = 0;
        let mut number = 1;
        while number <= self.last {
            if usize::try_from(number).ok()? > slots.len() {
                let options = self.options(number, &fixed, &found, &loose, &open);
                slots.push(Slot { options, next: 0 });
            }
            let current = slots.last_mut()?;
            let option = current.options.get(current.next).copied();
            current.next += 1;
            if let Some((at, side)) = option {
                tries += usize::from(current.options.len() > 1);
                if tries > MAX_TRIES {
                    return None;
                }
                match side {
                    Side::Left => open.push(at),
                    Side::Right => {
                        open.pop();
                    }
                }
                *slot(&mut found, (at, side))? = Some(number);
                number += 1;
                continue;
            }
            // No bound fits: another one takes the number before.
            slots.pop();
            number -= 1;
            let before = slots.last()?;
            let (at, side) = before.options.get(before.next.checked_sub(1)?).copied()?;
            match side {
                Side::Left => {
                    open.pop();
                }
                Side::Right => open.push(at),
            }
            *slot(&mut found, (at, side))? = None;
        }
        found
            .into_iter()
            .map(|[left, right]| Some([left?, right?]))
            .collect()
    }

    /// The bounds that may have a number, the likeliest first.
    fn options(
        &self,
        number: i64,
        fixed: &[[Option<i64>; 2]],
        found: &[[Option<i64>; 2]],
        loose: &[usize],
        open: &[usize],
    ) -> Vec<End> {
        let of = |ends: &[[Option<i64>; 2]], (at, side): End| {
            let [left, right] = ends.get(at).copied().unwrap_or_default();
            if side == Side::Left { left } else { right }
        };
        let end = open.last().and_then(|top| of(fixed, (*top, Side::Right)));
        let fits = |(at, side): End| {
            if of(found, (at, side)).is_some() {
                return false;
            }
            match side {
                Side::Right => open.last() == Some(&at),
                Side::Left => match of(fixed, (at, Side::Right)) {
                    Some(right) => right > number && end.is_none_or(|end| right < end),
                    None => true,
                },
            }
        };
        let held = self.holders.get(&number).filter(|_| number <= self.last);
        if let Some(held) = held {
            return held.iter().copied().filter(|end| fits(*end)).collect();
        }
        let closing = open.last().map(|top| (*top, Side::Right));
        let closing = closing.filter(|end| of(fixed, *end).is_none() && fits(*end));
        let opening = loose.iter().map(|at| (*at, Side::Left));
        let mut opening: Vec<End> = opening
            .filter(|end| of(fixed, *end).is_none() && fits(*end))
            .collect();
        opening.sort_by_key(|(at, _)| {
            let right = of(fixed, (*at, Side::Right)).unwrap_or(i64::MAX);
            (self.objections(*at, open), right)
        });
        opening.truncate(MAX_CANDIDATES);
        let is_agreed = |(at, _): &&End| self.objections(*at, open) == 0 && self.knows_more();
        let opens_first = opening.first().is_some_and(|end| is_agreed(&end));
        let mut options = Vec::with_capacity(opening.len() + 1);
        if opens_first {
            options.extend(opening);
            options.extend(closing);
        } else {
            options.extend(closing);
            options.extend(opening);
        }
        options
    }

    /// Whether other fields say where a node is.
    fn knows_more(&self) -> bool {
        let tree = self.tree_store.tree;
        tree.parent.is_some() || tree.depth.is_some() || tree.ancestors.is_some()
    }

    /// How many of the other fields say that a node is not directly below these.
    fn objections(&self, at: usize, open: &[usize]) -> usize {
        let tree = self.tree_store.tree;
        let Some(node) = self.nodes.get(at) else {
            return 0;
        };
        let parent = open.last().and_then(|top| self.nodes.get(*top));
        let parent = parent.map(|parent| &parent.id);
        let is_parent = |id: Option<&bson::Bson>| match (id, parent) {
            (Some(id), Some(parent)) => agrees(id, parent),
            (None, None) => true,
            _ => false,
        };
        let depth = i64::try_from(open.len()).unwrap_or(i64::MAX);
        let objections = [
            tree.parent.is_some() && !is_parent(node.parent.as_ref()),
            tree.ancestors.is_some() && !is_parent(node.ancestors.last()),
            tree.depth.is_some_and(|field| !node.unread.contains(field)) && node.depth != depth,
        ];
        objections.into_iter().filter(|objects| *objects).count()
    }

    /// Keeps the bounds that nest, in their order, and makes leaves of the other nodes; these are returned, too.
    fn guessed(&self) -> (Vec<[i64; 2]>, Vec<usize>) {
        let is_own = |number: &i64| self.holders.get(number).is_some_and(|all| all.len() == 1);
        let mut order: Vec<(usize, &[i64; 2])> = self.stored.iter().enumerate().collect();
        order.sort_by_key(|(_, [left, right])| (*left, std::cmp::Reverse(*right)));
        let mut mended = self.stored.clone();
        let mut outside = Vec::new();
        let mut open: Vec<i64> = Vec::new();
        for (at, ends) in order {
            let [left, right] = *ends;
            while open.pop_if(|end| *end < left).is_some() {}
            let nests = open.last().is_none_or(|end| right < *end);
            if left > 0 && left < right && ends.iter().all(is_own) && nests {
                open.push(right);
                continue;
            }
            let place = [left, right].into_iter().find(|number| *number > 0);
            let place = place.unwrap_or(i64::MAX);
            if let Some(ends) = mended.get_mut(at) {
                *ends = [place, place];
            }
            outside.push(at);
        }
        outside.sort_unstable();
        (mended, outside)
    }
}

fn slot(ends: &mut [[Option<i64>; 2]], (at, side): End) -> Option<&mut Option<i64>> {
    let [left, right] = ends.get_mut(at)?;
    Some(if side == Side::Left { left } else { right })
}
