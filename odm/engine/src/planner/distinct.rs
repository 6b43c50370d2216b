//! Which walks over an index can seek from one value of a path to the next (mongod's `DISTINCT_SCAN`).

use odm_language::value::collation::Collator;

use crate::index::Index;
use crate::index::spec::Kind;
use crate::planner::plan::{Node, Step};
use crate::planner::requirements::Distinct;

/// The place of the path among the fields of the index, if the values of documents lie there one by one.
pub(super) fn position(index: &Index, distinct: Distinct<'_>) -> Option<usize> {
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

/// The index with the fewest fields of those that begin with the path. As in mongod, it may be sparse, and then misses null.
pub(super) fn shortest<'i>(
    indexes: &[&'i Index],
    distinct: Distinct<'_>,
    collation: Option<&Collator>,
) -> Option<&'i Index> {
    let serves = |index: &&Index| {
        let spec = &index.spec;
        // The keys of strings under a collation are not their values.
        spec.paths.first() == Some(distinct.path())
            && spec.partial.is_none()
            && spec.collation.is_none()
            && collation.is_none()
    };
    let indexes = indexes.iter().copied().filter(serves);
    indexes.min_by_key(|index| index.spec.paths.len())
}

/// The plan with a walk that skips keys, if the keys alone decide which documents match.
pub(super) fn skipping(mut node: Node, indexes: &[&Index], distinct: Distinct<'_>) -> Option<Node> {
    if let (Step::Project, Distinct::First(_)) = (&node.step, distinct) {
        let below = node.inputs.pop()?;
        node.inputs.push(skipping(below, indexes, distinct)?);
        return Some(node);
    }
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
