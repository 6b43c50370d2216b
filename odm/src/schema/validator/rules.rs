//! The declared bounds as keywords of `$jsonSchema`.

use std::cmp::Ordering;

use bson::{Bson, Document, doc};

use crate::model::rule::Limit;
use crate::model::{Bound, BsonType, Keys, Rule};

/// The rules of a field, split between an array and its elements.
#[derive(Clone, Copy)]
pub(crate) struct Rules<'a> {
    rules: &'a [Rule],
    which: Which,
}

#[derive(Clone, Copy, PartialEq)]
enum Which {
    All,
    Array,
    Elements,
}

impl<'a> Rules<'a> {
    pub(crate) fn new(rules: &'a [Rule]) -> Self {
        Self {
            rules,
            which: Which::All,
        }
    }

    /// These rules, for a value that may be anything.
    pub(super) fn all(self) -> Self {
        self
    }

    /// The rules that bound the array; an array that is itself an element has none.
    pub(crate) fn of_the_array(self) -> Self {
        Self {
            which: Which::Array,
            rules: if self.which == Which::Elements {
                &[]
            } else {
                self.rules
            },
        }
    }

    /// The rules that bound each element.
    pub(crate) fn of_elements(self) -> Self {
        Self {
            which: Which::Elements,
            ..self
        }
    }

    pub(super) fn is_empty(self) -> bool {
        self.iter().next().is_none()
    }

    fn iter(self) -> impl Iterator<Item = &'a Rule> {
        let keywords = |rule: &&Rule| !matches!(rule, Rule::Bytes { .. });
        let rules = self.rules.iter().filter(keywords);
        rules.filter(move |rule| match self.which {
            Which::All => true,
            Which::Array => is_of_the_array(rule),
            Which::Elements => !is_of_the_array(rule),
        })
    }
}

fn is_of_the_array(rule: &Rule) -> bool {
    matches!(rule, Rule::Items { .. } | Rule::UniqueItems)
}

/// Refuses rules that do not apply to values of `types`: MongoDB would ignore them.
pub(super) fn check(rules: Rules<'_>, types: &[BsonType]) -> Result<(), String> {
    const NUMBERS: [BsonType; 4] = [
        BsonType::Double,
        BsonType::Int,
        BsonType::Long,
        BsonType::Decimal,
    ];
    for rule in rules.iter() {
        let (word, needs, fits) = match rule {
            Rule::Range { .. } => (
                "range",
                "a number",
                types.iter().any(|ty| NUMBERS.contains(ty)),
            ),
            Rule::Length { .. } => ("length", "a string", types.contains(&BsonType::String)),
            Rule::Pattern(_) => ("pattern", "a string", types.contains(&BsonType::String)),
            Rule::OneOf(_) => ("one_of", "a string", types.contains(&BsonType::String)),
            Rule::Items { .. } => ("items", "an array", types.contains(&BsonType::Array)),
            Rule::UniqueItems => ("unique_items", "an array", types.contains(&BsonType::Array)),
            Rule::Keys(_) | Rule::Schema(_) | Rule::Bytes { .. } => continue,
        };
        if !fits && !types.is_empty() {
            let stored: Vec<_> = types.iter().map(|ty| ty.alias()).collect();
            return Err(format!(
                "`{word}` bounds {needs}, and this field is stored as {}; remove it or change the type",
                stored.join(" or "),
            ));
        }
    }
    Ok(())
}

/// Adds the keywords of a field's rules and of its type's own, and the fixed length of an array, to `schema`.
pub(crate) fn apply(
    mut schema: Document,
    rules: Rules<'_>,
    own: impl Iterator<Item = &'static Rule>,
    len: Option<usize>,
) -> Result<Document, String> {
    let mut items = Interval {
        min: len.and_then(|len| u32::try_from(len).ok()),
        max: len.and_then(|len| u32::try_from(len).ok()),
    };
    let mut length = Interval::default();
    let mut range = Range::default();
    for rule in rules.iter().copied().chain(own.copied()) {
        match rule {
            Rule::Range { min, max } => {
                range.narrow(min, max);
            }
            Rule::Length { min, max } => length.narrow(min, max),
            Rule::Pattern(pattern) => {
                all_of(&mut schema, "pattern", pattern.into());
            }
            Rule::OneOf([]) => {
                return Err("`one_of` allows nothing; list the strings that are valid".to_owned());
            }
            Rule::OneOf(values) => {
                let mut distinct: Vec<Bson> = Vec::new();
                for value in values.iter().map(|value| Bson::from(*value)) {
                    if !distinct.contains(&value) {
                        distinct.push(value);
                    }
                }
                all_of(&mut schema, "enum", distinct.into());
            }
            Rule::Items { min, max } => items.narrow(min, max),
            Rule::UniqueItems => {
                schema.insert("uniqueItems", true);
            }
            Rule::Schema(keywords) => {
                for (keyword, value) in keywords() {
                    all_of(&mut schema, &keyword, value);
                }
            }
            Rule::Keys(_) | Rule::Bytes { .. } => {}
        }
    }
    range.write(&mut schema);
    length.write(&mut schema, "minLength", "maxLength")?;
    items.write(&mut schema, "minItems", "maxItems")?;
    Ok(schema)
}

/// Adds a keyword, in a schema of its own if `schema` has another value of it.
fn all_of(schema: &mut Document, keyword: &str, value: Bson) {
    match schema.get(keyword) {
        None => {
            schema.insert(keyword, value);
        }
        Some(same) if *same == value => {}
        Some(_) => match schema.get_array_mut("allOf") {
            Ok(all) => all.push(doc! {keyword: value}.into()),
            Err(_) => {
                schema.insert("allOf", vec![Bson::from(doc! {keyword: value})]);
            }
        },
    }
}

/// The keywords of the entries of a map, whose values have the schema `values`.
pub(super) fn map(own: impl Iterator<Item = &'static Rule>, values: Document) -> Document {
    let mut keys = own.filter_map(|rule| match rule {
        Rule::Keys(keys) => Some(*keys),
        _ => None,
    });
    match keys.next().unwrap_or(Keys::Any) {
        Keys::Any if values.is_empty() => doc! {},
        Keys::Any => doc! {"additionalProperties": values},
        Keys::Names(names) => {
            let entries = names
                .iter()
                .map(|name| ((*name).to_owned(), values.clone().into()));
            let entries: Document = entries.collect();
            doc! {"properties": entries, "additionalProperties": false}
        }
        Keys::Pattern(pattern) => {
            doc! {"patternProperties": {pattern(): values}, "additionalProperties": false}
        }
    }
}

/// The keywords of a map's rules.
pub(crate) fn entries(rules: Rules<'_>) -> Result<Document, String> {
    let mut schema = Document::new();
    let mut entries = Interval::default();
    for rule in rules.iter() {
        match *rule {
            Rule::Items { min, max } => entries.narrow(min, max),
            _ => {
                return Err(
                    "`unique_items` needs an array field; remove it from this map".to_owned(),
                );
            }
        }
    }
    entries.write(&mut schema, "minProperties", "maxProperties")?;
    Ok(schema)
}

/// The ends of a range of numbers; several rules must all hold.
#[derive(Default)]
struct Range {
    min: Option<Bound>,
    max: Option<Bound>,
}

impl Range {
    fn narrow(&mut self, min: Option<Bound>, max: Option<Bound>) {
        self.min = tighter(self.min, min, Ordering::Greater);
        self.max = tighter(self.max, max, Ordering::Less);
    }

    fn write(self, schema: &mut Document) {
        bound(schema, "minimum", "exclusiveMinimum", self.min);
        bound(schema, "maximum", "exclusiveMaximum", self.max);
    }
}

/// The bound that is `wanted` compared with the other one, or excludes the same number.
fn tighter(one: Option<Bound>, other: Option<Bound>, wanted: Ordering) -> Option<Bound> {
    let (Some(first), Some(second)) = (one, other) else {
        return one.or(other);
    };
    let order = compare(second.value, first.value);
    let is_second = order == wanted || order == Ordering::Equal && second.exclusive;
    Some(if is_second { second } else { first })
}

#[expect(
    clippy::cast_precision_loss,
    reason = "a limit with a decimal point is not written beyond 2^53"
)]
fn compare(one: Limit, other: Limit) -> Ordering {
    let double = |limit| match limit {
        Limit::Int(int) => int as f64,
        Limit::Double(double) => double,
    };
    match (one, other) {
        (Limit::Int(one), Limit::Int(other)) => one.cmp(&other),
        (one, other) => double(one).total_cmp(&double(other)),
    }
}

fn bound(schema: &mut Document, keyword: &str, exclusive: &str, bound: Option<Bound>) {
    if let Some(bound) = bound {
        schema.insert(keyword, number(bound.value));
        if bound.exclusive {
            schema.insert(exclusive, true);
        }
    }
}

fn number(number: Limit) -> Bson {
    match number {
        Limit::Int(int) => i32::try_from(int).map_or(Bson::Int64(int), Bson::Int32),
        Limit::Double(double) => Bson::Double(double),
    }
}

/// A minimum and a maximum; several bounds of one kind must all hold.
#[derive(Default)]
struct Interval {
    min: Option<u32>,
    max: Option<u32>,
}

impl Interval {
    fn narrow(&mut self, min: Option<u32>, max: Option<u32>) {
        self.min = self.min.max(min);
        self.max = match (self.max, max) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        };
    }

    fn write(self, schema: &mut Document, min: &str, max: &str) -> Result<(), String> {
        if let (Some(low), Some(high)) = (self.min, self.max)
            && low > high
        {
            return Err(format!("at least {low} and at most {high} can't both hold"));
        }
        for (keyword, bound) in [(min, self.min), (max, self.max)] {
            if let Some(bound) = bound {
                schema.insert(keyword, number(Limit::Int(i64::from(bound))));
            }
        }
        Ok(())
    }
}
