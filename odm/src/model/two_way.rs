//! References of two models that refer to each other: `two_way`.

use std::sync::{LazyLock, RwLock};

use super::once::{Found, once};
use super::relation::{Arity, CounterpartKind, ReferenceMeta, RelationMeta};
use super::{ModelMeta, name};
use crate::error::{DeclarationError, Error, Result};

/// A reference of a model, and the one that refers back.
#[derive(Debug)]
pub(crate) struct TwoWay {
    pub(crate) own: Side,
    pub(crate) other: Side,
}

/// One of the two references.
#[derive(Debug, Clone)]
pub(crate) struct Side {
    /// The model whose documents store the reference.
    pub(crate) model: &'static ModelMeta,
    /// The Rust name of the field.
    pub(crate) field: &'static str,
    /// The stored path of the field.
    pub(crate) path: String,
    /// The stored path of the field of this model whose value the other side stores.
    pub(crate) key: String,
    pub(crate) arity: Arity,
    /// Whether the field is left out where it has no value.
    pub(crate) is_skipped: bool,
}

static TWO_WAY: Found<Vec<TwoWay>> = LazyLock::new(RwLock::default);

impl ModelMeta {
    /// The references of this model that the model to which they lead returns.
    pub(crate) fn two_way(&'static self) -> Result<&'static [TwoWay]> {
        once(&TWO_WAY, self, || {
            let references = self.relations().iter();
            let references = references.filter_map(RelationMeta::as_reference);
            references.filter_map(|own| pair(self, own)).collect()
        })
        .map(Vec::as_slice)
        .map_err(|error| error.with_model(self.name))
    }
}

/// The two sides, if the reference is one of a `two_way` relation.
fn pair(model: &'static ModelMeta, own: &ReferenceMeta) -> Option<Result<TwoWay>> {
    let counterpart = own.counterpart?;
    if counterpart.kind != CounterpartKind::TwoWay {
        return None;
    }
    let mut others = own.target.relations().iter();
    let other = others.find_map(|one| {
        let one = one.as_reference()?;
        (one.name == counterpart.name && one.target.collection == model.collection).then_some(one)
    });
    let Some(other) = other else {
        let message = format!(
            "`{}` has no reference `{}` that leads back: write `#[odm(two_way = {})]` on it",
            own.target.name, counterpart.name, own.name
        );
        let error = Error::new(DeclarationError::new(message)).with_path(own.name.clone());
        return Some(Err(error));
    };
    let sides = Side::new(model, own, other.key)
        .and_then(|side| Ok((side, Side::new(own.target, other, own.key)?)));
    Some(sides.map(|(own, other)| TwoWay { own, other }))
}

impl Side {
    fn new(model: &'static ModelMeta, reference: &ReferenceMeta, key: &str) -> Result<Self> {
        let mut fields = (model.embedded)().fields.iter();
        let field = fields.find(|field| field.rust == reference.name);
        let resolved = name::resolve((model.embedded)(), &[&reference.name])?;
        let key = name::resolve((model.embedded)(), &[key])?;
        Ok(Self {
            model,
            field: field.map_or("", |field| field.rust),
            path: resolved.path.to_string(),
            key: key.path.to_string(),
            arity: reference.arity,
            is_skipped: resolved.is_skipped,
        })
    }

    /// Whether the field is a list.
    pub(crate) fn is_list(&self) -> bool {
        matches!(self.arity, Arity::Many { .. })
    }

    /// The largest number of elements of the list.
    pub(crate) fn max(&self) -> Option<u64> {
        match self.arity {
            Arity::Many { max } => max,
            Arity::One | Arity::AtMostOne => None,
        }
    }

    /// Whether the field can be without a reference.
    pub(crate) fn can_be_none(&self) -> bool {
        !matches!(self.arity, Arity::One)
    }
}
