//! A struct that holds a part of a document.

use proc_macro2::TokenStream;
use syn::{Data, DeriveInput, Fields, Generics, Ident, LitStr, Path, Type};

use crate::errors::Errors;
use crate::model::support;
use crate::parse::{self, serde};

/// A projection, resolved.
pub(crate) struct Projection {
    pub(crate) ident: Ident,
    pub(crate) generics: Generics,
    pub(crate) support: TokenStream,
    pub(crate) of: Option<Path>,
    pub(crate) fields: Vec<Part>,
}

/// A field that is read.
pub(crate) struct Part {
    pub(crate) ident: Ident,
    pub(crate) ty: Type,
    /// The stored name, as this struct reads it.
    pub(crate) stored: String,
    pub(crate) renamed: Option<LitStr>,
    /// Whether a custom function deserializes the field.
    pub(crate) decoder: bool,
}

impl Projection {
    /// Reads the input of the derive.
    pub(crate) fn new(input: &DeriveInput, errors: &mut Errors) -> Self {
        let attributes = parse::container::projection(&input.attrs, errors);
        let serde = serde::container(&input.attrs, errors);
        if attributes.whole && attributes.of.is_none() {
            errors.at(
                &input.ident,
                "a projection must name its model: add `#[odm(of = Model)]`",
            );
        }
        let mut fields = Vec::new();
        match &input.data {
            Data::Struct(data) if matches!(data.fields, Fields::Named(_)) => {
                for field in &data.fields {
                    fields.extend(Part::new(field, serde.rename_all, errors));
                }
            }
            _ => errors.at(
                &input.ident,
                "a projection is a struct with named fields, each of which the model has",
            ),
        }
        Self {
            ident: input.ident.clone(),
            generics: input.generics.clone(),
            support: support(attributes.krate.as_ref()),
            of: attributes.of,
            fields,
        }
    }
}

impl Part {
    fn new(
        field: &syn::Field,
        case: Option<parse::case::Case>,
        errors: &mut Errors,
    ) -> Option<Self> {
        let ident = field.ident.clone()?;
        let serde = serde::field(&field.attrs, errors);
        for attribute in &field.attrs {
            if attribute.path().is_ident("odm") {
                errors.at(
                    attribute,
                    "odm has no attributes for the fields of a projection; write them on the fields of the model",
                );
            }
        }
        if let Some(flatten) = &serde.flatten {
            errors.at(
                flatten,
                "a projection can't flatten; name the fields themselves, or project the struct that holds them",
            );
            return None;
        }
        if serde.skip || serde.skip_deserializing {
            return None;
        }
        let rust = serde::unraw(&ident);
        let stored = match (&serde.rename, case) {
            (Some(name), _) => name.value(),
            (None, Some(case)) => case.field(&rust),
            (None, None) => rust,
        };
        Some(Self {
            ident,
            ty: field.ty.clone(),
            stored,
            renamed: serde.rename,
            decoder: serde.deserialize_with.is_some(),
        })
    }
}
