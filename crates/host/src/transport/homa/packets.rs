//! Homa's own kinds of packets, and the fields of their headers.

use tailcut_model::{Kind, Packet};

/// Allows a sender to send up to the byte that is its sequence number.
pub const GRANT: Kind = Kind::own(3);
/// Asks a sender to send bytes again, from the one that is its sequence number on.
pub const RESEND: Kind = Kind::own(4);

/// The class in which the sender is to send what a grant allows.
pub fn granted_class(grant: &Packet) -> u8 {
    grant.word(0) as u8
}

/// Sets the class in which the sender is to send what a grant allows.
pub fn set_granted_class(grant: &mut Packet, class: u8) {
    grant.set_word(0, u32::from(class));
}

/// One past the last byte that a resend asks for.
pub fn resend_end(resend: &Packet) -> u64 {
    resend.seq + u64::from(resend.word(0))
}

/// Sets one past the last byte that a resend asks for; of more than 4 GB it asks for the first 4 GB.
pub fn set_resend_end(resend: &mut Packet, end: u64) {
    resend.set_word(0, u32::try_from(end - resend.seq).unwrap_or(u32::MAX));
}

#[cfg(test)]
mod tests {
    use tailcut_base::{HostId, Instant};
    use tailcut_model::FlowId;

    use super::*;

    #[test]
    fn grants_and_resends_say_which_bytes_they_are_about() {
        let packet = |kind, seq| Packet::control(kind, FlowId(0), HostId(1), HostId(0), seq, Instant::ZERO);
        let mut grant = packet(GRANT, 1 << 40);
        set_granted_class(&mut grant, 7);
        assert_eq!((grant.seq, granted_class(&grant)), (1 << 40, 7));
        let mut resend = packet(RESEND, 1 << 40);
        set_resend_end(&mut resend, (1 << 40) + 3);
        assert_eq!(resend_end(&resend), (1 << 40) + 3);
        set_resend_end(&mut resend, 1 << 50);
        assert_eq!(resend_end(&resend), (1 << 40) + u64::from(u32::MAX));
    }
}
