//! What a point that is under way tells whoever looks on: how far it is, in a small file in its folder.
//!
//! The file is no result: nothing waits for it, it is gone when the point ends, and the next run removes what a killed
//! one has left.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Seek, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant as WallClock, SystemTime};

use serde::{Deserialize, Serialize};
use tailcut_base::Instant;
use tailcut_record::read_regular;
use tailcut_results::{Point, RunInfo};

use crate::verify::{planned, saved_plan};

/// A hidden name: the file is removed with the temporary ones that a killed run leaves.
pub(crate) const NAME: &str = ".under-way.tmp";
/// Time between two words of a point.
const PERIOD: Duration = Duration::from_millis(500);
/// Whoever has said nothing for so long does not live any more.
const SILENT: Duration = Duration::from_secs(60);

/// How far a point is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UnderWay {
    /// Which part of it is done, from 0 to 1.
    pub fraction: f64,
    /// What time it is in the simulation, in ns.
    pub simulated_ns: f64,
    /// For how many seconds it has run.
    pub elapsed_s: f64,
}

impl UnderWay {
    /// How far the point in `folder` is; `None` if it is not under way.
    pub fn of(folder: &Path) -> Option<UnderWay> {
        let path = folder.join(NAME);
        let written = std::fs::metadata(&path).and_then(|file| file.modified()).ok()?;
        let age = SystemTime::now().duration_since(written).unwrap_or_default();
        let told: UnderWay = serde_json::from_str(&read_regular(&path).ok()?).ok()?;
        (age < SILENT).then_some(UnderWay { elapsed_s: told.elapsed_s + age.as_secs_f64(), ..told })
    }

    /// How many seconds it still takes if it goes on as fast; `None` while that is not known.
    pub fn left_s(&self) -> Option<f64> {
        (self.fraction > 0.0).then(|| self.elapsed_s * (1.0 - self.fraction) / self.fraction)
    }
}

/// How many packets over links each point of the run `info` in `folder` is expected to have, by key: none if the
/// scenario that its folder has saved cannot be read any more.
pub fn expected_hops(folder: &Path, info: &RunInfo) -> BTreeMap<String, f64> {
    let Ok(plan) = saved_plan(folder, info) else { return BTreeMap::new() };
    let hops = |point: &Point| Some((point.key.clone(), planned(&plan, point).ok()?.size.packet_hops));
    info.points.iter().filter_map(hops).collect()
}

/// Tells how far a point is for as long as it lives.
pub(crate) struct Teller {
    path: PathBuf,
    /// None if it cannot be made: nobody is told then.
    file: Option<File>,
    began: WallClock,
    told: Cell<Option<WallClock>>,
}

impl Teller {
    /// For the point in `folder`, which has just begun.
    pub(crate) fn new(folder: &Path) -> Teller {
        let path = folder.join(NAME);
        // What a killed run has left goes first; a symbolic link too, and nothing is written through one.
        let _ = std::fs::remove_file(&path);
        let file = File::options().write(true).create_new(true).open(&path).ok();
        let teller = Teller { path, file, began: WallClock::now(), told: Cell::new(None) };
        teller.tell(0.0, Instant::ZERO);
        teller
    }

    /// The point is done to this fraction; told now and then.
    pub(crate) fn tell(&self, fraction: f64, now: Instant) {
        if self.told.get().is_some_and(|told| told.elapsed() < PERIOD) {
            return;
        }
        self.told.set(Some(WallClock::now()));
        let elapsed_s = self.began.elapsed().as_secs_f64();
        let told = UnderWay { fraction, simulated_ns: now.as_ps() as f64 / 1e3, elapsed_s };
        let text = serde_json::to_string(&told).expect("numbers are JSON");
        // Nobody depends on it, and a file that is read while it is written is read again soon.
        if let Some(mut file) = self.file.as_ref() {
            let _ = file
                .rewind()
                .and_then(|()| file.write_all(text.as_bytes()))
                .and_then(|()| file.set_len(text.len() as u64));
        }
    }
}

impl Drop for Teller {
    fn drop(&mut self) {
        if self.file.is_some() {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

#[cfg(test)]
mod tests {
    use tailcut_base::Span;

    use super::*;

    #[test]
    fn a_point_tells_how_far_it_is_until_it_ends() {
        let folder = tempfile::tempdir().unwrap();
        let teller = Teller::new(folder.path());
        assert_eq!(UnderWay::of(folder.path()).unwrap().left_s(), None);
        teller.told.set(None);
        teller.tell(0.25, Instant::ZERO + Span::from_ms(3));
        let told = UnderWay::of(folder.path()).unwrap();
        assert_eq!((told.fraction, told.simulated_ns), (0.25, 3e6));
        assert!((told.left_s().unwrap() - 3.0 * told.elapsed_s).abs() < 1e-9);
        drop(teller);
        assert_eq!((UnderWay::of(folder.path()), std::fs::read_dir(folder.path()).unwrap().count()), (None, 0));
    }

    #[cfg(unix)]
    #[test]
    fn nothing_is_written_through_a_symbolic_link() {
        let folder = tempfile::tempdir().unwrap();
        let other = folder.path().join("other");
        std::fs::write(&other, "kept").unwrap();
        std::os::unix::fs::symlink(&other, folder.path().join(NAME)).unwrap();
        drop(Teller::new(folder.path()));
        assert_eq!(std::fs::read_to_string(&other).unwrap(), "kept");
        assert!(!folder.path().join(NAME).exists());
    }
}
