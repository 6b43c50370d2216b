//! Overflow documents, which hold what a list of another document has no room for: `overflow`.

use super::ModelMeta;
use super::bound::{self, ListBound};
use super::name;
use super::types::TypeMeta;
use crate::error::{DeclarationError, Error, Result};

/// An overflow, as `#[odm(overflow(…))]` declares it.
#[derive(Debug)]
pub struct OverflowMeta {
    /// The model whose documents' lists overflow; behind a function, so that models can refer to each other.
    pub of: fn() -> &'static ModelMeta,
    /// The stored name of the reference to the document whose list overflows.
    pub by: &'static str,
    /// The stored name of the number of an overflow document among those of one document.
    pub number: &'static str,
    /// The stored name of the list, in both models.
    pub list: &'static str,
    /// The largest number of elements in one overflow document.
    pub max: u32,
}

/// An overflow with what the models say of its fields.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OverflowShape {
    pub(crate) meta: &'static OverflowMeta,
    /// The bound of the list in the model whose lists overflow.
    pub(crate) inner: ListBound,
    /// The bound of the list in an overflow document.
    pub(crate) outer: ListBound,
    /// The stored type of the number.
    pub(crate) number: &'static TypeMeta,
}

impl ModelMeta {
    /// The overflow that the model declares.
    ///
    /// # Errors
    ///
    /// The model declares none, or the list has no bound.
    pub(crate) fn overflow_shape(&'static self) -> Result<OverflowShape> {
        let shape = OverflowShape::new(self).ok_or_else(|| {
            let message = "it has no overflow of a bounded list: declare `overflow(…)`";
            Error::new(DeclarationError::new(message.to_owned()))
        });
        shape.map_err(|error| error.with_model(self.name))
    }
}

impl OverflowShape {
    fn new(model: &'static ModelMeta) -> Option<Self> {
        let meta = model.overflow?;
        let mut fields = (model.embedded)().fields.iter();
        let number = fields.find(|field| name::same(field.name, meta.number))?;
        Some(Self {
            meta,
            inner: bound::at(((meta.of)().embedded)(), meta.list)?,
            outer: bound::at((model.embedded)(), meta.list)?,
            number: &number.ty,
        })
    }
}
