//! What is logged, to stderr.

use std::io::{self, IsTerminal};

use tracing_subscriber::{EnvFilter, fmt, layer::SubscriberExt as _, util::SubscriberInitExt as _};

use crate::options::{LogFormat, LogOptions};

/// Starts to log. Directives that are none are told and left out.
pub(crate) fn start(options: &LogOptions) {
    let filter = EnvFilter::builder().parse_lossy(&options.directives);
    let lines = fmt::layer().with_writer(io::stderr);
    let registry = tracing_subscriber::registry().with(filter);
    match options.format {
        LogFormat::Text => {
            registry.with(lines.with_ansi(io::stderr().is_terminal())).init();
        }
        LogFormat::Json => registry.with(lines.json()).init(),
    }
}
