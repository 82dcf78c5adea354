//! Which trace a command belongs to, as W3C Trace Context writes it.

use std::{fmt, sync::Arc};

/// How long a `tracestate` may be, in bytes: what everybody has to pass on at least.
const STATE_MAX: usize = 512;

/// How many members a `tracestate` may have.
const MEMBERS_MAX: usize = 32;

/// The place in a distributed trace from which a command came, so that what follows from it (a
/// network that is asked, a webhook that is sent) is seen as part of the same trace.
///
/// Read strictly from the headers `traceparent` and `tracestate` of
/// [W3C Trace Context](https://www.w3.org/TR/trace-context/), and written as version `00`. What is
/// malformed is no context: it comes from strangers, and a trace is never worth an error.
///
/// ```
/// use cauri_core::TraceContext;
/// let parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
/// let trace = TraceContext::read(parent, Some("vendor=value")).unwrap();
/// assert!(trace.is_sampled());
/// assert_eq!(trace.traceparent(), parent);
/// assert_eq!(trace.tracestate(), Some("vendor=value"));
/// assert_eq!(TraceContext::read("00-4BF92F3577B34DA6-…", None), None);
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct TraceContext {
    trace_id: u128,
    parent_id: u64,
    flags: u8,
    state: Option<Arc<str>>,
}

impl TraceContext {
    /// The flag that says that the caller records this trace.
    pub const SAMPLED: u8 = 0b01;

    /// The flags that have a meaning: sampled, and a random trace id. All others are sent as zero.
    const FLAGS: u8 = 0b11;

    /// A context of one's own making; `None` when an id is zero, which no trace and no span has.
    /// A `state` that is not well-formed is left out.
    ///
    /// ```
    /// use cauri_core::TraceContext;
    /// let trace = TraceContext::new(1, 2, TraceContext::SAMPLED, None).unwrap();
    /// assert_eq!(
    ///     trace.traceparent(),
    ///     "00-00000000000000000000000000000001-0000000000000002-01"
    /// );
    /// assert_eq!(TraceContext::new(0, 2, 0, None), None);
    /// ```
    #[must_use]
    pub fn new(trace_id: u128, parent_id: u64, flags: u8, state: Option<&str>) -> Option<Self> {
        if trace_id == 0 || parent_id == 0 {
            return None;
        }
        let state = state.filter(|it| is_state(it)).map(Arc::from);
        Some(Self { trace_id, parent_id, flags: flags & Self::FLAGS, state })
    }

    /// What two headers say; `None` when the first is not what the standard asks for. A later
    /// version is read as far as this one goes. A `tracestate` that is malformed or too long is left
    /// out.
    ///
    /// ```
    /// use cauri_core::TraceContext;
    /// let later = "01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-ff-more";
    /// let trace = TraceContext::read(later, None).unwrap();
    /// assert_eq!(
    ///     trace.traceparent(),
    ///     "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-03"
    /// );
    /// ```
    #[must_use]
    pub fn read(traceparent: &str, tracestate: Option<&str>) -> Option<Self> {
        let mut fields = traceparent.trim_matches([' ', '\t']).splitn(5, '-');
        let version = hex(fields.next()?, 2)?;
        let trace_id = hex(fields.next()?, 32)?;
        let parent_id = hex(fields.next()?, 16)?;
        let flags = hex(fields.next()?, 2)?;
        if version == 0xff || (version == 0 && fields.next().is_some()) {
            return None;
        }
        let (parent_id, flags) = (u64::try_from(parent_id).ok()?, u8::try_from(flags).ok()?);
        Self::new(trace_id, parent_id, flags, tracestate)
    }

    /// The id of the trace: 16 bytes as a number, never zero.
    ///
    /// ```
    /// use cauri_core::TraceContext;
    /// assert_eq!(TraceContext::new(7, 8, 0, None).map(|it| it.trace_id()), Some(7));
    /// ```
    #[must_use]
    pub const fn trace_id(&self) -> u128 {
        self.trace_id
    }

    /// The id of the span within it that whoever receives this is a child of; never zero.
    ///
    /// ```
    /// use cauri_core::TraceContext;
    /// assert_eq!(TraceContext::new(7, 8, 0, None).map(|it| it.parent_id()), Some(8));
    /// ```
    #[must_use]
    pub const fn parent_id(&self) -> u64 {
        self.parent_id
    }

    /// The flags, those without a meaning left out.
    ///
    /// ```
    /// use cauri_core::TraceContext;
    /// assert_eq!(TraceContext::new(7, 8, 0xff, None).map(|it| it.flags()), Some(3));
    /// ```
    #[must_use]
    pub const fn flags(&self) -> u8 {
        self.flags
    }

    /// Does the caller record this trace?
    ///
    /// ```
    /// use cauri_core::TraceContext;
    /// assert_eq!(TraceContext::new(7, 8, 0, None).map(|it| it.is_sampled()), Some(false));
    /// ```
    #[must_use]
    pub const fn is_sampled(&self) -> bool {
        self.flags & Self::SAMPLED != 0
    }

    /// The header `traceparent`.
    ///
    /// ```
    /// use cauri_core::TraceContext;
    /// let trace = TraceContext::new(1, 2, 0, None).unwrap();
    /// assert_eq!(TraceContext::read(&trace.traceparent(), None), Some(trace));
    /// ```
    #[must_use]
    pub fn traceparent(&self) -> String {
        let Self { trace_id, parent_id, flags, .. } = self;
        format!("00-{trace_id:032x}-{parent_id:016x}-{flags:02x}")
    }

    /// The header `tracestate`: what the tracing systems on the way have to tell each other.
    ///
    /// ```
    /// use cauri_core::TraceContext;
    /// let trace = TraceContext::new(1, 2, 0, Some("no members")).unwrap();
    /// assert_eq!(trace.tracestate(), None);
    /// ```
    #[must_use]
    pub fn tracestate(&self) -> Option<&str> {
        self.state.as_deref()
    }
}

impl fmt::Debug for TraceContext {
    /// Without the state: it is other people's, and may hold what they like.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TraceContext({})", self.traceparent())
    }
}

/// Exactly so many lower-case hexadecimal digits, as a number.
fn hex(text: &str, digits: usize) -> Option<u128> {
    let lower = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    (text.len() == digits && text.bytes().all(lower))
        .then(|| u128::from_str_radix(text, 16).ok())
        .flatten()
}

/// Is this a list of members, each key in it once?
fn is_state(state: &str) -> bool {
    if state.len() > STATE_MAX {
        return false;
    }
    let mut keys = Vec::new();
    for member in state.split(',').map(|member| member.trim_matches([' ', '\t'])) {
        // Members may be empty.
        if member.is_empty() {
            continue;
        }
        let Some((key, value)) = member.split_once('=') else { return false };
        if !is_key(key) || !is_value(value) || keys.contains(&key) {
            return false;
        }
        keys.push(key);
    }
    (1..=MEMBERS_MAX).contains(&keys.len())
}

/// A vendor's name, or a tenant's at a vendor: `name` or `tenant@name`.
fn is_key(key: &str) -> bool {
    let letter = |byte: u8| byte.is_ascii_lowercase();
    let digit = |byte: u8| byte.is_ascii_digit();
    let rest = |text: &str| {
        text.bytes().all(|byte| letter(byte) || digit(byte) || b"_-*/".contains(&byte))
    };
    let first = |text: &str, fit: &dyn Fn(u8) -> bool| text.bytes().next().is_some_and(fit);
    match key.split_once('@') {
        None => key.len() <= 256 && first(key, &letter) && rest(key),
        Some((tenant, system)) => {
            tenant.len() <= 241
                && first(tenant, &|byte| letter(byte) || digit(byte))
                && rest(tenant)
                && system.len() <= 14
                && first(system, &letter)
                && rest(system)
        }
    }
}

/// Printable, without comma and equals sign; blanks at its end were trimmed with the member's.
fn is_value(value: &str) -> bool {
    (1..=256).contains(&value.len())
        && value.bytes().all(|byte| (b' '..=b'~').contains(&byte) && !b",=".contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PARENT: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

    #[test]
    fn what_is_malformed_is_no_context() {
        for parent in [
            "",
            "-",
            "00",
            "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-1",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more",
            "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
            "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
            "00-4bf92f3577b34da6a3ce929d0e0e473-00f067aa0ba902b7-01",
            "00-+bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0g",
            "0-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            "00 4bf92f3577b34da6a3ce929d0e0e4736 00f067aa0ba902b7 01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01\r\nX: y",
            "00-4bf92f3577b34da6a3ce929d0e0e47é-00f067aa0ba902b7-01",
        ] {
            assert_eq!(TraceContext::read(parent, None), None, "{parent}");
        }
        assert!(TraceContext::read(PARENT, None).is_some());
    }

    #[test]
    fn a_later_version_is_read_as_far_as_it_is_known() {
        for parent in [PARENT.replacen("00", "01", 1), PARENT.replacen("00", "fe", 1) + "-x-y"] {
            let trace = TraceContext::read(&parent, None).expect("a context");
            assert_eq!(trace.traceparent(), PARENT);
        }
    }

    #[test]
    fn a_state_is_kept_only_when_it_is_well_formed() {
        let long = format!("k={}", "v".repeat(511));
        let many: Vec<String> = (0..33).map(|number| format!("k{number}=v")).collect();
        let state = |state: &str| {
            let trace = TraceContext::read(PARENT, Some(state)).expect("a context");
            trace.tracestate().map(str::to_owned)
        };
        for well in ["a=b", "a=b,c=d", "a=b, c=d", "1t@vendor=x y", "a=b,,c=d", "a_-*/1=~!"] {
            assert_eq!(state(well).as_deref(), Some(well));
        }
        for ill in [
            "",
            ",",
            "a",
            "=b",
            "a=",
            "A=b",
            "1a=b",
            "a=b,a=c",
            "a=b=c",
            "a=\u{7f}",
            "a=é",
            "a=b\r\nX: y",
            "t@1v=b",
            "@v=b",
            "t@=b",
            &long,
            &many.join(","),
        ] {
            assert_eq!(state(ill), None, "{ill}");
        }
    }

    #[test]
    fn what_is_shown_for_debugging_holds_no_state() {
        let trace = TraceContext::read(PARENT, Some("vendor=private"));
        assert_eq!(format!("{trace:?}"), format!("Some(TraceContext({PARENT}))"));
    }
}
