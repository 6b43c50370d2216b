//! Checks of single option values, independent of other options. The parser runs them field by field.

use bson::raw::RawBsonRef;
use odm_language::error::{Code, ServerError};
use odm_language::value::collation::Collator;
use odm_language::value::number::Number;
use odm_language::value::raw;

use crate::command::args::{Args, Kind, required, unknown, whole, wrong_type};

type Checked = Result<(), ServerError>;

/// The largest capped size: a pebibyte.
pub(in crate::command) const LARGEST_CAPPED: i64 = 1 << 50;

pub(in crate::command) fn is_capped_size(name: &str, value: RawBsonRef<'_>) -> Checked {
    match whole(value).unwrap_or_default() {
        size @ ..1 => out_of_range(name, ">= 1", size),
        size if size > LARGEST_CAPPED => out_of_range(name, &format!("<= {LARGEST_CAPPED}"), size),
        _ => Ok(()),
    }
}

pub(in crate::command) fn is_capped_max(name: &str, value: RawBsonRef<'_>) -> Checked {
    let most = i64::from(i32::MAX);
    let max = whole(value).unwrap_or_default();
    if max > most {
        return out_of_range(name, &format!("< {}", most + 1), max);
    }
    Ok(())
}

/// mongod prints the field without the command's name here.
fn out_of_range(name: &str, range: &str, value: i64) -> Checked {
    let name = name.rsplit('.').next().unwrap_or(name);
    Err(ServerError::new(
        Code::location(51024),
        format!("BSON field '{name}' value must be {range}, actual value '{value}'"),
    ))
}

pub(in crate::command) fn is_level(name: &str, value: RawBsonRef<'_>) -> Checked {
    is_word(name, value, &["off", "strict", "moderate"])
}

pub(in crate::command) fn is_action(name: &str, value: RawBsonRef<'_>) -> Checked {
    is_word(name, value, &["error", "warn"])
}

pub(in crate::command) fn is_word(name: &str, value: RawBsonRef<'_>, words: &[&str]) -> Checked {
    let word = value.as_str().unwrap_or_default();
    if words.contains(&word) {
        return Ok(());
    }
    Err(ServerError::new(
        Code::BAD_VALUE,
        format!("Enumeration value '{word}' for field '{name}' is not a valid value."),
    ))
}

pub(in crate::command) fn is_collation(name: &str, value: RawBsonRef<'_>) -> Checked {
    match value {
        RawBsonRef::Document(collation) => Collator::check_fields(collation, name),
        _ => Ok(()),
    }
}

pub(in crate::command) fn are_index_defaults(name: &str, value: RawBsonRef<'_>) -> Checked {
    let RawBsonRef::Document(defaults) = value else {
        return Ok(());
    };
    raw::elements(defaults).try_for_each(|(field, value)| match (field, value) {
        ("storageEngine", RawBsonRef::Document(_) | RawBsonRef::Null | RawBsonRef::Undefined) => {
            Ok(())
        }
        ("storageEngine", other) => Err(wrong_type(
            &format!("{name}.storageEngine"),
            other,
            "type 'object'",
        )),
        (other, _) => Err(unknown(name, other)),
    })
}

pub(in crate::command) fn is_view_source(_name: &str, value: RawBsonRef<'_>) -> Checked {
    if value == RawBsonRef::String("") {
        return Err(ServerError::new(
            Code::BAD_VALUE,
            "'viewOn' cannot be empty",
        ));
    }
    Ok(())
}

pub(in crate::command) fn are_images(name: &str, value: RawBsonRef<'_>) -> Checked {
    match value {
        RawBsonRef::Document(images) => {
            Args::of_statement(images, name, &[required("enabled", Kind::Bool)]).map(drop)
        }
        _ => Ok(()),
    }
}

pub(in crate::command) fn is_expiry(name: &str, value: RawBsonRef<'_>) -> Checked {
    match value {
        RawBsonRef::String(_) | RawBsonRef::Null | RawBsonRef::Undefined => Ok(()),
        number if Number::from_raw(number).is_some() => Ok(()),
        other => Err(wrong_type(name, other, "types '[string, long']")),
    }
}
