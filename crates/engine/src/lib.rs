//! The payment core that platforms embed: ports, use cases, worker.
