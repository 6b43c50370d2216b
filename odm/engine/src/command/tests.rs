//! Runs the conversations of `tests/cases/command`, recorded from a real server, against the engine.

use std::collections::HashMap;
use std::sync::atomic::{AtomicI64, Ordering};

use bson::raw::RawDocumentBuf;
use bson::spec::BinarySubtype;
use bson::{Binary, Bson, Document, doc};

use crate::Context;
use crate::cases;
use crate::command::state::Engine;

mod bounds;
mod bulk_writes;
mod concurrency;
mod depth;
mod duplicates;
mod garbage;
mod hostility;
mod joins;
mod laws;
mod memory;
mod recorded;
mod requests;
mod stress;
mod support_table;
mod transactions;
mod versions;

pub(super) fn run(engine: &Engine, context: &Context, db: &str, command: &Document) -> Document {
    let mut command = command.clone();
    command.insert("$db", db);
    let command = RawDocumentBuf::try_from(&command).unwrap();
    Document::try_from(engine.run(context, &command)).unwrap()
}

/// Normalizes values that differ from run to run: UUIDs, cursor ids, generated `ObjectId`s, index files.
fn normal(value: Bson) -> Bson {
    match value {
        Bson::Document(document) => Bson::Document(
            document
                .into_iter()
                .map(|(key, value)| match (key.as_str(), value) {
                    ("id", Bson::Int64(id)) if id != 0 => (key, Bson::Int64(1)),
                    (_, value) => (key, normal(value)),
                })
                .collect(),
        ),
        Bson::Array(values) => Bson::Array(values.into_iter().map(normal).collect()),
        // A cursor id in the list of killed cursors.
        Bson::Int64(id) if id > i64::from(u32::MAX) << 12 => Bson::Int64(1),
        Bson::Binary(Binary {
            subtype: BinarySubtype::Uuid,
            ..
        }) => Bson::from("uuid"),
        Bson::ObjectId(_) => Bson::from("oid"),
        // The recording client reads undefined as null.
        Bson::Undefined => Bson::Null,
        Bson::String(text) => Bson::String(
            text.split(' ')
                .map(|word| {
                    let bare = word.trim_matches([':', '.', '(', ')']);
                    let is_uuid = bare.len() == 36 && bare.matches('-').count() == 4;
                    let is_cursor =
                        bare.len() > 15 && bare.bytes().all(|byte| byte.is_ascii_digit());
                    let is_id = is_cursor || bare.starts_with("ObjectId('");
                    if is_uuid || is_id {
                        word.replace(bare, "id")
                    } else {
                        word.to_owned()
                    }
                })
                .collect::<Vec<_>>()
                .join(" "),
        ),
        other => other,
    }
}

fn cursor(reply: &Document) -> Option<i64> {
    reply.get_document("cursor").ok()?.get_i64("id").ok()
}

fn swap(value: &mut Bson, cursors: &HashMap<i64, i64>) {
    if let Bson::Int64(recorded) = value
        && let Some(id) = cursors.get(recorded)
    {
        *recorded = *id;
    }
}

/// The parts of a reply that were recorded, by their paths.
fn parts(reply: &Document, paths: &[Bson]) -> Document {
    let inside = |path: &str| {
        let mut names = path.split('.');
        let first = reply.get(names.next()?)?;
        names.try_fold(first, |value, name| match value {
            Bson::Array(values) => values.get(name.parse::<usize>().ok()?),
            value => value.as_document()?.get(name),
        })
    };
    let paths = paths.iter().filter_map(Bson::as_str);
    paths
        .filter_map(|path| Some((path.to_owned(), inside(path)?.clone())))
        .collect()
}

fn file(name: &str) {
    let steps = cases::read(&format!("command/{name}"));
    let (engine, context) = (Engine::new(), Context::system());
    let mut failures = Vec::new();
    // The engine's own cursors, by the ids of those that were recorded.
    let mut cursors = HashMap::new();
    for (at, step) in steps.iter().enumerate() {
        let mut command = step.get_document("command").unwrap().clone();
        for value in command.iter_mut().map(|(_, value)| value) {
            match value {
                Bson::Array(values) => values.iter_mut().for_each(|value| swap(value, &cursors)),
                value => swap(value, &cursors),
            }
        }
        let command = &command;
        let got = run(&engine, &context, step.get_str("db").unwrap(), command);
        if let (Some(recorded), Some(id)) =
            (cursor(step.get_document("reply").unwrap()), cursor(&got))
        {
            cursors.insert(recorded, id);
        }
        let wanted = step.get_document("reply").unwrap().clone();
        let got = match step.get_array("only") {
            Ok(paths) => parts(&got, paths),
            Err(_) => got,
        };
        let same = normal(got.clone().into()) == normal(wanted.clone().into());
        if !same {
            failures.push(format!(
                "{at}: {command}\n    wanted {wanted}\n    got    {got}"
            ));
        }
    }
    cases::report(&failures, steps.len());
}

cases::files!("command", file, input: [], [
    aggregates,
    argument_types,
    bucket_auto_options,
    bucket_options,
    capped,
    changed_indexes,
    coll_mod_faults,
    coll_mods,
    collation_options,
    collation_variants,
    collection_options,
    collections,
    command_fields,
    concerns_and_preferences,
    constant_folding,
    create_faults,
    dates_and_field_names,
    dbrefs,
    distinct_collation,
    documents_stage,
    dropped_indexes,
    element_plans,
    explain_fields,
    expr_plans,
    expression_faults,
    failed_writes,
    failing_expr,
    field_types,
    find_and_modify,
    find_and_modify_options,
    finds,
    geo,
    geo_circles,
    geo_commands,
    geo_distances,
    geo_grids,
    geo_near_faults,
    geo_near_metadata,
    geo_near_stage,
    geo_polygon_holes,
    geo_random,
    graph_lookup_depth,
    graph_lookups,
    hashed_keys,
    hints_and_sorts,
    hints_in_errors,
    ignored_options,
    index_bounds_and_hints,
    index_cell_levels,
    index_changes,
    index_faults,
    index_keys,
    index_option_order,
    index_options,
    index_refusals,
    index_specs,
    index_values,
    index_versions,
    inserts,
    list_collections,
    merge_on,
    merge_stage,
    meta_expressions,
    min_and_max_key_ranges,
    minimal_aggregates,
    minimal_counts,
    minimal_definitions,
    minimal_deletes,
    minimal_distinct,
    minimal_find_and_modify,
    minimal_finds,
    minimal_indexes,
    minimal_inserts,
    minimal_updates,
    missing_collection_plans,
    namespace_faults,
    namespace_names,
    near_geometries,
    near_options,
    nested_index_keys,
    nin_documents,
    nin_plans,
    numeric_path_keys,
    numeric_path_plans,
    open_range_plans,
    or_plans,
    out_stage,
    partial_filter_depths,
    partial_index_conflicts,
    pattern_plans,
    pipeline_faults,
    pipeline_plans,
    plans,
    positional_conditions,
    positional_paths,
    positional_projections,
    positional_schemas,
    pre_images,
    projection_faults,
    push_sort,
    push_sort_validators,
    query_and_update_faults,
    query_options,
    range_plans,
    read_faults,
    read_options,
    record_ids_and_sort_keys,
    redact_options,
    refusal_codes,
    regex_syntax,
    rename_faults,
    renames,
    retried_statements,
    retries,
    return_key,
    scaled_statistics,
    schema_required,
    server_databases,
    sessions,
    set_union_collation,
    sort_key_limits,
    sorted_cursors,
    statistics,
    statistics_of_views,
    statistics_stages,
    sum_order,
    tailable,
    text_hints,
    text_indexes,
    text_languages,
    text_modify,
    text_partial,
    text_pipelines,
    text_prefix,
    text_prefix_numeric_paths,
    text_refusals,
    text_search,
    text_specifications,
    text_words,
    transaction_conflicts,
    transaction_definitions,
    transaction_options,
    transaction_snapshots,
    transactions,
    typed_arrays,
    updates,
    upsert_empty_paths,
    upsert_filters,
    validation,
    validation_regex,
    validator_rules,
    validators_without_details,
    versioned_api,
    view_changes,
    views,
    wildcard_index_faults,
    write_concern_errors,
    write_options,
    zip_inputs,
]);

/// The output of `explain`: the stages from the outermost, the index bounds, and the examined keys and documents.
fn explained(engine: &Engine, command: Document) -> (String, i32, i32, i32) {
    let explain = doc! { "explain": command, "verbosity": "executionStats" };
    let reply = run(engine, &Context::system(), "x", &explain);
    let mut stages = Vec::new();
    let mut stage = reply
        .get_document("queryPlanner")
        .and_then(|planner| planner.get_document("winningPlan"));
    while let Ok(here) = stage {
        let name = here.get_str("stage").unwrap();
        stages.push(match here.get_document("indexBounds") {
            Ok(bounds) => format!("{name} {bounds}").replace('\\', ""),
            Err(_) => name.to_owned(),
        });
        stage = here.get_document("inputStage");
    }
    let stats = reply.get_document("executionStats").unwrap();
    let number = |name: &str| stats.get_i32(name).unwrap();
    (
        stages.join(" < "),
        number("nReturned"),
        number("totalKeysExamined"),
        number("totalDocsExamined"),
    )
}

#[test]
fn explain_reports_the_plan() {
    let (engine, context) = (Engine::new(), Context::system());
    let rows: Vec<Bson> = (0..20)
        .map(|i| doc! { "_id": i, "a": i % 5, "b": i % 3, "s": format!("x{i}") }.into())
        .collect();
    run(
        &engine,
        &context,
        "x",
        &doc! { "insert": "a", "documents": rows },
    );
    run(
        &engine,
        &context,
        "x",
        &doc! { "createIndexes": "a", "indexes": [
            { "key": { "a": 1, "b": -1 }, "name": "ab" }, { "key": { "s": 1 }, "name": "s" },
        ] },
    );
    let find = |filter: Document| doc! { "find": "a", "filter": filter };
    let check = |command: Document, stages: &str, numbers: (i32, i32, i32)| {
        let (got, returned, keys, docs) = explained(&engine, command);
        assert_eq!((got.as_str(), (returned, keys, docs)), (stages, numbers));
    };
    check(find(doc! { "_id": 1 }), "IDHACK", (1, 1, 1));
    check(find(doc! {}), "COLLSCAN", (20, 0, 20));
    check(find(doc! { "zz": 1 }), "COLLSCAN", (0, 0, 20));
    check(
        find(doc! { "a": 1 }),
        r#"FETCH < IXSCAN { "a": ["[1, 1]"], "b": ["[MaxKey, MinKey]"] }"#,
        (4, 4, 4),
    );
    check(
        find(doc! { "s": { "$regex": "^x1" } }),
        r#"FETCH < IXSCAN { "s": ["["x1", "x2")", "[/^x1/, /^x1/]"] }"#,
        (11, 12, 11),
    );
    let mut sorted = find(doc! { "a": 1, "b": { "$gt": 0 } });
    sorted.insert("sort", doc! { "b": -1 });
    sorted.insert("limit", 2);
    sorted.insert("skip", 1);
    sorted.insert("projection", doc! { "a": 1 });
    check(
        sorted,
        r#"LIMIT < PROJECTION_SIMPLE < FETCH < SKIP < IXSCAN { "a": ["[1, 1]"], "b": ["[inf.0, 0)"] }"#,
        (2, 3, 2),
    );
    let mut sorted = find(doc! { "a": { "$in": [2, 1] } });
    sorted.insert("sort", doc! { "zz": 1 });
    check(
        sorted,
        r#"SORT < FETCH < IXSCAN { "a": ["[1, 1]", "[2, 2]"], "b": ["[MaxKey, MinKey]"] }"#,
        (8, 9, 8),
    );
    check(doc! { "count": "a" }, "RECORD_STORE_FAST_COUNT", (0, 0, 0));
    // A view's plan is that of its pipeline.
    let ones = doc! { "create": "ones", "viewOn": "a", "pipeline": [{ "$match": { "_id": { "$gte": 18 } } }] };
    run(&engine, &context, "x", &ones);
    check(
        doc! { "find": "ones" },
        r#"FETCH < IXSCAN { "_id": ["[18, inf.0]"] }"#,
        (2, 2, 2),
    );
}

#[test]
fn expired_documents_are_removed_by_the_ttl_monitor() {
    static NOW: AtomicI64 = AtomicI64::new(1_000_000_000_000);
    let context =
        Context::system().with_clock(|| bson::DateTime::from_millis(NOW.load(Ordering::Relaxed)));
    let engine = Engine::new();
    let run = |command: Document| run(&engine, &context, "x", &command);
    run(doc! { "createIndexes": "a", "indexes": [
        { "key": { "t": 1 }, "name": "t", "expireAfterSeconds": 10 }
    ] });
    let old = bson::DateTime::from_millis(1_000_000_000_000 - 11_000);
    let new = bson::DateTime::from_millis(1_000_000_000_000 + 100_000);
    run(doc! { "insert": "a", "documents": [
        { "_id": 1, "t": old }, { "_id": 2, "t": new }, { "_id": 3, "t": [new, old] }, { "_id": 4, "t": 5 },
    ] });
    assert_eq!(run(doc! { "count": "a" }).get_i32("n").unwrap(), 4);
    NOW.fetch_add(60_000, Ordering::Relaxed);
    assert_eq!(run(doc! { "count": "a" }).get_i32("n").unwrap(), 2);
}

#[test]
fn the_oplog_is_read_only_by_change_streams() {
    let (engine, context) = (Engine::new(), Context::system());
    for command in [
        doc! { "find": "oplog.rs" },
        doc! { "count": "oplog.rs" },
        doc! { "aggregate": "oplog.rs", "pipeline": [], "cursor": {} },
        doc! { "insert": "oplog.rs", "documents": [{}] },
    ] {
        let reply = run(&engine, &context, "local", &command);
        assert_eq!(reply.get_i32("code").unwrap(), 115, "{reply}");
        assert!(reply.get_str("errmsg").unwrap().contains("change streams"));
        let reply = run(&engine, &context, "x", &command);
        assert!(!reply.contains_key("errmsg"), "{reply}");
    }
}

#[test]
fn abandoned_transactions_end_after_a_minute() {
    static NOW: AtomicI64 = AtomicI64::new(1_000_000_000_000);
    let context =
        Context::system().with_clock(|| bson::DateTime::from_millis(NOW.load(Ordering::Relaxed)));
    let engine = Engine::new();
    let run = |command: Document| run(&engine, &context, "x", &command);
    let session = Binary {
        subtype: BinarySubtype::Uuid,
        bytes: vec![7; 16],
    };
    run(doc! { "create": "a" });
    let reply = run(doc! {
        "insert": "a", "documents": [{ "_id": 1 }], "lsid": { "id": session },
        "txnNumber": 1_i64, "startTransaction": true, "autocommit": false,
    });
    assert_eq!(reply.get("ok"), Some(&Bson::Double(1.0)));
    let insert = doc! { "insert": "a", "documents": [{ "_id": 1 }] };
    assert_eq!(run(insert.clone()).get_i32("code").unwrap(), 112);
    NOW.fetch_add(61_000, Ordering::Relaxed);
    assert_eq!(run(insert).get_i32("n").unwrap(), 1);
}

#[test]
fn text_scores_behind_unions_and_in_windows_are_refused() {
    let (engine, context) = (Engine::new(), Context::system());
    let run = |command: Document| run(&engine, &context, "x", &command);
    run(doc! { "createIndexes": "a", "indexes": [{ "key": { "t": "text" }, "name": "t" }] });
    let score = || doc! { "$meta": "textScore" };
    let code_of = |stages: &[Document]| {
        let mut pipeline = vec![doc! { "$match": { "$text": { "$search": "x" } } }];
        pipeline.extend_from_slice(stages);
        let reply = run(doc! { "aggregate": "a", "pipeline": pipeline, "cursor": {} });
        reply.get("code").cloned()
    };
    let behind = [
        doc! { "$unionWith": "b" },
        doc! { "$sort": { "s": score() } },
    ];
    let window = [doc! { "$setWindowFields": { "sortBy": { "s": score() }, "output": {} } }];
    for stages in [behind.as_slice(), &window] {
        assert_eq!(code_of(stages), Some(Bson::Int32(115)), "{stages:?}");
        let facet = doc! { "$facet": { "x": stages } };
        assert_eq!(code_of(&[facet]), Some(Bson::Int32(115)), "{stages:?}");
    }
    assert_eq!(code_of(&[doc! { "$unionWith": "b" }]), None);
}
