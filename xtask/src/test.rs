//! `cargo xtask test`: every check, until one fails.

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread::ScopedJoinHandle;
use std::time::{Duration, Instant};

use crate::shell::{Call, Done, Stop, cargo, target_folder};
use crate::{deny, files, fuzz, python, random, tidy};

/// The profile of the tests' own build: its dependencies are there when the tests have been built, and it is optimised
/// enough to simulate. Lints and documentation use it too, so that procedural macros are compiled once.
const PROFILE: &str = "test";

type Step<'a> = (&'a str, Box<dyn Fn() -> Done + 'a>);

/// The step that is run beside those before it, and the arguments to this program that run it. It builds into a folder
/// of its own, so that it waits for nothing: compilers and tests leave a core idle now and then. It is over before the
/// tests of pages in a browser begin, which must not wait for long.
const BESIDE: (&str, &[&str]) = ("instructions: cargo xtask instructions", &["instructions", "--if-possible"]);

pub(crate) fn all(root: &Path, with_python: bool) -> Done {
    tools(root)?;
    if with_python {
        // Asked first: nobody wants to hear after ten minutes that there is no Python.
        python::find(root)?;
    }
    let seed = random::seed(root)?.to_string();
    println!("random tests draw from {}={seed}, which repeats them", random::SEED);
    let unchecked = RefCell::new(Vec::new());
    let given_up = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let counted = awaited(scope.spawn(|| beside(root, &given_up)));
        let prepared = awaited(scope.spawn(|| if with_python { python::prepare(root) } else { Ok(()) }));
        let (counted, prepared) = (|| counted().map_or(Ok(()), said), || prepared().unwrap_or(Ok(())));
        let mut steps = steps(root, &seed, &unchecked);
        steps.push((BESIDE.0, Box::new(counted)));
        if with_python {
            steps.extend(steps_of_python(root, &seed, &prepared));
        }
        let done = in_order(&steps);
        unchecked.borrow().iter().for_each(|what| println!("UNCHECKED: {what}"));
        given_up.store(true, Ordering::Relaxed);
        done
    })
}

/// What gives the result of a thread when it has ended, once.
fn awaited<'scope, T: 'scope>(thread: ScopedJoinHandle<'scope, T>) -> impl Fn() -> Option<T> + 'scope {
    let thread = Mutex::new(Some(thread));
    move || {
        let thread = thread.lock().unwrap_or_else(PoisonError::into_inner).take()?;
        Some(thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    }
}

/// How the step beside the others ended, what it took in seconds, and the file with what it printed.
type Said = (Done, f64, PathBuf);

/// Runs the step beside the others, until it ends or nobody waits any more.
fn beside(root: &Path, given_up: &AtomicBool) -> Said {
    let began = Instant::now();
    let log = target_folder().map(|folder| folder.join("xtask-instructions.log")).unwrap_or_default();
    let run = || -> Done {
        let program = std::env::current_exe().map_err(|e| Stop::Unusable(format!("where am I? {e}")))?;
        let mut started = Call::new(root, program, BESIDE.1).start(&log)?;
        loop {
            if let Some(done) = started.ended() {
                return done;
            }
            if given_up.load(Ordering::Relaxed) {
                started.kill();
                return Err(Stop::Told);
            }
            std::thread::sleep(Duration::from_millis(100));
        }
    };
    (run(), began.elapsed().as_secs_f64(), log)
}

/// Prints what the step beside the others has printed.
fn said((done, seconds, log): Said) -> Done {
    print!("{}", std::fs::read_to_string(log).unwrap_or_default());
    println!("{seconds:.1} s beside the steps before");
    done
}

/// The steps of Rust that are run in their turn. Random tests draw from `seed`; what could not be checked is added to
/// `unchecked`.
fn steps<'a>(root: &'a Path, seed: &'a str, unchecked: &'a RefCell<Vec<&'static str>>) -> Vec<Step<'a>> {
    vec![
        ("format: rustfmt --check", Box::new(|| format(root))),
        ("tidy: cargo xtask tidy", Box::new(|| tidy::run(root))),
        (
            "dependencies: cargo deny",
            Box::new(|| {
                unchecked.borrow_mut().extend(deny::check(root)?);
                Ok(())
            }),
        ),
        ("targets of fuzzing: their lock file", Box::new(|| fuzz::check(root))),
        (
            "lints: cargo clippy",
            Box::new(|| {
                let arguments = ["clippy", "--locked", "--workspace", "--all-targets", "--profile", PROFILE];
                cargo(root, &arguments).args(["--", "-D", "warnings"]).run()
            }),
        ),
        (
            "documentation: cargo doc",
            Box::new(|| {
                let arguments = ["doc", "--locked", "--workspace", "--no-deps", "--profile", PROFILE];
                cargo(root, &arguments).env("RUSTDOCFLAGS", "-D warnings").run()
            }),
        ),
        // One run names all that fail.
        (
            "Rust tests: cargo test",
            Box::new(move || {
                cargo(root, &["test", "--locked", "--workspace", "--no-fail-fast"]).env(random::SEED, seed).run()
            }),
        ),
    ]
}

/// The steps of Python; `environment` waits until its environment is made.
fn steps_of_python<'a>(root: &'a Path, seed: &'a str, environment: &'a dyn Fn() -> Done) -> Vec<Step<'a>> {
    vec![
        ("the command and the Python module: cargo build", Box::new(|| build(root).run())),
        ("Python: environment", Box::new(environment)),
        (
            "Python tests: pytest",
            Box::new(|| python::test(root, &target_folder()?.join("debug").join(name("tailcut")), seed)),
        ),
    ]
}

/// `cargo build --profile test` shares everything with `cargo test`, if it is asked for the same packages. The native
/// module of the Python package is a library.
fn build(root: &Path) -> Call {
    cargo(root, &["build", "--locked", "--workspace", "--bins", "--lib", "--profile", PROFILE])
}

fn name(program: &str) -> String {
    format!("{program}{}", std::env::consts::EXE_SUFFIX)
}

/// Runs the steps, says what each took, and stops at the first that fails.
fn in_order(steps: &[Step<'_>]) -> Done {
    let began = Instant::now();
    let mut times = Vec::new();
    for (at, (name, step)) in steps.iter().enumerate() {
        println!("\n== {}/{} {name}", at + 1, steps.len());
        let step_began = Instant::now();
        let result = step();
        let seconds = step_began.elapsed().as_secs_f64();
        if let Err(stop) = result {
            let place = |message| format!("step {}/{}, {name}, after {seconds:.1} s: {message}", at + 1, steps.len());
            return Err(match stop {
                Stop::Failed(message) => Stop::Failed(place(message)),
                Stop::Unusable(message) => Stop::Unusable(place(message)),
                Stop::Told => Stop::Unusable(place("see above".to_owned())),
            });
        }
        println!("== {name}: {seconds:.1} s");
        times.push((name, seconds));
    }
    println!();
    for (name, seconds) in times {
        println!("{seconds:>7.1} s  {name}");
    }
    println!("{:>7.1} s  all checks passed", began.elapsed().as_secs_f64());
    Ok(())
}

/// Components of the toolchain that a minimal installation lacks.
fn tools(root: &Path) -> Done {
    for (program, component) in [("rustfmt", "rustfmt"), ("cargo-clippy", "clippy")] {
        if Call::new(root, program, &["--version"]).output().is_none() {
            return Err(Stop::Unusable(format!("{component} is missing: rustup component add {component}")));
        }
    }
    Ok(())
}

/// All files are named, because `cargo fmt` does not reach modules that a macro declares.
fn format(root: &Path) -> Done {
    let files = files::all(root)?;
    let sources = files::with_extension(&files, "rs");
    println!("{} files", sources.len());
    Call::new(root, "rustfmt", &["--edition", "2024", "--check"]).args(sources).run().map_err(|stop| match stop {
        Stop::Failed(message) => {
            Stop::Failed(format!("{message}: rustfmt --edition 2024 $(git ls-files '*.rs') puts it right"))
        }
        other => other,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_that_fails_is_the_last_one_and_is_named() {
        let done = RefCell::new(Vec::new());
        let step = |name: &'static str, result: fn() -> Done| -> Step<'_> {
            let done = &done;
            (
                name,
                Box::new(move || {
                    done.borrow_mut().push(name);
                    result()
                }),
            )
        };
        let failing = [
            step("first", || Ok(())),
            step("second", || Err(Stop::Failed("it is wrong".to_owned()))),
            step("third", || Ok(())),
        ];
        let Err(Stop::Failed(message)) = in_order(&failing) else { panic!("the second step fails") };
        assert!(message.starts_with("step 2/3, second, after ") && message.ends_with(": it is wrong"), "{message}");
        assert_eq!(*done.borrow(), ["first", "second"]);
        assert!(in_order(&failing[..1]).is_ok());
    }
}
