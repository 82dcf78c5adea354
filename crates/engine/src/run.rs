//! Load, decide, commit, and again if stale: written once.

use std::{sync::Arc, time::Duration};

use cauri_core::{
    Changeset, EndpointId, Entity, Error as Refused, IdempotencyRecord, Key, Record, Refusal,
    Scope, Subscriptions, Success, Timestamp, TraceContext, Versioned, Write,
    decide::{
        self, Context, Decision,
        idempotency::{Answered, Idempotency},
    },
};
use serde::{Serialize, de::DeserializeOwned};
use tokio::time::Instant;
use tracing::Instrument;

use crate::{
    cache::Ticket,
    call::{Call, Replay, Reply},
    engine::Engine,
    error::Error,
    port::store::StoreError,
    store_ext::StoreExt,
    trace,
};

/// How often a command is decided anew because others changed its records.
const STALE_MAX: u32 = 100;
/// How often a commit whose outcome is unknown is sent again.
const RESEND_MAX: u32 = 5;
/// And for how long: whoever waits for a store that says nothing is told so before a proxy gives up.
const RESEND_WITHIN: Duration = Duration::from_secs(10);

/// The records that a command named, as one snapshot saw them, in the order of their keys.
#[derive(Debug)]
pub(crate) struct Loaded(Vec<Option<Versioned<Record>>>);

impl Loaded {
    /// The record of the key at this place.
    pub(crate) fn take<T: Entity>(&mut self, at: usize) -> Option<Versioned<T>> {
        self.0.get_mut(at)?.take()?.of()
    }
}

/// How a command answers.
#[derive(Debug)]
pub(crate) struct Shape<T> {
    /// What the use case is called.
    pub(crate) name: &'static str,
    pub(crate) success: Success,
    pub(crate) location: Option<fn(&T) -> String>,
    /// Does the answer hold a secret, so that it is kept sealed?
    pub(crate) secret: bool,
}

impl<T> Shape<T> {
    pub(crate) const fn created(name: &'static str, location: fn(&T) -> String) -> Self {
        Self { name, success: Success::Created, location: Some(location), secret: false }
    }

    pub(crate) const fn done(name: &'static str) -> Self {
        Self { name, success: Success::Done, location: None, secret: false }
    }
}

impl Engine {
    /// Runs a caller's command: replays an earlier answer, or loads, decides and commits, and does
    /// so again as long as others change the same records first.
    pub(crate) async fn run<T, F>(
        &self,
        call: &Call,
        shape: Shape<T>,
        keys: Vec<Key>,
        decide: F,
    ) -> Result<Reply<T>, Error>
    where
        T: Serialize + DeserializeOwned,
        F: Fn(Loaded, &mut Context<'_>) -> Result<Decision<T>, Refused>,
    {
        let name = shape.name;
        // In a box: it is some kilobytes, which whoever awaits or spawns the call would move along
        // several times.
        let running = Box::pin(self.run_within(call, shape, keys, decide));
        self.case(name, call.caller.scope, call.trace.clone(), running).await
    }

    async fn run_within<T, F>(
        &self,
        call: &Call,
        shape: Shape<T>,
        keys: Vec<Key>,
        decide: F,
    ) -> Result<Reply<T>, Error>
    where
        T: Serialize + DeserializeOwned,
        F: Fn(Loaded, &mut Context<'_>) -> Result<Decision<T>, Refused>,
    {
        let scope = call.caller.scope;
        let asked = call.idempotency.as_ref();
        // A command that names no record has nothing to read: that its idempotency key is new is
        // checked by the commit, and only when it is not, or the command is refused, looked up.
        let mut trusting = keys.is_empty();
        let attempt = Attempt { engine: self, scope, keys, asked };
        for _ in 0..STALE_MAX {
            let (subscriptions, earlier, loaded) =
                attempt.load(self.0.ambient.now(), !trusting).await?;
            // Asked for after the reading: whoever wrote what was read asked for theirs before, so
            // that the events of one object have increasing ids, whoever had to decide anew.
            let mut env = self.0.ambient.env();
            let now = env.now();
            if let Some(asked) = asked
                && let Some(record) = decide::idempotency::earlier(asked, earlier.as_ref(), now)?
            {
                return self.replay(record);
            }
            let held_until = self.0.mailbox.hold(now);
            let mut context = self.context(scope, &mut env, &subscriptions, held_until);
            let decided = decide(loaded, &mut context);
            if decided.is_err() && trusting && asked.is_some() {
                trusting = false;
                continue;
            }
            let Decision { value, mut changes, if_short } = decided?;
            let location = shape.location.map(|location| location(&value));
            let mut body = None;
            if let Some(asked) = asked {
                let text = serde_json::to_string(&value).map_err(Error::Replay)?;
                let answered = Answered {
                    success: shape.success,
                    location: location.clone(),
                    body: text.clone(),
                    secret: shape.secret,
                };
                decide::idempotency::keep(
                    &mut changes,
                    scope,
                    asked.clone(),
                    answered,
                    earlier.as_ref(),
                    &self.0.keys,
                    &mut env,
                )?;
                body = Some(text);
            }
            // What is as it is wanted already needs no commit.
            let verdict =
                if changes.is_empty() { Ok(()) } else { self.commit(changes, held_until).await? };
            match verdict {
                Ok(()) => {
                    let success = shape.success;
                    return Ok(Reply { object: value, body, success, location, replayed: false });
                }
                Err(Refusal::Exists(_) | Refusal::Stale(_)) => trusting = false,
                Err(Refusal::Floor(_)) => {
                    // The money may have gone to the very same command, sent twice at once: its
                    // answer counts before the refusal.
                    if let Some(reply) = attempt.replay_if_done(now).await? {
                        return Ok(reply);
                    }
                    return Err(if_short.unwrap_or(Refused::Impossible).into());
                }
                Err(Refusal::Overflow(_)) => {
                    return Err(Refused::Overflow(cauri_core::Overflow).into());
                }
            }
        }
        Err(Error::Contended)
    }

    /// The answer to an earlier use of a call's idempotency key. Commands look for it themselves;
    /// this is for whoever refuses a request before it has become one.
    ///
    /// # Errors
    /// [`Refused::IdempotencyKeyReused`] when the key was used for another request, or
    /// [`Error::Store`].
    pub async fn replayed(&self, call: &Call) -> Result<Option<Replay>, Error> {
        let Some(asked) = &call.idempotency else { return Ok(None) };
        let key = Key::Idempotency(call.caller.scope, asked.key.clone());
        let record = self.0.store.find::<IdempotencyRecord>(key).await?;
        let now = self.0.ambient.now();
        match decide::idempotency::earlier(asked, record.as_ref(), now)? {
            Some(record) => Ok(Some(Replay {
                body: decide::idempotency::body(record, &self.0.keys)?,
                success: record.success,
                location: record.location.clone(),
            })),
            None => Ok(None),
        }
    }

    /// Runs a command of the engine's own, which nobody waits for an answer to.
    pub(crate) async fn transact<T, F>(
        &self,
        name: &'static str,
        scope: Scope,
        keys: Vec<Key>,
        decide: F,
    ) -> Result<T, Error>
    where
        F: Fn(Loaded, &mut Context<'_>) -> Result<Decision<T>, Refused>,
    {
        let running = Box::pin(self.transact_within(scope, keys, decide));
        self.case(name, scope, None, running).await
    }

    async fn transact_within<T, F>(
        &self,
        scope: Scope,
        keys: Vec<Key>,
        decide: F,
    ) -> Result<T, Error>
    where
        F: Fn(Loaded, &mut Context<'_>) -> Result<Decision<T>, Refused>,
    {
        let attempt = Attempt { engine: self, scope, keys, asked: None };
        let mut recent = self.0.recent.all(&attempt.keys, self.0.ambient.now());
        for _ in 0..STALE_MAX {
            let now = self.0.ambient.now();
            let recalled = recent.take();
            let trusting = recalled.is_some();
            let (subscriptions, loaded) = match recalled {
                Some(found) => (attempt.listeners(now).await?, Loaded(found)),
                None => {
                    let (subscriptions, _, loaded) = attempt.load(now, false).await?;
                    (subscriptions, loaded)
                }
            };
            let mut env = self.0.ambient.env();
            let held_until = self.0.mailbox.hold(env.now());
            let mut context = self.context(scope, &mut env, &subscriptions, held_until);
            let decided = decide(loaded, &mut context);
            // Only a commit proves that what was remembered is still so.
            if trusting && !decided.as_ref().is_ok_and(|decision| !decision.changes.is_empty()) {
                continue;
            }
            let Decision { value, changes, if_short } = decided?;
            if changes.is_empty() {
                return Ok(value);
            }
            match self.commit(changes, held_until).await? {
                Ok(()) => return Ok(value),
                Err(Refusal::Exists(_) | Refusal::Stale(_)) => {
                    self.0.recent.forget(&attempt.keys);
                }
                Err(_) if trusting => {}
                Err(Refusal::Floor(_)) => {
                    return Err(if_short.unwrap_or(Refused::Impossible).into());
                }
                Err(Refusal::Overflow(_)) => {
                    return Err(Refused::Overflow(cauri_core::Overflow).into());
                }
            }
        }
        Err(Error::Contended)
    }

    /// Commits one changeset, surely: an unknown outcome is found out. What was inserted for us to
    /// go on with goes to the worker. It runs in a task of its own, so that a caller who goes away
    /// in the middle changes nothing; except within a host's transaction, which must not be written
    /// to any more when the call that was to do so is over.
    pub(crate) async fn commit(
        &self,
        changes: Changeset,
        held_until: Option<Timestamp>,
    ) -> Result<Result<(), Refusal>, Error> {
        let engine = self.clone();
        let span = trace::commit();
        let trace = self.trace();
        let committing = async move {
            let believed = Believed::of(&changes);
            let done = engine.commit_surely(changes, held_until, trace).await;
            // Whatever came of it: what was read before may no longer be so.
            believed.forget(&engine);
            done
        };
        let committing = committing.instrument(span.or_current());
        if self.0.of_host {
            return committing.await;
        }
        let task = tokio::spawn(committing);
        task.await.unwrap_or_else(|error| Err(StoreError::Unknown(Box::new(error)).into()))
    }

    async fn commit_surely(
        &self,
        changes: Changeset,
        held_until: Option<Timestamp>,
        trace: Option<TraceContext>,
    ) -> Result<Result<(), Refusal>, Error> {
        let mut sent_before = false;
        let began = Instant::now();
        for wait in 0..=RESEND_MAX {
            match self.0.store.commit(vec![changes.clone()]).await {
                Ok(verdicts) => {
                    let verdict = verdicts.into_iter().next().unwrap_or(Ok(()));
                    let applied = sent_before
                        && verdict.is_err()
                        && self.was_applied(&changes).await.map_err(still_unknown)?;
                    if verdict.is_ok() || applied {
                        self.count(&changes);
                        self.0.recent.note(&changes, trace.as_ref(), self.0.ambient.now());
                        self.hand_over(&changes, held_until, trace.as_ref());
                        self.leave_to_others(&changes, held_until);
                        return Ok(Ok(()));
                    }
                    return Ok(verdict);
                }
                Err(StoreError::Unknown(error))
                    if wait < RESEND_MAX && began.elapsed() < RESEND_WITHIN =>
                {
                    tracing::warn!(%error, "the outcome of a commit is unknown; sending it again");
                    sent_before = true;
                    tokio::time::sleep(Duration::from_millis(50 << wait)).await;
                }
                Err(StoreError::Unavailable(error))
                    if sent_before && wait < RESEND_MAX && began.elapsed() < RESEND_WITHIN =>
                {
                    tracing::warn!(%error, "the store is away while an outcome is unknown");
                    tokio::time::sleep(Duration::from_millis(50 << wait)).await;
                }
                // Whatever this says of the last time, the first may have been applied.
                Err(error) if sent_before => return Err(still_unknown(error).into()),
                Err(error) => return Err(error.into()),
            }
        }
        Err(Error::Contended)
    }

    /// Wakes the workers of other processes, when this one has none that would go on with what was
    /// just made.
    fn leave_to_others(&self, changes: &Changeset, held_until: Option<Timestamp>) {
        let Some(bell) = self.0.bell.as_ref().filter(|_| held_until.is_none()) else { return };
        let now = self.0.ambient.now();
        let is_due = changes.writes().iter().any(|write| match write {
            Write::Insert { due_at, .. } | Write::Update { due_at, .. } => {
                due_at.is_some_and(|at| at <= now)
            }
            Write::Remove { .. } => false,
        });
        if is_due {
            let bell = Arc::clone(bell);
            tokio::spawn(async move { bell.ring().await });
        }
    }

    /// Was a changeset applied when it was sent the first time? Its new records have ids of its
    /// own, so their being there proves it. One that only replaces is ours as long as what it wrote
    /// is still there; once others wrote after it, nobody can tell, and it counts as lost: its
    /// command is decided anew.
    async fn was_applied(&self, changes: &Changeset) -> Result<bool, StoreError> {
        let keys: Vec<Key> = changes.keys().collect();
        let found = self.0.store.get(&keys).await?;
        let inserts = changes.writes().iter().any(|it| matches!(it, Write::Insert { .. }));
        let stored =
            |key: &Key| keys.iter().position(|it| it == key).and_then(|at| found.get(at)?.as_ref());
        Ok(changes.writes().iter().all(|write| match write {
            // One that was forgotten and is there again was made by somebody else.
            Write::Insert { record, .. } => stored(&record.key()).is_some_and(|it| {
                let changed = it.version > record.first_version();
                it.value == *record
                    || (changed && it.value.first_version() == record.first_version())
            }),
            Write::Update { record, expected, .. } => stored(&record.key()).is_some_and(|it| {
                let ours = expected.saturating_add(1);
                (it.version == ours && it.value == *record) || (it.version > ours && inserts)
            }),
            Write::Remove { key, expected } => stored(key).is_none_or(|it| it.version != *expected),
        }))
    }

    fn context<'a>(
        &'a self,
        scope: Scope,
        env: &'a mut cauri_core::Env,
        subscriptions: &'a Subscriptions,
        held_until: Option<Timestamp>,
    ) -> Context<'a> {
        Context { scope, terms: &self.0.terms, env, subscriptions, held_until }
    }

    fn replay<T: DeserializeOwned>(&self, record: &IdempotencyRecord) -> Result<Reply<T>, Error> {
        let body = decide::idempotency::body(record, &self.0.keys)?;
        Ok(Reply {
            object: serde_json::from_str(&body).map_err(|error| Error::Replay(unread(&error)))?,
            body: Some(body),
            success: record.success,
            location: record.location.clone(),
            replayed: true,
        })
    }
}

/// What is wrong with an answer, and where, without what it holds: that may be a secret.
fn unread(error: &serde_json::Error) -> serde_json::Error {
    let (wrong, column) = (error.classify(), error.column());
    serde::de::Error::custom(format_args!("{wrong:?} at column {column}"))
}

/// A store that fails while an outcome is unknown leaves it unknown.
fn still_unknown(error: StoreError) -> StoreError {
    match error {
        StoreError::Unknown(error) => StoreError::Unknown(error),
        other => StoreError::Unknown(Box::new(other)),
    }
}

/// Who listens, as it is believed for a moment.
impl Engine {
    /// Has what will soon be believed no more read anew.
    fn renew_listeners(&self, now: Timestamp) {
        self.renew(&self.0.listeners, now, |engine, scopes, ticket| async move {
            let keys: Vec<Key> = scopes.iter().copied().map(Key::Subscriptions).collect();
            let mut found = Loaded(engine.0.store.get(&keys).await?);
            for (at, scope) in scopes.into_iter().enumerate() {
                engine.keep_listeners(scope, found.take(at), now, ticket);
            }
            Ok(())
        });
    }

    fn keep_listeners(
        &self,
        scope: Scope,
        found: Option<Versioned<Subscriptions>>,
        now: Timestamp,
        ticket: Ticket,
    ) -> Arc<Subscriptions> {
        let read = found.map_or_else(|| Subscriptions::none(scope), |found| found.value);
        let read = Arc::new(read);
        self.0.listeners.keep(scope, Arc::clone(&read), now, ticket);
        read
    }
}

/// What a changeset changes of what is believed for a moment.
struct Believed {
    listeners: Option<Scope>,
    endpoint: Option<(Scope, EndpointId)>,
}

impl Believed {
    fn of(changes: &Changeset) -> Self {
        let mut believed = Self { listeners: None, endpoint: None };
        for write in changes.writes() {
            match write {
                Write::Insert { record, .. } | Write::Update { record, .. } => match record {
                    Record::Subscriptions(it) => believed.listeners = Some(it.scope),
                    Record::WebhookEndpoint(it) => believed.endpoint = Some((it.scope, it.id)),
                    _ => {}
                },
                Write::Remove { .. } => {}
            }
        }
        believed
    }

    fn forget(&self, engine: &Engine) {
        self.listeners.iter().for_each(|scope| engine.0.listeners.forget(scope));
        self.endpoint.iter().for_each(|named| engine.0.receivers.forget(named));
    }
}

/// What one command reads, each time anew.
struct Attempt<'a> {
    engine: &'a Engine,
    scope: Scope,
    keys: Vec<Key>,
    asked: Option<&'a Idempotency>,
}

impl Attempt<'_> {
    /// One snapshot: who listens, unless that was read a moment ago; the earlier use of the key, if
    /// it is looked for; and the records that were named.
    async fn load(
        &self,
        now: Timestamp,
        look: bool,
    ) -> Result<(Arc<Subscriptions>, Option<Versioned<IdempotencyRecord>>, Loaded), Error> {
        let listeners = &self.engine.0.listeners;
        let known = listeners.find(&self.scope, now);
        let ticket = listeners.ticket();
        let along = match known {
            Some(_) => {
                self.engine.renew_listeners(now);
                Vec::new()
            }
            None => listeners.along(&self.scope, now),
        };
        let asked = self.asked.filter(|_| look);
        let mut keys = Vec::with_capacity(self.keys.len().saturating_add(along.len() + 2));
        keys.extend(known.is_none().then_some(Key::Subscriptions(self.scope)));
        keys.extend(asked.map(|asked| Key::Idempotency(self.scope, asked.key.clone())));
        keys.extend(self.keys.iter().cloned());
        let ours = keys.len();
        keys.extend(along.iter().copied().map(Key::Subscriptions));
        let mut found = match keys.is_empty() {
            true => Vec::new(),
            false => self.engine.0.store.get(&keys).await?,
        };
        let keep = |scope, found| self.engine.keep_listeners(scope, found, now, ticket);
        let mut others = Loaded(found.split_off(ours.min(found.len())));
        for (at, scope) in along.into_iter().enumerate() {
            keep(scope, others.take(at));
        }
        let named = found.split_off(found.len().saturating_sub(self.keys.len()));
        let mut own = Loaded(found);
        let earlier = asked.and_then(|_| own.take(usize::from(known.is_none())));
        let subscriptions = known.unwrap_or_else(|| keep(self.scope, own.take(0)));
        Ok((subscriptions, earlier, Loaded(named)))
    }

    /// Who listens.
    async fn listeners(&self, now: Timestamp) -> Result<Arc<Subscriptions>, Error> {
        let Self { engine, scope, .. } = *self;
        let attempt = Attempt { engine, scope, keys: Vec::new(), asked: None };
        Ok(attempt.load(now, false).await?.0)
    }

    async fn replay_if_done<T: DeserializeOwned>(
        &self,
        now: Timestamp,
    ) -> Result<Option<Reply<T>>, Error> {
        let Some(asked) = self.asked else { return Ok(None) };
        let (_, record, _) = self.load(now, true).await?;
        match decide::idempotency::earlier(asked, record.as_ref(), now)? {
            Some(record) => self.engine.replay(record).map(Some),
            None => Ok(None),
        }
    }
}

#[cfg(test)]
mod tests;
