//! The public items of `mongodb-odm` are those of a list in the tree, so that a review sees each change of them.
//!
//! Listed are the items that a path of public modules leads to, and the methods, fields and variants of each by the name of
//! its type. What `macro_rules` write, such as the setters of options, is not seen; what is `#[doc(hidden)]` is left out.
#![expect(
    clippy::unwrap_used,
    reason = "a check that panics is a test that fails"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use syn::{Attribute, Fields, ImplItem, Item, TraitItem, Type, UseTree, Visibility};

const LIST: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/public_items.txt");
const REMEDY: &str = "ODM_WRITE=1 cargo test --workspace --test public_items";

#[test]
fn public_items_are_listed() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../odm/src");
    let mut surface = Surface::default();
    surface.members(&root);
    let items = parse(&root.join("lib.rs"));
    surface.module("odm", &root, &items);
    let lines: Vec<&str> = surface.items.iter().map(String::as_str).collect();
    let text = lines.join(
        "
",
    ) + "
";
    if std::env::var_os("ODM_WRITE").is_some() {
        fs::write(LIST, &text).unwrap();
    }
    let listed = fs::read_to_string(LIST).unwrap_or_default();
    let listed: BTreeSet<&str> = listed.lines().collect();
    let found: BTreeSet<&str> = text.lines().collect();
    let added: Vec<_> = found.difference(&listed).collect();
    let removed: Vec<_> = listed.difference(&found).collect();
    assert!(
        added.is_empty() && removed.is_empty(),
        "public items added: {added:#?}, removed: {removed:#?}; if that is meant, run {REMEDY}"
    );
}

/// Users get every name of the prelude by a glob import, beside their own: it stays small.
#[test]
fn the_prelude_has_at_most_20_names() {
    let mut names = Vec::new();
    let prelude = Path::new(env!("CARGO_MANIFEST_DIR")).join("../odm/src/prelude.rs");
    for item in parse(&prelude) {
        let Item::Use(import) = item else {
            panic!("the prelude consists of re-exports");
        };
        leaves(&import.tree, &mut names);
    }
    names.sort();
    assert!(
        (10..=20).contains(&names.len()),
        "{} names: {names:?}",
        names.len()
    );
}

/// The names that an import brings into scope.
fn leaves(tree: &UseTree, names: &mut Vec<String>) {
    match tree {
        UseTree::Path(one) => leaves(&one.tree, names),
        UseTree::Name(one) => names.push(one.ident.to_string()),
        // A trait without a name is in scope for its methods alone.
        UseTree::Rename(one) if one.rename == "_" => {}
        UseTree::Rename(one) => names.push(one.rename.to_string()),
        UseTree::Group(group) => group.items.iter().for_each(|tree| leaves(tree, names)),
        UseTree::Glob(_) => panic!("name each item"),
    }
}

fn parse(file: &Path) -> Vec<Item> {
    let text =
        fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    syn::parse_file(&text).unwrap().items
}

/// The public items of a crate.
#[derive(Default)]
struct Surface {
    /// The methods, fields and variants of each type or trait, by its name. Only types that are public have public
    /// methods: rustc's lint `unreachable_pub` sees to it.
    members: BTreeMap<String, BTreeSet<String>>,
    items: BTreeSet<String>,
}

impl Surface {
    /// Reads the members of all types in a folder.
    fn members(&mut self, folder: &Path) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                self.members(&path);
            } else if path.extension().is_some_and(|it| it == "rs") && !path.ends_with("tests.rs") {
                self.members_of(&parse(&path));
            }
        }
    }

    fn members_of(&mut self, items: &[Item]) {
        for item in items {
            match item {
                Item::Impl(one) if one.trait_.is_none() => {
                    let Type::Path(path) = &*one.self_ty else {
                        continue;
                    };
                    let name = path.path.segments.last().unwrap().ident.to_string();
                    let methods = one.items.iter().filter_map(|item| match item {
                        ImplItem::Fn(one) if is_shown(&one.vis, &one.attrs) => {
                            Some(one.sig.ident.to_string())
                        }
                        ImplItem::Const(one) if is_shown(&one.vis, &one.attrs) => {
                            Some(one.ident.to_string())
                        }
                        _ => None,
                    });
                    self.members.entry(name).or_default().extend(methods);
                }
                Item::Struct(one) if is_shown(&one.vis, &one.attrs) => {
                    if let Fields::Named(fields) = &one.fields {
                        let fields = fields
                            .named
                            .iter()
                            .filter(|field| is_shown(&field.vis, &field.attrs));
                        let fields = fields
                            .filter_map(|field| field.ident.as_ref().map(ToString::to_string));
                        self.members
                            .entry(one.ident.to_string())
                            .or_default()
                            .extend(fields);
                    }
                }
                Item::Enum(one) if is_shown(&one.vis, &one.attrs) => {
                    let variants = one
                        .variants
                        .iter()
                        .filter(|variant| !is_hidden(&variant.attrs));
                    let variants = variants.map(|variant| variant.ident.to_string());
                    self.members
                        .entry(one.ident.to_string())
                        .or_default()
                        .extend(variants);
                }
                Item::Trait(one) if is_shown(&one.vis, &one.attrs) => {
                    let members = one.items.iter().filter_map(|item| match item {
                        TraitItem::Fn(one) if !is_hidden(&one.attrs) => {
                            Some(one.sig.ident.to_string())
                        }
                        TraitItem::Const(one) if !is_hidden(&one.attrs) => {
                            Some(one.ident.to_string())
                        }
                        TraitItem::Type(one) if !is_hidden(&one.attrs) => {
                            Some(one.ident.to_string())
                        }
                        _ => None,
                    });
                    self.members
                        .entry(one.ident.to_string())
                        .or_default()
                        .extend(members);
                }
                Item::Mod(one) if !is_test(&one.attrs) => {
                    if let Some((_, items)) = &one.content {
                        self.members_of(items);
                    }
                }
                _ => {}
            }
        }
    }

    /// Lists the public items of a module, whose children are files in a folder.
    fn module(&mut self, path: &str, folder: &Path, items: &[Item]) {
        for item in items {
            match item {
                Item::Mod(one) if is_shown(&one.vis, &one.attrs) => {
                    let name = one.ident.to_string();
                    let (inner, folder) = (format!("{path}::{name}"), folder.join(&name));
                    self.items.insert(inner.clone());
                    match &one.content {
                        Some((_, items)) => self.module(&inner, &folder, items),
                        None => self.module(&inner, &folder, &parse(&file_of(&folder))),
                    }
                }
                Item::Use(one) if is_shown(&one.vis, &one.attrs) => {
                    self.reexports(path, folder, &one.tree, &[]);
                }
                Item::Macro(one) => {
                    let is_exported = one
                        .attrs
                        .iter()
                        .any(|it| it.path().is_ident("macro_export"));
                    if let (Some(name), true, false) =
                        (&one.ident, is_exported, is_hidden(&one.attrs))
                    {
                        self.items.insert(format!("odm::{name}!"));
                    }
                }
                other => {
                    if let Some(name) = shown_name(other) {
                        self.item(path, &name);
                    }
                }
            }
        }
    }

    fn item(&mut self, path: &str, name: &str) {
        self.items.insert(format!("{path}::{name}"));
        let members = self.members.get(name).into_iter().flatten();
        let members = members.map(|member| format!("{name}::{member}"));
        self.items.extend(members.collect::<Vec<_>>());
    }

    fn reexports(&mut self, path: &str, folder: &Path, tree: &UseTree, before: &[String]) {
        match tree {
            UseTree::Path(one) => {
                let mut before = before.to_vec();
                before.push(one.ident.to_string());
                self.reexports(path, folder, &one.tree, &before);
            }
            UseTree::Name(one) => {
                let name = one.ident.to_string();
                self.reexport(path, folder, before, &name);
            }
            UseTree::Rename(one) if one.rename != "_" => {
                self.items.insert(format!("{path}::{}", one.rename));
            }
            UseTree::Group(group) => {
                for tree in &group.items {
                    self.reexports(path, folder, tree, before);
                }
            }
            UseTree::Glob(_) => {
                self.items
                    .insert(format!("{path}::{}::*", before.join("::")));
            }
            UseTree::Rename(_) => {}
        }
    }

    /// Lists an item, or what is in a module of this crate.
    fn reexport(&mut self, path: &str, folder: &Path, before: &[String], name: &str) {
        let inside: PathBuf = before.iter().filter(|name| *name != "self").collect();
        let module = folder.join(inside).join(name);
        let starts_here = before.first().is_some_and(|first| first == "self");
        if starts_here && file_of(&module).exists() {
            let inner = format!("{path}::{name}");
            self.items.insert(inner.clone());
            self.module(&inner, &module, &parse(&file_of(&module)));
        } else {
            self.item(path, name);
        }
    }
}

fn file_of(module: &Path) -> PathBuf {
    module.with_extension("rs")
}

fn shown_name(item: &Item) -> Option<String> {
    let (vis, attrs, name) = match item {
        Item::Const(one) => (&one.vis, &one.attrs, &one.ident),
        Item::Enum(one) => (&one.vis, &one.attrs, &one.ident),
        Item::Fn(one) => (&one.vis, &one.attrs, &one.sig.ident),
        Item::Static(one) => (&one.vis, &one.attrs, &one.ident),
        Item::Struct(one) => (&one.vis, &one.attrs, &one.ident),
        Item::Trait(one) => (&one.vis, &one.attrs, &one.ident),
        Item::Type(one) => (&one.vis, &one.attrs, &one.ident),
        Item::Union(one) => (&one.vis, &one.attrs, &one.ident),
        _ => return None,
    };
    is_shown(vis, attrs).then(|| name.to_string())
}

fn is_shown(vis: &Visibility, attrs: &[Attribute]) -> bool {
    matches!(vis, Visibility::Public(_)) && !is_hidden(attrs) && !is_test(attrs)
}

fn is_hidden(attrs: &[Attribute]) -> bool {
    has(attrs, "doc", "hidden")
}

fn is_test(attrs: &[Attribute]) -> bool {
    has(attrs, "cfg", "test")
}

/// Whether there is an attribute `#[name(word)]`.
fn has(attrs: &[Attribute], name: &str, word: &str) -> bool {
    attrs.iter().any(|attribute| {
        attribute.path().is_ident(name)
            && attribute
                .parse_args::<syn::Ident>()
                .is_ok_and(|argument| argument == word)
    })
}
