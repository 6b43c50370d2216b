//! Relations that filter and sort a find by the documents on the other side.

use super::inverse::Inverse;
use super::reference::{KeyOf, Reference, ReferenceArity, RefersBy, StoresKey};
use crate::error::Result;
use crate::exec::{Link, Side};
use crate::model::{Document, Path, Segment, name};
use crate::query::Field;

/// A relation of `M` in `.where_any(|m| …)`: a field that refers to other documents, or an inverse relation,
/// which the struct declares.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a relation of `{M}`",
    label = "leads to no other document",
    note = "a reference is declared as `Ref<T>`, `Option<Ref<T>>` or `Vec<Ref<T>>`; an inverse relation on the struct, as `has_many(name: Model, by = field)`"
)]
pub trait IntoLink<M> {
    /// The documents on the other side.
    type Target: Document;

    /// The two ends.
    #[doc(hidden)]
    fn into_link(self) -> Result<Link>;
}

impl<M, V, E: RefersBy<V, Reference: StoresKey>> IntoLink<M> for Field<M, V, E> {
    type Target = <E::Reference as Reference>::Target;

    fn into_link(self) -> Result<Link> {
        Ok(Link {
            name: last_name(self.path()),
            target: Self::Target::model(),
            local: self.path().clone(),
            foreign: <E::Reference as Reference>::By::path()?.to_string(),
            side: Side::Reference {
                is_list: <E::Reference as Reference>::Arity::IS_LIST,
            },
        })
    }
}

impl<S, M: Document, N, T: Document, K> IntoLink<S> for Inverse<M, N, T, K> {
    type Target = T;

    fn into_link(self) -> Result<Link> {
        let meta = self.alone()?;
        let by = name::resolve(T::meta(), meta.by)?;
        let key = name::resolve(M::meta(), meta.key)?.path;
        Ok(Link {
            name: meta.name.to_owned(),
            target: T::model(),
            local: key
                .segments()
                .fold(self.place().clone(), |path, segment| path.then(segment)),
            foreign: by.path.to_string(),
            side: Side::Inverse {
                is_list: by.through_array,
                kind: meta.kind,
            },
        })
    }
}

/// The stored name of a field.
fn last_name(path: &Path) -> String {
    let names = path.segments().filter_map(|segment| match segment {
        Segment::Name(name) => Some(name.into_owned()),
        _ => None,
    });
    names.last().unwrap_or_default()
}
