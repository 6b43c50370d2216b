//! The generics of the generated code, from those of the struct.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{GenericParam, Ident, Type};

use crate::model::Model;
use crate::model::rust_type::{mentions, parameter_name};

/// The struct's generics, without defaults, and with the bounds that handles need.
pub(crate) struct Generics {
    /// `'a, T: Copy, const N: usize,`
    pub(crate) declared: TokenStream,
    /// `'a, T, N,`
    pub(crate) used: TokenStream,
    /// `T: FieldType,` and the struct's own predicates.
    pub(crate) predicates: TokenStream,
    /// The type parameters.
    pub(crate) types: Vec<Ident>,
    /// Whether the struct has no generics.
    pub(crate) empty: bool,
}

impl Generics {
    /// Reads the generics of a model.
    pub(crate) fn new(model: &Model) -> Self {
        Self::with(model, |_| true)
    }

    /// The generics of a model that a type names: an implementation for the type can't have others.
    pub(crate) fn of_type(model: &Model, ty: &Type) -> Self {
        Self::with(model, |param| mentions(ty, parameter_name(param)))
    }

    fn with(model: &Model, keeps: impl Fn(&GenericParam) -> bool) -> Self {
        let (kept, others): (Vec<_>, Vec<_>) =
            model.generics.params.iter().partition(|param| keeps(param));
        let mut generics = Self {
            declared: TokenStream::new(),
            used: TokenStream::new(),
            predicates: TokenStream::new(),
            types: Vec::new(),
            empty: kept.is_empty(),
        };
        if generics.empty {
            return generics;
        }
        let support = &model.support;
        let stored = model.stored_types();
        if let Some(clause) = &model.generics.where_clause {
            for predicate in &clause.predicates {
                if !others
                    .iter()
                    .any(|param| mentions(predicate, parameter_name(param)))
                {
                    generics.predicates.extend(quote!(#predicate,));
                }
            }
        }
        for param in kept {
            match param {
                GenericParam::Lifetime(one) => {
                    let (lifetime, colon, bounds) = (&one.lifetime, &one.colon_token, &one.bounds);
                    generics.declared.extend(quote!(#lifetime #colon #bounds,));
                    generics.used.extend(quote!(#lifetime,));
                }
                GenericParam::Type(one) => {
                    let (ident, colon, bounds) = (&one.ident, &one.colon_token, &one.bounds);
                    generics.declared.extend(quote!(#ident #colon #bounds,));
                    generics.used.extend(quote!(#ident,));
                    if stored.iter().any(|ty| mentions(ty, ident)) {
                        generics
                            .predicates
                            .extend(quote!(#ident: #support::FieldType,));
                    }
                    generics.types.push(ident.clone());
                }
                GenericParam::Const(one) => {
                    let (ident, ty) = (&one.ident, &one.ty);
                    generics.declared.extend(quote!(const #ident: #ty,));
                    generics.used.extend(quote!(#ident,));
                }
            }
        }
        generics
    }

    /// `<'a, T>`, or nothing.
    pub(crate) fn arguments(&self) -> TokenStream {
        let used = &self.used;
        if self.empty {
            TokenStream::new()
        } else {
            quote!(<#used>)
        }
    }

    /// `<'a, T: Copy>`, or nothing.
    pub(crate) fn parameters(&self) -> TokenStream {
        let declared = &self.declared;
        if self.empty {
            TokenStream::new()
        } else {
            quote!(<#declared>)
        }
    }

    /// `where …`, or nothing.
    pub(crate) fn clause(&self) -> TokenStream {
        let predicates = &self.predicates;
        if predicates.is_empty() {
            TokenStream::new()
        } else {
            quote!(where #predicates)
        }
    }
}
