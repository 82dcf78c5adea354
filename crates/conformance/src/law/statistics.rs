//! 11. Statistics count.

use std::collections::BTreeMap;

use cauri::{Amount, CustomerId, CustomerStatistics, Payment, Scope, StoreError};

use crate::{
    fixtures::{self, Random},
    subject::{Subject, insert, update},
};

/// Payments by their place, and what they must add up to.
#[derive(Default)]
struct Paid {
    payments: Vec<Payment>,
}

impl Paid {
    async fn assert_counted(&self, subject: &Subject) {
        let mut sums = BTreeMap::<(Scope, CustomerId), CustomerStatistics>::new();
        for payment in &self.payments {
            if let Some(customer) = payment.customer {
                let sum = sums.entry((payment.scope, customer)).or_default();
                sum.add(payment).expect("sums that fit");
            }
        }
        for ((scope, customer), sum) in sums {
            assert_eq!(subject.statistics(scope, customer).await, sum);
        }
    }
}

pub(super) async fn law_11_statistics_are_the_sum_over_all_payments(subject: Subject) {
    let mut random = Random::new(1101);
    let scope = random.scope();
    let scopes = [scope, Scope { account: random.id(), ..scope }];
    let mut paid = Paid::default();
    for _ in 0..10 {
        let mut batch = Vec::new();
        for _ in 0..12 {
            let scope = *random.pick(&scopes);
            let payment = fixtures::payment(&mut random, scope);
            batch.push(insert(payment.clone(), None));
            paid.payments.push(payment);
        }
        subject.accept_all(batch).await;
        paid.assert_counted(&subject).await;
    }
}

pub(super) async fn law_11_statistics_follow_updates(subject: Subject) {
    let mut random = Random::new(1102);
    let scope = random.scope();
    let mut paid = Paid::default();
    for _ in 0..8 {
        let payment = fixtures::payment(&mut random, scope);
        subject.insert(payment.clone(), None).await;
        paid.payments.push(payment);
    }
    for version in 1..6 {
        for payment in &mut paid.payments {
            // All may change, whose it is included.
            *payment = Payment { id: payment.id, ..fixtures::payment(&mut random, scope) };
            subject.accept(update(payment.clone(), version)).await;
        }
        paid.assert_counted(&subject).await;
        let customers: [CustomerId; 4] = [(); 4].map(|()| random.known_id());
        for customer in customers {
            let named = paid.payments.iter().filter(|it| it.customer == Some(customer)).count();
            let counted = subject.statistics(scope, customer).await.payments_count;
            assert_eq!(usize::try_from(counted), Ok(named));
        }
    }
}

pub(super) async fn law_11_a_customer_without_payments_has_none(subject: Subject) {
    let mut random = Random::new(1103);
    let scope = random.scope();
    let customer = fixtures::customer(&mut random, scope);
    let none = CustomerStatistics::default();
    assert_eq!(subject.statistics(scope, customer.id).await, none);
    subject.insert(customer.clone(), None).await;
    let elsewhere = Scope { account: random.id(), ..scope };
    let payment = fixtures::payment(&mut random, elsewhere);
    subject.insert(Payment { customer: Some(customer.id), ..payment }, None).await;
    assert_eq!(subject.statistics(scope, customer.id).await, none);
    assert_eq!(subject.statistics(elsewhere, customer.id).await.payments_count, 1);
}

pub(super) async fn law_11_a_sum_that_does_not_fit_is_an_error(subject: Subject) {
    let mut random = Random::new(1104);
    let scope = random.scope();
    let [customer, other]: [CustomerId; 2] = [random.id(), random.id()];
    let largest = Amount::new(i64::MAX);
    let paid = |random: &mut Random, amount, currency: &str| Payment {
        customer: Some(customer),
        amount,
        currency: currency.parse().expect("a currency"),
        succeeded_at: Some(random.moment()),
        ..fixtures::payment(random, scope)
    };
    subject.insert(paid(&mut random, largest, "XOF"), None).await;
    subject.insert(paid(&mut random, largest, "GHS"), None).await;
    let sums = subject.statistics(scope, customer).await;
    assert_eq!(sums.by_currency.iter().map(|it| it.paid_amount).max(), Some(largest));

    let last = paid(&mut random, Amount::SMALLEST, "XOF");
    subject.insert(last.clone(), None).await;
    let refused = subject.store.statistics(scope, customer).await;
    assert!(matches!(refused, Err(StoreError::Broken(_))), "{refused:?}");
    assert_eq!(subject.statistics(scope, other).await, CustomerStatistics::default());

    // Nothing is wrong with the payments themselves.
    subject.accept(update(Payment { succeeded_at: None, ..last }, 1)).await;
    assert_eq!(subject.statistics(scope, customer).await.succeeded_payments_count, 2);
}
