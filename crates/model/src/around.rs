//! The surroundings of a model: the network, the ports and the traffic of its scenario, and which values do not fit
//! them.

use tailcut_base::{BitRate, Bytes, Span, wire_bytes};

use crate::Invalid;

/// The surroundings of a model, for its warnings.
#[derive(Clone, Debug)]
pub struct Around {
    /// Round-trip time between the hosts that are furthest apart, of a full packet and its ACK in an idle network.
    pub rtt: Span,
    /// Links between these hosts.
    pub hops: u8,
    /// The largest bandwidth-delay product of a pair of hosts: the rate of the slowest link between them times their
    /// round-trip time.
    pub bdp: u64,
    /// The rate of the fastest path between two hosts, which is that of its slowest link.
    pub path_rate: BitRate,
    /// The ports of switches, one of each kind: of its settings and the rate of its link.
    pub ports: Vec<PortAround>,
    /// Rate of the port's link, for a model of a port; else that of the fastest link of a host, and the values below
    /// are those of the port with the most room.
    pub port_rate: BitRate,
    /// Bytes that this link carries in the round-trip time.
    pub port_bdp: u64,
    /// The limit of a port, in bytes: what shares of it are shares of. Classes that are paused rather than dropped do
    /// not count against it.
    pub port_limit: u64,
    /// Bytes that may wait in a port, of all classes together.
    pub port_room: u64,
    /// Bytes of one class that may wait in a port, of the class with the most room.
    pub class_room: u64,
    /// The same of the classes that are dropped when there is no room; `None` if all are paused instead.
    pub lossy_room: Option<u64>,
    /// Whether packets of one flow take several ways at a time ([`Thing::Spraying`](crate::Thing)).
    pub sprays: bool,
    /// Whether data packets can be marked, and their senders react to it ([`Thing::EcnCapable`](crate::Thing)).
    pub marks_are_read: bool,
    /// Whether packets may be lost: links lose them or fail, or not all that is offered has room in a port.
    pub may_lose: bool,
    /// For how long flows arrive, as far as that is known.
    pub arrivals: Span,
    /// How long flows have after the last arrival.
    pub run_drain: Span,
    /// The classes of flows, each with the largest payload that one of its flows can have, in bytes.
    pub largest_sizes: Vec<(String, u64)>,
    /// The classes in which many hosts answer one at once.
    pub incasts: Vec<Incast>,
}

/// A port of a switch, and those that are like it.
#[derive(Clone, Debug)]
pub struct PortAround {
    /// How a sentence names it: `the port switch0->host3`.
    pub name: String,
    /// Rate of its link.
    pub rate: BitRate,
    /// Bytes that its link carries in the largest round-trip time.
    pub bdp: u64,
    /// Bytes that may wait in it, of all classes together.
    pub room: u64,
    /// Bytes of one class that may wait in it, of the class with the most room.
    pub class_room: u64,
    /// The same of the classes that are dropped when there is no room; `None` if all are paused instead.
    pub lossy_room: Option<u64>,
}

impl PortAround {
    /// Time that a full class of those that are dropped takes to drain into the link; of all if none is.
    pub fn drain(&self) -> Span {
        self.rate.tx_time(self.lossy_room.unwrap_or(self.class_room))
    }
}

/// Finds the port about which there is the most to say: that with the greatest value of those that have one. Returns it
/// with its name, which is `a port` if all of them have one.
fn worst<K: Ord>(ports: &[PortAround], of: impl Fn(&PortAround) -> Option<K>) -> Option<(&PortAround, &str)> {
    let values: Vec<(&PortAround, Option<K>)> = ports.iter().map(|port| (port, of(port))).collect();
    let is_all = values.iter().all(|(_, value)| value.is_some());
    // The first of equal ones.
    let named = values.into_iter().filter_map(|(port, value)| Some((port, value?))).rev();
    let (port, _) = named.max_by(|(_, a), (_, b)| a.cmp(b))?;
    Some((port, if is_all { "a port" } else { &port.name }))
}

/// So many bytes for each so many that there is room for, in thousandths.
fn excess(bytes: u64, room: u64) -> Option<u128> {
    (bytes > room).then(|| u128::from(bytes) * 1000 / u128::from(room.max(1)))
}

/// A class in which many hosts answer one at once.
#[derive(Clone, Debug)]
pub struct Incast {
    /// Its name.
    pub class: String,
    /// Hosts that answer one query, at most.
    pub degree: u64,
    /// The largest payload of an answer, in bytes.
    pub largest_size: u64,
    /// The ports to the hosts that ask, one of each kind.
    pub ports: Vec<PortAround>,
}

impl Around {
    /// What is strange about a marking threshold, in bytes, of a queue in front of this link: that it is not above
    /// C x RTT / 7, so that senders that halve their windows by marks leave the link idle (DCTCP, SIGCOMM 2010, section
    /// 3.4).
    pub fn short_threshold(&self, what: &str, threshold: u64) -> Option<String> {
        let least = self.port_bdp / 7;
        (self.marks_are_read && threshold <= least).then(|| {
            format!(
                "{what}, {}, is not above C x RTT / 7, which is {} at {} and a round-trip time of {}: the queue runs \
                 empty after a mark, and the link idles; \"0.17 BDP\" would be {}",
                Bytes(threshold).rounded(),
                Bytes(least).rounded(),
                self.port_rate,
                self.rtt.rounded(),
                Bytes((self.port_bdp as f64 * 0.17).round() as u64).rounded()
            )
        })
    }

    /// Bytes that a flow alone has on the way over a port at most, if it fills its path: no more than the link carries
    /// in the largest round-trip time, and no more than any path holds.
    pub fn fills(&self, port: &PortAround) -> u64 {
        port.bdp.min(self.bdp)
    }

    /// The port about which there is the most to say, with its name in a sentence: that with the greatest value of
    /// those that have one.
    pub fn worst_port<K: Ord>(&self, of: impl Fn(&PortAround) -> Option<K>) -> Option<(&PortAround, &str)> {
        worst(&self.ports, of)
    }

    /// The port that has the least room for the bytes that it may get, if it has less; with its name in a sentence.
    pub fn overfull_port(
        &self,
        bytes: impl Fn(&PortAround) -> u64,
        room: impl Fn(&PortAround) -> Option<u64>,
    ) -> Option<(&PortAround, &str)> {
        self.worst_port(|port| excess(bytes(port), room(port)?))
    }

    /// What is strange about the first bytes of the answers of an incast, `first` of each host at most: that they are
    /// more than a queue holds that drops, of a port to a host that asks.
    pub fn burst_of_incast(&self, what: &str, first: impl Fn(&PortAround) -> u64) -> Option<String> {
        let bytes = |incast: &Incast, port: &PortAround| {
            incast.degree.saturating_mul(first(port).min(wire_bytes(incast.largest_size)))
        };
        let of = |incast| {
            let of: &Incast = incast;
            let (port, name) = worst(&of.ports, |port| excess(bytes(of, port), port.lossy_room?))?;
            Some((bytes(of, port), port.lossy_room?, name, of))
        };
        let (bytes, room, name, largest) = self.incasts.iter().filter_map(of).max_by_key(|&(bytes, ..)| bytes)?;
        Some(format!(
            "{what} lets the {} hosts that answer a query of `{}` send {} at once, more than a queue of {name} holds, {}: \
             the answers of one query can overflow it",
            largest.degree,
            largest.class,
            Bytes(bytes).rounded(),
            Bytes(room).rounded()
        ))
    }

    /// What is strange about a time at `key` that stands for a round trip: that it is less than half of one.
    pub fn short_round_trip(&self, key: &str, time: Span, what: &str) -> Option<String> {
        (time.as_ps() < self.rtt.as_ps() / 2).then(|| {
            format!(
                "`{key}`, {}, is less than half of the round-trip time of the longest path, {}: {what}",
                time.rounded(),
                self.rtt.rounded()
            )
        })
    }

    /// What is strange about the largest window of a flow at `key`, in bytes: that a flow alone does not fill the
    /// longest path.
    pub fn small_window(&self, key: &str, window: u64) -> Option<String> {
        (window < self.bdp).then(|| {
            format!(
                "`{key}`, {}, is below the bandwidth-delay product of {}: a flow alone gets {:.0} % of the longest path \
                 at most",
                Bytes(window).rounded(),
                Bytes(self.bdp).rounded(),
                100.0 * window as f64 / self.bdp as f64
            )
        })
    }

    /// What is strange about thresholds that tell short flows from longer ones: that no flow exceeds the smallest of
    /// them, or that the longest flows of a class exceed one by no more than a twentieth. All flows of such a class
    /// were probably meant to be below it: 32 KiB, 32,768 B, are more than "32KB", 32,000 B.
    pub fn strange_thresholds(&self, thresholds: impl IntoIterator<Item = u64>) -> Vec<String> {
        let thresholds: Vec<u64> = thresholds.into_iter().collect();
        let longest = self.largest_sizes.iter().map(|&(_, largest)| largest).max();
        if let (Some(longest), Some(&least)) = (longest, thresholds.iter().min())
            && longest <= least
        {
            return vec![format!(
                "no flow has more than {longest} B, and the threshold is {least} B: all count as short flows"
            )];
        }
        let sentence = |threshold: u64, (class, largest): &(String, u64)| {
            let is_barely = *largest > threshold && *largest <= threshold.saturating_add(threshold / 20);
            is_barely.then(|| {
                format!(
                    "flows of `{class}` have up to {largest} B, a little more than the threshold of {threshold} B: the \
                     longest of them count as longer flows"
                )
            })
        };
        let of = |threshold| self.largest_sizes.iter().filter_map(move |class| sentence(threshold, class));
        thresholds.into_iter().flat_map(of).collect()
    }

    /// What is strange about a retransmission timeout of a key that is shorter than a round trip.
    pub fn short_timeout(&self, key: &str, timeout: Span) -> Option<String> {
        (timeout < self.rtt).then(|| {
            format!(
                "{key}, {timeout}, is below the round-trip time of the longest path, {}: packets are sent again before \
                 their ACK can come",
                self.rtt
            )
        })
    }

    /// Refuses a timer at `key` that expires hundreds of times before the first answer can come, and sends again each
    /// time: that is more and more packets, and nothing that anybody means.
    ///
    /// # Errors
    /// If it is shorter than a hundredth of the round-trip time.
    pub fn allows_timer(&self, key: &str, timer: Span) -> Result<(), Invalid> {
        let least = Span::from_ps(self.rtt.as_ps() / 100);
        if timer >= least {
            return Ok(());
        }
        let message = format!(
            "{timer} is less than a hundredth of the round-trip time of the longest path, {}: it would send again hundreds \
             of times before an answer can come",
            self.rtt
        );
        Err(Invalid::new(key, message).help(format!("expected at least {least}, and better the round-trip time")))
    }
}
