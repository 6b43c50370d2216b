//! The handle of a value behind a `Box`, an `Arc` or an `Rc`.

use std::fmt;
use std::ops::Deref;
use std::rc::Rc;
use std::sync::{Arc, OnceLock};

use super::field::Field;
use crate::model::{FieldMeta, FieldType, Path, TypeMeta};

/// The handle of a value of type `T` behind a pointer, in a model `M`. It has the fields and the methods of the
/// handle of `T`.
///
/// ```
/// # use odm::prelude::*;
/// # use odm::query::fields;
/// #[derive(Serialize, Deserialize, Embedded)]
/// struct Comment {
///     text: String,
///     reply: Option<Box<Comment>>,
/// }
///
/// let comment = fields::<Comment>();
/// let filter = comment.reply.reply.text.eq("Yes");
/// assert_eq!(filter.to_document()?, doc! {"reply.reply.text": "Yes"});
/// # Ok::<(), odm::Error>(())
/// ```
// Models can contain themselves, so the handle inside is made when it is first used.
pub struct PointerFields<M, T: FieldType, As> {
    path: Path,
    inner: OnceLock<Box<T::Handle<M, As>>>,
}

impl<M, T: FieldType, As> Deref for PointerFields<M, T, As> {
    type Target = T::Handle<M, As>;

    fn deref(&self) -> &T::Handle<M, As> {
        self.inner
            .get_or_init(|| Box::new(T::handle(self.path.clone())))
    }
}

impl<M, T: FieldType, As> fmt::Debug for PointerFields<M, T, As> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PointerFields({})", self.path)
    }
}

macro_rules! pointers {
    ($($pointer:ident),*) => {$(
        impl<T: FieldType> FieldType for $pointer<T> {
            const TYPE: TypeMeta = T::TYPE;
            const FIELDS: &'static [FieldMeta] = T::FIELDS;
            type Handle<M, As> = PointerFields<M, T, As>;

            #[inline]
            fn handle<M, As>(path: Path) -> PointerFields<M, T, As> {
                PointerFields { path, inner: OnceLock::new() }
            }

            #[inline]
            fn stored(value: &Self) -> Option<bson::Bson> {
                T::stored(value)
            }
        }

        impl<M, T: FieldType> Field<M, $pointer<T>> {
            /// The typed handle of the inner value, for a handle that was made by hand.
            ///
            /// The handles that the derives make have the inner fields themselves.
            ///
            /// ```
            /// # use odm::prelude::*;
            /// # use odm::query::fields;
            /// # #[derive(Serialize, Deserialize, Embedded)]
            /// # struct Address { city: String }
            /// #[derive(Serialize, Deserialize, Embedded)]
            /// struct Author { address: Box<Address> }
            ///
            /// let author = fields::<Author>();
            /// assert_eq!(author.address.city.eq("Bath").to_document()?, doc! {"address.city": "Bath"});
            /// let address = author.address.fields();
            /// assert_eq!(address.city.eq("Bath").to_document()?, doc! {"address.city": "Bath"});
            /// # Ok::<(), odm::Error>(())
            /// ```
            pub fn fields(&self) -> T::Handle<M, T> {
                T::handle(self.path().clone())
            }
        }

        impl<M, T: FieldType> Field<M, Option<$pointer<T>>> {
            /// The typed handle of the inner value, for a handle that was made by hand.
            ///
            /// The handles that the derives make have the inner fields themselves.
            ///
            /// ```
            /// # use odm::prelude::*;
            /// # use odm::query::fields;
            /// #[derive(Serialize, Deserialize, Embedded)]
            /// struct Comment { text: String, reply: Option<Box<Comment>> }
            ///
            /// let reply = fields::<Comment>().reply.fields();
            /// assert_eq!(reply.text.eq("Yes").to_document()?, doc! {"reply.text": "Yes"});
            /// # Ok::<(), odm::Error>(())
            /// ```
            pub fn fields(&self) -> T::Handle<M, Option<T>> {
                T::handle(self.path().clone())
            }
        }
    )*};
}

pointers!(Box, Arc, Rc);
