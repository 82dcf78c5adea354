//! A disk so small that it can be filled.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

use crate::watchdog::Watchdog;

/// Room for the log, which SQLite's store lets grow to 64 MiB, and for a round's records: it shall
/// be full when it is filled, and not before or after.
const SIZE: &str = "size=160m,mode=700";

/// A file system of its own in memory, which root may mount.
#[derive(Debug)]
pub(crate) struct SmallDisk {
    directory: TempDir,
    _watchdog: Watchdog,
}

impl SmallDisk {
    pub(crate) fn mount() -> Result<Self, String> {
        let directory = TempDir::with_prefix("cauri-torture-").map_err(|e| e.to_string())?;
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", SIZE, "cauri-torture"]).arg(directory.path());
        let done = mount.stdin(Stdio::null()).stderr(Stdio::null()).status();
        if !done.is_ok_and(|status| status.success()) {
            return Err("a small tmpfs cannot be mounted here, which takes root".to_owned());
        }
        let path = directory.path().display();
        let watchdog = Watchdog::over(&format!("umount -l '{path}' && rmdir '{path}'"))?;
        Ok(Self { directory, _watchdog: watchdog })
    }

    pub(crate) fn path(&self) -> &Path {
        self.directory.path()
    }

    /// Leaves not a byte free, until it is made room again.
    pub(crate) fn fill(&self) -> Result<(), String> {
        let mut file = File::create(self.ballast()).map_err(|error| error.to_string())?;
        let block = [1_u8; 4096];
        loop {
            match file.write_all(&block) {
                Ok(()) => {}
                Err(error) if error.kind() == io::ErrorKind::StorageFull => return Ok(()),
                Err(error) => return Err(error.to_string()),
            }
        }
    }

    pub(crate) fn make_room(&self) -> Result<(), String> {
        fs::remove_file(self.ballast()).map_err(|error| error.to_string())
    }

    fn ballast(&self) -> PathBuf {
        self.path().join("ballast")
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.path()).status();
    }
}
