//! The shapes of the documents between two stages.

use std::marker::PhantomData;

use crate::model::{Embedded, FieldType, Path};

/// The shape of the documents between two stages of a pipeline: a derived struct, or one [`With`] another value.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a shape that a pipeline's documents can have",
    label = "not a derived struct",
    note = "derive it: `#[derive(Embedded)]`, or `#[derive(Document)]` for what has a collection"
)]
pub trait Input {
    /// Where its parts are stored, which the type alone does not say.
    #[doc(hidden)]
    type Places: Clone;

    /// The typed fields that closures receive, for conditions and expressions over `M`.
    type Handles<M>;

    /// Makes the typed fields.
    #[doc(hidden)]
    fn handles<M>(places: &Self::Places) -> Self::Handles<M>;
}

impl<T: Embedded> Input for T {
    type Places = ();
    type Handles<M> = T::Fields<M>;

    fn handles<M>((): &()) -> T::Fields<M> {
        T::fields(Path::root())
    }
}

/// Documents of the shape `S`, and a value of the type `T` beside each: an element of a list after
/// [`unwind`](super::Pipeline::unwind), the documents that [`lookup`](super::Pipeline::lookup) found, or a value that
/// [`add_field`](super::Pipeline::add_field) computed. Closures receive both, `|(order, line)|`.
#[derive(Debug)]
pub struct With<S, T>(PhantomData<fn() -> (S, T)>);

impl<S: Input, T: FieldType> Input for With<S, T> {
    type Places = (S::Places, Path);
    type Handles<M> = (S::Handles<M>, T::Handle<M, T>);

    fn handles<M>((places, path): &(S::Places, Path)) -> Self::Handles<M> {
        (S::handles(places), T::handle(path.clone()))
    }
}
