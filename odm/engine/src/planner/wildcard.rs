//! Which filters mongod serves with a wildcard index, for hints that name one.
//!
//! The engine computes bounds for fewer conditions on a wildcard index than mongod (none for numeric path parts, or for
//! whole documents and arrays), and reads the collection instead. This module finds the hints that mongod rejects.

use bson::raw::RawBsonRef;
use odm_language::matcher::{Comparison, ElementMatch, Operand, Predicate, Test};
use odm_language::value::collation::Collator;
use odm_language::value::path::is_number;

use crate::index::Index;

/// Whether mongod finds a plan for the filter with this index alone.
pub(super) fn serves(index: &Index, filter: &Predicate, collation: Option<&Collator>) -> bool {
    let asked = Eligibility {
        index,
        same_collation: index.spec.collation.as_ref() == collation,
    };
    asked.serves(filter, "")
}

/// Whether a filter has a condition on a path that the index covers.
pub(super) fn may_serve(index: &Index, filter: &Predicate) -> bool {
    let asked = Eligibility {
        index,
        same_collation: true,
    };
    asked.may_serve(filter, "")
}

struct Eligibility<'i> {
    index: &'i Index,
    /// Whether the index and the query have the same collation, so that keys of strings are comparable.
    same_collation: bool,
}

impl Eligibility<'_> {
    fn serves(&self, predicate: &Predicate, prefix: &str) -> bool {
        match predicate {
            Predicate::And(group) => group.children.iter().any(|it| self.serves(it, prefix)),
            Predicate::Or(group) => {
                !group.children.is_empty()
                    && group.children.iter().all(|it| self.serves(it, prefix))
            }
            Predicate::Field(field) => {
                let path = format!("{prefix}{}", field.path.as_str());
                match &field.test {
                    Test::Element(ElementMatch::Document(inner)) => {
                        self.serves(inner, &format!("{path}."))
                    }
                    Test::Element(ElementMatch::Value(tests)) => {
                        self.holds(&path)
                            && !path.split('.').any(is_number)
                            && tests.iter().all(|test| match test {
                                Predicate::Field(field) => self.bounds(&field.test),
                                _ => false,
                            })
                    }
                    Test::Compared(_, operand) => {
                        self.holds(&path)
                            && self.is_comparable(operand)
                            && !self.index.arrays.has(&path)
                    }
                    test => self.holds(&path) && self.bounds(test),
                }
            }
            Predicate::Nor(_)
            | Predicate::Not(_)
            | Predicate::Expr(_)
            | Predicate::Schema(_)
            | Predicate::Text(_)
            | Predicate::Always(_) => false,
        }
    }

    fn may_serve(&self, predicate: &Predicate, prefix: &str) -> bool {
        match predicate {
            Predicate::And(group) | Predicate::Or(group) | Predicate::Nor(group) => {
                group.children.iter().any(|it| self.may_serve(it, prefix))
            }
            Predicate::Not(negation) => self.may_serve(&negation.child, prefix),
            Predicate::Field(field) => {
                let path = format!("{prefix}{}", field.path.as_str());
                match &field.test {
                    Test::Element(ElementMatch::Document(inner)) => {
                        self.may_serve(inner, &format!("{path}."))
                    }
                    // No index has keys for these tests.
                    Test::Size(_) | Test::Bits(_) => false,
                    _ => self.holds(&path),
                }
            }
            Predicate::Expr(_)
            | Predicate::Schema(_)
            | Predicate::Text(_)
            | Predicate::Always(_) => false,
        }
    }

    fn holds(&self, path: &str) -> bool {
        let wildcard = self.index.spec.wildcard.as_ref();
        wildcard.is_some_and(|wildcard| wildcard.holds(path))
    }

    /// Whether the index has a key for each value that passes the test.
    fn bounds(&self, test: &Test) -> bool {
        match test {
            Test::Compare(Comparison::Eq, operand) => self.has_key(operand),
            // No document is less than the empty one.
            Test::Compare(Comparison::Lte, operand) if matches!(operand.value(), RawBsonRef::Document(document) if document.is_empty()) => {
                true
            }
            Test::Compare(_, operand) => {
                self.is_comparable(operand)
                    && !matches!(
                        operand.value(),
                        RawBsonRef::Array(_) | RawBsonRef::Document(_)
                    )
            }
            Test::In(list) => {
                (self.same_collation || list.regexes.is_empty())
                    && list.values.iter().all(|operand| self.has_key(operand))
            }
            Test::Regex(_) => self.same_collation,
            Test::Exists | Test::Type(_) | Test::Mod { .. } => true,
            Test::Size(_)
            | Test::Bits(_)
            | Test::Element(_)
            | Test::Geo(_)
            | Test::Near(_)
            | Test::Compared(..) => false,
        }
    }

    /// Whether the index has keys for this value. Of documents and arrays, it has keys for empty ones only.
    fn has_key(&self, operand: &Operand) -> bool {
        self.is_comparable(operand)
            && match operand.value() {
                RawBsonRef::Null | RawBsonRef::Undefined => false,
                RawBsonRef::Array(array) => array.is_empty(),
                RawBsonRef::Document(document) => document.is_empty(),
                _ => true,
            }
    }

    fn is_comparable(&self, operand: &Operand) -> bool {
        self.same_collation || !matches!(operand.value(), RawBsonRef::String(_))
    }
}
