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
    /// Whom it says anything about.
    pub(crate) about: About,
    /// Panics when it does not hold. The rig is fresh.
    pub(crate) run: fn(Subject) -> BoxFuture<'static, ()>,
}

/// The gateways that a case says anything about, by what they declare. Whoever is left out is
/// exempt by name: a trial that nothing was tried in would say ok.
#[derive(Debug, Clone, Copy)]
pub(crate) struct About {
    /// Is it about a gateway that declares this?
    pub(crate) applies: fn(Capabilities) -> bool,
    /// Why it says nothing about the others.
    pub(crate) otherwise: &'static str,
}

const ALL: About = About { applies: |_| true, otherwise: "" };
const PAYIN: About = About { applies: |it| it.payin, otherwise: "payments are not declared" };
const CANCEL: About =
    About { applies: |it| it.payin && it.cancel, otherwise: "cancelling is not declared" };
const NO_CANCEL: About =
    About { applies: |it| !it.cancel, otherwise: "cancelling is declared, and tried elsewhere" };
const REFUND: About =
    About { applies: |it| it.payin && it.refund, otherwise: "refunds are not declared" };
const PARTIAL: About = About {
    applies: |it| it.payin && it.refund && it.partial_refund,
    otherwise: "refunds of a part are not declared",
};
const WHOLE: About = About {
    applies: |it| it.payin && it.refund && !it.partial_refund,
    otherwise: "refunds of a part are declared, or none are",
};
const LESS: About = About {
    applies: |it| !(it.payin && it.payout && it.refund),
    otherwise: "every kind of order is declared",
};

macro_rules! laws {
    ($($module:ident $about:ident: $($law:ident)+;)+) => {
        /// Every law. One that is left out is dead code, which does not build.
        pub(crate) const LAWS: &[Law] = &[$($(Law {
            name: stringify!($law),
            about: $about,
            run: |subject| Box::pin($module::$law(subject)),
        },)+)+];
    };
}

laws! {
    named ALL:
        law_1_an_order_submitted_twice_is_taken_on_once
        law_1_an_order_submitted_by_two_processes_at_once_is_taken_on_once
        law_1_an_order_that_was_given_up_is_taken_on_once
        law_1_two_orders_are_two;
    unsent ALL:
        law_2_a_network_that_is_down_is_unreachable
        law_2_a_connection_that_breaks_says_nothing
        law_2_a_refusal_is_one_and_nothing_is_taken_on
        law_2_a_network_that_answers_again_takes_the_order_on;
    asked ALL:
        law_3_an_order_that_was_never_sent_is_not_found
        law_3_an_order_that_was_taken_on_is_found_and_open
        law_3_an_open_order_has_no_end
        law_3_what_nobody_answered_for_is_found_by_asking
        law_3_an_open_order_is_asked_about_again
        law_3_asking_moves_nothing
        law_3_the_end_is_told
        law_3_no_answer_is_no_end;
    repeated ALL:
        law_4_whoever_asks_is_told_the_same
        law_4_a_contradiction_is_passed_on;
    declared ALL:
        law_5_it_declares_what_it_is_known_for;
    declared LESS:
        law_5_what_is_not_declared_is_refused;
    declared WHOLE:
        law_5_a_part_that_is_not_declared_is_refused;
    declared NO_CANCEL:
        law_5_what_cannot_be_cancelled_is_not;
    declared CANCEL:
        law_5_what_is_cancelled_is_not_paid
        law_5_what_is_paid_is_not_cancelled
        law_5_what_has_not_arrived_is_not_cancelled
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
