//! The order of siblings.

use std::collections::HashMap;

use bson::Bson;

use super::Survey;
use crate::error::Result;
use crate::tree::node::{Node, scope_key};
use crate::tree::places::RankGap;
use crate::tree::tree_store::TreeStore;
use crate::types::tree::between;

/// Whether a text is a rank.
pub(in crate::tree) fn is_rank(rank: &str) -> bool {
    between(Some(rank), None).is_some() || between(None, Some(rank)).is_some()
}

impl TreeStore<'_> {
    /// Puts siblings in their order: by their ranks, by their bounds, or as their parent lists them. A node without a valid
    /// rank comes after the sibling that the bounds or the list have before it.
    pub(super) fn put_in_order(
        &self,
        nodes: &[Node],
        survey: &Survey,
        listed: Option<&[Bson]>,
        siblings: &mut Vec<usize>,
    ) -> Result<()> {
        if siblings.len() < 2 {
            return Ok(());
        }
        let mut places: HashMap<usize, usize> = HashMap::new();
        for (place, id) in listed.unwrap_or_default().iter().enumerate() {
            if let Some(position) = survey.position(id)? {
                places.entry(position).or_insert(place);
            }
        }
        let place = |position: usize| match survey.bounds.nodes.get(position) {
            Some(bound) => usize::try_from(bound.left).ok(),
            None => places.get(&position).copied(),
        };
        siblings.sort_by_key(|position| place(*position).unwrap_or(usize::MAX));
        if self.tree.order.is_none() {
            return Ok(());
        }
        let rank = |position: usize| {
            let rank = nodes.get(position)?.rank.as_deref()?;
            is_rank(rank).then_some(rank)
        };
        let (mut ranked, unranked): (Vec<usize>, Vec<usize>) = siblings
            .drain(..)
            .partition(|position| rank(*position).is_some());
        // A node that is here only since its own place is lost gives way.
        ranked.sort_by_key(|position| (rank(*position), survey.fault(*position).is_some()));
        for position in unranked {
            let own = place(position);
            let before = ranked
                .iter()
                .rposition(|one| own.is_none() || place(*one) < own);
            ranked.insert(before.map_or(0, |before| before + 1), position);
        }
        *siblings = ranked;
        Ok(())
    }

    /// The ranks that siblings in their order need, with their positions: of those that have none, and of those that have
    /// the rank of one before them.
    pub(in crate::tree) fn missing_ranks(
        &self,
        nodes: &[Node],
        siblings: &[usize],
    ) -> Result<Vec<(usize, String)>> {
        let mut missing = Vec::new();
        let mut waiting = Vec::new();
        let mut last: Option<&str> = None;
        for &position in siblings {
            let rank = nodes.get(position).and_then(|node| node.rank.as_deref());
            match rank.filter(|rank| is_rank(rank) && last.is_none_or(|last| last < *rank)) {
                Some(rank) => {
                    self.fill(&mut missing, &mut waiting, (last, Some(rank)))?;
                    last = Some(rank);
                }
                None => waiting.push(position),
            }
        }
        self.fill(&mut missing, &mut waiting, (last, None))?;
        Ok(missing)
    }

    fn fill(
        &self,
        missing: &mut Vec<(usize, String)>,
        waiting: &mut Vec<usize>,
        (low, high): (Option<&str>, Option<&str>),
    ) -> Result<()> {
        if !waiting.is_empty() {
            let gap = RankGap {
                low: low.map(str::to_owned),
                high: high.map(str::to_owned),
            };
            let ranks = self.ranks(&gap, waiting.len())?;
            missing.extend(waiting.drain(..).zip(ranks));
        }
        Ok(())
    }
}

/// The roots of several trees, one list for each; other siblings are in one tree.
pub(in crate::tree) fn by_scope(nodes: &[Node], family: &[usize]) -> Vec<Vec<usize>> {
    let mut scopes: Vec<(Option<Vec<u8>>, Vec<usize>)> = Vec::new();
    let mut known: HashMap<Option<Vec<u8>>, usize> = HashMap::new();
    for &position in family {
        let scope = nodes.get(position).and_then(|node| node.scope.as_ref());
        let key = scope_key(scope);
        let at = *known.entry(key.clone()).or_insert(scopes.len());
        match scopes.get_mut(at) {
            Some((_, list)) => list.push(position),
            None => scopes.push((key, vec![position])),
        }
    }
    scopes.into_iter().map(|(_, list)| list).collect()
}
