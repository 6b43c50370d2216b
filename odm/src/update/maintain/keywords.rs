//! Keywords that are computed from other fields: typed updates keep them in step, or are refused.

use bson::{Document, RawDocumentBuf};

use super::{Maintainer, is_in};
use crate::error::Result;
use crate::model::{KeywordsMeta, ModelMeta, keywords};
use crate::query::deferred::Deferred;
use crate::update::operators::{Changes, OnField, Part, Stage};

pub(super) struct Keywords;

impl Maintainer for Keywords {
    fn concerns(&self, model: &ModelMeta) -> bool {
        !model.keywords.is_empty()
    }

    fn derive(
        &self,
        model: &'static ModelMeta,
        document: RawDocumentBuf,
    ) -> Result<RawDocumentBuf> {
        keywords::derive(model.keywords, document)
    }

    /// Adds the keywords of the sources that the changes set; raw changes are sent as they are written.
    fn update(&self, model: &'static ModelMeta, changes: Changes) -> Result<Changes, Deferred> {
        let mut named = changes.named()?;
        for keywords in model.keywords {
            match &mut named {
                Changes::Operators(parts) => {
                    if let Some(words) = of_parts(parts, keywords)? {
                        parts.push(words);
                    }
                }
                Changes::Pipeline(stages) => {
                    for stage in stages {
                        if let Stage::Set { path, .. } = stage {
                            refuse_own(keywords, is_in(path, keywords.field))?;
                            let source = keywords.sources.iter().find(|one| is_in(path, one));
                            if let Some(source) = source {
                                return Err(stale(keywords, source));
                            }
                        }
                    }
                }
            }
        }
        Ok(named)
    }
}

/// The part that sets the keywords, if other parts set all sources.
fn of_parts(parts: &[Part], keywords: &KeywordsMeta) -> Result<Option<Part>, Deferred> {
    let typed = || parts.iter().filter(|part| matches!(part, Part::Field(_)));
    refuse_own(keywords, typed().any(|part| part.changes(keywords.field)))?;
    let mut sources = Document::new();
    let mut changed = None;
    for source in keywords.sources {
        for part in typed().filter(|part| part.changes(source)) {
            changed = Some(source);
            if let Part::Field(OnField {
                operator: "$set",
                path,
                value,
            }) = part
                && path == source
            {
                sources.insert(*source, value.clone());
            }
        }
    }
    let Some(changed) = changed else {
        return Ok(None);
    };
    if sources.len() < keywords.sources.len() {
        return Err(stale(keywords, changed));
    }
    let value = keywords.of_values(&sources);
    let value = value.map_err(|error| Deferred::usage(keywords.field, error.to_string()))?;
    Ok(Some(Part::Field(OnField {
        operator: "$set",
        path: keywords.field.to_owned(),
        value,
    })))
}

fn refuse_own(keywords: &KeywordsMeta, changes: bool) -> Result<(), Deferred> {
    if !changes {
        return Ok(());
    }
    let message = format!(
        "these keywords are computed from {}: leave the field out, or write the whole update raw",
        keywords.listed()
    );
    Err(Deferred::usage(keywords.field, message))
}

fn stale(keywords: &KeywordsMeta, source: &str) -> Deferred {
    let message = format!(
        "the keywords `{}` are computed from {}, and this update does not set them all to known values: `load` the document, \
         change it and `save` it, or `set` all of them",
        keywords.field,
        keywords.listed()
    );
    Deferred::usage(source, message)
}
