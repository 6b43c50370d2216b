//! Validation rules, beyond the type of a field.

/// A function that returns a filter as a document; generated code wraps the user's closure in one.
pub type FilterFn = fn() -> crate::error::Result<bson::Document>;

/// A function that returns keywords of `$jsonSchema`.
pub type SchemaFn = fn() -> bson::Document;

/// A rule of one field or one type; each but [`Bytes`](Self::Bytes) becomes keywords of the generated `$jsonSchema`.
///
/// On an array field, the rules for scalars apply to each element.
#[derive(Debug, Clone, Copy)]
pub enum Rule {
    /// `minimum` and `maximum`, with `exclusiveMinimum` and `exclusiveMaximum`.
    Range {
        /// The lower bound.
        min: Option<Bound>,
        /// The upper bound.
        max: Option<Bound>,
    },
    /// `minLength` and `maxLength`, in code points.
    Length {
        /// The lower bound.
        min: Option<u32>,
        /// The upper bound.
        max: Option<u32>,
    },
    /// `pattern`: a regular expression that matches anywhere in the string.
    Pattern(&'static str),
    /// `enum`: the strings that are allowed.
    OneOf(&'static [&'static str]),
    /// `minItems` and `maxItems`.
    Items {
        /// The lower bound.
        min: Option<u32>,
        /// The upper bound.
        max: Option<u32>,
    },
    /// `uniqueItems`.
    UniqueItems,
    /// The keys of a map.
    Keys(Keys),
    /// Keywords that no other rule has. They must allow null, because the type may be in an `Option`.
    Schema(SchemaFn),
    /// The largest stored size of the value, for the budget of a model; no keyword of `$jsonSchema` bounds it.
    Bytes {
        /// The number of bytes.
        max: u64,
    },
}

impl Rule {
    /// Numbers from `min` to `max`, both included.
    ///
    /// ```
    /// # use odm::model::Rule;
    /// let percent = Rule::between(0, 100);
    /// assert!(matches!(percent, Rule::Range { min: Some(_), max: Some(_) }));
    /// ```
    #[must_use]
    pub const fn between(min: i64, max: i64) -> Self {
        Self::Range {
            min: Some(Bound::including(min)),
            max: Some(Bound::including(max)),
        }
    }

    /// Numbers that are not less than `min`.
    ///
    /// ```
    /// # use odm::model::Rule;
    /// assert!(matches!(Rule::at_least(0), Rule::Range { min: Some(_), max: None }));
    /// ```
    #[must_use]
    pub const fn at_least(min: i64) -> Self {
        Self::Range {
            min: Some(Bound::including(min)),
            max: None,
        }
    }
}

/// The names that a map can have as keys.
#[derive(Debug, Clone, Copy)]
pub enum Keys {
    /// All.
    Any,
    /// One of these: the keys are an enum of unit variants.
    Names(&'static [&'static str]),
    /// Those that match the regular expression.
    Pattern(fn() -> String),
}

/// One end of a range.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bound {
    /// The number.
    pub value: Limit,
    /// Whether the number itself is out of range.
    pub exclusive: bool,
}

impl Bound {
    /// The number is the last one in the range.
    const fn including(number: i64) -> Self {
        Self {
            value: Limit::Int(number),
            exclusive: false,
        }
    }
}

/// A number in an attribute.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Limit {
    /// Written without a decimal point.
    Int(i64),
    /// Written with a decimal point.
    Double(f64),
}

/// A validator made of query operators: `#[odm(rule("in stock", |b| b.available.gte(0)))]`.
#[derive(Debug, Clone, Copy)]
pub struct ExpressionRule {
    /// The rule's name, for error messages.
    pub name: &'static str,
    /// The filter that every valid document matches.
    pub filter: FilterFn,
}
