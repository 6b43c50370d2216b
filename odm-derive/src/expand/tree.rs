//! Declared trees: their metadata, and the traits that say which operations they have.

use proc_macro2::TokenStream;
use quote::{format_ident, quote, quote_spanned};
use syn::Ident;
use syn::spanned::Spanned;

use super::handle_type::{SpannedType, at};
use super::tokens::{documented, option};
use crate::facts::Facts;
use crate::model::tree::is_kept;
use crate::model::{Derive, Model};
use crate::parse::case::pascal;
use crate::parse::serde::unraw;
use crate::parse::tree::{Role, Tree};

/// The trees of a document.
fn declared(model: &Model) -> impl Iterator<Item = &Tree> {
    let declares = declares(model);
    let trees = model.attributes.trees.iter().enumerate();
    trees
        .filter(move |(position, tree)| {
            let mut before = model.attributes.trees.iter().take(*position);
            declares && before.all(|other| other.name != tree.name)
        })
        .map(|(_, tree)| tree)
}

/// Whether the struct can declare a tree.
fn declares(model: &Model) -> bool {
    let is_document = model.derive == Derive::Document && model.borrows().is_none();
    is_document && model.generics.params.is_empty()
}

/// The type that a tree is named by.
fn marker<'a>(model: &'a Model, tree: &'a Tree) -> &'a Ident {
    tree.name.as_ref().unwrap_or(&model.ident)
}

/// The constants of the trees, for the metadata of the model.
pub(crate) fn list(model: &Model) -> TokenStream {
    let support = &model.support;
    let trees = declared(model).map(|tree| {
        let marker = marker(model, tree);
        quote!(<#marker as #support::DeclaredTree>::TREE)
    });
    quote!(&[#(#trees),*])
}

/// The types and traits of the trees.
pub(crate) fn all(facts: &Facts<'_>) -> TokenStream {
    let model = facts.model;
    let attributes = &model.attributes;
    if attributes.trees.is_empty() && !attributes.whole && declares(model) {
        return unread(model);
    }
    declared(model).map(|tree| one(model, tree)).collect()
}

/// A tree for a struct whose attributes have a mistake: one may have been declared there, and its uses are no mistakes.
fn unread(model: &Model) -> TokenStream {
    let (support, ident) = (&model.support, &model.ident);
    quote! {
        impl #support::DeclaredTree for #ident {
            type Model = #ident;
            const TREE: &'static #support::TreeMeta = #support::NO_TREE;
        }
        impl #support::SingleParent for #ident {}
        impl #support::SeveralParents for #ident {}
        impl #support::OrderedSiblings for #ident {}
    }
}

fn one(model: &Model, tree: &Tree) -> TokenStream {
    let (support, ident, vis) = (&model.support, &model.ident, &model.vis);
    let marker = marker(model, tree);
    let meta = meta(model, tree);
    let mut tokens = TokenStream::new();
    if let Some(name) = tree.name.as_ref().filter(|name| **name != *ident) {
        let doc = documented(vis, &format!("Names one of the trees of [`{ident}`]."));
        tokens.extend(quote! {
            #doc
            #[derive(Debug, Clone, Copy)]
            #vis enum #name {}
        });
    }
    tokens.extend(quote! {
        impl #support::DeclaredTree for #marker {
            type Model = #ident;
            const TREE: &'static #support::TreeMeta = &#meta;
        }
    });
    if tree.graph.is_none() {
        tokens.extend(quote!(impl #support::SingleParent for #marker {}));
    } else {
        tokens.extend(quote!(impl #support::SeveralParents for #marker {}));
    }
    if tree.is_ordered() {
        tokens.extend(quote!(impl #support::OrderedSiblings for #marker {}));
    }
    tokens
}

fn meta(model: &Model, tree: &Tree) -> TokenStream {
    let (support, ident) = (&model.support, &model.ident);
    let field = |role| tree.field(role, model.fields());
    let stored = |role| option(field(role).map(|field| &field.stored).as_ref());
    let name = tree.name.as_ref().map(unraw).unwrap_or_default();
    let pattern = tree.pattern;
    let parent = field(Role::Parent).map(|field| {
        let (stored, kept) = (&field.stored, kept_as(model, Role::Parent));
        let (span, ty) = (field.ty.span(), SpannedType::new(&field.ty).ty);
        quote_spanned!(span=> (#stored, <#ty as #support::KeptAs<#kept>>::ROOT))
    });
    let parent = option(parent.as_ref());
    let path = field(Role::Path).map(|field| {
        let stored = &field.stored;
        // Every token has the span of the field's type, where rustc reports an id that paths can't hold.
        let read =
            quote!((#stored, <<#ident as #support::Document>::Id as #support::PathId>::read));
        at(read, field.ty.span())
    });
    let path = option(path.as_ref());
    let bounds = match (field(Role::Left), field(Role::Right)) {
        (Some(left), Some(right)) => {
            let (left, right) = (&left.stored, &right.stored);
            Some(quote!((#left, #right)))
        }
        _ => None,
    };
    let bounds = option(bounds.as_ref());
    let (children, ancestors) = (stored(Role::Children), stored(Role::Ancestors));
    let (depth, order) = (stored(Role::Depth), stored(Role::Order));
    let (child_count, descendant_count) = (stored(Role::ChildCount), stored(Role::DescendantCount));
    let scope = tree.scope.as_ref().and_then(|scope| model.field(scope));
    let scope = option(
        scope
            .filter(|field| is_kept(field))
            .map(|field| &field.stored)
            .as_ref(),
    );
    let max_depth = option(tree.max_depth.map(|(max, _)| max).as_ref());
    let policy = tree
        .on_delete
        .as_ref()
        .map_or_else(|| "restrict".to_owned(), unraw);
    let policy = format_ident!("{}", pascal(&policy));
    let is_graph = tree.graph.is_some();
    quote! {
        #support::TreeMeta {
            name: #name,
            pattern: #support::Pattern::#pattern,
            parent: #parent,
            children: #children,
            ancestors: #ancestors,
            path: #path,
            bounds: #bounds,
            depth: #depth,
            order: #order,
            scope: #scope,
            child_count: #child_count,
            descendant_count: #descendant_count,
            max_depth: #max_depth,
            on_delete: #support::TreeDelete::#policy,
            is_graph: #is_graph,
        }
    }
}

/// The type that a field of this role is declared as.
fn kept_as(model: &Model, role: Role) -> TokenStream {
    let (support, ident) = (&model.support, &model.ident);
    let name = format_ident!(
        "{}",
        if role == Role::Depth {
            "NodeDepth"
        } else {
            role.type_name()
        }
    );
    if role.names_model() {
        quote!(#support::#name<#ident>)
    } else {
        quote!(#support::#name)
    }
}

/// Code that compiles only if the kept fields have the types of their roles.
pub(crate) fn checks(facts: &Facts<'_>) -> TokenStream {
    let model = facts.model;
    let support = &model.support;
    let mut tokens = TokenStream::new();
    for tree in declared(model) {
        for role in tree.roles() {
            let Some(field) = tree.field(role, model.fields()) else {
                continue;
            };
            let kept = kept_as(model, role);
            let spanned = SpannedType::new(&field.ty);
            let (span, ty) = (field.ty.span(), &spanned.ty);
            tokens.extend(quote_spanned! {span=>
                const _: #support::RootParent = <#ty as #support::KeptAs<#kept>>::ROOT;
            });
        }
    }
    tokens
}
