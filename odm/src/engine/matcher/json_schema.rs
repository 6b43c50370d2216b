//! `$jsonSchema`: MongoDB's dialect of JSON Schema draft 4.
//!
//! `parse.rs` makes [`Rule`]s of the keywords, in the order in which a server reports them;
//! `eval.rs` tests them; `explain.rs` says which of them a value breaks.

mod eval;
mod explain;
mod parse;

use bson::{RawDocument, RawDocumentBuf};

use crate::engine::matcher::ast::{Comparison, Operand};
use crate::engine::regex::Regex;
use crate::error::ServerError;
use crate::value::kind::TypeSet;
use crate::value::number::Number;
use crate::value::path::Path;

pub(super) use self::explain::schema_failure;
#[cfg(all(test, feature = "memory"))]
pub(crate) use self::parse::known;

/// A compiled schema.
#[derive(Debug, Clone)]
pub(crate) struct Schema {
    title: Option<String>,
    description: Option<String>,
    rules: Vec<Rule>,
    /// Whether this schema stands for whole documents, where some rules can never or always hold.
    whole: bool,
    /// The schema as it was written.
    source: RawDocumentBuf,
}

/// One keyword with what it demands.
#[derive(Debug, Clone)]
struct Rule {
    keyword: &'static str,
    demand: Demand,
    /// The keyword as it was written: `{minimum: 5}`.
    source: RawDocumentBuf,
}

/// What a keyword demands. Each holds for every value of a type that it does not speak of.
#[derive(Debug, Clone)]
enum Demand {
    Type(TypeSet),
    Enum(Vec<Operand>),
    Bound(Comparison, Operand),
    MultipleOf(Number),
    /// In code points.
    Length(Count),
    Pattern(Regex),
    Items(Count),
    UniqueItems,
    /// Every item.
    EachItem(Box<Schema>),
    /// The items at the beginning, one by one.
    FirstItems(Vec<Schema>),
    /// The items after so many; `None` forbids them.
    FurtherItems(usize, Option<Box<Schema>>),
    Properties(Vec<(Path, Schema)>),
    Patterns(Vec<(Regex, Schema)>),
    /// The fields that are neither known nor match a pattern; `None` forbids them.
    FurtherProperties(Vec<String>, Vec<Regex>, Option<Box<Schema>>),
    Required(Vec<Path>),
    PropertyCount(Count),
    Dependencies(Vec<(Path, Dependency)>),
    AllOf(Vec<Schema>),
    AnyOf(Vec<Schema>),
    OneOf(Vec<Schema>),
    Not(Box<Schema>),
}

/// A bound of a count.
#[derive(Debug, Clone, Copy)]
enum Count {
    AtLeast(u64),
    AtMost(u64),
}

impl Count {
    fn admits(self, count: usize) -> bool {
        let count = u64::try_from(count).unwrap_or(u64::MAX);
        match self {
            Self::AtLeast(least) => count >= least,
            Self::AtMost(most) => count <= most,
        }
    }
}

/// What the presence of a field demands.
#[derive(Debug, Clone)]
enum Dependency {
    Fields(Vec<Path>),
    Schema(Schema),
}

impl Schema {
    /// Compiles the schema of whole documents.
    pub(super) fn parse(source: &RawDocument) -> Result<Self, ServerError> {
        parse::schema(source, true)
    }

    /// Whether it is plain that no document matches: types and values are asked for that no document has.
    #[cfg(feature = "memory")]
    pub(super) fn is_never_met(&self) -> bool {
        let is_document = |operand: &Operand| operand.value().as_document().is_some();
        self.whole
            && self.rules.iter().any(|rule| match &rule.demand {
                Demand::Type(types) => !types.contains(bson::spec::ElementType::EmbeddedDocument),
                Demand::Enum(values) => !values.iter().any(is_document),
                Demand::AllOf(schemas) => schemas.iter().any(Self::is_never_met),
                Demand::AnyOf(schemas) | Demand::OneOf(schemas) => {
                    schemas.iter().all(Self::is_never_met)
                }
                _ => false,
            })
    }

    /// Whether a document matches.
    pub(super) fn matches(&self, document: &RawDocument) -> Result<bool, ServerError> {
        self.admits(bson::RawBsonRef::Document(document))
    }
}
