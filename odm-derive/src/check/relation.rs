//! Checks of relations in the other direction.

use crate::attribute_names;
use crate::errors::Errors;
use crate::facts::Facts;
use crate::parse::serde::unraw;

pub(super) fn check(facts: &Facts<'_>, errors: &mut Errors) {
    let model = facts.model;
    for (position, inverse) in model.attributes.inverses.iter().enumerate() {
        let name = unraw(&inverse.name);
        if model.field(&inverse.name).is_some() {
            errors.at(
                &inverse.name,
                format!("`{name}` is a field of the struct; give the relation another name"),
            );
        }
        let mut before = model.attributes.inverses.iter().take(position);
        if before.any(|other| unraw(&other.name) == name) {
            errors.at(
                &inverse.name,
                format!("two relations are called `{name}`; give one of them another name"),
            );
        }
        if !model.generics.params.is_empty() {
            errors.at(
                &inverse.word,
                format!(
                    "a generic struct can't declare `{}`: other models refer to one collection; declare it on a struct without parameters",
                    inverse.word
                ),
            );
        }
        if let Some(reason) = &inverse.allow_scan
            && reason.value().trim().is_empty()
        {
            errors.at(
                reason,
                format!(
                    "say why a scan is fine: {}",
                    attribute_names::usage(attribute_names::ALLOW_SCAN).unwrap_or_default()
                ),
            );
        }
    }
}
