//! Which indexes, if any, may serve a query, and how.
//!
//! [`plan()`] returns one plan or several candidates, as mongod finds them: every index whose first field the filter
//! bounds, an `$or` whose branches all have an index, and indexes that provide the sort order. A trial chooses between
//! candidates (`cursor::trial`). A hint leaves only its own index.
//!
//! What this module is not: it reads no documents and runs nothing. A plan that fetches documents applies the whole
//! filter to them, so bounds may be too wide but never too narrow.

pub(crate) mod access_path;
mod bounds;
pub(crate) mod compat;
pub(crate) mod conditions;
mod distinct;
pub(crate) mod geo;
mod hint;
pub(crate) mod interval;
pub(crate) mod order;
pub(crate) mod plan;
pub(crate) mod requirements;
mod sparse_coverage;
mod wildcard;

use std::sync::Arc;

use bson::raw::RawBsonRef;
use odm_language::error::ServerError;
use odm_language::matcher::{Comparison, Predicate, Test};

use crate::index::Index;
use crate::index::spec::Kind;

use bounds::{ConditionSet, Draft};
use conditions::{Condition, Conditions};
use hint::Hinted;
use interval::Interval;
use plan::{IndexScan, Node, Step};
use requirements::{Distinct, Requirements, Sort};

/// The most candidates to try; mongod has the same limit.
const MAX_CANDIDATES: usize = 64;

/// Runs a trial of several plans for the same records and returns the position of the best.
pub(crate) type Pick<'p> = &'p mut dyn FnMut(Vec<Node>) -> Result<usize, ServerError>;

/// Returns the candidate plans, at least one.
pub(crate) fn plan(
    indexes: &[Index],
    requirements: &Requirements<'_>,
    pick: Pick<'_>,
) -> Result<Vec<Node>, ServerError> {
    if let Some(node) = access_path::plan(indexes, requirements)? {
        return Ok(vec![node]);
    }
    if let Some(distinct) = requirements.distinct {
        let all = Requirements {
            distinct: None,
            ..*requirements
        };
        return match distinct_scan(indexes, requirements, distinct, pick)? {
            DistinctScan::Plan(node) => Ok(vec![*node]),
            DistinctScan::NoPlan => plan(indexes, &all, pick),
            DistinctScan::Unskippable => {
                let whole = Requirements {
                    projects: false,
                    made_of: None,
                    ..all
                };
                plan(indexes, &whole, pick)
            }
        };
    }
    if let Some(node) = by_id(indexes, requirements) {
        // One document at most is found: neither a sort nor a limit would change that.
        let is_projected = requirements.projects && !requirements.counts;
        return Ok(vec![if is_projected {
            node.under(Step::Project)
        } else {
            node
        }]);
    }
    let conditions = Conditions::of_query(requirements);
    let search = Search::new(requirements, &conditions);
    let hinted = hint::find(indexes, requirements)?;
    let usable: Vec<&Index> = match &hinted {
        Hinted::Records { backwards } => {
            return Ok(vec![search.records(*backwards)]);
        }
        Hinted::Index(index) => vec![*index],
        Hinted::No => {
            if let Some(backwards) = requirements.natural {
                return Ok(vec![search.records(backwards)]);
            }
            visible(indexes).collect()
        }
    };
    let is_hinted = matches!(hinted, Hinted::Index(_));
    if let (Hinted::Index(index), true) = (
        &hinted,
        requirements.min.is_some() || requirements.max.is_some(),
    ) {
        let mut draft = Draft::whole(index);
        draft.scan.limits = Some(hint::limits(index, requirements)?);
        return Ok(vec![search.finish(index, draft)]);
    }
    if !is_hinted && let Some(node) = search.alternatives(&usable, pick)? {
        return Ok(vec![node]);
    }
    let mut candidates = search.candidates(&usable, is_hinted);
    candidates.truncate(MAX_CANDIDATES);
    if candidates.is_empty() {
        candidates.push(match hinted {
            Hinted::Index(index)
                if index.spec.kind == Kind::Wildcard && search.is_served_by_name(index) =>
            {
                search.records(false)
            }
            Hinted::Index(index) if index.spec.kind == Kind::Wildcard => {
                let is_asked =
                    (requirements.filter).is_some_and(|filter| wildcard::may_serve(index, filter));
                return Err(hint::no_plan(if is_asked {
                    "$hint: refusing to build whole-index solution, because it's a wildcard index"
                } else {
                    "No query solutions"
                }));
            }
            Hinted::Index(index) => search.finish(index, Draft::whole(index)),
            _ => search.records(false),
        });
    }
    Ok(candidates)
}

/// The outcome of planning with the indexes that contain the path of a [`Distinct`].
enum DistinctScan {
    Plan(Box<Node>),
    /// There are plans, but none can skip keys. mongod then reads whole documents, without a projection.
    Unskippable,
    NoPlan,
}

fn distinct_scan(
    indexes: &[Index],
    requirements: &Requirements<'_>,
    distinct: Distinct<'_>,
    pick: Pick<'_>,
) -> Result<DistinctScan, ServerError> {
    let hinted = hint::find(indexes, requirements)?;
    let mut usable: Vec<&Index> = match &hinted {
        Hinted::Records { .. } => Vec::new(),
        Hinted::Index(index) => vec![*index],
        Hinted::No => visible(indexes).collect(),
    };
    usable.retain(|index| distinct::position(index, distinct).is_some());
    let conditions = Conditions::of_query(requirements);
    let search = Search::new(requirements, &conditions);
    if requirements.filter.is_none() && requirements.sort.is_none() {
        let index = distinct::shortest(&usable, distinct, requirements.collation);
        return Ok(index.map_or(DistinctScan::NoPlan, |index| {
            DistinctScan::Plan(Box::new(search.whole_distinct(index, distinct)))
        }));
    }
    if let (Distinct::First(path), Some((paths, _))) = (distinct, requirements.sort)
        && paths.first() != Some(path)
    {
        return Ok(DistinctScan::NoPlan);
    }
    let is_hinted = matches!(hinted, Hinted::Index(_));
    let mut candidates = search.candidates(&usable, is_hinted);
    if !is_hinted {
        candidates.splice(0..0, search.alternatives(&usable, pick)?);
    }
    let is_found = !candidates.is_empty();
    let mut skipping = candidates
        .into_iter()
        .filter_map(|node| distinct::skipping(node, &usable, distinct));
    Ok(match (skipping.next(), distinct) {
        (Some(node), _) => DistinctScan::Plan(Box::new(node)),
        (None, Distinct::Value(_)) if is_found => DistinctScan::Unskippable,
        (None, _) => DistinctScan::NoPlan,
    })
}

fn visible(indexes: &[Index]) -> impl Iterator<Item = &Index> {
    indexes.iter().filter(|index| !index.spec.hidden)
}

impl<'a> Conditions<'a> {
    fn of_query(requirements: &Requirements<'a>) -> Self {
        requirements.filter.map_or_else(
            || Self {
                complete: true,
                ..Self::default()
            },
            |filter| conditions::of(filter, requirements.collation),
        )
    }
}

/// The plan that looks up one `_id`, if the filter tests nothing else.
fn by_id(indexes: &[Index], requirements: &Requirements<'_>) -> Option<Node> {
    let Some(Predicate::Field(field)) = requirements.filter else {
        return None;
    };
    let Test::Compare(Comparison::Eq, operand) = &field.test else {
        return None;
    };
    let plain = field.path.as_str() == "_id"
        && requirements.hint.is_none()
        && requirements.natural.is_none()
        && requirements.min.is_none()
        && requirements.max.is_none()
        && requirements.skip == 0
        && !matches!(
            operand.value(),
            RawBsonRef::Array(_) | RawBsonRef::Null | RawBsonRef::Undefined
        );
    let index = indexes.iter().find(|index| plain && index.spec.is_id())?;
    let point = Interval::point(operand.value(), requirements.collation);
    if point.collated && index.spec.collation.as_ref() != requirements.collation {
        return None;
    }
    let mut draft = Draft::whole(index);
    draft.scan.fields = vec![Arc::new([point])];
    Some(Node::leaf(Step::ById(draft.scan)))
}

impl Requirements<'_> {
    /// Adds the steps above the records: sort, skip, projection and limit.
    fn top(&self, mut node: Node, sorted: bool) -> Node {
        // A count applies skip and limit itself.
        if self.counts {
            return node;
        }
        let sorts = self.sort.is_some() && !sorted;
        // A projection that keeps the sort's fields goes below the sort, which then has less to hold. A sort with a
        // limit holds few documents.
        let early = self.projects
            && sorts
            && self.limit.is_none()
            && self.sort.is_some_and(|(paths, _)| {
                self.made_of
                    .is_some_and(|kept| paths.iter().all(|path| kept.contains(path)))
            });
        if early {
            node = node.under(Step::Project);
        }
        if sorts {
            let limit = self.limit.map(|limit| limit.saturating_add(self.skip));
            node = node.under(Step::Sort { limit });
        }
        if self.skip > 0 {
            let skip = Step::Skip(self.skip);
            // If the fetch rejects no document, skipping below it avoids fetching the skipped documents.
            node = match &node.step {
                Step::Fetch {
                    answered,
                    all: true,
                } if !sorts => {
                    let fetch = Step::Fetch {
                        answered: answered.clone(),
                        all: true,
                    };
                    let inputs = node
                        .inputs
                        .into_iter()
                        .map(|input| input.under(skip.clone()));
                    Node::over(fetch, inputs.collect())
                }
                _ => node.under(skip),
            };
        }
        if self.projects && !early {
            node = node.under(Step::Project);
        }
        match self.limit {
            Some(limit) if !sorts => node.under(Step::Limit(limit)),
            _ => node,
        }
    }
}

/// One query's search for plans.
struct Search<'s, 'w> {
    requirements: &'s Requirements<'w>,
    /// The number of children of the filter's top-level conjunction.
    children: usize,
    conditions: &'s Conditions<'w>,
}

impl<'s, 'w> Search<'s, 'w> {
    fn new(requirements: &'s Requirements<'w>, conditions: &'s Conditions<'w>) -> Self {
        Self {
            requirements,
            children: requirements
                .filter
                .map_or(0, |filter| conditions::children(filter).len()),
            conditions,
        }
    }
}

impl Search<'_, '_> {
    fn records(&self, backwards: bool) -> Node {
        let sorted = self.requirements.natural == Some(backwards);
        self.requirements
            .top(Node::leaf(Step::Records { backwards }), sorted)
    }

    /// Returns a plan for each way to use each index.
    fn candidates(&self, indexes: &[&Index], is_hinted: bool) -> Vec<Node> {
        let given = ConditionSet {
            all: &self.conditions.all,
            own: self.conditions.all.len(),
        };
        let mut found = Vec::new();
        let mut ordering = Vec::new();
        for index in indexes {
            // A hinted index may leave out matching documents, as on mongod, unless it is a wildcard index.
            let may_lose = is_hinted && index.spec.kind != Kind::Wildcard;
            if !may_lose
                && !sparse_coverage::is_complete(
                    &index.spec,
                    given.all,
                    self.requirements.collation,
                )
            {
                continue;
            }
            let drafts = bounds::drafts(index, given, self.requirements.collation);
            let bounded = !drafts.is_empty();
            found.extend(drafts.into_iter().map(|draft| self.finish(index, draft)));
            if !is_hinted || !bounded {
                ordering.extend(self.ordered(index));
            }
        }
        for (child, branches) in &self.conditions.branches {
            found.extend(self.within(indexes, *child, branches, is_hinted));
        }
        // Walks for the order alone are candidates only if no other candidate provides the order.
        let sorts = |step: &Step| matches!(step, Step::Sort { .. });
        if found.iter().all(|node| node.any(&sorts)) {
            found.extend(ordering);
        }
        found
    }

    /// Whether the index would serve the filter if numeric path parts were field names, as in mongod's wildcard
    /// indexes.
    fn is_served_by_name(&self, index: &Index) -> bool {
        let Some(filter) = self.requirements.filter else {
            return false;
        };
        if index.spec.partial.is_none()
            && wildcard::serves(index, filter, self.requirements.collation)
        {
            return true;
        }
        let conditions = conditions::with_numbers(filter, self.requirements.collation);
        let search = Search {
            requirements: self.requirements,
            children: self.children,
            conditions: &conditions,
        };
        !search.candidates(&[index], true).is_empty()
    }

    /// Plans a walk from value to value over a whole index.
    fn whole_distinct(&self, index: &Index, distinct: Distinct<'_>) -> Node {
        let mut scan = Draft::whole(index).scan;
        scan.distinct = Some(0);
        scan.covers = matches!(distinct, Distinct::Value(_)) || self.made_of_keys(index, &scan);
        let covers = scan.covers;
        let node = Node::leaf(Step::Index(scan));
        let node = if covers {
            node
        } else {
            node.under(Step::Fetch {
                answered: Vec::new(),
                all: true,
            })
        };
        self.requirements.top(node, true)
    }

    /// Plans a walk over a whole index that provides the sort order.
    fn ordered(&self, index: &Index) -> Option<Node> {
        let spec = &index.spec;
        let sort = self.requirements.sort?;
        if spec.sparse
            || spec.partial.is_some()
            || !matches!(spec.kind, Kind::Ordered | Kind::Hashed)
            || spec.collation.as_ref() != self.requirements.collation
        {
            return None;
        }
        let draft = Draft::whole(index);
        order::direction(index, &draft.scan, sort)?;
        Some(self.finish(index, draft))
    }

    /// Plans a filter that is a single `$or`, if an index serves each branch. The best index is chosen for each branch
    /// separately.
    fn alternatives(
        &self,
        indexes: &[&Index],
        pick: Pick<'_>,
    ) -> Result<Option<Node>, ServerError> {
        let ([(child, branches)], 1) = (self.conditions.branches.as_slice(), self.children) else {
            return Ok(None);
        };
        let mut drafts = Vec::new();
        for (at, branch) in branches.iter().enumerate() {
            let mut candidates = self.branch(indexes, branch, &[], false);
            if candidates.is_empty() {
                return Ok(None);
            }
            let best = if candidates.len() > 1 {
                let nodes = candidates
                    .iter()
                    .map(|(.., draft)| Node {
                        // A document that only another branch matches is no result of this one.
                        branch: Some(at),
                        ..Node::leaf(Step::Index(draft.scan.clone())).under(Step::Fetch {
                            answered: draft.answered.clone(),
                            all: false,
                        })
                    })
                    .collect();
                pick(nodes)?.min(candidates.len() - 1)
            } else {
                0
            };
            drafts.push(candidates.swap_remove(best));
        }
        Ok(Some(self.joined(*child, branches, drafts)))
    }

    /// Plans an `$or` that stands beside other conditions, which may bound the later fields of its indexes.
    fn within(
        &self,
        indexes: &[&Index],
        child: usize,
        branches: &[&Predicate],
        is_hinted: bool,
    ) -> Option<Node> {
        let drafts = branches
            .iter()
            .map(|branch| {
                self.branch(indexes, branch, &self.conditions.all, is_hinted)
                    .into_iter()
                    .rev()
                    .max_by_key(|(.., draft)| {
                        draft
                            .scan
                            .fields
                            .iter()
                            .filter(|field| !field.iter().any(Interval::is_all))
                            .count()
                    })
            })
            .collect::<Option<Vec<_>>>()?;
        Some(self.joined(child, branches, drafts))
    }

    fn branch<'i>(
        &self,
        indexes: &[&'i Index],
        branch: &Predicate,
        beside: &[Condition],
        is_hinted: bool,
    ) -> Vec<(usize, &'i Index, Draft)> {
        let conditions = conditions::of(branch, self.requirements.collation);
        let own = conditions.all.len();
        let mut all = conditions.all;
        all.extend(beside.iter().cloned());
        let given = ConditionSet { all: &all, own };
        indexes
            .iter()
            .enumerate()
            .filter(|(_, index)| {
                is_hinted
                    || sparse_coverage::is_complete(
                        &index.spec,
                        given.all,
                        self.requirements.collation,
                    )
            })
            .flat_map(|(place, index)| {
                bounds::drafts(index, given, self.requirements.collation)
                    .into_iter()
                    .map(move |draft| (place, *index, draft))
            })
            .collect()
    }

    /// Reads the branches of an `$or` one after the other, or merges them if all provide the sort order.
    fn joined(
        &self,
        child: usize,
        branches: &[&Predicate],
        drafts: Vec<(usize, &Index, Draft)>,
    ) -> Node {
        let mut drafts: Vec<_> = drafts.into_iter().zip(branches).enumerate().collect();
        // mongod orders the branches by their indexes.
        drafts.sort_by_key(|(_, ((place, ..), branch))| {
            let (kind, path) = branch.rank();
            (*place, path, kind)
        });
        let mut drafts = single_last(drafts, |(_, (_, branch))| {
            matches!(
                conditions::children(branch).as_slice(),
                [Predicate::Field(_)]
            )
        });
        let directions: Option<Vec<bool>> = self.requirements.sort.and_then(|sort| {
            drafts
                .iter()
                .map(|(_, ((_, index, draft), _))| self.direction(index, &draft.scan, sort))
                .collect()
        });
        let sorted = directions.is_some();
        for ((_, ((.., draft), _)), backwards) in
            drafts.iter_mut().zip(directions.unwrap_or_default())
        {
            draft.scan.backwards = backwards;
        }
        // If the index keys decide which records match, documents are fetched only to build results.
        let mut is_told = self.children == 1;
        let inputs = drafts
            .into_iter()
            .map(|(at, ((.., draft), branch))| {
                let all = conditions::children(branch).len();
                is_told &= draft.answered.len() < all || draft.exact;
                let node = Node {
                    branch: Some(at),
                    ..Node::leaf(Step::Index(draft.scan))
                };
                if draft.answered.len() >= all {
                    return node;
                }
                Node {
                    branch: Some(at),
                    ..node.under(Step::Fetch {
                        answered: draft.answered,
                        all: false,
                    })
                }
            })
            .collect();
        let mut node = Node::over(if sorted { Step::Merge } else { Step::Or }, inputs);
        let is_done =
            node.is_fetched() && self.children == 1 || self.requirements.counts && is_told;
        if !is_done {
            node = node.under(Step::Fetch {
                answered: vec![child],
                all: is_told,
            });
        }
        self.requirements.top(node, sorted)
    }

    /// Returns the walk's direction for a sort. Keys of strings have the order of one collation only.
    fn direction(&self, index: &Index, scan: &IndexScan, sort: Sort<'_>) -> Option<bool> {
        (index.spec.collation.as_ref() == self.requirements.collation)
            .then(|| order::direction(index, scan, sort))
            .flatten()
    }

    /// Completes a plan over one index walk.
    fn finish(&self, index: &Index, mut draft: Draft) -> Node {
        let mut walks = None;
        let mut sorted = false;
        if let Some(sort) = self.requirements.sort {
            if let Some(backwards) = self.direction(index, &draft.scan, sort) {
                draft.scan.backwards = backwards;
                sorted = true;
            } else if index.spec.collation.as_ref() == self.requirements.collation {
                walks = order::exploded(index, &draft.scan, sort);
                sorted = walks.is_some();
            }
        } else if self.requirements.natural.is_some() {
            sorted = true;
        }
        let answers_all = (0..self.children).all(|child| draft.answered.contains(&child));
        draft.scan.covers = answers_all
            && self.conditions.complete
            && walks.is_none()
            && (self.requirements.sort.is_none() || sorted)
            && self.made_of_keys(index, &draft.scan);
        let counts = self.requirements.only_counts()
            && draft.scan.covers
            && draft.exact
            && draft.scan.limits.is_none()
            && draft.scan.is_one_range();
        let covers = draft.scan.covers;
        let node = match walks {
            _ if counts => Node::leaf(Step::CountIndex(draft.scan)),
            None => Node::leaf(Step::Index(draft.scan)),
            Some(walks) => Node::over(
                Step::Merge,
                walks
                    .into_iter()
                    .map(|walk| Node::leaf(Step::Index(walk)))
                    .collect(),
            ),
        };
        let node = if covers {
            node
        } else {
            node.under(Step::Fetch {
                all: answers_all && self.conditions.complete,
                answered: draft.answered,
            })
        };
        self.requirements.top(node, sorted)
    }

    /// Whether the keys of an index contain everything that the result is built from.
    fn made_of_keys(&self, index: &Index, scan: &IndexScan) -> bool {
        let Some(paths) = self.requirements.made_of else {
            return false;
        };
        let spec = &index.spec;
        paths.is_empty()
            || (spec.collation.is_none()
                && paths.iter().all(|path| {
                    let name = path.as_str();
                    let known =
                        match &scan.path {
                            Some(own) => {
                                own == name && scan.fields.first().is_some_and(|at| at.len() == 1)
                            }
                            None => spec.paths.iter().zip(&spec.parts).any(|(own, part)| {
                                own == path && !part.hashed && part.geo.is_none()
                            }),
                        };
                    known && !index.arrays.has(name)
                }))
    }
}

/// Imitates the order of `$or` branches on mongod: a branch with a single condition moves behind the branches with
/// several conditions that directly follow it.
fn single_last<T>(items: Vec<T>, is_single: impl Fn(&T) -> bool) -> Vec<T> {
    let mut ordered = Vec::with_capacity(items.len());
    let mut held = None;
    for item in items {
        if is_single(&item) {
            ordered.extend(held.replace(item));
        } else {
            ordered.push(item);
        }
    }
    ordered.extend(held);
    ordered
}
