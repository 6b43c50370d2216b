//! Prints filters as the planner parses them, for `parsedQuery` and the `filter` of stages.

use bson::raw::{RawBsonRef, RawDocument};
use bson::{Bson, Document, doc};
use odm_language::matcher::{Comparison, ElementMatch, Group, Predicate, Test, expr_comparison};
use odm_language::value::bson_type::{self, TypeSet};

use crate::planner::conditions;

/// The order of the conditions within one `$and`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sorted {
    /// The order of evaluation.
    ByKind,
    /// mongod's order in a stage above an index scan.
    ByPath,
}

/// A whole filter.
pub(super) fn filter(predicate: &Predicate) -> Document {
    within(predicate, Sorted::ByKind)
}

fn within(predicate: &Predicate, sorted: Sorted) -> Document {
    let mut children = conditions::children(predicate);
    sorted.sort(&mut children);
    all(&children, sorted)
}

/// The conjunction of some conditions, in their order.
pub(super) fn all(predicates: &[&Predicate], sorted: Sorted) -> Document {
    match predicates {
        [] => Document::new(),
        [only] => one(only, sorted),
        several => {
            let shown = several.iter().map(|it| within(it, sorted));
            doc! { "$and": shown.collect::<Vec<_>>() }
        }
    }
}

impl Sorted {
    fn sort(self, predicates: &mut [&Predicate]) {
        if self == Self::ByPath {
            predicates.sort_by(|one, other| one.compare_by_path(other));
        }
    }
}

fn list(group: &Group, sorted: Sorted) -> Vec<Document> {
    let mut children: Vec<_> = group.evaluated().collect();
    sorted.sort(&mut children);
    children.into_iter().map(|it| within(it, sorted)).collect()
}

fn one(predicate: &Predicate, sorted: Sorted) -> Document {
    match predicate {
        Predicate::And(group) => doc! { "$and": list(group, sorted) },
        Predicate::Or(group) => doc! { "$or": list(group, sorted) },
        Predicate::Nor(group) => {
            if let [only @ Predicate::Field(_)] = group.children.as_slice() {
                negated(only, &group.source)
            } else {
                doc! { "$nor": list(group, sorted) }
            }
        }
        Predicate::Not(negation) => negated(&negation.child, &negation.source),
        Predicate::Field(field) => {
            let mut shown = Document::new();
            shown.insert(field.path.as_str(), test(&field.test, &field.source));
            shown
        }
        Predicate::Expr(expression) => written(&expression.source),
        Predicate::Schema(_) => doc! { "$jsonSchema": {} },
        Predicate::Text(text) => {
            let request = &text.request;
            doc! { "$text": {
                "$search": &request.search,
                "$language": request.language.as_deref().unwrap_or_default(),
                "$caseSensitive": request.case_sensitive,
                "$diacriticSensitive": request.diacritic_sensitive,
            } }
        }
        Predicate::Always(true) => doc! { "$alwaysTrue": 1 },
        Predicate::Always(false) => doc! { "$alwaysFalse": 1 },
    }
}

fn negated(inner: &Predicate, source: &RawDocument) -> Document {
    match inner {
        Predicate::Field(field) => {
            let mut shown = Document::new();
            shown.insert(
                field.path.as_str(),
                doc! { "$not": test(&field.test, &field.source) },
            );
            shown
        }
        _ => written(source),
    }
}

fn written(source: &RawDocument) -> Document {
    Document::try_from(source).unwrap_or_default()
}

fn owned(value: RawBsonRef<'_>) -> Bson {
    Bson::try_from(value).unwrap_or(Bson::Null)
}

fn test(test: &Test, source: &RawDocument) -> Bson {
    match test {
        Test::Compare(comparison, operand) => {
            let operator = match comparison {
                Comparison::Eq => "$eq",
                Comparison::Gt => "$gt",
                Comparison::Gte => "$gte",
                Comparison::Lt => "$lt",
                Comparison::Lte => "$lte",
            };
            Bson::Document(doc! { operator: owned(operand.value()) })
        }
        Test::Compared(comparison, operand) => {
            let mut shown = Document::new();
            shown.insert(expr_comparison::name(*comparison), owned(operand.value()));
            Bson::Document(shown)
        }
        Test::In(list) if list.regexes.is_empty() && list.values.len() == 1 => {
            let only = list.values.first().map(|operand| owned(operand.value()));
            Bson::Document(doc! { "$eq": only })
        }
        Test::In(list) => {
            let values = list.values.iter().map(|operand| owned(operand.value()));
            // A stored pattern has no zero byte, so both convert.
            let regexes = list.regexes.iter().filter_map(|regex| {
                Some(Bson::RegularExpression(bson::Regex {
                    pattern: regex.pattern().try_into().ok()?,
                    options: regex.options().try_into().ok()?,
                }))
            });
            Bson::Document(doc! { "$in": values.chain(regexes).collect::<Vec<_>>() })
        }
        Test::Exists => Bson::Document(doc! { "$exists": true }),
        Test::Regex(regex) => {
            let mut shown = doc! { "$regex": regex.pattern() };
            if !regex.options().is_empty() {
                shown.insert("$options", regex.options());
            }
            Bson::Document(shown)
        }
        Test::Mod { divisor, remainder } => {
            Bson::Document(doc! { "$mod": [small(*divisor), small(*remainder)] })
        }
        Test::Size(size) => {
            Bson::Document(doc! { "$size": small(i64::try_from(*size).unwrap_or(i64::MAX)) })
        }
        Test::Element(ElementMatch::Document(inner)) => {
            Bson::Document(doc! { "$elemMatch": filter(inner) })
        }
        Test::Type(_) => match operators(source) {
            Bson::Document(shown) => {
                let operand = shown.get("$type").cloned().unwrap_or(Bson::Null);
                Bson::Document(doc! { "$type": types(operand) })
            }
            other => other,
        },
        Test::Bits(bits) => {
            let positions = bits.positions.iter();
            let positions = positions.map(|at| small(i64::try_from(*at).unwrap_or(i64::MAX)));
            match operators(source) {
                Bson::Document(mut shown) => {
                    for (_, operand) in shown.iter_mut() {
                        *operand = Bson::Array(positions.clone().collect());
                    }
                    Bson::Document(shown)
                }
                other => other,
            }
        }
        Test::Geo(_) | Test::Near(_) | Test::Element(ElementMatch::Value(_)) => operators(source),
    }
}

/// A condition as written, without its path, which is shown already.
fn operators(source: &RawDocument) -> Bson {
    let mut shown = written(source);
    let only = shown
        .keys()
        .next()
        .cloned()
        .filter(|name| !name.starts_with('$'));
    match only.and_then(|name| shown.remove(name)) {
        Some(inner) => inner,
        None => Bson::Document(shown),
    }
}

/// The type codes of a `$type` operand. The alias `number` has no code.
fn types(operand: Bson) -> Vec<Bson> {
    let listed = match operand {
        Bson::Array(values) => values,
        one => vec![one],
    };
    let mut codes = Vec::new();
    let mut shown = Vec::new();
    for value in listed {
        match &value {
            Bson::String(name) if name == "number" => shown.push(value),
            Bson::String(name) => {
                let types = TypeSet::from_alias(name);
                codes.extend(
                    bson_type::every_type()
                        .filter(|kind| types.is_some_and(|types| types.contains(*kind)))
                        .filter_map(bson_type::code),
                );
            }
            Bson::Int32(code) => codes.push(*code),
            Bson::Int64(code) => codes.extend(i32::try_from(*code)),
            Bson::Double(code) => {
                codes.extend(
                    bson_type::every_type()
                        .filter_map(bson_type::code)
                        .filter(|known| f64::from(*known).total_cmp(code).is_eq()),
                );
            }
            _ => shown.push(value),
        }
    }
    codes.sort_unstable();
    codes.dedup();
    shown.extend(codes.into_iter().map(Bson::Int32));
    shown
}

/// A number in the smallest type that holds it.
pub(super) fn small(value: i64) -> Bson {
    i32::try_from(value).map_or(Bson::Int64(value), Bson::Int32)
}
