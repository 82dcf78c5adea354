//! What is logged, to stderr; and what is traced, to a collector.

use std::io::{self, IsTerminal};

use tracing_subscriber::{
    EnvFilter,
    fmt::{self, format::FmtSpan},
    layer::SubscriberExt as _,
    util::SubscriberInitExt as _,
};

use crate::{
    error::Failure,
    options::{LogFormat, LogOptions},
};

/// What was started, until it ends.
#[derive(Debug)]
pub(crate) struct Telling {
    #[cfg(feature = "otlp")]
    export: Option<crate::telemetry::Export>,
}

impl Telling {
    /// Starts to log. Directives that are none are told and left out.
    #[cfg_attr(
        not(feature = "otlp"),
        expect(clippy::unnecessary_wraps, reason = "with it, it may")
    )]
    pub(crate) fn start(options: &LogOptions) -> Result<Self, Failure> {
        let filter = EnvFilter::builder().parse_lossy(&options.directives);
        let registry = tracing_subscriber::registry().with(filter);
        #[cfg(feature = "otlp")]
        let export = options.otlp.as_deref().map(crate::telemetry::Export::to).transpose()?;
        #[cfg(feature = "otlp")]
        let registry = registry.with(export.as_ref().map(crate::telemetry::Export::layer));
        let spans = if options.spans { FmtSpan::CLOSE } else { FmtSpan::NONE };
        let lines = fmt::layer().with_writer(io::stderr).with_span_events(spans);
        match options.format {
            LogFormat::Text => {
                registry.with(lines.with_ansi(io::stderr().is_terminal())).init();
            }
            LogFormat::Json => registry.with(lines.json()).init(),
        }
        Ok(Self {
            #[cfg(feature = "otlp")]
            export,
        })
    }

    /// Sends what is left to a collector.
    pub(crate) async fn end(self) {
        #[cfg(feature = "otlp")]
        if let Some(export) = self.export {
            export.end().await;
        }
    }
}
