//! Spans to a collector of OpenTelemetry, over OTLP, for builds with the feature `otlp`.

use std::{env, sync::Arc, time::Duration};

use async_trait::async_trait;
use cauri::{TraceContext, Tracer};
use opentelemetry::{
    Context,
    trace::{
        SpanContext, SpanId, TraceContextExt as _, TraceFlags, TraceId, TraceState,
        TracerProvider as _,
    },
};
use opentelemetry_http::{Bytes, HttpClient, HttpError, Request, Response, hyper::HyperClient};
use opentelemetry_otlp::{SpanExporter, WithExportConfig as _, WithHttpConfig as _};
use opentelemetry_sdk::{
    Resource,
    trace::{SdkTracer, SdkTracerProvider},
};
use tokio::{runtime::Handle, task::spawn_blocking};
use tracing::{Span, Subscriber};
use tracing_opentelemetry::{OpenTelemetryLayer, OpenTelemetrySpanExt as _};
use tracing_subscriber::registry::LookupSpan;

use crate::error::Failure;

/// How long a collector may take for what it is sent.
const PATIENCE: Duration = Duration::from_secs(10);

/// What goes to a collector until this ends.
#[derive(Debug, Clone)]
pub(crate) struct Export(SdkTracerProvider);

impl Export {
    /// To a collector that takes OTLP over HTTP at `endpoint`, such as `http://localhost:4318`.
    pub(crate) fn to(endpoint: &str) -> Result<Self, Failure> {
        let client = HyperClient::with_default_connector(PATIENCE, None);
        let exporter = SpanExporter::builder()
            .with_http()
            .with_http_client(OnRuntime { client: Arc::new(client), runtime: Handle::current() })
            .with_endpoint(format!("{}/v1/traces", endpoint.trim_end_matches('/')))
            .with_timeout(PATIENCE)
            .build()?;
        let mut resource = Resource::builder();
        if env::var_os("OTEL_SERVICE_NAME").is_none() {
            resource = resource.with_service_name("cauri");
        }
        let provider = SdkTracerProvider::builder()
            .with_batch_exporter(exporter)
            .with_resource(resource.build())
            .build();
        Ok(Self(provider))
    }

    /// What records spans for it.
    pub(crate) fn layer<S>(&self) -> OpenTelemetryLayer<S, SdkTracer>
    where
        S: Subscriber + for<'a> LookupSpan<'a>,
    {
        tracing_opentelemetry::layer().with_tracer(self.0.tracer("cauri"))
    }

    /// Sends what is left.
    pub(crate) async fn end(self) {
        // It waits for the collector, on a thread that nobody else needs.
        match spawn_blocking(move || self.0.shutdown()).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::warn!(%error, "the last spans were not sent"),
            Err(error) => tracing::error!(%error, "the last spans were not sent"),
        }
    }
}

/// The exporter has a thread of its own, without a runtime; its requests go out on ours.
#[derive(Debug)]
struct OnRuntime {
    client: Arc<HyperClient>,
    runtime: Handle,
}

#[async_trait]
impl HttpClient for OnRuntime {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let client = Arc::clone(&self.client);
        self.runtime.spawn(async move { client.send_bytes(request).await }).await?
    }
}

/// Between the spans that are recorded and the traces of others.
#[derive(Debug)]
pub(crate) struct Recorded;

impl Tracer for Recorded {
    fn adopt(&self, span: &Span, parent: &TraceContext) {
        let state = parent.tracestate().and_then(|state| state.parse::<TraceState>().ok());
        let parent = SpanContext::new(
            TraceId::from_bytes(parent.trace_id().to_be_bytes()),
            SpanId::from_bytes(parent.parent_id().to_be_bytes()),
            TraceFlags::new(parent.flags()),
            true,
            state.unwrap_or_default(),
        );
        // Refused where nobody records the span, and then there is nothing to tie.
        let _ = span.set_parent(Context::new().with_remote_span_context(parent));
    }

    fn context(&self, span: &Span) -> Option<TraceContext> {
        let context = span.context();
        let span = context.span();
        let own = span.span_context();
        let state = own.trace_state().header();
        TraceContext::new(
            u128::from_be_bytes(own.trace_id().to_bytes()),
            u64::from_be_bytes(own.span_id().to_bytes()),
            own.trace_flags().to_u8(),
            Some(&state),
        )
    }
}
