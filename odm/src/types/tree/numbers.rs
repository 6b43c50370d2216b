//! Whole numbers that a tree keeps.

/// Declares a whole number, stored as `int`, or as `long` if it is larger.
macro_rules! number {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(i64);

        impl $name {
            /// A number to compare the field with.
            pub const fn new(number: i64) -> Self {
                Self(number)
            }

            /// The number.
            pub const fn get(self) -> i64 {
                self.0
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                match i32::try_from(self.0) {
                    Ok(small) => serializer.serialize_i32(small),
                    Err(_) => serializer.serialize_i64(self.0),
                }
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                i64::deserialize(deserializer).map(Self)
            }
        }

        $crate::query::scalars::field_type!(
            [] $name,
            $crate::model::TypeMeta::scalar(&[$crate::model::BsonType::Int, $crate::model::BsonType::Long])
        );
    };
}

pub(super) use number;
