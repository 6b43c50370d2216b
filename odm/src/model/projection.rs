//! Structs that hold a part of a document.

use serde::de::DeserializeOwned;

use super::Document;

/// A struct that `select` reads instead of whole documents: derive it with
/// `#[derive(Projection)]` and `#[odm(of = Book)]`, which checks names and types against the model.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a projection",
    label = "a whole document would be sent for it",
    note = "derive it: `#[derive(Deserialize, Projection)]` with `#[odm(of = Model)]`"
)]
pub trait Projection: DeserializeOwned {
    /// The model whose documents this struct reads.
    type Of: Document;

    /// The stored names that the projection requests. MongoDB returns `_id` only if it is among them.
    const FIELDS: &'static [&'static str];
}
