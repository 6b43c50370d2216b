//! Validation rules, beyond the type of a field.

/// A function that returns a filter as a document; generated code wraps the user's closure in one.
pub type FilterFn = fn() -> crate::error::Result<bson::Document>;

/// A rule of one field; each but [`Bytes`](Self::Bytes) becomes a keyword of the generated `$jsonSchema`.
///
/// On an array field, the rules for scalars apply to each element.
#[derive(Debug, Clone, Copy, PartialEq)]
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
    /// The largest stored size of the value, for the budget of a model; no keyword of `$jsonSchema` bounds it.
    Bytes {
        /// The number of bytes.
        max: u64,
    },
}

/// One end of a range.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bound {
    /// The number.
    pub value: Limit,
    /// Whether the number itself is out of range.
    pub exclusive: bool,
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
