//! References, guessed from ids that resolve.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::infer::{Sampled, scalar};
use super::item::Type;
use super::literal::code;
use super::names;
use super::number::{count, percent};
use super::shape::{Kind, Shape, Value};
use super::source::{Listed, Source};
use crate::error::Result;

/// The number of different values of a field that are looked up.
const LOOKED_UP: usize = 200;

/// Strings under a name that says nothing refer to a collection only if they are this many different ones, this long on
/// average, and nearly all of them resolve.
const LEAST_STRINGS: usize = 5;
const LEAST_LENGTH: usize = 3;
const NEARLY_ALL: f64 = 0.95;

/// Names of fields that lead to documents of their own collection.
const OWN: &[&str] = &["ancestor", "child", "next", "parent", "prev", "previous"];

/// A field that seems to refer to a collection.
#[derive(Debug, Clone)]
pub(super) struct Guess {
    pub(super) target: String,
    resolved: usize,
    of: usize,
}

impl Guess {
    /// For the field's documentation.
    pub(super) fn describe(&self) -> String {
        let number = |number: usize| u64::try_from(number).unwrap_or(u64::MAX);
        let (resolved, of) = (number(self.resolved), number(self.of));
        format!(
            "{} of {} ids resolve in {}.",
            percent(resolved, of),
            count(of),
            code(&self.target)
        )
    }
}

/// The guesses, by collection and path.
#[derive(Debug, Default)]
pub(super) struct Guesses(HashMap<String, HashMap<Vec<String>, Guess>>);

impl Guesses {
    pub(super) fn get(&self, collection: &str, path: &[String]) -> Option<&Guess> {
        self.0.get(collection)?.get(path)
    }
}

/// A field whose values may be ids.
struct Candidate<'s> {
    collection: &'s str,
    path: Vec<String>,
    ty: Type,
    values: Vec<&'s Value>,
    /// The words of the field's name.
    words: Vec<String>,
    /// Whether the values alone can show what they refer to.
    is_telling: bool,
    /// The collection that DBRefs name.
    named: Option<&'s str>,
}

/// Looks the values of fields up in the collections whose ids have their type. `share` of them have to resolve.
pub(super) async fn guess(
    source: &Source,
    sampled: &[Sampled],
    listed: &[Listed],
    share: f64,
) -> Result<Guesses> {
    let mut candidates = Vec::new();
    for one in sampled {
        collect(
            &one.shape,
            &one.collection,
            &mut Vec::new(),
            &mut candidates,
        );
    }
    let mut best: Vec<Option<(Guess, bool)>> = candidates.iter().map(|_| None).collect();
    for target in sampled {
        let Some(listed) = listed.iter().find(|one| one.name == target.collection) else {
            continue;
        };
        let target_id = target.shape.fields.get("_id").map(scalar);
        let words = singular_words(&target.collection);
        let is_named = |candidate: &Candidate<'_>| {
            let is_own = candidate.collection == target.collection;
            is_named_after(&candidate.words, &words, is_own)
        };
        let may_refer = |candidate: &Candidate<'_>| match candidate.named {
            Some(named) => named == target.collection,
            None => {
                Some(&candidate.ty) == target_id.as_ref()
                    && (candidate.is_telling || is_named(candidate))
            }
        };
        let ids: BTreeSet<&Value> = candidates
            .iter()
            .filter(|candidate| may_refer(candidate))
            .flat_map(|candidate| candidate.values.iter().copied())
            .collect();
        if ids.is_empty() {
            continue;
        }
        let existing = source.existing(listed, &ids).await;
        let existing = existing
            .map_err(|error| error.context(format!("the ids of {}", code(&target.collection))))?;
        for (candidate, best) in candidates.iter().zip(&mut best) {
            if may_refer(candidate) {
                better(
                    candidate,
                    &target.collection,
                    is_named(candidate),
                    &existing,
                    share,
                    best,
                );
            }
        }
    }
    let mut guesses = Guesses::default();
    for (candidate, best) in candidates.into_iter().zip(best) {
        if let Some((guess, _)) = best {
            let of_collection = guesses.0.entry(candidate.collection.to_owned());
            of_collection.or_default().insert(candidate.path, guess);
        }
    }
    Ok(guesses)
}

/// Keeps the guess that more ids speak for; of two, the one that the field's name speaks for.
fn better(
    candidate: &Candidate<'_>,
    target: &str,
    is_named: bool,
    existing: &HashSet<Value>,
    share: f64,
    best: &mut Option<(Guess, bool)>,
) {
    let of = candidate.values.len();
    let resolved = candidate.values.iter();
    let resolved = resolved.filter(|value| existing.contains(**value)).count();
    let is_text = matches!(candidate.ty, Type::Plain("String"));
    let share = if is_named || !is_text {
        share
    } else {
        share.max(NEARLY_ALL)
    };
    #[expect(clippy::cast_precision_loss, reason = "there are a few hundred")]
    let reached = resolved > 0 && resolved as f64 >= share * of as f64;
    // A DBRef says where it leads, whether or not it resolves.
    if !reached && candidate.named.is_none() {
        return;
    }
    let is_better = best.as_ref().is_none_or(|(other, is_other_named)| {
        (resolved, is_named) > (other.resolved, *is_other_named)
    });
    if is_better {
        let target = target.to_owned();
        *best = Some((
            Guess {
                target,
                resolved,
                of,
            },
            is_named,
        ));
    }
}

fn collect<'s>(
    shape: &'s Shape,
    collection: &'s str,
    path: &mut Vec<String>,
    candidates: &mut Vec<Candidate<'s>>,
) {
    if path.first().is_some_and(|first| first == "_id") {
        return;
    }
    let is_id = matches!(
        shape.only(),
        Some(Kind::ObjectId | Kind::Uuid | Kind::String | Kind::Int | Kind::Long)
    );
    let ty = scalar(shape);
    if is_id || ty == Type::Plain("i64") {
        let values = spread(shape);
        if !values.is_empty() {
            candidates.push(Candidate {
                collection,
                path: path.clone(),
                is_telling: is_telling(&ty, &values),
                ty,
                values,
                words: field_words(path),
                named: None,
            });
        }
    }
    for (name, field) in shape.fields.iter() {
        path.push(name.to_owned());
        collect(field, collection, path, candidates);
        path.pop();
    }
    if let Some(entries) = shape.entries.as_deref() {
        path.push("*".to_owned());
        collect(entries, collection, path, candidates);
        path.pop();
    }
    let Some(elements) = shape.elements.as_deref() else {
        return;
    };
    if shape.of(Kind::DbRef) == 0 {
        collect(elements, collection, path, candidates);
        return;
    }
    // The only element of a DBRef is its id.
    let mut named = shape.references.keys();
    if let (Some(named), None) = (named.next(), named.next())
        && shape.of(Kind::Array) == 0
    {
        let values = spread(elements);
        if !values.is_empty() {
            candidates.push(Candidate {
                collection,
                path: path.clone(),
                ty: scalar(elements),
                values,
                words: Vec::new(),
                is_telling: false,
                named: Some(named),
            });
        }
    }
}

/// Some of the values, spread over all, because the least ones may be the oldest.
fn spread(shape: &Shape) -> Vec<&Value> {
    let step = shape.values.kept().count().div_ceil(LOOKED_UP).max(1);
    shape.values.kept().step_by(step).collect()
}

/// Whether the values alone can show what they refer to: ids that nobody counts up or types.
fn is_telling(ty: &Type, values: &[&Value]) -> bool {
    match ty {
        Type::Plain("ObjectId" | "bson::Uuid") => true,
        Type::Plain("String") => {
            let texts = values.iter().filter_map(|value| match value {
                Value::Text(text) => Some(text.len()),
                _ => None,
            });
            let lengths: Vec<usize> = texts.collect();
            let total: usize = lengths.iter().sum();
            lengths.len() >= LEAST_STRINGS && total >= LEAST_LENGTH * lengths.len()
        }
        _ => false,
    }
}

/// The words of a field's name, without those that say that it is an id.
fn field_words(path: &[String]) -> Vec<String> {
    let name = path.iter().rev().find(|name| *name != "*");
    let mut words = name.map(|name| singular_words(name)).unwrap_or_default();
    let suffixes = ["id", "oid", "ref", "key", "fk"];
    let has_suffix = words
        .last()
        .is_some_and(|last| suffixes.contains(&last.as_str()));
    if has_suffix && words.len() > 1 {
        words.pop();
    }
    words
}

/// Whether a field's name is that of a collection: `author`, `authorId`, `main_author_id` or `author_ids` for `authors`.
fn is_named_after(field: &[String], collection: &[String], is_own: bool) -> bool {
    let leads_to_own = field
        .last()
        .is_some_and(|last| OWN.contains(&last.as_str()));
    let is_same = !field.is_empty()
        && !collection.is_empty()
        && (field.ends_with(collection) || collection.ends_with(field));
    is_own && leads_to_own || is_same
}

fn singular_words(name: &str) -> Vec<String> {
    let words = names::words(name).into_iter();
    words.map(|word| names::singular(&word)).collect()
}
