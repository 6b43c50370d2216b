//! [`Page`]: documents, and the token of the documents after them.

use serde::Serialize;

use super::PageToken;

/// A page of documents: [`Find::page_after`](crate::collection::Find::page_after).
///
/// It serializes as `{"items": […], "next": "…"}`.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let (db, books) = three_books().await?;
/// let page = books.find_all().page_after(None, 3).await?;
/// assert_eq!((page.items.len(), page.next), (3, None));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Page<T> {
    /// The documents.
    pub items: Vec<T>,
    /// The token that [`page_after`](crate::collection::Find::page_after) takes for the next page; `None` if this one is the last.
    pub next: Option<PageToken>,
}
