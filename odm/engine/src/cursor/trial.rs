//! Chooses between plans by trying them: each gets the same units of work, and the most productive one continues.

use std::collections::VecDeque;

use odm_language::error::ServerError;

use crate::cursor::exec::{Execution, Row, Work};
use crate::planner::plan::{Node, Step};

/// The trial ends when one plan has produced this many results.
const RESULTS: u64 = 101;

/// The units of work for each plan, or 30% of the number of records if that is more.
const WORKS: usize = 10_000;

/// A plan that was tried.
#[derive(Debug)]
pub(crate) struct Tried {
    pub(crate) node: Node,
    pub(crate) execution: Execution,
    /// The results of the trial.
    pub(crate) rows: VecDeque<Row>,
    pub(crate) score: f64,
    ended: bool,
}

impl Tried {
    /// A plan before its trial, or one that needs none because it is the only one.
    pub(crate) fn untried(node: Node, execution: Execution) -> Self {
        Self {
            node,
            execution,
            rows: VecDeque::new(),
            score: 0.0,
            ended: false,
        }
    }
}

/// Tries plans over the same records. The best comes first.
pub(crate) fn run(
    plans: Vec<(Node, Execution)>,
    records: usize,
    limit: Option<u64>,
) -> Result<Vec<Tried>, ServerError> {
    let mut tried: Vec<Tried> = plans
        .into_iter()
        .map(|(node, execution)| Tried::untried(node, execution))
        .collect();
    let results = usize::try_from(limit.map_or(RESULTS, |limit| limit.min(RESULTS))).unwrap_or(101);
    let works = WORKS.max(records.saturating_mul(3) / 10);
    for _ in 0..works {
        let mut goes_on = true;
        for plan in &mut tried {
            match plan.execution.work()? {
                Work::Row(row) => {
                    plan.rows.push_back(row);
                    goes_on &= plan.rows.len() < results;
                }
                Work::Again => {}
                Work::End => {
                    plan.ended = true;
                    goes_on = false;
                }
            }
        }
        if !goes_on {
            break;
        }
    }
    for plan in &mut tried {
        plan.score = score(plan);
    }
    tried.sort_by(|one, other| other.score.total_cmp(&one.score));
    Ok(tried)
}

/// The productivity of a plan. Bonuses break ties: a plan without a fetch or without a sort is better.
fn score(plan: &Tried) -> f64 {
    let counters = &plan.execution.root.counters;
    #[expect(clippy::cast_precision_loss, reason = "the numbers are small")]
    let (advanced, works) = (counters.advanced as f64, counters.works.max(1) as f64);
    let bonus = (1.0 / (10.0 * works)).min(1e-4);
    let lacks = |step: fn(&Step) -> bool| if plan.node.any(&step) { 0.0 } else { bonus };
    let fetches = lacks(|step| matches!(step, Step::Fetch { .. }));
    let sorts = lacks(|step| matches!(step, Step::Sort { .. }));
    let ended = if plan.ended { 1.0 } else { 0.0 };
    // The last bonus is for plans without index intersection, which none here use.
    1.0 + advanced / works + fetches + sorts + bonus + ended
}
