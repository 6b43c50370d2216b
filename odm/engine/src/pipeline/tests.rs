//! Runs the cases of `tests/cases/stage`, recorded from a real server.

use bson::raw::{RawArrayBuf, RawBson, RawDocument, RawDocumentBuf};
use bson::{Document, doc};
use odm_language::error::ServerError;
use odm_language::expression::Globals;
use odm_language::matcher::Matcher;

use super::outline::{self, Place};
use super::projection::Projection;
use super::source::made;
use super::{Documents, Located, Pipeline, Source};
use crate::cases;

/// One collection, `stage_cases`.
struct Held(Vec<RawDocumentBuf>);

impl Source for Held {
    fn find<'s>(
        &'s self,
        _depth: usize,
        collection: &str,
        _joined_by: Option<&str>,
        filter: &RawDocument,
        globals: &Globals,
    ) -> Result<Documents<'s>, ServerError> {
        let matcher = Matcher::parse(filter, globals)?;
        let mut found = Vec::new();
        for document in self.0.iter().filter(|_| collection == "stage_cases") {
            if matcher.matches(document)? {
                found.push(document.clone());
            }
        }
        Ok(made(found.into_iter().map(Ok)))
    }

    fn nearest(
        &self,
        _collection: &str,
        _field: Option<&str>,
        _filter: &dyn Fn(&str) -> Result<RawDocumentBuf, ServerError>,
        _globals: &Globals,
    ) -> Result<Located, ServerError> {
        Ok(Box::new(std::iter::empty()))
    }

    fn check_deadline(&self) -> Result<(), ServerError> {
        Ok(())
    }

    fn statistics(
        &self,
        _collection: &str,
        _asked: &super::Statistics,
    ) -> Result<Vec<RawDocumentBuf>, ServerError> {
        Ok(Vec::new())
    }

    fn random(&self) -> u64 {
        7
    }

    fn object_id(&self) -> bson::oid::ObjectId {
        bson::oid::ObjectId::from_bytes([7; 12])
    }
}

fn raw(document: &Document) -> RawDocumentBuf {
    RawDocumentBuf::try_from(document).unwrap()
}

fn run(case: &Document, source: &Held) -> Result<Vec<RawDocumentBuf>, ServerError> {
    let globals = Globals::new(cases::NOW);
    if let Ok(projection) = case.get_document("projection") {
        let matcher = Matcher::parse(&raw(case.get_document("filter").unwrap()), &globals)?;
        let projection = Projection::parse(&raw(projection), &globals, &|| Ok(()))?;
        projection.check_constants(&globals)?;
        let mut found = Vec::new();
        for document in &source.0 {
            if let Some(at) = matcher.match_position(document)? {
                let projected = projection.apply(document, at.array_index, &globals);
                found.push(projected.map_err(|e| e.within("Executor error during find command"))?);
            }
        }
        return Ok(found);
    }
    let stages = case.get_array("pipeline").unwrap().iter().cloned();
    let stages: RawArrayBuf = stages
        .map(|stage| RawBson::try_from(stage).unwrap())
        .collect();
    let place = Place {
        database: "exprs",
        is_name: |_, collection| !collection.is_empty(),
    };
    outline::check(&stages, place)?;
    let pipeline = Pipeline::parse(&stages, &globals)?;
    pipeline.check_constants(&globals)?;
    let pipeline = pipeline.optimized(&globals)?;
    let input = made(source.0.iter().cloned().map(Ok));
    let cx = super::Cx {
        source,
        collection: "stage_cases",
        globals: &globals,
        counts: None,
    };
    let documents = pipeline.run(0, input, cx)?;
    documents
        .map(|document| Ok(document.map_err(super::while_running)?.into_owned()))
        .collect()
}

#[test]
fn a_projection_of_what_the_next_stage_reads_does_not_run() {
    let globals = Globals::new(cases::NOW);
    let starts = |stages: Vec<Document>| {
        let stages: RawArrayBuf = stages.iter().map(|it| RawBson::Document(raw(it))).collect();
        let pipeline = Pipeline::parse(&stages, &globals).unwrap();
        pipeline.first_to_run(&pipeline.leading(), &globals)
    };
    let group = |id: &str| doc! { "$group": { "_id": id, "n": { "$sum": "$b.c" } } };
    for (projection, last, expected) in [
        (doc! { "a": 1, "b": 1 }, group("$a"), 1),
        (doc! { "a": true, "b": { "c": 1 } }, group("$a"), 1),
        (doc! { "a": 1, "b.c": 1 }, group("$a.d"), 1),
        (doc! { "b": 1 }, group("$_id"), 1),
        (
            doc! { "a": 1, "b": 1, "c": 1 },
            doc! { "$project": { "a.x": 1, "c": 1 } },
            1,
        ),
        (doc! { "a": 1 }, doc! { "$count": "n" }, 1),
        // These read what it drops, as parts of documents or as whole ones.
        (doc! { "a": 1 }, group("$a"), 0),
        (doc! { "a.d": 1, "b": 1 }, group("$a"), 0),
        (doc! { "b": 1, "_id": 0 }, group("$_id"), 0),
        (doc! { "a": 1, "b": 1 }, group("$$ROOT"), 0),
        (
            doc! { "a": 1, "b": 1 },
            doc! { "$addFields": { "c": "$a" } },
            0,
        ),
        // It computes, or leaves out.
        (doc! { "a": 1, "b": { "c": "$d" } }, group("$a"), 0),
        (doc! { "c": 0 }, group("$a"), 0),
        // The sizes of documents count.
        (
            doc! { "a": 1 },
            doc! { "$bucketAuto": { "groupBy": "$a", "buckets": 2 } },
            0,
        ),
    ] {
        let stages = vec![doc! { "$project": projection }, last];
        assert_eq!(starts(stages.clone()), expected, "{stages:?}");
    }
}

#[test]
fn a_limit_keeps_the_first_documents_of_a_sort_in_their_order() {
    // More documents than a sort with a limit collects at once, with many equal keys.
    let number = |at: i32| at.wrapping_mul(7_919).rem_euclid(97);
    let documents = (0..5_000).map(|at| doc! { "_id": at, "n": number(at) });
    let source = Held(documents.map(|document| raw(&document)).collect());
    let stages = |limit: Option<i32>| {
        let mut stages = vec![
            doc! { "$set": { "key": { "$subtract": [10, "$n"] } } },
            doc! { "$sort": { "key": 1 } },
        ];
        stages.extend(limit.map(|limit| doc! { "$limit": limit }));
        run(&doc! { "pipeline": stages }, &source).unwrap()
    };
    let all = stages(None);
    let mut wanted: Vec<i32> = (0..5_000).collect();
    wanted.sort_by_key(|at| 10 - number(*at));
    let ids = all.iter().map(|one| one.get_i32("_id").unwrap());
    assert_eq!(ids.collect::<Vec<_>>(), wanted);
    for limit in [1, 20, 700, 6_000] {
        let first = all.iter().take(usize::try_from(limit).unwrap());
        assert!(stages(Some(limit)).iter().eq(first), "{limit}");
    }
}

fn check(case: &Document, source: &Held) -> Result<(), String> {
    let got = run(case, source);
    let wanted = match cases::error(case) {
        Some(error) => Err(error),
        None => Ok(case
            .get_array("result")
            .unwrap()
            .iter()
            .map(|document| raw(document.as_document().unwrap()))
            .collect::<Vec<_>>()),
    };
    let same = match (&got, &wanted) {
        (Ok(got), Ok(wanted)) => got == wanted,
        (Err(got), Err(wanted)) => cases::parts(got) == *wanted,
        _ => false,
    };
    if same {
        return Ok(());
    }
    let decoded = |documents: Vec<RawDocumentBuf>| -> Vec<String> {
        documents
            .into_iter()
            .map(|document| Document::try_from(document).unwrap().to_string())
            .collect()
    };
    Err(format!(
        "{:?}{:?}\n    wanted {:?}\n    got    {:?}",
        case.get("pipeline"),
        case.get("projection"),
        wanted.map(decoded),
        got.map(decoded)
    ))
}

fn file(name: &str) {
    let source = Held(cases::read("stage/documents").iter().map(raw).collect());
    cases::run(&format!("stage/{name}"), |case| check(case, &source));
}

cases::files!("stage", file, input: ["documents"], [
    bucket,
    bucket_auto,
    bucket_auto_granularity,
    bucket_auto_sizes,
    combined,
    computed_documents,
    count,
    densify,
    facet,
    fill,
    find,
    group,
    group_more,
    group_ranked,
    group_sets,
    inhibit,
    limit_skip,
    lookup,
    r#match,
    pipeline,
    project,
    replace,
    sample,
    set,
    set_window_fields,
    projected_paths,
    redact,
    sort,
    sort_by_count,
    union_with,
    unset,
    unwind,
    window_arguments,
    window_averages,
    window_covariance,
    window_edges,
    window_fills,
    window_partitions,
    window_places,
    window_places_in_pipelines,
    window_ranges,
    window_slopes,
    window_sums,
    window_values,
]);
