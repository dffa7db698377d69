//! Which spine each server's extra links go to.
//!
//! "Each incast server is connected to one spine switch only", the nearest with free ports, else the next one, else a
//! new one (sections 3.4.1.2 and 3.4.3.1).

use serde::Serialize;

use crate::heuristic::Placement;
use crate::parameters::Mode;

/// A spine switch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Spine {
    /// Its name.
    pub name: String,
    /// Ports that nothing is connected to.
    pub free: u32,
}

/// The extra links between a server and a spine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Attachment {
    /// The host.
    pub host: u32,
    /// The spine, by its place in the list, which new ones are at the end of.
    pub spine: usize,
    /// How many links.
    pub links: u32,
}

/// A server that needs more ports than a new spine has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoPort {
    /// The host.
    pub host: u32,
    /// The links that it needs to one spine.
    pub links: u32,
}

/// Gives each server of a placement its spine; `spines` are in the order of their distance. `new` makes the next new
/// spine, and gets how many there are already.
///
/// # Errors
/// If a server needs more ports at one spine than a new one has free.
pub fn attach(
    placement: &Placement,
    mode: Mode,
    spines: &mut Vec<Spine>,
    new: impl Fn(usize) -> Spine,
) -> Result<Vec<Attachment>, NoPort> {
    let mut attachments = Vec::new();
    for server in placement.servers.iter().filter(|server| server.links > 0) {
        let host = server.server.host;
        // The public scripts connect every aggregator to the first three spines.
        let (times, links) = if mode == Mode::AsCoded { (server.links as usize, 1) } else { (1, server.links) };
        let mut next = 0;
        for _ in 0..times {
            let spine = match (next..spines.len()).find(|&spine| spines[spine].free >= links) {
                Some(spine) => spine,
                None => {
                    let made = new(spines.len());
                    if made.free < links {
                        return Err(NoPort { host, links });
                    }
                    spines.push(made);
                    spines.len() - 1
                }
            };
            spines[spine].free -= links;
            attachments.push(Attachment { host, spine, links });
            next = spine + 1;
        }
    }
    Ok(attachments)
}
