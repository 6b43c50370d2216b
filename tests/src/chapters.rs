//! The README, the book and the derives' reference: their snippets are doc tests of this module.

/// `README.md`
#[doc = include_str!("../../README.md")]
pub mod readme {}

macro_rules! chapters {
    ($($name:ident = $file:literal;)*) => {
        $(#[doc = include_str!($file)] pub mod $name {})*
    };
}

chapters! {
    one_minute = "../../book/src/one-minute.md";
    introduction = "../../book/src/introduction.md";
    getting_started = "../../book/src/getting-started.md";
    coming_from = "../../book/src/coming-from.md";
    comparison = "../../book/src/comparison.md";
    models = "../../book/src/models.md";
    queries_and_updates = "../../book/src/queries-and-updates.md";
    pipelines = "../../book/src/pipelines.md";
    stages = "../../book/src/stages.md";
    manual_pipelines = "../../book/src/manual-pipelines.md";
    cookbook = "../../book/src/cookbook.md";
    questions = "../../book/src/questions.md";
    relations = "../../book/src/relations.md";
    relation_kinds = "../../book/src/relation-kinds.md";
    derived_data = "../../book/src/derived-data.md";
    referential_integrity = "../../book/src/referential-integrity.md";
    copies = "../../book/src/copies.md";
    summaries = "../../book/src/summaries.md";
    dbrefs = "../../book/src/dbrefs.md";
    checks = "../../book/src/checks.md";
    repair = "../../book/src/repair.md";
    admin = "../../book/src/admin.md";
    pull = "../../book/src/pull.md";
    lock_file = "../../book/src/lock-file.md";
    design_checks = "../../book/src/design-checks.md";
    trees = "../../book/src/trees.md";
    keywords = "../../book/src/keywords.md";
    money = "../../book/src/money.md";
    time = "../../book/src/time.md";
    schema_versions = "../../book/src/schema-versions.md";
    buckets = "../../book/src/buckets.md";
    gridfs = "../../book/src/gridfs.md";
    ids = "../../book/src/ids.md";
    slots = "../../book/src/slots.md";
    tailing = "../../book/src/tailing.md";
    variants = "../../book/src/variants.md";
    views = "../../book/src/views.md";
    foreign_types = "../../book/src/foreign-types.md";
    web_services = "../../book/src/web-services.md";
    change_streams = "../../book/src/change-streams.md";
    validation = "../../book/src/validation.md";
    indexes_and_sync = "../../book/src/indexes-and-sync.md";
    patterns = "../../book/src/patterns.md";
    testing = "../../book/src/testing.md";
    server = "../../book/src/server.md";
    performance = "../../book/src/performance.md";
    support = "../../book/src/support.md";
    conformance = "../../book/src/conformance.md";
    bytes = "../../book/src/bytes.md";
    errors = "../../book/src/errors.md";
    untrusted_input = "../../book/src/untrusted-input.md";
    deployment = "../../book/src/deployment.md";
    sharding = "../../book/src/sharding.md";
    advise = "../../book/src/advise.md";
    report = "../../book/src/report.md";
    features = "../../book/src/features.md";
    stability = "../../book/src/stability.md";
    limits = "../../book/src/limits.md";
    engine_limits = "../../book/src/engine-limits.md";
    outliers = "../../book/src/outliers.md";
    derive_document = "../../odm-derive/docs/document.md";
    derive_embedded = "../../odm-derive/docs/embedded.md";
    derive_projection = "../../odm-derive/docs/projection.md";
}
