//! Time-series collections.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;

use super::meta;
use super::tokens::option;
use crate::facts::wrong_time;
use crate::model::{Derive, Model};

/// The metadata of a time series.
pub(super) fn meta(model: &Model) -> Option<TokenStream> {
    let series = model.attributes.time_series.as_ref()?;
    let support = &model.support;
    let time = &model.field(&series.time)?.stored;
    let meta = series.meta.as_ref().and_then(|meta| model.field(meta));
    let meta = option(meta.map(|field| &field.stored).as_ref());
    let granularity = option(series.granularity.as_ref());
    let expire_after = option(series.expire_after.map(|(seconds, _)| seconds).as_ref());
    Some(quote! {
        #support::TimeSeriesMeta {
            time: #time,
            meta: #meta,
            granularity: #granularity,
            expire_after_seconds: #expire_after,
        }
    })
}

/// Code that compiles only if the time is a date.
pub(super) fn checks(model: &Model) -> Option<TokenStream> {
    let series = model.attributes.time_series.as_ref()?;
    if model.derive != Derive::Document {
        return None;
    }
    let field = model.field(&series.time)?;
    let (support, ty) = (&model.support, meta::ty(model, None, field));
    let message = wrong_time(field);
    Some(quote_spanned! {field.ty.span()=>
        const _: () = ::core::assert!(#support::is_start_date(&#ty), "{}", #message);
    })
}
