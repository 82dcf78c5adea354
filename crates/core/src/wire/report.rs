//! Gathers what is wrong with a request, and puts it in the order of the contract's fields.

use std::borrow::Cow;

use super::field::text_problem;
use crate::{
    error::{Fault, Faults, Problem},
    value::{
        metadata::{Metadata, MetadataPatch},
        text,
    },
};

/// More metadata than an object may have.
pub(crate) const TOO_MANY_KEYS: Problem = Problem::invalid("must have at most 50 keys");

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

    /// The metadata of something new.
    pub(crate) fn metadata(&mut self, metadata: &Metadata) {
        self.declare("metadata");
        let entries = metadata.entries().map(|(key, value)| (key, Some(value)));
        self.metadata_entries(entries);
    }

    /// A change to metadata. How many keys it leaves is seen when it is applied.
    pub(crate) fn metadata_patch(&mut self, patch: &MetadataPatch) {
        self.declare("metadata");
        if let MetadataPatch::Merge(changes) = patch {
            let entries = changes.iter().map(|(key, value)| (key.as_str(), value.as_deref()));
            self.metadata_entries(entries);
        }
    }

    fn metadata_entries<'m>(&mut self, entries: impl Iterator<Item = (&'m str, Option<&'m str>)>) {
        let mut set: usize = 0;
        let mut faults = Vec::new();
        for (key, value) in entries {
            set = set.saturating_add(usize::from(value.is_some()));
            if let Err(problem) =
                metadata_key(key).and_then(|()| value.map_or(Ok(()), metadata_value))
            {
                faults.push((key, problem));
            }
        }
        if set > Metadata::KEYS_MAX {
            self.fault("metadata", TOO_MANY_KEYS);
        }
        for (key, problem) in faults {
            self.fault(format!("metadata.{key}"), problem);
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

pub(crate) fn metadata_key(key: &str) -> Result<(), Problem> {
    text::check(key, Metadata::KEY_CHARS_MAX).map_err(|_| {
        Problem::invalid("must have a key of 1 to 40 characters, none a control character")
    })
}

pub(crate) fn metadata_value(value: &str) -> Result<(), Problem> {
    text::check(value, Metadata::VALUE_CHARS_MAX).map_err(text_problem)
}

/// The field that a fault is in: `metadata` of `metadata.order`, `events` of `events[1]`.
fn root(fault: &Fault) -> &str {
    let param = fault.param.as_deref().unwrap_or_default();
    param.split(['.', '[']).next().unwrap_or_default()
}
