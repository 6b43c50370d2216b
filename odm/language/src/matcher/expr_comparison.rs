//! The field comparisons that an `$expr` implies, added to the filter beside it.
//!
//! Expressions compare by their own rules: values of any types, an array as a whole, a missing field below null. The
//! comparisons here are therefore a separate kind of test ([`Test::Compared`]). They stand only beside the `$expr` that
//! they come from, which decides; the planner uses them, and `explain` shows them under mongod's names.

use bson::raw::RawBson;

use crate::expression::{Globals, Implied};
use crate::matcher::ast::{FieldTest, Group, Predicate, Test};
use crate::matcher::comparison::{Comparison, Operand};
use crate::matcher::parse::written;
use crate::value::path::Path;

/// mongod's name for such a comparison.
pub fn name(comparison: Comparison) -> &'static str {
    match comparison {
        Comparison::Eq => "$_internalExprEq",
        Comparison::Gt => "$_internalExprGt",
        Comparison::Gte => "$_internalExprGte",
        Comparison::Lt => "$_internalExprLt",
        Comparison::Lte => "$_internalExprLte",
    }
}

/// Adds the implied comparisons beside every `$expr` of a filter and flattens nested conjunctions, as mongod does.
pub(super) fn compare_fields(predicate: &mut Predicate, globals: &Globals) {
    if !has_expr(predicate) {
        return;
    }
    match predicate {
        Predicate::And(group) => {
            let mut all = std::mem::take(&mut group.children);
            for child in &mut all {
                compare_fields(child, globals);
            }
            let children = flat(all);
            *group = Group::new(children, group.operator, std::mem::take(&mut group.source));
        }
        Predicate::Or(group) | Predicate::Nor(group) => {
            for child in &mut group.children {
                compare_fields(child, globals);
            }
            let is_or = group.operator == Some("$or");
            let mut children = std::mem::take(&mut group.children);
            // An `$or` of one branch is that branch.
            if is_or
                && children.len() == 1
                && let Some(only) = children.pop()
            {
                *predicate = only;
                return;
            }
            *group = Group::new(children, group.operator, std::mem::take(&mut group.source));
        }
        Predicate::Expr(expr) => {
            let Some(implied) = expr.expression.implied(globals) else {
                return;
            };
            let source = expr.source.clone();
            let children = flat(vec![condition(implied), Predicate::Expr(expr.clone())]);
            *predicate = Predicate::And(Group::new(children, None, source));
        }
        _ => {}
    }
}

fn has_expr(predicate: &Predicate) -> bool {
    match predicate {
        Predicate::And(group) | Predicate::Or(group) | Predicate::Nor(group) => {
            group.children.iter().any(has_expr)
        }
        Predicate::Expr(_) => true,
        _ => false,
    }
}

/// The conditions without the conjunctions among them, whose own conditions follow the others.
fn flat(conditions: Vec<Predicate>) -> Vec<Predicate> {
    let (mut all, mut behind) = (Vec::new(), Vec::new());
    for condition in conditions {
        match condition {
            Predicate::And(group) => behind.extend(flat(group.children)),
            other => all.push(other),
        }
    }
    all.append(&mut behind);
    all
}

fn condition(implied: Implied) -> Predicate {
    let group = |parts: Vec<Implied>| {
        let children = parts.into_iter().map(condition).collect();
        Group::new(children, None, bson::RawDocumentBuf::new())
    };
    match implied {
        Implied::All(mut parts) => match parts.pop() {
            Some(only) if parts.is_empty() => condition(only),
            last => {
                parts.extend(last);
                Predicate::And(group(parts))
            }
        },
        Implied::Any(parts) => Predicate::Or(group(parts)),
        Implied::Field {
            path,
            operator,
            value,
        } => field(&path, operator, &value),
    }
}

fn field(path: &str, operator: &str, value: &RawBson) -> Predicate {
    let comparison = match operator {
        "$gt" => Comparison::Gt,
        "$gte" => Comparison::Gte,
        "$lt" => Comparison::Lt,
        "$lte" => Comparison::Lte,
        _ => Comparison::Eq,
    };
    let value = value.as_raw_bson_ref();
    let operator = name(comparison);
    Predicate::Field(FieldTest {
        path: Path::new(path),
        test: Test::Compared(comparison, Operand::new(value)),
        operator,
        source: written(path, operator, value),
    })
}
