//! The stored form of the geometries: `{type, coordinates}`.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{self, DeserializeOwned, IgnoredAny, MapAccess, Visitor};
use serde::ser::SerializeStruct;
use serde::{Deserializer, Serialize, Serializer};

use super::error::GeoError;
use crate::model::{BsonType, Rule, Shape, TypeMeta};

/// A geometry with coordinates.
pub(super) trait Stored: Sized {
    /// The value of `type`.
    const NAME: &'static str;
    type Coordinates: Serialize + DeserializeOwned;

    fn coordinates(&self) -> Self::Coordinates;

    fn of(coordinates: Self::Coordinates) -> Result<Self, GeoError>;
}

pub(super) fn serialize<G: Stored, S: Serializer>(
    geometry: &G,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let mut document = serializer.serialize_struct(G::NAME, 2)?;
    document.serialize_field("type", G::NAME)?;
    document.serialize_field("coordinates", &geometry.coordinates())?;
    document.end()
}

pub(super) fn deserialize<'de, G: Stored, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<G, D::Error> {
    deserializer.deserialize_struct(G::NAME, &["type", "coordinates"], Read::<G>(PhantomData))
}

struct Read<G>(PhantomData<G>);

impl<'de, G: Stored> Visitor<'de> for Read<G> {
    type Value = G;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a GeoJSON {}", G::NAME)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<G, A::Error> {
        let mut is_named = false;
        let mut coordinates = None;
        while let Some(name) = members.next_key::<Cow<'de, str>>()? {
            match &*name {
                "type" => {
                    let found = members.next_value::<Cow<'de, str>>()?;
                    if found != G::NAME {
                        return Err(de::Error::custom(GeoError::Type {
                            expected: G::NAME,
                            found: found.into_owned(),
                        }));
                    }
                    is_named = true;
                }
                "coordinates" => coordinates = Some(members.next_value()?),
                // Other members of GeoJSON: `bbox`, `crs`.
                _ => {
                    members.next_value::<IgnoredAny>()?;
                }
            }
        }
        if !is_named {
            return Err(de::Error::missing_field("type"));
        }
        let coordinates = coordinates.ok_or_else(|| de::Error::missing_field("coordinates"))?;
        G::of(coordinates).map_err(de::Error::custom)
    }
}

/// A number of a position; other programs also write integers.
const NUMBER: TypeMeta = TypeMeta::scalar(&[BsonType::Double, BsonType::Int, BsonType::Long]);

/// `[longitude, latitude]`
pub(super) const POSITION: TypeMeta = TypeMeta::of(Shape::Tuple(
    const {
        &[
            NUMBER.with_rules(const { &[Rule::between(-180, 180)] }),
            NUMBER.with_rules(const { &[Rule::between(-90, 90)] }),
        ]
    },
));

/// An array of any length.
pub(super) const fn list(element: &'static TypeMeta) -> TypeMeta {
    TypeMeta::of(Shape::Array {
        element,
        len: None,
        unique: false,
    })
}

/// An array of at least `MIN` values.
pub(super) const fn at_least<const MIN: u32>(element: &'static TypeMeta) -> TypeMeta {
    list(element).with_rules(
        const {
            &[Rule::Items {
                min: Some(MIN),
                max: None,
            }]
        },
    )
}

/// Makes a geometry a field type: its name, the type of its coordinates.
macro_rules! geometry {
    ($type:ident, $name:literal, $coordinates:expr) => {
        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                $crate::types::geo::stored::serialize(self, serializer)
            }
        }

        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                $crate::types::geo::stored::deserialize(deserializer)
            }
        }

        const _: () = {
            use $crate::model::{
                Contents, EmbeddedMeta, FieldMeta, FieldType, Path, Shape, TypeMeta,
            };

            const META: EmbeddedMeta = EmbeddedMeta {
                fields: &[
                    FieldMeta::always("type", "type", TypeMeta::of(Shape::OneOf(&[$name]))),
                    FieldMeta::always("coordinates", "coordinates", $coordinates),
                ],
                ..EmbeddedMeta::of($name)
            };

            const fn meta() -> &'static EmbeddedMeta {
                &META
            }

            #[diagnostic::do_not_recommend]
            impl FieldType for $type {
                // A value, and not an embedded document that lists would have to bound.
                const TYPE: TypeMeta = TypeMeta::of(Shape::Embedded(meta)).holding(Contents::NONE);
                type Handle<M, As> = $crate::query::Field<M, As>;

                fn handle<M, As>(path: Path) -> $crate::query::Field<M, As> {
                    $crate::query::Field::at_path(path)
                }
            }

            #[diagnostic::do_not_recommend]
            impl $crate::types::geo::Geospatial for $type {}
        };
    };
}

pub(super) use geometry;
