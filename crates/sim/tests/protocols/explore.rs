//! Every order of steps, each state looked at once.

use std::{
    collections::HashSet,
    fmt::Debug,
    hash::{DefaultHasher, Hash, Hasher},
};

/// Something that several actors do at once.
pub(crate) trait Protocol {
    /// Where all of them stand.
    type State: Clone + Debug;

    fn start(&self) -> Self::State;

    /// Every step that somebody may take now, with its name.
    fn steps(&self, state: &Self::State) -> Vec<(String, Self::State)>;

    /// What must be true at every moment.
    fn always(&self, state: &Self::State) -> Result<(), String>;

    /// What must be true when nobody can take another step.
    fn finally(&self, state: &Self::State) -> Result<(), String>;
}

/// What was seen.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    pub(crate) states: usize,
    pub(crate) ends: usize,
    /// What is wrong, and the steps that lead there.
    pub(crate) wrong: Option<(String, Vec<String>)>,
}

/// Tries every order, depth first, until something is wrong or nothing is left.
pub(crate) fn explore<P: Protocol>(protocol: &P) -> Seen {
    let mut seen = Seen::default();
    let mut known = HashSet::new();
    let mut open = vec![(protocol.start(), Vec::<String>::new())];
    while let Some((state, path)) = open.pop() {
        let mut sum = DefaultHasher::new();
        format!("{state:?}").hash(&mut sum);
        if !known.insert(sum.finish()) {
            continue;
        }
        seen.states += 1;
        let steps = protocol.steps(&state);
        let mut verdict = protocol.always(&state);
        if steps.is_empty() {
            seen.ends += 1;
            verdict = verdict.and_then(|()| protocol.finally(&state));
        }
        if let Err(wrong) = verdict {
            seen.wrong = Some((wrong, path));
            return seen;
        }
        for (name, next) in steps {
            let mut path = path.clone();
            path.push(name);
            open.push((next, path));
        }
    }
    seen
}

/// The protocol holds, and so many states were looked at.
pub(crate) fn holds<P: Protocol>(protocol: &P, states_min: usize) {
    let seen = explore(protocol);
    assert_eq!(seen.wrong, None, "after {} states", seen.states);
    assert!(seen.states >= states_min, "only {} states, {} ends", seen.states, seen.ends);
    assert!(seen.ends > 0);
    println!("{} states, {} ends", seen.states, seen.ends);
}

/// What was left out is missed.
pub(crate) fn is_found<P: Protocol>(protocol: &P) {
    let (wrong, path) = explore(protocol).wrong.expect("what was left out must be missed");
    println!("{wrong}, after {path:?}");
}
