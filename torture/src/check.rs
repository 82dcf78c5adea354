//! Does all that can be seen from outside agree?

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::net::SocketAddr;
use std::time::Duration;

use serde_json::Value;

use crate::deed::{Deed, Kind, fate_of_payment, fate_of_payout};
use crate::http::Caller;
use crate::receiver::Hit;
use crate::time;

/// Several leases, and the first two pauses between attempts at a delivery.
const REST: Duration = Duration::from_secs(150);

const LISTS: [&str; 5] =
    ["/v1/payments", "/v1/payouts", "/v1/refunds", "/v1/payment-links", "/v1/customers"];

/// What an object's own life changes; everything else stays as it was first answered.
const CHANGES: [&str; 20] = [
    "status",
    "updated_at",
    "processing_at",
    "succeeded_at",
    "failed_at",
    "cancelled_at",
    "expired_at",
    "available_at",
    "refunded_amount",
    "refundable_amount",
    "next_action",
    "failure_code",
    "failure_message",
    "cancellation_reason",
    "network",
    "payments_count",
    "succeeded_payments_count",
    "collected_amount",
    "paid_at",
    "last_used_at",
];

/// How many comparisons held, and what did not.
#[derive(Debug, Default)]
pub(crate) struct Checks {
    pub(crate) held: u64,
    pub(crate) violations: Vec<String>,
}

impl Checks {
    pub(crate) fn holds(&mut self, it: bool, otherwise: impl FnOnce() -> String) {
        if it {
            self.held += 1;
        } else {
            self.violations.push(otherwise());
        }
    }

    fn equal<T: PartialEq + std::fmt::Debug>(&mut self, what: &str, seen: T, expected: T) {
        self.holds(seen == expected, || format!("{what}: {seen:?}, expected {expected:?}"));
    }
}

/// Everything of one account, by list and oldest first.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct World {
    lists: HashMap<&'static str, Vec<Value>>,
}

impl World {
    fn read(caller: &mut Caller, at: SocketAddr) -> Result<Self, String> {
        let mut world = Self::default();
        for list in LISTS {
            world.lists.insert(list, caller.list(at, list)?);
        }
        Ok(world)
    }

    fn of(&self, list: &str) -> &[Value] {
        self.lists.get(list).map_or(&[], Vec::as_slice)
    }

    /// What is not yet as it must end.
    fn restless(&self, cancelled: &HashSet<String>) -> Vec<String> {
        let mut found = Vec::new();
        for payment in self.of("/v1/payments") {
            let status = text(&payment["status"]);
            let good = match fate_of_payment(payment) {
                Some(fate) if fate.status == "succeeded" => {
                    ["succeeded", "partially_refunded", "refunded"].contains(&status)
                }
                Some(fate) => status == fate.status,
                None if cancelled.contains(text(&payment["id"])) => status == "cancelled",
                None => status == "processing",
            };
            if !good {
                found.push(payment.to_string());
            }
        }
        for payout in self.of("/v1/payouts") {
            if fate_of_payout(payout).is_none_or(|fate| text(&payout["status"]) != fate.status) {
                found.push(payout.to_string());
            }
        }
        let refunds = self.of("/v1/refunds").iter();
        found.extend(refunds.filter(|it| it["status"] != "succeeded").map(Value::to_string));
        found
    }
}

/// Waits until nothing is due any more, and two readings, which take a while, say the same.
pub(crate) fn rest(caller: &mut Caller, at: SocketAddr, deeds: &[Deed]) -> Result<World, String> {
    let cancelled: HashSet<String> = deeds
        .iter()
        .filter(|deed| deed.kind == Kind::Cancel && deed.good().is_some())
        .filter_map(|deed| deed.path.split('/').nth(3).map(str::to_owned))
        .collect();
    let mut before = None;
    time::within(REST, Duration::from_millis(500), || {
        let world = World::read(caller, at)?;
        let pending = caller.total(at, "/v1/webhooks/deliveries?status=pending&limit=1")?;
        let restless = world.restless(&cancelled);
        if let Some(first) = restless.first() {
            return Err(format!("{} objects are not at rest: {first}", restless.len()));
        }
        if pending > 0 {
            return Err(format!("{pending} deliveries are pending"));
        }
        if before.as_ref() == Some(&world) {
            return Ok(world);
        }
        before = Some(world);
        Err("something still changes".to_owned())
    })
}

/// Every answer is kept, each key has one object, and there is no other.
pub(crate) fn answers(checks: &mut Checks, world: &World, deeds: &[Deed]) {
    let mut made: HashMap<&str, HashSet<String>> = HashMap::new();
    let mut present: HashMap<&str, &Value> = HashMap::new();
    for list in LISTS {
        for object in world.of(list) {
            let id = text(&object["id"]);
            checks.holds(present.insert(id, object).is_none(), || format!("{id} is listed twice"));
        }
    }
    for deed in deeds {
        let contradictions = deed.contradictions();
        checks.holds(contradictions.is_empty(), || contradictions.join("; "));
        let Some(answered) = deed.object() else {
            checks.holds(deed.kind.may_be_refused(), || format!("{} was never done", deed.key));
            continue;
        };
        let id = text(&answered["id"]);
        if let Some(list) = deed.kind.list() {
            let new = made.entry(list).or_default().insert(id.to_owned());
            checks.holds(new, || format!("{}: {id} has two keys", deed.key));
        }
        if deed.kind == Kind::Fund {
            continue;
        }
        let Some(object) = present.get(id) else {
            checks.violations.push(format!("{}: {id} is lost", deed.key));
            continue;
        };
        if deed.kind == Kind::Cancel {
            checks.equal("a cancelled payment", *object, &answered);
            continue;
        }
        for (name, value) in answered.as_object().into_iter().flatten() {
            let may_change = CHANGES.contains(&&**name)
                // A card's network is only known when it is used.
                && (name != "network" || value.is_null());
            checks.holds(may_change || object[name] == *value, || {
                format!("{id}: {name} was answered as {value} and is {}", object[name])
            });
        }
    }
    for list in LISTS {
        let made = made.remove(list).unwrap_or_default();
        let listed: HashSet<String> =
            world.of(list).iter().map(|object| text(&object["id"]).to_owned()).collect();
        let odd: Vec<_> = listed.symmetric_difference(&made).collect();
        checks.holds(odd.is_empty(), || format!("{list}: not one for each key: {odd:?}"));
    }
}

/// What is left of the money, and how often it moved.
#[derive(Debug, Default)]
struct Books {
    available: i64,
    pending: i64,
    /// Lines of the ledger by type.
    lines: BTreeMap<&'static str, u64>,
}

impl Books {
    fn post(&mut self, kind: &'static str, amount: i64) {
        // A line of nothing is not written.
        if amount > 0 {
            *self.lines.entry(kind).or_default() += 2;
        }
    }
}

/// Half-up, in integers (API §7.1).
fn share(amount: i64, basis_points: i64) -> i64 {
    (amount * basis_points + 5_000) / 10_000
}

/// Fees, balances and the number of postings, computed anew from what became of every object.
pub(crate) fn money(
    checks: &mut Checks,
    world: &World,
    deeds: &[Deed],
    caller: &mut Caller,
    at: SocketAddr,
) -> Result<(), String> {
    let mut books = Books::default();
    for kind in POSTINGS {
        books.lines.insert(kind, 0);
    }
    for deed in deeds.iter().filter(|deed| deed.kind == Kind::Fund) {
        let amount = deed.object().map_or(0, |funding| number(&funding["amount"]));
        books.post("sandbox_funding", amount);
        books.available += amount;
    }
    for payment in world.of("/v1/payments") {
        of_payment(checks, &mut books, payment, world.of("/v1/refunds"));
    }
    for payout in world.of("/v1/payouts") {
        of_payout(checks, &mut books, payout);
    }
    let balance = caller.get(at, "/v1/balance?currency=XOF")?;
    for (name, expected) in
        [("available", books.available), ("pending", books.pending), ("reserved", 0)]
    {
        checks.equal(name, number(&balance[name][0]["amount"]), expected);
    }
    for (kind, expected) in books.lines {
        let seen = caller.total(at, &format!("/v1/ledger?type={kind}&limit=1"))?;
        checks.equal(&format!("ledger lines of type {kind}"), seen, expected);
    }
    Ok(())
}

const POSTINGS: [&str; 12] = [
    "payment",
    "payment_fee",
    "settlement",
    "refund_hold",
    "refund",
    "refund_fee_return",
    "refund_release",
    "payout_hold",
    "payout",
    "payout_fee",
    "payout_release",
    "sandbox_funding",
];

fn of_payment(checks: &mut Checks, books: &mut Books, payment: &Value, refunds: &[Value]) {
    let id = text(&payment["id"]);
    let amount = number(&payment["amount"]);
    let card = payment["payment_method"] == "card";
    let fee = share(amount, if card { 350 } else { 200 });
    checks.equal(&format!("{id} fee"), number(&payment["fee_amount"]), fee);
    checks.equal(&format!("{id} net"), number(&payment["net_amount"]), amount - fee);
    let fate = fate_of_payment(payment);
    let failure = fate.and_then(|fate| fate.failure);
    checks.equal(&format!("{id} failure"), payment["failure_code"].as_str(), failure);
    let succeeded = fate.is_some_and(|fate| fate.status == "succeeded");
    let mut net = 0;
    if succeeded {
        books.post("payment", amount);
        books.post("payment_fee", fee);
        net = amount - fee;
        if !card {
            books.post("settlement", net);
        }
    }
    let mut refunded = 0;
    for refund in refunds.iter().filter(|refund| refund["payment"] == payment["id"]) {
        let id = text(&refund["id"]);
        let part = number(&refund["amount"]);
        let (before, after) = (fee * refunded / amount, fee * (refunded + part) / amount);
        let back = after - before;
        checks.equal(&format!("{id} fee"), number(&refund["fee_returned_amount"]), back);
        checks.equal(&format!("{id} net"), number(&refund["net_amount"]), part - back);
        refunded += part;
        net -= part - back;
        books.post("refund_hold", part - back);
        books.post("refund", part - back);
        books.post("refund_fee_return", back);
    }
    let status = match (succeeded, refunded) {
        (true, 0) => "succeeded",
        (true, all) if all == amount => "refunded",
        (true, _) => "partially_refunded",
        (false, _) => text(&payment["status"]),
    };
    checks.holds(refunded == 0 || succeeded, || format!("{id} was refunded and not paid"));
    checks.equal(&format!("{id} status"), text(&payment["status"]), status);
    checks.equal(&format!("{id} refunded"), number(&payment["refunded_amount"]), refunded);
    let left = if succeeded { amount - refunded } else { 0 };
    checks.equal(&format!("{id} refundable"), number(&payment["refundable_amount"]), left);
    *(if card { &mut books.pending } else { &mut books.available }) += net;
}

fn of_payout(checks: &mut Checks, books: &mut Books, payout: &Value) {
    let id = text(&payout["id"]);
    let amount = number(&payout["amount"]);
    let fee = share(amount, 100).clamp(100, 5_000);
    checks.equal(&format!("{id} fee"), number(&payout["fee_amount"]), fee);
    let total = amount + fee;
    checks.equal(&format!("{id} total"), number(&payout["total_amount"]), total);
    let failure = fate_of_payout(payout).and_then(|fate| fate.failure);
    checks.equal(&format!("{id} failure"), payout["failure_code"].as_str(), failure);
    books.post("payout_hold", total);
    if payout["status"] == "succeeded" {
        books.post("payout", amount);
        books.post("payout_fee", fee);
        books.available -= total;
    } else {
        books.post("payout_release", total);
    }
}

/// Every event of every object came, signed; none of them twice with other words, and no other.
pub(crate) fn events(
    checks: &mut Checks,
    world: &World,
    hits: &[Hit],
    secret: &str,
    caller: &mut Caller,
    at: SocketAddr,
) -> Result<(), String> {
    let mut bodies: HashMap<String, &[u8]> = HashMap::new();
    let mut came: BTreeMap<(String, String), BTreeSet<String>> = BTreeMap::new();
    for hit in hits {
        let signed = hit.is_signed_by(secret);
        checks.holds(signed, || format!("badly signed: {}", String::from_utf8_lossy(&hit.body)));
        let event: Value = serde_json::from_slice(&hit.body).map_err(|error| error.to_string())?;
        let id = text(&event["id"]).to_owned();
        let first = *bodies.entry(id.clone()).or_insert(&hit.body);
        checks.holds(first == &*hit.body, || format!("{id} came with two bodies"));
        let of = text(&event["data"]["object"]["id"]).to_owned();
        came.entry((of, text(&event["type"]).to_owned())).or_default().insert(id);
    }
    let mut expected: BTreeMap<(String, String), usize> = BTreeMap::new();
    for list in LISTS {
        for object in world.of(list) {
            for (kind, count) in kinds(object, world.of("/v1/refunds")) {
                expected.insert((text(&object["id"]).to_owned(), kind), count);
            }
        }
    }
    for (step, count) in &expected {
        let seen = came.get(step).map_or(0, BTreeSet::len);
        checks.equal(&format!("events {} of {}", step.1, step.0), seen, *count);
    }
    for (step, ids) in &came {
        checks.holds(expected.contains_key(step), || format!("no such step: {step:?} {ids:?}"));
    }
    // The timelines name the events as well: of every fourth payment, to save time.
    for payment in world.of("/v1/payments").iter().step_by(4) {
        let id = text(&payment["id"]);
        let told: BTreeSet<String> = caller
            .list(at, &format!("/v1/payments/{id}/timeline"))?
            .iter()
            .filter_map(|entry| entry["event"].as_str().map(str::to_owned))
            .collect();
        let ours = came.iter().filter(|((of, _), _)| of == id).flat_map(|(_, ids)| ids);
        let missing: Vec<_> = ours.filter(|event| !told.contains(*event)).collect();
        checks.holds(missing.is_empty(), || format!("not in the timeline of {id}: {missing:?}"));
        let missing: Vec<_> = told.iter().filter(|event| !bodies.contains_key(*event)).collect();
        checks.holds(missing.is_empty(), || format!("never delivered: {missing:?} of {id}"));
    }
    Ok(())
}

/// The events that an object's life has had, by what it looks like in the end.
fn kinds(object: &Value, refunds: &[Value]) -> Vec<(String, usize)> {
    let name = text(&object["object"]);
    if name == "customer" {
        return Vec::new();
    }
    let mut kinds = vec![(format!("{name}.created"), 1)];
    for step in ["processing", "succeeded", "failed", "cancelled", "expired", "paid"] {
        let at = &object[&*format!("{step}_at")];
        if !at.is_null() {
            kinds.push((format!("{name}.{step}"), 1));
        }
    }
    if name == "payment" {
        let whole = usize::from(object["status"] == "refunded");
        let parts = refunds.iter().filter(|refund| refund["payment"] == object["id"]).count();
        for (kind, count) in
            [("payment.refunded", whole), ("payment.partially_refunded", parts - whole.min(parts))]
        {
            if count > 0 {
                kinds.push((kind.to_owned(), count));
            }
        }
    }
    kinds
}

pub(crate) fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// An amount, which is never negative: what is none is told as -1.
fn number(value: &Value) -> i64 {
    value.as_i64().unwrap_or(-1)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::deed::Told;
    use crate::http::Answer;
    use crate::time::now;

    /// A customer that was answered, and what the world says of it.
    fn judged(answered: &Value, listed: &[Value]) -> Checks {
        let body = answered.to_string().into_bytes();
        let answer = Answer { status: 201, location: None, replayed: false, body };
        let mut deed = Deed::new(Kind::Customer, "key".to_owned(), "/v1/customers", &json!({}));
        deed.told.push(Told { began: now(), ended: now(), answer: Some(answer) });
        let mut checks = Checks::default();
        let world = World { lists: HashMap::from([("/v1/customers", listed.to_vec())]) };
        answers(&mut checks, &world, &[deed]);
        checks
    }

    #[test]
    fn what_was_answered_is_there_once_and_as_it_was() {
        let was = json!({"id": "cus_1", "name": "Awa", "updated_at": "1"});
        let later = json!({"id": "cus_1", "name": "Awa", "updated_at": "2"});
        assert_eq!(judged(&was, &[later]).violations, [""; 0]);
        let renamed = json!({"id": "cus_1", "name": "Ama", "updated_at": "1"});
        let other = json!({"id": "cus_2", "name": "Awa", "updated_at": "1"});
        for world in
            [vec![], vec![renamed], vec![was.clone(), other], vec![was.clone(), was.clone()]]
        {
            assert!(!judged(&was, &world).violations.is_empty(), "{world:?}");
        }
    }

    fn payment(status: &str, refunded: i64) -> Value {
        json!({
            "id": "pay_1", "object": "payment", "phone": "+2250500000000", "status": status,
            "amount": 5000, "fee_amount": 100, "net_amount": 4900, "failure_code": null,
            "refunded_amount": refunded, "refundable_amount": 5000 - refunded,
            "processing_at": "1", "succeeded_at": "2"
        })
    }

    #[test]
    fn money_is_computed_from_what_became_of_everything() {
        let refund = json!({
            "id": "ref_1", "payment": "pay_1", "amount": 2000, "fee_returned_amount": 40,
            "net_amount": 1960
        });
        let judged = |payment: &Value, refunds: &[Value]| {
            let (mut checks, mut books) = (Checks::default(), Books::default());
            of_payment(&mut checks, &mut books, payment, refunds);
            (checks.violations.len(), books.available)
        };
        assert_eq!(judged(&payment("succeeded", 0), &[]), (0, 4900));
        let refunds = std::slice::from_ref(&refund);
        assert_eq!(judged(&payment("partially_refunded", 2000), refunds), (0, 2940));
        assert_ne!(judged(&payment("succeeded", 2000), refunds).0, 0, "another status");
        assert_ne!(judged(&payment("partially_refunded", 2000), &[]).0, 0, "a refund is missing");
    }

    #[test]
    fn the_events_follow_from_what_became_of_an_object() {
        let refund = json!({"payment": "pay_1"});
        let seen = kinds(&payment("refunded", 5000), &[refund.clone(), refund]);
        let seen: Vec<_> = seen.iter().map(|(kind, count)| (&**kind, *count)).collect();
        let created = [
            ("payment.created", 1),
            ("payment.processing", 1),
            ("payment.succeeded", 1),
            ("payment.refunded", 1),
            ("payment.partially_refunded", 1),
        ];
        assert_eq!(seen, created);
    }
}
