//! The statements of a store, each written once.

use std::{
    collections::HashMap,
    hash::Hash,
    sync::{PoisonError, RwLock},
};

use sqlx::SqlStr;

use crate::{facts, read::Shape, schema::Types, text::Schema, write};

/// How many forms of the writing statement there are. Each is planned once on every connection,
/// for some milliseconds, and kept there; beyond that, what comes is written by a form that can do
/// more than it needs.
const FORMS_MAX: usize = 64;

/// How many others of a sort are kept. There are far fewer, but nobody has to ask only what the
/// engine asks.
const KEPT_MAX: usize = 256;

/// The statements of a store.
#[derive(Debug)]
pub(crate) struct Texts {
    pub(crate) schema: Schema,
    pub(crate) types: Types,
    writes: RwLock<HashMap<write::Form, SqlStr>>,
    facts: RwLock<HashMap<facts::Form, SqlStr>>,
    reads: RwLock<HashMap<Shape, SqlStr>>,
}

impl Texts {
    pub(crate) fn new(schema: Schema, types: Types) -> Self {
        let (writes, facts, reads) = (RwLock::default(), RwLock::default(), RwLock::default());
        Self { schema, types, writes, facts, reads }
    }

    /// A statement that can write this, and its form.
    pub(crate) fn write(&self, needed: write::Form) -> (write::Form, SqlStr) {
        {
            let known = self.writes.read().unwrap_or_else(PoisonError::into_inner);
            if let Some(text) = known.get(&needed) {
                return (needed, text.clone());
            }
            if known.len() >= FORMS_MAX {
                let enough = known.iter().filter(|(form, _)| form.covers(&needed));
                if let Some((form, text)) = enough.min_by_key(|(form, _)| form.size()) {
                    return (*form, text.clone());
                }
            }
        }
        let mut known = self.writes.write().unwrap_or_else(PoisonError::into_inner);
        let form = if known.len() < FORMS_MAX { needed } else { write::Form::whole() };
        let text = known.entry(form).or_insert_with(|| form.text(&self.schema)).clone();
        (form, text)
    }

    pub(crate) fn facts(&self, form: facts::Form) -> SqlStr {
        kept(&self.facts, form, |form| form.text(&self.schema))
    }

    pub(crate) fn read(&self, shape: Shape) -> SqlStr {
        kept(&self.reads, shape, |shape| shape.text(&self.schema))
    }
}

fn kept<T: Eq + Hash>(
    texts: &RwLock<HashMap<T, SqlStr>>,
    form: T,
    write: impl FnOnce(&T) -> SqlStr,
) -> SqlStr {
    let known = texts.read().unwrap_or_else(PoisonError::into_inner).get(&form).cloned();
    known.unwrap_or_else(|| {
        let text = write(&form);
        let mut texts = texts.write().unwrap_or_else(PoisonError::into_inner);
        if texts.len() < KEPT_MAX {
            texts.insert(form, text.clone());
        }
        text
    })
}
