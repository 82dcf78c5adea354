//! A fixed number of seeds in every run of the tests, and that a seed is always the same.

use std::process::Command;

/// None of them breaks a promise.
#[test]
fn seeds_without_a_violation() {
    for seed in 0..60 {
        let outcome = cauri_sim::simulate(seed);
        assert_eq!(outcome.violations, [], "sim --seed {seed} --trace");
    }
}

/// Faults do happen, and the tables are walked: a world in which nothing goes wrong proves nothing.
#[test]
fn seeds_are_full_of_trouble() {
    let outcomes: Vec<_> = (100..120).map(cauri_sim::simulate).collect();
    let kinds: std::collections::BTreeSet<_> =
        outcomes.iter().flat_map(|outcome| outcome.faults.keys()).collect();
    let rows: std::collections::BTreeSet<_> =
        outcomes.iter().flat_map(|outcome| outcome.coverage.keys()).collect();
    assert!(kinds.len() >= 20, "{kinds:?}");
    assert!(rows.len() >= 22, "{rows:?}");
}

/// One seed, one history: within a process, and in another one.
#[test]
fn a_seed_is_always_the_same() {
    for seed in [3, 11] {
        let (one, other) = (cauri_sim::trace(seed), cauri_sim::trace(seed));
        assert_eq!(one.trace, other.trace);
        assert_eq!(one.hash, other.hash);
        let run = Command::new(env!("CARGO_BIN_EXE_sim"))
            .args(["--seed", &seed.to_string()])
            .output()
            .unwrap();
        let said = String::from_utf8(run.stdout).unwrap();
        assert!(said.contains(&format!("{:016x}", one.hash)), "{said}");
    }
    assert_ne!(cauri_sim::simulate(3).hash, cauri_sim::simulate(11).hash);
}
