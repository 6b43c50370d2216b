//! The predicates of filters, as plain data.

use std::cmp::Ordering;
use std::sync::Arc;

use bson::RawDocumentBuf;

use crate::error::{Code, ServerError};
use crate::expression::Expression;
use crate::expression::Globals;
use crate::matcher::bits::Bits;
use crate::matcher::comparison::{Comparison, Operand};
use crate::matcher::geo::{GeoTest, Near};
use crate::matcher::json_schema::Schema;
use crate::regex::Regex;
use crate::value::bson_type::TypeSet;
use crate::value::path::Path;
use crate::value::text::{Request, Search};

/// A condition on a document.
#[derive(Debug, Clone)]
pub enum Predicate {
    /// All conditions hold: `$and`, several fields, several operators, `$all`. An empty group always holds.
    And(Group),
    /// At least one condition holds.
    Or(Group),
    /// No condition holds.
    Nor(Group),
    /// The condition does not hold: `$not`, `$ne`, `$nin`, `$exists: false`.
    Not(Negation),
    /// A test of the values at a path.
    Field(FieldTest),
    /// `$expr`.
    Expr(Expr),
    /// `$jsonSchema`.
    Schema(Box<Schema>),
    /// `$text`.
    Text(Box<TextTest>),
    /// `$alwaysTrue` and `$alwaysFalse`.
    Always(bool),
}

/// Several conditions.
#[derive(Debug, Clone)]
pub struct Group {
    /// In the written order.
    pub children: Vec<Predicate>,
    /// The indexes of the children in mongod's order of evaluation: the last child that finds an array element decides
    /// what the positional `$` stands for.
    pub order: Vec<usize>,
    /// The written operator: `$and`, `$or`, `$nor`, `$all`; `None` for several fields or operators of one document.
    pub operator: Option<&'static str>,
    /// The condition as it was written.
    pub source: RawDocumentBuf,
}

impl Group {
    pub fn new(
        children: Vec<Predicate>,
        operator: Option<&'static str>,
        source: RawDocumentBuf,
    ) -> Self {
        let mut order: Vec<usize> = (0..children.len()).collect();
        order.sort_by(
            |one, other| match (children.get(*one), children.get(*other)) {
                (Some(one), Some(other)) => one.compare(other),
                _ => Ordering::Equal,
            },
        );
        Self {
            children,
            order,
            operator,
            source,
        }
    }

    /// Returns a copy in the order that mongod uses for documents read from an index: conditions without a path first.
    pub(super) fn behind_index(&self) -> Self {
        let mut group = self.clone();
        group.order.sort_by_key(|index| {
            let rank = self.children.get(*index).map(Predicate::rank);
            rank.map(|(kind, path)| (path, kind))
        });
        group
    }

    /// The children in the order of evaluation.
    pub fn evaluated(&self) -> impl Iterator<Item = &Predicate> {
        self.order
            .iter()
            .filter_map(|index| self.children.get(*index))
    }
}

impl Predicate {
    /// Adds the paths that the condition reads; `None` if it reads whole documents.
    pub(super) fn collect_paths(&self, paths: &mut Vec<String>) -> Option<()> {
        match self {
            Self::And(group) | Self::Or(group) | Self::Nor(group) => {
                let mut children = group.children.iter();
                children.try_for_each(|child| child.collect_paths(paths))
            }
            Self::Not(negation) => negation.child.collect_paths(paths),
            Self::Field(field) => {
                paths.push(field.path.as_str().to_owned());
                Some(())
            }
            Self::Expr(expr) => {
                paths.extend(expr.expression.paths()?);
                Some(())
            }
            Self::Schema(_) | Self::Text(_) => None,
            Self::Always(_) => Some(()),
        }
    }

    /// Evaluates the conditions in the written order from now on.
    pub(super) fn keep_order(&mut self) {
        match self {
            Self::And(group) | Self::Or(group) | Self::Nor(group) => {
                group.order.sort_unstable();
                group.children.iter_mut().for_each(Self::keep_order);
            }
            Self::Not(negation) => negation.child.keep_order(),
            Self::Field(_) | Self::Expr(_) | Self::Schema(_) | Self::Always(_) | Self::Text(_) => {}
        }
    }

    /// Fails if a constant part of an `$expr` fails. As in mongod, the message names each level of the filter once.
    pub(super) fn check_constants(&self, globals: &Globals) -> Result<(), ServerError> {
        match self {
            Self::And(group) | Self::Or(group) | Self::Nor(group) => group
                .evaluated()
                .try_for_each(|child| child.check_constants(globals)),
            Self::Not(negation) => negation.child.check_constants(globals),
            Self::Expr(expr) => expr.expression.check_constants(globals),
            Self::Field(_) | Self::Schema(_) | Self::Text(_) | Self::Always(_) => Ok(()),
        }
        .map_err(|error| error.within("Failed to optimize expression"))
    }

    /// Returns the filter's `$near` and its path. Refuses a second `$near`, and one that is not a top-level condition.
    pub fn near(&self) -> Result<Option<(&Path, &Near)>, ServerError> {
        let mut found = Vec::new();
        let above = self.collect_near(true, &mut found);
        if found.len() > 1 {
            return Err(ServerError::new(
                Code::BAD_VALUE,
                "Too many geoNear expressions",
            ));
        }
        if !above {
            return Err(ServerError::new(
                Code::BAD_VALUE,
                "geo $near must be top-level expr",
            ));
        }
        Ok(found.pop())
    }

    /// Collects every `$near`. Returns whether all of them are top-level conditions.
    fn collect_near<'a>(&'a self, top: bool, found: &mut Vec<(&'a Path, &'a Near)>) -> bool {
        let each = |children: &'a [Self], top: bool, found: &mut Vec<_>| {
            let mut fine = true;
            for child in children {
                fine &= child.collect_near(top, found);
            }
            fine
        };
        match self {
            Self::And(group) => each(&group.children, top, found),
            Self::Or(group) => {
                let top = top && group.children.len() == 1;
                each(&group.children, top, found)
            }
            Self::Nor(group) => each(&group.children, false, found),
            Self::Not(negation) => negation.child.collect_near(false, found),
            Self::Field(field) => match &field.test {
                Test::Near(near) => {
                    found.push((&field.path, near));
                    top
                }
                Test::Element(ElementMatch::Document(inner)) => inner.collect_near(false, found),
                Test::Element(ElementMatch::Value(tests)) => each(tests, false, found),
                _ => true,
            },
            Self::Expr(_) | Self::Schema(_) | Self::Always(_) | Self::Text(_) => true,
        }
    }

    pub(super) fn whole_document_operator(&self) -> Option<&'static str> {
        match self {
            Self::And(group) | Self::Or(group) | Self::Nor(group) => group
                .children
                .iter()
                .find_map(Self::whole_document_operator),
            Self::Not(negation) => negation.child.whole_document_operator(),
            Self::Expr(_) => Some("$expr"),
            Self::Schema(_) => Some("$jsonSchema"),
            Self::Text(_) => Some("$text"),
            Self::Field(_) | Self::Always(_) => None,
        }
    }

    /// Whether the filter has a `$jsonSchema`, also inside `$elemMatch`.
    pub(super) fn has_schema(&self) -> bool {
        match self {
            Self::And(group) | Self::Or(group) | Self::Nor(group) => {
                group.children.iter().any(Self::has_schema)
            }
            Self::Not(negation) => negation.child.has_schema(),
            Self::Schema(_) => true,
            Self::Field(field) => match &field.test {
                Test::Element(ElementMatch::Document(inner)) => inner.has_schema(),
                Test::Element(ElementMatch::Value(tests)) => tests.iter().any(Self::has_schema),
                _ => false,
            },
            Self::Expr(_) | Self::Text(_) | Self::Always(_) => false,
        }
    }

    /// mongod's order of evaluation of sibling conditions: by their own ranks, then by those of their children.
    fn compare(&self, other: &Self) -> Ordering {
        self.rank().cmp(&other.rank()).then_with(|| {
            let (own, others) = (self.parts(), other.parts());
            let pairs = own.iter().zip(&others);
            pairs
                .map(|(one, other)| one.compare(other))
                .find(|order| order.is_ne())
                .unwrap_or_else(|| own.len().cmp(&others.len()))
        })
    }

    /// mongod's order of conditions on documents read from an index: by path first.
    pub fn compare_by_path(&self, other: &Self) -> Ordering {
        let ((kind, path), (other_kind, other_path)) = (self.rank(), other.rank());
        (path, kind).cmp(&(other_path, other_kind)).then_with(|| {
            let (mut own, mut others) = (self.parts(), other.parts());
            own.sort_by(|one, other| one.compare_by_path(other));
            others.sort_by(|one, other| one.compare_by_path(other));
            let pairs = own.iter().zip(&others);
            pairs
                .map(|(one, other)| one.compare_by_path(other))
                .find(|order| order.is_ne())
                .unwrap_or_else(|| own.len().cmp(&others.len()))
        })
    }

    /// The children, in the order of evaluation. A group of one child counts as that child.
    fn parts(&self) -> Vec<&Self> {
        match self {
            Self::And(group) | Self::Or(group) => match group.children.as_slice() {
                [only] => only.parts(),
                _ => group.evaluated().collect(),
            },
            Self::Nor(group) => group.evaluated().collect(),
            Self::Not(negation) => vec![&*negation.child],
            _ => Vec::new(),
        }
    }

    /// The key by which mongod sorts conditions: the kind, then the path.
    pub fn rank(&self) -> (u8, &str) {
        match self {
            Self::And(group) | Self::Or(group) => match group.children.as_slice() {
                [only] => only.rank(),
                _ => (u8::from(matches!(self, Self::Or(_))), ""),
            },
            Self::Field(field) => (field.test.rank(), field.path.as_str()),
            Self::Not(_) => (30, ""),
            Self::Nor(_) => (31, ""),
            // mongod splits a schema into plain conditions
            Self::Schema(schema) => match schema.present().last() {
                Some(path) => (Test::Exists.rank(), path.as_str()),
                None => (39, ""),
            },
            Self::Always(false) => (Test::NEVER, ""),
            Self::Expr(_) | Self::Always(true) => (40, ""),
            Self::Text(_) => (41, ""),
        }
    }
}

impl Test {
    /// The rank of a condition that no document matches: mongod then evaluates nothing else.
    const NEVER: u8 = 0;

    fn rank(&self) -> u8 {
        match self {
            Self::Element(ElementMatch::Document(_)) => 2,
            Self::Element(ElementMatch::Value(_)) => 3,
            Self::Size(_) => 4,
            Self::Compare(comparison, _) => match comparison {
                Comparison::Eq => 5,
                Comparison::Lte => 6,
                Comparison::Lt => 7,
                Comparison::Gt => 8,
                Comparison::Gte => 9,
            },
            Self::Regex(_) => 10,
            Self::Mod { .. } => 11,
            Self::Exists => 12,
            // mongod turns an `$in` of one value into the plain condition
            Self::In(list) => match (list.values.as_slice(), list.regexes.as_slice()) {
                ([_], []) => 5,
                ([], [_]) => 10,
                ([], []) => Self::NEVER,
                _ => 13,
            },
            Self::Bits(_) => 14,
            Self::Geo(_) => 33,
            Self::Near(_) => 34,
            Self::Type(_) => 32,
            Self::Compared(comparison, _) => match comparison {
                Comparison::Eq => 50,
                Comparison::Gt => 51,
                Comparison::Gte => 52,
                Comparison::Lt => 53,
                Comparison::Lte => 54,
            },
        }
    }
}

/// A negated condition.
#[derive(Debug, Clone)]
pub struct Negation {
    pub child: Box<Predicate>,
    /// The written operator: `$not`, `$ne`, `$nin` or `$exists`.
    pub operator: &'static str,
    /// The condition as it was written.
    pub source: RawDocumentBuf,
}

/// A test of the values at a path.
#[derive(Debug, Clone)]
pub struct FieldTest {
    pub path: Path,
    pub test: Test,
    /// The written operator; `$eq` for a plain value.
    pub operator: &'static str,
    /// The condition as it was written.
    pub source: RawDocumentBuf,
}

/// A test of one value.
#[derive(Debug, Clone)]
pub enum Test {
    /// `$eq`, `$lt`, `$lte`, `$gt`, `$gte`.
    Compare(Comparison, Operand),
    /// `$in`.
    In(In),
    /// `$exists: true`.
    Exists,
    /// `$type`.
    Type(TypeSet),
    /// `$mod`.
    Mod { divisor: i64, remainder: i64 },
    /// `$regex`, or a regular expression in the place of a value.
    Regex(Regex),
    /// `$size`.
    Size(usize),
    /// `$bitsAllSet`, `$bitsAllClear`, `$bitsAnySet` and `$bitsAnyClear`.
    Bits(Bits),
    /// `$elemMatch`.
    Element(ElementMatch),
    /// `$geoWithin` and `$geoIntersects`.
    Geo(Arc<GeoTest>),
    /// `$near` and `$nearSphere`.
    Near(Box<Near>),
    /// A comparison by the rules of expressions, implied by an `$expr` of the same group: see [`expr_comparison`].
    ///
    /// [`expr_comparison`]: crate::matcher::expr_comparison
    Compared(Comparison, Operand),
}

/// The two forms of `$elemMatch`.
#[derive(Debug, Clone)]
pub enum ElementMatch {
    /// An element that is a document, or an array taken as one, matches the predicate.
    Document(Box<Predicate>),
    /// An element passes the tests: fields without a path, `$not`s of them and groups of both.
    Value(Vec<Predicate>),
}

/// The alternatives of `$in`.
#[derive(Debug, Clone)]
pub struct In {
    /// Sorted, without duplicates.
    pub values: Vec<Operand>,
    pub regexes: Vec<Regex>,
}

/// `$expr`, compiled.
#[derive(Debug, Clone)]
pub struct Expr {
    pub expression: Expression,
    /// The condition as it was written.
    pub source: RawDocumentBuf,
}

/// `$text`. `bound` is set once the filter is bound to the collection's text index.
#[derive(Debug, Clone)]
pub struct TextTest {
    pub request: Request,
    pub bound: Option<Search>,
    /// Whether the documents come from the text index, which has already found one of the terms in each.
    pub listed: bool,
}
