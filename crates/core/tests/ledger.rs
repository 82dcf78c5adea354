//! The ledger, told in T-accounts: `docs/ledger.md` is what the decisions post, and this test fails
//! when it is not. `UPDATE_DOCS=1 cargo test -p cauri-core` writes it anew.

#[expect(dead_code, reason = "it is the shop of all examples")]
mod shop;

use std::fmt::Write as _;

use cauri_core::{
    Actor, Amount, Direction, Entry, FailureCode, LedgerAccountKind as Account, NextQuestion,
    Report, decide, decide::RefundFeePolicy, is_in_balance, wire,
};

use shop::Shop;

/// One thing that happened, and the lines that it wrote.
struct Step {
    title: &'static str,
    entries: Vec<Entry>,
}

/// A shop whose ledger is told step by step.
struct Story {
    shop: Shop,
    before: [i64; 5],
    told: usize,
    steps: Vec<Step>,
}

impl Story {
    fn new(shop: Shop) -> Self {
        let (before, told) = (held(&shop), shop.entries.len());
        Self { shop, before, told, steps: Vec::new() }
    }

    /// Does it, and looks whether the ledger adds up.
    fn step(mut self, title: &'static str, act: impl FnOnce(&mut Shop)) -> Self {
        act(&mut self.shop);
        let sums = Account::ALL.iter().map(|it| (*it, Amount::new(self.shop.balance(*it))));
        assert_eq!(is_in_balance(&sums.collect::<Vec<_>>()), Ok(true), "{title}");
        let entries = self.shop.entries.split_off(self.told);
        self.shop.entries.extend(entries.iter().cloned());
        self.told = self.shop.entries.len();
        self.steps.push(Step { title, entries });
        self
    }

    fn told(&self) -> String {
        let mut page = String::from(
            "| | When | Type | Debit | Credit | Amount |\n|---|---|---|---|---|--:|\n",
        );
        for (number, step) in (1..).zip(&self.steps) {
            if step.entries.is_empty() {
                let _ = writeln!(page, "| {number} | {} | nothing is written | | | |", step.title);
            }
            for (line, pair) in step.entries.chunks(2).enumerate() {
                let [debit, credit] = pair else { panic!("lines come in pairs") };
                assert_eq!(
                    (debit.direction, credit.direction),
                    (Direction::Debit, Direction::Credit)
                );
                assert_eq!(debit.amount, credit.amount);
                let (number, title) =
                    if line == 0 { (number.to_string(), step.title) } else { <_>::default() };
                let amount = grouped(debit.amount.units());
                let _ = writeln!(
                    page,
                    "| {number} | {title} | `{}` | {} | {} | {amount} |",
                    debit.kind, debit.account, credit.account
                );
            }
        }
        let _ = write!(page, "\n```text\n{}\n```\n\n", self.accounts().trim_end());
        page
    }

    /// The accounts that were moved, three beside one another.
    fn accounts(&self) -> String {
        let moved = Account::ALL.iter().filter(|account| {
            self.steps.iter().flat_map(|step| &step.entries).any(|it| it.account == **account)
        });
        let accounts: Vec<Vec<String>> = moved.map(|account| self.account(*account)).collect();
        let mut text = String::new();
        for row in accounts.chunks(3) {
            let height = row.iter().map(Vec::len).max().unwrap_or(0);
            for at in 0..height {
                let cells = row.iter().map(|account| account.get(at).map_or("", String::as_str));
                let line: String = cells.map(|cell| format!("{cell:<29}")).collect();
                text.push_str(line.trim_end());
                text.push('\n');
            }
        }
        text
    }

    fn account(&self, account: Account) -> Vec<String> {
        let before = Account::ALL.iter().zip(self.before).find(|(it, _)| **it == account);
        let before = before.map_or(0, |(_, units)| units);
        let side = |direction| {
            let opening = before > 0 && account.moved(direction, Amount::new(1)).is_positive();
            let opening = opening.then(|| format!("0 {:>8}", grouped(before)));
            let steps = (1..).zip(&self.steps);
            let lines = steps
                .flat_map(|(number, step)| step.entries.iter().map(move |entry| (number, entry)));
            let lines =
                lines.filter(|(_, it)| it.account == account && it.direction == direction).map(
                    |(number, it): (u32, _)| format!("{number} {:>8}", grouped(it.amount.units())),
                );
            opening.into_iter().chain(lines).collect::<Vec<_>>()
        };
        let (left, right) = (side(Direction::Debit), side(Direction::Credit));
        let mut lines =
            vec![format!("{:^25}", account.as_str()), format!("{0}┬{0}", "─".repeat(12))];
        for at in 0..left.len().max(right.len()) {
            let cell = |side: &[String]| side.get(at).cloned().unwrap_or_default();
            lines.push(format!(" {:<10} │ {:<10} ", cell(&left), cell(&right)));
        }
        lines.push(format!("{0}┴{0}", "─".repeat(12)));
        let holds = format!("holds {}", grouped(self.shop.balance(account)));
        lines.push(format!("{holds:^25}"));
        lines.push(String::new());
        lines
    }
}

/// What each account holds, in the order of the contract.
fn held(shop: &Shop) -> [i64; 5] {
    std::array::from_fn(|at| shop.balance(Account::ALL[at]))
}

/// Digits in groups of three.
fn grouped(units: i64) -> String {
    let digits = units.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(' ');
        }
        text.push(digit);
    }
    text
}

fn settle(shop: &mut Shop) {
    shop.wait(60);
    let case = decide::payment::Case { payment: shop.last(), link: None };
    let decision = decide::payment::settle(case, &mut shop.context());
    shop.done(decision);
}

fn refund_is(shop: &mut Shop, report: Report) {
    let case = decide::refund::Case { refund: shop.last(), payment: shop.last() };
    let (reports, next) = ([Report::accepted(), report], NextQuestion::Never);
    let decision =
        decide::refund::report(case, &reports, next, Actor::Network, &mut shop.context());
    shop.done(decision);
}

fn payout_is(shop: &mut Shop, report: Report) {
    let (reports, next) = ([Report::accepted(), report], NextQuestion::Never);
    let decision = decide::payout::report(shop.last(), &reports, next, &mut shop.context());
    shop.done(decision);
}

/// A shop with a payment of 5 000 whose money is available.
fn settled() -> Shop {
    let mut shop = Shop::open();
    shop.settled(5_000);
    shop
}

fn payment() -> Story {
    Story::new(Shop::open())
        .step("a payment of 5 000 is created", |shop| drop(shop.payment(5_000)))
        .step("it succeeds; its fee is 100", |shop| {
            shop.terms.mobile_money_settlement_ms = 60_000;
            shop.hear(&[Report::accepted(), Report::Paid]);
        })
        .step("its money becomes available", settle)
}

fn refund() -> Story {
    Story::new(settled())
        .step("a refund of 2 000 is created", |shop| drop(shop.refund(2_000)))
        .step("it succeeds", |shop| refund_is(shop, Report::Paid))
}

fn refund_keeping_the_fee() -> Story {
    let mut shop = settled();
    shop.terms.refund_fee_policy = RefundFeePolicy::Keep;
    Story::new(shop)
        .step("a refund of 2 000 is created", |shop| drop(shop.refund(2_000)))
        .step("it succeeds", |shop| refund_is(shop, Report::Paid))
}

fn refund_before_settlement() -> Story {
    let mut shop = Shop::open();
    shop.paid(5_000);
    Story::new(shop)
        .step("a refund of 2 000 is created", |shop| drop(shop.refund(2_000)))
        .step("it succeeds", |shop| refund_is(shop, Report::Paid))
        .step("what is left becomes available", settle)
}

fn refund_that_fails() -> Story {
    Story::new(settled())
        .step("a refund of 2 000 is created", |shop| drop(shop.refund(2_000)))
        .step("the network refuses it", |shop| {
            refund_is(shop, Report::Failed(FailureCode::RefundRejected));
        })
}

fn payout() -> Story {
    Story::new(settled())
        .step("a payout of 1 000 is created; its fee is 100", |shop| drop(shop.payout(1_000)))
        .step("it succeeds", |shop| payout_is(shop, Report::Paid))
}

fn payout_that_fails() -> Story {
    Story::new(settled())
        .step("a payout of 1 000 is created; its fee is 100", |shop| drop(shop.payout(1_000)))
        .step("it fails", |shop| payout_is(shop, Report::Failed(FailureCode::RecipientNotFound)))
}

fn funding() -> Story {
    Story::new(Shop::open()).step("`POST /v1/sandbox/fund` of 10 000", |shop| {
        let ask = wire::Fund { amount: Amount::new(10_000), currency: shop::xof() };
        let decision = decide::sandbox::fund(ask, Amount::ZERO, &mut shop.context());
        shop.done(decision);
    })
}

/// A story, what to say of it, and what clearing, pending, available, reserved and fees hold in its
/// end.
struct Chapter {
    title: &'static str,
    text: &'static str,
    story: fn() -> Story,
    holds: [i64; 5],
}

const CHAPTERS: [Chapter; 8] = [
    Chapter {
        title: "A payment, its fee, its settlement",
        text: "Nothing is posted before the money has moved. The payer's money lies at the network, on \
         our name (`clearing`); all of it but the fee is owed to the merchant, first as \
         `merchant_pending`, then, when the method's delay is over (none for mobile money, two \
         days for cards), as `merchant_available`.",
        story: payment,
        holds: [5_000, 0, 4_900, 0, 100],
    },
    Chapter {
        title: "A refund that gives back its share of the fee",
        text: "The policy `proportional`, the default. 2 000 of 5 000 give back 40 of the fee of 100, so \
         the merchant is held 1 960. The shares of several refunds add up to the fee exactly: \
         each is the difference of two roundings.",
        story: refund,
        holds: [3_000, 0, 2_940, 0, 60],
    },
    Chapter {
        title: "A refund that keeps the fee",
        text: "The policy `keep`. The merchant is held the whole 2 000, and the fee stays where it is.",
        story: refund_keeping_the_fee,
        holds: [3_000, 0, 2_900, 0, 100],
    },
    Chapter {
        title: "A refund before the settlement",
        text: "It takes only its own payment's pending money: another payment's is not yet the \
         merchant's to give. What is left settles.",
        story: refund_before_settlement,
        holds: [3_000, 0, 2_940, 0, 60],
    },
    Chapter {
        title: "A refund that fails",
        text: "What was held returns to where the payment's money is at that moment.",
        story: refund_that_fails,
        holds: [5_000, 0, 4_900, 0, 100],
    },
    Chapter {
        title: "A payout",
        text: "Amount and fee are put aside when it is created, so that nothing can be paid out twice: \
         a balance that does not cover both is refused with 402. An unknown outcome leaves them \
         there until the network has said how it ended.",
        story: payout,
        holds: [4_000, 0, 3_800, 0, 200],
    },
    Chapter {
        title: "A payout that fails",
        text: "It costs nothing: the fee returns with the amount.",
        story: payout_that_fails,
        holds: [5_000, 0, 4_900, 0, 100],
    },
    Chapter {
        title: "Test money",
        text: "In the sandbox only.",
        story: funding,
        holds: [10_000, 0, 10_000, 0, 0],
    },
];

const HEAD: &str = "\
# The ledger

Printed by `crates/core/tests/ledger.rs` from what the decisions post; `UPDATE_DOCS=1 cargo test -p cauri-core` writes it anew.

Every movement of money is a transaction of lines, of which each debit has its credit. Lines are only ever added: what turns out otherwise is compensated by new lines, and a balance is the sum of its lines, never a number that somebody sets. Each environment of each account has five accounts in each currency:

| Account | Kind | Grows by | Holds |
|---|---|---|---|
| `clearing` | asset | debit | what the networks hold for us |
| `merchant_pending` | liability | credit | what was collected and is not yet available |
| `merchant_available` | liability | credit | what may be paid out or refunded |
| `merchant_reserved` | liability | credit | what is held for payouts and refunds under way |
| `fees` | revenue | credit | what we charged |

So, at every moment, **clearing = pending + available + reserved + fees**, and nothing that is owed to the merchant ever falls below nothing: a commit that would make it do so is refused whole. `GET /v1/balance` shows the merchant's three, `GET /v1/ledger` every line with the balance after it, and `cauri-server audit` adds all of it up again.

In the T-accounts below debits stand on the left, credits on the right, and the figure before each amount is the step that wrote it; 0 stands before what was there already. All amounts are XOF, with the fees of the sandbox: 2 % of a payment, and of a payout 1 %, at least 100.

";

const FOOT: &str = "\
## What is not here

Nothing else is posted. A payment that fails, is cancelled or expires leaves no line; one that is paid after it had expired is booked like any other. A chargeback, a fee of the network, money moved to the platform's own bank, a correction by hand: these are the platform's own books, beside this ledger, whose lines they can name by the `transaction`.
";

#[test]
fn the_document_is_what_is_posted() {
    let mut page = HEAD.to_owned();
    for Chapter { title, text, story, holds } in CHAPTERS {
        let story = story();
        assert_eq!(held(&story.shop), holds, "{title}");
        let _ = write!(page, "## {title}\n\n{text}\n\n{}", story.told());
    }
    page.push_str(FOOT);
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/ledger.md");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(path, &page).unwrap();
    }
    let written = std::fs::read_to_string(path).unwrap_or_default();
    assert!(written == page, "docs/ledger.md is not what is posted");
}
