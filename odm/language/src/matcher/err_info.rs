//! `errInfo.details`: explains why a document does not match, in mongod's words.

use bson::{Bson, Document, RawBsonRef, RawDocument, doc, spec::ElementType};

use crate::error::ServerError;
use crate::expression::Globals;
use crate::matcher::ast::{FieldTest, Group, Negation, Predicate, Test};
use crate::matcher::eval;
use crate::matcher::geo::geometry;
use crate::matcher::json_schema::schema_failure;
use crate::matcher::reported::{considered, decoded, owned, types};
use crate::value::bson_type::TypeSet;
use crate::value::path::Path;
use crate::value::raw;

type Explained<T> = Result<T, ServerError>;

/// Explains why a predicate does not hold or, under a negation, why it does.
struct Outcome<'a> {
    document: &'a RawDocument,
    globals: &'a Globals,
    /// Whether the explanation is for a predicate that holds, although it should not.
    holds: bool,
}

/// The details for a document that does not match.
pub(super) fn explain(
    predicate: &Predicate,
    document: &RawDocument,
    globals: &Globals,
) -> Explained<Document> {
    if let Some(constant) = constant(predicate) {
        return Ok(unexplained(constant));
    }
    Outcome {
        document,
        globals,
        holds: false,
    }
    .of(predicate)
}

/// The first constant predicate: mongod explains nothing if a filter has one.
fn constant(predicate: &Predicate) -> Option<bool> {
    match predicate {
        Predicate::Always(answer) => Some(*answer),
        Predicate::And(group) if group.operator == Some("$all") => None,
        Predicate::And(group) | Predicate::Or(group) | Predicate::Nor(group) => {
            group.children.iter().find_map(constant)
        }
        Predicate::Not(negation) => constant(&negation.child),
        Predicate::Field(_) | Predicate::Expr(_) | Predicate::Schema(_) | Predicate::Text(_) => {
            None
        }
    }
}

fn unexplained(constant: bool) -> Document {
    let name = if constant {
        "$alwaysTrue"
    } else {
        "$alwaysFalse"
    };
    doc! {
        "code": 4_994_600,
        "codeName": "Location4994600",
        "errmsg": format!(
            "Cannot generate validation error details: no annotation found for expression \
             {{ {name}: 1 }}"
        ),
    }
}

impl Outcome<'_> {
    fn inverted(&self) -> Self {
        Self {
            holds: !self.holds,
            ..*self
        }
    }

    fn of(&self, predicate: &Predicate) -> Explained<Document> {
        match predicate {
            Predicate::And(group) if group.operator == Some("$all") => Ok(self.all(group)),
            Predicate::And(group) => self.clauses("$and", group, self.holds),
            Predicate::Or(group) => self.clauses("$or", group, self.holds),
            Predicate::Nor(group) => self.clauses("$nor", group, !self.holds),
            Predicate::Not(negation) => self.not(negation),
            Predicate::Field(field) => Ok(self.field(
                &field.test,
                &field.path,
                field.operator,
                &field.source,
                self.holds,
            )),
            Predicate::Expr(expr) => {
                let mut details = doc! {
                    "operatorName": "$expr",
                    "specifiedAs": decoded(&expr.source),
                };
                let result = match expr.expression.eval(self.document, self.globals) {
                    Ok(result) => result,
                    Err(error) => {
                        details.insert("reason", "failed to evaluate aggregation expression");
                        details.insert(
                            "details",
                            doc! {
                                "code": error.code().number(),
                                "codeName": error.code().name(),
                                "errmsg": error.message(),
                            },
                        );
                        return Ok(details);
                    }
                };
                details.insert(
                    "reason",
                    if self.holds {
                        "expression did match"
                    } else {
                        "expression did not match"
                    },
                );
                if let Some(value) = result.get() {
                    details.insert("expressionResult", owned(value));
                }
                Ok(details)
            }
            Predicate::Schema(_) if self.holds => Ok(doc! {
                "operatorName": "$jsonSchema",
                "reason": "schema matched",
            }),
            Predicate::Schema(schema) => schema_failure(schema, self.document),
            // Validators have no `$text`.
            Predicate::Text(_) => Ok(Document::new()),
            Predicate::Always(answer) => Ok(unexplained(*answer)),
        }
    }

    /// The clauses at fault: those whose result is `holding`.
    fn clauses(&self, name: &str, group: &Group, holding: bool) -> Explained<Document> {
        let outcome = Self {
            holds: holding,
            ..*self
        };
        // All clauses are at fault where each of them has this result (`$and` that holds, `$or` that does not);
        // otherwise only those that have it. A clause that fails to evaluate is always at fault.
        let is_all = holding == (name == "$and");
        let is_at_fault = |child: &Predicate| {
            let matched = eval::matches(child, self.document, self.globals);
            is_all || matched.map_or(true, |matched| matched == holding)
        };
        let mut clauses = Vec::new();
        for (index, child) in group.children.iter().enumerate() {
            if is_at_fault(child) {
                let mut clause = doc! { "index": i32::try_from(index).unwrap_or(i32::MAX) };
                // mongod repeats the title and description of a schema beside its details.
                if let Predicate::Schema(schema) = child {
                    schema.annotate(&mut clause);
                }
                clause.insert("details", outcome.of(child)?);
                clauses.push(Bson::Document(clause));
            }
        }
        let key = if holding {
            "clausesSatisfied"
        } else {
            "clausesNotSatisfied"
        };
        Ok(doc! { "operatorName": name, key: clauses })
    }

    fn not(&self, negation: &Negation) -> Explained<Document> {
        match (negation.operator, negation.child.as_ref()) {
            ("$ne" | "$nin" | "$exists", Predicate::Field(field)) => Ok(self.field(
                &field.test,
                &field.path,
                negation.operator,
                &negation.source,
                !self.holds,
            )),
            (_, child) => Ok(doc! {
                "operatorName": "$not",
                "details": self.inverted().of(child)?,
            }),
        }
    }

    fn all(&self, group: &Group) -> Document {
        let mut details = doc! {
            "operatorName": "$all",
            "specifiedAs": decoded(&group.source),
        };
        let path = group.children.iter().find_map(|child| match child {
            Predicate::Field(FieldTest { path, .. }) => Some(path),
            _ => None,
        });
        let Some(path) = path else {
            details.insert("reason", "expression always evaluates to false");
            return details;
        };
        let Some(values) = self.values(path, false) else {
            details.insert("reason", "field was missing");
            return details;
        };
        details.insert(
            "reason",
            if self.holds {
                "array did contain all specified values"
            } else {
                "array did not contain all specified values"
            },
        );
        considered(&mut details, &values);
        details
    }

    fn field(
        &self,
        test: &Test,
        path: &Path,
        operator: &str,
        source: &RawDocument,
        holds: bool,
    ) -> Document {
        let mut details = doc! {
            "operatorName": operator,
            "specifiedAs": decoded(source),
        };
        if let Test::Exists = test {
            details.insert(
                "reason",
                if holds {
                    "path does exist"
                } else {
                    "path does not exist"
                },
            );
            return details;
        }
        let expand = !matches!(test, Test::Size(_) | Test::Element(_));
        let Some(values) = self.values(path, expand) else {
            details.insert("reason", "field was missing");
            return details;
        };
        // also under a negation, where a failing `$expr` is the reason for the explanation
        if let Some((expected, names)) = expected(test) {
            let fits = |value: &RawBsonRef<'_>| expected.contains(value.element_type());
            if !values.iter().any(fits) {
                details.insert("reason", "type did not match");
                types(&mut details, &values);
                match names {
                    [only] => details.insert("expectedType", *only),
                    names => details.insert("expectedTypes", names.to_vec()),
                };
                considered(&mut details, &values);
                return details;
            }
        }
        let (yes, no) = match test {
            // mongod considers the elements of an array, and the whole array only for a top-level field.
            Test::Geo(_) if !self.has_geometry(path) => {
                const NONE: &str = "could not find a valid geometry at the given path";
                (NONE, NONE)
            }
            test => reasons(test),
        };
        details.insert("reason", if holds { yes } else { no });
        considered(&mut details, &values);
        if let Test::Type(_) = test {
            types(&mut details, &values);
        }
        details
    }

    fn has_geometry(&self, path: &Path) -> bool {
        let is_whole = path.segments().len() == 1;
        let ways: &[bool] = if is_whole { &[true, false] } else { &[true] };
        ways.iter().any(|expand| {
            self.values(path, *expand)
                .unwrap_or_default()
                .into_iter()
                .any(|value| geometry(value).is_some())
        })
    }

    /// The values at a path; `None` if the path has no value.
    fn values(&self, path: &Path, expand: bool) -> Option<Vec<RawBsonRef<'_>>> {
        let mut values = Vec::new();
        let (mut is_found, mut is_over) = (false, false);
        path.visit(self.document, &mut |value, by_index| match value {
            _ if is_over => {}
            // mongod stops at the first missing field.
            None => is_over = true,
            Some(value) => {
                is_found = true;
                match value {
                    RawBsonRef::Array(array) if expand && !by_index => {
                        values.extend(raw::values(array));
                    }
                    value => values.push(value),
                }
            }
        });
        is_found.then_some(values)
    }
}

/// The reasons that mongod gives if a test holds, and if it does not.
fn reasons(test: &Test) -> (&'static str, &'static str) {
    match test {
        Test::Compare(..) => ("comparison succeeded", "comparison failed"),
        Test::In(_) => (
            "matching value found in array",
            "no matching value found in array",
        ),
        Test::Exists => ("path does exist", "path does not exist"),
        Test::Type(_) => ("type did match", "type did not match"),
        Test::Mod { .. } => (
            "$mod did evaluate to expected remainder",
            "$mod did not evaluate to expected remainder",
        ),
        Test::Regex(_) => (
            "regular expression did match",
            "regular expression did not match",
        ),
        Test::Size(_) => (
            "array length was equal to given size",
            "array length was not equal to given size",
        ),
        Test::Bits(_) => (
            "bitwise operator matched successfully",
            "bitwise operator failed to match",
        ),
        Test::Geo(test) if test.within => (
            "at least one of considered geometries was contained within the expression\u{2019}s geometry",
            "none of the considered geometries were contained within the expression\u{2019}s geometry",
        ),
        Test::Geo(_) => (
            "at least one of considered geometries intersected the expression\u{2019}s geometry",
            "none of the considered geometries intersected the expression\u{2019}s geometry",
        ),
        Test::Near(_) | Test::Compared(..) => ("", ""),
        Test::Element(_) => (
            "array did satisfy the child predicate",
            "array did not satisfy the child predicate",
        ),
    }
}

/// The types that a test accepts, and their names in the details.
fn expected(test: &Test) -> Option<(TypeSet, &'static [&'static str])> {
    let one = TypeSet::one;
    Some(match test {
        Test::Mod { .. } => (TypeSet::NUMBER, &["decimal", "double", "int", "long"]),
        Test::Regex(_) => (
            one(ElementType::RegularExpression)
                .union(one(ElementType::String))
                .union(one(ElementType::Symbol)),
            &["regex", "string", "symbol"],
        ),
        Test::Bits(_) => (
            TypeSet::NUMBER.union(one(ElementType::Binary)),
            &["binData", "decimal", "double", "int", "long"],
        ),
        Test::Size(_) | Test::Element(_) => (one(ElementType::Array), &["array"]),
        _ => return None,
    })
}
