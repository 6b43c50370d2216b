//! Filters as the planner reads them: what `parsedQuery` and the stages' `filter` show.

use bson::raw::{RawBsonRef, RawDocument};
use bson::{Bson, Document, doc};

use crate::engine::matcher::{Comparison, ElementMatch, Predicate, Test, compared};
use crate::engine::planner::conditions;

/// A whole filter.
pub(super) fn filter(predicate: &Predicate) -> Document {
    all(&conditions::children(predicate))
}

/// Some conditions, all of which hold.
pub(super) fn all(predicates: &[&Predicate]) -> Document {
    match predicates {
        [] => Document::new(),
        [only] => one(only),
        several => doc! { "$and": list(several.iter().copied()) },
    }
}

fn list<'a>(predicates: impl Iterator<Item = &'a Predicate>) -> Vec<Document> {
    predicates.map(filter).collect()
}

fn one(predicate: &Predicate) -> Document {
    match predicate {
        Predicate::And(group) => doc! { "$and": list(group.evaluated()) },
        Predicate::Or(group) => doc! { "$or": list(group.evaluated()) },
        Predicate::Nor(group) => {
            if let [only @ Predicate::Field(_)] = group.children.as_slice() {
                negated(only, &group.source)
            } else {
                doc! { "$nor": list(group.evaluated()) }
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
            shown.insert(compared::name(*comparison), owned(operand.value()));
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
        Test::Type(_)
        | Test::Bits(_)
        | Test::Geo(_)
        | Test::Near(_)
        | Test::Element(ElementMatch::Value(_)) => {
            let mut shown = written(source);
            // `{path: {operator: operand}}`: the path is shown already.
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
    }
}

/// A number in the smallest type that holds it.
pub(super) fn small(value: i64) -> Bson {
    i32::try_from(value).map_or(Bson::Int64(value), Bson::Int32)
}
