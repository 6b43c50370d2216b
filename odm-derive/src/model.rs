//! The input, resolved: stored names, shapes and defaults. Spans are kept for errors.

mod bucket;
mod document_enum;
mod overflow;
pub(crate) mod projection;
pub(crate) mod rust_type;
pub(crate) mod shape;
pub(crate) mod tree;

use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::{Data, DeriveInput, Generics, Ident, Lifetime, Path, Type, TypeReference, Visibility};

pub(crate) use self::overflow::OverflowRole;
pub(crate) use self::shape::{
    Enum, Field, Opaque, Shape, Tagging, TupleValue, Variant, VariantContent,
};
use crate::errors::Errors;
use crate::parse::case::Case;
use crate::parse::container::Container;
use crate::parse::relation::Inverse;
use crate::parse::{self, serde};

/// Which derive is at work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Derive {
    Document,
    Embedded,
}

/// Where a struct borrows.
pub(crate) enum Borrow<'a> {
    /// By a parameter.
    Parameter(&'a Lifetime),
    /// In a field.
    Field(&'a TypeReference),
}

/// A struct or an enum, resolved.
pub(crate) struct Model {
    pub(crate) derive: Derive,
    pub(crate) ident: Ident,
    pub(crate) vis: Visibility,
    pub(crate) generics: Generics,
    /// The path of `odm::support`.
    pub(crate) support: TokenStream,
    pub(crate) attributes: Container,
    /// serde's `rename_all`.
    pub(crate) rename_all: Option<Case>,
    /// Where serde is told to refuse undeclared fields.
    pub(crate) deny_unknown_fields: Option<Span>,
    pub(crate) shape: Shape,
}

impl Model {
    /// The field with the currency of an amount.
    pub(crate) fn currency_of(&self, field: &Field) -> Option<&Field> {
        let currency = field.attributes.currency.as_ref()?;
        let Shape::Struct { fields, .. } = &self.shape else {
            return None;
        };
        fields.iter().find(|other| other.ident == currency.field)
    }

    /// Reads the input of a derive.
    pub(crate) fn new(input: &DeriveInput, derive: Derive, errors: &mut Errors) -> Self {
        let mut attributes = parse::container::container(&input.attrs, errors);
        let serde = serde::container(&input.attrs, errors);
        let mut shape = match &input.data {
            Data::Struct(data) => Shape::of_struct(input, data, &serde, errors),
            Data::Enum(data) => Shape::of_enum(data, &serde, errors),
            Data::Union(data) => {
                errors.at(
                    data.union_token,
                    "unions are not supported; derive on a struct or an enum",
                );
                Shape::Unknown
            }
        };
        if let Shape::Struct { fields, .. } = &mut shape {
            let indexes = tree::indexes(&attributes, fields);
            attributes.indexes.extend(indexes);
            bucket::complete(&mut attributes, fields);
            overflow::complete(&mut attributes, fields);
        }
        if let Shape::Enum(shape) = &mut shape
            && derive == Derive::Document
        {
            let indexes = document_enum::indexes(shape);
            attributes.indexes.splice(0..0, indexes);
        }
        Self {
            derive,
            ident: input.ident.clone(),
            vis: input.vis.clone(),
            generics: input.generics.clone(),
            support: support(attributes.krate.as_ref()),
            attributes,
            rename_all: serde.rename_all,
            deny_unknown_fields: serde.deny_unknown_fields,
            shape,
        }
    }

    /// The inverse relations, without those that are refused.
    pub(crate) fn inverses(&self) -> impl Iterator<Item = &Inverse> {
        let declares = self.derive == Derive::Document && self.generics.params.is_empty();
        let all = self.attributes.inverses.iter().enumerate();
        all.filter(move |(position, one)| {
            let mut before = self.attributes.inverses.iter().take(*position);
            declares
                && self.field(&one.name).is_none()
                && before.all(|other| other.name != one.name)
        })
        .map(|(_, one)| one)
    }

    /// The field that is stored as `_id`.
    pub(crate) fn id(&self) -> Option<&Field> {
        self.fields()
            .iter()
            .find(|field| !field.skipped && field.flatten.is_none() && field.stored == "_id")
    }

    /// The enum whose variants the documents of a collection are, if the model is one that can be.
    pub(crate) fn document_enum(&self) -> Option<&Enum> {
        match &self.shape {
            Shape::Enum(shape) if self.derive == Derive::Document => Some(shape),
            _ => None,
        }
    }

    /// The named fields of a struct.
    pub(crate) fn fields(&self) -> &[Field] {
        match &self.shape {
            Shape::Struct { fields, .. } => fields,
            _ => &[],
        }
    }

    /// Where the struct borrows, which a document may not do: its first lifetime, or its first field that is
    /// a reference.
    pub(crate) fn borrows(&self) -> Option<Borrow<'_>> {
        if let Some(one) = self.generics.lifetimes().next() {
            return Some(Borrow::Parameter(&one.lifetime));
        }
        self.fields()
            .iter()
            .filter(|field| !field.skipped && field.decoder.is_none())
            .find_map(|field| rust_type::first_reference(&field.ty))
            .map(Borrow::Field)
    }

    /// The variants that hold a DBRef and nothing else, which rows of joins have by name.
    pub(crate) fn db_ref_variants(&self) -> impl Iterator<Item = &Variant> {
        let variants: &[Variant] = match &self.shape {
            Shape::Enum(shape) => &shape.variants,
            _ => &[],
        };
        variants.iter().filter(|variant| variant.db_ref().is_some())
    }

    /// The field that an attribute names.
    pub(crate) fn field(&self, ident: &Ident) -> Option<&Field> {
        let name = serde::unraw(ident);
        self.fields().iter().find(|field| field.rust == name)
    }

    /// The types whose handles and metadata the generated code uses.
    pub(crate) fn stored_types(&self) -> Vec<&Type> {
        fn named(fields: &[Field]) -> impl Iterator<Item = &Type> {
            fields
                .iter()
                .filter(|field| !field.skipped && field.encoder.is_none())
                .map(|field| &field.ty)
        }
        match &self.shape {
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
    pub(crate) fn depends_on_parameter(&self, ty: &Type) -> bool {
        let mut params = self.generics.params.iter();
        params.any(|param| rust_type::mentions(ty, rust_type::parameter_name(param)))
    }
}

/// The path of `odm::support`.
pub(crate) fn support(krate: Option<&Path>) -> TokenStream {
    if let Some(path) = krate {
        quote!(#path::support)
    } else {
        quote!(::odm::support)
    }
}
