//! `compound!`: types that store one value in several named fields.

/// Makes a type of several stored fields a field type, as `#[derive(Embedded)]` makes a struct: the struct of its typed
/// fields, and its metadata. `date: DateTime = F::DATE` is a `DateTime` that is stored as `F::DATE`.
///
/// The typed fields deref to `$whole`, the handle of the value as a whole. A handle other than `Field<M, As>` has stored
/// fields of its own, which stand in the braces after it.
macro_rules! compound {
    (
        $(#[$attribute:meta])*
        pub struct $handle:ident of $type:ident<$($param:ident: $bound:path),+>
        in $whole:ty { $($inherited:ident: $inherited_type:ty = $inherited_name:expr),* }
        {
            $($(#[$doc:meta])* $part:ident: $part_type:ty = $name:expr,)+
        }
        ordered_by: $order:expr,
        contents: $contents:expr,
    ) => {
        $(#[$attribute])*
        pub struct $handle<M, $($param: $bound,)+ As = $type<$($param),+>> {
            $($(#[$doc])* pub $part: $crate::query::Field<M, $part_type>,)+
            whole: $whole,
        }

        impl<M, $($param: $bound,)+ As> $handle<M, $($param,)+ As> {
            /// The typed fields of a value at `path`.
            #[inline]
            pub(super) fn at_path(path: $crate::model::Path) -> Self {
                Self {
                    $($part: $crate::query::Field::at_path(path.child($name)),)+
                    whole: <$whole>::at_path(path),
                }
            }
        }

        impl<M, $($param: $bound,)+ As> std::ops::Deref for $handle<M, $($param,)+ As> {
            type Target = $whole;

            fn deref(&self) -> &Self::Target {
                &self.whole
            }
        }

        impl<M, $($param: $bound,)+ As> Clone for $handle<M, $($param,)+ As> {
            fn clone(&self) -> Self {
                Self {
                    $($part: self.$part.clone(),)+
                    whole: self.whole.clone(),
                }
            }
        }

        impl<M, $($param: $bound,)+ As> std::fmt::Debug for $handle<M, $($param,)+ As> {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, concat!(stringify!($handle), "({})"), self.path())
            }
        }

        const _: () = {
            use $crate::model::{Embedded, EmbeddedMeta, FieldMeta, FieldType, Path, Shape, TypeMeta};

            impl<$($param: $bound),+> FieldType for $type<$($param),+> {
                const TYPE: TypeMeta =
                    TypeMeta::of(Shape::Embedded(<Self as Embedded>::meta)).holding($contents);
                const FIELDS: &'static [FieldMeta] = <Self as Embedded>::META.fields;
                type Handle<M, As> = $handle<M, $($param,)+ As>;

                #[inline]
                fn handle<M, As>(path: Path) -> Self::Handle<M, As> {
                    $handle::at_path(path)
                }
            }

            impl<$($param: $bound),+> Embedded for $type<$($param),+> {
                type Fields<M> = $handle<M, $($param),+>;

                const META: &'static EmbeddedMeta = &EmbeddedMeta {
                    ordered_by: $order,
                    fields: &[
                        $(FieldMeta::always(
                            stringify!($inherited),
                            $inherited_name,
                            <$inherited_type as FieldType>::TYPE,
                        ),)*
                        $(FieldMeta::always(
                            stringify!($part),
                            $name,
                            <$part_type as FieldType>::TYPE,
                        ),)+
                    ],
                    ..EmbeddedMeta::of(stringify!($type))
                };

                #[inline]
                fn fields<M>(path: Path) -> Self::Fields<M> {
                    Self::handle(path)
                }
            }

            impl<$($param: $bound),+> $crate::query::typing::Inside for $type<$($param),+> {
                type Inside = Self;
            }
        };
    };
}

pub(super) use compound;
