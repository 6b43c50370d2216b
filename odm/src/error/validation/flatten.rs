//! Flattens the server's nested details into a list of violations.

use bson::{Bson, Document};

use super::Violation;

/// The title of the schema, which is the model's Rust name.
pub(super) fn title(details: &Document) -> Option<&str> {
    details
        .get_str("title")
        .ok()
        .or_else(|| clauses(details, "clausesNotSatisfied").find_map(|(_, inner)| title(inner)))
}

/// The violations in `details`; the clause at index n + 1 of the validator's `$and` is `rules[n]`.
pub(super) fn violations(details: &Document, rules: &[&str]) -> Vec<Violation> {
    let mut found = Vec::new();
    if operator(details) == "$and" {
        for (index, inner) in clauses(details, "clausesNotSatisfied") {
            let name = index
                .checked_sub(1)
                .and_then(|position| rules.get(position));
            expression(inner, name.copied(), &mut found);
        }
    } else {
        expression(details, None, &mut found);
    }
    found
}

fn operator(details: &Document) -> &str {
    details.get_str("operatorName").unwrap_or_default()
}

/// The documents in the array `key`.
fn documents<'a>(details: &'a Document, key: &str) -> impl Iterator<Item = &'a Document> {
    let items = details.get_array(key).map(Vec::as_slice);
    items
        .unwrap_or_default()
        .iter()
        .filter_map(Bson::as_document)
}

/// The `{index, details}` pairs in a logical operator's details.
fn clauses<'a>(details: &'a Document, key: &'a str) -> impl Iterator<Item = (usize, &'a Document)> {
    documents(details, key).filter_map(|clause| {
        let index = integer(clause.get("index")?)?;
        Some((index, clause.get_document("details").ok()?))
    })
}

fn integer(value: &Bson) -> Option<usize> {
    match value {
        Bson::Int32(number) => usize::try_from(*number).ok(),
        Bson::Int64(number) => usize::try_from(*number).ok(),
        _ => None,
    }
}

/// Flattens a query operator's details; every leaf is a violation of the rule called `name`.
fn expression(details: &Document, name: Option<&str>, found: &mut Vec<Violation>) {
    if operator(details) == "$jsonSchema" {
        for rule in documents(details, "schemaRulesNotSatisfied") {
            schema(rule, "", found);
        }
        return;
    }
    let before = found.len();
    for key in ["clausesNotSatisfied", "clausesSatisfied"] {
        for (_, inner) in clauses(details, key) {
            expression(inner, name, found);
        }
    }
    if let Ok(inner) = details.get_document("details")
        && inner.contains_key("operatorName")
    {
        expression(inner, name, found);
    }
    if found.len() == before {
        found.push(leaf_of_expression(details, name));
    }
}

fn leaf_of_expression(details: &Document, name: Option<&str>) -> Violation {
    let specified = details.get_document("specifiedAs").ok();
    let first = specified.and_then(|specified| specified.iter().next());
    let path = first
        .map(|(key, _)| key.as_str())
        .filter(|key| !key.starts_with('$'));
    let mut violation = leaf(details, path.unwrap_or_default());
    violation.demanded = first.map(|(_, demanded)| demanded.clone());
    // The error of an expression, such as a division by zero.
    if let Ok(fault) = details.get_document("details")
        && let Ok(message) = fault.get_str("errmsg")
    {
        violation.reason = format!("{}: {message}", violation.reason);
    }
    if let Some(name) = name {
        name.clone_into(&mut violation.rule);
    }
    violation
}

/// Flattens a schema keyword's details; `path` is where the subschema applies.
fn schema(rule: &Document, path: &str, found: &mut Vec<Violation>) {
    match operator(rule) {
        "properties" => {
            for property in documents(rule, "propertiesNotSatisfied") {
                inside(property, &property_path(property, path), found);
            }
        }
        "patternProperties" => {
            for property in documents(rule, "details") {
                inside(property, &property_path(property, path), found);
            }
        }
        "required" => missing(rule, "missingProperties", path, found),
        "dependencies" => {
            for dependency in documents(rule, "failingDependencies") {
                let mut part = dependency.clone();
                part.insert("operatorName", "dependencies");
                missing(&part, "missingProperties", path, found);
            }
        }
        "additionalProperties" => match rule.get_str("failingProperty") {
            Ok(name) => inside(rule, &child(path, name), found),
            Err(_) => missing(rule, "additionalProperties", path, found),
        },
        "items" | "additionalItems" => items(rule, path, found),
        "allOf" => {
            for part in documents(rule, "schemasNotSatisfied") {
                inside(part, path, found);
            }
        }
        "anyOf" | "oneOf" => alternatives(rule, path, found),
        _ => found.push(leaf(rule, path)),
    }
}

/// Flattens the array `details` of `part`.
fn inside(part: &Document, path: &str, found: &mut Vec<Violation>) {
    for rule in documents(part, "details") {
        schema(rule, path, found);
    }
}

fn property_path(property: &Document, path: &str) -> String {
    child(path, property.get_str("propertyName").unwrap_or_default())
}

fn child(path: &str, name: &str) -> String {
    if path.is_empty() {
        name.to_owned()
    } else {
        format!("{path}.{name}")
    }
}

/// One violation for each name in the array `key`.
fn missing(rule: &Document, key: &str, path: &str, found: &mut Vec<Violation>) {
    let reason = if key == "additionalProperties" {
        "undeclared field"
    } else {
        "missing field"
    };
    let names = rule.get_array(key).map(Vec::as_slice).unwrap_or_default();
    for name in names.iter().filter_map(Bson::as_str) {
        let mut violation = leaf(rule, &child(path, name));
        violation.demanded = None;
        reason.clone_into(&mut violation.reason);
        found.push(violation);
    }
}

fn items(rule: &Document, path: &str, found: &mut Vec<Violation>) {
    let at = |part: &Document| part.get("itemIndex").and_then(integer);
    if let Some(index) = at(rule) {
        return inside(rule, &child(path, &index.to_string()), found);
    }
    let before = found.len();
    for part in documents(rule, "details") {
        if let Some(index) = at(part) {
            inside(part, &child(path, &index.to_string()), found);
        }
    }
    if found.len() == before {
        found.push(leaf(rule, path));
    }
}

/// Adds the violations of the one alternative that the document was meant to match. If it is not
/// clear which, adds a single violation, because those of any one alternative would mislead.
fn alternatives(rule: &Document, path: &str, found: &mut Vec<Violation>) {
    let branches: Vec<Vec<Violation>> = documents(rule, "schemasNotSatisfied")
        .map(|part| {
            let mut branch = Vec::new();
            inside(part, path, &mut branch);
            branch
        })
        .collect();
    if let Some(meant) = meant(&branches, path) {
        found.extend(meant.iter().cloned());
        return;
    }
    let mut violation = leaf(rule, path);
    violation.value = violation.value.or_else(|| {
        let all = branches.iter().flatten();
        all.filter(|one| one.path == path)
            .find_map(|one| one.value.clone())
    });
    if violation.reason.is_empty() {
        "none of the declared shapes fits".clone_into(&mut violation.reason);
    }
    found.push(violation);
}

/// The only branch whose tag and field names fit; otherwise, among branches with tags, the only one
/// whose tag fits.
fn meant<'a>(branches: &'a [Vec<Violation>], path: &str) -> Option<&'a Vec<Violation>> {
    let only = |fits: &dyn Fn(&Violation) -> bool| {
        let mut fitting = branches.iter().filter(|branch| branch.iter().all(fits));
        let first = fitting.next();
        first.filter(|_| fitting.next().is_none())
    };
    only(&|violation| !is_other_shape(violation, path)).or_else(|| {
        let tag = |violation: &Violation| {
            let inner = relative(&violation.path, path);
            violation.operator == "enum" && !inner.is_empty() && !inner.contains('.')
        };
        let has_tags = branches.iter().flatten().any(tag);
        let fits = |violation: &Violation| {
            !(tag(violation) || violation.path == path && is_other_shape(violation, path))
        };
        only(&fits).filter(|_| has_tags)
    })
}

/// Whether a violation means that the value has another shape: its own type is wrong, or a tag or a
/// field name at its own level does not fit.
fn is_other_shape(violation: &Violation, path: &str) -> bool {
    let inner = relative(&violation.path, path);
    match violation.operator.as_str() {
        "enum" | "required" | "additionalProperties" => !inner.contains('.'),
        "bsonType" | "type" | "anyOf" | "oneOf" => inner.is_empty(),
        _ => false,
    }
}

/// The path of a violation relative to `path`.
fn relative<'a>(violation: &'a str, path: &str) -> &'a str {
    let inner = violation.strip_prefix(path).unwrap_or_default();
    inner.trim_start_matches('.')
}

fn leaf(rule: &Document, path: &str) -> Violation {
    let operator = operator(rule).to_owned();
    let specified = rule.get_document("specifiedAs").ok();
    Violation {
        rule: operator.clone(),
        path: path.to_owned(),
        value: ["consideredValue", "consideredValues"]
            .iter()
            .find_map(|key| rule.get(key))
            .cloned(),
        demanded: specified
            .and_then(|specified| specified.get(&operator))
            .cloned(),
        reason: rule.get_str("reason").unwrap_or_default().to_owned(),
        operator,
    }
}
