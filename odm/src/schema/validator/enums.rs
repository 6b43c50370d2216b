//! The schemas of enums, in serde's four taggings.

use bson::{Bson, Document, doc};

use super::members::Members;
use super::rules::Rules;
use super::value::{Writer, strings};
use crate::error::Result;
use crate::model::field::{EmbeddedMeta, EnumMeta, Tagging, VariantContent, VariantMeta};
use crate::model::{BsonType, FieldMeta, Shape, TypeMeta};

impl Writer {
    /// The schema of an enum that is a value of its own.
    pub(super) fn enumeration(
        &mut self,
        meta: &'static EmbeddedMeta,
        variants: &EnumMeta,
        deny_undeclared: bool,
        is_root: bool,
    ) -> Result<Document> {
        let closed = deny_undeclared || meta.deny_undeclared;
        let mut branches = Vec::new();
        let units = units(variants);
        if !units.is_empty() {
            branches.push(Bson::Document(unit(variants.tagging, &units, closed)));
        }
        for variant in variants.variants {
            if matches!(variant.content, VariantContent::Unit) {
                continue;
            }
            branches.push(
                match variants.tagging {
                    Tagging::Untagged => self.content(&variant.content, closed)?,
                    tagging => {
                        let mut members = Members::new(closed || tagging == Tagging::External);
                        if is_root {
                            members.keep_id();
                        }
                        self.tagged(tagging, variant, &mut members)?;
                        members.into_object()
                    }
                }
                .into(),
            );
        }
        Ok(match (branches.pop(), branches.is_empty()) {
            (Some(Bson::Document(only)), true) => only,
            (Some(last), _) => {
                branches.push(last);
                doc! {"anyOf": branches}
            }
            (None, _) => Document::new(),
        })
    }

    /// Adds a flattened enum, whose fields are stored at the level of its parent.
    pub(super) fn flatten_enum(
        &mut self,
        variants: &EnumMeta,
        members: &mut Members,
        optional: bool,
    ) -> Result<()> {
        let mut branches = Vec::new();
        let mut known = Vec::new();
        for variant in variants.variants {
            let mut own = Members::new(false);
            match variants.tagging {
                Tagging::Untagged => self.flatten_content(&variant.content, &mut own)?,
                tagging => self.tagged(tagging, variant, &mut own)?,
            }
            known.extend(own.names());
            if own.take_others().is_some() {
                members.open(Document::new());
            }
            branches.push(Bson::Document(own.into_keywords()));
        }
        // serde writes nothing for a flattened `None`, and a branch for it would allow everything.
        if optional {
            branches.clear();
        }
        members.add_alternatives(branches, known);
        Ok(())
    }

    /// Adds the fields that a tagged variant writes.
    fn tagged(
        &mut self,
        tagging: Tagging,
        variant: &VariantMeta,
        members: &mut Members,
    ) -> Result<()> {
        let name = strings(std::iter::once(variant.name));
        match tagging {
            Tagging::External => {
                let content = self.content(&variant.content, false)?;
                members.add(variant.name, content, true);
            }
            Tagging::Internal { tag } => {
                members.add(tag, name, true);
                self.flatten_content(&variant.content, members)?;
            }
            Tagging::Adjacent { tag, content } => {
                members.add(tag, name, true);
                if !matches!(variant.content, VariantContent::Unit) {
                    let value = self.content(&variant.content, false)?;
                    members.add(content, value, true);
                }
            }
            Tagging::Untagged => self.flatten_content(&variant.content, members)?,
        }
        Ok(())
    }

    /// The schema of a variant's content.
    fn content(&mut self, content: &VariantContent, closed: bool) -> Result<Document> {
        match content {
            VariantContent::Unit => Ok(doc! {"bsonType": "null"}),
            VariantContent::Newtype(ty) => self.value(ty, Rules::new(&[])),
            VariantContent::Tuple(types) => self.tuple(types),
            VariantContent::Struct(fields) => self.object(fields, closed),
        }
    }

    fn object(&mut self, fields: &'static [FieldMeta], closed: bool) -> Result<Document> {
        let mut members = Members::new(closed);
        self.fields(fields, &mut members, false)?;
        Ok(members.into_object())
    }

    fn tuple(&mut self, types: &[TypeMeta]) -> Result<Document> {
        let items = self.items(types, Rules::new(&[]))?;
        let length = i64::try_from(items.len()).unwrap_or(i64::MAX);
        let length = i32::try_from(length).map_or(Bson::Int64(length), Bson::Int32);
        Ok(doc! {
            "bsonType": "array",
            "items": items,
            "additionalItems": false,
            "minItems": length,
        })
    }

    /// Adds the fields that the content of a variant writes at the level of the enum.
    fn flatten_content(&mut self, content: &VariantContent, members: &mut Members) -> Result<()> {
        match content {
            VariantContent::Unit => Ok(()),
            VariantContent::Newtype(ty) => match ty.shape {
                Shape::Scalar([BsonType::Null]) => Ok(()),
                Shape::Reference {
                    id:
                        TypeMeta {
                            shape: Shape::Scalar(_) | Shape::OneOf(_),
                            ..
                        },
                    ..
                }
                | Shape::Scalar(_)
                | Shape::OneOf(_)
                | Shape::Array { .. }
                | Shape::Tuple(_) => Err(self.refuse(
                    "a variant that shares a level with other fields holds a struct, an enum with data, or a map; name \
                     its value: `Variant { value: … }`",
                )),
                _ => self.flatten(ty, members, false),
            },
            VariantContent::Struct(fields) => self.fields(fields, members, false),
            VariantContent::Tuple(_) => Err(self.refuse(
                "a tuple variant can't share a level with other fields; give its values names",
            )),
        }
    }
}

/// The stored names of the variants that hold nothing.
fn units(variants: &EnumMeta) -> Vec<&'static str> {
    let units = variants.variants.iter();
    units
        .filter(|variant| matches!(variant.content, VariantContent::Unit))
        .map(|variant| variant.name)
        .collect()
}

/// The schema of all variants that hold nothing.
fn unit(tagging: Tagging, names: &[&'static str], closed: bool) -> Document {
    match tagging {
        Tagging::External => strings(names.iter().copied()),
        Tagging::Untagged => doc! {"bsonType": "null"},
        Tagging::Internal { tag } | Tagging::Adjacent { tag, .. } => {
            let mut members = Members::new(closed);
            members.add(tag, strings(names.iter().copied()), true);
            members.into_object()
        }
    }
}
