//! Enums for strings of few different values.

use super::{Inference, describe};
use crate::pull::item::{Body, Item, Variant};
use crate::pull::literal::code;
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
        let name = names::element_type_name(key);
        let around = self.items.get(item).map_or("", |item| item.name.as_str());
        let whole = describe::whole(self.collection(), path);
        self.items.push(Item {
            long_name: format!("{around}{name}"),
            name,
            collection: None,
            left_out: Vec::new(),
            is_empty: false,
            docs: vec![format!("A string in {}.", code(&whole))],
            comments: Vec::new(),
            attributes: Vec::new(),
            body: Body::Enum(variants),
        });
        Some(self.items.len() - 1)
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
