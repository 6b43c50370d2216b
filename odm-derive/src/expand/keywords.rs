//! Keywords that are computed from other fields.

use proc_macro2::TokenStream;
use quote::quote;

use super::encoder;
use crate::model::{Field, Model};

/// The metadata of all computed keywords.
pub(super) fn meta(model: &Model) -> impl Iterator<Item = TokenStream> {
    model.fields().iter().filter_map(|field| {
        let from = field.attributes.keywords_from.as_ref()?;
        let (max, _) = field.attributes.list.as_ref()?.max?;
        let (support, stored, language) = (&model.support, &field.stored, &from.language);
        let sources = from.fields.iter().filter_map(|ident| model.field(ident));
        let sources = sources.map(|source| &source.stored);
        Some(quote! {
            #support::KeywordsMeta {
                field: #stored,
                sources: &[#(#sources),*],
                language: #language,
                max: #max,
            }
        })
    })
}

/// The types that say how the keywords are computed.
pub(super) fn types(model: &Model, fields: &[Field]) -> TokenStream {
    let types = fields.iter().filter_map(|field| {
        let from = field.attributes.keywords_from.as_ref()?;
        let (support, vis, language) = (&model.support, &model.vis, &from.language);
        let name = encoder::name(model, None, field);
        // With a serializer of its own, the field has this type as its encoder.
        let declared = field.encoder.is_none().then(|| {
            quote! {
                #[doc(hidden)]
                #[allow(non_camel_case_types, missing_debug_implementations)]
                #vis enum #name {}
            }
        });
        Some(quote! {
            #declared
            impl #support::KeywordsOf for #name {
                const LANGUAGE: &'static str = #language;
            }
        })
    });
    types.collect()
}
