//! Run folders in a browser, while runs go on.
//!
//! A server on the loopback interface, for the browser of the same machine: it reads run folders, writes nothing, and
//! knows a run only by its folder, so that it does not matter who runs it. [`Site`] answers requests; [`serve`] has it
//! answer those of a browser.

mod folder;
mod query;
mod server;
mod site;

pub use server::{Server, serve};
pub use site::{Answer, Site};
