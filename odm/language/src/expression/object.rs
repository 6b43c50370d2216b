//! The document operators: `$getField $mergeObjects $objectToArray $setField $unsetField`.

use bson::raw::{RawArrayBuf, RawBson, RawBsonRef, RawDocumentBuf};

use crate::error::refuse;
use crate::expression::compat::messages;
use crate::expression::named::{BareArgument, Constant, Named, UNKNOWN_ARGUMENT, Wording};
use crate::expression::operator::{
    ANY, Args, ArgumentForm, Operator, Outcome, count, listed, null, owned, row,
};
use crate::expression::value::Value;
use crate::value::raw::append;
use crate::value::raw::{elements, get, values};

const SET: Named = Named {
    names: &["field", "input", "value"],
    required: &[
        ("field", 4_161_102),
        ("value", 4_161_103),
        ("input", 4_161_109),
    ],
    unknown: (4_161_101, UNKNOWN_ARGUMENT),
    bare: BareArgument::Refused(
        4_161_100,
        Wording("<operator> only supports an object as an argument, found: <type>"),
    ),
    is_checked_first: true,
    constant: Some(Constant {
        argument: "field",
        path: 4_161_108,
        wrong_type: 4_161_107,
        computed: 4_161_106,
    }),
    ..Named::DEFAULT
};

/// Sorted by name.
pub(super) const OPERATORS: &[Operator] = &[
    listed("$bsonSize", 1, 1, size),
    row(
        "$getField",
        ArgumentForm::Named(&Named {
            names: &["field", "input"],
            required: &[("field", 3_041_702), ("input", 3_041_703)],
            unknown: (3_041_701, UNKNOWN_ARGUMENT),
            bare: BareArgument::OfCurrent,
            constant: Some(Constant {
                argument: "field",
                path: 5_654_600,
                wrong_type: 5_654_602,
                computed: 5_654_601,
            }),
            ..Named::DEFAULT
        }),
        get_field,
    ),
    listed("$mergeObjects", 0, ANY, merge),
    listed("$objectToArray", 1, 1, to_array),
    row("$setField", ArgumentForm::Named(&SET), set_field),
    // As in mongod, this is `$setField` without a value.
    row(
        "$unsetField",
        ArgumentForm::Named(&Named {
            names: &["field", "input"],
            required: &[("field", 4_161_102), ("input", 4_161_109)],
            bare: BareArgument::Refused(
                4_161_100,
                Wording("<operator> only supports an object as its argument"),
            ),
            is_checked_first: false,
            ..SET
        }),
        set_field,
    ),
];

fn get_field<'a>(args: &mut Args<'a>) -> Outcome<'a> {
    let RawBsonRef::String(name) = args.or_null(0) else {
        return refuse(
            3_041_704,
            format!(
                "$getField requires 'field' to evaluate to type String, but got {}",
                args.type_name(0)
            ),
        );
    };
    let name = name.to_owned();
    Ok(match args.take(1) {
        Value::Ref(RawBsonRef::Document(document)) => get(document, &name).into(),
        Value::Owned(RawBson::Document(document)) => {
            get(&document, &name).map_or(Value::Missing, |value| Value::Owned(value.into()))
        }
        Value::Ref(RawBsonRef::Null | RawBsonRef::Undefined)
        | Value::Owned(RawBson::Null | RawBson::Undefined) => Value::NULL,
        _ => Value::Missing,
    })
}

/// Merges fields into a document. Later values win, and keep the position of the first.
pub fn merge_into(document: &mut RawDocumentBuf, with: &bson::raw::RawDocument) {
    let mut merged = RawDocumentBuf::new();
    for (key, value) in elements(document) {
        append(&mut merged, key, get(with, key).unwrap_or(value));
    }
    for (key, value) in elements(with).filter(|(key, _)| get(document, key).is_none()) {
        append(&mut merged, key, value);
    }
    *document = merged;
}

fn size<'a>(args: &mut Args<'a>) -> Outcome<'a> {
    match args.get(0) {
        None | Some(RawBsonRef::Null | RawBsonRef::Undefined) => null(),
        Some(RawBsonRef::Document(document)) => owned(count(document.as_bytes().len())),
        Some(_) => refuse(
            31393,
            format!(
                "$bsonSize requires a document input, found: {}",
                args.type_name(0)
            ),
        ),
    }
}

fn merge<'a>(args: &mut Args<'a>) -> Outcome<'a> {
    let mut merged = RawDocumentBuf::new();
    for value in &args.values {
        match value.get() {
            None | Some(RawBsonRef::Null | RawBsonRef::Undefined) => {}
            Some(RawBsonRef::Document(document)) => merge_into(&mut merged, document),
            Some(RawBsonRef::Array(items)) if args.given.len() == 1 => {
                for item in values(items) {
                    match item {
                        RawBsonRef::Null | RawBsonRef::Undefined => {}
                        RawBsonRef::Document(document) => merge_into(&mut merged, document),
                        other => return refuse(40400, not_an_object(other)),
                    }
                }
            }
            Some(other) => return refuse(40400, not_an_object(other)),
        }
    }
    owned(merged)
}

fn not_an_object(value: RawBsonRef<'_>) -> String {
    format!(
        "$mergeObjects requires object inputs, but input {} is of type {}",
        messages::computed(value),
        messages::type_name(Some(value))
    )
}

fn to_array<'a>(args: &mut Args<'a>) -> Outcome<'a> {
    match args.get(0) {
        None | Some(RawBsonRef::Null | RawBsonRef::Undefined) => null(),
        Some(RawBsonRef::Document(document)) => {
            let mut array = RawArrayBuf::new();
            for (key, value) in elements(document) {
                let mut pair = RawDocumentBuf::new();
                append(&mut pair, "k", RawBsonRef::String(key));
                append(&mut pair, "v", value);
                array.push(pair);
            }
            owned(array)
        }
        Some(_) => refuse(
            40390,
            format!(
                "$objectToArray requires a document input, found: {}",
                args.type_name(0)
            ),
        ),
    }
}

fn set_field<'a>(args: &mut Args<'a>) -> Outcome<'a> {
    let RawBsonRef::String(name) = args.or_null(0) else {
        return refuse(
            4_161_107,
            format!(
                "$setField requires 'field' to evaluate to type String, but got {}",
                args.type_name(0)
            ),
        );
    };
    let input = match args.get(1) {
        None | Some(RawBsonRef::Null | RawBsonRef::Undefined) => return null(),
        Some(RawBsonRef::Document(document)) => document,
        Some(_) => {
            return refuse(
                4_161_105,
                "$setField requires 'input' to evaluate to type Object",
            );
        }
    };
    let value = args.get(2);
    let mut document = RawDocumentBuf::new();
    let mut placed = false;
    for (key, old) in elements(input) {
        if key == name {
            placed = true;
            if let Some(value) = value {
                append(&mut document, key, value);
            }
        } else {
            append(&mut document, key, old);
        }
    }
    if let (false, Some(value)) = (placed, value) {
        append(&mut document, name, value);
    }
    owned(document)
}
