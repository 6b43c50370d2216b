//! Everything that generated code refers to; not part of the public API.

pub mod bytes;
mod collection;
mod flaws;
mod overflow;
mod probe;
mod rows;
mod serializer;
mod transaction;
mod type_checks;

pub use std::string::String;
pub use std::vec::Vec;

pub use bson::Bson;
pub use bson::error::Error as BsonError;
pub use odm_derive::{__relation, __row};
pub use serde::de::DeserializeOwned;
pub use serde::{Deserialize, Deserializer, Serialize, Serializer};

pub use self::collection::{collection_flaw, files_flaw};
pub use self::overflow::{cascades_by, has_bounded_list, has_list, has_versions};
pub use crate::buckets::BucketModel;
pub use crate::collection::decodes;
pub use crate::collection::transaction::Tries;
pub use crate::error::Result;
pub use crate::gridfs::{CHUNK_SIZE, FileModel, NoMetadata};
pub use crate::model::field::VariantContent;
pub use crate::model::rule::Limit;
pub use crate::model::tree::{
    DeclaredTree, OrderedSiblings, PathId, Pattern, RootParent, SeveralParents, SingleParent,
    TreeDelete, TreeMeta,
};
pub use crate::model::variant::{DeclaredVariant, SameId};
pub use crate::model::{
    Bound, BsonType, BucketMeta, Budget, Capped, Clock, CollationMeta, Contents, CopyMeta,
    CounterpartKind, CounterpartMeta, Document, Embedded, EmbeddedMeta, EnumMeta, ExpressionRule,
    FieldMeta, FieldType, Guarantee, IndexMeta, InverseKind, InverseMeta, KeptKind, KeptMeta,
    KeyKind, KeyMeta, KeyReferenceMeta, Keys, KeywordsMeta, MapKey, ModelMeta, OnDelete,
    OverflowMeta, Path, Presence, ProjectedField, Projection, RecentMeta, RefTarget, RefreshMeta,
    RelationMeta, Rule, SchemaMeta, StepMeta, StepResult, SummaryKind, SummaryMeta, Tagging,
    Tailable, TimeSeriesMeta, TimestampsMeta, TypeMeta, ValidationAction, ValidationLevel,
    VariantMeta, VariantOf, VariantOfMeta, Versioned, ViewMeta, Writable,
};
pub use crate::overflow::OverflowModel;
pub use crate::pipeline::view_stages;
pub use crate::query::kind::{
    Additive, Bits, Growable, Integer, Keyed, Multiple, Number, Optional, Sequence, Temporal, Text,
};
pub use crate::query::typing::{
    Descend, Inside, Key, Keywords, KeywordsOf, Recent, Relation, Tagged,
};
pub use crate::query::{BySerde, Decode, Encode, Field, Marked, NamesFields, Unreached, With};
pub use crate::relation::typing::{And, AtMostOneKey, KeyReference, ManyKeys, OneKey};
pub use crate::relation::typing::{
    HasEmbeddedRelation, Many, NamedRelation, OfDocument, OfEmbedded, One, RelationName, Rest,
    RowOf,
};
pub use crate::relation::{Has, Inverse, Joined};
pub use crate::types::RefersTo;
pub use crate::types::dbref::DbRefFields;
pub use crate::types::foreign::{Form, Undeclared, defaults, form, undeclared};
pub use crate::types::money::AmountIn;
pub use crate::types::tree::{
    Ancestors, Children, Depth as NodeDepth, KeptAs, Left, Materialized, NodeCount, Parent, Rank,
    Right,
};

pub use self::flaws::{Declared, bare_flaw, flaw, id_flaw, null_flaw, tuple_flaw};
pub use self::probe::{
    Fields, Holding, PartFits, PartOf, Partial, Pass, Probe, Sound, Unprobed, WholeFits,
};
pub use self::transaction::{ErrorOf, error_of};
pub use self::type_checks::{
    can_total, has_elements, has_fields, is_date, is_integer, is_known_date, is_known_one_date,
    is_list, is_list_of_text, is_mean, is_measure, is_no_list, is_no_map, is_nullable, is_number,
    is_object_id, is_one_date, is_one_number, is_one_value, is_start_date, is_text,
    may_hold_documents, may_hold_place, may_hold_text, takes_a_tag,
};

use crate::model::Shape;
use crate::model::name::{same, same_path};
use crate::query::Filter;

/// A field that is always written, without rules.
pub const fn field(rust: &'static str, name: &'static str, ty: TypeMeta) -> FieldMeta {
    FieldMeta::always(rust, name, ty)
}

/// A field that is always written and has a default, without rules.
pub const fn defaulted(rust: &'static str, name: &'static str, ty: TypeMeta) -> FieldMeta {
    FieldMeta {
        presence: Presence::Defaulted,
        ..FieldMeta::always(rust, name, ty)
    }
}

/// The result of a step of a schema.
///
/// # Errors
///
/// The step failed.
pub fn step(result: impl StepResult) -> std::result::Result<(), String> {
    result.into_result()
}

/// An index without options.
pub const fn index(keys: &'static [KeyMeta]) -> IndexMeta {
    IndexMeta {
        name: None,
        keys,
        unique: false,
        sparse: false,
        hidden: false,
        partial: None,
        expire_after_seconds: None,
        collation: None,
        default_language: None,
        language_override: None,
        variant: None,
        wildcard_projection: &[],
    }
}

/// The tree of a struct whose declaration is refused.
pub const NO_TREE: &TreeMeta = &TreeMeta {
    name: "",
    pattern: Pattern::ParentReferences,
    parent: None,
    children: None,
    ancestors: None,
    path: None,
    bounds: None,
    depth: None,
    order: None,
    scope: None,
    child_count: None,
    descendant_count: None,
    max_depth: None,
    on_delete: TreeDelete::Restrict,
    is_graph: false,
};

/// The model of a struct whose declaration is refused. The refusal stands beside it, so nothing reads it.
pub const NO_MODEL: &ModelMeta = &ModelMeta::EMPTY;

/// The type of a derived struct or enum.
pub const fn embedded<T: Embedded>() -> TypeMeta {
    TypeMeta::of(Shape::Embedded(T::meta))
}

/// The type of a derived struct that has a collection.
pub const fn document<T: Embedded>() -> TypeMeta {
    let ty = embedded::<T>();
    let mut contents = ty.contents;
    contents.has_collection = true;
    ty.holding(contents)
}

/// The type of a struct that pipelines make, and no document holds.
pub const fn result<T: Embedded>() -> TypeMeta {
    let ty = embedded::<T>();
    let mut contents = ty.contents;
    contents.is_result = true;
    ty.holding(contents)
}

/// The type of an enum of unit variants.
pub const fn choice(names: &'static [&'static str]) -> TypeMeta {
    TypeMeta::of(Shape::OneOf(names))
}

/// The type of a tuple struct: an array of its values.
pub const fn tuple(types: &'static [TypeMeta], contents: &[Contents]) -> TypeMeta {
    let mut all = Contents::NONE;
    let mut rest = contents;
    while let [first, behind @ ..] = rest {
        all = all.and(*first);
        rest = behind;
    }
    let ty = TypeMeta::of(Shape::Tuple(types));
    all.documents = all.documents.at_most_fixed();
    all.references = all.references.at_most_fixed();
    all.null_is_ambiguous = false;
    all.bare = None;
    ty.holding(all)
}

/// The type of a newtype around `ty`. The declaration of the newtype reports an ambiguous null, so its users
/// need not.
pub const fn forwarded(ty: TypeMeta) -> TypeMeta {
    let mut contents = ty.contents;
    contents.null_is_ambiguous = false;
    contents.bare = None;
    ty.holding(contents)
}

/// The document of a filter in an attribute.
pub fn filter<M: Embedded, F>(make: F) -> Result<bson::Document>
where
    F: FnOnce(M::Fields<M>) -> Filter<M>,
{
    make(crate::query::fields::<M>()).to_document()
}

/// A function that serializes values of type `T`, as a type.
pub trait SerializeWith<T: ?Sized> {
    /// Calls the function.
    fn serialize<S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error>;
}

/// Encodes a value by such a function.
pub fn encode_with<T: ?Sized, E: SerializeWith<T>>(value: &T) -> Result<Bson> {
    struct With<'a, T: ?Sized, E>(&'a T, std::marker::PhantomData<E>);
    impl<T: ?Sized, E: SerializeWith<T>> Serialize for With<'_, T, E> {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            E::serialize(self.0, serializer)
        }
    }
    crate::query::encode(&With::<T, E>(value, std::marker::PhantomData))
}

/// Checks that a projection can hold what the model stores.
#[diagnostic::on_unimplemented(
    message = "the model declares this field as `{T}`",
    label = "can't hold a `{T}`",
    note = "declare it as `{T}`, or as an `Option` of it"
)]
pub trait Projects<T> {}

impl<T> Projects<T> for T {}

impl<T> Projects<T> for Option<T> {}

/// A key that a field declared as `T` holds, or none.
#[diagnostic::on_unimplemented(
    message = "a key of the type `{Self}` refers to a field declared as `{T}`",
    label = "is never equal to a `{T}`",
    note = "declare the reference as the type of that field, without its `Option`, or as an `Option` or a `Vec` of it"
)]
pub trait KeyIn<T> {}

impl<T> KeyIn<T> for T {}

impl<T> KeyIn<Option<T>> for T {}

/// Checks that a sum is of the same type as what it adds up: amounts of one currency do not become another one.
#[diagnostic::on_unimplemented(
    message = "the sum of fields declared as `{T}` is no `{Self}`",
    label = "not a sum of `{T}`",
    note = "declare the sum as the type of the field that it adds up, or as a number such as `i64`"
)]
pub trait AddsUp<T> {}

impl<T> AddsUp<T> for T {}

impl<T> AddsUp<Option<T>> for T {}

/// Whether the field `rust` is stored as `name`. A missing field counts, too: the code that names its handle
/// does not compile.
pub const fn stores(meta: &EmbeddedMeta, rust: &str, name: &str) -> bool {
    match declared(meta.fields, rust) {
        Some(field) => same(field.name, name),
        None => true,
    }
}

/// The field with this Rust name.
const fn declared(fields: &'static [FieldMeta], rust: &str) -> Option<&'static FieldMeta> {
    let mut rest = fields;
    while let [field, behind @ ..] = rest {
        if same(field.rust, rust) {
            return Some(field);
        }
        rest = behind;
    }
    None
}

/// The stored type of the field that a path leads to; the function is never called.
pub const fn type_of<R, T: FieldType>(_path: fn(&R) -> Leaf<T>) -> TypeMeta {
    T::TYPE
}

/// The declared type of a field.
#[derive(Debug)]
pub struct Leaf<T>(std::marker::PhantomData<T>);

impl<T> Leaf<T> {
    /// Compiles if a field declared as `P` can hold what this one stores.
    pub fn fits<P: Projects<T>>(self) {}

    /// Compiles if this field holds keys of the type `K`.
    pub fn holds_keys<K: KeyIn<T>>(self) {}

    /// Compiles if a field declared as `S` can hold the sum of values of this one.
    pub fn adds_up_to<S: AddsUp<T>>(self) {}

    /// The question whether a field declared as `P` can hold what this one stores.
    pub fn held_by<P>(self) -> Holding<P, T> {
        Holding(std::marker::PhantomData)
    }
}

/// Compiles if the field refers to documents of `M`.
pub fn refers_to<M: Document, F, T: RefersTo<M>, E>(_field: &Field<F, T, E>) {}

/// Compiles if the field refers to documents of `M` by a unique field other than the `_id`.
pub fn refers_by_key<M: Document, F, T, N: KeyReference<Target = M>, E>(
    _field: &Field<F, T, Tagged<Key<N>, E>>,
) {
}

/// Compiles if the field can be null.
pub fn can_be_null<F, T: CanBeNull, E>(_field: &Field<F, T, E>) {}

/// A reference that can be null.
#[diagnostic::on_unimplemented(
    message = "`set_null` makes references null, and this one is declared as `{Self}`",
    label = "the reference is never null",
    note = "declare the reference as an `Option`, or choose another policy, such as `cascade` or `restrict`"
)]
pub trait CanBeNull {}

impl<T> CanBeNull for Option<T> {}

/// The one key that a stored key was read as.
pub fn one_key<K>(key: Option<K>) -> std::result::Result<K, BsonError> {
    key.ok_or_else(|| serde::de::Error::custom("the deserializer of the field reads a key as none"))
}

/// Whether the field `field` of `T` refers to the unique field `key` of another model.
pub const fn refers_by<T: Document>(field: &str, key: &str) -> bool {
    match declared(T::META.fields, field) {
        Some(FieldMeta {
            refers_to: Some(reference),
            ..
        }) => same(reference.by, key),
        _ => false,
    }
}

/// Whether the field `key` of `T` can be stored as a reference of the type `ty` stores it.
pub const fn keys_can_match<T: Document>(ty: &TypeMeta, key: &str) -> bool {
    match declared(T::META.fields, key) {
        Some(key) => type_checks::may_be_equal(ty, &key.ty),
        None => true,
    }
}

/// Whether the field `source` of `T` is stored as the type `ty`, or may be.
pub const fn is_stored_alike<T: Embedded>(ty: &TypeMeta, source: &str) -> bool {
    match declared(T::META.fields, source) {
        Some(source) => type_checks::may_be_alike(ty, &source.ty),
        None => true,
    }
}

/// Whether the field `source` of `T` is stored as a number, or may be.
pub const fn stores_numbers<T: Document>(source: &str) -> bool {
    match declared(T::META.fields, source) {
        Some(source) => is_number(&source.ty),
        None => true,
    }
}

/// Whether a total of the type `ty` can add up the field `source` of `T`.
pub const fn adds_up<T: Embedded>(ty: &TypeMeta, source: &str) -> bool {
    match declared(T::META.fields, source) {
        Some(source) => can_total(ty, &source.ty),
        None => true,
    }
}

/// The model of `T`.
pub const fn model_of<T: Document>() -> fn() -> &'static ModelMeta {
    T::model
}

/// Whether documents of `T` are written: it is no view.
pub const fn is_stored<T: Document>() -> bool {
    T::MODEL.view.is_none()
}

/// Whether the collection of `T` has no documents of other models.
pub const fn is_alone<T: Document>() -> bool {
    T::META.variants.is_none() && T::MODEL.variant_of.is_none()
}

/// Whether the field of `T` changes only where an update names it: it is neither a copy nor a summary, and no write maintains it. A
/// missing field counts, too: the code that names its handle does not compile.
pub const fn is_fact<T: Document>(field: &str) -> bool {
    match declared(T::META.fields, field) {
        Some(declared) => {
            declared.copy_of.is_none()
                && declared.summary.is_none()
                && !is_maintained(T::MODEL, declared.name)
                && !is_recent(T::MODEL, field)
        }
        None => true,
    }
}

/// Whether the field of `T` is not marked as changing often.
pub const fn changes_seldom<T: Document>(field: &str) -> bool {
    match declared(T::META.fields, field) {
        Some(declared) => !declared.often,
        None => true,
    }
}

/// Whether the field of `T` is marked as changing often. A missing field counts, too: the code that names its handle does not compile.
pub const fn changes_often<T: Document>(field: &str) -> bool {
    match declared(T::META.fields, field) {
        Some(declared) => declared.often,
        None => true,
    }
}

/// Whether typed writes set the field with this stored name by themselves.
const fn is_maintained(model: &ModelMeta, name: &str) -> bool {
    if is_name(model.version, name) {
        return true;
    }
    if let Some(times) = model.timestamps
        && (is_name(times.created_at, name) || is_name(times.updated_at, name))
    {
        return true;
    }
    let mut rest = model.keywords;
    while let [keywords, behind @ ..] = rest {
        if same(keywords.field, name) {
            return true;
        }
        rest = behind;
    }
    match model.bucket {
        Some(bucket) => bucket.writes(name),
        None => false,
    }
}

const fn is_name(one: Option<&str>, name: &str) -> bool {
    match one {
        Some(one) => same(one, name),
        None => false,
    }
}

/// Whether the field is a list of the newest.
const fn is_recent(model: &ModelMeta, field: &str) -> bool {
    let mut rest = model.declared_relations;
    while let [one, behind @ ..] = rest {
        if let RelationMeta::Recent(recent) = one
            && same(recent.field, field)
        {
            return true;
        }
        rest = behind;
    }
    false
}

/// Whether `T` declares a relation by the reference `by`, which is a field of the other model or, inside of subdocuments, the
/// last name of a longer path.
pub const fn is_found_by<T: Document>(by: &str, is_inside: bool) -> bool {
    let mut rest = T::MODEL.declared_relations;
    while let [one, behind @ ..] = rest {
        if let RelationMeta::Inverse(one) = one
            && let [around @ .., last] = one.by
            && same(last, by)
            && (is_inside || around.is_empty())
        {
            return true;
        }
        rest = behind;
    }
    false
}

/// Whether an index finds documents of `T` by equality of the field with these Rust names: an index whose first key is the
/// field and that covers all documents, or the one of `_id`.
pub const fn is_served<T: Document>(path: &[&str]) -> bool {
    if is_id::<T>(path) {
        return true;
    }
    let mut rest = T::MODEL.indexes;
    while let [index, behind @ ..] = rest {
        if index.serves_equality(path) {
            return true;
        }
        rest = behind;
    }
    false
}

/// Whether at most one document of `T` has a given value of the field with these Rust names: a unique index is on that field
/// alone, or it is the `_id`.
pub const fn is_unique<T: Document>(path: &[&str]) -> bool {
    if is_id::<T>(path) {
        return true;
    }
    let mut rest = T::MODEL.indexes;
    while let [index, behind @ ..] = rest {
        if index.is_unique_on(path) {
            return true;
        }
        rest = behind;
    }
    false
}

const fn is_id<T: Document>(path: &[&str]) -> bool {
    if let [only] = path
        && let Some(field) = declared(T::META.fields, only)
    {
        return same(field.name, "_id");
    }
    false
}

/// Whether a reference of `T` declares this counterpart: `name`, on `field` if that is known. A missing field counts, too: the
/// code that names its handle does not compile.
pub const fn has_counterpart<T: Document>(
    kind: CounterpartKind,
    field: Option<&str>,
    name: &str,
) -> bool {
    if let Some(field) = field
        && declared(T::META.fields, field).is_none()
    {
        return true;
    }
    let mut rest = T::META.fields;
    while let [one, behind @ ..] = rest {
        let is_field = match field {
            Some(field) => same(one.rust, field),
            None => true,
        };
        if let Some(counterpart) = &one.counterpart
            && counterpart.kind as u8 == kind as u8
            && is_field
            && same(counterpart.name, name)
        {
            return true;
        }
        rest = behind;
    }
    false
}

/// Whether `T` declares `subset(name: …, by = field)`.
pub const fn has_subset<T: Document>(name: &str, field: &str) -> bool {
    let mut rest = T::MODEL.declared_relations;
    while let [one, behind @ ..] = rest {
        if let RelationMeta::Inverse(one) = one
            && matches!(one.kind, InverseKind::Rest)
            && same(one.name, name)
            && same_path(one.by, &[field])
        {
            return true;
        }
        rest = behind;
    }
    false
}

/// Compiles if `E` holds a part of documents of `M`.
pub const fn copies<M: Embedded, E: Projection<Of = M> + Embedded>() {}

/// Compiles if the field is a list that copies documents of `M`.
pub fn copied_into<M: Document, F, T, E: CopiesOf<M>>(_field: &Field<F, T, E>) {}

/// The encoder of a list that copies the newest documents of `M`.
#[diagnostic::on_unimplemented(
    message = "this field does not copy the newest documents of `{M}`",
    label = "not a list of the newest `{M}`",
    note = "write `#[odm(recent({M}, max = …, sort = …))]` on it, where it is declared"
)]
pub trait CopiesOf<M> {}

impl<M, E> CopiesOf<M> for Tagged<Recent<M>, E> {}

/// The declared type of `field`.
pub fn leaf<M, T, E>(_field: &Field<M, T, E>) -> Leaf<T> {
    Leaf(std::marker::PhantomData)
}

/// Whether one of the fields is stored as `name`.
pub const fn has_name(fields: &[FieldMeta], name: &str) -> bool {
    let mut rest = fields;
    while let [field, behind @ ..] = rest {
        if !field.flatten && same(field.name, name) {
            return true;
        }
        rest = behind;
    }
    false
}

/// Whether two structs have a stored name in common.
pub const fn share_a_name(a: &[FieldMeta], b: &[FieldMeta]) -> bool {
    let mut rest = a;
    while let [field, behind @ ..] = rest {
        if !field.flatten && has_name(b, field.name) {
            return true;
        }
        rest = behind;
    }
    false
}

/// Implements the marker traits of its inner type for a newtype. The bounds are higher-ranked, so that a
/// bound that does not hold leaves an implementation out instead of failing to compile.
#[doc(hidden)]
#[macro_export]
macro_rules! __odm_forward {
    ([$($support:tt)*] [$($parameters:tt)*] [$($this:tt)*] [$inner:ty] [$wrap:expr] [$($predicates:tt)*]) => {
        const _: () = {
            use $($support)* as __odm_support;
            impl $($parameters)* __odm_support::Text for $($this)* where $($predicates)* for<'__odm> $inner: __odm_support::Text {}
            impl $($parameters)* __odm_support::Number for $($this)* where $($predicates)* for<'__odm> $inner: __odm_support::Number {}
            impl $($parameters)* __odm_support::Additive for $($this)* where $($predicates)* for<'__odm> $inner: __odm_support::Additive {}
            impl $($parameters)* __odm_support::Multiple for $($this)* where $($predicates)* for<'__odm> $inner: __odm_support::Multiple {}
            impl $($parameters)* __odm_support::Integer for $($this)* where $($predicates)* for<'__odm> $inner: __odm_support::Integer {}
            impl $($parameters)* __odm_support::Bits for $($this)* where $($predicates)* for<'__odm> $inner: __odm_support::Bits {}
            impl $($parameters)* __odm_support::Temporal for $($this)* where $($predicates)* for<'__odm> $inner: __odm_support::Temporal {
                const KIND: &'static ::core::primitive::str = <$inner as __odm_support::Temporal>::KIND;
            }
            impl $($parameters)* __odm_support::Optional for $($this)* where $($predicates)* for<'__odm> $inner: __odm_support::Optional {}
            impl $($parameters)* __odm_support::Sequence for $($this)* where $($predicates)* for<'__odm> $inner: __odm_support::Sequence {
                type Element = <$inner as __odm_support::Sequence>::Element;
                const COPIES: usize = <$inner as __odm_support::Sequence>::COPIES;
                fn of_one(element: <$inner as __odm_support::Sequence>::Element) -> ::core::option::Option<Self> {
                    <$inner as __odm_support::Sequence>::of_one(element).and_then($wrap)
                }
            }
            impl $($parameters)* __odm_support::MapKey for $($this)* where $($predicates)* for<'__odm> $inner: __odm_support::MapKey {
                const KEYS: __odm_support::Keys = <$inner as __odm_support::MapKey>::KEYS;
            }
            impl $($parameters)* __odm_support::Growable for $($this)* where $($predicates)* for<'__odm> $inner: __odm_support::Growable {}
            impl $($parameters)* __odm_support::Keyed for $($this)* where $($predicates)* for<'__odm> $inner: __odm_support::Keyed {
                type Value = <$inner as __odm_support::Keyed>::Value;
            }
            impl $($parameters)* __odm_support::Inside for $($this)* where $($predicates)* for<'__odm> $inner: __odm_support::Inside {
                type Inside = <$inner as __odm_support::Inside>::Inside;
            }
        };
    };
}
pub use crate::__odm_forward as forward;

/// Implements the marker traits of the stored type for a newtype with a serializer of its own.
#[doc(hidden)]
#[macro_export]
macro_rules! __odm_forward_stored {
    ([$($support:tt)*] [$($parameters:tt)*] [$($this:tt)*] [$stored:ty] [$($predicates:tt)*]) => {
        const _: () = {
            use $($support)* as __odm_support;
            impl $($parameters)* __odm_support::Text for $($this)* where $($predicates)* for<'__odm> $stored: __odm_support::Text {}
            impl $($parameters)* __odm_support::Number for $($this)* where $($predicates)* for<'__odm> $stored: __odm_support::Number {}
            impl $($parameters)* __odm_support::Additive for $($this)* where $($predicates)* for<'__odm> $stored: __odm_support::Additive {}
            impl $($parameters)* __odm_support::Multiple for $($this)* where $($predicates)* for<'__odm> $stored: __odm_support::Multiple {}
            impl $($parameters)* __odm_support::Integer for $($this)* where $($predicates)* for<'__odm> $stored: __odm_support::Integer {}
            impl $($parameters)* __odm_support::Bits for $($this)* where $($predicates)* for<'__odm> $stored: __odm_support::Bits {}
            impl $($parameters)* __odm_support::Temporal for $($this)* where $($predicates)* for<'__odm> $stored: __odm_support::Temporal {
                const KIND: &'static ::core::primitive::str = <$stored as __odm_support::Temporal>::KIND;
            }
            impl $($parameters)* __odm_support::Optional for $($this)* where $($predicates)* for<'__odm> $stored: __odm_support::Optional {}
        };
    };
}
pub use crate::__odm_forward_stored as forward_stored;

#[cfg(test)]
#[expect(
    unused_lifetimes,
    reason = "`forward!` bounds types for every lifetime on purpose"
)]
mod tests;
