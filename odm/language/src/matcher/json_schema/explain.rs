//! The details that mongod reports about a value that breaks a schema.

use bson::{Bson, Document, RawBsonRef, RawDocument, doc};

use super::eval::{Considered, duplicate, further, is_present, matching, pattern_failure};
use super::{Demand, Dependency, Property, Rule, Schema};
use crate::error::ServerError;
use crate::matcher::comparison::Operand;
use crate::matcher::reported::{considered, decoded, owned, types};
use crate::value::path::Path;
use crate::value::raw;

type Explained<T> = Result<T, ServerError>;

/// The details for a document that a `$jsonSchema` refuses.
pub(in crate::matcher) fn schema_failure(
    schema: &Schema,
    document: &RawDocument,
) -> Explained<Document> {
    let mut details = doc! { "operatorName": "$jsonSchema" };
    if schema.never_whole() {
        let source = decoded(&schema.source);
        details.insert("specifiedAs", doc! { "$jsonSchema": source });
        details.insert("reason", ALWAYS_FALSE);
        return Ok(details);
    }
    schema.annotate(&mut details);
    let rules = schema.failures(RawBsonRef::Document(document))?;
    details.insert("schemaRulesNotSatisfied", rules);
    Ok(details)
}

const ALWAYS_FALSE: &str = "expression always evaluates to false";

impl Schema {
    /// Whether the schema demands a type that a whole document cannot have.
    fn never_whole(&self) -> bool {
        self.whole
            && self.rules.iter().any(|rule| {
                matches!(rule.demand, Demand::Type(types)
                    if !types.contains(bson::spec::ElementType::EmbeddedDocument))
            })
    }

    /// Adds the title and the description.
    pub(in crate::matcher) fn annotate(&self, details: &mut Document) {
        if let Some(title) = &self.title {
            details.insert("title", title);
        }
        if let Some(description) = &self.description {
            details.insert("description", description);
        }
    }

    /// The details of each rule that a value breaks.
    fn failures(&self, value: RawBsonRef<'_>) -> Explained<Vec<Bson>> {
        self.all_failures(Considered::one(&value))
    }

    /// Like [`Self::failures`], for the values at a path; without values, only the logical rules are reported.
    fn all_failures(&self, considered: Considered<'_, '_>) -> Explained<Vec<Bson>> {
        let mut failures = Vec::new();
        for rule in &self.rules {
            if !rule.admits(considered)?
                && let Some(failure) = rule.failure(considered, self.whole)?
            {
                failures.push(Bson::Document(failure));
            }
        }
        Ok(failures)
    }
}

impl Rule {
    /// The details of values that break this rule; `None` if mongod reports nothing.
    fn failure(&self, found: Considered<'_, '_>, whole: bool) -> Explained<Option<Document>> {
        let mut details = doc! { "operatorName": self.keyword };
        match &self.demand {
            Demand::AllOf(_) | Demand::AnyOf(_) | Demand::OneOf(_) | Demand::Not(_) => {
                self.logical(&mut details, found)?;
            }
            _ if found.values.is_empty() => return Ok(None),
            Demand::Type(_) => {
                self.reason(&mut details, "type did not match");
                considered(&mut details, found.values);
                types(&mut details, found.values);
            }
            Demand::Enum(values) => {
                let is_document = |operand: &Operand| operand.value().as_document().is_some();
                if whole && !values.operands().iter().any(is_document) {
                    self.reason(&mut details, ALWAYS_FALSE);
                } else {
                    self.reason(&mut details, "value was not found in enum");
                    considered(&mut details, found.values);
                }
            }
            _ => {
                let value = found.single().filter(|value| {
                    let is_object = matches!(value, RawBsonRef::Document(_));
                    self.is_about(*value) && (is_object || !found.is_scattered)
                });
                let is_told = match value {
                    Some(value) => self.plain(&mut details, value)?,
                    None => false,
                };
                if !is_told {
                    return Ok(None);
                }
            }
        }
        Ok(Some(details))
    }

    /// Adds the details of a value that breaks a rule about its type. Returns whether there is anything to report.
    fn plain(&self, details: &mut Document, value: RawBsonRef<'_>) -> Explained<bool> {
        match (&self.demand, value) {
            (Demand::Properties(properties), RawBsonRef::Document(document)) => {
                let failed = properties_failure(properties, document)?;
                let is_told = !failed.is_empty();
                details.insert("propertiesNotSatisfied", failed);
                return Ok(is_told);
            }
            (Demand::Bound(..), _) => {
                self.reason(details, "comparison failed");
                details.insert("consideredValue", owned(value));
            }
            (Demand::MultipleOf(_), _) => {
                self.reason(
                    details,
                    "considered value is not a multiple of the specified value",
                );
                details.insert("consideredValue", owned(value));
            }
            (Demand::Length(_), _) => {
                self.reason(details, "specified string length was not satisfied");
                details.insert("consideredValue", owned(value));
            }
            (Demand::Pattern(_), _) => {
                self.reason(details, "regular expression did not match");
                details.insert("consideredValue", owned(value));
            }
            (Demand::Items(_), RawBsonRef::Array(array)) => {
                self.reason(details, "array did not match specified length");
                details.insert("consideredValue", owned(value));
                details.insert("numberOfItems", number(raw::walk_array(array).count()));
            }
            (Demand::UniqueItems, RawBsonRef::Array(array)) => {
                self.reason(details, "found a duplicate item");
                details.insert("consideredValue", owned(value));
                if let Some(item) = duplicate(raw::values(array)) {
                    details.insert("duplicatedValue", owned(item));
                }
            }
            (Demand::EachItem(schema), RawBsonRef::Array(array)) => item(
                details,
                schema,
                raw::values(array),
                "At least one item did not match the sub-schema",
            )?,
            (Demand::FirstItems(schemas), RawBsonRef::Array(array)) => {
                let mut items = Vec::new();
                for (index, (item, schema)) in raw::values(array).zip(schemas).enumerate() {
                    if !schema.admits(item)? {
                        items.push(Bson::Document(doc! {
                            "itemIndex": i64::try_from(index).unwrap_or(i64::MAX),
                            "details": schema.failures(item)?,
                        }));
                    }
                }
                details.insert("details", items);
            }
            (Demand::FurtherItems(from, Some(schema)), RawBsonRef::Array(array)) => item(
                details,
                schema,
                raw::values(array).skip(*from),
                "At least one additional item did not match the sub-schema",
            )
            .map(|()| shift(details, *from))?,
            (Demand::FurtherItems(from, None), RawBsonRef::Array(array)) => {
                self.reason(details, "found additional items");
                let items: Vec<Bson> = raw::values(array).skip(*from).map(owned).collect();
                details.insert("additionalItems", items);
            }
            (_, RawBsonRef::Document(document)) => self.object(details, document, value)?,
            _ => {}
        }
        Ok(true)
    }

    fn object(
        &self,
        details: &mut Document,
        document: &RawDocument,
        value: RawBsonRef<'_>,
    ) -> Explained<()> {
        match &self.demand {
            Demand::Patterns(patterns) => {
                let mut failed = Vec::new();
                for (regex, schema) in patterns {
                    if let Some((name, value)) = pattern_failure(regex, schema, document)? {
                        let mut property = doc! { "propertyName": name };
                        schema.annotate(&mut property);
                        property.insert("regexMatched", regex.pattern());
                        property.insert("details", schema.failures(value)?);
                        failed.push(Bson::Document(property));
                    }
                }
                details.insert("details", failed);
            }
            Demand::FurtherProperties(known, patterns, None) => {
                details.insert("specifiedAs", decoded(&self.source));
                let names: Vec<&str> = further(document, known, patterns)?
                    .into_iter()
                    .map(|(name, _)| name)
                    .collect();
                details.insert("additionalProperties", names);
            }
            Demand::FurtherProperties(known, patterns, Some(schema)) => {
                schema.annotate(details);
                details.insert(
                    "reason",
                    "at least one additional property did not match the subschema",
                );
                for (name, value) in further(document, known, patterns)? {
                    if !schema.admits(value)? {
                        details.insert("failingProperty", name);
                        details.insert("details", schema.failures(value)?);
                        break;
                    }
                }
            }
            Demand::Required(paths) => {
                details.insert("specifiedAs", decoded(&self.source));
                details.insert("missingProperties", missing(paths, document));
            }
            Demand::PropertyCount(_) => {
                self.reason(details, "specified number of properties was not satisfied");
                details.insert("numberOfProperties", number(raw::walk(document).count()));
            }
            Demand::Dependencies(dependencies) => {
                let mut failed = Vec::new();
                for (path, dependency) in dependencies {
                    if !is_present(path, document) {
                        continue;
                    }
                    let (key, found) = match dependency {
                        Dependency::Fields(fields) => {
                            ("missingProperties", missing(fields, document))
                        }
                        Dependency::Schema(schema) if schema.never_whole() => {
                            failed.push(Bson::Document(doc! {
                                "conditionalProperty": path.as_str(),
                                "details": schema_failure(schema, document)?,
                            }));
                            continue;
                        }
                        Dependency::Schema(schema) => ("details", schema.failures(value)?),
                    };
                    if !found.is_empty() {
                        failed.push(Bson::Document(doc! {
                            "conditionalProperty": path.as_str(),
                            key: found,
                        }));
                    }
                }
                details.insert("failingDependencies", failed);
            }
            _ => {}
        }
        Ok(())
    }

    fn logical(&self, details: &mut Document, found: Considered<'_, '_>) -> Explained<()> {
        let schemas = match &self.demand {
            Demand::Not(_) => {
                details.insert("reason", "child expression matched");
                return Ok(());
            }
            Demand::AllOf(schemas) | Demand::AnyOf(schemas) => schemas,
            Demand::OneOf(schemas) => {
                let matched = matching(schemas, found)?;
                if !matched.is_empty() {
                    details.insert("reason", "more than one subschema matched");
                    let indexes: Vec<Bson> = matched.into_iter().map(number).collect();
                    details.insert("matchingSchemaIndexes", indexes);
                    return Ok(());
                }
                schemas
            }
            _ => return Ok(()),
        };
        let mut failed = Vec::new();
        for (index, schema) in schemas.iter().enumerate() {
            if !schema.admits_all(found)? {
                let mut clause = doc! { "index": number(index) };
                match found.single() {
                    Some(RawBsonRef::Document(document)) if schema.never_whole() => {
                        clause.insert("details", schema_failure(schema, document)?);
                    }
                    _ => {
                        schema.annotate(&mut clause);
                        clause.insert("details", schema.all_failures(found)?);
                    }
                }
                failed.push(Bson::Document(clause));
            }
        }
        details.insert("schemasNotSatisfied", failed);
        Ok(())
    }

    fn reason(&self, details: &mut Document, reason: &str) {
        details.insert("specifiedAs", decoded(&self.source));
        details.insert("reason", reason);
    }
}

/// The details of the properties that break their schemas, except those that mongod reports nothing about.
fn properties_failure(properties: &[Property], document: &RawDocument) -> Explained<Vec<Bson>> {
    let mut failed = Vec::new();
    for property in properties {
        let Some((values, is_scattered)) = property.failure(document)? else {
            continue;
        };
        let reasons = property.schema.all_failures(Considered {
            values: &values,
            is_scattered,
        })?;
        if !reasons.is_empty() {
            let mut details = doc! { "propertyName": property.path.as_str() };
            property.schema.annotate(&mut details);
            details.insert("details", reasons);
            failed.push(Bson::Document(details));
        }
    }
    Ok(failed)
}

/// The first item that breaks a schema.
fn item<'a>(
    details: &mut Document,
    schema: &Schema,
    items: impl Iterator<Item = RawBsonRef<'a>>,
    reason: &str,
) -> Explained<()> {
    schema.annotate(details);
    details.insert("reason", reason);
    for (index, item) in items.enumerate() {
        if !schema.admits(item)? {
            details.insert("itemIndex", number(index));
            details.insert("details", schema.failures(item)?);
            break;
        }
    }
    Ok(())
}

/// Adds `from` to the reported item index, so that it counts from the beginning of the array.
fn shift(details: &mut Document, from: usize) {
    if let Ok(index) = details.get_i32("itemIndex") {
        let from = i32::try_from(from).unwrap_or(i32::MAX);
        details.insert("itemIndex", index.saturating_add(from));
    }
}

fn missing(paths: &[Path], document: &RawDocument) -> Vec<Bson> {
    paths
        .iter()
        .filter(|path| !is_present(path, document))
        .map(|path| Bson::from(path.as_str()))
        .collect()
}

fn number(count: usize) -> Bson {
    Bson::Int32(i32::try_from(count).unwrap_or(i32::MAX))
}
