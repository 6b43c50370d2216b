//! The macro `serializer!`.

/// Makes the module around it one that `#[serde(with = "…")]` can name, and that the derives know.
///
/// It takes a type that implements [`StoredAs`](crate::foreign::StoredAs), and writes the functions `serialize` and
/// `deserialize` and the type `OdmStored`. See [`foreign`](crate::foreign) for an example.
#[macro_export]
macro_rules! serializer {
    ($way:ty) => {
        $crate::__odm_serializer_items! {[$crate::foreign] [$crate::support] $way}
    };
}
