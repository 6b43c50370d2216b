//! Enums for strings of few different values.

use super::Inference;
use crate::pull::item::{Body, Variant};
use crate::pull::names::{self, Names};
use crate::pull::number;
use crate::pull::shape::{Kind, Shape, Value};

/// The least number of strings, and the least number for each different one.
const LEAST: u64 = 20;
const LEAST_OF_EACH: u64 = 4;

impl Inference<'_> {
    /// An enum, if the strings are those of one.
    pub(super) fn enumeration(
        &mut self,
        shape: &Shape,
        key: &str,
        item: usize,
        path: &[String],
    ) -> Option<usize> {
        let variants = self.variants(shape, path)?;
        Some(self.add("string", key, item, path, Body::Enum(variants)))
    }

    fn variants(&self, shape: &Shape, path: &[String]) -> Option<Vec<Variant>> {
        let values = shape.values.complete()?;
        let most = self.choices.max_variants;
        let strings = shape.of(Kind::String);
        let different = u64::try_from(values.len()).ok()?;
        let is_unique = self
            .sampled
            .is_some_and(|sampled| sampled.unique.contains(&path.join(".")));
        let are_few = (2..=most).contains(&values.len());
        if is_unique || !are_few || strings < LEAST || strings / different < LEAST_OF_EACH {
            return None;
        }
        let mut idents = Names::default();
        let variants = values.iter().map(|(value, count)| {
            let Value::Text(stored) = value else {
                return None;
            };
            let ident = idents.take(&names::variant(stored)?);
            let share = number::percent(*count, strings);
            Some(Variant {
                stored: stored.clone(),
                ident,
                docs: vec![format!("{share} of the strings.")],
            })
        });
        variants.collect()
    }
}
