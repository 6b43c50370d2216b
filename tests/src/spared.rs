//! The cases that no fault may hit.

use crate::case::Case;

/// Why a case is spared.
const COMMANDS: &str =
    "counts or compares the commands that are sent; a fault adds some, and so do more batches";
const RUNS: &str = "counts the runs of a transaction's body, which a fault adds to";
const BATCHES: &str = "reads the batches of a raw command one by one";
const PROFILE: &str = "compares the entries of the profiler, which has one for each batch";

/// Cases whose assertions are about what a fault changes, by the beginning of their names, with the reason. On a hostile
/// store they run with everything shuffled, and without the rest.
const SPARED: &[(&str, &str)] = &[
    ("aggregate_cursors::", BATCHES),
    ("budgets::", COMMANDS),
    ("checks::the_commands_do_not_grow", COMMANDS),
    (
        "dependents::the_number_of_commands_does_not_depend_on_the_documents",
        COMMANDS,
    ),
    ("dependents::stopped_deletes_are_completed", COMMANDS),
    (
        "field_copies::a_list_of_documents_takes_one_query_for_each_reference",
        COMMANDS,
    ),
    ("summaries::one_aggregation_computes_a_relation", COMMANDS),
    ("documents::", COMMANDS),
    ("index_only::", PROFILE),
    ("newest::an_insert_pushes", COMMANDS),
    ("newest::one_query_reads_a_list", COMMANDS),
    (
        "join_indexes::joins_read_the_foreign_collection_a_few_times",
        PROFILE,
    ),
    ("joins::several_references_of_each_row", COMMANDS),
    ("joins::two_commands_for_all_rows", COMMANDS),
    ("keys::a_unique_field_is_joined", COMMANDS),
    ("profiler::", PROFILE),
    (
        "related::filters_are_explained_with_their_indexes",
        COMMANDS,
    ),
    ("related::too_many_ids_become_a_pipeline", COMMANDS),
    ("relations::a_limit_for_one_row_is_a_find", COMMANDS),
    ("relations::a_limit_per_row_is_one_pipeline", COMMANDS),
    ("relations::many_to_many_from_either_side", COMMANDS),
    (
        "relations::one_to_squillions_is_joined_from_the_one_side",
        COMMANDS,
    ),
    ("relations::references_in_lists_of_subdocuments", COMMANDS),
    ("relations_within::documents_in_memory_are_joined", COMMANDS),
    ("relations_within::joins_of_several_levels", COMMANDS),
    (
        "saves_in_transactions::a_body_may_load_and_return_its_document",
        RUNS,
    ),
    (
        "sessions::command_monitoring_reports_commands_and_failures",
        COMMANDS,
    ),
    (
        "sessions::snapshot_sessions_read_one_point_in_time",
        BATCHES,
    ),
    (
        "transaction_bodies::a_swallowed_transient_error_is_retried",
        RUNS,
    ),
    (
        "transaction_bodies::a_wrapped_transient_error_is_retried",
        RUNS,
    ),
    ("transactions::a_swallowed_error_ends_the_transaction", RUNS),
    (
        "transactions::a_transaction_runs_again_after_a_conflict",
        RUNS,
    ),
    ("trees::commands::", COMMANDS),
    (
        "trees::concurrent::changes_by_one_handle_take_turns",
        COMMANDS,
    ),
    ("trees::names::missing_nodes_are_inserted_once", COMMANDS),
    ("trees::options::long_ranks_are_made_short", COMMANDS),
    (
        "trees::options::moves_send_the_same_commands_for_every_size",
        COMMANDS,
    ),
];

/// Whether the case runs without faults.
pub(crate) fn is_spared(case: &str) -> bool {
    SPARED.iter().any(|(name, _)| case.starts_with(name))
}

/// The entries that name no case.
pub(crate) fn unknown(cases: &[Case]) -> Vec<&'static str> {
    let names_none = |name: &&str| !cases.iter().any(|case| case.short_name().starts_with(name));
    let names = SPARED.iter().map(|(name, _)| *name);
    names.filter(names_none).collect()
}
