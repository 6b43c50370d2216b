//! The typed fields of DBRefs, and how they are stored.

use std::fmt;
use std::ops::Deref;

use bson::Bson;

use super::{AnyDbRef, DbRef};
use crate::model::{
    BsonType, Contents, Document, EmbeddedMeta, FieldMeta, FieldType, Path, Presence, RefTarget,
    Shape, TypeMeta,
};
use crate::query::{BySerde, Field};

/// The typed fields of a [`DbRef`]. It derefs to the field as a whole, whose conditions compare the whole reference.
pub struct DbRefFields<M, As, T: RefTarget<TargetId: FieldType>, E = BySerde> {
    /// The name of the collection: `$ref`.
    pub collection: Field<M, String>,
    /// The id of the document: `$id`. An index of its own serves it: `index(publisher.id)`.
    pub id: <T::TargetId as FieldType>::Handle<M, T::TargetId>,
    /// The name of the database: `$db`.
    pub database: Field<M, Option<String>>,
    this: Field<M, As, E>,
}

impl<M, As, T: RefTarget<TargetId: FieldType>, E> DbRefFields<M, As, T, E> {
    /// The fields at `path`; generated code calls it.
    #[doc(hidden)]
    pub fn at_path(path: Path) -> Self {
        Self {
            collection: Field::at_path(path.child("$ref")),
            id: T::TargetId::handle(path.child("$id")),
            database: Field::at_path(path.child("$db")),
            this: Field::at_path(path),
        }
    }

    /// The field as a whole.
    pub(crate) fn into_whole(self) -> Field<M, As, E> {
        self.this
    }

    /// The fields inside; for the paths of indexes.
    #[doc(hidden)]
    pub fn descend(&self) -> &Self {
        self
    }
}

impl<M, As, T: RefTarget<TargetId: FieldType>, E> Deref for DbRefFields<M, As, T, E> {
    type Target = Field<M, As, E>;

    fn deref(&self) -> &Field<M, As, E> {
        &self.this
    }
}

impl<M, As, T: RefTarget<TargetId: FieldType>, E> fmt::Debug for DbRefFields<M, As, T, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DbRefFields({})", self.this.path())
    }
}

/// The typed fields of an [`AnyDbRef`]. It derefs to the field as a whole, whose conditions compare the whole reference.
pub struct AnyDbRefFields<M, As> {
    /// The name of the collection: `$ref`.
    pub collection: Field<M, String>,
    /// The id of the document: `$id`.
    pub id: Field<M, Bson>,
    /// The name of the database: `$db`.
    pub database: Field<M, Option<String>>,
    this: Field<M, As>,
}

impl<M, As> AnyDbRefFields<M, As> {
    /// The fields inside; for the paths of indexes.
    #[doc(hidden)]
    pub fn descend(&self) -> &Self {
        self
    }
}

impl<M, As> Deref for AnyDbRefFields<M, As> {
    type Target = Field<M, As>;

    fn deref(&self) -> &Field<M, As> {
        &self.this
    }
}

impl<M, As> fmt::Debug for AnyDbRefFields<M, As> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "AnyDbRefFields({})", self.this.path())
    }
}

impl<T: Document> DbRef<T> {
    const COLLECTIONS: &'static [&'static str] = &[T::MODEL.collection];

    const META: &'static EmbeddedMeta = &EmbeddedMeta {
        open: true,
        fields: &[
            FieldMeta::always(
                "collection",
                "$ref",
                TypeMeta::of(Shape::OneOf(Self::COLLECTIONS)),
            ),
            FieldMeta::always("id", "$id", Self::ID),
            DATABASE,
        ],
        ..EmbeddedMeta::of("DbRef")
    };

    const ID: TypeMeta = TypeMeta::of(Shape::Reference {
        to: T::model,
        id: &<T::Id as FieldType>::TYPE,
    });

    fn meta() -> &'static EmbeddedMeta {
        Self::META
    }
}

const STRING: TypeMeta = TypeMeta::scalar(&[BsonType::String]);

const DATABASE: FieldMeta = FieldMeta {
    presence: Presence::Sometimes,
    ..FieldMeta::always("database", "$db", STRING)
};

const ANY: EmbeddedMeta = EmbeddedMeta {
    open: true,
    fields: &[
        FieldMeta::always("collection", "$ref", STRING),
        FieldMeta::always("id", "$id", TypeMeta::ANY),
        DATABASE,
    ],
    ..EmbeddedMeta::of("AnyDbRef")
};

const fn any() -> &'static EmbeddedMeta {
    &ANY
}

impl<T: Document> FieldType for DbRef<T> {
    const TYPE: TypeMeta = TypeMeta::of(Shape::Embedded(Self::meta)).holding(Contents::REFERENCE);
    type Handle<M, As> = DbRefFields<M, As, T>;

    fn handle<M, As>(path: Path) -> DbRefFields<M, As, T> {
        DbRefFields::at_path(path)
    }
}

impl FieldType for AnyDbRef {
    const TYPE: TypeMeta = TypeMeta::of(Shape::Embedded(any));
    type Handle<M, As> = AnyDbRefFields<M, As>;

    fn handle<M, As>(path: Path) -> AnyDbRefFields<M, As> {
        AnyDbRefFields {
            collection: Field::at_path(path.child("$ref")),
            id: Field::at_path(path.child("$id")),
            database: Field::at_path(path.child("$db")),
            this: Field::at_path(path),
        }
    }
}
