//! `impl Document`: the collection's name, indexes, validator and options, as declared.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Ident, LitStr};

use super::bucket;
use super::handle_type::sound;
use super::header::{document_target, header, tailable, versioned, writable};
use super::overflow;
use super::relations;
use super::schema;
use super::time_series;
use super::tokens::option;
use super::tree;
use crate::facts::index::{Index, Key, Path};
use crate::facts::{Facts, Id};
use crate::model::Model;
use crate::model::rust_type::{Kind, kind};
use crate::parse::collation::Collation;
use crate::parse::container::CollectionName;
use crate::parse::index::KeyKind;
use crate::parse::serde::unraw;

/// Writes the implementation for a struct.
pub(crate) fn of_struct(facts: &Facts<'_>, id: &Id<'_>) -> TokenStream {
    let ty = sound(facts.model, &id.unproven, &id.field.ty.to_token_stream());
    let ident = &id.field.ident;
    let mut tokens = document(facts, &ty, &quote!(&self.#ident), &quote!(&[]));
    tokens.extend(super::document_enum::declared(facts.model));
    tokens
}

/// Writes the implementation; `id` is the expression of a reference to the `_id`.
pub(super) fn document(
    facts: &Facts<'_>,
    id_ty: &TokenStream,
    id: &TokenStream,
    variants: &TokenStream,
) -> TokenStream {
    let model = facts.model;
    let (support, ident) = (&model.support, &model.ident);
    let rust = ident.to_string();
    let attributes = &model.attributes;
    let collection = match &attributes.collection {
        Some(CollectionName::Literal(name)) => name.value().to_token_stream(),
        Some(CollectionName::Constant(path)) => path.to_token_stream(),
        None => attributes.variant_of.as_ref().map_or_else(
            || quote!(""),
            |of| super::document_enum::collection(support, of),
        ),
    };
    let variant_of = option(
        attributes
            .variant_of
            .as_ref()
            .map(|of| super::document_enum::variant_of(support, of))
            .as_ref(),
    );
    // A sharded collection needs an index that begins with its shard key.
    let serves = |one: &Index<'_>, shard_key| {
        let declared = one.declared;
        let has_every_document =
            declared.sparse.is_none() && declared.partial.is_none() && declared.variant.is_none();
        has_every_document && declared.collation.is_none() && one.begins_with(shard_key)
    };
    let needed = facts.shard_key.as_ref();
    let needed = needed.filter(|key| !facts.indexes.iter().any(|one| serves(one, key)));
    let indexes = facts
        .indexes
        .iter()
        .chain(needed)
        .map(|one| index(model, one));
    let shard_key = facts.shard_key.iter().flat_map(|one| &one.keys);
    let shard_key = shard_key.map(|one| key(support, one));
    let rules = attributes.rules.iter().map(|rule| {
        let (name, filter) = (&rule.name, &rule.filter);
        quote!(#support::ExpressionRule { name: #name, filter: || #support::filter::<Self, _>(#filter) },)
    });
    let deny = attributes.deny_undeclared.is_some();
    let level = variant(attributes.level.as_ref(), "Strict");
    let action = variant(attributes.action.as_ref(), "Error");
    let capped = attributes.capped.as_ref().map(|capped| {
        let (size, max) = (capped.size, option(capped.max.as_ref()));
        quote!(#support::Capped { size: #size, max: #max })
    });
    let capped = option(capped.as_ref());
    let budget = attributes.budget.as_ref().map(|budget| {
        let (max, allow) = (budget.max, option(budget.allow.as_ref()));
        quote!(#support::Budget { max: #max, allow: #allow })
    });
    let budget = option(budget.as_ref());
    let gridfs = attributes.gridfs.as_ref().map(|gridfs| {
        let declared = gridfs
            .chunk_size
            .and_then(|(bytes, _)| u32::try_from(bytes).ok());
        declared.map_or_else(|| quote!(#support::CHUNK_SIZE), |bytes| quote!(#bytes))
    });
    let files = gridfs.as_ref().map(|chunk_size| files(model, chunk_size));
    let gridfs = option(gridfs.as_ref());
    let bucket = facts.bucket.as_ref();
    let implementation = bucket.map(|one| bucket::implementation(model, one));
    let bucket = option(bucket.map(|one| bucket::meta(model, one)).as_ref());
    let overflow = facts.overflow.as_ref();
    let overflows = overflow.map(|one| overflow::implementation(model, one));
    let overflow = option(overflow.map(|one| overflow::meta(model, one)).as_ref());
    let time_series = option(time_series::meta(model).as_ref());
    let schema = option(schema::meta(model).as_ref());
    // A view with a tree is refused, and the code of the tree writes.
    let is_written = attributes.view.is_none() || !attributes.trees.is_empty();
    let writable = is_written.then(|| writable(model));
    let tailable = attributes.capped.as_ref().map(|_| tailable(model));
    let view = attributes.view.as_ref().map(|view| {
        let (on, pipeline) = (&view.on, &view.pipeline);
        let span = pipeline.span();
        let pipeline =
            quote_spanned!(span=> #support::view_stages::<#on, #ident, _>(#pipeline, __odm_names));
        let pipeline = quote!(pipeline: |__odm_names| #pipeline);
        let on = quote_spanned!(on.span()=> on: #support::model_of::<#on>());
        quote!(&#support::ViewMeta { #on, #pipeline })
    });
    let view = option(view.as_ref());
    let images = attributes.change_stream_images.is_some();
    let collation = option(
        attributes
            .collation
            .as_ref()
            .map(|one| collation(support, one))
            .as_ref(),
    );
    let mut fields = model.fields().iter();
    let version = fields.find(|field| field.attributes.version.is_some());
    let has_version = version.is_some();
    let version = option(version.map(|field| &field.stored).as_ref());
    let versioned = has_version.then(|| versioned(model));
    let timestamps = timestamps(model);
    let declared_relations = relations::declared(facts);
    let trees = tree::list(model);
    let keywords = super::keywords::meta(model);
    let (header, target) = (header(model), document_target(model, &collection));
    quote! {
        #target
        #versioned
        #files
        #implementation
        #overflows
        #writable
        #tailable
        #header {
            type Id = #id_ty;
            const MODEL: &'static #support::ModelMeta = &#support::ModelMeta {
                name: #rust,
                collection: #collection,
                embedded: <Self as #support::Embedded>::meta,
                indexes: &[#(#indexes)*],
                rules: &[#(#rules)*],
                deny_undeclared: #deny,
                validation_level: #support::ValidationLevel::#level,
                validation_action: #support::ValidationAction::#action,
                capped: #capped,
                budget: #budget,
                change_stream_images: #images,
                gridfs: #gridfs,
                shard_key: &[#(#shard_key),*],
                bucket: #bucket,
                overflow: #overflow,
                time_series: #time_series,
                schema: #schema,
                view: #view,
                variant_of: #variant_of,
                variants: #variants,
                collation: #collation,
                keywords: &[#(#keywords),*],
                declared_relations: &[#declared_relations],
                trees: #trees,
                version: #version,
                timestamps: #timestamps,
            };
            fn id(&self) -> &#id_ty {
                #id
            }
        }
    }
}

/// The implementation for a model of files.
fn files(model: &Model, chunk_size: &TokenStream) -> TokenStream {
    let (support, ident) = (&model.support, &model.ident);
    let mut fields = model.fields().iter();
    let metadata = fields.find(|field| field.stored == "metadata");
    let metadata = match metadata.map(|field| (&field.ty, kind(&field.ty))) {
        None => quote!(#support::NoMetadata),
        Some((_, Kind::Optional(inner))) => inner.to_token_stream(),
        Some((ty, _)) => ty.to_token_stream(),
    };
    quote! {
        impl #support::FileModel for #ident {
            type Metadata = #metadata;
            const CHUNK_SIZE: u32 = #chunk_size;
        }
    }
}

/// The fields that record when a document was inserted and last changed.
fn timestamps(model: &Model) -> TokenStream {
    let support = &model.support;
    let fields = || model.fields().iter();
    let created = fields().find(|field| field.attributes.created_at.is_some());
    let updated = fields().find(|field| field.attributes.updated_at.is_some());
    if created.is_none() && updated.is_none() {
        return quote!(::core::option::Option::None);
    }
    let by_server = updated
        .and_then(|field| field.attributes.updated_at.as_ref())
        .is_some_and(|one| one.server);
    let clock = if by_server {
        quote!(Server)
    } else {
        quote!(Client)
    };
    let created = option(created.map(|field| &field.stored).as_ref());
    let updated = option(updated.map(|field| &field.stored).as_ref());
    quote! {
        ::core::option::Option::Some(&#support::TimestampsMeta {
            created_at: #created,
            updated_at: #updated,
            clock: #support::Clock::#clock,
        })
    }
}

/// `strict` as the variant `Strict`.
fn variant(literal: Option<&LitStr>, default: &str) -> Ident {
    let name = literal.map_or_else(
        || default.to_owned(),
        |literal| crate::parse::case::pascal(&literal.value()),
    );
    Ident::new(&name, Span::call_site())
}

/// One index.
fn index(model: &Model, index: &Index<'_>) -> TokenStream {
    let support = &model.support;
    let keys = index.keys.iter().map(|one| key(support, one));
    let declared = index.declared;
    let name = &declared.name;
    let mut options = TokenStream::new();
    if name.is_some() {
        let name = option(name.as_ref());
        options.extend(quote!(name: #name,));
    }
    for (flag, set) in [
        ("unique", declared.unique.is_some()),
        ("sparse", declared.sparse.is_some()),
        ("hidden", declared.hidden.is_some()),
    ] {
        if set {
            let flag = format_ident!("{flag}");
            options.extend(quote!(#flag: true,));
        }
    }
    if let Some(partial) = &declared.partial {
        options.extend(quote!(partial: ::core::option::Option::Some(|| #support::filter::<Self, _>(#partial)),));
    }
    if let Some(variant) = &declared.variant {
        options.extend(quote!(variant: ::core::option::Option::Some(#variant),));
    }
    if let Some((seconds, _)) = declared.expire_after {
        options.extend(quote!(expire_after_seconds: ::core::option::Option::Some(#seconds),));
    }
    if let Some(one) = &declared.collation {
        let one = collation(support, one);
        options.extend(quote!(collation: ::core::option::Option::Some(#one),));
    }
    if let Some(language) = &declared.default_language {
        options.extend(quote!(default_language: ::core::option::Option::Some(#language),));
    }
    if let Some(field) = &declared.language_override {
        options.extend(quote!(language_override: ::core::option::Option::Some(#field),));
    }
    if let Some(projection) = &declared.projection {
        let included = projection.includes();
        let paths = index.projected.iter().map(|path| {
            let path = names(path);
            quote!((#path, #included))
        });
        options.extend(quote!(wildcard_projection: &[#(#paths),*],));
    }
    if options.is_empty() {
        return quote!(#support::index(&[#(#keys),*]),);
    }
    quote!(#support::IndexMeta { #options ..#support::index(&[#(#keys),*]) },)
}

fn key(support: &TokenStream, key: &Key<'_>) -> TokenStream {
    let path = names(&key.path);
    let kind = match key.kind {
        KeyKind::Ascending => quote!(Ascending),
        KeyKind::Descending => quote!(Descending),
        KeyKind::Hashed => quote!(Hashed),
        KeyKind::Text(weight) => quote!(Text { weight: #weight }),
        KeyKind::Sphere => quote!(Sphere),
        KeyKind::Wildcard => quote!(Wildcard),
    };
    quote!(#support::KeyMeta { path: #path, kind: #support::KeyKind::#kind })
}

/// The fields of a path, from the struct down.
fn names(path: &Path<'_>) -> TokenStream {
    let names = path.idents.iter().map(unraw);
    quote!(&[#(#names),*])
}

fn collation(support: &TokenStream, collation: &Collation) -> TokenStream {
    let locale = &collation.locale;
    let strength = option(collation.strength.as_ref());
    let case_level = option(collation.case_level.as_ref());
    let case_first = option(collation.case_first.as_ref());
    let numeric_ordering = option(collation.numeric_ordering.as_ref());
    let alternate = option(collation.alternate.as_ref());
    let max_variable = option(collation.max_variable.as_ref());
    let backwards = option(collation.backwards.as_ref());
    let normalization = option(collation.normalization.as_ref());
    quote! {
        #support::CollationMeta {
            locale: #locale,
            strength: #strength,
            case_level: #case_level,
            case_first: #case_first,
            numeric_ordering: #numeric_ordering,
            alternate: #alternate,
            max_variable: #max_variable,
            backwards: #backwards,
            normalization: #normalization,
        }
    }
}
