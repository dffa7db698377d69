//! What Ray and Dask cost beside one process; the measuring itself is in `python/scripts/overhead.py`.

use std::path::Path;

use crate::python;
use crate::shell::{Done, cargo, target_folder};

/// `cargo xtask engines [OPTIONS of the script]`.
pub(crate) fn run(root: &Path, arguments: &[&str]) -> Done {
    cargo(root, &["build", "--locked", "--quiet", "--release", "--lib", "--package", "tailcut-python"]).run()?;
    python::prepare(root)?;
    python::script(root, &target_folder()?.join("release"), "python/scripts/overhead.py", arguments)
}
