//! Assertions about what the spelling of a type does not show: aliases, newtypes and derived types. They are
//! evaluated where the metadata is known. Nested keys are checked by code that compiles only if the fields
//! exist.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Ident, Type};

use super::generics::{Generics, depends_on_parameter, stored_types};
use super::handle_type::SpannedType;
use super::meta;
use crate::check::{LIST, NUMBER, TEXT, UNIQUE_LIST};
use crate::model::rust_type::{
    Kind, element_kind, generic_types, holds_only_scalars, kind, stored_kind,
};
use crate::model::{Derive, Field, Model, Shape, Tagging, Variant, VariantContent};
use crate::parse::index::{Index, Key, KeyKind};
use crate::parse::rule::Rule;
use crate::parse::serde::unraw;

/// Every assertion about a struct or an enum.
///
/// A field whose type depends on a parameter is left out: [`deferred`] checks it once the parameter is known.
pub(crate) fn all(model: &Model) -> TokenStream {
    let mut tokens = TokenStream::new();
    for field in named_fields(model) {
        if !depends_on_parameter(model, &field.ty) {
            tokens.extend(constant(model, &of_field(model, field)));
        }
    }
    for one in nameless(model) {
        tokens.extend(constant(model, &one));
    }
    tokens.extend(constant(model, &generics(model)));
    let mut together = flattened(model);
    for index in indexes(model) {
        together.extend(of_index(model, index));
    }
    tokens.extend(constant(model, &together));
    tokens.extend(nested(model));
    tokens
}

/// A constant that is evaluated only for its panics; the first panic ends the evaluation.
fn constant(model: &Model, asserted: &TokenStream) -> TokenStream {
    if asserted.is_empty() {
        return TokenStream::new();
    }
    let support = &model.support;
    quote! {
        const _: () = {
            #[allow(unused_imports)]
            use #support::Unprobed as _;
            #asserted
        };
    }
}

/// Checks of fields and variants whose types depend on a parameter. They are evaluated with the metadata of
/// `Page<Contact>`, and again with that of `Page<Book>`.
pub(super) fn deferred(model: &Model) -> TokenStream {
    let mut tokens: TokenStream = named_fields(model)
        .into_iter()
        .filter(|field| field.encoder.is_none() && depends_on_parameter(model, &field.ty))
        .map(|field| flaw(model, field))
        .collect();
    if let Shape::Enum(shape) = &model.shape {
        for variant in &shape.variants {
            if let VariantContent::Newtype(ty) = &variant.content
                && depends_on_parameter(model, ty)
            {
                tokens.extend(beside_a_tag(model, &shape.tagging, variant, ty));
            }
        }
    }
    tokens
}

fn named_fields(model: &Model) -> Vec<&Field> {
    let all: Vec<&Field> = match &model.shape {
        Shape::Struct { fields, .. } => fields.iter().collect(),
        Shape::Enum(shape) => shape
            .variants
            .iter()
            .filter_map(|variant| match &variant.content {
                VariantContent::Struct(fields) => Some(fields),
                _ => None,
            })
            .flatten()
            .collect(),
        _ => Vec::new(),
    };
    all.into_iter().filter(|field| !field.skipped).collect()
}

fn indexes(model: &Model) -> impl Iterator<Item = &Index> {
    model
        .fields()
        .iter()
        .filter(|field| !field.skipped)
        .flat_map(|field| &field.attributes.indexes)
        .chain(&model.attributes.indexes)
        .filter(|_| model.derive == Derive::Document)
}

/// Panics with `message` at `span` unless `test` holds of `ty`.
fn assert(model: &Model, span: Span, test: &str, ty: &TokenStream, message: &str) -> TokenStream {
    let support = &model.support;
    let test = Ident::new(test, span);
    quote_spanned! {span=>
        ::core::assert!(#support::#test(&#ty), "{}", #message);
    }
}

/// Panics at `span` with the message of `flaw`, if it has one.
fn refusal(span: Span, flaw: &TokenStream) -> TokenStream {
    quote_spanned! {span=>
        if let ::core::option::Option::Some(__odm_flaw) = #flaw {
            ::core::panic!("{}", __odm_flaw);
        }
    }
}

/// The check of a field's type against its attributes.
pub(super) fn flaw(model: &Model, field: &Field) -> TokenStream {
    let support = &model.support;
    let (declared, span) = match &field.attributes.list {
        None if holds_only_scalars(&field.ty) => return TokenStream::new(),
        None if field.flatten.is_some() => ("Flattened", field.ty.span()),
        None => ("Nothing", field.ty.span()),
        Some(list) if list.max.is_none() => ("Embed", list.word.span()),
        Some(list) if list.embeds() => ("Few", field.ty.span()),
        Some(_) => ("Many", field.ty.span()),
    };
    let declared = Ident::new(declared, Span::call_site());
    let ty = meta::ty(model, field);
    refusal(
        span,
        &quote!(#support::flaw(&#ty, #support::Declared::#declared)),
    )
}

/// The check of the type of an unnamed value.
fn flaw_of_nameless(model: &Model, ty: &Type) -> TokenStream {
    if holds_only_scalars(ty) || depends_on_parameter(model, ty) {
        return TokenStream::new();
    }
    let support = &model.support;
    let meta = SpannedType::new(ty).meta(support);
    refusal(
        ty.span(),
        &quote!(#support::flaw(&#meta, #support::Declared::Nameless)),
    )
}

/// Whether the spelling shows that values of the type are single, never null, and not regular expressions.
fn is_scalar(ty: &Type) -> bool {
    holds_only_scalars(ty)
        && !matches!(kind(ty), Kind::List(_) | Kind::Optional(_) | Kind::Boxed(_))
}

/// Checks of unnamed values, in a newtype, a tuple or a variant.
fn nameless(model: &Model) -> Vec<TokenStream> {
    let support = &model.support;
    match &model.shape {
        Shape::Forward { ty, .. }
            if !holds_only_scalars(ty) && !depends_on_parameter(model, ty) =>
        {
            let meta = SpannedType::new(ty).meta(support);
            vec![refusal(ty.span(), &quote!(#support::null_flaw(&#meta)))]
        }
        Shape::Tuple(types) => types
            .iter()
            .filter(|ty| !holds_only_scalars(ty) && !depends_on_parameter(model, ty))
            .map(|ty| {
                let contents = quote!(#support::Probe::<#ty>::CONTENTS);
                refusal(ty.span(), &quote!(#support::tuple_flaw(#contents)))
            })
            .collect(),
        Shape::Enum(shape) => shape
            .variants
            .iter()
            .flat_map(|variant| match &variant.content {
                VariantContent::Newtype(ty) => {
                    let mut tokens = flaw_of_nameless(model, ty);
                    if !depends_on_parameter(model, ty) {
                        tokens.extend(beside_a_tag(model, &shape.tagging, variant, ty));
                    }
                    vec![tokens]
                }
                VariantContent::Tuple(types) => {
                    types.iter().map(|ty| flaw_of_nameless(model, ty)).collect()
                }
                _ => Vec::new(),
            })
            .collect(),
        _ => Vec::new(),
    }
}

/// Checks the content of a variant if the tag is stored among the fields of the content.
fn beside_a_tag(model: &Model, tagging: &Tagging, variant: &Variant, ty: &Type) -> TokenStream {
    let Tagging::Internal(tag) = tagging else {
        return TokenStream::new();
    };
    let support = &model.support;
    let name = unraw(&variant.ident);
    let meta = SpannedType::new(ty).meta(support);
    let message = format!(
        "`{name}` holds a value that may have no fields, and the tag is stored among the fields of what a variant holds; name the value, `{name} {{ value: … }}`, or store it beside the tag: `#[serde(tag = \"{}\", content = \"…\")]`",
        tag.value()
    );
    let mut tokens = assert(model, ty.span(), "takes_a_tag", &meta, &message);
    if matches!(kind(within(ty)), Kind::Unknown) {
        let span = ty.span();
        let fields = SpannedType::new(ty).item(support, "FIELDS");
        let message = format!(
            "a field of what `{name}` holds is stored as `{}`, and so is the tag; rename one",
            tag.value()
        );
        tokens.extend(quote_spanned! {span=>
            ::core::assert!(!#support::has_name(#fields, #tag), "{}", #message);
        });
    }
    tokens
}

/// Evaluates the metadata of generic types whose parameters are known here, which checks their fields.
fn generics(model: &Model) -> TokenStream {
    let support = &model.support;
    let mut seen: Vec<String> = Vec::new();
    let mut tokens = TokenStream::new();
    for ty in stored_types(model).into_iter().flat_map(generic_types) {
        let text = ty.to_token_stream().to_string();
        if !depends_on_parameter(model, ty) && !seen.contains(&text) {
            seen.push(text);
            let ty = SpannedType::new(ty).ty;
            tokens.extend(quote!(let _ = #support::Probe::<#ty>::FIELDS;));
        }
    }
    tokens
}

fn of_field(model: &Model, field: &Field) -> TokenStream {
    let mut tokens = TokenStream::new();
    if field.encoder.is_some() {
        return tokens;
    }
    let unknown = matches!(element_kind(&field.ty), Kind::Unknown);
    let whole_unknown = matches!(stored_kind(&field.ty), Kind::Unknown);
    let ty = meta::ty(model, field);
    let rust = &field.rust;
    tokens.extend(flaw(model, field));
    if field.flatten.is_some() {
        if whole_unknown {
            let message = format!(
                "`{rust}` is flattened, so it must have fields: a struct, an enum with data, or a map"
            );
            tokens.extend(assert(model, field.ty.span(), "has_fields", &ty, &message));
        }
        if whole_unknown && model.attributes.deny_undeclared.is_some() {
            let message = format!(
                "`{rust}` takes every field that is not declared, and `deny_undeclared` refuses them all; keep one of the two"
            );
            tokens.extend(assert(model, field.ty.span(), "is_no_map", &ty, &message));
        }
        return tokens;
    }
    if let (true, Some(list)) = (whole_unknown, &field.attributes.list)
        && list.max.is_some()
    {
        let word = &list.word;
        let message = format!(
            "`{word}` bounds a list or a map, and `{rust}` is neither; take it off, or declare a `Vec`"
        );
        tokens.extend(assert(model, word.span(), "has_elements", &ty, &message));
    }
    for rule in &field.attributes.rules {
        let word = &rule.word;
        let (test, needs) = match rule.rule {
            Rule::Range { .. } if unknown => ("is_number", NUMBER),
            Rule::Length(_) | Rule::Pattern(_) | Rule::OneOf(_) if unknown => ("is_text", TEXT),
            Rule::Items(_) if whole_unknown => ("has_elements", LIST),
            Rule::UniqueItems if whole_unknown => ("is_list", UNIQUE_LIST),
            _ => continue,
        };
        tokens.extend(assert(
            model,
            word.span(),
            test,
            &ty,
            &format!("`{word}` {needs}"),
        ));
    }
    if field.stored == "_id" && model.derive == Derive::Document && !is_scalar(&field.ty) {
        let support = &model.support;
        tokens.extend(refusal(field.ty.span(), &quote!(#support::id_flaw(&#ty))));
    }
    if field.attributes.version.is_some() && whole_unknown {
        tokens.extend(assert(
            model,
            field.ty.span(),
            "is_integer",
            &ty,
            "a version is counted up by `save`: declare it as `i64` or `i32`",
        ));
    }
    tokens
}

/// Asserts that a flattened struct shares no stored name with the struct around it, or with another flattened
/// one.
fn flattened(model: &Model) -> TokenStream {
    let support = &model.support;
    let inside: Vec<(&Field, &Type)> = model
        .fields()
        .iter()
        .filter(|field| !field.skipped && field.flatten.is_some() && field.encoder.is_none())
        .map(|field| (field, within(&field.ty)))
        .filter(|(_, ty)| matches!(kind(ty), Kind::Unknown) && !depends_on_parameter(model, ty))
        .collect();
    let mut tokens = TokenStream::new();
    for (position, (field, ty)) in inside.iter().enumerate() {
        let span = ty.span();
        let fields = quote!(#support::Probe::<#ty>::FIELDS);
        let (rust, own) = (&field.rust, model.fields());
        for other in own
            .iter()
            .filter(|other| !other.skipped && other.flatten.is_none())
        {
            let (other, stored) = (&other.rust, &other.stored);
            let message = format!(
                "`{other}` and a field of `{rust}`, which is flattened, are both stored as `{stored}`; rename one"
            );
            tokens.extend(quote_spanned! {span=>
                ::core::assert!(!#support::has_name(#fields, #stored), "{}", #message);
            });
        }
        for (other, other_ty) in inside.iter().take(position) {
            let message = format!(
                "`{}` and `{rust}` are flattened, and a field of each is stored under the same name; rename one",
                other.rust
            );
            tokens.extend(quote_spanned! {span=>
                ::core::assert!(!#support::share_a_name(#support::Probe::<#other_ty>::FIELDS, #fields), "{}", #message);
            });
        }
    }
    tokens
}

/// The type inside `Option` and `Box`.
fn within(ty: &Type) -> &Type {
    match kind(ty) {
        Kind::Optional(inner) | Kind::Boxed(inner) => within(inner),
        _ => ty,
    }
}

fn of_index(model: &Model, index: &Index) -> TokenStream {
    let mut tokens = TokenStream::new();
    for key in &index.keys {
        let Some((field, last)) = key
            .path
            .first()
            .and_then(|first| model.field(first))
            .zip(key.path.last())
        else {
            continue;
        };
        let rust = &field.rust;
        let own = key.path.len() == 1;
        if index.expire_after.is_some() && !own && model.generics.params.is_empty() {
            let message = format!(
                "documents expire by a date, and `{last}` is not one; declare it as `bson::DateTime`"
            );
            let ty = at(model, key);
            tokens.extend(assert(model, last.span(), "is_date", &ty, &message));
        }
        if !own
            || field.encoder.is_some()
            || !matches!(element_kind(&field.ty), Kind::Unknown)
            || depends_on_parameter(model, &field.ty)
        {
            continue;
        }
        let ty = meta::ty(model, field);
        if index.expire_after.is_some() {
            let message = format!(
                "documents expire by a date, and `{rust}` is not one; declare it as `bson::DateTime`"
            );
            tokens.extend(assert(model, last.span(), "is_date", &ty, &message));
        }
        match key.kind {
            KeyKind::Hashed => {
                let message = format!(
                    "`{rust}` is an array, and a hash can't be taken of one; make the key `asc`"
                );
                tokens.extend(assert(model, last.span(), "is_no_list", &ty, &message));
            }
            KeyKind::Text(_) => {
                let message =
                    format!("a text index reads strings, and `{rust}` holds none; leave it out");
                tokens.extend(assert(model, last.span(), "may_hold_text", &ty, &message));
            }
            _ => {}
        }
    }
    if !index.is_text() {
        tokens.extend(parallel(model, index));
        // A nested key is checked through concrete handles, which a generic type does not have here.
        if model.generics.params.is_empty() {
            tokens.extend(parallel_inside(model, index));
        }
    }
    tokens
}

/// The stored type at the end of a nested key.
fn at(model: &Model, key: &Key) -> TokenStream {
    let (support, ident) = (&model.support, &model.ident);
    let span = key.path.last().map_or_else(Span::call_site, Ident::span);
    let path = walk(&key.path);
    let ty = quote_spanned!(span=> #support::type_of(|__odm_fields: &<#ident as #support::Embedded>::Fields<#ident>| #support::leaf(&#path)));
    quote!({ use #support::Descend as _; #ty })
}

/// Asserts that at most one nested key of an index ends in an array, and that no other key goes through
/// another array.
fn parallel_inside(model: &Model, index: &Index) -> TokenStream {
    let support = &model.support;
    let mut tokens = TokenStream::new();
    for (position, key) in index.keys.iter().enumerate() {
        for other in index.keys.iter().take(position) {
            let (Some(first), Some(other_first)) = (key.path.first(), other.path.first()) else {
                continue;
            };
            let (Some(root), Some(other_root)) = (model.field(first), model.field(other_first))
            else {
                continue;
            };
            let is_one = key.path.starts_with(&other.path) || other.path.starts_with(&key.path);
            if is_one || (key.path.len() == 1 && other.path.len() == 1) {
                continue;
            }
            // Whether a key is an array where it ends, or where it begins.
            let is_array = |key: &Key, root: &Field, beginning: bool| {
                let own = key.path.len() == 1;
                let mut places = Vec::new();
                if root.encoder.is_none() && (own || beginning) {
                    places.push(meta::ty(model, root));
                }
                if !own {
                    places.push(at(model, key));
                }
                quote!(false #(|| #support::is_list(&#places))*)
            };
            let apart = root.rust != other_root.rust;
            let (a, b) = (
                is_array(other, other_root, apart),
                is_array(key, root, apart),
            );
            let message = format!(
                "`{}` and `{}` go through two arrays, and an index can hold only one; declare an index for each",
                spelled(other),
                spelled(key)
            );
            let span = key.path.last().map_or_else(Span::call_site, Ident::span);
            tokens.extend(quote_spanned! {span=>
                ::core::assert!(!((#a) && (#b)), "{}", #message);
            });
        }
    }
    tokens
}

fn spelled(key: &Key) -> String {
    key.path.iter().map(unraw).collect::<Vec<_>>().join(".")
}

/// Asserts that at most one key of an index is an array.
fn parallel(model: &Model, index: &Index) -> TokenStream {
    let roots: Vec<(&Key, &Field)> = index
        .keys
        .iter()
        .filter_map(|key| Some((key, model.field(key.path.first()?)?)))
        .filter(|(_, field)| {
            field.encoder.is_none()
                && matches!(stored_kind(&field.ty), Kind::List(_) | Kind::Unknown)
                && !depends_on_parameter(model, &field.ty)
        })
        .collect();
    let mut tokens = TokenStream::new();
    for (position, (key, field)) in roots.iter().enumerate() {
        for (_, other) in roots.iter().take(position) {
            let certain = |field: &Field| matches!(stored_kind(&field.ty), Kind::List(_));
            if other.rust == field.rust || (certain(other) && certain(field)) {
                continue;
            }
            let (support, a, b) = (
                &model.support,
                meta::ty(model, other),
                meta::ty(model, field),
            );
            let span = key.path.first().map_or_else(Span::call_site, Ident::span);
            let message = format!(
                "`{}` and `{}` are both arrays, and an index can hold only one; declare an index for each",
                other.rust, field.rust
            );
            tokens.extend(quote_spanned! {span=>
                ::core::assert!(!(#support::is_list(&#a) && #support::is_list(&#b)), "{}", #message);
            });
        }
    }
    tokens
}

/// A function that names every nested key; it is never called.
fn nested(model: &Model) -> TokenStream {
    let paths: Vec<TokenStream> = indexes(model)
        .flat_map(Index::paths)
        .filter(|path| path.len() > 1)
        .map(|path| {
            let path = walk(path);
            quote!(let _ = &#path;)
        })
        .collect();
    if paths.is_empty() {
        return TokenStream::new();
    }
    let support = &model.support;
    let generics = Generics::new(model);
    let (parameters, arguments, clause) = (
        generics.parameters(),
        generics.arguments(),
        generics.clause(),
    );
    let ident = &model.ident;
    quote! {
        const _: () = {
            #[allow(dead_code)]
            fn __odm_paths #parameters (__odm_fields: &<#ident #arguments as #support::Embedded>::Fields<#ident #arguments>) #clause {
                use #support::Descend as _;
                #(#paths)*
            }
        };
    }
}

/// `__odm_fields.a.descend().b`
fn walk(path: &[Ident]) -> TokenStream {
    let mut tokens = quote!(__odm_fields);
    for (position, ident) in path.iter().enumerate() {
        let descend = (position > 0).then(|| quote_spanned!(ident.span()=> .descend()));
        tokens = quote_spanned!(ident.span()=> #tokens #descend . #ident);
    }
    tokens
}
