//! From a run that breaks a promise to the shortest that still does.

use std::collections::BTreeSet;

use crate::{
    run::{Outcome, run},
    world::Plan,
};

/// How many runs may be spent on it.
const RUNS_MAX: usize = 400;

struct Search {
    plan: Plan,
    law: &'static str,
    runs: usize,
}

/// The shortest run found that breaks the same promise as `outcome`, with its trace.
pub(crate) fn shortest(outcome: &Outcome) -> Outcome {
    let law = outcome.violations.first().map_or("", |violation| violation.law);
    let mut search = Search {
        plan: Plan {
            operations: Some((0..outcome.operations).collect()),
            faults: Some(outcome.happened.iter().copied().collect()),
            ..Plan::of(outcome.seed)
        },
        law,
        runs: 0,
    };
    let mut left = (usize::MAX, usize::MAX);
    while search.size() < left && search.runs < RUNS_MAX {
        left = search.size();
        let operations = search.plan.operations.clone().unwrap_or_default();
        let kept = search.reduce(operations, |plan, kept| plan.operations = Some(kept));
        search.plan.operations = Some(kept);
        let faults = search.plan.faults.clone().unwrap_or_default();
        let kept = search.reduce(faults, |plan, kept| plan.faults = Some(kept));
        search.plan.faults = Some(kept);
    }
    run(Plan { keep_trace: true, ..search.plan })
}

impl Search {
    fn size(&self) -> (usize, usize) {
        let size = |operations: usize, faults: usize| (operations, faults);
        size(
            self.plan.operations.as_ref().map_or(0, BTreeSet::len),
            self.plan.faults.as_ref().map_or(0, BTreeSet::len),
        )
    }

    /// Leaves out halves, then quarters, and so on, as long as the promise stays broken.
    fn reduce<T: Ord + Copy>(
        &mut self,
        all: BTreeSet<T>,
        set: impl Fn(&mut Plan, BTreeSet<T>),
    ) -> BTreeSet<T> {
        let mut kept: Vec<T> = all.into_iter().collect();
        let mut chunk = kept.len();
        while chunk > 0 && !kept.is_empty() && self.runs < RUNS_MAX {
            let mut at = 0;
            while at < kept.len() && self.runs < RUNS_MAX {
                let end = (at + chunk).min(kept.len());
                let fewer: Vec<T> = [&kept[..at], &kept[end..]].concat();
                let mut plan = self.plan.clone();
                set(&mut plan, fewer.iter().copied().collect());
                self.runs += 1;
                if run(plan).violations.iter().any(|violation| violation.law == self.law) {
                    kept = fewer;
                } else {
                    at = end;
                }
            }
            chunk = if chunk == 1 { 0 } else { chunk.div_ceil(2) };
        }
        kept.into_iter().collect()
    }
}
