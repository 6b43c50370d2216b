//! What differs between fields.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::super::text::{ancestors, split};
use super::super::{Impact, LockedField, Presence};
use super::Changes;

type Fields = BTreeMap<String, LockedField>;

/// The types of a line, and its keywords with their values.
type Signature<'l> = (&'l BTreeSet<String>, Vec<(&'l String, &'l String)>);

/// What older programs can't do with documents of the newer one.
const OLDER: &str = "an older program beside this one can't read it";

impl Changes<'_> {
    pub(super) fn fields(&mut self) {
        if self.is_view() {
            if self.old.fields != self.new.fields {
                let what = "the fields of a view have changed: MongoDB computes them, and nothing is stored";
                self.compatible("", what);
            }
            return;
        }
        let (old, new) = (&self.old.fields, &self.new.fields);
        let retyped: BTreeSet<&str> = old
            .iter()
            .filter(|(path, before)| {
                new.get(*path)
                    .is_some_and(|after| is_retyped(before, after))
            })
            .map(|(path, _)| path.as_str())
            .collect();
        let is_inside = |path: &str| ancestors(path).any(|around| retyped.contains(around));
        let gone = outermost(old, new, &is_inside);
        let came = outermost(new, old, &is_inside);
        let renamed = renames(old, new, &gone, &came);
        for path in &gone {
            if !renamed.iter().any(|(from, _)| from == path) {
                self.removed(path);
            }
        }
        for path in &came {
            match renamed.iter().find(|(_, to)| to == path) {
                Some((from, _)) => self.renamed(from, path),
                None => self.added(path),
            }
        }
        for (path, before) in old {
            if let Some(after) = new.get(path).filter(|_| !is_inside(path)) {
                self.changed(path, before, after);
            }
        }
    }

    fn added(&mut self, path: &str) {
        let Some(line) = self.new.fields.get(path) else {
            return;
        };
        let (_, segment) = split(path);
        if segment.starts_with('<') {
            self.compatible(path, format!("a variant is added; {OLDER}"));
        } else if segment.starts_with(['[', '{']) {
            let what = "values that were not declared are read now, and have to be of this type";
            let impact = if line.types.contains("any") {
                Impact::Compatible
            } else {
                Impact::Rewrite
            };
            let step = (impact == Impact::Rewrite).then(|| format!("convert_{path}"));
            self.add(path, impact, what, step);
        } else if line.presence == Some(Presence::Required) {
            let what = "a required field is added: stored documents lack it, and can't be read; or declare `#[serde(default)]` or an \
                        `Option`";
            self.add(path, Impact::Rewrite, what, Some(format!("set_{path}")));
        } else if line.is_derived() {
            let what = "a derived field is added: a refresh computes it in stored documents";
            self.add(path, Impact::Rewrite, what, Some(format!("refresh_{path}")));
        } else {
            self.compatible(path, "a field is added, which documents may lack");
        }
    }

    fn removed(&mut self, path: &str) {
        let (_, segment) = split(path);
        if segment.starts_with('<') {
            let what = "a variant is removed: documents that hold it can't be read";
            self.add(path, Impact::Rewrite, what, Some(format!("convert_{path}")));
            return;
        }
        let mut what =
            "a field is removed: its values stay in stored documents, and nothing reads them"
                .to_owned();
        if self.option("deny_undeclared").is_some() {
            what.push_str("; `deny_undeclared` refuses updates of these documents");
        }
        self.add(path, Impact::LosesData, what, Some(format!("unset_{path}")));
    }

    fn renamed(&mut self, from: &str, path: &str) {
        let (_, name) = split(path);
        let (_, old_name) = split(from);
        let (Some(before), Some(after)) = (self.old.fields.get(from), self.new.fields.get(path))
        else {
            return;
        };
        let what = if after
            .list("alias")
            .contains(&Value::from(unquoted(old_name)))
        {
            format!(
                "`{from}` is renamed: its alias lets stored documents be read, and filters and indexes do not find them by the new name \
                 until it is renamed (`$rename`)"
            )
        } else {
            format!(
                "`{from}` is gone, and this field has its type: if it is renamed, rename it in stored documents (`$rename`); if not, the \
                 values of `{from}` are lost"
            )
        };
        self.add(
            path,
            Impact::Rewrite,
            what,
            Some(format!("rename_{from}_to_{name}")),
        );
        self.changed(path, before, after);
    }

    /// Compares two lines of one field.
    fn changed(&mut self, path: &str, old: &LockedField, new: &LockedField) {
        if old == new {
            return;
        }
        self.types(path, old, new);
        match (old.presence, new.presence) {
            (one, other) if one == other => {}
            (_, Some(Presence::Required)) => {
                let what = "the field becomes required: documents without it can't be read";
                self.add(path, Impact::Rewrite, what, Some(format!("set_{path}")));
            }
            (_, Some(Presence::Optional)) => {
                self.compatible(
                    path,
                    format!("documents may lack the field; without a default, {OLDER}"),
                );
            }
            _ => self.compatible(path, "documents without the field are read with a default"),
        }
        self.range(path, old, new, ["minimum", "exclusiveMinimum"], 1.0);
        self.range(path, old, new, ["maximum", "exclusiveMaximum"], -1.0);
        let keywords: BTreeSet<&String> = old.facts.keys().chain(new.facts.keys()).collect();
        for keyword in keywords {
            let (before, after) = (old.facts.get(keyword), new.facts.get(keyword));
            if before != after {
                self.keyword(path, keyword, old, new);
            }
        }
    }

    fn types(&mut self, path: &str, old: &LockedField, new: &LockedField) {
        if old.types == new.types {
            return;
        }
        let step = || Some(format!("convert_{path}"));
        let (before, after) = (old.base(), new.base());
        let is_any = after.contains("any");
        if old.types.contains("null") && !new.types.contains("null") && !is_any {
            let what = "null is not read any more";
            self.add(
                path,
                Impact::Rewrite,
                what,
                Some(format!("replace_null_in_{path}")),
            );
        } else if !old.types.contains("null") && new.types.contains("null") {
            self.compatible(path, format!("null can be stored; {OLDER}"));
        }
        if before == after {
            return;
        }
        let (was, is) = (listed(&before), listed(&after));
        if path == "_id" && !after.is_superset(&before) && !is_any {
            let what = format!(
                "the type is {is}, and was {was}: an `_id` can't be updated, so documents have to be inserted again, and references to them \
                 written anew"
            );
            self.add(path, Impact::Rewrite, what, step());
        } else if is_any || after.is_superset(&before) {
            self.compatible(path, format!("the type is {is}, and was {was}; {OLDER}"));
        } else if is_wider(&before, &after) {
            if self.is_enforced() {
                let what = format!(
                    "the number is {is}, and was {was}: stored numbers can be read, and the validator refuses updates of their documents"
                );
                self.add(path, Impact::Rewrite, what, step());
            } else {
                self.compatible(path, format!("the number is {is}, and was {was}; {OLDER}"));
            }
        } else {
            let what =
                format!("the type is {is}, and was {was}: stored values can't be read as they are");
            self.add(path, Impact::Rewrite, what, step());
        }
    }

    /// Compares one end of the ranges; `sign` is that of a change that narrows them.
    fn range(
        &mut self,
        path: &str,
        old: &LockedField,
        new: &LockedField,
        [bound, exclusive]: [&str; 2],
        sign: f64,
    ) {
        let end = |line: &LockedField| {
            let number = line.facts.get(bound)?.parse::<f64>().ok()?;
            Some((number, line.facts.contains_key(exclusive)))
        };
        let (before, after) = (end(old), end(new));
        if before == after && old.facts.get(bound) == new.facts.get(bound) {
            return;
        }
        let is_narrower = match (before, after) {
            (_, None) => false,
            (None, Some(_)) => true,
            (Some((before, was_exclusive)), Some((after, is_exclusive))) => {
                let moved = (after - before) * sign;
                moved > 0.0 || (moved >= 0.0 && is_exclusive && !was_exclusive)
            }
        };
        let text = |end: Option<(f64, bool)>| {
            end.map_or("none".to_owned(), |(number, exclusive)| {
                format!("{number}{}", if exclusive { " (exclusive)" } else { "" })
            })
        };
        let what = format!("`{bound}` is {}, and was {}", text(after), text(before));
        self.bound(path, what, is_narrower);
    }

    fn bound(&mut self, path: &str, what: String, is_narrower: bool) {
        if is_narrower {
            let what = format!("{what}: documents with other values can't be updated");
            self.add(path, Impact::Rewrite, what, Some(format!("fit_{path}")));
        } else {
            self.compatible(path, what);
        }
    }

    fn keyword(&mut self, path: &str, keyword: &str, old: &LockedField, new: &LockedField) {
        let (before, after) = (old.facts.get(keyword), new.facts.get(keyword));
        let none = "none".to_owned();
        let what = format!(
            "`{keyword}` is {}, and was {}",
            after.unwrap_or(&none),
            before.unwrap_or(&none)
        );
        let number = |value: Option<&String>| value.and_then(|value| value.parse::<u64>().ok());
        match keyword {
            "minimum" | "exclusiveMinimum" | "maximum" | "exclusiveMaximum" => {}
            "minLength" | "minItems" | "minProperties" => {
                let is_narrower = number(after) > number(before);
                self.bound(
                    path,
                    what,
                    is_narrower && !old.has_lengths(after, |one, min| one >= min),
                );
            }
            "maxLength" => {
                let is_narrower = number(after)
                    .is_some_and(|after| number(before).is_none_or(|before| after < before));
                self.bound(
                    path,
                    what,
                    is_narrower && !old.has_lengths(after, |one, max| one <= max),
                );
            }
            "maxItems" | "maxProperties" => match (number(before), number(after)) {
                (before, Some(after)) if before.is_none_or(|before| after < before) => {
                    let what = format!(
                        "{what}: documents that hold more can't be updated until values are removed"
                    );
                    self.add(
                        path,
                        Impact::LosesData,
                        what,
                        Some(format!("shorten_{path}")),
                    );
                }
                _ => self.compatible(path, what),
            },
            "enum" | "keys" => self.names(path, keyword, old, new),
            "order" => {
                let (before, after) = (old.list("order"), new.list("order"));
                if after.starts_with(&before) {
                    self.compatible(
                        path,
                        format!("variants are added behind the others; {OLDER}"),
                    );
                } else {
                    let what =
                        format!("{what}: serde reads a value as the first variant that fits");
                    self.add(path, Impact::Rewrite, what, Some(format!("convert_{path}")));
                }
            }
            "alias" => {
                let (before, after) = (old.list("alias"), new.list("alias"));
                let lost: Vec<_> = before.iter().filter(|name| !after.contains(name)).collect();
                if lost.is_empty() {
                    self.compatible(path, what);
                } else {
                    let what = format!(
                        "{what}: documents that store the field under the other name are not read"
                    );
                    self.add(path, Impact::Rewrite, what, Some(format!("rename_{path}")));
                }
            }
            "copy_of" | "summary" | "two_way" | "recent_in" if after.is_some() => {
                let what = format!("{what}: a refresh writes it in stored documents");
                self.add(path, Impact::Rewrite, what, Some(format!("refresh_{path}")));
            }
            "ref" | "refers_to" if before.is_some() && after.is_some() => {
                let what =
                    format!("{what}: stored references name documents of the other collection");
                self.add(path, Impact::Rewrite, what, Some(format!("convert_{path}")));
            }
            "copy_of" | "summary" | "two_way" | "recent_in" | "rest_of" | "ref" | "refers_to"
            | "listed" => self.compatible(path, what),
            "tagging" | "like" => {
                let what = format!("{what}: values are stored in another form");
                self.add(path, Impact::Rewrite, what, Some(format!("convert_{path}")));
            }
            "closed" if after.is_some() && !self.is_enforced() => self.compatible(path, what),
            // A keyword of `$jsonSchema`.
            _ => self.bound(path, what, after.is_some()),
        }
    }

    /// Compares the strings that are allowed.
    fn names(&mut self, path: &str, keyword: &str, old: &LockedField, new: &LockedField) {
        if !new.facts.contains_key(keyword) {
            let what = if keyword == "keys" {
                "any key"
            } else {
                "any string"
            };
            return self.compatible(path, format!("{what} is allowed; {OLDER}"));
        }
        let (before, after) = (old.list(keyword), new.list(keyword));
        if !old.facts.contains_key(keyword) {
            let what = format!("only {} are allowed", texts(&after));
            return self.bound(path, what, true);
        }
        let lost: Vec<_> = before
            .iter()
            .filter(|one| !after.contains(one))
            .cloned()
            .collect();
        let added: Vec<_> = after
            .iter()
            .filter(|one| !before.contains(one))
            .cloned()
            .collect();
        if !lost.is_empty() {
            let what = format!(
                "{} is removed: documents that hold it can't be read",
                texts(&lost)
            );
            self.add(path, Impact::Rewrite, what, Some(format!("convert_{path}")));
        }
        if !added.is_empty() {
            self.compatible(path, format!("{} is added; {OLDER}", texts(&added)));
        }
        if lost.is_empty() && added.is_empty() {
            self.compatible(path, "the allowed strings are listed in another order");
        }
    }
}

impl LockedField {
    /// The types but null.
    fn base(&self) -> BTreeSet<&str> {
        let types = self.types.iter().map(String::as_str);
        types.filter(|ty| *ty != "null").collect()
    }

    /// The values of a keyword that is a list.
    fn list(&self, keyword: &str) -> Vec<Value> {
        let list = self.facts.get(keyword);
        list.and_then(|list| serde_json::from_str(list).ok())
            .unwrap_or_default()
    }

    /// Whether the value is one of several strings, and the lengths of all of them are within a bound.
    fn has_lengths(&self, bound: Option<&String>, fits: impl Fn(usize, usize) -> bool) -> bool {
        let (strings, bound) = (
            self.list("enum"),
            bound.and_then(|bound| bound.parse().ok()),
        );
        let lengths = strings
            .iter()
            .filter_map(Value::as_str)
            .map(|text| text.chars().count());
        bound.is_some_and(|bound| {
            !strings.is_empty() && lengths.into_iter().all(|one| fits(one, bound))
        })
    }

    /// Whether other documents or fields say what the value is.
    fn is_derived(&self) -> bool {
        ["copy_of", "summary"]
            .iter()
            .any(|keyword| self.facts.contains_key(*keyword))
    }

    /// The line without what a rename changes.
    fn signature(&self) -> Signature<'_> {
        let facts = self.facts.iter().filter(|(keyword, _)| *keyword != "alias");
        (&self.types, facts.collect())
    }
}

/// Whether what is inside a value is no longer comparable.
fn is_retyped(old: &LockedField, new: &LockedField) -> bool {
    ["object", "array", "any"]
        .iter()
        .any(|ty| old.types.contains(*ty) != new.types.contains(*ty))
}

/// The paths of `one` that `other` lacks, without those inside of such a path.
fn outermost<'l>(
    one: &'l Fields,
    other: &Fields,
    is_inside: &impl Fn(&str) -> bool,
) -> Vec<&'l str> {
    let lacks = |path: &str| one.contains_key(path) && !other.contains_key(path);
    let paths = one.keys().map(String::as_str);
    let paths = paths.filter(|path| lacks(path) && !is_inside(path));
    paths.filter(|path| !ancestors(path).any(lacks)).collect()
}

/// The pairs of removed and added fields of one struct that are likely to be the same field: by an alias, or because each is the
/// only one of its type.
fn renames<'l>(
    old: &Fields,
    new: &Fields,
    gone: &[&'l str],
    came: &[&'l str],
) -> Vec<(&'l str, &'l str)> {
    let is_field = |path: &&&str| !split(path).1.starts_with(['<', '[', '{']);
    let (gone, came): (Vec<&'l str>, Vec<&'l str>) = (
        gone.iter().filter(is_field).copied().collect(),
        came.iter().filter(is_field).copied().collect(),
    );
    let are_siblings = |one: &str, other: &str| split(one).0 == split(other).0;
    let mut pairs: Vec<(&str, &str)> = Vec::new();
    for to in &came {
        let aliases = new
            .get(*to)
            .map(|line| line.list("alias"))
            .unwrap_or_default();
        let mut from = gone.iter().filter(|from| are_siblings(from, to));
        if let Some(from) =
            from.find(|from| aliases.contains(&Value::from(unquoted(split(from).1))))
            && !pairs.iter().any(|(paired, _)| paired == from)
        {
            pairs.push((*from, *to));
        }
    }
    let alike = |from: &str, to: &str| are_siblings(from, to) && tree(old, from) == tree(new, to);
    let known = pairs.clone();
    let from_is_free = |path: &&&'l str| !known.iter().any(|(from, _)| from == *path);
    let to_is_free = |path: &&&'l str| !known.iter().any(|(_, to)| to == *path);
    for from in gone.iter().filter(from_is_free) {
        let mut all = came.iter().filter(to_is_free).filter(|to| alike(from, to));
        if let (Some(to), None) = (all.next(), all.next()) {
            let mut others = gone.iter().filter(from_is_free);
            if !others.any(|other| other != from && alike(other, to)) {
                pairs.push((*from, *to));
            }
        }
    }
    pairs
}

/// A field and what is inside it, by paths within the field.
fn tree<'f>(fields: &'f Fields, path: &'f str) -> Vec<(&'f str, Signature<'f>)> {
    let inside = fields.iter().filter_map(|(other, line)| {
        let rest = other.strip_prefix(path)?;
        let is_inside = rest.is_empty() || rest.starts_with(['.', '[', '{', '<']);
        is_inside.then(|| (rest, line.signature()))
    });
    inside.collect()
}

/// A segment of a path as the name that it stands for.
fn unquoted(segment: &str) -> String {
    serde_json::from_str(segment).unwrap_or_else(|_| segment.to_owned())
}

fn listed(types: &BTreeSet<&str>) -> String {
    types.iter().copied().collect::<Vec<_>>().join(" or ")
}

fn texts(values: &[Value]) -> String {
    let texts = values.iter().map(ToString::to_string);
    texts.collect::<Vec<_>>().join(", ")
}

/// Whether all numbers of the old types can be read as one of the new ones.
fn is_wider(old: &BTreeSet<&str>, new: &BTreeSet<&str>) -> bool {
    old.iter().all(|ty| {
        new.contains(ty)
            || match *ty {
                "int" => new.contains("long") || new.contains("double"),
                _ => false,
            }
    })
}
