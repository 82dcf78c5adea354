//! The laws of a gateway, over real HTTP.

#![allow(clippy::unwrap_used, reason = "a rig that panics is a trial that fails")]

use std::{process::ExitCode, sync::Arc};

use async_trait::async_trait;
use cauri::{Amount, Connection, Flow, Gateway, Offer, PaymentMethod, Secret, Timestamp};
use cauri_conformance::{
    ManualClock,
    gateway::{Conduct, End, Harness, Place, Rig},
};
use cauri_example_gateway::{
    Aggregator, AggregatorOptions,
    fake::{Fake, FakeOptions, Mood},
    signature::Signer,
};

fn main() -> ExitCode {
    Harness::new("Aggregator", Aggregator::CAPABILITIES, FakeRig::begin).main()
}

struct FakeRig {
    fake: Fake,
    signer: Arc<Signer>,
}

impl FakeRig {
    async fn begin() -> Self {
        let signer = Arc::new(Signer::generate("ours").unwrap());
        // Trials go on in time, and the fake does not: it looks at no signature.
        let clock = Arc::new(ManualClock::at(Timestamp::EPOCH));
        let options = FakeOptions::new(Secret::new("token"), clock);
        Self { fake: Fake::begin(options).await.unwrap(), signer }
    }
}

#[async_trait]
impl Rig for FakeRig {
    fn place(&self) -> Place {
        Place {
            country: "CI".parse().unwrap(),
            offer: Offer {
                method: PaymentMethod::MobileMoney,
                network: "mtn".parse().unwrap(),
                currency: "XOF".parse().unwrap(),
                min: Amount::new(500),
                max: Amount::new(1_000_000),
                capabilities: Aggregator::CAPABILITIES,
                flow: Flow::Push,
                connection: Connection::new("aggregator"),
            },
            phone: "+2250500009999".parse().ok(),
        }
    }

    async fn gateway(&self) -> Arc<dyn Gateway> {
        let options = AggregatorOptions::new(self.fake.url(), Secret::new("token"));
        Arc::new(Aggregator::new(options.signed(Arc::clone(&self.signer))).unwrap())
    }

    async fn conduct(&self, conduct: Conduct) {
        let mood = match conduct {
            Conduct::Works => Mood::Works,
            Conduct::Down => Mood::Down,
            Conduct::Refuses => Mood::Rejects,
            Conduct::HangsUp => Mood::HangsUp,
            Conduct::HangsUpAfterwards => Mood::HangsUpAfterwards,
            Conduct::Hangs => Mood::Hangs,
            Conduct::Garbles => Mood::Garbles,
            Conduct::Contradicts => Mood::Contradicts,
        };
        self.fake.behave(mood).await.unwrap();
    }

    async fn end(&self, end: End) {
        self.fake.end(end == End::Paid).await;
    }

    async fn taken_on(&self) -> usize {
        self.fake.taken_on()
    }

    async fn collected(&self) -> i64 {
        self.fake.collected()
    }
}
