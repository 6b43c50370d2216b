//! The schema of one value.

use bson::{Bson, Document, doc};

use super::members::Members;
use super::rules::{self, Rules};
use super::{DEEPEST, declaration};
use crate::error::{Error, Result};
use crate::model::{EmbeddedMeta, FieldMeta, Presence, Shape, TypeMeta};

/// Writes schemas. It tracks its position, for messages and to stop at types that contain themselves.
pub(super) struct Writer {
    path: Vec<&'static str>,
    open: Vec<&'static EmbeddedMeta>,
    unroll: usize,
    written: usize,
}

/// How many subdocuments a schema may describe before types that contain themselves are written out fewer
/// times.
const MANY: usize = 500;

impl Writer {
    /// Writes a type at most `unroll` times within itself.
    pub(super) fn new(unroll: usize) -> Self {
        Self {
            path: Vec::new(),
            open: Vec::new(),
            unroll,
            written: 0,
        }
    }

    /// Whether the schema is too large, and a smaller `unroll` could shorten it.
    pub(super) fn is_too_large(&self) -> bool {
        self.unroll > 0 && self.written > MANY
    }

    /// The schema of whole documents.
    pub(super) fn root(
        &mut self,
        meta: &'static EmbeddedMeta,
        deny_undeclared: bool,
    ) -> Result<Document> {
        self.open.push(meta);
        let schema = if let Some(variants) = &meta.variants {
            self.enumeration(meta, variants, deny_undeclared, true)
        } else {
            let mut members = Members::new(deny_undeclared || meta.deny_undeclared);
            members.keep_id();
            self.fields(meta.fields, &mut members, false)?;
            Ok(members.into_object())
        };
        self.open.pop();
        schema
    }

    /// The schema of a value of type `ty` that meets `rules`.
    pub(super) fn value(&mut self, ty: &TypeMeta, rules: Rules<'_>) -> Result<Document> {
        let schema = match ty.shape {
            Shape::Any => self.apply(Document::new(), rules.all(), ty, None)?,
            Shape::Scalar(types) => {
                rules::check(rules, types).map_err(|message| self.refuse(message))?;
                let aliases: Vec<Bson> = types.iter().map(|ty| ty.alias().into()).collect();
                self.apply(bson_types(aliases), rules.all(), ty, None)?
            }
            Shape::OneOf(names) => {
                if !rules.is_empty() {
                    return Err(self
                        .refuse("an enum's strings are bounded by its variants; remove the rule"));
                }
                strings(names.iter().copied())
            }
            Shape::Array {
                element,
                len,
                unique,
            } => {
                let items = self.value(element, rules.of_elements())?;
                let mut schema = doc! {"bsonType": "array"};
                if !items.is_empty() {
                    schema.insert("items", items);
                }
                if unique {
                    schema.insert("uniqueItems", true);
                }
                self.apply(schema, rules.of_the_array(), ty, len)?
            }
            Shape::Tuple(types) => {
                let schema = doc! {"bsonType": "array", "items": self.items(types, rules)?};
                self.apply(schema, rules.of_the_array(), ty, Some(types.len()))?
            }
            Shape::Map(values) => {
                let entries =
                    rules::entries(rules.of_the_array()).map_err(|message| self.refuse(message))?;
                let values = self.value(values, rules.of_elements())?;
                let mut schema = doc! {"bsonType": "object"};
                schema.extend(rules::map(ty.all_rules(), values));
                schema.extend(entries);
                schema
            }
            Shape::Embedded(meta) => {
                if !rules.is_empty() {
                    return Err(self.refuse(
                        "a rule bounds a value, and this is a subdocument; put it on the fields inside",
                    ));
                }
                self.embedded(meta())?
            }
            Shape::Reference { id, .. } => self.value(id, rules)?,
        };
        Ok(if ty.nullable { or_null(schema) } else { schema })
    }

    /// The schema of a subdocument.
    fn embedded(&mut self, meta: &'static EmbeddedMeta) -> Result<Document> {
        if self.is_deep_in(meta) {
            return Ok(if meta.variants.is_some() {
                Document::new()
            } else {
                doc! {"bsonType": "object"}
            });
        }
        self.open.push(meta);
        self.written += 1;
        let schema = if let Some(variants) = &meta.variants {
            self.enumeration(meta, variants, false, false)?
        } else {
            let mut members = Members::new(meta.deny_undeclared);
            self.fields(meta.fields, &mut members, false)?;
            members.into_object()
        };
        self.open.pop();
        Ok(schema)
    }

    /// Whether to end the schema at `meta`, because it nests too deep or has grown too large.
    pub(super) fn is_deep_in(&self, meta: &'static EmbeddedMeta) -> bool {
        let same = |open: &&&'static EmbeddedMeta| {
            std::ptr::eq(open.fields, meta.fields) && open.name == meta.name
        };
        self.is_too_large()
            || self.open.len() >= DEEPEST
            || self.open.iter().filter(same).count() > self.unroll
    }

    /// Adds the fields to `members`; with `optional`, none of them is required.
    pub(super) fn fields(
        &mut self,
        fields: &'static [FieldMeta],
        members: &mut Members,
        optional: bool,
    ) -> Result<()> {
        for field in fields {
            if field.flatten {
                self.path.push(field.rust);
                // serde applies no default to a flattened struct: its own fields are read.
                let optional = optional || field.presence == Presence::Sometimes;
                self.flatten(&field.ty, members, optional)?;
            } else {
                self.path.push(field.name);
                let schema = self.value(&field.ty, Rules::new(field.rules))?;
                if !members.add(field.name, schema, !optional && !may_be_missing(field)) {
                    return Err(
                        self.refuse("two fields are stored under this name; rename one of them")
                    );
                }
            }
            self.path.pop();
        }
        Ok(())
    }

    /// Adds the fields that a flattened value of type `ty` writes at the level of its parent.
    pub(super) fn flatten(
        &mut self,
        ty: &TypeMeta,
        members: &mut Members,
        optional: bool,
    ) -> Result<()> {
        // A flattened `None` writes nothing.
        let optional = optional || ty.nullable;
        match ty.shape {
            Shape::Any => members.open(Document::new()),
            Shape::Map(values) => {
                let values = self.value(values, Rules::new(&[]))?;
                members.open(values);
            }
            Shape::Embedded(meta) => {
                let meta = meta();
                if self.is_deep_in(meta) {
                    members.open(Document::new());
                    return Ok(());
                }
                self.open.push(meta);
                if let Some(variants) = &meta.variants {
                    self.flatten_enum(variants, members, optional)?;
                } else {
                    self.fields(meta.fields, members, optional)?;
                    if meta.deny_undeclared {
                        members.close();
                    }
                }
                self.open.pop();
            }
            Shape::Reference { id, .. } => self.flatten(id, members, optional)?,
            Shape::Scalar(_) | Shape::OneOf(_) | Shape::Array { .. } | Shape::Tuple(_) => {
                return Err(self.refuse(
                    "only structs, enums and maps can be flattened; remove `#[serde(flatten)]`",
                ));
            }
        }
        Ok(())
    }

    /// The schemas of the values of a tuple. A rule of elements bounds those that it applies to.
    pub(super) fn items(&mut self, types: &[TypeMeta], rules: Rules<'_>) -> Result<Vec<Bson>> {
        let rules = rules.of_elements();
        let mut applied = rules.is_empty();
        let mut refused = None;
        let mut items = Vec::with_capacity(types.len());
        for ty in types {
            let item = match self.value(ty, rules) {
                Ok(item) => {
                    applied = true;
                    item
                }
                Err(error) => {
                    refused = Some(error);
                    self.value(ty, Rules::new(&[]))?
                }
            };
            items.push(Bson::Document(item));
        }
        match refused {
            Some(error) if !applied => Err(error),
            _ => Ok(items),
        }
    }

    fn apply(
        &self,
        schema: Document,
        rules: Rules<'_>,
        ty: &TypeMeta,
        len: Option<usize>,
    ) -> Result<Document> {
        rules::apply(schema, rules, ty.all_rules(), len).map_err(|message| self.refuse(message))
    }

    pub(super) fn refuse(&self, message: impl Into<String>) -> Error {
        declaration(message).with_path(self.path.join("."))
    }
}

/// Whether a document without the field can be read.
fn may_be_missing(field: &FieldMeta) -> bool {
    field.presence != Presence::Always
}

fn bson_types(mut aliases: Vec<Bson>) -> Document {
    match (aliases.pop(), aliases.is_empty()) {
        (Some(only), true) => doc! {"bsonType": only},
        (Some(last), false) => {
            aliases.push(last);
            doc! {"bsonType": aliases}
        }
        (None, _) => Document::new(),
    }
}

/// The schema of one of these strings.
pub(super) fn strings(names: impl Iterator<Item = &'static str>) -> Document {
    doc! {"bsonType": "string", "enum": names.map(Bson::from).collect::<Vec<_>>()}
}

/// The schema of null and of all that `schema` allows.
fn or_null(mut schema: Document) -> Document {
    if !schema.contains_key("bsonType")
        && let Ok(branches) = schema.get_array_mut("anyOf")
    {
        branches.push(Bson::Document(doc! {"bsonType": "null"}));
        return schema;
    }
    // The type's own alternatives hold for null, too.
    let types = match schema.get("bsonType") {
        Some(Bson::Array(types)) => types.clone(),
        Some(one) => vec![one.clone()],
        None => return schema,
    };
    let null = Bson::from("null");
    if !types.contains(&null) {
        schema.insert(
            "bsonType",
            types.into_iter().chain([null]).collect::<Vec<_>>(),
        );
    }
    if let Ok(values) = schema.get_array_mut("enum")
        && !values.contains(&Bson::Null)
    {
        values.push(Bson::Null);
    }
    schema
}
