//! The laws of `cauri::Store`, a file for each.
// A law that the table below leaves out would never be run.
#![deny(dead_code)]

use futures_util::future::BoxFuture;

use crate::subject::Subject;

mod again;
mod alike;
mod claims;
mod durable;
mod inert;
mod keys;
mod lanes;
mod ledger;
mod lists;
mod order;
mod scopes;
mod statistics;
mod versions;
mod visible;
mod whole;

/// A law, or a case of one.
pub(crate) struct Law {
    /// Its name among the trials.
    pub(crate) name: &'static str,
    /// Panics when it does not hold. The store is fresh and empty.
    pub(crate) run: fn(Subject) -> BoxFuture<'static, ()>,
}

macro_rules! laws {
    ($($module:ident: $($law:ident)+;)+) => {
        /// Every law. One that is left out is dead code, which does not build.
        pub(crate) const LAWS: &[Law] = &[$($(
            Law { name: stringify!($law), run: |subject| Box::pin($module::$law(subject)) },
        )+)+];
    };
}

laws! {
    whole:
        law_1_a_refused_changeset_leaves_no_trace
        law_1_an_accepted_changeset_is_applied_whole
        law_1_nothing_may_be_asked_for;
    order:
        law_2_there_is_one_verdict_each_in_order
        law_2_a_refused_changeset_does_not_fail_its_neighbours
        law_2_each_is_judged_on_top_of_those_accepted_before
        law_2_a_refused_changeset_is_no_ground_for_the_next
        law_2_an_empty_batch_has_no_verdicts
        law_2_a_large_batch_is_accepted
        law_2_a_batch_is_as_its_changesets_one_by_one;
    keys:
        law_3_a_record_of_any_kind_is_inserted_once
        law_3_a_key_is_taken_once_within_a_batch
        law_3_a_key_is_taken_once_within_a_changeset
        law_3_an_alternate_key_is_unique_over_all_accounts
        law_3_an_alternate_key_is_taken_once_within_a_batch
        law_3_an_alternate_key_finds_its_record
        law_3_a_refused_insert_takes_no_key
        law_3_of_concurrent_inserts_one_is_accepted;
    versions:
        law_4_versions_count_from_one
        law_4_an_update_at_another_version_is_refused
        law_4_an_update_of_nothing_is_refused
        law_4_updates_of_a_batch_build_on_one_another
        law_4_updates_of_a_changeset_build_on_one_another
        law_4_of_two_updates_at_one_version_the_second_is_refused
        law_4_of_concurrent_updates_at_one_version_one_is_accepted
        law_4_a_removal_at_another_version_is_refused
        law_4_what_was_removed_is_gone_and_its_key_free
        law_4_no_version_of_a_key_is_met_twice
        law_4_a_key_is_born_again_within_a_changeset
        law_4_a_key_is_born_again_within_a_batch
        law_4_an_update_replaces_everything;
    ledger:
        law_5_entries_are_written_in_order_and_chain
        law_5_an_account_may_reach_its_floor_but_not_pass_it
        law_5_clearing_and_fees_have_no_floor
        law_5_only_the_end_of_a_changeset_is_held_against_the_floor
        law_5_a_sum_that_does_not_fit_is_refused
        law_5_a_large_batch_in_one_account_chains
        law_5_concurrent_postings_all_count
        law_5_concurrent_withdrawals_stop_at_the_floor
        law_5_balances_are_sorted_and_kept_at_nothing
        law_5_entries_are_filtered;
    visible:
        law_6_what_was_accepted_is_seen_by_everybody
        law_6_nobody_sees_half_a_changeset
        law_6_a_page_and_its_total_are_of_one_moment;
    lists:
        law_7_lists_hold_the_newest_first
        law_7_pages_hold_every_record_once
        law_7_a_page_beyond_the_end_is_empty_and_knows_the_total
        law_7_refused_inserts_leave_no_gap
        law_7_concurrent_inserts_are_numbered_without_gap
        law_7_updates_and_claims_move_nothing
        law_7_filters_admit_what_the_query_admits
        law_7_a_reference_is_compared_to_the_letter
        law_7_dates_include_their_beginning_and_not_their_end
        law_7_a_field_that_no_record_has_admits_none
        law_7_a_timeline_runs_from_its_first_line;
    inert:
        law_8_every_kind_is_read_as_it_was_written
        law_8_moments_of_what_is_due_are_kept
        law_8_long_texts_are_kept
        law_8_entries_are_read_as_they_were_written
        law_8_a_get_answers_in_the_order_of_its_keys
        law_8_reading_changes_nothing;
    scopes:
        law_8_the_same_ids_in_two_scopes_are_two_records
        law_8_ledgers_of_two_scopes_are_two_ledgers;
    durable:
        law_9_everything_is_there_after_reopening
        law_9_numbers_and_versions_go_on_after_reopening;
    claims:
        law_10_a_claim_raises_the_version_and_moves_the_moment
        law_10_only_what_is_due_is_handed_out
        law_10_what_is_due_is_handed_out_oldest_first
        law_10_a_lease_is_exclusive_until_its_end
        law_10_a_record_may_be_leased_from_birth
        law_10_a_holder_who_writes_ends_the_lease
        law_10_a_holder_whose_lease_has_passed_on_is_refused
        law_10_claims_of_one_kind_leave_the_others
        law_10_a_removed_record_is_handed_to_nobody
        law_10_claims_reach_over_all_scopes
        law_10_concurrent_claims_share_no_record
        law_10_a_holder_is_never_refused_within_the_lease
        law_10_what_comes_later_is_handed_out_later;
    lanes:
        law_10_an_endpoint_has_no_more_than_its_room
        law_10_what_is_held_already_takes_room
        law_10_a_backlog_costs_the_others_nothing
        law_10_without_lanes_there_is_no_cap
        law_10_no_endpoint_is_passed_over_for_ever
        law_10_a_delivery_waits_at_its_present_endpoint
        law_10_a_connection_has_no_more_than_its_room
        law_10_an_order_waits_where_it_now_belongs
        law_10_lanes_mean_nothing_where_there_are_none;
    statistics:
        law_11_statistics_are_the_sum_over_all_payments
        law_11_statistics_follow_updates
        law_11_a_customer_without_payments_has_none
        law_11_a_sum_that_does_not_fit_is_an_error;
    again:
        consequence_an_accepted_changeset_is_refused_when_sent_again
        consequence_a_changeset_twice_in_a_batch_is_accepted_once
        consequence_a_history_sent_again_changes_nothing;
    alike:
        differential_one
        differential_two
        differential_three
        differential_four;
}
