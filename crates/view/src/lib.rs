//! Run folders in a browser, while runs go on.
//!
//! A server on the loopback interface, for the browser of the same machine: it reads run folders, writes nothing, and
//! knows a run only by its folder, so that it works for runs of any process. [`Site`] makes the response to a target;
//! [`serve`] takes requests from browsers.

mod body;
mod folder;
mod policy;
mod query;
mod server;
mod site;

pub use body::Body;
pub use policy::Policy;
pub use server::{Server, serve};
pub use site::{Answer, Site};
