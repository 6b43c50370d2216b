//! `check_references`: finds stored references that lead to no document.

use std::fmt;

use bson::raw::{RawBsonRef, RawDocumentBuf};
use bson::{Bson, doc};

use super::Reference;
use crate::collection::Collection;
use crate::error::{Error, Result};
use crate::exec::{Channel, Keys};
use crate::model::{Document, ModelMeta};
use crate::plan::shell;
use crate::store::options::{Chosen, Options};
use crate::write::Report;
use crate::write::chunks::{self, Chunks, Scan, Visit};

/// The kinds of damage that [`Collection::check_references`] reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ReferenceDamage {
    /// A reference leads to no document.
    Dangling,
}

impl fmt::Display for ReferenceDamage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Dangling => f.write_str("dangling reference"),
        }
    }
}

/// What [`Collection::check_references`] found.
pub type ReferenceReport = Report<ReferenceDamage>;

/// A check of stored references, about to run: [`Collection::check_references`].
pub type CheckReferences<'s, M> = Scan<'s, M, ReferenceReport>;

impl<M: Document> Collection<M> {
    /// Finds references in stored documents that lead to no document, whoever has written them.
    ///
    /// It reads the references of all documents, 1,000 at a time, and looks up with one query for each reference of the model
    /// which documents exist. Documents that change meanwhile are read again, so that a reference which never dangled is not
    /// reported. References in DBRefs, in the values of maps and in tuples are not checked.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/on_delete.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = a_shelf().await?;
    /// let books = db.collection::<Book>();
    /// assert!(books.check_references().await?.is_sound());
    ///
    /// db.collection::<Author>().delete_by_id(&1).leave_dangling().await?;
    /// let report = books.check_references().await?;
    /// assert_eq!((report.read, report.damages), (3, 3));
    /// assert_eq!(
    ///     report.listed[0].to_string(),
    ///     "1: dangling reference: `author` leads to no `Author` with the _id 1"
    /// );
    /// # Ok(())
    /// # }
    /// ```
    pub fn check_references<'s>(&self) -> CheckReferences<'s, M> {
        Scan::new("CheckReferences", self.channel(), |chunks| {
            Box::pin(check::<M>(chunks))
        })
    }
}

async fn check<M: Document>(chunks: Chunks<'_>) -> Result<ReferenceReport> {
    let model = M::model();
    let references = Reference::all(model)?;
    if references.is_empty() {
        return Ok(ReferenceReport::default());
    }
    let options = options(chunks.channel(), &references);
    let mut check = Check {
        model,
        references: &references,
        options: &options,
        report: ReferenceReport::default(),
    };
    let read = chunks.each(model, &options, &mut check).await?;
    check.report.read = read;
    Ok(check.report)
}

/// Options of a read of all references.
fn options(channel: &Channel<'_>, references: &[Reference]) -> Chosen {
    let mut projection = doc! {"_id": 1};
    for reference in references {
        let path = reference.path.as_str();
        // A path inside of another one would be a second projection of it.
        let is_inside = |other: &&Reference| {
            let other = other.path.as_str();
            path.strip_prefix(other)
                .is_some_and(|rest| rest.starts_with('.'))
        };
        if references.iter().find(is_inside).is_none() {
            projection.insert(path, 1);
        }
    }
    Chosen::from(Options {
        projection: Some(projection),
        ..channel.current()
    })
}

/// Compares references with the documents that exist.
struct Check<'c> {
    model: &'static ModelMeta,
    references: &'c [Reference],
    options: &'c Chosen,
    report: ReferenceReport,
}

impl Visit for Check<'_> {
    async fn visit(
        &mut self,
        channel: &mut Channel<'static>,
        documents: Vec<RawDocumentBuf>,
    ) -> Result<()> {
        let mut all = Vec::new();
        let mut suspects = Keys::default();
        for reference in self.references {
            let keys = Keys::at(&reference.path, &documents)?;
            let is_found = reference.found(channel, &keys, &[]).await?;
            let missing = |value: RawBsonRef<'_>| is_missing(&keys, &is_found, value);
            for document in &documents {
                let mut dangles = false;
                reference
                    .path
                    .each_value(document, &mut |value| dangles |= missing(value));
                if dangles && let Some(id) = document.get("_id").map_err(Error::encode)? {
                    suspects.add(id)?;
                }
            }
            all.push((reference, keys, is_found));
        }
        // A cascade may have deleted the document together with the one that it refers to.
        let again = chunks::again(channel, self.model, &suspects, self.options);
        for document in again.await? {
            let id = document.get("_id").map_err(Error::encode)?;
            let id = Bson::try_from(id.unwrap_or(RawBsonRef::Null)).map_err(Error::encode)?;
            for (reference, keys, is_found) in &all {
                let mut values = Vec::new();
                reference.path.each_value(&document, &mut |value| {
                    if is_missing(keys, is_found, value) {
                        values.push(Bson::try_from(value));
                    }
                });
                for value in values {
                    let value = value.map_err(Error::encode)?;
                    let detail = format!(
                        "`{}` leads to no `{}` with the {} {}",
                        reference.path.as_str(),
                        reference.target.name,
                        reference.key_path.as_str(),
                        shell::value(&value),
                    );
                    self.report.add(&id, ReferenceDamage::Dangling, detail);
                }
            }
        }
        Ok(())
    }
}

fn is_missing(keys: &Keys, is_found: &[bool], value: RawBsonRef<'_>) -> bool {
    let position = keys.position(value);
    position.is_some_and(|position| is_found.get(position) == Some(&false))
}
