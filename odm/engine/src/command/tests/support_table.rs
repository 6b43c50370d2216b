//! Writes `book/src/support.md` from the tables that the parsers read, and compares them with the names that
//! mongod lists: a name that no table has fails the test.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::{env, fs};

use bson::raw::RawDocumentBuf;
use bson::{Document, doc};
use odm_language::expression::percentile;
use odm_language::refusal::{self, Absent};
use odm_language::value::collation;
use odm_language::version::ServerVersion;
use odm_language::{expression, matcher};

use crate::cases;
use crate::command::args::{GENERIC, Kind};
use crate::command::state::Engine;
use crate::command::update::statement_fields;
use crate::command::{added_commands, known_commands, known_statements};
use crate::context::Context;
use crate::index::spec;
use crate::pipeline::{known_stage_options, known_stages, runs_accumulator, runs_window_operator};
use crate::updater;

/// What to do when the chapter is stale.
const REMEDY: &str = "ODM_WRITE=1 cargo test -p odm-engine support_table";

const HEAD: &str = "\
# What the engine supports

Every name of MongoDB 6.0 that reaches the in-memory engine, read from the tables of its own parsers; a test keeps this page
as they are. MongoDB runs all of it, where its deployment allows. *Supported*: works as on mongod, except as listed in
[The engine's limits](engine-limits.md). *Planned* and *refused* are answered with an error that names the operator, stage,
option or command, and never ignored. *Refused*: will not be added.
";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Status {
    Supported,
    Planned,
    Refused(&'static str),
}

impl Status {
    /// `key` is what the reasons call it.
    fn new(supported: bool, key: &str) -> Self {
        match refusal::reason(key) {
            _ if supported => Self::Supported,
            Some(reason) => Self::Refused(reason),
            None => Self::Planned,
        }
    }
}

pub(super) type Row = (String, Status);

fn rows<'a>(known: impl IntoIterator<Item = (&'a str, bool)>) -> Vec<Row> {
    let mut rows: Vec<Row> = known
        .into_iter()
        .map(|(name, supported)| (name.to_owned(), Status::new(supported, name)))
        .collect();
    rows.sort_by(|one, other| one.0.cmp(&other.0));
    rows
}

/// The names that mongod lists.
fn listed(kind: &str) -> Vec<String> {
    let known: Document = serde_json::from_str(&cases::text("names/server")).unwrap();
    let names = known.get_array(kind).unwrap().iter();
    names
        .map(|name| name.as_str().unwrap().to_owned())
        .collect()
}

/// The sections of the chapter but for the commands: heading, rows.
pub(super) fn sections() -> Vec<(&'static str, Vec<Row>)> {
    let [top_level, on_field] = matcher::known_operators();
    let accumulators = listed("accumulators");
    let stages = known_stages();
    let collection = known_commands()
        .iter()
        .find(|command| command.name == "create")
        .unwrap();
    vec![
        ("Query operators: of a document", rows(top_level)),
        ("Query operators: of a field", rows(on_field)),
        ("Keywords of $jsonSchema", rows(matcher::known_keywords())),
        ("Projection operators", probed(PROJECTIONS)),
        (
            "Update operators",
            rows(
                updater::known_operators()
                    .into_iter()
                    .map(|name| (name, true)),
            ),
        ),
        (
            "Modifiers, positions and stages of updates",
            probed(MODIFIERS),
        ),
        ("Stages", rows(stages)),
        ("Expressions", rows(expression::known_operators())),
        (
            "Accumulators",
            rows(
                accumulators
                    .iter()
                    .map(|name| (name.as_str(), runs_accumulator(name))),
            ),
        ),
        (
            "Window operators",
            rows(
                listed("window")
                    .iter()
                    .map(|name| (name.as_str(), runs_window_operator(name))),
            ),
        ),
        (
            "Values of $meta",
            rows(
                expression::META_VALUES
                    .iter()
                    .map(|(name, meta)| (*name, meta.is_some())),
            ),
        ),
        ("Kinds of indexes", probed(INDEX_KINDS)),
        (
            "Index options",
            rows(spec::known_options().map(|name| (name, true))),
        ),
        (
            "Collation options",
            rows(collation::FIELDS.iter().map(|name| (*name, true))),
        ),
        (
            "Collection options",
            collection
                .fields
                .iter()
                .map(|field| option("create", field.name, field.kind))
                .collect(),
        ),
    ]
}

pub(super) fn option(idl: &str, name: &str, kind: Kind) -> Row {
    let key = format!("{idl}.{name}");
    let supported = !matches!(kind, Kind::Unsupported | Kind::UnsupportedBool)
        && refusal::reason(&key).is_none();
    (name.to_owned(), Status::new(supported, &key))
}

/// An operator and its options.
pub(super) type Options = (&'static str, Vec<&'static str>);

/// What stands inside the arguments of operators and stages, all of it supported: heading, and of each its options.
pub(super) fn options() -> [(&'static str, Vec<Options>); 4] {
    let sorted = |mut rows: Vec<Options>| {
        rows.sort_unstable();
        rows
    };
    let of = |rows: Vec<(&'static str, &'static [&'static str])>| {
        let rows = rows.into_iter();
        sorted(
            rows.map(|(name, options)| (name, options.to_vec()))
                .collect(),
        )
    };
    [
        ("Options of query operators", of(matcher::known_options())),
        ("Options of update operators", of(UPDATE_OPTIONS.to_vec())),
        ("Options of stages", of(known_stage_options())),
        (
            "Arguments of expressions and accumulators",
            sorted(
                expression::known_arguments()
                    .into_iter()
                    .chain(RANKED.iter().map(|(name, names)| (*name, names.to_vec())))
                    .collect(),
            ),
        ),
    ]
}

/// Those that have no list of their own.
const UPDATE_OPTIONS: &[(&str, &[&str])] = &[
    ("$addToSet", &["$each"]),
    ("$bit", &["and", "or", "xor"]),
    ("$currentDate", &["$type"]),
    ("$push", &["$each", "$position", "$slice", "$sort"]),
];

/// The accumulators that take names, but for those that are expressions too.
const RANKED: &[(&str, &[&str])] = &[
    ("$bottom", &["output", "sortBy"]),
    ("$bottomN", &["n", "output", "sortBy"]),
    ("$top", &["output", "sortBy"]),
    ("$topN", &["n", "output", "sortBy"]),
];

/// Commands whose replies show whether a form is supported.
type Probe = (&'static str, fn() -> Document);

const PROJECTIONS: &[Probe] = &[
    ("$ (positional)", || {
        doc! { "find": "c", "filter": { "a": 1 }, "projection": { "a.$": 1 } }
    }),
    ("$elemMatch", || {
        doc! { "find": "c", "projection": { "a": { "$elemMatch": { "b": 1 } } } }
    }),
    ("$meta", || {
        doc! { "find": "c", "filter": { "$text": { "$search": "a" } }, "projection": { "a": { "$meta": "textScore" } } }
    }),
    ("$slice", || {
        doc! { "find": "c", "projection": { "a": { "$slice": 1 } } }
    }),
    ("expressions", || {
        doc! { "find": "c", "projection": { "a": { "$add": [1, "$b"] } } }
    }),
];

const MODIFIERS: &[Probe] = &[
    ("$", || update(doc! { "$set": { "a.$": 1 } })),
    ("$[]", || update(doc! { "$set": { "a.$[]": 1 } })),
    ("$[name] with arrayFilters", || {
        doc! { "update": "c", "updates": [{ "q": {}, "u": { "$set": { "a.$[e]": 1 } }, "arrayFilters": [{ "e": 1 }] }] }
    }),
    ("$each", || {
        update(doc! { "$push": { "a": { "$each": [1] } } })
    }),
    ("$position", || {
        update(doc! { "$push": { "a": { "$each": [1], "$position": 0 } } })
    }),
    ("$slice", || {
        update(doc! { "$push": { "a": { "$each": [1], "$slice": 1 } } })
    }),
    ("$sort", || {
        update(doc! { "$push": { "a": { "$each": [1], "$sort": 1 } } })
    }),
    ("$addFields", || pipeline(doc! { "$addFields": { "a": 1 } })),
    ("$project", || pipeline(doc! { "$project": { "a": 1 } })),
    ("$replaceRoot", || {
        pipeline(doc! { "$replaceRoot": { "newRoot": "$$ROOT" } })
    }),
    ("$replaceWith", || {
        pipeline(doc! { "$replaceWith": "$$ROOT" })
    }),
    ("$set", || pipeline(doc! { "$set": { "a": 1 } })),
    ("$unset", || pipeline(doc! { "$unset": "b" })),
];

/// Serving a query is what makes a kind supported.
const INDEX_KINDS: &[Probe] = &[
    ("single field", || hint("single", doc! { "a": 1 })),
    ("compound", || hint("compound", doc! { "a": 1, "b": -1 })),
    ("2d", || hint("planar", doc! { "p": "2d" })),
    ("2dsphere", || hint("sphere", doc! { "g": "2dsphere" })),
    ("hashed", || hint("hashed", doc! { "a": "hashed" })),
    (
        "text",
        || doc! { "find": "text", "filter": { "$text": { "$search": "a" } } },
    ),
    ("wildcard", || hint("wild", doc! { "$**": 1 })),
];

fn update(change: Document) -> Document {
    doc! { "update": "c", "updates": [{ "q": { "a": 1 }, "u": change }] }
}

fn pipeline(stage: Document) -> Document {
    doc! { "update": "c", "updates": [{ "q": {}, "u": [stage] }] }
}

fn hint(collection: &str, key: Document) -> Document {
    let filter = match collection {
        "planar" => doc! { "p": { "$geoWithin": { "$box": [[0, 0], [1, 1]] } } },
        "sphere" => {
            doc! { "g": { "$geoWithin": { "$centerSphere": [[0, 0], 1] } } }
        }
        _ => doc! { "a": 1 },
    };
    doc! { "find": collection, "filter": filter, "hint": key }
}

/// Forms without names in a table: the test tries them on an engine.
fn probed(probes: &[Probe]) -> Vec<Row> {
    let (engine, context) = (Engine::new(), Context::system());
    let run = |mut command: Document| {
        command.insert("$db", "x");
        let command = RawDocumentBuf::try_from(&command).unwrap();
        Document::try_from(engine.run(&context, &command)).unwrap()
    };
    for (collection, key) in [
        ("single", doc! { "a": 1 }),
        ("compound", doc! { "a": 1, "b": -1 }),
        ("planar", doc! { "p": "2d" }),
        ("sphere", doc! { "g": "2dsphere" }),
        ("hashed", doc! { "a": "hashed" }),
        ("text", doc! { "t": "text" }),
        ("c", doc! { "t": "text" }),
        ("wild", doc! { "$**": 1 }),
    ] {
        let reply =
            run(doc! { "createIndexes": collection, "indexes": [{ "key": key, "name": "i" }] });
        assert!(!reply.contains_key("code"), "{reply}");
        run(doc! { "insert": collection, "documents": [{ "_id": 1, "a": [1], "t": "a" }] });
    }
    let status = |command: Document| {
        let reply = run(command.clone());
        let error = match reply.get_array("writeErrors") {
            Ok(errors) => errors[0].as_document().unwrap().clone(),
            Err(_) => reply.clone(),
        };
        match error.get_i32("code") {
            Err(_) => Status::Supported,
            // NotImplemented, CommandNotSupported; a hint of an index that serves no query
            Ok(2 | 115 | 238) => Status::Planned,
            Ok(_) => panic!("{command}: {reply}"),
        }
    };
    let rows = probes.iter();
    rows.map(|(name, command)| ((*name).to_owned(), status(command())))
        .collect()
}

/// The names with one status, in code style.
fn names(rows: &[Row], wanted: Status) -> String {
    let names: Vec<String> = rows
        .iter()
        .filter(|(_, status)| *status == wanted)
        .map(|(name, _)| format!("`{name}`"))
        .collect();
    names.join(" ")
}

/// The reasons among rows, each once, in order.
fn reasons(rows: &[Row]) -> BTreeSet<&'static str> {
    rows.iter()
        .filter_map(|(_, status)| match status {
            Status::Refused(reason) => Some(*reason),
            _ => None,
        })
        .collect()
}

fn write_section(page: &mut String, heading: &str, rows: &[Row]) {
    writeln!(page, "\n## {heading}\n| | |\n| --- | --- |").unwrap();
    write_statuses(page, rows);
}

fn write_statuses(page: &mut String, rows: &[Row]) {
    for (word, status) in [
        ("supported", Status::Supported),
        ("planned", Status::Planned),
    ] {
        let names = names(rows, status);
        if !names.is_empty() {
            writeln!(page, "| {word} | {names} |").unwrap();
        }
    }
    for reason in reasons(rows) {
        let names = names(rows, Status::Refused(reason));
        writeln!(page, "| refused: {reason} | {names} |").unwrap();
    }
}

/// Commands of mongod that the engine lacks.
fn other_commands() -> Vec<Row> {
    let mut rows = Vec::new();
    for name in listed("commands") {
        if known_commands().iter().any(|command| command.name == name) {
            assert_eq!(
                refusal::command(&name),
                None,
                "{name} works: take it out of `refusal`"
            );
            continue;
        }
        let status = match refusal::command(&name) {
            Some(Absent::Refused(reason)) => Status::Refused(reason),
            Some(Absent::Planned) => Status::Planned,
            None => panic!("a server has the command {name}: give it a row"),
        };
        rows.push((name, status));
    }
    rows
}

/// Later versions: what is added, the kind, and the names.
fn additions() -> Vec<(ServerVersion, &'static str, Vec<&'static str>)> {
    let [old, new] = [ServerVersion::V6_0, ServerVersion::V8_0].map(|version| {
        statement_fields(version)
            .iter()
            .map(|field| field.name)
            .collect::<Vec<_>>()
    });
    let fields = new.into_iter().filter(|name| !old.contains(name)).collect();
    let expressions = |version| (version, "expressions", expression::added_operators(version));
    let mut rows = vec![
        expressions(ServerVersion::V7_0),
        (
            ServerVersion::V7_0,
            "accumulators and window operators",
            percentile::ACCUMULATORS.to_vec(),
        ),
        expressions(ServerVersion::V8_0),
        (
            ServerVersion::V8_0,
            "arguments of `$convert`",
            expression::added_arguments("$convert", ServerVersion::V8_0),
        ),
        (ServerVersion::V8_0, "fields of `update.updates`", fields),
        (
            ServerVersion::V8_0,
            "commands",
            added_commands(ServerVersion::V8_0)
                .map(|command| command.name)
                .collect(),
        ),
    ];
    rows.retain(|(_, _, names)| !names.is_empty());
    rows
}

/// What 7.0 and 8.0 have, and the engine does not.
const NOT_ADDED: &[(ServerVersion, &str)] = &[(ServerVersion::V7_0, "compound wildcard indexes")];

fn write_additions(page: &mut String) {
    page.push_str(
        "\n## What 7.0 and 8.0 add\n\
         An engine of a later version (`Db::memory_as(8, 0)`, `odm-server --version 8.0`) has this as well. It follows MongoDB's \
         documentation and was not compared with a server; codes of errors may differ. `$percentile` and `$median` are exact, \
         where MongoDB approximates them for many numbers.\n\n\
         | since | | |\n| --- | --- | --- |\n",
    );
    for (version, kind, names) in additions() {
        let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
        writeln!(page, "| {version} | {kind} | {} |", names.join(" ")).unwrap();
    }
    for (version, missing) in NOT_ADDED {
        writeln!(page, "| {version} | planned | {missing} |").unwrap();
    }
}

fn write_commands(page: &mut String) {
    page.push_str(
        "\n## Commands\n| command | options | planned | refused |\n| --- | --- | --- | --- |\n",
    );
    for command in known_commands() {
        let options: Vec<Row> = command
            .fields
            .iter()
            .map(|field| option(command.idl, field.name, field.kind))
            .collect();
        write_command(page, command.name, &options);
    }
    for (idl, fields) in known_statements() {
        let options: Vec<Row> = fields
            .iter()
            .map(|field| option(idl, field.name, field.kind))
            .collect();
        write_command(page, idl, &options);
    }
    let generic: Vec<String> = GENERIC.iter().map(|name| format!("`{name}`")).collect();
    writeln!(page, "\nEvery command takes {}.", generic.join(" ")).unwrap();
    page.push_str("\n| other commands | |\n| --- | --- |\n");
    write_statuses(page, &other_commands());
}

fn write_command(page: &mut String, name: &str, options: &[Row]) {
    let refused: Vec<String> = reasons(options)
        .into_iter()
        .map(|reason| format!("{} ({reason})", names(options, Status::Refused(reason))))
        .collect();
    let cells = [
        format!("`{name}`"),
        names(options, Status::Supported),
        names(options, Status::Planned),
        refused.join(", "),
    ];
    writeln!(page, "| {} |", cells.join(" | ")).unwrap();
}

#[test]
fn the_book_lists_the_supported_features() {
    let mut page = HEAD.to_owned();
    for (heading, rows) in sections() {
        write_section(&mut page, heading, &rows);
    }
    for (heading, rows) in options() {
        writeln!(page, "\n## {heading}\n| of | |\n| --- | --- |").unwrap();
        for (name, options) in rows {
            let options: Vec<String> = options.iter().map(|name| format!("`{name}`")).collect();
            writeln!(page, "| `{name}` | {} |", options.join(" ")).unwrap();
        }
    }
    write_commands(&mut page);
    write_additions(&mut page);
    // What the feature `server` adds is written by its own test.
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../book/src/support.md");
    let before = fs::read_to_string(&path).unwrap_or_default();
    if let Some(at) = before.find("\n## Behind a port\n") {
        page.push_str(before.split_at(at).1);
    }
    if env::var_os("ODM_WRITE").is_some() {
        fs::write(&path, &page).unwrap();
    }
    let found = fs::read_to_string(&path).unwrap_or_default();
    for (line, (found, wanted)) in found.lines().zip(page.lines()).enumerate() {
        assert_eq!(
            found,
            wanted,
            "book/src/support.md, line {}, is stale: {REMEDY}",
            line + 1
        );
    }
    assert_eq!(
        found.len(),
        page.len(),
        "book/src/support.md is stale: {REMEDY}"
    );
}

/// Every name that mongod lists is supported or has a reason.
#[test]
fn every_name_that_mongod_lists_has_a_row() {
    let [top_level, on_field] = matcher::known_operators();
    let filters = [top_level, on_field].concat();
    for (kind, known) in [
        ("filters", filters),
        ("stages", known_stages()),
        ("expressions", expression::known_operators()),
    ] {
        let missing: Vec<String> = listed(kind)
            .into_iter()
            .filter(|name| !known.iter().any(|(known, _)| known == name))
            .collect();
        assert!(missing.is_empty(), "{kind}: {missing:?}");
    }
    other_commands();
}

/// Supported names must not have a reason for their refusal.
#[test]
fn every_refusal_reason_is_used() {
    let mut refused: Vec<Row> = sections().into_iter().flat_map(|(_, rows)| rows).collect();
    let commands = known_commands().iter();
    let fields = commands.map(|command| (command.idl, command.fields));
    for (idl, fields) in fields.chain(known_statements()) {
        refused.extend(fields.iter().map(|field| {
            let (name, status) = option(idl, field.name, field.kind);
            (format!("{idl}.{name}"), status)
        }));
    }
    for name in refusal::names() {
        let of_name = |row: &&Row| row.0 == name;
        let rows: Vec<&Row> = refused.iter().filter(of_name).collect();
        assert!(!rows.is_empty(), "{name} is in no table");
        assert!(
            rows.iter()
                .any(|(_, status)| matches!(status, Status::Refused(_))),
            "{name} is supported"
        );
    }
}
