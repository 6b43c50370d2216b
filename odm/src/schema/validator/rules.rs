//! The declared bounds as keywords of `$jsonSchema`.

use bson::{Bson, Document};

use crate::model::rule::Limit;
use crate::model::{Bound, BsonType, Rule};

/// The rules of a field, split between an array and its elements.
#[derive(Clone, Copy)]
pub(super) struct Rules<'a> {
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
    pub(super) fn new(rules: &'a [Rule]) -> Self {
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
    pub(super) fn of_the_array(self) -> Self {
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
    pub(super) fn of_elements(self) -> Self {
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
            Rule::Bytes { .. } => continue,
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

/// Adds the rules' keywords, and the fixed length of an array, to `schema`.
pub(super) fn apply(
    mut schema: Document,
    rules: Rules<'_>,
    len: Option<usize>,
) -> Result<Document, String> {
    let mut items = Interval {
        min: len.and_then(|len| u32::try_from(len).ok()),
        max: len.and_then(|len| u32::try_from(len).ok()),
    };
    let mut length = Interval::default();
    for rule in rules.iter() {
        match *rule {
            Rule::Range { min, max } => {
                bound(&mut schema, "minimum", "exclusiveMinimum", min);
                bound(&mut schema, "maximum", "exclusiveMaximum", max);
            }
            Rule::Length { min, max } => length.narrow(min, max),
            Rule::Pattern(pattern) => {
                schema.insert("pattern", pattern);
            }
            Rule::OneOf([]) => return Err("`one_of` allows nothing; name the strings".to_owned()),
            Rule::OneOf(values) => {
                let mut distinct: Vec<Bson> = Vec::new();
                for value in values.iter().map(|value| Bson::from(*value)) {
                    if !distinct.contains(&value) {
                        distinct.push(value);
                    }
                }
                schema.insert("enum", distinct);
            }
            Rule::Items { min, max } => items.narrow(min, max),
            Rule::UniqueItems => {
                schema.insert("uniqueItems", true);
            }
            Rule::Bytes { .. } => {}
        }
    }
    length.write(&mut schema, "minLength", "maxLength")?;
    items.write(&mut schema, "minItems", "maxItems")?;
    Ok(schema)
}

/// The keywords of a map's rules.
pub(super) fn entries(rules: Rules<'_>) -> Result<Document, String> {
    let mut schema = Document::new();
    let mut entries = Interval::default();
    for rule in rules.iter() {
        match *rule {
            Rule::Items { min, max } => entries.narrow(min, max),
            _ => return Err("`unique_items` needs an array field; take it off this map".to_owned()),
        }
    }
    entries.write(&mut schema, "minProperties", "maxProperties")?;
    Ok(schema)
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
