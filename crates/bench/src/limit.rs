//! What a packet simulator cannot do without: the least that an event costs on this machine.
//!
//! Every packet-hop is one event at least: it is taken from among all that are pending, a packet and a port are read
//! and written, and another event is put in. The loop here does that and nothing else, with as many pending events,
//! packets and ports as a simulation has, so that the cost of a packet-hop there can be read as a multiple of it.

use std::fmt;

use tailcut_base::{Instant, Span, mix64};
use tailcut_calendar::Calendar;
use tailcut_sim::{Engine, Scenario};

/// What the loop works on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Footprint {
    /// Events that are pending at any time.
    pub pending: usize,
    /// Records of packets, of a cache line each.
    pub packets: usize,
    /// Records of ports, of two cache lines each.
    pub ports: usize,
}

impl Footprint {
    /// More than any cache of a core holds, so that a cache is measured which cores share, and with it what the others
    /// do: beside the limit of a run it shows what a neighbour costs.
    pub const SHARED: Footprint = Footprint { pending: 5_000, packets: 10 * 1024 * 1024 / 64, ports: 1_500 };

    /// That of a run.
    pub fn of(scenario: &Scenario, engine: &Engine) -> Footprint {
        let count = |count: u64| usize::try_from(count).expect("it was in memory").max(1);
        Footprint {
            pending: count(engine.pending),
            packets: count(engine.packets),
            ports: scenario.network().ports().iter().count(),
        }
    }
}

impl fmt::Display for Footprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Footprint { pending, packets, ports } = self;
        write!(f, "{pending} pending events, {packets} packets, {ports} ports")
    }
}

/// Delays are uniform from a short packet's transmission at 40 Gb/s to a full one's at 10 Gb/s with a link of 1 us
/// behind it.
const SHORTEST: Span = Span::from_ns(30);
const LONGEST: Span = Span::from_ns(2_200);

/// A stand-in for the record of a packet, of one cache line.
#[derive(Clone)]
#[repr(align(64))]
struct Packet([u64; 8]);

/// A stand-in for the record of a port, of two cache lines.
#[derive(Clone)]
#[repr(align(64))]
struct Port([u64; 16]);

/// What one event is about, and how far ahead it lies.
#[derive(Clone, Copy)]
struct Draw {
    key: u64,
    ahead: Span,
}

/// Draw number `number`; the numbers are as good as random and cost next to nothing.
#[inline]
fn draw(number: u64, packets: usize, ports: usize) -> Draw {
    const RANGE: u64 = LONGEST.as_ps() - SHORTEST.as_ps();
    let bits = mix64(number);
    // Some random bits times a number, less as many of the lowest bits: a random value from 0 to below that number.
    let packet = ((bits & 0xffff_ffff) * packets as u64) >> 32;
    let port = (((bits >> 32) & 0xffff) * ports as u64) >> 16;
    let ahead = SHORTEST.as_ps() + (((bits >> 48) * RANGE) >> 16);
    Draw { key: port << 32 | packet, ahead: Span::from_ps(ahead) }
}

#[inline]
fn packet_of(key: u64) -> usize {
    (key & 0xffff_ffff) as usize
}

#[inline]
fn port_of(key: u64) -> usize {
    (key >> 32) as usize
}

/// The loop with its state.
pub struct Limit {
    calendar: Calendar,
    packets: Vec<Packet>,
    ports: Vec<Port>,
    drawn: u64,
    /// Depends on everything that was read, so that the compiler cannot leave the reading out.
    sum: u64,
}

impl Limit {
    /// The state of a simulation under way: events are pending, and every record has been touched.
    pub fn new(Footprint { pending, packets, ports }: Footprint) -> Limit {
        let mut limit = Limit {
            calendar: Calendar::new(),
            packets: vec![Packet([1; 8]); packets],
            ports: vec![Port([1; 16]); ports],
            drawn: 0,
            sum: 0,
        };
        for _ in 0..pending {
            limit.put_in(Instant::ZERO);
        }
        limit.iterate(20 * pending as u64);
        limit
    }

    /// Takes out the earliest event, touches its records, puts in another one: `iterations` times.
    pub fn iterate(&mut self, iterations: u64) {
        for _ in 0..iterations {
            let (now, key) = self.calendar.pop().expect("as many events go in as come out");
            self.touch(key);
            self.put_in(now);
        }
    }

    /// As [`Limit::iterate`], but for each event it first reads a word of the packet of the event that follows, if the
    /// calendar knows that one already: the memory is fetched while this event is handled.
    pub fn iterate_reading_ahead(&mut self, iterations: u64) {
        for _ in 0..iterations {
            let (now, key) = self.calendar.pop().expect("as many events go in as come out");
            if let Some(next) = self.calendar.peek_key() {
                self.sum ^= self.packets[packet_of(next)].0[0];
            }
            self.touch(key);
            self.put_in(now);
        }
    }

    /// The part of the work that the calendar does: no record is touched.
    pub fn order(&mut self, iterations: u64) {
        for _ in 0..iterations {
            let (now, key) = self.calendar.pop().expect("as many events go in as come out");
            self.sum ^= key;
            self.put_in(now);
        }
    }

    /// The part of the work that is reading and writing records: they are touched in random order, without a calendar.
    pub fn memory(&mut self, iterations: u64) {
        for _ in 0..iterations {
            let draw = self.draw();
            self.touch(draw.key);
        }
    }

    /// Something that depends on all that was read.
    pub fn sum(&self) -> u64 {
        self.sum
    }

    #[inline]
    fn touch(&mut self, key: u64) {
        let packet = &mut self.packets[packet_of(key)].0;
        let port = &mut self.ports[port_of(key)].0;
        self.sum ^= packet[0];
        packet[7] = packet[7].wrapping_add(key);
        self.sum ^= port[0];
        port[7] = port[7].wrapping_add(packet[0]);
        self.sum ^= port[8];
        port[15] = port[15].wrapping_add(key);
    }

    #[inline]
    fn draw(&mut self) -> Draw {
        self.drawn += 1;
        draw(self.drawn, self.packets.len(), self.ports.len())
    }

    #[inline]
    fn put_in(&mut self, now: Instant) {
        let draw = self.draw();
        self.calendar.push(now + draw.ahead, draw.key);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_reach_every_record_and_keep_to_their_delays() {
        let Footprint { packets: all_packets, ports: all_ports, .. } = Footprint::SHARED;
        let draws: Vec<Draw> = (0..200_000).map(|number| draw(number, all_packets, all_ports)).collect();
        let mut ports: Vec<usize> = draws.iter().map(|draw| port_of(draw.key)).collect();
        ports.sort_unstable();
        ports.dedup();
        assert_eq!((ports.len(), ports[all_ports - 1]), (all_ports, all_ports - 1));
        let mut packets: Vec<usize> = draws.iter().map(|draw| packet_of(draw.key)).collect();
        packets.sort_unstable();
        packets.dedup();
        // Of n draws among m, m (1 - exp(-n / m)) are distinct: 115,500.
        assert!((114_000..117_000).contains(&packets.len()) && packets[packets.len() - 1] < all_packets);
        assert!(draws.iter().all(|draw| (SHORTEST..=LONGEST).contains(&draw.ahead)));
        let mean = draws.iter().map(|draw| draw.ahead.as_ns_f64()).sum::<f64>() / draws.len() as f64;
        assert!((1_105.0..1_125.0).contains(&mean), "{mean}");
    }

    #[test]
    fn the_events_stay_as_many_and_every_way_does_the_same() {
        let small = Footprint { pending: 1_000, packets: 4_000, ports: 500 };
        let (mut limit, mut ahead) = (Limit::new(small), Limit::new(small));
        limit.iterate(10_000);
        ahead.iterate_reading_ahead(10_000);
        assert_eq!((limit.calendar.len(), ahead.calendar.len()), (small.pending, small.pending));
        assert_eq!(limit.calendar.now(), ahead.calendar.now());
        assert!(limit.packets.iter().zip(&ahead.packets).all(|(a, b)| a.0 == b.0));
    }
}
