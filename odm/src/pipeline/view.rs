//! What declares the pipeline of a view.

use bson::Document;

use super::input::Input;
use super::stage::{Results, Stages};
use super::stages::Pipeline;
use crate::error::Result;
use crate::model::ActualNames;

/// What a view of the type `V` over documents of `M` is computed by: a pipeline that makes documents of `V`, or stages written
/// by hand.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a pipeline from `{M}` to `{V}`",
    label = "expected a function that returns a `Pipeline<{M}, {V}>`, or a `Vec` of stages"
)]
pub trait IntoView<M, V> {
    /// Makes the stages.
    #[doc(hidden)]
    fn into_stages(self) -> Result<Stages>;
}

impl<M, V: Input> IntoView<M, V> for Pipeline<M, V> {
    fn into_stages(self) -> Result<Stages> {
        let stages = self.into_stages().map_err(|error| error.to_error())?;
        Ok(Stages::new(stages, Results::Documents))
    }
}

impl<M, V> IntoView<M, V> for Vec<Document> {
    fn into_stages(self) -> Result<Stages> {
        Ok(Stages::plain(self))
    }
}

/// The stages of a view; generated code calls it.
#[doc(hidden)]
pub fn view_stages<M, V, P: IntoView<M, V>>(
    pipeline: impl Fn() -> P,
    names: &ActualNames<'_>,
) -> Result<Vec<Document>> {
    Ok(pipeline().into_stages()?.with_names(names))
}
