//! Gathers what is wrong with a request, and puts it in the order of the contract's fields.

use std::borrow::Cow;

use crate::error::{Fault, Faults, Problem};

/// What is wrong so far, and which fields there are, in their order.
#[derive(Debug, Default)]
pub(crate) struct Report {
    fields: Vec<&'static str>,
    faults: Vec<Fault>,
}

impl Report {
    /// The next field of the request.
    pub(crate) fn declare(&mut self, field: &'static str) {
        self.fields.push(field);
    }

    /// The next field of the request, and a rule for its value.
    pub(crate) fn check<T>(
        &mut self,
        field: &'static str,
        value: Option<T>,
        rule: impl FnOnce(T) -> Result<(), Problem>,
    ) {
        self.declare(field);
        if let Some(Err(problem)) = value.map(rule) {
            self.fault(field, problem);
        }
    }

    /// Something is wrong.
    pub(crate) fn fault(&mut self, param: impl Into<Cow<'static, str>>, problem: Problem) {
        self.faults.push(Fault::at(param, problem));
    }

    /// Is something wrong with this field?
    pub(crate) fn has(&self, field: &str) -> bool {
        self.faults.iter().any(|fault| root(fault) == field)
    }

    /// Adds what is wrong between fields, but for those that have something wrong in themselves.
    pub(crate) fn agree(&mut self, faults: Vec<Fault>) {
        let new: Vec<Fault> = faults.into_iter().filter(|it| !self.has(root(it))).collect();
        self.faults.extend(new);
    }

    /// Everything, in field order.
    pub(crate) fn into_faults(self) -> Vec<Fault> {
        let Self { fields, mut faults } = self;
        faults.sort_by_key(|fault| fields.iter().position(|field| *field == root(fault)));
        faults
    }

    /// Everything in field order, then the parameters that are no fields, by name.
    pub(crate) fn finish<'n>(self, names: impl Iterator<Item = &'n str>) -> Result<(), Faults> {
        let mut unknown: Vec<&str> = names.filter(|name| !self.fields.contains(name)).collect();
        unknown.sort_unstable();
        unknown.dedup();
        let unknown = unknown.into_iter().map(|name| Fault::at(name.to_owned(), Problem::Unknown));
        let mut faults = self.into_faults();
        faults.extend(unknown);
        Faults::none(faults)
    }
}

/// The field that a fault is in: `metadata` of `metadata.order`, `events` of `events[1]`.
fn root(fault: &Fault) -> &str {
    let param = fault.param.as_deref().unwrap_or_default();
    param.split(['.', '[']).next().unwrap_or_default()
}
