//! The imports of a file.

use syn::spanned::Spanned;
use syn::{ItemUse, UseTree};

/// A `use` at the top of a file.
#[derive(Debug)]
pub(super) struct Use {
    start: usize,
    end: usize,
    /// The whole paths of the items that it imports.
    paths: Vec<String>,
    /// The names that it brings into scope.
    pub(super) names: Vec<String>,
}

impl Use {
    pub(super) fn of(item: &ItemUse) -> Self {
        let range = item.span().byte_range();
        let mut found = Self {
            start: range.start,
            end: range.end,
            paths: Vec::new(),
            names: Vec::new(),
        };
        found.add("", &item.tree);
        found
    }

    fn add(&mut self, before: &str, tree: &UseTree) {
        let joined = |name: &str| {
            if before.is_empty() {
                name.to_owned()
            } else {
                format!("{before}::{name}")
            }
        };
        match tree {
            UseTree::Path(path) => {
                let before = joined(&path.ident.to_string());
                self.add(&before, &path.tree);
            }
            UseTree::Name(name) => {
                let name = name.ident.to_string();
                if name == "self" {
                    self.paths.push(before.to_owned());
                    self.names
                        .extend(before.rsplit("::").next().map(str::to_owned));
                } else {
                    self.paths.push(joined(&name));
                    self.names.push(name);
                }
            }
            UseTree::Rename(rename) => self.names.push(rename.rename.to_string()),
            UseTree::Glob(_) => self.paths.push(joined("*")),
            UseTree::Group(group) => {
                for tree in &group.items {
                    self.add(before, tree);
                }
            }
        }
    }

    fn root(&self) -> &str {
        let path = self.paths.first().map_or("", String::as_str);
        path.split("::").next().unwrap_or_default()
    }
}

/// Where the line of an import is to be inserted, and its text: in the order of rustfmt among those of the same crate.
pub(super) fn insertion(uses: &[Use], start: Option<usize>, line: &str) -> Option<(usize, String)> {
    let path = line.strip_prefix("use ")?.strip_suffix(';')?;
    if uses
        .iter()
        .any(|one| one.paths.iter().any(|own| own == path))
    {
        return None;
    }
    let root = path.split("::").next()?;
    let mut of_root = uses.iter().filter(|one| one.root() == root);
    let is_behind = |one: &&Use| one.paths.first().is_some_and(|own| own.as_str() > path);
    if let Some(next) = of_root.clone().find(is_behind) {
        return Some((next.start, format!("{line}\n")));
    }
    if let Some(last) = of_root.next_back() {
        return Some((last.end, format!("\n{line}")));
    }
    // The imports of std stand before the others.
    let place = match (root, uses.first(), uses.last()) {
        ("std", Some(first), _) => return Some((first.start, format!("{line}\n\n"))),
        (_, _, Some(last)) => return Some((last.end, format!("\n\n{line}"))),
        _ => start.unwrap_or(0),
    };
    Some((place, format!("{line}\n\n")))
}
