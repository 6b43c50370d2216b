//! Names of rows of joins: `row!` and `relation!`.
//!
//! The type that names a relation stands in a hidden module beside the model, which is not imported with it. So the model
//! implements a trait for each of its relations, whose parameter is a hash of the relation's name.

use proc_macro2::{Ident, TokenStream};
use quote::{quote, quote_spanned};
use syn::ext::IdentExt as _;
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::token::Brace;
use syn::{Error, Path, Result, Token, Type, braced, parenthesized};

use crate::expand::relation_hash;

const GENERIC: &str =
    "the relations of generic structs have no names: take their rows apart by `into_parts`";

/// The path of a relation: that of its model, and its name.
struct Relation {
    model: Path,
    name: Ident,
}

impl Relation {
    /// The last segment names the relation; without others, it is a relation of `model`.
    fn new(mut path: Path, model: Option<&Path>) -> Result<Self> {
        let written = path.clone();
        let of = || {
            let example = "name the model and its relation: `Book::author`";
            Error::new_spanned(&written, example)
        };
        let Some(name) = path.segments.pop() else {
            return Err(of());
        };
        if !name.arguments.is_none() {
            return Err(of());
        }
        path.segments.pop_punct();
        let model = match model {
            Some(model) if path.segments.is_empty() => model.clone(),
            _ => path,
        };
        match model.segments.last() {
            Some(last) if last.arguments.is_none() => Ok(Self {
                model,
                name: name.ident,
            }),
            Some(last) => Err(Error::new_spanned(last, GENERIC)),
            None => Err(of()),
        }
    }

    /// The type that names the relation.
    fn marker(&self, support: &TokenStream) -> TokenStream {
        let Self { model, name } = self;
        let hash = relation_hash(name);
        quote_spanned!(name.span()=> <#model as #support::NamedRelation<#hash>>::Name)
    }
}

/// `(odm::support) Book::author`.
struct OneRelation {
    support: TokenStream,
    relation: Relation,
}

impl Parse for OneRelation {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let support = parse_support(input)?;
        let path = Path::parse_mod_style(input)?;
        if !input.is_empty() {
            return Err(input.error("expected one relation, such as `Book::author`"));
        }
        let relation = Relation::new(path, None)?;
        Ok(Self { support, relation })
    }
}

/// The path of `odm::support`, which the macros of odm pass.
fn parse_support(input: ParseStream<'_>) -> Result<TokenStream> {
    let support;
    parenthesized!(support in input);
    support.parse()
}

/// `author: Resolved<Author>`.
struct Joined {
    relation: Path,
    value: Type,
}

impl Parse for Joined {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let relation = if input.peek(Ident::peek_any) && !input.peek2(Token![::]) {
            Ident::parse_any(input)?.into()
        } else {
            Path::parse_mod_style(input)?
        };
        if !input.peek(Token![:]) {
            let message = "write the type that the join loads: `author: Resolved<Author>`, `books: Vec<Arc<Book>>`";
            return Err(Error::new_spanned(relation, message));
        }
        input.parse::<Token![:]>()?;
        Ok(Self {
            relation,
            value: input.parse()?,
        })
    }
}

/// `(odm::support) Book as Title { author: Resolved<Author> }`.
struct Row {
    support: TokenStream,
    model: Path,
    document: Option<Type>,
    joined: Punctuated<Joined, Token![,]>,
}

impl Parse for Row {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let support = parse_support(input)?;
        let model = Path::parse_mod_style(input)?;
        let document = match input.parse::<Option<Token![as]>>()? {
            Some(_) => Some(input.parse()?),
            None => None,
        };
        if input.peek(Token![<]) {
            return Err(input.error(GENERIC));
        }
        if !input.peek(Brace) {
            let message = "write the relations in braces, in the order of their joins: `row!(Book { author: Resolved<Author> })`";
            return Err(Error::new(input.span(), message));
        }
        let joined;
        braced!(joined in input);
        let joined = Punctuated::parse_terminated(&joined)?;
        if !input.is_empty() {
            return Err(input.error("nothing follows the relations"));
        }
        Ok(Self {
            support,
            model,
            document,
            joined,
        })
    }
}

impl Row {
    fn expand(&self) -> Result<TokenStream> {
        let Self { support, model, .. } = self;
        let mut list = quote!(());
        for Joined { relation, value } in &self.joined {
            let marker = Relation::new(relation.clone(), Some(model))?.marker(support);
            list = quote!(#support::And<#marker, #value, #list>);
        }
        let document = self
            .document
            .as_ref()
            .map_or_else(|| quote!(#model), |document| quote!(#document));
        Ok(quote!(#support::Joined<#document, #list>))
    }
}

/// The type of a row.
pub(crate) fn row(input: TokenStream) -> TokenStream {
    let row = syn::parse2::<Row>(input).and_then(|row| row.expand());
    row.unwrap_or_else(|error| error.to_compile_error())
}

/// The type that names a relation.
pub(crate) fn relation(input: TokenStream) -> TokenStream {
    match syn::parse2::<OneRelation>(input) {
        Ok(OneRelation { support, relation }) => relation.marker(&support),
        Err(error) => error.to_compile_error(),
    }
}
