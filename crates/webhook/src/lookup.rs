//! From a name to its addresses.

use std::{
    collections::HashMap,
    fmt, io,
    net::IpAddr,
    sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use futures_util::{FutureExt, future::BoxFuture};
use tokio::{
    net::lookup_host,
    sync::{OwnedSemaphorePermit, Semaphore, watch},
    time::{Instant, timeout},
};

/// Resolves names; tests put a script in its place.
#[derive(Clone)]
pub(crate) struct Lookup(Arc<Resolve>);

type Resolve = dyn Fn(String) -> BoxFuture<'static, io::Result<Vec<IpAddr>>> + Send + Sync;

impl Lookup {
    /// Asks the system on behalf of deliveries.
    pub(crate) fn system() -> Self {
        Self::at_once(LOOKUPS_MAX, resolved)
    }

    /// Asks the system on behalf of whoever names a URL, in places of their own: names that nobody
    /// answers for must not keep deliveries waiting.
    pub(crate) fn of_checks() -> Self {
        static CHECKS: LazyLock<Lookup> = LazyLock::new(|| Lookup::at_once(CHECKS_MAX, resolved));
        CHECKS.clone()
    }

    /// So many at once, and as many again that hang.
    fn at_once<F>(max: usize, resolve: impl Fn(String) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = io::Result<Vec<IpAddr>>> + Send + 'static,
    {
        let desk = Arc::new(Desk {
            resolve: Box::new(move |name| resolve(name).boxed()),
            places: Arc::new(Semaphore::new(max)),
            hanging: Arc::new(Semaphore::new(max)),
            names: Mutex::default(),
        });
        Self::new(move |name| Arc::clone(&desk).addresses(name).boxed())
    }

    pub(crate) fn new(
        resolve: impl Fn(String) -> BoxFuture<'static, io::Result<Vec<IpAddr>>> + Send + Sync + 'static,
    ) -> Self {
        Self(Arc::new(resolve))
    }

    pub(crate) async fn addresses(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        (self.0)(name.to_owned()).await
    }
}

/// Where names are asked for, each by one lookup at a time, whoever waits for it.
///
/// A lookup cannot be called off, and a name server that says nothing keeps it for longer than any
/// attempt lasts. So a lookup that takes its time leaves the common places for those of the hanging,
/// and the next one of its name begins there: what has hung once keeps no other name waiting again.
struct Desk {
    resolve: Box<Resolve>,
    places: Arc<Semaphore>,
    hanging: Arc<Semaphore>,
    names: Mutex<HashMap<String, Name>>,
}

/// What is known of a name that is being asked for, or has hung.
#[derive(Debug, Default)]
struct Name {
    /// Where the answer is told, while one is waited for.
    answer: Option<Arc<Told>>,
    /// Did the last lookup take longer than [`PATIENCE`]?
    hung: bool,
    /// Until when whoever asks is told at once that nobody answers.
    silent_until: Option<Instant>,
}

impl Name {
    fn hangs(&mut self) {
        self.hung = true;
        self.silent_until = Some(Instant::now() + SILENCE);
    }
}

type Told = watch::Sender<Option<Answer>>;

/// An error is shared by all who waited.
type Answer = Result<Vec<IpAddr>, Arc<io::Error>>;

impl Desk {
    async fn addresses(self: Arc<Self>, name: String) -> io::Result<Vec<IpAddr>> {
        let mut told = self.ask(name)?;
        let answer = told.wait_for(Option::is_some).await.map_err(io::Error::other)?.clone();
        let broke_off = || Err(Arc::new(io::ErrorKind::Other.into()));
        answer.unwrap_or_else(broke_off).map_err(|error| io::Error::new(error.kind(), error))
    }

    /// Waits along with who has asked already, or begins to ask.
    fn ask(self: &Arc<Self>, name: String) -> io::Result<watch::Receiver<Option<Answer>>> {
        let mut names = self.names();
        if names.len() >= REMEMBERED_MAX {
            names.retain(|_, it| it.answer.is_some());
        }
        let it = names.entry(name.clone()).or_default();
        if it.silent_until.is_some_and(|until| Instant::now() < until) {
            return Err(io::ErrorKind::TimedOut.into());
        }
        if let Some(answer) = &it.answer {
            return Ok(answer.subscribe());
        }
        let (answer, told) = watch::channel(None);
        let answer = Arc::new(answer);
        it.answer = Some(Arc::clone(&answer));
        let hung = it.hung;
        // What asks takes this lock again, at the latest when it is dropped.
        drop(names);
        let asking = Asking { desk: Arc::clone(self), name, answer };
        // A task of its own: whoever gives up now must not free the place while the system still
        // works on it.
        tokio::spawn(asking.ask(hung));
        Ok(told)
    }

    fn names(&self) -> MutexGuard<'_, HashMap<String, Name>> {
        self.names.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One lookup, which is forgotten however it ends.
struct Asking {
    desk: Arc<Desk>,
    name: String,
    answer: Arc<Told>,
}

impl Asking {
    async fn ask(self, hung: bool) {
        let Some(mut place) = self.place(hung).await else { return };
        let mut found = (self.desk.resolve)(self.name.clone());
        let mut hangs = false;
        let found = match timeout(PATIENCE, &mut found).await {
            Ok(found) => found,
            Err(_) => {
                hangs = true;
                self.note(Name::hangs);
                // Where there is no other place it keeps the one it has.
                if !hung && let Ok(other) = Arc::clone(&self.desk.hanging).try_acquire_owned() {
                    place = other;
                }
                found.await
            }
        };
        drop(place);
        self.note(|name| {
            (name.hung, name.silent_until) = (hangs, None);
            // One that answers late is asked again at once: it does answer.
            if hangs && found.is_err() {
                name.hangs();
            }
        });
        self.answer.send_replace(Some(found.map_err(Arc::new)));
    }

    /// Waits for a place; `None` as soon as nobody waits for the answer any more.
    async fn place(&self, hung: bool) -> Option<OwnedSemaphorePermit> {
        let places = if hung { &self.desk.hanging } else { &self.desk.places };
        let place = Arc::clone(places).acquire_owned();
        tokio::pin!(place);
        loop {
            tokio::select! {
                place = &mut place => return place.ok(),
                () = self.answer.closed() => {}
            }
            let mut names = self.desk.names();
            // Whoever has come in between has found this lookup, and waits for it.
            if self.answer.receiver_count() == 0 {
                self.leave(&mut names);
                return None;
            }
        }
    }

    fn note(&self, note: impl FnOnce(&mut Name)) {
        if let Some(name) = self.desk.names().get_mut(&self.name) {
            note(name);
        }
    }

    /// From now on nobody finds this lookup. A name is remembered only for having hung.
    fn leave(&self, names: &mut HashMap<String, Name>) {
        let Some(name) = names.get_mut(&self.name) else { return };
        if !name.answer.as_ref().is_some_and(|it| Arc::ptr_eq(it, &self.answer)) {
            return;
        }
        name.answer = None;
        if !name.hung {
            names.remove(&self.name);
        }
    }
}

impl Drop for Asking {
    fn drop(&mut self) {
        self.leave(&mut self.desk.names());
    }
}

async fn resolved(name: String) -> io::Result<Vec<IpAddr>> {
    Ok(lookup_host((name, 0)).await?.map(|found| found.ip()).collect())
}

impl fmt::Debug for Lookup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lookup").finish_non_exhaustive()
    }
}

/// Each lookup holds one of the runtime's blocking threads, of which there are 512, for as long as
/// a dead name server likes. The stores need some of them too, so twice as many (those that hang
/// beside those that do not) must be far fewer.
const LOOKUPS_MAX: usize = 64;
const CHECKS_MAX: usize = 16;

/// A lookup that takes longer hangs.
const PATIENCE: Duration = Duration::from_secs(2);

/// For how long nobody waits for a name that hangs: the attempts to it end at once meanwhile.
const SILENCE: Duration = Duration::from_secs(5);

/// How many names are known at once; beyond, those that have hung are forgotten.
const REMEMBERED_MAX: usize = 1_024;

#[cfg(test)]
mod tests;
