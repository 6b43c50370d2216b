//! The families of operators, and the error codes for their arguments.

use bson::raw::{RawBsonRef, RawDocument};

use crate::expression::operator::Operator;
use crate::expression::text;
use crate::expression::{
    accumulate, arithmetic, array, comparison, date, hash, object, powers, random, ranked, regex,
    set, string, trigonometry, types,
};

const FAMILIES: &[&[Operator]] = &[
    accumulate::OPERATORS,
    arithmetic::OPERATORS,
    array::OPERATORS,
    comparison::OPERATORS,
    date::OPERATORS,
    hash::OPERATORS,
    object::OPERATORS,
    powers::OPERATORS,
    random::OPERATORS,
    ranked::OPERATORS,
    regex::OPERATORS,
    set::OPERATORS,
    string::OPERATORS,
    trigonometry::OPERATORS,
    types::OPERATORS,
];

/// Operators that mongod has and the engine does not; sorted. They are refused by name.
pub(super) const UNSUPPORTED: &[&str] = &["$_internalJsEmit", "$accumulator", "$function"];

/// Operators with named arguments that also take the first one without its name.
pub(super) const BARE: &[&str] = &[
    "$dayOfMonth",
    "$dayOfWeek",
    "$dayOfYear",
    "$getField",
    "$hour",
    "$isoDayOfWeek",
    "$isoWeek",
    "$isoWeekYear",
    "$millisecond",
    "$minute",
    "$month",
    "$second",
    "$week",
    "$year",
];

/// The row of an operator.
pub(super) fn find(name: &str) -> Option<&'static Operator> {
    FAMILIES.iter().find_map(|family| {
        let index = family
            .binary_search_by_key(&name, |operator| operator.name)
            .ok()?;
        family.get(index)
    })
}

/// Every operator, and whether it is supported.
pub fn known() -> Vec<(&'static str, bool)> {
    let rows = FAMILIES.iter().copied().flatten().map(|row| row.name);
    rows.chain(super::forms::names())
        .chain(super::parse::LITERALS.iter().copied())
        .map(|name| (name, true))
        .chain(UNSUPPORTED.iter().map(|name| (*name, false)))
        .collect()
}

/// The named arguments of the operators that have them.
pub fn known_arguments() -> Vec<(&'static str, Vec<&'static str>)> {
    use crate::expression::operator::Shape;
    let rows = FAMILIES.iter().copied().flatten();
    let named = rows.filter_map(|row| match row.shape {
        Shape::Named(names) => Some((row.name, names.iter().map(|(name, _)| *name).collect())),
        Shape::Listed(..) | Shape::Whole => None,
    });
    let forms = super::forms::ARGUMENTS.iter();
    named
        .chain(forms.map(|(name, arguments)| (*name, arguments.to_vec())))
        .collect()
}

/// The error code for an argument that is not an object.
pub(super) fn not_an_object(name: &str) -> i32 {
    match name {
        "$trim" | "$ltrim" | "$rtrim" => 50696,
        "$convert" => 9,
        "$dateToString" => 18629,
        "$dateToParts" => 40524,
        "$dateFromParts" => 40519,
        "$dateFromString" => 40540,
        "$dateAdd" | "$dateSubtract" => 5_166_400,
        "$dateDiff" => 5_166_301,
        "$dateTrunc" => 5_439_007,
        "$sortArray" => 2_942_500,
        "$regexFind" | "$regexFindAll" | "$regexMatch" => 51103,
        "$setField" | "$unsetField" => 4_161_100,
        "$maxN" | "$minN" => 5_787_900,
        "$firstN" | "$lastN" => 5_787_801,
        "$replaceOne" | "$replaceAll" => 51751,
        _ => 2,
    }
}

/// The error code for an unknown named argument.
pub(super) fn unknown_argument(name: &str) -> i32 {
    match name {
        "$trim" | "$ltrim" | "$rtrim" => 50694,
        "$convert" => 9,
        "$dateToString" => 18534,
        "$dateToParts" => 40520,
        "$dateFromParts" => 40518,
        "$dateFromString" => 40541,
        "$dateAdd" | "$dateSubtract" => 5_166_401,
        "$dateDiff" => 5_166_302,
        "$dateTrunc" => 5_439_008,
        "$sortArray" => 2_942_501,
        "$regexFind" | "$regexFindAll" | "$regexMatch" => 31024,
        "$setField" | "$unsetField" => 4_161_101,
        "$firstN" | "$lastN" | "$maxN" | "$minN" => 5_787_901,
        "$getField" => 3_041_701,
        "$replaceOne" | "$replaceAll" => 51750,
        _ => 40535,
    }
}

pub(super) fn unknown_argument_message(name: &str, key: &str) -> String {
    match name {
        "$convert" | "$sortArray" | "$trim" | "$ltrim" | "$rtrim" | "$regexFind"
        | "$regexFindAll" | "$regexMatch" | "$getField" | "$setField" | "$unsetField"
        | "$replaceOne" | "$replaceAll" => {
            format!("{name} found an unknown argument: {key}")
        }
        "$firstN" | "$lastN" | "$maxN" | "$minN" => {
            format!("Unknown argument for 'n' operator: {key}")
        }
        "$dateToString" | "$dateToParts" | "$dateFromParts" | "$dateFromString" | "$dateAdd"
        | "$dateSubtract" | "$dateDiff" | "$dateTrunc" => {
            format!("Unrecognized argument to {name}: {key}")
        }
        _ => format!("unrecognized option to {name}: \"{key}\""),
    }
}

pub(super) fn not_an_object_message(name: &str, argument: RawBsonRef<'_>) -> String {
    let found = text::type_name(Some(argument));
    match name {
        "$firstN" | "$lastN" | "$maxN" | "$minN" => format!(
            "specification must be an object; found {}",
            text::element(name, argument)
        ),
        "$trim" | "$ltrim" | "$rtrim" => {
            format!("{name} only supports an object as an argument, found {found}")
        }
        "$convert" | "$regexFind" | "$regexFindAll" | "$regexMatch" => {
            format!("{name} expects an object of named arguments but found: {found}")
        }
        "$sortArray" | "$replaceOne" | "$replaceAll" => {
            format!("{name} requires an object as an argument, found: {found}")
        }
        "$dateToString" | "$dateToParts" | "$dateFromParts" | "$dateAdd" | "$dateSubtract"
        | "$dateDiff" | "$dateTrunc" | "$unsetField" => {
            format!("{name} only supports an object as its argument")
        }
        _ => format!("{name} only supports an object as an argument, found: {found}"),
    }
}

/// The error code for a missing argument.
pub(super) fn missing_argument(name: &str, key: &str) -> i32 {
    match (name, key) {
        ("$trim" | "$ltrim" | "$rtrim", _) => 50695,
        ("$convert", _) => 9,
        ("$dateToString", _) => 18628,
        ("$dateToParts", _) => 40522,
        ("$dateFromString", _) => 40542,
        ("$dateAdd" | "$dateSubtract", _) => 5_166_402,
        ("$dateDiff", "endDate") => 5_166_304,
        ("$dateDiff", "unit") => 5_166_305,
        ("$dateDiff", _) => 5_166_303,
        ("$dateTrunc", "unit") => 5_439_010,
        ("$dateTrunc", _) => 5_439_009,
        ("$sortArray", "input") => 2_942_502,
        ("$sortArray", _) => 2_942_503,
        ("$regexFind" | "$regexFindAll" | "$regexMatch", "input") => 31022,
        ("$regexFind" | "$regexFindAll" | "$regexMatch", _) => 31023,
        ("$firstN" | "$lastN" | "$maxN" | "$minN", "n") => 5_787_906,
        ("$firstN" | "$lastN" | "$maxN" | "$minN", _) => 5_787_907,
        ("$getField", "field") => 3_041_702,
        ("$getField", _) => 3_041_703,
        ("$setField" | "$unsetField", "input") => 4_161_109,
        ("$setField" | "$unsetField", "value") => 4_161_103,
        ("$replaceOne" | "$replaceAll", "input") => 51749,
        ("$replaceOne" | "$replaceAll", "find") => 51748,
        ("$replaceOne" | "$replaceAll", _) => 51747,
        ("$setField" | "$unsetField", _) => 4_161_102,
        _ => 40539,
    }
}

pub(super) fn missing_argument_message(name: &str, key: &str, given: &RawDocument) -> String {
    match name {
        "$trim" | "$ltrim" | "$rtrim" => format!("{name} requires an '{key}' field"),
        "$regexFind" | "$regexFindAll" | "$regexMatch" => {
            format!("{name} requires '{key}' parameter")
        }
        "$firstN" | "$lastN" | "$maxN" | "$minN" => format!("Missing value for '{key}'"),
        "$dateAdd" | "$dateSubtract" => {
            format!("{name} requires startDate, unit, and amount to be present")
        }
        "$convert" | "$dateDiff" | "$dateFromString" | "$dateToParts" | "$dateToString"
        | "$dateTrunc" => {
            format!("Missing '{key}' parameter to {name}")
        }
        _ if BARE.contains(&name) && name != "$getField" => format!(
            "missing '{key}' argument to {name}, provided: {}",
            text::element(name, RawBsonRef::Document(given))
        ),
        _ => format!("{name} requires '{key}' to be specified"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_sorted_and_stand_once() {
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
