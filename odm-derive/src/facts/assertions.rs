//! Assertions about what the spelling of a type does not show: aliases, newtypes and derived types. Generated
//! code evaluates them where the metadata is known.

mod fields;
mod flattened;
mod indexes;
mod variants;

use proc_macro2::Span;
use quote::ToTokens;
use syn::{Ident, LitStr, Type};

pub(crate) use self::fields::{DATES, KEYWORDS, LIST, NUMBER, TEXT, UNIQUE_LIST, UNKNOWN_WORDS};
pub(crate) use self::indexes::NO_PLACE;
use super::field::FieldFacts;
use super::index::{Index, Path};
use crate::model::rust_type::generic_types;
use crate::model::{Field, Model};

/// Every assertion about a struct or an enum.
pub(crate) struct Assertions<'a> {
    /// Groups of assertions. Each is a constant, whose evaluation ends with its first panic.
    pub(crate) constants: Vec<Vec<Assertion<'a>>>,
    /// Assertions about types that depend on a parameter. They are evaluated with the metadata of
    /// `Page<Contact>`, and again with that of `Page<Book>`.
    pub(crate) deferred: Vec<Assertion<'a>>,
    /// Nested fields that must exist, because indexes name them.
    pub(crate) nested: Vec<Path<'a>>,
}

/// One assertion. It fails to compile at `span`.
pub(crate) enum Assertion<'a> {
    /// A function of `odm::support` accepts a type.
    Holds {
        span: Span,
        /// The name of the function.
        test: &'static str,
        subject: Subject<'a>,
        message: String,
    },
    /// A function of `odm::support` finds no flaw in a type. The flaw is the message.
    Sound { span: Span, flaw: Flaw<'a> },
    /// No field of a type is stored under a name.
    NoFieldNamed {
        span: Span,
        ty: &'a Type,
        /// Whether the type may have no fields.
        probed: bool,
        name: LitStr,
        message: String,
    },
    /// No field of one type is stored under the name of a field of the other.
    NoSharedName {
        span: Span,
        types: [&'a Type; 2],
        message: String,
    },
    /// At most one of two keys goes through an array. Each has the types that it may find arrays in.
    NotParallel {
        span: Span,
        keys: [Vec<Subject<'a>>; 2],
        message: String,
    },
    /// The serializer of a field that may be null declares nothing, so that serde need not read a missing field.
    Defaults {
        span: Span,
        variant: Option<&'a Ident>,
        field: &'a Field,
        message: String,
    },
    /// The deferred assertions of a generic type hold of these parameters.
    Evaluated(&'a Type),
}

/// What an assertion is about.
#[derive(Clone, Copy)]
pub(crate) enum Subject<'a> {
    /// The stored type of a named field, in a variant if there is one.
    Field(&'a Field, Option<&'a Ident>),
    /// The type of an unnamed value.
    Value(&'a Type),
    /// The type at the end of a nested key.
    Nested(Path<'a>),
}

/// What may be wrong with a type.
pub(crate) enum Flaw<'a> {
    /// It contains documents or references other than those that a variant of `odm::support::Declared` allows.
    Undeclared(Subject<'a>, &'static str),
    /// It has two values that are stored as null.
    Null(&'a Type),
    /// It contains what a value in an array may not.
    Tuple(&'a Type),
    /// It is not the type of an id.
    Id(&'a Field),
}

impl<'a> Assertions<'a> {
    pub(super) fn new(
        model: &'a Model,
        fields: &[FieldFacts<'a>],
        indexes: &[Index<'a>],
        shard_key: Option<&Index<'a>>,
    ) -> Self {
        let stored = || fields.iter().filter(|one| !one.field.skipped);
        let (deferred, known): (Vec<_>, Vec<_>) =
            stored().partition(|one| one.depends_on_parameter);
        let mut constants: Vec<Vec<Assertion<'a>>> = known
            .into_iter()
            .map(|one| fields::of_field(model, one))
            .collect();
        constants.extend(variants::of_values(model));
        constants.push(evaluated(model));
        let mut together = flattened::all(fields);
        together.extend(
            indexes
                .iter()
                .flat_map(|index| indexes::of_index(model, index)),
        );
        let shard_keys = shard_key.into_iter();
        together.extend(shard_keys.flat_map(|one| indexes::of_shard_key(model, one)));
        constants.push(together);
        constants.retain(|group| !group.is_empty());
        let encoded = |one: &&FieldFacts<'_>| one.field.encoder.is_some();
        let mut deferred: Vec<Assertion<'a>> = deferred
            .into_iter()
            .filter(|one| !encoded(one))
            .filter_map(|one| fields::sound(model, one.field))
            .collect();
        deferred.extend(variants::deferred(model));
        Self {
            constants,
            deferred,
            nested: indexes
                .iter()
                .chain(shard_key)
                .flat_map(Index::paths)
                .filter(Path::is_nested)
                .collect(),
        }
    }
}

/// Evaluates the metadata of generic types whose parameters are known here.
fn evaluated(model: &Model) -> Vec<Assertion<'_>> {
    let mut seen: Vec<String> = Vec::new();
    let mut assertions = Vec::new();
    for ty in model.stored_types().into_iter().flat_map(generic_types) {
        let text = ty.to_token_stream().to_string();
        if !model.depends_on_parameter(ty) && !seen.contains(&text) {
            seen.push(text);
            assertions.push(Assertion::Evaluated(ty));
        }
    }
    assertions
}
