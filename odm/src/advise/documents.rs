//! Advice from the documents of one model alone: sizes, arrays, optional fields, strings.

use std::fmt::Write as _;

use bson::{Document, doc};

use super::fields::{List, Optional};
use super::lengths::Lengths;
use super::report::{number, percent, size};
use super::subject::Subject;
use super::survey::{Held, Strings, Survey};
use super::thresholds::{
    ARRAY_GROWTH, ARRAY_LENGTH, BLOATED_SIZE, BOUND_MEDIAN_PERCENT, BOUND_PERCENT,
    GROWN_ARRAY_LENGTH, HEAVY_FIELDS, HEAVY_PERCENT, LARGEST_DOCUMENT, LIGHT_FIELDS,
    REQUIRED_DOCUMENTS, SIZE_PERCENT, SMALLEST_BOUND,
};
use super::{Advice, AdviceCode};
use crate::model::{CounterpartKind, InverseKind, ModelMeta, RelationMeta};

/// The advice about these documents, by codes. `stored` is the size of the whole collection in bytes, if it is known.
pub(super) fn advise(subject: &Subject, survey: &Survey, stored: Option<u64>) -> Vec<Advice> {
    let mut advice: Vec<Advice> = near_size_limit(subject, survey).into_iter().collect();
    for (list, lengths) in &survey.lists {
        advice.extend(array(subject, list, lengths));
    }
    advice.extend(bloated(subject, survey, stored));
    for strings in &survey.strings {
        advice.extend(case_variants(subject, strings));
    }
    for (field, counts) in &survey.optionals {
        advice.extend(could_be_required(subject, field, counts));
    }
    advice
}

fn near_size_limit(subject: &Subject, survey: &Survey) -> Option<Advice> {
    let budget = subject.model.budget.map(|budget| budget.max);
    let limit = budget.map_or(LARGEST_DOCUMENT, |budget| budget.min(LARGEST_DOCUMENT));
    let share = percent(survey.largest, limit);
    if share <= SIZE_PERCENT {
        return None;
    }
    let name = if budget.is_some() {
        "the declared budget"
    } else {
        "MongoDB's limit"
    };
    let heaviest = heaviest(survey)
        .first()
        .map_or("the largest field", |(name, _)| *name);
    Some(Advice {
        figures: doc! {
            "largest": number(survey.largest),
            "limit": number(limit),
            "percent": number(share),
            "mean": number(survey.mean()),
        },
        message: format!(
            "the largest document has {}, {share} % of {name} of {}; the mean is {}",
            size(survey.largest),
            size(limit),
            size(survey.mean()),
        ),
        remedy: format!(
            "move what grows to a collection of its own, beginning with `{heaviest}`, which carries most of the bytes; or declare a \
             smaller `items(max = …)` or `length(max = …)`"
        ),
        ..subject.advice(AdviceCode::NearSizeLimit)
    })
}

/// The top-level fields by the bytes that they carry, without the `_id`; the heaviest come first.
fn heaviest(survey: &Survey) -> Vec<(&'static str, u64)> {
    let weights = survey.weights.iter().copied();
    let mut weights: Vec<_> = weights.filter(|(name, _)| *name != "_id").collect();
    weights.sort_by(|(_, one), (_, other)| other.cmp(one));
    weights
}

fn array(subject: &Subject, list: &List, lengths: &Lengths) -> Option<Advice> {
    let [p50, p90, p99] = [50, 90, 99].map(|percent| lengths.percentile(percent));
    let max = lengths.max();
    let mut figures = doc! {
        "p50": number(p50),
        "p90": number(p90),
        "p99": number(p99),
        "max": number(max),
        "arrays": number(lengths.total()),
    };
    let path = list.at.path.clone();
    let kind = if list.is_map { "map" } else { "array" };
    let lengths =
        format!("{p50} elements at the median, {p99} at the 99th percentile and {max} at most");
    if let Some(bound) = list.max {
        let bound_of = u64::from(bound);
        let is_near = percent(max, bound_of) >= BOUND_PERCENT;
        let is_filled = percent(p50, bound_of) > BOUND_MEDIAN_PERCENT;
        if bound < SMALLEST_BOUND || !is_near || is_filled {
            return None;
        }
        figures.insert("bound", number(bound_of));
        return Some(Advice {
            message: format!(
                "the {kind} `{path}` has {lengths}, and may have {bound}: the next writes to the longest ones are refused"
            ),
            remedy: format!(
                "declare a larger bound for `{path}` if documents stay small, keep only the newest elements by a `recent` list, or \
                 move the elements to a collection of their own, by `has_many`"
            ),
            path: Some(path),
            figures,
            ..subject.advice(AdviceCode::ArrayNearBound)
        });
    }
    let is_long = p99 > ARRAY_LENGTH;
    let has_grown = max >= GROWN_ARRAY_LENGTH && max > p50.saturating_mul(ARRAY_GROWTH);
    (is_long || has_grown).then(|| Advice {
        message: format!("the {kind} `{path}` has no declared bound, and {lengths}"),
        remedy: format!(
            "declare `#[odm(items(max = …))]` on `{path}`, which the validator enforces; or move the elements to a collection of \
             their own, by `has_many` or `has_squillions`"
        ),
        path: Some(path),
        figures,
        ..subject.advice(AdviceCode::UnboundedArray)
    })
}

fn bloated(subject: &Subject, survey: &Survey, stored: Option<u64>) -> Option<Advice> {
    let mean = survey.mean();
    if mean < BLOATED_SIZE || is_split(subject.model) {
        return None;
    }
    let weights = heaviest(survey);
    let mut carried = 0;
    let mut heavy = Vec::new();
    for (name, bytes) in weights.iter().take(HEAVY_FIELDS) {
        carried += bytes;
        heavy.push((*name, *bytes));
        if percent(carried, survey.bytes) >= HEAVY_PERCENT {
            break;
        }
    }
    let share = percent(carried, survey.bytes);
    if share < HEAVY_PERCENT || weights.len() < heavy.len() + LIGHT_FIELDS {
        return None;
    }
    let of_each = |bytes: u64| bytes.checked_div(survey.documents).unwrap_or(0);
    let fields: Document = heavy
        .iter()
        .map(|(name, bytes)| ((*name).to_owned(), number(of_each(*bytes))))
        .collect();
    let names: Vec<String> = heavy
        .iter()
        .map(|(name, bytes)| format!("`{name}` ({})", size(of_each(*bytes))))
        .collect();
    let names = names.join(" and ");
    let mut figures = doc! {
        "mean": number(mean),
        "percent": number(share),
        "heaviest": fields,
        "others": number((weights.len() - heavy.len()) as u64),
    };
    let mut message = format!(
        "documents have {} on average, {share} % of it in {names}; every read of another field brings that into the cache",
        size(mean),
    );
    if let Some(stored) = stored {
        figures.insert("collection", number(stored));
        let _ = write!(message, ", and the collection has {}", size(stored));
    }
    Some(Advice {
        figures,
        message,
        remedy: format!(
            "if {names} is seldom read, move it to a model of its own, and declare `subset(details: …Details, by = …)` on \
             `{}`",
            subject.model.name
        ),
        ..subject.advice(AdviceCode::BloatedDocuments)
    })
}

/// Whether the model keeps the rarely used fields apart, or holds those of another one.
fn is_split(model: &'static ModelMeta) -> bool {
    model.relations().iter().any(|relation| match relation {
        RelationMeta::Inverse(inverse) => inverse.kind == InverseKind::Rest,
        RelationMeta::Reference(reference) => reference
            .counterpart
            .is_some_and(|one| one.kind == CounterpartKind::Rest),
        RelationMeta::Recent(_) => false,
    })
}

fn case_variants(subject: &Subject, strings: &Strings) -> Option<Advice> {
    let variants = strings.variants();
    if variants == 0 {
        return None;
    }
    let path = strings.path.as_str();
    Some(Advice {
        path: Some(path.to_owned()),
        index: Some(strings.index.clone()),
        figures: doc! {
            "variants": number(variants),
            "different": number(strings.different()),
        },
        message: format!(
            "{variants} of {} values of `{path}` have variants that differ only by case, and no index of it ignores case",
            strings.different(),
        ),
        remedy: format!(
            "if the variants are one value, give the index `{}` `collation(locale = \"en\", strength = 2)`, and search with the \
             same collation; a regular expression with the option `i` reads all keys of an index",
            strings.index
        ),
        ..subject.advice(AdviceCode::CaseVariants)
    })
}

fn could_be_required(subject: &Subject, field: &Optional, counts: &Held) -> Option<Advice> {
    let Held { around, held } = *counts;
    if held < REQUIRED_DOCUMENTS || held < around {
        return None;
    }
    let (path, rust) = (&field.path, field.rust);
    let remedy = if field.is_nullable {
        format!(
            "declare `{rust}` without `Option`, and apply the plan of `sync`, so that the validator requires it"
        )
    } else {
        format!(
            "declare `{rust}` without `#[serde(default)]` and `skip_serializing_if`, and apply the plan of `sync`, so that the \
             validator requires it"
        )
    };
    Some(Advice {
        path: Some(path.clone()),
        figures: doc! {"documents": number(held)},
        message: format!(
            "`{path}` is declared as optional, and each of the {held} sampled documents that could have it has it, not null"
        ),
        remedy,
        ..subject.advice(AdviceCode::CouldBeRequired)
    })
}
