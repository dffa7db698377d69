//! The `tailcut` command.

use std::alloc::{GlobalAlloc, Layout, System};
use std::io::Write;
use std::process::ExitCode;

/// The system's allocator, but that a lack of memory is an error with an exit code, as others are, and not an abort.
struct Allocator;

#[global_allocator]
static ALLOCATOR: Allocator = Allocator;

// SAFETY: each call is passed on to the system's allocator as it is, under the same contract, and what that returns is
// returned unless it is null, in which case the call does not return.
#[allow(unsafe_code)]
unsafe impl GlobalAlloc for Allocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: see above.
        checked(unsafe { System.alloc(layout) }, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: see above.
        checked(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: see above.
        checked(unsafe { System.realloc(pointer, layout, size) }, size)
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: see above.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[inline]
fn checked(pointer: *mut u8, size: usize) -> *mut u8 {
    if pointer.is_null() {
        out_of_memory(size);
    }
    pointer
}

/// Ends the process. Nothing here allocates.
#[cold]
fn out_of_memory(size: usize) -> ! {
    let _ = writeln!(
        std::io::stderr(),
        "error: not enough memory: the system does not give {size} B more; simulations that are finished are kept"
    );
    std::process::exit(1);
}

fn main() -> ExitCode {
    ExitCode::from(tailcut_cli::command(std::env::args_os(), None))
}
