//! The commands whose plans say how a command finds its documents.

use std::collections::BTreeSet;

use bson::{Bson, Document, doc};

/// The fields that `explain` does not take.
const AROUND: &[&str] = &[
    "lsid",
    "txnNumber",
    "startTransaction",
    "autocommit",
    "readConcern",
    "writeConcern",
    "$clusterTime",
    "$readPreference",
    "$db",
];

/// The stages that begin a pipeline whose documents come from no collection, or that no plan answers.
const SOURCES: &[&str] = &[
    "$changeStream",
    "$collStats",
    "$currentOp",
    "$documents",
    "$indexStats",
    "$listLocalSessions",
    "$listSessions",
    "$planCacheStats",
];

/// The commands to explain: of several statements, one for each shape of their filters; of a pipeline, the pipeline and its
/// queries of other collections. None of a command that looks nothing up, such as an `insert`.
///
/// The queries of `$lookup` and `$graphLookup` depend on values of documents. A number stands for each: it has the plan of any
/// other scalar.
pub(crate) fn commands(command: &Document) -> Vec<Document> {
    let Some((name, target)) = command.iter().next() else {
        return Vec::new();
    };
    let mut explained = command.clone();
    for field in AROUND {
        explained.remove(field);
    }
    match (name.as_str(), target) {
        ("find" | "count" | "distinct" | "findAndModify", _) => vec![explained],
        ("update", _) => statements(&explained, "updates"),
        ("delete", _) => statements(&explained, "deletes"),
        ("aggregate", Bson::String(collection)) => {
            let mut all = Vec::new();
            let stages = stages(command.get("pipeline"));
            // A hint is about the first collection alone.
            let mut options = explained.clone();
            let hint = options.remove("hint");
            pipeline(collection, stages, &options, &mut all);
            if let (Some(own), Some(hint)) = (all.first_mut(), hint)
                && own.get_str("aggregate").ok() == Some(collection)
            {
                own.insert("hint", hint);
            }
            all
        }
        _ => Vec::new(),
    }
}

/// A command for each shape of the filters of these statements.
fn statements(command: &Document, field: &str) -> Vec<Document> {
    let mut shapes = BTreeSet::new();
    let statements = command.get_array(field).into_iter().flatten();
    let statements = statements.filter_map(Bson::as_document).filter(|one| {
        let mut shape = String::new();
        for (name, value) in *one {
            if name != "u" {
                shape.push_str(name);
                add_shape(value, &mut shape);
            }
        }
        shapes.insert(shape)
    });
    statements
        .map(|statement| {
            let mut one = command.clone();
            one.insert(field, vec![statement.clone()]);
            one
        })
        .collect()
}

/// Adds the names in a value, without what is compared with them.
fn add_shape(value: &Bson, shape: &mut String) {
    match value {
        Bson::Document(inside) => {
            shape.push('{');
            for (name, value) in inside {
                shape.push_str(name);
                add_shape(value, shape);
            }
            shape.push('}');
        }
        Bson::Array(elements) => {
            let nested = elements.iter().filter(|one| one.as_document().is_some());
            shape.push('[');
            for element in nested {
                add_shape(element, shape);
            }
            shape.push(']');
        }
        _ => shape.push(','),
    }
}

fn stages(pipeline: Option<&Bson>) -> Vec<Document> {
    let stages = pipeline.and_then(Bson::as_array).into_iter().flatten();
    stages.filter_map(Bson::as_document).cloned().collect()
}

/// Adds the pipeline on this collection, with these options, and the queries of its stages.
fn pipeline(
    collection: &str,
    mut stages: Vec<Document>,
    options: &Document,
    all: &mut Vec<Document>,
) {
    let begins = |names: &[&str]| {
        let first = stages.first().and_then(|stage| stage.keys().next());
        first.is_some_and(|name| names.contains(&name.as_str()))
    };
    let is_read = !begins(SOURCES);
    let inner = stages.clone();
    // Where the result is written is no part of its plan, and is not explained with it.
    stages.retain(|stage| !stage.contains_key("$out") && !stage.contains_key("$merge"));
    if is_read {
        let mut own = doc! {"aggregate": collection, "pipeline": stages, "cursor": {}};
        for (name, value) in options {
            if !own.contains_key(name) {
                own.insert(name, value.clone());
            }
        }
        all.push(own);
    }
    for stage in &inner {
        for (name, spec) in stage {
            add_inner(name, spec, options, all);
        }
    }
}

/// Adds the queries of a stage.
fn add_inner(name: &str, spec: &Bson, options: &Document, all: &mut Vec<Document>) {
    let Bson::Document(spec) = spec else {
        if let ("$unionWith", Bson::String(collection)) = (name, spec) {
            pipeline(collection, Vec::new(), options, all);
        }
        return;
    };
    let text = |field: &str| spec.get_str(field).ok();
    match name {
        "$lookup" => {
            let mut stages = stages(spec.get("pipeline"));
            if let Some(field) = text("foreignField") {
                stages.insert(0, doc! {"$match": {field: 0}});
            }
            let mut options = options.clone();
            if let Ok(variables) = spec.get_document("let") {
                let mut known = options.get_document("let").cloned().unwrap_or_default();
                known.extend(variables.keys().map(|name| (name.clone(), Bson::Int32(0))));
                options.insert("let", known);
            }
            if let Some(from) = text("from") {
                pipeline(from, stages, &options, all);
            }
        }
        "$graphLookup" => {
            if let (Some(from), Some(field)) = (text("from"), text("connectToField")) {
                let stages = vec![doc! {"$match": {field: 0}}];
                pipeline(from, stages, options, all);
            }
        }
        "$unionWith" => {
            if let Some(collection) = text("coll") {
                pipeline(collection, stages(spec.get("pipeline")), options, all);
            }
        }
        "$facet" => {
            for part in spec.values() {
                for stage in stages(Some(part)) {
                    for (name, spec) in &stage {
                        add_inner(name, spec, options, all);
                    }
                }
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries_of_other_collections_are_found() {
        let command = doc! {
            "aggregate": "books",
            "pipeline": [
                {"$match": {"year": 1999}},
                {"$lookup": {"from": "authors", "localField": "author", "foreignField": "_id", "as": "author"}},
                {"$facet": {"all": [{"$unionWith": "films"}]}},
                {"$lookup": {
                    "from": "sales",
                    "let": {"book": "$_id"},
                    "pipeline": [
                        {"$match": {"$expr": {"$eq": ["$book", "$$book"]}}},
                        {"$graphLookup": {"from": "shops", "connectToField": "parent", "as": "shops"}},
                    ],
                    "as": "sales",
                }},
                {"$merge": "shelf"},
            ],
            "cursor": {},
            "lsid": 1,
        };
        let explained = commands(&command);
        let targets: Vec<_> = explained
            .iter()
            .map(|one| one.get_str("aggregate").unwrap())
            .collect();
        assert_eq!(targets, ["books", "authors", "films", "sales", "shops"]);
        assert_eq!(explained[0].get_array("pipeline").unwrap().len(), 4);
        assert_eq!(explained[3].get_document("let").unwrap(), &doc! {"book": 0});
        assert!(explained.iter().all(|one| !one.contains_key("lsid")));
    }

    #[test]
    fn statements_of_one_shape_are_explained_once() {
        let by_id = |id: i32| doc! {"q": {"_id": id}, "u": {"$inc": {"n": id}}};
        let command = doc! {
            "update": "books",
            "updates": [by_id(1), by_id(2), {"q": {"year": {"$gt": 1}}, "u": {"$set": {"n": 1}}}],
        };
        assert_eq!(commands(&command).len(), 2);
        assert!(commands(&doc! {"insert": "books", "documents": []}).is_empty());
        assert!(commands(&doc! {"aggregate": 1, "pipeline": [{"$changeStream": {}}]}).is_empty());
    }
}
