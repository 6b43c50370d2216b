//! Stored fields that are read from raw documents.

use std::borrow::Cow;

use bson::raw::{RawBsonRef, RawDocument};
use bson::{Document, doc};

use crate::error::{Error, Result};
use crate::model::{Path, Segment};

/// The stored path of a field, split into its names once for all rows.
#[derive(Debug, Clone, Default)]
pub(crate) struct StoredPath {
    path: String,
    names: Vec<Cow<'static, str>>,
}

impl StoredPath {
    /// The names of a path that leads through any element of arrays.
    pub(crate) fn through_arrays(path: &Path) -> Self {
        let names = path.segments().filter_map(|segment| match segment {
            Segment::Name(name) => Some(name),
            _ => None,
        });
        Self {
            path: path.to_string(),
            names: names.collect(),
        }
    }

    /// The names of a path that is written with dots.
    pub(crate) fn at(path: &str) -> Self {
        Self {
            path: path.to_owned(),
            names: path.split('.').map(|name| name.to_owned().into()).collect(),
        }
    }

    /// The names of a path to one value; a path to elements of an array is refused.
    pub(crate) fn to_one(path: &Path) -> Result<Self> {
        if path
            .segments()
            .any(|segment| !matches!(segment, Segment::Name(_)))
        {
            let message =
                "a join reads one reference of each row: join the elements of an array by `each`";
            return Err(Error::usage(message).with_path(path.to_string()));
        }
        Ok(Self::through_arrays(path))
    }

    /// The path as MongoDB writes it.
    pub(crate) fn as_str(&self) -> &str {
        &self.path
    }

    /// Stages that make a document `{_id, <field>}` of each value at the path, in whichever lists the values are.
    ///
    /// `$unwind` enters no list above the last name, so the values are collected first: a list in each list on the way.
    pub(crate) fn unwound(&self, field: &str) -> Vec<Document> {
        let mut stages = vec![doc! {"$project": {field: format!("${}", self.path)}}];
        let unwind = doc! {"$unwind": format!("${field}")};
        stages.extend(self.names.iter().map(|_| unwind.clone()));
        stages
    }

    /// The value, if the document has it and all its parents.
    pub(crate) fn value<'a>(&self, document: &'a RawDocument) -> Option<RawBsonRef<'a>> {
        let (last, parents) = self.names.split_last()?;
        let parent = parents.iter().try_fold(document, |document, name| {
            document.get(name).ok().flatten()?.as_document()
        })?;
        parent.get(last).ok().flatten()
    }

    /// Calls `visit` with each value, inside arrays too.
    pub(crate) fn each_value<'a>(
        &self,
        document: &'a RawDocument,
        visit: &mut dyn FnMut(RawBsonRef<'a>),
    ) {
        each_value(document, &self.names, visit);
    }
}

fn each_value<'a>(
    document: &'a RawDocument,
    names: &[Cow<'static, str>],
    visit: &mut dyn FnMut(RawBsonRef<'a>),
) {
    let Some((first, rest)) = names.split_first() else {
        return;
    };
    match document.get(first) {
        Ok(Some(RawBsonRef::Array(elements))) => {
            for element in elements.into_iter().filter_map(std::result::Result::ok) {
                match element {
                    RawBsonRef::Document(inside) if !rest.is_empty() => {
                        each_value(inside, rest, visit);
                    }
                    value if rest.is_empty() => visit(value),
                    _ => {}
                }
            }
        }
        Ok(Some(RawBsonRef::Document(inside))) if !rest.is_empty() => {
            each_value(inside, rest, visit);
        }
        Ok(Some(value)) if rest.is_empty() => visit(value),
        _ => {}
    }
}
