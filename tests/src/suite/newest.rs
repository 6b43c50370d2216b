//! Lists of the newest documents, `recent` and `recent_in`, which follow every write; `check_recent` and `refresh_recent`.

mod declarations;
mod foreign;
mod models;
mod random;
mod writes;

use self::declarations::{
    both_sides_are_in_the_metadata, sync_creates_what_propagation_needs,
    wrong_declarations_are_refused,
};
use self::foreign::{
    documents_of_other_programs_are_listed, lists_of_other_programs_are_refreshed,
    pushes_onto_other_values_read_the_list, ties_are_no_damage,
};
use self::random::random_writes_leave_the_lists_of_a_plain_model;
use self::writes::{
    a_list_that_is_written_is_read_again, a_plan_names_the_lists, an_empty_list_is_left_out,
    an_insert_pushes, lists_count_versions, lists_follow_deletes, lists_follow_updates,
    lists_in_the_background_are_resumed, lists_of_several_hosts,
    nothing_is_stale_after_writes_beside_each_other, one_query_reads_a_list,
    the_larger_id_is_newer, ties_beyond_the_bound,
    writes_in_a_transaction_of_the_caller_write_lists, writes_say_what_becomes_of_lists,
    writes_without_a_transaction_write_lists,
};
use crate::case::cases;

cases![
    both_sides_are_in_the_metadata,
    wrong_declarations_are_refused,
    sync_creates_what_propagation_needs,
    writes_say_what_becomes_of_lists,
    an_insert_pushes,
    lists_of_several_hosts,
    lists_follow_updates,
    lists_follow_deletes,
    the_larger_id_is_newer,
    ties_beyond_the_bound,
    a_list_that_is_written_is_read_again,
    lists_in_the_background_are_resumed,
    writes_in_a_transaction_of_the_caller_write_lists,
    writes_without_a_transaction_write_lists,
    an_empty_list_is_left_out,
    lists_count_versions,
    a_plan_names_the_lists,
    one_query_reads_a_list,
    nothing_is_stale_after_writes_beside_each_other,
    lists_of_other_programs_are_refreshed,
    documents_of_other_programs_are_listed,
    pushes_onto_other_values_read_the_list,
    ties_are_no_damage,
    random_writes_leave_the_lists_of_a_plain_model,
];
