//! Versions of a schema.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned;

use crate::model::Model;

/// The metadata of the versions.
pub(super) fn meta(model: &Model) -> Option<TokenStream> {
    let schema = model.attributes.schema.as_ref()?;
    let support = &model.support;
    let version = schema.version.base10_parse::<i32>().unwrap_or(1);
    let field = schema.field_name();
    let steps = schema.steps.iter().map(|path| {
        let name = path.to_token_stream().to_string().replace(' ', "");
        let run = quote_spanned!(path.span()=> |document| #support::step(#path(document)));
        quote!(#support::StepMeta { name: #name, run: #run })
    });
    let reads_newer = schema.reads_newer;
    Some(quote! {
        &#support::SchemaMeta {
            version: #version,
            field: #field,
            steps: &[#(#steps),*],
            reads_newer: #reads_newer,
            decodes: #support::decodes::<Self>,
        }
    })
}
