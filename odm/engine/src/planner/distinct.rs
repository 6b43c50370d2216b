//! Plans for the distinct values of a path (mongod's `DISTINCT_SCAN`): a walk that reads the first key of each value and
//! seeks on to the next value.

use odm_language::error::ServerError;
use odm_language::value::path::Path;

use crate::index::Index;
use crate::index::spec::Kind;
use crate::planner::bounds::Draft;
use crate::planner::plan::{Node, Step};
use crate::planner::{Pick, Search};

/// What a query needs of the documents that have the same value at a path.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Distinct<'a> {
    /// The value. It comes from an index key, so that a missing one is null.
    Value(&'a Path),
    /// The first document in the order of the sort.
    First(&'a Path),
}

impl<'a> Distinct<'a> {
    fn path(self) -> &'a Path {
        match self {
            Self::Value(path) | Self::First(path) => path,
        }
    }
}

/// The outcome of planning with the indexes that contain the path.
#[derive(Debug)]
pub(super) enum Planned {
    Scan(Node),
    /// There are plans, but none can skip keys. mongod then reads whole documents, without a projection.
    Unskippable,
    NoPlan,
}

pub(super) fn plan(
    search: &Search<'_, '_>,
    indexes: &[&Index],
    distinct: Distinct<'_>,
    is_hinted: bool,
    pick: Pick<'_>,
) -> Result<Planned, ServerError> {
    let requirements = search.requirements;
    let holding: Vec<&Index> = (indexes.iter().copied())
        .filter(|index| position(index, distinct).is_some())
        .collect();
    if requirements.filter.is_none() && requirements.sort.is_none() {
        return Ok(whole(search, &holding, distinct).map_or(Planned::NoPlan, Planned::Scan));
    }
    if let (Distinct::First(path), Some((paths, _))) = (distinct, requirements.sort)
        && paths.first() != Some(path)
    {
        return Ok(Planned::NoPlan);
    }
    let mut candidates = search.candidates(&holding, is_hinted);
    if !is_hinted {
        candidates.splice(0..0, search.alternatives(&holding, pick)?);
    }
    let found = !candidates.is_empty();
    let mut skipping = candidates
        .into_iter()
        .filter_map(|node| skipping(node, &holding, distinct));
    Ok(match (skipping.next(), distinct) {
        (Some(node), _) => Planned::Scan(node),
        (None, Distinct::Value(_)) if found => Planned::Unskippable,
        (None, _) => Planned::NoPlan,
    })
}

/// The place of the path among the fields of the index, if the values of documents lie there one by one.
fn position(index: &Index, distinct: Distinct<'_>) -> Option<usize> {
    let spec = &index.spec;
    let is_usable = match distinct {
        Distinct::Value(_) => true,
        Distinct::First(path) => !index.arrays.has(path.as_str()),
    };
    if spec.kind != Kind::Ordered || !is_usable {
        return None;
    }
    spec.paths.iter().position(|own| own == distinct.path())
}

/// A walk over the whole of the index with the fewest fields of those that begin with the path.
fn whole(search: &Search<'_, '_>, indexes: &[&Index], distinct: Distinct<'_>) -> Option<Node> {
    let collation = search.requirements.collation;
    let serves = |index: &&Index| {
        let spec = &index.spec;
        // The keys of strings under a collation are not their values.
        spec.paths.first() == Some(distinct.path())
            && spec.partial.is_none()
            && spec.collation.is_none()
            && collation.is_none()
    };
    let indexes = indexes.iter().copied().filter(serves);
    let index = indexes.min_by_key(|index| index.spec.paths.len())?;
    let mut scan = Draft::whole(index).scan;
    scan.distinct = Some(0);
    let covers = matches!(distinct, Distinct::Value(_)) || search.made_of_keys(index, &scan);
    scan.covers = covers;
    let mut node = Node::leaf(Step::Index(scan));
    if !covers {
        node = node.under(Step::Fetch {
            answered: Vec::new(),
            all: true,
        });
    }
    Some(search.requirements.top(node, true))
}

/// The plan with a walk that skips keys, if the keys alone decide which documents match.
fn skipping(mut node: Node, indexes: &[&Index], distinct: Distinct<'_>) -> Option<Node> {
    let leaf = match (&node.step, node.inputs.as_mut_slice(), distinct) {
        (Step::Project, [only], Distinct::Value(_))
        | (Step::Fetch { all: true, .. }, [only], Distinct::First(_)) => only,
        _ => &mut node,
    };
    let Step::Index(scan) = &mut leaf.step else {
        return None;
    };
    let index = indexes.iter().find(|index| index.spec.name == scan.name)?;
    let is_enough = scan.covers || matches!(distinct, Distinct::First(_));
    let is_exact = scan.tested.is_empty() && scan.limits.is_none() && scan.path.is_none();
    if !is_enough || !is_exact || index.multikey() {
        return None;
    }
    scan.distinct = position(index, distinct);
    Some(node)
}
