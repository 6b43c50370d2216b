//! The cases, one file for each feature.

mod advice;
mod aggregate_cursors;
mod any_money;
mod bounds;
mod bounds_in_upserts;
mod buckets;
mod budgets;
mod bulk;
mod changes;
mod checked_writes;
mod checks;
mod chosen_names;
mod collections;
mod copies;
mod dbrefs;
mod deadlines;
mod declared_views;
mod definitions;
mod dependents;
mod document_limits;
mod documents;
mod dropped;
mod dropped_calls;
mod elements;
mod errors;
mod errors_of_one_write;
mod everyday;
mod expected_plans;
mod expressions;
mod field_copies;
mod field_types;
mod filters;
mod flattening;
mod follower;
mod foreign;
mod foreign_documents;
mod foreign_types;
mod found_or_inserted;
mod free_text_dates;
mod geometries;
mod gridfs;
mod ids;
mod index_only;
mod indexes;
mod join_indexes;
mod joined_rows;
mod joins;
mod joins_through_lists;
mod keys;
mod keys_of_extended_json;
mod keywords;
mod local_times;
mod lock_file;
mod maintained_fields;
mod manual_pipelines;
mod missing_values;
mod models_in_macros;
mod money;
mod moved_stages;
mod named_rows;
mod newest;
mod one_field;
mod optional_has_one;
mod overflow;
mod pages;
mod pages_beside_writers;
mod pipelines;
mod places;
mod plans;
mod profiler;
mod projections;
mod propagating_nodes;
mod propagating_verbs;
mod pull;
mod random_pipelines;
mod related;
mod relations;
mod relations_within;
mod report;
mod resuming;
mod saves;
mod saves_in_transactions;
mod schema_versions;
mod serialized_roles;
mod sessions;
mod shapes;
mod sharding;
mod sizes;
mod slots;
mod statistics;
mod summaries;
mod sync;
mod tailing;
mod text;
mod time_series;
mod timestamps;
mod touches;
mod transaction_bodies;
mod transactions;
mod tree_declarations;
mod trees;
mod two_way;
mod typed_lookups;
mod typed_pipelines;
mod typed_stages;
mod typed_windows;
mod updates;
mod upserts_by_lists;
mod validation;
mod values;
mod variants;
mod views;
mod watch;

use crate::case::Case;

/// Every case, in the order of the files.
pub(crate) fn cases() -> Vec<Case> {
    [
        advice::CASES,
        aggregate_cursors::CASES,
        bounds::CASES,
        bounds_in_upserts::CASES,
        buckets::CASES,
        budgets::CASES,
        bulk::CASES,
        changes::CASES,
        checked_writes::CASES,
        checks::CASES,
        chosen_names::CASES,
        collections::CASES,
        copies::CASES,
        dbrefs::CASES,
        deadlines::CASES,
        declared_views::CASES,
        definitions::CASES,
        dependents::CASES,
        field_copies::CASES,
        elements::CASES,
        document_limits::CASES,
        documents::CASES,
        dropped::CASES,
        dropped_calls::CASES,
        errors::CASES,
        errors_of_one_write::CASES,
        everyday::CASES,
        expected_plans::CASES,
        expressions::CASES,
        &field_types::cases(),
        filters::CASES,
        flattening::CASES,
        follower::CASES,
        foreign::CASES,
        foreign_documents::CASES,
        foreign_types::CASES,
        found_or_inserted::CASES,
        free_text_dates::CASES,
        geometries::CASES,
        gridfs::CASES,
        ids::CASES,
        indexes::CASES,
        joins::CASES,
        join_indexes::CASES,
        joined_rows::CASES,
        joins_through_lists::CASES,
        keys::CASES,
        keys_of_extended_json::CASES,
        keywords::CASES,
        local_times::CASES,
        lock_file::CASES,
        maintained_fields::CASES,
        missing_values::CASES,
        models_in_macros::CASES,
        money::CASES,
        moved_stages::CASES,
        named_rows::CASES,
        newest::CASES,
        one_field::CASES,
        optional_has_one::CASES,
        overflow::CASES,
        any_money::CASES,
        index_only::CASES,
        pages::CASES,
        pages_beside_writers::CASES,
        pipelines::CASES,
        places::CASES,
        plans::CASES,
        profiler::CASES,
        projections::CASES,
        propagating_nodes::CASES,
        propagating_verbs::CASES,
        pull::CASES,
        related::CASES,
        relations::CASES,
        relations_within::CASES,
        report::CASES,
        resuming::CASES,
        saves::CASES,
        saves_in_transactions::CASES,
        serialized_roles::CASES,
        sessions::CASES,
        shapes::CASES,
        schema_versions::CASES,
        sharding::CASES,
        sizes::CASES,
        slots::CASES,
        statistics::CASES,
        summaries::CASES,
        sync::CASES,
        tailing::CASES,
        text::CASES,
        time_series::CASES,
        timestamps::CASES,
        touches::CASES,
        transaction_bodies::CASES,
        transactions::CASES,
        tree_declarations::CASES,
        &trees::cases(),
        two_way::CASES,
        typed_lookups::CASES,
        typed_pipelines::CASES,
        typed_stages::CASES,
        typed_windows::CASES,
        random_pipelines::CASES,
        manual_pipelines::CASES,
        updates::CASES,
        upserts_by_lists::CASES,
        values::CASES,
        validation::CASES,
        &variants::all(),
        views::CASES,
        watch::CASES,
    ]
    .concat()
}
