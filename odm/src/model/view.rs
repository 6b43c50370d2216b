//! What a view is computed from.

use bson::Document;

use super::ModelMeta;
use crate::error::{DeclarationError, Error, Result};

/// A view as `#[odm(view(on = Book, pipeline = stages))]` declares it.
#[derive(Debug, Clone, Copy)]
pub struct ViewMeta {
    /// The model whose documents the view reads: of a collection, or of another view.
    pub on: fn() -> &'static ModelMeta,
    /// Returns the stages, with these names of collections.
    pub pipeline: fn(&ActualNames<'_>) -> Result<Vec<Document>>,
}

/// The names that a handle uses for declared collections.
pub type ActualNames<'a> = dyn Fn(&'static str) -> String + 'a;

/// How many views MongoDB reads through.
const DEEPEST: usize = 20;

impl ModelMeta {
    /// The number of views down to the collection; 0 for a collection.
    ///
    /// # Errors
    ///
    /// Views that read each other, or more of them than MongoDB reads through.
    pub(crate) fn depth_of_view(&'static self) -> Result<usize> {
        let mut names = vec![self.name];
        let mut view = self.view;
        while let Some(below) = view {
            let on = (below.on)();
            names.push(on.name);
            if names.len() > DEEPEST + 1 {
                names.truncate(5);
                let message = format!(
                    "MongoDB reads through at most {DEEPEST} views, and `{}`, … are more, or read each other: declare a view on the \
                     model of a collection",
                    names.join("` reads `"),
                );
                return Err(Error::new(DeclarationError::new(message)).with_model(self.name));
            }
            view = on.view;
        }
        Ok(names.len() - 1)
    }
}
