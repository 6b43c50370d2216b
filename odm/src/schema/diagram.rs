//! An entity diagram of models, as Mermaid.

use std::fmt::Write as _;

use bson::Bson;

use super::indexes::indexes;
use crate::error::Result;
use crate::model::field::VariantContent;
use crate::model::{
    Arity, EmbeddedMeta, FieldMeta, InverseKind, InverseMeta, ModelMeta, ReferenceMeta,
    RelationMeta, Rule, Shape, TypeMeta,
};

/// Draws the models and how they relate, as the text of a [Mermaid entity diagram](https://mermaid.js.org).
///
/// A box is a collection or a struct that is embedded. It lists the stored fields with their BSON types: `PK` is the
/// `_id`, `FK` a reference, `UK` a field with a unique index of its own; a comment names the indexes that start with the
/// field. A solid line leads from a document to what is embedded in it, a dotted line from a document to those that refer
/// to it, with the names of the relation on both sides. The ends show how many documents there are: `||` one, `o|` at
/// most one, `o{` any number.
///
/// ```
/// use odm::prelude::*;
///
/// #[derive(Serialize, Deserialize, Document)]
/// #[odm(collection = "publishers", has_many(books: Book, by = publisher))]
/// struct Publisher {
///     #[serde(rename = "_id")]
///     id: String,
///     founded: i32,
/// }
///
/// #[derive(Serialize, Deserialize, Document)]
/// #[odm(collection = "books")]
/// struct Book {
///     #[serde(rename = "_id")]
///     id: i64,
///     #[serde(rename = "publisher_id")]
///     #[odm(index)]
///     publisher: Ref<Publisher>,
/// }
///
/// assert_eq!(
///     odm::schema::diagram(models![Publisher, Book])?,
///     r#"erDiagram
///     Publisher["publishers"] {
///         string _id PK
///         int founded
///     }
///     Book["books"] {
///         long _id PK
///         string publisher_id FK "index publisher_id_1"
///     }
///     Publisher ||..o{ Book : "books / publisher"
/// "#,
/// );
/// # Ok::<(), odm::Error>(())
/// ```
///
/// # Errors
///
/// The errors of [`indexes`](super::indexes()): an index that MongoDB would refuse.
pub fn diagram(models: impl IntoIterator<Item = &'static ModelMeta>) -> Result<String> {
    let mut diagram = Diagram::default();
    for model in models {
        diagram.model(model)?;
    }
    diagram.relations();
    Ok(diagram.text())
}

#[derive(Default)]
struct Diagram {
    models: Vec<&'static ModelMeta>,
    entities: Vec<Entity>,
    lines: Vec<String>,
    /// The embedded structs that were drawn.
    seen: Vec<&'static EmbeddedMeta>,
}

/// A box.
struct Entity {
    name: String,
    /// The name of the collection; none for an embedded struct.
    collection: Option<&'static str>,
    attributes: Vec<Attribute>,
}

/// A line of a box.
struct Attribute {
    ty: String,
    name: String,
    key: Option<&'static str>,
    comments: Vec<String>,
}

/// Where a field is drawn: the box, and what else there is to say.
struct Place<'a> {
    entity: &'a str,
    /// The model whose documents begin here.
    model: Option<&'static ModelMeta>,
    /// When the field is stored: in one variant of an enum.
    variant: Option<&'static str>,
}

impl Diagram {
    fn model(&mut self, model: &'static ModelMeta) -> Result<()> {
        if self.models.iter().any(|seen| std::ptr::eq(*seen, model)) {
            return Ok(());
        }
        self.models.push(model);
        let position = self.entities.len();
        self.entities.push(Entity {
            name: identifier(model.name),
            collection: Some(model.collection),
            attributes: Vec::new(),
        });
        let mut attributes = self.fields((model.embedded)(), model.name, Some(model));
        for spec in indexes(model)? {
            note_index(&mut attributes, &spec);
        }
        if let Some(entity) = self.entities.get_mut(position) {
            entity.attributes = attributes;
        }
        Ok(())
    }

    /// The attributes of a struct or an enum.
    fn fields(
        &mut self,
        meta: &'static EmbeddedMeta,
        entity: &str,
        model: Option<&'static ModelMeta>,
    ) -> Vec<Attribute> {
        let mut place = Place {
            entity,
            model,
            variant: None,
        };
        let mut attributes = Vec::new();
        self.add_fields(meta.fields, &place, &mut attributes);
        for variant in meta.variants.iter().flat_map(|it| it.variants) {
            place.variant = Some(variant.name);
            match &variant.content {
                VariantContent::Unit => {}
                VariantContent::Newtype(ty) => {
                    attributes.push(Self::attribute(ty, variant.name, &place));
                }
                VariantContent::Tuple(_) => attributes.push(Attribute {
                    ty: "array".to_owned(),
                    name: variant.name.to_owned(),
                    key: None,
                    comments: Vec::new(),
                }),
                VariantContent::Struct(fields) => self.add_fields(fields, &place, &mut attributes),
            }
        }
        attributes
    }

    fn add_fields(
        &mut self,
        fields: &'static [FieldMeta],
        place: &Place<'_>,
        attributes: &mut Vec<Attribute>,
    ) {
        for field in fields {
            if field.flatten {
                if let Shape::Embedded(inside) = field.ty.shape {
                    let inside = inside();
                    attributes.extend(self.fields(inside, place.entity, None));
                }
                continue;
            }
            let mut attribute = Self::attribute(&field.ty, field.name, place);
            if field.name == "_id" && place.model.is_some() {
                attribute.key = Some("PK");
            } else if field.refers_to.is_some() {
                attribute.key = Some("FK");
            }
            self.embedded(field, place);
            attributes.push(attribute);
        }
    }

    fn attribute(ty: &TypeMeta, name: &str, place: &Place<'_>) -> Attribute {
        let mut comments = Vec::new();
        if let Some(variant) = place.variant {
            comments.push(format!("if {variant}"));
        }
        if ty.nullable {
            comments.push("or null".to_owned());
        }
        Attribute {
            ty: type_name(ty),
            name: name.to_owned(),
            key: refers(ty).then_some("FK"),
            comments,
        }
    }

    /// Draws the struct in a field, and the line to it.
    fn embedded(&mut self, field: &'static FieldMeta, place: &Place<'_>) {
        let (inside, many) = match &field.ty.shape {
            Shape::Embedded(inside) => (inside(), false),
            Shape::Array {
                element: inside, ..
            }
            | Shape::Map(inside) => match inside.shape {
                Shape::Embedded(inside) => (inside(), true),
                _ => return,
            },
            _ => return,
        };
        let max = field.rules.iter().find_map(|rule| match rule {
            Rule::Items { max, .. } => *max,
            _ => None,
        });
        let end = match (many, field.ty.nullable) {
            (true, _) => "o{",
            (false, true) => "o|",
            (false, false) => "||",
        };
        let relations = place.model.into_iter().flat_map(ModelMeta::relations);
        let mut recents = relations.filter_map(RelationMeta::as_recent);
        let recent = recents.find(|recent| recent.field == field.rust);
        let label = match (recent, max) {
            (Some(recent), _) => {
                let source = (recent.source)().name;
                format!("{}, the newest {} of {source}", field.name, recent.max)
            }
            (None, Some(max)) => format!("{}, at most {max}", field.name),
            (None, None) => field.name.to_owned(),
        };
        let (from, to) = (identifier(place.entity), identifier(inside.name));
        self.lines
            .push(format!("{from} ||--{end} {to} : \"{}\"", quoted(&label)));
        if self.seen.iter().any(|seen| std::ptr::eq(*seen, inside)) {
            return;
        }
        self.seen.push(inside);
        let position = self.entities.len();
        self.entities.push(Entity {
            name: to,
            collection: None,
            attributes: Vec::new(),
        });
        let attributes = self.fields(inside, inside.name, None);
        if let Some(entity) = self.entities.get_mut(position) {
            entity.attributes = attributes;
        }
    }

    /// Draws the references of all models, each with what the other side declares.
    fn relations(&mut self) {
        let mut drawn: Vec<&ReferenceMeta> = Vec::new();
        for model in self.models.clone() {
            for reference in references(model) {
                let target = reference.target;
                if !self.models.iter().any(|one| std::ptr::eq(*one, target)) {
                    self.lines.push(line(model, reference, None, None));
                    continue;
                }
                if drawn.iter().any(|drawn| std::ptr::eq(*drawn, reference)) {
                    continue;
                }
                let inverses = target.relations().iter();
                let mut inverses = inverses.filter_map(RelationMeta::as_inverse);
                let inverse = inverses.find(|inverse| {
                    std::ptr::eq((inverse.target)(), model)
                        && inverse.by.join(".") == reference.name
                });
                let two_way = reference.counterpart.and_then(|counterpart| {
                    references(target).find(|back| {
                        back.name == counterpart.name && std::ptr::eq(back.target, model)
                    })
                });
                drawn.extend(two_way);
                self.lines.push(line(model, reference, inverse, two_way));
            }
        }
    }

    fn text(&self) -> String {
        let mut text = "erDiagram\n".to_owned();
        let mut push = |line: std::fmt::Arguments<'_>| {
            // Writing to a string can't fail.
            let _ = text.write_fmt(line);
        };
        for entity in &self.entities {
            match entity.collection {
                Some(collection) => {
                    push(format_args!(
                        "    {}[\"{}\"] {{\n",
                        entity.name,
                        quoted(collection)
                    ));
                }
                None => push(format_args!("    {} {{\n", entity.name)),
            }
            for Attribute {
                ty,
                name,
                key,
                comments,
            } in &entity.attributes
            {
                push(format_args!("        {ty} {}", word(name)));
                if let Some(key) = key {
                    push(format_args!(" {key}"));
                }
                if !comments.is_empty() {
                    push(format_args!(" \"{}\"", quoted(&comments.join(", "))));
                }
                push(format_args!("\n"));
            }
            push(format_args!("    }}\n"));
        }
        for line in &self.lines {
            push(format_args!("    {line}\n"));
        }
        text
    }
}

fn references(model: &'static ModelMeta) -> impl Iterator<Item = &'static ReferenceMeta> {
    let relations = model.relations().iter();
    relations.filter_map(RelationMeta::as_reference)
}

/// The line between a document and those that refer to it.
fn line(
    model: &ModelMeta,
    reference: &ReferenceMeta,
    inverse: Option<&InverseMeta>,
    two_way: Option<&ReferenceMeta>,
) -> String {
    let left = match reference.arity {
        Arity::One => "||",
        Arity::AtMostOne => "|o",
        Arity::Many { .. } => "}o",
    };
    let is_unique = reference
        .index
        .is_some_and(|index| index.unique && index.keys.len() == 1);
    let kind = inverse.map(|inverse| inverse.kind);
    let right = match (kind, two_way.map(|back| back.arity)) {
        (Some(InverseKind::One | InverseKind::Rest), _) | (_, Some(Arity::AtMostOne)) => "o|",
        (_, Some(Arity::One)) => "||",
        (None, None) if is_unique => "o|",
        _ => "o{",
    };
    let name = &reference.name;
    let label = match (inverse, two_way) {
        (Some(inverse), _) => {
            let kind = match inverse.kind {
                InverseKind::Rest => ", subset",
                InverseKind::Squillions => ", squillions",
                InverseKind::One | InverseKind::Many => "",
            };
            format!("{} / {name}{kind}", inverse.name)
        }
        (None, Some(back)) => format!("{} / {name}, two-way", back.name),
        (None, None) => name.clone(),
    };
    format!(
        "{} {left}..{right} {} : \"{}\"",
        identifier(reference.target.name),
        identifier(model.name),
        quoted(&label)
    )
}

/// Names the index at the field of its first key.
fn note_index(attributes: &mut [Attribute], spec: &bson::Document) {
    let (Ok(key), Ok(name)) = (spec.get_document("key"), spec.get_str("name")) else {
        return;
    };
    let Some(first) = key.keys().next() else {
        return;
    };
    let top = first.split('.').next().unwrap_or(first);
    let Some(attribute) = attributes.iter_mut().find(|one| one.name == top) else {
        return;
    };
    let is_unique = spec.get("unique") == Some(&Bson::Boolean(true));
    if is_unique && key.len() == 1 && top == first && attribute.key.is_none() {
        attribute.key = Some("UK");
    }
    let unique = if is_unique { "unique index" } else { "index" };
    attribute.comments.push(format!("{unique} {name}"));
}

fn refers(ty: &TypeMeta) -> bool {
    match &ty.shape {
        Shape::Reference { .. } => true,
        Shape::Array { element, .. } => refers(element),
        Shape::Tuple(types) => types.iter().any(refers),
        Shape::Map(values) => refers(values),
        _ => false,
    }
}

fn type_name(ty: &TypeMeta) -> String {
    match &ty.shape {
        Shape::Any => "any".to_owned(),
        Shape::Scalar(types) => match types {
            [one] => one.alias().to_owned(),
            [] => "any".to_owned(),
            several => {
                let names: Vec<_> = several.iter().map(|one| one.alias()).collect();
                names.join("_or_")
            }
        },
        Shape::OneOf(_) => "string".to_owned(),
        Shape::Reference { id, .. } => type_name(id),
        Shape::Embedded(meta) => identifier(meta().name),
        Shape::Array { element, .. } => format!("{}[]", type_name(element)),
        Shape::Tuple(_) => format!("{}[]", type_name(&TypeMeta::ANY)),
        Shape::Map(values) => format!("map({})", type_name(values)),
    }
}

/// A name that Mermaid accepts for a box.
fn identifier(name: &str) -> String {
    let name: String = name
        .chars()
        .map(|one| {
            if one.is_ascii_alphanumeric() || one == '_' {
                one
            } else {
                '_'
            }
        })
        .collect();
    name.trim_end_matches('_').to_owned()
}

/// A name that Mermaid accepts for a field.
fn word(name: &str) -> String {
    let mut word: String = name
        .chars()
        .map(|one| {
            if one.is_alphanumeric() || one == '_' || one == '-' {
                one
            } else {
                '_'
            }
        })
        .collect();
    if word.starts_with(|one: char| one.is_ascii_digit() || one == '-') {
        word.insert(0, '_');
    }
    word
}

/// Text between quotation marks.
fn quoted(text: &str) -> String {
    text.replace('"', "'")
}

#[cfg(test)]
mod tests;
