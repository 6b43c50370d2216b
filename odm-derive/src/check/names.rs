//! Checks of stored names.

use syn::LitStr;

use crate::errors::Errors;
use crate::model::{Enum, Field, Tagging};

/// Reports names that MongoDB can't address, and names that two fields share.
pub(super) fn check(fields: &[Field], tag: Option<&LitStr>, errors: &mut Errors) {
    let mut seen: Vec<(&str, &str)> = Vec::new();
    let tag = tag.map(LitStr::value);
    for field in fields {
        if field.skipped || field.flatten.is_some() {
            continue;
        }
        let name = field.stored.as_str();
        let wrong = if name.is_empty() {
            Some("it is empty")
        } else if name.starts_with('$') {
            Some("it starts with `$`")
        } else if name.contains('.') {
            Some("it contains a dot")
        } else if name.contains('\0') {
            Some("it contains a NUL")
        } else {
            None
        };
        if let Some(wrong) = wrong {
            let message = format!(
                "MongoDB can't address a field named {name:?}: {wrong}; store `{}` under another name",
                field.rust
            );
            at_name(field, message, errors);
        } else if let Some((_, other)) = seen.iter().find(|(one, _)| *one == name) {
            let message = format!(
                "`{}` and `{other}` are both stored as `{name}`; rename one",
                field.rust
            );
            at_name(field, message, errors);
        } else if tag.as_deref() == Some(name) {
            let message = format!(
                "`{}` is stored as `{name}`, and so is the tag; rename one",
                field.rust
            );
            at_name(field, message, errors);
        }
        seen.push((name, &field.rust));
    }
}

fn at_name(field: &Field, message: String, errors: &mut Errors) {
    match &field.renamed {
        Some(literal) => errors.at(literal, message),
        None => errors.at(&field.ident, message),
    }
}

/// Reports names of variants, and of their handles, that collide.
pub(super) fn check_variants(shape: &Enum, errors: &mut Errors) {
    let tagged = matches!(shape.tagging, Tagging::Internal(_) | Tagging::Adjacent(..));
    let mut seen: Vec<&str> = Vec::new();
    let mut handles: Vec<syn::Ident> = Vec::new();
    for variant in &shape.variants {
        if seen.contains(&variant.stored.as_str()) {
            errors.at(
                &variant.ident,
                format!(
                    "two variants are stored as `{}`; rename one",
                    variant.stored
                ),
            );
        }
        seen.push(&variant.stored);
        let handle = variant.handle();
        if handles.contains(&handle) {
            errors.at(
                &variant.ident,
                format!("two variants have the handle `{handle}`; rename one"),
            );
        }
        handles.push(handle);
        if tagged && variant.handle() == "tag" {
            errors.at(
                &variant.ident,
                "the handle of the tag is named `tag`; give this variant another name",
            );
        }
    }
}
