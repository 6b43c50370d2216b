//! Checks of `range`, `length`, `pattern`, `one_of`, `items` and `unique_items`.

use crate::attribute_names;
use crate::errors::Errors;
use crate::facts::assertions::{LIST, NUMBER, TEXT, UNIQUE_LIST};
use crate::facts::field::FieldFacts;
use crate::model::rust_type::Kind;
use crate::parse::rule::{Bound, FieldRule, Number, Rule, Size};

pub(super) fn check(field: &FieldFacts<'_>, rule: &FieldRule, errors: &mut Errors) {
    let word = &rule.word;
    if !fits(field, &rule.rule) {
        if let Rule::Items(Size { max: Some(max), .. }) = rule.rule
            && word == attribute_names::LENGTH
        {
            errors.at(
                word,
                format!(
                    "`length = {max}` is for a list that always has {max} elements; for a text, write `length(min = {max}, max = {max})`"
                ),
            );
            return;
        }
        let needs = match rule.rule {
            Rule::Range { .. } => NUMBER,
            Rule::Length(_) | Rule::Pattern(_) | Rule::OneOf(_) => TEXT,
            Rule::Items(_) => LIST,
            Rule::UniqueItems | Rule::Bytes(_) => UNIQUE_LIST,
        };
        errors.at(word, format!("`{word}` {needs}"));
        return;
    }
    match &rule.rule {
        Rule::Range { min, max } => range(rule, *min, *max, errors),
        Rule::Length(size) | Rule::Items(size) => sized(rule, *size, errors),
        Rule::Pattern(pattern) => {
            if let Err(error) = fancy_regex::Regex::new(&pattern.value()) {
                errors.at(pattern, format!("not a regular expression: {error}"));
            }
        }
        Rule::OneOf(_) | Rule::UniqueItems | Rule::Bytes(_) => {}
    }
}

/// Whether the type's spelling allows the rule.
fn fits(one: &FieldFacts<'_>, rule: &Rule) -> bool {
    if one.field.encoder.is_some() {
        return true;
    }
    match rule {
        Rule::Range { .. } => matches!(
            one.element,
            Kind::Integer | Kind::Float | Kind::Decimal | Kind::Unknown
        ),
        Rule::Length(_) | Rule::Pattern(_) | Rule::OneOf(_) => {
            matches!(one.element, Kind::Text | Kind::Ref(_) | Kind::Unknown)
        }
        Rule::Items(_) => matches!(one.stored, Kind::List(_) | Kind::Map | Kind::Unknown),
        Rule::UniqueItems => matches!(one.stored, Kind::List(_) | Kind::Unknown),
        Rule::Bytes(_) => true,
    }
}

fn range(rule: &FieldRule, min: Option<Bound>, max: Option<Bound>, errors: &mut Errors) {
    match (min, max) {
        (None, None) => nothing(rule, errors),
        (Some(min), Some(max)) => {
            let (low, high) = (min.value.as_f64(), max.value.as_f64());
            let empty = match (min.value, max.value) {
                (Number::Int(low), Number::Int(high)) => {
                    low > high || (low == high && (min.exclusive || max.exclusive))
                }
                _ => low > high,
            };
            if empty {
                errors.at(&rule.word, "`min` is greater than `max`; swap them");
            }
        }
        _ => {}
    }
}

fn sized(rule: &FieldRule, size: Size, errors: &mut Errors) {
    match (size.min, size.max) {
        (None, None) => nothing(rule, errors),
        (Some(min), Some(max)) if min > max => errors.at(
            &rule.word,
            format!("`min` ({min}) is greater than `max` ({max}); swap them"),
        ),
        _ => {}
    }
}

fn nothing(rule: &FieldRule, errors: &mut Errors) {
    let word = &rule.word;
    errors.at(
        word,
        format!("`{word}` has neither `min` nor `max`; write one: `{word}(min = 1)`"),
    );
}
