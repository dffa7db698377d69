//! What hosts and a controller say to each other where flows are sent by permission, as in HyLine (Abbasloo, Xu, Chao,
//! HyLine: a Simple and Practical Flow Scheduling for Commodity Datacenters, section IV-A).

use tailcut_base::{HostId, Id};

use crate::Way;
use crate::seat::Message;

/// One message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Permission {
    /// A host asks to send a flow ("RTS").
    Request {
        /// To whom.
        to: HostId,
        /// Bytes of the flow.
        size: u64,
    },
    /// The flow may be sent ("CTS").
    Go {
        /// On this way.
        way: Way,
        /// Whether its host is to tell from then on, at each ACK, how much is left of it.
        tells: bool,
    },
    /// The flow may not be sent, or not any longer ("STS").
    Stop,
    /// The flow is finished ("FIN").
    End,
    /// So many bytes of the flow are not acknowledged.
    Left(u64),
}

const REQUEST: u64 = 0;
const GO: u64 = 1;
const STOP: u64 = 2;
const END: u64 = 3;
const LEFT: u64 = 4;

impl Permission {
    /// The message with these words; `None` if it is none of these.
    pub fn of(message: Message) -> Option<Permission> {
        let [what, first, second, _] = message.words;
        match what {
            REQUEST => Some(Permission::Request { to: HostId(u32::try_from(first).ok()?), size: second }),
            GO => Some(Permission::Go { way: Way::new(first)?, tells: second != 0 }),
            STOP => Some(Permission::Stop),
            END => Some(Permission::End),
            LEFT => Some(Permission::Left(first)),
            _ => None,
        }
    }

    /// Its words.
    pub fn message(self) -> Message {
        let words = match self {
            Permission::Request { to, size } => [REQUEST, to.index() as u64, size, 0],
            Permission::Go { way, tells } => [GO, u64::from(way.number()), u64::from(tells), 0],
            Permission::Stop => [STOP, 0, 0, 0],
            Permission::End => [END, 0, 0, 0],
            Permission::Left(bytes) => [LEFT, bytes, 0, 0],
        };
        Message { words }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_come_back_from_their_words() {
        let way = Way::new(77).expect("it is small");
        for said in [
            Permission::Request { to: HostId(3), size: 1 << 40 },
            Permission::Go { way, tells: true },
            Permission::Go { way, tells: false },
            Permission::Stop,
            Permission::End,
            Permission::Left(5),
        ] {
            assert_eq!(Permission::of(said.message()), Some(said));
        }
        assert_eq!(Permission::of(Message { words: [9, 0, 0, 0] }), None);
    }
}
