//! What a model declares, as lines of a lock file.

mod options;

use bson::{Bson, Document, doc};

use super::text::{child, json};
use super::{Fact, LockedField, LockedModel, Presence};
use crate::error::{Error, Result};
use crate::model::field::{self, EmbeddedMeta, EnumMeta, FieldMeta, Tagging, VariantContent};
use crate::model::{
    CopyMeta, CounterpartKind, Keys, ModelMeta, ProjectedField, RelationMeta, Rule, Shape,
    SummaryMeta, TypeMeta,
};
use crate::schema::indexes;
use crate::schema::indexes::i64_to_bson;
use crate::schema::validator::{self, declaration, rules::Rules};
use crate::types::json::text::to_relaxed_text;

/// How many structs and enums the lines of one model list the fields of.
const MANY: usize = 500;

/// The declared version of a model's schema, or 1.
fn version_of(model: &ModelMeta) -> u32 {
    let declared = model.schema.map(|schema| schema.version);
    declared.map_or(1, i32::unsigned_abs)
}

/// The lines of a model.
pub(super) fn of(model: &'static ModelMeta) -> Result<LockedModel> {
    let named = |error: Error| error.with_model(model.name);
    // What sync would refuse has no shape to lock.
    validator::validator(model)?;
    let mut walk = Walk {
        lines: LockedModel {
            name: model.name.to_owned(),
            version: version_of(model),
            ..LockedModel::default()
        },
        open: Vec::new(),
        written: 0,
    };
    walk.members((model.embedded)(), "").map_err(named)?;
    let mut lines = walk.lines;
    if model.deny_undeclared || (model.embedded)().deny_undeclared {
        lines.add(Fact::Option, "deny_undeclared", "true".to_owned());
    }
    options::add(model, &mut lines).map_err(named)?;
    for mut spec in indexes(model)? {
        let Some(Bson::String(name)) = spec.remove("name") else {
            continue;
        };
        lines.document(Fact::Index, &name, &spec);
    }
    add_declared(model, "", &mut lines).map_err(named)?;
    for variant in model.variants() {
        let at = format!("{}.", variant.name);
        options::add_maintained(variant, &at, &mut lines);
        add_declared(variant, &at, &mut lines).map_err(named)?;
    }
    for tree in model.trees {
        let name = if tree.name.is_empty() {
            "tree"
        } else {
            tree.name
        };
        lines.document(Fact::Tree, name, &options::tree(tree));
    }
    Ok(lines)
}

/// Adds rules, keywords and relations; those of a variant have names that start with `at`.
fn add_declared(model: &'static ModelMeta, at: &str, lines: &mut LockedModel) -> Result<()> {
    for rule in model.rules {
        let name = format!("{at}{}", rule.name);
        lines.document(Fact::Rule, &name, &(rule.filter)()?);
    }
    for keywords in model.keywords {
        let value = doc! {
            "from": keywords.sources.to_vec(),
            "language": keywords.language,
            "max": i64_to_bson(keywords.max.into()),
        };
        lines.document(Fact::Keywords, &format!("{at}{}", keywords.field), &value);
    }
    for relation in model.declared_relations {
        let (name, value) = match relation {
            RelationMeta::Inverse(meta) => (meta.name, options::inverse(meta)),
            RelationMeta::Recent(meta) => (meta.field, options::recent(meta)),
            // The lines of the fields have the references.
            RelationMeta::Reference(_) => continue,
        };
        lines.document(Fact::Relation, &format!("{at}{name}"), &value);
    }
    Ok(())
}

impl LockedModel {
    fn add(&mut self, fact: Fact, name: &str, value: String) {
        self.facts.insert((fact, name.to_owned()), value);
    }

    fn document(&mut self, fact: Fact, name: &str, value: &Document) {
        self.add(fact, name, to_relaxed_text(value));
    }
}

impl LockedField {
    fn of_types<'t>(types: impl IntoIterator<Item = &'t str>) -> Self {
        Self {
            types: types.into_iter().map(str::to_owned).collect(),
            ..Self::default()
        }
    }

    /// Adds a keyword with a value of BSON.
    fn keyword(&mut self, keyword: &str, value: Bson) {
        let text = to_relaxed_text(&doc! {"": value});
        let value = text
            .strip_prefix("{\"\":")
            .and_then(|text| text.strip_suffix('}'));
        let value = value.unwrap_or(&text).to_owned();
        self.facts.insert(keyword.to_owned(), value);
    }

    fn word(&mut self, keyword: &str, value: &str) {
        self.facts.insert(keyword.to_owned(), json(value));
    }

    fn keywords(&mut self, keywords: Document) {
        for (keyword, value) in keywords {
            let value = match value {
                Bson::Array(names) if keyword == "enum" => sorted(names),
                value => value,
            };
            self.keyword(&keyword, value);
        }
    }
}

/// Names in the order that the file has them in, whatever the order of their declaration.
fn sorted(names: Vec<Bson>) -> Bson {
    let mut names = names;
    names.sort_by_cached_key(ToString::to_string);
    names.dedup();
    Bson::Array(names)
}

fn names(names: &[&str]) -> Bson {
    sorted(names.iter().map(|name| Bson::from(*name)).collect())
}

/// Collects the lines of the fields.
struct Walk {
    lines: LockedModel,
    /// The structs and enums around the current value, with their paths.
    open: Vec<(&'static EmbeddedMeta, String)>,
    written: usize,
}

impl Walk {
    fn add(&mut self, at: &str, line: LockedField) {
        self.lines.fields.insert(at.to_owned(), line);
    }

    /// Adds the fields of a struct or enum at the level of `at`.
    fn members(&mut self, meta: &'static EmbeddedMeta, at: &str) -> Result<()> {
        self.open.push((meta, at.to_owned()));
        self.written += 1;
        self.fields(meta.fields, at)?;
        if let Some(variants) = &meta.variants {
            self.variants(variants, at)?;
        }
        self.open.pop();
        Ok(())
    }

    fn fields(&mut self, fields: &'static [FieldMeta], at: &str) -> Result<()> {
        for field in fields {
            if field.flatten {
                self.flatten(&field.ty, at)?;
                continue;
            }
            let path = child(at, field.name);
            let line = LockedField {
                presence: Some(match field.presence {
                    field::Presence::Always => Presence::Required,
                    field::Presence::Defaulted => Presence::Default,
                    field::Presence::Sometimes => Presence::Optional,
                }),
                ..declared(field)
            };
            self.value(&path, &field.ty, Rules::new(field.rules), line)?;
        }
        Ok(())
    }

    /// Adds the line of a value, and those of what is inside it; `line` has what else is known about it.
    fn value(
        &mut self,
        at: &str,
        ty: &TypeMeta,
        rules: Rules<'_>,
        mut line: LockedField,
    ) -> Result<()> {
        if ty.nullable && !matches!(ty.shape, Shape::Any) {
            line.types.insert("null".to_owned());
        }
        let mut add = |ty: &str| line.types.insert(ty.to_owned());
        match ty.shape {
            Shape::Any => {
                add("any");
                line.keywords(keywords(at, rules, ty, None)?);
            }
            Shape::Scalar(types) => {
                for ty in types {
                    add(ty.alias());
                }
                if types.is_empty() {
                    add("any");
                }
                line.keywords(keywords(at, rules, ty, None)?);
            }
            Shape::OneOf(all) => {
                add("string");
                line.keyword("enum", names(all));
            }
            Shape::Array {
                element,
                len,
                unique,
            } => {
                add("array");
                line.keywords(keywords(at, rules.of_the_array(), ty, len)?);
                if unique {
                    line.keyword("uniqueItems", true.into());
                }
                let inside = format!("{at}[]");
                self.value(
                    &inside,
                    element,
                    rules.of_elements(),
                    LockedField::default(),
                )?;
            }
            Shape::Tuple(types) => {
                add("array");
                line.keywords(keywords(at, rules.of_the_array(), ty, Some(types.len()))?);
                self.tuple(at, types, rules)?;
            }
            Shape::Map(values) => {
                add("object");
                let entries = validator::rules::entries(rules.of_the_array());
                line.keywords(entries.map_err(|message| refuse(at, message))?);
                let keys = ty.all_rules().find_map(|rule| match rule {
                    Rule::Keys(keys) => Some(*keys),
                    _ => None,
                });
                match keys {
                    Some(Keys::Names(all)) => line.keyword("keys", names(all)),
                    Some(Keys::Pattern(pattern)) => line.word("keyPattern", &pattern()),
                    Some(Keys::Any) | None => {}
                }
                let inside = format!("{at}{{}}");
                self.value(&inside, values, rules.of_elements(), LockedField::default())?;
            }
            Shape::Embedded(meta) => return self.embedded(at, meta(), line),
            Shape::Reference { to, id } => {
                line.word("ref", to().collection);
                return self.value(at, id, rules, line);
            }
        }
        self.add(at, line);
        Ok(())
    }

    fn embedded(
        &mut self,
        at: &str,
        meta: &'static EmbeddedMeta,
        mut line: LockedField,
    ) -> Result<()> {
        line.types.insert("object".to_owned());
        if let Some((_, around)) = self.open.iter().find(|(open, _)| is_same(open, meta)) {
            // A type that contains itself: the lines of the outer one hold for this, too.
            line.word("like", if around.is_empty() { "." } else { around });
            self.add(at, line);
            return Ok(());
        }
        if self.written >= MANY {
            line.keyword("listed", false.into());
            self.add(at, line);
            return Ok(());
        }
        if meta.deny_undeclared {
            line.keyword("closed", true.into());
        }
        if let Some(variants) = &meta.variants {
            let units = variants.variants.iter();
            let units = units.filter(|one| matches!(one.content, VariantContent::Unit));
            let units: Vec<_> = units.map(|one| one.name).collect();
            let mut all = variants.variants.iter();
            match variants.tagging {
                Tagging::External => {
                    if units.len() == variants.variants.len() {
                        line.types.remove("object");
                    }
                    if !units.is_empty() {
                        line.types.insert("string".to_owned());
                        line.keyword("enum", names(&units));
                    }
                }
                Tagging::Untagged => {
                    // serde takes the first variant that it can read.
                    line.types = ["any".to_owned()].into();
                    let order = all.by_ref().map(|one| Bson::from(one.name)).collect();
                    line.keyword("order", Bson::Array(order));
                }
                Tagging::Internal { .. } | Tagging::Adjacent { .. } => {}
            }
        }
        self.add(at, line);
        self.members(meta, at)
    }

    /// Adds the variants with data of an enum.
    fn variants(&mut self, meta: &'static EnumMeta, at: &str) -> Result<()> {
        for variant in meta.variants {
            let tagging = match meta.tagging {
                Tagging::External => "external".to_owned(),
                Tagging::Internal { tag } => format!("internal {tag}"),
                Tagging::Adjacent { tag, content } => format!("adjacent {tag} {content}"),
                Tagging::Untagged => "untagged".to_owned(),
            };
            let mut line = LockedField::default();
            line.word("tagging", &tagging);
            let inside = format!("{at}<{}>", super::text::name(variant.name, ""));
            match &variant.content {
                VariantContent::Unit => {
                    if matches!(meta.tagging, Tagging::Untagged) {
                        line.types.insert("null".to_owned());
                        self.add(&inside, line);
                    }
                }
                VariantContent::Newtype(ty) => self.value(&inside, ty, Rules::new(&[]), line)?,
                VariantContent::Tuple(types) => {
                    line.types.insert("array".to_owned());
                    self.add(&inside, line);
                    self.tuple(&inside, types, Rules::new(&[]))?;
                }
                VariantContent::Struct(fields) => {
                    line.types.insert("object".to_owned());
                    self.add(&inside, line);
                    self.fields(fields, &inside)?;
                }
            }
        }
        Ok(())
    }

    fn tuple(&mut self, at: &str, types: &'static [TypeMeta], rules: Rules<'_>) -> Result<()> {
        for (position, ty) in types.iter().enumerate() {
            let inside = format!("{at}[{position}]");
            self.value(&inside, ty, rules.of_elements(), LockedField::default())?;
        }
        Ok(())
    }

    /// Adds what a flattened value stores at the level of its parent.
    fn flatten(&mut self, ty: &TypeMeta, at: &str) -> Result<()> {
        match ty.shape {
            Shape::Embedded(meta) => {
                let meta = meta();
                if self.written >= MANY || self.open.iter().any(|(open, _)| is_same(open, meta)) {
                    self.add(&format!("{at}{{}}"), LockedField::of_types(["any"]));
                    return Ok(());
                }
                if meta.deny_undeclared {
                    match self.lines.fields.get_mut(at) {
                        Some(parent) => parent.keyword("closed", true.into()),
                        None => self
                            .lines
                            .add(Fact::Option, "deny_undeclared", "true".to_owned()),
                    }
                }
                self.members(meta, at)
            }
            Shape::Map(values) => {
                let inside = format!("{at}{{}}");
                self.value(&inside, values, Rules::new(&[]), LockedField::default())
            }
            Shape::Reference { id, .. } => self.flatten(id, at),
            _ => {
                self.add(&format!("{at}{{}}"), LockedField::of_types(["any"]));
                Ok(())
            }
        }
    }
}

fn is_same(one: &'static EmbeddedMeta, other: &'static EmbeddedMeta) -> bool {
    std::ptr::eq(one.fields, other.fields) && one.name == other.name
}

fn refuse(at: &str, message: String) -> Error {
    declaration(message).with_path(at)
}

fn keywords(at: &str, rules: Rules<'_>, ty: &TypeMeta, len: Option<usize>) -> Result<Document> {
    validator::rules::apply(Document::new(), rules, ty.all_rules(), len)
        .map_err(|message| refuse(at, message))
}

/// What a field declares besides its type.
fn declared(field: &FieldMeta) -> LockedField {
    let mut line = LockedField::default();
    if !field.aliases.is_empty() {
        line.keyword("alias", names(field.aliases));
    }
    if let Some(key) = &field.refers_to {
        line.word(
            "refers_to",
            &format!("{}.{}", (key.target)().collection, key.by),
        );
    }
    if let Some(counterpart) = &field.counterpart {
        let kind = match counterpart.kind {
            CounterpartKind::Rest => "rest_of",
            CounterpartKind::Recent => "recent_in",
            CounterpartKind::TwoWay => "two_way",
        };
        line.word(kind, counterpart.name);
    }
    if let Some(copy) = &field.copy_of {
        line.word("copy_of", &self::copy(copy));
    }
    if let Some(SummaryMeta {
        kind,
        relation,
        path,
    }) = &field.summary
    {
        let path: String = path.iter().flat_map(|name| [".", name]).collect();
        line.word("summary", &format!("{kind} of {relation}{path}"));
    }
    line
}

fn copy(copy: &CopyMeta) -> String {
    let mut text = copy.reference.to_owned();
    for name in copy.path {
        text.push('.');
        text.push_str(name);
    }
    if !copy.projected.is_empty() {
        text = format!("{text}.{{{}}}", projected(copy.projected).join(", "));
    }
    if copy.once {
        text.push_str(", once");
    }
    if let Some(refresh) = copy.refresh {
        text = format!(
            "{text}, older than {} s at {}",
            refresh.older_than, refresh.at
        );
    }
    text
}

/// The names of projected fields, sorted, with those inside them.
fn projected(fields: &[ProjectedField]) -> Vec<String> {
    let mut names = Vec::new();
    for field in fields {
        if field.fields.is_empty() {
            names.push(field.name.to_owned());
        }
        let inside = projected(field.fields).into_iter();
        names.extend(inside.map(|inside| format!("{}.{inside}", field.name)));
    }
    names.sort_unstable();
    names
}
