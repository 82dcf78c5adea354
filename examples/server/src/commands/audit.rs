//! `audit`: does every balance follow from its entries?

use std::process::ExitCode;

use cauri::AuditProgress;
use serde_json::json;

use crate::{
    error::{Done, REFUSED},
    options::StoreOptions,
    output::Output,
    store::Visit,
};

/// How many violations are told to people.
const TOLD_MAX: usize = 20;

pub(crate) async fn run(at: &StoreOptions, output: Output) -> Done {
    let visit = Visit::to(at).await?;
    let progress = output.progress();
    let show = |so_far: AuditProgress| {
        let AuditProgress { accounts_done, accounts, entries, .. } = so_far;
        let text = format!("{accounts_done} of {accounts} accounts, {entries} ledger entries");
        progress.at(accounts_done, accounts, &text);
    };
    let audited = visit.engine.audit_with(show).await;
    progress.end();
    let audit = audited?;
    visit.end().await;
    let holds = audit.violations.is_empty();
    let (accounts, entries) = (audit.accounts, audit.entries);
    let violations: Vec<String> = audit.violations.iter().map(ToString::to_string).collect();
    let verdict = if holds { "Every invariant holds" } else { "The ledger does not hold" };
    let mut text: Vec<String> = violations.iter().take(TOLD_MAX).cloned().collect();
    text.push(format!("{verdict}. Accounts: {accounts}, ledger entries: {entries}."));
    let json = json!({
        "holds": holds, "accounts": accounts, "entries": entries, "violations": violations,
    });
    output.conclude(&json, &text.join("\n"))?;
    Ok(if holds { ExitCode::SUCCESS } else { ExitCode::from(REFUSED) })
}
