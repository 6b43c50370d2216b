//! The families of operators.

use crate::expression::operator::Operator;
use crate::expression::{
    accumulate, arithmetic, array, bits, comparison, date, exponential, hash, object, percentile,
    random, regex, set, string, top_n, trigonometry, types,
};
use crate::version::ServerVersion;

const FAMILIES: &[&[Operator]] = &[
    accumulate::OPERATORS,
    arithmetic::OPERATORS,
    array::OPERATORS,
    bits::OPERATORS,
    comparison::OPERATORS,
    date::OPERATORS,
    hash::OPERATORS,
    object::OPERATORS,
    exponential::OPERATORS,
    percentile::OPERATORS,
    random::OPERATORS,
    top_n::OPERATORS,
    regex::OPERATORS,
    set::OPERATORS,
    string::OPERATORS,
    trigonometry::OPERATORS,
    types::OPERATORS,
];

/// Operators that mongod has and the engine does not; sorted. They are refused by name.
pub(super) const UNSUPPORTED: &[&str] = &["$_internalJsEmit", "$accumulator", "$function"];

/// The row of an operator.
pub(super) fn find(name: &str) -> Option<&'static Operator> {
    FAMILIES.iter().find_map(|family| {
        let index = family
            .binary_search_by_key(&name, |operator| operator.name)
            .ok()?;
        family.get(index)
    })
}

/// The operators that a version has added.
pub fn added(version: ServerVersion) -> Vec<&'static str> {
    let rows = FAMILIES.iter().copied().flatten();
    rows.filter(|row| row.since == version)
        .map(|row| row.name)
        .collect()
}

/// The arguments that a version has added to an operator.
pub fn added_arguments(operator: &str, version: ServerVersion) -> Vec<&'static str> {
    use crate::expression::operator::ArgumentForm;
    let Some(ArgumentForm::Named(named)) = find(operator).map(|row| row.shape) else {
        return Vec::new();
    };
    let added = named.added.iter().filter(|(_, since)| *since == version);
    added.map(|(name, _)| *name).collect()
}

/// Every operator of 6.0, and whether it is supported.
pub fn known() -> Vec<(&'static str, bool)> {
    let rows = added(ServerVersion::V6_0).into_iter();
    rows.chain(super::special_forms::names())
        .chain(super::parse::LITERALS.iter().copied())
        .map(|name| (name, true))
        .chain(UNSUPPORTED.iter().map(|name| (*name, false)))
        .collect()
}

/// The named arguments of the operators that have them.
pub fn known_arguments() -> Vec<(&'static str, Vec<&'static str>)> {
    use crate::expression::operator::ArgumentForm;
    let rows = FAMILIES.iter().copied().flatten();
    let rows = rows.filter(|row| row.since == ServerVersion::V6_0);
    let named = rows.filter_map(|row| match row.shape {
        ArgumentForm::Named(named) => {
            let mut names = named.names.to_vec();
            names.retain(|name| named.since(name) == ServerVersion::V6_0);
            Some((row.name, names))
        }
        ArgumentForm::Listed(..) | ArgumentForm::Whole => None,
    });
    let forms = super::special_forms::ARGUMENTS.iter();
    named
        .chain(forms.map(|(name, arguments)| (*name, arguments.to_vec())))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_sorted_and_unique() {
        let mut seen = std::collections::BTreeSet::new();
        for family in FAMILIES {
            assert!(family.is_sorted_by_key(|operator| operator.name));
            for operator in *family {
                assert!(seen.insert(operator.name), "{}", operator.name);
            }
        }
        assert!(UNSUPPORTED.is_sorted());
        for name in UNSUPPORTED {
            assert!(seen.insert(name), "{name}");
        }
    }
}
