//! A module names only modules on lower floors, never a neighbour on its own: within each crate of the workspace, and
//! within its largest modules. Cargo itself keeps the crates in order.
//!
//! The check reads every path in the sources that begins with `crate`, `super`, `self`, `odm` or a child module, in
//! imports, expressions, types and macros. Code under `#[cfg(test)]` is exempt: a test may use anything. Documentation
//! links are not code, and may look up.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a check that panics is a test that fails"
)]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use quote::ToTokens;
use syn::{Attribute, Item, UseTree, Visibility};

#[path = "architecture/the_check.rs"]
mod the_check;

/// The modules of `odm` under its root, lowest floor first.
const FLOORS: &[&[&str]] = &[
    &["error", "markup"],
    &["codec", "model"],
    &["store"],
    &["query"],
    &["types"],
    &["expr"],
    &["update", "pipeline", "plan"],
    &["schema"],
    &["exec"],
    &["collection"],
    &["write"],
    &[
        "advise", "buckets", "counter", "dump", "gridfs", "migrate", "overflow", "relation",
        "server", "sharding", "tree",
    ],
    &["check", "pull"],
    &["repair", "report", "scrub"],
    &["admin"],
    ROOF,
];

/// The modules that stand beside the root of `odm`, and may name what it re-exports.
const ROOF: &[&str] = &["prelude", "support"];

const LANGUAGE_FLOORS: &[&[&str]] = &[
    &["clock", "error", "refusal", "shuffle", "version"],
    &["value"],
    &["regex"],
    &["expression"],
    &["matcher"],
];

const ENGINE_FLOORS: &[&[&str]] = &[
    &["context"],
    &["updater", "index"],
    &["planner", "pipeline"],
    &["catalog"],
    &["txn"],
    &["cursor"],
    &["command"],
    &["service"],
    &["tools"],
];

const SERVER_FLOORS: &[&[&str]] = &[
    &["current_op", "error", "fail_point", "scram", "wire"],
    &["options", "tools"],
    &["state"],
    &["client", "cluster_time"],
    &["command"],
    &["answer"],
    &["connection"],
];

/// The modules of `odm-derive`, in the order of its steps.
const DERIVE_FLOORS: &[&[&str]] = &[
    &["attribute_names", "errors", "other_words"],
    &["parse"],
    &["model"],
    &["facts"],
    &["check"],
    &["expand"],
    &["row"],
];

/// A house whose floors are checked: the crate and the module it is, and the floors in it.
struct House {
    /// The folder of the crate.
    folder: &'static str,
    root: &'static [&'static str],
    floors: &'static [&'static [&'static str]],
}

const HOUSES: &[House] = &[
    House {
        folder: "odm",
        root: &[],
        floors: FLOORS,
    },
    House {
        folder: "odm/language",
        root: &[],
        floors: LANGUAGE_FLOORS,
    },
    House {
        folder: "odm/engine",
        root: &[],
        floors: ENGINE_FLOORS,
    },
    House {
        folder: "odm/server",
        root: &[],
        floors: SERVER_FLOORS,
    },
    House {
        folder: "odm-derive",
        root: &[],
        floors: DERIVE_FLOORS,
    },
];

#[test]
fn no_module_names_a_higher_or_neighbouring_module() {
    let mut faults = Vec::new();
    for house in HOUSES {
        let mut sources = Sources::read(&src(house.folder).join("lib.rs"));
        if house.folder == "odm-derive" {
            // `odm::support` stands in code that it quotes.
            for names in sources.names.values_mut() {
                names.retain(|name| name.first().is_none_or(|name| name != "support"));
            }
        }
        faults.extend(house.faults(&sources));
    }
    assert!(faults.is_empty(), "\n{}\n", faults.join("\n"));
}

#[test]
fn every_file_belongs_to_a_module() {
    for house in HOUSES {
        let folder = src(house.folder);
        let sources = Sources::read(&folder.join("lib.rs"));
        let mut on_disk = Vec::new();
        list_rust_files(&folder, &mut on_disk);
        // Programs are crates of their own.
        on_disk.retain(|path| !path.starts_with(folder.join("bin")));
        on_disk.retain(|path| !sources.files.contains(path));
        assert!(on_disk.is_empty(), "no `mod` line names {on_disk:?}");
    }
}

/// The most files that may import each other in a cycle: a reader has to know all of them at once.
const LONGEST_CYCLE: usize = 5;

/// Longer cycles: a file of each, and the number of its files. They may only shrink, but for a new
/// kind of error.
const LONGER_CYCLES: &[(&str, usize)] = &[
    ("odm collection::guarded", 6),
    ("odm error", 27),
    ("odm store::cursor", 13),
    ("odm/engine catalog", 6),
    ("odm/engine index", 7),
    ("odm/engine pipeline", 11),
    ("odm/engine planner::plan", 6),
    ("odm/server command", 17),
];

#[test]
fn cycles_of_files_are_short() {
    let mut faults = Vec::new();
    let mut met = Vec::new();
    for house in HOUSES {
        let sources = Sources::read(&src(house.folder).join("lib.rs"));
        for cycle in sources.cycles() {
            let known = LONGER_CYCLES.iter().find(|(file, _)| {
                let (folder, file) = file.split_once(' ').unwrap();
                folder == house.folder && cycle.iter().any(|one| one == file)
            });
            met.extend(known);
            let length = cycle.len();
            let fits = known.map_or(length <= LONGEST_CYCLE, |(_, listed)| length == *listed);
            if !fits {
                let files = cycle.join(" ");
                faults.push(format!(
                    "{length} files in a cycle of {}: {files}",
                    house.folder
                ));
            }
        }
    }
    for listed in LONGER_CYCLES.iter().filter(|listed| !met.contains(listed)) {
        faults.push(format!("listed, but not found: {listed:?}"));
    }
    assert!(faults.is_empty(), "\n{}\n", faults.join("\n"));
}

/// All the non-test code of a crate: for each module (`["engine", "matcher"]`) the paths it names.
#[derive(Default)]
struct Sources {
    files: Vec<PathBuf>,
    names: BTreeMap<Vec<String>, Vec<Vec<String>>>,
    /// The paths that a module only re-exports.
    exports: BTreeMap<Vec<String>, Vec<Vec<String>>>,
    /// For each module, the names that it imports, with the paths that they stand for.
    imports: BTreeMap<Vec<String>, BTreeMap<String, Vec<String>>>,
}

impl Sources {
    fn read(root: &Path) -> Self {
        let mut sources = Self::default();
        let text = fs::read_to_string(root).unwrap();
        sources.files.push(root.to_owned());
        sources.add(&[], &text, Some(root.parent().unwrap()), false);
        sources
    }

    /// Reads one module and, where `folder` is given, the files of the modules it declares.
    fn add(&mut self, module: &[String], text: &str, folder: Option<&Path>, test: bool) {
        let file = syn::parse_file(text).unwrap_or_else(|e| panic!("{}: {e}", module.join("::")));
        self.add_items(module, &file.items, folder, test);
    }

    fn add_items(&mut self, module: &[String], items: &[Item], folder: Option<&Path>, test: bool) {
        let children: Vec<String> = items
            .iter()
            .filter_map(|item| match item {
                Item::Mod(inner) => Some(inner.ident.to_string()),
                _ => None,
            })
            .collect();
        let place = Place {
            module,
            children: &children,
        };
        for item in items {
            let test = test || is_for_tests(item);
            if let Item::Mod(inner) = item {
                let mut name = module.to_owned();
                name.push(inner.ident.to_string());
                if let Some((_, items)) = &inner.content {
                    let folder = folder.map(|folder| folder.join(inner.ident.to_string()));
                    self.add_items(&name, items, folder.as_deref(), test);
                } else if let Some(folder) = folder {
                    if inner
                        .attrs
                        .iter()
                        .any(|attribute| attribute.path().is_ident("path"))
                    {
                        continue; // a file of another crate, for tests
                    }
                    let path = folder.join(format!("{}.rs", inner.ident));
                    let text = fs::read_to_string(&path)
                        .unwrap_or_else(|e| panic!("{}: {e}", path.display()));
                    self.files.push(path);
                    self.add(
                        &name,
                        &text,
                        Some(&folder.join(inner.ident.to_string())),
                        test,
                    );
                }
            } else if !test {
                let mut paths = Vec::new();
                collect_paths(item.to_token_stream(), place, &mut paths);
                if let Item::Use(import) = item {
                    let imports = self.imports.entry(module.to_owned()).or_default();
                    collect_imports(&import.tree, place, &mut Vec::new(), imports);
                    // `use self::absent as driver` stands in for the module in a build without it.
                    imports.retain(|name, _| !children.contains(name));
                }
                let is_export = matches!(item, Item::Use(import) if !matches!(import.vis, Visibility::Inherited));
                let names = if is_export {
                    &mut self.exports
                } else {
                    &mut self.names
                };
                names.entry(module.to_owned()).or_default().extend(paths);
            }
        }
    }
}

impl Sources {
    /// The path of the item itself, where a module on the way only imports it.
    fn declared(&self, path: &[String]) -> Vec<String> {
        let mut path = path.to_owned();
        // A module that imports itself under another name would never end.
        for _ in 0..16 {
            let imported = (0..path.len()).rev().find_map(|end| {
                let name = path.get(end)?;
                let target = self.imports.get(&path[..end])?.get(name)?;
                let rest = &path[end + 1..];
                Some(target.iter().chain(rest).cloned().collect::<Vec<_>>())
            });
            match imported {
                Some(target) if target != path => path = target,
                _ => break,
            }
        }
        path
    }

    /// The modules that a module names, by their places in the list of all modules. A path is of the module that declares
    /// its item: a module that re-exports it depends on neither side.
    fn edges(&self) -> (Vec<&Vec<String>>, Vec<Vec<usize>>) {
        let modules: Vec<&Vec<String>> = self.names.keys().collect();
        let place = |path: &[String]| {
            (1..=path.len()).rev().find_map(|end| {
                modules
                    .binary_search_by(|one| one[..].cmp(&path[..end]))
                    .ok()
            })
        };
        let edges = modules.iter().enumerate().map(|(from, module)| {
            let named = self.names[*module]
                .iter()
                .filter_map(|path| place(&self.declared(path)));
            named.filter(|to| *to != from).collect()
        });
        let edges = edges.collect();
        (modules, edges)
    }

    /// The sets of modules that reach each other.
    fn cycles(&self) -> Vec<Vec<String>> {
        let (modules, edges) = self.edges();
        let reached: Vec<Vec<bool>> = (0..modules.len())
            .map(|from| {
                let mut reached = vec![false; modules.len()];
                let mut open = vec![from];
                while let Some(at) = open.pop() {
                    for &to in &edges[at] {
                        if !std::mem::replace(&mut reached[to], true) {
                            open.push(to);
                        }
                    }
                }
                reached
            })
            .collect();
        let mut cycles: Vec<Vec<String>> = Vec::new();
        let mut seen = vec![false; modules.len()];
        for from in 0..modules.len() {
            if seen[from] || !reached[from][from] {
                continue;
            }
            let together: Vec<usize> = (from..modules.len())
                .filter(|to| reached[from][*to] && reached[*to][from])
                .collect();
            for at in &together {
                seen[*at] = true;
            }
            cycles.push(together.iter().map(|at| modules[*at].join("::")).collect());
        }
        cycles
    }
}

impl House {
    fn faults(&self, sources: &Sources) -> Vec<String> {
        let mut faults = Vec::new();
        for (module, names) in sources.names.iter().chain(&sources.exports) {
            let Some(here) = self.room(module) else {
                continue;
            };
            for name in names {
                if let Some(fault) = self.judge(here, name) {
                    faults.push(format!(
                        "crate::{} names crate::{}: {fault}",
                        module.join("::"),
                        name.join("::")
                    ));
                }
            }
        }
        faults.sort();
        faults.dedup();
        faults
    }

    /// The module of this house that `path` lies in; none for the house's own root.
    fn room<'a>(&self, path: &'a [String]) -> Option<&'a str> {
        let inside =
            path.len() > self.root.len() && path.iter().zip(self.root).all(|(a, b)| a == b);
        inside.then(|| path[self.root.len()].as_str())
    }

    fn floor(&self, room: &str) -> Option<usize> {
        self.floors.iter().position(|floor| floor.contains(&room))
    }

    /// What is wrong with the module `here` naming `path`.
    fn judge(&self, here: &str, path: &[String]) -> Option<String> {
        let in_house =
            path.len() >= self.root.len() && path.iter().zip(self.root).all(|(a, b)| a == b);
        if !in_house {
            return None;
        }
        let Some(from) = self.floor(here) else {
            return Some(format!(
                "`{here}` has no floor: add it to the list in this test"
            ));
        };
        let Some(there) = self.room(path) else {
            return Some("the root stands above all floors".to_owned());
        };
        if there == here || (self.root.is_empty() && ROOF.contains(&here)) {
            return None;
        }
        let Some(to) = self.floor(there) else {
            return Some(format!(
                "`{there}` is no module with a floor: name the module that declares it"
            ));
        };
        match to.cmp(&from) {
            std::cmp::Ordering::Less => None,
            std::cmp::Ordering::Equal => Some(format!("a neighbour on floor {to}")),
            std::cmp::Ordering::Greater => Some(format!("floor {to} is above floor {from}")),
        }
    }
}

/// Where code stands: relative paths start here.
#[derive(Clone, Copy)]
struct Place<'a> {
    module: &'a [String],
    /// The modules that the module declares.
    children: &'a [String],
}

impl Place<'_> {
    /// The absolute path that a path with this first name starts from; `None` if it leads out of the crate.
    fn start(&self, first: &str) -> Option<Vec<String>> {
        match first {
            "crate" | "odm" => Some(Vec::new()),
            "self" => Some(self.module.to_owned()),
            "super" => Some(self.module[..self.module.len().saturating_sub(1)].to_owned()),
            child if self.children.iter().any(|one| one == child) => Some(
                self.module
                    .iter()
                    .cloned()
                    .chain([child.to_owned()])
                    .collect(),
            ),
            _ => None,
        }
    }
}

/// Adds the names that an import brings into the module, with the paths in this crate that they stand for. Imports of all
/// names (`*`) add none.
fn collect_imports(
    tree: &UseTree,
    place: Place<'_>,
    path: &mut Vec<String>,
    imports: &mut BTreeMap<String, Vec<String>>,
) {
    let absolute = |path: &[String], last: &str| {
        let whole: Vec<&str> = path.iter().map(String::as_str).chain([last]).collect();
        let (first, mut rest) = whole.split_first()?;
        let mut start = place.start(first)?;
        while let Some(("super", after)) = rest.split_first().map(|(one, after)| (*one, after)) {
            start.pop();
            rest = after;
        }
        start.extend(
            rest.iter()
                .filter(|one| **one != "self")
                .map(|one| (*one).to_owned()),
        );
        Some(start)
    };
    match tree {
        UseTree::Path(inner) => {
            path.push(inner.ident.to_string());
            collect_imports(&inner.tree, place, path, imports);
            path.pop();
        }
        UseTree::Name(name) => {
            let name = name.ident.to_string();
            let known = if name == "self" {
                path.last()
            } else {
                Some(&name)
            };
            if let (Some(known), Some(target)) = (known, absolute(path, &name)) {
                imports.insert(known.clone(), target);
            }
        }
        UseTree::Rename(name) => {
            if let Some(target) = absolute(path, &name.ident.to_string()) {
                imports.insert(name.rename.to_string(), target);
            }
        }
        UseTree::Group(group) => {
            for tree in &group.items {
                collect_imports(tree, place, path, imports);
            }
        }
        UseTree::Glob(_) => {}
    }
}

/// Adds every path in `tokens` that leads into this crate, from its root on.
fn collect_paths(tokens: TokenStream, place: Place<'_>, paths: &mut Vec<Vec<String>>) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let mut at = 0;
    while at < tokens.len() {
        match &tokens[at] {
            // `pub(crate)`, `pub(in crate::engine)`: who may name this, not what this names.
            TokenTree::Ident(word) if word == "pub" => {
                at += 1;
                if matches!(tokens.get(at), Some(TokenTree::Group(_))) {
                    at += 1;
                }
            }
            // In `odm` itself, `odm` is another name of the crate.
            TokenTree::Ident(word)
                if word == "crate" || word == "odm" && is_path_separator(&tokens, at + 1) =>
            {
                at = follow(&tokens, at + 1, &[], paths);
            }
            TokenTree::Ident(word) if word == "super" => {
                let mut base = place.module.to_owned();
                base.pop();
                while is_path_separator(&tokens, at + 1)
                    && matches!(tokens.get(at + 3), Some(TokenTree::Ident(word)) if word == "super")
                {
                    base.pop();
                    at += 3;
                }
                at = follow(&tokens, at + 1, &base, paths);
            }
            TokenTree::Ident(word)
                if is_path_separator(&tokens, at + 1)
                    && !(at >= 2 && is_path_separator(&tokens, at - 2)) =>
            {
                match place.start(&word.to_string()) {
                    Some(base) => at = follow(&tokens, at + 1, &base, paths),
                    None => at += 1,
                }
            }
            TokenTree::Group(group) => {
                collect_paths(group.stream(), place, paths);
                at += 1;
            }
            _ => at += 1,
        }
    }
}

/// Reads the rest of a path, or of an import with braces, whose `::` stands at `at`; says where it ends.
fn follow(
    tokens: &[TokenTree],
    mut at: usize,
    base: &[String],
    paths: &mut Vec<Vec<String>>,
) -> usize {
    let mut path = base.to_owned();
    while is_path_separator(tokens, at) {
        match tokens.get(at + 2) {
            Some(TokenTree::Ident(name)) => {
                path.push(name.to_string());
                at += 3;
            }
            Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Brace => {
                follow_braces(group.stream(), &path, paths);
                return at + 3;
            }
            // `*`, or the `<` of a turbofish
            _ => break,
        }
    }
    paths.push(path);
    at
}

/// The imports between braces: `{a, b::c, d::{e, f}, self}`.
fn follow_braces(tokens: TokenStream, base: &[String], paths: &mut Vec<Vec<String>>) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let is_comma = |token: &TokenTree| matches!(token, TokenTree::Punct(p) if p.as_char() == ',');
    for import in tokens.split(is_comma) {
        if let Some(TokenTree::Ident(name)) = import.first() {
            let mut path = base.to_owned();
            if name != "self" {
                path.push(name.to_string());
            }
            follow(import, 1, &path, paths);
        }
    }
}

fn is_path_separator(tokens: &[TokenTree], at: usize) -> bool {
    let is_colon = |at| matches!(tokens.get(at), Some(TokenTree::Punct(p)) if p.as_char() == ':');
    is_colon(at) && is_colon(at + 1)
}

/// Whether an item has `#[cfg(test)]` (or `#[test]`) on it.
fn is_for_tests(item: &Item) -> bool {
    let attributes: &[Attribute] = match item {
        Item::Mod(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Const(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        _ => &[],
    };
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("test")
            || attribute
                .parse_args::<syn::Path>()
                .is_ok_and(|what| attribute.path().is_ident("cfg") && what.is_ident("test"))
    })
}

fn list_rust_files(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            list_rust_files(&path, files);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            files.push(path);
        }
    }
}

/// The sources of the crate in a folder of the workspace.
fn src(folder: &str) -> PathBuf {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    workspace.join(folder).join("src")
}
