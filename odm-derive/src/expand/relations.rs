//! Names of relations: a type for each, and the trait by which rows of joins are read.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::{Ident, Visibility};

use super::copies;
use super::counterparts;
use super::keys;
use super::summaries;
use super::tokens::{
    documented, fields_argument, option, relation_hash, relation_name, relations_module, walk,
};
use crate::facts::Facts;
use crate::model::{Derive, Model, Variant};
use crate::parse::case::pascal;
use crate::parse::relation::{Inverse, InverseKind};
use crate::parse::serde::unraw;

/// The visibility of an item in a module inside, from which it is seen as far as `vis` reaches. A name that could be seen
/// farther than its model could not have a private model as an associated type.
fn one_module_deeper(vis: &Visibility) -> TokenStream {
    match vis {
        Visibility::Inherited => quote!(pub(super)),
        Visibility::Restricted(restricted) if restricted.path.is_ident("self") => {
            quote!(pub(super))
        }
        Visibility::Restricted(restricted) if restricted.path.is_ident("super") => {
            quote!(pub(in super::super))
        }
        vis => vis.to_token_stream(),
    }
}

/// A relation that rows are read by.
struct Named {
    name: Ident,
    /// Its key in a serialized row.
    key: String,
    /// Whether the key is that of a field of the document, which stores the reference.
    is_field: bool,
}

impl Named {
    /// The relations of a model, each name once.
    fn all(facts: &Facts<'_>) -> Vec<Self> {
        let model = facts.model;
        let fields = facts.fields.iter().filter(|one| one.field.is_joined());
        let fields = fields.map(|one| Self {
            name: one.field.ident.clone(),
            key: one.field.stored.clone(),
            is_field: model.derive == Derive::Document,
        });
        let variants = model.db_ref_variants().map(Variant::handle);
        let inverses = model.inverses().map(|one| one.name.clone());
        let others = variants.chain(inverses).map(|name| {
            let key = unraw(&name);
            Self {
                name,
                key: model
                    .rename_all
                    .map_or(key.clone(), |case| case.field(&key)),
                is_field: false,
            }
        });
        let mut all: Vec<Self> = Vec::new();
        for one in fields.chain(others) {
            if all.iter().all(|other| other.name != one.name) {
                all.push(one);
            }
        }
        all
    }

    /// What the type that names the relation says about it.
    fn describe(&self, model: &Model) -> TokenStream {
        let support = &model.support;
        let Self {
            name,
            key,
            is_field,
        } = self;
        let marker = relation_name(model, name);
        let declared_by = match model.derive {
            Derive::Document => quote!(OfDocument),
            Derive::Embedded => quote!(OfEmbedded),
        };
        quote! {
            impl #support::RelationName for #marker {
                type DeclaredBy = #support::#declared_by;
                const KEY: &'static str = #key;
                const IS_FIELD: bool = #is_field;
            }
        }
    }

    /// The implementation by which macros find the type that names the relation.
    fn find(&self, model: &Model) -> TokenStream {
        let (support, ident) = (&model.support, &model.ident);
        let (hash, marker) = (relation_hash(&self.name), relation_name(model, &self.name));
        quote! {
            impl #support::NamedRelation<#hash> for #ident {
                type Name = #marker;
            }
        }
    }
}

/// The module of names, the trait of rows, and the checks of declared relations.
pub(crate) fn all(facts: &Facts<'_>) -> TokenStream {
    let model = facts.model;
    let relations = Named::all(facts);
    let names: Vec<&Ident> = relations.iter().map(|one| &one.name).collect();
    let mut tokens = TokenStream::new();
    if !names.is_empty() {
        let (vis, module) = (&model.vis, relations_module(model));
        let inside = one_module_deeper(vis);
        tokens.extend(quote! {
            #[doc(hidden)]
            #[allow(non_camel_case_types, non_snake_case, missing_debug_implementations, dead_code, unreachable_pub)]
            #vis mod #module {
                #(#inside enum #names {})*
            }
        });
        tokens.extend(relations.iter().map(|one| one.describe(model)));
        let keys = facts.relations.keys.iter();
        tokens.extend(keys.filter_map(|one| keys::reference(model, one)));
        if model.generics.params.is_empty() {
            tokens.extend(relations.iter().map(|one| one.find(model)));
            tokens.extend(rows(model, &names));
        }
    }
    if model.derive == Derive::Document && model.generics.params.is_empty() {
        let (support, ident) = (&model.support, &model.ident);
        tokens.extend(quote!(impl #support::RowOf<#ident> for #ident {}));
    }
    tokens
}

/// The trait by which rows are read. Of a relation that was joined twice, rustc names the parameter of the method, so that its
/// name says what to write.
fn rows(model: &Model, names: &[&Ident]) -> TokenStream {
    let (support, vis, ident) = (&model.support, &model.vis, &model.ident);
    let joined = format_ident!("{}Joined", unraw(ident));
    let markers: Vec<TokenStream> = names.iter().map(|one| relation_name(model, one)).collect();
    let doc = documented(
        vis,
        &format!("Reads the relations of [`{ident}`] in rows of joins."),
    );
    let docs = names
        .iter()
        .map(|one| documented(vis, &format!("What `.join(|row| row.{one})` has loaded.")));
    let bounds = match model.derive {
        Derive::Document => quote!(__OdmRow: #support::RowOf<#ident>),
        Derive::Embedded => quote!(__OdmList: #support::HasEmbeddedRelation),
    };
    quote! {
        #doc
        #[allow(dead_code)]
        #vis trait #joined<__OdmList> {
            #(
                #docs
                fn #names<__OdmFirstOrBehind>(&self) -> &<__OdmList as #support::Has<#markers, __OdmFirstOrBehind>>::Value
                where
                    __OdmList: #support::Has<#markers, __OdmFirstOrBehind>;
            )*
        }
        impl<__OdmRow, __OdmList> #joined<__OdmList> for #support::Joined<__OdmRow, __OdmList>
        where
            #bounds
        {
            #(
                fn #names<__OdmFirstOrBehind>(&self) -> &<__OdmList as #support::Has<#markers, __OdmFirstOrBehind>>::Value
                where
                    __OdmList: #support::Has<#markers, __OdmFirstOrBehind>,
                {
                    #support::Has::<#markers, __OdmFirstOrBehind>::value(self.joined())
                }
            )*
        }
    }
}

/// The metadata of an inverse relation.
pub(crate) fn meta(model: &Model, inverse: &Inverse) -> TokenStream {
    let support = &model.support;
    let (name, target) = (unraw(&inverse.name), &inverse.target);
    let kind = inverse.kind;
    let by = inverse.by.iter().map(unraw);
    let key = match &inverse.key {
        Some(key) => Some(unraw(key)),
        None if model.document_enum().is_some() => Some("id".to_owned()),
        None => model.id().map(|id| id.rust.clone()),
    };
    let allow_scan = option(inverse.allow_scan.as_ref());
    let on_delete = inverse.on_delete.as_ref().map(|policy| {
        let policy = format_ident!("{}", pascal(&unraw(policy)), span = Span::call_site());
        quote!(#support::OnDelete::#policy)
    });
    let on_delete = option(on_delete.as_ref());
    let guarantee = inverse.guarantee.as_ref().map(|guarantee| {
        let guarantee = format_ident!("{}", pascal(&unraw(guarantee)), span = Span::call_site());
        quote!(#support::Guarantee::#guarantee)
    });
    let guarantee = option(guarantee.as_ref());
    quote! {
        #support::InverseMeta {
            name: #name,
            target: <#target as #support::Document>::model,
            kind: #support::InverseKind::#kind,
            by: &[#(#by),*],
            key: &[#key],
            allow_scan: #allow_scan,
            on_delete: #on_delete,
            guarantee: #guarantee,
        }
    }
}

/// The metadata of the relations that a document declares besides the references in its fields.
pub(crate) fn declared(facts: &Facts<'_>) -> TokenStream {
    let model = facts.model;
    let support = &model.support;
    let inverses = model.inverses().map(|one| meta(model, one));
    let recents = facts.relations.recents.iter();
    let recents = recents.map(|one| counterparts::recent(model, one));
    quote! {
        #(#support::RelationMeta::Inverse(#inverses),)*
        #(#support::RelationMeta::Recent(#recents),)*
    }
}

/// The type of the handle of an inverse relation.
pub(crate) fn handle(model: &Model, inverse: &Inverse) -> TokenStream {
    let (support, ident, target) = (&model.support, &model.ident, &inverse.target);
    let marker = relation_name(model, &inverse.name);
    let value = match inverse.kind {
        InverseKind::One => quote!(One),
        InverseKind::Rest => quote!(Rest),
        InverseKind::Many | InverseKind::Squillions => quote!(Many),
    };
    quote!(#support::Inverse<#ident, #marker, #target, #support::#value>)
}

/// The code that makes the handle.
pub(crate) fn make(model: &Model, inverse: &Inverse) -> TokenStream {
    let support = &model.support;
    let meta = meta(model, inverse);
    quote!(#support::Inverse::new(const { &#meta }, __odm_path.clone()))
}

/// Code that compiles only if the other side refers to this model, and an index serves the relation.
pub(crate) fn checks(facts: &Facts<'_>) -> TokenStream {
    let model = facts.model;
    let (support, ident) = (&model.support, &model.ident);
    let mut tokens = counterparts::checks(facts);
    let keys = facts.relations.keys.iter();
    tokens.extend(keys.map(|one| keys::checks(model, one)));
    let copies = facts.relations.copies.iter();
    tokens.extend(copies.map(|one| copies::checks(model, one)));
    let all = facts.relations.summaries.iter();
    tokens.extend(all.map(|one| summaries::checks(model, one)));
    for one in &facts.relations.inverses {
        let inverse = one.inverse;
        let target = &inverse.target;
        let by = inverse.by.last();
        let span = by.map_or_else(|| inverse.name.span(), Ident::span);
        let first = inverse.by.first().map_or(span, Ident::span);
        let argument = fields_argument();
        let counterpart = one.counterpart.as_ref();
        tokens.extend(counterpart.map(|demand| counterparts::assertion(model, demand, first)));
        let walk = walk(&inverse.by);
        let refers = if inverse.key.is_some() {
            quote_spanned!(span=> #support::refers_by_key::<#ident, _, _, _, _>(&#walk);)
        } else {
            quote_spanned!(span=> #support::refers_to::<#ident, _, _, _>(&#walk);)
        };
        let reference = one.reference.as_ref();
        tokens.extend(
            reference.map(|(key, demand)| counterparts::assertion(model, demand, key.span())),
        );
        tokens.extend(quote_spanned! {span=>
            const _: () = {
                #[allow(dead_code, unused_imports)]
                fn __odm_by(#argument: &<#target as #support::Embedded>::Fields<#target>) {
                    use #support::Descend as _;
                    #refers
                }
            };
        });
        let index = one.index.as_ref();
        tokens.extend(index.map(|demand| counterparts::assertion(model, demand, span)));
        if let (Some(demand), Some(policy)) = (&one.stored, &inverse.on_delete) {
            tokens.extend(counterparts::assertion(model, demand, policy.span()));
        }
        tokens.extend(on_delete(model, inverse));
    }
    tokens
}

/// Code that compiles only if the references can be treated as `on_delete` says.
fn on_delete(model: &Model, inverse: &Inverse) -> Option<TokenStream> {
    let (support, target) = (&model.support, &inverse.target);
    let policy = inverse.on_delete.as_ref()?;
    let (span, argument) = (policy.span(), fields_argument());
    let fields = quote!(&<#target as #support::Embedded>::Fields<#target>);
    if policy == "set_null" {
        let walk = walk(&inverse.by);
        return Some(quote_spanned! {span=>
            const _: () = {
                #[allow(dead_code, unused_imports)]
                fn __odm_set_null(#argument: #fields) {
                    use #support::Descend as _;
                    // A name of its own, so that rustc blames the policy.
                    match &#walk {
                        __odm_reference => #support::can_be_null(__odm_reference),
                    }
                }
            };
        });
    }
    // The type of a key may be of another crate, which has no metadata.
    if policy != "pull" || inverse.key.is_some() {
        return None;
    }
    let lists = (1..=inverse.by.len()).filter_map(|length| {
        let walk = walk(inverse.by.get(..length)?);
        Some(quote_spanned!(span=> #support::is_list(&#support::type_of(|#argument: #fields| #support::leaf(&#walk)))))
    });
    let message = format!(
        "`pull` takes references out of lists, and `{}` is in none: choose `set_null`, `cascade` or `restrict`",
        spelled_path(&inverse.by)
    );
    Some(quote_spanned! {span=>
        const _: () = {
            #[allow(unused_imports)]
            use #support::Descend as _;
            ::core::assert!(#(#lists)||*, #message);
        };
    })
}

/// The path as attributes have it.
fn spelled_path(path: &[Ident]) -> String {
    path.iter().map(unraw).collect::<Vec<_>>().join(".")
}
