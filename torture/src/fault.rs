//! What goes wrong.

use std::thread::sleep;
use std::time::Duration;

use crate::dice::Dice;
use crate::site::Site;

/// Longer than any lease of the worker's, which is 20 s.
const LAPSE: Duration = Duration::from_secs(23);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// `kill -9` of one server.
    Kill,
    /// `kill -9` of every server at once.
    KillAll,
    /// SIGSTOP of one server, until what it held has long been taken over.
    Pause,
    /// Not a byte left on the disk.
    FullDisk,
    /// Postgres ends without writing anything down, and recovers.
    Crash,
    /// Every connection to Postgres ends, three times.
    Cut,
}

impl Fault {
    pub(crate) const SQLITE: [Self; 3] = [Self::Kill, Self::FullDisk, Self::Pause];
    pub(crate) const POSTGRES: [Self; 5] =
        [Self::Crash, Self::Kill, Self::Cut, Self::KillAll, Self::Pause];

    /// How long a caller pauses at most: a long fault shall not mean many more objects.
    pub(crate) fn pause(self) -> Duration {
        Duration::from_millis(match self {
            Self::Pause => 400,
            // What is full must be asked to take more.
            Self::FullDisk => 20,
            Self::Kill | Self::KillAll | Self::Crash | Self::Cut => 100,
        })
    }

    /// Does it, and undoes it; what it was exactly.
    pub(crate) fn strike(self, site: &mut Site, dice: &mut Dice) -> Result<String, String> {
        let short = |dice: &mut Dice| Duration::from_millis(300 + dice.below(2_200));
        let victim = dice.place(site.servers.len());
        Ok(match self {
            Self::Kill => {
                site.servers[victim].kill()?;
                let down = short(dice);
                sleep(down);
                site.restart(victim)?;
                format!("kill -9 of server {victim}, {} ms down", down.as_millis())
            }
            Self::KillAll => {
                for server in &mut site.servers {
                    server.kill()?;
                }
                for number in 0..site.servers.len() {
                    site.restart(number)?;
                }
                "kill -9 of every server".to_owned()
            }
            Self::Pause => {
                site.servers[victim].pause()?;
                sleep(LAPSE);
                site.servers[victim].resume()?;
                format!("SIGSTOP of server {victim} for {} s", LAPSE.as_secs())
            }
            Self::FullDisk => {
                let disk = site.disk.as_ref().ok_or("no small disk")?;
                disk.fill()?;
                // What the store has already of the disk, it can use up first.
                let full = Duration::from_secs(4) + short(dice);
                sleep(full);
                disk.make_room()?;
                format!("full disk for {} ms", full.as_millis())
            }
            Self::Crash => {
                let postgres = site.postgres.as_ref().ok_or("no Postgres")?;
                postgres.crash()?;
                let down = short(dice);
                sleep(down);
                postgres.start()?;
                format!("Postgres stopped at once, {} ms down", down.as_millis())
            }
            Self::Cut => {
                let postgres = site.postgres.as_ref().ok_or("no Postgres")?;
                let mut count = 0;
                for _ in 0..3 {
                    count += postgres.cut()?;
                    sleep(Duration::from_millis(dice.below(500)));
                }
                format!("{count} connections to Postgres cut")
            }
        })
    }
}
