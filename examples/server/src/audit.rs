//! `audit`: does every balance follow from its entries?

use std::process::ExitCode;

use crate::{error::Done, options::StoreOptions, store::Visit};

/// How many violations are told.
const TOLD_MAX: usize = 20;

pub(crate) async fn run(at: &StoreOptions) -> Done {
    let visit = Visit::to(at).await?;
    let audit = visit.engine.audit().await?;
    visit.end().await;
    for violation in audit.violations.iter().take(TOLD_MAX) {
        println!("{violation}");
    }
    let (accounts, entries) = (audit.accounts, audit.entries);
    if audit.violations.is_empty() {
        println!("Every invariant holds. Accounts: {accounts}, ledger entries: {entries}.");
        return Ok(ExitCode::SUCCESS);
    }
    println!("The ledger does not hold. Accounts: {accounts}, ledger entries: {entries}.");
    Ok(ExitCode::FAILURE)
}
