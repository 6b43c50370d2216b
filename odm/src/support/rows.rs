//! Names of the types of rows: `row!` and `relation!`.

/// The type of a row, to name it in a struct, a return type or an argument.
///
/// The relations stand in the order of their joins, each with the type that its join loads: `Resolved<T>` for a
/// reference, `Vec<Arc<T>>` for `has_many`, `Option<Arc<T>>` for `has_one`; a join within a join loads rows, whose type
/// is another `row!`. A relation of an embedded type names that type (`Line::product: Resolved<Product>`), and rows of a
/// projection name it behind `as`: `row!(Book as Title { author: Resolved<Author> })`. Give the row a name by `type`, as
/// in the example: clippy calls it a very complex type elsewhere.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/authors.rs"));
/// use odm::relation::Resolved;
///
/// type BookRow = odm::row!(Book { author: Resolved<Author> });
///
/// async fn newest(books: &Collection<Book>) -> odm::Result<Option<BookRow>> {
///     let newest_first = books.find_all().sort(|b| b.year.desc());
///     newest_first.join(|b| b.author).first().await
/// }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let (authors, books) = two_authors().await?;
///
/// let row = newest(&books).await?.ok_or("no book")?;
/// assert_eq!(row.author().found().map(|author| author.name.as_str()), Some("Joyce"));
/// # Ok(())
/// # }
/// ```
///
/// For functions that read any rows with a relation, see [`relation!`](crate::relation!).
#[macro_export]
macro_rules! row {
    ($($of:tt)*) => {
        $crate::support::__row!(($crate::support) $($of)*)
    };
}

/// The type that names a relation, for bounds of functions that read rows of any join with it.
///
/// Write the path of the model and the relation: `relation!(Book::author)`, `relation!(crate::model::Book::author)`.
/// [`Has`](crate::relation::Has) says that a row has the relation, and what the
/// join loads. To name the type of one row, use [`row!`](crate::row!).
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/authors.rs"));
/// use odm::relation;
/// use odm::relation::{Has, Joined, Resolved};
///
/// /// For rows of any join that has loaded the author.
/// fn by_line<L, I>(row: &Joined<Book, L>) -> String
/// where
///     L: Has<relation!(Book::author), I, Value = Resolved<Author>>,
/// {
///     let author = row.author().found().map_or("unknown", |author| &author.name);
///     format!("{}, by {author}", row.title)
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let (authors, books) = two_authors().await?;
/// let rows = books.find(|b| b.year.gt(1900)).join(|b| b.author).all().await?;
/// assert_eq!(by_line(&rows[0]), "Ulysses, by Joyce");
/// # Ok(())
/// # }
/// ```
#[macro_export]
macro_rules! relation {
    ($($path:tt)*) => {
        $crate::support::__relation!(($crate::support) $($path)*)
    };
}
