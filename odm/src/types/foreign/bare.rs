//! Types that may be fields only with a serializer of the field: what the compiler says without one.

/// Implements `FieldType` for types whose own serde form is not the declared one. The derives refuse a field without a
/// serializer, with a message that has the line to add.
///
/// `[generics] Type: BsonType, "name", "what serde writes", "what the module stores", "the module";`
macro_rules! bare {
    ($([$($generics:tt)*] $type:ty: $kind:ident, $name:literal, $own:literal, $stored:literal, $with:literal;)*) => {$(
        #[diagnostic::do_not_recommend]
        impl<$($generics)*> $crate::model::FieldType for $type {
            const TYPE: $crate::model::TypeMeta =
                $crate::model::TypeMeta::scalar(&[$crate::model::BsonType::$kind]).bare(
                    &$crate::model::types::Bare {
                        field: concat!(
                            "serde writes a `", $name, "` as ", $own, ": to store ", $stored, ", write `#[serde(with = \"", $with,
                            "\")]` on the field"
                        ),
                        option: concat!(
                            "serde writes a `", $name, "` as ", $own, ": to store ", $stored, " or null, write `#[serde(default, with = \"",
                            $with, "\")]` on the field"
                        ),
                        id: concat!(
                            "serde writes a `", $name, "` as ", $own, ": to store ", $stored,
                            ", declare the id as a newtype that derives `Embedded`: `struct BookId(#[serde(with = \"", $with, "\")] ",
                            $name, ");`"
                        ),
                    },
                );
            type Handle<M, As> = $crate::query::Field<M, As>;

            fn handle<M, As>(path: $crate::model::Path) -> $crate::query::Field<M, As> {
                $crate::query::Field::at_path(path)
            }
        }
    )*};
}

pub(super) use bare;
