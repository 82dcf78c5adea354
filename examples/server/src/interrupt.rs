//! Being told to end.

use std::io;

use tokio::signal::unix::{Signal, SignalKind, signal};

/// SIGTERM or Ctrl-C, for what goes on until then.
#[derive(Debug)]
pub(crate) struct Interrupt {
    terminated: Signal,
    interrupted: Signal,
}

impl Interrupt {
    pub(crate) fn new() -> io::Result<Self> {
        let terminated = signal(SignalKind::terminate())?;
        Ok(Self { terminated, interrupted: signal(SignalKind::interrupt())? })
    }

    /// Waits for it.
    pub(crate) async fn came(&mut self) {
        tokio::select! {
            _ = self.terminated.recv() => {}
            _ = self.interrupted.recv() => {}
        }
    }
}
