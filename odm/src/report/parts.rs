//! The report as values.

use std::fmt;

use bson::{DateTime, Document};

use super::design::DesignNote;
use crate::advise::AdviceReport;
use crate::check::CheckReport;
use crate::model::ModelMeta;
use crate::plan::Plan;
use crate::schema::Diagram;

/// What [`Db::report`](crate::Db::report) returns: each part as its own call returns it, and the page.
///
/// `Display` shows the plan, the check and the advice as text.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct DatabaseReport {
    /// The title of the page.
    pub title: String,
    /// The name of the database.
    pub database: String,
    /// The version of MongoDB, or of the in-memory engine.
    pub server: Part<String>,
    /// When the report was begun, by the clock of this process.
    pub made_at: DateTime,
    /// The models, in the order in which they were named.
    pub models: Vec<ReportedModel>,
    /// The models and their relations, to be drawn.
    pub diagram: Part<Diagram>,
    /// What the design checks say that the compiler does not see, and what was allowed with a reason.
    pub design: Vec<DesignNote>,
    /// The drift: the steps that would bring the database in line with the models.
    pub plan: Part<Plan>,
    /// What contradicts itself in stored documents.
    pub check: Part<CheckReport>,
    /// What stored documents suggest to change.
    pub advice: Part<AdviceReport>,
}

/// What a report says of one model.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ReportedModel {
    /// The model.
    pub model: &'static ModelMeta,
    /// The name of the collection.
    pub collection: String,
    /// How many documents the collection has, by its metadata.
    pub documents: Part<u64>,
    /// The declared indexes, as [`schema::indexes`](crate::schema::indexes()) returns them.
    pub indexes: Part<Vec<Document>>,
    /// The declared validator, as [`schema::validator`](crate::schema::validator()) returns it.
    pub validator: Part<Document>,
}

/// A part of a report.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Part<T> {
    /// What was read.
    Made(T),
    /// Why it could not be read, in a sentence.
    Failed(String),
    /// The caller left it out.
    LeftOut,
}

impl<T> Part<T> {
    /// What was read, if anything.
    ///
    /// ```
    /// use odm::report::Part;
    ///
    /// assert_eq!(Part::Made(7).value(), Some(&7));
    /// assert_eq!(Part::<i32>::Failed("no privilege".into()).value(), None);
    /// ```
    pub const fn value(&self) -> Option<&T> {
        match self {
            Self::Made(value) => Some(value),
            Self::Failed(_) | Self::LeftOut => None,
        }
    }

    /// Why the part could not be read, if that is so.
    ///
    /// ```
    /// use odm::report::Part;
    ///
    /// assert_eq!(Part::<i32>::Failed("no privilege".into()).failure(), Some("no privilege"));
    /// ```
    pub fn failure(&self) -> Option<&str> {
        match self {
            Self::Failed(sentence) => Some(sentence),
            Self::Made(_) | Self::LeftOut => None,
        }
    }

    /// Whether the caller left the part out.
    ///
    /// ```
    /// use odm::report::Part;
    ///
    /// assert!(Part::<i32>::LeftOut.is_left_out());
    /// ```
    pub const fn is_left_out(&self) -> bool {
        matches!(self, Self::LeftOut)
    }
}

impl fmt::Display for DatabaseReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{}: database {} at {}",
            self.title, self.database, self.made_at
        )?;
        for note in &self.design {
            writeln!(f, "{note}")?;
        }
        show("the plan", &self.plan, f)?;
        show("the check", &self.check, f)?;
        show("the advice", &self.advice, f)
    }
}

fn show<T: fmt::Display>(name: &str, part: &Part<T>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match part {
        Part::Made(value) => value.fmt(f),
        Part::Failed(sentence) => writeln!(f, "{name} could not be made: {sentence}"),
        Part::LeftOut => Ok(()),
    }
}
