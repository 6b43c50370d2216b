//! `#[odm(…)]` on a struct or an enum.

use proc_macro2::Span;
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream};
use syn::{Attribute, Expr, Ident, LitInt, LitStr, Path, Token, Type};

use super::bucket::{Bucket, bucket};
use super::collation::{Collation, collation};
use super::index::{self, Index};
use super::overflow::{Overflow, overflow};
use super::relation::{self, Inverse, InverseKind};
use super::rule::{ExpressionRule, expression_rule};
use super::schema::{Schema, schema};
use super::time_series::{TimeSeries, time_series};
use super::tree::{Tree, tree};
use super::{attributes, bytes, choice, inner, number, once, unknown, unknown_attribute, value};
use crate::attribute_names;
use crate::errors::Errors;
use crate::other_words;

/// The `#[odm(…)]` attributes of a struct or an enum.
#[derive(Default)]
pub(crate) struct Container {
    pub(crate) krate: Option<Path>,
    pub(crate) collection: Option<CollectionName>,
    pub(crate) bucket: Option<Bucket>,
    pub(crate) budget: Option<Budget>,
    pub(crate) deny_undeclared: Option<Ident>,
    pub(crate) gridfs: Option<GridFs>,
    pub(crate) overflow: Option<Overflow>,
    /// The struct is what a pipeline makes, and no document holds it.
    pub(crate) result: Option<Ident>,
    pub(crate) shard_key: Option<Index>,
    pub(crate) schema: Option<Schema>,
    pub(crate) time_series: Option<TimeSeries>,
    /// The enum that the struct is a variant of.
    pub(crate) variant_of: Option<VariantOf>,
    pub(crate) view: Option<View>,
    /// The model of a struct that also derives `Projection`.
    pub(crate) of: Option<Path>,
    pub(crate) depth: Option<Depth>,
    pub(crate) level: Option<LitStr>,
    pub(crate) action: Option<LitStr>,
    pub(crate) capped: Option<Capped>,
    pub(crate) change_stream_images: Option<Ident>,
    pub(crate) collation: Option<Collation>,
    pub(crate) indexes: Vec<Index>,
    pub(crate) rules: Vec<ExpressionRule>,
    pub(crate) inverses: Vec<Inverse>,
    pub(crate) trees: Vec<Tree>,
    /// The words that only a document may have, to report them on an embedded struct.
    pub(crate) document_words: Vec<Ident>,
    /// Whether everything was read.
    pub(crate) whole: bool,
}

/// `collection = "books"`, or `collection = BOOKS`.
pub(crate) enum CollectionName {
    Literal(LitStr),
    Constant(Path),
}

impl Parse for CollectionName {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        if input.peek(LitStr) {
            return input.parse().map(Self::Literal);
        }
        if input.peek(Ident::peek_any) || input.peek(Token![::]) {
            return input.parse().map(Self::Constant);
        }
        Err(input.error(
            "expected the name of a collection: `collection = \"books\"`, or a constant: `collection = BOOKS`",
        ))
    }
}

/// `budget = "1MiB"`, or `budget(max = "1MiB", allow = "the reason")`.
pub(crate) struct Budget {
    pub(crate) word: Ident,
    /// The largest size of a document in bytes.
    pub(crate) max: u64,
    /// Where `max` is written.
    pub(crate) span: Span,
    /// Why documents may be larger.
    pub(crate) allow: Option<LitStr>,
}

/// `gridfs`, or `gridfs(chunk_size = "1MiB")`.
pub(crate) struct GridFs {
    pub(crate) word: Ident,
    /// The size of a chunk in bytes, and where it is written.
    pub(crate) chunk_size: Option<(u64, Span)>,
}

/// `variant_of = Medium`.
pub(crate) struct VariantOf {
    pub(crate) word: Ident,
    /// The enum whose variant holds the struct.
    pub(crate) model: Type,
}

/// `view(on = Book, pipeline = stages)`.
pub(crate) struct View {
    pub(crate) word: Ident,
    /// The model whose documents the view reads.
    pub(crate) on: Type,
    /// A function that returns the stages, or a constant of such a type.
    pub(crate) pipeline: Expr,
}

/// `depth = N`.
pub(crate) struct Depth {
    pub(crate) word: Ident,
    /// How many values of the type may be inside each other.
    pub(crate) max: u32,
    /// Where `max` is written.
    pub(crate) span: Span,
}

/// `capped(size = N, max = N)`.
pub(crate) struct Capped {
    pub(crate) word: Ident,
    pub(crate) size: u64,
    pub(crate) max: Option<u64>,
}

/// The `#[odm(…)]` attributes of a projection.
#[derive(Default)]
pub(crate) struct Projection {
    pub(crate) krate: Option<Path>,
    pub(crate) of: Option<Path>,
    /// Whether everything was read.
    pub(crate) whole: bool,
}

impl Container {
    /// Reads an inverse relation.
    fn inverse(
        &mut self,
        word: &Ident,
        kind: InverseKind,
        input: ParseStream<'_>,
    ) -> syn::Result<()> {
        self.inverses.push(relation::inverse(word, kind, input)?);
        Ok(())
    }
}

/// Reads a container's attributes.
pub(crate) fn container(list: &[Attribute], errors: &mut Errors) -> Container {
    let mut container = Container::default();
    container.whole = attributes(list, "odm", errors, |word, input| {
        let text = word.to_string();
        if !matches!(
            text.as_str(),
            attribute_names::CRATE
                | attribute_names::DENY_UNDECLARED
                | attribute_names::DEPTH
                | attribute_names::RESULT
        ) && attribute_names::CONTAINER.contains(&text.as_str())
        {
            container.document_words.push(word.clone());
        }
        match text.as_str() {
            attribute_names::CRATE => once(&mut container.krate, word, krate(input)?),
            attribute_names::COLLECTION => once(&mut container.collection, word, value(input)?),
            attribute_names::DENY_UNDECLARED => {
                once(&mut container.deny_undeclared, word, word.clone())
            }
            attribute_names::OF => once(&mut container.of, word, value(input)?),
            attribute_names::BUCKET => once(&mut container.bucket, word, bucket(word, input)?),
            attribute_names::BUDGET => once(&mut container.budget, word, budget(word, input)?),
            attribute_names::DEPTH => {
                let (max, span) = number(input)?;
                let depth = Depth {
                    word: word.clone(),
                    max,
                    span,
                };
                once(&mut container.depth, word, depth)
            }
            attribute_names::GRIDFS => once(&mut container.gridfs, word, gridfs(word, input)?),
            attribute_names::OVERFLOW => {
                once(&mut container.overflow, word, overflow(word, input)?)
            }
            attribute_names::RESULT => once(&mut container.result, word, word.clone()),
            attribute_names::VIEW => once(&mut container.view, word, view(word, input)?),
            attribute_names::VARIANT_OF => {
                let one = VariantOf {
                    word: word.clone(),
                    model: value(input)?,
                };
                once(&mut container.variant_of, word, one)
            }
            attribute_names::VALIDATION => validation(&mut container, input),
            attribute_names::CAPPED => once(&mut container.capped, word, capped(word, input)?),
            attribute_names::CHANGE_STREAM_IMAGES => {
                once(&mut container.change_stream_images, word, word.clone())
            }
            attribute_names::COLLATION => {
                once(&mut container.collation, word, collation(word, input)?)
            }
            attribute_names::SHARD_KEY => once(
                &mut container.shard_key,
                word,
                index::of_shard_key(word, input)?,
            ),
            attribute_names::RULE => {
                container.rules.push(expression_rule(input)?);
                Ok(())
            }
            attribute_names::SCHEMA => once(&mut container.schema, word, schema(word, input)?),
            attribute_names::TIME_SERIES => {
                let series = time_series(word, input)?;
                once(&mut container.time_series, word, series)
            }
            attribute_names::TREE => {
                container.trees.push(tree(word, input)?);
                Ok(())
            }
            attribute_names::HAS_ONE => container.inverse(word, InverseKind::One, input),
            attribute_names::HAS_MANY => container.inverse(word, InverseKind::Many, input),
            attribute_names::SUBSET => container.inverse(word, InverseKind::Rest, input),
            attribute_names::HAS_SQUILLIONS => {
                container.inverse(word, InverseKind::Squillions, input)
            }
            attribute_names::INDEX
            | attribute_names::UNIQUE
            | attribute_names::TTL
            | attribute_names::TEXT
            | attribute_names::WILDCARD => {
                container.indexes.push(index::on_container(word, input)?);
                Ok(())
            }
            other if attribute_names::FIELD.contains(&other) => Err(syn::Error::new_spanned(
                word,
                format!("`{other}` belongs on a field, not on the struct"),
            )),
            _ => Err(unknown_attribute(
                word,
                "attribute",
                attribute_names::CONTAINER,
                other_words::on_container,
            )),
        }
    });
    container
}

/// Reads the attributes of a projection.
pub(crate) fn projection(list: &[Attribute], errors: &mut Errors) -> Projection {
    let mut projection = Projection::default();
    projection.whole = attributes(list, "odm", errors, |word, input| {
        match word.to_string().as_str() {
            attribute_names::CRATE => once(&mut projection.krate, word, krate(input)?),
            attribute_names::OF => once(&mut projection.of, word, value(input)?),
            // For a struct that also derives `Embedded`.
            attribute_names::DENY_UNDECLARED => Ok(()),
            _ => Err(unknown(
                word,
                "attribute of a projection",
                attribute_names::PROJECTION,
            )),
        }
    });
    projection
}

/// The path of the crate, bare or as a string.
fn krate(input: ParseStream<'_>) -> syn::Result<Path> {
    input.parse::<syn::Token![=]>()?;
    if input.peek(LitStr) {
        return input.parse::<LitStr>()?.parse();
    }
    input.call(Path::parse_mod_style)
}

fn validation(container: &mut Container, input: ParseStream<'_>) -> syn::Result<()> {
    inner(input, |word, input| match word.to_string().as_str() {
        "level" => once(
            &mut container.level,
            word,
            choice(input, &["strict", "moderate", "off"])?,
        ),
        "action" => once(
            &mut container.action,
            word,
            choice(input, &["error", "warn"])?,
        ),
        _ => Err(unknown(
            word,
            "word of `validation`",
            attribute_names::VALIDATIONS,
        )),
    })
}

fn budget(word: &Ident, input: ParseStream<'_>) -> syn::Result<Budget> {
    if !input.peek(syn::token::Paren) {
        let (max, span) = bytes(input)?;
        return Ok(Budget {
            word: word.clone(),
            max,
            span,
            allow: None,
        });
    }
    let mut max: Option<(u64, Span)> = None;
    let mut allow: Option<LitStr> = None;
    inner(input, |word, input| match word.to_string().as_str() {
        attribute_names::MAX => once(&mut max, word, bytes(input)?),
        attribute_names::ALLOW => once(&mut allow, word, value(input)?),
        _ => Err(unknown(word, "word of `budget`", attribute_names::BUDGETS)),
    })?;
    let Some((max, span)) = max else {
        return Err(syn::Error::new_spanned(
            word,
            "a budget needs a size: `budget(max = \"1MiB\", allow = \"the reason\")`",
        ));
    };
    Ok(Budget {
        word: word.clone(),
        max,
        span,
        allow,
    })
}

fn gridfs(word: &Ident, input: ParseStream<'_>) -> syn::Result<GridFs> {
    let mut chunk_size: Option<(u64, Span)> = None;
    if input.peek(syn::token::Paren) {
        inner(input, |word, input| match word.to_string().as_str() {
            attribute_names::CHUNK_SIZE => once(&mut chunk_size, word, bytes(input)?),
            _ => Err(unknown(
                word,
                "word of `gridfs`",
                attribute_names::GRIDFS_WORDS,
            )),
        })?;
    }
    Ok(GridFs {
        word: word.clone(),
        chunk_size,
    })
}

fn view(word: &Ident, input: ParseStream<'_>) -> syn::Result<View> {
    let mut on: Option<Type> = None;
    let mut pipeline: Option<Expr> = None;
    if input.peek(syn::token::Paren) {
        inner(input, |word, input| match word.to_string().as_str() {
            attribute_names::ON => once(&mut on, word, value(input)?),
            attribute_names::PIPELINE => once(&mut pipeline, word, value(input)?),
            _ => Err(unknown(word, "word of `view`", attribute_names::VIEWS)),
        })?;
    }
    let (Some(on), Some(pipeline)) = (on, pipeline) else {
        return Err(syn::Error::new_spanned(
            word,
            "a view needs the model that it reads and the stages: `view(on = Book, pipeline = stages)` with \
             `fn stages() -> Vec<bson::Document>`",
        ));
    };
    Ok(View {
        word: word.clone(),
        on,
        pipeline,
    })
}

fn capped(word: &Ident, input: ParseStream<'_>) -> syn::Result<Capped> {
    let mut size: Option<(u64, Span)> = None;
    let mut max: Option<(u64, Span)> = None;
    inner(input, |word, input| {
        let slot = match word.to_string().as_str() {
            "size" => &mut size,
            attribute_names::MAX => &mut max,
            _ => return Err(unknown(word, "word of `capped`", attribute_names::CAPS)),
        };
        let literal: LitInt = value(input)?;
        let number: u64 = literal
            .base10_parse()
            .map_err(|_| syn::Error::new(literal.span(), "write a whole number of at least 1"))?;
        if number == 0 {
            return Err(syn::Error::new(literal.span(), "this must be at least 1"));
        }
        once(slot, word, (number, literal.span()))
    })?;
    let Some((size, span)) = size else {
        return Err(syn::Error::new_spanned(
            word,
            "a capped collection needs a size in bytes: `capped(size = 1_048_576)`",
        ));
    };
    if size > 1_125_899_906_842_624 {
        return Err(syn::Error::new(
            span,
            "a capped collection can have at most 1 PiB",
        ));
    }
    if let Some((max, span)) = max
        && max >= 2_147_483_648
    {
        return Err(syn::Error::new(
            span,
            "a capped collection can have at most 2147483647 documents",
        ));
    }
    Ok(Capped {
        word: word.clone(),
        size,
        max: max.map(|(max, _)| max),
    })
}
