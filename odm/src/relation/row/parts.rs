//! A row as a tuple of its document and its relations.

use super::{And, Joined};

impl<T, L: IntoParts<T>> Joined<T, L> {
    /// The document and its relations, in the order in which they were joined: at most eight of them.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/authors.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (authors, books) = two_authors().await?;
    /// let row = authors.get(&1).join(|a| a.books).join(|a| a.books.count()).await?;
    /// let (author, books, count) = row.ok_or("no author")?.into_parts();
    /// assert_eq!((author.name.as_str(), books.len(), count), ("Austen", 2, 2));
    /// # Ok(())
    /// # }
    /// ```
    pub fn into_parts(self) -> L::Parts {
        self.joined.into_parts(self.document)
    }
}

/// Relations that form a tuple with the document `T`.
#[diagnostic::on_unimplemented(
    message = "a row with more than eight relations is no tuple",
    note = "read its relations by name, as `row.author()`, and its document as `row.document`"
)]
pub trait IntoParts<T> {
    /// The document, and the relations in the order in which they were joined.
    type Parts;

    /// Moves the document and the relations into a tuple.
    #[doc(hidden)]
    fn into_parts(self, document: T) -> Self::Parts;
}

/// Takes the name, the type and the variable of each relation, the last one first. The second list has them in the order
/// in which they were joined.
macro_rules! into_parts {
    ($($last:ident $value:ident)* ; $($first:ident)*) => {
        impl<T, $($last, $value),*> IntoParts<T> for into_parts!(@list $($last $value)*) {
            type Parts = (T, $($first),*);

            #[expect(non_snake_case, reason = "a relation has one name for its type and its value")]
            fn into_parts(self, document: T) -> Self::Parts {
                let into_parts!(@pattern $($value)*) = self;
                (document, $($first),*)
            }
        }
    };
    (@list) => { () };
    (@list $name:ident $value:ident $($rest:ident)*) => { And<$name, $value, into_parts!(@list $($rest)*)> };
    (@pattern) => { () };
    (@pattern $value:ident $($rest:ident)*) => {
        And { value: $value, rest: into_parts!(@pattern $($rest)*), .. }
    };
}

into_parts!(N1 A ; A);
into_parts!(N2 B N1 A ; A B);
into_parts!(N3 C N2 B N1 A ; A B C);
into_parts!(N4 D N3 C N2 B N1 A ; A B C D);
into_parts!(N5 E N4 D N3 C N2 B N1 A ; A B C D E);
into_parts!(N6 F N5 E N4 D N3 C N2 B N1 A ; A B C D E F);
into_parts!(N7 G N6 F N5 E N4 D N3 C N2 B N1 A ; A B C D E F G);
into_parts!(N8 H N7 G N6 F N5 E N4 D N3 C N2 B N1 A ; A B C D E F G H);
