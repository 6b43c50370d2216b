//! Checks of declared trees.

use syn::Ident;

use crate::attribute_names as names;
use crate::errors::Errors;
use crate::facts::Facts;
use crate::model::rust_type::{Kind, stored_kind};
use crate::model::tree::{is_complete, is_kept, key_names};
use crate::model::{Derive, Model};
use crate::parse::serde::unraw;
use crate::parse::tree::{Pattern, Role, Tree};

pub(super) fn check(facts: &Facts<'_>, errors: &mut Errors) {
    let model = facts.model;
    let trees = &model.attributes.trees;
    let Some(first) = trees.first() else {
        return;
    };
    if model.derive != Derive::Document {
        // Reported with the other words that only a document may have.
        return;
    }
    if !model.generics.params.is_empty() {
        errors.at(
            &first.word,
            "a generic struct can't declare a tree: its fields name one model; declare the tree on a struct without parameters",
        );
        return;
    }
    if model.attributes.collation.is_some() {
        errors.at(
            &first.word,
            "trees compare ids, paths and ranks byte by byte, which a collation would change; take `collation` off the struct, and put it on the indexes that need it",
        );
    }
    for (position, tree) in trees.iter().enumerate() {
        one(model, tree, errors);
        let others = trees.get(..position).unwrap_or_default();
        together(tree, others, errors);
    }
    indexes(model, errors);
}

fn one(model: &Model, tree: &Tree, errors: &mut Errors) {
    for role in tree.pattern.roles() {
        let named = tree.fields.iter().any(|(one, _)| one == role);
        if !named && tree.field(*role, model.fields()).is_none() {
            missing(model, tree, *role, errors);
        }
    }
    for (role, ident) in &tree.fields {
        field(model, tree, *role, ident, errors);
    }
    if let Some(scope) = &tree.scope {
        match model.field(scope) {
            None => no_field(model, scope, errors),
            Some(field) if !is_kept(field) => errors.at(
                scope,
                format!(
                    "`{}` is not stored as it is declared, so it can't tell the trees apart",
                    field.rust
                ),
            ),
            Some(field) if matches!(stored_kind(&field.ty), Kind::List(_)) => errors.at(
                scope,
                format!(
                    "`{}` is a list, and a node is in one tree: name a field with one value",
                    field.rust
                ),
            ),
            Some(_) => {}
        }
    }
    for unique in &tree.unique {
        if model.field(unique).is_none() {
            no_field(model, unique, errors);
        }
    }
    let roles = tree.roles();
    let knows_siblings = roles.contains(&Role::Parent) || roles.contains(&Role::Path);
    if let Some(unique) = tree.unique.first()
        && !knows_siblings
    {
        errors.at(
            unique,
            "a unique index needs a field that siblings share, and this pattern stores none: add `parent = …` to the tree",
        );
    }
    for (number, least) in [(&tree.max_depth, 1), (&tree.max_children, 1)] {
        if let Some((number, span)) = number
            && *number < least
        {
            errors.push(syn::Error::new(*span, format!("this is at least {least}")));
        }
    }
    if let Some((_, span)) = tree.max_children
        && !roles.contains(&Role::Children)
    {
        errors.push(syn::Error::new(
            span,
            "`max_children` bounds a list of children, and this tree keeps none: add `children = …`, or take it off",
        ));
    }
    if let Some(graph) = &tree.graph {
        graph_of(tree, graph, errors);
    }
}

/// A graph keeps only the children of a node: a node with several parents has no one path, and no one place.
fn graph_of(tree: &Tree, graph: &Ident, errors: &mut Errors) {
    if tree.pattern != Pattern::ChildReferences {
        errors.at(
            graph,
            "only child references can give a node several parents: write `tree(child_references, graph)`",
        );
        return;
    }
    for (role, ident) in &tree.fields {
        if *role != Role::Children && *role != Role::ChildCount {
            errors.at(
                ident,
                format!(
                    "`{}` is kept for a node with one parent; take it off, or take off `graph`",
                    role.word()
                ),
            );
        }
    }
    if let Some(policy) = &tree.on_delete
        && *policy != "restrict"
        && *policy != "make_roots"
    {
        errors.at(
            policy,
            "in a graph a child may have other parents: `on_delete` is `restrict` or `make_roots`",
        );
    }
}

fn missing(model: &Model, tree: &Tree, role: Role, errors: &mut Errors) {
    let word = role.word();
    let ty = shown(model, role);
    errors.at(
        &tree.pattern_word,
        format!(
            "`{}` keeps a field that the struct lacks: add `{word}: {ty}`, or name another: `{word} = field`",
            tree.pattern_word
        ),
    );
}

/// The type of a kept field, as the user writes it.
fn shown(model: &Model, role: Role) -> String {
    if role.names_model() {
        format!("{}<{}>", role.type_name(), model.ident)
    } else {
        role.type_name().to_owned()
    }
}

fn field(model: &Model, tree: &Tree, role: Role, ident: &Ident, errors: &mut Errors) {
    match model.field(ident) {
        None => no_field(model, ident, errors),
        Some(field) if !is_kept(field) => errors.at(
            ident,
            format!(
                "the tree writes `{}`, so serde must store it as it is declared: take off `skip`, `flatten` and `with`",
                field.rust
            ),
        ),
        Some(_) => {
            let mut before = tree.fields.iter().take_while(|(other, _)| *other != role);
            if before.any(|(_, other)| other == ident) {
                errors.at(ident, format!("the tree keeps two things in `{ident}`; name another field"));
            }
        }
    }
}

fn no_field(model: &Model, ident: &Ident, errors: &mut Errors) {
    let text = unraw(ident);
    let all: Vec<&str> = model
        .fields()
        .iter()
        .map(|field| field.rust.as_str())
        .collect();
    errors.at(
        ident,
        format!(
            "the struct has no field `{text}`{}",
            names::hint(&text, all)
        ),
    );
}

/// Two trees of a model have names, and keep different fields.
fn together(tree: &Tree, others: &[Tree], errors: &mut Errors) {
    let Some(first) = others.first() else {
        return;
    };
    match &tree.name {
        None => {
            errors.at(
                &tree.word,
                "a model with several trees names each of them: `tree(…, name = ByRegion)`",
            );
            return;
        }
        Some(_) if first.name.is_none() => {
            errors.at(
                &first.word,
                "a model with several trees names each of them: `tree(…, name = ByRegion)`",
            );
            return;
        }
        Some(name) if others.iter().any(|other| other.name.as_ref() == Some(name)) => {
            errors.at(
                name,
                format!("two trees are named `{name}`; name them apart"),
            );
            return;
        }
        Some(_) => {}
    }
    for role in tree.roles() {
        let Some(own) = tree.field_name(role) else {
            continue;
        };
        let kept = |other: &Tree| {
            let roles = other.roles().into_iter();
            roles
                .filter_map(|role| other.field_name(role))
                .any(|name| name == own)
        };
        if others.iter().any(kept) {
            errors.at(
                &own,
                format!(
                    "two trees keep `{own}`; give this one a field of its own: `{} = field`",
                    role.word()
                ),
            );
        }
    }
}

/// Reports declared indexes with the keys that a tree needs, and options that it can't use.
fn indexes(model: &Model, errors: &mut Errors) {
    let declared = model.attributes.indexes.iter();
    let on_fields = model
        .fields()
        .iter()
        .flat_map(|field| &field.attributes.indexes);
    let all: Vec<_> = declared.chain(on_fields).collect();
    let needed: Vec<_> = all
        .iter()
        .filter(|index| index.of_tree)
        .map(|index| key_names(index))
        .collect();
    for index in all {
        let clashes = !index.of_tree && needed.contains(&key_names(index));
        if clashes && (!is_complete(index) || index.unique.is_some()) {
            errors.at(
                &index.word,
                "the tree needs an index of these keys over every document, and MongoDB keeps one for them: take this one off, or its options",
            );
        }
    }
}
