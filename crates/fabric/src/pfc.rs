//! Priority flow control (IEEE 802.1Qbb): what a scenario says of it, and what room it takes to lose nothing.
//!
//! When more of a class waits in a switch than X_off, the switch sends a pause frame to the node at the other end of a
//! link. That node stops sending this class on the link until another frame ends the pause. A frame carries the state
//! of all classes. It is sent ahead of every waiting packet, but after the packet that is being sent. Real frames
//! carry a timer, after which a pause ends by itself; here a pause lasts until a frame ends it, as if a switch always
//! refreshed its pauses in time.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tailcut_base::{BitRate, Bytes, MTU_BYTES, Span};
use tailcut_model::{Facts, Invalid, Thing};

/// Size of a pause frame on the wire, the smallest of Ethernet (IEEE 802.1Qbb).
pub const FRAME_BYTES: u16 = 64;

/// How far below X_off X_on is unless it is given: ten packets (HyLine, Table I: 215 and 205).
const HYSTERESIS: u64 = 10 * MTU_BYTES;

/// Which bytes are counted against the thresholds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Counts {
    /// The bytes of a class that came by one link and still wait in the switch, for whatever port. They pause this link
    /// alone (IEEE 802.1Qbb).
    #[default]
    Ingress,
    /// The bytes of a class that wait for one output port, by whatever link they came. They pause every link by which
    /// packets came that wait there (HyLine, section V-A).
    Queue,
}

/// Classes that are paused rather than dropped.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Pfc {
    /// The classes. Each has room of its own in every port: for the packets that may wait before all links are paused,
    /// and `headroom`. This room does not count against `limit`, and the buffer policy does not see it.
    pub classes: Vec<u8>,
    /// What is counted.
    pub counts: Counts,
    /// A pause begins when an arrival brings the count above this; `pkt` counts packets of 1500 B (HyLine, Table I: 215
    /// packets).
    pub xoff: Bytes,
    /// A pause ends when a departure brings the count below this. If not given, it is ten packets below `xoff` (HyLine,
    /// Table I: 215 and 205), or half of `xoff` if that is more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub xon: Option<Bytes>,
    /// Room in each port and class for packets that still arrive after links were paused. Without it, as much as it
    /// takes to lose nothing: for each link by which packets can come, twice its delay times its rate, two packets and
    /// a frame on their way, and the packet with which the threshold is crossed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub headroom: Option<Bytes>,
    /// Instead of frames, a sender knows at once and over any distance whether the queue that its next packet will join
    /// is paused, and sends a packet for another queue meanwhile. The gains published for HyLine were simulated with
    /// such a PFC (its ns-2 code). Needs `counts = "queue"`, and runs on one thread.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub ideal: bool,
}

impl Default for Pfc {
    fn default() -> Pfc {
        Pfc {
            classes: vec![0],
            counts: Counts::Ingress,
            xoff: Bytes(215 * MTU_BYTES),
            xon: None,
            headroom: None,
            ideal: false,
        }
    }
}

impl Pfc {
    /// Checks it for a port of so many classes; paths are relative to the `[port.pfc]` table.
    ///
    /// # Errors
    /// If a value is out of range or contradicts another one.
    pub(crate) fn validate(&self, classes: u8) -> Result<(), Invalid> {
        let refuse = |key: &str, message: String, help: &str| Err(Invalid::new(key, message).help(help));
        if self.classes.is_empty() {
            return refuse("classes", "no class is paused".to_owned(), "expected classes such as [0], or no `pfc`");
        }
        if let Some(&class) = self.classes.iter().find(|&&class| class >= classes) {
            let message = format!("there is no class {class} in a port of {classes}");
            return refuse("classes", message, "expected numbers of classes, from 0 on, or a larger `port.classes`");
        }
        if self.mask().count_ones() as usize != self.classes.len() {
            return refuse("classes", "a class is named twice".to_owned(), "expected each class once");
        }
        if self.xoff.0 < MTU_BYTES {
            return refuse(
                "xoff",
                format!("{} is less than a packet of 1500 B", self.xoff),
                "expected at least \"1pkt\"",
            );
        }
        let xon = self.xon();
        if xon == 0 || xon > self.xoff.0 {
            let message = format!("a pause that begins above {} cannot end below {}", self.xoff, Bytes(xon));
            return refuse("xon", message, "expected more than 0 and no more than `xoff`");
        }
        if self.ideal && self.counts == Counts::Ingress {
            let message = "an ideal PFC looks into queues, and `counts = \"ingress\"` counts links";
            return refuse("ideal", message.to_owned(), "expected `counts = \"queue\"` with it");
        }
        Ok(())
    }

    /// What it says of itself.
    pub fn facts(&self, facts: &mut Facts) {
        facts.provides(Thing::Pauses);
        if self.ideal {
            facts.provides(Thing::LookAhead);
        }
    }

    /// The classes: bit c for class c.
    pub fn mask(&self) -> u8 {
        self.classes.iter().fold(0, |mask, class| mask | 1 << class)
    }

    /// Bytes below which links go on.
    pub fn xon(&self) -> u64 {
        let default = self.xoff.0.saturating_sub(HYSTERESIS).max(self.xoff.0 / 2);
        self.xon.map_or(default, |xon| xon.0)
    }

    /// Most bytes of a class that come by a link after the packet with which a threshold was crossed, that packet
    /// included. The frame waits for a packet on the way back, and the sender ends the one that it is sending when the
    /// frame comes. `there` is rate and delay of the link, `back` of the way back.
    pub fn on_the_way(there: (BitRate, Span), back: (BitRate, Span)) -> u64 {
        let until_stopped = there.1 + back.1 + back.0.tx_time(MTU_BYTES + u64::from(FRAME_BYTES));
        let bits = u128::from(there.0.as_bps()) * u128::from(until_stopped.as_ps());
        bits.div_ceil(8_000_000_000_000) as u64 + 2 * MTU_BYTES
    }

    /// Bytes of a class that may wait in a port. `links` are those by which packets for it come: how many bytes pause
    /// each, and how many are [on the way](Pfc::on_the_way) then.
    pub fn room(&self, links: &[(u64, u64)]) -> u64 {
        let until_paused = match self.counts {
            Counts::Ingress => links.iter().map(|(xoff, _)| xoff).sum(),
            Counts::Queue => self.xoff.0,
        };
        until_paused + self.headroom.map_or_else(|| links.iter().map(|(_, bytes)| bytes).sum(), |bytes| bytes.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headroom_is_that_of_the_formula() {
        // 25 us and 1 Gb/s: 6250 B on the way and back, a packet and a frame before the pause leaves, the packet that
        // is being sent when it comes, and the one that crossed the threshold.
        let link = (BitRate::gbps(1), Span::from_us(25));
        assert_eq!(Pfc::on_the_way(link, link), 6250 + 1500 + 64 + 1500 + 1500);
        // Another rate on the way back: 1564 B take ten times as long there.
        let slow = (BitRate::from_bps(100_000_000).unwrap(), Span::from_us(25));
        assert_eq!(Pfc::on_the_way(link, slow), 6250 + 15_640 + 3000);
        let of_ports = |counts| {
            Pfc { counts, xoff: Bytes(20_000), ..Pfc::default() }.room(&[
                (20_000, 1000),
                (20_000, 2000),
                (20_000, 3000),
            ])
        };
        assert_eq!((of_ports(Counts::Ingress), of_ports(Counts::Queue)), (66_000, 26_000));
        let given = Pfc { headroom: Some(Bytes(100)), counts: Counts::Queue, ..Pfc::default() };
        assert_eq!(given.room(&[(322_500, 1000); 7]), 215 * 1500 + 100);
    }

    #[test]
    fn what_cannot_be_is_refused() {
        let cases = [
            (Pfc { classes: vec![], ..Pfc::default() }, "classes", "no class"),
            (Pfc { classes: vec![2], ..Pfc::default() }, "classes", "no class 2 in a port of 2"),
            (Pfc { classes: vec![1, 1], ..Pfc::default() }, "classes", "twice"),
            (Pfc { xoff: Bytes(1499), ..Pfc::default() }, "xoff", "less than a packet"),
            (Pfc { xon: Some(Bytes(0)), ..Pfc::default() }, "xon", "cannot end below"),
            (Pfc { xon: Some(Bytes(322_501)), ..Pfc::default() }, "xon", "cannot end below"),
            (Pfc { ideal: true, ..Pfc::default() }, "ideal", "looks into queues"),
        ];
        for (pfc, path, message) in cases {
            let error = pfc.validate(2).unwrap_err();
            assert!(error.path == path && error.message.contains(message) && error.help.is_some(), "{error}");
        }
        assert_eq!(Pfc::default().xon(), 205 * 1500);
        assert_eq!(Pfc { xoff: Bytes(10_000), ..Pfc::default() }.xon(), 5000);
        Pfc { ideal: true, counts: Counts::Queue, ..Pfc::default() }.validate(1).unwrap();
    }
}
