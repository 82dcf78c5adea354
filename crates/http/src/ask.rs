//! A request as handlers see it: known, permitted, and read, but not yet understood.

use cauri::{Call, Caller, Engine, Fault, Faults, Id, Problem, Refused, Scope, wire::Form};
use serde_json::{Map, Value};

use crate::{handler::Noun, problem::Failure, query::Pairs};

/// Whoever calls, and what they said.
#[derive(Debug)]
pub(crate) struct Ask {
    pub(crate) engine: Engine,
    pub(crate) call: Call,
    /// What the id in the path names, and that id as it came.
    pub(crate) object: Option<(Noun, String)>,
    pub(crate) pairs: Result<Pairs, Faults>,
    pub(crate) body: Map<String, Value>,
}

impl Ask {
    pub(crate) const fn caller(&self) -> &Caller {
        &self.call.caller
    }

    pub(crate) const fn scope(&self) -> Scope {
        self.call.caller.scope
    }

    /// The id in the path. One of another kind, or none at all, names nothing that exists.
    pub(crate) fn id<T: Id>(&self) -> Result<T, Failure> {
        let (noun, text) = self.object.as_ref().ok_or(Refused::NotFound("object"))?;
        Ok(text.parse().map_err(|_| Refused::NotFound(noun.name()))?)
    }

    /// The parameters of a list.
    pub(crate) fn pairs(&self) -> Result<&[(String, String)], Failure> {
        match &self.pairs {
            Ok(pairs) => Ok(pairs),
            Err(faults) => Err(faults.clone().into()),
        }
    }

    /// Not everything takes query parameters.
    pub(crate) fn no_query(&self) -> Result<(), Faults> {
        let pairs = self.pairs.as_ref().map_err(Faults::clone)?;
        unknown(pairs)
    }

    /// The body, read as something: with everything that is wrong with it and the query.
    pub(crate) fn read<T>(
        &self,
        read: impl FnOnce(&Map<String, Value>, &Form<'_>) -> Result<T, Faults>,
    ) -> Result<T, Failure> {
        let environment = self.scope().environment;
        let catalogue = &self.engine.terms().offers(environment).catalogue;
        let form = Form { environment, catalogue, now: self.engine.now() };
        match (read(&self.body, &form), self.no_query()) {
            (Ok(request), Ok(())) => Ok(request),
            (Err(faults), Ok(())) | (Ok(_), Err(faults)) => Err(faults.into()),
            (Err(body), Err(query)) => {
                let both = [body.all(), query.all()].concat();
                Err(Faults::none(both).err().unwrap_or(body).into())
            }
        }
    }
}

/// These query parameters, where there are none.
pub(crate) fn unknown(pairs: &[(String, String)]) -> Result<(), Faults> {
    let mut unknown: Vec<Fault> = Vec::new();
    for (name, _) in pairs {
        let fault = Fault::at(name.clone(), Problem::Unknown);
        if !unknown.contains(&fault) {
            unknown.push(fault);
        }
    }
    Faults::none(unknown)
}
