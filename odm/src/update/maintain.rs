//! The fields that the library maintains in typed writes: the fields of trees, computed keywords, the version of the
//! schema, the version, and the times of creation and change.
//!
//! A [`Maintainer`] keeps one kind of field. Every typed write of documents calls [`MAINTAINERS`] in order, by the function of
//! this module that is named after its kind. The book's chapter on models has a table of the effects on each field.

mod keywords;
mod timestamps;
mod trees;
mod version;

use bson::raw::{CString, RawBson, RawBsonRef};
use bson::{Bson, Document, RawDocument, RawDocumentBuf, doc};

use super::operators::{Changes, OnField, Part, Stage};
use crate::error::{Error, Result};
use crate::model::{ModelMeta, storable};
use crate::query::deferred::Deferred;

/// Every maintainer, in the order in which a write calls them: first those that refuse or add changes of other fields, then
/// those that change nothing but their own.
const MAINTAINERS: [&dyn Maintainer; 5] = [
    &trees::Trees,
    &keywords::Keywords,
    &version::SchemaVersions,
    &version::Versions,
    &timestamps::Timestamps,
];

/// Keeps one kind of field in step.
trait Maintainer: Sync {
    /// Whether the model has such a field. Writes call the other methods only if it has.
    fn concerns(&self, model: &ModelMeta) -> bool;

    /// Computes the fields in an encoded document that is inserted, replaces another one, or is saved.
    fn derive(&self, _: &'static ModelMeta, document: RawDocumentBuf) -> Result<RawDocumentBuf> {
        Ok(document)
    }

    /// Refuses changes of the fields, or adds changes to them.
    fn update(&self, _: &'static ModelMeta, changes: Changes) -> Result<Changes, Deferred> {
        Ok(changes)
    }

    /// Refuses a replacement that would overwrite the fields.
    fn replace(&self, _: &'static ModelMeta) -> Result<()> {
        Ok(())
    }

    /// The values of the fields in a new document, where they are not those of the struct.
    fn inserted(&self, _: &'static ModelMeta) -> Vec<(&'static str, Bson)> {
        Vec::new()
    }

    /// The fields whose next value depends on nothing but the time and the stored document.
    fn fields(&self, _: &'static ModelMeta) -> Vec<Maintained> {
        Vec::new()
    }
}

/// A field that every typed write maintains by itself.
#[derive(Debug, Clone)]
pub(crate) struct Maintained {
    /// The stored name.
    pub(crate) name: &'static str,
    /// Why an update that names the field is refused, and what to write instead.
    refusal: &'static str,
    /// The effect of an update on the field; `None` if it leaves the field as it is.
    pub(crate) change: Option<Maintenance>,
    /// The value that an upsert sets where it inserts a document, if `change` does not set one.
    on_insert: Option<Bson>,
    /// The field's value in a replacement, as an expression over the stored document.
    replaced: Bson,
}

/// How an update maintains a field.
#[derive(Debug, Clone)]
pub(crate) struct Maintenance {
    /// The operator and its operand, in an update by operators.
    pub(crate) operator: &'static str,
    pub(crate) operand: Bson,
    /// The value in an update by a pipeline.
    expression: Bson,
}

/// A field that an upsert sets only where it inserts a document, and its value.
pub(crate) type OnInsert = (&'static str, Bson);

/// A document that replaces another one.
pub(crate) enum Replacement {
    Document(RawDocumentBuf),
    /// A pipeline, because the value of a maintained field depends on the stored document.
    Pipeline(Vec<Document>),
}

/// The maintainers of the model's fields, in order.
fn of(model: &'static ModelMeta) -> impl Iterator<Item = &'static dyn Maintainer> {
    let all = MAINTAINERS.into_iter();
    all.filter(|maintainer| maintainer.concerns(model))
}

/// Refuses changes of an enum's documents if a variant has maintained fields: which ones an update has to keep in step depends on
/// the variant of each document that it matches.
pub(crate) fn expect_plain_variants(model: &'static ModelMeta) -> Result<()> {
    for variant in model.variants() {
        if of(variant).next().is_some() {
            return Err(Error::usage(format!(
                "writes of a `{0}`, a variant of `{1}`, keep some of its fields in step: change its documents through the collection \
                 of `{0}`",
                variant.name, model.name
            )));
        }
    }
    Ok(())
}

/// The model of a document of an enum: that of its variant.
fn of_document(model: &'static ModelMeta, document: &RawDocument) -> &'static ModelMeta {
    let is_of = |variant: &&'static ModelMeta| {
        variant.variant_of.is_some_and(|of| {
            let tag = document.get(of.tag).ok().flatten();
            tag.and_then(RawBsonRef::as_str) == Some(of.name)
        })
    };
    model.variants().find(is_of).unwrap_or(model)
}

/// The fields of the model that every typed write maintains by itself.
pub(crate) fn fields(model: &'static ModelMeta) -> Vec<Maintained> {
    of(model).flat_map(|it| it.fields(model)).collect()
}

/// A document that is saved: what depends on the stored document is left to [`change`].
pub(crate) fn saved(model: &'static ModelMeta, document: RawDocumentBuf) -> Result<RawDocumentBuf> {
    of(model).try_fold(document, |document, it| it.derive(model, document))
}

/// A document that is inserted.
pub(crate) fn inserted(
    model: &'static ModelMeta,
    document: RawDocumentBuf,
) -> Result<RawDocumentBuf> {
    let model = of_document(model, &document);
    let document = saved(model, document)?;
    let values: Vec<_> = of(model).flat_map(|it| it.inserted(model)).collect();
    let document = match values.as_slice() {
        [] => document,
        values => with_values(&document, values)?,
    };
    storable::check(model, &document)?;
    Ok(document)
}

/// The encoded document with other values of some fields, in their places if it has them.
fn with_values(document: &RawDocument, values: &[(&str, Bson)]) -> Result<RawDocumentBuf> {
    let mut missing: Vec<_> = values.iter().collect();
    let mut changed = RawDocumentBuf::new();
    let raw = |value: &Bson| RawBson::try_from(value.clone()).map_err(Error::encode);
    for element in document {
        let (key, value) = element.map_err(Error::encode)?;
        match missing.iter().position(|(name, _)| *name == key.as_str()) {
            Some(place) => changed.append(key, raw(&missing.remove(place).1)?),
            None => changed.append(key, value),
        }
    }
    for (name, value) in missing {
        let name = CString::try_from(*name).map_err(Error::encode)?;
        changed.append(name, raw(value)?);
    }
    Ok(changed)
}

/// A document that replaces another one.
pub(crate) fn replaced(model: &'static ModelMeta, document: RawDocumentBuf) -> Result<Replacement> {
    expect_plain_variants(model)?;
    of(model).try_for_each(|it| it.replace(model))?;
    let document = saved(model, document)?;
    storable::check(model, &document)?;
    let maintained = fields(model);
    if maintained.is_empty() {
        return Ok(Replacement::Document(document));
    }
    let document = Document::try_from(document).map_err(Error::encode)?;
    let maintained = maintained.into_iter();
    let maintained: Document = maintained
        .map(|field| (field.name.to_owned(), field.replaced))
        .collect();
    let merged = doc! { "$mergeObjects": [{ "$literal": document }, maintained] };
    Ok(Replacement::Pipeline(vec![doc! { "$replaceWith": merged }]))
}

/// A typed update, and a field that an upsert sets where it inserts a document. Raw changes are sent as they are written.
pub(crate) fn updated(
    model: &'static ModelMeta,
    changes: Changes,
) -> Result<(Changes, Option<OnInsert>), Deferred> {
    expect_plain_variants(model).map_err(|error| Deferred::usage("", error.to_string()))?;
    let changes = of(model).try_fold(changes, |changes, it| it.update(model, changes))?;
    let fields = fields(model);
    if fields.is_empty() {
        return Ok((changes, None));
    }
    let changes = changes.named()?;
    if !changes.is_typed() {
        return Ok((changes, None));
    }
    changes.maintaining(fields)
}

/// Adds the changes of the maintained fields to the operators of an update that the library makes.
pub(crate) fn change(fields: &[Maintained], update: &mut Document) {
    let changes = fields
        .iter()
        .filter_map(|field| Some((field.name, field.change.as_ref()?)));
    for (name, change) in changes {
        match update.get_mut(change.operator) {
            Some(Bson::Document(operands)) => {
                operands.insert(name, change.operand.clone());
            }
            _ => {
                update.insert(change.operator, doc! { name: change.operand.clone() });
            }
        }
    }
}

/// The stage that changes the maintained fields in an update by a pipeline that the library makes.
pub(crate) fn stage(fields: &[Maintained]) -> Option<Document> {
    let changes = fields.iter().filter_map(|field| {
        let change = field.change.as_ref()?;
        Some((field.name.to_owned(), change.expression.clone()))
    });
    let changes: Document = changes.collect();
    (!changes.is_empty()).then(|| doc! {"$set": changes})
}

impl Changes {
    /// Adds the changes of the maintained fields to these changes, and returns the field that an upsert sets besides.
    fn maintaining(
        mut self,
        fields: Vec<Maintained>,
    ) -> Result<(Self, Option<OnInsert>), Deferred> {
        if let Some(field) = fields.iter().find(|field| self.names(field.name)) {
            return Err(Deferred::usage(field.name, field.refusal));
        }
        let mut on_insert = None;
        for field in fields {
            let Some(change) = field.change else {
                on_insert = on_insert.or(field.on_insert.map(|value| (field.name, value)));
                continue;
            };
            let path = field.name.to_owned();
            match &mut self {
                Self::Operators(parts) => parts.push(Part::Field(OnField {
                    operator: change.operator,
                    path,
                    value: change.operand,
                })),
                Self::Pipeline(stages) => stages.push(Stage::Set {
                    path,
                    expression: change.expression,
                }),
            }
        }
        Ok((self, on_insert))
    }

    /// Whether a method of a field made one of the changes.
    fn is_typed(&self) -> bool {
        match self {
            Self::Operators(parts) => parts.iter().any(|part| matches!(part, Part::Field(_))),
            Self::Pipeline(stages) => stages
                .iter()
                .any(|stage| matches!(stage, Stage::Set { .. })),
        }
    }

    /// Whether a change names this field, or one inside it.
    fn names(&self, field: &str) -> bool {
        match self {
            Self::Operators(parts) => parts.iter().any(|part| part.changes(field)),
            Self::Pipeline(stages) => stages
                .iter()
                .any(|stage| matches!(stage, Stage::Set { path, .. } if is_in(path, field))),
        }
    }
}

impl Part {
    /// Whether the part changes the field with this stored name, or one inside it.
    fn changes(&self, field: &str) -> bool {
        match self {
            Self::Field(change) => {
                is_in(&change.path, field)
                    || change.operator == "$rename"
                        && change.value.as_str().is_some_and(|to| is_in(to, field))
            }
            Self::Raw(operators) => operators
                .values()
                .filter_map(Bson::as_document)
                .any(|fields| fields.keys().any(|path| is_in(path, field))),
            Self::ArrayFilter(_) | Self::Elements(_) | Self::Unless(_) => false,
        }
    }
}

/// Whether a path names a field, or one inside it.
fn is_in(path: &str, field: &str) -> bool {
    let rest = path.strip_prefix(field);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}
