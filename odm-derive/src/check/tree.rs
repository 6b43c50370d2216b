//! Checks of declared trees.

use syn::Ident;

use crate::attribute_names as names;
use crate::errors::Errors;
use crate::facts::Facts;
use crate::model::rust_type::{Kind, stored_kind};
use crate::model::tree::{has_own_name, is_kept, is_plain, key_names};
use crate::model::{Field, Model, Shape};
use crate::parse::index::Index;
use crate::parse::rule::Rule;
use crate::parse::serde::unraw;
use crate::parse::tree::{Pattern, Role, Tree};

pub(super) fn check(facts: &Facts<'_>, errors: &mut Errors) {
    let model = facts.model;
    let trees = &model.attributes.trees;
    let Some(first) = trees.first() else {
        return;
    };
    if !matches!(model.shape, Shape::Struct { .. }) {
        // `container::check` reports documents of other shapes.
        return;
    }
    if !model.generics.params.is_empty() {
        errors.at(
            &first.word,
            "a generic struct can't declare a tree: its fields name one model; declare the tree on a struct without parameters",
        );
        return;
    }
    let mut words = model.attributes.document_words.iter();
    if let Some(collation) = words.find(|word| *word == names::COLLATION) {
        errors.at(
            collation,
            "trees compare ids, paths and ranks byte by byte, which a collation would change; remove `collation` from the struct, and put it on the indexes that need it",
        );
    }
    if let Some(capped) = &model.attributes.capped {
        errors.at(
            &capped.word,
            "trees change in transactions, which can't write to a capped collection; remove `capped`, or `tree`",
        );
    }
    for tree in trees {
        one(model, tree, errors);
    }
    together(model, trees, errors);
    indexes(model, errors);
    rules(model, errors);
}

fn one(model: &Model, tree: &Tree, errors: &mut Errors) {
    missing(model, tree, errors);
    for (_, ident) in &tree.fields {
        match model.field(ident) {
            None => no_field(model, ident, errors),
            Some(field) => stored(field, ident, errors),
        }
    }
    kept_once(tree, errors);
    if let Some(scope) = &tree.scope {
        match model.field(scope) {
            None => no_field(model, scope, errors),
            Some(field) => scoped(tree, scope, field, errors),
        }
    }
    unique(model, tree, errors);
    for (number, word) in [
        (&tree.max_depth, names::MAX_DEPTH),
        (&tree.max_children, names::MAX_CHILDREN),
    ] {
        if let Some((0, span)) = number {
            let message = format!("`{word}` must be at least 1; remove it for no bound");
            errors.push(syn::Error::new(*span, message));
        }
    }
    if let Some((_, span)) = tree.max_children
        && !tree.roles().contains(&Role::Children)
    {
        errors.push(syn::Error::new(
            span,
            "`max_children` bounds a list of children, and this tree keeps none: add `children = field`, or remove it",
        ));
    }
    if let Some(graph) = &tree.graph {
        graph_of(tree, graph, errors);
    }
}

/// Reports the fields that the pattern needs, where they are not named: those that the struct lacks in one error.
fn missing(model: &Model, tree: &Tree, errors: &mut Errors) {
    let mut absent = Vec::new();
    for role in tree.pattern.roles() {
        let is_named = tree.fields.iter().any(|(one, _)| one == role);
        let field = tree.field_name(*role).and_then(|name| model.field(&name));
        match field {
            _ if is_named => {}
            Some(field) => stored(field, &field.ident, errors),
            None => absent.push(*role),
        }
    }
    if absent.is_empty() {
        return;
    }
    let list = |show: &dyn Fn(Role) -> String| {
        let shown: Vec<_> = absent.iter().map(|role| show(*role)).collect();
        shown.join(" and ")
    };
    let fields = list(&|role| format!("`{}: {}`", role.word(), shown(model, role)));
    let options = list(&|role| format!("`{} = field`", role.word()));
    let (add, others) = match absent.as_slice() {
        [_] => ("it", "another"),
        _ => ("them", "others"),
    };
    errors.at(
        &tree.pattern_word,
        format!(
            "`{}` needs {fields}: add {add} to the struct, or name {others}: {options}",
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

/// Reports a field that serde does not store as the tree writes it.
fn stored(field: &Field, culprit: &Ident, errors: &mut Errors) {
    let word = if field.skipped {
        "skip"
    } else if field.flatten.is_some() {
        "flatten"
    } else if field.sometimes {
        "skip_serializing_if"
    } else if field.encoder.is_some() || field.decoder.is_some() {
        "with"
    } else {
        return;
    };
    errors.at(
        culprit,
        format!(
            "the tree writes `{}` of every document, so serde must store it as its type does: remove `{word}`",
            field.rust
        ),
    );
}

/// Reports a field that the tree keeps two things in.
fn kept_once(tree: &Tree, errors: &mut Errors) {
    let mut seen: Vec<String> = Vec::new();
    for role in tree.roles() {
        let Some(ident) = tree.field_name(role) else {
            continue;
        };
        let name = unraw(&ident);
        if seen.contains(&name) {
            errors.at(
                &ident,
                format!(
                    "`{name}` has another type than the tree keeps there: name a field of type `{}`",
                    role.type_name()
                ),
            );
        }
        seen.push(name);
    }
}

fn scoped(tree: &Tree, scope: &Ident, field: &Field, errors: &mut Errors) {
    let name = &field.rust;
    let wrong = if field.stored == "_id" {
        format!("`{name}` differs in every document, so each node would be a tree of its own")
    } else if keeps(tree, name) {
        format!("the tree writes `{name}`, so it differs within a tree")
    } else if !is_kept(field) {
        format!("serde does not store `{name}` as its type does, or not always")
    } else if matches!(stored_kind(&field.ty), Kind::List(_)) {
        format!("`{name}` is a list, and a node is in one tree")
    } else {
        return;
    };
    errors.at(
        scope,
        format!("{wrong}: name a field whose one value all nodes of a tree share"),
    );
}

/// Whether the tree writes a field.
fn keeps(tree: &Tree, name: &str) -> bool {
    let roles = tree.roles().into_iter();
    roles
        .filter_map(|role| tree.field_name(role))
        .any(|field| unraw(&field) == name)
}

/// Checks `unique_among_siblings`.
fn unique(model: &Model, tree: &Tree, errors: &mut Errors) {
    let roles = tree.roles();
    let knows_siblings = roles.contains(&Role::Parent) || roles.contains(&Role::Path);
    if let Some(unique) = tree.unique.first()
        && !knows_siblings
    {
        errors.at(
            unique,
            format!(
                "a unique index needs a field that siblings share, and this tree keeps none: add a field `parent: {}`, and `parent = parent` to the tree",
                shown(model, Role::Parent)
            ),
        );
        return;
    }
    for (position, ident) in tree.unique.iter().enumerate() {
        let Some(field) = model.field(ident) else {
            no_field(model, ident, errors);
            continue;
        };
        let name = &field.rust;
        let mut before = tree.unique.iter().take(position);
        if !has_own_name(field) {
            errors.at(
                ident,
                format!("`{name}` is not stored as a field of its own, so siblings can't differ in it; name another field"),
            );
        } else if keeps(tree, name)
            || tree
                .scope
                .as_ref()
                .is_some_and(|scope| unraw(scope) == *name)
        {
            errors.at(
                ident,
                format!("the tree itself decides `{name}`: name only fields that you set, and in which siblings differ"),
            );
        } else if before.any(|other| unraw(other) == *name) {
            errors.at(ident, format!("`{name}` is given twice; keep one"));
        }
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
                    "`{}` is kept for a node with one parent; remove it, or remove `graph`",
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
            "in a graph a child may have other parents: `on_delete` must be `restrict` or `make_roots`",
        );
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
fn together(model: &Model, trees: &[Tree], errors: &mut Errors) {
    if trees.len() > 1
        && let Some(unnamed) = trees.iter().find(|tree| tree.name.is_none())
    {
        errors.at(
            &unnamed.word,
            "a model with several trees must name each of them: `tree(…, name = ByRegion)`",
        );
        return;
    }
    for (position, tree) in trees.iter().enumerate() {
        let others = trees.get(..position).unwrap_or_default();
        let Some(name) = &tree.name else {
            continue;
        };
        if *name == model.ident {
            errors.at(
                name,
                format!("the name of a tree becomes a type, and the struct is called `{name}`: choose another name, or remove it from the only tree of a model"),
            );
        } else if others.iter().any(|other| other.name.as_ref() == Some(name)) {
            errors.at(name, format!("two trees are named `{name}`; rename one"));
        } else {
            apart(tree, others, errors);
        }
    }
}

fn apart(tree: &Tree, others: &[Tree], errors: &mut Errors) {
    for role in tree.roles() {
        let Some(own) = tree.field_name(role) else {
            continue;
        };
        if others.iter().any(|other| keeps(other, &unraw(&own))) {
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

/// Reports declared indexes with the keys of an index that a tree adds: both would have one name.
fn indexes(model: &Model, errors: &mut Errors) {
    let declared = model.attributes.indexes.iter();
    let on_fields = model
        .fields()
        .iter()
        .flat_map(|field| &field.attributes.indexes);
    let all = declared.chain(on_fields);
    let (needed, declared): (Vec<&Index>, Vec<&Index>) = all.partition(|index| index.is_implied);
    for index in declared.into_iter().filter(|index| is_plain(index)) {
        let keys = key_names(index);
        let Some(needed) = needed.iter().find(|needed| key_names(needed) == keys) else {
            continue;
        };
        let message = if needed.unique.is_some() {
            "`unique_among_siblings` adds a unique index over these keys; remove this one"
        } else if index.unique.is_some() {
            "the tree adds an index over these keys, in which several nodes may have the same values; remove this one, or say `unique_among_siblings(field)` in the tree"
        } else {
            "the tree adds an index over these keys, which holds every document and compares byte by byte; remove this one, or its options"
        };
        errors.at(&index.word, message);
    }
}

/// Reports rules on fields that trees write: the tree declares what is valid there.
fn rules(model: &Model, errors: &mut Errors) {
    for field in model.fields() {
        let roles = model.attributes.trees.iter().flat_map(|tree| {
            let roles = tree.roles().into_iter();
            roles.filter(|role| {
                tree.field_name(*role)
                    .is_some_and(|name| unraw(&name) == field.rust)
            })
        });
        let Some(role) = roles.into_iter().next() else {
            continue;
        };
        let instead = match role {
            Role::Children => "write `max_children = …` in `tree(…)`, or remove this",
            Role::Ancestors | Role::Depth => "write `max_depth = …` in `tree(…)`, or remove this",
            _ => "remove this",
        };
        for rule in &field.attributes.rules {
            // A bound of the size in bytes is for `budget`.
            if !matches!(rule.rule, Rule::Length(_) | Rule::Bytes(_)) {
                errors.at(
                    &rule.word,
                    format!(
                        "the tree writes `{}`, and declares its rules: {instead}",
                        field.rust
                    ),
                );
            }
        }
    }
}
