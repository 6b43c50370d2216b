//! The generics of the generated code, from those of the struct.

use proc_macro2::{TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::{GenericParam, Ident, Type};

use crate::model::{Model, Shape, VariantContent};

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
        let mut generics = Self {
            declared: TokenStream::new(),
            used: TokenStream::new(),
            predicates: TokenStream::new(),
            types: Vec::new(),
            empty: model.generics.params.is_empty(),
        };
        if generics.empty {
            return generics;
        }
        let support = &model.support;
        let stored = stored_types(model);
        if let Some(clause) = &model.generics.where_clause {
            for predicate in &clause.predicates {
                generics.predicates.extend(quote!(#predicate,));
            }
        }
        for param in &model.generics.params {
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

/// The types whose handles and metadata the generated code uses.
pub(super) fn stored_types(model: &Model) -> Vec<&Type> {
    fn named(fields: &[crate::model::Field]) -> impl Iterator<Item = &Type> {
        fields
            .iter()
            .filter(|field| !field.skipped && field.encoder.is_none())
            .map(|field| &field.ty)
    }
    match &model.shape {
        Shape::Struct { fields, .. } => named(fields).collect(),
        Shape::Forward { ty, .. } => vec![&**ty],
        Shape::Enum(shape) => shape
            .variants
            .iter()
            .flat_map(|variant| match &variant.content {
                VariantContent::Unit | VariantContent::Opaque => Vec::new(),
                VariantContent::Newtype(ty) => vec![&**ty],
                VariantContent::Tuple(types) => types.iter().collect(),
                VariantContent::Struct(fields) => named(fields).collect(),
            })
            .collect(),
        Shape::Opaque(_) | Shape::Tuple(_) | Shape::Choice(_) | Shape::Unknown => Vec::new(),
    }
}

/// Whether a type names a parameter of the struct, and so is not known where the struct is declared.
pub(super) fn depends_on_parameter(model: &Model, ty: &Type) -> bool {
    model.generics.params.iter().any(|param| {
        let ident = match param {
            GenericParam::Lifetime(one) => &one.lifetime.ident,
            GenericParam::Type(one) => &one.ident,
            GenericParam::Const(one) => &one.ident,
        };
        mentions(ty, ident)
    })
}

/// Whether a type names a parameter.
fn mentions(ty: &Type, ident: &Ident) -> bool {
    fn within(tokens: TokenStream, ident: &Ident) -> bool {
        tokens.into_iter().any(|token| match token {
            TokenTree::Ident(one) => one == *ident,
            TokenTree::Group(group) => within(group.stream(), ident),
            _ => false,
        })
    }
    within(ty.to_token_stream(), ident)
}
