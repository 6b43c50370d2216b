//! The fields of a model as rows: what is stored, and what is declared about it.

use crate::model::field::VariantContent;
use crate::model::rule::Limit;
use crate::model::{
    Bound, CopyMeta, EmbeddedMeta, EnumMeta, FieldMeta, ModelMeta, Presence, Rule, Shape, Tagging,
    TypeMeta, VariantMeta,
};
use crate::schema::stored_type;

/// How deep embedded structs are listed.
const DEEPEST: usize = 8;

/// A stored field.
#[derive(Debug)]
pub(super) struct FieldRow {
    /// The stored path; `[]` stands for the elements of a list, and `*` for the keys of a map.
    pub(super) path: String,
    pub(super) ty: String,
    /// The declarations, a phrase for each.
    pub(super) declared: Vec<String>,
}

/// The fields of a model, also of what is embedded in its documents.
pub(super) fn rows(model: &'static ModelMeta) -> Vec<FieldRow> {
    let mut walk = Walk {
        rows: Vec::new(),
        open: Vec::new(),
    };
    walk.embedded((model.embedded)(), "");
    for row in &mut walk.rows {
        row.declared.extend(kept_by(model, &row.path));
    }
    walk.rows
}

/// What odm computes for a field of this name.
fn kept_by(model: &ModelMeta, path: &str) -> Vec<String> {
    let is = |name: Option<&str>| name == Some(path);
    let mut kept = Vec::new();
    if is(model.version) {
        kept.push("version, counted by each write".to_owned());
    }
    if let Some(times) = model.timestamps {
        if is(times.created_at) {
            kept.push("time of the insert".to_owned());
        }
        if is(times.updated_at) {
            kept.push("time of the last change".to_owned());
        }
    }
    let keywords = model.keywords.iter();
    for keywords in keywords.filter(|one| one.field == path) {
        kept.push(format!("keywords of {}", keywords.listed()));
    }
    kept
}

/// Whether the stored name is another word than the Rust name, and not only in another case.
fn is_renamed(field: &FieldMeta) -> bool {
    let letters = |name: &str| name.replace('_', "").to_lowercase();
    letters(field.name) != letters(field.rust)
}

struct Walk {
    rows: Vec<FieldRow>,
    /// The structs that are being walked through: a type can contain itself.
    open: Vec<&'static EmbeddedMeta>,
}

impl Walk {
    fn embedded(&mut self, meta: &'static EmbeddedMeta, at: &str) {
        let is_open = self.open.iter().any(|open| std::ptr::eq(*open, meta));
        if is_open || self.open.len() == DEEPEST {
            return;
        }
        self.open.push(meta);
        self.fields(meta.fields, at, None);
        if let Some(EnumMeta { tagging, variants }) = &meta.variants {
            for variant in *variants {
                let path = match tagging {
                    Tagging::External => join(at, variant.name),
                    Tagging::Adjacent { content, .. } => join(at, content),
                    Tagging::Internal { .. } | Tagging::Untagged => at.to_owned(),
                };
                self.variant(variant, &path);
            }
        }
        self.open.pop();
    }

    fn variant(&mut self, variant: &'static VariantMeta, path: &str) {
        let mut add = |ty: String| {
            if !path.is_empty() {
                self.rows.push(FieldRow {
                    path: path.to_owned(),
                    ty,
                    declared: vec![format!("if `{}`", variant.name)],
                });
            }
        };
        match &variant.content {
            VariantContent::Unit => {}
            // The fields stand beside the tag.
            VariantContent::Newtype(TypeMeta {
                shape: Shape::Embedded(inside),
                ..
            }) if path.is_empty() => self.fields(inside().fields, path, Some(variant.name)),
            VariantContent::Newtype(ty) => {
                add(stored_type(ty));
                self.value(ty, path);
            }
            VariantContent::Tuple(_) => add("array".to_owned()),
            VariantContent::Struct(fields) => self.fields(fields, path, Some(variant.name)),
        }
    }

    fn fields(&mut self, fields: &'static [FieldMeta], at: &str, variant: Option<&'static str>) {
        for field in fields {
            if field.flatten {
                self.value(&field.ty, at);
                continue;
            }
            if at.is_empty() && variant.is_some() && field.name == "_id" {
                // All variants of a document have it.
                continue;
            }
            let path = join(at, field.name);
            let mut declared = Vec::new();
            declared.extend(variant.map(|variant| format!("if `{variant}`")));
            if is_renamed(field) {
                declared.push(format!("`{}` in Rust", field.rust));
            }
            describe(field, &mut declared);
            self.rows.push(FieldRow {
                path: path.clone(),
                ty: stored_type(&field.ty),
                declared,
            });
            self.value(&field.ty, &path);
        }
    }

    fn value(&mut self, ty: &'static TypeMeta, at: &str) {
        match &ty.shape {
            Shape::Embedded(meta) => self.embedded(meta(), at),
            Shape::Array { element, .. } => self.value(element, &format!("{at}[]")),
            Shape::Map(values) => self.value(values, &join(at, "*")),
            _ => {}
        }
    }
}

fn join(at: &str, name: &str) -> String {
    if at.is_empty() {
        name.to_owned()
    } else {
        format!("{at}.{name}")
    }
}

fn describe(field: &FieldMeta, declared: &mut Vec<String>) {
    if field.presence != Presence::Always {
        declared.push("optional".to_owned());
    }
    if field.ty.nullable {
        declared.push("or null".to_owned());
    }
    if field.rust != field.name {
        declared.push(format!("in Rust `{}`", field.rust));
    }
    declared.extend(target(field).map(|target| format!("refers to {target}")));
    declared.extend(field.rules.iter().filter_map(rule));
    declared.extend(field.copy_of.as_ref().map(copy));
    if let Some(summary) = &field.summary {
        let of = dotted(summary.relation, summary.path);
        declared.push(format!("{} of `{of}`", summary.kind));
    }
    if field.often {
        declared.push("changes often".to_owned());
    }
    if let Some(reason) = field.unbounded {
        declared.push(format!("unbounded: {reason}"));
    }
    if !field.aliases.is_empty() {
        let names = field.aliases.iter().map(|name| format!("`{name}`"));
        let names: Vec<_> = names.collect();
        declared.push(format!("read as {}, too", names.join(", ")));
    }
}

/// The model that a field refers to.
fn target(field: &FieldMeta) -> Option<&'static str> {
    fn of_type(ty: &TypeMeta) -> Option<&'static str> {
        match &ty.shape {
            Shape::Reference { to, .. } => Some(to().name),
            Shape::Array { element, .. } => of_type(element),
            Shape::Map(values) => of_type(values),
            _ => None,
        }
    }
    let by_key = field.refers_to.as_ref();
    by_key
        .map(|reference| (reference.target)().name)
        .or_else(|| of_type(&field.ty))
}

fn copy(copy: &CopyMeta) -> String {
    let path = dotted(copy.reference, copy.path);
    let how = match (copy.once, copy.refresh) {
        (true, _) => ", once".to_owned(),
        (false, Some(refresh)) => format!(", refreshed after {} s", refresh.older_than),
        (false, None) => String::new(),
    };
    format!("copy of `{path}`{how}")
}

fn dotted(first: &str, rest: &[&str]) -> String {
    rest.iter()
        .fold(first.to_owned(), |path, name| join(&path, name))
}

/// A rule in the words of its attribute.
fn rule(rule: &Rule) -> Option<String> {
    let between = |word: &str, min: Option<String>, max: Option<String>| {
        let min = min.map(|min| format!("min = {min}"));
        let max = max.map(|max| format!("max = {max}"));
        let both: Vec<_> = min.into_iter().chain(max).collect();
        format!("{word}({})", both.join(", "))
    };
    let text = |number: Option<u32>| number.map(|number| number.to_string());
    Some(match rule {
        Rule::Range { min, max } => between("range", min.map(limit), max.map(limit)),
        Rule::Length { min, max } => between("length", text(*min), text(*max)),
        Rule::Items { min, max } => between("items", text(*min), text(*max)),
        Rule::Pattern(pattern) => format!("pattern({pattern:?})"),
        Rule::OneOf(values) => format!("one_of({})", values.join(", ")),
        Rule::UniqueItems => "unique_items".to_owned(),
        Rule::Bytes { max } => format!("bytes(max = {max})"),
        Rule::Keys(_) | Rule::Schema(_) => return None,
    })
}

fn limit(bound: Bound) -> String {
    let number = match bound.value {
        Limit::Int(number) => number.to_string(),
        Limit::Double(number) => number.to_string(),
    };
    if bound.exclusive {
        format!("{number}, excluded")
    } else {
        number
    }
}
