//! Between the spans of this process and the traces of others.

use std::fmt::Debug;

use cauri_core::TraceContext;
use tracing::Span;

/// Ties the `tracing` spans of this process to distributed traces: the glue to whatever records
/// them, such as `tracing-opentelemetry`.
///
/// Without a tracer nothing is lost on the way: what came with a command is passed on to networks
/// and receivers as it came, which is what the standard asks of those who take no part in a trace.
/// With one, what is passed on names the span of the call itself.
///
/// # Laws
/// 1. **Never in the way.** Both return at once, and neither panics: they are called for every
///    command and every call to the outside.
/// 2. **Unknown spans are none.** A span that nobody records (it is disabled, or of another
///    subscriber) is left as it is, and has no context.
#[cfg_attr(any(test, feature = "mock"), mockall::automock)]
pub trait Tracer: Debug + Send + Sync + 'static {
    /// Makes a span the child of one elsewhere. It was just made, and was not entered yet.
    fn adopt(&self, span: &Span, parent: &TraceContext);

    /// What whoever is called from within a span is told; `None` when nobody records it.
    fn context(&self, span: &Span) -> Option<TraceContext>;
}
