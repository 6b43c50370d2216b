//! Checks of several models in one collection: the enum, and the structs of its variants.

use quote::ToTokens;
use syn::{Ident, Type};

use crate::attribute_names;
use crate::errors::Errors;
use crate::facts::Facts;
use crate::model::{Enum, Field, Model, Tagging, Variant, VariantContent};
use crate::parse::serde::unraw;

/// What the struct of a variant declares itself. The rest is about the collection, which the enum declares.
const OF_VARIANT: [&str; 12] = [
    attribute_names::CRATE,
    attribute_names::DENY_UNDECLARED,
    attribute_names::HAS_MANY,
    attribute_names::HAS_ONE,
    attribute_names::HAS_SQUILLIONS,
    attribute_names::INDEX,
    attribute_names::RULE,
    attribute_names::TEXT,
    attribute_names::TTL,
    attribute_names::UNIQUE,
    attribute_names::VARIANT_OF,
    attribute_names::WILDCARD,
];

/// What an enum can't declare.
const NOT_OF_ENUM: [&str; 10] = [
    attribute_names::BUCKET,
    attribute_names::GRIDFS,
    attribute_names::KEYWORDS,
    attribute_names::OVERFLOW,
    attribute_names::SCHEMA,
    attribute_names::SUBSET,
    attribute_names::TIME_SERIES,
    attribute_names::TREE,
    attribute_names::VARIANT_OF,
    attribute_names::VIEW,
];

pub(super) fn check(facts: &Facts<'_>, errors: &mut Errors) {
    let model = facts.model;
    if let Some(shape) = model.document_enum() {
        of_enum(model, shape, errors);
    } else {
        of_struct(model, errors);
    }
}

/// Checks the struct of a variant.
fn of_struct(model: &Model, errors: &mut Errors) {
    let attributes = &model.attributes;
    let Some(of) = &attributes.variant_of else {
        return;
    };
    if !model.generics.params.is_empty() {
        errors.at(
            &of.word,
            "a generic struct can't be a variant of a model: declare `variant_of` on a struct without parameters",
        );
    }
    let of = of.model.to_token_stream();
    for word in &attributes.document_words {
        let text = word.to_string();
        if !OF_VARIANT.contains(&text.as_str()) {
            let message = match text.as_str() {
                attribute_names::TREE
                | attribute_names::SCHEMA
                | attribute_names::SUBSET
                | attribute_names::BUCKET
                | attribute_names::OVERFLOW => {
                    format!(
                        "`{text}` needs a collection of its own, and this struct shares one with the other variants of `{of}`; \
                     store its documents in a model without `variant_of`"
                    )
                }
                _ => format!("`{text}` is about the whole collection: write it on `{of}`"),
            };
            errors.at(word, message);
        }
    }
    for field in model.fields() {
        for word in derived(field) {
            errors.at(
                word,
                format!("`{word}` keeps data of several documents in step, and odm does that only for models with a collection of their own; remove it, or store these documents in a model without `variant_of`"),
            );
        }
    }
    no_on_delete(model, errors);
    no_sparse(model, errors);
}

/// A delete through the handle of another model of the collection would not see the policy.
fn no_on_delete(model: &Model, errors: &mut Errors) {
    for inverse in &model.attributes.inverses {
        if let Some(policy) = &inverse.on_delete {
            errors.at(
                policy,
                "the documents of this collection are deleted as those of the enum and of each variant, and `on_delete` would act for one of them only: remove it, and delete what refers to them first",
            );
        }
    }
}

/// MongoDB takes no index that is both sparse and partial.
fn no_sparse(model: &Model, errors: &mut Errors) {
    let indexes = model.attributes.indexes.iter();
    let on_fields = model
        .fields()
        .iter()
        .flat_map(|field| &field.attributes.indexes);
    let is_variant = model.attributes.variant_of.is_some();
    for index in indexes.chain(on_fields) {
        if let Some(span) = index
            .sparse
            .filter(|_| is_variant || index.variant.is_some())
        {
            errors.push(syn::Error::new(
                span,
                "an index of a variant is partial, because it has the documents of that variant alone, and MongoDB takes no index that is partial and sparse: write `partial = |m| m.field.exists(true)`",
            ));
        }
    }
}

/// Checks an enum whose values are documents.
fn of_enum(model: &Model, shape: &Enum, errors: &mut Errors) {
    if !model.generics.params.is_empty() {
        errors.at(
            &model.ident,
            "a generic enum can't describe the models of a collection: declare it without parameters",
        );
    }
    for word in &model.attributes.document_words {
        let text = word.to_string();
        if NOT_OF_ENUM.contains(&text.as_str()) {
            errors.at(
                word,
                format!("`{text}` describes documents of one shape, and those of an enum have several; declare it on a struct with a collection of its own"),
            );
        }
    }
    tagging(model, shape, errors);
    no_on_delete(model, errors);
    no_sparse(model, errors);
    if let Some(skipped) = &shape.skipped {
        errors.at(
            skipped,
            format!("`{skipped}` is never stored, so a document can't be one: remove the variant, or its `#[serde(skip)]`"),
        );
    }
    let mut held: Vec<(String, &Ident)> = Vec::new();
    for variant in &shape.variants {
        content(model, variant, errors);
        if variant.handle() == "id" {
            errors.at(
                &variant.ident,
                "the handle of the `_id` is named `id`; give this variant another name",
            );
        }
        let VariantContent::Newtype(ty) = &variant.content else {
            continue;
        };
        let text = ty.to_token_stream().to_string();
        if let Some((_, other)) = held.iter().find(|(one, _)| *one == text) {
            errors.at(
                ty,
                format!("`{other}` holds a `{text}`, too, so documents of that model would be of either variant; give each variant a struct of its own"),
            );
        }
        held.push((text, &variant.ident));
    }
}

fn tagging(model: &Model, shape: &Enum, errors: &mut Errors) {
    let name = &model.ident;
    match &shape.tagging {
        Tagging::Internal(_) => {}
        Tagging::External => errors.at(
            name,
            format!("documents of several models need a tag beside their fields, and serde's default stores each in a field named like its variant: write `#[serde(tag = \"kind\")]` on `{name}`"),
        ),
        Tagging::Adjacent(_, content) => errors.at(
            content,
            "the fields of a document stand beside its `_id`, and `content` puts them into a field of their own: remove `content`, and keep the `tag`",
        ),
        Tagging::Untagged => errors.at(
            name,
            format!("nothing in a document would say which variant it is, so no find, index or validator could be of one: write `#[serde(tag = \"kind\")]` on `{name}` instead of `untagged`"),
        ),
    }
}

fn content(model: &Model, variant: &Variant, errors: &mut Errors) {
    if !matches!(shape_tagging(model), Some(Tagging::Internal(_))) {
        return;
    }
    let name = unraw(&variant.ident);
    match &variant.content {
        VariantContent::Newtype(ty) => one_model(&name, ty, errors),
        VariantContent::Unit => errors.at(
            &variant.ident,
            format!("a document of `{name}` would have no `_id`: give the variant fields, `{name} {{ #[serde(rename = \"_id\")] id: Id<Self> }}`, or a model, `{name}({name})`"),
        ),
        VariantContent::Opaque | VariantContent::Tuple(_) => errors.at(
            &variant.ident,
            format!("a variant of a document holds one model, `{name}({name})`, or names its fields, one of them stored as `_id`"),
        ),
        VariantContent::Struct(fields) => {
            if variant.id().is_none() {
                let meant = fields.iter().find(|field| matches!(field.rust.as_str(), "id" | "_id"));
                match meant {
                    Some(field) => errors.at(
                        &field.ident,
                        format!("no field of `{name}` is stored as `_id`: write `#[serde(rename = \"_id\")]` on `{}`", field.rust),
                    ),
                    None => errors.at(
                        &variant.ident,
                        format!("no field of `{name}` is stored as `_id`: add `#[serde(rename = \"_id\")] id: Id<{}>`", model.ident),
                    ),
                }
            }
            for field in fields {
                for word in maintained(field) {
                    errors.at(
                        word,
                        format!("`{word}` is kept by the writes of one model: put the fields of `{name}` into a struct that derives `Document` with `#[odm(variant_of = {})]`", model.ident),
                    );
                }
            }
        }
    }
}

fn one_model(name: &str, ty: &Type, errors: &mut Errors) {
    if crate::model::rust_type::is_option(ty) {
        errors.at(
            ty,
            format!("a document of `{name}` can't be missing: declare the struct without `Option`"),
        );
    }
}

fn shape_tagging(model: &Model) -> Option<&Tagging> {
    model.document_enum().map(|shape| &shape.tagging)
}

/// The words of a field that writes of its model heed.
fn maintained(field: &Field) -> impl Iterator<Item = &Ident> {
    let attributes = &field.attributes;
    let list = attributes.list.as_ref();
    let keywords = list.filter(|list| list.is_keywords());
    let own = [
        keywords.map(|list| &list.word),
        attributes.version.as_ref(),
        attributes.timestamp(),
    ];
    own.into_iter().flatten().chain(derived(field))
}

/// The words of a field that depends on other documents.
fn derived(field: &Field) -> impl Iterator<Item = &Ident> {
    let attributes = &field.attributes;
    let list = attributes.list.as_ref();
    let recent = list.filter(|list| list.is_recent());
    let all = [
        recent.map(|list| &list.word),
        attributes.copy_of.as_ref().map(|one| &one.word),
        attributes.summary.as_ref().map(|one| &one.word),
        attributes.counterpart.as_ref().map(|one| &one.word),
    ];
    all.into_iter().flatten()
}
