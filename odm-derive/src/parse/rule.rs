//! Validation rules beyond the type: `range`, `length`, `pattern`, `one_of`, `items`, `rule`.

use proc_macro2::Span;
use syn::parse::ParseStream;
use syn::punctuated::Punctuated;
use syn::{Expr, Ident, Lit, LitStr, Token, UnOp};

use super::{bytes, inner, number, once, unknown, value};
use crate::attribute_names;

/// A number in an attribute.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub(crate) enum Number {
    Int(i64),
    Double(f64),
}

impl Number {
    /// For comparing a minimum with a maximum.
    #[expect(
        clippy::cast_precision_loss,
        reason = "only compares the two ends of a range"
    )]
    pub(crate) fn as_f64(self) -> f64 {
        match self {
            Self::Int(int) => int as f64,
            Self::Double(double) => double,
        }
    }
}

/// One end of a range.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bound {
    pub(crate) value: Number,
    pub(crate) exclusive: bool,
}

/// Two bounds of a size.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Size {
    pub(crate) min: Option<u32>,
    pub(crate) max: Option<u32>,
}

/// One rule of a field.
#[derive(Clone)]
pub(crate) enum Rule {
    Range {
        min: Option<Bound>,
        max: Option<Bound>,
    },
    Length(Size),
    Pattern(LitStr),
    OneOf(Vec<LitStr>),
    Items(Size),
    UniqueItems,
    /// The largest stored size of the value.
    Bytes(u64),
}

/// A rule with the word that introduced it.
pub(crate) struct FieldRule {
    pub(crate) word: Ident,
    pub(crate) rule: Rule,
}

/// `rule("name", |m| …)`.
pub(crate) struct ExpressionRule {
    pub(crate) name: LitStr,
    pub(crate) filter: Expr,
}

/// Reads a field's rule, if `word` is one.
pub(crate) fn field_rule(word: &Ident, input: ParseStream<'_>) -> syn::Result<Option<FieldRule>> {
    let rule = match word.to_string().as_str() {
        attribute_names::RANGE => range(input)?,
        attribute_names::LENGTH if input.peek(Token![=]) => fixed(input)?,
        attribute_names::LENGTH => Rule::Length(size(input, "word of `length`")?),
        attribute_names::ITEMS => Rule::Items(size(input, "word of `items`")?),
        attribute_names::PATTERN => Rule::Pattern(value(input)?),
        attribute_names::ONE_OF => one_of(word, input)?,
        attribute_names::UNIQUE_ITEMS => Rule::UniqueItems,
        attribute_names::BYTES => Rule::Bytes(most_bytes(word, input)?),
        _ => return Ok(None),
    };
    Ok(Some(FieldRule {
        word: word.clone(),
        rule,
    }))
}

/// Reads `("name", |m| …)`.
pub(crate) fn expression_rule(input: ParseStream<'_>) -> syn::Result<ExpressionRule> {
    let content;
    syn::parenthesized!(content in input);
    let name = content.parse()?;
    content.parse::<Token![,]>()?;
    let filter = closure(&content)?;
    content.parse::<Option<Token![,]>>()?;
    Ok(ExpressionRule { name, filter })
}

/// A closure, or the path of a function that does the same.
pub(crate) fn closure(input: ParseStream<'_>) -> syn::Result<Expr> {
    let expr: Expr = input.parse()?;
    match expr {
        Expr::Closure(_) | Expr::Path(_) => Ok(expr),
        other => Err(syn::Error::new_spanned(
            other,
            "write a closure over the model's fields: `|m| m.field.gte(0)`",
        )),
    }
}

fn range(input: ParseStream<'_>) -> syn::Result<Rule> {
    let (mut min, mut max) = (None, None);
    inner(input, |word, input| {
        let text = word.to_string();
        let (slot, exclusive) = match text.as_str() {
            attribute_names::MIN => (&mut min, false),
            attribute_names::MAX => (&mut max, false),
            "exclusive_min" => (&mut min, true),
            "exclusive_max" => (&mut max, true),
            _ => return Err(unknown(word, "word of `range`", attribute_names::RANGES)),
        };
        let value = signed(&value::<Expr>(input)?)?;
        once(slot, word, Bound { value, exclusive })
    })?;
    Ok(Rule::Range { min, max })
}

fn signed(expr: &Expr) -> syn::Result<Number> {
    let (negative, inner) = match expr {
        Expr::Unary(unary) if matches!(unary.op, UnOp::Neg(_)) => (true, &*unary.expr),
        other => (false, other),
    };
    if let Expr::Lit(literal) = inner {
        let sign = if negative { "-" } else { "" };
        match &literal.lit {
            Lit::Int(int) => {
                return format!("{sign}{}", int.base10_digits())
                    .parse()
                    .map(Number::Int)
                    .map_err(|_| {
                        syn::Error::new_spanned(expr, "the bound does not fit into 64 bits")
                    });
            }
            Lit::Float(float) => {
                let double: f64 = float.base10_parse()?;
                return Ok(Number::Double(if negative { -double } else { double }));
            }
            _ => {}
        }
    }
    Err(syn::Error::new_spanned(
        expr,
        "a bound must be a number, such as `-1` or `0.5`",
    ))
}

/// Reads `= 60`, the number of elements that a list always has.
fn fixed(input: ParseStream<'_>) -> syn::Result<Rule> {
    let (length, span) = number(input)?;
    if length == 0 {
        return Err(syn::Error::new(span, "this must be at least 1"));
    }
    Ok(Rule::Items(Size {
        min: Some(length),
        max: Some(length),
    }))
}

/// Reads `(min = …, max = …)`.
pub(crate) fn size(input: ParseStream<'_>, what: &str) -> syn::Result<Size> {
    let mut min: Option<(u32, Span)> = None;
    let mut max: Option<(u32, Span)> = None;
    inner(input, |word, input| match word.to_string().as_str() {
        attribute_names::MIN => once(&mut min, word, number(input)?),
        attribute_names::MAX => once(&mut max, word, number(input)?),
        _ => Err(unknown(word, what, attribute_names::BOUNDS)),
    })?;
    Ok(Size {
        min: min.map(|(number, _)| number),
        max: max.map(|(number, _)| number),
    })
}

fn most_bytes(word: &Ident, input: ParseStream<'_>) -> syn::Result<u64> {
    let mut max: Option<(u64, Span)> = None;
    inner(input, |word, input| match word.to_string().as_str() {
        attribute_names::MAX => once(&mut max, word, bytes(input)?),
        _ => Err(unknown(word, "word of `bytes`", &[attribute_names::MAX])),
    })?;
    match max {
        Some((0, span)) => Err(syn::Error::new(span, "this must be at least 1")),
        Some((max, _)) => Ok(max),
        None => Err(syn::Error::new_spanned(
            word,
            "`bytes` is written `bytes(max = \"64KiB\")`",
        )),
    }
}

fn one_of(word: &Ident, input: ParseStream<'_>) -> syn::Result<Rule> {
    let content;
    syn::parenthesized!(content in input);
    let all = Punctuated::<Lit, Token![,]>::parse_terminated(&content)?;
    let mut strings: Vec<LitStr> = Vec::new();
    for literal in all {
        match literal {
            Lit::Str(string) => {
                if strings.iter().any(|one| one.value() == string.value()) {
                    return Err(syn::Error::new(
                        string.span(),
                        "this string is listed twice; keep one",
                    ));
                }
                strings.push(string);
            }
            other => {
                return Err(syn::Error::new(
                    other.span(),
                    "`one_of` lists strings; for numbers, write `rule(\"…\", |m| m.field.in_([1, 2]))` on the document",
                ));
            }
        }
    }
    if strings.is_empty() {
        return Err(syn::Error::new_spanned(
            word,
            "`one_of()` allows nothing; list the strings that are valid: `one_of(\"a\", \"b\")`",
        ));
    }
    Ok(Rule::OneOf(strings))
}
