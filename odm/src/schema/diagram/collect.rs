//! Collects what a diagram shows: boxes with their fields, and the lines between them.

use bson::{Bson, Document};

use super::{Attribute, Diagram, Ends, Entity, EntityKind, Key, Line, LineKind, TypeName};
use crate::error::Result;
use crate::model::field::VariantContent;
use crate::model::{
    Arity, EmbeddedMeta, FieldMeta, InverseKind, InverseMeta, ModelMeta, ReferenceMeta,
    RelationMeta, Rule, Shape, TypeMeta,
};
use crate::schema::indexes::indexes;

pub(super) fn collect(models: impl IntoIterator<Item = &'static ModelMeta>) -> Result<Diagram> {
    let mut collector = Collector::default();
    for model in ModelMeta::wholes(models) {
        collector.model(model)?;
    }
    collector.relations();
    Ok(collector.diagram)
}

#[derive(Default)]
struct Collector {
    diagram: Diagram,
    /// The models, each with the number of its box.
    models: Vec<(&'static ModelMeta, usize)>,
    /// The models that relations lead to and that are not listed.
    unlisted: Vec<(&'static ModelMeta, usize)>,
    /// The embedded structs.
    embedded: Vec<(&'static EmbeddedMeta, usize)>,
}

/// Where a field is stored.
#[derive(Clone, Copy)]
struct Place {
    /// The number of the box.
    entity: usize,
    /// The model whose documents begin here.
    model: Option<&'static ModelMeta>,
    /// The variant of an enum that has the field.
    variant: Option<&'static str>,
}

impl Collector {
    fn model(&mut self, model: &'static ModelMeta) -> Result<()> {
        if numbered(&self.models, model).is_some() {
            return Ok(());
        }
        let entity = self.add(model.name, EntityKind::Collection(model.collection));
        self.models.push((model, entity));
        let mut attributes = self.fields((model.embedded)(), entity, Some(model));
        for spec in indexes(model)? {
            note_index(&mut attributes, &spec);
        }
        self.set(entity, attributes);
        Ok(())
    }

    fn add(&mut self, name: &'static str, kind: EntityKind) -> usize {
        self.diagram.entities.push(Entity {
            name,
            kind,
            attributes: Vec::new(),
        });
        self.diagram.entities.len() - 1
    }

    fn set(&mut self, entity: usize, attributes: Vec<Attribute>) {
        if let Some(entity) = self.diagram.entities.get_mut(entity) {
            entity.attributes = attributes;
        }
    }

    /// The attributes of a struct or an enum.
    fn fields(
        &mut self,
        meta: &'static EmbeddedMeta,
        entity: usize,
        model: Option<&'static ModelMeta>,
    ) -> Vec<Attribute> {
        let mut place = Place {
            entity,
            model,
            variant: None,
        };
        let mut attributes = Vec::new();
        self.add_fields(meta.fields, place, &mut attributes);
        for variant in meta.variants.iter().flat_map(|it| it.variants) {
            place.variant = Some(variant.name);
            match &variant.content {
                VariantContent::Unit => {}
                // The fields of a document's variant stand beside its tag.
                VariantContent::Newtype(ty) if model.is_some() => match ty.shape {
                    Shape::Embedded(inside) => {
                        self.add_fields(inside().fields, place, &mut attributes);
                    }
                    _ => attributes.push(attribute(ty, variant.name, place)),
                },
                VariantContent::Newtype(ty) => {
                    attributes.push(attribute(ty, variant.name, place));
                }
                VariantContent::Tuple(_) => attributes.push(Attribute {
                    ty: TypeName::Named("array".to_owned()),
                    name: variant.name,
                    key: None,
                    variant: None,
                    nullable: false,
                    indexes: Vec::new(),
                }),
                VariantContent::Struct(fields) => self.add_fields(fields, place, &mut attributes),
            }
        }
        attributes
    }

    fn add_fields(
        &mut self,
        fields: &'static [FieldMeta],
        place: Place,
        attributes: &mut Vec<Attribute>,
    ) {
        for field in fields {
            if field.flatten {
                if let Shape::Embedded(inside) = field.ty.shape {
                    attributes.extend(self.fields(inside(), place.entity, None));
                }
                continue;
            }
            if field.name == "_id" && place.model.is_some() && place.variant.is_some() {
                continue;
            }
            let mut attribute = attribute(&field.ty, field.name, place);
            if field.name == "_id" && place.model.is_some() {
                attribute.key = Some(Key::Primary);
            } else if field.refers_to.is_some() {
                attribute.key = Some(Key::Foreign);
            }
            self.embedded(field, place);
            attributes.push(attribute);
        }
    }

    /// Adds the struct in a field, and the line to it.
    fn embedded(&mut self, field: &'static FieldMeta, place: Place) {
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
            (true, _) => Ends::Any,
            (false, true) => Ends::AtMostOne,
            (false, false) => Ends::One,
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
        let known = numbered(&self.embedded, inside);
        let entity = known.unwrap_or_else(|| self.add(inside.name, EntityKind::Embedded));
        self.diagram.lines.push(Line {
            kind: LineKind::Embeds,
            from: (place.entity, Ends::One),
            to: (entity, end),
            label,
        });
        if known.is_none() {
            self.embedded.push((inside, entity));
            let attributes = self.fields(inside, entity, None);
            self.set(entity, attributes);
        }
    }

    /// Adds the references of all models, each with what the other side declares.
    fn relations(&mut self) {
        let mut drawn: Vec<&ReferenceMeta> = Vec::new();
        for (model, entity) in self.models.clone() {
            for reference in references(model) {
                let (declares, target) = (reference.target, reference.target.whole());
                let Some(listed) = numbered(&self.models, target) else {
                    let known = numbered(&self.unlisted, target);
                    let from = known.unwrap_or_else(|| {
                        let added = self.add(target.name, EntityKind::NotListed);
                        self.unlisted.push((target, added));
                        added
                    });
                    self.diagram
                        .lines
                        .push(line(from, entity, reference, None, None));
                    continue;
                };
                if drawn.iter().any(|drawn| std::ptr::eq(*drawn, reference)) {
                    continue;
                }
                let inverses = declares.relations().iter();
                let mut inverses = inverses.filter_map(RelationMeta::as_inverse);
                let inverse = inverses.find(|inverse| {
                    std::ptr::eq((inverse.target)().whole(), model)
                        && is_by(inverse, model, reference)
                });
                let two_way = reference.counterpart.and_then(|counterpart| {
                    references(target).find(|back| {
                        back.name == counterpart.name && std::ptr::eq(back.target, model)
                    })
                });
                drawn.extend(two_way);
                self.diagram
                    .lines
                    .push(line(listed, entity, reference, inverse, two_way));
            }
        }
    }
}

/// Whether a relation goes by the reference. A model whose documents have variants names it with that of the variant.
fn is_by(inverse: &InverseMeta, model: &ModelMeta, reference: &ReferenceMeta) -> bool {
    let (by, name) = (inverse.by.join("."), reference.name.as_str());
    let of_variant = name.split_once('.').map(|(_, name)| name);
    by == name || !model.variants.is_empty() && of_variant == Some(by.as_str())
}

/// The number of the box of a model or a struct.
fn numbered<T>(boxes: &[(&'static T, usize)], one: &'static T) -> Option<usize> {
    let mut boxes = boxes.iter();
    boxes
        .find(|(other, _)| std::ptr::eq(*other, one))
        .map(|(_, number)| *number)
}

fn references(model: &'static ModelMeta) -> impl Iterator<Item = &'static ReferenceMeta> {
    let relations = model.relations().iter();
    relations.filter_map(RelationMeta::as_reference)
}

/// The line between a document and those that refer to it.
fn line(
    target: usize,
    model: usize,
    reference: &ReferenceMeta,
    inverse: Option<&InverseMeta>,
    two_way: Option<&ReferenceMeta>,
) -> Line {
    let left = match reference.arity {
        Arity::One => Ends::One,
        Arity::AtMostOne => Ends::AtMostOne,
        Arity::Many { .. } => Ends::Any,
    };
    let is_unique = reference
        .index
        .is_some_and(|index| index.unique && index.keys.len() == 1);
    let kind = inverse.map(|inverse| inverse.kind);
    let right = match (kind, two_way.map(|back| back.arity)) {
        (Some(InverseKind::One | InverseKind::Rest), _) | (_, Some(Arity::AtMostOne)) => {
            Ends::AtMostOne
        }
        (_, Some(Arity::One)) => Ends::One,
        (None, None) if is_unique => Ends::AtMostOne,
        _ => Ends::Any,
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
    Line {
        kind: LineKind::Refers,
        from: (target, left),
        to: (model, right),
        label,
    }
}

fn attribute(ty: &TypeMeta, name: &'static str, place: Place) -> Attribute {
    Attribute {
        ty: type_name(ty),
        name,
        key: refers(ty).then_some(Key::Foreign),
        variant: place.variant,
        nullable: ty.nullable,
        indexes: Vec::new(),
    }
}

/// Names the index at the field of its first key.
fn note_index(attributes: &mut [Attribute], spec: &Document) {
    let (Ok(key), Ok(name)) = (spec.get_document("key"), spec.get_str("name")) else {
        return;
    };
    let Some(first) = key.keys().next() else {
        return;
    };
    let top = first.split('.').next().unwrap_or(first);
    let partial = spec.get_document("partialFilterExpression").ok();
    let is_of = |variant: &str| {
        partial.is_some_and(|filter| filter.values().any(|value| value.as_str() == Some(variant)))
    };
    // Several variants may have a field of this name.
    let place = |one: &Attribute| one.name == top && one.variant.is_none_or(is_of);
    let place = attributes
        .iter()
        .position(place)
        .or_else(|| attributes.iter().position(|one| one.name == top));
    let Some(attribute) = place.and_then(|place| attributes.get_mut(place)) else {
        return;
    };
    let is_unique = spec.get("unique") == Some(&Bson::Boolean(true));
    if is_unique && key.len() == 1 && top == first && attribute.key.is_none() {
        attribute.key = Some(Key::Unique);
    }
    let unique = if is_unique { "unique index" } else { "index" };
    attribute.indexes.push(format!("{unique} {name}"));
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

pub(super) fn type_name(ty: &TypeMeta) -> TypeName {
    let named = |name: &str| TypeName::Named(name.to_owned());
    match &ty.shape {
        Shape::Any => named("any"),
        Shape::Scalar(types) => match types {
            [one] => named(one.alias()),
            [] => named("any"),
            several => {
                let names: Vec<_> = several.iter().map(|one| one.alias()).collect();
                TypeName::Named(names.join("_or_"))
            }
        },
        Shape::OneOf(_) => named("string"),
        Shape::Reference { id, .. } => type_name(id),
        Shape::Embedded(meta) => named(meta().name),
        Shape::Array { element, .. } => TypeName::List(Box::new(type_name(element))),
        Shape::Tuple(_) => TypeName::List(Box::new(type_name(&TypeMeta::ANY))),
        Shape::Map(values) => TypeName::Map(Box::new(type_name(values))),
    }
}
