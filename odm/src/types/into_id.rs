//! [`IntoId`]: what finds a document by its `_id`.

use super::Ref;
use crate::model::Document;
use crate::query::IntoValue;

/// The id of a document of `M`, or a reference to it.
///
/// That is a value of the declared `_id` ([`IntoValue`]), owned or borrowed, or a [`Ref<M>`](Ref). A reference to another model
/// does not compile. The compiler infers `By`, which says which of the two is given. If the `_id` is a reference itself, one that is
/// made in the call names its model: `rights.get(Ref::<Movie>::from(7))`.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/authors.rs"));
/// use odm::types::IntoId;
///
/// fn number<By>(author: impl IntoId<Author, By>) -> i32 {
///     author.into_id()
/// }
///
/// # fn main() {
/// let book = Book { id: 1, author: Ref::from(7), title: "Emma".to_owned(), year: 1815 };
/// assert_eq!((number(&book.author), number(&7), number(7)), (7, 7, 7));
/// # }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is neither the `_id` of `{M}` nor a reference to it",
    label = "expected the `_id` as `{M}` declares it, or a `Ref<{M}>`",
    note = "of a text, `Id::parse(text)?` makes an `Id`, and of an `ObjectId`, `Id::from(oid)`"
)]
pub trait IntoId<M: Document, By = ()> {
    /// The id as the model declares it.
    fn into_id(self) -> M::Id;
}

impl<M: Document, V: IntoValue<M::Id>> IntoId<M> for V {
    fn into_id(self) -> M::Id {
        self.into_value()
    }
}

impl<M: Document> IntoId<M, Ref<M>> for Ref<M> {
    fn into_id(self) -> M::Id {
        Self::into_id(self)
    }
}

impl<M: Document> IntoId<M, Ref<M>> for &Ref<M> {
    fn into_id(self) -> M::Id {
        self.id().clone()
    }
}
