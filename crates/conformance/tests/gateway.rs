//! The laws of a gateway hold for a right one, and tell each wrong one.

#![allow(clippy::unwrap_used, reason = "a network that panics is a test that fails")]

use std::{
    collections::BTreeMap,
    future::pending,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
};

use async_trait::async_trait;
use cauri::{
    Amount, Answer, Capabilities, Connection, FailureCode, Flow, Gateway, Offer, Order, OrderId,
    PaymentMethod, Report, Timestamp,
};
use cauri_conformance::gateway::{Conduct, End, Harness, Place, Rig};

/// What is wrong with a gateway.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Flaw {
    None,
    /// It sends nothing, and never knows anything.
    Nothing,
    /// Every submission has a name of its own.
    NamesAnew,
    /// Every order has the same name.
    NamesAlike,
    /// No answer counts as not sent.
    SilenceIsUnreachable,
    /// No answer counts as refused.
    SilenceIsRefused,
    /// A network out of reach may have taken the order on.
    DownIsUnknown,
    /// Refusals are taken for acceptance.
    RefusalIsAccepted,
    /// A refusal is told as a failure of an order that was taken on.
    RefusalIsFailure,
    /// It remembers what it has sent itself, and asks of nothing else.
    Remembers,
    /// It keeps the first end that it heard.
    KeepsTheFirst,
    /// What nobody answers is not there.
    SilenceIsNotFound,
    /// What nobody answers has failed.
    SilenceIsFailure,
    /// It sends an order that it asks about.
    AsksBySending,
    /// It waits to be called.
    NeverAsksAgain,
    /// It says paid as soon as the network has the order.
    AcceptedIsPaid,
    /// It says that the network has the order, and in the same breath that it is paid.
    AcceptedAndPaid,
    /// It takes an order that the network knows already for one that is paid.
    KnownIsPaid,
    /// It confirms every cancellation.
    CancelsAnything,
    /// It says less than it can do.
    DeclaresLess,
    /// It sends what it does not declare: other kinds of order, and refunds of a part.
    CarriesAnything,
    /// It returns all of a payment, whatever part is asked for.
    ReturnsAll,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Standing {
    Open,
    Ended(bool),
    CalledOff,
}

#[derive(Debug, Clone, Copy)]
struct Job {
    standing: Standing,
    /// What it collects, if it does.
    collects: i64,
}

#[derive(Debug)]
struct Books {
    conduct: Conduct,
    jobs: BTreeMap<String, Job>,
}

/// A network that keeps books and does as it is told.
#[derive(Debug)]
struct Network(Mutex<Books>);

/// What a network says, if it says anything that can be read.
enum Said {
    Nothing,
    NotReached,
    No,
    Found(Option<Standing>),
}

impl Network {
    fn ask(&self, act: impl FnOnce(&mut Books) -> Option<Standing>, creates: bool) -> (Said, bool) {
        let mut books = self.0.lock().unwrap();
        match books.conduct {
            Conduct::Down => (Said::NotReached, false),
            Conduct::HangsUp => (Said::Nothing, false),
            Conduct::Refuses if creates => (Said::No, false),
            Conduct::Works | Conduct::Refuses => (Said::Found(act(&mut books)), false),
            Conduct::HangsUpAfterwards | Conduct::Garbles => {
                act(&mut books);
                (Said::Nothing, false)
            }
            Conduct::Hangs => {
                act(&mut books);
                (Said::Nothing, true)
            }
            Conduct::Contradicts => {
                let said = act(&mut books).map(|standing| match standing {
                    Standing::Ended(paid) => Standing::Ended(!paid),
                    other => other,
                });
                (Said::Found(said), false)
            }
        }
    }

    async fn answer(
        &self,
        act: impl FnOnce(&mut Books) -> Option<Standing>,
        creates: bool,
    ) -> Said {
        let (said, hangs) = self.ask(act, creates);
        if hangs {
            pending::<()>().await;
        }
        said
    }
}

#[derive(Debug)]
struct MemoryGateway {
    network: Arc<Network>,
    declared: Capabilities,
    flaw: Flaw,
    count: AtomicU64,
    sent: Mutex<Vec<OrderId>>,
    ended: Mutex<BTreeMap<OrderId, Report>>,
}

/// Nobody else draws the same number.
static NUMBER: AtomicU64 = AtomicU64::new(0);

impl MemoryGateway {
    fn name(&self, order: &Order) -> String {
        match self.flaw {
            Flaw::NamesAnew => {
                self.count.store(NUMBER.fetch_add(1, Ordering::Relaxed), Ordering::Relaxed);
                format!("{} {}", order.id, self.count.load(Ordering::Relaxed))
            }
            Flaw::NamesAlike => "order".to_owned(),
            _ => order.id.to_string(),
        }
    }

    fn declares(&self, order: &Order) -> bool {
        let Capabilities { payin, payout, refund, partial_refund, .. } = self.declared;
        match order.id {
            OrderId::Payment(_) => payin,
            OrderId::Payout(_) => payout,
            OrderId::Refund(_) => {
                let is_whole = order.refund_of.is_some_and(|(_, paid)| paid == order.amount);
                refund && (is_whole || partial_refund)
            }
        }
    }

    async fn send(&self, order: &Order) -> Said {
        let collects = match (order.id, order.refund_of) {
            (OrderId::Payment(_), _) => order.amount.units(),
            (OrderId::Refund(_), Some((_, paid))) if self.flaw == Flaw::ReturnsAll => -paid.units(),
            (OrderId::Refund(_), _) => -order.amount.units(),
            (OrderId::Payout(_), _) => 0,
        };
        let name = self.name(order);
        let take_on = |books: &mut Books| {
            let job = books.jobs.entry(name).or_insert(Job { standing: Standing::Open, collects });
            Some(job.standing)
        };
        self.network.answer(take_on, true).await
    }

    fn told(&self, said: &Said, now: Timestamp) -> Answer {
        let later = now.plus_seconds(10);
        let silent = |report| Answer { reports: vec![report], ask_again_at: Some(later) };
        let open = Answer {
            reports: vec![Report::accepted()],
            ask_again_at: (self.flaw != Flaw::NeverAsksAgain).then_some(later),
        };
        match said {
            Said::Nothing => silent(Report::Unknown),
            Said::NotReached => silent(Report::Unreachable),
            Said::No => Answer::final_report(Report::Refused(FailureCode::PayerNotFound)),
            Said::Found(None) => Answer::final_report(Report::NotFound),
            Said::Found(Some(Standing::Open)) if self.flaw == Flaw::AcceptedIsPaid => {
                Answer::final_report(Report::Paid)
            }
            Said::Found(Some(Standing::Open)) if self.flaw == Flaw::AcceptedAndPaid => {
                Answer { reports: vec![Report::accepted(), Report::Paid], ..open }
            }
            Said::Found(Some(Standing::Open)) => open,
            Said::Found(Some(Standing::Ended(true))) => Answer::final_report(Report::Paid),
            Said::Found(Some(Standing::Ended(false) | Standing::CalledOff)) => {
                Answer::final_report(Report::Failed(FailureCode::UserRejected))
            }
        }
    }
}

#[async_trait]
impl Gateway for MemoryGateway {
    fn capabilities(&self) -> Capabilities {
        match self.flaw {
            Flaw::DeclaresLess => Capabilities { refund: false, ..self.declared },
            _ => self.declared,
        }
    }

    async fn submit(&self, order: &Order, now: Timestamp) -> Answer {
        let known = self.sent.lock().unwrap().contains(&order.id);
        self.sent.lock().unwrap().push(order.id);
        if !self.declares(order) && self.flaw != Flaw::CarriesAnything {
            return Answer::final_report(Report::Refused(FailureCode::NetworkError));
        }
        if self.flaw == Flaw::Nothing {
            return Answer::final_report(Report::Unknown);
        }
        let said = self.send(order).await;
        match (self.flaw, &said) {
            (Flaw::SilenceIsUnreachable, Said::Nothing) => {
                Answer::final_report(Report::Unreachable)
            }
            (Flaw::SilenceIsRefused, Said::Nothing) => {
                Answer::final_report(Report::Refused(FailureCode::NetworkError))
            }
            (Flaw::KnownIsPaid, Said::Found(_)) if known => Answer::final_report(Report::Paid),
            (Flaw::DownIsUnknown, Said::NotReached) => self.told(&Said::Nothing, now),
            (Flaw::RefusalIsAccepted, Said::No) => {
                self.told(&Said::Found(Some(Standing::Open)), now)
            }
            (Flaw::RefusalIsFailure, Said::No) => Answer {
                reports: vec![Report::accepted(), Report::Failed(FailureCode::PayerNotFound)],
                ask_again_at: None,
            },
            _ => self.told(&said, now),
        }
    }

    async fn query(&self, order: &Order, now: Timestamp) -> Answer {
        if self.flaw == Flaw::Remembers && !self.sent.lock().unwrap().contains(&order.id) {
            return Answer::final_report(Report::NotFound);
        }
        if self.flaw == Flaw::AsksBySending {
            return self.submit(order, now).await;
        }
        if let Some(end) = self.ended.lock().unwrap().get(&order.id) {
            return Answer::final_report(end.clone());
        }
        let name = order.id.to_string();
        let look = |books: &mut Books| books.jobs.get(&name).map(|job| job.standing);
        let said = self.network.answer(look, false).await;
        let answer = match (self.flaw, &said) {
            (Flaw::SilenceIsNotFound, Said::Nothing | Said::NotReached) => {
                Answer::final_report(Report::NotFound)
            }
            (Flaw::SilenceIsFailure, Said::Nothing | Said::NotReached) => {
                Answer::final_report(Report::Failed(FailureCode::NetworkError))
            }
            _ => self.told(&said, now),
        };
        if let (Flaw::KeepsTheFirst, [end @ (Report::Paid | Report::Failed(_))]) =
            (self.flaw, answer.reports.as_slice())
        {
            self.ended.lock().unwrap().insert(order.id, end.clone());
        }
        answer
    }

    async fn cancel(&self, order: &Order, _: Timestamp) -> bool {
        if self.flaw == Flaw::CancelsAnything {
            return true;
        }
        let name = order.id.to_string();
        let call_off = |books: &mut Books| {
            let job = books.jobs.get_mut(&name)?;
            if job.standing == Standing::Open {
                job.standing = Standing::CalledOff;
            }
            Some(job.standing)
        };
        self.declared.cancel
            && matches!(
                self.network.answer(call_off, false).await,
                Said::Found(Some(Standing::CalledOff))
            )
    }
}

struct MemoryRig {
    network: Arc<Network>,
    declared: Capabilities,
    flaw: Flaw,
}

#[async_trait]
impl Rig for MemoryRig {
    fn place(&self) -> Place {
        Place {
            country: "CI".parse().unwrap(),
            offer: Offer {
                method: PaymentMethod::MobileMoney,
                network: "mtn".parse().unwrap(),
                currency: "XOF".parse().unwrap(),
                min: Amount::new(100),
                max: Amount::new(1_000_000),
                capabilities: self.declared,
                flow: Flow::Push,
                connection: Connection::new("memory"),
            },
            phone: "+2250500000000".parse().ok(),
        }
    }

    async fn gateway(&self) -> Arc<dyn Gateway> {
        Arc::new(MemoryGateway {
            network: self.network.clone(),
            declared: self.declared,
            flaw: self.flaw,
            count: AtomicU64::new(0),
            sent: Mutex::default(),
            ended: Mutex::default(),
        })
    }

    async fn conduct(&self, conduct: Conduct) {
        self.network.0.lock().unwrap().conduct = conduct;
    }

    async fn end(&self, end: End) {
        for job in self.network.0.lock().unwrap().jobs.values_mut() {
            if job.standing == Standing::Open {
                job.standing = Standing::Ended(end == End::Paid);
            }
        }
    }

    async fn taken_on(&self) -> usize {
        self.network.0.lock().unwrap().jobs.len()
    }

    async fn collected(&self) -> i64 {
        let books = self.network.0.lock().unwrap();
        let moved = |job: &&Job| job.standing == Standing::Ended(true);
        books.jobs.values().filter(moved).map(|job| job.collects).sum()
    }
}

fn harness(flaw: Flaw, declared: Capabilities) -> Harness {
    let fresh = move || async move {
        let books = Books { conduct: Conduct::Works, jobs: BTreeMap::new() };
        MemoryRig { network: Arc::new(Network(Mutex::new(books))), declared, flaw }
    };
    Harness::new("MemoryGateway", declared, fresh)
}

fn broken(flaw: Flaw, declared: Capabilities, prefix: &str) -> Vec<&'static str> {
    harness(flaw, declared).broken_laws(prefix)
}

const PAYIN: Capabilities = Capabilities {
    payin: true,
    payout: false,
    refund: false,
    partial_refund: false,
    cancel: false,
};
const PAYOUT: Capabilities = Capabilities { payin: false, payout: true, ..PAYIN };
/// It gives money back, but never a part of a payment.
const WHOLE: Capabilities = Capabilities { refund: true, ..PAYIN };

#[test]
fn a_right_gateway_keeps_them_all_whatever_it_can_do() {
    for declared in [Capabilities::ALL, PAYIN, PAYOUT, WHOLE] {
        assert_eq!(broken(Flaw::None, declared, ""), Vec::<&str>::new(), "{declared:?}");
    }
}

fn breaks(flaw: Flaw, declared: Capabilities, law: &str) {
    assert_eq!(broken(flaw, declared, law), [law], "{flaw:?}");
}

#[test]
fn every_wrong_gateway_is_told() {
    for (flaw, law) in [
        (Flaw::NamesAnew, "law_1_an_order_submitted_twice_is_taken_on_once"),
        (Flaw::NamesAnew, "law_1_an_order_submitted_by_two_processes_at_once_is_taken_on_once"),
        (Flaw::NamesAnew, "law_1_an_order_that_was_given_up_is_taken_on_once"),
        (Flaw::NamesAlike, "law_1_two_orders_are_two"),
        (Flaw::SilenceIsUnreachable, "law_2_a_connection_that_breaks_says_nothing"),
        (Flaw::SilenceIsRefused, "law_2_a_connection_that_breaks_says_nothing"),
        (Flaw::DownIsUnknown, "law_2_a_network_that_is_down_is_unreachable"),
        (Flaw::RefusalIsAccepted, "law_2_a_refusal_is_one_and_nothing_is_taken_on"),
        (Flaw::RefusalIsFailure, "law_2_a_refusal_is_one_and_nothing_is_taken_on"),
        (Flaw::Remembers, "law_3_what_nobody_answered_for_is_found_by_asking"),
        (Flaw::AsksBySending, "law_3_an_order_that_was_never_sent_is_not_found"),
        (Flaw::AsksBySending, "law_3_asking_moves_nothing"),
        (Flaw::NeverAsksAgain, "law_3_an_open_order_is_asked_about_again"),
        (Flaw::SilenceIsNotFound, "law_3_no_answer_is_no_end"),
        (Flaw::SilenceIsFailure, "law_3_no_answer_is_no_end"),
        (Flaw::AcceptedIsPaid, "law_3_an_order_that_was_taken_on_is_found_and_open"),
        (Flaw::AcceptedAndPaid, "law_3_an_order_that_was_taken_on_is_found_and_open"),
        (Flaw::AcceptedAndPaid, "law_3_an_open_order_has_no_end"),
        (Flaw::KnownIsPaid, "law_3_an_open_order_has_no_end"),
        (Flaw::KeepsTheFirst, "law_4_a_contradiction_is_passed_on"),
        (Flaw::Remembers, "law_4_whoever_asks_is_told_the_same"),
        (Flaw::CancelsAnything, "law_5_what_is_cancelled_is_not_paid"),
        (Flaw::CancelsAnything, "law_5_what_is_paid_is_not_cancelled"),
        (Flaw::CancelsAnything, "law_5_what_has_not_arrived_is_not_cancelled"),
        (Flaw::CancelsAnything, "law_5_no_answer_confirms_no_cancellation"),
        (Flaw::DeclaresLess, "law_5_it_declares_what_it_is_known_for"),
        (Flaw::ReturnsAll, "law_5_a_part_of_a_payment_is_given_back"),
    ] {
        breaks(flaw, Capabilities::ALL, law);
    }
    breaks(Flaw::CarriesAnything, PAYIN, "law_5_what_is_not_declared_is_refused");
    breaks(Flaw::CarriesAnything, WHOLE, "law_5_a_part_that_is_not_declared_is_refused");
    breaks(Flaw::CancelsAnything, PAYIN, "law_5_what_cannot_be_cancelled_is_not");
    // No books are kept of payouts, so that the laws alone tell what is said too early.
    breaks(Flaw::AcceptedAndPaid, PAYOUT, "law_3_an_order_that_was_taken_on_is_found_and_open");
}

#[test]
fn a_case_that_nothing_would_be_tried_in_is_exempt_by_name() {
    let all = harness(Flaw::None, Capabilities::ALL).exempt_laws();
    assert_eq!(
        all,
        [
            "law_5_what_is_not_declared_is_refused",
            "law_5_a_part_that_is_not_declared_is_refused",
            "law_5_what_cannot_be_cancelled_is_not",
        ],
    );
    let whole = harness(Flaw::None, WHOLE).exempt_laws();
    for law in &all {
        assert!(!whole.contains(law), "{law}");
    }
    assert!(whole.contains(&"law_5_a_part_of_a_payment_is_given_back"));
    let payout = harness(Flaw::None, PAYOUT).exempt_laws();
    assert!(payout.iter().any(|law| law.starts_with("consequence_")));
    assert!(payout.contains(&"law_5_a_part_that_is_not_declared_is_refused"));
}

#[test]
fn what_loses_money_or_moves_none_shows_in_the_books() {
    for flaw in [
        Flaw::Nothing,
        Flaw::NamesAnew,
        Flaw::SilenceIsRefused,
        Flaw::SilenceIsFailure,
        Flaw::AcceptedIsPaid,
        Flaw::AcceptedAndPaid,
        Flaw::NamesAlike,
    ] {
        let books = broken(flaw, Capabilities::ALL, "consequence_");
        assert!(!books.is_empty(), "{flaw:?} goes unnoticed");
    }
}
