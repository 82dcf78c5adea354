//! The laws of `cauri::Gateway`, a file for each.
// A law that the table below leaves out would never be run.
#![deny(dead_code)]

use cauri::Capabilities;
use futures_util::future::BoxFuture;

use super::subject::Subject;

mod asked;
mod books;
mod declared;
mod named;
mod repeated;
mod unsent;

/// A law, or a case of one.
pub(crate) struct Law {
    /// Its name among the trials.
    pub(crate) name: &'static str,
    /// What a gateway must declare for the case to say anything.
    pub(crate) needs: Capabilities,
    /// Panics when it does not hold. The rig is fresh.
    pub(crate) run: fn(Subject) -> BoxFuture<'static, ()>,
}

const NONE: Capabilities = Capabilities {
    payin: false,
    payout: false,
    refund: false,
    partial_refund: false,
    cancel: false,
};
const PAYIN: Capabilities = Capabilities { payin: true, ..NONE };
const CANCEL: Capabilities = Capabilities { cancel: true, ..PAYIN };
const REFUND: Capabilities = Capabilities { refund: true, ..PAYIN };
const PARTIAL: Capabilities = Capabilities { partial_refund: true, ..REFUND };

macro_rules! laws {
    ($($module:ident $needs:ident: $($law:ident)+;)+) => {
        /// Every law. One that is left out is dead code, which does not build.
        pub(crate) const LAWS: &[Law] = &[$($(Law {
            name: stringify!($law),
            needs: $needs,
            run: |subject| Box::pin($module::$law(subject)),
        },)+)+];
    };
}

laws! {
    named NONE:
        law_1_an_order_submitted_twice_is_taken_on_once
        law_1_an_order_submitted_by_two_processes_at_once_is_taken_on_once
        law_1_an_order_that_was_given_up_is_taken_on_once
        law_1_two_orders_are_two;
    unsent NONE:
        law_2_a_network_that_is_down_is_unreachable
        law_2_a_connection_that_breaks_says_nothing
        law_2_a_refusal_is_one_and_nothing_is_taken_on
        law_2_a_network_that_answers_again_takes_the_order_on;
    asked NONE:
        law_3_an_order_that_was_never_sent_is_not_found
        law_3_an_order_that_was_taken_on_is_found_and_open
        law_3_what_nobody_answered_for_is_found_by_asking
        law_3_an_open_order_is_asked_about_again
        law_3_asking_moves_nothing
        law_3_the_end_is_told
        law_3_no_answer_is_no_end;
    repeated NONE:
        law_4_whoever_asks_is_told_the_same
        law_4_a_contradiction_is_passed_on;
    declared NONE:
        law_5_it_declares_what_it_is_known_for
        law_5_what_is_not_declared_is_refused
        law_5_what_cannot_be_cancelled_is_not;
    declared CANCEL:
        law_5_what_is_cancelled_is_not_paid
        law_5_what_is_paid_is_not_cancelled
        law_5_no_answer_confirms_no_cancellation;
    declared REFUND:
        law_5_a_refund_gives_the_money_back;
    declared PARTIAL:
        law_5_a_part_of_a_payment_is_given_back;
    books PAYIN:
        consequence_the_books_are_what_the_network_moved_one
        consequence_the_books_are_what_the_network_moved_two
        consequence_the_books_are_what_the_network_moved_three
        consequence_the_books_are_what_the_network_moved_four;
}
