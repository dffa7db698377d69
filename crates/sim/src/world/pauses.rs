//! Whether pauses wait for each other in a circle, so that none of them is ever lifted.
//!
//! A link is stopped for a class because packets that came by it wait at ports of the next switch. It goes on when
//! enough of them have left. A port that is stopped itself lets none go; so the links that will go on are found by
//! taking away, again and again, each stopped link for which what waits behind stopped links alone would not be enough
//! to keep it stopped. What is left is stopped for ever, and holds a circle.

use std::collections::BTreeMap;

use tailcut_base::PortId;

/// What is paused in a part of the network, and why.
#[derive(Debug, Default)]
pub(super) struct Pauses {
    /// Ports that are stopped, with the class.
    pub(super) stopped: Vec<(PortId, u8)>,
    /// Why ports are to be stopped.
    pub(super) waits: Vec<Wait>,
}

/// Why a port is to be stopped for a class.
#[derive(Debug)]
pub(super) struct Wait {
    pub(super) port: PortId,
    pub(super) class: u8,
    /// It goes on when less than this waits for it.
    pub(super) resumes_below: u64,
    /// What waits, by the port at which it does.
    pub(super) behind: Vec<(PortId, u64)>,
}

/// A circle of pauses: each of its ports waits for the next one, and the last for the first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Circle {
    pub(super) class: u8,
    pub(super) ports: Vec<PortId>,
}

impl Pauses {
    pub(super) fn append(&mut self, mut other: Pauses) {
        self.stopped.append(&mut other.stopped);
        self.waits.append(&mut other.waits);
    }

    /// A circle that nothing resolves, if there is one: the first port of it is that with the lowest number.
    pub(super) fn circle(mut self) -> Option<Circle> {
        self.stopped.sort_unstable();
        let stopped = |wait: &Wait| self.stopped.binary_search(&(wait.port, wait.class)).is_ok();
        let mut stuck: BTreeMap<(u8, PortId), &Wait> =
            self.waits.iter().filter(|wait| stopped(wait)).map(|wait| ((wait.class, wait.port), wait)).collect();
        loop {
            let goes_on = |wait: &Wait| {
                let stays = wait.behind.iter().filter(|(port, _)| stuck.contains_key(&(wait.class, *port)));
                stays.map(|(_, bytes)| bytes).sum::<u64>() < wait.resumes_below
            };
            let free: Vec<(u8, PortId)> = stuck.iter().filter(|(_, wait)| goes_on(wait)).map(|(&key, _)| key).collect();
            if free.is_empty() {
                break;
            }
            free.iter().for_each(|key| _ = stuck.remove(key));
        }
        let (&(class, mut port), _) = stuck.first_key_value()?;
        let mut seen = Vec::new();
        while !seen.contains(&port) {
            seen.push(port);
            let next = stuck[&(class, port)].behind.iter().map(|&(port, _)| port);
            port =
                next.filter(|&next| stuck.contains_key(&(class, next))).min().expect("what is stuck waits for another");
        }
        let start = seen.iter().position(|&known| known == port).expect("it was seen");
        let mut ports = seen.split_off(start);
        let lowest = ports.iter().enumerate().min_by_key(|(_, port)| **port).map_or(0, |(at, _)| at);
        ports.rotate_left(lowest);
        Some(Circle { class, ports })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wait(port: u32, resumes_below: u64, behind: &[(u32, u64)]) -> Wait {
        let behind = behind.iter().map(|&(port, bytes)| (PortId(port), bytes)).collect();
        Wait { port: PortId(port), class: 1, resumes_below, behind }
    }

    fn circle(stopped: &[u32], waits: Vec<Wait>) -> Option<Vec<u32>> {
        let stopped = stopped.iter().map(|&port| (PortId(port), 1)).collect();
        Pauses { stopped, waits }.circle().map(|circle| circle.ports.iter().map(|port| port.0).collect())
    }

    #[test]
    fn what_waits_for_a_port_that_sends_is_no_circle() {
        // 3 waits for 2, 2 for 1, and 1 for 0, which sends.
        let chain = || vec![wait(3, 10, &[(2, 50)]), wait(2, 10, &[(1, 50)]), wait(1, 10, &[(0, 50)])];
        assert_eq!(circle(&[1, 2, 3], chain()), None);
        // With 1 waiting for 3 it is one, and what waits for it from outside is not a part of it.
        let mut ring = chain();
        ring[2] = wait(1, 10, &[(0, 50), (3, 10)]);
        ring.push(wait(4, 10, &[(2, 50)]));
        assert_eq!(circle(&[1, 2, 3, 4], ring), Some(vec![1, 3, 2]));
        // Less than the threshold behind 3 does not keep 1 stopped.
        let mut weak = chain();
        weak[2] = wait(1, 10, &[(0, 50), (3, 9)]);
        assert_eq!(circle(&[1, 2, 3], weak), None);
        // A port that the frame has not reached yet still sends.
        let mut early = chain();
        early[2] = wait(1, 10, &[(3, 10)]);
        assert_eq!(circle(&[1, 3], early), None);
    }
}
