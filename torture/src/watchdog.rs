//! Nothing is left behind, whatever becomes of us.

use std::process::{Child, Command, Stdio};

/// Does something when this process ends in any way, even by a signal: a pipe then closes.
#[derive(Debug)]
pub(crate) struct Watchdog(Child);

impl Watchdog {
    pub(crate) fn over(script: &str) -> Result<Self, String> {
        let shell = Command::new("sh")
            .args(["-c", &format!("trap '' INT TERM; read _; {script}")])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        Ok(Self(shell.map_err(|error| format!("sh: {error}"))?))
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
