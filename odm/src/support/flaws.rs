//! Finds what is wrong with the type of a field, and says what to write instead.

use crate::model::{BsonType, Contents, Count, Shape, TypeMeta};

/// The declaration of a field about the documents or references in it.
#[derive(Debug, Clone, Copy)]
pub enum Declared {
    /// Nothing.
    Nothing,
    /// `embed`
    Embed,
    /// `flatten`, which leaves no field that could have a bound.
    Flattened,
    /// `embed(few, max = N)`
    Few,
    /// `references(many, max = N)`
    Many,
    /// `unbounded = "the reason"`
    Unbounded,
    /// Nothing, since the struct is what a pipeline makes: nothing in it is stored.
    Result,
    /// Nothing, since the value has no name: it is in a variant or a tuple struct.
    Nameless,
}

/// Returns what is wrong with a field of this type.
pub const fn flaw(ty: &TypeMeta, declared: Declared) -> Option<&'static str> {
    if let Some(flaw) = null_flaw(ty) {
        return Some(flaw);
    }
    if matches!(declared, Declared::Result) {
        return None;
    }
    if ty.contents.is_result {
        return Some(RESULT);
    }
    if matches!(declared, Declared::Unbounded) {
        return match (ty.contents.documents, ty.contents.references) {
            (Count::Any | Count::AnyInside, _) | (_, Count::Any | Count::AnyInside) => None,
            _ => Some(NOTHING_UNBOUNDED),
        };
    }
    if let Some(flaw) = documents(ty.contents, declared) {
        return Some(flaw);
    }
    references(ty.contents, declared)
}

/// Why a newtype may not have this type. Its documents and references are declared at the fields that
/// have the newtype.
pub const fn null_flaw(ty: &TypeMeta) -> Option<&'static str> {
    if let Some(bare) = ty.contents.bare {
        Some(if ty.nullable { bare.option } else { bare.field })
    } else if ty.contents.null_is_ambiguous {
        Some(AMBIGUOUS_NULL)
    } else {
        None
    }
}

/// Why a field without a serializer of its own may not have a type with these contents.
pub const fn bare_flaw(contents: Contents) -> Option<&'static str> {
    match contents.bare {
        Some(bare) => Some(bare.field),
        None => None,
    }
}

/// Returns what is wrong with a tuple field of this type.
pub const fn tuple_flaw(contents: Contents) -> Option<&'static str> {
    let contents = Contents {
        has_collection: false,
        ..contents
    };
    flaw(&TypeMeta::ANY.holding(contents), Declared::Nameless)
}

const fn documents(contents: Contents, declared: Declared) -> Option<&'static str> {
    match (contents.documents, declared) {
        (Count::AnyInside, _) => Some(DOCUMENTS_INSIDE),
        (Count::Any, Declared::Nothing | Declared::Embed) => Some(DOCUMENTS),
        (Count::Any, Declared::Flattened) => Some(FLATTENED_DOCUMENTS),
        (Count::Any, Declared::Nameless) => Some(NAMELESS_DOCUMENTS),
        (Count::Any, Declared::Many) => Some(NOT_REFERENCES),
        (Count::Zero, Declared::Embed) => Some(NOT_A_DOCUMENT),
        (Count::Fixed, Declared::Nothing | Declared::Flattened) if contents.has_collection => {
            Some(COLLECTION)
        }
        (Count::Fixed, Declared::Nameless) if contents.has_collection => Some(NAMELESS_COLLECTION),
        _ => None,
    }
}

const fn references(contents: Contents, declared: Declared) -> Option<&'static str> {
    match (contents.references, declared) {
        (Count::AnyInside, _) => Some(REFERENCES_INSIDE),
        (Count::Any, Declared::Nothing | Declared::Embed) => Some(REFERENCES),
        (Count::Any, Declared::Flattened) => Some(FLATTENED_REFERENCES),
        (Count::Any, Declared::Nameless) => Some(NAMELESS_REFERENCES),
        (Count::Any, Declared::Few) => Some(NOT_DOCUMENTS),
        _ => None,
    }
}

/// A message with the code of the check and its page in the book.
macro_rules! bare_list {
    ($message:literal) => {
        concat!(
            $message,
            " [odm::bare_list: book/design-checks.html#bare_list]"
        )
    };
}

const NOTHING_UNBOUNDED: &str = bare_list!(
    "`unbounded` is for a list or map of documents or references of any length; remove it"
);
const AMBIGUOUS_NULL: &str = "two values of this type are stored as null, as `None` and `Some(None)` are, and only one of them could be read back; declare one `Option`, or give the field a serializer that keeps them apart: `#[serde(with = \"…\")]`";
const DOCUMENTS: &str = bare_list!(
    "this is a list or map of documents without a bound; say how many there can be: `#[odm(embed(few, max = N))]` keeps up to 200 inside the document, `#[odm(references(many, max = N))]` on a `Vec<Ref<…>>` keeps up to 5000 ids; of more than that, each holds a `Ref` to this document instead, or say why there is no bound: `#[odm(unbounded = \"the reason\")]`; for what only a pipeline makes, write `#[odm(result)]` on the struct"
);
const DOCUMENTS_INSIDE: &str = bare_list!(
    "a list or map of documents inside another value can't say how many there can be; put it into a struct that derives `Embedded`, as a field with `#[odm(embed(few, max = N))]`"
);
const FLATTENED_DOCUMENTS: &str = bare_list!(
    "this is a map of documents without a bound, and a flattened field can't declare one; remove `flatten`, and say how many there can be: `#[odm(embed(few, max = N))]`"
);
const NAMELESS_DOCUMENTS: &str = bare_list!(
    "this is a list or map of documents without a bound, and a value without a name can't declare one; name it, as in `Variant { field: … }`, and say how many there can be: `#[odm(embed(few, max = N))]`"
);
const NOT_REFERENCES: &str = "this holds documents, not references; declare it as `Vec<Ref<…>>`, or keep the documents inside: `embed(few, max = N)`";
const NOT_A_DOCUMENT: &str = "`embed` is for a field that holds a document; remove it";
const RESULT: &str = "this is what a pipeline makes (`#[odm(result)]`), and a document can't hold it; declare a struct of its own for what is stored, or remove `result` there";
const COLLECTION: &str = "this holds a document that has a collection of its own; keep its id (`Ref<…>`), or say that a copy of it is kept inside: `#[odm(embed)]`; for what only a pipeline makes, write `#[odm(result)]` on the struct";
const NAMELESS_COLLECTION: &str = "this holds a document that has a collection of its own; keep its id (`Ref<…>`), or name the value, as in `Variant { field: … }`, and say that a copy of it is kept inside: `#[odm(embed)]`";
const REFERENCES: &str = bare_list!(
    "this is a list or map of references without a bound; say how many there can be: `#[odm(references(many, max = N))]` keeps up to 5000 ids; of more than that, each holds a `Ref` to this document instead, or say why there is no bound: `#[odm(unbounded = \"the reason\")]`; for what only a pipeline makes, write `#[odm(result)]` on the struct"
);
const REFERENCES_INSIDE: &str = bare_list!(
    "a list or map of references inside another value can't say how many there can be; put it into a struct that derives `Embedded`, as a field with `#[odm(references(many, max = N))]`"
);
const FLATTENED_REFERENCES: &str = bare_list!(
    "this is a map of references without a bound, and a flattened field can't declare one; remove `flatten`, and say how many there can be: `#[odm(references(many, max = N))]`"
);
const NAMELESS_REFERENCES: &str = bare_list!(
    "this is a list or map of references without a bound, and a value without a name can't declare one; name it, as in `Variant { field: … }`, and say how many there can be: `#[odm(references(many, max = N))]`"
);
const NOT_DOCUMENTS: &str =
    "this holds references, not documents; write `references(many, max = N)`";

/// Returns what is wrong with an `_id` of this type.
pub const fn id_flaw(ty: &TypeMeta) -> Option<&'static str> {
    if let Some(bare) = ty.contents.bare {
        return Some(bare.id);
    }
    match ty.shape {
        Shape::Any => None,
        Shape::Reference { id, .. } if !ty.nullable => id_flaw(id),
        Shape::Array { .. } | Shape::Tuple(_) => Some(
            "MongoDB refuses an array as `_id`; declare one value, or a struct that holds several",
        ),
        Shape::Scalar([BsonType::Regex]) => Some(
            "`_id` can't be a regular expression, which MongoDB refuses; store its pattern as a `String`",
        ),
        _ if ty.nullable => Some(
            "`_id` can't be missing: declare it without `Option`, and set it before inserting; `Id::new()` makes an `Id<Self>`",
        ),
        _ => None,
    }
}
