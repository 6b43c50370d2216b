//! Collects the mistakes of one derive, so that all are reported at once.

use std::fmt::Display;

use proc_macro2::TokenStream;
use quote::ToTokens;

/// `message`, with the code of the design check that it comes from and the page of the book about it.
pub(crate) fn coded(code: &str, message: impl Display) -> String {
    format!("{message} [odm::{code}: book/design-checks.html#{code}]")
}

/// The mistakes found so far. Dropping them without [`Errors::finish`] panics, so that a mistake can't be
/// forgotten.
#[derive(Default)]
pub(crate) struct Errors {
    found: Vec<syn::Error>,
    finished: bool,
}

impl Errors {
    /// Records a mistake at `culprit`.
    pub(crate) fn at(&mut self, culprit: impl ToTokens, message: impl Display) {
        self.found
            .push(syn::Error::new_spanned(culprit, message.to_string()));
    }

    /// Records a mistake that the parser found.
    pub(crate) fn push(&mut self, error: syn::Error) {
        self.found.push(error);
    }

    /// Whether nothing is wrong so far.
    pub(crate) fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    /// How many mistakes were found so far.
    pub(crate) fn len(&self) -> usize {
        self.found.len()
    }

    /// The mistakes as `compile_error!`s.
    pub(crate) fn finish(mut self) -> TokenStream {
        self.finished = true;
        self.found
            .iter()
            .map(syn::Error::to_compile_error)
            .collect()
    }
}

impl Drop for Errors {
    fn drop(&mut self) {
        assert!(
            self.finished || std::thread::panicking(),
            "the mistakes of a derive were dropped unread"
        );
    }
}
