//! Checks of the struct as a whole.

use proc_macro2::Ident;
use quote::ToTokens;
use syn::{LitStr, Type, TypeReference};

use crate::errors::Errors;
use crate::facts::{Facts, Id};
use crate::model::rust_type::{Kind, is_option, kind, stored_kind};
use crate::model::{Borrow, Derive, Model, Shape};
use crate::parse::container::CollectionName;

pub(super) fn check(facts: &Facts<'_>, errors: &mut Errors) {
    let model = facts.model;
    if let Some(of) = &model.attributes.of
        && model.derive == Derive::Document
    {
        errors.at(
            of,
            "`of` is for a struct that derives `Projection`; remove it",
        );
    }
    match model.derive {
        Derive::Document => document(facts, errors),
        Derive::Embedded => embedded(model, errors),
    }
    if let Some(word) = &model.attributes.result {
        result(model, word, errors);
    }
    if let Some(word) = &model.attributes.deny_undeclared {
        let fields = matches!(
            model.shape,
            Shape::Struct { .. } | Shape::Enum(_) | Shape::Unknown
        );
        if !fields {
            errors.at(word, "this type is stored without fields of its own, so there are none to refuse; remove `deny_undeclared`");
        }
        for one in facts.fields_of(None) {
            let field = one.field;
            if let Some(flatten) = &field.flatten
                && matches!(one.stored, Kind::Map)
            {
                errors.at(
                    flatten,
                    format!(
                        "`{}` takes every field that is not declared, and `deny_undeclared` refuses them all; keep one of the two",
                        field.rust
                    ),
                );
            }
        }
    }
}

fn embedded(model: &Model, errors: &mut Errors) {
    for word in &model.attributes.document_words {
        errors.at(
            word,
            format!("`{word}` needs a collection: write it on the struct that derives `Document`, or derive `Document` here"),
        );
    }
}

/// A result is a struct that nothing is declared of but its fields.
fn result(model: &Model, word: &Ident, errors: &mut Errors) {
    if model.derive == Derive::Document {
        errors.at(
            word,
            "`result` is for a struct that a pipeline makes and no collection has: derive `Embedded`, or remove `result`",
        );
        return;
    }
    for field in model.fields() {
        let attributes = &field.attributes;
        let list = attributes.list.as_ref().map(|list| &list.word);
        let unbounded = attributes.unbounded.as_ref().map(|one| &one.word);
        let rules = attributes.rules.iter().map(|rule| &rule.word);
        let indexes = attributes.indexes.iter().map(|index| &index.word);
        for word in list
            .into_iter()
            .chain(unbounded)
            .chain(rules)
            .chain(indexes)
        {
            errors.at(
                word,
                format!("a `result` is not stored, so `{word}` has no effect; remove it"),
            );
        }
    }
}

fn document(facts: &Facts<'_>, errors: &mut Errors) {
    let model = facts.model;
    match &model.shape {
        Shape::Struct { .. } | Shape::Enum(_) => {}
        Shape::Unknown => return,
        _ => {
            errors.at(
                &model.ident,
                "a document is a struct with named fields; derive `Embedded` here, and put it into a field of a document",
            );
            return;
        }
    }
    match model.borrows() {
        Some(Borrow::Parameter(lifetime)) => errors.at(
            lifetime,
            "a document can't borrow, because it is read back from its collection: declare a `String` for a `&str`, a `Vec<T>` for a `&[T]`, and no lifetime",
        ),
        Some(Borrow::Field(reference)) => errors.at(reference, owned(reference)),
        None => {}
    }
    let attributes = &model.attributes;
    match &attributes.collection {
        Some(CollectionName::Literal(name)) => collection(name, errors),
        None if attributes.variant_of.is_some() => {}
        None if attributes.whole => errors.at(
            &model.ident,
            "a document must name its collection: add `#[odm(collection = \"…\")]`",
        ),
        // The compiler, which knows the value, checks a constant.
        Some(CollectionName::Constant(_)) | None => {}
    }
    if model.document_enum().is_none() {
        id(facts, errors);
    }
    let mut names: Vec<String> = Vec::new();
    for rule in &attributes.rules {
        let name = rule.name.value();
        if name.is_empty() {
            errors.at(
                &rule.name,
                "a rule needs a name, which its errors show: `rule(\"available is not negative\", |m| …)`",
            );
        } else if names.contains(&name) {
            errors.at(
                &rule.name,
                format!("two rules are named \"{name}\"; rename one"),
            );
        }
        names.push(name);
    }
    let mut versions = model
        .fields()
        .iter()
        .filter_map(|field| field.attributes.version.as_ref());
    if let (Some(_), Some(second)) = (versions.next(), versions.next()) {
        errors.at(
            second,
            "a document can have only one version field; remove one",
        );
    }
    let fields = || model.fields().iter().map(|field| &field.attributes);
    let created: Vec<_> = fields().filter_map(|it| it.created_at.as_ref()).collect();
    let updated = fields().filter_map(|it| it.updated_at.as_ref());
    let updated: Vec<_> = updated.map(|it| &it.word).collect();
    for second in [created.get(1), updated.get(1)].into_iter().flatten() {
        errors.at(
            *second,
            format!("a document can have only one `{second}` field; remove one"),
        );
    }
}

/// The message for a field that is a reference: it names the owned type to declare.
fn owned(reference: &TypeReference) -> String {
    let instead = match &*reference.elem {
        Type::Slice(slice) => {
            let element = slice.elem.to_token_stream();
            format!("`Vec<{element}>`")
        }
        inner if matches!(kind(inner), Kind::Text) => "`String`".to_owned(),
        inner => format!("`{}`", inner.to_token_stream()),
    };
    format!(
        "a document can't borrow, because it is read back from its collection: declare {instead}"
    )
}

fn collection(literal: &LitStr, errors: &mut Errors) {
    let name = literal.value();
    let wrong = if name.is_empty() {
        "it is empty"
    } else if name.contains('$') {
        "it contains `$`"
    } else if name.contains('\0') {
        "it contains a NUL"
    } else if name.starts_with("system.") {
        "`system.` is reserved for the server"
    } else if name.starts_with('.') || name.ends_with('.') || name.contains("..") {
        "a part between dots is empty"
    } else if name.len() > 190 {
        "it is too long: with the database's name it may have at most 255 bytes"
    } else {
        return;
    };
    errors.at(
        literal,
        format!("invalid collection name: {wrong}; write letters, digits and `_`"),
    );
}

fn id(facts: &Facts<'_>, errors: &mut Errors) {
    let model = facts.model;
    let Some(Id { field: id, .. }) = &facts.id else {
        let meant = model
            .fields()
            .iter()
            .find(|field| matches!(field.rust.as_str(), "id" | "_id"));
        match meant {
            Some(field) if field.skipped => errors.at(
                &field.ident,
                "the id is always stored: remove `skip`",
            ),
            Some(field) => errors.at(
                &field.ident,
                format!("no field is stored as `_id`: write `#[serde(rename = \"_id\")]` on `{}`", field.rust),
            ),
            None => errors.at(
                &model.ident,
                "no field is stored as `_id`: add `#[serde(rename = \"_id\")] id: Id<Self>`, or rename the field that identifies a document",
            ),
        }
        return;
    };
    if matches!(stored_kind(&id.ty), Kind::List(_)) {
        errors.at(
            &id.ty,
            "MongoDB refuses an array as `_id`; declare one value, or a struct that holds several",
        );
    } else if is_option(&id.ty) {
        errors.at(&id.ty, "`_id` can't be missing: declare it without `Option`, and set it before inserting; `Id::new()` makes an `Id<Self>`");
    } else if id.sometimes {
        errors.at(
            &id.ident,
            "`_id` must always be written: remove `skip_serializing` and `skip_serializing_if`",
        );
    } else if id.encoder.is_some() {
        errors.at(
            &id.ident,
            "`_id` can't have a serializer of its own, since references store it too; give it to a newtype, and declare that: `#[derive(Clone, Serialize, Deserialize, Embedded)] struct BookId(#[serde(with = \"…\")] Uuid);`",
        );
    }
}
