//! Every supported entry of the support table has a recorded case that mongod answered: without a mongod, only these
//! cases compare the engine with one.
//!
//! The tests collect the operators and options that the cases name. Refused cases do not count.

use std::collections::BTreeSet;
use std::fs;

use bson::{Bson, Document};

use crate::cases;
use crate::command::tests::support_table::{Status, option, options, sections};
use crate::command::{known_commands, known_statements};

/// Names that the cases use: the heading of a section and a name in it.
#[derive(Debug, Default)]
struct Used(BTreeSet<(&'static str, String)>);

const TOP_LEVEL: &str = "Query operators: of a document";
const ON_FIELD: &str = "Query operators: of a field";
const KEYWORDS: &str = "Keywords of $jsonSchema";
const PROJECTIONS: &str = "Projection operators";
const UPDATES: &str = "Update operators";
const MODIFIERS: &str = "Modifiers, positions and stages of updates";
const STAGES: &str = "Stages";
const EXPRESSIONS: &str = "Expressions";
const ACCUMULATORS: &str = "Accumulators";
const WINDOW: &str = "Window operators";
const META: &str = "Values of $meta";
const INDEX_KINDS: &str = "Kinds of indexes";
const INDEX_OPTIONS: &str = "Index options";
const COLLATIONS: &str = "Collation options";
const COLLECTIONS: &str = "Collection options";
const QUERY_OPTIONS: &str = "Options of query operators";
const UPDATE_OPTIONS: &str = "Options of update operators";
const STAGE_OPTIONS: &str = "Options of stages";
const ARGUMENTS: &str = "Arguments of expressions and accumulators";
const COMMANDS: &str = "Commands";

fn documents(value: Option<&Bson>) -> Vec<&Document> {
    let items = value.and_then(Bson::as_array).into_iter().flatten();
    items.filter_map(Bson::as_document).collect()
}

fn first(document: &Document) -> Option<(&String, &Bson)> {
    document.iter().next()
}

fn is_operator(document: &Document) -> bool {
    first(document).is_some_and(|(name, _)| name.starts_with('$'))
}

impl Used {
    fn note(&mut self, section: &'static str, name: impl Into<String>) {
        self.0.insert((section, name.into()));
    }

    fn options(&mut self, section: &'static str, of: &str, options: &Document) {
        for name in options.keys() {
            self.note(section, format!("{of}.{name}"));
        }
    }

    fn filter(&mut self, filter: &Document) {
        for (name, value) in filter {
            match value {
                _ if !name.starts_with('$') => self.field(value),
                Bson::Array(_) if matches!(name.as_str(), "$and" | "$or" | "$nor") => {
                    for one in documents(Some(value)) {
                        self.filter(one);
                    }
                }
                Bson::Document(schema) if name == "$jsonSchema" => self.schema(schema),
                Bson::Document(options) if name == "$text" => {
                    self.options(QUERY_OPTIONS, name, options);
                }
                _ if name == "$expr" => self.expression(value),
                _ => {}
            }
            if name.starts_with('$') {
                self.note(TOP_LEVEL, name);
            }
        }
    }

    /// The condition on a field.
    fn field(&mut self, value: &Bson) {
        let Bson::Document(operators) = value else {
            return;
        };
        if !is_operator(operators) {
            return;
        }
        for (name, argument) in operators {
            self.note(ON_FIELD, name);
            if name == "$options" {
                self.note(QUERY_OPTIONS, "$regex.$options");
            }
            match argument {
                Bson::Document(argument) if name == "$elemMatch" => {
                    self.filter(argument);
                    self.field(&Bson::Document(argument.clone()));
                }
                Bson::Document(argument)
                    if name.to_lowercase().contains("geo")
                        || name.contains("ear")
                        || name == "$within" =>
                {
                    let of = if name == "$within" {
                        "$geoWithin"
                    } else {
                        name
                    };
                    // A literal geometry has fields, but no options.
                    if argument.keys().any(|name| name.starts_with('$')) {
                        self.options(QUERY_OPTIONS, of, argument);
                    }
                }
                Bson::Array(items) if name == "$all" => {
                    for one in items {
                        self.field(one);
                    }
                }
                argument if name == "$not" => self.field(argument),
                _ => {}
            }
            // In the legacy form, the distances are siblings.
            if name.contains("Distance") || name == "$uniqueDocs" {
                for of in ["$near", "$nearSphere", "$geoNear"] {
                    if operators.contains_key(of) {
                        self.note(QUERY_OPTIONS, format!("{of}.{name}"));
                    }
                }
            }
        }
    }

    fn schema(&mut self, schema: &Document) {
        for (name, value) in schema {
            self.note(KEYWORDS, name);
            match (name.as_str(), value) {
                ("properties" | "patternProperties" | "dependencies", Bson::Document(named)) => {
                    let schemas = named.values().filter_map(Bson::as_document);
                    schemas.for_each(|one| self.schema(one));
                }
                (_, Bson::Document(one)) => self.schema(one),
                ("items" | "allOf" | "anyOf" | "oneOf", Bson::Array(_)) => {
                    for one in documents(Some(value)) {
                        self.schema(one);
                    }
                }
                _ => {}
            }
        }
    }

    fn expression(&mut self, value: &Bson) {
        match value {
            Bson::Array(items) => {
                for one in items {
                    self.expression(one);
                }
            }
            Bson::Document(document) => {
                for (name, argument) in document {
                    if name.starts_with('$') {
                        self.operator(name, argument);
                    }
                    if !matches!(name.as_str(), "$literal" | "$const") {
                        self.expression(argument);
                    }
                }
            }
            _ => {}
        }
    }

    fn operator(&mut self, name: &str, argument: &Bson) {
        self.note(EXPRESSIONS, name);
        if let (Bson::String(what), "$meta") = (argument, name) {
            self.note(META, what);
        }
        if let Bson::Document(argument) = argument {
            self.options(ARGUMENTS, name, argument);
            for branch in documents(argument.get("branches")) {
                self.options(ARGUMENTS, "$switch.branches", branch);
            }
        }
    }

    fn projection(&mut self, projection: &Document) {
        for (name, value) in projection {
            if name.ends_with(".$") {
                self.note(PROJECTIONS, "$ (positional)");
            }
            let Bson::Document(operator) = value else {
                continue;
            };
            match first(operator) {
                Some((name, argument))
                    if matches!(name.as_str(), "$elemMatch" | "$slice" | "$meta") =>
                {
                    self.note(PROJECTIONS, name);
                    if let Bson::String(what) = argument {
                        self.note(META, what);
                    }
                }
                _ => {
                    self.note(PROJECTIONS, "expressions");
                    self.expression(value);
                }
            }
        }
    }

    fn update(&mut self, update: &Bson, array_filters: bool) {
        match update {
            Bson::Array(stages) => {
                for (name, _) in stages
                    .iter()
                    .filter_map(Bson::as_document)
                    .filter_map(first)
                {
                    self.note(MODIFIERS, name);
                }
            }
            Bson::Document(update) => {
                for (name, fields) in update.iter().filter(|(name, _)| name.starts_with('$')) {
                    self.note(UPDATES, name);
                    for (path, value) in fields.as_document().into_iter().flatten() {
                        self.modifiers(name, path, value, array_filters);
                    }
                }
            }
            _ => {}
        }
    }

    fn modifiers(&mut self, operator: &str, path: &str, value: &Bson, array_filters: bool) {
        for part in path.split('.') {
            match part {
                "$" | "$[]" => self.note(MODIFIERS, part),
                part if part.starts_with("$[") && array_filters => {
                    self.note(MODIFIERS, "$[name] with arrayFilters");
                }
                _ => {}
            }
        }
        match (operator, value) {
            ("$push" | "$addToSet", Bson::Document(options))
                if first(options).is_some_and(|(name, _)| name == "$each") =>
            {
                self.options(UPDATE_OPTIONS, operator, options);
                options.keys().for_each(|name| self.note(MODIFIERS, name));
            }
            ("$bit" | "$currentDate", Bson::Document(options)) => {
                self.options(UPDATE_OPTIONS, operator, options);
            }
            ("$pull", condition) => self.field(condition),
            _ => {}
        }
    }

    fn pipeline(&mut self, pipeline: Option<&Bson>) {
        for stage in documents(pipeline) {
            if let Some((name, argument)) = first(stage) {
                self.stage(name, argument);
            }
        }
    }

    fn stage(&mut self, name: &str, argument: &Bson) {
        self.note(STAGES, name);
        let Bson::Document(options) = argument else {
            return;
        };
        match name {
            "$match" => self.filter(options),
            "$facet" => options.values().for_each(|one| self.pipeline(Some(one))),
            "$group" => {
                for (field, value) in options {
                    match value.as_document().and_then(first) {
                        Some((accumulator, argument)) if field != "_id" => {
                            self.note(ACCUMULATORS, accumulator);
                            if let Bson::Document(argument) = argument {
                                self.options(ARGUMENTS, accumulator, argument);
                            }
                            self.expression(argument);
                        }
                        _ => self.expression(value),
                    }
                }
            }
            "$setWindowFields" => {
                self.options(STAGE_OPTIONS, name, options);
                let output = options.get_document("output").ok();
                for (_, function) in output.into_iter().flatten() {
                    let named = function.as_document().into_iter().flat_map(Document::keys);
                    for operator in named.filter(|name| name.starts_with('$')) {
                        self.note(WINDOW, operator);
                    }
                }
            }
            "$project" | "$set" | "$addFields" | "$replaceWith" | "$sort" => {
                self.expression(argument);
            }
            _ => {
                self.options(STAGE_OPTIONS, name, options);
                self.pipeline(options.get("pipeline"));
            }
        }
    }

    fn index(&mut self, index: &Document) {
        for name in index.keys() {
            self.note(INDEX_OPTIONS, name);
        }
        let Ok(key) = index.get_document("key") else {
            return;
        };
        let kind = match (key.values().find_map(Bson::as_str), key.len()) {
            (Some(kind), _) => kind,
            _ if key.keys().any(|path| path.ends_with("$**")) => "wildcard",
            (None, 1) => "single field",
            (None, _) => "compound",
        };
        self.note(INDEX_KINDS, kind);
    }

    /// A command that succeeded.
    fn command(&mut self, command: &Document) {
        let Some((name, target)) = first(command) else {
            return;
        };
        let known = known_commands().iter().find(|known| known.name == name);
        if name == "explain"
            && let Bson::Document(explained) = target
        {
            self.command(explained);
        }
        if let Some(known) = known {
            self.note(COMMANDS, name);
            self.options(COMMANDS, known.idl, command);
        }
        if let ("collMod", Ok(index)) = (name.as_str(), command.get_document("index")) {
            self.options(COMMANDS, "collMod.index", index);
        }
        for (list, idl) in [("updates", "update.updates"), ("deletes", "delete.deletes")] {
            for statement in documents(command.get(list)) {
                self.options(COMMANDS, idl, statement);
                self.statement(statement);
            }
        }
        if name == "create" {
            self.options(COLLECTIONS, "", command);
        }
        for index in documents(command.get("indexes")) {
            self.index(index);
        }
        for filter in ["filter", "query", "validator"] {
            if let Ok(filter) = command.get_document(filter) {
                self.filter(filter);
            }
        }
        for projection in ["projection", "fields"] {
            if let Ok(projection) = command.get_document(projection) {
                self.projection(projection);
            }
        }
        if let Ok(sort) = command.get_document("sort") {
            self.expression(&Bson::Document(sort.clone()));
        }
        self.collation(command);
        self.pipeline(command.get("pipeline"));
        if let Some(update) = command.get("update").filter(|_| name != "update") {
            self.update(update, command.contains_key("arrayFilters"));
        }
    }

    fn statement(&mut self, statement: &Document) {
        if let Ok(filter) = statement.get_document("q") {
            self.filter(filter);
        }
        if let Some(update) = statement.get("u") {
            self.update(update, statement.contains_key("arrayFilters"));
        }
        self.collation(statement);
    }

    fn collation(&mut self, of: &Document) {
        if let Ok(collation) = of.get_document("collation") {
            collation
                .keys()
                .for_each(|name| self.note(COLLATIONS, name));
        }
    }
}

/// Every case of a folder.
fn folder(name: &str) -> Vec<Document> {
    let path = cases::folder(name);
    let files = fs::read_dir(path)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let mut all = Vec::new();
    for file in files {
        let stem = file.file_stem().unwrap().to_str().unwrap();
        if !matches!(stem, "document" | "documents") {
            all.extend(cases::read(&format!("{name}/{stem}")));
        }
    }
    all
}

fn is_answered(case: &Document) -> bool {
    !case.contains_key("error") && !case.contains_key("errmsg")
}

/// The names that all cases use.
fn used() -> Used {
    let mut used = Used::default();
    for case in folder("expression").iter().filter(|case| is_answered(case)) {
        used.expression(case.get("expression").unwrap());
    }
    for case in folder("grid") {
        let answers = case.get_array("answers").unwrap();
        if answers.iter().any(|answer| answer.as_document().is_some()) {
            used.expression(case.get("expression").unwrap());
        }
    }
    for case in folder("query") {
        let queries = documents(case.get("queries"));
        for query in queries.into_iter().filter(|query| is_answered(query)) {
            used.filter(query.get_document("filter").unwrap());
        }
    }
    for case in folder("validation").iter().filter(|case| is_answered(case)) {
        used.filter(case.get_document("validator").unwrap());
    }
    for case in folder("update").iter().filter(|case| is_answered(case)) {
        used.update(
            case.get("update").unwrap(),
            case.contains_key("arrayFilters"),
        );
    }
    for case in folder("stage").iter().filter(|case| is_answered(case)) {
        used.pipeline(case.get("pipeline"));
        if let Ok(projection) = case.get_document("projection") {
            used.projection(projection);
        }
    }
    for step in folder("command") {
        let reply = step.get_document("reply").unwrap();
        if reply.contains_key("ok")
            && !reply.contains_key("code")
            && !reply.contains_key("writeErrors")
        {
            used.command(step.get_document("command").unwrap());
        }
    }
    used
}

/// Heading and name of every supported entry.
fn supported() -> BTreeSet<(&'static str, String)> {
    let mut all = BTreeSet::new();
    for (section, rows) in sections() {
        let rows = rows
            .into_iter()
            .filter(|(_, status)| *status == Status::Supported);
        for (name, _) in rows {
            let name = match section {
                COLLECTIONS => format!(".{name}"),
                _ => name,
            };
            all.insert((section, name));
        }
    }
    for (section, rows) in options() {
        for (of, options) in rows {
            all.extend(options.iter().map(|name| (section, format!("{of}.{name}"))));
        }
    }
    let commands = known_commands().iter();
    let fields = commands.map(|command| (command.idl, command.fields));
    for (idl, fields) in fields.chain(known_statements()) {
        let rows = fields
            .iter()
            .map(|field| option(idl, field.name, field.kind));
        let rows = rows.filter(|(_, status)| *status == Status::Supported);
        all.extend(rows.map(|(name, _)| (COMMANDS, format!("{idl}.{name}"))));
    }
    all.extend(
        known_commands()
            .iter()
            .map(|command| (COMMANDS, command.name.to_owned())),
    );
    all
}

/// Options that mongod and the engine always refuse, or accept only once per connection.
const NEVER_ANSWERED: &[(&str, &str)] = &[
    // Options of time series collections, which the engine lacks.
    (COMMANDS, "collMod.expireAfterSeconds"),
    (COMMANDS, "collMod.timeseries"),
    // Accepted only in the first message of a connection.
    (COMMANDS, "hello.client"),
];

/// Options whose answers vary from run to run: the suite (`changes`, `definitions`) tests them on every store.
const ASKED_BY_THE_SUITE: &[(&str, &str)] = &[
    (COMMANDS, "$changeStream.allChangesForCluster"),
    (COMMANDS, "$changeStream.fullDocument"),
    (COMMANDS, "$changeStream.fullDocumentBeforeChange"),
    (COMMANDS, "$changeStream.resumeAfter"),
    (COMMANDS, "$changeStream.showExpandedEvents"),
    (COMMANDS, "$changeStream.startAfter"),
    (COMMANDS, "$changeStream.startAtOperationTime"),
    (COMMANDS, "profile"),
    (COMMANDS, "profile.filter"),
    (COMMANDS, "profile.sampleRate"),
    (COMMANDS, "profile.slowms"),
    (STAGES, "$changeStream"),
];

#[test]
fn supported_features_have_recorded_cases() {
    let mut used = used().0;
    for (section, name) in NEVER_ANSWERED.iter().chain(ASKED_BY_THE_SUITE) {
        let is_new = used.insert((section, (*name).to_owned()));
        assert!(is_new, "{name} has been answered");
    }
    let missing: Vec<String> = supported()
        .difference(&used)
        .map(|(section, name)| format!("{section}: {name}"))
        .collect();
    assert!(
        missing.is_empty(),
        "{} without a recorded case that a server answered (tests/cases/README.md says how to record):\n{}",
        missing.len(),
        missing.join("\n")
    );
}

/// The lists of options beside the parsers contain every option that mongod accepted.
#[test]
fn recorded_options_are_listed() {
    let listed = supported();
    let sections = [QUERY_OPTIONS, UPDATE_OPTIONS, STAGE_OPTIONS];
    let has_options: BTreeSet<&str> = options()
        .into_iter()
        .flat_map(|(_, rows)| rows)
        .map(|(of, _)| of)
        .collect();
    let missing: Vec<String> = used()
        .0
        .into_iter()
        .filter(|(section, name)| {
            let of = name.split('.').next().unwrap_or_default();
            sections.contains(section) && has_options.contains(of)
        })
        .filter(|used| !listed.contains(used))
        .map(|(section, name)| format!("{section}: {name}"))
        .collect();
    assert!(
        missing.is_empty(),
        "not in the tables:\n{}",
        missing.join("\n")
    );
}
