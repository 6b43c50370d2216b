//! Pieces of code that several files write.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::{Ident, Visibility};

use crate::facts::relations::{Declares, Demand};
use crate::model::Model;
use crate::parse::serde::unraw;

/// `Some(value)` or `None`.
pub(super) fn option(value: Option<&impl ToTokens>) -> TokenStream {
    if let Some(value) = value {
        quote!(::core::option::Option::Some(#value))
    } else {
        quote!(::core::option::Option::None)
    }
}

/// The handles that generated functions take. Everywhere in the derive's own context: in a derive that a macro wrote, a word
/// of an attribute may be in another one.
pub(super) fn fields_argument() -> Ident {
    Ident::new("__odm_fields", Span::call_site())
}

/// `__odm_fields.a.descend().b`
pub(super) fn walk(path: &[Ident]) -> TokenStream {
    let mut tokens = fields_argument().into_token_stream();
    for (position, ident) in path.iter().enumerate() {
        let descend = (position > 0).then(|| quote_spanned!(ident.span()=> .descend()));
        tokens = quote_spanned!(ident.span()=> #tokens #descend . #ident);
    }
    tokens
}

/// The module of the types that name a model's relations.
pub(super) fn relations_module(model: &Model) -> Ident {
    format_ident!("__odm_relations_of_{}", unraw(&model.ident))
}

/// The hash of a relation's name (FNV-1a), by which macros find the type that names it.
pub(crate) fn relation_hash(relation: &Ident) -> u64 {
    let name = unraw(relation);
    name.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// The type that names a relation.
pub(super) fn relation_name(model: &Model, relation: &Ident) -> TokenStream {
    let module = relations_module(model);
    quote!(#module::#relation)
}

/// An assertion that another model declares what it has to.
pub(super) fn assert_demand(model: &Model, demand: &Demand<'_>, span: Span) -> TokenStream {
    let (support, target, message) = (&model.support, demand.target, &demand.message);
    let test = match &demand.declares {
        Declares::Index(by) => quote!(is_served::<#target>(&[#(#by),*])),
        Declares::UniqueIndex(by) => quote!(is_unique::<#target>(&[#(#by),*])),
        Declares::Subset { name, by } => quote!(has_subset::<#target>(#name, #by)),
        Declares::Counterpart { kind, field, name } => {
            let field = option(field.as_ref());
            quote!(has_counterpart::<#target>(#support::CounterpartKind::#kind, #field, #name))
        }
        Declares::KeyReference { field, key } => quote!(refers_by::<#target>(#field, #key)),
        Declares::Alone => quote!(is_alone::<#target>()),
        Declares::Stored => quote!(is_stored::<#target>()),
        Declares::Fact { field } => quote!(is_fact::<#target>(#field)),
        Declares::Seldom { field } => quote!(changes_seldom::<#target>(#field)),
        Declares::Often { field } => quote!(changes_often::<#target>(#field)),
        Declares::Relation { by, is_inside } => {
            quote!(is_found_by::<#target>(#by, #is_inside))
        }
    };
    quote_spanned!(span=> ::core::assert!(#support::#test, "{}", #message))
}

/// A doc comment, if the item is public.
pub(super) fn documented(vis: &Visibility, text: &str) -> TokenStream {
    match vis {
        Visibility::Public(_) => quote!(#[doc = #text]),
        _ => TokenStream::new(),
    }
}
