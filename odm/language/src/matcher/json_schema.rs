//! `$jsonSchema`: MongoDB's dialect of JSON Schema draft 4.
//!
//! `parse.rs` turns the keywords into [`Rule`]s, in the order in which mongod reports them; `eval.rs` tests the rules,
//! and `shape.rs` tests the most common ones faster; `explain.rs` reports which rules a value breaks.

mod eval;
mod explain;
mod parse;
mod shape;

use std::sync::Arc;

use bson::{RawBsonRef, RawDocument, RawDocumentBuf};

use crate::error::ServerError;
use crate::matcher::comparison::{Comparison, Operand};
use crate::regex::Regex;
use crate::value::bson_type::TypeSet;
use crate::value::number::Number;
use crate::value::path::Path;

use self::eval::{Considered, Enumeration};
pub(super) use self::explain::schema_failure;
pub use self::parse::known;
use self::shape::TypedRules;

/// A compiled schema.
#[derive(Debug, Clone)]
pub struct Schema {
    title: Option<String>,
    description: Option<String>,
    rules: Vec<Rule>,
    /// The same rules, arranged for a fast test whether a value satisfies them.
    shape: TypedRules,
    /// The paths that a whole document must have, sorted by name; empty for the schema of a field.
    present: Vec<Path>,
    /// Whether this is the schema of whole documents, where some rules never or always hold.
    whole: bool,
    /// The schema as it was written.
    source: RawDocumentBuf,
}

/// One keyword and its demand.
#[derive(Debug, Clone)]
struct Rule {
    keyword: &'static str,
    demand: Demand,
    /// The types that the rule applies to (`None`: all types); values of other types satisfy it.
    about: Option<TypeSet>,
    /// The keyword as it was written: `{minimum: 5}`.
    source: RawDocumentBuf,
}

/// What a keyword demands.
#[derive(Debug, Clone)]
enum Demand {
    Type(TypeSet),
    Enum(Enumeration),
    Bound(Comparison, Operand),
    MultipleOf(Number),
    /// In code points.
    Length(Count),
    Pattern(Regex),
    Items(Count),
    UniqueItems,
    /// Every item.
    EachItem(Arc<Schema>),
    /// The items at the beginning, one by one.
    FirstItems(Vec<Schema>),
    /// The items from this index on; `None` forbids them.
    FurtherItems(usize, Option<Box<Schema>>),
    Properties(Vec<Property>),
    Patterns(Vec<(Regex, Schema)>),
    /// The fields that are neither properties nor match a pattern; `None` forbids them.
    FurtherProperties(Vec<String>, Vec<Regex>, Option<Arc<Schema>>),
    /// Sorted by name: mongod looks for them in this order.
    Required(Vec<Path>),
    PropertyCount(Count),
    Dependencies(Vec<(Path, Dependency)>),
    AllOf(Vec<Schema>),
    AnyOf(Vec<Schema>),
    OneOf(Vec<Schema>),
    Not(Box<Schema>),
}

/// The schema of one field.
#[derive(Debug, Clone)]
struct Property {
    path: Path,
    schema: Arc<Schema>,
    /// Whether `required` of the same schema names it: mongod then tests its schema against a missing field, too.
    is_required: bool,
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
    Schema(Box<Schema>),
}

impl Schema {
    /// Compiles the schema of whole documents.
    pub(super) fn parse(source: &RawDocument) -> Result<Self, ServerError> {
        parse::schema(source, true)
    }

    /// Whether the schema evidently matches no document: it demands types or values that no document has.
    pub(super) fn is_never_met(&self) -> bool {
        let is_document = |operand: &Operand| operand.value().as_document().is_some();
        self.whole
            && self.rules.iter().any(|rule| match &rule.demand {
                Demand::Type(types) => !types.contains(bson::spec::ElementType::EmbeddedDocument),
                Demand::Enum(values) => !values.operands().iter().any(is_document),
                Demand::AllOf(schemas) => schemas.iter().any(Self::is_never_met),
                Demand::AnyOf(schemas) => schemas.iter().all(Self::is_never_met),
                // mongod does not detect this for a `oneOf` of several schemas.
                Demand::OneOf(schemas) => {
                    matches!(schemas.as_slice(), [only] if only.is_never_met())
                }
                _ => false,
            })
    }

    /// The paths that a document must have, in mongod's order: mongod turns them into conditions of the filter.
    pub(super) fn present(&self) -> &[Path] {
        &self.present
    }

    /// Calls `is_present` for the paths that `dependencies` checks, so that it can record array positions.
    pub(super) fn ask_dependent(
        &self,
        is_present: &mut impl FnMut(&Path) -> Result<bool, ServerError>,
    ) -> Result<(), ServerError> {
        for rule in &self.rules {
            match &rule.demand {
                Demand::Dependencies(dependencies) => {
                    for (path, dependency) in dependencies {
                        if !is_present(path)? {
                            continue;
                        }
                        let (paths, schema) = match dependency {
                            Dependency::Fields(paths) => (paths, None),
                            Dependency::Schema(schema) => (&schema.present, Some(schema)),
                        };
                        for path in paths {
                            is_present(path)?;
                        }
                        if let Some(schema) = schema {
                            schema.ask_dependent(is_present)?;
                        }
                    }
                }
                demand => {
                    for schema in demand.conjuncts() {
                        schema.ask_dependent(is_present)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Whether the [required paths](Schema::present) have no dots, so that testing the fields of a document also shows
    /// whether they are present.
    pub(super) fn sees_presence(&self) -> bool {
        self.present.iter().all(|path| path.only().is_some())
    }

    /// Whether a document matches; requires [`Self::sees_presence`].
    pub(super) fn matches(&self, document: &RawDocument) -> Result<bool, ServerError> {
        self.admits(RawBsonRef::Document(document))
    }

    /// Whether a document matches that is known to have each path of [`Schema::present`].
    pub(super) fn matches_rest(&self, document: &RawDocument) -> Result<bool, ServerError> {
        for rule in &self.rules {
            if !matches!(rule.demand, Demand::Required(_))
                && !rule.admits(Considered::one(&RawBsonRef::Document(document)))?
            {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

impl Demand {
    /// The subschemas that must all hold.
    fn conjuncts(&self) -> &[Schema] {
        match self {
            Self::AllOf(schemas) => schemas,
            Self::AnyOf(schemas) | Self::OneOf(schemas) if schemas.len() == 1 => schemas,
            _ => &[],
        }
    }
}
