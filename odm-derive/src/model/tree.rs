//! Declared trees, resolved: the fields that each keeps, and the indexes that it needs.

use quote::format_ident;
use syn::{Ident, LitStr};

use super::Field;
use crate::parse::container::Container;
use crate::parse::index::{Index, KeyKind};
use crate::parse::rule::{Bound, Number, Rule, Size};
use crate::parse::serde::unraw;
use crate::parse::tree::{Role, Tree};

/// The most children of a node whose document lists them, unless `max_children` declares it.
pub(crate) const MAX_CHILDREN: u32 = 5_000;

impl Tree {
    /// The name of the field with this role: the one that is named, or the conventional one of the pattern.
    pub(crate) fn field_name(&self, role: Role) -> Option<Ident> {
        let named = self.fields.iter().find(|(one, _)| *one == role);
        match named {
            Some((_, field)) => Some(field.clone()),
            None if self.pattern.roles().contains(&role) => {
                Some(Ident::new(role.word(), self.pattern_word.span()))
            }
            None => None,
        }
    }

    /// Every role that the tree keeps a field for.
    pub(crate) fn roles(&self) -> Vec<Role> {
        let mut roles = self.pattern.roles().to_vec();
        for (role, _) in &self.fields {
            if !roles.contains(role) {
                roles.push(*role);
            }
        }
        roles
    }

    /// The field with this role, if it exists and is stored by itself.
    pub(crate) fn field<'a>(&self, role: Role, fields: &'a [Field]) -> Option<&'a Field> {
        let name = unraw(&self.field_name(role)?);
        let mut fields = fields.iter();
        fields.find(|field| field.rust == name && is_kept(field))
    }

    /// Whether the siblings have an order.
    pub(crate) fn is_ordered(&self) -> bool {
        let roles = self.roles();
        let orders = [Role::Order, Role::Children, Role::Left];
        self.graph.is_none() && orders.iter().any(|role| roles.contains(role))
    }

    /// The rules of a field that the tree keeps.
    fn rules(&self, role: Role) -> Vec<Rule> {
        let at_least = |min| Rule::Range {
            min: Some(bound(min)),
            max: None,
        };
        match role {
            Role::Parent | Role::Order => Vec::new(),
            Role::Children => {
                let max = self.max_children.map_or(MAX_CHILDREN, |(max, _)| max);
                vec![items(max)]
            }
            Role::Ancestors => self
                .max_depth
                .map(|(max, _)| items(max))
                .into_iter()
                .collect(),
            Role::Path => vec![Rule::Pattern(LitStr::new(r"^,[\s\S]+,$", self.word.span()))],
            Role::Left | Role::Right => vec![at_least(1)],
            Role::Depth => vec![Rule::Range {
                min: Some(bound(0)),
                max: self.max_depth.map(|(max, _)| bound(max.into())),
            }],
            Role::ChildCount | Role::DescendantCount => vec![at_least(0)],
        }
    }

    /// The keys of the indexes that the tree needs; unique ones enforce `unique_among_siblings`.
    fn keys(&self) -> Vec<(Vec<Ident>, bool)> {
        let roles = self.roles();
        let parents = [Role::Parent, Role::Path];
        let mut all = Vec::new();
        let mut add = |first: Role, then: Option<Role>| {
            let keys = [Some(first), then].into_iter().flatten();
            let keys = keys.filter_map(|role| self.field_name(role));
            all.push((self.scope.iter().cloned().chain(keys).collect(), false));
        };
        let order = roles.contains(&Role::Order).then_some(Role::Order);
        for (role, then) in [
            (Role::Parent, order),
            (Role::Children, None),
            (Role::Ancestors, None),
            (Role::Path, order),
            (Role::Left, None),
        ] {
            if roles.contains(&role) {
                add(role, then);
            }
        }
        let parent = parents.into_iter().find(|role| roles.contains(role));
        let parent = parent.and_then(|role| self.field_name(role));
        if let Some(parent) = parent.filter(|_| !self.unique.is_empty()) {
            let siblings = self.scope.iter().cloned().chain([parent]);
            all.push((siblings.chain(self.unique.iter().cloned()).collect(), true));
        }
        all
    }
}

/// Whether a tree can keep a field: every document stores it, by its own name and as its type does.
pub(crate) fn is_kept(field: &Field) -> bool {
    has_own_name(field) && field.encoder.is_none() && field.decoder.is_none() && !field.sometimes
}

/// Whether the field is stored by its own name.
pub(crate) fn has_own_name(field: &Field) -> bool {
    !field.skipped && field.flatten.is_none()
}

/// The indexes that the trees need, without those that declared ones already are.
pub(super) fn indexes(container: &Container, fields: &[Field]) -> Vec<Index> {
    let on_fields = fields.iter().flat_map(|field| &field.attributes.indexes);
    let declared: Vec<&Index> = container.indexes.iter().chain(on_fields).collect();
    let exists = |ident: &Ident| {
        let name = unraw(ident);
        fields
            .iter()
            .any(|field| field.rust == name && has_own_name(field))
    };
    let mut found: Vec<Index> = Vec::new();
    for tree in &container.trees {
        for (keys, unique) in tree.keys() {
            if keys.iter().all(exists) {
                let word = format_ident!("index", span = tree.word.span());
                found.push(Index::of_tree(&word, keys, unique));
            }
        }
    }
    let names: Vec<Vec<String>> = found.iter().map(key_names).collect();
    let mut position = 0;
    found.retain(|index| {
        let own = key_names(index);
        let later = names.iter().skip(position + 1);
        position += 1;
        let mut longer = names.iter().filter(|other| other.len() > own.len());
        let is_repeated = later.into_iter().any(|other| *other == own);
        let is_served = declared.iter().any(|other| serves(other, &own))
            || longer.any(|other| other.starts_with(&own))
            || is_repeated;
        index.unique.is_some() || !is_served
    });
    found
}

/// Whether a declared index can stand for one that a tree needs: it has every document, and plain keys.
pub(crate) fn is_complete(index: &Index) -> bool {
    is_plain(index)
        && index.sparse.is_none()
        && index.hidden.is_none()
        && index.partial.is_none()
        && index.collation.is_none()
        && index.expire_after.is_none()
}

/// Whether a declared index can serve for one with the keys `own`. A unique one refuses more than the tree does, unless it
/// has more keys.
fn serves(index: &Index, own: &[String]) -> bool {
    let keys = key_names(index);
    let is_longer = keys.len() > own.len();
    is_complete(index) && keys.starts_with(own) && (is_longer || index.unique.is_none())
}

/// Whether every key is ordered.
pub(crate) fn is_plain(index: &Index) -> bool {
    let plain = |kind| matches!(kind, KeyKind::Ascending | KeyKind::Descending);
    index.keys.iter().all(|key| plain(key.kind))
}

/// The keys as the attribute spells them.
pub(crate) fn key_names(index: &Index) -> Vec<String> {
    let spelled = |path: &Vec<Ident>| path.iter().map(unraw).collect::<Vec<_>>().join(".");
    index.keys.iter().map(|key| spelled(&key.path)).collect()
}

/// The rules of a field that trees keep.
pub(crate) fn rules(container: &Container, field: &Field) -> Vec<Rule> {
    roles_of(container, field)
        .flat_map(|(tree, role)| tree.rules(role))
        .collect()
}

/// Whether a tree keeps the field.
pub(crate) fn keeps(container: &Container, field: &Field) -> bool {
    roles_of(container, field).next().is_some()
}

/// The roles of the field, in all trees that keep it.
fn roles_of<'a>(
    container: &'a Container,
    field: &'a Field,
) -> impl Iterator<Item = (&'a Tree, Role)> {
    let trees = container.trees.iter().filter(|_| is_kept(field));
    trees.flat_map(|tree| {
        let names_field = |role: &Role| {
            tree.field_name(*role)
                .is_some_and(|name| unraw(&name) == field.rust)
        };
        tree.roles()
            .into_iter()
            .filter(names_field)
            .map(move |role| (tree, role))
    })
}

fn bound(value: i64) -> Bound {
    Bound {
        value: Number::Int(value),
        exclusive: false,
    }
}

fn items(max: u32) -> Rule {
    Rule::Items(Size {
        min: None,
        max: Some(max),
    })
}
