//! A batch, from the question of what is there to the answer of the disk.
//!
//! Nothing is locked before it is written. A batch is judged on what is known, and the statement
//! that writes it checks what it was judged on, so that one statement is the whole transaction and
//! no lock is ever held while something travels between the server and us. When it turns out that
//! somebody was faster, the batch is judged again. There are three ways to know:
//!
//! 1. **On trust.** Who updates a record has just read it, and who inserts one has just made up its
//!    id: the changesets themselves say what is there. One round trip for the whole batch.
//! 2. **By reading** what is there, and then the same. Also for a while after trust has failed:
//!    where refusals are frequent, it costs less to ask first.
//! 3. **With locks** on what is there, in the same order on every node, when others were faster
//!    again and again.

use std::{
    sync::atomic::{AtomicU32, Ordering},
    time::Duration,
};

use cauri::{Changeset, Facts, ScopesHeld, StoreError, Verdict, Writes, judge};
use sqlx::{Connection as _, PgConnection, SqlStr, postgres::PgArguments};

use crate::{
    error::{Contended, Failure},
    facts::{Question, assumed},
    held::held,
    sessions::Session,
    text::kept,
    texts::Texts,
    write::Work,
};

/// How often a batch is judged on what was read.
const READ_MAX: usize = 3;

/// How often it is judged with locks. Even then somebody may insert what was not there.
const LOCKED_MAX: usize = 8;

/// How many batches without a refusal it takes to trust again.
const WARY: u32 = 16;

/// How much the changesets are believed.
#[derive(Debug, Default)]
pub(crate) struct Trust(AtomicU32);

impl Trust {
    fn is_there(&self) -> bool {
        self.0.load(Ordering::Relaxed) == 0
    }

    fn lose(&self) {
        self.0.store(WARY, Ordering::Relaxed);
    }

    /// A batch was judged by reading.
    fn learn(&self, verdicts: &[Verdict]) {
        if verdicts.iter().any(Result::is_err) {
            self.lose();
        } else {
            let less = |wary: u32| Some(wary.saturating_sub(1));
            // The closure always answers, so there is nothing to hear.
            let _ = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less);
        }
    }
}

/// Applies a batch.
///
/// When somebody holds a lock for longer than a commit takes, the batch is given up: it holds rows
/// itself, of scopes that have nothing to do with it. If it was only some of its scopes, they are
/// told; else there is nobody to be spared, and it waits for as long as the store is patient.
pub(crate) async fn commit(
    session: &mut Session<'_>,
    texts: &Texts,
    trust: &Trust,
    batch: Vec<Changeset>,
) -> Result<Vec<Verdict>, StoreError> {
    let failure = match at_once(session, texts, trust, &batch).await {
        Ok(verdicts) => return Ok(verdicts),
        Err(failure) => failure,
    };
    let Some(patience) = session.patience().filter(|_| failure.is_locked()) else {
        return Err(failure.into());
    };
    let scopes = held(session, &texts.schema, &batch).await?;
    if !scopes.is_empty() {
        return Err(StoreError::Unavailable(Box::new(ScopesHeld { scopes })));
    }
    Ok(again_with_locks(session, texts, &batch, Some(patience)).await?)
}

async fn at_once(
    session: &mut Session<'_>,
    texts: &Texts,
    trust: &Trust,
    batch: &[Changeset],
) -> Result<Vec<Verdict>, Failure> {
    if trust.is_there()
        && let Some(verdicts) = on_trust(session, texts, trust, batch).await?
    {
        return Ok(verdicts);
    }
    for _ in 0..READ_MAX {
        match by_reading(session, texts, batch).await {
            Ok(verdicts) => {
                trust.learn(&verdicts);
                return Ok(verdicts);
            }
            Err(failure) if failure.is_conflict() => {}
            Err(failure) => return Err(failure),
        }
    }
    again_with_locks(session, texts, batch, None).await
}

async fn again_with_locks(
    session: &mut Session<'_>,
    texts: &Texts,
    batch: &[Changeset],
    patience: Option<Duration>,
) -> Result<Vec<Verdict>, Failure> {
    for _ in 0..LOCKED_MAX {
        match with_locks(session, texts, batch, patience).await {
            Err(failure) if failure.is_conflict() => {}
            done => return done,
        }
    }
    Err(StoreError::Unavailable(Box::new(Contended)).into())
}

/// The verdicts, if everything is as the changesets say and all are accepted. A refusal needs to
/// be known for sure.
async fn on_trust(
    session: &mut Session<'_>,
    texts: &Texts,
    trust: &Trust,
    batch: &[Changeset],
) -> Result<Option<Vec<Verdict>>, Failure> {
    let facts = assumed(batch);
    let (verdicts, writes) = judge(batch.to_vec(), &facts);
    if verdicts.iter().any(Result::is_err) {
        return Ok(None);
    }
    match write(session, texts, writes, &facts).await {
        Ok(()) => Ok(Some(verdicts)),
        Err(failure) if failure.is_conflict() => {
            trust.lose();
            Ok(None)
        }
        Err(failure) => Err(failure),
    }
}

async fn by_reading(
    session: &mut Session<'_>,
    texts: &Texts,
    batch: &[Changeset],
) -> Result<Vec<Verdict>, Failure> {
    let question = Asked::of(texts, batch, false)?;
    let facts =
        session.read(async |connection: &mut PgConnection| question.ask(connection).await).await?;
    let (verdicts, writes) = judge(batch.to_vec(), &facts);
    write(session, texts, writes, &facts).await?;
    Ok(verdicts)
}

async fn with_locks(
    session: &mut Session<'_>,
    texts: &Texts,
    batch: &[Changeset],
    patience: Option<Duration>,
) -> Result<Vec<Verdict>, Failure> {
    let question = Asked::of(texts, batch, true)?;
    session
        .write(async |connection: &mut PgConnection| {
            let mut transaction = connection.begin().await?;
            if let Some(patience) = patience {
                let set = format!("set local lock_timeout = {}", patience.as_millis().max(1));
                sqlx::raw_sql(kept(set)).execute(&mut *transaction).await?;
            }
            let facts = question.ask(&mut transaction).await?;
            let (verdicts, writes) = judge(batch.to_vec(), &facts);
            if let Some(statement) = Statement::of(texts, writes, &facts)? {
                statement.run(&mut transaction).await?;
            }
            transaction.commit().await.map_err(Failure::Commit)?;
            Ok(verdicts)
        })
        .await
}

/// Writes what was judged, in a transaction of its own.
async fn write(
    session: &mut Session<'_>,
    texts: &Texts,
    writes: Writes,
    facts: &Facts,
) -> Result<(), Failure> {
    let Some(statement) = Statement::of(texts, writes, facts)? else { return Ok(()) };
    let run = async |connection: &mut PgConnection| {
        statement.run(connection).await.map_err(Failure::Commit)
    };
    session.write(run).await
}

/// A question with its statement.
struct Asked {
    question: Question,
    text: SqlStr,
    arguments: PgArguments,
}

impl Asked {
    fn of(texts: &Texts, batch: &[Changeset], lock: bool) -> Result<Self, StoreError> {
        let question = Question::of(batch);
        let text = texts.facts(question.form(lock));
        let arguments = question.arguments()?.into_inner();
        Ok(Self { question, text, arguments })
    }

    async fn ask(self, connection: &mut PgConnection) -> Result<Facts, Failure> {
        let Self { question, text, arguments } = self;
        if question.is_empty() {
            return Ok(Facts::default());
        }
        let rows = sqlx::query_with(text, arguments).fetch_all(connection).await?;
        Ok(question.facts(&rows)?)
    }
}

/// What writes a batch.
struct Statement {
    text: SqlStr,
    arguments: PgArguments,
}

impl Statement {
    /// `None` when there is nothing to write.
    fn of(texts: &Texts, writes: Writes, facts: &Facts) -> Result<Option<Self>, StoreError> {
        let work = Work::of(writes, facts)?;
        if work.is_empty() {
            return Ok(None);
        }
        let (form, text) = texts.write(work.form());
        let arguments = work.arguments(&form, &texts.types)?.into_inner();
        Ok(Some(Self { text, arguments }))
    }

    /// To its very end: outside of a transaction it is only committed after its last row.
    async fn run(self, connection: &mut PgConnection) -> Result<(), sqlx::Error> {
        sqlx::query_with(self.text, self.arguments).execute(connection).await.map(|_| ())
    }
}
