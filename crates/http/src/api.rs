//! The service: every request through the same checks in the same order (API §2.2).

use std::{
    convert::Infallible,
    fmt,
    panic::AssertUnwindSafe,
    pin::pin,
    sync::Arc,
    task::{Context, Poll},
};

use bytes::Bytes;
use cauri::{Call, Caller, Engine, Error, Refused, TraceContext, wire};
use futures_util::{FutureExt, future::BoxFuture};
use http::{Request, Response};
use http_body::Body;
use http_body_util::Full;
use serde_json::Map;
use tower_service::Service;
use tracing::Instrument;

use crate::{
    ask::{Ask, unknown},
    auth, body,
    handler::Outcome,
    idempotency,
    log::{Log, MatchedRoute},
    openapi,
    problem::Failure,
    query,
    rate::{Limiter, Rate, RateLimit},
    respond::{Answer, respond},
    route::{Found, Handler, Route, Routes, Task, Verb, Waits},
    slots::{Outside, OutsideSlot, Slots},
    trace,
};

/// The HTTP API of an engine, as a `tower::Service`. Cheap to clone; all clones are one service
/// and share their rate limits.
///
/// It never fails and is always ready: whatever happens has a response.
#[derive(Clone)]
pub struct Api(Arc<Inner>);

struct Inner {
    engine: Engine,
    limiter: Option<Limiter>,
    slots: Slots,
    outside: Outside,
    prefix: String,
    routes: Routes,
    description: Bytes,
}

/// How many requests are worked on at once, unless told otherwise.
const AT_ONCE: u32 = 512;

/// Puts an [`Api`] together.
#[derive(Debug)]
#[must_use]
pub struct ApiBuilder {
    engine: Engine,
    rate_limit: Option<RateLimit>,
    at_once: u32,
    prefix: String,
}

impl ApiBuilder {
    /// How often each API key may call in this process; `None` for as often as it likes. The
    /// default is 6000 requests within 60 seconds.
    pub fn rate_limit(mut self, limit: Option<RateLimit>) -> Self {
        self.rate_limit = limit;
        self
    }

    /// How many requests are worked on at once; every other is answered 503 `service_unavailable`
    /// with a `Retry-After`, at once. The default is 512.
    ///
    /// It bounds what a burst costs: an answer takes about as long as the store needs for so many.
    /// A request whose body is still on its way is not worked on, and takes no place. What waits for a
    /// network or a name server (live cancellations, new addresses of webhooks) gets a quarter of the
    /// places, and one account as many of these as it leaves free.
    pub fn at_once(mut self, most: u32) -> Self {
        self.at_once = most;
        self
    }

    /// Where clients see the API, such as `/pay` for `/pay/v1/payments`: `Location` begins with
    /// it. Requests may arrive with it or, where a router took it off, without.
    pub fn prefix(mut self, prefix: impl Into<String>) -> Self {
        let prefix = prefix.into();
        let path = prefix.trim_matches('/');
        self.prefix = if path.is_empty() { String::new() } else { format!("/{path}") };
        self
    }

    /// The API.
    #[must_use]
    pub fn build(self) -> Api {
        let Self { engine, rate_limit, at_once, prefix } = self;
        let limiter = rate_limit.map(Limiter::new);
        let description = openapi::document(&prefix).to_string().into();
        let (slots, outside) = (Slots::new(at_once), Outside::of(at_once));
        let routes = Routes::new();
        Api(Arc::new(Inner { engine, limiter, slots, outside, prefix, routes, description }))
    }
}

impl Api {
    /// The API of an engine, as the contract has it.
    #[must_use]
    pub fn new(engine: Engine) -> Self {
        Self::builder(engine).build()
    }

    /// Begins an API that is otherwise.
    pub fn builder(engine: Engine) -> ApiBuilder {
        let rate_limit = Some(RateLimit::default());
        ApiBuilder { engine, rate_limit, at_once: AT_ONCE, prefix: String::new() }
    }

    /// The answer to a request that the server around has no room for: 503 `service_unavailable`.
    #[must_use]
    pub fn busy(&self) -> Response<Full<Bytes>> {
        let id = self.0.engine.request_id();
        respond(Err(Failure::Overloaded), id, None, &self.0.prefix)
    }

    /// What `GET /v1/openapi.json` answers: this API, described in OpenAPI 3.1, as JSON.
    #[must_use]
    pub fn description(&self) -> &[u8] {
        &self.0.description
    }

    /// The engine beneath.
    #[must_use]
    pub fn engine(&self) -> &Engine {
        &self.0.engine
    }
}

impl fmt::Debug for Api {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Api")
            .field("engine", &self.0.engine)
            .field("prefix", &self.0.prefix)
            .finish_non_exhaustive()
    }
}

impl<B> Service<Request<B>> for Api
where
    B: Body + Send + 'static,
    B::Data: Send,
{
    type Response = Response<Full<Bytes>>;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Self::Response, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let inner = Arc::clone(&self.0);
        async move { Ok(inner.respond(request).await) }.boxed()
    }
}

impl Inner {
    async fn respond<B: Body>(&self, request: Request<B>) -> Response<Full<Bytes>> {
        let id = self.engine.request_id();
        let found = self.routes.find(request.method(), self.path(&request));
        let route = match &found {
            Found::Route(route, _) => Some(route.path),
            Found::Methods { path, .. } => Some(*path),
            Found::Nothing => None,
        };
        let route = route.map(MatchedRoute::new);
        let log = Log::begin(id, request.method(), route);
        let trace = trace::read(request.headers());
        if let Some(trace) = &trace {
            log.is_part_of(trace, &self.engine);
        }
        let mut rate = None;
        let answer = self.answer(request, found, trace, &mut rate);
        let answer = AssertUnwindSafe(answer).catch_unwind();
        let outcome = answer.instrument(log.span.clone()).await;
        let mut response = log.span.in_scope(|| {
            respond(outcome.unwrap_or(Err(Failure::Panicked)), id, rate.as_ref(), &self.prefix)
        });
        log.end(&response);
        if let Some(route) = route {
            response.extensions_mut().insert(route);
        }
        response
    }

    /// The path within the API.
    fn path<'r, B>(&self, request: &'r Request<B>) -> &'r str {
        let path = request.uri().path();
        path.strip_prefix(&self.prefix).filter(|rest| rest.starts_with('/')).unwrap_or(path)
    }

    /// The checks, in the contract's order. What is said about the caller's rate goes out with
    /// whatever else is answered.
    async fn answer<B: Body>(
        &self,
        request: Request<B>,
        found: Found,
        trace: Option<TraceContext>,
        rate: &mut Option<Rate>,
    ) -> Outcome {
        let (route, id) = match found {
            Found::Route(route, id) => (route, id),
            Found::Methods { allow, .. } => return Err(Failure::NoMethod { allow }),
            Found::Nothing => return Err(Failure::NoRoute),
        };
        let handler = match route.task {
            Task::Describe => return self.describe(request.uri().query()),
            Task::Handle(handler) => handler,
        };
        let path = self.path(&request).to_owned();
        let (head, body) = request.into_parts();
        let mut body = pin!(body);
        let caller = {
            let _slot = self.slots.take().ok_or(Failure::Overloaded)?;
            auth::caller(&self.engine, &head.headers, &head.extensions).await?
        };
        *rate = self.limiter.as_ref().map(|limiter| limiter.check(&caller));
        let received = async {
            if let Some(retry_after_s) = rate.as_ref().and_then(|rate| rate.retry_after_s) {
                return Err(Failure::RateLimited { retry_after_s });
            }
            auth::permit(&caller, route)?;
            body::read(route.verb, &head.headers, body.as_mut()).await
        }
        .await;
        if received.is_err() {
            body::let_pass(&head.headers, body).await;
        }
        let received = received?;
        let _slot = self.slots.take().ok_or(Failure::Overloaded)?;
        let body = match route.verb {
            Verb::Post => wire::parse_object(&received).map_err(Failure::Json)?,
            Verb::Get | Verb::Delete => Map::new(),
        };
        let required = self.engine.options().idempotency_required;
        let key = idempotency::read(route, &path, &head.headers, &body, required)?;
        let _outside = self.waits_outside(route, &caller)?;
        let ask = Ask {
            engine: self.engine.clone(),
            call: Call::by(caller).idempotent(key).traced(trace),
            object: route.object.zip(id),
            pairs: query::decode(head.uri.query()),
            body,
        };
        settle(route, handler, &ask).await
    }

    /// A place for what waits for somebody outside.
    fn waits_outside(
        &self,
        route: &Route,
        caller: &Caller,
    ) -> Result<Option<OutsideSlot>, Failure> {
        let waits = match route.waits {
            Waits::Never => false,
            Waits::Live => caller.scope.environment.is_live(),
            Waits::Always => true,
        };
        let slot = waits.then(|| self.outside.take(caller.scope.account));
        slot.map(|slot| slot.ok_or(Failure::Overloaded)).transpose()
    }

    fn describe(&self, query: Option<&str>) -> Outcome {
        unknown(&query::decode(query)?)?;
        Ok(Answer::text(self.description.clone()))
    }
}

/// Hands a request to its handler. Handlers refuse what is wrong with the parameters first; here
/// it is put after what the contract looks at before.
async fn settle(route: &Route, handler: Handler, ask: &Ask) -> Outcome {
    let refused = match handler(ask).await {
        Err(Failure::Engine(Error::Refused(
            refused @ (Refused::Invalid(_) | Refused::NotFound(_)),
        ))) => refused,
        // Kept by another version, which answers in another form: that answer counts, to the letter.
        Err(Failure::Engine(error @ Error::Replay(_))) => {
            let replay = ask.engine.replayed(&ask.call).await?;
            return replay.map(Answer::replay).ok_or(error.into());
        }
        outcome => return outcome,
    };
    if let Some(replay) = ask.engine.replayed(&ask.call).await? {
        return Ok(Answer::replay(replay));
    }
    if let (Refused::Invalid(_), Some(noun)) = (&refused, route.object) {
        noun.find(ask).await?;
    }
    Err(refused.into())
}
