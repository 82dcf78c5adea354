//! What is logged, to stderr; and what is traced, to a collector.

use std::{
    io::{self, IsTerminal},
    str::FromStr,
};

use tracing_subscriber::{
    EnvFilter,
    filter::{LevelFilter, ParseError},
    fmt::{self, format::FmtSpan},
    layer::SubscriberExt as _,
    util::SubscriberInitExt as _,
};

use crate::{
    error::Failure,
    options::{LogFormat, LogOptions},
};

/// What is logged: directives that are some.
#[derive(Debug, Clone)]
pub(crate) struct Directives(String);

/// It says nothing of what is logged.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NoDirectives {
    #[error(
        "{0} is no level: off, error, warn, info, debug and trace are, alone or for a part of the \
         program as in cauri=debug"
    )]
    Level(String),
    #[error(transparent)]
    Other(#[from] ParseError),
}

impl FromStr for Directives {
    type Err = NoDirectives;

    fn from_str(text: &str) -> Result<Self, NoDirectives> {
        // A word alone would be the name of a part of the program, and a level that is mistyped
        // would silence everything else.
        let mut words = text.split(',').filter(|word| !word.is_empty());
        let is_bare = |word: &&str| !word.contains(['=', '[']);
        match words.find(|word| is_bare(word) && word.parse::<LevelFilter>().is_err()) {
            Some(word) => Err(NoDirectives::Level(word.to_owned())),
            None => {
                EnvFilter::builder().parse(text)?;
                Ok(Self(text.to_owned()))
            }
        }
    }
}

/// What was started, until it ends.
#[derive(Debug)]
pub(crate) struct Telling {
    #[cfg(feature = "otlp")]
    export: Option<crate::telemetry::Export>,
}

impl Telling {
    /// Starts to log.
    pub(crate) fn start(options: &LogOptions) -> Result<Self, Failure> {
        let filter = EnvFilter::builder().parse(&options.directives.0)?;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_that_is_none_is_refused() {
        for good in ["info", "OFF", "warn,cauri=debug", "cauri::worker=trace,", "[call]=debug", ""]
        {
            assert!(good.parse::<Directives>().is_ok(), "{good}");
        }
        for wrong in ["inof", "nonsense level", "info,cauri", "cauri=inof", "cauri=debug=info"] {
            assert!(wrong.parse::<Directives>().is_err(), "{wrong}");
        }
    }
}
