//! The names of collections: as models declare them, or as a handle replaces them.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use bson::Bson;

use crate::model::ModelMeta;

/// The name of a collection: the one that a model declares, or one that was made at run time.
#[derive(Debug, Clone)]
pub(crate) enum CollectionName {
    Declared(&'static str),
    Chosen(Arc<str>),
    /// A part of a collection: the documents of one of its models.
    Part(Arc<Part>),
}

/// The documents of one model in a collection of several.
#[derive(Debug)]
pub(crate) struct Part {
    collection: CollectionName,
    /// The stored name of the field that says of which model a document is.
    pub(crate) tag: &'static str,
    /// Its value in these documents.
    pub(crate) value: &'static str,
    /// The model of the whole collection, for messages.
    pub(crate) whole: &'static str,
}

impl CollectionName {
    /// The part of the collection that is named, if not all of it.
    #[inline]
    pub(crate) fn part(&self) -> Option<&Arc<Part>> {
        match self {
            Self::Part(part) => Some(part),
            Self::Declared(_) | Self::Chosen(_) => None,
        }
    }

    /// The name of the whole collection.
    pub(crate) fn whole(self) -> Self {
        match self {
            Self::Part(part) => part.collection.clone(),
            whole => whole,
        }
    }
}

impl Deref for CollectionName {
    type Target = str;

    #[inline]
    fn deref(&self) -> &str {
        match self {
            Self::Declared(name) => name,
            Self::Chosen(name) => name,
            Self::Part(part) => &part.collection,
        }
    }
}

impl fmt::Display for CollectionName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self)
    }
}

impl PartialEq for CollectionName {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for CollectionName {}

impl From<CollectionName> for Bson {
    fn from(name: CollectionName) -> Self {
        Self::from(&*name)
    }
}

/// The name that the handle uses for each declared name.
#[derive(Clone, Default)]
pub(crate) struct CollectionNames(Option<Arc<Rename>>);

type Rename = dyn Fn(&'static str) -> CollectionName + Send + Sync;

impl CollectionNames {
    /// The collection of a model, or the part of it that has the documents of the model.
    #[inline]
    pub(crate) fn of_model(&self, model: &ModelMeta) -> CollectionName {
        let collection = self.of(model.collection);
        match model.variant_of {
            None => collection,
            Some(of) => CollectionName::Part(Arc::new(Part {
                collection,
                tag: of.tag,
                value: of.name,
                whole: (of.model)().name,
            })),
        }
    }

    /// The name that the handle uses instead of the declared one.
    #[inline]
    pub(crate) fn of(&self, declared: &'static str) -> CollectionName {
        match &self.0 {
            None => CollectionName::Declared(declared),
            Some(rename) => rename(declared),
        }
    }

    /// These names, with another one for the collection that is declared with the name `declared`.
    pub(crate) fn with(&self, declared: &'static str, name: &str) -> Self {
        let (before, name) = (self.clone(), CollectionName::Chosen(name.into()));
        Self(Some(Arc::new(move |other| {
            if other == declared {
                name.clone()
            } else {
                before.of(other)
            }
        })))
    }

    /// The names that `rename` makes of these.
    pub(crate) fn mapped(&self, rename: impl Fn(&str) -> String + Send + Sync + 'static) -> Self {
        let before = self.clone();
        Self(Some(Arc::new(move |declared| {
            CollectionName::Chosen(rename(&before.of(declared)).into())
        })))
    }
}

impl fmt::Debug for CollectionNames {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = if self.0.is_some() {
            "chosen"
        } else {
            "declared"
        };
        f.write_str(names)
    }
}
