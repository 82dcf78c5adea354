//! Reads a JSON object field by field and reports every fault at once, in field order.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::{
    field,
    report::{self, Report},
};
use crate::{
    error::{Fault, Faults, Problem},
    value::{
        metadata::{Metadata, MetadataPatch},
        patch::Patch,
    },
};

/// What `null` means for a field that cannot be cleared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Null {
    /// As if it were absent: in creations.
    Absent,
    /// Wrong: in modifications.
    Refused,
}

/// The same items in the same order, each once.
pub(crate) fn without_repeats<T: PartialEq>(items: Vec<T>) -> Vec<T> {
    let mut once = Vec::new();
    for item in items {
        if !once.contains(&item) {
            once.push(item);
        }
    }
    once
}

/// The fields of a JSON object, read one after another in the order of the contract.
#[derive(Debug)]
pub(crate) struct Params<'a> {
    body: &'a Map<String, Value>,
    null: Null,
    report: Report,
}

impl<'a> Params<'a> {
    /// The fields of something new.
    pub(crate) fn creation(body: &'a Map<String, Value>) -> Self {
        Self { body, null: Null::Absent, report: Report::default() }
    }

    /// The changes to something.
    pub(crate) fn modification(body: &'a Map<String, Value>) -> Self {
        Self { body, null: Null::Refused, report: Report::default() }
    }

    /// Does the body have this field, right or wrong?
    pub(crate) fn has(&self, field: &str) -> bool {
        self.body.get(field).is_some_and(|value| !value.is_null())
    }

    /// Is something wrong with this field?
    pub(crate) fn is_faulty(&self, field: &str) -> bool {
        self.report.has(field)
    }

    /// Adds what is wrong with fields that have nothing wrong yet.
    pub(crate) fn agree(&mut self, faults: Vec<Fault>) {
        self.report.agree(faults);
    }

    fn value(&mut self, field: &'static str) -> Option<&'a Value> {
        self.report.declare(field);
        match (self.body.get(field), self.null) {
            (Some(Value::Null), Null::Refused) => {
                self.report.fault(field, Problem::invalid("must not be null"));
                None
            }
            (None | Some(Value::Null), _) => None,
            (value, _) => value,
        }
    }

    fn read<T>(
        &mut self,
        field: &'static str,
        value: &Value,
        read: impl FnOnce(&Value) -> Result<T, Problem>,
    ) -> Option<T> {
        read(value).map_err(|problem| self.report.fault(field, problem)).ok()
    }

    /// A field that may be absent.
    pub(crate) fn optional<T>(
        &mut self,
        field: &'static str,
        read: impl FnOnce(&Value) -> Result<T, Problem>,
    ) -> Option<T> {
        let value = self.value(field)?;
        self.read(field, value, read)
    }

    /// A field that must be there; `None` when it is not or is wrong.
    pub(crate) fn required<T>(
        &mut self,
        field: &'static str,
        read: impl FnOnce(&Value) -> Result<T, Problem>,
    ) -> Option<T> {
        let value = self.value(field);
        if value.is_none() && !self.is_faulty(field) {
            self.report.fault(field, Problem::Missing);
        }
        self.read(field, value?, read)
    }

    /// A field that `null` clears.
    pub(crate) fn patch<T>(
        &mut self,
        field: &'static str,
        read: impl FnOnce(&Value) -> Result<T, Problem>,
    ) -> Patch<T> {
        self.report.declare(field);
        match self.body.get(field) {
            None => Patch::Keep,
            Some(Value::Null) => Patch::Clear,
            Some(value) => self.read(field, value, read).map_or(Patch::Keep, Patch::Set),
        }
    }

    /// A field that may not be there at all, though objects have it.
    pub(crate) fn immutable(&mut self, field: &'static str) {
        self.report.declare(field);
        if self.body.contains_key(field) {
            self.report.fault(field, Problem::Immutable);
        }
    }

    /// A list of texts that has at least one; `None` when it is absent or wrong.
    pub(crate) fn list<T>(
        &mut self,
        field: &'static str,
        read: impl Fn(&str) -> Result<T, Problem>,
    ) -> Option<Vec<T>> {
        let Some(items) = self.value(field)?.as_array().filter(|items| !items.is_empty()) else {
            self.report.fault(field, Problem::invalid("must be an array with at least one item"));
            return None;
        };
        let mut list = Vec::with_capacity(items.len());
        for (at, item) in items.iter().enumerate() {
            match field::string(&read)(item) {
                Ok(item) => list.push(item),
                Err(problem) => self.report.fault(format!("{field}[{at}]"), problem),
            }
        }
        (list.len() == items.len()).then_some(list)
    }

    /// The metadata of something new.
    pub(crate) fn metadata(&mut self) -> Metadata {
        let Some(value) = self.value("metadata") else { return Metadata::default() };
        let entries = self.metadata_entries(value, |value| metadata_value(value).map(Some));
        Metadata::default().patched(&MetadataPatch::Merge(entries)).unwrap_or_default()
    }

    /// A change to metadata: `null` deletes, a key or all of them.
    pub(crate) fn metadata_patch(&mut self) -> MetadataPatch {
        self.report.declare("metadata");
        match self.body.get("metadata") {
            None => MetadataPatch::Keep,
            Some(Value::Null) => MetadataPatch::Clear,
            Some(value) => {
                MetadataPatch::Merge(self.metadata_entries(value, |value| match value {
                    Value::Null => Ok(None),
                    value => metadata_value(value).map(Some),
                }))
            }
        }
    }

    fn metadata_entries(
        &mut self,
        value: &Value,
        read: impl Fn(&Value) -> Result<Option<String>, Problem>,
    ) -> BTreeMap<String, Option<String>> {
        let Some(object) = value.as_object() else {
            self.report.fault("metadata", Problem::invalid("must be an object of strings"));
            return BTreeMap::new();
        };
        let mut entries = BTreeMap::new();
        let mut faults = BTreeMap::new();
        for (key, value) in object {
            match report::metadata_key(key).and_then(|()| read(value)) {
                Ok(value) => _ = entries.insert(key.clone(), value),
                Err(problem) => _ = faults.insert(key, problem),
            }
        }
        // What sets more keys than there may be leaves too many, whatever was there before.
        if entries.values().flatten().count() > Metadata::KEYS_MAX {
            self.report.fault("metadata", report::TOO_MANY_KEYS);
        }
        for (key, problem) in faults {
            self.report.fault(format!("metadata.{key}"), problem);
        }
        entries
    }

    /// The request, if nothing is wrong with it.
    pub(crate) fn finish<T>(self, request: Option<T>) -> Result<T, Faults> {
        self.report.finish(self.body.keys().map(String::as_str))?;
        // What could not be read was reported, so that without faults there is a request.
        request.ok_or_else(|| Fault::overall(Problem::Missing).into())
    }
}

fn metadata_value(value: &Value) -> Result<String, Problem> {
    let value = value.as_str().ok_or(Problem::invalid("must be a string"))?;
    report::metadata_value(value)?;
    Ok(value.to_owned())
}
