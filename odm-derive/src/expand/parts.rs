//! The derived types inside a type, as constants that size budgets read.

use super::encoder;
use super::generics::Generics;
use super::handle_type::SpannedType;
use super::meta::option;
use crate::facts::Facts;
use crate::facts::parts::Part;
use crate::model::{Model, TupleValue};
use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};

/// The associated type of a struct or an enum with data.
pub(crate) fn of_fields(facts: &Facts<'_>) -> TokenStream {
    let support = &facts.model.support;
    if is_flat(facts) {
        quote!(#support::Flat<Self>)
    } else {
        quote!(#support::Own<Self, __OdmLevel>)
    }
}

/// The associated type of a tuple struct.
pub(crate) fn of_tuple(model: &Model) -> TokenStream {
    let support = &model.support;
    quote!(#support::Own<Self, __OdmLevel>)
}

/// The associated type of a type without derived types inside.
pub(crate) fn none(model: &Model) -> TokenStream {
    let support = &model.support;
    quote!(#support::NoParts)
}

/// The parts of the fields of a struct or an enum.
pub(crate) fn fields(facts: &Facts<'_>) -> TokenStream {
    if is_flat(facts) {
        return TokenStream::new();
    }
    let model = facts.model;
    let support = &model.support;
    let parts = facts.parts.iter().map(|Part { name, ty, encoded }| {
        if let Some((variant, field)) = encoded {
            let encoder = encoder::name(model, *variant, field);
            let parts = encoder::form(model, &encoder, ty);
            return quote!(#support::part::<__OdmLevel, #parts::Parts<#support::Down<__OdmLevel>>>(#name),);
        }
        let spanned = SpannedType::new(ty);
        let parts = spanned.item(support, "Parts");
        quote_spanned! {spanned.span=>
            #support::part::<__OdmLevel, #parts<#support::Down<__OdmLevel>>>(#name),
        }
    });
    let depth = model.attributes.depth.as_ref().map(|depth| {
        let (name, max) = (model.ident.to_string(), depth.max);
        quote! {
            #support::Depth {
                key: ::core::concat!(::core::module_path!(), "::", #name, ":", ::core::line!(), ":", ::core::column!()),
                max: #max,
            }
        }
    });
    let depth = option(depth.as_ref());
    composite(
        model,
        &quote! {
            #support::Part::Embedded {
                content: &#support::Content {
                    meta: <Self as #support::Embedded>::META,
                    parts: &[#(#parts)*],
                    depth: #depth,
                },
            }
        },
    )
}

/// The values of a tuple struct.
pub(crate) fn tuple(model: &Model, values: &[TupleValue]) -> TokenStream {
    let support = &model.support;
    let values = values.iter().map(|TupleValue { ty, is_opaque }| {
        if *is_opaque || model.depends_on_parameter(ty) {
            quote!((#support::TypeMeta::ANY, #support::Part::None),)
        } else {
            quote!(#support::Value::<#ty, __OdmLevel>::VALUE,)
        }
    });
    composite(
        model,
        &quote!({
            #[allow(unused_imports)]
            use #support::Unvalued as _;
            #support::Part::Tuple { values: &[#(#values)*] }
        }),
    )
}

fn is_flat(facts: &Facts<'_>) -> bool {
    facts.parts.is_empty() && facts.model.attributes.depth.is_none()
}

fn composite(model: &Model, part: &TokenStream) -> TokenStream {
    let (support, ident) = (&model.support, &model.ident);
    let generics = Generics::new(model);
    let declared = &generics.declared;
    let (arguments, clause) = (generics.arguments(), generics.clause());
    quote! {
        impl<#declared __OdmLevel: #support::Level> #support::Composite<__OdmLevel> for #ident #arguments #clause {
            const PART: #support::Part = #part;
        }
    }
}
