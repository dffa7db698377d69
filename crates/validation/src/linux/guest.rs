//! A case in Linux: the kernel as a program, with the driver inside of it.

use std::fs::{self, File};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::answer::FullAnswer;
use super::case::{folder, hash};

/// Files that decide what an answer is.
const DRIVER: [&str; 4] = ["driver.py", "network.py", "trace.py", "init.sh"];
/// A case takes seconds: what takes so long is stuck.
const LONGEST: Duration = Duration::from_secs(600);

/// A kernel that can be run.
#[derive(Clone, Debug)]
pub struct Guest {
    kernel: PathBuf,
    python: PathBuf,
    /// Where cases and answers are kept.
    folder: PathBuf,
    /// Hash of the kernel and the driver.
    of: String,
}

/// The hash of the driver.
///
/// # Errors
/// If it cannot be read.
pub fn driver_hash() -> Result<String, String> {
    let mut all = Vec::new();
    for name in DRIVER {
        all.extend(read(&folder().join(name))?);
    }
    Ok(hash(&all))
}

fn read(path: &Path) -> Result<Vec<u8>, String> {
    fs::read(path).map_err(|e| format!("cannot read {}: {e}", path.display()))
}

impl Guest {
    /// A guest with this kernel that keeps its answers in a folder.
    ///
    /// # Errors
    /// If the kernel or Python is missing.
    pub fn new(kernel: &Path, answers: &Path) -> Result<Guest, String> {
        let of = hash(format!("{} {}", hash(&read(kernel)?), driver_hash()?).as_bytes());
        let absolute = |path: &Path| fs::canonicalize(path).map_err(|e| format!("cannot find {}: {e}", path.display()));
        fs::create_dir_all(answers).map_err(|e| format!("cannot make {}: {e}", answers.display()))?;
        Ok(Guest { kernel: absolute(kernel)?, python: python()?, folder: absolute(answers)?, of })
    }

    /// The answer to a plan: the one that is there for the same plan, driver and kernel, or a new one.
    ///
    /// # Errors
    /// If the kernel cannot be run, or ends without an answer.
    pub fn answer(&self, name: &str, plan: &str) -> Result<FullAnswer, String> {
        let of = format!("{} {}", self.of, hash(plan.as_bytes()));
        let case = self.folder.join(name.replace([' ', '/'], "_"));
        let (stamp, answer) = (case.join("of"), case.join("answer.json"));
        if fs::read_to_string(&stamp).is_ok_and(|stored| stored == of)
            && let Ok(found) = parse(&answer)
        {
            return Ok(found);
        }
        let fails = |what: &str, e: std::io::Error| format!("{what} {}: {e}", case.display());
        fs::create_dir_all(&case).map_err(|e| fails("cannot make", e))?;
        let _ = fs::remove_file(&answer);
        let _ = fs::remove_file(&stamp);
        fs::write(case.join("plan.json"), plan).map_err(|e| fails("cannot write a plan to", e))?;
        self.boot(&case)?;
        let found = parse(&answer).map_err(|e| {
            let log = fs::read_to_string(case.join("log")).unwrap_or_default();
            let tail: Vec<&str> = log.lines().rev().take(20).collect();
            let tail: Vec<&str> = tail.into_iter().rev().collect();
            format!(
                "{name}: Linux gave no answer ({e}); the end of {}:\n{}",
                case.join("log").display(),
                tail.join("\n")
            )
        })?;
        fs::write(&stamp, of).map_err(|e| fails("cannot write to", e))?;
        Ok(found)
    }

    fn boot(&self, case: &Path) -> Result<(), String> {
        let shown = self.kernel.display();
        let log = File::create(case.join("log")).map_err(|e| format!("cannot write a log: {e}"))?;
        let errors = log.try_clone().map_err(|e| format!("cannot write a log: {e}"))?;
        let mut command = Command::new(&self.kernel);
        command.args(["mem=1G", "root=/dev/root", "rootfstype=hostfs", "rootflags=/", "rw", "time-travel=inf-cpu"]);
        command.args(["con=null", "con0=fd:0,fd:1", "quiet"]);
        let folder = folder();
        command.arg(format!("init={}", folder.join("init.sh").display()));
        command.arg(format!("PYTHON={}", self.python.display()));
        command.arg(format!("DRIVER={}", folder.display()));
        command.arg(format!("CASE={}", case.display()));
        // The kernel keeps its memory in a file there.
        command.env_clear().env("TMPDIR", "/dev/shm").env("HOME", "/tmp").env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin");
        command.stdin(Stdio::null()).stdout(log).stderr(errors).process_group(0);
        let mut child = command.spawn().map_err(|e| format!("cannot run {shown}: {e}"))?;
        let began = Instant::now();
        loop {
            match child.try_wait() {
                Ok(Some(_)) => return Ok(()),
                Ok(None) if began.elapsed() < LONGEST => std::thread::sleep(Duration::from_millis(20)),
                Ok(None) | Err(_) => {
                    // Processes of the guest are processes of the machine, in the same group.
                    let _ = Command::new("kill").args(["-KILL", "--", &format!("-{}", child.id())]).status();
                    let _ = child.wait();
                    return Err(format!("{shown} was stopped after {} s", LONGEST.as_secs()));
                }
            }
        }
    }
}

fn parse(path: &Path) -> Result<FullAnswer, String> {
    serde_json::from_slice(&read(path)?).map_err(|e| format!("{}: {e}", path.display()))
}

/// Python as a program of the machine: the guest has its files.
fn python() -> Result<PathBuf, String> {
    let known = [Path::new("/usr/bin/python3"), Path::new("/usr/local/bin/python3")];
    if let Some(path) = known.into_iter().find(|path| path.exists()) {
        return Ok(path.to_owned());
    }
    let print = ["-c", "import sys; print(sys.executable)"];
    let output = Command::new("python3").args(print).output().ok().filter(|output| output.status.success());
    let output = output.ok_or("the driver is in Python: expected `python3`, 3.8 or later")?;
    Ok(PathBuf::from(String::from_utf8_lossy(&output.stdout).trim()))
}
